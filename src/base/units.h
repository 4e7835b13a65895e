/* Units that must not be mixed (style.md 15). */
#pragma once
#include <stdint.h>

typedef int64_t Cycles; /* tile clocks */
typedef int32_t Event;  /* time inside an exchange row, in tile clocks from event 0 */
