#include "examples/identify/formats.h"

#include "examples/data/half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double as_f64(double x)
{
    return x;
}

static double as_f32(double x)
{
    return (double)(float)x;
}

static double as_f16(double x)
{
    return (double)half_f16_round((float)x);
}

static double as_bf16(double x)
{
    return (double)half_bf16_round((float)x);
}

const identify_format identify_formats[IDENTIFY_FORMATS] = {[IDENTIFY_F64] = {"f64", 53, -1074, as_f64},
                                                            [IDENTIFY_F32] = {"f32", 24, -149, as_f32},
                                                            [IDENTIFY_F16] = {"f16", 11, -24, as_f16},
                                                            [IDENTIFY_BF16] = {"bf16", 8, -133, as_bf16}};

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
    for (const char *c = text; *c; c++)
        if (*c == 'e')
            *exponent = atoi(c + 1);
    return strtod(text, NULL);
}

/* The smallest number of digits whose decimal the format rounds to x. */
static double shortest(const identify_format *format, double x, int *digits, int *exponent)
{
    double decimal = x;
    for (*digits = 1; *digits <= 17; ++*digits) {
        decimal = decimal_of(x, *digits, exponent);
        if (format->round(decimal) == x)
            break;
    }
    return decimal;
}

bool identify_printed(const identify_format *format, double decimal, double quantum, double *number)
{
    int digits, exponent;
    *number = format->round(decimal);
    return fabs(decimal - *number) <= 0.5000001 * quantum ||
           (isfinite(*number) && shortest(format, *number, &digits, &exponent) == decimal);
}

void identify_decimals(double x, int *significant, int *behind)
{
    int exponent = 0;
    shortest(&identify_formats[IDENTIFY_F64], x, significant, &exponent);
    *behind = *significant - 1 - exponent;
}
