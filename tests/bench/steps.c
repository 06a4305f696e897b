#include "tests/bench/modes.h"

#include "tests/support/wrapped_memory.h"
#include "tests/bench/blas.h"
#include "tests/bench/floor.h"
#include "tests/bench/machine.h"
#include "tests/bench/race.h"
#include "tests/bench/step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A rate so small that the nets hardly change: every contestant computes with the same numbers in every step. */
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
    bench_peer *peers[PEERS]; /* NULL if there is none */
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

/* Only the hand-written step uses OpenBLAS's own threads. After a product they poll for work for 2^28 clock ticks
 * before they sleep. Until then they would compete with the tape's threads. */
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

/* The entry of a peer that is missing, or that does not support this net. */
static double run_nothing(void *context, int steps)
{
    (void)context, (void)steps;
    return -1;
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
    c->floor = c->recorded ? floor_new(&c->shape, RATE, tg_parameters_values(tape_step_parameters(c->recorded))) : NULL;
    if (c->batch && c->replayed && c->floor) {
        tape_step_run(c->replayed, c->batch->inputs, c->batch->labels);
        return true;
    }
    fprintf(stderr, "bench: out of memory for %s\n", c->net->name);
    return false;
}

static bool prepare_peer(bench_peer *peer, const contest *c)
{
    char work[256];
    int used = snprintf(work, sizeof work, "net %s %d", tg_activation_name(c->shape.activation), c->shape.batch);
    for (int i = 0; i <= c->shape.layers; i++)
        used += snprintf(work + used, sizeof work - (size_t)used, " %d", c->shape.width[i]);
    return bench_peer_prepare(peer, work);
}

/* Counts the allocations of one more step. */
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

/* Recorded tape, replayed tape, then the others; each peer has an entry even if it does not run. */
enum { FLOOR, RECORDED, REPLAYED, PRODUCTS, HANDOVER, FIRST_PEER, ENTRIES = FIRST_PEER + PEERS };

static void print_line(const contest *c, int mode, double allocations, const race_entry entries[ENTRIES], bool csv)
{
    const char *activation = tg_activation_name(c->shape.activation), *const modes[] = {"recorded", "replayed"};
    const tape_step *step = mode == RECORDED ? c->recorded : c->replayed;
    const double us = 1e6 * entries[mode].seconds,
                 gflops = 1e-9 * bench_product_operations(&c->shape) / entries[PRODUCTS].seconds;
    printf(csv ? "%s,%d,%s,%s" : "%-6s %3d  %-11s %-9s", c->net->name, c->threads, activation, modes[mode - RECORDED]);
    print_cell(csv ? ",%.3f" : "%12.2f", us, csv);
    print_cell(csv ? ",%.3f" : "%12.2f", 1e6 * entries[FLOOR].seconds, csv);
    print_cell(csv ? ",%.4f" : "%8.3f", entries[mode].ratio, csv);
    print_cell(csv ? ",%.2f" : "%8.1f", gflops, csv);
    print_cell(csv ? ",%g" : "%8g", allocations, csv);
    print_cell(csv ? ",%.0f" : "%12.0f", (double)tg_tape_count(tape_step_tape(step)).bytes_held, csv);
    print_cell(csv ? ",%.0f" : "%12.0f", 1e9 * entries[HANDOVER].seconds, csv);
    for (int k = 0; k < PEERS; k++)
        if (csv || c->peers[k])
            print_cell(csv ? ",%.3f" : "%16.2f", 1e6 * entries[FIRST_PEER + k].seconds / (csv ? 1 : us), csv);
    printf("\n");
    fflush(stdout);
}

