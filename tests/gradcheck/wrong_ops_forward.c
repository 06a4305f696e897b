/* Wrong operations whose fault begins in the forward pass. They work only on one thread and in double. */
#include "autograd/tape/value.h"
#include "tests/gradcheck/wrong_ops.h"

#include <math.h>
#include <string.h>

static const tg_sample samples[] = {
    {.input = {{.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}}}},
    {.input = {{.shape = {2, {2, 0}}}}},
    {.input = {{.shape = {1, {33}}}}},
};

static void square_loop(const tg_loop *l)
{
    const double *x = l->in[0];
    double *y = l->out;
    for (size_t i = 0; i < l->n; i++)
        y[i] = x[i] * x[i];
}

/* ---- the derivative multiplies by data that the last forward pass left behind ---- */

enum { KEPT = 5000 }; /* more than the checker's largest shape */
static double kept[KEPT];

static void keeping_square_loop(const tg_loop *l)
{
    memcpy(kept, l->in[0], l->n * sizeof *kept);
    square_loop(l);
}

static void times_kept_loop(const tg_loop *l)
{
    const double *g = l->in[0];
    double *y = l->out;
    for (size_t i = 0; i < l->n; i++)
        y[i] = 2 * kept[i] * g[i];
}

static void times_kept_derivative(const tg_derive *d);

static const tg_op times_kept = {.name = "times_kept",
                                 .arity = 2,
                                 .flags = TG_ELEMENTWISE,
                                 .loop = times_kept_loop,
                                 .derivative = times_kept_derivative};

static tg_tensor apply_times_kept(tg_tensor g, tg_tensor x)
{
    return tg_apply(&times_kept, NULL, 2, (tg_tensor[]){g, x});
}

/* The derivative of 2 g x, so that the second order is right and only the kept value is wrong. */
static void times_kept_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(tg_mul(d->cotangent, d->in[1]), 2);
    d->gradient[1] = tg_mul_scalar(tg_mul(d->cotangent, d->in[0]), 2);
}

static void stale_derivative(const tg_derive *d)
{
    d->gradient[0] = apply_times_kept(d->cotangent, d->in[0]);
}

const tg_op wrong_stale_value = {.name = "stale_value",
                                 .arity = 1,
                                 .flags = TG_ELEMENTWISE,
                                 .loop = keeping_square_loop,
                                 .derivative = stale_derivative,
                                 TG_SAMPLES(samples)};

/* ---- each call gives a little more ---- */

static void changing_loop(const tg_loop *l)
{
    static double more;
    const double *x = l->in[0];
    double *y = l->out;
    for (size_t i = 0; i < l->n; i++)
        y[i] = x[i] + more;
    more += 1e-9;
}

static void pass(const tg_derive *d)
{
    d->gradient[0] = d->cotangent;
}

const tg_op wrong_changing_result = {.name = "changing_result",
                                     .arity = 1,
                                     .flags = TG_ELEMENTWISE,
                                     .loop = changing_loop,
                                     .derivative = pass,
                                     TG_SAMPLES(samples)};

/* ---- the forward pass overwrites its input, which the derivative then reads ---- */

static void overwriting_loop(const tg_loop *l)
{
    square_loop(l);
    double *x = (double *)(uintptr_t)l->in[0];
    for (size_t i = 0; i < l->n; i++)
        x[i] = fabs(x[i]);
}

static void square_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_mul_scalar(d->in[0], 2));
}

const tg_op wrong_changed_input = {.name = "changed_input",
                                   .arity = 1,
                                   .flags = TG_ELEMENTWISE,
                                   .loop = overwriting_loop,
                                   .derivative = square_derivative,
                                   TG_SAMPLES(samples)};

/* ---- y[i] = x[i + by], whose gradient goes back to the element after the right one ---- */

typedef struct roll_attributes {
    int by;
} roll_attributes;

static bool same_shape(tg_value *out)
{
    *out->shape = *out->inputs[0]->shape;
    return true;
}

static void roll_forward(const tg_call *call)
{
    const tg_value *value = call->value;
    const double *x = call->in[0];
    double *y = call->out;
    int64_t by = ((const roll_attributes *)value->attributes)->by;
    for (int64_t i = 0; i < value->size; i++)
        y[i] = x[((i + by) % value->size + value->size) % value->size];
}

static void roll_derivative(const tg_derive *d)
{
    roll_attributes back = {-((const roll_attributes *)d->attributes)->by - 1};
    d->gradient[0] = tg_apply(&wrong_roll, &back, 1, &d->cotangent);
}

static const tg_sample roll_samples[] = {
    {.attributes = &(roll_attributes){1}, .input = {{.shape = {1, {7}}}}},
    {.attributes = &(roll_attributes){-2}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(roll_attributes){3}, .input = {{.shape = {1, {0}}}}},
};

