/* Measures of a net on some rows, added up from batches. All programs compute their scores here.
 *
 *     tally sums = {0};
 *     tally_add(&sums, &card, output, wanted);               // the net's output for a batch, and the correct one
 *     ...
 *     runlog_measures m = tally_measures(&sums, &card, mean_loss);
 *     tally_print(&card, "test", &m, stdout);                      // test: loss 0.1234, accuracy 97.50 %
 */
#ifndef RUN_TALLY_H
#define RUN_TALLY_H

#include "examples/programs/report/runlog.h"
#include "examples/programs/run/card.h"

enum { TALLY_BINS = 15, TALLY_TARGETS = 64 };

typedef struct tally {
    long rows, correct, in_bin[TALLY_BINS];
    double confidence[TALLY_BINS], hits[TALLY_BINS]; /* for each bin of confidence: sums of confidence and of hits */
    double absolutes;                                /* of the errors of the first target, standardised */
    double sum[TALLY_TARGETS], sum_squares[TALLY_TARGETS]; /* of the standardised targets */
    double error[TALLY_TARGETS];                           /* squared */
    double *confusion; /* [classes, classes]: rows by label and by prediction; NULL: not counted */
} tally;

/* The class with the largest of some logits, and its probability. */
int64_t tally_class(const float *logits, int64_t classes, double *confidence);

/* The loss that is trained and reported: cross-entropy, or the mean squared error to `wanted`, which for an autoencoder
 * is its input. `smoothing` is --label-smoothing's. */
tg_tensor tally_loss(const card *c, tg_tensor output, tg_tensor wanted, double smoothing);

/* Adds a batch: logits with labels, or outputs with standardised targets. */
void tally_add(tally *sums, const card *c, tg_tensor output, tg_tensor wanted);

/* The measures of the rows added since the last call, with their mean loss; resets the tally. */
runlog_measures tally_measures(tally *sums, const card *c, double loss);

/* A line: "test: loss 0.1234, accuracy 97.50 %". */
void tally_print(const card *c, const char *split, const runlog_measures *m, FILE *out);

#endif
