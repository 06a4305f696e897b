/* Where the time of a training step goes, as a table by operation and one by layer, from what tg_tape_time has added
 * up.
 *
 *     profile_print(tape, seconds_of_a_step, stdout);
 */
#ifndef TRAIN_PROFILE_H
#define TRAIN_PROFILE_H

#include <stdio.h>
#include <tapegrad.h>

/* Times are of one step: the mean over those that were timed. GF/s counts the multiplications and additions of matrix
 * products, over all of the row's time. False if out of memory or if nothing was timed. */
bool profile_print(const tg_tape *tape, double step, FILE *out);

#endif
