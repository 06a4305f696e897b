/* study siren: an image as a network of its coordinates, with sines against other activations, and its derivatives
 * (Sitzmann, Martel, Bergman, Lindell and Wetzstein, "Implicit neural representations with periodic activation
 * functions", arXiv 2006.09661). */
#include "examples/programs/data/internal.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, PIXELS = SIDE * SIDE, ACTIVATIONS = 4, RATES = 4, SEEDS = 5, GRIDS = 2 };
enum { IMAGE, GRADIENT, LAPLACIAN, MEASURES };
enum { PARTS = 4 * PIXELS }; /* f, f_x, f_y and f_xx + f_yy, one after the other */

static const tg_activation activations[ACTIVATIONS] = {TG_SINE, TG_RELU, TG_TANH, TG_GELU_EXACT};

/* All pixels are one batch, and an epoch is one step. Sine has its own initial weights. */
#define GRID(initialiser, activation)                                                                               \
    {                                                                                                               \
        .fixed = "hidden=64x4 validation=none test=none batch=4096 epochs=500 init=" initialiser,                   \
        .quick = "hidden=16x2 epochs=20", .factors = {"activation=" activation}, .rates = {1e-3, 3e-3, 1e-2, 3e-2}, \
        .seeds = SEEDS, .quick_rates = 1, .keeps_model = true                                                       \
    }
static const study_grid grids[GRIDS] = {GRID("siren", "sine"), GRID("variance_preserving", "relu,tanh,gelu_exact")};
static const double *const rates = grids[0].rates;

static const struct {
    const char *name;
    int from, count; /* numbers of the parts */
} measures[MEASURES] = {{"image", 0, PIXELS}, {"gradient", PIXELS, 2 * PIXELS}, {"Laplacian", 3 * PIXELS, PIXELS}};

typedef struct results {
    study_results of;
    study_cell cell[ACTIVATIONS];
    int steps, seeds, rates;
    double psnr[ACTIVATIONS][RATES][MEASURES][SEEDS];   /* after the last step; NaN if a seed is not complete */
    int best[ACTIVATIONS][MEASURES];                    /* the rate with the highest mean; -1: none is complete */
    double pictures[1 + ACTIVATIONS][MEASURES][PIXELS]; /* of the image, and of the nets of seed 1 that are best at the
                                                           gradient */
    double truth[PARTS];
} results;

/* ---- the image ---- */

/* Brightness where x and y are between -1 and 1: rings that become finer outwards, a disc with soft edges, a patch of
 * stripes, and a slope. */
static tg_tensor image(tg_tensor x, tg_tensor y)
{
    const tg_tensor rings = tg_add(tg_square(x), tg_square(y));
    const tg_tensor disc = tg_add(tg_square(tg_add_scalar(x, -0.4)), tg_square(tg_add_scalar(y, 0.4)));
    const tg_tensor patch = tg_add(tg_square(tg_add_scalar(x, 0.5)), tg_square(tg_add_scalar(y, -0.5)));
    const tg_tensor wave = tg_add(tg_mul_scalar(x, 25), tg_mul_scalar(y, 12));
    tg_tensor sum = tg_mul_scalar(tg_mul(tg_sin(tg_mul_scalar(rings, 30)), tg_exp(tg_mul_scalar(rings, -2))), 0.5);
    sum = tg_add(sum, tg_mul_scalar(tg_tanh(tg_add_scalar(tg_mul_scalar(disc, -50), 4)), 0.3));
    sum = tg_add(sum, tg_mul_scalar(tg_mul(tg_sin(wave), tg_exp(tg_mul_scalar(patch, -4))), 0.2));
    return tg_add(sum, tg_mul_scalar(x, 0.1));
}

/* The middle of pixel i, from -1 to 1. */
static double middle(int i)
{
    return (2. * i + 1) / SIDE - 1;
}

