/* Data sets for the programs: read from files or synthetic, and split into training, validation and test rows; feed.h
 * passes them to tg_fit.
 *
 *     dataset set;
 *     tg_error error;
 *     if (!dataset_load("csv:iris.csv", NULL, &set, &error) ||
 *         !dataset_split(&set, &(dataset_parts){.seed = 1}, &error))
 *         return fprintf(stderr, "%s\n", error.text), 2;
 *
 *     ... set.x, set.labels, set.train.row ...
 *     dataset_free(&set);
 *
 * Everything is plain memory: features [rows, features] in float, row by row, with int32 labels [rows] beside them
 * for a classification or float targets [rows, targets] for a regression. The same seed gives the same bytes.
 */
#pragma once

#include "examples/programs/system/standard.h"

typedef enum dataset_task {
    DATASET_TASK_AUTO = 0, /* in options: infer it from the data; never in a loaded data set */
    DATASET_CLASSIFICATION,
    DATASET_REGRESSION,
} dataset_task;

typedef enum dataset_header {
    DATASET_HEADER_AUTO =
        0, /* a first line without any number is a header, unless each word of it occurs again below */
    DATASET_HEADER_YES,
    DATASET_HEADER_NO,
} dataset_header;

typedef enum dataset_missing {
    DATASET_MISSING_ERROR =
        0, /* a cell that is empty, ?, NA, N/A, nan, null, \N, <NA> or #N/A, #DIV/0! and the like is an error; in a column
                                  of numbers also None, - or a point */
    DATASET_MISSING_DROP, /* drops rows with a missing cell */
    DATASET_MISSING_MEAN, /* a missing number becomes the mean of the training rows (0 among numbers that are 0 or 1), a
                             missing word no category, and an extra feature marks it; rows without a target are
                             dropped */
} dataset_missing;

/* Options of loading; zero is the default everywhere. An option that the data set does not use is an error. */
typedef struct dataset_options {
    /* Generated data. */
    uint64_t seed; /* of synthetic data */
    size_t rows;   /* all splits together; 0: 2,000 (glyphs: 14,000) */
    double noise;  /* standard deviation of the noise on points or pixels; 0: see dataset_load; negative: none */

    /* CSV files. */
    const char *target;      /* name of the column, or its number, from 0 or from -1 = last (the default); several
                                   for a regression, "Y1,Y2" or "-2,-1" */
    dataset_task task;       /* what the target is */
    dataset_header header;   /* says if the first line names the columns */
    const char *ignore;      /* columns that are not features, written as in `target`; NULL: none */
    const char *categorical; /* columns whose cells are categories, written as in `target`; columns with more words than
                                numbers always are. If there are words among its numbers, each cell is a word. */
    const char *weights; /* column with the weight of each row, written as in `target`; it is no feature. Rows without
                            one are treated like rows without a target. NULL: all rows count once */
    const char *groups;  /* column whose entries say which rows belong together, such as all of a patient; written as in
                           `target`, and no feature. Rows without one are treated like rows without a target. NULL: each
                           row is on its own */
    dataset_missing missing;
    bool drop_duplicates; /* of rows with the same features, targets, weights and groups only the first stays */
} dataset_options;

/* The split of the rows; zero is the default everywhere. Rows that are not for validation or test are for training.
 * With groups, no group is divided: "rows" below are then groups, except those of "first:N", as in scikit-learn's
 * GroupShuffleSplit and its GroupKFold with shuffle. For the stratification a group has its most frequent class. */
typedef struct dataset_parts {
    uint64_t seed; /* of the rows chosen at random */

    /* Validation rows: "0.2", that fraction of all rows at random (the default; glyphs: 1/7, IDX: 0.1), or "first:N",
     * the first N, as in the GELU paper "first:5000" of MNIST's training images; or "none". In a table of classes,
     * random splits are stratified: each has all classes in about the same proportion. */
    const char *validation;

    /* Test rows: in the same form, or "none". By default 0.2 (glyphs: 1/7); for IDX always the t10k files. */
    const char *test;

    /* k-fold cross-validation, if 2 or more: the rows are divided into this many folds at random, and fold number
     * `fold` is the test split. */
    int folds, fold;
} dataset_parts;

/* A subset of the rows, in the order of the source. */
typedef struct dataset_part {
    size_t rows;
    const int32_t *row; /* [rows]: their numbers in the blocks of the data set, which owns this */
} dataset_part;

/* A feature of a CSV file: the number in a column; or 1 if the cell has this category, else 0; or 1 if the cell is
 * missing, else 0. Of more than 100 categories the frequent ones have a feature each, the others one together. */
typedef struct dataset_feature {
    char *column;   /* its name, NULL if the file has none */
    size_t number;  /* index of the column, from 0 */
    char *category; /* NULL: no category */
    size_t index;   /* of the category in its column */
    bool other;     /* the category is any that is not among the others of its column */
    bool missing;
} dataset_feature;

