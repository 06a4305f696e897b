/* A run: gives a program's values buffers and computes them, in order. Internal.
 *
 * tg_run_to(run, program, program->count) // compute what has been recorded since the last call
 * tg_run_reset(run), tg_run_to(...) // compute everything once more: a replay
 *
 * A buffer that is not read again is released and reused for a later value. Buffers are assigned once; a step that
 * repeats the previous one, a replay and a checkpoint's recomputation use the same buffers.
 *
 * Once a step has repeated the previous one, the program is known as a whole, and tg_run_plan moves all buffers into
 * one block of just the size that is needed. Where a later step records something else, values before that stay in the
 * block, and the following ones get buffers as at first, until steps repeat again.
 */
#ifndef TG_RUN_H
#define TG_RUN_H

#include "autograd/memory/lifetimes.h"

typedef struct tg_free_buffer tg_free_buffer;

/* The smallest positive number of a type, and the largest finite one. */
typedef struct tg_magnitudes {
    double least, largest;
} tg_magnitudes;

enum { TG_RELEASED_LISTS = 32 };

typedef struct tg_run {
    tg_arena arena; /* the buffers, */
    char *block;    /* or, once planned, all that were planned; NULL if there is no plan */
    size_t block_size;
    tg_free_buffer *released[TG_RELEASED_LISTS]; /* by size, reused for values of exactly that size; the latest first,
                                                    as it is still in the cache */
    int64_t computed;                            /* values before this one have been computed in this step */
    const void **in;                             /* input pointers of one call */
    int in_capacity;
    void *scratch; /* scratch memory for a gradient before it is added to another */
    size_t scratch_size;
    bool watches;              /* stops at the first NaN or infinity that an operation produces */
    bool times;                /* measures the time of each value */
    tg_magnitudes *magnitudes; /* [2]: range of the numbers in forward and backward passes; NULL: not measured */
    int64_t allocations;
} tg_run;

void tg_run_free(tg_run *run);

/* Begins a step. */
void tg_run_reset(tg_run *run);

/* Computes the values before number `end` that have not been computed in this step; false if that fails. */
bool tg_run_to(tg_run *run, tg_program *program, int64_t end);

/* Gives a value its buffer; false, with the error recorded, if out of memory. */
bool tg_run_allocate(tg_run *run, tg_value *value);

/* Makes room in run->in for a call with that many inputs. */
bool tg_run_reserve(tg_run *run, tg_program *program, int inputs);

/* Releases a value's buffer for later values of the same size. The value must not be read afterwards. */
void tg_run_release(tg_run *run, tg_value *value);

/* True for an intermediate result of a closed checkpoint: its buffer may belong to another value. */
bool tg_run_released(const tg_value *value);

/* True for a value that has been computed and is not released. */
bool tg_run_readable(const tg_value *value);

/* True if the buffer of a value may have been overwritten, as the plan ends its life before this point of the step. */
bool tg_run_overwritten(const tg_run *run, const tg_value *value);

/* Plans the memory of a step that is over and was computed as a whole. Without memory for that, all stays as it is. */
void tg_run_plan(tg_run *run, const tg_program *program, bool saves_memory);

/* Called when the program is cut: frees the buffers of values from number `count` on. */
void tg_run_cut(tg_run *run, tg_program *program, int64_t count);

#endif
