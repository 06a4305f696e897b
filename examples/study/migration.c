/* study migration: from ReLU to GELU to SwiGLU. What does another activation gain in a network that is there, at the
 * rate it has and at its own? */
#include "examples/report/statistics.h"
#include "examples/study/tabular.h"
#include "examples/data/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH = 3, TUNE_RATES = 4, PATH = PATH_MAX + STUDY_NAME + 20 };
static const tg_activation scratch[SCRATCH] = {TG_RELU, TG_GELU_EXACT, TG_SWIGLU};
static const double tune_rates[TUNE_RATES] = {1e-4, 3e-4, 1e-3, 3e-3};
static const double old_rate = 1e-3; /* what the network that is there was trained with */

typedef struct results {
    const study_context *c;
    const study_work *fresh, *tuned; /* trained from initial weights; from the file of the ReLU network */
    const tabular_sets *sets;
    int seeds;
    int rates, tunings; /* how many are tried */
} results;

static const double *fresh_rates(const results *r)
{
    return r->rates == 1 ? &old_rate : tabular_rates;
}

static const double *tuning_rates(const results *r)
{
    return r->tunings == 1 ? &old_rate : tune_rates;
}

/* ---- the runs ---- */

/* From initial weights: the same runs as those of glu-tabular, whose records they share. */
static bool add_fresh(study_work *work, const results *r)
{
    bool fine = true;
    for (int seed = 1; seed <= r->seeds; seed++)
        for (int set = 0; set < r->sets->count; set++)
            for (int a = 0; a < SCRATCH; a++)
                for (int k = 0; k < r->rates; k++)
                    fine = fine && tabular_add(work, r->c, r->sets, set, tg_activation_name(scratch[a]),
                                               &(net_spec){.activation = tg_activation_name(scratch[a])},
                                               fresh_rates(r)[k], seed, NULL);
    return fine;
}

static bool add_existing(study_work *work, const results *r)
{
    bool fine = true;
    for (int seed = 1; seed <= r->seeds; seed++)
        for (int set = 0; set < r->sets->count; set++) {
            fine = fine && tabular_add(work, r->c, r->sets, set, "existing", &(net_spec){.activation = "relu"},
                                       old_rate, seed, NULL);
            if (fine)
                work->run[work->count - 1].keeps_model = true;
        }
    return fine;
}

/* From the files of the existing networks, which `paths` names by seed and set. */
static bool add_tuned(study_work *work, const results *r, char (*paths)[PATH])
{
    bool fine = true;
    for (int seed = 1; seed <= r->seeds; seed++)
        for (int set = 0; set < r->sets->count; set++) {
            char *path = paths[(seed - 1) * r->sets->count + set];
            snprintf(path, PATH, "%s/%s-existing-lr%g-seed%d/last.safetensors", r->c->records, r->sets->name[set],
                     old_rate, seed);
            for (int a = 0; a < 2; a++)
                for (int k = 0; k < r->tunings; k++) {
                    char name[40];
                    snprintf(name, sizeof name, "from-relu-to-%s", tg_activation_name(scratch[a]));
                    fine = fine && tabular_add(work, r->c, r->sets, set, name,
                                               &(net_spec){.activation = tg_activation_name(scratch[a])},
                                               tuning_rates(r)[k], seed, path);
                }
        }
    return fine;
}

/* ---- what came out ---- */

typedef struct line {
    double loss[STUDY_SEEDS], rate; /* logarithms of the test losses by seed */
} line;

/* The runs of a name at a rate, or, with rate 0, at the best by validation. */
static line line_of(const study_work *work, const results *r, int set, const char *name, double rate,
                    const double rates[], int count)
{
    line l = {.rate = rate};
    if (rate == 0)
        l.rate = tabular_best_rate(work, r->sets->name[set], name, rates, count, r->seeds);
    tabular_losses(work, r->sets->name[set], name, l.rate, r->seeds, l.loss);
    return l;
}

