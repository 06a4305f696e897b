/* Statements about training: the grids of runs that decide them, and the measures of a run. */
#include "examples/data/half.h"
#include "examples/study/claims.h"
#include "examples/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- additional measures of a finished net ---- */

static void put(json_t *results, const char *name, trainer *r)
{
    runlog_measures m;
    if (run_measure(r, &r->from->test, &m) && isfinite(m.loss)) /* on the test rows */
        json_object_set_new(results, name, json_real(m.loss));
}

/* The test loss of another net with the same weights. */
static void put_swapped(json_t *results, const char *name, trainer *r, const char *activation)
{
    const tg_rng rng = tg_rng_seed(1);
    tg_error error;
    net_spec spec = r->spec->net;
    tg_model *own = r->model;
    spec.activation = activation;
    r->model = net_new(&spec, &rng, &error);
    if (r->model && tg_parameters_copy(tg_model_parameters(r->model), tg_model_parameters(own)) > 0)
        put(results, name, r);
    tg_model_free(r->model);
    r->model = own;
}

/* The test loss after weights were rounded to a shorter format; they stay rounded. */
static void put_half(json_t *results, const char *name, trainer *r, float (*nearest)(float), const float *weights)
{
    const tg_parameters *set = tg_model_parameters(r->model);
    float *to = tg_parameters_values(set);
    for (int64_t i = 0; i < tg_parameters_size(set); i++)
        to[i] = nearest(weights[i]);
    put(results, name, r);
}

static void measure_net(trainer *r, json_t *results)
{
    const tg_parameters *set = tg_model_parameters(r->model);
    const size_t size = (size_t)tg_parameters_size(set) * sizeof(float);
    float *weights = malloc(size);
    if (strcmp(r->spec->net.activation, "gelu_exact") != 0 || !weights) {
        free(weights);
        return;
    }
    memcpy(weights, tg_parameters_values(set), size);
    put(results, "own", r);
    put_swapped(results, "gelu_tanh", r, "gelu_tanh");
    put_swapped(results, "gelu_quick", r, "gelu_quick");
    put_half(results, "fp16", r, half_f16_round, weights);
    put_half(results, "bf16", r, half_bf16_round, weights);
    memcpy(tg_parameters_values(set), weights, size);
    free(weights);
}

/* The accuracy on noisy rows, and the test loss with other activations. */
static void measure_all(trainer *r, json_t *results)
{
    json_t *usual = run_results(r, false);
    json_object_set(results, "noise", json_object_get(usual, "noise"));
    json_decref(usual);
    measure_net(r, results);
}

/* ---- the grids ---- */

#define DIGITS "split=redrawn batch=64 epochs=84"
#define QUICK  "batch=16 epochs=2"
#define GPT                                                                                                        \
    "model=gpt layers=2 heads=2 width=64 context=32 batch=12 epoch-windows=3000 epochs=2 schedule=cosine end=0.1 " \
    "weight-decay=0.1 beta2=0.99 clip=1"
#define QUICK_GPT "layers=1 heads=1 width=8 context=8 batch=4 epoch-windows=40 epochs=2"

const study_grid claim_grids[CLAIM_GRIDS] = {
    {"depth",
     STUDY_DIGITS,
     DIGITS,
     QUICK,
     {"activation=relu,gelu_exact", "init=he_normal,xavier_normal", "hidden=64x2,64x4,64x8,64x16"},
     {1e-3, 3e-3},
     5},
    {"width",
     STUDY_DIGITS,
     DIGITS " init=he_normal",
     QUICK,
     {"activation=relu,gelu_exact", "hidden=16x2,64x2,256x2"},
     {1e-3, 3e-3},
     5},
    {"deep",
     STUDY_DIGITS,
     DIGITS " epochs=30 residual=1 norm=layer",
     QUICK,
     {"activation=relu,gelu_exact", "hidden=64x2,64x50"},
     {3e-4, 1e-3},
     5},
    {"rates",
     STUDY_DIGITS,
     DIGITS " hidden=64x4",
     QUICK,
     {"activation=relu,gelu_exact", "optimizer=adamw,sgd"},
     {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1},
     5},
    {"mnist",
     STUDY_MNIST,
     "hidden=128x8 init=unit_rows batch=128 epochs=6 drop-last=1 validation=first:5000 train-loss-every=6 "
     "test-noise=0.5,1,1.5",
     "hidden=16x2 batch=32 epochs=2 validation=first:60",
     {"activation=relu,elu,gelu_exact,stochastic_gelu"},
     {1e-3},
     5,
     .more = measure_all},
    {"convnet",
     STUDY_MNIST,
     "model=convnet filters=8,16 norm=batch batch=128 epochs=1 validation=first:5000",
     "filters=2,2 batch=32 epochs=1 validation=first:60",
     {"activation=relu,gelu_exact"},
     {2e-3},
     3},
    {"gpt",
     STUDY_PLAYS,
     GPT " warmup=0.1",
     QUICK_GPT,
     {"activation=relu,gelu_exact", "post-norm=0,1"},
     {3e-3, 1e-2},
     3},
    {"nowarmup", STUDY_PLAYS, GPT, QUICK_GPT, {"activation=gelu_exact", "post-norm=0,1"}, {3e-3, 1e-2}, 3},
};

