/* study migration: from ReLU to GELU to SwiGLU. What does a network gain from another activation, at the existing
 * learning rate and at the best one? */
#include "examples/programs/report/statistics.h"
#include "examples/programs/study/study.h"
#include "examples/programs/data/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OLD_RATE 1e-3 /* learning rate of the existing network */

/* FRESH: runs of glu-tabular from initial weights, which share its records. EXISTING: the networks to migrate. TUNED:
 * runs that continue from their files. */
enum { FRESH, EXISTING, TUNED, STAGES };
static const study_grid stages[STAGES] = {
    {STUDY_ON_TABLES, .factors = {"activation=relu,gelu_exact,swiglu", "norm=none"}, .rates = STUDY_TABLE_RATES,
     .seeds = 3},
    {STUDY_ON_TABLES, .name = "-existing", .factors = {"activation=relu"}, .rates = {1e-3}, .seeds = 3,
     .keeps_model = true},
    {STUDY_ON_TABLES, .name = "-from-relu-to", .factors = {"activation=relu,gelu_exact"},
     .rates = {1e-3, 1e-4, 3e-4, 3e-3}, .seeds = 3},
};

/* The compared losses, in the order of the table's columns. */
enum { OLD, RELU, GELU_OLD, GELU, SWIGLU_OLD, SWIGLU, ON_RELU, ON_GELU_OLD, ON_GELU, LINES };

typedef struct results {
    study_results of;         /* its work and outcome are those of the last stage */
    study_work before[TUNED]; /* each stage builds on the one before */
    bool complete;            /* all of the first and the last */
    int sets, seeds;
    double loss[LINES][STUDY_TABLES][STUDY_SEEDS]; /* logarithms of the test losses */
} results;

/* ---- the runs ---- */

/* The file of the existing network of a table and seed. */
static const char *file_of(const results *r, int set, int seed)
{
    char path[PATH_MAX + STUDY_NAME];
    snprintf(path, sizeof path, "%s/%s%s-relu-lr%g-seed%d/last.safetensors", r->of.c->records, r->of.from.name[set],
             stages[EXISTING].name, OLD_RATE, seed);
    return net_keep_text(path);
}

/* A cell of a stage, on a table. */
static study_cell cell_of(const results *r, int stage, int set, const char *name)
{
    char full[STUDY_NAME];
    const study_work *work = stage < TUNED ? &r->before[stage] : &r->of.work;
    const char *suffix = stages[stage].name;
    snprintf(full, sizeof full, "%s%s-%s", r->of.from.name[set], suffix ? suffix : "", name);
    return study_cell_of(work, full, 0);
}

static bool add_runs(results *r)
{
    bool fine = study_grids_add(&r->of.work, &stages[TUNED], 1, &r->of.from);
    for (int stage = 0; stage < TUNED; stage++)
        fine = fine && study_grids_add(&r->before[stage], &stages[stage], 1, &r->of.from);
    for (int i = 0; i < r->of.work.count; i++) {
        study_run *run = &r->of.work.run[i];
        run->spec.start = file_of(r, (int)(run->from - r->of.from.source), run->spec.seed);
        fine = fine && run->spec.start;
    }
    return fine;
}

/* And does the work of the first stages. */
static bool add(void *all)
{
    results *r = all;
    study_outcome *outcome = &r->of.outcome;
    int failed = 0;
    r->before[FRESH] = r->of.work;
    r->before[EXISTING] = r->of.work = study_work_of(r->of.c);
    if (!add_runs(r))
        return false;
    for (int stage = 0; stage < TUNED && !outcome->interrupted && !outcome->broken; stage++) {
        *outcome = study_work_do(&r->before[stage], stderr);
        failed += outcome->failed;
        r->complete = stage == FRESH ? outcome->complete == r->before[stage].count : r->complete;
    }
    outcome->failed = failed;
    outcome->complete = 0;
    return true;
}

/* ---- results ---- */

static const struct {
    const char *says, *name; /* of the cell */
    int stage;
    double rate; /* 0: the best by validation */
} lines[LINES] = {
    [OLD] = {"ReLU, rate 0.001", "relu-none", FRESH, OLD_RATE},
    [RELU] = {"ReLU, its rate", "relu-none", FRESH, 0},
    [GELU_OLD] = {"GELU, rate 0.001", "gelu_exact-none", FRESH, OLD_RATE},
    [GELU] = {"GELU, its rate", "gelu_exact-none", FRESH, 0},
    [SWIGLU_OLD] = {"SwiGLU, rate 0.001", "swiglu-none", FRESH, OLD_RATE},
    [SWIGLU] = {"SwiGLU, its rate", "swiglu-none", FRESH, 0},
    [ON_RELU] = {"file: ReLU goes on", "relu", TUNED, 0},
    [ON_GELU_OLD] = {"file: GELU, rate 0.001", "gelu_exact", TUNED, OLD_RATE},
    [ON_GELU] = {"file: GELU, its rate", "gelu_exact", TUNED, 0},
};

static void gather(results *r)
{
    for (int i = 0; i < LINES; i++)
        for (int set = 0; set < r->sets; set++) {
            const study_cell cell = cell_of(r, lines[i].stage, set, lines[i].name);
            study_cell_losses(&cell, lines[i].rate > 0 ? lines[i].rate : cell.best, r->loss[i][set]);
        }
}

