/* study gelu-noise: how robust the classifiers of gelu-mnist are to noise (Hendrycks and Gimpel, arXiv 1606.08415):
 * Unif[-a, a] added to the test images. */
#include "examples/data/feed.h"
#include "examples/report/statistics.h"
#include "examples/study/mnist.h"
#include "examples/data/words.h"

#include <math.h>

enum { LEVELS = 13 };

static double level_of(int level)
{
    return 3. * level / (LEVELS - 1);
}

typedef struct score {
    double loss, accuracy;
} score;

typedef struct results {
    study_results of;
    double rate[MNIST_ACTIVATIONS];
    int seeds[MNIST_ACTIVATIONS];
    score score[MNIST_ACTIVATIONS][STUDY_SEEDS][LEVELS];
} results;

/* ---- the networks on noisy images ---- */

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
static bool score_all(results *r, const dataset *data, int a, tg_error *error)
{
    const study_cell cell = mnist_cell(&r->of.work, r->of.c, mnist_activations[a], 1);
    r->rate[a] = mnist_best_rate(&cell);
    for (int seed = 1; seed <= cell.seeds; seed++) {
        const study_run *run = study_cell_run(&cell, r->rate[a], seed);
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

static study_spread spread(const results *r, int a, int level, bool accuracy)
{
    double values[STUDY_SEEDS];
    for (int i = 0; i < r->seeds[a]; i++)
        values[i] = accuracy ? 100 * r->score[a][i][level].accuracy : r->score[a][i][level].loss;
    return study_spread_of(values, r->seeds[a]);
}

/* ---- the report ---- */

static void put_table(const results *r, sheet *s)
{
    sheet_heading(s, "Test accuracy and log loss");
    sheet_table(s, 2, "noise|activation|rate|runs|accuracy|least to greatest|log loss|least to greatest");
    for (int level = 0; level < LEVELS; level += 2)
        for (int a = 0; a < MNIST_ACTIVATIONS; a++) {
            const study_spread accuracy = spread(r, a, level, true), loss = spread(r, a, level, false);
            if (accuracy.count)
                sheet_row(s, "%.2g|%s|%g|%d|%.2f %%|%.2f %% to %.2f %%|%.3f|%.3f to %.3f", level_of(level),
                          tg_activation_name(mnist_activations[a]), r->rate[a], accuracy.count, accuracy.median,
                          accuracy.low, accuracy.high, loss.median, loss.low, loss.high);
        }
}

/* The mean over all levels of each run, by activation: accuracy in percent. */
static void judge(const results *r, int other, sheet *s)
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
                  tg_activation_name(mnist_activations[other]), gain.mean, gain.mean - gain.margin,
                  gain.mean + gain.margin, pairs, plural(pairs),
                  !settled        ? "these networks show no difference"
                  : gain.mean > 0 ? "here it exceeds"
                                  : "here it is less robust, against what is published");
}

static bool write_noise(const void *context, FILE *to)
{
    const results *r = context;
    fputs("measure,curve,noise,median,low,high\n", to);
    for (int measure = 0; measure < 2; measure++)
        for (int a = 0; a < MNIST_ACTIVATIONS; a++)
            for (int level = 0; level < LEVELS; level++) {
                const study_spread value = spread(r, a, level, measure == 0);
                if (value.count)
                    fprintf(to, "%s,%s,%g,%.6g,%.6g,%.6g\n", measure ? "log loss" : "accuracy (%)",
                            tg_activation_name(mnist_activations[a]), level_of(level), value.median, value.low,
                            value.high);
            }
    return true;
}

static void report(void *all, sheet *s)
{
    results *r = all;
    dataset *data = &r->of.from.rows[STUDY_MNIST];
    bool fine = study_run_split(&r->of.work.run[0], data, &r->of.error);
    for (int a = 0; a < MNIST_ACTIVATIONS; a++)
        fine = fine && score_all(r, data, a, &r->of.error);
    r->of.broken = !fine;
    sheet_text(
        s,
        "The classifiers of gelu-mnist that were trained without dropout, after their last epoch, each activation at "
        "its best rate by validation loss; uniform noise from -a to a is added to every pixel of the test images, the "
        "same for all networks. Medians over the seeds. Of the paper's curves no numbers are at hand, only its words.");
    judge(r, 2, s);
    judge(r, 1, s);
    study_file(&r->of, "noise.csv", write_noise);
    if (r->of.outcome.complete > 0)
        study_picture(&r->of, s, "study_noise.gp", "noise.svg", "accuracy and log loss over the size of the noise");
    put_table(r, s);
}

/* ---- the study ---- */

/* The runs of gelu-mnist without dropout, at its first two rates. */
static bool add(void *all)
{
    results *r = all;
    study_grid grid = mnist_grids[0];
    grid.factors[1] = "dropout=0";
    grid.rates[2] = 0;
    return study_grids_add(&r->of.work, r->of.c, &grid, 1, &r->of.from);
}

const study study_gelu_noise = {
    .name = "gelu-noise",
    .about = "how robust the classifiers of gelu-mnist are to noisy images",
    .size = sizeof(results),
    .report = report,
    .title = "GELU paper: noise",
    .first = STUDY_MNIST,
    .end = STUDY_MNIST + 1,
    .of = "gelu-mnist",
    .add = add,
};
