#include "tests/bench/peak.h"

#include "tests/bench/race.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Twelve chains of multiply-adds: enough for any processor to issue them at full rate. */
enum { CHAINS = 12, STEPS = 1 << 21, ROUNDS = 9 };

static volatile double sink, half = 0.5, one = 1; /* hides the initial values from the compiler */

#define PEAK(name, real, bytes, attributes)                                            \
    attributes static double name(void)                                                \
    {                                                                                  \
        typedef real vector __attribute__((vector_size(bytes)));                       \
        vector sum[CHAINS], a = {(real)half}, b = {(real)one};                         \
        for (int i = 0; i < CHAINS; i++) /* each another one */                        \
            sum[i] = a * (real)i;                                                      \
        const double start = race_clock(1);                                            \
        for (int step = 0; step < STEPS; step++)                                       \
            for (int i = 0; i < CHAINS; i++)                                           \
                sum[i] = sum[i] * a + b;                                               \
        for (int i = 0; i < CHAINS; i++)                                               \
            sink = (double)sum[i][0];                                                  \
        return 2. * CHAINS * STEPS * (bytes / sizeof(real)) / (race_clock(1) - start); \
    }

PEAK(baseline_f32, float, 16, )
PEAK(baseline_f64, double, 16, )
#if defined __x86_64__
PEAK(v3_f32, float, 32, __attribute__((target("avx2,fma"))))
PEAK(v3_f64, double, 32, __attribute__((target("avx2,fma"))))
PEAK(v4_f32, float, 64, __attribute__((target("avx512f,fma"))))
PEAK(v4_f64, double, 64, __attribute__((target("avx512f,fma"))))
#endif

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double highest(double rates[ROUNDS])
{
    qsort(rates, ROUNDS, sizeof *rates, ascending);
    return rates[ROUNDS - 1];
}

double bench_peak_gflops(const char *isa, bool is_double)
{
    double (*run)(void) = is_double ? baseline_f64 : baseline_f32;
#if defined __x86_64__
    if (strcmp(isa, "v3") == 0)
        run = is_double ? v3_f64 : v3_f32;
    if (strcmp(isa, "v4") == 0)
        run = is_double ? v4_f64 : v4_f32;
#endif
    (void)isa;
    double rates[ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        rates[round] = run();
    return 1e-9 * highest(rates);
}

double bench_read_gbytes(const void *from, size_t bytes)
{
    const uint64_t *words = from;
    const size_t count = bytes / sizeof *words;
    volatile uint64_t result;
    double rates[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t sum[16] = {0};
        const double start = race_clock(1);
        for (size_t i = 0; i + 16 <= count; i += 16)
            for (int k = 0; k < 16; k++)
                sum[k] += words[i + (size_t)k];
        for (int k = 1; k < 16; k++)
            sum[0] += sum[k];
        result = sum[0];
        (void)result;
        rates[round] = (double)bytes / (race_clock(1) - start);
    }
    return 1e-9 * highest(rates);
}
