/* Matrix products: kernels/product.h computes them. */
#include "autograd/kernels/parallel.h"
#include "autograd/kernels/product.h"
#include "autograd/ops/category.h"
#include "autograd/tape/program.h"
#include "autograd/tape/strided.h"

typedef struct matmul_attributes {
    bool transpose_a, transpose_b;
} matmul_attributes;

static const tg_field matmul_fields[] = {TG_FIELD(matmul_attributes, transpose_a, TG_FIELD_BOOL),
                                         TG_FIELD(matmul_attributes, transpose_b, TG_FIELD_BOOL),
                                         {0}};

typedef struct grouped_linear_attributes {
    int64_t groups;
} grouped_linear_attributes;

static const tg_field grouped_linear_fields[] = {TG_FIELD(grouped_linear_attributes, groups, TG_FIELD_INT), {0}};

#include "autograd/ops/samples/matmul.h"

/* ---- matmul: matrices in the last two axes, the others broadcast ---- */

static tg_product product_of(const tg_value *out)
{
    const matmul_attributes *attributes = out->attributes;
    const tg_shape *a = out->inputs[0]->shape, *b = out->inputs[1]->shape;
    return (tg_product){.transpose_a = attributes->transpose_a,
                        .transpose_b = attributes->transpose_b,
                        .m = a->dim[a->rank - (attributes->transpose_a ? 1 : 2)],
                        .k = a->dim[a->rank - (attributes->transpose_a ? 2 : 1)],
                        .n = b->dim[b->rank - (attributes->transpose_b ? 2 : 1)]};
}

/* The axes before the last two. */
static tg_shape batch_of(tg_shape shape)
{
    shape.rank -= 2;
    return shape;
}

static bool matmul_shape(tg_value *out)
{
    if (!tg_same_floating_type(out))
        return false;
    const matmul_attributes *attributes = out->attributes;
    const tg_shape *a = out->inputs[0]->shape, *b = out->inputs[1]->shape;
    if (a->rank < 2 || b->rank < 2)
        return tg_expected(out, "expected matrices, or vectors; a scalar multiplies with tg_mul");
    tg_product p = product_of(out);
    int64_t rows_of_b = b->dim[b->rank - (attributes->transpose_b ? 1 : 2)];
    if (p.k != rows_of_b)
        return tg_expected(out, "the inner sizes differ: %lld columns%s against %lld rows%s", (long long)p.k,
                           p.transpose_a ? " (of the first, transposed)" : "", (long long)rows_of_b,
                           p.transpose_b ? " (of the second, transposed)" : "");
    if (a->rank == 2 && b->rank == 2) {
        *out->shape = TG_SHAPE(p.m, p.n);
        return true;
    }
    tg_shape batch_a = batch_of(*a), batch_b = batch_of(*b);
    if (!tg_shape_broadcast(&batch_a, &batch_b, out->shape))
        return tg_expected(out, "the axes before the last two do not broadcast");
    out->shape->dim[out->shape->rank++] = p.m;
    out->shape->dim[out->shape->rank++] = p.n;
    return true;
}

/* All products of a batch. */
typedef struct batch {
    const tg_call *call;
    tg_product p;
    tg_strided s; /* the axes before the last two, from matrix to matrix of a and of b */
} batch;

/* Some of the products, one after the other: a tg_parallel_part. */
static void multiply_some(void *context, size_t first, size_t count)
{
    const batch *all = context;
    const tg_dtype dtype = all->call->value->dtype;
    const int64_t element = (int64_t)tg_dtype_size(dtype), matrix = all->p.m * all->p.n;
    const char *a = all->call->in[0], *b = all->call->in[1];
    char *result = (char *)all->call->out + (int64_t)first * matrix * element;
    tg_strided_place place = tg_strided_seek(&all->s, 0, (int64_t)first);
    for (; count > 0; count--, result += matrix * element) {
        tg_multiply(dtype, &all->p, a + place.offset[0] * element, b + place.offset[1] * element, NULL, result);
        tg_strided_next(&all->s, 0, &place);
    }
}

