/* The corpus of bench/exchange: loads and counts against the published figures (compiler-design.md 1.2, 3.4, 15), and that each phase is
 * what its comment says: no byte written twice, sources and destinations of a layer in different memory groups. */
#include "cli/corpus.h"
#include "exchange/exchange.h"
#include "test.h"
#include <string.h>

static Arena keep, scratch;

/* A problem of the corpus; everything of the last one is forgotten. */
static ExchangeProblem corpus(const char *name)
{
    static Arena one;
    one = keep;
    for (int i = 0; i < exchange_file_count; i++) {
        const CorpusFile *file = &exchange_files[i];
        size_t len = strlen(name);
        if (strncmp(file->name, name, len) == 0 && strcmp(file->name + len, ".exchange") == 0) {
            ExchangeProblem problem;
            Error err = {0};
            CHECK_OK(exchange_parse((Str){file->text, file->length}, &one, &problem, &err), err);
            return problem;
        }
    }
    fprintf(stderr, "no %s in the corpus\n", name);
    CHECK(false);
    return (ExchangeProblem){0};
}

typedef struct Loads {
    int64_t sent[CHIP_TILES], received[CHIP_TILES]; /* words */
    int64_t sends[CHIP_TILES], receives[CHIP_TILES];
    int64_t sent_max, received_max;
    int64_t receivers;
} Loads;

static Loads loads_of(const ExchangeProblem *p)
{
    Loads loads = {0};
    for (isize i = 0; i < p->transfers.len; i++) {
        const ExchangeTransfer *t = &p->transfers.at[i];
        loads.sent[t->source.id] += t->words;
        loads.sends[t->source.id]++;
        loads.receivers += t->receiver_count;
        for (int32_t k = 0; k < t->receiver_count; k++) {
            loads.received[p->receivers.at[t->receiver_first + k].tile.id] += t->words;
            loads.receives[p->receivers.at[t->receiver_first + k].tile.id]++;
        }
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        loads.sent_max = max_i64(loads.sent_max, loads.sent[i]);
        loads.received_max = max_i64(loads.received_max, loads.received[i]);
    }
    return loads;
}

