/* The runs of `compare`: activations, or nets, at every point of a grid, with several seeds; otherwise equal.
 *
 *     experiment e = experiment_defaults();
 *     options_parse(experiment_program(), argc, argv, &e.settings);
 *     if (!experiment_prepare(&e, NULL, &error))       // checks everything, loads the data, writes nothing
 *         return fprintf(stderr, "compare: %s\n", error.text), 2;
 *     run_spec spec = experiment_spec(&e, run);         // of run 0 .. e.runs - 1
 *     experiment_free(&e);
 *
 * Every option of a run that is a number or a choice takes a list of values here; all combinations are tried.
 */
#pragma once

#include "examples/programs/report/runlog.h"
#include "examples/programs/run/search.h"
#include "examples/programs/run/source.h"
#include "examples/programs/run/sweep.h"

enum { EXPERIMENT_FORMS = 32, EXPERIMENT_AXES = 16, EXPERIMENT_POINT = 512 };

typedef struct experiment_settings {
    run_spec run;                     /* first: run_options */
    const char *activations, *models; /* models: NULL for that of the data */
    const char *list[OPTIONS_MOST];   /* [place in run_options]: the option's values, if it has several */
    sweep sweep;
    int seeds;
    const char *format, *config, *runs, *measures, *more_is_better, *less_is_better, *margin;
    bool keep_models, paper;
} experiment_settings;

/* An option with several values. */
typedef struct experiment_axis {
    const program_option *option; /* of run_options */
    int count;
    const char *values[OPTIONS_NUMBERS];
} experiment_axis;

/* What is compared: an activation, or if there are several models, one of them with an activation. */
typedef struct experiment_form {
    const char *model, *activation;
    const char *name;   /* in tables and pictures: the activation; the model; or with several of both "gru-relu" */
    const char *folder; /* the same in names of runs, where several models always have their activation */
} experiment_form;

typedef struct experiment {
    experiment_settings settings;
    run_source from; /* split for the first run */
    bool borrows;    /* the data is another's */
    experiment_form form[EXPERIMENT_FORMS];
    int form_count, model_count;
    const char *lost[EXPERIMENT_FORMS + 1]; /* forms whose activation is not finite everywhere; NULL ends them */
    experiment_axis axes[EXPERIMENT_AXES];
    int axis_count;
    char name[RUN_NAME]; /* of the folder if no option names it: data, model and the given options */
    double margin;       /* of the test of equality; 0: none */
    search search;       /* --lr auto and --init-scale auto: the lists grow (experiment_grow) */
    int points;          /* size of the grid: the product of the axes' counts */
    int runs;            /* number of runs: forms times points times seeds times folds */
    long *parameters;    /* [form_count * points]: of the nets of the first runs; the other runs have the same */
    int64_t *rows;       /* [form_count * points]: training rows of a text, which depend on the net's context */
} experiment;

const options_program *experiment_program(void);
experiment experiment_defaults(void);

/* The search of `train` for its rate, its scale or both: runs of this complete specification, which lives as long. They
 * have its folds, of which it is one. */
experiment experiment_of(const run_spec *run, const bool searched[SEARCH_VALUES]);

/* Reads --margin, "1%" or "0.01"; 0 without the option. On failure false and one line. */
bool experiment_margin(const experiment_settings *s, double *margin, tg_error *error);

/* Finds the runs without loading the data: e->runs, and experiment_given and experiment_name of each, unless options
 * are left to defaults for the data. On failure false and one line. */
bool experiment_list_runs(experiment *e, tg_error *error);

/* Checks the combination of options and loads the data, or shares that of `lender` (NULL: none), which has the same
 * options for data and lives longer. On failure false and one line. */
bool experiment_prepare(experiment *e, const experiment *lender, tg_error *error);
void experiment_free(experiment *e);

