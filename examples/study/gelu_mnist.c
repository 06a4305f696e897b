/* study gelu-mnist: the MNIST classification of "Gaussian Error Linear Units" (Hendrycks and Gimpel, arXiv 1606.08415).
 * study gelu-noise: how robust its classifiers are to noise, Unif[-a, a] added to the test images. */
#include "examples/data/feed.h"
#include "examples/data/words.h"
#include "examples/study/study.h"

#include <math.h>

/* ---- the runs ---- */

enum { GRIDS = 2 };
#define PROTOCOL                                                                                                     \
    .data = STUDY_MNIST,                                                                                             \
    .fixed = "hidden=128x8 init=unit_rows validation=first:5000 batch=128 epochs=50 drop-last=1 train-loss-every=5", \
    .quick = "hidden=24x2 validation=first:200 batch=32 epochs=3", .seeds = 5, .keeps_model = true
static const study_grid grids[GRIDS] = {
    {PROTOCOL, .factors = {"activation=gelu_tanh,elu,relu", "dropout=0,0.5"}, .rates = {1e-3, 1e-4, 1e-5}},
    {PROTOCOL, .factors = {"activation=stochastic_gelu", "dropout=0"}, .rates = {1e-3, 1e-4}},
};

/* Log loss read off the published curves, accurate to about a line's width: medians of five runs. NaN where the curve
 * is off the picture. And the test error, where the paper states it. */
static const struct published {
    tg_activation activation;
    double keep;                          /* the probability of keeping a unit */
    double train[3];                      /* after epochs 10, 20 and 50 */
    double minimum, minimum_epoch, final; /* validation */
    const char *error;
} published[] = {
    {TG_GELU_TANH, 1, {.031, .015, .008}, .0887, 8, .139, ""},
    {TG_ELU, 1, {.048, .023, .014}, .0889, 14, .119, ""},
    {TG_RELU, 1, {.037, .018, .008}, .0906, 13, .135, ""},
    {TG_GELU_TANH, .5, {.119, .076, .0445}, .129, 39, .133, ""},
    {TG_ELU, .5, {.257, .175, .104}, .138, 43, .138, ""},
    {TG_RELU, .5, {NAN, .507, .346}, .377, 50, .387, "2.10 %"},
    {TG_STOCHASTIC_GELU, 1, {NAN, NAN, NAN}, NAN, NAN, NAN, "2.00 %"},
};
enum { GELU, ELU, RELU, DROPPED, CURVES = 2 * DROPPED, STOCHASTIC = CURVES, ALL }; /* GELU + DROPPED: with dropout */
static const int train_epochs[3] = {10, 20, 50};

/* The runs of one of these, at their best rate. */
typedef struct curve {
    const struct published *said;
    const char *name; /* of the activation */
    study_cell cell;
    double rate;
    int count;
    const study_record *records[STUDY_SEEDS];
} curve;

/* The rate with the lowest minimum of the median validation loss, among those with the most complete runs; 0 if no run
 * is complete. */
static double best_rate(const study_cell *cell)
{
    double best = 0, lowest = INFINITY;
    int most = 0; /* runs that are complete */
    for (int r = 0; r < cell->rates; r++) {
        const study_record *records[STUDY_SEEDS];
        const int count = study_cell_records(cell, cell->grid->rates[r], false, records);
        const int epochs = count ? records[0]->epochs : 0;
        const int epoch = study_lowest_median(records, count, epochs, STUDY_VAL_LOSS);
        const double loss = study_spread_at(records, count, epoch, STUDY_VAL_LOSS).median;
        if (count > most || (count == most && loss < lowest)) {
            most = count;
            lowest = loss;
            best = cell->grid->rates[r];
        }
    }
    return best;
}

static curve curve_of(const study_results *of, int which)
{
    const struct published *said = &published[which];
    curve c = {.said = said, .name = tg_activation_name(said->activation)};
    char cell[STUDY_NAME];
    snprintf(cell, sizeof cell, "%s-dropout%g", c.name, 1 - said->keep);
    c.cell = study_cell_of(&of->work, of->c, &grids[which == STOCHASTIC], cell, 0);
    c.rate = best_rate(&c.cell);
    c.count = study_cell_records(&c.cell, c.rate, false, c.records);
    return c;
}

