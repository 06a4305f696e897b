/* A value: one entry of a program. A user's operation reads it by the functions of op.h; the library's operations read
 * the members. Internal to the library.
 *
 *     value --inputs--> value --inputs--> ... --inputs--> leaf (op NULL: a constant, a variable or a parameter)
 *
 * Most of it is written once, when the value is recorded. Set later: `change`, `is_kept` and, for gradients,
 * `gradient`, `earlier` and `sink`. Its numbers are not part of the program: the run keeps their address in `slot`.
 */
#ifndef TG_VALUE_H
#define TG_VALUE_H

#include "autograd/leaf.h"
#include "autograd/base/arena.h"
#include "autograd/op.h"

typedef struct tg_program tg_program;

typedef struct tg_scope {
    const struct tg_scope *parent, *next; /* next: in the list of all scopes of the tape */
    char name[];                          /* a copy */
} tg_scope;

/* The mode in which a value was recorded: whether it can be differentiated, and whether a later step may reuse it alone
 * or only with its whole pass. */
typedef enum tg_mode {
    TG_MODE_DETACHED = 1,      /* in a no-grad scope: a constant to all derivatives */
    TG_MODE_WITHOUT_GRAPH = 2, /* by a backward pass without create_graph: not differentiable */
    TG_MODE_OF_PASS = 4,       /* by any backward pass */
} tg_mode;

#define TG_ALWAYS INT32_MAX

/* Where a run has the elements of a value. */
typedef struct tg_slot {
    void *data;          /* NULL until computed */
    bool never_released; /* by a pass, whatever reads it */
    bool released;       /* by a pass or a checkpoint, in this step or in the one that it repeats: tg_run_released */

    /* The number of the last value that reads it; TG_ALWAYS: it can be read until the step ends. Noted for values of a
     * pass, which releases them then, and for all in the run's block (run.h), where they are overwritten after that. */
    int32_t until;
    int64_t arena_position; /* in the run's arena, before this value: a cut rewinds to it */
} tg_slot;

enum { TG_FEW_INPUTS = 2 };

struct tg_value {
    /* Copied when a checkpoint records it again: */
    const tg_op *op;
    const void *attributes; /* a copy of the attributes given to tg_apply; NULL if the operation has none */
    tg_value **inputs;
    tg_shape *shape; /* perhaps that of an input */
    int64_t size;    /* number of elements */
    int input_count;
    uint8_t dtype; /* tg_dtype */

    uint8_t mode;       /* tg_mode */
    uint8_t removals;   /* part of the serial of its handles (program.h) */
    bool requires_grad; /* depends on a trained parameter or a variable through differentiable operations */
    bool is_borrowed;   /* a leaf whose elements belong to the caller */
    bool is_saved;      /* the saved derivative of the value before it, computed together with it */
    bool is_kept;       /* may be read until the step ends, also on a tape that saves memory */
    int32_t index;      /* position in the program */

    tg_program *program;
    tg_parameter *parameter; /* of a parameter's leaf */

    /* Of a parameter's leaf: the latest change (changes.h) when this step placed it. Of another leaf: that by tg_set
     * after operations had read it; 0: none. */
    int64_t change;

    tg_parameter *sink;           /* it has no buffer: it is written into, or added to, this parameter's gradient */
    const tg_value *derived_from; /* the value whose derivative this is part of */
    const tg_scope *scope;
    const struct tg_region *region; /* the innermost checkpoint that contains it */

    tg_value *gradient;     /* of a leaf or retained value: its latest, which this step may not have reached yet */
    tg_value *earlier;      /* of a gradient: the value that it was added to */
    int64_t arena_position; /* in the program's arena, before this value: a cut rewinds to it */
    tg_slot slot;

    tg_value *few_inputs[TG_FEW_INPUTS]; /* `inputs` of an elementwise operation with no more */
};

/* The bytes of its elements. */
static inline size_t tg_bytes_of(const tg_value *value)
{
    return (size_t)value->size * (value->dtype == TG_F64 ? sizeof(double) : sizeof(float)); /* an i32 is as long */
}

/* True for what tg_variable gave. */
static inline bool tg_is_variable(const tg_value *value)
{
    return !value->op && !value->parameter && value->requires_grad;
}

#endif
