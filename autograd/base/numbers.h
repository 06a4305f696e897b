/* Numbers as text, the same in every locale. printf and scanf follow the locale of the program that uses the library,
 * where 0.5 may be written 0,5; such a file could not be read elsewhere. So the library reads and writes every number
 * with a fraction through these functions. Internal to the library, and shared by all of its rooms.
 *
 *     tg_print(line, sizeof line, "%d %a", steps, rate);      // as snprintf
 *     if (tg_scan(line, "%d %la", &steps, &rate) == 2)        // as sscanf
 */
#ifndef TG_NUMBERS_H
#define TG_NUMBERS_H

#include "autograd/api.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>

TG_FORMAT(printf, 3, 4)
int tg_print(char *text, size_t size, const char *format, ...);
TG_FORMAT(printf, 3, 0)
int tg_print_arguments(char *text, size_t size, const char *format, va_list arguments);

TG_FORMAT(scanf, 2, 3)
int tg_scan(const char *text, const char *format, ...);

/* e to the x, to 2 ulp, with the same bytes on every system: C libraries differ in their last digit. */
static inline double tg_number_exp(double x)
{
    static const double high = 0x1.62e42fee00000p-1, low = 0x1.a39ef35793c76p-33; /* log 2, the first without its end */
    static const double factor[] = {
        1,         1,          1. / 2,      1. / 6,       1. / 24,       1. / 120,       1. / 720,
        1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};
    enum { TERMS = sizeof factor / sizeof *factor };
    if (!(x > -700 && x < 700))
        return exp(x); /* 0, infinite or NaN, or so small that no digit of a sum is its own */
    const double power = rint(x / (high + low)), rest = x - power * high - power * low;
    double sum = factor[TERMS - 1];
    for (int k = TERMS - 2; k >= 0; k--)
        sum = factor[k] + sum * rest;
    return ldexp(sum, (int)power);
}

#endif
