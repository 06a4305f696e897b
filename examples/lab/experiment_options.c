/* The options of `compare`, and their defaults. */
#include "examples/lab/experiment.h"

static const char *const tasks[] = {"auto", "classification", "regression", NULL};
static const char *const formats[] = {"table", "markdown", "latex", "csv", "html", NULL};
static const char *const scales[] = {"auto", "linear", "log", NULL};
static const char *const missings[] = {"error", "drop", "mean", NULL};
static const char *const splits[] = {"redrawn", "fixed", NULL};
static const char *const headers[] = {"auto", "yes", "no", NULL};
static const char *const gated_widths[] = {"parameters", "width", NULL};
static const char *const initialisers[] = {"variance_preserving", "he_normal", "he_uniform", "xavier_normal",
                                           "xavier_uniform",      "unit_rows", "orthogonal", NULL};
static const char *const norms[] = {"none", "layer", "rms", "batch", NULL};
static const char *const optimizers[] = {"adamw", "adam", "sgd", "nadam", "rmsprop", "lion", NULL};
static const char *const schedules[] = {"constant", "cosine", "step", NULL};

#define AT(member) offsetof(experiment_settings, member)

static const program_option table[] = {
    {.type = OPTION_GROUP, .help = "Data:"},
    {"data", "SPEC", "spirals, moons, circles, sine, glyphs, idx:DIR (a folder with MNIST's four files) or csv:FILE",
     OPTION_TEXT, AT(data)},
    {"validation", "PART",
     "rows that choose the best epoch: a fraction such as 0.2, or first:N [0.2; glyphs 1/7, idx 0.1]", OPTION_TEXT,
     AT(validation)},
    {"test", "PART",
     "rows for the table's test columns: a fraction, first:N, or none [0.2; glyphs 1/7; of idx the t10k files]",
     OPTION_TEXT, AT(test)},
    {"split", "HOW", "the parts are drawn anew for each seed, the same for all activations, or once and for all",
     OPTION_CHOICE, AT(split), .choices = splits},
    {"folds", "K",
     "K-fold cross-validation: each seed cuts the rows into K folds, and each fold is the test part once; 0: none",
     OPTION_INT, AT(folds), 0, 1000},
    {"rows", "N", "rows to generate; 0: as many as suit the data", OPTION_INT, AT(rows), 0, 10e6},
    {"noise", "SIZE", "disturbance of generated rows; 0: what suits the data; negative: none", OPTION_REAL, AT(noise),
     -1, 100},
    {"target", "COLUMN", "target of a CSV file, by name or number (0 first, -1 last)", OPTION_TEXT, AT(target)},
    {"task", "KIND", "what the target of a CSV file is", OPTION_CHOICE, AT(task), .choices = tasks},
    {"header", "WHETHER", "whether a CSV file's first line names the columns", OPTION_CHOICE, AT(header),
     .choices = headers},
    {"ignore", "COLUMNS", "columns of a CSV file that are no features, by name or number, with commas between",
     OPTION_TEXT, AT(ignore)},
    {"categorical", "COLUMNS", "columns of a CSV file whose numbers are names; columns of words are categorical anyway",
     OPTION_TEXT, AT(categorical)},
    {"missing", "HOW",
     "cells of a CSV file that are empty, ?, NA, N/A, nan or null are an error; or their rows are dropped; or they get "
     "the "
     "mean and a feature that says so",
     OPTION_CHOICE, AT(missing), .choices = missings},

    {.type = OPTION_GROUP, .help = "Networks:"},
    {"hidden", "WIDTHS",
     "hidden layers: 128x8 is eight of 128; 256x2,64 is three; auto: 128x4, and 32x2 for fewer than 300 training rows",
     OPTION_TEXT, AT(hidden)},
    {"width", "NS",
     "width of all hidden layers, in place of --hidden's; or several, with commas between: all are tried; 0: as "
     "--hidden says",
     OPTION_INTS, AT(widths), 0, 1e6},
    {"depth", "NS", "how many hidden layers, in place of --hidden's; or several; 0: as --hidden says", OPTION_INTS,
     AT(depths), 0, EXPERIMENT_LAYERS},
    {"activations", "NAMES", "what to compare, with commas between; the differences are taken to the first",
     OPTION_TEXT, AT(activations)},
    {"gated", "EQUAL", "gated nets (swiglu, ...) have about as many parameters as plain ones, or equal width",
     OPTION_CHOICE, AT(gated), .choices = gated_widths},
    {"init", "NAME", "initial weights", OPTION_CHOICE, AT(init), .choices = initialisers},
    {"norm", "NAME", "normalisation behind every hidden layer's activation", OPTION_CHOICE, AT(norm), .choices = norms},
    {"residual", NULL, "a sum around every hidden layer behind another one of the same width", OPTION_FLAG,
     AT(residual)},
    {"dropout", "PS", "probability of dropping a hidden unit; or several", OPTION_REALS, AT(dropouts), 0, 0.99},

    {.type = OPTION_GROUP, .help = "Training:"},
    {"seeds", "N", "runs of each activation", OPTION_INT, AT(seeds), 1, 10000},
    {"seed", "N", "the first seed; the others follow it", OPTION_INT, AT(seed), 0, 2e9},
    {"epochs", "NS", "passes over the training rows, or several; 0: as many as make about 1,500 steps, 10 to 100",
     OPTION_INTS, AT(epoch_counts), 0, 1e6},
    {"batch", "NS",
     "rows of a step, or several; 0: a sixteenth of the training rows, as a power of two from 8 to 128; with --norm "
     "batch, one "
     "row that would be left alone waits for another epoch",
     OPTION_INTS, AT(batches), 0, 1e6},
    {"patience", "N", "a run ends after so many epochs without a lower validation loss; 0: never", OPTION_INT,
     AT(patience), 0, 1e6},
    {"lr", "RATES", "learning rate, or several with commas between: all are tried", OPTION_REALS, AT(lrs), 1e-12, 1e6},
    {"optimizer", "NAME", "what takes the steps", OPTION_CHOICE, AT(optimizer), .choices = optimizers},
    {"weight-decay", "XS", "decay of the weights; biases do not decay; or several", OPTION_REALS, AT(weight_decays), 0,
     1e6},
    {"momentum", "XS", "of sgd, with Nesterov's step, and of rmsprop; 0: none; or several", OPTION_REALS, AT(momenta),
     0, 0.9999},
    {"schedule", "NAME", "the learning rate over time", OPTION_CHOICE, AT(schedule), .choices = schedules},
    {"warmup", "SHARES", "share of all steps in which the rate grows to its full size, before any schedule; or several",
     OPTION_REALS, AT(warmups), 0, 1},
    {"clip", "NORMS", "gradients longer than this are cut to it; 0: never; or several", OPTION_REALS, AT(clips), 0,
     1e30},
    {"label-smoothing", "XS", "share of each label that is spread over all classes; or several", OPTION_REALS,
     AT(label_smoothings), 0, 0.99},

    {.type = OPTION_GROUP, .help = "Running:"},
    {"jobs", "N", "runs at the same time; 0: as many as there are processors", OPTION_INT, AT(jobs), 0, 1024},
    {"silence", "SECONDS", "a run that has not been heard of for so long is ended as failed; 0: never", OPTION_REAL,
     AT(silence), 0, 1e9},
    {"out", "DIR", "folder for curves.csv, summary.csv, config.json and the pictures", OPTION_TEXT, AT(out)},
    {"test-noise", "SIZES",
     "noise.csv and a picture: how the net at the best epoch does where uniform noise between -SIZE and SIZE is added "
     "to "
     "the features of the test rows",
     OPTION_REALS, AT(test_noise), 0, 1e6},
    {"scale", "KIND", "of the loss in pictures; auto: logarithmic where it is long", OPTION_CHOICE, AT(scale),
     .choices = scales},
    {"seed-lines", NULL, "pictures show a line for each seed in place of a band", OPTION_FLAG, AT(seed_lines)},
    {"no-plots", NULL, "draw nothing; pictures that are there stay, and a report has none", OPTION_FLAG, AT(no_plots)},
    {"report", NULL, "write report.html too: table, pictures, options and command in one file", OPTION_FLAG,
     AT(report)},
    {"format", "KIND", "of the table that is printed", OPTION_CHOICE, AT(format), .choices = formats},
    {"config", "FILE", "take the options from a config.json; those given here go before", OPTION_TEXT, AT(config)},
    {0}};

