/* Elements picked by integer tensors. gather and scatter_add, index_select and index_add are each other's derivatives.
 */
#include "autograd/kernels/parallel.h"
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/tape/strided.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

/* An axis, and its size in the result of scatter_add and index_add. */
typedef struct index_attributes {
    int axis;
    int size;
} index_attributes;

typedef struct one_hot_attributes {
    int classes;
    int dtype;
} one_hot_attributes;

static const tg_field index_fields[] = {
    TG_FIELD(index_attributes, axis, TG_FIELD_INT), TG_FIELD(index_attributes, size, TG_FIELD_INT), {0}};
static const tg_field one_hot_fields[] = {
    TG_FIELD(one_hot_attributes, classes, TG_FIELD_INT), TG_FIELD(one_hot_attributes, dtype, TG_FIELD_INT), {0}};
#include "autograd/ops/samples/index.h"

/* ---- what they share ---- */

/* The first index that is not in [0, bound), or `count`. */
static int64_t first_outside(const int32_t *i, int64_t count, int64_t bound)
{
    enum { SOME = 128 };
    int64_t element = 0;
    for (; element + SOME <= count; element += SOME) { /* without branches, in vectors */
        uint32_t outside = 0;
        for (int k = 0; k < SOME; k++)
            outside |= i[element + k] < 0 || i[element + k] >= bound;
        if (outside)
            break;
    }
    while (element < count && i[element] >= 0 && i[element] < bound)
        element++;
    return element;
}

/* True if all indices are in [0, bound); otherwise refuses, naming the first that is not. */
static bool indices_fit(const tg_call *call, int input, int64_t bound)
{
    const tg_value *out = call->value, *index = out->inputs[input];
    const int32_t *i = call->in[input];
    const int64_t element = first_outside(i, index->size, bound);
    if (element == index->size)
        return true;
    char position[128];
    return tg_expected(out, "index %d at %s is out of range: expected 0 to below %lld", (int)i[element],
                       tg_position_text(index->shape, element, position, sizeof position), (long long)bound);
}

static bool takes_an_index(tg_value *out)
{
    const index_attributes *a = out->attributes;
    if (out->inputs[1]->dtype != TG_I32)
        return tg_expected(out, "expected an index of type i32");
    if (a->size < 0)
        return tg_expected(out, "expected a size from 0 to %d", INT_MAX);
    return true;
}

/* ---- gather: out[o, j, i] = x[o, index[o, j, i], i] ---- */

/* The index has the shape of x except along the axis. */
static bool index_lies_along(tg_value *out, int axis)
{
    const tg_shape *x = out->inputs[0]->shape, *index = out->inputs[1]->shape;
    bool fits = x->rank == index->rank && axis >= 0 && axis < x->rank;
    for (int i = 0; fits && i < x->rank; i++)
        fits = i == axis || x->dim[i] == index->dim[i];
    return fits || tg_expected(out, "expected an index of the shape of the first input but for axis %d", axis);
}

static bool gather_shape(tg_value *out)
{
    const index_attributes *a = out->attributes;
    *out->shape = *out->inputs[1]->shape;
    return takes_an_index(out) && index_lies_along(out, a->axis);
}

static void gather_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const int axis = ((const index_attributes *)out->attributes)->axis;
    const int64_t n = out->inputs[0]->shape->dim[axis];
    const tg_blocks b = tg_blocks_of(out->shape, axis, 1);
    if (!indices_fit(call, 1, n) || out->size == 0) /* which may have many outer indices */
        return;
    const int32_t *index = call->in[1];
    const char *from = call->in[0];
    char *to = call->out;
    TG_FOR_ELEMENT_SIZE(tg_dtype_size(out->dtype), {
        for (int64_t o = 0; o < b.outer; o++, from += n * b.inner * BYTES)
            for (int64_t j = 0; j < b.n; j++)
                for (int64_t i = 0; i < b.inner; i++, to += BYTES)
                    memcpy(to, from + (*index++ * b.inner + i) * BYTES, BYTES);
    })
}

static void gather_derivative(const tg_derive *d)
{
    const int axis = ((const index_attributes *)d->attributes)->axis;
    d->gradient[0] = tg_scatter_add(d->cotangent, axis, d->in[1], tg_dim(d->in[0], axis));
}

TG_USUAL_OPERATION(gather, 2, TG_ATTRIBUTES(index_attributes, index_fields));

tg_tensor tg_gather(tg_tensor x, int axis, tg_tensor index)
{
    axis = tg_find_axis("gather", x, axis);
    return axis < 0 ? TG_NONE : TG_APPLY(&tg_op_gather, (&(index_attributes){axis, 0}), x, index);
}

/* ---- scatter_add: out[o, index[o, j, i], i] += x[o, j, i], from zeros ---- */

