#include "tests/bench/modes.h"

#include "tests/bench/nets.h"
#include "tests/bench/race.h"

#include <stdio.h>
#include <tapegrad.h>

enum { OPERATIONS = 1000, LEAVES = 2, REACH = 10, GRAPHS = 5, MOST_WARM = 100 };

/* Steps on these tapes in turn, of this many graphs in turn; of a new graph each time if that is 0. */
typedef struct course {
    const char *name;
    int tape_count, graphs;
    tg_tape *tapes[GRAPHS];
    uint64_t step;
    bool failed;
} course;

/* Operation i reads the result before it and the one `back` before that. */
typedef struct graph {
    struct {
        uint8_t kind, back;
    } at[LEAVES + OPERATIONS];
} graph;

static graph draw(uint64_t seed)
{
    graph g;
    tg_rng rng = tg_rng_seed(seed);
    for (int i = LEAVES; i < LEAVES + OPERATIONS; i++) {
        g.at[i].back = (uint8_t)tg_rng_below(&rng, (uint64_t)(i < REACH ? i : REACH));
        g.at[i].kind = (uint8_t)tg_rng_below(&rng, 3);
    }
    return g;
}

/* The graph, of single numbers, and its backward pass. */
static bool record(tg_tape *tape, const graph *g)
{
    const float number = 0.5f;
    tg_tensor x[LEAVES + OPERATIONS];
    tg_tape_reset(tape);
    for (int i = 0; i < LEAVES; i++)
        x[i] = tg_variable(tape, TG_F32, &number, TG_SCALAR);
    for (int i = LEAVES; i < LEAVES + OPERATIONS; i++) {
        const tg_tensor a = x[i - 1], b = x[i - 1 - g->at[i].back];
        const int kind = g->at[i].kind;
        x[i] = kind == 0 ? tg_add(a, b) : kind == 1 ? tg_mul(a, b) : tg_tanh(a);
    }
    return tg_backward(x[LEAVES + OPERATIONS - 1]);
}

/* The seconds of the steps, without those in which their graphs are drawn. */
static double run(void *context, int steps)
{
    course *c = context;
    double seconds = 0;
    for (; steps > 0 && !c->failed; steps--, c->step++) {
        const graph g = draw(c->graphs ? c->step % (uint64_t)c->graphs : GRAPHS + c->step);
        const double start = race_clock(1);
        c->failed = !record(c->tapes[c->step % (uint64_t)c->tape_count], &g);
        seconds += race_clock(1) - start;
    }
    return c->failed ? -1 : seconds;
}

static void print(const course *c, const race_entry *entry, bool csv)
{
    int64_t held = 0;
    for (int i = 0; i < c->tape_count; i++)
        held += tg_tape_count(c->tapes[i]).bytes_held;
    printf(csv ? "%s,%.1f,%.3f,%.0f\n" : "%-46s%8.0f%8.2f%12.0f\n", c->name, 1e9 * entry->seconds / OPERATIONS,
           entry->ratio, (double)held / c->tape_count / OPERATIONS);
}

static bool time_graphs(const recording_settings *s)
{
    course courses[] = {{"five graphs on five tapes", GRAPHS, GRAPHS},
                        {"five graphs in turn on one tape", 1, GRAPHS},
                        {"a new graph in each step", 1, 0}};
    enum { COURSES = sizeof courses / sizeof *courses };
    race_entry entries[COURSES] = {{0}};
    bool fine = true;
    for (int i = 0; i < COURSES; i++) {
        for (int k = 0; k < courses[i].tape_count; k++)
            courses[i].tapes[k] = tg_tape_new();
        entries[i] = (race_entry){.run = run, .context = &courses[i]};
        run(&courses[i], s->seconds > 0 ? MOST_WARM : 1);
    }
    race(entries, COURSES, s->seconds);
    printf(s->csv ? "case,ns_per_operation,ratio,bytes_per_operation\n" : "%-46s%8s%8s%12s\n",
           "1,000 operations and their backward pass", "ns each", "ratio", "bytes each");
    for (int i = 0; i < COURSES; i++) {
        if (courses[i].failed)
            fprintf(stderr, "bench: %s: %s\n", courses[i].name, tg_tape_error(courses[i].tapes[0]));
        else
            print(&courses[i], &entries[i], s->csv);
        fine = fine && !courses[i].failed;
        for (int k = 0; k < courses[i].tape_count; k++)
            tg_tape_free(courses[i].tapes[k]);
    }
    return fine;
}

