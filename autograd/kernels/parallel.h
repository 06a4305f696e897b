/* Divides long work among threads. Internal to the library.
 *
 *     static void update(void *context, size_t first, size_t count) ...   // any part of the work, on its own
 *
 *     tg_parallel(n, 1 << 16, TG_LINE, update, &s);                       // update(&s, 0, n), in parts side by side
 *
 * Work is divided into at most 32 parts, one of them the caller's. Results must not depend on the number of parts: each
 * element may depend on its own index only.
 *
 *     caller    publishes the parts | takes one after the other until none is left | waits for those that others took
 *     worker    looks for a part for a while, yielding the processor to other programs, and then sleeps
 *
 * Part k goes to the same thread every time, if that thread is free: most work uses the same rows as the work before,
 * and finds them in its processor's cache. Fetching them from another processor's cache takes longer than many kernels
 * do.
 *
 * As the caller waits only for parts in progress, on a busy machine several threads gain nothing but cost little.
 * (OpenMP's threads wait without yielding: with another program on the same two processors a step took six times as
 * long as alone.)
 */
#ifndef TG_PARALLEL_H
#define TG_PARALLEL_H

#include <stddef.h>

enum { TG_LINE = 64 }; /* elements, or bytes: parts that begin at multiples of this share no cache line */

typedef void (*tg_parallel_part)(void *context, size_t first, size_t count);

/* Runs `part` over 0 .. count-1 in parts of about `least` elements or more, divided at multiples of `unit`, and returns
 * when all are done. Runs in one piece if there is one thread, little work, or the caller is itself part of divided
 * work. */
void tg_parallel(size_t count, size_t least, size_t unit, tg_parallel_part part, void *context);

/* The start of part k of `parts`; part k ends where part k + 1 begins. For every count, unit > 0 and parts > 0:
 *
 *     cut(0) = 0, cut(parts) = count, cut(k) <= cut(k + 1), and cut(k) is a multiple of unit for k < parts.
 *
 * So parts are disjoint, cover [0, count) and lie inside it; if there are fewer units than parts, some are empty, and
 * tg_parallel skips them. */
size_t tg_parallel_cut(size_t count, size_t unit, int parts, int k);

/* tg_parallel for work on several arrays at once, with `size` elements in total. Each array is divided into TG_CHUNKS
 * chunks, and `part` is run over chunks first .. first + count - 1: all of them, or the share of a process. A thread
 * takes the same chunks of every array, so it mostly finds them in its cache. */
enum { TG_CHUNKS = 16 };
void tg_parallel_chunks(size_t first, size_t count, size_t size, size_t least, tg_parallel_part part, void *context);

/* The start of a chunk in an array of `size` elements; for TG_CHUNKS, the end of the array. */
size_t tg_chunk_begin(size_t size, size_t chunk);

/* Sets the number of threads; less than 1: one per processor. The initial number is TG_THREADS of the environment, else
 * OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, limited to the number of processors; else one per processor. */
void tg_parallel_set_threads(int threads);
int tg_parallel_threads(void);

#endif
