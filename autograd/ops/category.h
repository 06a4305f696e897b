/* Shared by the files of operations: attributes of one number, shape rules, sample inputs. Internal.
 *
 *     static const tg_field dropout_fields[] = {TG_NUMBER_FIELD("drop"), {0}};
 *     return TG_APPLY(&tg_op_dropout, TG_NUMBER(drop), x, stream);
 */
#ifndef TG_CATEGORY_H
#define TG_CATEGORY_H

#include "autograd/kernels/kernels.h"
#include "autograd/ops.h"
#include "autograd/tape/value.h"

/* Records an operation on the tensors after the attributes (in parentheses, if these contain a comma). */
#define TG_APPLY(op, attributes, ...) \
    tg_apply(op, attributes, (int)(sizeof((tg_tensor[]){__VA_ARGS__}) / sizeof(tg_tensor)), (tg_tensor[]){__VA_ARGS__})

/* ---- parts of the struct ---- */

#define TG_ATTRIBUTES(type, table) .attributes_size = sizeof(type), .fields = table

/* tg_op_NAME, of so many operands, with the flags of op.h (0: none), its samples and more members of the struct:
 *
 *     TG_OPERATION(softmax, 1, 0, softmax_samples, .shape = softmax_shape, .forward = softmax_forward,
 *                  .derivative = softmax_derivative);
 */
#if defined TG_NO_SAMPLES
#define TG_OPERATION(word, operands, bits, samples_, ...) \
    const tg_op tg_op_##word = {.name = #word, .arity = operands, .flags = bits, .complete = &tg_op_##word, __VA_ARGS__}
#else
#define TG_OPERATION(word, operands, bits, samples_, ...) \
    const tg_op tg_op_##word = {                          \
        .name = #word, .arity = operands, .flags = bits, .complete = &tg_op_##word, TG_SAMPLES(samples_), __VA_ARGS__}
#endif

/* One without flags whose parts have the usual names: NAME_samples, NAME_shape, NAME_forward, NAME_derivative. */
#define TG_USUAL_OPERATION(word, operands, ...)                                                       \
    TG_OPERATION(word, operands, 0, word##_samples, .shape = word##_shape, .forward = word##_forward, \
                 .derivative = word##_derivative, __VA_ARGS__)

/* NAME_derivative of one input, which gets this gradient; made of d, see tg_derive. */
#define TG_GRADIENT(name, ...)                        \
    static void name##_derivative(const tg_derive *d) \
    {                                                 \
        d->gradient[0] = __VA_ARGS__;                 \
    }

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

/* ---- derivatives, in broadcast.c ---- */

/* A scalar of the type of x, on its tape. */
tg_tensor tg_scalar_like(tg_tensor x, double value);

/* True if a product with this cotangent can be omitted: it is all ones, as at the start of a backward pass, and will
 * not be differentiated. */
bool tg_is_plain_one(tg_tensor cotangent);

#if defined TG_FIRST_ORDER
/* Fails: the smaller one file cannot differentiate derivatives. Returns TG_NONE. */
tg_tensor tg_first_order_only(tg_tensor cotangent);
#endif

/* ---- shape rules ---- */

/* Shape rules: the shape of input 0; the same, for a floating type only; the same, if all inputs have one floating type
 * and shape. */
bool tg_shape_same(tg_value *out);
bool tg_shape_same_floating(tg_value *out);
bool tg_shape_alike(tg_value *out);

/* For shape rules: true if input 0 has a floating type; true if the first `count` inputs have the same one, and one
 * shape. */
bool tg_is_floating(const tg_value *out);
bool tg_inputs_alike(const tg_value *out, int count);

/* ---- elements ---- */

/* Rejects a value that the type cannot represent. An i32 takes the integer part. */
bool tg_number_fits(tg_value *out, tg_dtype dtype, double value);

/* A tensor filled with a value, which has been checked. */
void tg_fill(tg_dtype dtype, int64_t count, double value, void *to);

/* ---- samples: {.input = {{TG_OF(3, 4), .low = 0, .high = 1}, {TG_OF(9), TG_EDGES}}} ---- */

/* The shape of an input; that of a scalar is {0}. */
#define TG_OF(...) .shape = {(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}}

/* Zeros, tails, infinities and NaN: nine values for forward checks. */
extern const double tg_edges[9];
#define TG_EDGES .value_count = 9, .values = tg_edges

#endif
