/* Gradient checking: analytic derivatives against finite differences that estimate their own error.
 *
 *     char report[16384];
 *     tg_gradcheck_result result = tg_gradcheck_op(
 *         &tg_op_mul, &(tg_gradcheck_options){.order = 2, .report = report, .report_size = sizeof report});
 *     if (!result.passed)
 *         puts(report);     // mul, sample 1, input 0 at [2, 1], order 1: the derivative gives -0.52, ...
 *
 *     static tg_tensor energy(tg_tape *tape, const tg_tensor *in, int count, void *user)
 *     {
 *         return tg_sum(tg_mul(in[0], tg_tanh(in[1])));
 *     }
 *     const tg_gradcheck_input in[] = {{.name = "a", .shape = TG_SHAPE(3), .data = a},
 *                                      {.name = "b", .shape = TG_SHAPE(2, 3), .data = b}};
 *     result = tg_gradcheck(energy, NULL, in, 2, NULL);
 *
 * Everything is computed in double, on the checker's own tapes; nothing is printed. F is the function, u and v are
 * random cotangents. Order 1 compares the gradient of <u, F> with differences of F, order 2 the gradient of <v,
 * gradient> with differences of the analytic gradient, and so on. Inputs of up to 16 elements are checked element by
 * element, larger ones along random directions. An elementwise operation is checked at up to 256 elements.
 *
 * There is no tolerance to choose. An error of more than a millionth of the derivative is caught in double, and of a
 * thousandth in float, unless the rounding of the function hides it, or it is below 1e-12 of the function's size.
 * Smaller errors are a matter for tests of accuracy. How differences are taken and judged, at smooth points, kinks,
 * jumps and ties, is described in docs/gradcheck.md; where they cannot decide, the result is neither passed nor wrong,
 * but "cannot tell".
 *
 * A function is checked at the given point, and at others: with zeros, negative zeros, ones, equal elements and other
 * numbers put in, farther from 0, and near the point. There only what differences can judge counts.
 *
 * These are checked too:
 *
 *     - Two equal calls give the same bytes.
 *     - The gradient is exactly zero for a zero cotangent, and bit-identical up to the factor for -1 and for powers of
 *       two from 2^-100 to 2^100.
 *     - The function without gradient, tg_backward and tg_grad, a later step on one tape, a checkpoint, and a backward
 *       pass after the function has run on other numbers give the same numbers up to rounding.
 *     - The gradient for one input, with the others recorded as constants, is the one computed together with theirs.
 *     - <v, J u> = <J^T v, u>, with J u from differentiating J^T v by v.
 *     - Nothing is NaN or infinite at the given point; at others, nothing that differences show to be finite.
 */
#ifndef TG_GRADCHECK_H
#define TG_GRADCHECK_H

#include "autograd/checkpoint.h"
#include "autograd/grad.h"
#include "autograd/op.h"
#include "autograd/parameters.h"

TG_API_BEGIN

enum { TG_GRADCHECK_MAX_ORDER = 4 };

typedef struct tg_gradcheck_options {
    int order;         /* highest order to check, after all lower ones; 0 means 1 */
    uint64_t seed;     /* of the sample inputs, cotangents and directions */
    int64_t elements;  /* inputs of up to this many are checked element by element; 0 means 16. Elementwise: of up
                         to 256 */
    int directions;    /* if above 0, first derivatives are compared along so many random directions of all inputs
                         together, whose cost does not depend on their number; 0: larger inputs along 3 of their own */
    double rtol, atol; /* wanted: errors of up to rtol |derivative| + atol are right */
    double value_rtol, value_atol; /* promised: values are right to value_rtol |value| + value_atol, as those of an
                                      iteration that stops at a tolerance. 0: to the rounding that is measured */
    int64_t evaluations; /* the most of the function and its derivatives, of whatever order; 0: as many as it takes */
    double largest_step; /* of an element, over which a difference is taken; 0: up to 1/8 of its size, or of 8 */
    bool here_only;      /* at no other points than the given one */
    /* Moves inputs, all in double, back to where they are allowed, a simplex or unit quaternions: then only what the
     * derivative gives along this set is compared. The given point is in it. */
    void (*project)(double *const *inputs, void *user);
    /* Called before each evaluation, with the number of those before; false ends the check with what is known. */
    bool (*progress)(int64_t evaluations, void *user);
    void *user;       /* of these two */
    bool double_only; /* of an operation: do not check it in float */
    char *report; /* room for a failure at length: inputs, element, derivative expected and found, and what the fault
                     looks like; empty if all is well. NULL: not wanted */
    size_t report_size; /* of this room; 4 KiB are enough for nearly all */
} tg_gradcheck_options;

