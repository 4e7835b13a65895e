/* Topology and fabric timing of the C600 (exchange.md 2): formulas, no tables.
 *
 * A physical id is made of bit fields (2.1). Columns 8..15 lie on the other half of the chip and
 * are folded back, so that column distance is a difference of folded columns.
 */
#include "chip/topology.h"
#include "base/error.h"
#include <stdlib.h>

typedef struct Place {
    int row, column, half, folded, in_half, lane, side;
} Place;

static Place place_of(PhysTile tile)
{
    ASSERT(tile.id < CHIP_TILES);
    int id = tile.id;
    int column = (id >> 2) & 15;
    int half = column >> 3;
    return (Place){.row = id >> 6,
                   .column = column,
                   .half = half,
                   .folded = half == 0 ? column : 15 - column,
                   .in_half = column & 7,
                   .lane = (id >> 1) & 1,
                   .side = id & 1};
}

/* Signed displacement delta(s, d), exchange.md 2.3. */
static int displacement(const Place *s, const Place *d)
{
    int e;
    if (d->lane == 0) {
        e = d->half == d->side ? 1 : 5;
    } else {
        e = d->half == d->side ? 2 : 4;
    }
    return 6 * (d->folded - s->folded - (s->half ^ s->side)) + e;
}

PhysTile phys_of(Tile tile)
{
    ASSERT(tile.id < CHIP_TILES);
    int pair = tile.id / 2, lane = tile.id % 2;
    int block = pair / CHIP_ROWS, k = pair % CHIP_ROWS;
    int row = block % 2 == 0 ? k : CHIP_ROWS - 1 - k;
    return (PhysTile){(uint16_t)(64 * row + 4 * (block / 2) + 2 * lane + block % 2)};
}

Tile tile_of(PhysTile tile)
{
    Place p = place_of(tile);
    int block = 2 * p.column + p.side;
    int k = block % 2 == 0 ? p.row : CHIP_ROWS - 1 - p.row;
    return (Tile){(uint16_t)(2 * (CHIP_ROWS * block + k) + p.lane)};
}

PhysTile partner_of(PhysTile tile)
{
    return (PhysTile){(uint16_t)(tile.id ^ 2)};
}

int phys_spine_place(PhysTile tile)
{
    Place place = place_of(tile);
    return place.folded << 2 | place.half << 1 | place.side;
}

int phys_row(PhysTile tile)
{
    return tile.id >> 6;
}

int direction_of(PhysTile s, PhysTile d)
{
    Place from = place_of(s), to = place_of(d);
    return displacement(&from, &to) <= 0 ? 2 : 1;
}

Event time_to_mux(PhysTile s, PhysTile d)
{
    Place from = place_of(s), to = place_of(d);
    int turn = from.half == to.half ? from.in_half + 1 : 16 - from.in_half;
    return 8 * from.half + 4 * from.folded + turn - to.column - 4 * to.folded +
           2 * (from.row - to.row) + abs(displacement(&from, &to)) - 31;
}

Event latency_of(PhysTile s, PhysTile d)
{
    return time_to_mux(s, d) + 53 + 2 * phys_row(d);
}
