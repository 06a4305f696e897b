/* An operation defined outside the library, with the public struct: x tanh(softplus(x)). It is checked to second order
 * like the built-in ones, and differentiated. */
#include <math.h>
#include <stdio.h>
#include <tapegrad.h>

/* The value, for a run of elements in either precision. */
static void squash_loop(const tg_loop *l)
{
    for (size_t i = 0; i < l->n; i++) {
        double x = l->dtype == TG_F32 ? (double)((const float *)l->in[0])[i] : ((const double *)l->in[0])[i];
        double y = x * tanh(fmax(x, 0) + log1p(exp(-fabs(x)))); /* softplus without overflow */
        if (l->dtype == TG_F32)
            ((float *)l->out)[i] = (float)y;
        else
            ((double *)l->out)[i] = y;
    }
}

/* w + x (1 - w^2) sigmoid(x) with w = tanh(softplus(x)), made of operations, so it can be differentiated again. */
static void squash_derivative(const tg_derive *d)
{
    tg_tensor x = d->in[0], w = tg_tanh(tg_softplus(x));
    tg_tensor bend = tg_mul(tg_add_scalar(tg_neg(tg_square(w)), 1), tg_sigmoid(x));
    d->gradient[0] = tg_mul(d->cotangent, tg_add(w, tg_mul(x, bend)));
}

/* Samples: shapes whose elements are drawn, and critical values. */
static const tg_sample squash_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}}}},
    {.input = {{.shape = {2, {0, 3}}}}},
    {.input = {{.shape = {1, {5}}, .value_count = 5, .values = (const double[]){-20, -1.2, 0, 1e-8, 20}}}},
};

static const tg_op squash = {.name = "squash",
                             .arity = 1,
                             .flags = TG_ELEMENTWISE,
                             .loop = squash_loop,
                             .derivative = squash_derivative,
                             TG_SAMPLES(squash_samples)};

int main(void)
{
    tg_gradcheck_result result = tg_gradcheck_op(&squash, &(tg_gradcheck_options){.order = 2});
    printf("%s\n", result.why);

    tg_tape *tape = tg_tape_new();
    const double points[5] = {-4, -1, 0, 1, 4};
    tg_tensor x = tg_variable(tape, TG_F64, points, TG_SHAPE(5));
    tg_tensor y = tg_apply(&squash, NULL, 1, &x);
    if (!tg_backward(tg_sum(y)))
        return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
    for (int i = 0; i < 5; i++)
        printf("squash(%2g) = %9.6f   derivative %9.6f\n", points[i], tg_at(y, i), tg_at(tg_gradient(x), i));
    tg_tape_free(tape);
    return !result.passed || fflush(stdout) != 0;
}
