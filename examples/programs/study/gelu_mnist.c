/* study gelu-mnist: the MNIST classification of "Gaussian Error Linear Units" (Hendrycks and Gimpel, arXiv 1606.08415).
 * study gelu-noise: how robust its classifiers are to noise, Unif[-a, a] added to the test images. */
#include "examples/programs/data/feed.h"
#include "examples/programs/data/words.h"
#include "examples/programs/study/study.h"

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
enum { MINIMUM = 3, FINAL, MARKS }; /* of the validation; training before */
#define MARK(epoch_10, epoch_20, epoch_50, minimum, minimum_epoch, final)          \
    {                                                                              \
        {"train", 10, epoch_10}, {"train", 20, epoch_20}, {"train", 50, epoch_50}, \
            {"validation", minimum_epoch, minimum},                                \
        {                                                                          \
            "validation", 50, final                                                \
        }                                                                          \
    }
static const struct published {
    tg_activation activation;
    double keep; /* the probability of keeping a unit */
    study_mark mark[MARKS];
    const char *error;
} published[] = {
    {TG_GELU_TANH, 1, MARK(.031, .015, .008, .0887, 8, .139), ""},
    {TG_ELU, 1, MARK(.048, .023, .014, .0889, 14, .119), ""},
    {TG_RELU, 1, MARK(.037, .018, .008, .0906, 13, .135), ""},
    {TG_GELU_TANH, .5, MARK(.119, .076, .0445, .129, 39, .133), ""},
    {TG_ELU, .5, MARK(.257, .175, .104, .138, 43, .138), ""},
    {TG_RELU, .5, MARK(NAN, .507, .346, .377, 50, .387), "2.10 %"},
    {TG_STOCHASTIC_GELU, 1, {{0}}, "2.00 %"},
};
enum { GELU, ELU, RELU, DROPPED, CURVES = 2 * DROPPED, STOCHASTIC = CURVES, ALL }; /* GELU + DROPPED: with dropout */

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

/* The runs of one of these, and their curve at the best rate. */
static study_cell cell_of(const study_work *work, int which, study_curve *c)
{
    const struct published *said = &published[which];
    char name[STUDY_NAME];
    *c = (study_curve){.name = tg_activation_name(said->activation), .mark = said->mark, .marks = MARKS};
    snprintf(c->panel, sizeof c->panel, "keep %g", said->keep);
    snprintf(name, sizeof name, "%s-dropout%g", c->name, 1 - said->keep);
    const study_cell cell = study_cell_of(work, name, 0);
    c->rate = best_rate(&cell);
    c->count = study_cell_records(&cell, c->rate, false, c->records);
    return cell;
}

typedef struct results {
    study_results of;
    int seeds;
    study_cell cell[ALL];
    study_curves curves; /* of all; the stochastic form is not drawn */
} results;

/* A measure of a run, where its validation loss was lowest. */
static double at_lowest(const results *r, const study_record *record, study_column column)
{
    return study_record_at(record, study_lowest_median(&record, 1, r->curves.epochs, STUDY_VAL_LOSS), column);
}

/* ---- the tables ---- */

static void add_losses(const results *r, sheet *s)
{
    const int epochs = r->curves.epochs;
    sheet_heading(s, "Validation log loss");
    sheet_table(s, 3,
                "keep|activation|rate|runs|minimum, published|ours|least to greatest|epoch, published|ours|final, "
                "published|ours|least to greatest");
    for (int i = 0; i < CURVES; i++)
        for (int k = 0; k < r->cell[i].rates; k++) {
            const study_record *records[STUDY_SEEDS];
            const study_mark *mark = published[i].mark;
            const double rate = r->cell[i].grid->rates[k];
            const int n = study_cell_records(&r->cell[i], rate, false, records);
            const int at = study_lowest_median(records, n, epochs, STUDY_VAL_LOSS);
            const study_spread low = study_spread_at(records, n, at, STUDY_VAL_LOSS);
            const study_spread end = study_spread_at(records, n, epochs, STUDY_VAL_LOSS);
            if (n > 0)
                sheet_row(s, "%g|%s|%g|%d|%.4f|%.4f|%.4f to %.4f|%d|%d|%.3f|%.4f|%.4f to %.4f", published[i].keep,
                          r->curves.curve[i].name, rate, n, mark[MINIMUM].loss, STUDY_SPREAD(low), mark[MINIMUM].epoch,
                          at, mark[FINAL].loss, STUDY_SPREAD(end));
        }
}

