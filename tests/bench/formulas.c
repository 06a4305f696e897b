#include "tests/bench/modes.h"

#include "tests/bench/race.h"
#include "tests/bench/step.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *name, *formula;
} twins[] = {{"silu", "x sigmoid(x)"}, {"gelu_quick", "x sigmoid(1.702 x)"}, {"relu_squared", "max(0, x)^2"}};

typedef struct rider {
    tape_step *step;
    const bench_batch *batch;
    bool replays;
} rider;

static double ride(void *context, int steps)
{
    const rider *r = context;
    const double start = race_clock(1);
    for (int i = 0; i < steps; i++)
        if (isnan(r->replays ? tape_step_again(r->step) : tape_step_run(r->step, r->batch->inputs, r->batch->labels)))
            return -1;
    return race_clock(1) - start;
}

/* Built-in and formula, both recorded; then both replayed. */
static bool time_twins(const bench_net *net, const char *const text[2], const formulas_settings *s)
{
    enum { WAYS = 4 };
    bench_shape shape = bench_shape_of(net, TG_RELU);
    bench_batch *batch = bench_batch_new(&shape, 1);
    rider riders[WAYS];
    race_entry entries[WAYS];
    bool fine = batch != NULL;
    for (int i = 0; i < WAYS; i++) {
        tg_activation activation;
        tg_error error;
        fine &= tg_activation_read(text[i % 2], &activation, &error);
        riders[i] = (rider){fine ? tape_step_new(net, activation, 1e-5) : NULL, batch, i >= 2};
        entries[i] = (race_entry){.run = ride, .context = &riders[i]};
        fine = fine && riders[i].step && !isnan(tape_step_run(riders[i].step, batch->inputs, batch->labels));
    }
    if (fine)
        race(entries, 2, s->seconds);
    if (fine)
        race(entries + 2, 2, s->seconds);
    else
        fprintf(stderr, "bench: %s: out of memory\n", text[0]);
    for (int i = 1; i < WAYS && fine; i += 2)
        printf(s->csv ? "%s,\"%s\",%s,%.2f,%.2f,%.3f\n" : "%-14s%-22s%-10s%14.1f%12.1f%8.2f\n", text[0], text[1],
               i == 1 ? "recorded" : "replayed", 1e6 * entries[i - 1].seconds, 1e6 * entries[i].seconds,
               entries[i].ratio);
    for (int i = 0; i < WAYS; i++)
        tape_step_free(riders[i].step);
    bench_batch_free(batch);
    return fine;
}

bool formulas_bench(const formulas_settings *s)
{
    bool fine = true;
    tg_set_threads(1);
    printf(s->csv ? "activation,formula,mode,built_in_us,formula_us,ratio\n" : "%-14s%-22s%-10s%14s%12s%8s\n",
           "activation", "formula", "mode", "built-in us", "formula us", "ratio");
    for (size_t i = 0; i < sizeof twins / sizeof *twins && fine; i++)
        fine = time_twins(bench_net_find("paper"), (const char *[]){twins[i].name, twins[i].formula}, s);
    return fine;
}
