/* Shapes that grow and shrink: expand and the sum over axes are each other's derivative; reshape is free. */
#include "autograd/ops.h"
#include "autograd/ops/family.h"

#include <math.h>
#include <string.h>

/* ---- full: a constant tensor ---- */

typedef struct full_attributes {
    int dtype;
    tg_shape shape;
    double value;
} full_attributes;

static const tg_field full_fields[] = {{"dtype", TG_FIELD_INT, offsetof(full_attributes, dtype)},
                                       {"shape", TG_FIELD_SHAPE, offsetof(full_attributes, shape)},
                                       {"value", TG_FIELD_REAL, offsetof(full_attributes, value)},
                                       {0}};

static bool full_shape(tg_value *out)
{
    const full_attributes *a = out->attributes;
    out->dtype = (tg_dtype)a->dtype;
    out->shape = a->shape;
    return true;
}

static void full_forward(const tg_value *out)
{
    const double value = ((const full_attributes *)out->attributes)->value;
    if (out->dtype == TG_I32)
        for (int64_t i = 0; i < out->size; i++)
            ((int32_t *)out->data)[i] = (int32_t)value;
    else if (out->dtype == TG_F32)
        for (int64_t i = 0; i < out->size; i++)
            ((float *)out->data)[i] = (float)value;
    else
        for (int64_t i = 0; i < out->size; i++)
            ((double *)out->data)[i] = value;
}

static const tg_sample full_samples[] = {
    {.attributes = &(full_attributes){.dtype = TG_F64, .shape = {2, {2, 3}}, .value = 0.1}},
    {.attributes = &(full_attributes){.dtype = TG_F64, .shape = {0}, .value = -2}},
    {.attributes = &(full_attributes){.dtype = TG_F64, .shape = {2, {0, 3}}, .value = 1}},
    {.attributes = &(full_attributes){.dtype = TG_F32, .shape = {1, {5}}, .value = 0.1}},
    {.attributes = &(full_attributes){.dtype = TG_I32, .shape = {2, {2, 2}}, .value = -7}},
    {.attributes = &(full_attributes){.dtype = TG_F64, .shape = {1, {3}}, .value = INFINITY}},
    {.attributes = &(full_attributes){.dtype = TG_F32, .shape = {1, {3}}, .value = NAN}},
    {.attributes = &(full_attributes){.dtype = TG_F64, .shape = {3, {1, 7, 1}}, .value = 1e-300}},
};

const tg_op tg_op_full = {.name = "full", .arity = 0, .flags = TG_SOURCE | TG_CONSTANT,
                          .attributes_size = sizeof(full_attributes), .fields = full_fields, .shape = full_shape,
                          .forward = full_forward, TG_SAMPLES(full_samples)};

tg_tensor tg_full(tg_tape *tape, tg_dtype dtype, tg_shape shape, double value)
{
    return tg_apply_on(tape, &tg_op_full, &(full_attributes){dtype, shape, value});
}

/* ---- shape_attributes: a target shape ---- */

typedef struct shape_attributes {
    tg_shape shape;
} shape_attributes;

static const tg_field shape_fields[] = {{"shape", TG_FIELD_SHAPE, offsetof(shape_attributes, shape)}, {0}};

/* ---- expand ---- */

static bool expand_shape(tg_value *out)
{
    const tg_shape *from = &out->inputs[0]->shape, *to = &((const shape_attributes *)out->attributes)->shape;
    tg_shape both;
    char target[128];
    if (out->dtype == TG_I32)
        return tg_expected(out, "expected f32 or f64");
    if (tg_shape_size(to) < 0 || !tg_shape_broadcast(from, to, &both) || !tg_shape_equal(&both, to))
        return tg_expected(out, "the shape does not broadcast to %s", tg_shape_text(to, target, sizeof target));
    out->shape = *to;
    return true;
}

