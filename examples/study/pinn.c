/* study pinn: Burgers' equation by physics-informed networks, the appendix of "Physics informed deep learning, part I"
 * (Raissi, Perdikaris and Karniadakis, arXiv 1711.10561) and with other activations. */
#include "examples/data/words.h"
#include "examples/report/statistics.h"
#include "examples/study/burgers.h"
#include "examples/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACTIVATIONS = 4, SEEDS = 5, DEPTHS = 4, WIDTHS = 3, GIVENS = 6, INNERS = 6, EPOCH = 100 };
static const tg_activation activations[ACTIVATIONS] = {TG_TANH, TG_SINE, TG_GELU_EXACT, TG_SILU};

/* The paper's two tables of relative errors, each from a single run. The first varies hidden layers and units, with 100
 * given and 10,000 inner points. The second varies given and inner points, with 8 hidden layers of 20 units. */
static const int depths[DEPTHS] = {2, 4, 6, 8}, widths[WIDTHS] = {10, 20, 40},
                 givens[GIVENS] = {20, 40, 60, 80, 100, 200}, inners[INNERS] = {2000, 4000, 6000, 7000, 8000, 10000};
static const double by_shape[DEPTHS][WIDTHS] = {
    {7.4e-2, 5.3e-2, 1.0e-1}, {3.0e-3, 9.4e-4, 6.4e-4}, {9.6e-3, 1.3e-3, 6.1e-4}, {2.5e-3, 9.6e-4, 5.6e-4}};
static const double by_points[GIVENS][INNERS] = {
    {2.9e-1, 4.4e-1, 8.9e-1, 1.2e+0, 9.9e-2, 4.2e-2}, {6.5e-2, 1.1e-2, 5.0e-1, 9.6e-3, 4.6e-1, 7.5e-2},
    {3.6e-1, 1.2e-2, 1.7e-1, 5.9e-3, 1.9e-3, 8.2e-3}, {5.5e-3, 1.0e-3, 3.2e-3, 7.8e-3, 4.9e-2, 4.5e-3},
    {6.6e-2, 2.7e-1, 7.2e-3, 6.8e-4, 2.2e-3, 6.7e-4}, {1.5e-1, 2.3e-3, 8.2e-4, 8.9e-4, 6.1e-4, 4.9e-4}};

/* The training points of a run, and its net. */
typedef struct problem {
    int width, depth, given, inner; /* layers of so many units; burgers_draw */
    char hidden[16], group[32];     /* "20x4"; group of runs that take about the same time */
} problem;

/* ---- a run ---- */

typedef struct training {
    tg_tape *tape;
    tg_mlp *net;
    burgers points;
    tg_lbfgs *lbfgs;
} training;

static void describe(const study_run *run, json_t *config)
{
    const problem *p = run->problem;
    json_object_set_new(config, "given", json_integer(p->given));
    json_object_set_new(config, "inner", json_integer(p->inner));
}

static bool loss_of(void *context, double *loss)
{
    const training *t = context;
    tg_tape_reset(t->tape);
    const tg_tensor mean = burgers_loss(t->tape, t->net, &t->points);
    *loss = tg_item(mean);
    return tg_backward(mean);
}

/* Points and weights follow from the seed. Like the paper's program it keeps 50 pairs, and ends when the loss changes
 * by less than rounding. */
static bool begin(training *t, const study_run *run)
{
    const problem *p = run->problem;
    const tg_rng seed = tg_rng_seed((uint64_t)run->spec.seed);
    tg_rng points = tg_rng_stream(&seed, "points");
    tg_mlp_config config = {.inputs = 2, .outputs = 1, .init = TG_INIT_XAVIER_NORMAL, .dtype = TG_F64};
    for (int i = 0; i < p->depth; i++)
        config.hidden[i] = p->width;
    tg_activation_from_name(run->spec.net.activation, &config.activation);
    *t = (training){.tape = tg_tape_new(), .net = tg_mlp_new(&seed, &config)};
    t->lbfgs = tg_lbfgs_new(tg_mlp_parameters(t->net),
                            &(tg_lbfgs_config){.history = 50, .change_tolerance = 1e-16, .gradient_tolerance = 1e-12});
    return t->tape && t->lbfgs && burgers_draw(&t->points, p->given, p->inner, &points);
}

