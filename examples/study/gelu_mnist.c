/* study gelu-mnist: the MNIST classification of "Gaussian Error Linear Units" (Hendrycks and Gimpel, arXiv 1606.08415).
 */
#include "examples/report/statistics.h"
#include "examples/study/mnist.h"
#include "examples/data/words.h"

#include <math.h>
#include <stdlib.h>

/* Log loss read off the published curves, accurate to about a line's width: medians of five runs. NaN where the curve
 * is off the picture. */
typedef struct published {
    tg_activation activation;
    double keep;
    double train[3];                      /* after epochs 10, 20 and 50 */
    double minimum, minimum_epoch, final; /* validation */
} published;
static const published curves[] = {
    {TG_GELU_TANH, 1, {.031, .015, .008}, .0887, 8, .139}, {TG_ELU, 1, {.048, .023, .014}, .0889, 14, .119},
    {TG_RELU, 1, {.037, .018, .008}, .0906, 13, .135},     {TG_GELU_TANH, .5, {.119, .076, .0445}, .129, 39, .133},
    {TG_ELU, .5, {.257, .175, .104}, .138, 43, .138},      {TG_RELU, .5, {NAN, .507, .346}, .377, 50, .387},
};
enum { CURVES = sizeof curves / sizeof curves[0] };
static const int train_epochs[3] = {10, 20, 50};

static double tolerance(double keep)
{
    return keep < 1 ? 0.015 : 0.01;
}

typedef struct results {
    study_results of;
    int seeds, epochs;
} results;

/* The records of a curve at its best rate by validation; returns their number. */
static int records_at_best(const results *r, tg_activation activation, double keep, double *rate,
                           const study_record *records[STUDY_SEEDS])
{
    const study_cell cell = mnist_cell(&r->of.work, r->of.c, activation, keep);
    *rate = mnist_best_rate(&cell);
    return study_cell_records(&cell, *rate, false, records);
}

/* ---- the tables ---- */

static const published *published_of(tg_activation activation, double keep)
{
    for (int i = 0; i < CURVES; i++)
        if (curves[i].activation == activation && curves[i].keep == keep)
            return &curves[i];
    return NULL;
}

static void add_losses(const results *r, sheet *s)
{
    sheet_heading(s, "Validation log loss");
    sheet_table(s, 3,
                "keep|activation|rate|runs|minimum, published|ours|least to greatest|epoch, published|ours|final, "
                "published|ours|least to greatest");
    for (int i = 0; i < CURVES; i++)
        for (int k = 0; k < mnist_cell(&r->of.work, r->of.c, TG_RELU, 1).rates; k++) {
            const published *said = &curves[i];
            const study_record *records[STUDY_SEEDS];
            const study_cell cell = mnist_cell(&r->of.work, r->of.c, said->activation, said->keep);
            const double rate = cell.grid->rates[k];
            const int n = study_cell_records(&cell, rate, false, records);
            const int at = study_lowest_median(records, n, r->epochs, STUDY_VAL_LOSS);
            const study_spread low = study_spread_at(records, n, at, STUDY_VAL_LOSS);
            const study_spread end = study_spread_at(records, n, r->epochs, STUDY_VAL_LOSS);
            if (n > 0)
                sheet_row(s, "%g|%s|%g|%d|%.4f|%.4f|%.4f to %.4f|%.0f|%d|%.3f|%.4f|%.4f to %.4f", said->keep,
                          tg_activation_name(said->activation), rate, n, said->minimum, low.median, low.low, low.high,
                          said->minimum_epoch, at, said->final, end.median, end.low, end.high);
        }
}

static void add_training(const results *r, sheet *s)
{
    sheet_heading(s, "Training log loss, without dropout");
    sheet_table(s, 4, "keep|activation|rate|epoch|published|ours|least to greatest");
    for (int i = 0; i < CURVES; i++) {
        const published *said = &curves[i];
        const study_record *records[STUDY_SEEDS];
        double rate;
        const int n = records_at_best(r, said->activation, said->keep, &rate, records);
        for (int e = 0; e < 3 && n > 0; e++) {
            const study_spread ours = study_spread_at(records, n, train_epochs[e], STUDY_TRAIN_LOSS);
            char text[16] = "> .5";
            if (!isnan(said->train[e]))
                snprintf(text, sizeof text, "%.4f", said->train[e]);
            if (ours.count)
                sheet_row(s, "%g|%s|%g|%d|%s|%.4f|%.4f to %.4f", said->keep, tg_activation_name(said->activation), rate,
                          train_epochs[e], text, ours.median, ours.low, ours.high);
        }
    }
}