/* All parts of a net or, without one, of the image. False if memory runs out. */
static bool differentiate(const tg_model *net, double out[PARTS])
{
    static double exactly[2][PIXELS];
    static float roughly[2][PIXELS]; /* in float, like nets */
    for (int i = 0; i < PIXELS; i++) {
        roughly[0][i] = (float)(exactly[0][i] = middle(i % SIDE));
        roughly[1][i] = (float)(exactly[1][i] = middle(i / SIDE));
    }
    tg_tape *tape = tg_tape_new();
    tg_tensor place[2];
    for (int i = 0; i < 2; i++)
        place[i] = net ? tg_borrow(tape, TG_F32, roughly[i], TG_SHAPE(PIXELS, 1))
                       : tg_borrow(tape, TG_F64, exactly[i], TG_SHAPE(PIXELS, 1));
    const tg_tensor f = net ? tg_model_forward(net, tg_concat(place, 2, 1), NULL) : image(place[0], place[1]);
    tg_tensor first[2] = {TG_NONE, TG_NONE}, second[2] = {TG_NONE, TG_NONE};
    tg_grad(&f, 1, place, 2, NULL, true, first);
    for (int i = 0; i < 2; i++)
        tg_grad(&first[i], 1, &place[i], 1, NULL, false, &second[i]);
    const tg_tensor parts[] = {f, first[0], first[1], tg_add(second[0], second[1])};
    bool fine = true;
    for (int i = 0; i < 4; i++)
        fine = fine && tg_read(parts[i], TG_F64, out + i * PIXELS, PIXELS);
    tg_tape_free(tape);
    return fine;
}

static double range_of(const double values[], int count)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return high - low;
}

static double decibels(double range, double mean_squared_error)
{
    return 10 * log10(range * range / mean_squared_error);
}

static double psnr(const double truth[], const double ours[], int count)
{
    double squares = 0;
    for (int i = 0; i < count; i++)
        squares += (truth[i] - ours[i]) * (truth[i] - ours[i]);
    return decibels(range_of(truth, count), squares / count);
}

/* For the picture: the image, the length of its gradient, its Laplacian. */
static void keep_pictures(const double of[PARTS], double to[MEASURES][PIXELS])
{
    for (int i = 0; i < PIXELS; i++) {
        to[IMAGE][i] = of[i];
        to[GRADIENT][i] = hypot(of[PIXELS + i], of[2 * PIXELS + i]);
        to[LAPLACIAN][i] = of[3 * PIXELS + i];
    }
}

/* ---- the runs ---- */

static bool make_data(const results *r, dataset *data)
{
    *data = (dataset){.task = DATASET_REGRESSION, .rows = PIXELS, .features = 2, .targets = 1};
    data->name = dataset_text(&data->memory, "rings");
    const bool made = data->name && dataset_allocate(data, false, NULL);
    for (int i = 0; made && i < PIXELS; i++) {
        data->x[2 * i] = (float)middle(i % SIDE);
        data->x[2 * i + 1] = (float)middle(i / SIDE);
        data->y[i] = (float)r->truth[i];
    }
    return made;
}

/* The PSNR of the image just before a step, the first of which is number 1. */
static double psnr_at(const results *r, int activation, int rate, int seed, int step)
{
    const study_record *record = study_cell_record(&r->cell[activation], rates[rate], seed);
    return record ? decibels(range_of(r->truth, PIXELS), study_record_at(record, step, STUDY_STEP_LOSS)) : NAN;
}

/* Over the seeds. */
static statistics_estimate estimate_at(const results *r, int activation, int rate, int step)
{
    double values[SEEDS];
    for (int seed = 1; seed <= r->seeds; seed++)
        values[seed - 1] = psnr_at(r, activation, rate, seed, step);
    return statistics_of(values, (size_t)r->seeds);
}

static double mean_of(const results *r, int activation, int rate, int measure)
{
    return statistics_of(r->psnr[activation][rate][measure], (size_t)r->seeds).mean;
}

/* Measures a net, whose parts are written into `parts`; NaN if its run is not complete, or diverged. False and one line
 * if it cannot be read. */
static bool measure(results *r, int activation, int rate, int seed, double parts[PARTS], tg_error *error)
{
    const bool there = !isnan(psnr_at(r, activation, rate, seed, r->steps));
    tg_model *net = there ? study_cell_net(&r->cell[activation], rates[rate], seed, error) : NULL;
    const bool measured = net && (differentiate(net, parts) || tg_fail(error, "out of memory"));
    tg_model_free(net);
    for (int m = 0; m < MEASURES; m++) {
        const int from = measures[m].from;
        r->psnr[activation][rate][m][seed - 1] =
            measured ? psnr(r->truth + from, parts + from, measures[m].count) : NAN;
    }
    return measured || !there;
}

