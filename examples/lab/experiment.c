#include "examples/lab/experiment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const tasks[] = {"auto", "classification", "regression", NULL};
static const char *const formats[] = {"table", "markdown", "latex", "csv", NULL};
static const char *const missings[] = {"error", "drop", "mean", NULL};
static const char *const splits[] = {"redrawn", "fixed", NULL};
static const char *const headers[] = {"auto", "yes", "no", NULL};
static const char *const gated_widths[] = {"parameters", "width", NULL};
static const char *const initialisers[] = {"variance_preserving", "he_normal", "he_uniform", "xavier_normal", "xavier_uniform",
                                           "unit_rows", "orthogonal", NULL};
static const char *const norms[] = {"none", "layer", "rms", "batch", NULL};
static const char *const optimizers[] = {"adamw", "adam", "sgd", "nadam", "rmsprop", "lion", NULL};
static const char *const schedules[] = {"constant", "cosine", "step", NULL};

enum { MOST_POINTS = 1000 };

#define AT(member) offsetof(experiment_settings, member)

static const program_option table[] = {
    {.type = OPTION_GROUP, .help = "Data:"},
    {"data", "SPEC", "spirals, moons, circles, sine, glyphs, idx:DIR (a folder with MNIST's four files) or csv:FILE",
     OPTION_TEXT, AT(data)},
    {"validation", "PART", "rows that choose the best epoch: a fraction such as 0.2, or first:N [0.2; glyphs 1/7, idx 0.1]", OPTION_TEXT,
     AT(validation)},
    {"test", "PART", "rows for the table's test columns: a fraction, first:N, or none [0.2; glyphs 1/7; of idx the t10k files]", OPTION_TEXT,
     AT(test)},
    {"split", "HOW", "the parts are drawn anew for each seed, the same for all activations, or once and for all", OPTION_CHOICE, AT(split),
     .choices = splits},
    {"folds", "K", "K-fold cross-validation: each seed cuts the rows into K folds, and each fold is the test part once; 0: none", OPTION_INT,
     AT(folds), 0, 1000},
    {"rows", "N", "rows to generate; 0: as many as suit the data", OPTION_INT, AT(rows), 0, 10e6},
    {"noise", "SIZE", "disturbance of generated rows; 0: what suits the data; negative: none", OPTION_REAL, AT(noise), -1, 100},
    {"target", "COLUMN", "target of a CSV file, by name or number (0 first, -1 last)", OPTION_TEXT, AT(target)},
    {"task", "KIND", "what the target of a CSV file is", OPTION_CHOICE, AT(task), .choices = tasks},
    {"header", "WHETHER", "whether a CSV file's first line names the columns", OPTION_CHOICE, AT(header), .choices = headers},
    {"ignore", "COLUMNS", "columns of a CSV file that are no features, by name or number, with commas between", OPTION_TEXT, AT(ignore)},
    {"categorical", "COLUMNS", "columns of a CSV file whose numbers are names; columns of words are categorical anyway", OPTION_TEXT,
     AT(categorical)},
    {"missing", "HOW", "cells of a CSV file that are empty, ?, NA, N/A, nan or null are an error; or their rows are dropped; or they get the "
     "mean and a feature that says so", OPTION_CHOICE, AT(missing), .choices = missings},

    {.type = OPTION_GROUP, .help = "Networks:"},
    {"hidden", "WIDTHS", "hidden layers: 128x8 is eight of 128; 256x2,64 is three", OPTION_TEXT, AT(hidden)},
    {"activations", "NAMES", "what to compare, with commas between; the differences are taken to the first", OPTION_TEXT,
     AT(activations)},
    {"gated", "EQUAL", "gated nets (swiglu, ...) have about as many parameters as plain ones, or equal width",
     OPTION_CHOICE, AT(gated), .choices = gated_widths},
    {"init", "NAME", "initial weights", OPTION_CHOICE, AT(init), .choices = initialisers},
    {"norm", "NAME", "normalisation behind every hidden layer's activation", OPTION_CHOICE, AT(norm), .choices = norms},
    {"residual", NULL, "a sum around every hidden layer behind another one of the same width", OPTION_FLAG, AT(residual)},
    {"dropout", "PS", "probability of dropping a hidden unit; or several", OPTION_REALS, AT(dropouts), 0, 0.99},

    {.type = OPTION_GROUP, .help = "Training:"},
    {"seeds", "N", "runs of each activation", OPTION_INT, AT(seeds), 1, 10000},
    {"seed", "N", "the first seed; the others follow it", OPTION_INT, AT(seed), 0, 2e9},
    {"epochs", "N", "passes over the training rows; 0: as many as make about 1,500 steps, 10 to 100", OPTION_INT, AT(epochs), 0, 1e6},
    {"batch", "N", "rows of a step; 0: a sixteenth of the training rows, as a power of two from 8 to 128", OPTION_INT, AT(batch), 0, 1e6},
    {"patience", "N", "a run ends after so many epochs without a lower validation loss; 0: never", OPTION_INT, AT(patience), 0, 1e6},
    {"lr", "RATES", "learning rate, or several with commas between: all are tried", OPTION_REALS, AT(lrs), 1e-12, 1e6},
    {"optimizer", "NAME", "what takes the steps", OPTION_CHOICE, AT(optimizer), .choices = optimizers},
    {"weight-decay", "XS", "decay of the weights; biases do not decay; or several", OPTION_REALS, AT(weight_decays), 0, 1e6},
    {"momentum", "XS", "of sgd, with Nesterov's step, and of rmsprop; 0: none; or several", OPTION_REALS, AT(momenta), 0, 0.9999},
    {"schedule", "NAME", "the learning rate over time", OPTION_CHOICE, AT(schedule), .choices = schedules},
    {"warmup", "SHARE", "share of all steps in which the rate grows to its full size", OPTION_REAL, AT(warmup), 0, 1},
    {"clip", "NORMS", "gradients longer than this are cut to it; 0: never; or several", OPTION_REALS, AT(clips), 0, 1e30},
    {"label-smoothing", "XS", "share of each label that is spread over all classes; or several", OPTION_REALS, AT(label_smoothings), 0, 0.99},

    {.type = OPTION_GROUP, .help = "Running:"},
    {"jobs", "N", "runs at the same time; 0: as many as there are processors", OPTION_INT, AT(jobs), 0, 1024},
    {"silence", "SECONDS", "a run that has not been heard of for so long is ended as failed; 0: never", OPTION_REAL, AT(silence), 0, 1e9},
    {"out", "DIR", "folder for curves.csv, summary.csv, config.json and the pictures", OPTION_TEXT, AT(out)},
    {"no-plots", NULL, "draw nothing", OPTION_FLAG, AT(no_plots)},
    {"report", NULL, "write report.html too: table, pictures, options and command in one file", OPTION_FLAG, AT(report)},
    {"format", "KIND", "of the table that is printed", OPTION_CHOICE, AT(format), .choices = formats},
    {"config", "FILE", "take the options from a config.json; those given here go before", OPTION_TEXT, AT(config)},
    {0}};