static void put_losses(const results *r, sheet *s)
{
    sheet_heading(s, "Test loss, geometric mean over the seeds");
    sheet_table(s, 1, "table");
    for (int i = 0; i < LINES; i++)
        sheet_column(s, lines[i].says);
    for (int set = 0; set < r->sets; set++) {
        sheet_row(s, "%s", r->of.from.name[set]);
        for (int i = 0; i < LINES; i++)
            sheet_cell(s, "%.4f", exp(statistics_of(r->loss[i][set], (size_t)r->seeds).mean));
    }
}

/* Steps of the migration; those with a key are judged. */
static const struct {
    int to, from;
    const char *says, *key, *question;
} steps[] = {
    {RELU, OLD, "ReLU: rate retuned", NULL, NULL},
    {GELU_OLD, OLD, "ReLU to GELU, old rate kept", NULL, NULL},
    {GELU, RELU, "ReLU to GELU, both at their own rates", "relu_to_gelu",
     "Replacing ReLU by GELU, both at their own rates"},
    {SWIGLU_OLD, GELU_OLD, "GELU to SwiGLU, old rate kept", NULL, NULL},
    {SWIGLU, GELU, "GELU to SwiGLU, both at their own rates", "gelu_to_swiglu",
     "Replacing GELU by SwiGLU at equal parameters, both at their own rates"},
    {ON_GELU_OLD, ON_RELU, "existing file: GELU put in, old rate, against ReLU going on", NULL, NULL},
    {ON_GELU, ON_RELU, "existing file: GELU put in, own rate, against ReLU going on", "file_relu_to_gelu",
     "Putting GELU into a trained ReLU network and training on, against training on as it is,"},
    {ON_GELU, GELU, "existing file with GELU put in, against GELU from the beginning", NULL, NULL},
};
enum { STEPS = sizeof steps / sizeof *steps };

static void judge(const study_change change[STEPS], int tables, sheet *s)
{
    for (int i = 0; i < STEPS; i++) {
        const statistics_estimate ratio = change[i].ratio;
        if (!steps[i].key)
            continue;
        study_put_estimate(s, steps[i].key, &ratio); /* of logarithms */
        sheet_verdict(s, "%s changes the test loss by %+.1f %% (95 %% interval over %d table%s %+.1f to %+.1f %%): %s.",
                      steps[i].question, 100 * expm1(ratio.mean), tables, plural(tables),
                      100 * expm1(ratio.mean - ratio.margin), 100 * expm1(ratio.mean + ratio.margin),
                      !(fabs(ratio.mean) > ratio.margin) ? "no gain is shown"
                      : ratio.mean < 0                   ? "a gain"
                                                         : "a loss");
    }
}

static void put_steps(const study_change change[STEPS], sheet *s)
{
    sheet_heading(s, "What each step gains");
    sheet_text(s, "Test loss after the step over test loss before it: geometric mean over the tables and its 95 %% "
                  "interval (below 1 is a gain); and on how many tables it falls or rises significantly (t tests of "
                  "the logarithms, paired by seed, corrected by Holm's method).");
    sheet_table(s, 1, "step|ratio|95 %|tables with a gain|with a loss");
    for (int i = 0; i < STEPS; i++) {
        const statistics_estimate ratio = change[i].ratio;
        sheet_row(s, "%s|%.3f|%.3f to %.3f|%d|%d", steps[i].says, STUDY_RATIO(ratio), change[i].lower,
                  change[i].higher);
    }
}

static void compare(results *r, sheet *s)
{
    study_change change[STEPS];
    gather(r);
    for (int i = 0; i < STEPS; i++)
        change[i] = study_change_of(r->loss[steps[i].to], r->loss[steps[i].from], r->sets, r->seeds);
    sheet_text(s,
               "The network that is there: two hidden layers of 64 with ReLU, trained with Adam at rate %g. Each "
               "activation is trained from initial weights at that rate and at the best of %d by validation; GELU "
               "(exact) is also put into the trained ReLU network's file, which is then trained on, as ReLU itself is, "
               "at that rate and at the best of %d. SwiGLU has other matrices, as many parameters, and no use for the "
               "file. %d seed%s, each with parts of its own.",
               OLD_RATE, cell_of(r, FRESH, 0, "relu-none").rates, cell_of(r, TUNED, 0, "relu").rates, r->seeds,
               plural(r->seeds));
    judge(change, r->sets, s);
    put_steps(change, s);
    put_losses(r, s);
}

static void report(void *all, sheet *s)
{
    results *r = all;
    r->sets = study_tables(r->of.c);
    r->seeds = cell_of(r, FRESH, 0, "relu-none").seeds;
    if (r->complete && r->of.outcome.complete == r->of.work.count)
        compare(r, s);
    else
        sheet_text(s, "What is compared is not complete yet.");
    for (int stage = 0; stage < TUNED; stage++)
        study_work_free(&r->before[stage]);
}
const study study_migration = {
    .name = "migration",
    .about = "what a ReLU network gains from GELU and SwiGLU",
    .size = sizeof(results),
    .report = report,
    .title = "Migration: ReLU, GELU, SwiGLU",
    .of = "glu-tabular",
    .grids = stages,
    .grid_count = STAGES,
    .add = add,
    .staged = true,
};