static void multiply_batch(const tg_call *call, const tg_product *p)
{
    enum { WORTH_SHARING = 1 << 19 }; /* multiplications for each thread */
    enum { FEW = 8 };                 /* products that may not divide evenly */
    const tg_value *out = call->value;
    const tg_shape shape = batch_of(*out->shape);
    int64_t stride[2][TG_MAX_RANK];
    for (int k = 0; k < 2; k++) {
        const tg_shape in = *out->inputs[k]->shape, matrices = batch_of(in);
        tg_broadcast_strides(&matrices, shape.rank, stride[k]);
        for (int axis = 0; axis < shape.rank; axis++)
            stride[k][axis] *= in.dim[in.rank - 1] * in.dim[in.rank - 2];
    }
    batch all = {call, *p, tg_strided_over(&shape, 2, stride)};
    const size_t products = (size_t)(out->size / (p->m * p->n)), each = (size_t)(p->m * p->n * p->k);
    if (products < FEW && each >= 2 * WORTH_SHARING) /* each is shared itself */
        multiply_some(&all, 0, products);
    else
        tg_parallel(products, WORTH_SHARING / (each + 1) + 1, 1, multiply_some, &all);
}

static void matmul_to(const tg_call *call, bool add)
{
    const tg_value *out = call->value;
    tg_product p = product_of(out);
    p.add = add;
    if (out->size == 0)
        return;
    if (out->shape->rank > 2)
        multiply_batch(call, &p);
    else
        tg_multiply(out->dtype, &p, call->in[0], call->in[1], NULL, call->out);
}

static void matmul_forward(const tg_call *call)
{
    matmul_to(call, false);
}

static void matmul_add(const tg_call *call)
{
    matmul_to(call, true);
}

/* For out = A B:  The gradient of A is G B^T, that of B is A^T G; transposed where an input is. */
static void matmul_derivative(const tg_derive *d)
{
    const matmul_attributes *attributes = d->attributes;
    const bool ta = attributes->transpose_a, tb = attributes->transpose_b;
    const tg_tensor a = d->in[0], b = d->in[1], g = d->cotangent;
    if (d->wanted[0])
        d->gradient[0] = ta ? tg_matmul_transposed(b, g, tb, true) : tg_matmul_transposed(g, b, false, !tb);
    if (d->wanted[1])
        d->gradient[1] = tb ? tg_matmul_transposed(g, a, true, ta) : tg_matmul_transposed(a, g, !ta, false);
}

static double matmul_work(const tg_value *out)
{
    return 2 * (double)product_of(out).k * (double)out->size;
}

TG_USUAL_OPERATION(matmul, 2, TG_ATTRIBUTES(matmul_attributes, matmul_fields), .add = matmul_add, .work = matmul_work);

/* [..., k] as one matrix [rows, k]. */
static tg_tensor rows_of(tg_tensor x)
{
    const int rank = tg_rank(x);
    int64_t rows = 1;
    if (rank == 2)
        return x;
    for (int axis = 0; axis < rank - 1; axis++)
        rows *= tg_dim(x, axis);
    return tg_reshape(x, TG_SHAPE(rows, tg_dim(x, -1)));
}

tg_tensor tg_matmul_transposed(tg_tensor a, tg_tensor b, bool transpose_a, bool transpose_b)
{
    /* Many matrices times one are one product of all their rows. */
    if (tg_rank(a) > 2 && tg_rank(b) == 2 && !transpose_a && tg_dim(a, -1) == tg_dim(b, transpose_b ? -1 : -2)) {
        tg_shape shape = tg_shape_of(a);
        shape.dim[shape.rank - 1] = tg_dim(b, transpose_b ? -2 : -1);
        return tg_reshape(tg_matmul_transposed(rows_of(a), b, false, transpose_b), shape);
    }
    return TG_APPLY(&tg_op_matmul, (&(matmul_attributes){transpose_a, transpose_b}), a, b);
}

tg_tensor tg_matmul(tg_tensor a, tg_tensor b)
{
    const tg_shape shape_a = tg_shape_of(a), shape_b = tg_shape_of(b);
    if (shape_a.rank != 1 && shape_b.rank != 1)
        return tg_matmul_transposed(a, b, false, false);
    /* Makes a vector a matrix of one row or column, whose axis the result drops again. */
    tg_tensor row = shape_a.rank == 1 ? tg_reshape(a, TG_SHAPE(1, shape_a.dim[0])) : a;
    tg_tensor column = shape_b.rank == 1 ? tg_reshape(b, TG_SHAPE(shape_b.dim[0], 1)) : b;
    tg_tensor both = tg_matmul_transposed(row, column, false, false);
    tg_shape result = tg_shape_of(both);
    if (shape_b.rank == 1)
        result.rank--;
    if (shape_a.rank == 1 && result.rank > 0) {
        result.dim[result.rank - 2 + (shape_b.rank == 1)] = result.dim[result.rank - 1];
        result.rank--;
    }
    return tg_reshape(both, result);
}