static bool scatter_add_shape(tg_value *out)
{
    const index_attributes *a = out->attributes;
    if (!tg_is_floating(out) || !takes_an_index(out) || !index_lies_along(out, a->axis))
        return false;
    *out->shape = *out->inputs[0]->shape;
    if (!tg_shape_equal(out->shape, out->inputs[1]->shape))
        return tg_expected(out, "expected an index for each element");
    out->shape->dim[a->axis] = a->size;
    return true;
}

typedef struct scattering {
    const tg_call *call;
    tg_blocks blocks;
    size_t size, element;
    atomic_bool outside; /* an index is */
} scattering;

/* A tg_parallel_part: some of the outer indices, each of which is looked at and added up while it is in the cache. */
static void scatter_some(void *context, size_t first, size_t count)
{
    scattering *s = context;
    const tg_call *call = s->call;
    const size_t n = (size_t)s->blocks.n, inner = (size_t)s->blocks.inner;
    for (size_t o = first; o < first + count; o++) {
        const int32_t *index = (const int32_t *)call->in[1] + o * n * inner;
        if (first_outside(index, (int64_t)(n * inner), (int64_t)s->size) < (int64_t)(n * inner)) {
            s->outside = true;
            return;
        }
        char *to = (char *)call->out + o * s->size * inner * s->element;
        memset(to, 0, s->size * inner * s->element);
        TG_KERNEL_CALL(call->value->dtype, scatter_add, 1, n, inner, s->size, index,
                       (const char *)call->in[0] + o * n * inner * s->element, to);
    }
}

static void scatter_add_forward(const tg_call *call)
{
    enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */
    const tg_value *out = call->value;
    const int axis = ((const index_attributes *)out->attributes)->axis;
    const int64_t size = out->shape->dim[axis];
    const tg_blocks b = tg_blocks_of(out->inputs[0]->shape, axis, 1);
    scattering s = {call, b, (size_t)size, tg_dtype_size(out->dtype), false};
    if (out->size > 0)
        tg_parallel((size_t)b.outer, WORTH_SHARING / ((size_t)(size * b.inner) + 1) + 1, 1, scatter_some, &s);
    if (s.outside || out->size == 0)
        indices_fit(call, 1, size);
}

TG_GRADIENT(scatter_add, tg_gather(d->cotangent, ((const index_attributes *)d->attributes)->axis, d->in[1]))

TG_USUAL_OPERATION(scatter_add, 2, TG_ATTRIBUTES(index_attributes, index_fields));

/* The size as an attribute has it; -1, which every shape rule refuses, if it is negative or too large. */
static int places(int64_t size)
{
    return size >= 0 && size <= INT_MAX ? (int)size : -1;
}

tg_tensor tg_scatter_add(tg_tensor x, int axis, tg_tensor index, int64_t size)
{
    axis = tg_find_axis("scatter_add", x, axis);
    return axis < 0 ? TG_NONE : TG_APPLY(&tg_op_scatter_add, (&(index_attributes){axis, places(size)}), x, index);
}

/* ---- index_select: x[outer, index[...], inner] ---- */

static bool index_select_shape(tg_value *out)
{
    const int axis = ((const index_attributes *)out->attributes)->axis;
    const tg_shape *x = out->inputs[0]->shape, *index = out->inputs[1]->shape;
    if (!takes_an_index(out))
        return false;
    if (axis < 0 || axis >= x->rank)
        return tg_expected(out, "there is no axis %d", axis);
    if (x->rank - 1 + index->rank > TG_MAX_RANK)
        return tg_expected(out, "the result would be of a rank over %d", TG_MAX_RANK);
    out->shape->rank = 0;
    for (int i = 0; i < axis; i++)
        out->shape->dim[out->shape->rank++] = x->dim[i];
    for (int i = 0; i < index->rank; i++)
        out->shape->dim[out->shape->rank++] = index->dim[i];
    for (int i = axis + 1; i < x->rank; i++)
        out->shape->dim[out->shape->rank++] = x->dim[i];
    return true;
}

static void index_select_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_value *in = out->inputs[0], *index = out->inputs[1];
    const tg_blocks b = tg_blocks_of(in->shape, ((const index_attributes *)out->attributes)->axis, 1);
    if (!indices_fit(call, 1, b.n) || out->size == 0)
        return;
    const int32_t *row = call->in[1];
    const size_t bytes = (size_t)b.inner * tg_dtype_size(out->dtype);
    const char *from = call->in[0];
    char *to = call->out;
    for (int64_t o = 0; o < b.outer; o++, from += (size_t)b.n * bytes)
        for (int64_t j = 0; j < index->size; j++, to += bytes)
            memcpy(to, from + (size_t)row[j] * bytes, bytes);
}

static void index_select_derivative(const tg_derive *d)
{
    const int axis = ((const index_attributes *)d->attributes)->axis;
    d->gradient[0] = tg_index_add(d->cotangent, axis, d->in[1], tg_dim(d->in[0], axis));
}

