/* Arena and vectors: zeroed memory also on reuse, scratch by value, splits, growth. */
#include "test.h"

static bool is_zero(const uint8_t *at, isize bytes)
{
    for (isize i = 0; i < bytes; i++) {
        if (at[i] != 0) {
            return false;
        }
    }
    return true;
}

static void use_and_spoil(Arena scratch, isize bytes)
{
    uint8_t *at = arena_alloc(&scratch, bytes, 1);
    CHECK(is_zero(at, bytes));
    memset(at, 0xff, (size_t)bytes);
}

static void scratch_is_zeroed_again(void)
{
    Arena arena = arena_create(1 << 20);
    use_and_spoil(arena, 1000);
    use_and_spoil(arena, 5000);
    use_and_spoil(arena, 100000);
    use_and_spoil(arena, 50);
    (void)arena_alloc(&arena, 33, 1);
    use_and_spoil(arena, 200000);
    arena_destroy(&arena);
    CHECK(arena.base == NULL);
}

static void alignment(void)
{
    Arena arena = arena_create(1 << 16);
    for (isize align = 1; align <= 4096; align *= 2) {
        (void)arena_alloc(&arena, 1, 1);
        CHECK_EQ_INT((uintptr_t)arena_alloc(&arena, 3, align) % (uintptr_t)align, 0);
    }
    arena_destroy(&arena);
}

static void split_and_spoil(Arena scratch)
{
    Arena parts[3];
    for (int i = 0; i < 3; i++) {
        parts[i] = arena_split(&scratch, 20000);
    }
    for (int i = 0; i < 3; i++) {
        use_and_spoil(parts[i], 20000);
        use_and_spoil(parts[i], 20000);
    }
    CHECK(parts[0].base >= parts[1].end && parts[1].base >= parts[2].end &&
          parts[2].base >= scratch.end);
    arena_destroy(&parts[0]); /* does nothing to the mapping */
    use_and_spoil(parts[1], 20000);
}

static void splits_are_zeroed(void)
{
    Arena arena = arena_create(100000);
    split_and_spoil(arena);
    use_and_spoil(arena, 90000);
    split_and_spoil(arena);
    use_and_spoil(arena, 90000);
    arena_destroy(&arena);
}

/* A reservation far above what is used costs no memory: this would be 64 GiB. */
static void reservation_is_lazy(void)
{
    Arena arena = arena_create((isize)64 << 30);
    uint8_t *at = arena_alloc(&arena, (isize)60 << 30, 16);
    at[(isize)50 << 30] = 1;
    CHECK_EQ_INT(at[((isize)50 << 30) + 1], 0);
    arena_destroy(&arena);
}

typedef struct Item {
    int64_t id, twice;
} Item;
VEC(Item);

static void vectors_grow(void)
{
    Arena arena = arena_create(1 << 20);
    ItemVec items = {0}, others = {0};
    for (int64_t i = 0; i < 3000; i++) {
        *vec_push(&items, &arena) = (Item){i, 2 * i};
        if (i % 7 == 0) {
            *vec_push(&others, &arena) = (Item){-i, 0};
        }
    }
    CHECK_EQ_INT(items.len, 3000);
    for (int64_t i = 0; i < 3000; i++) {
        CHECK_EQ_INT(items.at[i].id, i);
        CHECK_EQ_INT(items.at[i].twice, 2 * i);
    }
    for (isize i = 0; i < others.len; i++) {
        CHECK_EQ_INT(others.at[i].id, -7 * (int64_t)i);
    }
    arena_destroy(&arena);
}

TEST_MAIN(scratch_is_zeroed_again, alignment, splits_are_zeroed, reservation_is_lazy, vectors_grow)
