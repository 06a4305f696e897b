/* Axes in another order, tensors joined, tiled and cut to triangles. */
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/tape/strided.h"

#include <string.h>

typedef struct permute_attributes {
    tg_shape order; /* a list: axis i of the result is axis order.dim[i] of the input */
} permute_attributes;

typedef struct concat_attributes {
    int axis;  /* of the result */
    int stack; /* 0 or 1 */
} concat_attributes;

typedef struct triangle_attributes {
    int diagonal; /* 0 the main one, 1 the next one above it */
} triangle_attributes;

static const tg_field permute_fields[] = {TG_FIELD(permute_attributes, order, TG_FIELD_SHAPE), {0}};
static const tg_field concat_fields[] = {
    TG_FIELD(concat_attributes, axis, TG_FIELD_INT), TG_FIELD(concat_attributes, stack, TG_FIELD_BOOL), {0}};
static const tg_field triangle_fields[] = {TG_FIELD(triangle_attributes, diagonal, TG_FIELD_INT), {0}};
#include "autograd/ops/samples/shape.h"

/* ---- permute ---- */

/* The shape with its axes in this order; false if the order does not have each of them once. */
static bool in_order(const tg_shape *in, const tg_shape *order, tg_shape *result)
{
    unsigned seen = 0;
    *result = (tg_shape){.rank = in->rank};
    for (int i = 0; i < in->rank && order->rank == in->rank; i++)
        if (order->dim[i] >= 0 && order->dim[i] < in->rank) {
            seen |= 1u << order->dim[i];
            result->dim[i] = in->dim[order->dim[i]];
        }
    return order->rank == in->rank && seen == (1u << in->rank) - 1;
}

static bool permute_shape(tg_value *out)
{
    const tg_shape *order = &((const permute_attributes *)out->attributes)->order, *in = out->inputs[0]->shape;
    char list[128];
    return in_order(in, order, out->shape) || tg_expected(out, "expected each of the %d axes once, not %s", in->rank,
                                                          tg_shape_text(order, list, sizeof list));
}

static void permute_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_shape *order = &((const permute_attributes *)out->attributes)->order;
    int64_t in[TG_MAX_RANK], stride[2][TG_MAX_RANK];
    tg_strides(out->inputs[0]->shape, in);
    tg_strides(out->shape, stride[1]);
    for (int axis = 0; axis < out->shape->rank; axis++)
        stride[0][axis] = in[order->dim[axis]];
    tg_strided_copy(out->dtype, out->shape, stride, call->in[0], call->out);
}

static void permute_derivative(const tg_derive *d)
{
    const tg_shape *order = &((const permute_attributes *)d->attributes)->order;
    tg_axes back = {.count = order->rank};
    for (int axis = 0; axis < order->rank; axis++)
        back.axis[order->dim[axis]] = axis;
    d->gradient[0] = tg_permute(d->cotangent, back);
}

TG_USUAL_OPERATION(permute, 1, TG_ATTRIBUTES(permute_attributes, permute_fields));

/* True if only axes of size 1 move, so that the memory does not change. */
static bool moves_nothing(const tg_shape *result, const tg_shape *order)
{
    int64_t last = -1;
    for (int i = 0; i < order->rank; i++)
        if (result->dim[i] != 1) {
            if (order->dim[i] < last)
                return false;
            last = order->dim[i];
        }
    return true;
}

tg_tensor tg_permute(tg_tensor x, tg_axes order)
{
    permute_attributes attributes = {{.rank = order.count}};
    const tg_shape in = tg_shape_of(x);
    tg_shape result;
    for (int i = 0; i < order.count && i < TG_MAX_RANK; i++)
        attributes.order.dim[i] = order.axis[i] < 0 ? order.axis[i] + in.rank : order.axis[i];
    if (in_order(&in, &attributes.order, &result) && moves_nothing(&result, &attributes.order))
        return tg_reshape(x, result);
    return TG_APPLY(&tg_op_permute, &attributes, x);
}

tg_tensor tg_transpose(tg_tensor x, int axis, int other)
{
    const int rank = tg_rank(x), a = axis < 0 ? axis + rank : axis, b = other < 0 ? other + rank : other;
    if (a < 0 || b < 0 || a >= rank || b >= rank)
        return tg_permute(x, (tg_axes){.count = 2, .axis = {axis, other}}); /* that function reports the error */
    tg_axes order = {.count = rank};
    for (int i = 0; i < rank; i++)
        order.axis[i] = i == a ? b : i == b ? a : i;
    return tg_permute(x, order);
}

