/* chip: the IPU21 datasheet. Memory map, elements, topology, fabric timing, limits. Facts with sources.
 * uses: base
 * never: policy, mutable state
 */
#pragma once
#include "chip/fabric.h"
#include "chip/memory.h"
#include "chip/topology.h"