/* Fills out[...] from in[...] axis by axis: `in_stride` is 0 where the input broadcasts. */
static char *expand_axis(const tg_value *out, int axis, const char *from, const int64_t *in_stride, char *to)
{
    const size_t element = tg_dtype_size(out->dtype);
    if (axis == out->shape.rank) {
        memcpy(to, from, element);
        return to + element;
    }
    int64_t dim = out->shape.dim[axis];
    if (axis == out->shape.rank - 1 && in_stride[axis] == 1) {
        memcpy(to, from, (size_t)dim * element);
        return to + (size_t)dim * element;
    }
    char *first = to;
    for (int64_t i = 0; i < dim; i++) {
        if (i > 0 && in_stride[axis] == 0) { /* what was just written, once more */
            size_t bytes = (size_t)(to - first) / (size_t)i;
            memcpy(to, first, bytes);
            to += bytes;
        } else
            to = expand_axis(out, axis + 1, from + i * in_stride[axis] * (int64_t)element, in_stride, to);
    }
    return to;
}

static void expand_forward(const tg_value *out)
{
    if (out->size == 0)
        return;
    const tg_shape *in = &out->inputs[0]->shape;
    int64_t stride[TG_MAX_RANK] = {0}, step = 1;
    for (int back = 1; back <= in->rank; back++) {
        int64_t dim = in->dim[in->rank - back];
        stride[out->shape.rank - back] = dim == 1 && out->shape.dim[out->shape.rank - back] != 1 ? 0 : step;
        step *= dim;
    }
    expand_axis(out, 0, out->inputs[0]->data, stride, out->data);
}

static void expand_derivative(const tg_derive *d)
{
    d->give[0] = tg_sum_to(d->cotangent, tg_shape_of(d->in[0]));
}

