/* Long work shared among threads. Internal to the library.
 *
 *     static void update(void *context, size_t first, size_t count) ...   // any part of the work, on its own
 *
 *     tg_parallel(n, 1 << 16, TG_LINE, update, &s);                       // update(&s, 0, n), in parts side by side
 *
 * There are as many threads as tg_parallel_threads says, the caller one of them, and at most 32.
 * Results must not depend on into how many parts the work was cut: each element depends on its own place only.
 *
 *     caller    publishes the parts | takes one after the other, while there are any | waits for those that others took
 *     worker    looks for a part for a while, yielding the processor to other programs, and then sleeps
 *
 * Part k goes to the same thread every time, if that one is free: most work goes over the same rows as the work before,
 * and finds them in its processor's cache. Fetching them from the other's takes longer than many a kernel, most of all
 * where the two share no cache.
 *
 * Since the caller waits only for parts in progress, a busy machine makes sharing useless but hardly slower.
 * (OpenMP's threads wait without giving way: with another program on the same two processors a step took six times as
 * long as alone.)
 */
#ifndef TG_PARALLEL_H
#define TG_PARALLEL_H

#include <stddef.h>

enum { TG_LINE = 64 }; /* elements, or bytes, after which a cut cannot fall into one line of the cache */

typedef void (*tg_parallel_part)(void *context, size_t first, size_t count);

/* Runs `part` over 0 .. count-1 in parts of about `least` elements or more, cut at multiples of `unit`, and returns
 * when all are done. In one piece where there is one thread, little to do, or work that is shared already. */
void tg_parallel(size_t count, size_t least, size_t unit, tg_parallel_part part, void *context);

/* The start of part k of `parts`; part k ends where part k + 1 begins. For every count, unit > 0 and parts > 0:
 *
 *     cut(0) = 0, cut(parts) = count, cut(k) <= cut(k + 1), and cut(k) is a multiple of unit for k < parts.
 *
 * So parts are disjoint, cover [0, count) and lie inside it; where there are fewer units than parts, some are empty,
 * and tg_parallel leaves them out. */
size_t tg_parallel_cut(size_t count, size_t unit, int parts, int k);

/* The same for work on several arrays at once, of `size` elements together. Each array is cut into TG_CHUNKS chunks,
 * and `part` is run over chunks first .. first + count - 1: all of them, or a process's share. A thread takes the same
 * chunks of every array, so it mostly finds what belongs together in its cache. */
enum { TG_CHUNKS = 16 };
void tg_parallel_chunks(size_t first, size_t count, size_t size, size_t least, tg_parallel_part part, void *context);

/* The start of a chunk in an array of `size` elements; for TG_CHUNKS, the end of the array. */
size_t tg_chunk_begin(size_t size, size_t chunk);

/* As many threads; less than 1: one for each processor. At the start TG_THREADS of the environment, else
 * OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, but no more than there are processors; else one for each. */
void tg_parallel_set_threads(int threads);
int tg_parallel_threads(void);

#endif
