/* With how many tiles is everything placed? Compilations up to that stage, by halves. */
#include "search/search.h"

bool search_tiles(const Graph *graph, const KernelLibrary *library, const CompileOptions *options,
                  Arena keep, Arena scratch, int32_t *tiles, Error *err)
{
    int32_t too_few = options->tiles, next = CHIP_TILES;
    ASSERT(too_few > 0);
    *tiles = 0;
    while (next > too_few) {
        CompileOptions other = *options;
        other.tiles = next;
        other.stop_after = STAGE_PLACE;
        other.dump = 0;
        other.progress = NULL;
        CompileResult result;
        Arena tried = keep;
        Error why = {0};
        if (compile_plan(graph, library, &other, &tried, scratch, &result, &why)) {
            *tiles = next;
        } else if (why.code == (ErrorCode)EXIT_BUG) {
            *err = why;
            return false;
        } else if (*tiles == 0) {
            return true; /* not with all */
        } else {
            too_few = next;
        }
        next = too_few + (*tiles - too_few) / 2;
    }
    return true;
}
