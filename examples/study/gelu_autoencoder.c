/* study gelu-autoencoder: the MNIST autoencoder of "Gaussian Error Linear Units" (Hendrycks and Gimpel, arXiv
 * 1606.08415). */
#include "examples/data/feed.h"
#include "examples/study/study.h"
#include "examples/data/words.h"

#include <math.h>

enum { RATES = 2, MOMENTS = 4, ACTIVATIONS = 3 };
static const int moments[MOMENTS] = {25, 50, 100, 250};

/* Mean squared error over the pixels of the test images, medians of three runs, and of the training images after epoch
 * 250. */
static const struct {
    tg_activation activation;
    double test[RATES][MOMENTS], train[RATES];
} published[ACTIVATIONS] = {
    {TG_GELU_TANH, {{.00605, .00529, .00471, .00448}, {NAN, NAN, NAN, .00435}}, {.00365, .00338}},
    {TG_ELU, {{.00847, .00753, .00685, .00620}, {NAN, NAN, NAN, .00491}}, {.00592, .00443}},
    {TG_RELU, {{.01008, .00964, .00951, .00962}, {NAN, NAN, NAN, .00670}}, {.0069, .00517}},
};

static const study_grid grid = {
    .data = STUDY_MNIST,
    .fixed = "hidden=1000,500,250,30,250,500,1000 init=unit_rows validation=none batch=64 epochs=50 drop-last=1 "
             "train-loss-every=25",
    .quick = "hidden=16,4,16 batch=16 epochs=2",
    .factors = {"activation=gelu_tanh,elu,relu"},
    .rates = {1e-3, 1e-4},
    .seeds = 3,
    .keeps_model = true,
    .reconstructs = true,
};
static const double *const rates = grid.rates;

typedef struct results {
    study_results of;
    const dataset *data;
    int epochs;
} results;

static study_cell cell_of(const results *r, int activation)
{
    return study_cell_of(&r->of.work, r->of.c, &grid, tg_activation_name(published[activation].activation), 0);
}

/* All runs that have begun; an unfinished one counts with its epochs so far. */
static int records_of(const results *r, int activation, int rate, const study_record *records[STUDY_SEEDS])
{
    const study_cell cell = cell_of(r, activation);
    return study_cell_records(&cell, rates[rate], true, records);
}

/* ---- the table ---- */

static void put_losses(const results *r, sheet *s)
{
    sheet_heading(s, "Test error");
    sheet_table(s, 3, "rate|activation|epoch|runs|published|ours|least to greatest|ours / published");
    for (int rate = 0; rate < RATES; rate++)
        for (int a = 0; a < ACTIVATIONS; a++) {
            const study_record *records[STUDY_SEEDS];
            const int n = records_of(r, a, rate, records);
            int last = 0;
            for (int i = 0; i < n; i++)
                last = records[i]->epochs > last ? records[i]->epochs : last;
            for (int m = 0; m <= MOMENTS; m++) {
                const int epoch = m < MOMENTS ? moments[m] : last; /* and the last epoch of the longest run */
                const bool also = m < MOMENTS || (last != 25 && last != 50 && last != 100 && last != 250);
                const double said = m < MOMENTS ? published[a].test[rate][m] : NAN;
                const study_spread ours = study_spread_at(records, n, epoch, STUDY_TEST_LOSS);
                char text[2][16] = {"", ""};
                if (!isnan(said)) {
                    snprintf(text[0], sizeof text[0], "%.5f", said);
                    snprintf(text[1], sizeof text[1], "%.2f", ours.median / said);
                }
                if (also && ours.count)
                    sheet_row(s, "%g|%s|%d|%d|%s|%.5f|%.5f to %.5f|%s", rates[rate],
                              tg_activation_name(published[a].activation), epoch, ours.count, text[0], ours.median,
                              ours.low, ours.high, text[1]);
            }
        }
}

/* ---- dead units ---- */

typedef struct looked {
    const tg_mlp *net;
    tg_dead_units *dead;
} looked;

static tg_tensor look(void *context, const tg_tensor *batch, tg_rng *training, double *score)
{
    const looked *l = context;
    tg_mlp_trace trace;
    const tg_tensor output = tg_mlp_forward_with(l->net, batch[0], training, &trace);
    (void)score;
    tg_dead_units_see(l->dead, &trace);
    return tg_mse(output, batch[0]);
}

