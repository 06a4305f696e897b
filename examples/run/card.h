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

#include "examples/run/source.h"

#include <limits.h>

enum { CARD_LINES = 4 };

typedef enum card_task { CARD_CLASSES, CARD_TARGETS, CARD_IMAGES, CARD_LETTERS } card_task;

/* value in the source = value in the model * scale + mean. A constant column has scale 0, and the model gets 0. */
typedef struct card_scale {
    double mean, scale;
} card_scale;

/* An input from a table: the number in a column; or 1 if the cell has this category, else 0; or 1 if it is missing,
 * else 0. */
typedef struct card_input {
    const char *column; /* its name, NULL if the file had none */
    int number;
    const char *category; /* NULL: the number itself */
    bool missing;
    card_scale scale;
} card_input;

typedef struct card {
    net_spec spec;
    card_task task;
    size_t inputs;
    card_input *input;
    size_t answers; /* columns of a table with the class or the targets; 0 if the file does not say */
    card_input *answer;
    size_t classes, targets;
    const char **class_names;
    const char **target_names;
    card_scale *target;
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

/* Reads a model file, or the one in a run's folder. False and one line if it is not a model file, or if its metadata is
 * invalid. */
bool card_read(card *c, const char *path, tg_error *error);
void card_free(card *c);

#endif
