/* Rows and what a net makes of them, as lines of CSV: those that `predict` prints, and two files of a run.
 *
 *     predictions_header(&card, true, stdout);                      // class,probability,setosa,versicolor
 *     predictions_row(&card, logits, NULL, true, stdout);           // setosa,0.93,0.93,0.07
 *
 *     rows.csv            row, loss, correct: of every row of the test split (or else of the validation split), with
 *                         the row's index in the source, from 0. correct is 1 or 0, for classes. With groups also
 *                         group, the index of the row's entry in ascending order, from 0. The mean of the
 *                         losses is the run's; two runs with the same split are compared row by row. Then what the
 *                         row adds to other measures (influence.h), and with constant_ before the name all these of a
 *                         constant prediction (constant.h).
 *     predictions.csv     row, split, loss, the right answer (true_class, or true_NAME of each target in its own
 *                         unit) and the columns of `predict --probabilities`, of every row of all splits
 */
#pragma once

#include "examples/programs/run/card.h"
#include "examples/programs/run/tally.h"

/* The columns and a row of outputs, without the line's end. `input` is the row of an autoencoder, which is compared
 * with its output; others ignore it. A terminal gets no control characters. */
void predictions_header(const tg_card *c, bool probabilities, FILE *to);
void predictions_row(const tg_card *c, const float *output, const float *input, bool probabilities, FILE *to);

/* The splits of a run with the results of their rows; loss is NULL for a split that is left out. */
typedef struct predictions {
    const tg_card *of;
    const run_source *from;
    tally_rows split[RUNLOG_SPLITS];
    tally_rows constant; /* what a constant prediction gets on the rows of the split in rows.csv */
} predictions;

/* Write rows.csv of one split, and predictions.csv of all, into a run's folder. */
bool predictions_write_rows(const predictions *p, runlog_split split, const char *folder, tg_error *error);
bool predictions_write(const predictions *p, const char *folder, tg_error *error);
