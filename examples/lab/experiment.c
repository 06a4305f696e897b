#include "examples/lab/experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Which of the words of an option this one is: those of --task, --header and --missing are in the order of dataset.h.
 */
static int position(const char *option, const char *word)
{
    return options_position(options_find(&experiment_program, option)->choices, word);
}

static bool read_activations(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    for (const char *part = e->settings.activations; part;) {
        size_t length = strcspn(part, ",");
        char name[40];
        snprintf(name, sizeof name, "%.*s", (int)length, part);
        tg_activation activation;
        if (!tg_activation_from_name(name, &activation)) {
            snprintf(message, EXPERIMENT_MESSAGE, "--activations: '%s': %s", name, tg_activation_name_error(name));
            return false;
        }
        for (int i = 0; i < e->activation_count; i++)
            if (e->activations[i] == activation) {
                snprintf(message, EXPERIMENT_MESSAGE, "--activations: '%s' stands there twice", name);
                return false;
            }
        if (e->activation_count == EXPERIMENT_ACTIVATIONS)
            return snprintf(message, EXPERIMENT_MESSAGE, "--activations: more than %d", EXPERIMENT_ACTIVATIONS), false;
        e->activations[e->activation_count++] = activation;
        part = part[length] ? part + length + 1 : NULL;
    }
    return true;
}

/* ---- the whole ---- */

static bool load_data(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    const experiment_settings *s = &e->settings;
    const dataset_options options = {
        .seed = 1, /* --seed draws parts, weights and orders, not the data */
        .rows = (size_t)s->rows,
        .noise = s->noise,
        .target = strcmp(s->target, "-1") == 0 ? NULL : s->target,
        .task = (dataset_task)position("task", s->task),
        .header = (dataset_header)position("header", s->header),
        .ignore = s->ignore,
        .categorical = s->categorical,
        .missing = (dataset_missing)position("missing", s->missing),
    };
    const dataset_parts parts = experiment_parts(e, 0);
    return dataset_load(s->data, &options, &e->data, message, EXPERIMENT_MESSAGE) &&
           dataset_split(&e->data, &parts, message, EXPERIMENT_MESSAGE);
}

static bool has_uniform_width(const experiment *e)
{
    for (int i = 1; e->hidden[0] && e->hidden[i]; i++)
        if (e->hidden[i] != e->hidden[0])
            return false;
    return true;
}

/* Whether a net anywhere on the grid has two hidden layers of one width behind each other. */
static bool has_neighbours_of_one_width(const experiment *e)
{
    for (int point = 0; point < e->points; point++) {
        int64_t widths[EXPERIMENT_LAYERS + 1];
        experiment_hidden(e, point * e->activation_count, widths);
        for (int i = 1; widths[0] && widths[i]; i++)
            if (widths[i] == widths[i - 1])
                return true;
    }
    return false;
}

static bool has_gated(const experiment *e)
{
    for (int i = 0; i < e->activation_count; i++)
        if (tg_activation_is_gated(e->activations[i]))
            return true;
    return false;
}

static long smallest_batch(const experiment *e)
{
    long smallest = (long)e->data.train.rows;
    for (int point = 0; point < e->points; point++) {
        const long batch = experiment_of_run(e, point * e->activation_count).batch;
        smallest = batch < smallest ? batch : smallest;
    }
    return smallest;
}

static bool given(const char *option)
{
    return options_given(&experiment_program, option);
}