const options_program experiment_program = {
    .name = "compare",
    .about = "Trains the same network with several activations and several seeds, and tells which is better: by a "
             "table with intervals, and by curves.",
    .table = table,
    .after = "For one seed, all activations have the same training, validation and test rows, see them in the same order and, where shapes "
             "agree, start from the same weights. What is chosen, as the best epoch, is chosen by validation rows; test rows choose nothing. "
             "The loss of a regression is the squared error of targets that are standardised by the training rows. The same command gives the same curves, whatever --jobs.\n\n"
             "Example: compare --data glyphs --activations relu,gelu_exact --seeds 5 --out results"};

experiment experiment_defaults(void)
{
    return (experiment){.settings = {.data = "glyphs", .split = "redrawn", .target = "-1", .task = "auto", .header = "auto", .missing = "error",
                                     .hidden = "128x4", .activations = "relu,gelu_exact,silu,swiglu",
                                     .gated = "parameters", .init = "variance_preserving", .norm = "none", .seeds = 3, .seed = 1,
                                     .lrs = "0.001", .dropouts = "0", .momenta = "0", .clips = "0", .label_smoothings = "0", .optimizer = "adamw", .schedule = "cosine", .warmup = 0.05,
                                     .weight_decays = "0.01", .silence = 600, .out = "results", .format = "table"}};
}

