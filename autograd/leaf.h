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

/* tg_constant without the copy: `data` stays yours and must neither change nor be freed before the tape is reset. The
 * tape cannot see a change of it: a backward pass after one would read the new numbers, without an error. */
tg_tensor tg_borrow(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape);

/* A tensor with a copy of the data; tg_backward computes its gradient, and tg_gradient returns it. */
tg_tensor tg_variable(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape);

/* The initialiser of a parameter, set by the layer that adds it; tg_parameters_initialize (nn/init.h) draws the
 * numbers. All zeros: the parameter keeps its values. */
typedef struct tg_initial {
    double gain;      /* of a weight that the model's initialiser draws: the gain for the activation after it */
    double own;       /* gain by the model's own rule, which the default initialiser takes; 0: as `gain`. A bias begins
                         with it; by another initialiser with 0 */
    double deviation; /* of a weight that is normal with this deviation, whatever the model's initialiser */
    double scale;     /* factor of the weight's own, beside that of the model; 0: 1 */
    int sums; /* number of residual connections that add up its results; the weight is divided by the square root; 0
                 counts as 1 */
} tg_initial;

/* A parameter: values that outlive the tape, and the gradient that tg_backward adds up for them. It is usually part of
 * a set (autograd/parameters.h), where all values lie in one block and all gradients in another.
 *
 * While has_gradient is false, `gradient` has no meaning, and the next backward pass overwrites it instead of adding.
 * An optimiser step sets it to false; so gradients are never filled with zeros. */
typedef struct tg_parameter {
    const char *name;
    tg_dtype dtype;
    tg_shape shape;
    void *data;
    void *gradient; /* NULL for a parameter that is not trained */
    bool has_gradient;
    bool decay; /* weight decay applies by default: true for weights, false for biases and norms */
    tg_initial initial;
    int64_t version; /* the number of its latest change: see tg_parameter_changed */
    int64_t made;    /* the number when it was added to a set: others may have been at its address before */
} tg_parameter;

/* The parameter's tensor on this tape, the same one each time until the tape is reset. It uses the parameter's own
 * memory and only reads it: many tapes, each on its own thread, may evaluate one model at once. (Backward passes write
 * the gradient, so run one at a time.) A backward pass reads the values again, so they change after it: once they have
 * changed, by the optimiser of another loss for example, an operation or a derivative of the same step that reads them
 * is an error, which names the parameter. So is this call. */
tg_tensor tg_parameter_tensor(tg_tape *tape, tg_parameter *parameter);

/* Notes that the values have changed. The library's functions do so themselves, an optimiser's step for the parameters
 * that it moves; call it after you have written `data` yourself. */
void tg_parameter_changed(tg_parameter *parameter);

/* Overwrites the elements of a constant or variable made from a copy. Type and shape must match. If operations have
 * read it, tg_replay comes next: an operation or derivative that reads it before is an error, as for a parameter that
 * has changed. */
bool tg_set(tg_tensor x, tg_dtype dtype, const void *data, tg_shape shape);

TG_API_END
#endif
