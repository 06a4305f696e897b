#include "tests/bench/modes.h"

#include "tests/bench/compile.h"
#include "tests/bench/race.h"
#include "tests/bench/step.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* So small that every contestant computes with almost the same numbers in every step. */
static const double RATE = 1e-5;

typedef double train_function(const float *x, const int32_t *y, size_t n);

typedef struct contest {
    const bench_net *net;
    tg_activation activation;
    bench_batch *batch;
    tape_step *recorded, *replayed;
    void *library; /* the compiled step */
    train_function *train;
} contest;

/* ---- contestants ---- */

static double recorded_step(const contest *c)
{
    return tape_step_run(c->recorded, c->batch->inputs, c->batch->labels);
}

static double replayed_step(const contest *c)
{
    return tape_step_again(c->replayed);
}

static double emitted_step(const contest *c)
{
    return c->train(c->batch->inputs, c->batch->labels, (size_t)c->net->batch);
}

static double run(const contest *c, double (*step)(const contest *c), int steps)
{
    const double start = race_clock(1);
    for (int i = 0; i < steps; i++)
        if (isnan(step(c)))
            return -1;
    return race_clock(1) - start;
}

static double run_recorded(void *context, int steps)
{
    return run(context, recorded_step, steps);
}

static double run_replayed(void *context, int steps)
{
    return run(context, replayed_step, steps);
}

static double run_emitted(void *context, int steps)
{
    return run(context, emitted_step, steps);
}

/* Compiles the text and loads it. */
static bool load(contest *c, const emitted_settings *s, const char *text)
{
    char name[80];
    snprintf(name, sizeof name, "%s-%s", c->net->name, tg_activation_name(c->activation));
    c->library = bench_compile(text, name, s->compiler, s->keep, "--emitted");
    if (c->library)
        *(void **)&c->train = dlsym(c->library, "net_train");
    return c->train;
}

/* ---- one net ---- */

static void close_contest(contest *c)
{
    bench_batch_free(c->batch);
    tape_step_free(c->recorded);
    tape_step_free(c->replayed);
    if (c->library)
        dlclose(c->library);
}

/* Prepares the steps. The first loss must agree; the mean is summed in another order. */
static bool open_contest(contest *c, const emitted_settings *s)
{
    const bench_shape shape = bench_shape_of(c->net, c->activation);
    c->batch = bench_batch_new(&shape, 1);
    c->recorded = tape_step_new(c->net, c->activation, RATE);
    c->replayed = tape_step_new(c->net, c->activation, RATE);
    if (!c->batch || !c->recorded || !c->replayed) {
        fprintf(stderr, "bench: out of memory for %s\n", c->net->name);
        return false;
    }
    char *text = tape_step_emit(c->recorded, c->batch->inputs, c->batch->labels);
    const bool loaded = text && load(c, s, text);
    if (!text)
        fprintf(stderr, "bench: %s: %s\n", c->net->name, tape_step_error(c->recorded));
    free(text);
    if (!loaded)
        return false;
    const double loss = tape_step_run(c->replayed, c->batch->inputs, c->batch->labels), emitted = emitted_step(c);
    if (fabs(loss - emitted) <= 1e-6 * fabs(loss))
        return true;
    fprintf(stderr, "bench: %s: the loss is %.9g on the tape, %.9g in C\n", c->net->name, loss, emitted);
    return false;
}

static bool hold_contest(contest *c, const emitted_settings *s)
{
    enum { RECORDED, REPLAYED, EMITTED, ENTRIES };
    race_entry entries[ENTRIES] = {[RECORDED] = {.run = run_recorded, .context = c},
                                   [REPLAYED] = {.run = run_replayed, .context = c},
                                   [EMITTED] = {.run = run_emitted, .context = c}};
    race(entries, ENTRIES, s->seconds);
    if (tape_step_error(c->recorded) || tape_step_error(c->replayed)) {
        fprintf(stderr, "bench: %s: a step failed\n", c->net->name);
        return false;
    }
    printf(s->csv ? "%s,%s,%.3f,%.3f,%.3f,%.4f,%.4f\n" : "%-6s %-11s%12.2f%12.2f%12.2f%8.3f%12.3f\n", c->net->name,
           tg_activation_name(c->activation), 1e6 * entries[RECORDED].seconds, 1e6 * entries[REPLAYED].seconds,
           1e6 * entries[EMITTED].seconds, entries[EMITTED].ratio, entries[EMITTED].ratio / entries[REPLAYED].ratio);
    fflush(stdout);
    return true;
}

bool emitted_bench(const emitted_settings *s)
{
    int lines = 0;
    tg_set_threads(1);
    printf(s->csv ? "net,activation,recorded_us,replayed_us,emitted_us,to_recorded,to_replayed\n"
                  : "net    activation  recorded us replayed us  emitted us   ratio to replayed\n");
    for (int n = 0; bench_net_at(n); n++)
        for (int a = 0; bench_is_listed(s->nets, bench_net_at(n)->name) && tg_activation_name((tg_activation)a); a++)
            if (bench_is_listed(s->activations, tg_activation_name((tg_activation)a))) {
                contest c = {.net = bench_net_at(n), .activation = (tg_activation)a};
                const bool fine = open_contest(&c, s) && hold_contest(&c, s);
                close_contest(&c);
                if (!fine)
                    return false;
                lines++;
            }
    if (lines == 0)
        fprintf(stderr, "bench: --nets or --activations has none that can be measured\n");
    return lines > 0;
}