static void end(training *t)
{
    tg_lbfgs_free(t->lbfgs);
    tg_mlp_free(t->net);
    tg_tape_free(t->tape);
    burgers_free(&t->points);
}

/* Trains up to step `steps`; true if more steps may follow. */
static bool advance(training *t, int64_t steps)
{
    bool more = true;
    while (more && tg_lbfgs_steps(t->lbfgs) < steps)
        more = tg_lbfgs_step(t->lbfgs, loss_of, t);
    return more;
}

static runlog_epoch epoch_of(const training *t, int epoch, double seconds)
{
    return (runlog_epoch){.epoch = epoch,
                          .step = (long)tg_lbfgs_steps(t->lbfgs),
                          .train_loss = tg_lbfgs_loss(t->lbfgs),
                          .val_loss = NAN,
                          .val_accuracy = NAN,
                          .grad_norm = NAN,
                          .dead_fraction = NAN,
                          .whole_train_loss = NAN,
                          .seconds = seconds,
                          .test = {burgers_error(t->net), NAN, NAN, NAN, NAN, NAN}};
}

/* Fills `epochs`; returns the number of epochs until it converged, -1 on an error. */
static int go(training *t, const study_run *run, runlog_epoch *epochs, jobs_link *link)
{
    const double start = jobs_clock();
    bool more = true;
    int count = 0;
    while (more && count < run->spec.epochs) {
        more = advance(t, (int64_t)(count + 1) * EPOCH);
        if (tg_lbfgs_error(t->lbfgs))
            return -1;
        epochs[count] = epoch_of(t, count + 1, jobs_clock() - start);
        count++;
        const jobs_progress now = {.fraction = more ? (double)count / run->spec.epochs : 1,
                                   .epoch = count,
                                   .epochs = run->spec.epochs,
                                   .loss = tg_lbfgs_loss(t->lbfgs),
                                   .accuracy = NAN};
        jobs_report(link, &now);
    }
    return count;
}

/* Writes all epochs at the end. A run that was interrupted, or is to be longer, starts again; a complete shorter record
 * stays until then. */
static bool write_epochs(const char *folder, const runlog_epoch *epochs, int count, tg_error *error)
{
    record_files files;
    bool fine = record_continue(&files, folder, 0, false, error);
    for (int i = 0; fine && i < count; i++)
        if (!record_put_epoch(&files, &epochs[i]))
            fine = tg_fail(error, "%.400s/curves.csv: cannot be written", folder);
    record_close(&files);
    return fine;
}

static json_t *train(const study_run *run, const char *folder, jobs_link *link, tg_error *error)
{
    training t;
    json_t *results = NULL;
    runlog_epoch *epochs = calloc((size_t)run->spec.epochs, sizeof *epochs);
    const bool begun = begin(&t, run);
    const int count = begun && epochs ? go(&t, run, epochs, link) : -1;
    if (count < 0)
        tg_fail(error, "%s", begun && epochs ? tg_lbfgs_error(t.lbfgs) : "out of memory");
    else if (write_epochs(folder, epochs, count, error))
        results =
            json_pack("{s:I,s:b,s:I}", "parameters", (json_int_t)tg_parameters_size(tg_mlp_parameters(t.net)), "ended",
                      count < run->spec.epochs, "evaluations", (json_int_t)tg_lbfgs_evaluations(t.lbfgs));
    free(epochs);
    end(&t);
    return results;
}

static double seconds(const study_run *run)
{
    training t;
    double start = 0;
    if (begin(&t, run) && advance(&t, 2)) {
        start = jobs_clock();
        advance(&t, 6);
        start = jobs_clock() - start;
    }
    end(&t);
    return start * EPOCH / 4;
}

static const study_trainer lbfgs_trainer = {describe, train, seconds};

/* ---- the runs ---- */

