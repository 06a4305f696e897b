#include "tests/bench/modes.h"

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/product.h"
#include "tests/bench/blas.h"
#include "tests/bench/nets.h"
#include "tests/bench/machine.h"
#include "tests/bench/race.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shapes of the nets' steps (forward, for the weights, for the inputs) and some squares. */
static const struct {
    const char *net;
    int m, n, k;
} shapes[] = {
    {"toy", 32, 16, 2},        {"toy", 32, 16, 16},      {"toy", 16, 16, 32},       {"toy", 32, 2, 16},
    {"toy", 2, 16, 32},        {"small", 32, 64, 16},    {"small", 32, 64, 64},     {"small", 64, 64, 32},
    {"small", 64, 16, 32},     {"small", 32, 10, 64},    {"small", 32, 64, 10},     {"small", 10, 64, 32},
    {"paper", 128, 128, 128},  {"paper", 128, 128, 784}, {"paper", 128, 784, 128},  {"paper", 128, 10, 128},
    {"paper", 128, 128, 10},   {"paper", 10, 128, 128},  {"mid", 256, 512, 784},    {"mid", 512, 784, 256},
    {"mid", 256, 512, 512},    {"mid", 512, 512, 256},   {"ffn", 512, 3072, 768},   {"ffn", 512, 768, 3072},
    {"ffn", 3072, 768, 512},   {"ffn", 768, 3072, 512},  {"square", 256, 256, 256}, {"square", 1024, 1024, 1024},
    {"lstm", 32, 1024, 256},   {"lstm", 32, 256, 1024},  {"lstm", 1024, 256, 1600}, {"lstm", 1600, 1024, 256},
    {"lstm", 1600, 256, 1024},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST = 3072 * 1024 };

typedef struct contest {
    tg_dtype dtype;
    tg_product p;
    void *a, *b, *out;
    int threads;
} contest;

static double run_own(void *context, int steps)
{
    const contest *c = context;
    const double start = race_clock(c->threads);
    for (int i = 0; i < steps; i++)
        tg_multiply(c->dtype, &c->p, c->a, c->b, NULL, c->out);
    return race_clock(c->threads) - start;
}

static double run_openblas(void *context, int steps)
{
    const contest *c = context;
    const tg_product *p = &c->p;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const CBLAS_TRANSPOSE order_a = p->transpose_a ? CblasTrans : CblasNoTrans;
    const CBLAS_TRANSPOSE order_b = p->transpose_b ? CblasTrans : CblasNoTrans;
    const int row_a = p->transpose_a ? m : k, row_b = p->transpose_b ? k : n;
    const double start = race_clock(c->threads);
    for (int i = 0; i < steps; i++)
        if (c->dtype == TG_F32)
            cblas_sgemm(CblasRowMajor, order_a, order_b, m, n, k, 1, c->a, row_a, c->b, row_b, 0, c->out, n);
        else
            cblas_dgemm(CblasRowMajor, order_a, order_b, m, n, k, 1, c->a, row_a, c->b, row_b, 0, c->out, n);
    return race_clock(c->threads) - start;
}

static void print_titles(const products_settings *s, double peak, double bandwidth)
{
    if (s->csv)
        printf("net,m,n,k,order,dtype,isa,threads,core,own_gflops,openblas_gflops,own_over_openblas,peak_gflops,"
               "own_over_peak,read_gbytes\n");
    else
        printf("%s, kernels %s, threads: %d, OpenBLAS core %s; peak %.1f GF/s, memory %.1f GB/s\n\n"
               "%-7s%6s%6s%6s  %-5s%9s%10s%7s%9s\n",
               s->dtype, tg_kernels.isa, s->threads, openblas_get_corename(), peak, bandwidth, "net", "m", "n", "k",
               "order", "own", "OpenBLAS", "ratio", "of peak");
}

static void compete(contest *c, const char *net, const products_settings *s, double peak, double bandwidth)
{
    race_entry entries[] = {{.run = run_own, .context = c}, {.run = run_openblas, .context = c}};
    race(entries, 2, s->seconds);
    const double operations = 2e-9 * (double)c->p.m * (double)c->p.n * (double)c->p.k,
                 own = operations / entries[0].fastest, openblas = operations / entries[1].fastest;
    printf(s->csv ? "%s,%lld,%lld,%lld,%c%c," : "%-7s%6lld%6lld%6lld  %c%c   ", net, (long long)c->p.m,
           (long long)c->p.n, (long long)c->p.k, c->p.transpose_a ? 'T' : 'N', c->p.transpose_b ? 'T' : 'N');
    if (s->csv)
        printf("%s,%s,%d,%s,", s->dtype, tg_kernels.isa, s->threads, openblas_get_corename());
    printf(s->csv ? "%.2f,%.2f,%.3f,%.2f,%.3f,%.2f\n" : "%9.1f%10.1f%7.2f%8.0f%%\n", own, openblas, entries[1].ratio,
           s->csv ? peak : 100 * own / peak, own / peak, bandwidth);
    fflush(stdout);
}

