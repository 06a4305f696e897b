/* Statements about training: the grids of runs that decide them, and the measures of a run. */
#include "examples/programs/data/half.h"
#include "examples/programs/study/claims.h"
#include "examples/programs/run/run.h"

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
    tg_parameters *set = tg_model_parameters(r->model);
    float *to = tg_parameters_values(set);
    for (int64_t i = 0; i < tg_parameters_size(set); i++)
        to[i] = nearest(weights[i]);
    tg_parameters_changed(set);
    put(results, name, r);
}

static void measure_net(trainer *r, json_t *results)
{
    tg_parameters *set = tg_model_parameters(r->model);
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
    tg_parameters_changed(set);
    free(weights);
}

/* The accuracy on noisy rows, a mean over the sizes of the noise, and the test loss with other activations. */
static void measure_all(trainer *r, json_t *results)
{
    double sum = 0;
    run_noise(r, results);
    const json_t *noise = json_object_get(results, "noise"); /* size, loss, accuracy of each */
    for (size_t i = 2; i < json_array_size(noise); i += 3)
        sum += json_number_value(json_array_get(noise, i));
    json_object_set_new(results, "noisy_accuracy", json_real(3 * sum / (double)json_array_size(noise)));
    measure_net(r, results);
}

/* ---- the grids ---- */

#define ON_DIGITS(options) \
    .data = STUDY_DIGITS, .fixed = "split=redrawn batch=64 epochs=84" options, .quick = "batch=16 epochs=2", .seeds = 5
#define ON_PLAYS(options)                                                                                     \
    .data = STUDY_PLAYS,                                                                                      \
    .fixed = "model=gpt init=gpt2 layers=2 heads=2 width=64 context=32 batch=12 epoch-windows=3000 epochs=2 " \
             "schedule=cosine end=0.1 weight-decay=0.1 beta2=0.99 clip=1" options,                            \
    .quick = "layers=1 heads=1 width=8 context=8 batch=4 epoch-windows=40 epochs=2", .rates = {3e-3, 1e-2}, .seeds = 3

const study_grid claim_grids[CLAIM_GRIDS] = {
    {ON_DIGITS(""), .name = "depth",
     .factors = {"activation=relu,gelu_exact", "init=he_normal,xavier_normal,variance_preserving",
                 "hidden=64x2,64x4,64x8,64x16"},
     .rates = {1e-3, 3e-3}},
    {ON_DIGITS(" init=he_normal"), .name = "width", .factors = {"activation=relu,gelu_exact", "hidden=16x2,64x2,256x2"},
     .rates = {1e-3, 3e-3}},
    {ON_DIGITS(" epochs=30 residual=1 norm=layer init=variance_preserving"), .name = "deep",
     .factors = {"activation=relu,gelu_exact", "hidden=64x2,64x50"}, .rates = {3e-4, 1e-3}},
    {ON_DIGITS(" hidden=64x4 init=variance_preserving"), .name = "rates",
     .factors = {"activation=relu,gelu_exact", "optimizer=adamw,sgd"},
     .rates = {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1}},
    {.name = "mnist",
     .data = STUDY_MNIST,
     .fixed = "hidden=128x8 init=unit_rows batch=128 epochs=6 drop-last=1 validation=first:5000 train-loss-every=6 "
              "test-noise=0.5,1,1.5",
     .quick = "hidden=16x2 batch=32 epochs=2 validation=first:60",
     .factors = {"activation=relu,elu,gelu_exact,stochastic_gelu"},
     .rates = {1e-3},
     .seeds = 5,
     .more = measure_all},
    {.name = "convnet",
     .data = STUDY_MNIST,
     .fixed = "model=convnet filters=8,16 norm=batch init=variance_preserving batch=128 epochs=1 validation=first:5000",
     .quick = "filters=2,2 batch=32 epochs=1 validation=first:60",
     .factors = {"activation=relu,gelu_exact"},
     .rates = {2e-3},
     .seeds = 3},
    {ON_PLAYS(" warmup=0.1"), .name = "gpt", .factors = {"activation=relu,gelu_exact", "post-norm=0,1"}},
    {ON_PLAYS(""), .name = "nowarmup", .factors = {"activation=gelu_exact", "post-norm=0,1"}},
    {.each_table = true,
     .fixed = "split=redrawn hidden=64x2 init=variance_preserving",
     .quick = "hidden=16x2",
     .factors = {"activation=relu,gelu_exact,swiglu"},
     .rates = {3e-4, 1e-3, 3e-3, 1e-2, 3e-2},
     .seeds = 5},
};

