/* study claims: claims about GELU and related activations, each with a verdict, the number, and the command that shows
 * it. */
#include "examples/study/claims.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define NEAR(number, off) (number) - (off), (number) + (off)
#define BELOW(number)     -INFINITY, number
#define ABOVE(number)     number, INFINITY
#define RANGE(from, to)   from, to

/* A number of another study's report; the exponential of one; a measure of cells of this study's grids; what is named
 * in the library; what cannot be computed. */
#define TIMES(key, range)            claim_study, range, {key, "time"}, .study = "cost"
#define FROM(name, key, what, range) claim_study, range, {key, what}, .study = name, .logarithm = true
#define CELLS(measure, range, ...)   claim_cells, range, {__VA_ARGS__}, &measure
#define BLOCK(name, where)   \
    claim_block, ABOVE(0.5), \
    {                        \
        name, where          \
    }
#define STATED(verdict, where) \
    claim_stated, 0, 0,        \
    {                          \
        verdict, where         \
    }

static const claim table[] = {
    {VALUES, "GELU(-1) = -0.1588", claim_at_minus_1, NEAR(-0.1588, 5e-5)},
    {VALUES, "GELU(-0.2) = -0.0084", claim_at_minus_fifth, NEAR(-0.0084, 5e-5)},
    {VALUES, "the tanh form is within 0.0002", claim_tanh_error, BELOW(2e-4)},
    {VALUES, "the tanh form is within 0.001", claim_tanh_error, BELOW(1e-3)},
    {VALUES, "the tanh form is about 99.99 % accurate", claim_tanh_relative_error, BELOW(1e-4)},
    {VALUES, "GELU(-0.75) is about -0.17", claim_near_minimum, NEAR(-0.17, 5e-3)},
    {VALUES, "the minimum is at -0.75", claim_minimum, NEAR(-0.75, 5e-3)},
    {VALUES, "the minimum is at -0.76", claim_minimum, NEAR(-0.76, 5e-3)},
    {VALUES, "there is a maximum on the negative side, about -0.17", claim_maximum, ABOVE(0)},
    {VALUES, "the range is all numbers", claim_lowest, BELOW(-1e300)},
    {VALUES, "the range is (-0.17, infinity)", claim_lowest, NEAR(-0.17, 5e-3)},
    {VALUES, "GELU is bounded below by -0.17x", claim_line_below, ABOVE(0)},
    {VALUES, "GELU is zero-centred", claim_mean, NEAR(0, 1e-3)},
    {VALUES, "GELU is not zero-centred", claim_mean, ABOVE(1e-3)},
    {VALUES, "GELU(x) = E[x 1{x <= X}]", claim_expectation_above, NEAR(0, 1e-9)},
    {VALUES, "GELU(x) = E[x 1{X <= x}]", claim_expectation_below, NEAR(0, 1e-9)},
    {VALUES, "the gradient's maximum is near x = 1.4", claim_steepest, NEAR(1.4, 0.05)},
    {VALUES, "the gradient goes to 1 and to 0", claim_limits, BELOW(1e-6)},
    {VALUES, "the gradient approaches 0 smoothly for x < -2", claim_left_end, BELOW(0)},
    {VALUES, "the gradient is positive for x > -1", claim_slope_inside, ABOVE(0)},
    {VALUES, "the gradient is never zero", claim_slope_at_zero, ABOVE(1e-9)},
    {VALUES, "gradients can be small for large abs(x)", claim_small_slopes, BELOW(1e-3)},
    {VALUES, "x is dropped at -1, 0, 1 with 0.84, 0.5, 0.16", claim_drops, BELOW(5e-3)},
    {VALUES, "GELU is infinitely differentiable", claim_orders, BELOW(1e-10)},
    {VALUES, "ELU saturates on the left, GELU does not", claim_saturation, ABOVE(1e-6)},
    {VALUES, "ELU has a hard threshold at 0", claim_threshold, ABOVE(1e-3)},
    {VALUES, "finite differences with h = 1e-5 show the derivative", claim_differences, BELOW(1e-9)},

    {COSTS, "exact GELU costs 3.0 times ReLU, per element", TIMES("value_gelu_exact", NEAR(3, 0.5))},
    {COSTS, "the tanh form 1.5 times, per element", TIMES("value_gelu_tanh", NEAR(1.5, 0.25))},
    {COSTS, "QuickGELU 1.2 times, per element", TIMES("value_gelu_quick", NEAR(1.2, 0.2))},
    {COSTS, "SwiGLU 2.0 times, per element", TIMES("value_swiglu", NEAR(2, 0.3))},
    {COSTS, "exact GELU costs 3.0 times ReLU, in a training step", TIMES("step1_gelu_exact", NEAR(3, 0.5))},
    {COSTS, "SwiGLU costs 2.0 times ReLU, in a training step at equal parameters", TIMES("step1_swiglu", NEAR(2, 0.3))},
    {COSTS, "SwiGLU costs 2.0 times ReLU, in a training step at equal width",
     TIMES("step1_swiglu of equal width", NEAR(2, 0.3))},
    {COSTS, "exact GELU costs 2 times the tanh form, per element",
     TIMES("value_gelu_exact_over_gelu_tanh", NEAR(2, 0.5))},
    {COSTS, "SwiGLU needs 1.5 times the operations of GELU", claim_operations, NEAR(1.5, 0.01)},
    {COSTS, "QuickGELU makes the forward pass of a net faster than exact GELU",
     TIMES("forward1_gelu_quick_over_gelu_exact", BELOW(1))},
    {COSTS, "GELU is no memory bottleneck: at most a tenth more than ReLU", claim_memory, BELOW(1.1)},
    {COSTS, "recomputation in the backward pass saves memory", claim_recomputation, BELOW(0.95)},

    {TRAINING, "GELU is 1 to 3 % better than ReLU on language (perplexity)",
     FROM("shakespeare", "gelu_exact_less_relu", "perplexity of a small GPT", RANGE(0.97, 0.99))},
    {TRAINING, "SwiGLU is 5 to 10 % better than GELU on language (perplexity)",
     FROM("shakespeare", "swiglu_less_gelu_exact", "perplexity of a small GPT", RANGE(0.90, 0.95))},
    {TRAINING, "SwiGLU is better than GELU on language",
     FROM("shakespeare", "swiglu_less_gelu_exact", "perplexity of a small GPT", BELOW(1))},
    {TRAINING, "in convolutional nets ReLU is better: GELU hurts",
     CELLS(claim_test_loss, ABOVE(1), "convnet-gelu_exact", "convnet-relu")},
    {TRAINING, "in vision ReLU and GELU are similar: within half a percent",
     CELLS(claim_test_accuracy, NEAR(0, 0.5), "convnet-gelu_exact", "convnet-relu")},
    {TRAINING, "GELU trains faster than ReLU", CELLS(claim_early_loss, BELOW(1), "mnist-gelu_exact", "mnist-relu")},
    {TRAINING, "GELU's gradients are steadier than ReLU's",
     CELLS(claim_gradients, BELOW(1), "mnist-gelu_exact", "mnist-relu")},
    {TRAINING, "GELU trains more stably than ReLU", CELLS(claim_rise, BELOW(1), "mnist-gelu_exact", "mnist-relu")},
    {TRAINING, "GELU has fewer dead units, 2 layers",
     CELLS(claim_dead, BELOW(0), "depth-gelu_exact-he_normal-hidden64x2", "depth-relu-he_normal-hidden64x2")},
    {TRAINING, "GELU has fewer dead units, 8 layers",
     CELLS(claim_dead, BELOW(0), "depth-gelu_exact-he_normal-hidden64x8", "depth-relu-he_normal-hidden64x8")},
    {TRAINING, "GELU has no dead units, 8 layers",
     CELLS(claim_dead, NEAR(0, 0), "depth-gelu_exact-he_normal-hidden64x8")},
    {TRAINING, "Xavier suits GELU better than He, 2 layers",
     CELLS(claim_test_loss, BELOW(1), "depth-gelu_exact-xavier_normal-hidden64x2",
           "depth-gelu_exact-he_normal-hidden64x2")},
    {TRAINING, "Xavier suits GELU better than He, 8 layers",
     CELLS(claim_test_loss, BELOW(1), "depth-gelu_exact-xavier_normal-hidden64x8",
           "depth-gelu_exact-he_normal-hidden64x8")},
    {TRAINING, "GELU's lead over ReLU grows with depth, from 2 to 16 layers",
     CELLS(claim_test_loss, BELOW(1), "depth-gelu_exact-he_normal-hidden64x16", "depth-relu-he_normal-hidden64x16",
           "depth-gelu_exact-he_normal-hidden64x2", "depth-relu-he_normal-hidden64x2")},
    {TRAINING, "GELU's lead over ReLU grows with width, from 16 to 256",
     CELLS(claim_test_loss, BELOW(1), "width-gelu_exact-hidden256x2", "width-relu-hidden256x2",
           "width-gelu_exact-hidden16x2", "width-relu-hidden16x2")},
    {TRAINING, "in nets of 50 layers GELU is better than ReLU (residual, LayerNorm)",
     CELLS(claim_test_loss, BELOW(1), "deep-gelu_exact-hidden64x50", "deep-relu-hidden64x50")},
    {TRAINING, "GELU works with post-norm as well as with pre-norm: within 2 %",
     CELLS(claim_perplexity, NEAR(1, 0.02), "gpt-gelu_exact-post-norm1", "gpt-gelu_exact-post-norm0")},
    {TRAINING, "GELU's place beside ReLU is the same with both: within 2 %",
     CELLS(claim_perplexity, NEAR(1, 0.02), "gpt-gelu_exact-post-norm1", "gpt-relu-post-norm1",
           "gpt-gelu_exact-post-norm0", "gpt-relu-post-norm0")},
    {TRAINING, "warm-up helps GELU, pre-norm",
     CELLS(claim_perplexity, BELOW(1), "gpt-gelu_exact-post-norm0", "nowarmup-gelu_exact-post-norm0")},
    {TRAINING, "warm-up helps GELU, post-norm",
     CELLS(claim_perplexity, BELOW(1), "gpt-gelu_exact-post-norm1", "nowarmup-gelu_exact-post-norm1")},
    {TRAINING, "GELU pairs well with AdamW: better than with SGD",
     CELLS(claim_test_loss, BELOW(1), "rates-gelu_exact-adamw", "rates-gelu_exact-sgd")},
    {TRAINING, "GELU is less sensitive to the learning rate than ReLU",
     CELLS(claim_regret, BELOW(1), "rates-gelu_exact-adamw", "rates-relu-adamw")},
    {TRAINING, "GELU is stable over rates: within 10 % from 0.0001 to 0.01",
     CELLS(claim_regret, BELOW(1.1), "rates-gelu_exact-adamw")},
    {TRAINING, "GELU needs a smaller learning rate than ReLU",
     CELLS(claim_best_rate, BELOW(1), "rates-gelu_exact-adamw", "rates-relu-adamw")},
    {TRAINING, "GELU regularises: its gap of validation and training loss is smaller",
     CELLS(claim_gap, BELOW(0), "mnist-gelu_exact", "mnist-relu")},
    {TRAINING, "migrating from ReLU to GELU is a gain, on tables",
     FROM("migration", "relu_to_gelu", "test loss", BELOW(1))},
    {TRAINING, "migrating from GELU to SwiGLU is a gain, on tables",
     FROM("migration", "gelu_to_swiglu", "test loss", BELOW(1))},
    {TRAINING, "putting GELU into a trained ReLU net and training on is a gain",
     FROM("migration", "file_relu_to_gelu", "test loss", BELOW(1))},
    {TRAINING, "a trained net works with the tanh form in place of the exact one: within 1 %",
     CELLS(claim_swap_tanh, NEAR(1, 0.01), "mnist-gelu_exact")},
    {TRAINING, "a trained net works with QuickGELU in place of the exact form: within 1 %",
     CELLS(claim_swap_quick, NEAR(1, 0.01), "mnist-gelu_exact")},
    {TRAINING, "GELU works with mixed precision: weights in half precision, within 1 %",
     CELLS(claim_fp16, NEAR(1, 0.01), "mnist-gelu_exact")},
    {TRAINING, "GELU works with mixed precision: weights in bfloat16, within 1 %",
     CELLS(claim_bf16, NEAR(1, 0.01), "mnist-gelu_exact")},
    {TRAINING, "the stochastic form matches in training: within 10 %",
     CELLS(claim_test_loss, NEAR(1, 0.1), "mnist-stochastic_gelu", "mnist-gelu_exact")},
    {TRAINING, "GELU is better than ReLU on MNIST (paper)",
     CELLS(claim_test_loss, BELOW(1), "mnist-gelu_exact", "mnist-relu")},
    {TRAINING, "GELU is better than ELU on MNIST (paper)",
     CELLS(claim_test_loss, BELOW(1), "mnist-gelu_exact", "mnist-elu")},
    {TRAINING, "GELU is better than ReLU in MNIST's autoencoder (paper)",
     FROM("gelu-autoencoder", "gelu_over_relu", "test error", BELOW(1))},
    {TRAINING, "GELU is better than ELU in MNIST's autoencoder (paper)",
     FROM("gelu-autoencoder", "gelu_over_elu", "test error", BELOW(1))},
    {TRAINING, "GELU is as robust to noise as ReLU, or more: within half a percent (paper)",
     CELLS(claim_noise, ABOVE(-0.5), "mnist-gelu_exact", "mnist-relu")},
    {TRAINING, "GELU is as robust to noise as ELU, or more: within half a percent (paper)",
     CELLS(claim_noise, ABOVE(-0.5), "mnist-gelu_exact", "mnist-elu")},
    {TRAINING, "Twitter part-of-speech error 12.57 %, ReLU 12.67, ELU 12.91 (paper)",
     STATED("out of reach", "the data is under licence")},
    {TRAINING, "TIMIT frame error 29.3 %, ReLU 29.5, ELU 29.6 (paper)",
     STATED("out of reach", "the data is under licence")},
    {TRAINING, "CIFAR-10 error 7.89 %, ReLU 8.16, ELU 8.41 (paper)",
     STATED("out of reach", "200 epochs of its net are about 2e16 operations a run: more than a day of two cores")},
    {TRAINING, "CIFAR-100 error 20.74 %, ReLU 21.77, ELU 22.98 (paper)",
     STATED("out of reach", "a wide residual net, which takes longer still")},

    {BLOCKS, "GELU, exact", BLOCK("gelu_exact", "tg_gelu_exact")},
    {BLOCKS, "GELU, tanh form", BLOCK("gelu_tanh", "tg_gelu_tanh")},
    {BLOCKS, "GELU, stochastic form", BLOCK("stochastic_gelu", "TG_STOCHASTIC_GELU")},
    {BLOCKS, "QuickGELU", BLOCK("gelu_quick", "tg_gelu_quick")},
    {BLOCKS, "feed-forward layer of BERT, ViT and CLIP", BLOCK("feed_forward", "tg_feed_forward_add")},
    {BLOCKS, "convolution, normalisation, GELU", BLOCK("conv_block", "tg_conv_block_add")},
    {BLOCKS, "GEGLU", BLOCK("geglu", "tg_geglu")},
    {BLOCKS, "SwiGLU", BLOCK("swiglu", "tg_swiglu")},
    {BLOCKS, "pre-norm block, GPT's block", BLOCK("block", "tg_block_gpt")},
    {BLOCKS, "BERT's block (post-norm)", BLOCK("block", "tg_block_bert")},
    {BLOCKS, "encoder of 12 layers", BLOCK("transformer", "tg_transformer_new, no_head")},
    {BLOCKS, "warm-up with a cosine", BLOCK("cosine", "TG_WARMUP_COSINE")},
    {BLOCKS, "schedules: constant, cosine, step", BLOCK("step", "TG_CONSTANT_RATE, TG_WARMUP_COSINE, TG_STEP_DECAY")},
    {BLOCKS, "recomputation in the backward pass", STATED("yes", "tg_checkpoint; recompute of blocks")},
    {BLOCKS, "gains of activations for initial weights", STATED("yes", "tg_activation_gain")},
    {BLOCKS, "monitoring of gradient norms", STATED("yes", "gradient_norm of tg_fit_epoch")},
    {BLOCKS, "benchmark of the variants", STATED("yes", "study cost")},
    {BLOCKS, "warning where a file's variant is another",
     STATED("yes", "an error, unless --activation-from says which")},
    {BLOCKS, "gated layer with a normalisation inside",
     STATED("in part", "behind the product, norm of tg_mlp_config; not inside")},
    {BLOCKS, "cross-attention", BLOCK("cross_attention", "tg_attention takes one sequence")},
    {BLOCKS, "encoder and decoder", BLOCK("encoder_decoder", "it would need cross-attention")},
};

