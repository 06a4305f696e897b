/* A program: the list of values that a step records, with operations, attributes, inputs and shapes, but no numbers.
 * Internal.
 *
 * tg_value *y = tg_program_append(program); // or the previous step's value here;
 * tg_value *y = tg_program_next(program); // if it matches: program->count++
 *
 * A training loop records the same step again and again. So a reset keeps the values, and a step that records the same
 * operation reuses the value (a trace hit). Where it records something else, the program is cut, and recording
 * continues as if nothing had followed:
 *
 *     values    [x  w  linear  relu | ... loss | the backward pass ............ ]
 *                                   ^ count: this step so far                   ^ known: the step before
 *
 * Values lie in blocks that never move and outlive every reset, so that a stale handle still points at a value. Its
 * serial shows that the step is over: value number i of a step has the serial first_serial + i.
 *
 * Backward passes (tg_pass) and checkpoints (tg_region) are ranges of values, each in a list: passes in the order in
 * which they ended, checkpoints in the order in which they began.
 */
#ifndef TG_PROGRAM_H
#define TG_PROGRAM_H

#include "autograd/error.h"
#include "autograd/tape/value.h"

/* A checkpoint: values from start to before `end`, all of which except the result are released. */
typedef struct tg_region {
    const struct tg_region *parent; /* the enclosing region */
    int64_t start, end;             /* end is -1 while it is being recorded */
    const tg_value *result;
    int64_t closed_in; /* the step in which it was last completed */
} tg_region;

/* A backward pass that a later step can reuse as a whole: its request, the range of its own values, and its results. */
typedef struct tg_pass {
    int64_t start, end;
    int output_count, input_count, retained_count; /* no inputs: tg_backward */
    bool create_graph;
    uint8_t mode;                           /* TG_MODE_DETACHED or 0, */
    const tg_region *region;                /* and the checkpoint, in which it was recorded */
    const tg_value **outputs, **cotangents; /* NULL for a cotangent of ones */
    const tg_value **inputs, **retained;
    tg_value **gradients; /* of the inputs */
} tg_pass;

/* A name that tg_named has given to a value in this step. */
typedef struct tg_given_name {
    const struct tg_given_name *next;
    int64_t index; /* of the value */
    const char *text;
} tg_given_name;

typedef struct tg_list {
    void **items;
    int count, capacity, next; /* next: the first item that this step has not reached */
} tg_list;

enum { TG_BLOCK_BITS = 8, TG_BLOCK_VALUES = 1 << TG_BLOCK_BITS, TG_MOST_VALUES = INT32_MAX };

struct tg_program {
    tg_value **blocks;
    int64_t block_count, block_capacity;
    int64_t count, known;
    char *planned; /* the block of memory in which the run has planned all these values' buffers, */
    size_t size;   /* and how much of it they need; NULL and 0: they are not planned, or values came later */
    uint64_t first_serial;
    int64_t steps;    /* resets so far */
    int64_t recorded; /* values appended so far */
    tg_arena arena;   /* of attributes, inputs, shapes, passes and regions */
    tg_list passes, regions;
    void (*before_cut)(tg_program *program, int64_t count); /* called before values from `count` on are removed */
    int64_t allocations;
    tg_arena scopes;            /* those of all steps, */
    const tg_scope *last;       /* in a list, this one first */
    tg_shape shape;             /* for the shape rule that runs */
    const tg_given_name *names; /* of this step, the latest first */

    /* The mode in which the next value is recorded. */
    uint8_t mode;
    const tg_scope *scope;
    const tg_region *region;
    const tg_value *derived_from;
    const tg_op *rule; /* the operation whose shape rule or derivative is running: data must not be read */

    bool failed;
    tg_error error;
};

static inline tg_value *tg_program_at(const tg_program *program, int64_t index)
{
    return &program->blocks[index >> TG_BLOCK_BITS][index & (TG_BLOCK_VALUES - 1)];
}

/* The value behind a handle; NULL if it is inert or from a past step. */
static inline tg_value *tg_value_of(tg_tensor x)
{
    tg_value *value = x.value;
    return value && value->program->first_serial + (uint64_t)value->index == x.serial &&
                   value->index < value->program->count
               ? value
               : NULL;
}

static inline tg_tensor tg_tensor_of(tg_value *value)
{
    return value ? (tg_tensor){value, value->program->first_serial + (uint64_t)value->index} : (tg_tensor){0};
}

/* The next value of the previous step, if it was recorded in the same mode, scope and checkpoint; otherwise NULL. */
static inline tg_value *tg_program_next(const tg_program *program)
{
    if (program->count == program->known)
        return NULL;
    tg_value *value = tg_program_at(program, program->count);
    return value->mode == program->mode && value->scope == program->scope && value->region == program->region ? value
                                                                                                              : NULL;
}

/* Ends the step and begins another. */
void tg_program_reset(tg_program *program);
void tg_program_free(tg_program *program);

/* Forgets all values from number `count` on, including those of this step. */
void tg_program_cut(tg_program *program, int64_t count);

/* Cuts the program after the last value and appends one: all zeros, except for its position, mode, scope and
 * checkpoint. NULL, with the error recorded, if out of memory or if there is an error. */
tg_value *tg_program_append(tg_program *program);

/* Memory that lives as long as the value appended next; NULL, with the error recorded, if out of memory. */
void *tg_program_take(tg_program *program, size_t size, size_t alignment);

/* Enters a scope; it is the same each time. */
void tg_program_enter_scope(tg_program *program, const char *name);

/* The saved derivative of a value, recorded right after it; NULL if there is none. */
tg_value *tg_saved_of(const tg_value *value);

/* The value whose memory a view shows; for others the value itself. */
static inline const tg_value *tg_root_of(const tg_value *value)
{
    while (value->op && value->op->flags & TG_VIEW)
        value = value->inputs[0];
    return value;
}

/* True for a value with a buffer of the run: no view, and not in memory of the caller or of a parameter. */
bool tg_has_buffer(const tg_value *value);

/* True if an operation of this step reads the value. */
bool tg_is_read(const tg_value *value);

/* True if two sets of attributes of an operation are the same: equal bytes or, if `fields` covers every byte, equal
 * fields. */
bool tg_attributes_equal(const tg_op *op, const void *a, const void *b);

/* ---- passes and regions ---- */

/* The next item of the list, if it begins at the next value; NULL otherwise. */
tg_pass *tg_program_next_pass(const tg_program *program);
tg_region *tg_program_next_region(const tg_program *program);

/* Inserts an item at the current position of the list and moves past it. */
bool tg_program_list(tg_program *program, tg_list *list, void *item);

/* ---- errors ---- */

/* Records an error unless there is one already. Returns false. */
#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
bool tg_program_fail(tg_program *program, const char *format, ...);

#endif