static bool allocate(contest *c)
{
    void **const operands[] = {&c->a, &c->b, &c->out};
    for (int i = 0; i < 3; i++) {
        *operands[i] = aligned_alloc(64, MOST * tg_dtype_size(c->dtype));
        for (size_t k = 0; *operands[i] && k < MOST; k++)
            if (c->dtype == TG_F32)
                ((float *)*operands[i])[k] = (float)(k % 1009) / 504 - 1;
            else
                ((double *)*operands[i])[k] = (double)(k % 1009) / 504 - 1;
    }
    return c->a && c->b && c->out;
}

static bool has_shapes(const char *net)
{
    int i = 0;
    while (i < SHAPES && strcmp(shapes[i].net, net) != 0)
        i++;
    return i < SHAPES;
}

static bool knows_nets(const char *nets)
{
    for (const char *at = nets; at && *at;) {
        const size_t length = strcspn(at, ",");
        char net[32];
        snprintf(net, sizeof net, "%.*s", (int)length, at);
        if (!has_shapes(net)) {
            fprintf(stderr, "bench: --nets: '%s' is not one of", net);
            for (int i = 0; i < SHAPES; i++)
                if (i == 0 || strcmp(shapes[i].net, shapes[i - 1].net) != 0)
                    fprintf(stderr, "%s %s", i ? "," : "", shapes[i].net);
            fputs("\n", stderr);
            return false;
        }
        at += length + (at[length] == ',');
    }
    return true;
}

bool products_bench(const products_settings *s)
{
    if (!knows_nets(s->nets))
        return false;
    const char *wanted = products_core_number() >= 0 ? getenv("OPENBLAS_CORETYPE") : NULL;
    if (wanted && strcasecmp(wanted, openblas_get_corename()) != 0)
        fprintf(stderr, "bench: --cores: OpenBLAS has no core %s here, and runs %s\n", wanted, openblas_get_corename());
    contest c = {.dtype = strcmp(s->dtype, "f64") == 0 ? TG_F64 : TG_F32, .threads = s->threads};
    if (strcmp(s->isa, "best") != 0 && !tg_kernels_use(s->isa)) {
        fprintf(stderr, "bench: the instruction set %s does not run here\n", s->isa);
        return false;
    }
    const bool enough = allocate(&c);
    if (!enough)
        fprintf(stderr, "bench: out of memory\n");
    tg_products_by(TG_PRODUCTS_OWN, NULL);
    bench_blas_threads(s->threads);
    const double peak = enough ? s->threads * bench_peak_gflops(tg_kernels.isa, c.dtype == TG_F64) : NAN,
                 bandwidth = enough ? bench_read_gbytes(c.a, MOST * tg_dtype_size(c.dtype)) : NAN;
    if (s->titles && enough)
        print_titles(s, peak, bandwidth);
    for (int i = 0; i < SHAPES && enough; i++)
        for (int order = 0; order < 4 && (!s->nets || bench_is_listed(s->nets, shapes[i].net)); order++) {
            c.p = (tg_product){.transpose_a = order & 2,
                               .transpose_b = order & 1,
                               .m = shapes[i].m,
                               .n = shapes[i].n,
                               .k = shapes[i].k};
            compete(&c, shapes[i].net, s, peak, bandwidth);
        }
    tg_products_by(TG_PRODUCTS_AUTO, NULL);
    free(c.a);
    free(c.b);
    free(c.out);
    return enough;
}

/* ---- one process for each core ---- */

static const char CHILD[] = "BENCH_CORE_NUMBER";

bool products_bench_cores(const char *cores, char **arguments)
{
    int number = 0;
    for (const char *core = cores; *core; number++) {
        const size_t length = strcspn(core, ",");
        char name[64], text[16];
        snprintf(name, sizeof name, "%.*s", (int)length, core);
        snprintf(text, sizeof text, "%d", number);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            setenv("OPENBLAS_CORETYPE", name, 1);
            unsetenv("OPENBLAS_L2_SIZE");
            setenv(CHILD, text, 1);
            execv("/proc/self/exe", arguments);
            _exit(1);
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return false;
        core += length + (core[length] == ',');
    }
    return number > 0;
}

int products_core_number(void)
{
    const char *number = getenv(CHILD);
    return number ? atoi(number) : -1;
}
