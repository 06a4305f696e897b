/* Rows to predict for, as a model takes them: from a CSV file, whose columns are found and standardised as the model's
 * card says, or from images in IDX files.
 *
 *     inputs rows;
 *     if (!inputs_load("csv:new.csv", "auto", &card, &rows, message)) ...
 *     ... rows.x [rows.count, card.spec.inputs]; rows.labels [rows.count] or NULL ...
 *     inputs_free(&rows);
 */
#ifndef TRAIN_INPUTS_H
#define TRAIN_INPUTS_H

#include "examples/run/card.h"

typedef struct inputs {
    size_t count;
    float *x;
    int32_t *labels; /* where the source has them */
} inputs;

/* csv:FILE, with a header that names the columns, or none and the columns at the places that they had; or idx:PATH, a
 * file of images, or a folder with MNIST's four files, of which the test images are taken. */
bool inputs_load(const char *spec, const char *header, const card *c, inputs *out, char message[NET_MESSAGE]);
void inputs_free(inputs *rows);

#endif
