/* The cell of an LSTM as one operation, and its gradient as another one: nn/layers/recurrent.h has the formula. Written
 * out as operations a step is fourteen of them, which read and write the gates again and again.
 *
 *     lstm_cell(x, h, c)          [2, rows, n]: h' | c'        x and h [rows, 4 n] are the gates' W x + b and V h + c
 *     lstm_cell_grad(g, x, h, c)  [rows 5 n]: the gradient of x, and of h, [rows, 4 n] | that of c [rows, n]
 */
#include "autograd/kernels/parallel.h"
#include "autograd/ops/category.h"
#include "autograd/ops/samples/recurrent.h"

enum { WORTH_SHARING = 1 << 10 }; /* units for each thread */

/* Input `first` and the next two are x, h and c. */
static bool fit(const tg_value *out, int first)
{
    const tg_shape *x = out->inputs[first]->shape, *h = out->inputs[first + 1]->shape,
                   *c = out->inputs[first + 2]->shape;
    return x->rank == 2 && c->rank == 2 && tg_shape_equal(x, h) && x->dim[0] == c->dim[0] && x->dim[1] % 4 == 0 &&
           x->dim[1] / 4 == c->dim[1];
}

static bool lstm_cell_shape(tg_value *out)
{
    const tg_shape *c = out->inputs[2]->shape;
    if (!tg_same_floating_type(out))
        return false;
    if (!fit(out, 0))
        return tg_expected(out, "expected gates [rows, 4 n], twice, and a state [rows, n]");
    *out->shape = TG_SHAPE(2, c->dim[0], c->dim[1]);
    return true;
}

static bool lstm_cell_grad_shape(tg_value *out)
{
    const tg_shape *g = out->inputs[0]->shape, *c = out->inputs[3]->shape;
    if (!tg_same_floating_type(out))
        return false;
    if (!fit(out, 1) || !tg_shape_equal(g, &TG_SHAPE(2, c->dim[0], c->dim[1])))
        return tg_expected(out, "expected a cotangent [2, rows, n], gates [rows, 4 n], twice, and a state [rows, n]");
    if (out->inputs[1]->size > INT64_MAX - out->inputs[3]->size)
        return tg_expected(out, "the result would be too large");
    *out->shape = TG_SHAPE(out->inputs[1]->size + out->inputs[3]->size);
    return true;
}

/* ---- forward ---- */

static void cell_rows(void *context, size_t first, size_t count)
{
    const tg_call *call = context;
    const tg_value *c = call->value->inputs[2];
    const size_t n = (size_t)c->shape->dim[1], at = first * n * tg_dtype_size(c->dtype);
    const char *const *in = (const char *const *)call->in;
    char *h = (char *)call->out + at;
    TG_KERNEL_CALL(c->dtype, lstm_cell, count, n, in[0] + 4 * at, in[1] + 4 * at, in[2] + at, h,
                   h + (size_t)c->size * tg_dtype_size(c->dtype));
}

static void lstm_cell_forward(const tg_call *call)
{
    const tg_shape *c = call->value->inputs[2]->shape;
    if (call->value->size > 0) /* else there may be many rows */
        tg_parallel((size_t)c->dim[0], WORTH_SHARING / ((size_t)c->dim[1] + 1) + 1, 1, cell_rows, (void *)call);
}

static void cell_grad_rows(void *context, size_t first, size_t count)
{
    const tg_call *call = context;
    const tg_value *c = call->value->inputs[3];
    const size_t element = tg_dtype_size(c->dtype), n = (size_t)c->shape->dim[1], at = first * n * element,
                 states = (size_t)c->size * element;
    const char *const *in = (const char *const *)call->in;
    char *out = call->out;
    TG_KERNEL_CALL(c->dtype, lstm_cell_grad, count, n, in[0] + at, in[0] + states + at, in[1] + 4 * at, in[2] + 4 * at,
                   in[3] + at, out + 4 * at, out + 4 * states + at);
}

static void lstm_cell_grad_forward(const tg_call *call)
{
    const tg_shape *c = call->value->inputs[3]->shape;
    if (call->value->size > 0)
        tg_parallel((size_t)c->dim[0], WORTH_SHARING / ((size_t)c->dim[1] + 1) + 1, 1, cell_grad_rows, (void *)call);
}

/* ---- derivatives ---- */

/* A part of what is packed, without a copy. */
static tg_tensor part(tg_tensor packed, int64_t start, tg_tensor like)
{
    if (tg_rank(packed) > 1)
        packed = tg_reshape(packed, TG_SHAPE(tg_size(packed)));
    return tg_reshape(tg_narrow(packed, 0, start, tg_size(like)), tg_shape_of(like));
}