/* A column of a CSV file and its role; examples/programs/report/columns.h prints them. */
typedef struct dataset_column {
    char *name;        /* NULL if the file has none */
    const char *kind;  /* "number", "categorical", "target", "class", "weight", "group" or "ignored" */
    size_t entries;    /* number of distinct categories, classes or groups in the file; else 0 */
    double low, high;  /* for numbers: the smallest and the largest; else NaN */
    char *example;     /* the first entry, empty if all are missing */
    size_t missing;    /* cells without a value, in rows that were dropped too */
    bool zeros;        /* it is categorical because of zeros with which its entries begin: 00501 */
    double gap;        /* a number far from all others that looks like a code for missing values, -999; NaN: none */
    size_t gaps;       /* its rows */
    const char *doubt; /* why it is probably not a feature ("looks like a date"); NULL: no warning, else */
    const char *call;  /* what options call it: its name or number */
} dataset_column;

/* True if its cells are features or targets. */
bool dataset_is_used(const dataset_column *column);

typedef struct dataset_kind dataset_kind;

/* Blocks of memory that are freed together (internal.h). */
typedef struct dataset_memory {
    struct dataset_block *last;
    bool failed; /* it ran out */
} dataset_memory;

/* A data set. */
typedef struct dataset {
    char *name; /* for titles: "spirals", "mnist" for idx:data/mnist, "iris" for csv:uci/iris.csv */
    const dataset_kind *kind;
    dataset_task task;
    size_t rows, features;
    size_t classes;        /* classification: number of classes; else 0 */
    char **class_names;    /* classification: [classes]; else NULL */
    size_t targets;        /* regression: number of targets; else 0 */
    char **target_names;   /* regression: [targets], empty where they have none; or NULL */
    size_t *target_column; /* columns of the targets in a CSV file: [targets], or [1] for a classification; else NULL */
    size_t weight_column;  /* if there are weights */
    size_t groups;         /* number of groups of rows; 0: each row is on its own */
    size_t group_column;   /* if there are groups */
    size_t width, height;  /* of images, row-major, features = height * width; else 0 */
    size_t test_rows;      /* number of last rows that the source defines as the test split; else 0 */

    float *x;        /* [rows, features] */
    int32_t *labels; /* [rows], 0 .. classes-1, for a classification; else NULL */
    float *y;        /* [rows, targets] for a regression; else NULL */
    float *weight;   /* [rows]: weights, none negative, some positive in each split; NULL: all are 1 */
    int32_t *group;  /* [rows], 0 .. groups-1, by the ascending order of the column's entries; NULL without groups */
    double *cells;  /* [rows, columns] of a CSV file: the number, or the index of the category or class; NaN: missing */
    size_t *alike;  /* [rows] of a CSV file: the first row with the same features; else NULL */
    size_t *number; /* [rows]: index of each row in the source, from 0, where some were dropped; NULL: the same */

    size_t columns;         /* of a CSV file; else 0 */
    size_t comments;        /* its lines above the first row that begin with # */
    size_t unnamed;         /* its columns at the line ends without a name or a value, which are left out */
    bool header;            /* its first line names the columns */
    dataset_column *column; /* [columns]; else NULL */

    size_t empty;             /* rows without any value at the end of the file, which are left out */
    size_t duplicates;        /* rows that were dropped because an earlier one is the same */
    size_t dropped;           /* rows of the source that were dropped because of missing cells */
    dataset_feature *feature; /* [features] of a CSV file; else NULL */
    size_t categorical;       /* categorical columns of the source, each of which became a feature for each category */
    size_t marks;             /* features that mark missing cells */

    /* value in the source = value here * scale + mean. CSV columns are standardised to mean 0 and deviation 1 over the
     * weighted training rows, except features that are only 0 or 1 there, categories above all, which have mean 0 and
     * scale 1; a feature that is constant there is 0 in every row and has scale 0, a constant target has scale 1.
     * Pixels of IDX files have mean 0 and scale 255, synthetic data mean 0 and scale 1. Where the limit is not 0, the
     * value here is z / sqrt(1 + (z / limit)^2), of z = (value in the source - mean) / scale (dataset_soften). */
    double *feature_mean, *feature_scale, *feature_limit; /* [features] */
    double *target_mean, *target_scale;                   /* [targets]; NULL for a classification */

    int32_t *order; /* [rows]: the three splits, one after the other */
    dataset_part train, validation, test;

    dataset_memory memory; /* owns everything above, except the order: a shallow copy may have splits of its own */
} dataset;

