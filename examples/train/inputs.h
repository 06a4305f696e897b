/* The input rows of a prediction: from a CSV file, whose columns are found and standardised as the model's card says,
 * or from images in IDX files; with what the answers should be, where the file has that.
 *
 *     inputs rows;
 *     if (!inputs_load("csv:new.csv", &(inputs_options){.header = "auto"}, &card, &rows, &error)) ...
 *     ... rows.x [rows.count, card.spec.inputs] ...
 *     inputs_keep_answered(&rows, &card);                    // from here on: rows.labels or rows.y for every row
 *     inputs_free(&rows);
 */
#ifndef TRAIN_INPUTS_H
#define TRAIN_INPUTS_H

#include "examples/run/card.h"

typedef struct inputs_options {
    const char *header;  /* one of spec_headers */
    bool ignore_unknown; /* ignores a category that the model does not know: all its inputs are 0 */
} inputs_options;

/* Cells that could not be used as they are: how many, and the first, "new.csv:7, column 'colour': ...". */
typedef struct inputs_trouble {
    size_t count;
    tg_error first;
} inputs_trouble;

typedef struct inputs {
    size_t count;
    float *x;
    int32_t *labels;         /* [count], of classes, where the source has them; -1: none, or not known */
    float *y;                /* [count, targets], standardised, where the source has them; NaN: none */
    inputs_trouble unknown;  /* categories that were ignored */
    inputs_trouble unscored; /* classes that the model does not know, targets that are no numbers */
} inputs;

/* csv:FILE, with a header that names the columns, or none and the columns at the places that they had; or idx:PATH, a
 * file of images, or a folder with MNIST's four files, of which the test images are taken. */
bool inputs_load(const char *spec, const inputs_options *options, const card *c, inputs *out, tg_error *error);

/* Keeps only the rows that have an answer: none if the source has none. */
void inputs_keep_answered(inputs *rows, const card *c);
void inputs_free(inputs *rows);

#endif
