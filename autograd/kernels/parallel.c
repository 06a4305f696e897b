#include "autograd/kernels/parallel.h"

#include "autograd/base/platform.h"
#include "autograd/kernels/scratch.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST_THREADS = 32 };
enum { SPINS = 200 };   /* spins of a waiting thread: some microseconds without a pause, */
enum { YIELDS = 2000 }; /* then about half a millisecond of yields; then a worker sleeps */

typedef struct job {
    tg_parallel_part part;
    void *context;
    size_t count, unit;
    int parts;
} job;

typedef struct worker {
    pthread_t thread;
    tg_processors own; /* the processors it may run on, from the time when it went to sleep */
    bool asleep;
    void *scratch; /* its scratch memory, allocated before it starts */
} worker;

static struct pool {
    pthread_mutex_t in_use; /* locked by the caller during the whole call */
    job job;                /* constant while a part is being worked on */
    _Atomic uint64_t offer; /* round, 32 bits | parts not taken yet, one bit each */
    atomic_int finished;    /* number of parts in this round */
    atomic_int processor;   /* the caller's processor in this round; negative: unknown */
    worker worker[MOST_THREADS];
    int workers; /* worker[1] .. worker[workers]; number 0 is the caller */
    atomic_int sleepers;
    pthread_mutex_t sleep_lock;
    pthread_cond_t wake;
} pool = {
    .in_use = PTHREAD_MUTEX_INITIALIZER, .sleep_lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* ---- number of threads ---- */

static atomic_int threads_set; /* 0: 0: not set yet */

static int number_in_environment(const char *name)
{
    const char *text = getenv(name);
    const long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number < INT_MAX ? (int)number : 0;
}

/* Other libraries' variables, which may have been set for another machine, are limited to the number of processors. */
static int threads_at_start(void)
{
    static const char *const others[] = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"};
    const int own = number_in_environment("TG_THREADS"), most = tg_processor_count();
    int number = 0;
    for (size_t i = 0; number == 0 && i < sizeof others / sizeof *others; i++)
        number = number_in_environment(others[i]);
    return own ? own : number > 0 && number < most ? number : most;
}

void tg_parallel_set_threads(int threads)
{
    atomic_store(&threads_set, threads > 0 ? threads : tg_processor_count());
}

int tg_parallel_threads(void)
{
    int threads = atomic_load(&threads_set), unset = 0;
    if (threads == 0) {
        threads = threads_at_start();
        if (!atomic_compare_exchange_strong(&threads_set, &unset, threads))
            threads = unset; /* another thread was faster */
    }
    return threads;
}

/* ---- parts ---- */

static uint32_t parts_of(uint64_t offer)
{
    return (uint32_t)offer;
}

/* Takes a part if there is one, the preferred one if it is free; sets its number. The round in the offer prevents a
 * late thread from taking a part of another round. */
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

/* Divides whole units, the last of which may be incomplete. Rounding a share of the elements instead could begin a part
 * after the end. */
size_t tg_parallel_cut(size_t count, size_t unit, int parts, int k)
{
    const size_t units = count / unit + (count % unit != 0);
    return k == parts ? count : units * (size_t)k / (size_t)parts * unit;
}

static void run(int number)
{
    const job *j = &pool.job;
    const size_t first = tg_parallel_cut(j->count, j->unit, j->parts, number),
                 end = tg_parallel_cut(j->count, j->unit, j->parts, number + 1);
    if (first < end)
        j->part(j->context, first, end - first);
    atomic_fetch_add(&pool.finished, 1);
}

/* ---- processors ----
 *
 * Linux may wake a thread on the processor of the thread that wakes it, although another processor is idle, and
 * alternate the two there for milliseconds: a step on two threads then takes longer than on one. So a worker is moved
 * off the caller's processor before it is woken, and moves itself when it finds that it runs there. Otherwise it may
 * run wherever it could before.
 */
static void keep_away_from_the_caller(void)
{
    const int processor = atomic_load(&pool.processor);
    if (processor < 0 || processor != tg_processor())
        return;
    const tg_processors set = tg_processors_own();
    tg_processors_place(pthread_self(), tg_processors_without(set, processor));
    tg_processors_place(pthread_self(), set);
}

/* ---- workers ---- */

static void sleep_until_woken(worker *w)
{
    pthread_mutex_lock(&pool.sleep_lock);
    w->own = tg_processors_own();
    w->asleep = true;
    atomic_fetch_add(&pool.sleepers, 1);
    while (!parts_of(atomic_load(&pool.offer)))
        pthread_cond_wait(&pool.wake, &pool.sleep_lock);
    atomic_fetch_sub(&pool.sleepers, 1);
    w->asleep = false;
    tg_processors_place(w->thread, w->own);
    pthread_mutex_unlock(&pool.sleep_lock);
}

/* Pauses between two polls. */
static void wait_a_little(int waits)
{
    (void)waits; /* unused on processors without such an instruction */
#if defined __x86_64__
    if (waits < SPINS) {
        __builtin_ia32_pause();
        return;
    }
#endif
    sched_yield();
}

static void *work(void *worker_of_pool)
{
    worker *w = worker_of_pool;
    const int preferred = (int)(w - pool.worker);
    w->thread = pthread_self();
    tg_scratch_own(w->scratch);
    tg_processors_place(w->thread, w->own);
    for (int waits = 0, number;;) {
        if (take(preferred, &number)) {
            keep_away_from_the_caller();
            run(number);
            waits = 0;
        } else if (waits < SPINS + YIELDS) {
            wait_a_little(waits++);
            if (waits > SPINS) /* while this thread yields, an offer would be over before it sees it */
                keep_away_from_the_caller();
        } else {
            sleep_until_woken(w);
            waits = 0;
        }
    }
    return NULL;
}

/* A child of fork has the memory of its parent's workers, but not the workers. */
static void forget_workers(void)
{
    pthread_mutex_init(&pool.in_use, NULL);
    pthread_mutex_init(&pool.sleep_lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    atomic_store(&pool.offer, 0);
    atomic_store(&pool.sleepers, 0);
    pool.workers = 0;
}

__attribute__((constructor)) static void look_after_children(void)
{
    tg_after_fork(forget_workers);
}

static bool create(worker *w)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    w->own = tg_processors_own();
    w->asleep = false;
    w->scratch = tg_scratch_new();
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    tg_processors_of_new(&attributes, tg_processors_without(w->own, tg_processor()));
    const bool created = pthread_create(&thread, &attributes, work, w) == 0;
    pthread_attr_destroy(&attributes);
    if (!created)
        tg_aligned_free(w->scratch);
    return created;
}

static void wake_all(void)
{
    pthread_mutex_lock(&pool.sleep_lock);
    for (worker *w = pool.worker + 1; w <= pool.worker + pool.workers; w++)
        if (w->asleep)
            tg_processors_place(w->thread, tg_processors_without(w->own, tg_processor()));
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.sleep_lock);
}