static void add_training(const results *r, sheet *s)
{
    sheet_heading(s, "Training log loss, without dropout");
    sheet_table(s, 4, "keep|activation|rate|epoch|published|ours|least to greatest");
    for (int i = 0; i < CURVES; i++)
        for (const study_mark *m = published[i].mark; m < published[i].mark + MINIMUM; m++) {
            const study_curve *c = &r->curves.curve[i];
            const study_spread ours = study_spread_at(c->records, c->count, m->epoch, STUDY_TRAIN_LOSS);
            char text[16] = "> .5";
            if (!isnan(m->loss))
                snprintf(text, sizeof text, "%.4f", m->loss);
            if (ours.count)
                sheet_row(s, "%g|%s|%g|%d|%s|%.4f|%.4f to %.4f", published[i].keep, c->name, c->rate, m->epoch, text,
                          STUDY_SPREAD(ours));
        }
}

static void add_errors(const results *r, sheet *s)
{
    static const int order[ALL] = {GELU, ELU, RELU, STOCHASTIC, GELU + DROPPED, ELU + DROPPED, RELU + DROPPED};
    sheet_heading(s, "Test error at the epoch with the lowest validation loss, at the best rate");
    sheet_table(s, 3, "keep|activation|rate|published|ours|least to greatest");
    for (int k = 0; k < ALL; k++) {
        const study_curve *c = &r->curves.curve[order[k]];
        const struct published *said = &published[order[k]];
        double errors[STUDY_SEEDS];
        for (int i = 0; i < c->count; i++)
            errors[i] = 100 - 100 * at_lowest(r, c->records[i], STUDY_TEST_ACCURACY);
        const study_spread ours = study_spread_of(errors, c->count);
        if (ours.count)
            sheet_row(s, "%g|%s|%g|%s|%.2f %%|%.2f %% to %.2f %%", said->keep, c->name, c->rate, said->error,
                      STUDY_SPREAD(ours));
    }
}

/* ---- verdicts ---- */

