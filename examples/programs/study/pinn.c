/* study pinn: Burgers' equation by physics-informed networks, the appendix of "Physics informed deep learning, part I"
 * (Raissi, Perdikaris and Karniadakis, arXiv 1711.10561) and with other activations. */
#include "examples/programs/data/words.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/study/burgers.h"
#include "examples/programs/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACTIVATIONS = 4, SEEDS = 5, EPOCH = 100, TABLES = 2, SIDE = 6 };
enum { RUNS = ACTIVATIONS * SEEDS + TABLES * SIDE * SIDE };
static const tg_activation activations[ACTIVATIONS] = {TG_TANH, TG_SINE, TG_GELU_EXACT, TG_SILU};

/* The paper's two tables of relative errors, each from a single run, of nets with tanh. */
typedef struct table {
    const char *heading, *columns, *over;
    bool of_points;              /* rows are given points, columns inner points; else layers and units */
    int row[SIDE], column[SIDE]; /* ended by 0 */
    double error[SIDE][SIDE];
} table;
static const table tables[TABLES] = {
    {"Hidden layers and units, 100 given and 10,000 inner points, tanh",
     "hidden layers|units|published|ours|ours / published",
     "layers and units",
     false,
     {2, 4, 6, 8},
     {10, 20, 40},
     {{7.4e-2, 5.3e-2, 1.0e-1}, {3.0e-3, 9.4e-4, 6.4e-4}, {9.6e-3, 1.3e-3, 6.1e-4}, {2.5e-3, 9.6e-4, 5.6e-4}}},
    {"Given and inner points, 8 hidden layers of 20 units, tanh",
     "given|inner|published|ours|ours / published",
     "points",
     true,
     {20, 40, 60, 80, 100, 200},
     {2000, 4000, 6000, 7000, 8000, 10000},
     {{2.9e-1, 4.4e-1, 8.9e-1, 1.2e+0, 9.9e-2, 4.2e-2},
      {6.5e-2, 1.1e-2, 5.0e-1, 9.6e-3, 4.6e-1, 7.5e-2},
      {3.6e-1, 1.2e-2, 1.7e-1, 5.9e-3, 1.9e-3, 8.2e-3},
      {5.5e-3, 1.0e-3, 3.2e-3, 7.8e-3, 4.9e-2, 4.5e-3},
      {6.6e-2, 2.7e-1, 7.2e-3, 6.8e-4, 2.2e-3, 6.7e-4},
      {1.5e-1, 2.3e-3, 8.2e-4, 8.9e-4, 6.1e-4, 4.9e-4}}}};

/* A run: its net and its points, as in burgers_draw. */
typedef struct setting {
    tg_activation activation;
    int width, depth, given, inner, seed;
} setting;

/* ---- a run ---- */

typedef struct training {
    tg_tape *tape;
    tg_mlp *net;
    burgers points;
    tg_lbfgs *lbfgs;
} training;