/* The rate with the highest mean; -1 if none is complete. */
static int best_rate(const results *r, int activation, int measure)
{
    int best = -1;
    for (int rate = 0; rate < r->rates; rate++) {
        const double mean = mean_of(r, activation, rate, measure);
        if (best < 0 ? !isnan(mean) : mean > mean_of(r, activation, best, measure))
            best = rate;
    }
    return best;
}

/* Sets `complete` if every activation has a best rate. False and one line if a net cannot be read. */
static bool gather(results *r, bool *complete, tg_error *error)
{
    static double ours[PARTS];
    bool fine = true;
    *complete = true;
    r->steps = r->of.work.run[0].spec.epochs;
    keep_pictures(r->truth, r->pictures[0]);
    for (int a = 0; a < ACTIVATIONS && fine; a++) {
        r->cell[a] = study_cell_of(&r->of.work, tg_activation_name(activations[a]), 0);
        r->seeds = r->cell[a].seeds;
        r->rates = r->cell[a].rates;
        for (int rate = 0; rate < r->rates; rate++)
            for (int seed = 1; seed <= r->seeds; seed++)
                fine = fine && measure(r, a, rate, seed, ours, error);
        for (int m = 0; m < MEASURES; m++)
            r->best[a][m] = best_rate(r, a, m);
        *complete = *complete && r->best[a][IMAGE] >= 0;
        if (fine && r->best[a][GRADIENT] >= 0) {
            fine = measure(r, a, r->best[a][GRADIENT], 1, ours, error);
            keep_pictures(ours, r->pictures[1 + a]);
        }
    }
    return fine;
}

/* ---- the report ---- */

static const double *best_of(const results *r, int activation, int measure)
{
    return r->psnr[activation][r->best[activation][measure]][measure];
}

static statistics_estimate best_estimate(const results *r, int activation, int measure)
{
    return statistics_of(best_of(r, activation, measure), (size_t)r->seeds);
}

static void put_psnr(const results *r, sheet *s)
{
    sheet_heading(s, "PSNR in dB, each activation at the rate that is best for each column");
    sheet_table(s, 1, "activation|image|95 % interval|gradient|95 % interval|Laplacian|95 % interval");
    for (int a = 0; a < ACTIVATIONS; a++) {
        statistics_estimate e[MEASURES];
        for (int m = 0; m < MEASURES; m++)
            e[m] = best_estimate(r, a, m);
        sheet_row(s, "%s|%.2f|%.2f to %.2f|%.2f|%.2f to %.2f|%.2f|%.2f to %.2f", tg_activation_name(activations[a]),
                  STUDY_INTERVAL(e[IMAGE]), STUDY_INTERVAL(e[GRADIENT]), STUDY_INTERVAL(e[LAPLACIAN]));
    }
}

static void put_rates(const results *r, sheet *s)
{
    sheet_heading(s, "At each rate, means of the seeds: the image over the steps, and all three at the end");
    sheet_table(s, 2, "activation|rate|image, step 10|a tenth of all|half of all|all|gradient|Laplacian");
    for (int a = 0; a < ACTIVATIONS; a++)
        for (int rate = 0; rate < r->rates; rate++)
            sheet_row(s, "%s|%g|%.2f|%.2f|%.2f|%.2f|%.2f|%.2f", tg_activation_name(activations[a]), rates[rate],
                      estimate_at(r, a, rate, 10).mean, estimate_at(r, a, rate, r->steps / 10).mean,
                      estimate_at(r, a, rate, r->steps / 2).mean, mean_of(r, a, rate, IMAGE),
                      mean_of(r, a, rate, GRADIENT), mean_of(r, a, rate, LAPLACIAN));
}

/* The difference between sine and the best of the others. */
static void judge_measure(const results *r, sheet *s, int measure)
{
    char key[64];
    int other = 1;
    for (int a = 2; a < ACTIVATIONS; a++)
        if (best_estimate(r, a, measure).mean > best_estimate(r, other, measure).mean)
            other = a;
    const statistics_estimate gain =
        statistics_paired(best_of(r, 0, measure), best_of(r, other, measure), (size_t)r->seeds);
    sheet_verdict(
        s, "Do sines fit the %s better (the paper: yes)? %s: %+.2f ± %.2f dB against %s, the best of the others.",
        measures[measure].name,
        gain.mean - gain.margin > 0   ? "Yes"
        : gain.mean + gain.margin < 0 ? "No, worse"
                                      : "Not shown",
        gain.mean, gain.margin, tg_activation_name(activations[other]));
    snprintf(key, sizeof key, "gain_%s", measures[measure].name);
    sheet_number(s, key, gain.mean);
}