/* ---- findings ---- */

finding finding_interval(double low, double high, const char *format, ...)
{
    finding found = {low, high};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(found.words, sizeof found.words, format, arguments);
    va_end(arguments);
    return found;
}

finding finding_none(void)
{
    return finding_number(NAN, "run the command first");
}

const char *claim_verdict(const claim *about, const finding *found)
{
    const double low = found->low, high = found->high;
    const bool one_sided = isinf(about->from) || isinf(about->to); /* the bound is then excluded */
    const bool inside = one_sided ? low > about->from && high < about->to : low >= about->from && high <= about->to;
    const bool outside = one_sided ? low >= about->to || high <= about->from : low > about->to || high < about->from;
    return found->verdict      ? found->verdict
           : isnan(low + high) ? "not measured"
           : inside            ? "yes"
           : outside           ? "no"
                               : "not shown";
}

/* ---- the report ---- */

/* "below 1", "0.97 to 0.99" */
static void say_range(char text[60], const claim *about)
{
    if (isinf(about->from))
        snprintf(text, 60, "below %g", about->to);
    else if (isinf(about->to))
        snprintf(text, 60, "above %g", about->from);
    else
        snprintf(text, 60, about->from < about->to ? "%g to %g" : "%g", about->from, about->to);
}

static void put_part(claims *all, sheet *s, claim_part part)
{
    sheet_table(s, 1, part == BLOCKS ? "block|there|as|command" : "statement|true|if the number is|found|command");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const claim *about = &table[i];
        char range[60] = "";
        if (about->part != part)
            continue;
        all->about = about;
        const finding found = about->find(all);
        const char *verdict = claim_verdict(about, &found), *settles = about->study ? about->study : "claims";
        if (!found.verdict)
            say_range(range, about);
        if (part == BLOCKS)
            sheet_row(s, "%s|%s|%s|study %s", about->text, verdict, found.words, settles);
        else
            sheet_row(s, "%s|%s|%s|%s|study %s", about->text, verdict, range, found.words, settles);
    }
}