static void describe(const study_run *run, json_t *config)
{
    const setting *s = run->problem;
    json_object_set_new(config, "given", json_integer(s->given));
    json_object_set_new(config, "inner", json_integer(s->inner));
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
    const setting *s = run->problem;
    const tg_rng seed = tg_rng_seed((uint64_t)s->seed);
    tg_rng points = tg_rng_stream(&seed, "points");
    tg_mlp_config config = {
        .inputs = 2, .outputs = 1, .activation = s->activation, .init = TG_INIT_XAVIER_NORMAL, .dtype = TG_F64};
    for (int i = 0; i < s->depth; i++)
        config.hidden[i] = s->width;
    *t = (training){.tape = tg_tape_new(), .net = tg_mlp_new(&seed, &config)};
    t->lbfgs = tg_lbfgs_new(tg_mlp_parameters(t->net),
                            &(tg_lbfgs_config){.history = 50, .change_tolerance = 1e-16, .gradient_tolerance = 1e-12});
    return t->tape && t->lbfgs && burgers_draw(&t->points, s->given, s->inner, &points);
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
    const int most = run->spec.epochs;
    const double start = jobs_clock();
    runlog_epoch *epochs = calloc((size_t)most, sizeof *epochs);
    const bool begun = begin(&t, run) && epochs;
    int count = 0;
    for (bool more = begun; more && count < most; count++) {
        more = advance(&t, (int64_t)(count + 1) * EPOCH);
        epochs[count] = epoch_of(&t, count + 1, jobs_clock() - start);
        jobs_report(link, &(jobs_progress){.fraction = more ? (count + 1.) / most : 1,
                                           .epoch = count + 1,
                                           .epochs = most,
                                           .loss = tg_lbfgs_loss(t.lbfgs),
                                           .accuracy = NAN});
    }
    if (!begun || tg_lbfgs_error(t.lbfgs))
        tg_fail(error, "%s", begun ? tg_lbfgs_error(t.lbfgs) : "out of memory");
    else if (write_epochs(folder, epochs, count, error))
        results = json_pack("{s:I,s:b,s:I}", "parameters", (json_int_t)tg_parameters_size(tg_mlp_parameters(t.net)),
                            "ended", count < most, "evaluations", (json_int_t)tg_lbfgs_evaluations(t.lbfgs));
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
    int seeds, epochs;
    int width, depth, inner; /* of the nets whose activations are compared */
    int most;                /* inner points of the other shapes */
    setting settings[RUNS];  /* of the runs of `work` */
} results;

/* A net of those whose activations are compared. */
static setting compared(const results *r, int activation, int seed)
{
    return (setting){activations[activation], r->width, r->depth, 100, r->inner, seed};
}

/* A net of the paper's tables. */
static setting published(const results *r, const table *t, int row, int column)
{
    if (t->of_points)
        return (setting){TG_TANH, 20, 8, t->row[row], t->column[column], 1};
    return (setting){TG_TANH, t->column[column], t->row[row], 100, r->most, 1};
}

/* The rows or columns of a table: `all`, in the quick version one shape. */
static int side_of(const results *r, const table *t, const int all[SIDE])
{
    int side = 0;
    while (side < SIDE && all[side])
        side++;
    return !r->of.c->settings->quick ? side : t->of_points ? 0 : 1;
}

/* The number of the run with this setting; -1 if there is none. */
static int number_of(const results *r, const setting *of)
{
    int run = 0;
    while (run < r->of.work.count && memcmp(&r->settings[run], of, sizeof *of) != 0)
        run++;
    return run < r->of.work.count ? run : -1;
}

/* The record of a run; NULL if it is not complete. */
static const study_record *record_of(const results *r, setting of)
{
    const study_record *record = &r->of.work.record[number_of(r, &of)];
    return record->complete ? record : NULL;
}

/* The final value of a run; NaN if it is not complete. */
static double end_of(const results *r, study_column column, setting of)
{
    const study_record *record = record_of(r, of);
    return record ? study_record_at(record, r->epochs, column) : NAN;
}

/* Adds the run unless it exists. */
static bool add_run(results *r, setting of)
{
    char text[STUDY_NAME];
    const char *name = tg_activation_name(of.activation);
    const int number = r->of.work.count;
    if (number_of(r, &of) >= 0)
        return true;
    study_run *run = study_work_add(&r->of.work);
    if (!run)
        return false;
    r->settings[number] = of;
    *run = (study_run){.spec = study_spec(), .trainer = &lbfgs_trainer, .problem = &r->settings[number]};
    snprintf(run->name, STUDY_NAME, "%s-%dx%d-given%d-inner%d-seed%d", name, of.width, of.depth, of.given, of.inner,
             of.seed);
    snprintf(text, sizeof text, "%dx%d-%d", of.width, of.depth, of.inner);
    run->group = net_keep_text(text);
    snprintf(text, sizeof text, "%dx%d", of.width, of.depth);
    run_spec *s = &run->spec;
    s->data = "burgers";
    s->net.hidden = net_keep_text(text);
    s->net.activation = name;
    s->net.init = tg_init_name(TG_INIT_XAVIER_NORMAL);
    s->optimizer = "lbfgs";
    s->lr = 1;
    s->epochs = r->epochs;
    s->seed = of.seed;
    return run->group && s->net.hidden;
}