static int position(const char *const *choices, const char *name)
{
    int i = 0;
    while (choices[i] && strcmp(choices[i], name) != 0)
        i++;
    return i;
}

/* ---- lists ---- */

/* One part of a list of widths: "128" or "128x8". */
static bool widths_part(const char *part, const char *end, int widths[], int *count)
{
    char *after;
    errno = 0;
    long width = strtol(part, &after, 10), times = 1;
    if (after == part || width < 1 || width > 1000000 || errno)
        return false;
    if (after < end && *after == 'x') {
        part = after + 1;
        times = strtol(part, &after, 10);
        if (after == part || times < 1 || errno)
            return false;
    }
    if (after != end || times > EXPERIMENT_LAYERS - *count)
        return false;
    while (times-- > 0)
        widths[(*count)++] = (int)width;
    return true;
}

bool experiment_widths(const char *text, int widths[EXPERIMENT_LAYERS + 1], char message[EXPERIMENT_MESSAGE])
{
    int count = 0;
    for (const char *part = text; part;) {
        const char *end = part + strcspn(part, ",");
        if (!widths_part(part, end, widths, &count)) {
            snprintf(message, EXPERIMENT_MESSAGE,
                     "--hidden: '%s' is not a list of at most %d widths such as 128x8 or 512,128", text, EXPERIMENT_LAYERS);
            return false;
        }
        part = *end ? end + 1 : NULL;
    }
    widths[count] = 0;
    return true;
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

/* ---- what is searched ---- */

static const struct {
    const char *option;
    size_t number;
} searched[EXPERIMENT_AXES] = {
    {"lr", AT(lr)},         {"dropout", AT(dropout)}, {"weight-decay", AT(weight_decay)},
    {"momentum", AT(momentum)}, {"clip", AT(clip)},       {"label-smoothing", AT(label_smoothing)},
};

static const program_option *find_option(const char *name)
{
    const program_option *o = table;
    while (!o->name || strcmp(o->name, name) != 0)
        o++;
    return o;
}

static bool read_axes(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    e->points = 1;
    for (int i = 0; i < EXPERIMENT_AXES; i++) {
        experiment_axis *axis = &e->axes[i];
        *axis = (experiment_axis){.option = find_option(searched[i].option), .number = searched[i].number};
        const char *text = *(const char *const *)(const void *)((const char *)&e->settings + axis->option->offset);
        axis->count = options_numbers(axis->option, text, axis->values, OPTIONS_NUMBERS);
        if (axis->count < 1 || e->points * axis->count > MOST_POINTS)
            return snprintf(message, EXPERIMENT_MESSAGE, "--%s: '%s': not a list of numbers, or more than %d points to search",
                            axis->option->name, text, MOST_POINTS),
                   false;
        e->points *= axis->count;
    }
    return true;
}

/* The number of a run on an axis: the last axis turns fastest. */
static double number_at(const experiment *e, int run, int axis)
{
    int point = run / e->activation_count % e->points;
    for (int i = EXPERIMENT_AXES - 1; i > axis; i--)
        point /= e->axes[i].count;
    return e->axes[axis].values[point % e->axes[axis].count];
}

experiment_settings experiment_of_run(const experiment *e, int run)
{
    experiment_settings s = e->settings;
    for (int i = 0; i < EXPERIMENT_AXES; i++)
        *(double *)(void *)((char *)&s + e->axes[i].number) = number_at(e, run, i);
    return s;
}

void experiment_point(const experiment *e, int run, char text[EXPERIMENT_POINT])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < EXPERIMENT_AXES; i++)
        if (e->axes[i].count > 1 && used < EXPERIMENT_POINT)
            used += (size_t)snprintf(text + used, EXPERIMENT_POINT - used, "%s%s %g", used ? ", " : "", e->axes[i].option->name,
                                     number_at(e, run, i));
}

