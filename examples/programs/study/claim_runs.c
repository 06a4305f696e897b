/* Statements about training: the grids of runs that decide them, and the measures of a run. */
#include "examples/programs/study/claims.h"
#include "examples/programs/run/run.h"

#include <math.h>
#include <string.h>

/* ---- additional measures of a finished net ---- */

/* The test loss of a net with the same weights and another activation, or with weights rounded to a shorter format. */
static void put_variant(json_t *results, const char *name, trainer *r, const char *activation, tg_format format)
{
    const tg_rng rng = tg_rng_seed(1);
    tg_error error;
    runlog_measures m = runlog_no_measures;
    net_spec spec = r->spec->net;
    tg_model *own = r->model;
    spec.activation = activation;
    r->model = net_new(&spec, &rng, &error);
    tg_parameters *set = tg_model_parameters(r->model);
    if (r->model && tg_parameters_copy(set, tg_model_parameters(own)) > 0) {
        float *weights = tg_parameters_values(set);
        for (int64_t i = 0; i < tg_parameters_size(set); i++)
            weights[i] = tg_round(format, weights[i]);
        tg_parameters_changed(set);
        if (run_measure(r, &r->from->test, &m) && isfinite(m.loss))
            json_object_set_new(results, name, json_real(m.loss));
    }
    tg_model_free(r->model);
    r->model = own;
}

static const struct {
    const char *name, *activation;
    tg_format format;
} variants[] = {{"own", "gelu_exact", TG_FLOAT32},
                {"gelu_tanh", "gelu_tanh", TG_FLOAT32},
                {"gelu_quick", "gelu_quick", TG_FLOAT32},
                {"fp16", "gelu_exact", TG_FLOAT16},
                {"bf16", "gelu_exact", TG_BFLOAT16}};

/* The accuracy on noisy rows, a mean over the sizes of the noise, and the test loss with other activations. */
static void measure_all(trainer *r, json_t *results)
{
    double sum = 0;
    run_noise(r, results);
    const json_t *noise = json_object_get(results, "noise"); /* size, loss, accuracy of each */
    for (size_t i = 2; i < json_array_size(noise); i += 3)
        sum += json_number_value(json_array_get(noise, i));
    json_object_set_new(results, "noisy_accuracy", json_real(3 * sum / (double)json_array_size(noise)));
    if (strcmp(r->spec->net.activation, "gelu_exact") == 0)
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
            put_variant(results, variants[i].name, r, variants[i].activation, variants[i].format);
}

/* ---- the grids ---- */

#define ON_DIGITS(options) \
    .data = STUDY_DIGITS, .fixed = "split=redrawn batch=64 epochs=84" options, .quick = "batch=16 epochs=2", .seeds = 5
#define ON_MNIST(options, small, count) \
    .data = STUDY_MNIST, .fixed = options, .quick = small " batch=32 epochs=2 validation=first:60", .seeds = count
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
    {ON_MNIST("hidden=128x8 init=unit_rows batch=128 epochs=6 drop-last=1 validation=first:5000 train-loss-every=6 "
              "test-noise=0.5,1,1.5",
              "hidden=16x2", 5),
     .name = "mnist", .factors = {"activation=relu,elu,gelu_exact,stochastic_gelu"}, .rates = {1e-3},
     .more = measure_all},
    {ON_MNIST("model=convnet filters=8,16 norm=batch init=variance_preserving batch=128 epochs=1 validation=first:5000",
              "filters=2,2", 3),
     .name = "convnet", .factors = {"activation=relu,gelu_exact"}, .rates = {2e-3}},
    {ON_MNIST("model=vit layers=4 heads=4 width=64 batch=128 epochs=5 schedule=cosine end=0.1 warmup=0.1 clip=1 "
              "weight-decay=0.1 validation=first:5000",
              "layers=1 heads=1 width=8 patch=14", 5),
     .name = "vit", .factors = {"activation=relu,gelu_exact"}, .rates = {1e-3, 3e-3}},
    {ON_MNIST("hidden=128x2 init=variance_preserving batch=128 epochs=2 validation=first:5000", "hidden=16x2", 5),
     .name = "rounded", .factors = {"activation=relu,gelu_exact", "round=float32,bfloat16,float16"}, .rates = {1e-3}},
    {ON_PLAYS(" warmup=0.1"), .name = "roundedgpt",
     .factors = {"activation=relu,gelu_exact", "round=float32,bfloat16,float16"}},
    {ON_PLAYS(" warmup=0.1"), .name = "gpt", .factors = {"activation=relu,gelu_exact", "post-norm=0,1"}},
    {ON_PLAYS(""), .name = "nowarmup", .factors = {"activation=gelu_exact", "post-norm=0,1"}},
};

