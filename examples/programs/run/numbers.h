/* What a run came to, as one list of numbers: those of its end, and those that follow from its epochs.
 *
 *     best_epoch, best_val_loss, best_val_accuracy, test_loss, test_accuracy
 *                     at the lowest validation loss or, without validation rows, after the last epoch
 *     epoch_2_loss    mean loss of the steps of the second epoch
 *     dead            share of the hidden units that are dead after the last epoch
 *     gap             validation less training loss after the last epoch
 *     rise            largest ratio of one epoch's validation loss to that before
 *     gradient_range  largest mean norm of an epoch's gradients over the least
 *     noisy_accuracy  mean accuracy over the sizes of --test-noise
 *     train_loss_10, val_loss_10, test_loss_10    after the epochs that are asked for
 *     steps_to_2.451  the first step at which the mean training loss of the last 20 steps is at most this; none if none
 */
#pragma once

#include <jansson.h>
#include "examples/programs/system/standard.h"

/* The results of the run in a folder, with these numbers where they are measured and finite. `asked` may have "after",
 * a list of epochs, and "reach", a list of losses. NULL without a concluded run, or with one line if it cannot be
 * read. */
json_t *run_numbers(const char *folder, const json_t *asked, tg_error *error);