static bool add_activations(results *r, int first, int last)
{
    bool fine = true;
    for (int seed = first; seed <= last && seed <= r->seeds; seed++)
        for (int a = 0; a < ACTIVATIONS; a++)
            fine = fine && add_run(r, compared(r, a, seed));
    return fine;
}

/* The longest runs first. */
static bool add_table(results *r, const table *t)
{
    bool fine = true;
    for (int column = side_of(r, t, t->column) - 1; column >= 0; column--)
        for (int row = side_of(r, t, t->row) - 1; row >= 0; row--)
            fine = fine && add_run(r, published(r, t, row, column));
    return fine;
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

static void put_curves(results *r, sheet *s)
{
    study_curves all = {"relative error", STUDY_TEST_LOSS, STUDY_STEP_LOSS, r->epochs, .count = ACTIVATIONS};
    for (int a = 0; a < ACTIVATIONS; a++) {
        study_curve *c = &all.curve[a];
        *c = (study_curve){.name = tg_activation_name(activations[a]), .rate = 1};
        snprintf(c->panel, sizeof c->panel, "an epoch is %d steps", EPOCH);
        for (int seed = 1; seed <= r->seeds; seed++)
            if ((c->records[c->count] = record_of(r, compared(r, a, seed))))
                c->count++;
    }
    study_put_curves(&r->of, s, &all,
                     "relative error over the steps, medians of the seeds and least to greatest; dashed, the loss");
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
                      STUDY_RATIO(ratio[a]), n, p[a]);
    }
    put_curves(r, s);
    sheet_heading(s, "Activations");
    sheet_table(s, 1, "activation|seeds|relative error|95 % interval|times tanh's|loss");
    logarithms(r, STUDY_STEP_LOSS, log_loss);
    for (int a = 0; a < ACTIVATIONS; a++)
        sheet_row(s, "%s|%d|%.2g|%.2g to %.2g|%.2f|%.1e", tg_activation_name(activations[a]), n, STUDY_RATIO(of[a]),
                  exp(ratio[a].mean), exp(statistics_of(log_loss[a], (size_t)n).mean));
}

/* ---- the paper's tables ---- */

/* Our errors beside the published ones; both are single runs. */
static void put_table(const results *r, sheet *s, const table *t)
{
    int count = 0, near = 0;
    double logarithm = 0;
    sheet_heading(s, t->heading);
    sheet_table(s, 2, t->columns);
    for (int row = 0; row < side_of(r, t, t->row); row++)
        for (int column = 0; column < side_of(r, t, t->column); column++) {
            const double ours = end_of(r, STUDY_TEST_LOSS, published(r, t, row, column)),
                         theirs = t->error[row][column];
            if (isnan(ours))
                continue;
            sheet_row(s, "%d|%d|%.1e|%.1e|%.2g", t->row[row], t->column[column], theirs, ours, ours / theirs);
            count++;
            near += ours / theirs < 2 && theirs / ours < 2;
            logarithm += log(ours / theirs);
        }
    if (count)
        sheet_verdict(s,
                      "Of %d published error%s over %s %d %s met within a factor of 2; ours are %.2g times theirs in "
                      "the geometric mean.",
                      count, plural(count), t->over, near, near == 1 ? "is" : "are", exp(logarithm / count));
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
    for (int i = 0; i < TABLES; i++)
        put_table(r, s, &tables[i]);
}

static bool add(void *all)
{
    results *r = all;
    const study_settings *s = r->of.c->settings;
    const bool quick = s->quick;
    r->seeds = quick ? 2 : SEEDS;
    r->epochs = s->epochs ? s->epochs : quick ? 1 : 50;
    r->inner = quick ? 50 : 2000;
    r->most = quick ? 50 : 10000;
    r->width = quick ? 10 : 20;
    r->depth = quick ? 2 : 4;
    return add_activations(r, 1, 2) && add_table(r, &tables[0]) && add_activations(r, 3, SEEDS) &&
           add_table(r, &tables[1]);
}

const study study_pinn = {
    .name = "pinn",
    .about = "Burgers' equation by physics-informed networks",
    .size = sizeof(results),
    .report = report,
    .title = "Burgers' equation by networks that know it",
    .add = add,
};
