#include "examples/programs/identify/forms.h"

#include "examples/programs/data/half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const identify_format identify_formats[IDENTIFY_FORMATS] = {[IDENTIFY_F64] = {"f64", 53, -1074},
                                                            [IDENTIFY_F32] = {"f32", 24, -149},
                                                            [IDENTIFY_F16] = {"f16", 11, -24},
                                                            [IDENTIFY_BF16] = {"bf16", 8, -133}};

double identify_round(const identify_format *format, double x)
{
    switch (format - identify_formats) {
    case IDENTIFY_F64:
        return x;
    case IDENTIFY_F32:
        return (double)(float)x;
    case IDENTIFY_F16:
        return (double)half_f16_round((float)x);
    default:
        return (double)half_bf16_round((float)x);
    }
}

double identify_ulp(const identify_format *format, double x)
{
    int exponent;
    frexp(x, &exponent); /* x is less than 2^exponent */
    exponent -= format->digits;
    return ldexp(1, x == 0 || exponent < format->least ? format->least : exponent);
}

double identify_smallest_normal(const identify_format *format)
{
    return ldexp(1, format->least + format->digits - 1);
}

/* The nearest decimal number to x with this many digits. */
static double decimal_of(double x, int digits, int *exponent)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    *exponent = atoi(text + strcspn(text, "e") + 1);
    return strtod(text, NULL);
}

/* The smallest number of digits whose decimal the format rounds to x. */
static double shortest(const identify_format *format, double x, int *digits, int *exponent)
{
    double decimal = x;
    for (*digits = 1; *digits <= 17; ++*digits) {
        decimal = decimal_of(x, *digits, exponent);
        if (identify_round(format, decimal) == x)
            break;
    }
    return decimal;
}

bool identify_printed(const identify_format *format, double decimal, double quantum, double *number)
{
    int digits, exponent;
    *number = identify_round(format, decimal);
    return fabs(decimal - *number) <= 0.5000001 * quantum ||
           (isfinite(*number) && shortest(format, *number, &digits, &exponent) == decimal);
}

void identify_decimals(double x, int *significant, int *behind)
{
    int exponent = 0;
    shortest(&identify_formats[IDENTIFY_F64], x, significant, &exponent);
    *behind = *significant - 1 - exponent;
}

/* ---- intervals ---- */

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
                        const double x[], identify_interval allowed[])
{
    static double points[3 * IDENTIFY_MOST], values[3 * IDENTIFY_MOST];
    const arithmetic *a = &arithmetics[kind];
    const double error = ldexp(1, -format->digits);
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
