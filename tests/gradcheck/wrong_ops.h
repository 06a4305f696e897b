/* Operations with deliberately wrong derivatives, of kinds seen in practice: the gradient checker must find them all.
 *
 *     for (int i = 0; i < wrong_op_count(); i++) {
 *         wrong_op wrong = wrong_op_at(i);
 *         tg_gradcheck_result result = tg_gradcheck_op(&wrong.op, &options);
 *         ck_assert_msg(!result.passed, "%s", wrong.fault);
 *     }
 *
 * Most are operations of the library, samples included, with another derivative; the others come with a forward pass.
 */
#ifndef WRONG_OPS_H
#define WRONG_OPS_H

#include <tapegrad.h>

typedef struct wrong_op {
    const char *fault; /* what is wrong with it */
    tg_op op;
    bool double_only; /* made for double */
} wrong_op;

int wrong_op_count(void);
wrong_op wrong_op_at(int index);

/* A list entry: an operation, another derivative for it (NULL: its own) and other samples (NULL: its own). */
typedef struct wrong_row {
    const char *fault;
    const tg_op *op;
    void (*derivative)(const tg_derive *d);
    const tg_sample *samples;
    int sample_count;
    bool double_only;
} wrong_row;

/* The rest of the list, in wrong_ops_more.c and wrong_ops_third.c. */
extern const wrong_row wrong_more[], wrong_third[];
extern const int wrong_more_count, wrong_third_count;

/* Operations with a forward pass of their own, in wrong_ops_forward.c. */
extern const tg_op wrong_stale_value, wrong_changing_result, wrong_changed_input, wrong_roll, wrong_product,
    wrong_one_in_a_hundred, wrong_kept_slope;

/* Defines a derivative by one input: the gradient of x = in[0] by the cotangent g. */
#define GIVES(name, ...)                                \
    static void name(const tg_derive *d)                \
    {                                                   \
        const tg_tensor g = d->cotangent, x = d->in[0]; \
        (void)g, (void)x;                               \
        d->gradient[0] = __VA_ARGS__;                   \
    }

/* Helpers for derivatives, themselves right: x rounded to single precision, and the first row of x. */
tg_tensor rounded_to_single(tg_tensor x);
tg_tensor first_row(tg_tensor x);

static inline tg_tensor number(tg_tensor like, double value)
{
    return tg_full(tg_tape_of(like), tg_dtype_of(like), TG_SCALAR, value);
}

static inline tg_tensor twice(tg_tensor x)
{
    return tg_mul_scalar(x, 2);
}

static inline tg_tensor above(tg_tensor x, double limit)
{
    return tg_greater(x, number(x, limit));
}

static inline tg_tensor beyond(tg_tensor x, double limit)
{
    return above(tg_abs(x), limit);
}

static inline tg_tensor scaled_where(tg_tensor condition, tg_tensor x, double factor)
{
    return tg_where(condition, tg_mul_scalar(x, factor), x);
}

#endif