tg_tensor tg_dot(tg_tensor a, tg_tensor b)
{
    tg_tensor column = tg_reshape(b, TG_SHAPE(1, tg_size(b))), row = tg_reshape(a, TG_SHAPE(1, tg_size(a)));
    return tg_reshape(tg_matmul_transposed(row, column, false, true), TG_SCALAR);
}

tg_tensor tg_outer(tg_tensor a, tg_tensor b)
{
    tg_tensor row = tg_reshape(b, TG_SHAPE(1, tg_size(b)));
    return tg_mul(tg_reshape(a, TG_SHAPE(tg_size(a), 1)), row);
}

/* ---- linear: x W^T + b ---- */

static bool linear_shape(tg_value *out)
{
    if (!tg_same_floating_type(out))
        return false;
    if (out->input_count < 2 || out->input_count > 3)
        return tg_expected(out, "expected x, a weight and perhaps a bias");
    const tg_shape *x = out->inputs[0]->shape, *weight = out->inputs[1]->shape;
    if (x->rank < 1 || weight->rank != 2 || x->dim[x->rank - 1] != weight->dim[1])
        return tg_expected(out, "expected x [..., in] and a weight [out, in]");
    if (out->input_count == 3 && !tg_shape_equal(out->inputs[2]->shape, &TG_SHAPE(weight->dim[0])))
        return tg_expected(out, "expected a bias [%lld], one for each row of the weight", (long long)weight->dim[0]);
    *out->shape = *x;
    out->shape->dim[x->rank - 1] = weight->dim[0];
    return true;
}

static void linear_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_value *weight = out->inputs[1];
    const tg_product p = {.transpose_b = true,
                          .n = weight->shape->dim[0],
                          .k = weight->shape->dim[1],
                          .m = out->size / (weight->shape->dim[0] > 0 ? weight->shape->dim[0] : 1)};
    tg_multiply(out->dtype, &p, call->in[0], call->in[1], out->input_count == 3 ? call->in[2] : NULL, call->out);
}

/* g W for x, g^T x for W, the column sums of g for b; all leading axes are rows. */
static void linear_derivative(const tg_derive *d)
{
    const tg_tensor g = d->cotangent;
    if (d->wanted[1]) {
        tg_tensor x = rows_of(d->in[0]);
        d->gradient[1] = tg_matmul_transposed(rows_of(g), x, true, false);
    }
    if (d->count == 3 && d->wanted[2])
        d->gradient[2] = tg_sum_over(rows_of(g), TG_AXES(0), false);
    if (d->wanted[0]) /* the last, as it may overwrite x */
        d->gradient[0] = tg_matmul(g, d->in[1]);
}

/* Few rows again and again, as in a recurrent layer: to add each product to the weight's gradient would move that
 * through the caches each time. What a checkpoint releases would have to stay. */
static bool linear_joins(const tg_value *out)
{
    const int64_t n = out->inputs[1]->shape->dim[0], k = out->inputs[1]->shape->dim[1];
    return !out->region && out->size > 0 && 2 * (out->size / n) * (n + k) < n * k;
}

/* One product of all rows, the latest first: as if the products were added to the gradient one after the other. */
static tg_tensor linear_joint(const tg_joint *j)
{
    tg_tensor *g = j->room, *x = j->room + j->count;
    for (int i = 0; i < j->count; i++) {
        const tg_joint_use *use = &j->uses[j->count - 1 - i];
        g[i] = rows_of(use->cotangent);
        x[i] = rows_of(tg_tensor_of(tg_value_of(use->out)->inputs[0]));
    }
    if (j->count == 1)
        return tg_matmul_transposed(g[0], x[0], true, false);
    const tg_tensor all = tg_concat(g, j->count, 0);
    return tg_matmul_transposed(all, tg_concat(x, j->count, 0), true, false);
}

/* The sums start from the bias. */
static double linear_work(const tg_value *out)
{
    return 2 * (double)out->inputs[1]->shape->dim[1] * (double)out->size;
}

TG_USUAL_OPERATION(linear, TG_VARIADIC, .work = linear_work, .joint = linear_joint, .joint_inputs = 2,
                   .joins = linear_joins);

tg_tensor tg_linear(tg_tensor x, tg_tensor weight, tg_tensor bias)
{
    return tg_apply(&tg_op_linear, NULL, bias.value ? 3 : 2, (tg_tensor[]){x, weight, bias});
}