/* The dead fraction of a finished run's units on the test images: of the code's, and of all hidden ones. False if its
 * state was not kept. */
static bool count_dead(const results *r, const study_run *run, double *code, double *all)
{
    tg_error error;
    dataset_feed images = {r->data, &r->data->test};
    const tg_fit_rows rows = dataset_feed_rows(&images);
    tg_model *model = study_run_net(run, r->of.work.folder, &error);
    looked l = {.net = model ? net_mlp(model) : NULL};
    double loss;
    l.dead = tg_dead_units_new(l.net);
    tg_fit *fit = l.dead ? tg_fit_new(&(tg_fit_config){.loss = look, .model = &l, .batch = 500}) : NULL;
    const bool seen = fit && tg_fit_evaluate(fit, &rows, &loss, NULL);
    *code = tg_dead_units_fraction_of(l.dead, tg_mlp_hidden_count(l.net) / 2);
    *all = tg_dead_units_fraction(l.dead);
    tg_fit_free(fit);
    tg_dead_units_free(l.dead);
    tg_model_free(model);
    return seen;
}

static void put_dead(const results *r, sheet *s)
{
    sheet_heading(s, "Dead units");
    sheet_text(
        s, "Hidden units whose activation's derivative stays below 0.001 on all test images, after the last epoch: for "
           "ReLU, those that are always zero. Medians of the networks whose state is kept, and least to greatest.");
    sheet_table(s, 2, "rate|activation|networks|of the code|least to greatest|of all hidden units|least to greatest");
    for (int rate = 0; rate < RATES; rate++)
        for (int a = 0; a < ACTIVATIONS; a++) {
            double code[STUDY_SEEDS], all[STUDY_SEEDS];
            int n = 0;
            const study_cell cell = cell_of(r, a);
            for (int seed = 1; seed <= cell.seeds; seed++) {
                const study_run *run = study_cell_run(&cell, rates[rate], seed);
                n += run && count_dead(r, run, &code[n], &all[n]);
            }
            const study_spread of_code = study_spread_of(code, n), of_all = study_spread_of(all, n);
            if (n)
                sheet_row(s, "%g|%s|%d|%.0f %%|%.0f %% to %.0f %%|%.0f %%|%.0f %% to %.0f %%", rates[rate],
                          tg_activation_name(published[a].activation), n, 100 * of_code.median, 100 * of_code.low,
                          100 * of_code.high, 100 * of_all.median, 100 * of_all.low, 100 * of_all.high);
        }
}

/* ---- the verdict ---- */

/* The last published moment at which all activations have a run at the first rate; the medians there. -1 if there is
 * none. */
static int last_moment(const results *r, double ours[ACTIVATIONS])
{
    for (int m = MOMENTS - 1; m >= 0; m--) {
        bool all = true;
        for (int a = 0; a < ACTIVATIONS; a++) {
            const study_record *records[STUDY_SEEDS];
            ours[a] = study_spread_at(records, records_of(r, a, 0, records), moments[m], STUDY_TEST_LOSS).median;
            all = all && !isnan(ours[a]);
        }
        if (all)
            return m;
    }
    return -1;
}

/* GELU's test error over another's at the first rate after an epoch: the logarithm, paired by seed. */
static void put_ratio(const results *r, sheet *s, int other, int epoch)
{
    const study_record *records[2][STUDY_SEEDS];
    const int n[2] = {records_of(r, 0, 0, records[0]), records_of(r, other, 0, records[1])};
    double logs[2][STUDY_SEEDS];
    char key[40];
    const int pairs = n[0] < n[1] ? n[0] : n[1];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < pairs; i++)
            logs[k][i] = log(study_record_at(records[k][i], epoch, STUDY_TEST_LOSS));
    const statistics_estimate ratio = statistics_paired(logs[0], logs[1], (size_t)pairs);
    snprintf(key, sizeof key, "gelu_over_%s", tg_activation_name(published[other].activation));
    study_put_estimate(s, key, &ratio);
}

