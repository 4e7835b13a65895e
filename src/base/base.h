/* base: the C toolbox of every room.
 * gives: arena, span/vec, strings, errors, writer, bits, sort, map, random, parallel loops, files,
 *        provenance
 * uses: -
 * never: a word about tensors or tiles
 */
#pragma once
#define TESSERA_VERSION "tessera 0.1"

#include "base/arena.h"
#include "base/bits.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/parallel.h"
#include "base/provenance.h"
#include "base/random.h"
#include "base/sort.h"
#include "base/span.h"
#include "base/str.h"
#include "base/units.h"
#include "base/writer.h"
