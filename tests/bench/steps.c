#include "tests/bench/steps.h"

#include "tests/wrapped_memory.h"
#include "tests/bench/blas.h"
#include "tests/bench/floor.h"
#include "tests/bench/handover.h"
#include "tests/bench/peer.h"
#include "tests/bench/race.h"
#include "tests/bench/step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* So small that the nets stay where they are: every step of every contestant meets the same numbers. */
static const double RATE = 1e-5;

/* ---- contestants ---- */

/* One line of the table for each of the two ways to run the tape. */
typedef struct contest {
    const bench_net *net;
    bench_shape shape;
    int threads;
    bench_batch *batch;
    floor_net *floor;
    tape_step *recorded, *replayed;
    bench_peer *peer;
} contest;

static double run_floor(void *context, int steps)
{
    const contest *c = context;
    const double start = race_clock(c->threads);
    for (int i = 0; i < steps; i++)
        floor_step(c->floor, c->batch->inputs, c->batch->labels);
    return race_clock(c->threads) - start;
}

static double run_products(void *context, int steps)
{
    const contest *c = context;
    const double start = race_clock(c->threads);
    for (int i = 0; i < steps; i++)
        floor_products(c->floor, c->batch->inputs);
    return race_clock(c->threads) - start;
}

/* After a product OpenBLAS's own threads, which only the step by hand uses, look for work during 2^28 ticks of the processor's clock before they
 * sleep. Until then they would take turns with the tape's. */
static void let_the_blas_sleep(void *context)
{
    const contest *c = context;
    if (c->threads > 1)
        nanosleep(&(struct timespec){.tv_nsec = 150 * 1000 * 1000}, NULL);
}

static double run_recorded(void *context, int steps)
{
    const contest *c = context;
    const double start = race_clock(c->threads);
    for (int i = 0; i < steps; i++)
        if (isnan(tape_step_run(c->recorded, c->batch->inputs, c->batch->labels)))
            return -1;
    return race_clock(c->threads) - start;
}

static double run_replayed(void *context, int steps)
{
    const contest *c = context;
    const double start = race_clock(c->threads);
    for (int i = 0; i < steps; i++)
        if (isnan(tape_step_again(c->replayed)))
            return -1;
    return race_clock(c->threads) - start;
}

static double run_handovers(void *context, int exchanges)
{
    const contest *c = context;
    return c->threads > 1 ? handover_seconds(exchanges) : -1;
}

/* ---- one contest ---- */

static void close_contest(contest *c)
{
    bench_batch_free(c->batch);
    floor_free(c->floor);
    tape_step_free(c->recorded);
    tape_step_free(c->replayed);
}

static bool open_contest(contest *c)
{
    c->batch = bench_batch_new(&c->shape, 1);
    c->recorded = tape_step_new(c->net, c->shape.activation, RATE);
    c->replayed = tape_step_new(c->net, c->shape.activation, RATE);
    c->floor = c->recorded ? floor_new(&c->shape, RATE, tape_step_parameters(c->recorded)) : NULL;
    if (c->batch && c->replayed && c->floor) {
        tape_step_run(c->replayed, c->batch->inputs, c->batch->labels);
        return true;
    }
    fprintf(stderr, "bench: out of memory for %s\n", c->net->name);
    return false;
}

static bool prepare_peer(const contest *c)
{
    char work[256];
    int used =
        snprintf(work, sizeof work, "net %s %d", tg_activation_name(c->shape.activation), c->shape.batch);
    for (int i = 0; i <= c->shape.layers; i++)
        used += snprintf(work + used, sizeof work - (size_t)used, " %d", c->shape.width[i]);
    return bench_peer_prepare(c->peer, work);
}

/* Allocations of one more step. */
static double allocations_of(double (*run)(void *context, int steps), contest *c)
{
    const int64_t before = wrapped_memory_count();
    enum { STEPS = 10 };
    run(c, STEPS);
    return (double)(wrapped_memory_count() - before) / STEPS;
}

static void print_cell(const char *format, double number, bool csv)
{
    if (isnan(number))
        printf(csv ? "," : "%12s", csv ? "" : "-");
    else
        printf(format, number);
}

typedef struct mode {
    const char *name;
    const race_entry *entry;
    const tape_step *step;
    double allocations;
} mode;

static void print_line(const contest *c, const mode *m, const race_entry *floor, double gemm_gflops,
                       const race_entry *torch, const race_entry *handover, bool csv)
{
    const char *activation = tg_activation_name(c->shape.activation);
    const double bytes = (double)tg_tape_count(tape_step_tape(m->step)).bytes_held;
    printf(csv ? "%s,%d,%s,%s" : "%-6s %3d  %-11s %-9s", c->net->name, c->threads, activation, m->name);
    print_cell(csv ? ",%.3f" : "%12.2f", 1e6 * m->entry->seconds, csv);
    print_cell(csv ? ",%.3f" : "%12.2f", 1e6 * floor->seconds, csv);
    print_cell(csv ? ",%.4f" : "%8.3f", m->entry->ratio, csv);
    print_cell(csv ? ",%.2f" : "%8.1f", gemm_gflops, csv);
    print_cell(csv ? ",%g" : "%8g", m->allocations, csv);
    print_cell(csv ? ",%.0f" : "%12.0f", bytes, csv);
    print_cell(csv ? ",%.3f" : "%12.2f", torch ? 1e6 * torch->seconds : NAN, csv);
    print_cell(csv ? ",%.0f" : "%12.0f", 1e9 * handover->seconds, csv);
    printf("\n");
    fflush(stdout);
}