static int first_axis(const experiment *e)
{
    int axis = 0;
    while (axis < EXPERIMENT_AXES && e->axes[axis].count < 2)
        axis++;
    return axis;
}

double experiment_number(const experiment *e, int run)
{
    const int axis = first_axis(e);
    return axis < EXPERIMENT_AXES ? number_at(e, run, axis) : 0;
}

const char *experiment_searched(const experiment *e)
{
    const int axis = first_axis(e);
    return axis < EXPERIMENT_AXES ? e->axes[axis].option->name : NULL;
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
        .task = (dataset_task)position(tasks, s->task),
        .header = (dataset_header)position(headers, s->header),
        .ignore = s->ignore,
        .categorical = s->categorical,
        .missing = (dataset_missing)position(missings, s->missing),
    };
    const dataset_parts parts = experiment_parts(e, 0);
    return dataset_load(s->data, &options, &e->data, message, EXPERIMENT_MESSAGE) &&
           dataset_split(&e->data, &parts, message, EXPERIMENT_MESSAGE);
}

/* What suits the number of training rows, where nobody has said. */
static void choose_batch_and_epochs(experiment *e)
{
    enum { SMALLEST = 8, LARGEST = 128, STEPS = 1500, FEWEST = 10, MOST = 100 };
    const long rows = (long)e->data.train.rows;
    experiment_settings *s = &e->settings;
    if (s->batch == 0)
        for (s->batch = SMALLEST; s->batch < LARGEST && 2 * s->batch <= rows / 16;)
            s->batch *= 2;
    const long steps = (rows + s->batch - 1) / s->batch, epochs = (STEPS + steps - 1) / steps;
    if (s->epochs == 0)
        s->epochs = (int)(epochs < FEWEST ? FEWEST : epochs > MOST ? MOST : epochs);
}

/* The settings with the largest number of each list. */
static experiment_settings largest_numbers(const experiment *e)
{
    experiment_settings s = e->settings;
    for (int i = 0; i < EXPERIMENT_AXES; i++) {
        double *largest = (double *)(void *)((char *)&s + e->axes[i].number);
        *largest = 0;
        for (int k = 0; k < e->axes[i].count; k++)
            *largest = e->axes[i].values[k] > *largest ? e->axes[i].values[k] : *largest;
    }
    return s;
}

static bool has_neighbours_of_one_width(const experiment *e)
{
    for (int i = 1; e->hidden[0] && e->hidden[i]; i++)
        if (e->hidden[i] == e->hidden[i - 1])
            return true;
    return false;
}

/* Options that would change nothing are misunderstandings, and better told. */
static bool options_matter(const experiment *e, char message[EXPERIMENT_MESSAGE])
{
    const experiment_settings *s = &e->settings;
    const experiment_settings largest = largest_numbers(e);
    const bool has_momentum = strcmp(s->optimizer, "sgd") == 0 || strcmp(s->optimizer, "rmsprop") == 0;
    bool gated = false;
    for (int i = 0; i < e->activation_count; i++)
        gated |= tg_activation_is_gated(e->activations[i]);
    const char *problem =
        largest.momentum > 0 && !has_momentum ? "--momentum is for sgd and rmsprop only"
        : largest.label_smoothing > 0 && e->data.task == DATASET_REGRESSION ? "--label-smoothing is for a classification only"
        : options_given(&experiment_program, "gated") && !gated ? "--gated: no activation is gated (swiglu, geglu, ...)"
        : s->residual && !has_neighbours_of_one_width(e) ? "--residual: no two hidden layers of one width follow each other"
        : options_given(&experiment_program, "warmup") && strcmp(s->schedule, "constant") == 0
            ? "--warmup: the constant schedule has none; choose cosine or step"
            : NULL;
    if (problem)
        snprintf(message, EXPERIMENT_MESSAGE, "%s", problem);
    return !problem;
}

