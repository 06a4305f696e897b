#include "examples/train/settings.h"

#include <string.h>

const char *const settings_tasks[] = {"auto", "classification", "regression", NULL};
const char *const settings_headers[] = {"auto", "yes", "no", NULL};
const char *const settings_missings[] = {"error", "drop", "mean", NULL};
static const char *const optimizers[] = {"adamw", "adam", "sgd", "nadam", "rmsprop", "lion", NULL};
static const char *const schedules[] = {"constant", "cosine", "step", NULL};
static const char *const bests[] = {"loss", "accuracy", NULL};
static const char *const deciders[] = {"file", "model", NULL};

#define AT(member) offsetof(train_settings, member)

static const program_option table[] = {
    {.type = OPTION_GROUP, .help = "Data:"},
    {"data", "SPEC",
     "csv:FILE, idx:DIR (a folder with MNIST's four files), text:FILE, lines:FILE (words, one a line), or made up: "
     "spirals, moons, "
     "circles, sine, "
     "glyphs",
     OPTION_TEXT, AT(data)},
    {"validation", "PART",
     "rows that choose the best epoch: a fraction, or first:N [0.2; glyphs 1/7, idx and texts 0.1]", OPTION_TEXT,
     AT(validation)},
    {"test", "PART",
     "rows for the measures at the end: a fraction, first:N, or none [0.2; glyphs 1/7; of idx the t10k files; texts "
     "none]",
     OPTION_TEXT, AT(test)},
    {"target", "COLUMNS", "target of a CSV file, by name or number (0 first, -1 last); several for a regression",
     OPTION_TEXT, AT(target)},
    {"task", "KIND", "what the target of a CSV file is", OPTION_CHOICE, AT(task), .choices = settings_tasks},
    {"header", "WHETHER", "whether a CSV file's first line names the columns", OPTION_CHOICE, AT(header),
     .choices = settings_headers},
    {"ignore", "COLUMNS", "columns of a CSV file that are no features", OPTION_TEXT, AT(ignore)},
    {"categorical", "COLUMNS", "columns of a CSV file whose numbers are names", OPTION_TEXT, AT(categorical)},
    {"missing", "HOW",
     "cells without a value are an error, or drop their row, or get the mean and a feature that says so", OPTION_CHOICE,
     AT(missing), .choices = settings_missings},
    {"rows", "N", "rows to make up; 0: as many as suit the data", OPTION_INT, AT(rows), 0, 10e6},
    {"noise", "SIZE", "disturbance of rows that are made up; 0: what suits; negative: none", OPTION_REAL, AT(noise), -1,
     100},

    {.type = OPTION_GROUP, .help = "Model:"},
    NET_OPTIONS,
    {"start", "FILE", "begin with the weights of this model file, and with its model where no option says otherwise",
     OPTION_TEXT, AT(start)},
    {"activation-from", "WHICH",
     "whose activation counts where that of --start's file and that of the options differ; without it that is an error",
     OPTION_CHOICE, AT(activation_from), .choices = deciders},

    {.type = OPTION_GROUP, .help = "Training:"},
    {"seed", "N", "of weights, split, order and dropout", OPTION_INT, AT(seed), 0, 2e9},
    {"epochs", "N", "passes over the training rows; 0: 20, of a text 10, of glyphs 4", OPTION_INT, AT(epochs), 0, 1e6},
    {"batch", "N",
     "rows of a pass; 0: 128, fewer for few rows, 32 for gpt; with batch norm, one row that would be left alone waits "
     "for "
     "another epoch",
     OPTION_INT, AT(batch), 0, 1e6},
    {"accumulate", "N", "passes of a step, whose gradients add up", OPTION_INT, AT(accumulate), 1, 1e6},
    {"patience", "N", "ends after so many epochs that were not the best; 0: never", OPTION_INT, AT(patience), 0, 1e6},
    {"best", "BY", "what chooses the best epoch, on the validation rows", OPTION_CHOICE, AT(best), .choices = bests},
    {"optimizer", "NAME", "what takes the steps", OPTION_CHOICE, AT(optimizer), .choices = optimizers},
    {"lr", "RATE", "learning rate; 0: what suits the model", OPTION_REAL, AT(lr), 0, 1e6},
    {"schedule", "NAME", "the learning rate over time", OPTION_CHOICE, AT(schedule), .choices = schedules},
    {"warmup", "SHARE", "share of all steps in which the rate grows to its full size, before any schedule", OPTION_REAL,
     AT(warmup), 0, 1},
    {"end", "FACTOR", "what the cosine ends with, of the full rate", OPTION_REAL, AT(end), 0, 1},
    {"weight-decay", "X", "decay of the weights; biases and norms do not decay", OPTION_REAL, AT(weight_decay), 0, 1e6},
    {"momentum", "X", "of sgd, with Nesterov's step, and of rmsprop", OPTION_REAL, AT(momentum), 0, 0.9999},
    {"beta1", "X", "of adamw, adam, nadam and lion; 0: theirs", OPTION_REAL, AT(beta1), 0, 0.999999},
    {"beta2", "X", "of adamw, adam, nadam, rmsprop and lion; 0: theirs", OPTION_REAL, AT(beta2), 0, 0.999999},
    {"epsilon", "X", "of adamw, adam, nadam and rmsprop; 0: theirs", OPTION_REAL, AT(epsilon), 0, 1},
    {"clip", "NORM", "gradients longer than this are cut to it; 0: never", OPTION_REAL, AT(clip), 0, 1e30},
    {"ema", "DECAY",
     "validate, choose and keep an average of the weights, DECAY of which, 0.999 say, stays at each step; less at "
     "first; 0: none",
     OPTION_REAL, AT(ema), 0, 0.9999999},
    {"label-smoothing", "X", "share of each label that is spread over all classes", OPTION_REAL, AT(label_smoothing), 0,
     0.99},

    {.type = OPTION_GROUP, .help = "Running:"},
    {"out", "DIR", "folder for best.safetensors, last.safetensors, curves.csv, config.json and the pictures",
     OPTION_TEXT, AT(out)},
    {"resume", NULL, "go on with the run in the folder, with its options; those given here go before", OPTION_FLAG,
     AT(resume)},
    {"threads", "N", "threads of long operations; 0: as many as there are processors", OPTION_INT, AT(threads), 0,
     1024},
    {"profile", NULL,
     "print where the time of a step goes, by operation and by layer; rows that do not fill a step are left out",
     OPTION_FLAG, AT(profile)},
    {"no-plots", NULL, "draw nothing; pictures that are there stay", OPTION_FLAG, AT(no_plots)},
    {0}};