static void judge(const results *r, sheet *s)
{
    double ours[ACTIVATIONS], worst = 1;
    const int m = last_moment(r, ours);
    if (m < 0) {
        sheet_verdict(
            s, "Not all activations have reached epoch %d at rate %g yet: nothing to compare with what is published.",
            moments[0], rates[0]);
        return;
    }
    bool same_order = true;
    put_ratio(r, s, 1, moments[m]);
    put_ratio(r, s, 2, moments[m]);
    for (int a = 0; a < ACTIVATIONS; a++) {
        const double ratio = ours[a] / published[a].test[0][m];
        worst = fabs(log(ratio)) > fabs(log(worst)) ? ratio : worst;
        for (int b = 0; b < a; b++)
            same_order = same_order && (ours[b] < ours[a]) == (published[b].test[0][m] < published[a].test[0][m]);
    }
    sheet_verdict(
        s,
        "At rate %g after %d epoch%s the order of the three is %s; ours is %.2f times the published error where it is "
        "farthest from it. GELU's error is %.2f times ReLU's (published %.2f) and %.2f times ELU's (published %.2f).",
        rates[0], moments[m], plural(moments[m]), same_order ? "the published one" : "not the published one", worst,
        ours[0] / ours[2], published[0].test[0][m] / published[2].test[0][m], ours[0] / ours[1],
        published[0].test[0][m] / published[1].test[0][m]);
}

/* ---- the picture ---- */

static bool write_curves(const void *context, FILE *to)
{
    const results *r = context;
    fputs("panel,curve,measure,rate,epoch,median,low,high,train\n", to);
    for (int rate = 0; rate < RATES; rate++)
        for (int a = 0; a < ACTIVATIONS; a++) {
            const study_record *records[STUDY_SEEDS];
            const int n = records_of(r, a, rate, records);
            for (int e = 1; e <= r->epochs; e++) {
                const study_spread loss = study_spread_at(records, n, e, STUDY_TEST_LOSS),
                                   train = study_spread_at(records, n, e, STUDY_STEP_LOSS);
                if (loss.count)
                    fprintf(to, "rate %g,%s,mean squared error,%g,%d,%.6g,%.6g,%.6g,%.6g\n", rates[rate],
                            tg_activation_name(published[a].activation), rates[rate], e, loss.median, loss.low,
                            loss.high, train.median);
            }
        }
    return true;
}

static bool write_published(const void *context, FILE *to)
{
    const results *r = context;
    fputs("panel,curve,kind,epoch,loss\n", to);
    for (int rate = 0; rate < RATES; rate++)
        for (int a = 0; a < ACTIVATIONS; a++)
            for (int m = 0; m < MOMENTS; m++)
                if (moments[m] <= r->epochs && !isnan(published[a].test[rate][m]))
                    fprintf(to, "rate %g,%s,validation,%d,%g\n", rates[rate],
                            tg_activation_name(published[a].activation), moments[m], published[a].test[rate][m]);
    return true;
}

/* ---- the study ---- */

static void report(void *all, sheet *s)
{
    results *r = all;
    dataset *data = &r->of.from.rows[STUDY_MNIST];
    bool begun = false;
    r->data = data;
    r->epochs = r->of.work.run[0].spec.epochs;
    r->of.broken = !study_run_split(&r->of.work.run[0], data, &r->of.error);
    for (int i = 0; i < r->of.work.count; i++)
        begun |= r->of.work.record[i].epochs > 0;
    sheet_text(s,
               "Protocol (arXiv 1606.08415): 784-1000-500-250-30-250-500-1000-784, the activation on every hidden "
               "layer, the code included; mean squared error over pixels in [0, 1]; initial weights with rows of "
               "length 1; Adam with a constant rate, batch 64, all 60,000 training images; medians of %d seed%s. The "
               "paper trains 250 epochs, this is %d (--epochs takes more, and goes on). GELU is the tanh form.",
               cell_of(r, 0).seeds, plural(cell_of(r, 0).seeds), r->epochs);
    judge(r, s);
    study_file(&r->of, "curves.csv", write_curves);
    study_file(&r->of, "published.csv", write_published);
    if (begun)
        study_picture(&r->of, s, "study_curves.gp", "curves.svg",
                      "test error over epochs, ours as lines and the published numbers as marks");
    put_losses(r, s);
    put_dead(r, s);
}

const study study_gelu_autoencoder = {
    .name = "gelu-autoencoder",
    .about = "the GELU paper's MNIST autoencoder",
    .size = sizeof(results),
    .report = report,
    .title = "GELU paper: MNIST autoencoder",
    .first = STUDY_MNIST,
    .end = STUDY_MNIST + 1,
    .grids = &grid,
    .grid_count = 1,
};