/* ---- measures ---- */

/* The largest share at any rate that did not diverge. */
static double dead(const study_cell *cell, int seed)
{
    double most = NAN, of[STUDY_SEEDS];
    for (int rate = 0; rate < cell->rates; rate++) {
        study_cell_values(cell, cell->grid->rates[rate], "dead", of);
        most = fmax(most, 100 * of[seed - 1]);
    }
    return most;
}

/* The lowest validation loss at a rate; at most that of a guess among ten digits. */
static double bounded_loss(const study_cell *cell, int rate, int seed)
{
    double loss[STUDY_SEEDS];
    study_cell_values(cell, cell->grid->rates[rate], "best_val_loss", loss);
    return fmin(loss[seed - 1], log(10));
}

static int best_of(const study_cell *cell, int seed)
{
    int best = 0;
    for (int rate = 1; rate < cell->rates; rate++)
        if (bounded_loss(cell, rate, seed) < bounded_loss(cell, best, seed))
            best = rate;
    return best;
}

static double best_rate(const study_cell *cell, int seed)
{
    return cell->grid->rates[best_of(cell, seed)];
}

/* A geometric mean, up to 0.01, the rates at which all nets train. */
static double regret(const study_cell *cell, int seed)
{
    const double least = bounded_loss(cell, best_of(cell, seed), seed);
    double sum = 0;
    int rate = 0;
    for (; rate < cell->rates && cell->grid->rates[rate] <= 0.01; rate++)
        sum += log(bounded_loss(cell, rate, seed) / least);
    return exp(sum / rate);
}

static double perplexity_of(const study_cell *cell, int seed)
{
    double loss[STUDY_SEEDS];
    study_cell_values(cell, cell->best, "best_val_loss", loss);
    return exp(loss[seed - 1]);
}

static const claim_measure test_loss = {"test loss", "test_loss", .format = "%.4f"},
                           test_accuracy = {"test accuracy in percent", "test_accuracy", .format = "%.2f",
                                            .scale = 100},
                           perplexity = {"perplexity", .of = perplexity_of, .format = "%.3f"},
                           loss_of_epoch_2 = {"training loss of epoch 2", "epoch_2_loss", .format = "%.4f"},
                           dead_units = {"dead units in percent", .of = dead, .format = "%.2f", .scale = 1},
                           rate_of_best = {"best rate", .of = best_rate, .format = "%.4f"},
                           loss_over_rates = {"loss over that at the best rate, mean of rates up to 0.01", .of = regret,
                                              .format = "%.2f"},
                           gap_of_losses = {"validation less training loss", "gap", .format = "%.4f", .scale = 1},
                           largest_rise = {"largest rise of the validation loss in an epoch", "rise", .format = "%.2f"},
                           gradient_norms = {"largest gradient norm over least", "gradient_range", .format = "%.2f"},
                           under_noise = {"accuracy in percent with noise of 0.5, 1 and 1.5", "noisy_accuracy",
                                          .format = "%.2f", .scale = 100},
                           with_tanh = {"test loss with the tanh form over its own", "gelu_tanh", "own", "%.6f"},
                           with_quick = {"test loss with QuickGELU over its own", "gelu_quick", "own", "%.4f"},
                           in_fp16 = {"test loss with weights in half precision over its own", "fp16", "own", "%.6f"},
                           in_bf16 = {"test loss with weights in bfloat16 over its own", "bf16", "own", "%.4f"};