/* ---- grouped_linear: x W^T + b in groups ---- */

static int64_t groups_of(const tg_value *out)
{
    return ((const grouped_linear_attributes *)out->attributes)->groups;
}

static bool grouped_linear_shape(tg_value *out)
{
    if (!tg_same_floating_type(out))
        return false;
    if (out->input_count < 2 || out->input_count > 3)
        return tg_expected(out, "expected x, a weight and perhaps a bias");
    char text[128];
    const int64_t groups = groups_of(out);
    const tg_shape *x = out->inputs[0]->shape, *weight = out->inputs[1]->shape;
    if (x->rank < 1 || weight->rank != 2)
        return tg_expected(out, "expected x [..., groups in] and a weight [groups out, in]");
    const int64_t inputs = x->dim[x->rank - 1];
    if (groups < 1 || inputs % groups != 0 || weight->dim[0] % groups != 0)
        return tg_expected(out, "%lld inputs and %lld outputs do not divide into %lld equal groups", (long long)inputs,
                           (long long)weight->dim[0], (long long)groups);
    if (weight->dim[1] != inputs / groups)
        return tg_expected(out, "expected a weight for %lld inputs, not %s", (long long)(inputs / groups),
                           tg_shape_text(weight, text, sizeof text));
    if (out->input_count == 3 && !tg_shape_equal(out->inputs[2]->shape, &TG_SHAPE(weight->dim[0])))
        return tg_expected(out, "expected a bias [%lld], one for each row of the weight", (long long)weight->dim[0]);
    *out->shape = *x;
    out->shape->dim[x->rank - 1] = weight->dim[0];
    return true;
}

static void grouped_linear_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_shape *weight = out->inputs[1]->shape;
    const int64_t groups = groups_of(out), element = (int64_t)tg_dtype_size(out->dtype);
    if (out->size == 0)
        return;
    const tg_product p = {.transpose_b = true,
                          .m = out->size / weight->dim[0],
                          .n = weight->dim[0] / groups,
                          .k = weight->dim[1],
                          .a_row = groups * weight->dim[1],
                          .out_row = weight->dim[0]};
    const char *x = call->in[0], *w = call->in[1], *bias = out->input_count == 3 ? call->in[2] : NULL;
    for (int64_t g = 0; g < groups; g++)
        tg_multiply(out->dtype, &p, x + g * p.k * element, w + g * p.n * p.k * element,
                    bias ? bias + g * p.n * element : NULL, (char *)call->out + g * p.n * element);
}

/* [..., groups each] as [groups, rows, each], and back. */
static tg_tensor to_groups(tg_tensor x, int64_t groups)
{
    const tg_tensor rows = rows_of(x);
    return tg_permute(tg_reshape(rows, TG_SHAPE(tg_dim(rows, 0), groups, tg_dim(x, -1) / groups)), TG_AXES(1, 0, 2));
}

static tg_tensor from_groups(tg_tensor x, tg_tensor like)
{
    return tg_reshape(tg_permute(x, TG_AXES(1, 0, 2)), tg_shape_of(like));
}

static void grouped_linear_derivative(const tg_derive *d)
{
    const int64_t groups = ((const grouped_linear_attributes *)d->attributes)->groups;
    const tg_tensor weight = d->in[1], g = d->cotangent, each = to_groups(g, groups);
    const int64_t outputs = tg_dim(weight, 0), inputs = tg_dim(weight, 1);
    if (d->wanted[0])
        d->gradient[0] =
            from_groups(tg_matmul(each, tg_reshape(weight, TG_SHAPE(groups, outputs / groups, inputs))), d->in[0]);
    if (d->wanted[1])
        d->gradient[1] =
            tg_reshape(tg_matmul_transposed(each, to_groups(d->in[0], groups), true, false), TG_SHAPE(outputs, inputs));
    if (d->count == 3 && d->wanted[2])
        d->gradient[2] = tg_sum_over(rows_of(g), TG_AXES(0), false);
}

TG_USUAL_OPERATION(grouped_linear, TG_VARIADIC, TG_ATTRIBUTES(grouped_linear_attributes, grouped_linear_fields),
                   .work = linear_work);

tg_tensor tg_grouped_linear(tg_tensor x, tg_tensor weight, tg_tensor bias, int64_t groups)
{
    return tg_apply(&tg_op_grouped_linear, &(grouped_linear_attributes){groups}, bias.value ? 3 : 2,
                    (tg_tensor[]){x, weight, bias});
}