TG_USUAL_OPERATION(index_select, 2, TG_ATTRIBUTES(index_attributes, index_fields));

tg_tensor tg_index_select(tg_tensor x, int axis, tg_tensor index)
{
    axis = tg_find_axis("index_select", x, axis);
    return axis < 0 ? TG_NONE : TG_APPLY(&tg_op_index_select, (&(index_attributes){axis, 0}), x, index);
}

tg_tensor tg_embedding(tg_tensor table, tg_tensor index)
{
    return tg_index_select(table, 0, index);
}

/* ---- index_add: zeros [outer, size, inner], to which x[outer, index's axes, inner] is added ---- */

static bool index_add_shape(tg_value *out)
{
    const index_attributes *a = out->attributes;
    const tg_shape *x = out->inputs[0]->shape, *index = out->inputs[1]->shape;
    if (!tg_is_floating(out) || !takes_an_index(out))
        return false;
    bool fits = a->axis >= 0 && a->axis <= x->rank - index->rank;
    for (int i = 0; fits && i < index->rank; i++)
        fits = x->dim[a->axis + i] == index->dim[i];
    if (!fits)
        return tg_expected(out, "expected the axes of the index in the first input, from axis %d on", a->axis);
    if (x->rank - index->rank + 1 > TG_MAX_RANK)
        return tg_expected(out, "the result would be of a rank over %d", TG_MAX_RANK);
    out->shape->rank = 0;
    for (int i = 0; i < a->axis; i++)
        out->shape->dim[out->shape->rank++] = x->dim[i];
    out->shape->dim[out->shape->rank++] = a->size;
    for (int i = a->axis + index->rank; i < x->rank; i++)
        out->shape->dim[out->shape->rank++] = x->dim[i];
    return true;
}

static void index_add_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_value *index = out->inputs[1];
    const tg_blocks b = tg_blocks_of(out->shape, ((const index_attributes *)out->attributes)->axis, 1);
    if (!indices_fit(call, 1, b.n))
        return;
    memset(call->out, 0, (size_t)out->size * tg_dtype_size(out->dtype));
    if (out->size == 0)
        return;
    const int32_t *row = call->in[1];
    const size_t bytes = (size_t)b.inner * tg_dtype_size(out->dtype);
    const char *from = call->in[0];
    char *to = call->out;
    for (int64_t o = 0; o < b.outer; o++, to += (size_t)b.n * bytes)
        for (int64_t j = 0; j < index->size; j++, from += bytes)
            TG_KERNEL_CALL(out->dtype, accumulate, (size_t)b.inner, from, (to + (size_t)row[j] * bytes));
}

TG_GRADIENT(index_add, tg_index_select(d->cotangent, ((const index_attributes *)d->attributes)->axis, d->in[1]))

TG_USUAL_OPERATION(index_add, 2, TG_ATTRIBUTES(index_attributes, index_fields));

tg_tensor tg_index_add(tg_tensor x, int axis, tg_tensor index, int64_t size)
{
    if (axis < 0)
        axis += tg_rank(x);
    return TG_APPLY(&tg_op_index_add, (&(index_attributes){axis, places(size)}), x, index);
}

/* ---- one_hot ---- */

static bool one_hot_shape(tg_value *out)
{
    const one_hot_attributes *a = out->attributes;
    const tg_shape *index = out->inputs[0]->shape;
    if (out->inputs[0]->dtype != TG_I32)
        return tg_expected(out, "expected an index of type i32");
    if (a->classes < 0 || index->rank == TG_MAX_RANK)
        return tg_expected(out, "expected 0 to %d classes and a rank below %d", INT32_MAX, TG_MAX_RANK);
    out->dtype = (tg_dtype)a->dtype;
    *out->shape = *index;
    out->shape->dim[out->shape->rank++] = a->classes;
    return true;
}

static void one_hot_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_value *index = out->inputs[0];
    const int64_t classes = ((const one_hot_attributes *)out->attributes)->classes;
    if (!indices_fit(call, 0, classes))
        return;
    const size_t element = tg_dtype_size(out->dtype);
    memset(call->out, 0, (size_t)out->size * element);
    for (int64_t i = 0; i < index->size; i++)
        tg_fill(out->dtype, 1, 1,
                (char *)call->out + (size_t)(i * classes + ((const int32_t *)call->in[0])[i]) * element);
}

TG_OPERATION(one_hot, 1, TG_CONSTANT, one_hot_samples, TG_ATTRIBUTES(one_hot_attributes, one_hot_fields),
             .shape = one_hot_shape, .forward = one_hot_forward);

tg_tensor tg_one_hot(tg_tensor index, int64_t classes, tg_dtype dtype)
{
    return TG_APPLY(&tg_op_one_hot, (&(one_hot_attributes){places(classes), (int)dtype}), index);
}
