/* The numbers that kernels are tested on. */
#include "tests/accuracy/accuracy.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 4096 };

/* Each is tested with both signs, and with its neighbours. */
/* clang-format off */
static const float float_edges[] = {
    0.f, 0x1p-149f, 0x1p-148f, 0x1.fffffcp-127f, 0x1p-126f, 0x1p-64f, 0x1p-24f, 1e-4f, 0.5f, 0.7517915f,
    0.9f, 1.f, 1.4142135f, 2.f, 3.f, 5.f, 8.f, 10.f, 10.4f, 11.25f, 11.3f, 13.f, 14.2f, 14.4f, 15.f, 60.f,
    69.f, 70.f, 87.f, 87.3f, 88.f, 88.72283f, 88.73f, 102.f, 103.9f, 104.f, 110.f, 119.f, 128.f, 1e3f,
    1e10f, 1e19f, 1e20f, 1e30f, 3e38f, FLT_MAX, INFINITY, NAN,
    /* where earlier versions exceeded their bounds */
    1.86056399f, 2.27659535f, 2.27995777f, 2.75055408f, 3.04347301f, 3.05310893f, 5.19780159f,
    13.2936878f,
};

static const double double_edges[] = {
    0x1p-1074, 0x1p-1073, 0x1.fp-1030, 0x1p-1022, 0x1p-53, 21.75, 38.4, 38.6, 39, 452, 708.3, 709.7, 710,
    744, 746, 769, 1e154, 1e300, DBL_MAX,
    /* as above */
    32.109839934189367, 32.327307840112411, 34.036611563462522,
};
/* clang-format on */

enum {
    FLOAT_EDGES = sizeof float_edges / sizeof float_edges[0],
    DOUBLE_EDGES = sizeof double_edges / sizeof double_edges[0]
};

size_t accuracy_edge_doubles(double x[ACCURACY_EDGES_MOST])
{
    size_t n = 0;
    for (int sign = -1; sign <= 1; sign += 2)
        for (size_t i = 0; i < FLOAT_EDGES + DOUBLE_EDGES; i++) {
            double edge = sign * (i < FLOAT_EDGES ? (double)float_edges[i] : double_edges[i - FLOAT_EDGES]);
            x[n++] = nextafter(edge, -(double)INFINITY);
            x[n++] = edge;
            x[n++] = nextafter(edge, (double)INFINITY);
        }
    return n;
}

void accuracy_edges(accuracy_survey *survey)
{
    float x[6 * FLOAT_EDGES];
    double wide[ACCURACY_EDGES_MOST];
    size_t n = 0;
    for (int sign = -1; sign <= 1; sign += 2)
        for (size_t i = 0; i < FLOAT_EDGES; i++) {
            float edge = (float)sign * float_edges[i];
            x[n++] = nextafterf(edge, -INFINITY);
            x[n++] = edge;
            x[n++] = nextafterf(edge, INFINITY);
        }
    accuracy_add_f32(survey, n, x);
    accuracy_add_f64(survey, accuracy_edge_doubles(wide), wide);
}

void accuracy_powers(accuracy_survey *survey)
{
    enum {
        FLOATS = 6 * (FLT_MAX_EXP - FLT_MIN_EXP + FLT_MANT_DIG),
        DOUBLES = 6 * (DBL_MAX_EXP - DBL_MIN_EXP + DBL_MANT_DIG)
    };
    static float x[FLOATS];
    static double wide[DOUBLES];
    size_t n = 0, m = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int power = FLT_MIN_EXP - FLT_MANT_DIG; power < FLT_MAX_EXP; power++)
            for (int side = -1; side <= 1; side++) {
                const float exact = ldexpf((float)sign, power);
                x[n++] = side ? nextafterf(exact, (float)side * INFINITY) : exact;
            }
        for (int power = DBL_MIN_EXP - DBL_MANT_DIG; power < DBL_MAX_EXP; power++)
            for (int side = -1; side <= 1; side++) {
                const double exact = ldexp(sign, power);
                wide[m++] = side ? nextafter(exact, side * (double)INFINITY) : exact;
            }
    }
    accuracy_add_f32(survey, n, x);
    accuracy_add_f64(survey, m, wide);
}

void accuracy_floats(accuracy_survey *survey, uint64_t first, uint64_t last, uint64_t stride)
{
    float x[CHUNK];
    size_t n = 0;
    for (uint64_t bits = first; bits < last; bits += stride) {
        uint32_t word = (uint32_t)bits;
        memcpy(&x[n++], &word, sizeof word);
        if (n == CHUNK) {
            accuracy_add_f32(survey, n, x);
            n = 0;
        }
    }
    accuracy_add_f32(survey, n, x);
}

double accuracy_random_double(tg_rng *rng, size_t i)
{
    static const double ranges[] = {2, 10, 40, 800};
    if (i % 5 < 4)
        return ranges[i % 5] * (2 * tg_rng_uniform(rng) - 1);
    uint64_t word = tg_rng_bits(rng);
    double x;
    memcpy(&x, &word, sizeof x);
    return x;
}

void accuracy_doubles(accuracy_survey *survey, uint64_t seed, size_t count)
{
    tg_rng rng = tg_rng_seed(seed);
    double x[CHUNK];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        x[n++] = accuracy_random_double(&rng, i);
        if (n == CHUNK) {
            accuracy_add_f64(survey, n, x);
            n = 0;
        }
    }
    accuracy_add_f64(survey, n, x);
}
