#include "tests/bench/handover.h"

#include "tests/bench/race.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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