typedef struct results {
    study_results of;
    int seeds, epochs;
    curve curves[ALL];
} results;

/* A measure of a run, where its validation loss was lowest. */
static double at_lowest(const results *r, const study_record *record, study_column column)
{
    return study_record_at(record, study_record_lowest(record, r->epochs, STUDY_VAL_LOSS), column);
}

/* ---- the tables ---- */

static void add_losses(const results *r, sheet *s)
{
    sheet_heading(s, "Validation log loss");
    sheet_table(s, 3,
                "keep|activation|rate|runs|minimum, published|ours|least to greatest|epoch, published|ours|final, "
                "published|ours|least to greatest");
    for (const curve *c = r->curves; c < r->curves + CURVES; c++)
        for (int k = 0; k < c->cell.rates; k++) {
            const study_record *records[STUDY_SEEDS];
            const double rate = c->cell.grid->rates[k];
            const int n = study_cell_records(&c->cell, rate, false, records);
            const int at = study_lowest_median(records, n, r->epochs, STUDY_VAL_LOSS);
            const study_spread low = study_spread_at(records, n, at, STUDY_VAL_LOSS);
            const study_spread end = study_spread_at(records, n, r->epochs, STUDY_VAL_LOSS);
            if (n > 0)
                sheet_row(s, "%g|%s|%g|%d|%.4f|%.4f|%.4f to %.4f|%.0f|%d|%.3f|%.4f|%.4f to %.4f", c->said->keep,
                          c->name, rate, n, c->said->minimum, low.median, low.low, low.high, c->said->minimum_epoch, at,
                          c->said->final, end.median, end.low, end.high);
        }
}

static void add_training(const results *r, sheet *s)
{
    sheet_heading(s, "Training log loss, without dropout");
    sheet_table(s, 4, "keep|activation|rate|epoch|published|ours|least to greatest");
    for (const curve *c = r->curves; c < r->curves + CURVES; c++)
        for (int e = 0; e < 3; e++) {
            const study_spread ours = study_spread_at(c->records, c->count, train_epochs[e], STUDY_TRAIN_LOSS);
            char text[16] = "> .5";
            if (!isnan(c->said->train[e]))
                snprintf(text, sizeof text, "%.4f", c->said->train[e]);
            if (ours.count)
                sheet_row(s, "%g|%s|%g|%d|%s|%.4f|%.4f to %.4f", c->said->keep, c->name, c->rate, train_epochs[e], text,
                          ours.median, ours.low, ours.high);
        }
}

static void add_errors(const results *r, sheet *s)
{
    static const int order[ALL] = {GELU, ELU, RELU, STOCHASTIC, GELU + DROPPED, ELU + DROPPED, RELU + DROPPED};
    sheet_heading(s, "Test error at the epoch with the lowest validation loss, at the best rate");
    sheet_table(s, 3, "keep|activation|rate|published|ours|least to greatest");
    for (int k = 0; k < ALL; k++) {
        const curve *c = &r->curves[order[k]];
        double errors[STUDY_SEEDS];
        for (int i = 0; i < c->count; i++)
            errors[i] = 100 - 100 * at_lowest(r, c->records[i], STUDY_TEST_ACCURACY);
        const study_spread ours = study_spread_of(errors, c->count);
        if (ours.count)
            sheet_row(s, "%g|%s|%g|%s|%.2f %%|%.2f %% to %.2f %%", c->said->keep, c->name, c->rate, c->said->error,
                      ours.median, ours.low, ours.high);
    }
}

/* ---- verdicts ---- */

