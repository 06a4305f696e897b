/* What `compare` is told, and what follows from it: the data, the nets and the runs.
 *
 *     experiment e = experiment_defaults();
 *     options_parse(&experiment_program, argc, argv, &e.settings);
 *     char message[EXPERIMENT_MESSAGE];
 *     if (!experiment_prepare(&e, message))             // checks everything, loads the data, writes nothing
 *         return fprintf(stderr, "compare: %s\n", message), 2;
 *     ... run `run` of e.runs trains e.activations[run % e.activation_count] with seed experiment_seed(&e, run) ...
 *     experiment_free(&e);
 */
#ifndef LAB_EXPERIMENT_H
#define LAB_EXPERIMENT_H

#include "examples/data/dataset.h"
#include "examples/lab/options.h"

#include <stdio.h>
#include <tapegrad.h>

enum { EXPERIMENT_MESSAGE = 512, EXPERIMENT_ACTIVATIONS = 32, EXPERIMENT_LAYERS = 64 };

/* The options as given; the names are those of --help. */
typedef struct experiment_settings {
    const char *data, *validation, *test, *split, *target, *task, *header, *ignore, *categorical, *missing;
    int folds;
    int rows;
    double noise;
    const char *hidden, *activations, *gated, *init, *norm;
    int seeds, seed, patience;
    const char *optimizer, *schedule;
    /* Lists of numbers, what is searched; and one of each, as experiment_of_run gives them. */
    const char *lrs, *widths, *depths, *dropouts, *epoch_counts, *batches, *weight_decays, *momenta, *warmups, *clips,
        *label_smoothings;
    double lr, dropout, weight_decay, momentum, warmup, clip, label_smoothing;
    int width, depth, epochs, batch; /* width and depth 0: as `hidden` says */
    int jobs;
    double silence;
    const char *out, *format, *config;
    const char *test_noise, *scale;
    bool residual, seed_lines, no_plots, report;
} experiment_settings;

/* A list of numbers that is searched, and where the one of a run goes. */
typedef struct experiment_axis {
    const program_option *option;
    size_t number; /* offset in the settings of an int or a double */
    int count;
    double values[OPTIONS_NUMBERS];
} experiment_axis;
enum { EXPERIMENT_AXES = 11, EXPERIMENT_POINT = 192 };

typedef struct experiment {
    experiment_settings settings;
    dataset data;
    int64_t hidden[EXPERIMENT_LAYERS + 1]; /* widths as `hidden` says, ended by 0 */
    char *chosen[2];                       /* batch and epochs, where nobody has said */
    tg_activation activations[EXPERIMENT_ACTIVATIONS];
    int activation_count;
    experiment_axis axes[EXPERIMENT_AXES];
    int points; /* of the grid: the product of their counts */
    int runs;   /* activations times points times seeds times folds */
} experiment;

extern const options_program experiment_program;

experiment experiment_defaults(void);

/* Checks what the options mean together and loads the data. On failure false and one line. */
bool experiment_prepare(experiment *e, char message[EXPERIMENT_MESSAGE]);
void experiment_free(experiment *e);

/* Run number `run`: all activations at all points of the grid for the first seed (and fold), then for the next, so that
 * an interrupted comparison is still a paired one. */
tg_activation experiment_activation(const experiment *e, int run);
int experiment_seed(const experiment *e, int run);
int experiment_fold(const experiment *e, int run);

/* Which point of the grid: the settings with the numbers there, and the numbers of the lists that have several, in
 * words ("lr 0.001"; empty where nothing is searched). */
experiment_settings experiment_of_run(const experiment *e, int run);
void experiment_point(const experiment *e, int run, char text[EXPERIMENT_POINT]);

/* The steps of a run's epoch; and the least rows of one, 2 where there is batch norm: fewer are left out of the epoch.
 */
long experiment_least_rows(const experiment *e);
long experiment_steps(const experiment *e, int run);

/* The widths of a run's hidden layers, ended by 0. */
void experiment_hidden(const experiment *e, int run, int64_t widths[EXPERIMENT_LAYERS + 1]);

/* "784-128x8-10"; with lists, all widths and depths: "784-(64,128)x(2,4)-10". */
void experiment_net(const experiment *e, char text[EXPERIMENT_POINT]);

/* The number of a run that is first searched, and what it is ("lr"); 0 and NULL where nothing is. */
double experiment_number(const experiment *e, int run);
const char *experiment_searched(const experiment *e);

/* Which rows a run trains on, validates and tests with. */
dataset_parts experiment_parts(const experiment *e, int run);

/* Says what was read and what follows from it, in a few lines; and how the rows are split, in a sentence. */
void experiment_describe(const experiment *e, FILE *out);
const char *experiment_split(const experiment *e);

/* What makes results of different seeds, or folds, depend on each other: the number of test samples (or validation
 * samples, where there are none) by that of training samples, where both are drawn anew from one file; otherwise 0. And
 * whether folds are the same for all seeds. */
double experiment_overlap(const experiment *e);
bool experiment_has_same_folds(const experiment *e);

/* Reads the lists of numbers into the axes, and gives the largest number of each. */
bool experiment_read_axes(experiment *e, char message[EXPERIMENT_MESSAGE]);

/* Once the data is there: false and one line where two points of the grid are the same training, as depth 0 and 4 with
 * --hidden 128x4. */
bool experiment_points_differ(const experiment *e, char message[EXPERIMENT_MESSAGE]);
experiment_settings experiment_largest(const experiment *e);

#endif