/* The test error of each run where its validation loss was lowest, in percent. */
static study_spread test_error(const results *r, tg_activation activation, double keep, double *rate)
{
    const study_record *records[STUDY_SEEDS];
    double errors[STUDY_SEEDS];
    const int n = records_at_best(r, activation, keep, rate, records);
    for (int i = 0; i < n; i++)
        errors[i] = 100 - 100 * study_record_at(records[i], study_record_lowest(records[i], r->epochs, STUDY_VAL_LOSS),
                                                STUDY_TEST_ACCURACY);
    return study_spread_of(errors, n);
}

static void add_errors(const results *r, sheet *s)
{
    static const tg_activation order[] = {TG_GELU_TANH, TG_ELU, TG_RELU, TG_STOCHASTIC_GELU};
    sheet_heading(s, "Test error at the epoch with the lowest validation loss, at the best rate");
    sheet_table(s, 3, "keep|activation|rate|published|ours|least to greatest");
    for (int k = 0; k < 2; k++)
        for (int a = 0; a < 4; a++) {
            const double keep = k ? 0.5 : 1;
            double rate;
            const study_spread ours = test_error(r, order[a], keep, &rate);
            if (ours.count)
                sheet_row(s, "%g|%s|%g|%s|%.2f %%|%.2f %% to %.2f %%", keep, tg_activation_name(order[a]), rate,
                          order[a] == TG_STOCHASTIC_GELU    ? "2.00 %"
                          : order[a] == TG_RELU && keep < 1 ? "2.10 %"
                                                            : "",
                          ours.median, ours.low, ours.high);
        }
}

/* ---- verdicts ---- */

static void judge_reproduction(const results *r, sheet *s)
{
    int within = 0, of = 0, fewest = r->seeds;
    double worst = 0;
    char where[80] = "";
    for (int i = 0; i < CURVES; i++) {
        const published *said = &curves[i];
        const study_record *records[STUDY_SEEDS];
        double rate;
        const int n = records_at_best(r, said->activation, said->keep, &rate, records);
        const int at = study_lowest_median(records, n, r->epochs, STUDY_VAL_LOSS);
        const double off[2] = {study_spread_at(records, n, at, STUDY_VAL_LOSS).median - said->minimum,
                               study_spread_at(records, n, r->epochs, STUDY_VAL_LOSS).median - said->final};
        fewest = n > 0 && n < fewest ? n : fewest;
        for (int k = 0; k < 2 && n > 0; k++, of++) {
            within += fabs(off[k]) <= tolerance(said->keep);
            if (fabs(off[k]) > fabs(worst)) {
                worst = off[k];
                snprintf(where, sizeof where, "%s of %s with keep %g", k ? "the final loss" : "the minimum",
                         tg_activation_name(said->activation), said->keep);
            }
        }
    }
    if (of)
        sheet_verdict(s,
                      "%d of %d published validation figures are met within 0.01 (keep 1) or 0.015 (keep 0.5) at each "
                      "activation's best rate by validation; the farthest is %s, off by %+.4f. Medians are of %d "
                      "seed%s at least, of %d.",
                      within, of, where, worst, fewest, plural(fewest), r->seeds);
}

/* Lowest validation losses of two activations, each at its best rate, by seed. */
static void judge_difference(const results *r, double keep, tg_activation other, sheet *s)
{
    const study_record *ours[STUDY_SEEDS], *theirs[STUDY_SEEDS];
    double a[STUDY_SEEDS], b[STUDY_SEEDS];
    double rate;
    const int n = records_at_best(r, TG_GELU_TANH, keep, &rate, ours);
    const int m = records_at_best(r, other, keep, &rate, theirs);
    const int pairs = n < m ? n : m;
    for (int i = 0; i < pairs; i++) {
        a[i] = study_record_at(ours[i], study_record_lowest(ours[i], r->epochs, STUDY_VAL_LOSS), STUDY_VAL_LOSS);
        b[i] = study_record_at(theirs[i], study_record_lowest(theirs[i], r->epochs, STUDY_VAL_LOSS), STUDY_VAL_LOSS);
    }
    if (pairs < 2)
        return;
    const statistics_estimate gain = statistics_paired(a, b, (size_t)pairs);
    const published *gelu = published_of(TG_GELU_TANH, keep), *rival = published_of(other, keep);
    const bool settled = fabs(gain.mean) > gain.margin;
    sheet_verdict(s,
                  "Keep %g, lowest validation loss of gelu_tanh less that of %s: %+.4f (95 %% interval %+.4f to %+.4f, "
                  "%d seed%s), published %+.4f: %s.",
                  keep, tg_activation_name(other), gain.mean, gain.mean - gain.margin, gain.mean + gain.margin, pairs,
                  plural(pairs), gelu->minimum - rival->minimum,
                  settled ? gain.mean < 0 ? "GELU is better, as published" : "GELU is worse, against what is published"
                          : "no difference that these seeds could show");
}

