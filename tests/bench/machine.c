#include "tests/bench/machine.h"

#include "tests/bench/race.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
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

/* ---- the distance between two processors ---- */

/* 2 k: the caller may start exchange number k; 2 k + 1: the other thread may. */
static _Alignas(128) atomic_int ball;

/* On a single processor, yields to the other thread. */
static void wait_for(int number)
{
    enum { PATIENCE = 1 << 14 };
    for (int looks = 0; atomic_load(&ball) != number; looks++)
        if (looks > PATIENCE)
            sched_yield();
}

static void *return_it(void *count)
{
    for (int k = 0; k < (int)(intptr_t)count; k++) {
        wait_for(2 * k + 1);
        atomic_store(&ball, 2 * k + 2);
    }
    return NULL;
}

/* Starts the thread on another processor; the system itself might not move it there at once. */
static bool start_other(pthread_t *other, int exchanges)
{
    cpu_set_t elsewhere;
    pthread_attr_t attributes;
    if (pthread_getaffinity_np(pthread_self(), sizeof elsewhere, &elsewhere) != 0 ||
        pthread_attr_init(&attributes) != 0)
        return false;
    CPU_CLR(sched_getcpu(), &elsewhere);
    if (CPU_COUNT(&elsewhere) > 0)
        pthread_attr_setaffinity_np(&attributes, sizeof elsewhere, &elsewhere);
    const bool started = pthread_create(other, &attributes, return_it, (void *)(intptr_t)exchanges) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

double handover_seconds(int exchanges)
{
    pthread_t other;
    atomic_store(&ball, 0);
    if (!start_other(&other, exchanges + 1))
        return -1;
    double start = 0;
    for (int k = 0; k <= exchanges; k++) { /* the first exchange waits until the thread has started */
        atomic_store(&ball, 2 * k + 1);
        wait_for(2 * k + 2);
        if (k == 0)
            start = race_clock(0);
    }
    const double seconds = race_clock(0) - start;
    pthread_join(other, NULL);
    return seconds;
}