static void judge_reproduction(const results *r, sheet *s)
{
    int within = 0, of = 0, fewest = r->seeds;
    double worst = 0;
    char where[80] = "";
    for (int i = 0; i < CURVES; i++) {
        const study_curve *c = &r->curves.curve[i];
        const double keep = published[i].keep;
        const int at = study_lowest_median(c->records, c->count, r->curves.epochs, STUDY_VAL_LOSS);
        fewest = c->count > 0 && c->count < fewest ? c->count : fewest;
        for (int k = MINIMUM; k <= FINAL && c->count > 0; k++, of++) {
            const int epoch = k == FINAL ? r->curves.epochs : at;
            const double off =
                study_spread_at(c->records, c->count, epoch, STUDY_VAL_LOSS).median - published[i].mark[k].loss;
            within += fabs(off) <= (keep < 1 ? 0.015 : 0.01);
            if (fabs(off) > fabs(worst)) {
                worst = off;
                snprintf(where, sizeof where, "%s of %s with keep %g", k == FINAL ? "the final loss" : "the minimum",
                         c->name, keep);
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
static void judge_difference(const results *r, int gelu, int rival, sheet *s)
{
    double a[STUDY_SEEDS], b[STUDY_SEEDS];
    const study_curve *ours = &r->curves.curve[gelu], *theirs = &r->curves.curve[rival];
    const int pairs = ours->count < theirs->count ? ours->count : theirs->count;
    for (int i = 0; i < pairs; i++) {
        a[i] = at_lowest(r, ours->records[i], STUDY_VAL_LOSS);
        b[i] = at_lowest(r, theirs->records[i], STUDY_VAL_LOSS);
    }
    if (pairs < 2)
        return;
    const statistics_estimate gain = statistics_paired(a, b, (size_t)pairs);
    const bool settled = fabs(gain.mean) > gain.margin;
    sheet_verdict(s,
                  "Keep %g, lowest validation loss of gelu_tanh less that of %s: %+.4f (95 %% interval %+.4f to %+.4f, "
                  "%d seed%s), published %+.4f: %s.",
                  published[rival].keep, theirs->name, STUDY_INTERVAL(gain), pairs, plural(pairs),
                  published[gelu].mark[MINIMUM].loss - published[rival].mark[MINIMUM].loss,
                  settled ? gain.mean < 0 ? "GELU is better, as published" : "GELU is worse, against what is published"
                          : "no difference that these seeds could show");
}

/* ---- study gelu-mnist ---- */

static void report(void *all, sheet *s)
{
    results *r = all;
    const run_spec *spec = &r->of.work.run[0].spec;
    r->curves = (study_curves){"log loss", STUDY_VAL_LOSS, STUDY_TRAIN_LOSS, spec->epochs, .count = CURVES};
    for (int i = 0; i < ALL; i++)
        r->cell[i] = cell_of(&r->of.work, i, &r->curves.curve[i]);
    r->seeds = r->cell[RELU].seeds;
    sheet_text(s,
               "Protocol (arXiv 1606.08415): eight hidden layers of 128, initial weights with rows of length 1, pixels "
               "in [0, 1], Adam with a constant rate, batch %d, %d epoch%s; dropout behind every hidden layer keeps a "
               "unit with probability 1 or 0.5; validation rows are the first 5,000. GELU is the tanh form. Medians of "
               "%d seed%s; of five the range from least to greatest holds the true median with a probability of 94 %%. "
               "Published numbers are read off the curves.",
               spec->batch, spec->epochs, plural(spec->epochs), r->seeds, plural(r->seeds));
    judge_reproduction(r, s);
    for (int gelu = GELU; gelu < CURVES; gelu += DROPPED) {
        judge_difference(r, gelu, gelu + RELU, s);
        judge_difference(r, gelu, gelu + ELU, s);
    }
    study_put_curves(&r->of, s, &r->curves, "log loss over epochs, ours as lines and the published numbers as marks");
    add_losses(r, s);
    if (spec->epochs >= published[0].mark[0].epoch)
        add_training(r, s);
    add_errors(r, s);
}

const study study_gelu_mnist = {
    .name = "gelu-mnist",
    .about = "the GELU paper's MNIST classification",
    .size = sizeof(results),
    .report = report,
    .title = "GELU paper: MNIST classification",
    .grids = grids,
    .grid_count = GRIDS,
};

/* ---- study gelu-noise: the networks on noisy images ---- */

enum { LEVELS = 13, LOSS = 0, ACCURACY, MEASURES };

static double level_of(int level)
{
    return 3. * level / (LEVELS - 1);
}

typedef struct noisy {
    study_results of;
    study_curve curve[DROPPED];
    int seeds[DROPPED];
    double score[MEASURES][DROPPED][LEVELS][STUDY_SEEDS]; /* the accuracy in percent */
} noisy;

static tg_tensor loss(void *model, const tg_tensor *batch, tg_rng *training, double *accuracy)
{
    tg_tensor logits = tg_model_forward(model, batch[0], training);
    *accuracy = tg_accuracy(logits, batch[1]);
    return tg_cross_entropy(logits, batch[1]);
}

/* Scores a network on the test images with noise of each size, the same for every network. */
static bool score_net(noisy *r, tg_model *model, int a, tg_error *error)
{
    const tg_rng seed = tg_rng_seed(1);
    const dataset *data = &r->of.from.source[STUDY_MNIST].data;
    dataset_feed images = {data, &data->test};
    const tg_fit_rows rows = dataset_feed_rows(&images);
    tg_fit *fit = tg_fit_new(&(tg_fit_config){.loss = loss, .model = model, .batch = 500});
    bool fine = true;
    for (int level = 0; fine && level < LEVELS; level++) {
        double mean = NAN, accuracy = NAN;
        images.random = tg_rng_split(&seed, (uint64_t)level);
        images.noise = level_of(level);
        fine = tg_fit_evaluate(fit, &rows, &mean, &accuracy);
        r->score[LOSS][a][level][r->seeds[a]] = mean;
        r->score[ACCURACY][a][level][r->seeds[a]] = 100 * accuracy;
    }
    if (!fine)
        tg_fail(error, "%s", tg_fit_error(fit));
    r->seeds[a]++;
    tg_fit_free(fit);
    return fine;
}

/* Scores every finished network of an activation at its best rate. */
static bool score_all(noisy *r, int a, tg_error *error)
{
    const study_cell cell = cell_of(&r->of.work, a, &r->curve[a]);
    bool fine = true;
    for (int seed = 1; seed <= cell.seeds; seed++)
        if (fine && study_cell_record(&cell, r->curve[a].rate, seed)) {
            tg_model *model = study_cell_net(&cell, r->curve[a].rate, seed, error);
            fine = model && score_net(r, model, a, error);
            tg_model_free(model);
        }
    return fine;
}

static study_spread spread(const noisy *r, int measure, int a, int level)
{
    return study_spread_of(r->score[measure][a][level], r->seeds[a]);
}

static void put_noise(const noisy *r, sheet *s)
{
    sheet_heading(s, "Test accuracy and log loss");
    sheet_table(s, 2, "noise|activation|rate|runs|accuracy|least to greatest|log loss|least to greatest");
    for (int level = 0; level < LEVELS; level += 2)
        for (int a = 0; a < DROPPED; a++) {
            const study_spread accuracy = spread(r, ACCURACY, a, level), mean = spread(r, LOSS, a, level);
            if (accuracy.count)
                sheet_row(s, "%.2g|%s|%g|%d|%.2f %%|%.2f %% to %.2f %%|%.3f|%.3f to %.3f", level_of(level),
                          r->curve[a].name, r->curve[a].rate, accuracy.count, STUDY_SPREAD(accuracy),
                          STUDY_SPREAD(mean));
        }
}

/* The mean accuracy of each run over all levels, by activation. */
static void judge_noise(const noisy *r, int other, sheet *s)
{
    double mean[2][STUDY_SEEDS] = {{0}};
    const int pairs = r->seeds[GELU] < r->seeds[other] ? r->seeds[GELU] : r->seeds[other];
    for (int level = 1; level < LEVELS; level++)
        for (int i = 0; i < pairs; i++) {
            mean[0][i] += r->score[ACCURACY][GELU][level][i] / (LEVELS - 1);
            mean[1][i] += r->score[ACCURACY][other][level][i] / (LEVELS - 1);
        }
    if (pairs < 2)
        return;
    const statistics_estimate gain = statistics_paired(mean[0], mean[1], (size_t)pairs);
    const bool settled = fabs(gain.mean) > gain.margin;
    sheet_verdict(s,
                  "Accuracy averaged over noise of 0.25 to 3, gelu_tanh less %s: %+.2f points (95 %% interval %+.2f to "
                  "%+.2f, %d network%s each). The paper: \"robustness matching or exceeding\"; %s.",
                  r->curve[other].name, STUDY_INTERVAL(gain), pairs, plural(pairs),
                  !settled        ? "these networks show no difference"
                  : gain.mean > 0 ? "here it exceeds"
                                  : "here it is less robust, against what is published");
}

static bool write_noise(const void *context, FILE *to)
{
    static const char *const names[MEASURES] = {[LOSS] = "log loss", [ACCURACY] = "accuracy (%)"};
    const noisy *r = context;
    fputs("measure,curve,noise,median,low,high\n", to);
    for (int measure = ACCURACY; measure >= LOSS; measure--)
        for (int a = 0; a < DROPPED; a++)
            for (int level = 0; level < LEVELS; level++) {
                const study_spread value = spread(r, measure, a, level);
                if (value.count)
                    fprintf(to, "%s,%s,%g,%.6g,%.6g,%.6g\n", names[measure], r->curve[a].name, level_of(level),
                            STUDY_SPREAD(value));
            }
    return true;
}

static void report_noise(void *all, sheet *s)
{
    noisy *r = all;
    bool fine = study_run_split(&r->of.work.run[0], &r->of.from.source[STUDY_MNIST].data, &r->of.error);
    for (int a = 0; a < DROPPED; a++)
        fine = fine && score_all(r, a, &r->of.error);
    r->of.broken = !fine;
    sheet_text(
        s,
        "The classifiers of gelu-mnist that were trained without dropout, after their last epoch, each activation at "
        "its best rate by validation loss; uniform noise from -a to a is added to every pixel of the test images, the "
        "same for all networks. Medians over the seeds. Of the paper's curves no numbers are at hand, only its words.");
    judge_noise(r, RELU, s);
    judge_noise(r, ELU, s);
    study_file(&r->of, "noise.csv", write_noise, r);
    if (r->of.outcome.complete > 0)
        study_picture(&r->of, s, "study_noise.gp", "noise.svg", "accuracy and log loss over the size of the noise");
    put_noise(r, s);
}

/* The runs of gelu-mnist without dropout, at its first two rates. */
static const study_grid undropped = {PROTOCOL, .factors = {"activation=gelu_tanh,elu,relu", "dropout=0"},
                                     .rates = {1e-3, 1e-4}};

const study study_gelu_noise = {
    .name = "gelu-noise",
    .about = "how robust the classifiers of gelu-mnist are to noisy images",
    .size = sizeof(noisy),
    .report = report_noise,
    .title = "GELU paper: noise",
    .of = "gelu-mnist",
    .grids = &undropped,
    .grid_count = 1,
};