/* Lists the grids that decide the statements about training. */
static void put_grids(sheet *s)
{
    sheet_heading(s, "Runs of this study");
    sheet_text(s, "Options are those of compare; Adam at a constant rate, where they say nothing else.");
    sheet_table(s, 1, "grid|data|options|compared|rates|seeds");
    for (const study_grid *grid = claim_grids; grid < claim_grids + CLAIM_GRIDS; grid++) {
        char factors[200] = "", rates[100] = "";
        for (int f = 0; f < GRID_FACTORS && grid->factors[f]; f++)
            snprintf(factors + strlen(factors), sizeof factors - strlen(factors), "%s%s", f ? "; " : "",
                     grid->factors[f]);
        for (int rate = 0; rate < GRID_RATES && grid->rates[rate] > 0; rate++)
            snprintf(rates + strlen(rates), sizeof rates - strlen(rates), "%s%g", rate ? ", " : "", grid->rates[rate]);
        sheet_row(s, "%s|%s|%s|%s|%s|%d", grid->name, study_source_name(grid->data), grid->fixed, factors, rates,
                  grid->seeds);
    }
}

static void report(void *results, sheet *s)
{
    const study_results *r = results;
    claims all = {&r->work, tg_tape_new()};
    static const char *const headings[CLAIM_PARTS] = {"Values", "Costs", "Training", "Blocks"};
    static const char *const texts[CLAIM_PARTS] = {
        "In double precision, by the operations of the tape; beside them Simpson's rule for the normal distribution "
        "and Hermite polynomials for higher derivatives.",
        "Times are medians of processor time, of one thread, with their 95 % intervals. Operations and memory are "
        "counted.",
        "Differences between runs are paired by seed, with 95 % intervals of the mean by Student's t, and ratios are "
        "of geometric means. Where training and test rows of one table are redrawn for each seed, intervals are "
        "widened for it (Nadeau and Bengio). Each net has the best of its grid's rates by validation; the grids are "
        "below.",
        "What the texts show as code, and where it is here."};
    sheet_text(s, "Statements that texts on GELU, and the paper that they cite (arXiv 1606.08415), make. A statement "
                  "is true if the number, or its whole 95 %% interval, lies where the third column says; it is not "
                  "true if all of it lies elsewhere; otherwise it is not shown.");
    for (int part = 0; part < CLAIM_PARTS; part++) {
        sheet_heading(s, headings[part]);
        sheet_text(s, "%s", texts[part]);
        put_part(&all, s, (claim_part)part);
    }
    put_grids(s);
    if (!all.tape || tg_tape_error(all.tape))
        sheet_text(s, "Rows are wrong: %s", all.tape ? tg_tape_error(all.tape) : "out of memory");
    tg_tape_free(all.tape);
}

const study study_claims = {
    .name = "claims",
    .about = "claims about GELU, each with verdict, number and command",
    .size = sizeof(study_results),
    .report = report,
    .title = "What is said of GELU",
    .first = STUDY_DIGITS,
    .end = STUDY_PLAYS + 1,
    .grids = claim_grids,
    .grid_count = CLAIM_GRIDS,
};