static const tg_sample expand_samples[] = {
    {.attributes = &(shape_attributes){{2, {3, 4}}}, .input = {{.shape = {1, {4}}}}},
    {.attributes = &(shape_attributes){{2, {3, 4}}}, .input = {{.shape = {2, {3, 1}}}}},
    {.attributes = &(shape_attributes){{3, {2, 3, 4}}}, .input = {{.shape = {0}}}},
    {.attributes = &(shape_attributes){{4, {2, 3, 2, 2}}}, .input = {{.shape = {3, {3, 1, 2}}}}},
    {.attributes = &(shape_attributes){{2, {0, 4}}}, .input = {{.shape = {2, {1, 4}}}}},
    {.attributes = &(shape_attributes){{1, {5}}}, .input = {{.shape = {1, {5}}}}},
    {.attributes = &(shape_attributes){{3, {2, 1, 3}}}, .input = {{.shape = {2, {1, 1}}}}},
    {.attributes = &(shape_attributes){{2, {2, 9}}}, .input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
};

const tg_op tg_op_expand = {.name = "expand", .arity = 1, .attributes_size = sizeof(shape_attributes),
                            .fields = shape_fields, .shape = expand_shape, .forward = expand_forward,
                            .derivative = expand_derivative, TG_SAMPLES(expand_samples)};

tg_tensor tg_expand(tg_tensor x, tg_shape shape)
{
    return TG_APPLY(&tg_op_expand, &(shape_attributes){shape}, x);
}

/* ---- sum_over ---- */

typedef struct sum_attributes {
    int axes; /* bit i: axis i is summed; ALL_AXES: every one there is */
    bool keep;
} sum_attributes;

enum { ALL_AXES = (1 << TG_MAX_RANK) - 1, NO_SUCH_AXIS = 1 << TG_MAX_RANK };

static const tg_field sum_fields[] = {{"axes", TG_FIELD_INT, offsetof(sum_attributes, axes)},
                                      {"keep", TG_FIELD_BOOL, offsetof(sum_attributes, keep)},
                                      {0}};

static bool sum_over_shape(tg_value *out)
{
    const sum_attributes *a = out->attributes;
    const tg_shape *in = &out->inputs[0]->shape;
    if (out->dtype == TG_I32)
        return tg_expected(out, "expected f32 or f64");
    if (a->axes & NO_SUCH_AXIS)
        return tg_expected(out, "expected axes from %d to %d", -in->rank, in->rank - 1);
    out->shape.rank = 0;
    for (int axis = 0; axis < in->rank; axis++) {
        bool summed = a->axes >> axis & 1;
        if (!summed || a->keep)
            out->shape.dim[out->shape.rank++] = summed ? 1 : in->dim[axis];
    }
    return true;
}

/* Adds a run of `n` elements to one element, or element by element to n of them. */
static void sum_run(tg_dtype dtype, int64_t n, const void *run, bool into_one, void *out)
{
    if (into_one)
        TG_KERNEL_CALL(dtype, sum_into, (size_t)n, run, out);
    else
        TG_KERNEL_CALL(dtype, accumulate, (size_t)n, run, out);
}

static void sum_over_forward(const tg_value *out)
{
    const tg_value *in = out->inputs[0];
    const int axes = ((const sum_attributes *)out->attributes)->axes;
    const size_t element = tg_dtype_size(out->dtype);
    memset(out->data, 0, (size_t)out->size * element);
    if (in->size == 0)
        return;

    /* Axes of the input from the innermost, neighbours of one kind merged, with their stride in the output. */
    int64_t dim[TG_MAX_RANK + 1] = {1}, stride[TG_MAX_RANK + 1] = {0}, step = 1;
    bool summed[TG_MAX_RANK + 1] = {true};
    int rank = 0;
    for (int axis = in->shape.rank - 1; axis >= 0; axis--) {
        bool sums = axes >> axis & 1;
        if (in->shape.dim[axis] == 1)
            continue;
        if (rank > 0 && summed[rank - 1] == sums)
            dim[rank - 1] *= in->shape.dim[axis];
        else {
            dim[rank] = in->shape.dim[axis];
            summed[rank] = sums;
            stride[rank++] = sums ? 0 : step;
        }
        if (!sums)
            step *= in->shape.dim[axis];
    }

    const char *run = in->data;
    int64_t at[TG_MAX_RANK + 1] = {0}, offset = 0;
    for (int64_t runs = in->size / dim[0]; runs > 0; runs--) {
        sum_run(out->dtype, dim[0], run, summed[0], (char *)out->data + offset * (int64_t)element);
        run += (size_t)dim[0] * element;
        for (int axis = 1; axis < rank; axis++) {
            offset += stride[axis];
            if (++at[axis] < dim[axis])
                break;
            offset -= stride[axis] * dim[axis];
            at[axis] = 0;
        }
    }
}

static void sum_over_derivative(const tg_derive *d)
{
    const sum_attributes *a = d->attributes;
    tg_shape in = tg_shape_of(d->in[0]), kept = in;
    for (int axis = 0; axis < in.rank; axis++)
        if (a->axes >> axis & 1)
            kept.dim[axis] = 1;
    tg_tensor g = a->keep ? d->cotangent : tg_reshape(d->cotangent, kept);
    d->give[0] = tg_expand(g, in);
}

static const tg_sample sum_over_samples[] = {
    {.attributes = &(sum_attributes){ALL_AXES, false}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(sum_attributes){1, false}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(sum_attributes){2, true}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(sum_attributes){5, true}, .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = &(sum_attributes){2, false}, .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = &(sum_attributes){ALL_AXES, true}, .input = {{.shape = {0}}}},
    {.attributes = &(sum_attributes){1, false}, .input = {{.shape = {2, {0, 4}}}}},
    {.attributes = &(sum_attributes){2, false}, .input = {{.shape = {2, {3, 0}}}}},
    {.attributes = &(sum_attributes){6, true}, .input = {{.shape = {4, {2, 1, 3, 2}}}}},
    {.attributes = &(sum_attributes){2, false}, .input = {{.shape = {2, {9, 1}}, .value_count = 9, .values = TG_EDGES}}},
};

const tg_op tg_op_sum_over = {.name = "sum_over", .arity = 1, .attributes_size = sizeof(sum_attributes),
                              .fields = sum_fields, .shape = sum_over_shape, .forward = sum_over_forward,
                              .derivative = sum_over_derivative, TG_SAMPLES(sum_over_samples)};

/* The axes as a mask, with NO_SUCH_AXIS for one that a tensor of this rank does not have. */
static int axes_mask(int rank, tg_axes axes)
{
    if (axes.count == 0)
        return ALL_AXES;
    int mask = 0;
    for (int i = 0; i < axes.count && i < TG_MAX_RANK; i++) {
        int axis = axes.axis[i] < 0 ? axes.axis[i] + rank : axes.axis[i];
        mask |= axis >= 0 && axis < rank ? 1 << axis : NO_SUCH_AXIS;
    }
    return mask;
}

tg_tensor tg_sum_over(tg_tensor x, tg_axes axes, bool keep)
{
    return TG_APPLY(&tg_op_sum_over, (&(sum_attributes){axes_mask(tg_rank(x), axes), keep}), x);
}

tg_tensor tg_sum(tg_tensor x)
{
    return tg_sum_over(x, TG_ALL_AXES, false);
}

tg_tensor tg_sum_to(tg_tensor x, tg_shape shape)
{
    tg_shape from = tg_shape_of(x);
    int extra = from.rank - shape.rank, axes = 0;
    for (int axis = 0; axis < from.rank; axis++)
        if (axis < extra || (shape.dim[axis - extra] == 1 && from.dim[axis] != 1))
            axes |= 1 << axis;
    if (extra == 0 && axes == 0)
        return x;
    tg_tensor sum = TG_APPLY(&tg_op_sum_over, (&(sum_attributes){axes, true}), x);
    return extra == 0 ? sum : tg_reshape(sum, shape);
}

/* ---- reshape ---- */

static bool reshape_shape(tg_value *out)
{
    out->shape = ((const shape_attributes *)out->attributes)->shape;
    if (tg_shape_size(&out->shape) == out->inputs[0]->size)
        return true;
    char target[128];
    return tg_expected(out, "%lld elements do not fill %s", (long long)out->inputs[0]->size,
                       tg_shape_text(&out->shape, target, sizeof target));
}

static void reshape_derivative(const tg_derive *d)
{
    d->give[0] = tg_reshape(d->cotangent, tg_shape_of(d->in[0]));
}

static const tg_sample reshape_samples[] = {
    {.attributes = &(shape_attributes){{2, {4, 3}}}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(shape_attributes){{1, {12}}}, .input = {{.shape = {3, {2, 3, 2}}}}},
    {.attributes = &(shape_attributes){{0}}, .input = {{.shape = {2, {1, 1}}}}},
    {.attributes = &(shape_attributes){{3, {1, 1, 1}}}, .input = {{.shape = {0}}}},
    {.attributes = &(shape_attributes){{2, {5, 0}}}, .input = {{.shape = {3, {0, 2, 3}}}}},
    {.attributes = &(shape_attributes){{2, {3, 3}}}, .input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
    {.attributes = &(shape_attributes){{3, {2, 2, 2}}}, .input = {{.shape = {1, {8}}}}},
    {.attributes = &(shape_attributes){{1, {7}}}, .input = {{.shape = {2, {7, 1}}}}},
};

const tg_op tg_op_reshape = {.name = "reshape", .arity = 1, .flags = TG_VIEW,
                             .attributes_size = sizeof(shape_attributes), .fields = shape_fields,
                             .shape = reshape_shape, .derivative = reshape_derivative, TG_SAMPLES(reshape_samples)};

tg_tensor tg_reshape(tg_tensor x, tg_shape shape)
{
    int64_t known = 1, size = tg_size(x);
    int open = -1;
    for (int axis = 0; axis < shape.rank && axis < TG_MAX_RANK; axis++) {
        if (shape.dim[axis] == -1 && open < 0)
            open = axis;
        else
            known *= shape.dim[axis];
    }
    if (open >= 0 && known > 0 && size % known == 0)
        shape.dim[open] = size / known;
    return TG_APPLY(&tg_op_reshape, &(shape_attributes){shape}, x);
}