/* ---- measures of a run ---- */

static double at_best(const claim_measure *m, const study_cell *cell, int seed)
{
    return study_cell_at_best(cell, cell->best, seed, m->column);
}

static double percent(double share)
{
    return 100 * share;
}

static double early_loss(const claim_measure *m, const study_cell *cell, int seed)
{
    return study_record_at(study_cell_record(cell, cell->best, seed), 2, m->column);
}

static double last(const study_record *record, study_column column)
{
    return study_record_at(record, record->epochs, column);
}

/* The largest share at any rate that did not diverge. */
static double dead(const claim_measure *m, const study_cell *cell, int seed)
{
    double most = NAN;
    for (int rate = 0; rate < cell->rates; rate++)
        most = fmax(most, percent(last(study_cell_record(cell, cell->grid->rates[rate], seed), m->column)));
    return most;
}

/* The lowest validation loss at a rate; at most that of a guess among ten digits. */
static double bounded_loss(const study_cell *cell, double rate, int seed)
{
    return fmin(study_cell_at_best(cell, rate, seed, STUDY_VAL_LOSS), log(10));
}

static int best_rate_of(const study_cell *cell, int seed)
{
    int best = 0;
    for (int rate = 1; rate < cell->rates; rate++)
        if (bounded_loss(cell, cell->grid->rates[rate], seed) < bounded_loss(cell, cell->grid->rates[best], seed))
            best = rate;
    return best;
}

static double best_rate(const claim_measure *m, const study_cell *cell, int seed)
{
    (void)m;
    return cell->grid->rates[best_rate_of(cell, seed)];
}

/* Up to 0.01, the rates at which all nets train. */
static double regret(const claim_measure *m, const study_cell *cell, int seed)
{
    (void)m;
    const double least = bounded_loss(cell, cell->grid->rates[best_rate_of(cell, seed)], seed);
    double sum = 0;
    int rate = 0;
    for (; rate < cell->rates && cell->grid->rates[rate] <= 0.01; rate++)
        sum += log(bounded_loss(cell, cell->grid->rates[rate], seed) / least);
    return sum / rate;
}

static double gap(const claim_measure *m, const study_cell *cell, int seed)
{
    (void)m;
    const study_record *record = study_cell_record(cell, cell->best, seed);
    return last(record, STUDY_VAL_LOSS) - last(record, STUDY_TRAIN_LOSS);
}

/* The largest increase from one epoch to the next. */
static double rise(const claim_measure *m, const study_cell *cell, int seed)
{
    (void)m;
    const study_record *record = study_cell_record(cell, cell->best, seed);
    double most = -INFINITY;
    for (int epoch = 2; epoch <= record->epochs; epoch++)
        most = fmax(most, log(study_record_at(record, epoch, STUDY_VAL_LOSS) /
                              study_record_at(record, epoch - 1, STUDY_VAL_LOSS)));
    return most;
}

static double gradients(const claim_measure *m, const study_cell *cell, int seed)
{
    (void)m;
    const study_record *record = study_cell_record(cell, cell->best, seed);
    double most = 0, least = INFINITY;
    for (int epoch = 1; epoch <= record->epochs; epoch++) {
        most = fmax(most, study_record_at(record, epoch, STUDY_GRADIENT));
        least = fmin(least, study_record_at(record, epoch, STUDY_GRADIENT));
    }
    return most / least;
}

/* Over the sizes of the noise; result.json has size, loss and accuracy of each. */
static double noisy_accuracy(const claim_measure *m, const study_cell *cell, int seed)
{
    (void)m;
    const study_record *record = study_cell_record(cell, cell->best, seed);
    return 100.0 / 3 *
           (study_record_result(record, "noise", 2) + study_record_result(record, "noise", 5) +
            study_record_result(record, "noise", 8));
}

static double over_own(const claim_measure *m, const study_cell *cell, int seed)
{
    const study_record *record = study_cell_record(cell, cell->best, seed);
    return study_record_result(record, m->result, 0) / study_record_result(record, "own", 0);
}

#define OVER_OWN(what, format, of)                                                        \
    {                                                                                     \
        "test loss with " what " over its own", over_own, log, format, true, .result = of \
    }