/* Largest loads in words: worked out from the local extents. FP8 4 elements a word, FP16 2. */
static void has_the_published_loads(void)
{
    static const struct {
        const char *name;
        int64_t received, sent;
    } cases[] = {
        /* 244 x 128 + 128 x 64 bytes; a row of 1152 bytes and 6 panels of 512. */
        {"siglip-b1-qkv", 7808 + 2048, 288 + 768},
        {"siglip-b2-qkv", 486 * 32 + 2048, 288 + 768},
        /* Section 15: 11,616 = 7,680 + 3,936; sends 1,184. */
        {"siglip-b1-up", 7680 + 3936, 1184},
        {"siglip-b2-up", 7680 + 162 * 48, 1184},
        /* Section 15: 10,000 = 5,120 + 4,880; sends 1,972. */
        {"siglip-b1-down", 5120 + 4880, 1972},
        {"siglip-b2-down", 5120 + 244 * 40, 1972},
        /* 146 x 96 + 96 x 48 bytes. */
        {"siglip-b1-out", 146 * 24 + 1152, -1},
        {"siglip-b2-out", 292 * 24 + 1152, -1},
        /* 81 rows and 80 keys of 72 FP16; a row half holds 24 heads. Batch 2: 160 keys; a whole row sends 32. */
        {"siglip-b1-qk", 81 * 36 + 80 * 36, 24 * 36},
        {"siglip-b2-qk", 81 * 36 + 160 * 36, 32 * 36},
        /* 46 panels of 8 rows x 8 words, less what is on the tile; 81 x 80 FP16. */
        {"siglip-b1-scores", 46 * 64, 81 * 40},
        {"siglip-b1-v-pack", 32 * 36, 16 * 36},
        /* 57 x 128 + 128 x 80 bytes. */
        {"siglip-b1-pv", 57 * 32 + 128 * 20, -1},
        {"siglip-b2-pv", 57 * 64 + 256 * 20, -1},
        /* Five parts of two groups of 82 x 16 FP16. */
        {"siglip-b1-up-reduce", 5 * 82 * 16, -1},
        /* Whole FP16 rows but what is at home. */
        {"siglip-b1-hidden", 4304 / 2, -1},
        {"siglip-b1-out-rows", 1152 / 2, -1},
        {"siglip-b1-down-rows", 1152 / 2, -1},
        {"siglip-b1-qkv-rows", 3456 / 4, -1},
        {"siglip-b2-qkv-rows", 3456 / 2, -1},
        /* 26 of 27 parts of 976 units of 16 columns; 8 of 9 of 976; 11 of 12 of 438. */
        {"siglip-b1-down-reduce", 26 * 37 * 8, -1},
        {"siglip-b1-qkv-reduce", 8 * 109 * 8, -1},
        {"siglip-b1-out-reduce", 11 * 37 * 8, -1},
        {"all-to-all", 31 * 64, 31 * 64},
        {"relay", 64, 64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ExchangeProblem p = corpus(cases[i].name);
        Loads loads = loads_of(&p);
        ExchangeBounds bounds[2];
        exchange_bounds(&p, NULL, 1, scratch, bounds);
        if (loads.received_max != cases[i].received ||
            (cases[i].sent >= 0 && loads.sent_max != cases[i].sent)) {
            fprintf(stderr, "%s: received %lld sent %lld\n", cases[i].name,
                    (long long)loads.received_max, (long long)loads.sent_max);
            CHECK(false);
        }
        CHECK_EQ_INT(bounds[0].receive_words_max, loads.received_max);
        CHECK_EQ_INT(bounds[0].send_words_max, loads.sent_max);
        CHECK(bounds[0].ordinary.events >= loads.received_max + 58);
    }
}

/* Section 15: 2624 x535, 2560 x321, 2528 x107, 1312 x275, 1280 x165, 1264 x55; 3,137,616 in all. */
static void sums_the_published_elements(void)
{
    static const struct {
        int elements, tiles;
    } wanted[] = {{2624, 535}, {2560, 321}, {2528, 107}, {1312, 275}, {1280, 165}, {1264, 55}};
    ExchangeProblem p = corpus("siglip-b1-up-reduce");
    Loads loads = loads_of(&p);
    int64_t sum = 0;
    int count[6] = {0};
    for (int i = 0; i < CHIP_TILES; i++) {
        CHECK_EQ_INT(loads.received[i] % 5, 0);
        sum += loads.received[i] / 5 * 2;
        for (int k = 0; k < 6; k++) {
            count[k] += loads.received[i] / 5 * 2 == wanted[k].elements;
        }
    }
    for (int k = 0; k < 6; k++) {
        CHECK_EQ_INT(count[k], wanted[k].tiles);
    }
    CHECK_EQ_INT(sum, 3137616);
}

static void counts_transfers(void)
{
    static const struct {
        const char *name;
        int64_t transfers, receivers;
    } cases[] = {
        {"transpose", 729 * 576, 2 * 729 * 576},
        {"transpose-1018", 586368, 2 * 586368},
        {"scattered", 60000, 60000},
        {"multicast-8", 6000, 48000},
        {"all-to-all", 46 * 32 * 31, 46 * 32 * 31},
        {"grid-multicast", 2 * 1472, 1472 * (31 + 45)},
        {"relay", 32 * 45, 32 * 45},
        {"siglip-b1-qk", 2 * 729 * 16 * 5, 729 * 16 * 5 * 19},
        {"siglip-b1-up-reduce", 1458 * 5, 1458 * 5},
        {"siglip-b1-down-reduce", 1458 * 26, 1458 * 26},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ExchangeProblem p = corpus(cases[i].name);
        CHECK_EQ_INT(p.transfers.len, cases[i].transfers);
        CHECK_EQ_INT(loads_of(&p).receivers, cases[i].receivers);
    }
}

/* Weights by whole pairs: all activations of QKV and of the output projection, all weights of MLP down. */
static void may_pair(void)
{
    static const struct {
        const char *name;
        int64_t least;
    } cases[] = {{"siglip-b1-qkv", 729 * 36},
                 {"siglip-b1-qk", 729 * 16 * 5},
                 {"siglip-b1-out", 30000},
                 {"siglip-b1-down", 9720 / 7},
                 {"wide", 8832}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ExchangeProblem p = corpus(cases[i].name);
        int64_t count = 0;
        for (isize k = 0; k < p.transfers.len; k++) {
            count += transfer_may_pair(&p, &p.transfers.at[k]);
        }
        CHECK(count >= cases[i].least);
    }
}

static uint32_t groups_of_range(uint32_t address, uint32_t words)
{
    uint32_t mask = 0;
    for (int g = group_of(address); g <= group_of(address + 4 * words - 1); g++) {
        mask |= 1u << g;
    }
    return mask;
}

/* No word is written twice or read where it is written, no access touches the rows; in layers, no group of a tile is both read and
 * written. Returns whether something is handed on. */
static bool check_memory(const ExchangeProblem *p, bool is_layer, Arena arena)
{
    uint8_t **written = arena_array(&arena, uint8_t *, CHIP_TILES);
    uint32_t *read_groups = arena_array(&arena, uint32_t, CHIP_TILES);
    uint32_t *write_groups = arena_array(&arena, uint32_t, CHIP_TILES);
    bool hands_on = false;
    for (isize i = 0; i < p->transfers.len; i++) {
        const ExchangeTransfer *t = &p->transfers.at[i];
        for (int32_t k = 0; k < t->receiver_count; k++) {
            const ExchangeReceiver *to = &p->receivers.at[t->receiver_first + k];
            uint8_t **words = &written[to->tile.id];
            *words = *words != NULL ? *words : arena_array(&arena, uint8_t, SRAM_WORDS);
            uint32_t first = (to->address - SRAM_BASE) / 4;
            for (uint32_t w = first; w < first + t->words; w++) {
                CHECK((*words)[w] == 0);
                (*words)[w] = 1;
            }
            write_groups[to->tile.id] |= groups_of_range(to->address, t->words);
        }
    }
    for (isize i = 0; i < p->transfers.len; i++) {
        const ExchangeTransfer *t = &p->transfers.at[i];
        uint32_t first = (t->address - SRAM_BASE) / 4;
        for (uint32_t w = first; w < first + t->words && written[t->source.id] != NULL; w++) {
            hands_on = hands_on || written[t->source.id][w] != 0;
        }
        read_groups[t->source.id] |= groups_of_range(t->address, t->words);
    }
    uint32_t rows =
        groups_of_range(p->row_range.begin, (p->row_range.end - p->row_range.begin) / 4);
    for (int i = 0; i < CHIP_TILES; i++) {
        CHECK(((read_groups[i] | write_groups[i]) & rows) == 0);
        CHECK(!is_layer || (read_groups[i] & write_groups[i]) == 0);
    }
    return hands_on;
}

static void uses_memory_as_it_says(void)
{
    for (int i = 0; i < exchange_file_count; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)strlen(exchange_files[i].name) - 9,
                       exchange_files[i].name);
        ExchangeProblem p = corpus(name);
        CHECK_EQ_INT(p.phases.len, 1);
        bool hands_on = check_memory(&p, strncmp(name, "siglip", 6) == 0, scratch);
        CHECK(hands_on == (strncmp(name, "relay", 5) == 0));
    }
}

static void setup(void)
{
    keep = arena_create((isize)1 << 33);
    scratch = arena_create((isize)1 << 33);
}

TEST_MAIN(setup, has_the_published_loads, sums_the_published_elements, counts_transfers, may_pair,
          uses_memory_as_it_says)
