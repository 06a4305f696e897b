/* Samples text from a model of characters.
 *
 *     sample_write(model, &(tg_write_options){.length = 400, .temperature = 0.8, .top = 40}, &rng, stdout, &error);
 */
#ifndef TRAIN_SAMPLE_H
#define TRAIN_SAMPLE_H

#include <stdio.h>
#include <tapegrad.h>

/* Writes the prompt and what tg_model_write draws after it, as it is drawn, and a newline. False and one line on an
 * error. */
bool sample_write(const tg_model *model, const tg_write_options *options, tg_rng *rng, FILE *to, tg_error *error);

#endif
