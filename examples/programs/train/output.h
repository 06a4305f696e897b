/* What train and predict print: the time of a training step, as a table by operation and one by layer, from the sums of
 * tg_tape_time; text that a model of characters draws; and
 * targets that a model of pairs writes.
 *
 *     profile_print(tape, seconds_of_a_step, stdout);
 *     sample_write(model, &(tg_generate_options){.length = 400, .temperature = 0.8, .top = 40}, &rng, stdout, &error);
 */
#pragma once

#include "examples/programs/system/standard.h"

/* Times are of one step: the mean over the timed steps. GF/s is the number of multiplications and additions of matrix
 * products divided by the row's whole time. False if out of memory or if nothing was timed. */
bool profile_print(const tg_tape *tape, double step, FILE *out);

/* Writes the prompt and what tg_model_generate draws after it, as it is drawn, and a newline. False and one line on an
 * error. */
bool sample_write(const tg_model *model, const tg_generate_options *options, tg_rng *rng, FILE *to, tg_error *error);

/* The number of lines that had a target, and of those for which the model wrote just that. */
typedef struct sample_score {
    long pairs, exact;
} sample_score;

/* Writes a target for each line of a text, a source or a source, a tab and a target, behind the source and a tab if
 * `both`; `most` lines at most, 0: all. Blanks at the end of a line are left out, and an empty line is answered by one.
 * False and one line, which names the line of `path`, on an error. */
bool sample_pairs(const tg_model *model, const char *path, char *text, int beams, bool both, long most, FILE *to,
                  sample_score *score, tg_error *error);
