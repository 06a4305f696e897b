/* The inside of a tape: its program, its run, and the other state of a step. Internal. */
#ifndef TG_TAPE_INTERNAL_H
#define TG_TAPE_INTERNAL_H

#include "autograd/grad.h"
#include "autograd/run.h"

typedef struct tg_hook {
    struct tg_hook *next;
    tg_value *value;
    tg_hook_function function;
    void *user;
} tg_hook;

/* A tensor whose gradient was asked for in this step. */
typedef struct tg_retained {
    struct tg_retained *next;
    tg_value *value;
} tg_retained;

struct tg_tape {
    tg_program program; /* first: a value's program is its tape's */
    tg_run run;
    void *leaves; /* parameter -> its leaf, a tree of <search.h> */
    int no_grad;  /* depth of no-grad scopes */
    bool defers;  /* what is recorded is computed later: a derivative is being recorded */
    int passes;   /* backward passes that are running, one in the hooks of another */

    /* Of this step. */
    tg_arena notes; /* of hooks and retained tensors */
    tg_hook *hooks, **last_hook;
    tg_retained *retained;
    int retained_count;
    const char *not_replayed; /* why tg_replay refuses the step; NULL: it does not */

    tg_arena scratch; /* of backward passes: given back when one ends */
};

static inline tg_tape *tg_tape_at(const tg_value *value)
{
    return (tg_tape *)value->program;
}

/* False, with the error recorded, if this may not be done now: while a derivative or a shape rule runs. */
bool tg_tape_allows(tg_tape *tape, const char *function);

/* What a tensor is that cannot be used on this tape in this step: "an inert tensor", ...; NULL: it can. */
const char *tg_tape_problem(const tg_tape *tape, tg_tensor x);

/* Computes what has been recorded, unless that is put off. */
bool tg_tape_compute(tg_tape *tape);

/* Memory for a backward pass or a function of the core, cleared; NULL, with the error recorded, when there is none. */
void *tg_tape_scratch(tg_tape *tape, size_t count, size_t size);

#endif
