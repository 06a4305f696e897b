/* The inside of a tape, for the core: tape.c, apply.c and grad.c. Internal to the library. */
#ifndef TG_TAPE_INTERNAL_H
#define TG_TAPE_INTERNAL_H

#include "autograd/arena.h"
#include "autograd/op.h"

typedef struct tg_scope {
    const struct tg_scope *parent;
    const char *name;
} tg_scope;

/* Values lie in blocks that never move and outlive every reset, so that a stale handle still points at a value, whose
 * serial then tells it from the one it was made for:
 *
 *     handle {value, serial 17} --> values[3] {serial 42}     42 != 17: the handle is dead
 */
enum { TG_BLOCK_BITS = 8, TG_BLOCK_VALUES = 1 << TG_BLOCK_BITS };

/* A buffer that nobody reads any more, waiting to be used again. It lies in the buffer itself. */
typedef struct tg_spare {
    struct tg_spare *next;
    size_t size;
} tg_spare;

/* A backward pass on the tape: its output, that one's cotangent (NULL: ones), and from where to where its own values stand. Where there
 * was none start is 0, where there were several, or one that must not be repeated, -1. */
typedef struct tg_sweep_span {
    const tg_value *output, *cotangent;
    int64_t start, end;
} tg_sweep_span;

struct tg_tape {
    tg_arena arena;
    tg_spare *spares;      /* the latest first: it is still in the cache */
    tg_arena scratch;      /* what has to outlive a rewind of the tape */
    tg_value **blocks;
    int64_t block_count, block_capacity;
    int64_t count;         /* values on the tape */
    int64_t evaluated;     /* values before this one have their data */
    uint64_t next_serial;
    uint64_t first_serial; /* of the values recorded since the last reset */
    uint64_t sweep;        /* number of the last sweep, for tg_value.mark */
    const tg_scope *scope;
    int no_grad;           /* depth of no-grad scopes and backward passes without create_graph */
    int graphless;         /* depth of the latter alone */
    bool deferred;         /* operations are recorded now and evaluated by tg_tape_evaluate */
    bool watches;          /* stops at the first NaN or infinity that an operation makes */
    const tg_value *differentiated; /* the value whose derivative is being recorded, in a backward pass */
    int sweeping;          /* depth of backward passes */
    bool follows;          /* this step has asked for the same as the one before so far: follow.c */
    int64_t followed_count; /* values of the step that is followed, */
    tg_arena_position followed_end; /* where its memory ended, */
    tg_sweep_span followed_sweep;   /* and its backward pass */
    const char *replay_obstacle; /* why the tape cannot be replayed; NULL if it can */
    int64_t steps;         /* resets so far */
    int64_t allocations;
    bool failed;
    char error[512];
};

static inline tg_value *tg_tape_value(const tg_tape *tape, int64_t index)
{
    return &tape->blocks[index >> TG_BLOCK_BITS][index & (TG_BLOCK_VALUES - 1)];
}

/* The value behind a handle; NULL if it is inert or dead. */
static inline tg_value *tg_value_of(tg_tensor x)
{
    tg_value *value = x.value;
    if (!value || value->serial != x.serial)
        return NULL;
    return x.serial >= value->tape->first_serial && value->index < value->tape->count ? value : NULL;
}

static inline tg_tensor tg_tensor_of(tg_value *value)
{
    return value ? (tg_tensor){value, value->serial} : (tg_tensor){0};
}

/* A new value at the end of the tape, cleared but for tape, index and serial; NULL, with the error recorded, if out of
 * memory or the tape has an error. */
tg_value *tg_tape_push(tg_tape *tape);

/* Memory from the arena; NULL, with the error recorded, when there is none. */
void *tg_tape_take(tg_tape *tape, size_t size, size_t alignment);

/* Where the tape stands, and back to there: what was recorded since is gone, its memory reused. */
typedef struct tg_tape_position {
    int64_t count;
    tg_arena_position arena;
} tg_tape_position;

tg_tape_position tg_tape_here(tg_tape *tape);
void tg_tape_rewind(tg_tape *tape, tg_tape_position position);

/* The derivative of an output recorded since `start` with respect to inputs recorded before, which count as independent of
 * each other; inert where there is no path. May run inside another sweep. An input given twice has its gradient at the first place. */
bool tg_grad_since(int64_t start, tg_tensor output, tg_tensor cotangent, const tg_tensor *inputs, int input_count,
                   bool create_graph, tg_tensor *gradients);

/* ---- following the step before (follow.c) ---- */

/* The next value, if the step before had the same there: it is this step's then, a leaf with `data` (NULL: with a buffer of its own, to
 * be filled), an operation computed. NULL otherwise, and nothing has changed; or if computing failed. */
tg_value *tg_follow_leaf(tg_tape *tape, tg_dtype dtype, const tg_shape *shape, const void *data, const tg_parameter *parameter,
                         bool is_variable);
tg_value *tg_follow_operation(tg_tape *tape, const tg_op *op, const void *attributes, int count, const tg_tensor *inputs);
bool tg_follow_scope(tg_tape *tape, const char *name);

/* Does what the backward pass of the step before did, if that began here and met the same; false and nothing done if not. */
bool tg_follow_sweep(tg_tape *tape, const tg_value *output, const tg_value *cotangent);

/* A backward pass that has just been recorded from `start` on may be followed in the next step; none of this step may. */
void tg_follow_remember_sweep(tg_tape *tape, const tg_value *output, const tg_value *cotangent, int64_t start);
void tg_follow_no_sweep(tg_tape *tape);

/* From here on this step goes its own way. Every function that records or takes memory calls it. */
void tg_tape_diverge(tg_tape *tape);

/* Lets the buffer of a value be used for another. Nobody may read the value afterwards. */
void tg_value_recycle(tg_value *value);

/* Gives the value its buffer, unless it has one. */
bool tg_value_allocate(tg_value *value);

/* Runs the operation of a value; its inputs must have been computed. */
bool tg_value_compute(tg_value *value);

/* Computes every value recorded since the last evaluation. */
bool tg_tape_evaluate(tg_tape *tape);

/* False, with the error recorded, if the value holds a NaN or an infinity that its inputs do not explain (anomaly.c). */
bool tg_anomaly_check(const tg_value *value);

/* Runs an elementwise operation over broadcast inputs (elementwise.c). */
void tg_elementwise_forward(const tg_call *call);

/* The value that is computed along with this one; NULL if there is none. */
tg_value *tg_saved_of(const tg_value *value);

#endif