/* Loads what `spec` names:
 *
 *   spirals    two arms of one and three quarter turns in [-1, 1]^2; 2 classes; noise 0.02
 *   moons      two half circles that reach into each other; 2 classes; noise 0.1
 *   circles    a circle of radius 0.5 in one of radius 1; 2 classes; noise 0.08
 *   sine       sin(3x) + x/2 for x in [-2, 2]; regression; noise 0.1
 *   glyphs     28x28 grey digits drawn with random strokes, in [0, 1]; 10 classes; noise 0.06
 *   idx:DIR    MNIST as it ships: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte,
 *              t10k-labels-idx1-ubyte, plain or with .gz, also as train-images.idx3-ubyte, or as EMNIST's
 *              emnist-letters-test-images-idx3-ubyte; pixels in [0, 1]; classes from the least label to the largest
 *   csv:FILE   a table with a separator (comma, semicolon, tab, |, or blanks; a decimal comma is read too, unless
 *              commas separate cells), a header or none, plain or with .gz; lines above the first row that begin with #
 *              are left out. Features are numbers; of a column of words each word becomes a feature that is 1 or 0.
 *              Targets that are words, or whole numbers of which at most 20 differ and each stands twice on average,
 *              make a classification, any other target a regression; classes are numbered in ascending order. Numbers
 *              such as 1.234,56, 30.9% or $5 are an error. csv:- reads standard input.
 *
 * No row belongs to a split yet. On failure returns false with an empty `set`; `error` is one line with the file, the
 * place and what was expected. `options` may be NULL. Free the result with dataset_free. */
/* True for csv:..., moons and so on, whatever follows. */
bool dataset_is_kind(const char *spec);

bool dataset_load(const char *spec, const dataset_options *options, dataset *set, tg_error *error);

/* Reads the weights of classes from a CSV file with two columns, class and weight, without a header, into weight
 * [set->classes]; a class without a line weighs 1. On failure false and one line. */
bool dataset_read_class_weights(const char *path, const dataset *set, double *weight, tg_error *error);

/* The largest size of an unpacked file, in megabytes of 2^20 bytes. A larger file is an error: before memory is
 * allocated if its size is known, else as soon as the limit is reached. */
enum { DATASET_FILE_LIMIT = 2048 };

/* The images of one IDX file, plain or compressed: [count, height, width], with values from 0 to 1; to be freed. NULL,
 * with an error as from dataset_load, if it cannot be read. */
float *dataset_read_images(const char *path, size_t sizes[3], tg_error *error);

/* "spirals, moons, circles, sine, glyphs, idx:DIR, csv:FILE": the names of all data sets. */
const char *dataset_kinds(void);

/* Draws the splits, replacing any earlier ones, and standardises columns by the training split. On failure false and
 * one line, and no splits. */
bool dataset_split(dataset *set, const dataset_parts *parts, tg_error *error);

/* The rows of a part whose features are those of a row of another part; of a table, else 0. SIZE_MAX: out of memory. */
size_t dataset_repeated(const dataset *set, const dataset_part *part, const dataset_part *among);

/* Scales all rows of a table by its means, scales and limits, when these have changed. */
void dataset_scale(dataset *set);

/* Softens the features with long tails over the training rows (skewness of 1.5 or more, or an excess kurtosis of 6),
 * but not those that are 0 or 1, and gives their number, 0 if there are none: they are scaled by their quartiles and
 * clipped smoothly at three of those (Holzmueller, Grinsztajn and Steinwart, 2024, "Better by default"), and have
 * deviation 1. With `soft` false they are standardised as all others. -1: out of memory. */
int dataset_soften(dataset *set, bool soft);

/* A value in the source of a value here, of one feature; a softened one stays within 20 times its limit. */
double dataset_in_source(const dataset *set, size_t feature, double value);

/* Writes some rows into order [from->rows], in a random order in which, in a table of classes, every part has all
 * classes in about the same proportion. `first` is the number of rows that the first part is to have; if there are
 * groups, it moves to the nearest end of one. False without memory. */
bool dataset_shuffle(const dataset *set, const dataset_part *from, uint64_t seed, int32_t *order, size_t *first);

/* The number of groups that rows of a part are of, if there are groups. */
size_t dataset_count_groups(const dataset *set, const dataset_part *part);

/* Frees what dataset_load filled, and empties it. An empty or NULL data set is left alone. */
void dataset_free(dataset *set);

/* ---- splits of a data set in the form that tg_fit takes (feed.c) ----
 *
 *     dataset_feed train = {&set, &set.train}, valid = {&set, &set.validation};
 *     tg_fit_config config = {.train = dataset_feed_rows(&train), .valid = dataset_feed_rows(&valid), ...};
 *
 * Column 0 is the features, f32 [features]; column 1 the label, i32, or the targets, f32 [targets]; column 2, if the
 * rows have weights, the weight, f32.
 */

typedef struct dataset_feed {
    const dataset *set;
    const dataset_part *part;
    bool inputs_only; /* no column 1: the inputs are their own targets */
    double noise;     /* uniform numbers between -noise and noise are added to the features, */
    tg_rng random;    /* which are drawn from this, batch by batch */
} dataset_feed;

/* The rows of a split, which may be empty. `feed` must outlive them. */
tg_fit_rows dataset_feed_rows(dataset_feed *feed);

/* Orders an epoch's rows, given as 0 .. count - 1, as a function of seed and epoch alone, for tg_fit_config.order.
 * Published numbers depend on this function: do not change it. */
void dataset_feed_order(uint64_t seed, int64_t epoch, int32_t *rows, int64_t count);