bool experiment_prepare(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    if (!experiment_widths(e->settings.hidden, e->hidden, message) || !read_activations(e, message) || !read_axes(e, message))
        return false;
    const int folds = e->settings.folds > 0 ? e->settings.folds : 1;
    e->runs = e->activation_count * e->points * e->settings.seeds * folds;
    if (e->settings.jobs == 0)
        e->settings.jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (!load_data(e, message) || !options_matter(e, message))
        return false;
    choose_batch_and_epochs(e);
    return true;
}

void experiment_free(experiment *e)
{
    dataset_free(&e->data);
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

/* ---- words ---- */

const char *experiment_split(const experiment *e)
{
    const bool fixed = e->settings.split[0] == 'f';
    if (e->settings.folds)
        return fixed ? "Folds: cut once, the same for all seeds." : "Folds: cut anew for each seed, the same for all activations.";
    return fixed ? "Split fixed: intervals leave out what another split would change."
                 : "Parts drawn anew for each seed, the same for all activations.";
}

static void describe_classes(const dataset *data, FILE *out)
{
    enum { MOST = 12 };
    fprintf(out, "classification into %zu classes", data->classes);
    for (size_t i = 0; i < data->classes && data->classes <= MOST; i++)
        fprintf(out, "%s%.40s%s", i ? ", " : " (", data->class_names[i], i + 1 == data->classes ? ")" : "");
}

static void describe_targets(const dataset *data, FILE *out)
{
    fprintf(out, "regression of %zu target%s", data->targets, data->targets == 1 ? "" : "s");
    for (size_t i = 0; data->target_names && *data->target_names[0] && i < data->targets; i++)
        fprintf(out, "%s%.40s", i ? ", " : ": ", data->target_names[i]);
}

static void describe_columns(const dataset *data, FILE *out)
{
    if (data->categorical)
        fprintf(out, ", %zu column%s of words one feature a word", data->categorical, data->categorical == 1 ? "" : "s");
    if (data->marks)
        fprintf(out, ", %zu of them for what is missing", data->marks);
    if (data->dropped)
        fprintf(out, ", %zu row%s with missing cells dropped", data->dropped, data->dropped == 1 ? "" : "s");
    fputs("; ", out);
}

void experiment_describe(const experiment *e, FILE *out)
{
    const experiment_settings *s = &e->settings;
    const dataset *data = &e->data;
    const long steps = ((long)data->train.rows + s->batch - 1) / s->batch;
    const bool guessed = strcmp(s->task, "auto") == 0 && strncmp(s->data, "csv:", 4) == 0;
    fprintf(out, "%s: %zu rows, %zu feature%s", data->name, data->rows, data->features, data->features == 1 ? "" : "s");
    describe_columns(data, out);
    data->task == DATASET_CLASSIFICATION ? describe_classes(data, out) : describe_targets(data, out);
    fprintf(out, "%s\n", guessed ? "; so it seems, --task says otherwise" : "");
    fprintf(out, "%zu rows to train, %zu to validate, %zu to test. %s\n", data->train.rows, data->validation.rows, data->test.rows,
            experiment_split(e));
    fprintf(out, "%zu-%s-%zu, %d epochs of %ld steps, batch %d, %s %s, %s; %d runs\n", data->features, s->hidden,
            data->task == DATASET_CLASSIFICATION ? data->classes : data->targets, s->epochs, steps, s->batch, s->optimizer, s->lrs,
            s->schedule, e->runs);
}
