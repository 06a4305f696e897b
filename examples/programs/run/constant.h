/* What a constant prediction gets: the best one that knows the answers of the training rows, and no input.
 *
 *     runlog_measures m;
 *     if (!constant_measure(&card, &from, &from.test, NULL, &m))        // on the rows on which the net was measured
 *         ...                                                           // out of memory
 *     tally_print(&card, "constant prediction", &m, stdout);
 *
 * For classes its probabilities are their shares among the training rows, and its answer is the class of most of them;
 * with weights of classes, they weigh the shares of the loss too. For targets it is their mean, for images the mean
 * image, for texts the frequencies of characters in the training text (of pairs: in its targets). A character that is
 * not in there counts once, as a class does (card.c). The measures are those of tally.h.
 */
#pragma once

#include "examples/programs/run/card.h"
#include "examples/programs/run/tally.h"

/* A constant prediction of a table or of images, and the sums of its measures. */
typedef struct constant {
    const tg_card *of;
    float *output[2];  /* [tg_card_results] of a row; and for a loss with weights of classes, NULL without any */
    tally sums[2];     /* of each */
    tally_rows losses; /* of the second's rows */
} constant;

/* Begins to measure; `from` is for images only. With `each`, which must live as long, results of rows are kept there.
 * False, with nothing to be ended, without memory, or if the card has no constant, as in older files. */
bool constant_begin(constant *k, const tg_card *c, const run_source *from, tally_rows *each);

/* Adds rows: their labels, targets or images, and their weights or TG_NONE. */
void constant_add(constant *k, tg_tensor wanted, tg_tensor weights);

/* The measures of all rows; frees what constant_begin has made. */
runlog_measures constant_end(constant *k);

/* Measures it on a split of the source, in the same way; measures that do not exist are NaN. `each`, for tables and
 * images, may be NULL. False without memory. */
bool constant_measure(const tg_card *c, const run_source *from, const tg_fit_rows *rows, tally_rows *each,
                      runlog_measures *m);
