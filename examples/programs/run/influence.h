/* What each row adds to measures that are no mean over rows: their linearisation (infinitesimal jackknife, delta
 * method).
 *
 *     influence_rows rows = {.count = 200, .output = logits, .label = labels};
 *     double *values = influence(&card, &rows);                 // [INFLUENCES, 200], to be freed
 *     // the mean of values[INFLUENCE_AUC * 200 + ...] is the AUC, and a standard error may be computed from them as if
 *     // it were a mean of rows
 *
 * With weights w of the rows, W their sum, a measure T and T(i) its derivative in w(i), the value of row i is T + W
 * T(i): T has degree 0 in the weights, so the weighted mean of the values is T itself (Efron, "The Jackknife, the
 * Bootstrap and Other Resampling Plans", 1982, chapter 6). In each class k of K, l and a rows are labelled and answered
 * so, h both:
 *
 *     balanced accuracy   T + W / (K l(k)) (hit - h(k) / l(k)),  k the row's label
 *     macro F1            T + W / K sum over k of (2 both(k) - F1(k) (label(k) + answer(k))) / (l(k) + a(k))
 *     AUC                 T + W / W(class) (share of the other class's rows on the right side - T)    (DeLong et al., 1988)
 *     R2                  T - W / SST (e^2 - (SSE / SST) (y - mean y)^2), the mean over the targets
 *     RMSE, MAE           T + (e^2 - T^2) / (2 T),  |e|
 *     calibration error   T + s d - (sum over the bins of s S) / W,  d = confidence - hit,  in each bin S = sum of w d,
 *                         s = erf(S / sqrt(2 sum of w^2 d^2)): the mean slope of |S|, which bends at 0, where S is normal
 */
#pragma once

#include "examples/programs/run/card.h"

typedef enum {
    INFLUENCE_BALANCED,
    INFLUENCE_F1,
    INFLUENCE_AUC,
    INFLUENCE_R2,
    INFLUENCE_RMSE,
    INFLUENCE_MAE,
    INFLUENCE_CALIBRATION,
    INFLUENCES
} influence_measure;

typedef struct influence_rows {
    size_t count;
    const float *output;  /* [count, outputs]: logits, or standardised targets */
    const int32_t *label; /* [count], for classes */
    const float *wanted;  /* [count, targets], standardised, for targets */
    const float *weight;  /* [count]; NULL: all are 1 */
} influence_rows;

/* [INFLUENCES, count], NaN for measures that the task or these rows do not have; to be freed, NULL without memory. */
double *influence(const tg_card *c, const influence_rows *rows);