typedef enum tg_gradcheck_status {
    TG_GRADCHECK_PASSED,
    TG_GRADCHECK_WRONG,          /* analytic and numeric derivative differ */
    TG_GRADCHECK_NOT_FINITE,     /* a NaN or infinity where a number is expected */
    TG_GRADCHECK_BROKEN,         /* the derivative is an error on the tape: a gradient of another shape, say */
    TG_GRADCHECK_NOT_REPEATABLE, /* two runs differ */
    TG_GRADCHECK_DISTURBED,      /* running on other numbers before the backward pass changes the gradient */
    TG_GRADCHECK_ZERO,           /* a zero cotangent gives a gradient that is not zero */
    TG_GRADCHECK_NOT_LINEAR,     /* the gradient is not linear in its cotangent */
    TG_GRADCHECK_SINGLE,         /* an operation's derivative is wrong in float */
    TG_GRADCHECK_SHAPE,          /* an elementwise operation's derivative is wrong in another shape */
    TG_GRADCHECK_ANOTHER_WAY,    /* evaluated or differentiated another way (tg_backward, a checkpoint, a second step,
                                    ...), it gives other numbers */
    TG_GRADCHECK_ALONE,          /* the gradient of an input depends on which other gradients are computed */
    TG_GRADCHECK_ADJOINT,        /* <v, J u> is not <J^T v, u> */
    TG_GRADCHECK_CANNOT_TELL, /* differences do not converge somewhere, and all else is right: neither passed nor wrong
                               */
    TG_GRADCHECK_REFUSED,     /* the function is an error on the tape, memory is short, or there is nothing to check */
} tg_gradcheck_status;

/* The result: the numbers of the failure, or else those of the comparison with the largest relative error,
 *
 *     |analytic - numeric| / max(|analytic|, |numeric|, sum of |cotangent_i d out_i|, 1e6 bound)
 *
 * whose last term is for derivatives that are too small to measure beside the function's values. */
typedef struct tg_gradcheck_result {
    bool passed;
    tg_gradcheck_status status;
    int order;     /* order of the derivative; 1 is the first */
    int sample;    /* which sample of the operation; -1 for a function */
    int input;     /* -1 if the failure is not of one input */
    int64_t index; /* element in memory order; -1 if not of one element, along a direction for example */
    double analytic, numeric;
    double error; /* |analytic - numeric|; at a kink, the distance from the slopes around it */
    double bound; /* the largest error that would have passed */
    double relative;
    int samples;         /* checked */
    int skipped;         /* samples with infinities or NaN, or without a differentiable input */
    int64_t comparisons; /* derivatives compared */
    int64_t along;       /* of these, along directions; the others by a single element */
    int64_t undecided;   /* of these, those that differences cannot decide: CANNOT_TELL, unless something else fails */
    int64_t kinks;       /* of these, at kinks */
    int64_t sharp;       /* of these, those that would have shown an error of the promised size */
    int64_t evaluations; /* of the function and its derivatives */
    int64_t failed;      /* of these, those in which a black box returned false */
    bool ended;          /* by `evaluations` or `progress`, before all was looked at; `why` says what was not */
    double hidden;       /* with `directions`: an error of this size in one element may not have shown */
    char where[128];     /* "sample 1, input 0 at [2, 1], order 2" */
    char why[1024];      /* a sentence: what was compared, the numbers, and what they suggest */
} tg_gradcheck_result;

/* Checks an operation, built-in or not, on each of its samples: as given, at the other points as far as the samples'
 * ranges allow, and with one tensor for all inputs of the same shape; in float; replayed, on transposed tensors and on
 * parts of others; if it is elementwise also in shapes of other ranks and lengths, and broadcast.
 * Operations that have no derivative by nature are refused. NULL options mean the defaults. */
tg_gradcheck_result tg_gradcheck_op(const tg_op *op, const tg_gradcheck_options *options);

/* An input: `data` in double, or `integers` for an i32 tensor, or a parameter of type f64, whose values are changed in
 * place and put back. The function may use a parameter directly and ignore the tensor it is handed. */
typedef struct tg_gradcheck_input {
    const char *name; /* for the result; NULL: the parameter's, or "input 0" */
    tg_shape shape;   /* not needed for a parameter */
    const double *data;
    const int32_t *integers;
    tg_parameter *parameter;
    bool fixed; /* not differentiated */
    double low,
        high; /* bounds that it never leaves, INFINITY for none; both 0: none at all. At one of them, differences
                         are taken to one side */
} tg_gradcheck_input;

