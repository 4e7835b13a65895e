/* Simulated matrix products on tiles against dnnl_sgemm on the same cores: GFLOP a second of processor time of one core.
 *
 * The f8 kernel is kernels/gemm_f16.s with the FP8 matrix instruction: the same loads and stores, twice the depth a panel.
 */
#include "../tests/machine/tile_rig.h"
#include "kernel/embedded.h"
#include <dnnl.h>
#include <time.h>

enum {
    SAMPLES = 60,
    CALLS = 20,
    TABLE = 0x54000,
    LEFT = 0x58000,
    RIGHT = 0xb0000,
    RESULT = 0x80000,
    DENSE = 1024, /* size at which dnnl_sgemm is measured too */
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct Product {
    const char *name;
    int rows, depth, columns, panel_depth;
} Product;

static bool find_kernel_file(void *context, Str name, Str *text, Error *err)
{
    (void)context;
    (void)err;
    for (int i = 0; i < kernel_file_count; i++) {
        if (str_equal(str_of(kernel_files[i].name), name)) {
            *text = (Str){kernel_files[i].text, kernel_files[i].length};
            return true;
        }
    }
    return false;
}

/* The kernel behind a program that calls it once. */
static Str program_text(Arena *arena, const Product *p)
{
    static const char from[] = "f16v4hihov4amp", to[] = "f8v8hihov4amp";
    Str kernel;
    CHECK(find_kernel_file(NULL, S("gemm_f16.s"), &kernel, NULL));
    Writer writer = writer_buffer(arena);
    write_fmt(&writer,
              ".supervisor\nldconst $m0, 0x100007\nput $FP_ICTL, $m0\nsetzi $m0, %d\nput "
              "$FP_INFMT, $m0\nsetzi $m0, %d\nput $FP_ISCL, $m0\nsetzi $m0, 0x%x\nsetzi $m10, "
              "1f\nbri gemm_f16\n1: sync 7\n",
              3, -8 & 63, (unsigned)TABLE);
    const char *at = kernel.at, *end = kernel.at + kernel.len;
    while (at < end) {
        const char *next = strstr(at, from); /* embedded texts end with a zero */
        const char *stop = next && p->panel_depth == 32 ? next : end;
        write_str(&writer, (Str){at, stop - at});
        at = stop;
        if (at < end) {
            write_str(&writer, str_of(to));
            at += sizeof from - 1;
        }
    }
    return writer_text(&writer);
}

static Rig *prepare(const Product *p)
{
    Rig *rig = rig_create();
    Arena scratch = arena_split(&rig->arena, 1 << 24);
    Error err = {0};
    Object object;
    Resolved code;
    AsmIncludes includes = {.find = find_kernel_file};
    AsmOptions options = {.includes = &includes};
    CHECK_OK(asm_assemble(S("gemm.s"), program_text(&rig->arena, p), &options, &rig->arena, scratch,
                          &object, &err),
             err);
    CHECK_OK(object_resolve(&object, 1, RIG_SUPERVISOR, &rig->arena, scratch, &code, &err), err);
    rig_words(rig, RIG_SUPERVISOR, (const uint32_t *)(const void *)code.at, (int)(code.len / 4));
    const uint32_t table[6] = {LEFT,
                               RIGHT,
                               RESULT,
                               (uint32_t)p->rows,
                               (uint32_t)(p->depth / p->panel_depth),
                               (uint32_t)(p->columns / 16)};
    rig_words(rig, TABLE, table, 6);
    for (uint32_t i = 0; i < 0x10000; i += 4) { /* numbers near 1 in either format */
        uint32_t word = 0x30303030 ^ (uint32_t)random_below(7, i, 8) * 0x08010801;
        rig_words(rig, LEFT + i, &word, 1);
        rig_words(rig, RIGHT + i, &word, 1);
    }
    return rig;
}

static void run_call(Rig *rig)
{
    TileState *tile = &rig->tile;
    tile->pc = RIG_SUPERVISOR;
    tile->cycle = 0;
    tile->instructions = 0;
    memset(tile->slot_free, 0, sizeof tile->slot_free);
    if (rig_run(rig) != TILE_STOP_SYNC_HOST) {
        fprintf(stderr, "%s: %s\n", tile->fault.name ? tile->fault.name : "limit",
                tile->fault.detail);
        exit(1);
    }
}

/* Best of SAMPLES; the cycles and issues of one call besides. */
static double simulated(const Product *p, int64_t *issues, int64_t *cycles)
{
    Rig *rig = prepare(p);
    double best = 0.0;
    for (int s = 0; s < SAMPLES; s++) {
        double start = seconds();
        for (int i = 0; i < CALLS; i++) {
            run_call(rig);
        }
        double rate = 2.0 * p->rows * p->depth * p->columns * CALLS / (seconds() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    *issues = rig->tile.instructions;
    *cycles = rig->tile.cycle;
    rig_destroy(rig);
    return best;
}

static double dense(int m, int k, int n)
{
    float *a = calloc((size_t)m * (size_t)k, 4), *b = calloc((size_t)k * (size_t)n, 4),
          *c = calloc((size_t)m * (size_t)n, 4);
    CHECK(a && b && c);
    double best = 0.0;
    int calls = (int)(2e8 / (2.0 * m * k * n)) + 1;
    for (int s = 0; s < SAMPLES; s++) {
        double start = seconds();
        for (int i = 0; i < calls; i++) {
            CHECK_EQ_INT(dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, 0.0f, c, n), 0);
        }
        double rate = 2.0 * m * k * n * calls / (seconds() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    free(a);
    free(b);
    free(c);
    return best;
}

static void products(void)
{
    static const Product all[] = {{"f8 82x192x160", 82, 192, 160, 32},
                                  {"f8 244x128x64", 244, 128, 64, 32},
                                  {"f16 82x192x160", 82, 192, 160, 16},
                                  {"f16 244x128x64", 244, 128, 64, 16}};
    double reference = dense(DENSE, DENSE, DENSE);
    printf("dnnl_sgemm, %d cubed: %.0f GFLOP/s a core\n", DENSE, reference);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const Product *p = &all[i];
        int64_t issues, cycles;
        double rate = simulated(p, &issues, &cycles), own = dense(p->rows, p->depth, p->columns);
        printf("%-16s simulated at %5.1f GFLOP/s a core = 1/%.1f of dnnl_sgemm (at this size %.0f: "
               "1/%.1f); %lld issues, %lld simulated cycles\n",
               p->name, rate, reference / rate, own, own / rate, (long long)issues,
               (long long)cycles);
    }
}

TEST_MAIN(products)
