/* The specification of a training run: one plain struct, one table of options, one JSON form. `train` reads one,
 * `compare` a grid of them.
 *
 *     run_spec s = run_spec_defaults(false);
 *     ... options_parse with a table that begins with run_options ...
 *     if (!source_open(&s, &from, &error) || !source_split(&s, &from, &error)) ...    // sets s.net from the data
 *     run_spec_complete(&s, from.train.count); // sets defaults for data and model
 *     if (!run_spec_check(&s, classifies, &error)) ...
 *     json_t *json = run_spec_json(&s);
 *
 * The JSON form is in config.json of a run's folder; two runs with equal forms are the same run.
 */
#pragma once

#include "examples/programs/run/net.h"

typedef struct run_spec {
    net_spec net; /* first: net_options */
    const char *gated;
    const char *data, *validation, *test, *split, *target, *task, *header, *ignore, *categorical, *missing, *weights,
        *groups;
    int rows, folds, fold; /* fold: from 1 on; 0 without folds */
    double noise;
    int epochs, epoch_windows, batch, accumulate, shards, patience, nets, seed;
    const char *optimizer, *schedule, *best, *refit, *soften, *class_weights;
    const char *products; /* one of spec_products; NULL: auto */
    const char *round;    /* of training passes; NULL: not rounded */
    double lr, warmup, end, weight_decay, momentum, beta1, beta2, epsilon, clip, ema, label_smoothing;
    const char *test_noise, *test_as;
    int train_loss_every;
    bool drop_last, drop_duplicates;
    bool reconstructs; /* the targets are the inputs, for any model; not an option */
    bool compared;     /* the defaults are those of `compare` (run_spec_complete); not an option */

    options_given given; /* on the command line; of an older record: none */

    const char *start, *activation_from, *rename; /* weights to begin with; may be NULL */
    const char *out;                              /* NULL: a name that describes the run */
    bool overwrite, no_plots, report, tensorboard, keep_predictions;
} run_spec;

extern const char *const spec_products[],
    *const spec_tasks[], *const spec_headers[],
                             *const spec_missings[]; /* ended by NULL, in the order of the enumerations */

/* Takes the products that an option names; NULL: those of TG_PRODUCTS. False and one line without OpenBLAS. */
bool spec_take_products(const char *products, tg_error *error);

/* Every option of a run, in groups. Those below "Running:" are not part of the JSON form. A line of zeros ends the
 * table. */
extern const program_option run_options[];

/* The defaults of `train`, or of a run that is compared. */
run_spec run_spec_defaults(bool compared);

/* Sets options that are 0, -1 or auto to defaults for the data and the model: batch, epochs, patience, learning rate,
 * widths, dropout, refit, nets. A complete specification gives the same run in every program. */
void run_spec_complete(run_spec *s, int64_t training_rows);

/* The model of images if no option names one. */
const char *run_spec_image_model(const run_spec *s);

/* False and one line if an option of the command line has no effect together with the others. */
bool run_spec_check(const run_spec *s, bool classifies, tg_error *error);

/* What --test-as names: an activation in place of the net's, or weights in another format. */
typedef struct run_variant {
    char name[64]; /* in results: "gelu_exact", "float16", or the name of a formula */
    const char *activation;
    tg_format format;
} run_variant;

/* The next one of a list that begins as `test_as`; false at its end, or with an error. */
bool run_spec_next_variant(const run_spec *s, const char **list, run_variant *variant, tg_error *error);

/* What training passes are rounded to. */
tg_format run_spec_format(const run_spec *s);

tg_optimizer_config run_spec_optimizer(const run_spec *s, int64_t steps);

/* The JSON form; NULL when memory runs out. */
json_t *run_spec_json(const run_spec *s);

/* The options of `train`, as words for a shell, that make this complete run: those for which it has other defaults. */
void run_spec_print_options(const run_spec *complete, int64_t training_rows, FILE *to);

/* Prints a line with the options, likewise, that `complete` has by default and the other program (compare for a run of
 * train) would have otherwise, with its values; nothing if there are none. `given` is the specification before it was
 * completed; NULL: all options are from a record. */
void run_spec_describe_otherwise(const run_spec *given, const run_spec *complete, int64_t training_rows, FILE *to);

/* The first option that differs of those that decide by which number, on which samples, the best epoch is chosen; NULL:
 * none. Epochs of two such runs cannot be compared. */
const char *run_spec_judged_otherwise(const run_spec *a, const run_spec *b);

/* results/iris-mlp-lr0.01: writes data, model and the options that differ from `defaults` into `name`. `lists` has the
 * options with several values, as texts ("0.01,0.1"), of a comparison: results/iris-mlp-compared-lr0.01,0.1; NULL: it
 * is one run. */
enum { RUN_NAME = 160 };
void run_spec_name(const run_spec *s, const json_t *lists, const run_spec *defaults, char name[RUN_NAME]);
