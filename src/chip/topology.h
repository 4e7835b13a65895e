/* Physical topology and fabric timing of the C600 (reference/exchange.md 2). Pure facts.
 *
 * Logical tiles number pairs that snake through the columns; hardware knows physical ids only.
 * phys_of is the only bridge: everything before `exchange` speaks logical, packages and machine
 * speak physical.
 */
#pragma once
#include "base/units.h"
#include <stdbool.h>
#include <stdint.h>

enum { CHIP_TILES = 1472, CHIP_ROWS = 23, CHIP_COLUMNS = 16, CHIP_WORKERS = 6 };

typedef struct Tile {
    uint16_t id;
} Tile; /* logical, 0..1471 */
typedef struct PhysTile {
    uint16_t id;
} PhysTile; /* physical, 0..1471 */

PhysTile phys_of(Tile tile);
Tile tile_of(PhysTile tile);
/* The other member of the pair: P ^ 2. */
PhysTile partner_of(PhysTile tile);
/* R: bits 10:6. */
int phys_row(PhysTile tile);
/* Place of a tile's column along the spine, 0..31. Between senders of one place T differs by twice the difference of their rows
 * at every receiver (formula 2.4); between neighbouring places by the same amount at almost all. */
int phys_spine_place(PhysTile tile);
/* Send-control direction bit (1 or 2) that must be set for `d` to see a word of `s`. */
int direction_of(PhysTile s, PhysTile d);
/* T(s,d) in events; may be negative. */
Event time_to_mux(PhysTile s, PhysTile d);
/* D(s,d) = T + 53 + 2 R_d: word leaves -> word stored. */
Event latency_of(PhysTile s, PhysTile d);