static void judge_reproduction(const results *r, sheet *s)
{
    int within = 0, of = 0, fewest = r->seeds;
    double worst = 0;
    char where[80] = "";
    for (const curve *c = r->curves; c < r->curves + CURVES; c++) {
        const double keep = c->said->keep;
        const int at = study_lowest_median(c->records, c->count, r->epochs, STUDY_VAL_LOSS);
        const double off[2] = {study_spread_at(c->records, c->count, at, STUDY_VAL_LOSS).median - c->said->minimum,
                               study_spread_at(c->records, c->count, r->epochs, STUDY_VAL_LOSS).median -
                                   c->said->final};
        fewest = c->count > 0 && c->count < fewest ? c->count : fewest;
        for (int k = 0; k < 2 && c->count > 0; k++, of++) {
            within += fabs(off[k]) <= (keep < 1 ? 0.015 : 0.01);
            if (fabs(off[k]) > fabs(worst)) {
                worst = off[k];
                snprintf(where, sizeof where, "%s of %s with keep %g", k ? "the final loss" : "the minimum", c->name,
                         keep);
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
static void judge_difference(const results *r, const curve *gelu, const curve *rival, sheet *s)
{
    double a[STUDY_SEEDS], b[STUDY_SEEDS];
    const int pairs = gelu->count < rival->count ? gelu->count : rival->count;
    for (int i = 0; i < pairs; i++) {
        a[i] = at_lowest(r, gelu->records[i], STUDY_VAL_LOSS);
        b[i] = at_lowest(r, rival->records[i], STUDY_VAL_LOSS);
    }
    if (pairs < 2)
        return;
    const statistics_estimate gain = statistics_paired(a, b, (size_t)pairs);
    const bool settled = fabs(gain.mean) > gain.margin;
    sheet_verdict(s,
                  "Keep %g, lowest validation loss of gelu_tanh less that of %s: %+.4f (95 %% interval %+.4f to %+.4f, "
                  "%d seed%s), published %+.4f: %s.",
                  rival->said->keep, rival->name, gain.mean, gain.mean - gain.margin, gain.mean + gain.margin, pairs,
                  plural(pairs), gelu->said->minimum - rival->said->minimum,
                  settled ? gain.mean < 0 ? "GELU is better, as published" : "GELU is worse, against what is published"
                          : "no difference that these seeds could show");
}

/* ---- the picture ---- */

static bool write_curves(const void *context, FILE *to)
{
    const results *r = context;
    fputs("panel,curve,measure,rate,epoch,median,low,high,train\n", to);
    for (const curve *c = r->curves; c < r->curves + CURVES; c++)
        for (int e = 1; c->count > 0 && e <= r->epochs; e++) {
            const study_spread loss = study_spread_at(c->records, c->count, e, STUDY_VAL_LOSS),
                               train = study_spread_at(c->records, c->count, e, STUDY_TRAIN_LOSS);
            fprintf(to, "keep %g,%s,log loss,%g,%d,%.6g,%.6g,%.6g,", c->said->keep, c->name, c->rate, e, loss.median,
                    loss.low, loss.high);
            fprintf(to, isnan(train.median) ? "\n" : "%.6g\n", train.median);
        }
    return true;
}

static bool write_published(const void *context, FILE *to)
{
    (void)context;
    fputs("panel,curve,kind,epoch,loss\n", to);
    for (const struct published *said = published; said < published + CURVES; said++) {
        const char *name = tg_activation_name(said->activation);
        for (int e = 0; e < 3; e++)
            if (!isnan(said->train[e]))
                fprintf(to, "keep %g,%s,train,%d,%g\n", said->keep, name, train_epochs[e], said->train[e]);
        fprintf(to, "keep %g,%s,validation,%g,%g\n", said->keep, name, said->minimum_epoch, said->minimum);
        fprintf(to, "keep %g,%s,validation,50,%g\n", said->keep, name, said->final);
    }
    return true;
}

/* ---- study gelu-mnist ---- */

static void report(void *all, sheet *s)
{
    results *r = all;
    for (int i = 0; i < ALL; i++)
        r->curves[i] = curve_of(&r->of, i);
    r->seeds = r->curves[RELU].cell.seeds;
    r->epochs = r->of.work.run[0].spec.epochs;
    sheet_text(s,
               "Protocol (arXiv 1606.08415): eight hidden layers of 128, initial weights with rows of length 1, pixels "
               "in [0, 1], Adam with a constant rate, batch %d, %d epoch%s; dropout behind every hidden layer keeps a "
               "unit with probability 1 or 0.5; validation rows are the first 5,000. GELU is the tanh form. Medians of "
               "%d seed%s; of five the range from least to greatest holds the true median with a probability of 94 %%. "
               "Published numbers are read off the curves.",
               r->of.work.run[0].spec.batch, r->epochs, plural(r->epochs), r->seeds, plural(r->seeds));
    judge_reproduction(r, s);
    for (const curve *gelu = r->curves; gelu < r->curves + CURVES; gelu += DROPPED) {
        judge_difference(r, gelu, gelu + RELU, s);
        judge_difference(r, gelu, gelu + ELU, s);
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
    .grids = grids,
    .grid_count = GRIDS,
};

/* ---- study gelu-noise: the networks on noisy images ---- */

enum { LEVELS = 13 };

static double level_of(int level)
{
    return 3. * level / (LEVELS - 1);
}

typedef struct score {
    double loss, accuracy;
} score;

typedef struct noisy {
    study_results of;
    curve curves[DROPPED];
    int seeds[DROPPED];
    score score[DROPPED][STUDY_SEEDS][LEVELS];
} noisy;

static tg_tensor loss(void *model, const tg_tensor *batch, tg_rng *training, double *accuracy)
{
    tg_tensor logits = tg_model_forward(model, batch[0], training);
    *accuracy = tg_accuracy(logits, batch[1]);
    return tg_cross_entropy(logits, batch[1]);
}

/* Over the test images with noise of each size, the same for every network. */
static bool score_net(const dataset *data, tg_model *model, score by_level[LEVELS], tg_error *error)
{
    const tg_rng seed = tg_rng_seed(1);
    dataset_feed images = {data, &data->test};
    const tg_fit_rows rows = dataset_feed_rows(&images);
    tg_fit *fit = tg_fit_new(&(tg_fit_config){.loss = loss, .model = model, .batch = 500});
    bool fine = true;
    for (int level = 0; fine && level < LEVELS; level++) {
        images.random = tg_rng_split(&seed, (uint64_t)level);
        images.noise = level_of(level);
        fine = tg_fit_evaluate(fit, &rows, &by_level[level].loss, &by_level[level].accuracy);
    }
    if (!fine)
        tg_fail(error, "%s", tg_fit_error(fit));
    tg_fit_free(fit);
    return fine;
}

/* Scores every finished network of an activation at its best rate. */
static bool score_all(noisy *r, const dataset *data, int a, tg_error *error)
{
    const curve *c = &r->curves[a];
    for (int seed = 1; seed <= c->cell.seeds; seed++) {
        const study_run *run = study_cell_run(&c->cell, c->rate, seed);
        if (!run)
            continue;
        tg_model *model = study_run_net(run, r->of.work.folder, error);
        const bool fine = model && score_net(data, model, r->score[a][r->seeds[a]++], error);
        tg_model_free(model);
        if (!fine)
            return false;
    }
    return true;
}

static study_spread spread(const noisy *r, int a, int level, bool accuracy)
{
    double values[STUDY_SEEDS];
    for (int i = 0; i < r->seeds[a]; i++)
        values[i] = accuracy ? 100 * r->score[a][i][level].accuracy : r->score[a][i][level].loss;
    return study_spread_of(values, r->seeds[a]);
}

static void put_noise(const noisy *r, sheet *s)
{
    sheet_heading(s, "Test accuracy and log loss");
    sheet_table(s, 2, "noise|activation|rate|runs|accuracy|least to greatest|log loss|least to greatest");
    for (int level = 0; level < LEVELS; level += 2)
        for (int a = 0; a < DROPPED; a++) {
            const study_spread accuracy = spread(r, a, level, true), loss = spread(r, a, level, false);
            if (accuracy.count)
                sheet_row(s, "%.2g|%s|%g|%d|%.2f %%|%.2f %% to %.2f %%|%.3f|%.3f to %.3f", level_of(level),
                          r->curves[a].name, r->curves[a].rate, accuracy.count, accuracy.median, accuracy.low,
                          accuracy.high, loss.median, loss.low, loss.high);
        }
}

/* The mean over all levels of each run, by activation: accuracy in percent. */
static void judge_noise(const noisy *r, int other, sheet *s)
{
    double gelu[STUDY_SEEDS], theirs[STUDY_SEEDS];
    const int pairs = r->seeds[0] < r->seeds[other] ? r->seeds[0] : r->seeds[other];
    for (int i = 0; i < pairs; i++) {
        gelu[i] = theirs[i] = 0;
        for (int level = 1; level < LEVELS; level++) {
            gelu[i] += 100 * r->score[0][i][level].accuracy / (LEVELS - 1);
            theirs[i] += 100 * r->score[other][i][level].accuracy / (LEVELS - 1);
        }
    }
    if (pairs < 2)
        return;
    const statistics_estimate gain = statistics_paired(gelu, theirs, (size_t)pairs);
    const bool settled = fabs(gain.mean) > gain.margin;
    sheet_verdict(s,
                  "Accuracy averaged over noise of 0.25 to 3, gelu_tanh less %s: %+.2f points (95 %% interval %+.2f to "
                  "%+.2f, %d network%s each). The paper: \"robustness matching or exceeding\"; %s.",
                  r->curves[other].name, gain.mean, gain.mean - gain.margin, gain.mean + gain.margin, pairs,
                  plural(pairs),
                  !settled        ? "these networks show no difference"
                  : gain.mean > 0 ? "here it exceeds"
                                  : "here it is less robust, against what is published");
}

static bool write_noise(const void *context, FILE *to)
{
    const noisy *r = context;
    fputs("measure,curve,noise,median,low,high\n", to);
    for (int measure = 0; measure < 2; measure++)
        for (int a = 0; a < DROPPED; a++)
            for (int level = 0; level < LEVELS; level++) {
                const study_spread value = spread(r, a, level, measure == 0);
                if (value.count)
                    fprintf(to, "%s,%s,%g,%.6g,%.6g,%.6g\n", measure ? "log loss" : "accuracy (%)", r->curves[a].name,
                            level_of(level), value.median, value.low, value.high);
            }
    return true;
}

static void report_noise(void *all, sheet *s)
{
    noisy *r = all;
    dataset *data = &r->of.from.rows[STUDY_MNIST];
    bool fine = study_run_split(&r->of.work.run[0], data, &r->of.error);
    for (int a = 0; a < DROPPED; a++)
        r->curves[a] = curve_of(&r->of, a);
    for (int a = 0; a < DROPPED; a++)
        fine = fine && score_all(r, data, a, &r->of.error);
    r->of.broken = !fine;
    sheet_text(
        s,
        "The classifiers of gelu-mnist that were trained without dropout, after their last epoch, each activation at "
        "its best rate by validation loss; uniform noise from -a to a is added to every pixel of the test images, the "
        "same for all networks. Medians over the seeds. Of the paper's curves no numbers are at hand, only its words.");
    judge_noise(r, RELU, s);
    judge_noise(r, ELU, s);
    study_file(&r->of, "noise.csv", write_noise);
    if (r->of.outcome.complete > 0)
        study_picture(&r->of, s, "study_noise.gp", "noise.svg", "accuracy and log loss over the size of the noise");
    put_noise(r, s);
}

/* The runs of gelu-mnist without dropout, at its first two rates. */
static bool add_noise(void *all)
{
    noisy *r = all;
    study_grid grid = grids[0];
    grid.factors[1] = "dropout=0";
    grid.rates[2] = 0;
    return study_grids_add(&r->of.work, r->of.c, &grid, 1, &r->of.from);
}

const study study_gelu_noise = {
    .name = "gelu-noise",
    .about = "how robust the classifiers of gelu-mnist are to noisy images",
    .size = sizeof(noisy),
    .report = report_noise,
    .title = "GELU paper: noise",
    .first = STUDY_MNIST,
    .end = STUDY_MNIST + 1,
    .of = "gelu-mnist",
    .add = add_noise,
};
