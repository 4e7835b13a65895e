/* Maps, sorts and parallel loops against obvious oracles. */
#include "test.h"
#include <stdatomic.h>

static void string_map(void)
{
    Arena arena = arena_create(8 << 20);
    StrMap map = {0};
    CHECK(str_map_get(&map, S("x")) == NULL);
    for (int i = 0; i < 5000; i++) {
        *str_map_put(&map, str_format(&arena, "key%d", i), &arena) = (uint32_t)(3 * i);
    }
    CHECK_EQ_INT(map.len, 5000);
    for (int i = 0; i < 5000; i++) {
        const uint32_t *value = str_map_get(&map, str_format(&arena, "key%d", i));
        CHECK(value != NULL);
        CHECK_EQ_INT(*value, 3 * i);
    }
    CHECK(str_map_get(&map, S("key5000")) == NULL);
    *str_map_put(&map, S("key7"), &arena) += 1;
    CHECK_EQ_INT(*str_map_get(&map, S("key7")), 22);
    CHECK_EQ_INT(map.len, 5000);
    arena_destroy(&arena);
}

static void int_map(void)
{
    Arena arena = arena_create(8 << 20);
    uint64_t seed = test_seed(61);
    IntMap map = {0};
    enum { KEYS = 700 };
    uint32_t expected[KEYS] = {0};
    CHECK(int_map_get(&map, 0) == NULL);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t key = random_below(seed, i, KEYS);
        expected[key]++;
        (*int_map_put(&map, key << 32, &arena))++;
    }
    for (uint64_t key = 0; key < KEYS; key++) {
        const uint32_t *value = int_map_get(&map, key << 32);
        CHECK_EQ_INT(value == NULL ? 0 : *value, expected[key]);
    }
    CHECK(int_map_get(&map, 1) == NULL);
    arena_destroy(&arena);
}

typedef struct Card {
    int32_t rank, serial;
    char text[5];
} Card;

static int compare_cards(const void *a, const void *b, const void *context)
{
    int32_t sign = *(const int32_t *)context;
    int32_t x = ((const Card *)a)->rank, y = ((const Card *)b)->rank;
    return sign * ((x > y) - (x < y));
}

static void stable_sort(void)
{
    Arena arena = arena_create(1 << 20);
    uint64_t seed = test_seed(62);
    for (uint64_t i = 0; i < 400; i++) {
        Card cards[300];
        int32_t count = (int32_t)random_below(seed, 1000 * i, 301), sign = i % 2 == 0 ? 1 : -1;
        for (int32_t k = 0; k < count; k++) {
            cards[k] = (Card){.rank = (int32_t)random_below(seed, 1000 * i + (uint64_t)k + 1, 20),
                              .serial = k};
        }
        sort_stable(cards, count, (isize)sizeof cards[0], compare_cards, &sign, arena);
        int64_t serials = 0;
        for (int32_t k = 0; k < count; k++) {
            serials += cards[k].serial;
            if (k > 0) {
                int32_t step = sign * (cards[k].rank - cards[k - 1].rank);
                CHECK(step > 0 || (step == 0 && cards[k].serial > cards[k - 1].serial));
            }
        }
        CHECK_EQ_INT(serials, (int64_t)count * (count - 1) / 2);
    }
    arena_destroy(&arena);
}

static void radix_sort(void)
{
    Arena arena = arena_create(1 << 20);
    uint64_t seed = test_seed(63);
    for (uint64_t i = 0; i < 200; i++) {
        SortKey keys[500];
        int32_t count = (int32_t)random_below(seed, i << 20, 501);
        uint64_t mask = i % 3 == 0 ? 0xff00ff0000u : i % 3 == 1 ? ~(uint64_t)0 : 7u;
        for (int32_t k = 0; k < count; k++) {
            keys[k] = (SortKey){random_u64(seed, (i << 20) + (uint64_t)k + 1) & mask, (uint32_t)k};
        }
        sort_keys(keys, count, arena);
        uint64_t payloads = 0;
        for (int32_t k = 0; k < count; k++) {
            payloads += keys[k].payload;
            CHECK_EQ_INT(keys[k].key, random_u64(seed, (i << 20) + keys[k].payload + 1) & mask);
            if (k > 0) {
                CHECK(keys[k - 1].key < keys[k].key ||
                      (keys[k - 1].key == keys[k].key && keys[k - 1].payload < keys[k].payload));
            }
        }
        CHECK_EQ_INT(payloads, (uint64_t)count * (uint64_t)(count - (count > 0)) / 2);
    }
    arena_destroy(&arena);
}

typedef struct Tally {
    atomic_int seen[1000];
    atomic_int worker_max;
} Tally;

static void tally_body(void *context, isize index, int worker)
{
    Tally *tally = context;
    atomic_fetch_add(&tally->seen[index], 1);
    int seen = atomic_load(&tally->worker_max);
    while (worker > seen && !atomic_compare_exchange_weak(&tally->worker_max, &seen, worker)) {
    }
}

static void parallel_loops(void)
{
    for (int threads = 0; threads < 9; threads++) {
        for (isize chunk = 0; chunk < 40; chunk += 13) {
            Tally tally = {0};
            parallel_for(threads, 777, chunk, tally_body, &tally);
            for (int i = 0; i < 1000; i++) {
                CHECK_EQ_INT(atomic_load(&tally.seen[i]), i < 777);
            }
            CHECK(atomic_load(&tally.worker_max) < (threads < 1 ? 1 : threads));
        }
    }
    Tally none = {0};
    parallel_for(4, 0, 1, tally_body, &none);
    CHECK_EQ_INT(atomic_load(&none.seen[0]), 0);
    CHECK(cpu_count() >= 1);
    double before = time_seconds();
    CHECK(time_seconds() >= before);
}

TEST_MAIN(string_map, int_map, stable_sort, radix_sort, parallel_loops)
