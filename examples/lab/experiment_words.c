/* What was read and what follows from it, in words. */
#include "examples/lab/experiment.h"
#include "examples/data/words.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---- */

bool experiment_has_same_folds(const experiment *e)
{
    return e->settings.folds && e->settings.split[0] == 'f';
}

double experiment_overlap(const experiment *e)
{
    const dataset *data = &e->data;
    const bool redrawn = e->settings.folds || (e->settings.split[0] != 'f' && data->test_rows == 0);
    const size_t reported = data->test.rows ? data->test.rows : data->validation.rows;
    return redrawn && data->train.rows ? (double)reported / (double)data->train.rows : 0;
}

const char *experiment_split(const experiment *e)
{
    const bool fixed = e->settings.split[0] == 'f';
    if (e->settings.folds)
        return fixed ? "Folds: cut once, the same for all seeds; intervals allow for their common samples."
                     : "Folds: cut anew for each seed, the same for all activations; intervals allow for their common "
                       "samples.";
    if (fixed)
        return "Split fixed: intervals leave out what another split would change.";
    return e->data.test_rows
               ? "Training samples redrawn per seed, the same for all activations; test samples fixed."
               : "Splits redrawn per seed, the same for all activations; intervals allow for their common "
                 "samples.";
}

static void describe_classes(const dataset *data, FILE *out)
{
    enum { MOST = 12 };
    fprintf(out, "classification into %zu class%s", data->classes, data->classes == 1 ? "" : "es");
    for (size_t i = 0; i < data->classes && data->classes <= MOST; i++)
        fprintf(out, "%s%s%s", i ? ", " : " (", plain_name(data->class_names[i], (char[PLAIN_NAME]){0}),
                i + 1 == data->classes ? ")" : "");
}

static void describe_targets(const dataset *data, FILE *out)
{
    fprintf(out, "regression of %zu target%s", data->targets, plural((long long)data->targets));
    for (size_t i = 0; data->target_names && *data->target_names[0] && i < data->targets; i++)
        fprintf(out, "%s%s", i ? ", " : ": ", plain_name(data->target_names[i], (char[PLAIN_NAME]){0}));
}

/* A list in parentheses where it has several numbers. */
static const char *listed(const char *list, char text[EXPERIMENT_POINT])
{
    const bool several = strchr(list, ',') != NULL;
    snprintf(text, EXPERIMENT_POINT, "%s%.80s%s", several ? "(" : "", list, several ? ")" : "");
    return text;
}

void experiment_net(const experiment *e, char text[EXPERIMENT_POINT])
{
    const experiment_settings *s = &e->settings;
    const dataset *data = &e->data;
    const bool widths = strcmp(s->widths, "0") != 0, depths = strcmp(s->depths, "0") != 0;
    char width[EXPERIMENT_POINT], depth[EXPERIMENT_POINT], own_width[24], own_depth[16];
    int layers = 0;
    while (e->hidden[layers])
        layers++;
    snprintf(own_width, sizeof own_width, "%lld", (long long)e->hidden[0]);
    snprintf(own_depth, sizeof own_depth, "%d", layers);
    if (widths || depths)
        snprintf(text, EXPERIMENT_POINT, "%zu-%.80sx%.80s-%zu", data->features,
                 listed(widths ? s->widths : own_width, width), listed(depths ? s->depths : own_depth, depth),
                 data->task == DATASET_CLASSIFICATION ? data->classes : data->targets);
    else
        snprintf(text, EXPERIMENT_POINT, "%zu-%.100s-%zu", data->features, s->hidden,
                 data->task == DATASET_CLASSIFICATION ? data->classes : data->targets);
}

static void describe_columns(const dataset *data, bool may_miss, FILE *out)
{
    if (data->categorical)
        fprintf(out, ", %zu column%s of words one feature a word", data->categorical,
                plural((long long)data->categorical));
    if (data->marks)
        fprintf(out, ", %zu of them for what is missing", data->marks);
    if (data->dropped)
        fprintf(out, ", %zu row%s with missing cells dropped", data->dropped, plural((long long)data->dropped));
    if (may_miss && !data->marks && !data->dropped)
        fputs(", no cell missing", out);
    fputs("; ", out);
}

void experiment_describe(const experiment *e, FILE *out)
{
    const experiment_settings *s = &e->settings;
    const dataset *data = &e->data;
    const experiment_settings first = experiment_of_run(e, 0);
    const long steps = experiment_steps(e, 0);
    char net[EXPERIMENT_POINT];
    experiment_net(e, net);
    const bool guessed = strcmp(s->task, "auto") == 0 && strncmp(s->data, "csv:", 4) == 0;
    fprintf(out, "%s: %zu row%s, %zu feature%s", data->name, data->rows, plural((long long)data->rows), data->features,
            plural((long long)data->features));
    describe_columns(data, strcmp(s->missing, "error") != 0, out);
    data->task == DATASET_CLASSIFICATION ? describe_classes(data, out) : describe_targets(data, out);
    fprintf(out, "%s\n", guessed ? "; so it seems, --task says otherwise" : "");
    fprintf(out, "%zu row%s to train, %zu to validate, %zu to test. %s\n", data->train.rows,
            plural((long long)data->train.rows), data->validation.rows, data->test.rows, experiment_split(e));
    if (strchr(s->batches, ',') || strchr(s->epoch_counts, ','))
        fprintf(out, "%s, epochs %s, batch %s", net,
                strcmp(s->epoch_counts, "0") == 0 ? "for about 1,500 steps" : s->epoch_counts, s->batches);
    else
        fprintf(out, "%s, %d epoch%s of %ld step%s, batch %d", net, first.epochs, plural(first.epochs), steps,
                plural(steps), first.batch);
    fprintf(out, ", %s %s, %s; %d run%s\n", s->optimizer, s->lrs, s->schedule, e->runs, plural(e->runs));
}
