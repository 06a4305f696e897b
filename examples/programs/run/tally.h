/* Measures of a net on some rows, added up from batches. All programs compute their scores here.
 *
 *     tally sums = {0};
 *     tally_add(&sums, &card, output, wanted, TG_NONE);      // the net's output for a batch, and the correct one
 *     ...
 *     runlog_measures m = tally_measures(&sums, &card);
 *     tally_print(&card, "test", &m, stdout);                      // test: loss 0.1234, accuracy 97.50 %
 *
 * The loss is computed in double precision and added row by row, so measures do not depend on the size of batches:
 * those of the trainer and of `predict` agree to the last digit. With weights of rows every measure is scikit-learn's
 * with sample_weight; weights of classes (of the card) are for the loss only.
 */
#pragma once

#include "examples/programs/report/runlog.h"
#include "examples/programs/run/card.h"

enum { TALLY_BINS = 15, TALLY_TARGETS = 64 };

/* The results of single rows. */
typedef struct tally_rows {
    double *loss;     /* [rows] */
    signed char *hit; /* [rows]: 1 if the class is right; NULL: not kept */
    float *output;    /* [rows, outputs]; NULL: not kept */
} tally_rows;

/* A row of two classes, for tally_area. */
typedef struct tally_score {
    double probability, weight; /* of the second class; of the row */
    double right;               /* weight of the other class's rows on the right side, equal ones by half */
    size_t row;
    bool positive; /* it has the second class */
} tally_score;

/* Weights of rows by class, and the second one's probabilities of two classes. */
typedef struct tally_classes {
    size_t count, rows, room;
    double *labels, *answers, *hits, *seen; /* [count] each, in one block that `labels` owns; seen: rows, not weights */
    tally_score *score;                     /* [rows] of [room]; NULL: there are not two */
} tally_classes;

typedef struct tally {
    long rows;
    double weight, correct;                          /* sums of the weights of all rows, and of those that are right */
    double loss, loss_weight;                        /* sums over the rows, with the weights of classes */
    double confidence[TALLY_BINS], hits[TALLY_BINS]; /* for each bin of confidence: sums of confidence and of hits */
    double absolutes;                                /* of the errors of the first target, standardised */
    double sum[TALLY_TARGETS], sum_squares[TALLY_TARGETS]; /* of the standardised targets */
    double error[TALLY_TARGETS];                           /* squared */
    double first[TALLY_TARGETS];                           /* the first target of a row that weighs something, */
    bool differs[TALLY_TARGETS];                           /* and whether another one is not the same */
    double *confusion; /* [classes, classes]: weights by label and by prediction; NULL: not counted */
    tally_rows *each;  /* with room for all rows; NULL: not kept */
    bool by_class;     /* measure balanced accuracy, macro F1 and AUC, too */
    tally_classes classes;
} tally;

/* The class with the largest of some logits, the first of equal ones, and its probability, NaN if a logit is NaN. */
int64_t tally_class(const float *logits, int64_t classes, double *confidence);

/* The bin of a confidence, for the calibration error; of NaN the first. */
int tally_bin(double confidence);

/* The probability of the second of two classes. */
double tally_second(const float logits[2]);

/* The area under the ROC curve: the share of pairs of a positive and a negative row in which the positive one is more
 * probable, each pair times both weights; NaN if a class has no row, or a probability is NaN. Sorts the rows, and sets
 * `right`; `of` becomes the weight of each class. */
double tally_area(tally_score *rows, size_t count, double of[2]);

/* The mean squared error of a row of outputs. */
double tally_squares(const float *output, const float *wanted, int64_t width);

/* The loss that is trained, a mean over the rows: cross-entropy, or the mean squared error to `wanted`, which for an
 * autoencoder is its input, each row times its weight and its class's. `weights` [rows] may be TG_NONE; `smoothing` is
 * --label-smoothing's. */
tg_tensor tally_loss(const tg_card *c, tg_tensor output, tg_tensor wanted, tg_tensor weights, double smoothing);

/* Adds a batch: logits with labels, or outputs with standardised targets, and the rows' weights, or TG_NONE. Returns
 * the mean over its rows of loss times weight. A row with a NaN counts as wrong. */
double tally_add(tally *sums, const tg_card *c, tg_tensor output, tg_tensor wanted, tg_tensor weights);

/* The measures of the rows added since the last call; resets the tally. */
runlog_measures tally_measures(tally *sums, const tg_card *c);

/* A line: "test: loss 0.1234, accuracy 97.50 %, balanced accuracy 96.10 %, macro F1 0.9600". */
void tally_print(const tg_card *c, const char *split, const runlog_measures *m, FILE *out);

/* A confusion matrix of up to 12 classes, [classes, classes]: a line for each label, a column for each prediction.
 * Before it, of any number of classes, a line if all rows are predicted as one of several. */
void tally_print_confusion(const tg_card *c, const double *confusion, FILE *out);
