/* Samples text from a model of characters.
 *
 *     sample_write(model, &card, &(sample_options){.length = 400, .temperature = 0.8, .top = 40}, &rng, stdout,
 * &error);
 *
 * Each character is drawn from the `top` most likely ones with the probabilities softmax(logits / temperature). A model
 * of lines writes one line.
 */
#ifndef TRAIN_SAMPLE_H
#define TRAIN_SAMPLE_H

#include "examples/programs/run/card.h"

typedef struct sample_options {
    const char *prompt; /* the beginning of the text; NULL: a newline */
    int length;         /* maximum number of characters */
    double temperature; /* 0: always the most likely character */
    int top;            /* 0: all */
} sample_options;

/* Writes the prompt and what follows. False and one line if the prompt has a character that the model does not know, or
 * out of memory. */
bool sample_write(const tg_model *model, const card *c, const sample_options *options, tg_rng *rng, FILE *to,
                  tg_error *error);

#endif
