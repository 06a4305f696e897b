/* study migration: from ReLU to GELU to SwiGLU. What does a network gain from another activation, at the existing
 * learning rate and at the best one? */
#include "examples/report/statistics.h"
#include "examples/study/tabular.h"
#include "examples/data/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double old_rate = 1e-3; /* learning rate of the existing network */

/* FRESH: runs of glu-tabular from initial weights, which share its records. EXISTING: the networks to migrate. TUNED:
 * runs that continue from their files. */
enum { FRESH, EXISTING, TUNED, STAGES };
static const study_grid stages[STAGES] = {
    {.factors = {"activation=relu,gelu_exact,swiglu", "norm=none"}, .rates = {TABULAR_RATE_LIST}, .seeds = 3},
    {.name = "-existing", .factors = {"activation=relu"}, .rates = {1e-3}, .seeds = 3, .keeps_model = true},
    {.name = "-from-relu-to", .factors = {"activation=relu,gelu_exact"}, .rates = {1e-3, 1e-4, 3e-4, 3e-3}, .seeds = 3},
};

typedef struct results {
    study_results of; /* its work and outcome are those of the last stage */
    study_context fresh;
    study_work before[TUNED]; /* each stage builds on the one before */
    bool complete;            /* all of the first and the last */
    tabular_grids grids[STAGES];
    int sets, seeds;
} results;

/* ---- the runs ---- */

/* The file of the existing network of a table and seed. */
static const char *file_of(const results *r, int set, int seed)
{
    char path[PATH_MAX + STUDY_NAME];
    snprintf(path, sizeof path, "%s/%s-relu-lr%g-seed%d/last.safetensors", r->of.c->records,
             r->grids[EXISTING].grid[set].name, old_rate, seed);
    return net_keep_text(path);
}

static const study_work *work_of(const results *r, int stage)
{
    return stage < TUNED ? &r->before[stage] : &r->of.work;
}

