/* Decoded pages of region 0: made when code is first executed, forgotten when a store touches the page, shared by all
 * tiles whose page has the same words.
 *
 * There is no instruction cache in the tile (tile-timing.md 5.3): what a store, the exchange or the host changes is executed as
 * changed, so every write goes through code_touch. Kernels are alike on most tiles, so a pool keeps pages by content; a page that
 * changed once, or that comes when the pool is full, is decoded for its tile alone and word by word.
 */
#include "machine/exec.h"
#include <pthread.h>
#include <stdlib.h>

enum {
    POOL_SLOTS = 8192,     /* open addressing; a power of two */
    POOL_PAGES_MAX = 4096, /* 54 MiB */
    PAGE_POISON_WORDS = CODE_PAGE_WORDS / 32,
};

/* What decides how a page decodes. */
typedef struct PageKey {
    uint32_t word[CODE_PAGE_WORDS];
    uint32_t poison[PAGE_POISON_WORDS];
    uint32_t is_supervisor;
} PageKey;

typedef struct PoolEntry {
    PageKey key;
    CodePage page;
} PoolEntry;

struct CodePool {
    pthread_mutex_t lock;
    int count;
    PoolEntry *slot[POOL_SLOTS];
};

static CodePage *take_page(CodeCache *code)
{
    CodePage *page = code->unused;
    if (page) {
        code->unused = page->next;
    } else {
        page = malloc(sizeof *page);
        ASSERT(page);
    }
    memset(page, 0, sizeof *page);
    return page;
}

static PageKey key_of(const TileState *tile, const TileShared *shared, bool is_supervisor,
                      uint32_t number)
{
    PageKey key = {.is_supervisor = is_supervisor};
    memcpy(key.word, tile->sram + number * CODE_PAGE_BYTES, sizeof key.word);
    if ((shared->checks & CHECK_POISON) != 0 && tile->poison) {
        memcpy(key.poison, tile->poison + number * PAGE_POISON_WORDS, sizeof key.poison);
    }
    return key;
}

static PoolEntry *build_entry(const TileState *tile, const TileShared *shared, const PageKey *key,
                              uint32_t number)
{
    PoolEntry *entry = calloc(1, sizeof *entry);
    ASSERT(entry);
    entry->key = *key;
    entry->page.is_shared = true;
    for (uint32_t i = 0; i < CODE_PAGE_WORDS; i++) {
        if (entry->page.op[i].kind ==
            CLASS_UNDECODED) { /* else the aux half of the bundle before */
            uint32_t address = SRAM_BASE + number * CODE_PAGE_BYTES + 4 * i;
            decode_word(tile, shared, key->is_supervisor != 0, address, &entry->page.op[i]);
        }
    }
    return entry;
}

/* The shared page with the content of the tile's page; NULL when the pool is full. */
static CodePage *pool_page(struct CodePool *pool, const TileState *tile, const TileShared *shared,
                           bool is_supervisor, uint32_t number)
{
    PageKey key = key_of(tile, shared, is_supervisor, number);
    uint64_t slot = hash64_of(&key, sizeof key, 0) % POOL_SLOTS;
    CodePage *page = NULL;
    int failed = pthread_mutex_lock(&pool->lock);
    ASSERT(failed == 0);
    while (pool->slot[slot] && memcmp(&pool->slot[slot]->key, &key, sizeof key) != 0) {
        slot = (slot + 1) % POOL_SLOTS;
    }
    if (!pool->slot[slot] && pool->count < POOL_PAGES_MAX) {
        pool->slot[slot] = build_entry(tile, shared, &key, number);
        pool->count++;
    }
    if (pool->slot[slot]) {
        page = &pool->slot[slot]->page;
    }
    failed = pthread_mutex_unlock(&pool->lock);
    ASSERT(failed == 0);
    return page;
}

struct CodePool *code_pool_create(void)
{
    struct CodePool *pool = calloc(1, sizeof *pool);
    ASSERT(pool);
    int failed = pthread_mutex_init(&pool->lock, NULL);
    ASSERT(failed == 0);
    return pool;
}

void code_pool_destroy(struct CodePool *pool)
{
    if (!pool) {
        return;
    }
    for (int i = 0; i < POOL_SLOTS; i++) {
        free(pool->slot[i]);
    }
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

CodeCache *code_create(void)
{
    CodeCache *code = calloc(1, sizeof *code);
    ASSERT(code);
    return code;
}

void code_destroy(CodeCache *code)
{
    for (uint32_t page = 0; page < CODE_PAGES; page++) {
        code_drop(code, page);
    }
    while (code->unused) {
        CodePage *page = code->unused;
        code->unused = page->next;
        free(page);
    }
    free(code);
}

void code_drop(CodeCache *code, uint32_t number)
{
    for (int context = 0; context < 2; context++) {
        CodePage *page = code->page[context][number];
        if (page && !page->is_shared) {
            page->next = code->unused;
            code->unused = page;
        }
        code->page[context][number] = NULL;
    }
    code->is_decoded[number] = false;
    code->has_changed[number] = true;
}

const Op *code_decode(TileState *tile, const TileShared *shared, bool is_supervisor,
                      uint32_t address)
{
    CodeCache *code = tile->code;
    uint32_t number = (address - SRAM_BASE) / CODE_PAGE_BYTES,
             index = (address - SRAM_BASE) / 4 % CODE_PAGE_WORDS;
    CodePage *page = code->page[is_supervisor][number];
    if (!page && shared->pool && !code->has_changed[number]) {
        page = pool_page(shared->pool, tile, shared, is_supervisor, number);
    }
    page = page ? page : take_page(code);
    code->page[is_supervisor][number] = page;
    code->is_decoded[number] = true;
    if (page->op[index].kind == CLASS_UNDECODED) {
        decode_word(tile, shared, is_supervisor, address, &page->op[index]);
    }
    return &page->op[index];
}