/* ---- concat, and stack, which joins along a new axis ---- */

/* The shapes of the inputs must agree, except along the axis on which they are joined. */
static bool fits_the_first(tg_value *out, int input, int but_axis)
{
    const tg_shape *first = out->inputs[0]->shape, *shape = out->inputs[input]->shape;
    char is[128], should_be[128];
    bool fits = shape->rank == first->rank;
    for (int axis = 0; fits && axis < first->rank; axis++)
        fits = axis == but_axis || shape->dim[axis] == first->dim[axis];
    if (!fits)
        return tg_expected(out, "input %d is %s, which does not fit %s%s", input, tg_shape_text(shape, is, sizeof is),
                           tg_shape_text(first, should_be, sizeof should_be),
                           but_axis < 0 ? "" : " but for the axis along which they are joined");
    return out->inputs[input]->dtype == out->dtype ||
           tg_expected(out, "input %d is of another type than the first", input);
}

static bool concat_shape(tg_value *out)
{
    const concat_attributes *a = out->attributes;
    const tg_shape *first = out->inputs[0]->shape;
    if (!a->stack && first->rank == 0)
        return tg_expected(out, "scalars have no axis to be joined along; tg_stack makes one");
    if (a->axis < 0 || a->axis >= first->rank + a->stack)
        return tg_expected(out, "there is no axis %d in the result", a->axis);
    int64_t total = 0;
    for (int i = 0; i < out->input_count; i++) {
        if (!fits_the_first(out, i, a->stack ? -1 : a->axis))
            return false;
        const int64_t more = a->stack ? 1 : out->inputs[i]->shape->dim[a->axis];
        if (more > INT64_MAX - total)
            return tg_expected(out, "the result would be too large");
        total += more;
    }
    if (a->stack && first->rank == TG_MAX_RANK)
        return tg_expected(out, "the result would be of a rank over %d", TG_MAX_RANK);
    *out->shape = *first;
    if (a->stack) {
        out->shape->rank++;
        for (int axis = first->rank; axis > a->axis; axis--)
            out->shape->dim[axis] = first->dim[axis - 1];
    }
    out->shape->dim[a->axis] = total;
    return true;
}

/* Each input is [outer, what it fills of a row], the result [outer, row]. */
static void concat_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    if (out->size == 0)
        return;
    const concat_attributes *a = out->attributes;
    const tg_blocks blocks = tg_blocks_of(out->shape, a->axis, 1);
    char *to = call->out;
    for (int i = 0; i < out->input_count; i++) {
        const tg_value *in = out->inputs[i];
        const int64_t row = in->size / blocks.outer;
        const tg_shape rows = TG_SHAPE(blocks.outer, row);
        int64_t stride[2][TG_MAX_RANK] = {{row, 1}, {blocks.n * blocks.inner, 1}};
        tg_strided_copy(out->dtype, &rows, stride, call->in[i], to);
        to += row * (int64_t)tg_dtype_size(out->dtype);
    }
}

static void concat_derivative(const tg_derive *d)
{
    const concat_attributes *a = d->attributes;
    int64_t start = 0;
    for (int i = 0; i < d->count; i++) {
        const int64_t stop = start + (a->stack ? 1 : tg_dim(d->in[i], a->axis));
        if (d->wanted[i]) {
            d->gradient[i] = tg_slice(d->cotangent, a->axis, start, stop, 1);
            if (a->stack)
                d->gradient[i] = tg_reshape(d->gradient[i], tg_shape_of(d->in[i]));
        }
        start = stop;
    }
}

TG_USUAL_OPERATION(concat, TG_VARIADIC, TG_ATTRIBUTES(concat_attributes, concat_fields));

static tg_tensor join(const tg_tensor *tensors, int count, int axis, bool stack)
{
    if (!tensors || count < 1)
        return TG_NONE;
    const int rank = tg_rank(tensors[0]) + stack;
    return tg_apply(&tg_op_concat, &(concat_attributes){axis < 0 ? axis + rank : axis, stack}, count, tensors);
}

tg_tensor tg_concat(const tg_tensor *tensors, int count, int axis)
{
    return join(tensors, count, axis, false);
}

tg_tensor tg_stack(const tg_tensor *tensors, int count, int axis)
{
    return join(tensors, count, axis, true);
}

/* ---- repetition: a new axis, expanded and merged with its neighbour ---- */