static bool add_runs(results *r)
{
    bool fine = true;
    for (int stage = 0; stage < STAGES; stage++) {
        study_work *work = stage < TUNED ? &r->before[stage] : &r->of.work;
        const tabular_grids *grids = &r->grids[stage];
        r->grids[stage] = tabular_grids_of(r->of.c, &r->of.from, &stages[stage]);
        fine = fine && study_grids_add(work, r->of.c, grids->grid, grids->count, &r->of.from);
    }
    for (int i = 0; i < r->of.work.count; i++) {
        study_run *run = &r->of.work.run[i];
        run->spec.start = file_of(r, (int)(run->data - r->of.from.rows), run->spec.seed);
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
    if (!study_context_of(&r->fresh, r->of.c->settings, "glu-tabular", r->of.c->command)) {
        outcome->broken = 2;
        return !tg_fail(&outcome->error, "--out: the name is too long");
    }
    r->before[FRESH] = study_work_of(&r->fresh);
    r->before[EXISTING] = study_work_of(r->of.c);
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

typedef struct line {
    double loss[STUDY_SEEDS], rate; /* logarithms of the test losses by seed */
} line;

/* The runs with a name at a rate or, for rate 0, at the best rate by validation. */
static line line_of(const results *r, int stage, int set, const char *name, double rate)
{
    const study_cell cell = tabular_cell(work_of(r, stage), r->of.c, &r->grids[stage], set, name, 0);
    line l = {.rate = rate > 0 ? rate : cell.best};
    study_cell_losses(&cell, l.rate, l.loss);
    return l;
}

/* For a set: the compared losses, in the order of the table's columns. */
enum { OLD, RELU, GELU_OLD, GELU, SWIGLU_OLD, SWIGLU, ON_RELU, ON_GELU_OLD, ON_GELU, LINES };
static const char *const says[LINES] = {"ReLU, rate 0.001",   "ReLU, its rate",         "GELU, rate 0.001",
                                        "GELU, its rate",     "SwiGLU, rate 0.001",     "SwiGLU, its rate",
                                        "file: ReLU goes on", "file: GELU, rate 0.001", "file: GELU, its rate"};

static void lines_of(const results *r, int set, line lines[LINES])
{
    static const char *const names[] = {"relu-none", "gelu_exact-none", "swiglu-none"};
    for (int a = 0; a < 3; a++) {
        lines[OLD + 2 * a] = line_of(r, FRESH, set, names[a], old_rate);
        lines[RELU + 2 * a] = line_of(r, FRESH, set, names[a], 0);
    }
    lines[ON_RELU] = line_of(r, TUNED, set, "relu", 0);
    lines[ON_GELU_OLD] = line_of(r, TUNED, set, "gelu_exact", old_rate);
    lines[ON_GELU] = line_of(r, TUNED, set, "gelu_exact", 0);
}

static void put_losses(const results *r, sheet *s)
{
    char text[500];
    sheet_heading(s, "Test loss, geometric mean over the seeds");
    int used = snprintf(text, sizeof text, "table");
    for (int i = 0; i < LINES; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "|%s", says[i]);
    sheet_table(s, 1, text);
    for (int set = 0; set < r->sets; set++) {
        line lines[LINES];
        lines_of(r, set, lines);
        used = snprintf(text, sizeof text, "%s", r->of.from.name[set]);
        for (int i = 0; i < LINES; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, "|%.4f",
                             exp(statistics_of(lines[i].loss, (size_t)r->seeds).mean));
        sheet_row(s, "%s", text);
    }
}

/* A step of the migration: the ratio of the losses of two lines, over all sets. */
static void put_step(const results *r, sheet *s, const char *what, int to, int from)
{
    double logs[STUDY_TABLES], p[STUDY_TABLES];
    int lower = 0, higher = 0;
    for (int set = 0; set < r->sets; set++) {
        line lines[LINES];
        lines_of(r, set, lines);
        logs[set] = statistics_paired(lines[to].loss, lines[from].loss, (size_t)r->seeds).mean;
        p[set] = statistics_compare(lines[to].loss, lines[from].loss, (size_t)r->seeds).p;
    }
    statistics_holm(p, (size_t)r->sets);
    for (int set = 0; set < r->sets; set++) {
        lower += p[set] < 0.05 && logs[set] < 0;
        higher += p[set] < 0.05 && logs[set] > 0;
    }
    const statistics_estimate ratio = statistics_of(logs, (size_t)r->sets);
    sheet_row(s, "%s|%.3f|%.3f to %.3f|%d|%d", what, exp(ratio.mean), exp(ratio.mean - ratio.margin),
              exp(ratio.mean + ratio.margin), lower, higher);
}

static void put_steps(const results *r, sheet *s)
{
    sheet_heading(s, "What each step gains");
    sheet_text(s, "Test loss after the step over test loss before it: geometric mean over the tables and its 95 %% "
                  "interval (below 1 is a gain); and on how many tables it falls or rises significantly (t tests of "
                  "the logarithms, paired by seed, corrected by Holm's method).");
    sheet_table(s, 1, "step|ratio|95 %|tables with a gain|with a loss");
    put_step(r, s, "ReLU: rate retuned", RELU, OLD);
    put_step(r, s, "ReLU to GELU, old rate kept", GELU_OLD, OLD);
    put_step(r, s, "ReLU to GELU, both at their own rates", GELU, RELU);
    put_step(r, s, "GELU to SwiGLU, old rate kept", SWIGLU_OLD, GELU_OLD);
    put_step(r, s, "GELU to SwiGLU, both at their own rates", SWIGLU, GELU);
    put_step(r, s, "existing file: GELU put in, old rate, against ReLU going on", ON_GELU_OLD, ON_RELU);
    put_step(r, s, "existing file: GELU put in, own rate, against ReLU going on", ON_GELU, ON_RELU);
    put_step(r, s, "existing file with GELU put in, against GELU from the beginning", ON_GELU, GELU);
}

static void judge(const results *r, sheet *s)
{
    static const struct {
        int to, from;
        const char *key, *what;
    } questions[] = {
        {GELU, RELU, "relu_to_gelu", "Replacing ReLU by GELU, both at their own rates"},
        {SWIGLU, GELU, "gelu_to_swiglu", "Replacing GELU by SwiGLU at equal parameters, both at their own rates"},
        {ON_GELU, ON_RELU, "file_relu_to_gelu",
         "Putting GELU into a trained ReLU network and training on, against training on as it is,"}};
    for (size_t q = 0; q < sizeof questions / sizeof questions[0]; q++) {
        double logs[STUDY_TABLES];
        for (int set = 0; set < r->sets; set++) {
            line lines[LINES];
            lines_of(r, set, lines);
            logs[set] =
                statistics_paired(lines[questions[q].to].loss, lines[questions[q].from].loss, (size_t)r->seeds).mean;
        }
        const statistics_estimate ratio = statistics_of(logs, (size_t)r->sets);
        study_put_estimate(s, questions[q].key, &ratio); /* of logarithms */
        sheet_verdict(s, "%s changes the test loss by %+.1f %% (95 %% interval over %d table%s %+.1f to %+.1f %%): %s.",
                      questions[q].what, 100 * expm1(ratio.mean), r->sets, plural(r->sets),
                      100 * expm1(ratio.mean - ratio.margin), 100 * expm1(ratio.mean + ratio.margin),
                      !(fabs(ratio.mean) > ratio.margin) ? "no gain is shown"
                      : ratio.mean < 0                   ? "a gain"
                                                         : "a loss");
    }
}

/* The number of rates that a stage tries. */
static int line_rates(const results *r, int stage)
{
    return tabular_cell(work_of(r, stage), r->of.c, &r->grids[stage], 0, "", 0).rates;
}

static void compare(const results *r, sheet *s)
{
    sheet_text(s,
               "The network that is there: two hidden layers of 64 with ReLU, trained with Adam at rate %g. Each "
               "activation is trained from initial weights at that rate and at the best of %d by validation; GELU "
               "(exact) is also put into the trained ReLU network's file, which is then trained on, as ReLU itself is, "
               "at that rate and at the best of %d. SwiGLU has other matrices, as many parameters, and no use for the "
               "file. %d seed%s, each with parts of its own.",
               old_rate, line_rates(r, FRESH), line_rates(r, TUNED), r->seeds, plural(r->seeds));
    judge(r, s);
    put_steps(r, s);
    put_losses(r, s);
}

static void report(void *all, sheet *s)
{
    results *r = all;
    r->sets = r->grids[FRESH].count;
    r->seeds = tabular_cell(work_of(r, FRESH), r->of.c, &r->grids[FRESH], 0, "", 0).seeds;
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
    .end = STUDY_TABLES,
    .add = add,
    .staged = true,
};
