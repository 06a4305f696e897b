/* Repeating a step: what "this step repeats the last one" means, when that ends, and what is then forgotten. Internal.
 *
 * A training loop records the same step again and again. So a reset keeps the values, and each thing that the step asks
 * for is compared with what the last step had at this point:
 *
 *     last step   [x  w  linear  gelu  mse | the backward pass ......... ]
 *     this step   [x  w  linear                                             asks for gelu(linear): taken, count++
 *                                ^ count                                 ^ known
 *     this step   [x  w  linear                                             asks for relu(linear): a difference,
 *                                ^ count, known                             so the rest is cut and relu is appended
 *
 *     asked for            repeats what comes next in the last step if that
 *     an operation         is the same operation with equal attributes, on the same values
 *     a leaf               has its type, shape and kind; the numbers may differ
 *     a backward pass      began here, of the same outputs, cotangents and inputs, for the same retained tensors; it is
 *                          taken as a whole
 *     a checkpoint         began here, in the same checkpoint
 *
 * Each must also have been recorded in the same context: mode, scope and checkpoint.
 *
 * The first difference cuts all values from there on, and so does clearing an error. A reset while there is an error
 * cuts the whole program. With the values goes whatever refers to them: their buffers, the passes that end later, the
 * checkpoints that begin later, the ends and results of those that end later, gradients that are such values, and what
 * features noted of them. So the tape is what it would be if these values had never been recorded.
 */
#ifndef TG_REPEAT_H
#define TG_REPEAT_H

#include "autograd/tape/program.h"

/* A leaf that is asked for. */
typedef struct tg_new_leaf {
    const char *what; /* the function that was called */
    tg_dtype dtype;
    const tg_shape *shape;
    void *data; /* NULL: the run allocates the buffer */
    tg_parameter *parameter;
    bool is_variable;
} tg_new_leaf;

/* The next value, if the step repeats with this operation or leaf: it is now part of the step, an operation with its
 * saved derivative. NULL if not; nothing has changed then. */
tg_value *tg_repeat_operation(tg_program *program, const tg_op *op, const void *attributes, int count,
                              const tg_tensor *inputs);
tg_value *tg_repeat_leaf(tg_program *program, const tg_new_leaf *leaf);

/* True if a value could be this leaf. */
bool tg_is_like(const tg_value *value, const tg_new_leaf *leaf);
bool tg_leaf_requires_grad(const tg_new_leaf *leaf);

/* The next pass, or checkpoint, if the step repeats with it: its values, or its begin, are now part of the step.
 * `asked` has no range yet. */
const tg_pass *tg_repeat_pass(tg_program *program, const tg_pass *asked);
tg_region *tg_repeat_region(tg_program *program);

#endif
