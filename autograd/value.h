/* A value: one entry of a program. A user's operation reads it by the functions of op.h; the library's operations read
 * the members. Internal to the library.
 *
 *     value --inputs--> value --inputs--> ... --inputs--> leaf (op NULL: a constant, a variable or a parameter)
 *
 * Most of it is written once, when the value is recorded. If it becomes a gradient, the backward pass sets `sink` and
 * `earlier`; `gradient`, `name` and `place` belong to the present step. Its numbers are not part of the program: where
 * they are is a matter of the run, which alone uses `slot`.
 */
#ifndef TG_VALUE_H
#define TG_VALUE_H

#include "autograd/leaf.h"
#include "autograd/arena.h"
#include "autograd/op.h"

typedef struct tg_program tg_program;

typedef struct tg_scope {
    const struct tg_scope *parent;
    char name[]; /* a copy */
} tg_scope;

/* The mode in which a value was recorded: whether it can be differentiated, and whether a later step may match it on
 * its own. */
typedef enum tg_mode {
    TG_MODE_DETACHED = 1,      /* in a no-grad scope: a constant to all derivatives */
    TG_MODE_WITHOUT_GRAPH = 2, /* by a backward pass without create_graph: not differentiable */
    TG_MODE_OF_PASS = 4,       /* by any backward pass */
} tg_mode;

/* What a run knows of a value: where its elements are. */
typedef struct tg_slot {
    void *data;           /* NULL until computed */
    bool owned;           /* a buffer of the run's, that nothing else uses */
    bool released;        /* given back: the elements are good only until others are written over them */
    tg_arena_position at; /* where the run's memory ended before this value */
    double seconds;       /* that it took in all, where the run takes times, */
    int64_t runs;         /* and how often it was computed in them */
} tg_slot;

struct tg_value {
    const tg_op *op;
    const void *attributes; /* a copy of what tg_apply was given; NULL if the operation has none */
    tg_value **inputs;
    int input_count;
    tg_dtype dtype;
    int64_t size; /* number of elements */
    tg_shape shape;

    tg_program *program;
    int64_t index;                /* position in the program */
    tg_parameter *parameter;      /* of a leaf that is one, */
    struct tg_place *place;       /* and where the tape has written down that it is */
    tg_parameter *sink;           /* computed into, or added to, this parameter's gradient */
    const tg_value *derived_from; /* the value whose derivative this is a part of */
    const tg_scope *scope;
    const struct tg_region *region; /* the innermost checkpoint that it is a part of */
    uint8_t mode;                   /* tg_mode */
    bool requires_grad; /* computed from a parameter that is trained, or a variable, in a way that can be differentiated
                         */
    bool is_variable;
    bool is_borrowed; /* a leaf whose elements belong to the caller */
    bool is_saved;    /* the saved derivative of the value before it, and computed with it */

    tg_value *gradient; /* of a leaf or retained value: its latest gradient, good while that is a part of this step, */
    tg_value *earlier;  /* and of a gradient: the one that it was added to */
    const char *name;   /* good in step `named_in` */
    int64_t named_in;
    tg_arena_position at; /* where the program's memory ended before this value */
    tg_slot slot;
};

#endif