/* Of a set: what is compared, in the order of the table's columns. */
enum { OLD, RELU, GELU_OLD, GELU, SWIGLU_OLD, SWIGLU, ON_RELU, ON_GELU_OLD, ON_GELU, LINES };
static const char *const says[LINES] = {"ReLU, rate 0.001",   "ReLU, its rate",         "GELU, rate 0.001",
                                        "GELU, its rate",     "SwiGLU, rate 0.001",     "SwiGLU, its rate",
                                        "file: ReLU goes on", "file: GELU, rate 0.001", "file: GELU, its rate"};

static void lines_of(const results *r, int set, line lines[LINES])
{
    static const char *const names[SCRATCH] = {"relu", "gelu_exact", "swiglu"};
    for (int a = 0; a < SCRATCH; a++) {
        lines[OLD + 2 * a] = line_of(r->fresh, r, set, names[a], old_rate, NULL, 0);
        lines[RELU + 2 * a] = line_of(r->fresh, r, set, names[a], 0, fresh_rates(r), r->rates);
    }
    lines[ON_RELU] = line_of(r->tuned, r, set, "from-relu-to-relu", 0, tuning_rates(r), r->tunings);
    lines[ON_GELU_OLD] = line_of(r->tuned, r, set, "from-relu-to-gelu_exact", old_rate, NULL, 0);
    lines[ON_GELU] = line_of(r->tuned, r, set, "from-relu-to-gelu_exact", 0, tuning_rates(r), r->tunings);
}

static void put_losses(const results *r, sheet *s)
{
    char text[500];
    sheet_heading(s, "Test loss, geometric mean over the seeds");
    int used = snprintf(text, sizeof text, "table");
    for (int i = 0; i < LINES; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "|%s", says[i]);
    sheet_table(s, 1, text);
    for (int set = 0; set < r->sets->count; set++) {
        line lines[LINES];
        lines_of(r, set, lines);
        used = snprintf(text, sizeof text, "%s", r->sets->name[set]);
        for (int i = 0; i < LINES; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, "|%.4f",
                             exp(statistics_of(lines[i].loss, (size_t)r->seeds).mean));
        sheet_row(s, "%s", text);
    }
}

/* A step of the way: the loss of one line over that of another, over all sets. */
static void put_step(const results *r, sheet *s, const char *what, int to, int from)
{
    double logs[TABULAR_SETS], p[TABULAR_SETS];
    int lower = 0, higher = 0;
    for (int set = 0; set < r->sets->count; set++) {
        line lines[LINES];
        lines_of(r, set, lines);
        logs[set] = statistics_paired(lines[to].loss, lines[from].loss, (size_t)r->seeds).mean;
        p[set] = statistics_compare(lines[to].loss, lines[from].loss, (size_t)r->seeds).p;
    }
    statistics_holm(p, (size_t)r->sets->count);
    for (int set = 0; set < r->sets->count; set++) {
        lower += p[set] < 0.05 && logs[set] < 0;
        higher += p[set] < 0.05 && logs[set] > 0;
    }
    const statistics_estimate ratio = statistics_of(logs, (size_t)r->sets->count);
    sheet_row(s, "%s|%.3f|%.3f to %.3f|%d|%d", what, exp(ratio.mean), exp(ratio.mean - ratio.margin),
              exp(ratio.mean + ratio.margin), lower, higher);
}

