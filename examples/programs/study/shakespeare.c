/* study shakespeare: activations, and other common changes, in a small GPT on Shakespeare's plays: nanoGPT's
 * configuration for a CPU, with several seeds where others had one. */
#include "examples/programs/study/study.h"

#include <math.h>
#include <string.h>

/* The activations, and changes to the base. */
enum { RELU, RELU_SQUARED, GELU_TANH, GELU_EXACT, SILU, SWIGLU, GEGLU, REGLU, ROTARY, RMSNORM, GROUPED, FORMS };
enum { ACTIVATIONS = ROTARY, BASE = GELU_EXACT, PAIRS = ACTIVATIONS * (ACTIVATIONS - 1) / 2, RATES = 3, SEEDS = 5 };
enum { TABLE, DISCUSSION, SOURCES };

/* `published`: validation losses of single runs: of a course report, and of nanoGPT's discussion 675; 0: none. */
static const struct form {
    const char *name;
    double published[SOURCES];
} forms[FORMS] = {
    [RELU] = {"relu", {0}},
    [RELU_SQUARED] = {"relu_squared", {0}},
    [GELU_TANH] = {"gelu_tanh", {0}},
    [GELU_EXACT] = {"gelu_exact", {1.7587, 1.9061}},
    [SILU] = {"silu", {0}},
    [SWIGLU] = {"swiglu", {1.7082, 1.8176}},
    [GEGLU] = {"geglu", {0}},
    [REGLU] = {"reglu", {0}},
    [ROTARY] = {"rotary", {1.7283}},
    [RMSNORM] = {"rmsnorm", {1.7676}},
    [GROUPED] = {"grouped", {1.7726}},
};

/* The configuration for a CPU in nanoGPT's README: 2,000 steps, validated every 250. The first rate is nanoGPT's. */
#define PROTOCOL                                                                                                       \
    "model=gpt layers=4 heads=4 width=128 context=64 schedule=cosine end=0.1 warmup=0.05 weight-decay=0.1 beta2=0.99 " \
    "clip=1 batch=12 epoch-windows=3000 epochs=8"
#define GRID(called, options, ...)                                                                    \
    {                                                                                                 \
        .name = called, .data = STUDY_PLAYS, .fixed = PROTOCOL options,                               \
        .quick = "layers=1 width=16 context=16 epoch-windows=240 epochs=2", .factors = {__VA_ARGS__}, \
        .rates = {1e-3, 3e-3, 6e-3}, .seeds = 5                                                       \
    }
static const study_grid grids[] = {
    GRID(NULL, "", "activation=relu,relu_squared,gelu_tanh,gelu_exact,silu,swiglu,geglu,reglu"),
    GRID("rotary", " activation=gelu_exact rotary=1", NULL),
    GRID("rmsnorm", " activation=gelu_exact norm=rms", NULL),
    GRID("grouped", " activation=gelu_exact kv-heads=2", NULL),
};
enum { GRIDS = sizeof grids / sizeof *grids };
static const double *const rates = grids[0].rates;

typedef struct results {
    study_results of;
    int seeds, rates; /* complete for all forms; rates that are tried */
    double loss[FORMS][RATES][SEEDS];
    int best[FORMS];                /* the rate with the lowest mean */
    double corrected[FORMS][FORMS]; /* p-values of the pairs, by Holm's method */
} results;

/* ---- results ---- */

/* Collects the lowest validation loss of each run, as others report it, for the seeds that all forms and rates have. */
static void gather(results *r)
{
    r->seeds = SEEDS;
    for (int f = 0; f < FORMS; f++) {
        const study_cell cell = study_cell_of(&r->of.work, forms[f].name, 0);
        const int complete = study_cell_complete(&cell);
        r->seeds = complete < r->seeds ? complete : r->seeds;
        r->rates = cell.rates;
        for (int rate = 0; rate < r->rates; rate++)
            for (int seed = 1; seed <= r->seeds; seed++)
                r->loss[f][rate][seed - 1] = study_cell_at_best(&cell, rates[rate], seed, STUDY_VAL_LOSS);
    }
    for (int f = 0; f < FORMS; f++)
        for (int rate = 1; rate < r->rates; rate++)
            if (statistics_of(r->loss[f][rate], (size_t)r->seeds).mean <
                statistics_of(r->loss[f][r->best[f]], (size_t)r->seeds).mean)
                r->best[f] = rate;
}

static const double *best_losses(const results *r, int form)
{
    return r->loss[form][r->best[form]];
}

/* The difference of two forms, paired by seed, both at their best rates. */
static statistics_estimate difference(const results *r, int form, int other)
{
    return statistics_paired(best_losses(r, form), best_losses(r, other), (size_t)r->seeds);
}

