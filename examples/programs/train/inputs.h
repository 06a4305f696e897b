/* The input rows of a prediction: from a CSV file, whose columns are selected and standardised as the model's card
 * says, or from images in IDX files; with the correct answers, if the file has them.
 *
 *     inputs rows;
 *     if (!inputs_load("csv:new.csv", &(inputs_options){.header = "auto"}, &card, &rows, &error)) ...
 *     ... rows.x [rows.count, card.spec.inputs] ...
 *     inputs_keep_answered(&rows, &card);                    // from here on: rows.labels or rows.y for every row
 *     inputs_free(&rows);
 */
#pragma once

#include "examples/programs/run/card.h"

typedef struct inputs_options {
    const char *header;  /* one of spec_headers */
    bool strict;         /* a missing value in a column that had none in training is an error */
    bool ignore_unknown; /* ignores a category that the model does not know: all its inputs are 0 */
} inputs_options;

/* Number of cells that could not be used, and a description of the first, "new.csv:7, column 'colour': ...". */
typedef struct inputs_trouble {
    size_t count;
    tg_error first;
} inputs_trouble;

typedef struct inputs {
    size_t count;
    float *x;
    int32_t *labels; /* [count]: classes, if the source has them; -1: missing or unknown */
    float *y;        /* [count, targets]: standardised targets, if the source has them; NaN: missing */
    float *weight;   /* [count], if the model was trained with weights and the source has answers and their column */
    size_t columns;
    size_t *filled;          /* [columns] of the card: missing values in a column that had none in training, for which
                                tg_card_fill stands; NULL for images */
    inputs_trouble unknown;  /* categories that were ignored */
    inputs_trouble unscored; /* classes that the model does not know, targets and weights that are not numbers */
} inputs;

/* Loads csv:FILE, with a header that names the columns, or with the columns in the order of the training file; or
 * idx:PATH, a file of images, or a folder with MNIST's four files, whose test images are used. */
bool inputs_load(const char *spec, const inputs_options *options, const tg_card *c, inputs *out, tg_error *error);

/* Removes the rows without an answer. */
void inputs_keep_answered(inputs *rows, const tg_card *c);
void inputs_free(inputs *rows);
