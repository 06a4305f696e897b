/* What the files of the operation families share: small macros that keep an operation to a few lines. Internal.
 *
 *     TG_BINARY_LOOP(add)          // defines add_loop, which calls the kernel `add` of the right precision
 *     TG_APPLY(&tg_op_add, NULL, a, b)
 */
#ifndef TG_FAMILY_H
#define TG_FAMILY_H

#include "autograd/kernels/kernels.h"
#include "autograd/value.h"

/* Records an operation on the tensors that follow the attributes (in parentheses, where they hold a comma). */
#define TG_APPLY(op, attributes, ...)                                                                       \
    tg_apply(op, attributes, (int)(sizeof((tg_tensor[]){__VA_ARGS__}) / sizeof(tg_tensor)),                 \
             (tg_tensor[]){__VA_ARGS__})

/* Defines KERNEL_loop for elementwise operations without attributes. */
#define TG_UNARY_LOOP(kernel)                                       \
    static void kernel##_loop(const tg_loop *l)                     \
    {                                                               \
        TG_KERNEL_CALL(l->dtype, kernel, l->n, l->in[0], l->out);   \
    }
#define TG_BINARY_LOOP(kernel)                                                                      \
    static void kernel##_loop(const tg_loop *l)                                                     \
    {                                                                                               \
        TG_KERNEL_CALL(l->dtype, kernel, l->n, l->in[0], l->step[0], l->in[1], l->step[1], l->out); \
    }

/* The same with the struct tg_op_KERNEL and the function tg_KERNEL: a whole elementwise operation without attributes,
 * after its KERNEL_derivative. */
#define TG_UNARY_OP(kernel, sample_table)                                                                      \
    TG_UNARY_LOOP(kernel)                                                                                      \
    const tg_op tg_op_##kernel = {.name = #kernel, .arity = 1, .flags = TG_ELEMENTWISE, .loop = kernel##_loop, \
                                  .derivative = kernel##_derivative, TG_SAMPLES(sample_table)};                \
    tg_tensor tg_##kernel(tg_tensor x)                                                                         \
    {                                                                                                          \
        return TG_APPLY(&tg_op_##kernel, NULL, x);                                                             \
    }
#define TG_BINARY_OP(kernel, sample_table)                                                                     \
    TG_BINARY_LOOP(kernel)                                                                                     \
    const tg_op tg_op_##kernel = {.name = #kernel, .arity = 2, .flags = TG_ELEMENTWISE, .loop = kernel##_loop, \
                                  .derivative = kernel##_derivative, TG_SAMPLES(sample_table)};                \
    tg_tensor tg_##kernel(tg_tensor a, tg_tensor b)                                                            \
    {                                                                                                          \
        return TG_APPLY(&tg_op_##kernel, NULL, a, b);                                                          \
    }

/* Whether a product with this cotangent may be left out: it is all ones, where a backward pass starts, and nobody will
 * differentiate through it. */
bool tg_is_plain_one(tg_tensor cotangent);

/* The same value everywhere. */
void tg_fill(tg_dtype dtype, int64_t count, double value, void *to);

/* Zeros, tails, infinities and NaN: nine values for forward checks. */
extern const double tg_edges[9];
#define TG_EDGES tg_edges

/* Inputs for operations of one operand: of any sign; positive; of any sign, not close to 0, where there is a kink. And for
 * two operands that broadcast (samples.c). */
extern const tg_sample tg_unary_samples[9], tg_positive_samples[8], tg_kinked_samples[8], tg_binary_samples[8];

#endif