const options_program settings_program = {
    .name = "train",
    .about = "Trains one model on one data set, keeps its best and its last state, and goes on from there.",
    .table = table,
    .after = "Ctrl-C keeps the state before it ends; --resume then ends with the same bytes as a run that was never "
             "stopped. predict uses "
             "the file "
             "best.safetensors.\n\n"
             "Examples:\n"
             "train --data csv:housing.csv --hidden 128x3 --out housing\n"
             "train --data idx:mnist --model convnet --out digits\n"
             "train --data text:input.txt --activation swiglu --out shakespeare"};

train_settings settings_defaults(void)
{
    return (train_settings){.data = "glyphs",
                            .task = "auto",
                            .header = "auto",
                            .missing = "error",
                            .seed = 1,
                            .accumulate = 1,
                            .best = "loss",
                            .optimizer = "adamw",
                            .schedule = "cosine",
                            .warmup = 0.05,
                            .weight_decay = 0.01,
                            .clip = 1,
                            .out = "trained"};
}

void settings_complete(train_settings *s, int64_t rows)
{
    const bool gpt = strcmp(s->net.model, "gpt") == 0, vit = strcmp(s->net.model, "vit") == 0;
    const bool text = net_reads_text(s->net.model), sgd = strcmp(s->optimizer, "sgd") == 0,
               lion = strcmp(s->optimizer, "lion") == 0;
    s->epochs = s->epochs ? s->epochs : text ? 10 : strcmp(s->data, "glyphs") == 0 ? 4 : 20;
    if (s->batch == 0)
        for (s->batch = 8; s->batch < (gpt ? 32 : 128) && 2 * s->batch <= rows / 16;)
            s->batch *= 2;
    if (s->lr == 0)
        s->lr = (gpt ? 3e-3 : vit ? 1e-3 : 2e-3) * (sgd ? 20 : lion ? 0.1 : 1);
}