const claim_measure claim_test_loss = {"test loss", at_best, log, "%.4f", true, STUDY_TEST_LOSS},
                    claim_test_accuracy = {"test accuracy in percent", at_best, percent, "%.2f", false,
                                           STUDY_TEST_ACCURACY},
                    claim_perplexity = {"perplexity", at_best, NULL, "%.3f", true, STUDY_VAL_LOSS},
                    claim_early_loss = {"training loss of epoch 2", early_loss, log, "%.4f", true, STUDY_STEP_LOSS},
                    claim_dead = {"dead units in percent", dead, NULL, "%.2f", false, STUDY_DEAD},
                    claim_best_rate = {"best rate", best_rate, log, "%.4f", true},
                    claim_regret = {"loss over that at the best rate, mean of rates up to 0.01", regret, NULL, "%.2f",
                                    true},
                    claim_gap = {"validation less training loss", gap, NULL, "%.4f", false},
                    claim_rise = {"largest rise of the validation loss in an epoch", rise, NULL, "%.2f", true},
                    claim_gradients = {"largest gradient norm over least", gradients, log, "%.2f", true},
                    claim_noise = {"accuracy in percent with noise of 0.5, 1 and 1.5", noisy_accuracy, NULL, "%.2f",
                                   false},
                    claim_swap_tanh = OVER_OWN("the tanh form", "%.6f", "gelu_tanh"),
                    claim_swap_quick = OVER_OWN("QuickGELU", "%.4f", "gelu_quick"),
                    claim_fp16 = OVER_OWN("weights in half precision", "%.6f", "fp16"),
                    claim_bf16 = OVER_OWN("weights in bfloat16", "%.4f", "bf16");

/* ---- findings ---- */

static const study_grid *grid_of(const char *cell)
{
    int i = 0;
    while (i < CLAIM_GRIDS && (strncmp(claim_grids[i].name, cell, strlen(claim_grids[i].name)) != 0 ||
                               cell[strlen(claim_grids[i].name)] != '-'))
        i++;
    return i < CLAIM_GRIDS ? &claim_grids[i] : NULL;
}

static double shown(const claim_measure *m, double number)
{
    return m->logarithm ? exp(number) : number;
}

/* "0.92 times (0.84 to 1.00)", "-0.31 (-0.40 to -0.22)" of differences; of one number in its own format. */
static void say_interval(char text[120], const claim_measure *m, const statistics_estimate *e, bool difference)
{
    const double numbers[3] = {e->mean, e->mean - e->margin, e->mean + e->margin};
    char each[3][24];
    for (int i = 0; i < 3; i++)
        snprintf(each[i], sizeof each[i],
                 !difference    ? m->format
                 : m->logarithm ? "%.3f"
                                : "%+.3f",
                 shown(m, numbers[i]));
    snprintf(text, 120, "%s%s (%s to %s)", each[0], difference && m->logarithm ? " times" : "", each[1], each[2]);
}

/* "test loss 0.0711 against 0.0776: 0.92 times (0.84 to 1.00)" */
static finding say(const claim_measure *m, const statistics_estimate one[CLAIM_CELLS], const statistics_estimate *all,
                   int cells)
{
    const double low = shown(m, all->mean - all->margin), high = shown(m, all->mean + all->margin);
    char each[CLAIM_CELLS][24], interval[120];
    for (int i = 0; i < cells; i++)
        snprintf(each[i], sizeof each[i], m->format, shown(m, one[i].mean));
    say_interval(interval, m, all, cells > 1);
    if (cells == 1)
        return finding_interval(low, high, "%s %s", m->name, interval);
    if (cells == 2)
        return finding_interval(low, high, "%s %s against %s: %s", m->name, each[0], each[1], interval);
    return finding_interval(low, high, "%s %s against %s, and %s against %s: %s", m->name, each[0], each[1], each[2],
                            each[3], interval);
}

finding claim_cells(const claims *c)
{
    const claim *about = c->about;
    const claim_measure *m = about->measure;
    static const int sign[CLAIM_CELLS] = {1, -1, -1, 1};
    double by_seed[CLAIM_CELLS][STUDY_SEEDS], sum[STUDY_SEEDS] = {0};
    statistics_estimate one[CLAIM_CELLS];
    int cells = 0, seeds = 0;
    for (; cells < CLAIM_CELLS && about->of[cells]; cells++) {
        const study_cell cell = study_cell_of(c->work, c->c, grid_of(about->of[cells]), about->of[cells], 0);
        if (cell.best == 0)
            return finding_none();
        seeds = cell.seeds;
        for (int i = 0; i < seeds; i++) {
            by_seed[cells][i] = m->scale ? m->scale(m->of(m, &cell, i + 1)) : m->of(m, &cell, i + 1);
            sum[i] += sign[cells] * by_seed[cells][i];
        }
        one[cells] = statistics_of(by_seed[cells], (size_t)seeds);
    }
    statistics_estimate all = statistics_of(sum, (size_t)seeds);
    statistics_correct_overlap(grid_of(about->of[0])->data == STUDY_DIGITS ? 0.2 / 0.6 : 0, &all, NULL);
    return say(m, one, &all, cells);
}

/* ---- from other studies ---- */

finding claim_study(const claims *c)
{
    static const char *const suffix[3] = {"", "_low", "_high"};
    const claim *about = c->about;
    double number[3];
    for (int i = 0; i < 3; i++) {
        char key[100];
        snprintf(key, sizeof key, "%s%s", about->of[0], suffix[i]);
        number[i] = study_number(c->c, about->study, key);
        number[i] = about->logarithm ? exp(number[i]) : number[i];
    }
    if (isnan(number[0] + number[1] + number[2]))
        return finding_none();
    return finding_interval(number[1], number[2], "%s %.3f times (%.3f to %.3f)", about->of[1], number[0], number[1],
                            number[2]);
}