/* Multiplies one dimension; false, and nothing done, if the number of times is negative or the product too large. */
static bool multiply(int64_t *dim, int64_t times)
{
    const bool fits = times >= 0 && (*dim == 0 || times <= INT64_MAX / *dim);
    *dim *= fits ? times : 1;
    return fits;
}

tg_tensor tg_repeat(tg_tensor x, int axis, int64_t times)
{
    axis = tg_find_axis("repeat", x, axis);
    if (axis < 0)
        return TG_NONE;
    tg_shape result = tg_shape_of(x);
    const tg_blocks b = tg_blocks_of(&result, axis, 1);
    if (!multiply(&result.dim[axis], times) || tg_shape_size(&result) < 0)
        return tg_refuse("repeat", x, "%lld times is less than 0 or too much", (long long)times);
    return tg_reshape(
        tg_expand(tg_reshape(x, TG_SHAPE(b.outer, b.n, 1, b.inner)), TG_SHAPE(b.outer, b.n, times, b.inner)), result);
}

tg_tensor tg_tile(tg_tensor x, tg_shape times)
{
    tg_shape shape = tg_shape_of(x);
    char text[128];
    while (shape.rank < times.rank && shape.rank < TG_MAX_RANK) { /* new axes come first */
        for (int axis = shape.rank++; axis > 0; axis--)
            shape.dim[axis] = shape.dim[axis - 1];
        shape.dim[0] = 1;
    }
    tg_shape result = shape;
    bool fits = times.rank >= 0 && times.rank <= TG_MAX_RANK;
    for (int i = 0; fits && i < times.rank; i++)
        fits = multiply(&result.dim[shape.rank - times.rank + i], times.dim[i]);
    if (!fits || tg_shape_size(&result) < 0)
        return tg_refuse("tile", x, "%s times is less than 0, too much, or for more than %d axes",
                         tg_shape_text(&times, text, sizeof text), TG_MAX_RANK);
    for (int empties = 1; empties >= 0; empties--) /* at first, so that nothing is repeated for an empty result */
        for (int i = 0; i < times.rank; i++) {
            const int axis = shape.rank - times.rank + i;
            const tg_blocks b = tg_blocks_of(&shape, axis, shape.rank - axis);
            if (times.dim[i] == 1 || (times.dim[i] == 0) != empties)
                continue;
            x = tg_expand(tg_reshape(x, TG_SHAPE(b.outer, 1, b.n)), TG_SHAPE(b.outer, times.dim[i], b.n));
            shape.dim[axis] = result.dim[axis];
        }
    return tg_reshape(x, shape);
}

/* ---- tril and triu: what lies on and below a diagonal, or on and above; the rest is 0 ---- */

static bool triangle_shape(tg_value *out)
{
    return tg_shape_same(out) && (out->shape->rank >= 2 || tg_expected(out, "expected matrices in the last two axes"));
}

static void triangle_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    if (out->size == 0)
        return;
    const bool upper = out->op == &tg_op_triu;
    const int64_t diagonal = ((const triangle_attributes *)out->attributes)->diagonal;
    const int64_t columns = out->shape->dim[out->shape->rank - 1], rows = out->shape->dim[out->shape->rank - 2];
    const size_t element = tg_dtype_size(out->dtype);
    const char *from = call->in[0];
    char *to = call->out;
    memset(to, 0, (size_t)out->size * element);
    for (int64_t row = 0; row < out->size / columns; row++) {
        int64_t first = 0, end = row % rows + diagonal + 1; /* of tril */
        if (upper) {
            first = end - 1;
            end = columns;
        }
        first = first < 0 ? 0 : first;
        end = end > columns ? columns : end;
        if (first < end)
            memcpy(to + (size_t)(row * columns + first) * element, from + (size_t)(row * columns + first) * element,
                   (size_t)(end - first) * element);
    }
}

#define TRIANGLE(part)                                                                                    \
    static void part##_derivative(const tg_derive *d)                                                     \
    {                                                                                                     \
        d->gradient[0] = tg_##part(d->cotangent, ((const triangle_attributes *)d->attributes)->diagonal); \
    }                                                                                                     \
    TG_OPERATION(part, 1, 0, triangle_samples, TG_ATTRIBUTES(triangle_attributes, triangle_fields),       \
                 .shape = triangle_shape, .forward = triangle_forward, .derivative = part##_derivative);  \
    tg_tensor tg_##part(tg_tensor x, int diagonal)                                                        \
    {                                                                                                     \
        return TG_APPLY(&tg_op_##part, &(triangle_attributes){diagonal}, x);                              \
    }

TRIANGLE(tril)
TRIANGLE(triu)
