/* tensor: what values are. Element types and codecs, shapes, regions, source of weights.
 * uses: base
 * never: tiles, placement
 */
#pragma once
#include "tensor/dtype.h"
#include "tensor/packing.h"
#include "tensor/region.h"
#include "tensor/shape.h"
#include "tensor/source.h"