typedef struct results {
    study_results of;
    int seeds, epochs, depths, widths, givens, inners;
    int width, depth, inner; /* of the nets whose activations are compared */
    int most;                /* inner points of the other shapes */
} results;

typedef struct setting {
    tg_activation activation;
    int width, depth, given, inner, seed;
} setting;

static void name_of(char name[STUDY_NAME], const setting *s)
{
    snprintf(name, STUDY_NAME, "%s-%dx%d-given%d-inner%d-seed%d", tg_activation_name(s->activation), s->width, s->depth,
             s->given, s->inner, s->seed);
}

/* A net of those whose activations are compared. */
static setting compared(const results *r, int activation, int seed)
{
    return (setting){activations[activation], r->width, r->depth, 100, r->inner, seed};
}

/* Lasts until the end of the program. */
static const problem *problem_of(const setting *s)
{
    static problem problems[DEPTHS * WIDTHS + GIVENS * INNERS + 1];
    problem *p = problems;
    while (p->width && (p->width != s->width || p->depth != s->depth || p->given != s->given || p->inner != s->inner))
        p++;
    *p = (problem){s->width, s->depth, s->given, s->inner, "", ""};
    snprintf(p->hidden, sizeof p->hidden, "%dx%d", s->width, s->depth);
    snprintf(p->group, sizeof p->group, "%dx%d-%d", s->width, s->depth, s->inner);
    return p;
}

/* Adds the run unless it exists. */
static bool add_run(results *r, setting of)
{
    char name[STUDY_NAME];
    const problem *p = problem_of(&of);
    name_of(name, &of);
    if (study_work_number(&r->of.work, name) >= 0)
        return true;
    study_run *run = study_work_add(&r->of.work);
    if (!run)
        return false;
    *run = (study_run){.group = p->group, .spec = study_spec(), .trainer = &lbfgs_trainer, .problem = p};
    strcpy(run->name, name);
    run_spec *s = &run->spec;
    s->data = "burgers";
    s->net.hidden = p->hidden;
    s->net.activation = tg_activation_name(of.activation);
    s->net.init = tg_init_name(TG_INIT_XAVIER_NORMAL);
    s->optimizer = "lbfgs";
    s->lr = 1;
    s->epochs = r->epochs;
    s->seed = of.seed;
    return true;
}

static bool add_activations(results *r, int first, int last)
{
    bool fine = true;
    for (int seed = first; seed <= last && seed <= r->seeds; seed++)
        for (int a = 0; a < ACTIVATIONS; a++)
            fine = fine && add_run(r, compared(r, a, seed));
    return fine;
}

static bool add_runs(results *r)
{
    bool fine = add_activations(r, 1, 2);
    for (int d = 0; d < r->depths; d++)
        for (int w = 0; w < r->widths; w++)
            fine = fine && add_run(r, (setting){TG_TANH, widths[w], depths[d], 100, r->most, 1});
    fine = fine && add_activations(r, 3, SEEDS);
    for (int n = r->inners - 1; n >= 0; n--)
        for (int g = r->givens - 1; g >= 0; g--)
            fine = fine && add_run(r, (setting){TG_TANH, 20, 8, givens[g], inners[n], 1});
    return fine;
}

/* The final value of a run; NaN if it is not complete. */
static double end_of(const results *r, study_column column, setting of)
{
    char name[STUDY_NAME];
    name_of(name, &of);
    const int run = study_work_number(&r->of.work, name);
    const study_record *record = run < 0 ? NULL : &r->of.work.record[run];
    return record && study_record_complete(record, r->epochs) ? study_record_at(record, record->epochs, column) : NAN;
}

/* ---- activations ---- */

/* Logarithms of the final values of the seeds that all activations have; returns their number. */
static int logarithms(const results *r, study_column column, double values[ACTIVATIONS][SEEDS])
{
    int count = 0;
    for (int seed = 1; seed <= r->seeds; seed++) {
        bool all = true;
        for (int a = 0; a < ACTIVATIONS; a++) {
            values[a][count] = log(end_of(r, column, compared(r, a, seed)));
            all = all && !isnan(values[a][count]);
        }
        count += all;
    }
    return count;
}

