#include "tests/intervals/simulate.h"

#include "examples/programs/report/memory.h"
#include "examples/programs/report/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

enum { NETS = SIMULATION_PAIRS + 1 };

/* ---- populations ---- */

const char *const simulation_populations[] = {"classes", "coin", "rare", "xor", "numbers", "outliers", "skewed", NULL};
const char *const simulation_measures[SIMULATION_MEASURES] = {"loss", "accuracy", "balanced", "F1", "AUC",
                                                              "R2",   "RMSE",     "MAE",      "ECE"};

int simulation_has_classes(const char *population)
{
    return strcmp(population, "classes") == 0 || strcmp(population, "coin") == 0 || strcmp(population, "rare") == 0 ||
           strcmp(population, "xor") == 0;
}

int simulation_kind(const char *population)
{
    return strcmp(population, "rare") == 0  ? 2
           : strcmp(population, "xor") == 0 ? 3
                                            : strcmp(population, "outliers") == 0 || strcmp(population, "skewed") == 0;
}

static int features_of(const char *population)
{
    return strcmp(population, "xor") == 0 ? 2 : 8;
}

/* Student's t with 3 degrees of freedom: heavy tails. */
static double heavy(tg_rng *rng)
{
    double squares = 0;
    const double z = tg_rng_normal(rng);
    for (int i = 0; i < 3; i++)
        squares += pow(tg_rng_normal(rng), 2);
    return z / sqrt(squares / 3);
}

/* classes: depends on the features; coin: does not; rare: one of six is of the second class; xor: exclusive or with 10
 * % noise, which nets sometimes fail to learn; numbers: normal noise; outliers: noise with heavy tails; skewed:
 * log-normal. */
static float draw_target(const char *population, const float *x, tg_rng *rng)
{
    if (strcmp(population, "xor") == 0)
        return (x[0] * x[1] > 0) != (tg_rng_uniform(rng) < 0.1);
    const double signal = sin(1.5 * x[0]) + x[1] * x[2] + 0.5 * x[3];
    if (strcmp(population, "classes") == 0)
        return tg_rng_uniform(rng) < 1 / (1 + exp(-2.5 * signal));
    if (strcmp(population, "coin") == 0)
        return tg_rng_uniform(rng) < 0.5;
    if (strcmp(population, "rare") == 0)
        return tg_rng_uniform(rng) < 1 / (1 + exp(3.2 - 2 * signal));
    if (strcmp(population, "numbers") == 0)
        return (float)(signal + 0.5 * tg_rng_normal(rng));
    if (strcmp(population, "outliers") == 0)
        return (float)(signal + 0.5 * heavy(rng));
    return (float)exp(0.5 * signal + 0.5 * tg_rng_normal(rng));
}

/* ---- training ---- */

typedef struct split {
    int train, rest; /* rows for training; for validation and for testing, each */
    int features;
    float *x, *y; /* [train + 2 rest, features] and [train + 2 rest], in the order of the split */
    bool classes;
} split;

static tg_tensor losses_of(const split *s, tg_mlp *net, tg_tape *tape, int first, int count, tg_tensor *output)
{
    tg_tensor x = tg_borrow(tape, TG_F32, s->x + first * s->features, TG_SHAPE(count, s->features));
    tg_tensor y = tg_borrow(tape, TG_F32, s->y + first, TG_SHAPE(count, 1));
    *output = tg_mlp_forward(net, x);
    return s->classes ? tg_bce_on_logits(*output, y) : tg_mse(*output, y);
}

