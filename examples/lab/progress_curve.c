#include "examples/lab/progress_internal.h"

#include <math.h>

void progress_curve_add(progress_curve *curve, double fraction, double loss)
{
    int column = (int)(fraction * PROGRESS_CURVE_COLUMNS);
    if (!isfinite(loss) || !(fraction >= 0 && fraction <= 1))
        return;
    column = column < PROGRESS_CURVE_COLUMNS ? column : PROGRESS_CURVE_COLUMNS - 1;
    curve->sum[column] += loss;
    curve->count[column]++;
}

static double mean_of(const progress_curve *curve, int column)
{
    return curve->count[column] ? curve->sum[column] / curve->count[column] : NAN;
}

bool progress_curve_is_there(const progress_curve *curve)
{
    int columns = 0;
    for (int i = 0; i < PROGRESS_CURVE_COLUMNS; i++)
        columns += curve->count[i] > 0;
    return columns > 1;
}

static double distance(double high, double value)
{
    return high - value;
}

/* On a logarithmic axis. */
static double ratio(double high, double value)
{
    return log(high / value);
}

void progress_curve_write(const progress_curve *curve, int line, bool utf8, FILE *to)
{
    double low = INFINITY, high = -INFINITY;
    char label[32] = "";
    double (*height_below)(double, double);
    int last = -1;
    for (int i = 0; i < PROGRESS_CURVE_COLUMNS; i++) {
        low = fmin(low, mean_of(curve, i));
        high = fmax(high, mean_of(curve, i));
        last = curve->count[i] ? i : last;
    }
    height_below = low > 0 && high > 10 * low ? ratio : distance;
    if (line == 0 || line == PROGRESS_CURVE_LINES - 1)
        progress_loss(line == 0 ? high : low, label);
    fprintf(to, "%6s %s", label, utf8 ? "│" : "|");
    for (int i = 0; i <= last; i++) {
        const double down = high > low ? height_below(high, mean_of(curve, i)) / height_below(high, low) : 0;
        const bool is_here = curve->count[i] && lround(down * (PROGRESS_CURVE_LINES - 1)) == line;
        fputs(!is_here ? " " : utf8 ? "•" : "*", to);
    }
}