/* The measure of each seed, at the cell's best rate; of a ratio the logarithm. */
static void measure(const study_cell *cell, const claim_measure *m, double values[STUDY_SEEDS])
{
    double over[STUDY_SEEDS];
    if (!m->of)
        study_cell_values(cell, cell->best, m->result, values);
    if (m->over)
        study_cell_values(cell, cell->best, m->over, over);
    for (int i = 0; i < cell->seeds; i++) {
        values[i] = (m->of ? m->of(cell, i + 1) : values[i]) / (m->over ? over[i] : 1);
        values[i] = m->scale != 0 ? m->scale * values[i] : log(values[i]);
    }
}

/* ---- findings ---- */

static double shown(const claim_measure *m, double number)
{
    return m->scale == 0 ? exp(number) : number;
}

/* "0.92 times (0.84 to 1.00)", "-0.31 (-0.40 to -0.22)" of differences; of one number in its own format. */
static void say_interval(char text[120], const claim_measure *m, const statistics_estimate *e, bool difference)
{
    const double numbers[3] = {e->mean, e->mean - e->margin, e->mean + e->margin};
    char each[3][24];
    for (int i = 0; i < 3; i++)
        snprintf(each[i], sizeof each[i],
                 !difference     ? m->format
                 : m->scale == 0 ? "%.3f"
                                 : "%+.3f",
                 shown(m, numbers[i]));
    snprintf(text, 120, "%s%s (%s to %s)", each[0], difference && m->scale == 0 ? " times" : "", each[1], each[2]);
}

/* "test loss 0.0711 against 0.0776: 0.92 times (0.84 to 1.00)" */
static finding say(const claims *c, const claim_measure *m, const statistics_estimate one[CLAIM_CELLS],
                   const statistics_estimate *all, int cells)
{
    char each[CLAIM_CELLS][24], interval[120], words[240];
    for (int i = 0; i < cells; i++)
        snprintf(each[i], sizeof each[i], m->format, shown(m, one[i].mean));
    say_interval(interval, m, all, cells > 1);
    if (cells == 1)
        snprintf(words, sizeof words, "%s %s", m->name, interval);
    else if (cells == 2)
        snprintf(words, sizeof words, "%s %s against %s: %s", m->name, each[0], each[1], interval);
    else
        snprintf(words, sizeof words, "%s %s against %s, and %s against %s: %s", m->name, each[0], each[1], each[2],
                 each[3], interval);
    return finding_estimate(c, all, m->scale == 0, words);
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
        const study_cell cell = study_cell_of(c->work, about->of[cells]);
        if (!cell.whole)
            return finding_none();
        seeds = cell.seeds;
        measure(&cell, m, by_seed[cells]);
        for (int i = 0; i < seeds; i++)
            sum[i] += sign[cells] * by_seed[cells][i];
        one[cells] = statistics_of(by_seed[cells], (size_t)seeds);
    }
    const statistics_estimate all = statistics_of(sum, (size_t)seeds);
    return say(c, m, one, &all, cells);
}

/* Over the tables, of means over the seeds. */
finding claim_tables(const claims *c)
{
    const int tables = study_tables(c->work->c);
    double log_ratio[STUDY_TABLES];
    for (int i = 0; i < tables; i++) {
        double of[2][STUDY_SEEDS];
        int seeds = 0;
        for (int k = 0; k < 2; k++) {
            char name[STUDY_NAME];
            snprintf(name, sizeof name, "%s-%s", study_table_name(c->work->c, i), c->about->of[k]);
            const study_cell cell = study_cell_of(c->work, name);
            if (!cell.whole)
                return finding_none();
            measure(&cell, &test_loss, of[k]);
            seeds = cell.seeds;
        }
        log_ratio[i] = statistics_paired(of[0], of[1], (size_t)seeds).mean;
    }
    const statistics_estimate e = statistics_of(log_ratio, (size_t)tables);
    char interval[120], words[240];
    say_interval(interval, &test_loss, &e, true);
    snprintf(words, sizeof words, "test loss %s, over %d tables", interval, tables);
    return finding_estimate(c, &e, true, words);
}