/* What `rest` rows from `first` on add to each measure: value[measures, rest]. */
static void measure(const split *s, tg_mlp *net, tg_tape *tape, int first, float *value)
{
    tg_card_input target = {.scale = {.scale = 1}};
    const tg_card card = {.task = s->classes ? TG_CARD_CLASSES : TG_CARD_TARGETS,
                          .classes = s->classes ? 2 : 0,
                          .targets = !s->classes,
                          .target = &target,
                          .spec.outputs = s->classes ? 2 : 1};
    const size_t count = (size_t)s->rest;
    float *output = memory_checked(calloc(2 * count, sizeof *output));
    int32_t *label = memory_checked(calloc(count, sizeof *label));
    tg_tensor outputs;
    tg_tape_reset(tape);
    losses_of(s, net, tape, first, s->rest, &outputs);
    for (size_t i = 0; i < count; i++) {
        const double z = tg_at(outputs, (int64_t)i), y = s->y[(size_t)first + i];
        output[s->classes ? 2 * i + 1 : i] = (float)z; /* logits 0 and z */
        label[i] = s->classes && y > 0.5;
        value[i] = (float)(s->classes ? fmax(z, 0) - z * y + log1p(exp(-fabs(z))) : (z - y) * (z - y));
        value[count + i] = s->classes ? (z > 0) == (y > 0.5) : NAN;
    }
    double *others = memory_checked(
        influence(&card, &(influence_rows){.count = count, .output = output, .label = label, .wanted = s->y + first}));
    for (size_t i = 0; i < INFLUENCES * count; i++)
        value[SIMULATION_OTHERS * count + i] = (float)others[i];
    free(others);
    free(output);
    free(label);
}

static float mean_of(const float *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return (float)(sum / count);
}

/* Measures the weights of the best epoch on the validation rows: value[measures, rest] of the test rows, and the
 * measures of the validation rows. */
static void train(const split *s, tg_activation activation, const tg_rng *rng, float *value, float *valid)
{
    enum { EPOCHS = 12, BATCH = 16 };
    tg_rng order_of = tg_rng_stream(rng, "order");
    tg_mlp *net = tg_mlp_new(
        rng, &(tg_mlp_config){.inputs = s->features, .hidden = {16}, .outputs = 1, .activation = activation});
    tg_optimizer *adamw = tg_optimizer_new(tg_mlp_parameters(net), &(tg_optimizer_config){.lr = 0.01});
    tg_tape *tape = tg_tape_new();
    float *best = memory_checked(malloc(tg_parameters_bytes(tg_mlp_parameters(net))));
    double lowest = INFINITY;
    tg_tensor output;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        for (int step = 0; step < s->train / BATCH; step++) {
            tg_tape_reset(tape);
            const int first = (int)tg_rng_below(&order_of, (uint64_t)(s->train - BATCH + 1));
            tg_backward(losses_of(s, net, tape, first, BATCH, &output));
            tg_optimizer_step(adamw);
        }
        tg_tape_reset(tape);
        const double now = tg_item(losses_of(s, net, tape, s->train, s->rest, &output));
        if (now < lowest || epoch == 0)
            memcpy(best, tg_parameters_values(tg_mlp_parameters(net)), tg_parameters_bytes(tg_mlp_parameters(net)));
        lowest = fmin(lowest, now);
    }
    tg_parameters_swap(tg_mlp_parameters(net), best);
    measure(s, net, tape, s->train, value);
    for (int m = 0; m < SIMULATION_MEASURES; m++)
        valid[m] = mean_of(value + m * s->rest, s->rest);
    measure(s, net, tape, s->train + s->rest, value);
    free(best);
    tg_tape_free(tape);
    tg_optimizer_free(adamw);
    tg_mlp_free(net);
}

/* True if the validation or the test rows are of one class, which a stratified split avoids. */
static bool lacks_a_class(const float *y, const int32_t *order, int rest)
{
    int second[2] = {0, 0};
    for (int i = 0; i < 2 * rest; i++)
        second[i / rest] += y[order[i]] > 0.5;
    return second[0] % rest == 0 || second[1] % rest == 0;
}

