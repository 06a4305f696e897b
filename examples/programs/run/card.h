/* The metadata of a model file, so that `predict` needs nothing else: the model's specification, the conversion of
 * columns to inputs, and the meaning of outputs.
 *
 *     card c;
 *     card_of_source(&c, &spec, &from, &error);
 *     tg_metadata lines[CARD_LINES];
 *     card_metadata(&c, lines);                       // for tg_fit_config.metadata; live as long as the card
 *     ...
 *     if (!card_read(&c, "best.safetensors", &error)) ...
 *     card_free(&c);
 */
#ifndef RUN_CARD_H
#define RUN_CARD_H

#include "examples/programs/run/source.h"

#include <limits.h>

enum { CARD_LINES = 4 };

typedef enum card_task { CARD_CLASSES, CARD_TARGETS, CARD_IMAGES, CARD_LETTERS } card_task;

/* value in the source = value in the model * scale + mean. A constant column has scale 0, and the model gets 0. */
typedef struct card_scale {
    double mean, scale;
} card_scale;

/* An input from a table: the number in a column; or 1 if the cell has this category, else 0; or 1 if it is missing,
 * else 0. Or a column with the class or a target. */
typedef struct card_column {
    const char *name; /* NULL if the file had none; of a target, empty */
    int number;
    const char *category; /* NULL: the number itself */
    bool other;           /* the category is any that is not among the others of the column */
    bool missing;
    card_scale scale;
} card_column;

typedef struct card {
    net_spec spec;
    card_task task;
    size_t inputs;
    card_column *input;
    size_t answers; /* columns of a table with the class or the targets; 0 if the file does not say */
    card_column *answer;
    size_t weights; /* columns with the weights of rows: 0 or 1 */
    card_column *weight;
    size_t classes, targets;
    const char **class_names;
    float *class_weight; /* [classes]: in the loss; NULL: all are 1 */
    card_column *target;
    double pixel_scale; /* 255 for images; 1 if the card has none */
    bool lines;         /* the text is a list of words, one per line */
    int vocabulary;
    unsigned char letter[256];
    json_t *json; /* holds the texts */
    char *model_text, *data_text;
    char path[PATH_MAX]; /* of the file that was read */
} card;

bool card_of_source(card *c, const run_spec *s, const run_source *from, tg_error *error);
void card_metadata(const card *c, tg_metadata lines[CARD_LINES]);

/* Reads a model file, or the one in a run's folder: refit.safetensors, if there is one, else best.safetensors. False
 * and one line if it is not a model file, or if its metadata is invalid. */
bool card_read(card *c, const char *path, tg_error *error);
void card_free(card *c);

/* ---- the weights of a model file (card_weights.c) ---- */

/* The model of a card that was read, with the weights of its file, or of another one whose tensors are renamed; `other`
 * and `rename` may be NULL. To be freed by tg_model_free. NULL and one line on failure. */
tg_model *card_model(const card *c, const char *other, const char *rename, tg_error *error);

/* For `train --start FILE`, before source_open: takes the model of settings->start, if `train` wrote that file, unless
 * options of the command line set another; with --activation-from file, also the activation of any file that names one.
 * False and one line if the file cannot be read. Texts of the settings may then belong to the card. */
bool card_adopt(run_spec *settings, card *theirs, tg_error *error);

/* Reads the weights of that file into the model. False and one line, with the model unchanged, if the file has other
 * columns, classes or characters, if a tensor is missing or has another shape under the names of --rename, or if it was
 * trained with another activation; then the line says how much outputs differ on rows of the source. --activation-from
 * model accepts another activation. Columns are standardised by the training rows of the source, not as for the file.
 */
bool card_start(const run_spec *settings, tg_model *model, const run_source *from, const card *ours, const card *theirs,
                tg_error *error);

#endif
