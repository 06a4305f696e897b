/* study gelu-autoencoder: the MNIST autoencoder of "Gaussian Error Linear Units" (Hendrycks and Gimpel, arXiv
 * 1606.08415). */
#include "examples/programs/study/study.h"
#include "examples/programs/data/words.h"

#include <math.h>

enum { RATES = 2, MOMENTS = 4, ACTIVATIONS = 3 };

/* Mean squared error over the pixels of the test images, medians of three runs. */
#define AFTER(epoch_25, epoch_50, epoch_100, epoch_250)                                             \
    {                                                                                               \
        {"validation", 25, epoch_25}, {"validation", 50, epoch_50}, {"validation", 100, epoch_100}, \
        {                                                                                           \
            "validation", 250, epoch_250                                                            \
        }                                                                                           \
    }
static const struct {
    tg_activation activation;
    study_mark test[RATES][MOMENTS];
} published[ACTIVATIONS] = {
    {TG_GELU_TANH, {AFTER(.00605, .00529, .00471, .00448), AFTER(NAN, NAN, NAN, .00435)}},
    {TG_ELU, {AFTER(.00847, .00753, .00685, .00620), AFTER(NAN, NAN, NAN, .00491)}},
    {TG_RELU, {AFTER(.01008, .00964, .00951, .00962), AFTER(NAN, NAN, NAN, .00670)}},
};

/* The dead fractions of a finished net's units on the test images: of the code's, and of all hidden ones. */
static void measure_dead(trainer *finished, json_t *results)
{
    const int code = tg_mlp_hidden_count(net_mlp(finished->model)) / 2;
    runlog_measures m;
    tg_dead_units_clear(finished->dead);
    if (!run_measure(finished, &finished->from->test, &m))
        return;
    json_object_set_new(results, "dead_code", json_real(tg_dead_units_fraction_of(finished->dead, code)));
    json_object_set_new(results, "dead", json_real(tg_dead_units_fraction(finished->dead)));
}

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
    .more = measure_dead,
};
static const double *const rates = grid.rates;

typedef struct results {
    study_results of;
    study_cell cell[ACTIVATIONS];
    study_curves curves; /* [RATES * ACTIVATIONS]: of all runs that have begun, with their epochs so far */
} results;

static const study_curve *curve_of(const results *r, int rate, int activation)
{
    return &r->curves.curve[rate * ACTIVATIONS + activation];
}

static void gather(results *r)
{
    const int epochs = r->of.work.run[0].spec.epochs;
    r->curves = (study_curves){"mean squared error", STUDY_TEST_LOSS, STUDY_STEP_LOSS, epochs};
    for (int a = 0; a < ACTIVATIONS; a++)
        r->cell[a] = study_cell_of(&r->of.work, tg_activation_name(published[a].activation), 0);
    for (int rate = 0; rate < RATES; rate++)
        for (int a = 0; a < ACTIVATIONS; a++) {
            study_curve *c = &r->curves.curve[r->curves.count++];
            *c = (study_curve){.name = r->cell[a].name, .rate = rates[rate], .mark = published[a].test[rate]};
            snprintf(c->panel, sizeof c->panel, "rate %g", c->rate);
            c->count = study_cell_records(&r->cell[a], c->rate, true, c->records);
            while (c->marks < MOMENTS && c->mark[c->marks].epoch <= epochs)
                c->marks++;
        }
}

/* ---- the table ---- */

static void put_loss(const study_curve *c, sheet *s, int epoch, double said)
{
    const study_spread ours = study_spread_at(c->records, c->count, epoch, STUDY_TEST_LOSS);
    char text[2][16] = {"", ""};
    if (!isnan(said)) {
        snprintf(text[0], sizeof text[0], "%.5f", said);
        snprintf(text[1], sizeof text[1], "%.2f", ours.median / said);
    }
    if (ours.count)
        sheet_row(s, "%g|%s|%d|%d|%s|%.5f|%.5f to %.5f|%s", c->rate, c->name, epoch, ours.count, text[0],
                  STUDY_SPREAD(ours), text[1]);
}

static void put_losses(const results *r, sheet *s)
{
    sheet_heading(s, "Test error");
    sheet_table(s, 3, "rate|activation|epoch|runs|published|ours|least to greatest|ours / published");
    for (const study_curve *c = r->curves.curve; c < r->curves.curve + r->curves.count; c++) {
        int last = 0;
        for (int i = 0; i < c->count; i++)
            last = c->records[i]->epochs > last ? c->records[i]->epochs : last;
        bool is_moment = false;
        for (const study_mark *m = c->mark; m < c->mark + MOMENTS; m++) {
            put_loss(c, s, m->epoch, m->loss);
            is_moment |= m->epoch == last;
        }
        if (!is_moment) /* the last epoch of the longest run */
            put_loss(c, s, last, NAN);
    }
}