/* Starts fewer workers if the system refuses more; the caller then does their parts. */
static void call_workers(int wanted)
{
    while (pool.workers < wanted && create(&pool.worker[pool.workers + 1]))
        pool.workers++;
    if (atomic_load(&pool.sleepers) > 0)
        wake_all();
}

/* ---- the caller ---- */

static void run_in_parts(const job *j)
{
    pool.job = *j;
    atomic_store(&pool.finished, 0);
    atomic_store(&pool.processor, tg_processor());
    const uint64_t round = (atomic_load(&pool.offer) >> 32) + 1;
    atomic_store(&pool.offer, round << 32 | (((uint64_t)1 << j->parts) - 1));
    call_workers(j->parts - 1);
    for (int number; take(0, &number);)
        run(number);
    for (int waits = 0; atomic_load(&pool.finished) < j->parts; waits++)
        wait_a_little(waits);
}

void tg_parallel(size_t count, size_t least, size_t unit, tg_parallel_part part, void *context)
{
    if (count / 2 < least) {
        part(context, 0, count);
        return;
    }
    const int set = tg_parallel_threads();
    const size_t threads = set < MOST_THREADS ? (size_t)set : MOST_THREADS;
    const size_t worthwhile = least > 0 ? count / least : count;
    const job j = {part, context, count, unit, (int)(worthwhile < threads ? worthwhile : threads)};
    if (j.parts > 1 && pthread_mutex_trylock(&pool.in_use) == 0) {
        run_in_parts(&j);
        pthread_mutex_unlock(&pool.in_use);
    } else
        part(context, 0, count);
}

typedef struct some_chunks {
    size_t first;
    tg_parallel_part part;
    void *context;
} some_chunks;

static void do_chunks(void *context, size_t first, size_t count)
{
    const some_chunks *some = context;
    some->part(some->context, some->first + first, count);
}

void tg_parallel_chunks(size_t first, size_t count, size_t size, size_t least, tg_parallel_part part, void *context)
{
    const size_t of_all = size / 2 < least ? TG_CHUNKS : (TG_CHUNKS * least + size - 1) / size;
    tg_parallel(count, of_all, 1, do_chunks, &(some_chunks){first, part, context});
}

size_t tg_chunk_begin(size_t size, size_t chunk)
{
    return chunk == TG_CHUNKS ? size : size / TG_CHUNKS * chunk / TG_LINE * TG_LINE;
}