/* With --lr auto or --init-scale auto (search.h), after all runs: adds values, given each activation's first run at its
 * best point by validation, and sets the runs anew; finished ones keep their names. False without a new point; on
 * failure with a message in `error`, else an empty one. */
bool experiment_grow(experiment *e, const int best[], tg_error *error);

/* False for a run of the grid that the search leaves out; and the number of the others. */
bool experiment_tries(const experiment *e, int run);
int experiment_count(const experiment *e);

/* The form of a run. */
const experiment_form *experiment_form_of(const experiment *e, int run);

/* Run number `run`: all forms at all points of the grid for the first seed (and fold), then for the next, so that
 * the finished runs of an interrupted comparison are paired. experiment_given has the given options, experiment_spec
 * also the defaults for the data. */
run_spec experiment_given(const experiment *e, int run);
run_spec experiment_spec(const experiment *e, int run);
int64_t experiment_rows(const experiment *e, int run); /* its training rows */

/* Its folder's name: "relu-lr0.01-seed1". */
void experiment_name(const experiment *e, int run, char name[EXPERIMENT_POINT]);

/* The values of the axes in words ("lr 0.001"; empty without a search). The value and the name ("lr") of the axis of a
 * picture, which is the longest list of numbers; for a list of words the value is the index. 0 and NULL without a
 * search. */
void experiment_point(const experiment *e, int run, char text[EXPERIMENT_POINT]);
double experiment_number(const experiment *e, int run);
const char *experiment_searched(const experiment *e);

/* The words of that list, separated by blanks; empty if it is a list of numbers. */
void experiment_searched_words(const experiment *e, char text[EXPERIMENT_POINT]);

/* Each initial scale of the short search with its learning rate, "1 0.001 0.5 0.00316 0.25 0.01"; empty without. */
void experiment_searched_rates(const experiment *e, char text[EXPERIMENT_POINT]);

/* Prints the values that are searched so far, "learning rates 0.001,0.01; initial scales 0.25,1", and if scales are,
 * how many runs that is, in all and for each that is compared. */
void experiment_print_search(const experiment *e, FILE *out);

/* "784-128x8-10", of the first run. */
void experiment_net(const experiment *e, char text[EXPERIMENT_POINT]);

/* Describes the data and the settings that follow from it, in a few lines; and what is known of all runs together. */
void experiment_describe(const void *experiment, FILE *out);
runlog_about experiment_about(const experiment *e);

/* The list of an option that takes one: "0.1,0.01". */
const char *experiment_list(const experiment *e, const char *option);

/* `compare --runs` (elsewhere.c): prints the table and its verdicts; with --out writes summary.csv there, and with
 * --report a page with the curves. Returns the exit status. */
int compare_elsewhere(const experiment_settings *s, const char *command);

/* ---- several data sets (data_sets.c) ----
 *
 *     compare --data csv:a.csv --data csv:b.csv --data csv:c.csv --activations relu,gelu_exact --out three
 *
 * Each data set has its own comparison, with the other options of the command, in a folder of `three`; the same command
 * continues. Options of one data set alone follow it in its word: --data "ames.csv --target Sale_Price". --data @FILE
 * has one of these in each line. Then the forms are ranked on each data set by the mean of the first measure that is
 * shown, and the ranks are tested (report/ranks_table.h). */

/* How many times the command line has --data; a list in a file counts twice. */
int data_sets_count(int argc, char *const *argv);

/* Compares on all of them. Returns the status of the program: that of the first comparison that fails, if one does, and
 * of a signal that interrupts it. */
int data_sets_compare(int argc, char **argv);

/* ---- the text of a paper on how a comparison was made (methods.c) ---- */

/* The methods of a comparison but for its tests: data and split, nets and training, the choice of the epoch and of
 * learning rate and scale, version, seeds and command. */
void methods_print(const experiment *e, const char *command, FILE *to);

/* "Software. tapegrad 0.9.0; the command: compare ..." */
void methods_print_software(const char *command, FILE *to);