static double p_of(const results *r, int form, int other)
{
    return statistics_compare(best_losses(r, form), best_losses(r, other), (size_t)r->seeds).p;
}

/* All pairs of activations, and every change with the base. */
static bool is_pair(int form, int other)
{
    return other < form && (form < ACTIVATIONS || other == BASE);
}

/* For the number of pairs of activations, and for that of changes. */
static void correct(results *r)
{
    double p[PAIRS + FORMS - ACTIVATIONS];
    int count = 0;
    for (int form = 0; form < FORMS; form++)
        for (int other = 0; other < form; other++)
            if (is_pair(form, other))
                p[count++] = p_of(r, form, other);
    statistics_holm(p, PAIRS);
    statistics_holm(p + PAIRS, FORMS - ACTIVATIONS);
    count = 0;
    for (int form = 0; form < FORMS; form++)
        for (int other = 0; other < form; other++)
            if (is_pair(form, other))
                r->corrected[form][other] = r->corrected[other][form] = p[count++];
}

/* ---- the report ---- */

static void put_forms(const results *r, sheet *s)
{
    sheet_heading(s, "Validation loss, each form at its best rate");
    sheet_table(s, 1, "form|rate|mean|95 % interval|lowest|highest|course report|discussion 675");
    for (int f = 0; f < FORMS; f++) {
        const statistics_estimate e = statistics_of(best_losses(r, f), (size_t)r->seeds);
        const study_spread all = study_spread_of(best_losses(r, f), r->seeds);
        char published[SOURCES][16], key[60];
        for (int i = 0; i < SOURCES; i++)
            snprintf(published[i], sizeof published[i], forms[f].published[i] > 0 ? "%.4f" : "", forms[f].published[i]);
        sheet_row(s, "%s|%g|%.4f|%.4f to %.4f|%.4f|%.4f|%s|%s", forms[f].name, rates[r->best[f]], STUDY_INTERVAL(e),
                  all.low, all.high, published[TABLE], published[DISCUSSION]);
        snprintf(key, sizeof key, "%s_loss", forms[f].name);
        sheet_number(s, key, e.mean);
    }
}

static void put_rates(const results *r, sheet *s)
{
    sheet_heading(s, "Validation loss at each rate, mean of the seeds");
    sheet_table(s, 1, "form");
    for (int rate = 0; rate < r->rates; rate++) {
        char heading[16];
        snprintf(heading, sizeof heading, "%g", rates[rate]);
        sheet_column(s, heading);
    }
    for (int f = 0; f < FORMS; f++) {
        sheet_row(s, "%s", forms[f].name);
        for (int rate = 0; rate < r->rates; rate++)
            sheet_cell(s, "%.4f", statistics_of(r->loss[f][rate], (size_t)r->seeds).mean);
    }
}

static void put_pairs(const results *r, sheet *s, const char *heading, int from, int to)
{
    sheet_heading(s, heading);
    sheet_table(s, 1, "first less second|difference|95 % interval|p|p, corrected");
    for (int form = from; form < to; form++)
        for (int other = 0; other < form; other++)
            if (is_pair(form, other)) {
                const statistics_estimate d = difference(r, form, other);
                sheet_row(s, "%s less %s|%+.4f|%+.4f to %+.4f|%.2g|%.2g", forms[form].name, forms[other].name,
                          STUDY_INTERVAL(d), p_of(r, form, other), r->corrected[form][other]);
            }
}

/* Answers questions that others answered with single runs. */
static void judge(const results *r, sheet *s)
{
    static const struct {
        int form, other;
        const char *text;
    } questions[] = {
        {RELU_SQUARED, SWIGLU, "Is squared ReLU better than SwiGLU (nanochat: yes; two others: no)?"},
        {SWIGLU, GELU_EXACT, "Is SwiGLU better than GELU (both published runs: yes)?"},
        {RELU_SQUARED, GELU_EXACT, "Is squared ReLU better than GELU?"},
        {GELU_EXACT, RELU, "Is GELU better than ReLU?"},
        {GELU_EXACT, GELU_TANH, "Is the exact GELU better than its tanh form?"},
        {GEGLU, SWIGLU, "Is GeGLU better than SwiGLU?"},
        {ROTARY, BASE, "Are rotated positions better than learned ones (the report: yes)?"},
        {RMSNORM, BASE, "Is RMSNorm better than LayerNorm (the report: no)?"},
        {GROUPED, BASE, "Are two heads of keys and values better than four (the report: no)?"},
    };
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
        const int form = questions[q].form, other = questions[q].other;
        const statistics_estimate d = difference(r, form, other);
        const double p = r->corrected[form][other];
        char key[80];
        snprintf(key, sizeof key, "%s_less_%s", forms[form].name, forms[other].name);
        study_put_estimate(s, key, &d);
        sheet_verdict(s, "%s %s: %s less %s is %+.4f ± %.4f over %d seeds (p = %.2g, corrected).", questions[q].text,
                      !(p < 0.05)  ? "No difference is shown"
                      : d.mean < 0 ? "Yes"
                                   : "No, it is worse",
                      forms[form].name, forms[other].name, d.mean, d.margin, r->seeds, p);
    }
}

