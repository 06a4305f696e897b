#include "examples/identify/interval.h"

#include <math.h>

/* Error bounds of the arithmetic: see identify.h. */
typedef struct arithmetic {
    double ulps;     /* around the interval of values */
    double backward; /* as if x were off by this many rounding errors */
    double absolute; /* rounding errors of max(1, |x|) */
} arithmetic;

static const arithmetic arithmetics[IDENTIFY_ARITHMETICS] = {[IDENTIFY_ROUNDED] = {0.51, 0, 0},
                                                             [IDENTIFY_CAREFUL] = {2, 2, 0},
                                                             [IDENTIFY_PLAIN] = {2, 2, 1},
                                                             [IDENTIFY_ROUGH] = {4, 8, 4}};
static const double ulps_of_f64 = 8; /* instead of the above, as the reference is also computed in double */

bool identify_intervals(const identify_form *form, const identify_format *format, int kind, tg_tape *tape, size_t count,
                        const double x[], double memory[], identify_interval allowed[])
{
    const arithmetic *a = &arithmetics[kind];
    const double error = ldexp(1, -format->digits);
    double *points = memory, *values = memory + 3 * count;
    for (size_t i = 0; i < count; i++) {
        points[3 * i] = x[i];
        points[3 * i + 1] = x[i] * (1 - a->backward * error);
        points[3 * i + 2] = x[i] * (1 + a->backward * error);
    }
    if (!identify_evaluate(form, tape, (int64_t)(3 * count), points, values))
        return false;
    const double ulps = format == &identify_formats[IDENTIFY_F64] ? ulps_of_f64 : a->ulps;
    for (size_t i = 0; i < count; i++) {
        const double *v = values + 3 * i, low = fmin(v[0], fmin(v[1], v[2])), high = fmax(v[0], fmax(v[1], v[2]));
        const double around = a->absolute * error * fmax(1, fabs(x[i]));
        const bool finite = isfinite(low) && isfinite(high) && isfinite(v[0]);
        allowed[i] = (identify_interval){low - ulps * identify_ulp(format, low) - around,
                                         high + ulps * identify_ulp(format, high) + around, v[0], 0.125 * around};
        if (!finite)
            allowed[i] = (identify_interval){NAN, NAN, NAN, 0};
        else if (fabs(v[0]) < identify_smallest_normal(format)) { /* or 0 */
            allowed[i].low = fmin(allowed[i].low, 0);
            allowed[i].high = fmax(allowed[i].high, 0);
        }
    }
    return true;
}