/* If a run ended before the last epoch, its error stays constant. */
static bool write_curves(const void *context, FILE *to)
{
    const results *r = context;
    fputs("panel,curve,measure,rate,epoch,median,low,high,train\n", to);
    for (int a = 0; a < ACTIVATIONS; a++)
        for (int e = 1; e <= r->epochs; e++) {
            double errors[SEEDS], losses[SEEDS];
            int n = 0;
            for (int seed = 1; seed <= r->seeds; seed++) {
                char name[STUDY_NAME];
                const setting of = compared(r, a, seed);
                name_of(name, &of);
                const study_record *record = &r->of.work.record[study_work_number(&r->of.work, name)];
                const int at = e < record->epochs ? e : record->epochs;
                if (!study_record_complete(record, r->epochs))
                    continue;
                errors[n] = study_record_at(record, at, STUDY_TEST_LOSS);
                losses[n++] = study_record_at(record, at, STUDY_STEP_LOSS);
            }
            const study_spread error = study_spread_of(errors, n);
            if (n)
                fprintf(to, "an epoch is %d steps,%s,relative error,1,%d,%.6g,%.6g,%.6g,%.6g\n", EPOCH,
                        tg_activation_name(activations[a]), e, error.median, error.low, error.high,
                        study_spread_of(losses, n).median);
        }
    return true;
}

static bool write_published(const void *context, FILE *to)
{
    (void)context;
    return fputs("panel,curve,kind,epoch,loss\n", to) != EOF;
}

static void put_activations(results *r, sheet *s)
{
    double log_error[ACTIVATIONS][SEEDS], log_loss[ACTIVATIONS][SEEDS], p[ACTIVATIONS];
    statistics_estimate of[ACTIVATIONS], ratio[ACTIVATIONS];
    const int n = logarithms(r, STUDY_TEST_LOSS, log_error);
    if (n < 2) {
        sheet_text(s, "Two seeds of all activations must be complete before there is anything to compare.");
        return;
    }
    for (int a = 0; a < ACTIVATIONS; a++) {
        of[a] = statistics_of(log_error[a], (size_t)n);
        ratio[a] = statistics_paired(log_error[a], log_error[0], (size_t)n);
        p[a] = statistics_compare(log_error[a], log_error[0], (size_t)n).p;
    }
    statistics_holm(p + 1, ACTIVATIONS - 1);
    for (int a = 1; a < ACTIVATIONS; a++) {
        sheet_verdict(s,
                      "Is %s better than tanh, the paper's? %s: %.2f times the error (%.2f to %.2f) over %d seeds, p = "
                      "%.2g, corrected for three questions.",
                      tg_activation_name(activations[a]),
                      !(p[a] < 0.05)      ? "Not shown"
                      : ratio[a].mean < 0 ? "Yes"
                                          : "No, worse",
                      exp(ratio[a].mean), exp(ratio[a].mean - ratio[a].margin), exp(ratio[a].mean + ratio[a].margin), n,
                      p[a]);
    }
    study_file(&r->of, "curves.csv", write_curves);
    study_file(&r->of, "published.csv", write_published);
    study_picture(&r->of, s, "study_curves.gp", "curves.svg",
                  "relative error over the steps, medians of the seeds and least to greatest; dashed, the loss");
    sheet_heading(s, "Activations");
    sheet_table(s, 1, "activation|seeds|relative error|95 % interval|times tanh's|loss");
    logarithms(r, STUDY_STEP_LOSS, log_loss);
    for (int a = 0; a < ACTIVATIONS; a++)
        sheet_row(s, "%s|%d|%.2g|%.2g to %.2g|%.2f|%.1e", tg_activation_name(activations[a]), n, exp(of[a].mean),
                  exp(of[a].mean - of[a].margin), exp(of[a].mean + of[a].margin), exp(ratio[a].mean),
                  exp(statistics_of(log_loss[a], (size_t)n).mean));
}

/* ---- the paper's tables ---- */

/* Our errors compared with the published ones; both are single runs. */
typedef struct agreement {
    int count, near; /* within a factor of 2 */
    double logarithms;
} agreement;