/* ---- dead units ---- */

static void put_dead(const results *r, sheet *s)
{
    sheet_heading(s, "Dead units");
    sheet_text(
        s, "Hidden units whose activation's derivative stays below 0.001 on all test images, after the last epoch: for "
           "ReLU, those that are always zero. Medians of the finished networks, and least to greatest.");
    sheet_table(s, 2, "rate|activation|networks|of the code|least to greatest|of all hidden units|least to greatest");
    for (const study_curve *c = r->curves.curve; c < r->curves.curve + r->curves.count; c++) {
        double code[STUDY_SEEDS], all[STUDY_SEEDS];
        for (int i = 0; i < c->count; i++) {
            code[i] = 100 * study_record_result(c->records[i], "dead_code", 0);
            all[i] = 100 * study_record_result(c->records[i], "dead", 0);
        }
        const study_spread of_code = study_spread_of(code, c->count), of_all = study_spread_of(all, c->count);
        if (of_all.count)
            sheet_row(s, "%g|%s|%d|%.0f %%|%.0f %% to %.0f %%|%.0f %%|%.0f %% to %.0f %%", c->rate, c->name,
                      of_all.count, STUDY_SPREAD(of_code), STUDY_SPREAD(of_all));
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
            const study_curve *c = curve_of(r, 0, a);
            ours[a] = study_spread_at(c->records, c->count, c->mark[m].epoch, STUDY_TEST_LOSS).median;
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
    const study_curve *c[2] = {curve_of(r, 0, 0), curve_of(r, 0, other)};
    double logs[2][STUDY_SEEDS];
    char key[40];
    const int pairs = c[0]->count < c[1]->count ? c[0]->count : c[1]->count;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < pairs; i++)
            logs[k][i] = log(study_record_at(c[k]->records[i], epoch, STUDY_TEST_LOSS));
    const statistics_estimate ratio = statistics_paired(logs[0], logs[1], (size_t)pairs);
    snprintf(key, sizeof key, "gelu_over_%.20s", c[1]->name);
    study_put_estimate(s, key, &ratio);
}

static void judge(const results *r, sheet *s)
{
    double ours[ACTIVATIONS], said[ACTIVATIONS], worst = 1;
    const int m = last_moment(r, ours);
    if (m < 0) {
        sheet_verdict(
            s, "Not all activations have reached epoch %d at rate %g yet: nothing to compare with what is published.",
            published[0].test[0][0].epoch, rates[0]);
        return;
    }
    const int epoch = published[0].test[0][m].epoch;
    bool same_order = true;
    put_ratio(r, s, 1, epoch);
    put_ratio(r, s, 2, epoch);
    for (int a = 0; a < ACTIVATIONS; a++) {
        said[a] = published[a].test[0][m].loss;
        worst = fabs(log(ours[a] / said[a])) > fabs(log(worst)) ? ours[a] / said[a] : worst;
        for (int b = 0; b < a; b++)
            same_order = same_order && (ours[b] < ours[a]) == (said[b] < said[a]);
    }
    sheet_verdict(
        s,
        "At rate %g after %d epoch%s the order of the three is %s; ours is %.2f times the published error where it is "
        "farthest from it. GELU's error is %.2f times ReLU's (published %.2f) and %.2f times ELU's (published %.2f).",
        rates[0], epoch, plural(epoch), same_order ? "the published one" : "not the published one", worst,
        ours[0] / ours[2], said[0] / said[2], ours[0] / ours[1], said[0] / said[1]);
}

/* ---- the study ---- */

static void report(void *all, sheet *s)
{
    results *r = all;
    gather(r);
    sheet_text(s,
               "Protocol (arXiv 1606.08415): 784-1000-500-250-30-250-500-1000-784, the activation on every hidden "
               "layer, the code included; mean squared error over pixels in [0, 1]; initial weights with rows of "
               "length 1; Adam with a constant rate, batch 64, all 60,000 training images; medians of %d seed%s. The "
               "paper trains 250 epochs, this is %d (--epochs takes more, and goes on). GELU is the tanh form.",
               r->cell[0].seeds, plural(r->cell[0].seeds), r->curves.epochs);
    judge(r, s);
    study_put_curves(&r->of, s, &r->curves, "test error over epochs, ours as lines and the published numbers as marks");
    put_losses(r, s);
    put_dead(r, s);
}

const study study_gelu_autoencoder = {
    .name = "gelu-autoencoder",
    .about = "the GELU paper's MNIST autoencoder",
    .size = sizeof(results),
    .report = report,
    .title = "GELU paper: MNIST autoencoder",
    .grids = &grid,
    .grid_count = 1,
};
