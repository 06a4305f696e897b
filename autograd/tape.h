/* The tape: records operations as they run, owns their results, and remembers the first error.
 *
 *     tg_tape *tape = tg_tape_new();
 *     for (int step = 0; step < steps; step++) {
 *         tg_tape_reset(tape);                                   // last step's tensors end here
 *         tg_tensor x = tg_constant(tape, TG_F32, batch, TG_SHAPE(32, 784));
 *         tg_tensor w = tg_parameter_tensor(tape, &weight);
 *         if (!tg_backward(tg_mean(tg_matmul(x, w))))
 *             return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
 *     }
 *     tg_tape_free(tape);
 *
 * Ownership: parameters are yours; everything an operation returns belongs to the tape and dies at
 * tg_tape_reset. Errors are sticky: the first one is kept, later operations do nothing, and you look once.
 * A tape serves one thread at a time; different threads use different tapes.
 */
#ifndef TG_TAPE_H
#define TG_TAPE_H

#include "autograd/tensor.h"

TG_API_BEGIN

typedef struct tg_tape tg_tape;

/* A new, empty tape, or NULL if out of memory. */
tg_tape *tg_tape_new(void);

/* Frees the tape with all its memory. Handles of its tensors must not be used afterwards. */
void tg_tape_free(tg_tape *tape);

/* Ends every tensor of the tape and keeps its memory for the next step: a step like the last one allocates nothing, and
 * as long as it records the same operations on the same shapes it takes over what was worked out for them, the backward
 * pass included. An error stays. */
void tg_tape_reset(tg_tape *tape);

/* The first error since the tape was made or cleared: which operation, the shapes and names of its inputs, what was
 * expected, where. NULL if there was none. For a NULL tape, "no tape". */
const char *tg_tape_error(const tg_tape *tape);
void tg_tape_clear_error(tg_tape *tape);

/* Records an error of your own, in the manner of printf, unless the tape has one: for layers and models. */
#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void tg_tape_fail(tg_tape *tape, const char *format, ...);

/* Between begin and end results are constants to whoever differentiates. Pairs nest. */
void tg_no_grad_begin(tg_tape *tape);
void tg_no_grad_end(tg_tape *tape);

/* Between suspend and resume such scopes are without effect: for a function that differentiates by itself, wherever it
 * is called. Resume gets what suspend returned. */
int tg_no_grad_suspend(tg_tape *tape);
void tg_no_grad_resume(tg_tape *tape, int scopes);

/* Names the part of the model that records next, for errors and listings: "layers.0". Pairs nest.
 * The name is copied. */
void tg_scope_begin(tg_tape *tape, const char *name);
void tg_scope_end(tg_tape *tape);

/* ---- what goes onto the tape ---- */

/* A tensor with a copy of the data; not differentiated. NULL data is allowed when there are no elements. */
tg_tensor tg_constant(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape);

/* The same without the copy: `data` stays yours and must not change or go before the tape is reset. */
tg_tensor tg_borrow(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape);

/* A tensor with a copy of the data whose gradient is wanted: tg_backward leaves it in tg_gradient. */
tg_tensor tg_variable(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape);

/* How a parameter begins: what the layer that adds it knows. nn/init.h draws the numbers, tg_parameters_initialize.
 * Zeros: it stays as it was added. */
typedef struct tg_initial {
    double gain;      /* a weight, drawn by the model's rule: the gain that suits the activation behind it */
    double deviation; /* normal numbers of this deviation, whatever the rule */
    int sums;         /* so many residual sums add up its results: divided by the square root of this; 0: by 1 */
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
    void *gradient; /* may be NULL: a parameter that is not trained */
    bool has_gradient;
    bool decay; /* whether weight decay applies by default: weights yes, biases and norms no */
    tg_initial initial;
} tg_parameter;

/* The parameter's tensor on this tape, the same one each time until the tape is reset. Uses the parameter's own memory,
 * and only reads it: many tapes, on threads of their own, may evaluate one model at once. (Backward passes write its
 * gradient: one at a time.) A backward pass reads it again, so what changes the values, an optimiser's step of another
 * loss, say, comes after it. */
tg_tensor tg_parameter_tensor(tg_tape *tape, tg_parameter *parameter);

/* Names a tensor for errors and listings; returns it. `name` must live until the tape is reset. */
tg_tensor tg_named(tg_tensor x, const char *name);

/* The tape of a tensor; NULL if it is inert. */
tg_tape *tg_tape_of(tg_tensor x);

/* ---- what a tape says of itself ---- */

typedef struct tg_tape_counts {
    int64_t values;      /* tensors on the tape now */
    int64_t bytes_used;  /* memory of these */
    int64_t bytes_held;  /* memory kept for reuse, the used part included */
    int64_t allocations; /* calls of malloc since the tape was made */
    int64_t recorded;    /* tensors recorded since then: a step that repeats the one before records none */
} tg_tape_counts;

/* All 0 for NULL. */
tg_tape_counts tg_tape_count(const tg_tape *tape);

/* Anomaly mode: while on, the first operation that makes a NaN out of none, or an infinity out of finite inputs,
 * forward or backward, is an error of the tape that names it, its inputs' ranges, the step and the place. Costs a pass
 * over each result. */
void tg_tape_watch(tg_tape *tape, bool on);

/* Where the time goes: while on, the time that each operation takes is added up, in this step and in steps that repeat
 * it. Switching it on forgets what was added up. */
void tg_tape_time(tg_tape *tape, bool on);

/* What was added up for one tensor of the step. */
typedef struct tg_operation_time {
    const char *operation; /* its name in ops.def */
    char scope[64]; /* as tg_scope_begin named it, "layers.0"; of a derivative, that of what was differentiated */
    bool backward;
    int64_t runs;
    double seconds;
    double flops; /* of one run of a matrix product, 2 m n k; 0 for other operations */
} tg_operation_time;

/* That of tensor number `index` of the tape; false past the end. A tensor that was not computed by an operation has no
 * runs. */
bool tg_tape_time_at(const tg_tape *tape, int64_t index, tg_operation_time *time);

/* Writes the tape as a table, a line for each tensor (number, operation, shape, inputs, scope, bytes), or as a Graphviz
 * graph
 * (`dot -Tsvg`), like snprintf: returns the length of the whole text and writes as much of it as fits. */
size_t tg_tape_table(const tg_tape *tape, char *text, size_t size);
size_t tg_tape_dot(const tg_tape *tape, char *text, size_t size);

/* Writes what a model is made of, in the same manner: a line for each scope that it recorded under on this tape, in
 * their order, with the shape of its result, the numbers that are trained and are first used there, and its operations
 * forward: 2 for each multiplication and addition of a product, 1 for each element of any other result.
 *
 *     layer                result               parameters     operations
 *     layers.0             [32, 128]                100480        6426624
 *     layers.1             [32, 10]                   1290          81920
 *     all                                           101770        6508544
 */
size_t tg_tape_summary(const tg_tape *tape, char *text, size_t size);

TG_API_END
#endif