static bool hold_contest(contest *c, const steps_settings *settings)
{
    race_entry entries[ENTRIES] = {
        [FLOOR] = {.run = run_floor, .context = c},
        [RECORDED] = {.run = run_recorded, .before = let_the_blas_sleep, .context = c},
        [REPLAYED] = {.run = run_replayed, .before = let_the_blas_sleep, .context = c},
        [PRODUCTS] = {.run = run_products, .context = c},
        [HANDOVER] = {.run = run_handovers, .before = let_the_blas_sleep, .context = c},
    };
    for (int k = 0; k < PEERS; k++)
        entries[FIRST_PEER + k] =
            (race_entry){.run = prepare_peer(c->peers[k], c) ? bench_peer_run : run_nothing, .context = c->peers[k]};
    bench_blas_threads(c->threads);
    if (settings->csv)
        fprintf(stderr, "bench: %s, %s, threads: %d\n", c->net->name, tg_activation_name(c->shape.activation),
                c->threads);
    race(entries, ENTRIES, settings->seconds);
    const tape_step *steps[] = {c->recorded, c->replayed};
    for (int i = 0; i < 2; i++)
        if (tape_step_error(steps[i])) {
            fprintf(stderr, "bench: %s: %s\n", c->net->name, tape_step_error(steps[i]));
            return false;
        }
    print_line(c, RECORDED, allocations_of(run_recorded, c), entries, settings->csv);
    print_line(c, REPLAYED, allocations_of(run_replayed, c), entries, settings->csv);
    return true;
}

/* ---- all of them ---- */

/* Takes the next word of a list separated by commas and advances the list; false at the end. */
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
    if (strcmp(activation, "relu") != 0 && strcmp(activation, "gelu_exact") != 0 && strcmp(activation, "swiglu") != 0)
        return wrong_word("activations", activation, "relu, gelu_exact, swiglu");
    tg_activation number;
    tg_activation_from_name(activation, &number);
    c->shape = bench_shape_of(c->net, number);
    c->threads = atoi(threads);
    return true;
}

static bool play(const contest *planned, const steps_settings *settings)
{
    contest c = *planned;
    bool fine = open_contest(&c) && hold_contest(&c, settings);
    close_contest(&c);
    return fine;
}

/* Without `for_real`, only validates the lists. */
static bool every_net(const contest *with_peers, const char *threads, const steps_settings *settings, bool for_real)
{
    char net[32], activation[32];
    contest c = *with_peers;
    bool fine = true;
    for (const char *n = settings->nets; fine && next_word(&n, net, sizeof net);)
        for (const char *a = settings->activations; fine && next_word(&a, activation, sizeof activation);)
            fine = contest_of(&c, net, activation, threads) && (!for_real || play(&c, settings));
    return fine;
}

static void print_titles(const contest *c, bool csv)
{
    if (csv)
        printf("net,threads,activation,mode,us_median,floor_us_median,ratio,gemm_gflops,allocations_per_step,"
               "peak_tape_bytes,handover_ns_median");
    else
        printf("%-6s %3s  %-11s %-9s%12s%12s%8s%8s%8s%12s%12s", "net", "thr", "activation", "mode", "us", "floor us",
               "ratio", "gflops", "allocs", "tape bytes", "link ns");
    for (peer_kind k = 0; k < PEERS; k++)
        if (csv)
            printf(",%s_us_median", bench_peer_name(k));
        else if (c->peers[k])
            printf("%16s", bench_peer_name(k));
    printf("\n");
}

/* Runs every combination. The outer loop is over threads, because a peer's number of threads is fixed when it
 * starts. */
bool steps_bench(const steps_settings *settings)
{
    char threads[32];
    bool fine = true, has_titles = false;
    for (const char *t = settings->threads; fine && next_word(&t, threads, sizeof threads);)
        fine = every_net(&(contest){0}, threads, settings, false);
    if (fine)
        bench_blas_describe(settings->csv ? stderr : stdout);
    for (const char *t = settings->threads; fine && next_word(&t, threads, sizeof threads);) {
        contest c = {0};
        fine = bench_peers_start(c.peers, settings->peers, atoi(threads));
        if (fine && !has_titles)
            print_titles(&c, settings->csv);
        has_titles = true;
        fine = fine && every_net(&c, threads, settings, true);
        bench_peers_stop(c.peers);
    }
    return fine;
}