/* ---- measures ---- */

/* The largest share at any rate that did not diverge. */
static double dead(const study_cell *cell, int seed)
{
    double most = NAN;
    for (int rate = 0; rate < cell->rates; rate++)
        most = fmax(most, 100 * study_cell_value(cell, cell->grid->rates[rate], "dead", seed));
    return most;
}

/* The lowest validation loss at a rate; at most that of a guess among ten digits. */
static double bounded_loss(const study_cell *cell, int rate, int seed)
{
    return fmin(study_cell_value(cell, cell->grid->rates[rate], "best_val_loss", seed), log(10));
}

static double best_rate(const study_cell *cell, int seed)
{
    int best = 0;
    for (int rate = 1; rate < cell->rates; rate++)
        best = bounded_loss(cell, rate, seed) < bounded_loss(cell, best, seed) ? rate : best;
    return cell->grid->rates[best];
}

/* A geometric mean, up to 0.01, the rates at which all nets train. */
static double regret(const study_cell *cell, int seed)
{
    double sum = 0, least = INFINITY;
    int rates = 0;
    for (int rate = 0; rate < cell->rates; rate++) {
        const double loss = bounded_loss(cell, rate, seed);
        least = fmin(least, loss);
        sum += cell->grid->rates[rate] <= 0.01 ? log(loss) : 0;
        rates += cell->grid->rates[rate] <= 0.01;
    }
    return exp(sum / rates) / least;
}