/* Checks any function: a loss, a layer, a whole model. It returns f64 of any shape, and the same numbers for the same
 * inputs: a function with random operations makes its generator from the same seed in each call. */
tg_gradcheck_result tg_gradcheck(tg_function function, void *user, const tg_gradcheck_input *inputs, int count,
                                 const tg_gradcheck_options *options);

/* Checks a model by all parameters of a set (of type f64), which the function uses directly, and by the inputs, if any:
 * element by element if the set has up to 64 numbers, else each parameter along a random direction, which takes a few
 * evaluations whatever its size. In one that fails the element is searched for. */
tg_gradcheck_result tg_gradcheck_parameters(tg_function function, void *user, const tg_gradcheck_input *inputs,
                                            int count, tg_parameters *set, const tg_gradcheck_options *options);

/* ---- a black box ---- */

typedef enum tg_gradcheck_type {
    TG_GRADCHECK_F64,
    TG_GRADCHECK_F32,
    TG_GRADCHECK_BF16, /* stored in arrays of float */
} tg_gradcheck_type;

/* A function written in C, with any number of inputs and outputs, and its derivative as a vjp, a jvp or a Jacobian:
 *
 *     static bool half_square(const void *const *in, void *const *out, void *user)          // y = |x|^2 / 2
 *     {
 *         const double *x = in[0];
 *         double *y = out[0];
 *         y[0] = (x[0] * x[0] + x[1] * x[1]) / 2;
 *         return true;
 *     }
 *     static bool half_square_vjp(const void *const *in, const void *const *cotangents, void *const *gradients,
 *                                 void *user)
 *     {
 *         const double *x = in[0], *v = cotangents[0];
 *         double *gradient = gradients[0];
 *         gradient[0] = v[0] * x[0], gradient[1] = v[0] * x[1];
 *         return true;
 *     }
 *     const tg_black_box box = {.value = half_square, .vjp = half_square_vjp};
 *     const tg_gradcheck_input x = {.name = "x", .shape = TG_SHAPE(2), .data = (const double[]){0.3, -2}};
 *     tg_gradcheck_result result = tg_gradcheck_function(&box, &x, 1, NULL);
 *
 * At least one of vjp, jvp and jacobian is needed; all that are given are checked. There is one contiguous array for
 * each input and output: of double, or of float for the other types; of int32_t for integer inputs. The tangent and the
 * gradient of an input that is not differentiated are NULL. Functions write all of their results, do not change their
 * inputs, and return true; where the function has no value, as log below 0, they write NaN or return false. If one
 * returns false at the given point, the check ends as TG_GRADCHECK_REFUSED; elsewhere this is counted. */
typedef struct tg_black_box {
    const char *name; /* in sentences; NULL: "the function" */
    tg_gradcheck_type type;
    const tg_shape *outputs;
    int output_count; /* 0 means one scalar */
    bool (*value)(const void *const *in, void *const *out, void *user);
    bool (*vjp)(const void *const *in, const void *const *cotangents /* like the outputs */, void *const *gradients,
                void *user); /* gradients: J^T v, like the inputs */
    bool (*jvp)(const void *const *in, const void *const *tangents /* like the inputs */, void *const *products,
                void *user); /* products: J u, like the outputs */
    /* [elements of all outputs, elements of all inputs that are differentiated] */
    bool (*jacobian)(const void *const *in, void *jacobian, void *user);
    void *user;
    const double *value_rtol, *value_atol; /* of each output; NULL: the option of this name for all */
} tg_black_box;

/* Checks a black box, to first order, like a function of tensors: by differences and those invariants that apply, with
 * bounds and steps for its type. Also:
 *
 *     - if there is a jvp or a jacobian, it is one linear map with the gradient: <v, J u> = <J^T v, u>;
 *     - no call changes its inputs, and the gradient does not depend on what the function was last evaluated on.
 *
 * Inputs are rounded to the type; parameters are refused. To check a second derivative, give the vjp, a function of x
 * and v, as the value of another black box, and so on for higher orders. An error of 1e-6
 * (double), 1e-3 (float) or 0.25 (bfloat16) of the derivative is promised to be caught. */
tg_gradcheck_result tg_gradcheck_function(const tg_black_box *function, const tg_gradcheck_input *inputs, int count,
                                          const tg_gradcheck_options *options);

TG_API_END
#endif
