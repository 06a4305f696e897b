/* A run: gives a program's values buffers and computes them, in order. Internal.
 *
 *     tg_run_to(run, program, program->count, TG_NO_PASS); // compute what has been recorded since the last call
 *     tg_run_reset(run), tg_run_to(...);                   // compute everything once more: a replay
 *
 * At first a value takes a buffer from an arena, or a released one of the same size. A later step that repeats this
 * one, and a replay, use the same buffers, and release none. What a checkpoint released is recomputed by other values,
 * with buffers of their own.
 *
 *     values   x    g    h    y    dy   dh   dg     y is the loss
 *     arena   [x   |g   |h   |y   |dy dg|dh  ]      the pass released dy after dh, its last reader; dg takes it
 *
 * Once steps repeat, all buffers move into one block (autograd/memory/planner.c). A result that the caller may read
 * keeps its place until the step ends. Without tg_tape_save_memory these are all results of the forward pass:
 *
 *     block   [x   |g   |h   |y   |dy dh|dg  ]      dh is elementwise, so it may be computed in place, over dy
 *     saving  [x   |g   |h dg|y   |dy dh]           nothing reads h after dh, so dg takes its place
 *
 * Where a later step records something else, the values before that stay in the block, and the following ones get
 * buffers as at first, until steps repeat again.
 */
#ifndef TG_RUN_H
#define TG_RUN_H

#include "autograd/tape/program.h"

typedef struct tg_free_buffer tg_free_buffer;
typedef struct tg_run tg_run;
typedef struct tg_tape tg_tape;
typedef struct tg_feature tg_feature;

/* Levels of features that compute, from the outermost to the innermost, in whatever order they are switched on: what is
 * watched has been rounded, and what is timed is the operation alone. */
enum { TG_LEVEL_WATCH = 1, TG_LEVEL_ROUND, TG_LEVEL_TIME };

/* What a tape calls for a feature that has files of its own, which the tape does not know: hooks, times, a plan of the
 * memory. Each function may be NULL. */
typedef struct tg_feature_kind {
    int level;   /* a feature computes around those of higher levels; 0: it does not compute */
    size_t size; /* of the feature's struct, which begins with a tg_feature */

    /* Called when it is made, and at the end of each step, before the program forgets which values the step had. */
    void (*reset)(tg_feature *feature, tg_tape *tape);

    /* Before values from number `count` on are removed. */
    void (*cut)(tg_feature *feature, int64_t count);

    /* Computes a value in place of tg_run_compute, which it calls. */
    bool (*compute)(tg_feature *feature, tg_run *run, tg_value *value);

    /* Frees what it has allocated. */
    void (*free)(tg_feature *feature);
} tg_feature_kind;

struct tg_feature {
    const tg_feature_kind *kind;
    tg_feature *next;
    bool computes; /* `compute` is called now */
};

/* Memory of its own; `size` in bytes. */
typedef struct tg_buffer {
    void *data;
    size_t size;
} tg_buffer;

enum { TG_RELEASED_LISTS = 32, TG_BUFFER_ALIGNMENT = 64 };

/* Memory for the buffers of all values. */
typedef struct tg_run_block {
    struct tg_run_block *earlier; /* in this step; the caller may still read there */
    size_t size;
    _Alignas(TG_BUFFER_ALIGNMENT) char data[];
} tg_run_block;

/* NULL if out of memory. */
tg_run_block *tg_run_block_new(size_t size);

struct tg_run {
    tg_arena arena;      /* buffers that are not in the block */
    tg_run_block *block; /* NULL until the buffers have moved */

    /* Released buffers by size, each list with the latest first, as that is still in the cache. */
    tg_free_buffer *released[TG_RELEASED_LISTS];

    int64_t computed;     /* values before this one have been computed in this step */
    int64_t began;        /* the latest change (changes.h) when the run began to compute the step */
    tg_buffer addend;     /* a gradient before it is added to another */
    tg_feature *features; /* by level */
};

void tg_run_free(tg_run *run);

/* Begins a step. */
void tg_run_reset(tg_run *run);

/* Computes the values before number `end` that have not been computed in this step; false if that fails, before any is
 * computed (and a gradient written) if one reads what has changed. Of those from number `pass_start` on, it releases
 * each buffer after its last reader; TG_NO_PASS: of none. */
bool tg_run_to(tg_run *run, const tg_program *program, int64_t end, int64_t pass_start);

/* Computes one value, whose inputs have been computed, by the next feature that computes, if there is one. */
bool tg_run_compute(tg_run *run, tg_feature *next, tg_value *value);

/* Gives a value its buffer; false, with the error recorded, if out of memory. */
bool tg_run_allocate(tg_run *run, tg_value *value);

/* Releases an operation's result for later ones of the same size, if it has a buffer of the run. The value must not be
 * read afterwards. */
void tg_run_release(tg_run *run, tg_value *value);

/* Two ways to lose a value's elements, of which there is no sign in its slot's `data`:
 *
 *     released      by a pass, or at the end of a checkpoint: the buffer may belong to another value
 *     overwritten   in the run's block, by a value that has been computed since, though the step may still ask for it
 *
 * A slot stays `released` while steps repeat, as these use the same buffers. So a value of a checkpoint can be read,
 * whatever its slot says, until this step closes the checkpoint. */
bool tg_run_released(const tg_value *value);
bool tg_run_overwritten(const tg_run *run, const tg_value *value);

/* A quick test: if true, the value is neither. */
static inline bool tg_run_surely_holds(const tg_run *run, const tg_value *value)
{
    return !run->block && !value->slot.released && !(value->op && value->op->flags & TG_VIEW);
}

/* Gives each computed value memory of its own, in a larger block, and computes those that have been overwritten once
 * more: for a step that reads what the steps before did not. False, with the error recorded, if that fails. */
bool tg_run_unshare(tg_run *run, tg_program *program);

/* Between steps: takes over a block in which all buffers are from now on, as their slots say, and frees the memory that
 * they had. */
void tg_run_move(tg_run *run, tg_run_block *block);

/* Called when the program is cut: frees the buffers of values from number `count` on. */
void tg_run_cut(tg_run *run, tg_program *program, int64_t count);

#endif