static double perplexity_of(const study_cell *cell, int seed)
{
    return exp(study_cell_value(cell, cell->best, "best_val_loss", seed));
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

/* ---- statements ---- */

#define DEPTH(form, init, layers) "depth-" form "-" init "-hidden64x" layers
#define WIDTH(form, width)        "width-" form "-hidden" width "x2"
#define GPT(form, post)           "gpt-" form "-post-norm" post
#define GELU                      "gelu_exact"
#define RELU                      "relu"
#define PAIR(grid)                grid "-gelu_exact", grid "-relu"
#define SUITS(text, init, layers) \
    CELLS(text ", " layers " layers", BELOW(1), test_loss, DEPTH(GELU, init, layers), DEPTH(GELU, "he_normal", layers))
#define TRAINED(text, measure) CELLS("a trained net" text ": within 1 %", NEAR(1, 0.01), measure, "mnist-gelu_exact")

void claim_training(claims *c)
{
    CELLS("in convolutional nets ReLU is better: GELU hurts", ABOVE(1), test_loss, PAIR("convnet"));
    CELLS("in vision ReLU and GELU are similar: within half a percent (a small convolutional net, one epoch)",
          NEAR(0, 0.5), test_accuracy, PAIR("convnet"));
    CELLS("GELU is competitive in vision transformers: as good as ReLU or better, within half a percent (a small one)",
          ABOVE(-0.5), test_accuracy, PAIR("vit"));
    CELLS("GELU trains faster than ReLU", BELOW(1), loss_of_epoch_2, PAIR("mnist"));
    CELLS("GELU's gradients are steadier than ReLU's", BELOW(1), gradient_norms, PAIR("mnist"));
    CELLS("GELU's validation loss rises less from epoch to epoch than ReLU's (one net, one rate, six epochs)", BELOW(1),
          largest_rise, PAIR("mnist"));
    CELLS("GELU has fewer dead units, 2 layers", BELOW(0), dead_units, DEPTH(GELU, "he_normal", "2"),
          DEPTH(RELU, "he_normal", "2"));
    CELLS("GELU has fewer dead units, 8 layers", BELOW(0), dead_units, DEPTH(GELU, "he_normal", "8"),
          DEPTH(RELU, "he_normal", "8"));
    CELLS("GELU has no dead units, 8 layers", NEAR(0, 0), dead_units, DEPTH(GELU, "he_normal", "8"));
    SUITS("Xavier suits GELU better than He", "xavier_normal", "2");
    SUITS("Xavier suits GELU better than He", "xavier_normal", "8");
    SUITS("GELU's own gain suits it better than He's", "variance_preserving", "2");
    SUITS("GELU's own gain suits it better than He's", "variance_preserving", "8");
    SUITS("GELU's own gain suits it better than He's", "variance_preserving", "16");
    CELLS("GELU's lead over ReLU grows with depth, from 2 to 16 layers", BELOW(1), test_loss,
          DEPTH(GELU, "he_normal", "16"), DEPTH(RELU, "he_normal", "16"), DEPTH(GELU, "he_normal", "2"),
          DEPTH(RELU, "he_normal", "2"));
    CELLS("GELU's lead over ReLU grows with width, from 16 to 256", BELOW(1), test_loss, WIDTH(GELU, "256"),
          WIDTH(RELU, "256"), WIDTH(GELU, "16"), WIDTH(RELU, "16"));
    CELLS("in nets of 50 layers GELU is better than ReLU (residual, LayerNorm)", BELOW(1), test_loss,
          "deep-gelu_exact-hidden64x50", "deep-relu-hidden64x50");
    CELLS("GELU works with post-norm as well as with pre-norm: within 2 %", NEAR(1, 0.02), perplexity, GPT(GELU, "1"),
          GPT(GELU, "0"));
    CELLS("GELU's place beside ReLU is the same with both: within 2 %", NEAR(1, 0.02), perplexity, GPT(GELU, "1"),
          GPT(RELU, "1"), GPT(GELU, "0"), GPT(RELU, "0"));
    CELLS("warm-up helps GELU, pre-norm", BELOW(1), perplexity, GPT(GELU, "0"), "nowarmup-gelu_exact-post-norm0");
    CELLS("warm-up helps GELU, post-norm", BELOW(1), perplexity, GPT(GELU, "1"), "nowarmup-gelu_exact-post-norm1");
    CELLS("GELU pairs well with AdamW: better than with SGD", BELOW(1), test_loss, "rates-gelu_exact-adamw",
          "rates-gelu_exact-sgd");
    CELLS("GELU is less sensitive to the learning rate than ReLU", BELOW(1), loss_over_rates, "rates-gelu_exact-adamw",
          "rates-relu-adamw");
    CELLS("GELU is stable over rates: within 10 % from 0.0001 to 0.01", BELOW(1.1), loss_over_rates,
          "rates-gelu_exact-adamw");
    CELLS("GELU needs a smaller learning rate than ReLU", BELOW(1), rate_of_best, "rates-gelu_exact-adamw",
          "rates-relu-adamw");
    CELLS("GELU regularises: its gap of validation and training loss is smaller", BELOW(0), gap_of_losses,
          PAIR("mnist"));
    TRAINED(" works with the tanh form in place of the exact one", with_tanh);
    TRAINED(" works with QuickGELU in place of the exact form", with_quick);
    TRAINED("'s weights may be rounded to half precision", in_fp16);
    TRAINED("'s weights may be rounded to bfloat16", in_bf16);
    CELLS("GELU works well with fp16 training, MNIST: accuracy within half a percent of float's", NEAR(0, 0.5),
          test_accuracy, "rounded-gelu_exact-float16", "rounded-gelu_exact-float32");
    CELLS("GELU works well with fp16 training, small GPT: perplexity within 1 % of float's", NEAR(1, 0.01), perplexity,
          "roundedgpt-gelu_exact-float16", "roundedgpt-gelu_exact-float32");
    CELLS("fp16 training costs GELU as much as ReLU, small GPT: within 1 %", NEAR(1, 0.01), perplexity,
          "roundedgpt-gelu_exact-float16", "roundedgpt-relu-float16", "roundedgpt-gelu_exact-float32",
          "roundedgpt-relu-float32");
    CELLS("GELU works well with bfloat16 training, MNIST: accuracy within half a percent of float's", NEAR(0, 0.5),
          test_accuracy, "rounded-gelu_exact-bfloat16", "rounded-gelu_exact-float32");
    CELLS("GELU works well with bfloat16 training, small GPT: perplexity within 1 % of float's", NEAR(1, 0.01),
          perplexity, "roundedgpt-gelu_exact-bfloat16", "roundedgpt-gelu_exact-float32");
    CELLS("the stochastic form matches in training: within 10 %", NEAR(1, 0.1), test_loss, "mnist-stochastic_gelu",
          "mnist-gelu_exact");
    CELLS("GELU is better than ReLU on MNIST (paper; six epochs)", BELOW(1), test_loss, PAIR("mnist"));
    CELLS("GELU is better than ELU on MNIST (paper; six epochs)", BELOW(1), test_loss, "mnist-gelu_exact", "mnist-elu");
    CELLS("GELU is as robust to noise as ReLU, or more: within half a percent (paper)", ABOVE(-0.5), under_noise,
          PAIR("mnist"));
    CELLS("GELU is as robust to noise as ELU, or more: within half a percent (paper)", ABOVE(-0.5), under_noise,
          "mnist-gelu_exact", "mnist-elu");
}
