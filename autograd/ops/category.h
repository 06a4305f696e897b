/* What the files of operations share: macros that keep an operation to a few lines, shape rules, sample inputs.
 * Internal.
 *
 *     TG_UNARY_LOOP(sin_loop, vector_sin)      // calls the kernel `vector_sin` for the type of the elements
 *     TG_CHAIN_RULE(sin_derivative, tg_cos)    // the cotangent times cos(x)
 *     const tg_op tg_op_sin = {TG_UNARY("sin", sin_loop, sin_derivative), TG_SAMPLES(tg_unary_samples)};
 *
 * The function tg_sin follows from its line in ops.def. Names stand in full where they are defined, so that a search
 * finds them.
 */
#ifndef TG_CATEGORY_H
#define TG_CATEGORY_H

#include "autograd/kernels/kernels.h"
#include "autograd/ops.h"
#include "autograd/value.h"

/* Records an operation on the tensors that follow the attributes (in parentheses, where they hold a comma). */
#define TG_APPLY(op, attributes, ...) \
    tg_apply(op, attributes, (int)(sizeof((tg_tensor[]){__VA_ARGS__}) / sizeof(tg_tensor)), (tg_tensor[]){__VA_ARGS__})

/* ---- parts of the struct ---- */

#define TG_UNARY(text, loop_function, derivative_function) \
    .name = text, .arity = 1, .flags = TG_ELEMENTWISE, .loop = loop_function, .derivative = derivative_function
#define TG_BINARY(text, loop_function, derivative_function) \
    .name = text, .arity = 2, .flags = TG_ELEMENTWISE, .loop = loop_function, .derivative = derivative_function
#define TG_ATTRIBUTES(type, table) .attributes_size = sizeof(type), .fields = table

/* ---- attributes that are one number ---- */

typedef struct tg_number_attributes {
    double number;
} tg_number_attributes;

#define TG_NUMBER(value)      (&(tg_number_attributes){value})
#define TG_NUMBER_FIELD(name) TG_FIELD_NAMED(name, tg_number_attributes, number, TG_FIELD_REAL)

static inline double tg_number_of(const void *attributes)
{
    return ((const tg_number_attributes *)attributes)->number;
}

/* ---- loops that call a kernel: of one input, with its derivative if that is wanted, with a number, of two inputs ----
 */

#define TG_UNARY_LOOP(function, kernel)                           \
    static void function(const tg_loop *l)                        \
    {                                                             \
        TG_KERNEL_CALL(l->dtype, kernel, l->n, l->in[0], l->out); \
    }
#define TG_UNARY_LOOP_WITH_GRAD(function, kernel, kernel_with_grad)                       \
    static void function(const tg_loop *l)                                                \
    {                                                                                     \
        if (l->saved)                                                                     \
            TG_KERNEL_CALL(l->dtype, kernel_with_grad, l->n, l->in[0], l->out, l->saved); \
        else                                                                              \
            TG_KERNEL_CALL(l->dtype, kernel, l->n, l->in[0], l->out);                     \
    }
#define TG_NUMBER_LOOP(function, kernel)                                                       \
    static void function(const tg_loop *l)                                                     \
    {                                                                                          \
        TG_KERNEL_CALL(l->dtype, kernel, l->n, l->in[0], tg_number_of(l->attributes), l->out); \
    }
#define TG_BINARY_LOOP(function, kernel)                                                            \
    static void function(const tg_loop *l)                                                          \
    {                                                                                               \
        TG_KERNEL_CALL(l->dtype, kernel, l->n, l->in[0], l->step[0], l->in[1], l->step[1], l->out); \
    }
#define TG_TERNARY_LOOP(function, kernel)                                                                        \
    static void function(const tg_loop *l)                                                                       \
    {                                                                                                            \
        TG_KERNEL_CALL(l->dtype, kernel, l->n, l->in[0], l->step[0], l->in[1], l->step[1], l->in[2], l->step[2], \
                       l->out);                                                                                  \
    }

/* ---- derivatives ---- */

/* The cotangent times f'(x), of an operation y = f(x). f'(x) is what was saved along with y, if it was. */
#define TG_CHAIN_RULE(function, derivative_of_x)                                                       \
    static void function(const tg_derive *d)                                                           \
    {                                                                                                  \
        d->gradient[0] = tg_mul(d->cotangent, tg_ok(d->saved) ? d->saved : derivative_of_x(d->in[0])); \
    }

/* Whether a product with this cotangent may be left out: it is all ones, where a backward pass starts, and nobody will
 * differentiate through it. */
bool tg_is_plain_one(tg_tensor cotangent);

/* A scalar of the type of x, on its tape. */
tg_tensor tg_scalar_like(tg_tensor x, double value);

/* ---- shape rules ---- */

/* The shape of input 0; the same for a floating type only; the same where all inputs are of one floating type and
 * shape. */
bool tg_shape_same(tg_value *out);
bool tg_shape_same_floating(tg_value *out);
bool tg_shape_alike(tg_value *out);

/* Parts of shape rules: whether input 0 is of a floating type, and whether the first `count` inputs are of one, and of
 * one shape. */
bool tg_is_floating(const tg_value *out);
bool tg_inputs_alike(const tg_value *out, int count);

/* ---- elements ---- */

/* The same value everywhere. */
void tg_fill(tg_dtype dtype, int64_t count, double value, void *to);

/* ---- samples ---- */

/* Zeros, tails, infinities and NaN: nine values for forward checks; and an input [9] of them. */
extern const double tg_edges[9];
#define TG_EDGES .value_count = 9, .values = tg_edges

/* Inputs for operations of one operand: of any sign; positive; of any sign, not close to 0, where there is a kink. And
 * for two operands that broadcast (samples.c). */
extern const tg_sample tg_unary_samples[9], tg_positive_samples[8], tg_kinked_samples[8], tg_binary_samples[8];

#endif
