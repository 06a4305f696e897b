#include "tests/accuracy/reference.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* mingw-w64's sine and cosine are the processor's, which knows 66 bits of pi and nothing beyond 2^63. These subtract
 * 160 bits up to 2^31, beyond it they are those of Windows' own library, in double. */
#if defined _WIN32
#include "autograd/base/platform.h"

static long double rest_of_quarters(long double x, int *quarter)
{
    const long double quarters = rintl(x * 0.63661977236758134308L);
    *quarter = (int)fmodl(quarters, 4) & 3;
    return x - quarters * 0x1921fb544p-32L - quarters * 0x42d184698p-68L - quarters * 0x98cc51701b839a25p-132L;
}
static long double long_sine(long double x, int more)
{
    int quarter;
    if (fabsl(x) > (long double)DBL_MAX) { /* twice a double */
        const double s = tg_system_sin((double)(x / 2)), c = tg_system_cos((double)(x / 2));
        return more ? (c - s) * (c + s) : 2 * s * c;
    }
    if (fabsl(x) > 0x1p31L)
        return more ? tg_system_cos((double)x) : tg_system_sin((double)x);
    const long double rest = rest_of_quarters(x, &quarter);
    quarter += more;
    const long double y = quarter & 1 ? cosl(rest) : sinl(rest);
    return quarter & 2 ? -y : y;
}
#define sinl(x) long_sine(x, 0)
#define cosl(x) long_sine(x, 1)
#define sin(x)  tg_system_sin(x)
#define cos(x)  tg_system_cos(x)
#endif

#define REAL       double
#define MATH(name) name
#define FORM(name) name##_in_double
#define TINY       0x1p-27
#define SETTLED    128 /* beyond this, a float no longer changes */
#include "tests/accuracy/reference_forms.inc"
#undef REAL
#undef MATH
#undef FORM
#undef TINY
#undef SETTLED

#define REAL       long double
#define MATH(name) name##l
#define FORM(name) name##_in_long_double
#define TINY       0x1p-58L
#define SETTLED    2000
#include "tests/accuracy/reference_forms.inc"
#undef REAL
#undef MATH
#undef FORM
#undef TINY
#undef SETTLED

/* clang-format off */
#define VALUE_ONLY(name)          {#name, 1, name##_in_double, name##_in_long_double, {{0}}}
#define NO_ZERO(name)             {#name, 3, name##_in_double, name##_in_long_double, {{0}}}
#define SMOOTH(name, first, a, b) {#name, 3, name##_in_double, name##_in_long_double, {{0}, {first}, {a, b}}}
/* clang-format on */

static const reference_function functions[] = {
    SMOOTH(gelu_exact, -0.7518, -1.4142, 1.4142),
    SMOOTH(gelu_tanh, -0.7525, -1.4185, 1.4185),
    SMOOTH(gelu_quick, -0.7512, -1.4097, 1.4097),
    SMOOTH(silu, -1.2785, -2.3994, 2.3994),
    NO_ZERO(softplus),
    SMOOTH(mish, -1.1924, -2.2564, 1.4906),
    NO_ZERO(elu),
    NO_ZERO(selu),
    NO_ZERO(softsign),
    NO_ZERO(penalized_tanh),
    NO_ZERO(relu_squared),
    NO_ZERO(star_relu),
    {"xielu", 3, xielu_in_double, xielu_in_long_double, {{-2.4325}, {-0.9808}}},
    {"snake", 3, snake_in_double, snake_in_long_double, .periodic_from = 250000},
    VALUE_ONLY(erf_grad),
    VALUE_ONLY(exp),
    VALUE_ONLY(expm1),
    VALUE_ONLY(log),
    VALUE_ONLY(log1p),
    NO_ZERO(sin),
    VALUE_ONLY(cos),
    NO_ZERO(tanh),
    NO_ZERO(sigmoid),
    NO_ZERO(erf),
    VALUE_ONLY(erfc),
    VALUE_ONLY(sqrt),
    VALUE_ONLY(rsqrt),
};

const reference_function *reference_at(size_t index)
{
    return index < sizeof functions / sizeof functions[0] ? &functions[index] : NULL;
}

const reference_function *reference_find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

double reference_ulp_f32(double x)
{
    /* From the exponent's bits: this runs four billion times. */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t exponent = (int64_t)(bits >> 52 & 0x7ff), lowest = 1023 + FLT_MIN_EXP - 1;
    bits = (uint64_t)((exponent < lowest ? lowest : exponent) - (FLT_MANT_DIG - 1)) << 52;
    double ulp;
    memcpy(&ulp, &bits, sizeof ulp);
    return ulp;
}

long double reference_ulp_f64(long double x)
{
    if (!isfinite(x))
        return (long double)INFINITY;
    return ldexpl(1, (fabsl(x) < (long double)DBL_MIN ? DBL_MIN_EXP - 1 : ilogbl(x)) - (DBL_MANT_DIG - 1));
}