/* ---- batches of several sizes ---- */

enum { SIZES = 3 };

/* Training steps of a net with batches of three sizes in turn, each on a tape of its own, or all on one. */
typedef struct loop {
    tg_mlp *net;
    tg_optimizer *optimizer;
    const bench_batch *batch;
    tg_tape *tapes[SIZES];
    int tape_count, step, inputs, rows;
} loop;

static double run_loop(void *context, int steps)
{
    loop *l = context;
    const double start = race_clock(1);
    for (; steps > 0; steps--, l->step++) {
        tg_tape *tape = l->tapes[l->step % l->tape_count];
        const int64_t rows = l->rows * (SIZES + l->step % SIZES) / (2 * SIZES);
        tg_tape_reset(tape);
        tg_tensor x = tg_borrow(tape, TG_F32, l->batch->inputs, TG_SHAPE(rows, l->inputs)),
                  y = tg_borrow(tape, TG_I32, l->batch->labels, TG_SHAPE(rows));
        if (!tg_backward(tg_cross_entropy(tg_mlp_forward(l->net, x), y)) || !tg_optimizer_step(l->optimizer))
            return -1;
    }
    return race_clock(1) - start;
}

static void time_sizes(const bench_net *of, const recording_settings *s)
{
    const bench_shape shape = bench_shape_of(of, TG_RELU);
    bench_batch *batch = bench_batch_new(&shape, 1);
    loop loops[2] = {{.tape_count = SIZES}, {.tape_count = 1}};
    race_entry entries[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        const tg_mlp_config config = bench_config_of(of, TG_RELU);
        tg_rng rng = tg_rng_seed(1);
        loop *l = &loops[i];
        l->net = tg_mlp_new(&rng, &config);
        l->optimizer = tg_optimizer_new(tg_mlp_parameters(l->net), &(tg_optimizer_config){.lr = 1e-4});
        l->batch = batch;
        l->inputs = of->inputs;
        l->rows = of->batch;
        for (int k = 0; k < l->tape_count; k++)
            l->tapes[k] = tg_tape_new();
        entries[i] = (race_entry){.run = run_loop, .context = l};
    }
    race(entries, 2, s->seconds);
    for (int i = 0; i < 2; i++) {
        int64_t held = 0;
        for (int k = 0; k < loops[i].tape_count; k++)
            held += tg_tape_count(loops[i].tapes[k]).bytes_held;
        printf(s->csv ? "%s %s,%.2f,%.3f,%.0f\n" : "%-6s%-40s%8.1f%8.2f%12.0f\n", of->name,
               i ? "on one tape" : "on three tapes", 1e6 * entries[i].seconds, entries[i].ratio, (double)held / 1000);
        for (int k = 0; k < loops[i].tape_count; k++)
            tg_tape_free(loops[i].tapes[k]);
        tg_optimizer_free(loops[i].optimizer);
        tg_mlp_free(loops[i].net);
    }
    bench_batch_free(batch);
}

bool recording_bench(const recording_settings *s)
{
    tg_set_threads(1);
    const bool fine = time_graphs(s);
    printf(s->csv ? "case,us_per_step,ratio,kilobytes\n" : "\n%-46s%8s%8s%12s\n",
           "a training step, batches of three sizes in turn", "us", "ratio", "kilobytes");
    for (int i = 0; i < 2; i++)
        time_sizes(bench_net_find(i ? "mid" : "small"), s);
    return fine;
}
