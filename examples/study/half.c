#include "examples/study/half.h"

#include <math.h>

/* Digits of the significand, the exponent of the least normal number, and the largest number. */
static const struct {
    int digits, least;
    double largest;
} formats[] = {[HALF_FP16] = {11, -14, 65504}, [HALF_BF16] = {8, -126, 0x1.fep127}};

float half_nearest(float x, half_format format)
{
    int exponent;
    if (!isfinite(x) || x == 0)
        return x;
    frexp(x, &exponent); /* x = f 2^exponent, 0.5 <= |f| < 1 */
    const int least = formats[format].least;
    const double unit = ldexp(1, (exponent - 1 > least ? exponent - 1 : least) + 1 - formats[format].digits);
    const double nearest = nearbyint(x / unit) * unit; /* exact: both are far from double's limits */
    return fabs(nearest) > formats[format].largest ? copysignf(INFINITY, x) : (float)nearest;
}