const tg_op wrong_roll = {.name = "roll",
                          .arity = 1,
                          .attributes_size = sizeof(roll_attributes),
                          .shape = same_shape,
                          .forward = roll_forward,
                          .derivative = roll_derivative,
                          TG_SAMPLES(roll_samples)};

/* ---- a product of square matrices, whose shapes fit without a transpose ---- */

static void product_forward(const tg_call *call)
{
    const tg_value *value = call->value;
    const double *a = call->in[0], *b = call->in[1];
    double *y = call->out;
    int64_t n = value->shape->dim[0];
    for (int64_t i = 0; i < n * n; i++) {
        y[i] = 0;
        for (int64_t k = 0; k < n; k++)
            y[i] += a[i / n * n + k] * b[k * n + i % n];
    }
}

static void product_derivative(const tg_derive *d)
{
    tg_tensor a_transposed = tg_permute(d->in[0], TG_AXES(1, 0));
    d->gradient[0] = tg_apply(&wrong_product, NULL, 2, (tg_tensor[]){d->cotangent, d->in[1]});
    d->gradient[1] = tg_apply(&wrong_product, NULL, 2, (tg_tensor[]){a_transposed, d->cotangent});
}

static const tg_sample product_samples[] = {{.input = {{.shape = {2, {3, 3}}}, {.shape = {2, {3, 3}}}}}};

const tg_op wrong_product = {.name = "product",
                             .arity = 2,
                             .shape = same_shape,
                             .forward = product_forward,
                             .derivative = product_derivative,
                             TG_SAMPLES(product_samples)};

/* ---- one of many elements is wrong ---- */

static void all_but_one_forward(const tg_call *call)
{
    const tg_value *value = call->value;
    const double *g = call->in[0];
    double *y = call->out;
    for (int64_t i = 0; i < value->size; i++)
        y[i] = i == 70 ? 1.001 * g[i] : g[i];
}

static void all_but_one_derivative(const tg_derive *d);

static const tg_op all_but_one = {.name = "all_but_one",
                                  .arity = 1,
                                  .shape = same_shape,
                                  .forward = all_but_one_forward,
                                  .derivative = all_but_one_derivative};

static void all_but_one_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_apply(&all_but_one, NULL, 1, &d->cotangent);
}

static void copy_forward(const tg_call *call)
{
    const tg_value *value = call->value;
    if (value->size > 0)
        memcpy(call->out, call->in[0], (size_t)value->size * sizeof(double));
}

static const tg_sample large_samples[] = {{.input = {{.shape = {2, {10, 10}}}}}};

const tg_op wrong_one_in_a_hundred = {.name = "one_in_a_hundred",
                                      .arity = 1,
                                      .shape = same_shape,
                                      .forward = copy_forward,
                                      .derivative = all_but_one_derivative,
                                      TG_SAMPLES(large_samples)};

/* ---- the saved derivative differs from the one computed later ---- */

static void kept_slope_loop(const tg_loop *l)
{
    const double *x = l->in[0];
    double *s = l->saved;
    tg_op_gelu_exact.loop(l);
    for (size_t i = 0; s && i < l->n; i++)
        s[i] = 0.5 * erfc(-x[i] / sqrt(2)); /* without x phi(x) */
}

static void kept_slope_derivative(const tg_derive *d)
{
    tg_tensor slope = tg_ok(d->saved) ? d->saved : tg_gelu_exact_grad(d->in[0]);
    d->gradient[0] = tg_mul(d->cotangent, slope);
}

const tg_op wrong_kept_slope = {.name = "kept_slope",
                                .arity = 1,
                                .flags = TG_ELEMENTWISE,
                                .loop = kept_slope_loop,
                                .saved = &tg_op_gelu_exact_grad,
                                .derivative = kept_slope_derivative,
                                TG_SAMPLES(samples)};

/* ---- helpers that are right ---- */

static void single_loop(const tg_loop *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->dtype == TG_F64)
            ((double *)l->out)[i] = (float)((const double *)l->in[0])[i];
        else
            ((float *)l->out)[i] = ((const float *)l->in[0])[i];
}

static const tg_op to_single = {
    .name = "to_single", .arity = 1, .flags = TG_ELEMENTWISE, .loop = single_loop, .derivative = pass};

tg_tensor rounded_to_single(tg_tensor x)
{
    return tg_apply(&to_single, NULL, 1, &x);
}

static bool row_shape(tg_value *out)
{
    *out->shape = (tg_shape){.rank = 1, .dim = {out->inputs[0]->shape->dim[1]}};
    return out->inputs[0]->shape->dim[0] > 0;
}

static const tg_op row = {.name = "first_row", .arity = 1, .flags = TG_VIEW | TG_CONSTANT, .shape = row_shape};

tg_tensor first_row(tg_tensor x)
{
    return tg_apply(&row, NULL, 1, &x);
}