static void lstm_cell_derivative(const tg_derive *d)
{
    const tg_tensor packed = TG_APPLY(&tg_op_lstm_cell_grad, NULL, d->cotangent, d->in[0], d->in[1], d->in[2]);
    if (d->wanted[0] || d->wanted[1])
        d->gradient[0] = d->gradient[1] = part(packed, 0, d->in[0]);
    if (d->wanted[2])
        d->gradient[2] = part(packed, tg_size(d->in[0]), d->in[2]);
}

/* A gate: its argument, its value, and its first two derivatives. */
typedef struct gate {
    tg_tensor value, first, second;
} gate;

static gate sigmoid_and_first(tg_tensor x)
{
    const gate s = {.value = tg_sigmoid(x), .first = tg_sigmoid_grad(tg_scalar_like(x, 1), x)};
    return (gate){s.value, s.first, tg_neg(tg_mul(s.first, tg_tanh(tg_mul_scalar(x, 0.5))))};
}

static gate tanh_and_first(tg_tensor x)
{
    const gate t = {.value = tg_tanh(x), .first = tg_tanh_grad(tg_scalar_like(x, 1), x)};
    return (gate){t.value, t.first, tg_mul_scalar(tg_mul(t.first, t.value), -2)};
}

static tg_tensor product3(tg_tensor a, tg_tensor b, tg_tensor c)
{
    return tg_mul(tg_mul(a, b), c);
}

/* sum + a b c */
static tg_tensor add_product(tg_tensor sum, tg_tensor a, tg_tensor b, tg_tensor c)
{
    return tg_mul_add(tg_mul(a, b), c, sum);
}

/* With t = tanh(c') and D = dc + dh o t', the whole cotangent of c', the sum of the gradients' products with their
 * cotangents, p of the gates and q of c, is
 *
 *     D A + dh B,   A = p_i g i' + p_f c f' + p_g i g' + q f,   B = p_o t o'
 *
 * This is its gradient. E is its derivative by c', through t and t'. A function's arguments record at most one
 * operation, as their order is the compiler's. */
static void lstm_cell_grad_derivative(const tg_derive *d)
{
    const tg_tensor c = d->in[3], dh = part(d->in[0], 0, c), dc = part(d->in[0], tg_size(c), c),
                    p_all = part(d->cotangent, 0, d->in[1]), q = part(d->cotangent, tg_size(d->in[1]), c);
    tg_tensor p[4], before[4];
    tg_split(p_all, -1, 4, p);
    tg_split(tg_add(d->in[1], d->in[2]), -1, 4, before);
    const gate i = sigmoid_and_first(before[0]), f = sigmoid_and_first(before[1]), g = tanh_and_first(before[2]),
               o = sigmoid_and_first(before[3]);
    const tg_tensor input = tg_mul(i.value, g.value);
    const gate t = tanh_and_first(tg_mul_add(f.value, c, input));

    tg_tensor A = tg_mul(q, f.value);
    A = add_product(A, p[0], g.value, i.first);
    A = add_product(A, p[1], c, f.first);
    A = add_product(A, p[2], i.value, g.first);
    const tg_tensor B = product3(p[3], t.value, o.first), ot = tg_mul(o.value, t.first), D = tg_mul_add(dh, ot, dc),
                    A_dh = tg_mul(A, dh), p_dh = tg_mul(p[3], dh);
    const tg_tensor E = add_product(product3(A_dh, o.value, t.second), p_dh, o.first, t.first);

    tg_tensor gi = add_product(product3(p[0], g.value, i.second), p[2], i.first, g.first),
              gf = tg_mul_add(q, f.first, product3(p[1], c, f.second)),
              gg = add_product(product3(p[0], i.first, g.first), p[2], i.value, g.second),
              go = add_product(product3(A_dh, t.first, o.first), p_dh, t.value, o.second);
    gi = add_product(tg_mul(D, gi), E, g.value, i.first);
    gf = add_product(tg_mul(D, gf), E, c, f.first);
    gg = add_product(tg_mul(D, gg), E, i.value, g.first);
    const tg_tensor by_dh = tg_mul_add(A, ot, B);
    d->gradient[0] = tg_stack((const tg_tensor[]){by_dh, A}, 2, 0);
    d->gradient[1] = d->gradient[2] = tg_concat((const tg_tensor[]){gi, gf, gg, go}, 4, -1);
    d->gradient[3] = tg_mul_add(E, f.value, product3(D, p[1], f.first));
}

static double lstm_cell_work(const tg_value *out)
{
    return 20 * (double)out->size; /* five functions and seven sums and products for each unit */
}

TG_USUAL_OPERATION(lstm_cell, 3, .work = lstm_cell_work);
TG_USUAL_OPERATION(lstm_cell_grad, 4, .work = lstm_cell_work);

tg_tensor tg_lstm_cell_grad(tg_tensor cotangent, tg_tensor x, tg_tensor h, tg_tensor c)
{
    return TG_APPLY(&tg_op_lstm_cell_grad, NULL, cotangent, x, h, c);
}