/* One seed of a table: splits it, trains the nets, and notes the rows. */
static void run_seed(simulation *s, int64_t at, const float *x, const float *y, const tg_rng *rng)
{
    static const tg_activation activations[NETS] = {TG_RELU, TG_GELU_EXACT, TG_SWIGLU, TG_RELU};
    const int rows = s->cell.rows, rest = rows / 5, features = features_of(s->cell.population);
    split of = {.train = rows - 2 * rest,
                .rest = rest,
                .features = features,
                .classes = simulation_has_classes(s->cell.population)};
    int32_t *order = memory_checked(malloc((size_t)rows * sizeof *order));
    of.x = memory_checked(malloc((size_t)(rows * features) * sizeof *of.x));
    of.y = memory_checked(malloc((size_t)rows * sizeof *of.y));
    tg_rng shuffle = tg_rng_stream(rng, "split");
    for (int i = 0; i < rows; i++)
        order[i] = i;
    do
        tg_rng_shuffle(&shuffle, (size_t)(s->first ? rows - rest : rows), order);
    while (of.classes && lacks_a_class(y, order + of.train, rest));
    for (int i = 0; i < rows; i++) {
        memcpy(of.x + i * features, x + order[i] * features, (size_t)features * sizeof *x);
        of.y[i] = y[order[i]];
        if (i >= rows - rest)
            s->row[at * rest + i - (rows - rest)] = (uint32_t)order[i];
    }
    for (int net = 0; net < NETS; net++) {
        const tg_rng own = net == NETS - 1 ? tg_rng_split(rng, 1) : *rng;
        train(&of, activations[net], &own, s->value + (at * NETS + net) * SIMULATION_MEASURES * rest,
              s->valid + (at * NETS + net) * SIMULATION_MEASURES);
    }
    free(order);
    free(of.x);
    free(of.y);
}

simulation simulate(const simulation_cell *wanted, uint64_t seed)
{
    const bool first = strncmp(wanted->population, "first:", 6) == 0;
    simulation_cell named = *wanted, *cell = &named;
    named.population += first ? 6 : 0;
    const size_t runs = (size_t)cell->tables * (size_t)cell->seeds, rest = (size_t)cell->rows / 5;
    simulation s = {.cell = *cell,
                    .first = first,
                    .row = memory_checked(malloc(runs * rest * sizeof *s.row)),
                    .value = memory_checked(malloc(runs * NETS * SIMULATION_MEASURES * rest * sizeof *s.value)),
                    .valid = memory_checked(malloc(runs * NETS * SIMULATION_MEASURES * sizeof *s.valid))};
    const int features = features_of(cell->population);
    float *x = memory_checked(malloc((size_t)(cell->rows * features) * sizeof *x));
    float *y = memory_checked(malloc((size_t)cell->rows * sizeof *y));
    const tg_rng root = tg_rng_seed(seed), of = tg_rng_stream(&root, cell->population);
    for (int table = 0; table < cell->tables; table++) {
        const tg_rng own = tg_rng_split(&of, (uint64_t)table);
        tg_rng draw = tg_rng_stream(&own, "rows");
        for (int i = 0; i < cell->rows; i++) {
            for (int k = 0; k < features; k++)
                x[i * features + k] = (float)tg_rng_normal(&draw);
            y[i] = draw_target(cell->population, x + i * features, &draw);
        }
        for (int k = 0; k < cell->seeds; k++) {
            const tg_rng run = tg_rng_split(&own, (uint64_t)k + 1);
            run_seed(&s, (int64_t)table * cell->seeds + k, x, y, &run);
        }
    }
    free(x);
    free(y);
    return s;
}

void simulation_free(simulation *s)
{
    free(s->row);
    free(s->value);
    free(s->valid);
}

int simulation_has(const simulation *s, int measure)
{
    return !isnan(s->value[measure * (s->cell.rows / 5)]);
}

/* ---- judging ---- */

/* The differences of a pair on the test rows of a run, or relu's values; their mean is that of the measure. And the
 * same of its validation rows. */
static void differences(const simulation *s, int64_t at, int measure, int pair, double *to, double *validation)
{
    const int rest = s->cell.rows / 5, other = pair == SIMULATION_LEVEL ? 0 : pair + 1;
    const float *of = s->value + (at * NETS * SIMULATION_MEASURES + measure) * rest;
    const float *valid = s->valid + at * NETS * SIMULATION_MEASURES + measure;
    for (int i = 0; i < rest; i++)
        to[i] = (double)of[other * SIMULATION_MEASURES * rest + i] - (other ? (double)of[i] : 0);
    *validation = (double)valid[other * SIMULATION_MEASURES] - (other ? (double)valid[0] : 0);
}

/* True for values of a net, not differences, that training makes small. */
static bool minimised(int measure, int pair)
{
    const int other = measure - SIMULATION_OTHERS;
    return pair == SIMULATION_LEVEL && (measure == SIMULATION_LOSS || other == INFLUENCE_RMSE ||
                                        other == INFLUENCE_MAE || other == INFLUENCE_CALIBRATION);
}