/* ---- the picture ---- */

static bool write_curves(const void *context, FILE *to)
{
    const results *r = context;
    fputs("panel,curve,measure,rate,epoch,median,low,high,train\n", to);
    for (int i = 0; i < CURVES; i++) {
        const published *said = &curves[i];
        const study_record *records[STUDY_SEEDS];
        double rate;
        const int n = records_at_best(r, said->activation, said->keep, &rate, records);
        for (int e = 1; n > 0 && e <= r->epochs; e++) {
            const study_spread loss = study_spread_at(records, n, e, STUDY_VAL_LOSS),
                               train = study_spread_at(records, n, e, STUDY_TRAIN_LOSS);
            fprintf(to, "keep %g,%s,log loss,%g,%d,%.6g,%.6g,%.6g,", said->keep, tg_activation_name(said->activation),
                    rate, e, loss.median, loss.low, loss.high);
            fprintf(to, isnan(train.median) ? "\n" : "%.6g\n", train.median);
        }
    }
    return true;
}

static bool write_published(const void *context, FILE *to)
{
    (void)context;
    fputs("panel,curve,kind,epoch,loss\n", to);
    for (int i = 0; i < CURVES; i++) {
        const char *name = tg_activation_name(curves[i].activation);
        for (int e = 0; e < 3; e++)
            if (!isnan(curves[i].train[e]))
                fprintf(to, "keep %g,%s,train,%d,%g\n", curves[i].keep, name, train_epochs[e], curves[i].train[e]);
        fprintf(to, "keep %g,%s,validation,%g,%g\n", curves[i].keep, name, curves[i].minimum_epoch, curves[i].minimum);
        fprintf(to, "keep %g,%s,validation,50,%g\n", curves[i].keep, name, curves[i].final);
    }
    return true;
}

/* ---- the study ---- */

static void report(void *all, sheet *s)
{
    results *r = all;
    r->seeds = mnist_cell(&r->of.work, r->of.c, TG_RELU, 1).seeds;
    r->epochs = r->of.work.run[0].spec.epochs;
    sheet_text(s,
               "Protocol (arXiv 1606.08415): eight hidden layers of 128, initial weights with rows of length 1, pixels "
               "in [0, 1], Adam with a constant rate, batch %d, %d epoch%s; dropout behind every hidden layer keeps a "
               "unit with probability 1 or 0.5; validation rows are the first 5,000. GELU is the tanh form. Medians of "
               "%d seed%s; of five the range from least to greatest holds the true median with a probability of 94 %%. "
               "Published numbers are read off the curves.",
               r->of.work.run[0].spec.batch, r->epochs, plural(r->epochs), r->seeds, plural(r->seeds));
    judge_reproduction(r, s);
    for (int k = 0; k < 2; k++) {
        judge_difference(r, k ? 0.5 : 1, TG_RELU, s);
        judge_difference(r, k ? 0.5 : 1, TG_ELU, s);
    }
    study_file(&r->of, "curves.csv", write_curves);
    study_file(&r->of, "published.csv", write_published);
    if (r->of.outcome.complete > 0)
        study_picture(&r->of, s, "study_curves.gp", "curves.svg",
                      "log loss over epochs, ours as lines and the published numbers as marks");
    add_losses(r, s);
    if (r->epochs >= train_epochs[0])
        add_training(r, s);
    add_errors(r, s);
}

const study study_gelu_mnist = {
    .name = "gelu-mnist",
    .about = "the GELU paper's MNIST classification",
    .size = sizeof(results),
    .report = report,
    .title = "GELU paper: MNIST classification",
    .first = STUDY_MNIST,
    .end = STUDY_MNIST + 1,
    .grids = mnist_grids,
    .grid_count = MNIST_GRIDS,
};
