/* The inside of a tape: its program, its run, and the other state of a step. Internal. */
#ifndef TG_TAPE_INTERNAL_H
#define TG_TAPE_INTERNAL_H

#include "autograd/tape/describe.h"
#include "autograd/tape/run.h"

struct tg_tape {
    tg_program program; /* first: a value's program is its tape's */
    tg_run run;
    int no_grad;       /* nesting depth of no-grad scopes */
    int passes;        /* number of running backward passes: a hook may start another */
    bool saves_memory; /* tg_tape_save_memory is on */

    /* Of this step. */
    tg_arena step_memory;     /* memory of features */
    const char *not_replayed; /* why tg_replay refuses the step; NULL: it may run */

    tg_arena scratch; /* memory of backward passes, released when one ends */
};

static inline tg_tape *tg_tape_at(const tg_value *value)
{
    return (tg_tape *)value->program;
}

/* A tape without features; tg_tape_new (autograd/memory/planner.c) adds what each tape has. NULL if out of memory. */
tg_tape *tg_tape_make(void);

/* The tape's feature of this kind: NULL if it has none, or made if it has none, and then NULL if out of memory. */
void *tg_tape_find(const tg_tape *tape, const tg_feature_kind *kind);
void *tg_tape_have(tg_tape *tape, const tg_feature_kind *kind);

/* False, with the error recorded, while a derivative or a shape rule runs. */
bool tg_tape_allows(tg_tape *tape, const char *function);

/* The tape of the first tensor that is alive or, if none is, that was; NULL if there is none. */
tg_tape *tg_tape_of_any(const tg_tensor *tensors, int count);

/* Describes a tensor that cannot be used on this tape in this step: "an inert tensor", ...; NULL: it can. */
const char *tg_tape_problem(const tg_tape *tape, tg_tensor x);

/* True if the caller must not read the elements: the tape saves memory and may have forgotten them, in this step or in
 * a later one that repeats it. */
bool tg_tape_may_forget(const tg_value *value);

/* Makes sure that an operation can read this value as its input number `input`: what has been overwritten is computed
 * again. False, with the error recorded, if the value is forgotten. */
bool tg_tape_make_readable(tg_tape *tape, const tg_op *op, int input, const tg_value *value);

/* Computes all recorded values. While a pass is being recorded it does not: the pass computes its values once it is
 * complete, so that it can release buffers. */
bool tg_tape_compute(tg_tape *tape);

/* Cleared memory for a backward pass or a function of the core; NULL, with the error recorded, if out of memory. */
void *tg_tape_scratch(tg_tape *tape, size_t count, size_t size);

#endif