/* By a method from `seeds` seeds of a table, from seed `first` on. */
static statistics_estimate estimate(const simulation *s, int table, int measure, int pair, simulation_method method,
                                    int first, int seeds, double *memory)
{
    const int rest = s->cell.rows / 5;
    statistics_rows *runs = memory_checked(calloc((size_t)seeds + 1, sizeof *runs));
    double *means = memory_checked(calloc((size_t)seeds + 1, sizeof *means));
    double *validation = memory_checked(calloc((size_t)seeds + 1, sizeof *validation));
    for (int k = 0; k < seeds; k++) {
        const int64_t at = (int64_t)table * s->cell.seeds + first + k;
        double *value = memory + k * rest;
        differences(s, at, measure, pair, value, &validation[k]);
        validation[k] = s->first ? NAN : validation[k];
        for (int i = 0; i < rest; i++)
            means[k] += value[i] / rest;
        runs[k] = (statistics_rows){(size_t)rest, s->row + at * rest, value};
    }
    statistics_estimate e = method == SIMULATION_ROWS
                                ? statistics_of_rows(runs, validation, (size_t)seeds,
                                                     minimised(measure, pair) ? STATISTICS_MINIMISED
                                                     : s->first               ? rest / (double)(s->cell.rows - rest)
                                                                              : 1)
                                : statistics_of(means, (size_t)seeds);
    const double factor = method == SIMULATION_CORRECTED ? sqrt(1 + seeds / 3.)
                          : method == SIMULATION_SAME    ? sqrt(1 + seeds / (double)(s->cell.seeds - seeds))
                                                         : 1;
    e.error *= factor;
    e.margin *= factor;
    free(runs);
    free(means);
    free(validation);
    return e;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

simulation_result simulation_judge(const simulation *s, int measure, int pair, simulation_method method, int seeds)
{
    const int tables = s->cell.tables, others = s->cell.seeds - seeds;
    double *memory = memory_checked(malloc((size_t)s->cell.seeds * (size_t)s->cell.rows / 5 * sizeof *memory));
    double *off = memory_checked(malloc((size_t)tables * sizeof *off)); /* an estimate less the truth */
    double *margins = memory_checked(malloc((size_t)tables * sizeof *margins)), truth = 0, sum = 0, squares = 0;
    simulation_result r = {0};
    const int coin = strcmp(s->cell.population, "coin") == 0 && measure == SIMULATION_OTHERS + INFLUENCE_AUC;
    for (int t = 0; t < tables; t++)
        truth += coin ? (pair == SIMULATION_LEVEL) * 0.5 / tables
                 : pair == SIMULATION_PAIRS - 1
                     ? 0
                     : estimate(s, t, measure, pair, SIMULATION_SEEDS, 0, s->cell.seeds, memory).mean / tables;
    for (int t = 0; t < tables; t++) {
        statistics_estimate e = estimate(s, t, measure, pair, method, 0, seeds, memory);
        e.mean -= method == SIMULATION_SAME
                      ? estimate(s, t, measure, pair, SIMULATION_SEEDS, seeds, others, memory).mean
                      : truth;
        off[t] = e.mean;
        margins[t] = e.margin;
        sum += off[t] / tables;
        r.false_alarm += (statistics_p(&e) < 0.05) / (double)tables;
    }
    for (int t = 0; t < tables; t++)
        squares += pow(off[t] - sum, 2) / (tables - 1);
    const double deviation = sqrt(squares), effect = 2.8 * deviation;
    for (int t = 0; t < tables; t++) {
        r.coverage += (fabs(off[t]) <= margins[t] + 1e-12) / (double)tables;
        r.power += ((fabs(off[t] + effect) > margins[t]) + (fabs(off[t] - effect) > margins[t])) / (2. * tables);
    }
    qsort(margins, (size_t)tables, sizeof *margins, ascending);
    r.width = margins[tables / 2] / (1.96 * deviation);
    free(memory);
    free(off);
    free(margins);
    return method == SIMULATION_SAME && others < 1 ? (simulation_result){NAN, NAN, NAN, NAN} : r;
}