static void put_steps(const results *r, sheet *s)
{
    sheet_heading(s, "What each step gains");
    sheet_text(s, "Test loss after the step over test loss before it: geometric mean over the tables and its 95 %% "
                  "interval (below 1 is a gain); "
                  "and on how many tables it falls or rises significantly (t tests of the logarithms, paired by seed, "
                  "corrected by Holm's method).");
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
        double logs[TABULAR_SETS];
        for (int set = 0; set < r->sets->count; set++) {
            line lines[LINES];
            lines_of(r, set, lines);
            logs[set] =
                statistics_paired(lines[questions[q].to].loss, lines[questions[q].from].loss, (size_t)r->seeds).mean;
        }
        const statistics_estimate ratio = statistics_of(logs, (size_t)r->sets->count);
        study_put_estimate(s, questions[q].key, &ratio); /* of logarithms */
        sheet_verdict(s, "%s changes the test loss by %+.1f %% (95 %% interval over %d table%s %+.1f to %+.1f %%): %s.",
                      questions[q].what, 100 * expm1(ratio.mean), r->sets->count, plural(r->sets->count),
                      100 * expm1(ratio.mean - ratio.margin), 100 * expm1(ratio.mean + ratio.margin),
                      !(fabs(ratio.mean) > ratio.margin) ? "no gain is shown"
                      : ratio.mean < 0                   ? "a gain"
                                                         : "a loss");
    }
}

static sheet *report(const results *r, const study_outcome *outcome, bool complete)
{
    sheet *s = sheet_new("Migration: ReLU, GELU, SwiGLU");
    study_say_state(r->c, r->tuned, outcome, s);
    if (!complete) {
        sheet_text(s, "What is compared is not complete yet.");
        return s;
    }
    sheet_text(s,
               "The network that is there: two hidden layers of 64 with ReLU, trained with Adam at rate %g. Each "
               "activation is trained from "
               "initial "
               "weights at that rate and at the best of %d by validation; GELU (exact) is also put into the trained "
               "ReLU network's file, which is "
               "then trained on, as ReLU itself is, at that rate and at the best of %d. SwiGLU has other matrices, as "
               "many parameters, and no use "
               "for the file. %d seed%s, each with parts of its own.",
               old_rate, r->rates, r->tunings, r->seeds, plural(r->seeds));
    judge(r, s);
    put_steps(r, s);
    put_losses(r, s);
    return s;
}

/* ---- the study ---- */

static bool is_complete(const study_work *work, const study_outcome *outcome)
{
    return outcome->complete == work->count;
}

typedef struct stages {
    study_work fresh, existing, tuned; /* each builds on the one before */
    char (*paths)[PATH];
} stages;

static int run(const study_context *c, const tabular_sets *sets, stages *w)
{
    const bool quick = c->settings->quick;
    const results r = {c, &w->fresh, &w->tuned, sets, quick ? 2 : 5, quick ? 1 : TABULAR_RATES, quick ? 1 : TUNE_RATES};
    w->paths = calloc((size_t)(r.seeds * sets->count), sizeof *w->paths);
    if (!w->paths || !add_fresh(&w->fresh, &r) || !add_existing(&w->existing, &r) ||
        !add_tuned(&w->tuned, &r, w->paths))
        return study_refuse("out of memory", 1);
    study_outcome first = study_work_do(&w->fresh, stderr), second = {0}, third = {0};
    if (!first.broken && !first.interrupted)
        second = study_work_do(&w->existing, stderr);
    if (!first.interrupted && !second.interrupted && !first.broken && !second.broken)
        third = study_work_do(&w->tuned, stderr);
    const study_outcome *broken = first.broken ? &first : second.broken ? &second : third.broken ? &third : NULL;
    if (broken)
        return study_refuse(broken->message, broken->broken);
    const bool complete = is_complete(&w->fresh, &first) && is_complete(&w->tuned, &third);
    third.interrupted |= first.interrupted || second.interrupted;
    third.failed += first.failed + second.failed;
    return study_end(c, &w->tuned, &third, report(&r, &third, complete), NULL);
}

int study_migration(const study_context *c)
{
    tabular_sets sets;
    study_context tables;
    if (!study_context_of(&tables, c->settings, "glu-tabular", c->command))
        return study_refuse("--out: the name is too long", 2);
    if (!tabular_load(c, &sets))
        return 2;
    stages w = {study_work_of(&tables), study_work_of(c), study_work_of(c), NULL};
    const int status = run(c, &sets, &w);
    study_work_free(&w.fresh);
    study_work_free(&w.existing);
    study_work_free(&w.tuned);
    free(w.paths);
    tabular_free(&sets);
    return status;
}
