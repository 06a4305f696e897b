/* Tensors that are not the result of an operation: constants, variables and parameters.
 *
 *     tg_tensor x = tg_borrow(tape, TG_F32, batch, TG_SHAPE(32, 784));
 *     tg_tensor w = tg_parameter_tensor(tape, &weight);
 *     tg_tensor y = tg_matmul(x, w);
 */
#ifndef TG_LEAF_H
#define TG_LEAF_H

#include "autograd/tape.h"

TG_API_BEGIN

/* A tensor with a copy of the data; not differentiated. NULL data is allowed when there are no elements. */
tg_tensor tg_constant(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape);

/* The same without the copy: `data` stays yours and must neither change nor be freed before the tape is reset. */
tg_tensor tg_borrow(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape);

/* A tensor with a copy of the data whose gradient is wanted: tg_backward leaves it in tg_gradient. */
tg_tensor tg_variable(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape);

/* The initialiser of a parameter, set by the layer that adds it. nn/init.h draws the numbers, tg_parameters_initialize.
 * All zeros: the parameter keeps its values. */
typedef struct tg_initial {
    double gain;      /* a weight that the model's rule draws, with the gain that suits the activation after it */
    double deviation; /* normal numbers with this deviation, whatever the rule */
    int sums;         /* number of residual sums that add up its results: divides by its square root; 0: by 1 */
} tg_initial;

/* A parameter: values that outlive the tape, and the gradient that tg_backward adds up for them. Usually one of a
 * set (autograd/parameters.h), where all values lie in one block and all gradients in another.
 *
 * has_gradient says whether `gradient` counts: while it is false, the next backward pass overwrites
 * instead of adding. An optimiser step sets it back, so no pass is spent on writing zeros. */
typedef struct tg_parameter {
    const char *name;
    tg_dtype dtype;
    tg_shape shape;
    void *data;
    void *gradient; /* NULL for a parameter that is not trained */
    bool has_gradient;
    bool decay; /* whether weight decay applies by default: weights yes, biases and norms no */
    tg_initial initial;
} tg_parameter;

/* The parameter's tensor on this tape, the same one each time until the tape is reset. Uses the parameter's own memory,
 * and only reads it: many tapes, on threads of their own, may evaluate one model at once. (Backward passes write its
 * gradient: one at a time.) A backward pass reads it again, so what changes the values, an optimiser's step of another
 * loss, say, comes after it. */
tg_tensor tg_parameter_tensor(tg_tape *tape, tg_parameter *parameter);

/* Overwrites the elements of a constant or variable made from a copy. Type and shape must match. */
bool tg_set(tg_tensor x, tg_dtype dtype, const void *data, tg_shape shape);

TG_API_END
#endif