static void put_pair(sheet *s, agreement *a, const char *row, double published, double ours)
{
    if (isnan(ours))
        return;
    sheet_row(s, "%s|%.1e|%.1e|%.2g", row, published, ours, ours / published);
    a->count++;
    a->near += ours / published < 2 && published / ours < 2;
    a->logarithms += log(ours / published);
}

static void judge_agreement(sheet *s, const char *table, const agreement *a)
{
    if (a->count)
        sheet_verdict(s,
                      "Of %d published error%s over %s %d %s met within a factor of 2; ours are %.2g times theirs in "
                      "the geometric mean.",
                      a->count, plural(a->count), table, a->near, a->near == 1 ? "is" : "are",
                      exp(a->logarithms / a->count));
}

static void put_shapes(const results *r, sheet *s)
{
    agreement a = {0};
    char row[80];
    sheet_heading(s, "Hidden layers and units, 100 given and 10,000 inner points, tanh");
    sheet_table(s, 2, "hidden layers|units|published|ours|ours / published");
    for (int d = 0; d < r->depths; d++)
        for (int w = 0; w < r->widths; w++) {
            snprintf(row, sizeof row, "%d|%d", depths[d], widths[w]);
            put_pair(s, &a, row, by_shape[d][w],
                     end_of(r, STUDY_TEST_LOSS, (setting){TG_TANH, widths[w], depths[d], 100, r->most, 1}));
        }
    judge_agreement(s, "layers and units", &a);
}

static void put_points(const results *r, sheet *s)
{
    agreement a = {0};
    char row[80];
    sheet_heading(s, "Given and inner points, 8 hidden layers of 20 units, tanh");
    sheet_table(s, 2, "given|inner|published|ours|ours / published");
    for (int g = 0; g < r->givens; g++)
        for (int n = 0; n < r->inners; n++) {
            snprintf(row, sizeof row, "%d|%d", givens[g], inners[n]);
            put_pair(s, &a, row, by_points[g][n],
                     end_of(r, STUDY_TEST_LOSS, (setting){TG_TANH, 20, 8, givens[g], inners[n], 1}));
        }
    judge_agreement(s, "points", &a);
}

static void report(void *all, sheet *s)
{
    results *r = all;
    sheet_text(s,
               "u_t + u u_x = (0.01 / pi) u_xx with u(0, x) = -sin(pi x) and u(t, -1) = u(t, 1) = 0, as in arXiv "
               "1711.10561: the loss is the mean squared error at 100 given points of the initial and boundary values "
               "plus the mean square of the equation's residual at inner points, a Latin hypercube and the edges. "
               "Derivatives by t and x are the tape's. L-BFGS in double with a history of 50, at most %d steps (the "
               "paper: 50,000 by another program's L-BFGS, in single precision); weights by Xavier. Activations have "
               "%d hidden layers of %d units and %d inner points. The error is that of the net relative to the "
               "solution on a grid of %d places and %d times, in the Euclidean norm.",
               r->epochs * EPOCH, r->depth, r->width, r->inner, BURGERS_PLACES, BURGERS_TIMES);
    put_activations(r, s);
    put_shapes(r, s);
    put_points(r, s);
}

static bool add(void *all)
{
    results *r = all;
    const study_settings *s = r->of.c->settings;
    const bool quick = s->quick;
    r->seeds = quick ? 2 : SEEDS;
    r->epochs = s->epochs ? s->epochs : quick ? 1 : 50;
    r->depths = quick ? 1 : DEPTHS;
    r->widths = quick ? 1 : WIDTHS;
    r->givens = quick ? 0 : GIVENS;
    r->inners = quick ? 0 : INNERS;
    r->inner = quick ? 50 : 2000;
    r->most = quick ? 50 : 10000;
    r->width = quick ? 10 : 20;
    r->depth = quick ? 2 : 4;
    return add_runs(r);
}

const study study_pinn = {
    .name = "pinn",
    .about = "Burgers' equation by physics-informed networks",
    .size = sizeof(results),
    .report = report,
    .title = "Burgers' equation by networks that know it",
    .add = add,
    .no_data = true,
};
