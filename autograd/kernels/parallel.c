#include "autograd/kernels/parallel.h"

#include <cblas.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST_THREADS = 32 };
enum {
    GLANCES = 200,
    LOOKS = 2000
}; /* of who waits: some microseconds on end, then half a millisecond giving way */

typedef struct job {
    tg_parallel_part part;
    void *context;
    size_t count, unit;
    int parts;
} job;

static struct pool {
    pthread_mutex_t in_use; /* held by the caller from beginning to end */
    job job;                /* stands still while a part that somebody took is not finished */
    _Atomic uint64_t offer; /* round, 32 bits | parts that nobody has taken, one bit each */
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

static uint32_t parts_of(uint64_t offer)
{
    return (uint32_t)offer;
}

/* Takes a part if there is one left, the preferred one if it is; its number. The round in the offer keeps a late comer from taking one of
 * another round. */
static bool take(int preferred, int *number)
{
    uint64_t offer = atomic_load(&pool.offer);
    while (parts_of(offer)) {
        *number = parts_of(offer) >> preferred & 1 ? preferred : __builtin_ctz(parts_of(offer));
        if (atomic_compare_exchange_weak(&pool.offer, &offer, offer & ~((uint64_t)1 << *number)))
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
    while (!parts_of(atomic_load(&pool.offer)))
        pthread_cond_wait(&pool.alarm, &pool.bed);
    atomic_fetch_sub(&pool.sleepers, 1);
    pthread_mutex_unlock(&pool.bed);
}

/* Between one look and the next. */
static void wait_a_little(int looks)
{
#if defined __x86_64__
    if (looks < GLANCES) {
        __builtin_ia32_pause();
        return;
    }
#endif
    sched_yield();
}

static void *help(void *number_of_helper)
{
    const int preferred = (int)(intptr_t)number_of_helper;
    for (int looks = 0, number;;) {
        if (take(preferred, &number)) {
            run(number);
            looks = 0;
        } else if (looks < GLANCES + LOOKS)
            wait_a_little(looks++);
        else {
            sleep_until_alarm();
            looks = 0;
        }
    }
    return NULL;
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
        while (pool.helpers < wanted &&
               pthread_create(&thread, &detached, help, (void *)(intptr_t)(pool.helpers + 1)) == 0)
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
    const uint64_t round = (atomic_load(&pool.offer) >> 32) + 1;
    atomic_store(&pool.offer, round << 32 | (((uint64_t)1 << j->parts) - 1));
    call_helpers(j->parts - 1);
    for (int number; take(0, &number);)
        run(number);
    for (int looks = 0; atomic_load(&pool.finished) < j->parts; looks++)
        wait_a_little(looks);
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

void tg_parallel_shares(size_t size, size_t least, tg_parallel_part part, void *context)
{
    tg_parallel(TG_SHARES, size / 2 < least ? TG_SHARES : (TG_SHARES * least + size - 1) / size, 1, part,
                context);
}

size_t tg_share_begin(size_t size, size_t share)
{
    return share == TG_SHARES ? size : size / TG_SHARES * share / TG_LINE * TG_LINE;
}
