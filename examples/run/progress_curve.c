#include "examples/run/progress_internal.h"

#include <math.h>

/* Merges pairs of columns, so that half of them become free. */
static void halve(progress_curve *curve)
{
    curve->columns /= 2;
    curve->width *= 2;
    for (int i = 0; i < curve->columns; i++) {
        curve->sum[i] = curve->sum[2 * i] + curve->sum[2 * i + 1];
        curve->count[i] = curve->count[2 * i] + curve->count[2 * i + 1];
    }
}

void progress_curve_add(progress_curve *curve, double loss)
{
    if (!isfinite(loss))
        return;
    curve->width = curve->width ? curve->width : 1;
    if (curve->columns == PROGRESS_CURVE_COLUMNS && curve->count[curve->columns - 1] == curve->width)
        halve(curve);
    if (curve->columns == 0 || curve->count[curve->columns - 1] == curve->width) {
        curve->sum[curve->columns] = 0;
        curve->count[curve->columns++] = 0;
    }
    curve->sum[curve->columns - 1] += loss;
    curve->count[curve->columns - 1]++;
}

static double mean_of(const progress_curve *curve, int column)
{
    return curve->sum[column] / (double)curve->count[column];
}

bool progress_curve_is_there(const progress_curve *curve)
{
    return curve->columns > 1;
}

/* The distance from the top of the axis. */
static double below(double high, double value, bool logarithmic)
{
    return logarithmic ? log(high / value) : high - value;
}

void progress_curve_write(const progress_curve *curve, int line, bool utf8, FILE *to)
{
    double low = INFINITY, high = -INFINITY;
    char label[32] = "";
    for (int i = 0; i < curve->columns; i++) {
        low = fmin(low, mean_of(curve, i));
        high = fmax(high, mean_of(curve, i));
    }
    const bool logarithmic = low > 0 && high > 10 * low;
    if (line == 0 || line == PROGRESS_CURVE_LINES - 1)
        progress_loss(line == 0 ? high : low, label);
    fprintf(to, "%6s %s", label, utf8 ? "│" : "|");
    for (int i = 0; i < curve->columns; i++) {
        const double down =
            high > low ? below(high, mean_of(curve, i), logarithmic) / below(high, low, logarithmic) : 0;
        const bool is_here = lround(down * (PROGRESS_CURVE_LINES - 1)) == line;
        fputs(!is_here ? " " : utf8 ? "•" : "*", to);
    }
}
