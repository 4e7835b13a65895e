/* search: the only loop; turns the verdict of a compilation into the next one (style.md 1).
 * takes: Graph, KernelLibrary, options      gives: options with which it works
 * uses: base chip graph kernel compile
 * never: invents costs, knows how a stage works
 */
#pragma once
#include "compile/compile.h"

/* A number of tiles with which everything is placed, of a graph that is not placed with `options->tiles` (> 0) of them: *tiles,
 * or 0 when it is not with all of them either. Found by halving: more tiles are not always better, so that a smaller number may do
 * too. False only with an error that is a bug of ours. */
bool search_tiles(const Graph *graph, const KernelLibrary *library, const CompileOptions *options,
                  Arena keep, Arena scratch, int32_t *tiles, Error *err);
