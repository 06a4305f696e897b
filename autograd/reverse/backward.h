/* The request for a backward pass. Internal. */
#ifndef TG_BACKWARD_H
#define TG_BACKWARD_H

#include "autograd/tape/tape_internal.h"

typedef struct tg_request {
    const char *function;                  /* the public function that was called, for messages */
    const char *cotangent_name;            /* what its messages call a cotangent */
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