static bool given(const char *option)
{
    return options_given(&settings_program, option);
}

/* The first of some options that was given; NULL: none. */
static const char *first_given(const char *const *options)
{
    while (*options && !given(*options))
        options++;
    return *options;
}

bool settings_fit(const train_settings *s, bool classifies, char message[NET_MESSAGE])
{
    static const char *const of_rows[] = {"target",  "task", "header", "ignore", "categorical",
                                          "missing", "rows", "noise",  NULL};
    const char *model = s->net.model, *by = s->optimizer,
               *of_rows_only = net_reads_text(model) ? first_given(of_rows) : NULL;
    const bool sgd = strcmp(by, "sgd") == 0, rmsprop = strcmp(by, "rmsprop") == 0, lion = strcmp(by, "lion") == 0;
    for (const program_option *o = settings_program.table; o->name || o->help; o++)
        if (o->name && given(o->name) && !net_takes(model, o->name))
            return snprintf(message, NET_MESSAGE, "--%s is not for --model %s", o->name, model), false;
    if (of_rows_only)
        return snprintf(message, NET_MESSAGE, "--%s is for rows, and a text has none", of_rows_only), false;
    const char *conflict = s->momentum > 0 && !sgd && !rmsprop  ? "--momentum is for sgd and rmsprop only"
                           : given("beta1") && (sgd || rmsprop) ? "--beta1 is for adamw, adam, nadam and lion only"
                           : given("beta2") && sgd              ? "--beta2: sgd has none"
                           : given("epsilon") && (sgd || lion)  ? "--epsilon is for adamw, adam, nadam and rmsprop only"
                           : given("end") && strcmp(s->schedule, "cosine") != 0 ? "--end is for --schedule cosine only"
                           : s->batch < net_least_rows(&s->net) ? "--batch: --norm batch needs two rows at least"
                           : !s->resume && net_residual_is_idle(&s->net)
                               ? "--residual: no two hidden layers of one width follow each other"
                           : given("patience") && s->patience >= s->epochs && s->patience > 0
                               ? "--patience: a run has no more epochs than that; choose fewer, or more --epochs"
                           : s->start && !s->resume && given("init") ? "--init: the weights are those of --start"
                           : s->label_smoothing > 0 && !classifies ? "--label-smoothing is for classes and letters only"
                           : strcmp(s->best, "accuracy") == 0 && !classifies
                               ? "--best accuracy is for classes and letters only"
                           : s->resume && given("start")     ? "--start begins a run, and --resume goes on with one"
                           : s->activation_from && !s->start ? "--activation-from is for --start only"
                                                             : NULL;
    if (conflict)
        snprintf(message, NET_MESSAGE, "%s", conflict);
    return !conflict;
}

tg_optimizer_config settings_optimizer(const train_settings *s, int64_t steps)
{
    tg_optimizer_config config = {.lr = s->lr,
                                  .weight_decay = s->weight_decay,
                                  .clip_norm = s->clip,
                                  .momentum = s->momentum,
                                  .nesterov = s->momentum > 0,
                                  .beta1 = s->beta1,
                                  .beta2 = s->beta2,
                                  .epsilon = s->epsilon};
    tg_optimizer_from_name(s->optimizer, &config.kind);
    tg_schedule_from_name(s->schedule, &config.schedule.kind);
    config.schedule.steps = steps;
    config.schedule.end = config.schedule.kind == TG_WARMUP_COSINE ? s->end : 0;
    config.schedule.warmup = (int64_t)(s->warmup * (double)steps);
    config.schedule.period = steps / 3 > 0 ? steps / 3 : 1; /* "step": a tenth after each third */
    config.nesterov = config.nesterov && config.kind == TG_SGD;
    return config;
}
