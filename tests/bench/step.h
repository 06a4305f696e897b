/* The training step under test: a multi-layer perceptron, written with the public functions as a user would.
 *
 *     tape_step *step = tape_step_new(net, TG_RELU, 1e-3);
 *     double loss = tape_step_run(step, batch->inputs, batch->labels);
 *     if (tape_step_error(step)) ...
 */
#ifndef BENCH_STEP_H
#define BENCH_STEP_H

#include "tests/bench/nets.h"

typedef struct tape_step tape_step;

/* The net with its initial weights, a tape and AdamW with this rate, without decay and clipping. NULL if out of memory.
 */
tape_step *tape_step_new(const bench_net *net, tg_activation activation, double rate);
void tape_step_free(tape_step *step);

/* Records, differentiates and updates; returns the mean loss before the update. */
double tape_step_run(tape_step *step, const float *inputs, const int32_t *labels);

/* Replays the step on the current content of the memory that the last tape_step_run was given. */
double tape_step_again(tape_step *step);

/* The step with the net's present weights as C, `net_train`; the caller frees it. NULL: see the error. Ends the steps
 * recorded so far. */
char *tape_step_emit(tape_step *step, const float *inputs, const int32_t *labels);

/* The first error, or NULL. */
const char *tape_step_error(const tape_step *step);

/* The net's parameters, and the tape. */
const tg_parameters *tape_step_parameters(const tape_step *step);
const tg_tape *tape_step_tape(const tape_step *step);

#endif
