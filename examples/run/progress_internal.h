/* Formats one line of the progress view; no state, no terminal. */
#ifndef RUN_PROGRESS_INTERNAL_H
#define RUN_PROGRESS_INTERNAL_H

#include "examples/run/progress.h"

#include <stdbool.h>

/* The common layout of the lines of one repaint, so that their columns are aligned. */
typedef struct {
    bool utf8, colour;
    int columns;               /* maximum width of a line */
    int name_width;            /* width of the longest name */
    int epoch_digits;          /* width of the largest number of epochs; 0 omits the epochs */
    bool loss, accuracy, rate; /* true if any line has them */
    const char *unit;
} progress_style;

/* A running job; `left` is in seconds, NaN where unknown. Writes no newline. */
void progress_write_job(FILE *to, const progress_style *style, const char *name, const jobs_progress *now, double left);

/* All jobs together. */
void progress_write_total(FILE *to, const progress_style *style, int done, int count, double fraction, double left);

/* A job that has ended: "20 epochs loss 0.0712 accuracy 97.94 % in 1:12", the parts joined by `joint`, as many as fit
 * into `columns`; "loss" is preceded by `measured`, if it is set. */
void progress_write_result(FILE *to, const jobs_progress *last, const char *measured, double seconds, const char *joint,
                           int columns);

/* "0:26", "1h02m" or "4d03h", at most 6 characters; "-:--" for NaN. */
const char *progress_duration(double seconds, char text[32]);

/* "950", "61.2k" or "1.23M", at most 5 characters below 1e18. */
const char *progress_amount(double amount, char text[32]);

/* At most 6 characters. "-" for NaN. */
const char *progress_loss(double loss, char text[32]);

/* "97.94 %" or "100.0 %"; at most 7 characters. */
const char *progress_accuracy(double accuracy, char text[32]);

/* ---- a small curve of text characters, which grows to the right during a run (progress_curve.c)
 *
 *     progress_curve curve = {0};
 *     progress_curve_add(&curve, 1.7);
 *     for (int line = 0; line < PROGRESS_CURVE_LINES; line++)
 *         progress_curve_write(&curve, line, true, out), putc('\n', out);
 */
enum { PROGRESS_CURVE_LINES = 6, PROGRESS_CURVE_COLUMNS = 56, PROGRESS_CURVE_WIDTH = PROGRESS_CURVE_COLUMNS + 9 };

typedef struct progress_curve {
    int columns;
    long width; /* points of a column; twice as many whenever all columns are full */
    double sum[PROGRESS_CURVE_COLUMNS];
    long count[PROGRESS_CURVE_COLUMNS];
} progress_curve;

/* Appends a point; infinities and NaN are skipped. */
void progress_curve_add(progress_curve *curve, double loss);

/* True if at least two columns have points, so that there is a curve to show. */
bool progress_curve_is_there(const progress_curve *curve);

/* Writes one line, the highest first, of at most PROGRESS_CURVE_WIDTH columns, without a newline. The scale is
 * logarithmic if the highest loss is more than ten times the lowest. */
void progress_curve_write(const progress_curve *curve, int line, bool utf8, FILE *to);

#endif