static void judge(const results *r, sheet *s)
{
    const int fine = r->best[0][IMAGE], smooth = r->best[0][GRADIENT];
    const statistics_estimate relu = statistics_paired(best_of(r, 0, IMAGE), best_of(r, 1, IMAGE), (size_t)r->seeds);
    for (int m = 0; m < MEASURES; m++)
        judge_measure(r, s, m);
    if (fine != smooth)
        sheet_verdict(s,
                      "For sines the rate that is best for the image, %g, is not the best for its gradient, %g: there "
                      "the image has %.2f dB and its gradient %.2f, here %.2f and %.2f.",
                      rates[fine], rates[smooth], mean_of(r, 0, fine, IMAGE), mean_of(r, 0, fine, GRADIENT),
                      mean_of(r, 0, smooth, IMAGE), mean_of(r, 0, smooth, GRADIENT));
    sheet_verdict(s,
                  "Sine less ReLU on the image: %+.2f ± %.2f dB. The paper shows images as curves only; as numbers it "
                  "gives 29.90 and 25.12 dB, a difference of 4.78 dB, for a video and a larger net.",
                  relu.mean, relu.margin);
}

/* ---- the picture ---- */

static bool write_curves(const void *context, FILE *to)
{
    const results *r = context;
    fputs("curve,step,mean,low,high\n", to);
    for (int a = 0; a < ACTIVATIONS; a++)
        for (int step = 1; step <= r->steps; step = step < 20 ? step + 1 : step + step / 20) {
            const statistics_estimate e = estimate_at(r, a, r->best[a][GRADIENT], step);
            fprintf(to, "%s,%d,%.6g,%.6g,%.6g\n", tg_activation_name(activations[a]), step, STUDY_INTERVAL(e));
        }
    return true;
}

static bool write_images(const void *context, FILE *to)
{
    const results *r = context;
    fputs("net,x,y,image,gradient,laplacian\n", to);
    for (int n = 0; n <= ACTIVATIONS; n++)
        for (int i = 0; i < PIXELS; i++)
            fprintf(to, "%s,%d,%d,%.4g,%.4g,%.4g\n", n ? tg_activation_name(activations[n - 1]) : "true", i % SIDE,
                    i / SIDE, r->pictures[n][IMAGE][i], r->pictures[n][GRADIENT][i], r->pictures[n][LAPLACIAN][i]);
    return true;
}

/* ---- the study ---- */

static void report(void *all, sheet *s)
{
    results *r = all;
    bool complete;
    r->of.broken = !gather(r, &complete, &r->of.error);
    sheet_text(s,
               "A net learns the grey value at a pixel's coordinates, which are between -1 and 1: an image of %d x %d "
               "pixels by a formula, whose derivatives are known. %s units in a hidden layer; mean squared error over "
               "all pixels; Adam, %d steps; %d seed%s. Sine begins with the paper's weights (omega_0 = 30), the others "
               "with those that preserve the variance; biases begin at zero. The paper's nets have five layers of 256. "
               "The PSNR is 10 log10(range^2 / mean squared error), with the range of the true image, of the parts of "
               "its gradient, or of its Laplacian; nets see neither gradient nor Laplacian in training.",
               SIDE, SIDE, r->of.work.run[0].spec.net.hidden, r->steps, r->seeds, plural(r->seeds));
    if (!complete) {
        sheet_text(s, "Each activation needs a rate with all of its seeds before there is anything to compare.");
        return;
    }
    judge(r, s);
    study_file(&r->of, "curves.csv", write_curves, r);
    study_file(&r->of, "images.csv", write_images, r);
    study_picture(&r->of, s, "study_siren.gp", "siren.svg",
                  "PSNR of the image over the steps; the image, the length of its gradient and its Laplacian, true and "
                  "by each net, at the rate that is best for the gradient");
    put_psnr(r, s);
    put_rates(r, s);
}

static bool add(void *all)
{
    results *r = all;
    return differentiate(NULL, r->truth) &&
           make_data(r, &r->of.from.source[0].data) && /* in place of the first table */
           study_grids_add(&r->of.work, grids, GRIDS, &r->of.from);
}

const study study_siren = {
    .name = "siren",
    .about = "an image and its derivatives by networks of sines",
    .size = sizeof(results),
    .report = report,
    .title = "SIREN: an image and its derivatives by networks of sines",
    .add = add,
};
