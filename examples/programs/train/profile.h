/* Prints the time of a training step, as a table by operation and one by layer, from the sums of tg_tape_time.
 *
 *     profile_print(tape, seconds_of_a_step, stdout);
 */
#ifndef TRAIN_PROFILE_H
#define TRAIN_PROFILE_H

#include <stdio.h>
#include <tapegrad.h>

/* Times are of one step: the mean over the timed steps. GF/s is the number of multiplications and additions of matrix
 * products divided by the row's whole time. False if out of memory or if nothing was timed. */
bool profile_print(const tg_tape *tape, double step, FILE *out);

#endif
