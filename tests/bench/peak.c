#include "tests/bench/peak.h"

#include "tests/bench/race.h"

#include <stdint.h>
#include <string.h>

/* Twelve chains of multiply-adds, which no processor takes longer over than it takes to issue them. */
enum { CHAINS = 12, STEPS = 1 << 16 };

#define PEAK(name, real, bytes, attributes)                                                                  \
    attributes static double name(void)                                                                      \
    {                                                                                                        \
        typedef real vector __attribute__((vector_size(bytes)));                                             \
        vector sum[CHAINS], a = {(real)0.5}, b = {1};                                                        \
        memset(sum, 0, sizeof sum);                                                                          \
        const double start = race_clock(1);                                                                  \
        for (int step = 0; step < STEPS; step++)                                                             \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)                                        \
            {                                                                                                \
                sum[i] = sum[i] * a + b;                                                                     \
                __asm__ volatile("" : REGISTER(sum[i]));                                                     \
            }                                                                                                \
        return 2. * CHAINS * STEPS * (bytes / sizeof(real)) / (race_clock(1) - start);                       \
    }

#if defined __x86_64__
#define REGISTER(x) "+x"(x)
PEAK(baseline_f32, float, 16, )
PEAK(baseline_f64, double, 16, )
#undef REGISTER
#define REGISTER(x) "+v"(x)
PEAK(v3_f32, float, 32, __attribute__((target("avx2,fma"))))
PEAK(v3_f64, double, 32, __attribute__((target("avx2,fma"))))
PEAK(v4_f32, float, 64, __attribute__((target("avx512f,fma"))))
PEAK(v4_f64, double, 64, __attribute__((target("avx512f,fma"))))
#else
#if defined __aarch64__
#define REGISTER(x) "+w"(x)
#else
#define REGISTER(x) "+m"(x)
#endif
PEAK(baseline_f32, float, 16, )
PEAK(baseline_f64, double, 16, )
#endif

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
    double best = 0;
    for (int round = 0; round < 30; round++) {
        const double rate = run();
        best = rate > best ? rate : best;
    }
    return 1e-9 * best;
}

double bench_read_gbytes(const void *from, size_t bytes)
{
    const uint64_t *words = from;
    const size_t count = bytes / sizeof *words;
    volatile uint64_t result;
    double best = 0;
    for (int round = 0; round < 5; round++) {
        uint64_t sum[16] = {0};
        const double start = race_clock(1);
        for (size_t i = 0; i + 16 <= count; i += 16)
            for (int k = 0; k < 16; k++)
                sum[k] += words[i + (size_t)k];
        for (int k = 1; k < 16; k++)
            sum[0] += sum[k];
        result = sum[0];
        (void)result;
        const double rate = (double)bytes / (race_clock(1) - start);
        best = rate > best ? rate : best;
    }
    return 1e-9 * best;
}