static bool hold_contest(contest *c, const steps_settings *settings)
{
    enum { FLOOR, RECORDED, REPLAYED, PRODUCTS, HANDOVER, TORCH };
    race_entry entries[] = {{.run = run_floor, .context = c},
                            {.run = run_recorded, .before = let_the_blas_sleep, .context = c},
                            {.run = run_replayed, .before = let_the_blas_sleep, .context = c},
                            {.run = run_products, .context = c},
                            {.run = run_handovers, .before = let_the_blas_sleep, .context = c},
                            {.run = bench_peer_run, .context = c->peer}};
    const bool with_peer = c->peer && prepare_peer(c);
    bench_blas_threads(c->threads);
    if (settings->csv)
        fprintf(stderr, "bench: %s, %s, threads: %d\n", c->net->name, tg_activation_name(c->shape.activation),
                c->threads);
    race(entries, with_peer ? TORCH + 1 : TORCH, settings->seconds);
    const tape_step *steps[] = {c->recorded, c->replayed};
    for (int i = 0; i < 2; i++)
        if (tape_step_error(steps[i])) {
            fprintf(stderr, "bench: %s: %s\n", c->net->name, tape_step_error(steps[i]));
            return false;
        }
    const mode modes[] = {{"recorded", &entries[RECORDED], c->recorded, allocations_of(run_recorded, c)},
                          {"replayed", &entries[REPLAYED], c->replayed, allocations_of(run_replayed, c)}};
    const double gflops = 1e-9 * bench_product_operations(&c->shape) / entries[PRODUCTS].seconds;
    for (int i = 0; i < 2; i++)
        print_line(c, &modes[i], &entries[FLOOR], gflops, with_peer ? &entries[TORCH] : NULL,
                   &entries[HANDOVER], settings->csv);
    return true;
}

/* ---- all of them ---- */

/* The next word of a list separated by commas, which is moved behind it; false at the end. */
static bool next_word(const char **list, char *word, size_t size)
{
    const size_t length = strcspn(*list, ",");
    if (length == 0)
        return false;
    snprintf(word, size, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

static bool wrong_word(const char *option, const char *word, const char *expected)
{
    fprintf(stderr, "bench: --%s: '%s' is not one of %s\n", option, word, expected);
    return false;
}

static bool contest_of(contest *c, const char *net, const char *activation, const char *threads)
{
    c->net = bench_net_find(net);
    if (!c->net)
        return wrong_word("nets", net, "toy, small, paper, mid, ffn");
    if (strcmp(activation, "relu") != 0 && strcmp(activation, "gelu_exact") != 0 &&
        strcmp(activation, "swiglu") != 0)
        return wrong_word("activations", activation, "relu, gelu_exact, swiglu");
    tg_activation number;
    tg_activation_from_name(activation, &number);
    c->shape = bench_shape_of(c->net, number);
    c->threads = atoi(threads);
    return c->threads > 0 || wrong_word("threads", threads, "1, 2, ...");
}

static bool play(const contest *planned, const steps_settings *settings)
{
    contest c = *planned;
    bool fine = open_contest(&c) && hold_contest(&c, settings);
    close_contest(&c);
    return fine;
}

/* Every combination, by threads first, for the peer's number of threads is fixed when it starts. Without `for_real` only
 * looks whether the lists are right. */
static bool every_contest(const steps_settings *settings, bool for_real)
{
    char net[32], activation[32], threads[32];
    for (const char *t = settings->threads; next_word(&t, threads, sizeof threads);) {
        contest c = {.peer =
                         for_real && settings->peer ? bench_peer_start(settings->peer, atoi(threads)) : NULL};
        bool fine = true;
        for (const char *n = settings->nets; fine && next_word(&n, net, sizeof net);)
            for (const char *a = settings->activations; fine && next_word(&a, activation, sizeof activation);)
                fine = contest_of(&c, net, activation, threads) && (!for_real || play(&c, settings));
        bench_peer_stop(c.peer);
        if (!fine)
            return false;
    }
    return true;
}

bool steps_bench(const steps_settings *settings)
{
    if (!every_contest(settings, false))
        return false;
    if (settings->csv)
        printf("net,threads,activation,mode,us_median,floor_us_median,ratio,gemm_gflops,allocations_per_step,"
               "peak_tape_bytes,torch_us_median,handover_ns_median\n");
    else
        printf("%-6s %3s  %-11s %-9s%12s%12s%8s%8s%8s%12s%12s%12s\n", "net", "thr", "activation", "mode",
               "us", "floor us", "ratio", "gflops", "allocs", "tape bytes", "torch us", "link ns");
    return every_contest(settings, true);
}
