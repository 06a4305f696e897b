/* The request for a backward pass, its hooks, and the tensors whose gradients are kept. Internal. */
#ifndef TG_BACKWARD_H
#define TG_BACKWARD_H

#include "autograd/grad.h"
#include "autograd/tape/tape_internal.h"

typedef struct tg_hook {
    struct tg_hook *next;
    tg_value *value;
    tg_hook_function function;
    void *user;
} tg_hook;

/* A tensor whose gradient was requested in this step. */
typedef struct tg_retained {
    struct tg_retained *next;
    tg_value *value;
} tg_retained;

/* What was asked of the passes of this step: a feature of the tape, which it has from the first request on. */
typedef struct tg_notes {
    tg_feature feature;
    tg_hook *hooks, **last_hook;
    tg_retained *retained;
    int retained_count;
} tg_notes;

/* The tape's notes; empty ones if it has none. */
const tg_notes *tg_notes_of(const tg_tape *tape);

typedef struct tg_request {
    const char *function;                  /* the public function that was called, for messages */
    const char *cotangent_name;            /* what its messages call a cotangent; NULL: "cotangent" */
    const tg_tensor *outputs, *cotangents; /* NULL, or an inert cotangent: ones */
    const tg_tensor *inputs;               /* NULL: gradients go to parameters, variables and retained tensors */
    int output_count, input_count;
    bool create_graph;
    tg_tensor *gradients; /* of the inputs; filled in */
} tg_request;

/* Records a backward pass: walks back from the outputs and appends the derivatives to the program. All tensors are
 * valid, of one tape, and floating. */
bool tg_record_pass(tg_tape *tape, const tg_request *request);

#endif
