/* What the caller asks of the passes of a step: hooks, and gradients to keep. Internal. */
#ifndef TG_NOTES_H
#define TG_NOTES_H

#include "autograd/grad.h"
#include "autograd/tape/tape_internal.h"

typedef struct tg_hook {
    struct tg_hook *next;
    tg_tensor tensor;
    tg_hook_function function;
    void *user;
} tg_hook;

/* A tensor whose gradient was requested in this step. */
typedef struct tg_retained {
    struct tg_retained *next;
    tg_tensor tensor;
} tg_retained;

/* Of one step: a feature of the tape, which it has from the first request on. */
typedef struct tg_notes {
    tg_feature feature;
    tg_hook *hooks, **last_hook;
    tg_retained *retained;
    int retained_count;
} tg_notes;

/* The tape's notes; empty ones if it has none. */
const tg_notes *tg_notes_of(const tg_tape *tape);

#endif