const options_program experiment_program = {
    .name = "compare",
    .about = "Trains the same network with several activations and several seeds, and tells which is better: by a "
             "table with intervals, and by curves.",
    .table = table,
    .after = "For one seed, all activations have the same training, validation and test rows, see them in the same "
             "order and, where shapes "
             "agree, start from the same weights. What is chosen, as the best epoch, is chosen by validation rows; "
             "test rows choose nothing. "
             "The loss of a regression is the squared error of targets that are standardised by the training rows. The "
             "same command gives the "
             "same curves, whatever --jobs.\n\n"
             "Example: compare --data glyphs --activations relu,gelu_exact --seeds 5 --out results"};

experiment experiment_defaults(void)
{
    return (experiment){.settings = {.data = "glyphs",
                                     .split = "redrawn",
                                     .target = "-1",
                                     .task = "auto",
                                     .header = "auto",
                                     .missing = "error",
                                     .hidden = "auto",
                                     .activations = "relu,gelu_exact,silu,swiglu",
                                     .gated = "parameters",
                                     .init = "variance_preserving",
                                     .norm = "none",
                                     .seeds = 3,
                                     .seed = 1,
                                     .lrs = "0.001",
                                     .widths = "0",
                                     .depths = "0",
                                     .epoch_counts = "0",
                                     .batches = "0",
                                     .warmups = "0.05",
                                     .dropouts = "0",
                                     .momenta = "0",
                                     .clips = "0",
                                     .label_smoothings = "0",
                                     .optimizer = "adamw",
                                     .schedule = "cosine",
                                     .weight_decays = "0.01",
                                     .silence = 600,
                                     .out = "results",
                                     .format = "table",
                                     .scale = "auto"}};
}
