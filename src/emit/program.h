/* One tile's program. Private to the room. */
#pragma once
#include "emit/emit.h"

/* Addresses of the parts of a tile's support. */
typedef struct SupportMap {
    uint32_t kernels, rows, program;
    uint32_t entry_of[KERNEL_COUNT]; /* entry address per kernel */
} SupportMap;

/* What the program of one tile is made from. */
typedef struct TileWork {
    Tile tile;
    bool is_used;              /* false: the non-participant program */
    const int32_t *call_first; /* per step: first call of this tile, and one past the last */
    const int32_t *call_end;
    const uint32_t *row_address; /* per phase: 0 when the tile neither sends nor receives */
    uint32_t *call_return;       /* per call of Work: receives where this tile's calls return to */
} TileWork;

/* Words of the program at map->program. *tables receives the argument tables' words (at placement->descriptor). */
void program_build(const Work *work, const Placement *placement, const SupportMap *map,
                   const TileWork *tile, RowWordVec *words, RowWordVec *tables, Arena *arena);