/* Options that would change nothing are misunderstandings, and better told. */
static bool options_matter(const experiment *e, char message[EXPERIMENT_MESSAGE])
{
    const experiment_settings *s = &e->settings;
    const experiment_settings largest = experiment_largest(e);
    const bool has_momentum = strcmp(s->optimizer, "sgd") == 0 || strcmp(s->optimizer, "rmsprop") == 0;
    const bool is_table = strncmp(s->data, "csv:", 4) == 0;
    const char *problem =
        largest.momentum > 0 && !has_momentum ? "--momentum is for sgd and rmsprop only"
        : largest.label_smoothing > 0 && e->data.task == DATASET_REGRESSION
            ? "--label-smoothing is for a classification only"
        : given("gated") && !has_gated(e) ? "--gated: no activation is gated (swiglu, geglu, ...)"
        : given("hidden") && strcmp(s->widths, "0") != 0 && strcmp(s->depths, "0") != 0
            ? "--hidden: --width and --depth say it all"
        : s->residual && !has_neighbours_of_one_width(e)
            ? "--residual: no two hidden layers of one width follow each other"
        : smallest_batch(e) < experiment_least_rows(e)                ? "--batch: --norm batch needs two rows at least"
        : given("target") && !is_table                                ? "--target is for csv: only"
        : given("task") && !is_table                                  ? "--task is for csv: only"
        : given("missing") && !is_table                               ? "--missing is for csv: only"
        : given("scale") && s->no_plots                               ? "--scale: --no-plots draws nothing"
        : s->seed_lines && s->no_plots                                ? "--seed-lines: --no-plots draws nothing"
        : s->seed_lines && e->runs == e->activation_count * e->points ? "--seed-lines: one seed has one line anyway"
        : s->patience > 0 && s->patience >= largest.epochs && largest.epochs > 0
            ? "--patience: a run has no more epochs than that; choose fewer, or more --epochs"
            : NULL;
    if (problem)
        snprintf(message, EXPERIMENT_MESSAGE, "%s", problem);
    return !problem;
}

/* Puts what was chosen for batch and epochs, where there is one choice, in place of the 0 that asked for it. */
static bool keep_choices(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    const experiment_settings first = experiment_of_run(e, 0);
    bool complete = true;
    if (strcmp(e->settings.batches, "0") == 0) {
        complete &= asprintf(&e->chosen[0], "%d", first.batch) > 0;
        e->settings.batches = e->chosen[0];
    }
    if (strcmp(e->settings.epoch_counts, "0") == 0 && !strchr(e->settings.batches, ',')) {
        complete &= asprintf(&e->chosen[1], "%d", first.epochs) > 0;
        e->settings.epoch_counts = e->chosen[1];
    }
    if (!complete)
        return snprintf(message, EXPERIMENT_MESSAGE, "out of memory"), false;
    return experiment_read_axes(e, message);
}

static bool is_auto(const char *word)
{
    return strcmp(word, "auto") == 0;
}

static bool read_hidden(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    return options_widths("hidden", e->settings.hidden, e->hidden, EXPERIMENT_LAYERS, message, EXPERIMENT_MESSAGE);
}

/* What suits the number of training rows: a large net learns a few by heart. */
static bool choose_hidden(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    enum { FEW = 300 };
    if (!is_auto(e->settings.hidden))
        return true;
    e->settings.hidden = e->data.train.rows < FEW ? "32x2" : "128x4";
    return read_hidden(e, message);
}

bool experiment_prepare(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    if ((!is_auto(e->settings.hidden) && !read_hidden(e, message)) || !read_activations(e, message) ||
        !experiment_read_axes(e, message))
        return false;
    if (strcmp(e->settings.depths, "0") != 0 && strcmp(e->settings.widths, "0") == 0 && !has_uniform_width(e))
        return snprintf(message, EXPERIMENT_MESSAGE,
                        "--depth: the hidden layers of --hidden differ in width; say --width"),
               false;
    const int folds = e->settings.folds > 0 ? e->settings.folds : 1;
    e->runs = e->activation_count * e->points * e->settings.seeds * folds;
    if (e->settings.jobs == 0)
        e->settings.jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return load_data(e, message) && choose_hidden(e, message) && keep_choices(e, message) &&
           experiment_points_differ(e, message) && options_matter(e, message);
}

void experiment_free(experiment *e)
{
    dataset_free(&e->data);
    for (int i = 0; i < 2; i++)
        free(e->chosen[i]);
}

/* ---- runs ---- */

static int folds(const experiment *e)
{
    return e->settings.folds > 0 ? e->settings.folds : 1;
}

tg_activation experiment_activation(const experiment *e, int run)
{
    return e->activations[run % e->activation_count];
}

int experiment_fold(const experiment *e, int run)
{
    return run / e->activation_count / e->points % folds(e);
}

int experiment_seed(const experiment *e, int run)
{
    return e->settings.seed + run / e->activation_count / e->points / folds(e);
}

dataset_parts experiment_parts(const experiment *e, int run)
{
    const experiment_settings *s = &e->settings;
    return (dataset_parts){.seed = s->split[0] == 'f' ? 0 : (uint64_t)experiment_seed(e, run),
                           .validation = s->validation,
                           .test = s->test,
                           .folds = s->folds,
                           .fold = experiment_fold(e, run)};
}