/* ---- from other studies ---- */

finding claim_study(const claims *c)
{
    static const char *const suffix[] = {"", "_low", "_high", "_seeds"};
    const claim *about = c->about;
    double of[4];
    char key[100], words[240];
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "%s%s", about->of[0], suffix[i]);
        of[i] = study_number(c->work->c, about->study, key);
    }
    const statistics_estimate e = {.count = (size_t)of[3], .mean = of[0], .margin = (of[2] - of[1]) / 2};
    const bool ratio = of[3] > 0; /* of losses over seeds, or else of times */
    if (isnan(of[0] + of[1] + of[2]))
        return finding_none();
    for (int i = 0; ratio && i < 3; i++)
        of[i] = exp(of[i]);
    snprintf(words, sizeof words, "%s %.3f times (%.3f to %.3f)", about->of[1], of[0], of[1], of[2]);
    return ratio ? finding_estimate(c, &e, true, words) : finding_interval(of[1], of[2], "%s", words);
}

/* ---- statements ---- */

/* A ratio of another study's report; a measure of cells of the grids above; a ratio over the tables. */
#define FROM(name, key, what, ...) claim_study, __VA_ARGS__, {key, what}, .study = name
#define CELLS(measure, range, ...) claim_cells, range, {__VA_ARGS__}, &measure
#define TABLES(range, ...) \
    claim_tables, range,   \
    {                      \
        __VA_ARGS__        \
    }
#define PLAYS(key, ...)           FROM("shakespeare", key, "perplexity of a small GPT", __VA_ARGS__)
#define DEPTH(form, init, hidden) "depth-" form "-" init "-hidden" hidden
#define WIDTH(form, hidden)       "width-" form "-hidden" hidden
#define GPT(form, post)           "gpt-" form "-post-norm" post
#define GELU                      "gelu_exact"