/* The position of others' single run: "within our 5 seeds at the rate of 0.001 (1.8879 to 1.9064)" */
static const char *place_among(double loss, const results *r, int form, int rate, char text[120])
{
    const study_spread ours = study_spread_of(r->loss[form][rate], r->seeds);
    snprintf(text, 120, "%s our %d seeds at the rate of %g (%.4f to %.4f)",
             loss < ours.low    ? "below"
             : loss > ours.high ? "above"
                                : "within",
             r->seeds, rates[rate], ours.low, ours.high);
    return text;
}

/* Compares at nanoGPT's rate and at the best one, as not all reports name theirs. */
static void judge_published(const results *r, sheet *s)
{
    static const char *const sources[SOURCES] = {"The course report's", "Discussion 675's"};
    char first[120], best[120];
    for (int source = 0; source < SOURCES; source++)
        for (int f = 0; f < FORMS; f++) {
            const double loss = forms[f].published[source];
            if (loss > 0 && r->best[f] > 0)
                sheet_verdict(s, "%s %.4f for %s is %s, and %s.", sources[source], loss, forms[f].name,
                              place_among(loss, r, f, 0, first), place_among(loss, r, f, r->best[f], best));
            else if (loss > 0)
                sheet_verdict(s, "%s %.4f for %s is %s.", sources[source], loss, forms[f].name,
                              place_among(loss, r, f, 0, first));
        }
}

static bool write_forms(const void *context, FILE *to)
{
    const results *r = context;
    fputs("form,rate,mean,low,high,kind,loss\n", to);
    for (int f = 0; f < FORMS; f++) {
        const statistics_estimate e = statistics_of(best_losses(r, f), (size_t)r->seeds);
        fprintf(to, "%s,%g,%.6g,%.6g,%.6g,mean,%.6g\n", forms[f].name, rates[r->best[f]], STUDY_INTERVAL(e), e.mean);
        for (int seed = 0; seed < r->seeds; seed++)
            fprintf(to, "%s,,,,,seed,%.6g\n", forms[f].name, best_losses(r, f)[seed]);
        for (int i = 0; i < SOURCES; i++)
            if (forms[f].published[i] > 0)
                fprintf(to, "%s,,,,,published %d,%.6g\n", forms[f].name, i + 1, forms[f].published[i]);
    }
    return true;
}

static void judge_all(results *r, sheet *s)
{
    correct(r);
    judge(r, s);
    judge_published(r, s);
    study_file(&r->of, "forms.csv", write_forms, r);
    study_picture(&r->of, s, "study_forms.gp", "forms.svg",
                  "validation loss of each form: mean, 95 % interval, seeds, and published runs");
    put_forms(r, s);
    put_pairs(r, s, "The 28 pairs of activations, corrected by Holm's method", 0, ACTIVATIONS);
    put_pairs(r, s, "Changes of the base, corrected by Holm's method", ACTIVATIONS, FORMS);
    put_rates(r, s);
}

static void report(void *all, sheet *s)
{
    results *r = all;
    gather(r);
    sheet_text(s,
               "nanoGPT's configuration for a CPU: 4 layers, 4 heads, width 128, context 64, batch 12, 2,000 steps of "
               "AdamW (beta2 0.99, decay 0.1), 100 steps of warm-up, a cosine that ends at a tenth. All forms have "
               "about as many parameters. Each seed has its own weights and windows, the same for all forms. The loss "
               "is the lowest of the %d validations, each on the whole last tenth of the text; nanoGPT validates on 20 "
               "random batches. Unlike nanoGPT, linear layers have biases. The base of rotary, rmsnorm and grouped is "
               "%s.",
               r->of.work.run[0].spec.epochs, forms[BASE].name);
    if (r->seeds < 2)
        sheet_text(s, "Two seeds of all forms and rates must be complete before there is anything to compare.");
    else
        judge_all(r, s);
}

const study study_shakespeare = {
    .name = "shakespeare",
    .about = "activations, and more, in a small GPT on Shakespeare's plays",
    .size = sizeof(results),
    .report = report,
    .title = "Activations in a small GPT on Shakespeare's plays",
    .grids = grids,
    .grid_count = GRIDS,
};
