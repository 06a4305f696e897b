#include "autograd/kernels/parallel.h"

#include <cblas.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST_THREADS = 64 };
enum { PATIENCE = 2000 }; /* looks for a part before a helper sleeps: about half a millisecond */

typedef struct job {
    tg_parallel_part part;
    void *context;
    size_t count, unit;
    int parts;
} job;

static struct pool {
    pthread_mutex_t in_use; /* held by the caller from beginning to end */
    job job;                /* stands still while a part that somebody took is not finished */
    _Atomic uint64_t offer; /* round | parts, 8 bits | parts taken, 8 bits */
    atomic_int finished;    /* parts of this round */
    int helpers;
    atomic_int sleepers;
    pthread_mutex_t bed;
    pthread_cond_t alarm;
} pool = {
    .in_use = PTHREAD_MUTEX_INITIALIZER, .bed = PTHREAD_MUTEX_INITIALIZER, .alarm = PTHREAD_COND_INITIALIZER};

/* ---- the BLAS's own threads ---- */

static pthread_mutex_t pins_lock = PTHREAD_MUTEX_INITIALIZER;
static int pins;           /* how many keep the BLAS to one thread */
static int pinned_threads; /* how many it had before */

int tg_parallel_pin(void)
{
    pthread_mutex_lock(&pins_lock);
    if (pins++ == 0) {
        pinned_threads = openblas_get_num_threads();
        if (pinned_threads > 1)
            openblas_set_num_threads(1);
    }
    const int threads = pinned_threads;
    pthread_mutex_unlock(&pins_lock);
    return threads;
}

void tg_parallel_unpin(void)
{
    pthread_mutex_lock(&pins_lock);
    if (--pins == 0 && pinned_threads > 1)
        openblas_set_num_threads(pinned_threads);
    pthread_mutex_unlock(&pins_lock);
}

/* ---- parts ---- */

static bool has_part(uint64_t offer)
{
    return (offer & 0xff) < (offer >> 8 & 0xff);
}

/* Takes a part if there is one left; its number. The round in the offer keeps a late comer from taking one of another round. */
static bool take(int *number)
{
    uint64_t offer = atomic_load(&pool.offer);
    while (has_part(offer))
        if (atomic_compare_exchange_weak(&pool.offer, &offer, offer + 1)) {
            *number = (int)(offer & 0xff);
            return true;
        }
    return false;
}

/* Where part number k begins. */
static size_t cut(const job *j, int k)
{
    return k == j->parts ? j->count
                         : (j->count * (size_t)k / (size_t)j->parts + j->unit / 2) / j->unit * j->unit;
}

static void run(int number)
{
    const job *j = &pool.job;
    const size_t first = cut(j, number), end = cut(j, number + 1);
    if (first < end)
        j->part(j->context, first, end - first);
    atomic_fetch_add(&pool.finished, 1);
}

/* ---- helpers ---- */

static void sleep_until_alarm(void)
{
    pthread_mutex_lock(&pool.bed);
    atomic_fetch_add(&pool.sleepers, 1);
    while (!has_part(atomic_load(&pool.offer)))
        pthread_cond_wait(&pool.alarm, &pool.bed);
    atomic_fetch_sub(&pool.sleepers, 1);
    pthread_mutex_unlock(&pool.bed);
}

static void *help(void *unused)
{
    for (int looks = 0, number;;) {
        if (take(&number)) {
            run(number);
            looks = 0;
        } else if (++looks < PATIENCE)
            sched_yield();
        else {
            sleep_until_alarm();
            looks = 0;
        }
    }
    return unused;
}

/* A child of fork has the memory of its parent's helpers, but not the helpers. */
static void forget_helpers(void)
{
    pthread_mutex_init(&pool.in_use, NULL);
    pthread_mutex_init(&pool.bed, NULL);
    pthread_mutex_init(&pins_lock, NULL);
    pins = 0;
    pthread_cond_init(&pool.alarm, NULL);
    atomic_store(&pool.offer, 0);
    atomic_store(&pool.sleepers, 0);
    pool.helpers = 0;
}

__attribute__((constructor)) static void look_after_children(void)
{
    pthread_atfork(NULL, NULL, forget_helpers);
}

/* Fewer, if the system does not give more; the caller does without. */
static void call_helpers(int wanted)
{
    pthread_attr_t detached;
    if (pool.helpers < wanted && pthread_attr_init(&detached) == 0) {
        pthread_t thread;
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        while (pool.helpers < wanted && pthread_create(&thread, &detached, help, NULL) == 0)
            pool.helpers++;
        pthread_attr_destroy(&detached);
    }
    if (atomic_load(&pool.sleepers) > 0) {
        pthread_mutex_lock(&pool.bed);
        pthread_cond_broadcast(&pool.alarm);
        pthread_mutex_unlock(&pool.bed);
    }
}

/* ---- the caller ---- */

static void share(const job *j)
{
    pool.job = *j;
    atomic_store(&pool.finished, 0);
    const uint64_t round = (atomic_load(&pool.offer) >> 16) + 1;
    atomic_store(&pool.offer, round << 16 | (uint64_t)j->parts << 8);
    call_helpers(j->parts - 1);
    for (int number; take(&number);)
        run(number);
    while (atomic_load(&pool.finished) < j->parts)
        sched_yield();
}

void tg_parallel(size_t count, size_t least, size_t unit, tg_parallel_part part, void *context)
{
    if (count / 2 < least) {
        part(context, 0, count);
        return;
    }
    const int of_the_blas = tg_parallel_pin();
    const size_t threads = of_the_blas < MOST_THREADS ? (size_t)of_the_blas : MOST_THREADS;
    const size_t worthwhile = least > 0 ? count / least : count;
    const job j = {part, context, count, unit, (int)(worthwhile < threads ? worthwhile : threads)};
    if (j.parts > 1 && pthread_mutex_trylock(&pool.in_use) == 0) {
        share(&j);
        pthread_mutex_unlock(&pool.in_use);
    } else
        part(context, 0, count);
    tg_parallel_unpin();
}