/* clang-format off */
const claim claim_training[] = {
    {"GELU is 1 to 3 % better than ReLU on language (perplexity)", PLAYS("gelu_exact_less_relu", RANGE(0.97, 0.99))},
    {"SwiGLU is 5 to 10 % better than GELU on language (perplexity)",
     PLAYS("swiglu_less_gelu_exact", RANGE(0.90, 0.95))},
    {"SwiGLU is better than GELU on language", PLAYS("swiglu_less_gelu_exact", BELOW(1))},
    {"SiLU and GELU perform alike: perplexity within 1 %", PLAYS("silu_less_gelu_exact", RANGE(0.99, 1.01))},
    {"in convolutional nets ReLU is better: GELU hurts",
     CELLS(test_loss, ABOVE(1), "convnet-gelu_exact", "convnet-relu")},
    {"in vision ReLU and GELU are similar: within half a percent (a small convolutional net, one epoch)",
     CELLS(test_accuracy, NEAR(0, 0.5), "convnet-gelu_exact", "convnet-relu")},
    {"GELU trains faster than ReLU", CELLS(loss_of_epoch_2, BELOW(1), "mnist-gelu_exact", "mnist-relu")},
    {"GELU's gradients are steadier than ReLU's", CELLS(gradient_norms, BELOW(1), "mnist-gelu_exact", "mnist-relu")},
    {"GELU's validation loss rises less from epoch to epoch than ReLU's (one net, one rate, six epochs)",
     CELLS(largest_rise, BELOW(1), "mnist-gelu_exact", "mnist-relu")},
    {"GELU has fewer dead units, 2 layers",
     CELLS(dead_units, BELOW(0), DEPTH(GELU, "he_normal", "64x2"), DEPTH("relu", "he_normal", "64x2"))},
    {"GELU has fewer dead units, 8 layers",
     CELLS(dead_units, BELOW(0), DEPTH(GELU, "he_normal", "64x8"), DEPTH("relu", "he_normal", "64x8"))},
    {"GELU has no dead units, 8 layers", CELLS(dead_units, NEAR(0, 0), DEPTH(GELU, "he_normal", "64x8"))},
    {"Xavier suits GELU better than He, 2 layers",
     CELLS(test_loss, BELOW(1), DEPTH(GELU, "xavier_normal", "64x2"), DEPTH(GELU, "he_normal", "64x2"))},
    {"Xavier suits GELU better than He, 8 layers",
     CELLS(test_loss, BELOW(1), DEPTH(GELU, "xavier_normal", "64x8"), DEPTH(GELU, "he_normal", "64x8"))},
    {"GELU's own gain suits it better than He's, 2 layers",
     CELLS(test_loss, BELOW(1), DEPTH(GELU, "variance_preserving", "64x2"), DEPTH(GELU, "he_normal", "64x2"))},
    {"GELU's own gain suits it better than He's, 8 layers",
     CELLS(test_loss, BELOW(1), DEPTH(GELU, "variance_preserving", "64x8"), DEPTH(GELU, "he_normal", "64x8"))},
    {"GELU's own gain suits it better than He's, 16 layers",
     CELLS(test_loss, BELOW(1), DEPTH(GELU, "variance_preserving", "64x16"), DEPTH(GELU, "he_normal", "64x16"))},
    {"GELU's lead over ReLU grows with depth, from 2 to 16 layers",
     CELLS(test_loss, BELOW(1), DEPTH(GELU, "he_normal", "64x16"), DEPTH("relu", "he_normal", "64x16"),
           DEPTH(GELU, "he_normal", "64x2"), DEPTH("relu", "he_normal", "64x2"))},
    {"GELU's lead over ReLU grows with width, from 16 to 256",
     CELLS(test_loss, BELOW(1), WIDTH(GELU, "256x2"), WIDTH("relu", "256x2"), WIDTH(GELU, "16x2"), WIDTH("relu", "16x2"))},
    {"in nets of 50 layers GELU is better than ReLU (residual, LayerNorm)",
     CELLS(test_loss, BELOW(1), "deep-gelu_exact-hidden64x50", "deep-relu-hidden64x50")},
    {"GELU works with post-norm as well as with pre-norm: within 2 %",
     CELLS(perplexity, NEAR(1, 0.02), GPT(GELU, "1"), GPT(GELU, "0"))},
    {"GELU's place beside ReLU is the same with both: within 2 %",
     CELLS(perplexity, NEAR(1, 0.02), GPT(GELU, "1"), GPT("relu", "1"), GPT(GELU, "0"), GPT("relu", "0"))},
    {"warm-up helps GELU, pre-norm", CELLS(perplexity, BELOW(1), GPT(GELU, "0"), "nowarmup-gelu_exact-post-norm0")},
    {"warm-up helps GELU, post-norm", CELLS(perplexity, BELOW(1), GPT(GELU, "1"), "nowarmup-gelu_exact-post-norm1")},
    {"GELU pairs well with AdamW: better than with SGD",
     CELLS(test_loss, BELOW(1), "rates-gelu_exact-adamw", "rates-gelu_exact-sgd")},
    {"GELU is less sensitive to the learning rate than ReLU",
     CELLS(loss_over_rates, BELOW(1), "rates-gelu_exact-adamw", "rates-relu-adamw")},
    {"GELU is stable over rates: within 10 % from 0.0001 to 0.01",
     CELLS(loss_over_rates, BELOW(1.1), "rates-gelu_exact-adamw")},
    {"GELU needs a smaller learning rate than ReLU",
     CELLS(rate_of_best, BELOW(1), "rates-gelu_exact-adamw", "rates-relu-adamw")},
    {"GELU regularises: its gap of validation and training loss is smaller",
     CELLS(gap_of_losses, BELOW(0), "mnist-gelu_exact", "mnist-relu")},
    {"migrating from ReLU to GELU is a gain, on tables", TABLES(BELOW(1), "gelu_exact", "relu")},
    {"migrating from GELU to SwiGLU is a gain, on tables", TABLES(BELOW(1), "swiglu", "gelu_exact")},
    {"a trained net works with the tanh form in place of the exact one: within 1 %",
     CELLS(with_tanh, NEAR(1, 0.01), "mnist-gelu_exact")},
    {"a trained net works with QuickGELU in place of the exact form: within 1 %",
     CELLS(with_quick, NEAR(1, 0.01), "mnist-gelu_exact")},
    {"a trained net's weights may be rounded to half precision: within 1 %",
     CELLS(in_fp16, NEAR(1, 0.01), "mnist-gelu_exact")},
    {"a trained net's weights may be rounded to bfloat16: within 1 %",
     CELLS(in_bf16, NEAR(1, 0.01), "mnist-gelu_exact")},
    {"the stochastic form matches in training: within 10 %",
     CELLS(test_loss, NEAR(1, 0.1), "mnist-stochastic_gelu", "mnist-gelu_exact")},
    {"GELU is better than ReLU on MNIST (paper; six epochs)",
     CELLS(test_loss, BELOW(1), "mnist-gelu_exact", "mnist-relu")},
    {"GELU is better than ELU on MNIST (paper; six epochs)",
     CELLS(test_loss, BELOW(1), "mnist-gelu_exact", "mnist-elu")},
    {"GELU is better than ReLU in MNIST's autoencoder (paper)",
     FROM("gelu-autoencoder", "gelu_tanh_less_relu", "test error", BELOW(1))},
    {"GELU is better than ELU in MNIST's autoencoder (paper)",
     FROM("gelu-autoencoder", "gelu_tanh_less_elu", "test error", BELOW(1))},
    {"GELU is as robust to noise as ReLU, or more: within half a percent (paper)",
     CELLS(under_noise, ABOVE(-0.5), "mnist-gelu_exact", "mnist-relu")},
    {"GELU is as robust to noise as ELU, or more: within half a percent (paper)",
     CELLS(under_noise, ABOVE(-0.5), "mnist-gelu_exact", "mnist-elu")},
    {"GELU works well in training with mixed precision",
     STATED("not measured here", "no training step here is rounded; see the two rows on rounded weights")},
    {"GELU is competitive in vision transformers",
     STATED("not measured here", "a small one on MNIST would say little; larger ones take days of two cores")},
    {"putting GELU into a trained ReLU net and training on is a gain",
     STATED("not measured here", "earlier runs on small tables decided nothing, and were not kept")},
    {"GELU is better in BLEU, translation, question answering, sentiment",
     STATED("out of reach", "such data needs pretrained models, which take more than a day of two cores")},
    {"Twitter part-of-speech error 12.57 %, ReLU 12.67, ELU 12.91 (paper)",
     STATED("out of reach", "the data is under licence")},
    {"TIMIT frame error 29.3 %, ReLU 29.5, ELU 29.6 (paper)", STATED("out of reach", "the data is under licence")},
    {"CIFAR-10 error 7.89 %, ReLU 8.16, ELU 8.41 (paper)",
     STATED("out of reach", "200 epochs of its net are about 2e16 operations a run: more than a day of two cores")},
    {"CIFAR-100 error 20.74 %, ReLU 21.77, ELU 22.98 (paper)",
     STATED("out of reach", "a wide residual net, which takes longer still")},
    {0}};

#define NOT_CHECKED(known) STATED("not checked here", known)
const claim claim_use[] = {
    {"BERT, GPT-2, GPT-3, RoBERTa, ELECTRA and ViT use GELU",
     NOT_CHECKED("so do their published configurations, GPT's in the tanh form")},
    {"CLIP uses GELU", NOT_CHECKED("its published configuration has QuickGELU")},
    {"LLaMA and PaLM use GELU", NOT_CHECKED("their papers have SwiGLU")},
    {"Chinchilla uses GELU; BERT's paper showed gains over ReLU", NOT_CHECKED("the papers were not read for this")},
    {"GPT-J and Falcon use GEGLU", NOT_CHECKED("their published configurations have plain GELU")},
    {"T5 uses GELU", NOT_CHECKED("its paper has ReLU, version 1.1 a gated GELU")},
    {"DETR uses GELU", NOT_CHECKED("its published code has ReLU")},
    {0}};
/* clang-format on */
