#include "examples/lab/experiment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const tasks[] = {"auto", "classification", "regression", NULL};
static const char *const headers[] = {"auto", "yes", "no", NULL};
static const char *const gated_widths[] = {"parameters", "width", NULL};
static const char *const initialisers[] = {"variance_preserving", "he_normal", "he_uniform", "xavier_normal", "xavier_uniform",
                                           "unit_rows", "orthogonal", NULL};
static const char *const norms[] = {"none", "layer", "rms", "batch", NULL};
static const char *const optimizers[] = {"adamw", "adam", "sgd", "nadam", "rmsprop", "lion", NULL};
static const char *const schedules[] = {"constant", "cosine", "step", NULL};

#define AT(member) offsetof(experiment_settings, member)

static const program_option table[] = {
    {.type = OPTION_GROUP, .help = "Data:"},
    {"data", "SPEC", "spirals, moons, circles, sine, glyphs, idx:DIR (a folder with MNIST's four files) or csv:FILE",
     OPTION_TEXT, AT(data)},
    {"validation", "PART", "rows that validate: a fraction such as 0.2, first:N, or test (the t10k files of idx:DIR); "
     "by default what fits the data", OPTION_TEXT, AT(validation)},
    {"rows", "N", "rows to generate; 0: as many as suit the data", OPTION_INT, AT(rows), 0, 10e6},
    {"noise", "SIZE", "disturbance of generated rows; 0: what suits the data; negative: none", OPTION_REAL, AT(noise), -1, 100},
    {"target", "COLUMN", "target of a CSV file, by name or number (0 first, -1 last)", OPTION_TEXT, AT(target)},
    {"task", "KIND", "what the target of a CSV file is", OPTION_CHOICE, AT(task), .choices = tasks},
    {"header", "WHETHER", "whether a CSV file's first line names the columns", OPTION_CHOICE, AT(header), .choices = headers},

    {.type = OPTION_GROUP, .help = "Networks:"},
    {"hidden", "WIDTHS", "hidden layers: 128x8 is eight of 128; 256x2,64 is three", OPTION_TEXT, AT(hidden)},
    {"activations", "NAMES", "what to compare, with commas between; the differences are taken to the first", OPTION_TEXT,
     AT(activations)},
    {"gated", "EQUAL", "gated nets (swiglu, ...) have about as many parameters as plain ones, or equal width",
     OPTION_CHOICE, AT(gated), .choices = gated_widths},
    {"init", "NAME", "initial weights", OPTION_CHOICE, AT(init), .choices = initialisers},
    {"norm", "NAME", "normalisation behind every hidden layer's activation", OPTION_CHOICE, AT(norm), .choices = norms},
    {"dropout", "P", "probability of dropping a hidden unit", OPTION_REAL, AT(dropout), 0, 0.99},

    {.type = OPTION_GROUP, .help = "Training:"},
    {"seeds", "N", "runs of each activation", OPTION_INT, AT(seeds), 1, 10000},
    {"seed", "N", "the first seed; the others follow it", OPTION_INT, AT(seed), 0, 2e9},
    {"epochs", "N", "passes over the training rows", OPTION_INT, AT(epochs), 1, 1e6},
    {"batch", "N", "rows of a step", OPTION_INT, AT(batch), 1, 1e6},
    {"lr", "RATE", "learning rate", OPTION_REAL, AT(lr), 1e-12, 1e6},
    {"optimizer", "NAME", "what takes the steps", OPTION_CHOICE, AT(optimizer), .choices = optimizers},
    {"weight-decay", "X", "decay of the weights; biases do not decay", OPTION_REAL, AT(weight_decay), 0, 1e6},
    {"momentum", "X", "of sgd, with Nesterov's step, and of rmsprop; 0: none", OPTION_REAL, AT(momentum), 0, 0.9999},
    {"schedule", "NAME", "the learning rate over time", OPTION_CHOICE, AT(schedule), .choices = schedules},
    {"warmup", "SHARE", "share of all steps in which the rate grows to its full size", OPTION_REAL, AT(warmup), 0, 1},
    {"clip", "NORM", "gradients longer than this are cut to it; 0: never", OPTION_REAL, AT(clip), 0, 1e30},
    {"label-smoothing", "X", "share of each label that is spread over all classes", OPTION_REAL, AT(label_smoothing), 0, 0.99},

    {.type = OPTION_GROUP, .help = "Running:"},
    {"jobs", "N", "runs at the same time; 0: as many as there are processors", OPTION_INT, AT(jobs), 0, 1024},
    {"silence", "SECONDS", "a run that has not been heard of for so long is ended as failed; 0: never", OPTION_REAL, AT(silence), 0, 1e9},
    {"out", "DIR", "folder for curves.csv, summary.csv, config.json and the pictures", OPTION_TEXT, AT(out)},
    {"no-plots", NULL, "draw nothing", OPTION_FLAG, AT(no_plots)},
    {0}};

const options_program experiment_program = {
    .name = "compare",
    .about = "Trains the same network with several activations and several seeds, and tells which is better: by a "
             "table with intervals, and by curves.",
    .table = table,
    .after = "For one seed, all activations see the same rows in the same order and, where shapes agree, start from the same "
             "weights. The same command gives the same curves, whatever --jobs.\n\n"
             "Example: compare --data glyphs --activations relu,gelu_exact --seeds 5 --out results"};

experiment experiment_defaults(void)
{
    return (experiment){.settings = {.data = "glyphs", .target = "-1", .task = "auto", .header = "auto",
                                     .hidden = "128x4", .activations = "relu,gelu_exact,silu,swiglu",
                                     .gated = "parameters", .init = "variance_preserving", .norm = "none", .seeds = 3, .seed = 1, .epochs = 10,
                                     .batch = 128, .lr = 1e-3, .optimizer = "adamw", .schedule = "cosine", .warmup = 0.05,
                                     .weight_decay = 0.01, .silence = 600, .out = "results"}};
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

/* ---- the whole ---- */

static bool load_data(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    const experiment_settings *s = &e->settings;
    const dataset_options options = {
        .seed = (uint64_t)s->seed,
        .validation = s->validation,
        .rows = (size_t)s->rows,
        .noise = s->noise,
        .target = strcmp(s->target, "-1") == 0 ? NULL : s->target,
        .task = (dataset_task)position(tasks, s->task),
        .header = (dataset_header)position(headers, s->header),
    };
    return dataset_load(s->data, &options, &e->data, message, EXPERIMENT_MESSAGE);
}

bool experiment_prepare(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    if (!experiment_widths(e->settings.hidden, e->hidden, message) || !read_activations(e, message))
        return false;
    e->runs = e->activation_count * e->settings.seeds;
    if (e->settings.jobs == 0)
        e->settings.jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return load_data(e, message);
}

void experiment_free(experiment *e)
{
    dataset_free(&e->data);
}

tg_activation experiment_activation(const experiment *e, int run)
{
    return e->activations[run % e->activation_count];
}

int experiment_seed(const experiment *e, int run)
{
    return e->settings.seed + run / e->activation_count;
}
