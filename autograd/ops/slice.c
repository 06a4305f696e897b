/* Parts of tensors. A slice and the placing of a slice among a fill value are each other's derivative; views, padding,
 * flipping and splitting are made of the two. */
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/tape/program.h"
#include "autograd/tape/strided.h"

#include <stdlib.h>

/* The selected elements: start + i step along each axis, i below size. */
typedef struct slice_attributes {
    tg_shape start, step, size; /* lists, one number for each axis */
} slice_attributes;

typedef struct scatter_slice_attributes {
    tg_shape start, step, shape;
    double fill;
} scatter_slice_attributes;

static const tg_field slice_fields[] = {TG_FIELD(slice_attributes, start, TG_FIELD_SHAPE),
                                        TG_FIELD(slice_attributes, step, TG_FIELD_SHAPE),
                                        TG_FIELD(slice_attributes, size, TG_FIELD_SHAPE),
                                        {0}};
static const tg_field scatter_slice_fields[] = {TG_FIELD(scatter_slice_attributes, start, TG_FIELD_SHAPE),
                                                TG_FIELD(scatter_slice_attributes, step, TG_FIELD_SHAPE),
                                                TG_FIELD(scatter_slice_attributes, shape, TG_FIELD_SHAPE),
                                                TG_FIELD(scatter_slice_attributes, fill, TG_FIELD_REAL),
                                                {0}};
#include "autograd/ops/samples/slice.h"

/* True if the slice lies within a tensor of this shape. */
static bool slice_fits(const tg_value *out, const slice_attributes *a, const tg_shape *whole)
{
    if (a->start.rank != whole->rank || a->step.rank != whole->rank || a->size.rank != whole->rank)
        return tg_expected(out, "expected a start, a step and a size for each of %d axes", whole->rank);
    for (int axis = 0; axis < whole->rank; axis++) {
        const int64_t size = a->size.dim[axis], first = a->start.dim[axis], step = a->step.dim[axis];
        const int64_t room = whole->dim[axis] - 1;
        if (size < 0 || step == 0)
            return tg_expected(out, "expected a step other than 0 and a size of at least 0 along axis %d", axis);
        const bool fits = first >= 0 && first <= room + (size == 0) &&
                          size - 1 <= (step > 0       ? (room - first) / step
                                       : step < -room ? 0
                                                      : first / -step);
        if (!fits)
            return tg_expected(out, "%lld elements from %lld by steps of %lld leave axis %d of size %lld",
                               (long long)size, (long long)first, (long long)step, axis, (long long)room + 1);
    }
    return true;
}

/* The strides of a slice through a tensor of shape `whole`; returns the index of its first element. */
static int64_t slice_strides(const slice_attributes *a, const tg_shape *whole, int64_t *stride)
{
    int64_t offset = 0;
    tg_strides(whole, stride);
    for (int axis = 0; axis < whole->rank; axis++) {
        offset += stride[axis] * a->start.dim[axis];
        stride[axis] *= a->size.dim[axis] > 1 ? a->step.dim[axis] : 1; /* a single element needs no step */
    }
    return offset;
}

/* True if the elements of the slice are contiguous: axes of size 1, then one cut anywhere, then whole ones. */
static bool in_one_piece(const slice_attributes *a, const tg_shape *whole)
{
    int axis = 0;
    while (axis < whole->rank && a->size.dim[axis] == 1)
        axis++;
    if (axis < whole->rank && a->step.dim[axis++] != 1)
        return false;
    while (axis < whole->rank && a->size.dim[axis] == whole->dim[axis] && a->step.dim[axis] == 1)
        axis++;
    return axis == whole->rank;
}

/* ---- slice ---- */

static bool slice_shape(tg_value *out)
{
    const slice_attributes *a = out->attributes;
    *out->shape = a->size;
    return slice_fits(out, a, out->inputs[0]->shape);
}

static void slice_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    if (out->size == 0)
        return;
    const tg_value *in = out->inputs[0];
    int64_t stride[2][TG_MAX_RANK];
    const int64_t offset = slice_strides(out->attributes, in->shape, stride[0]);
    tg_strides(out->shape, stride[1]);
    tg_strided_copy(out->dtype, out->shape, stride,
                    (const char *)call->in[0] + offset * (int64_t)tg_dtype_size(out->dtype), call->out);
}

static void slice_derivative(const tg_derive *d)
{
    const slice_attributes *a = d->attributes;
    d->gradient[0] = tg_scatter_slice(d->cotangent, a->start, a->step, tg_shape_of(d->in[0]), 0);
}

/* ---- the gradient of a tensor that was cut into parts ---- */

/* The axis along which a slice of adjacent elements was cut, the others being whole; -1: it is another slice. */
static int axis_of_cut(const slice_attributes *a, const tg_shape *whole)
{
    int found = 0;
    for (int axis = whole->rank - 1, cuts = 0; axis >= 0; axis--) {
        if (a->size.dim[axis] == whole->dim[axis] && a->step.dim[axis] == 1)
            continue;
        if (cuts++ > 0 || a->step.dim[axis] != 1)
            return -1;
        found = axis;
    }
    return whole->rank > 0 ? found : -1;
}

static const slice_attributes *slice_of_use(const tg_joint_use *use)
{
    return tg_value_of(use->out)->attributes;
}

/* By the axis of the cut, its start and size, and the order in which the slices were recorded. */
static int by_place(const void *one, const void *other)
{
    const tg_joint_use *use[2] = {one, other};
    int64_t key[2][4] = {{0}};
    for (int i = 0; i < 2; i++) {
        const tg_value *out = tg_value_of(use[i]->out);
        const slice_attributes *a = out->attributes;
        const int axis = axis_of_cut(a, out->inputs[0]->shape);
        key[i][0] = axis;
        key[i][1] = axis < 0 ? 0 : a->start.dim[axis];
        key[i][2] = axis < 0 ? 0 : a->size.dim[axis];
        key[i][3] = out->index;
    }
    for (int k = 0; k < 4; k++)
        if (key[0][k] != key[1][k])
            return key[0][k] < key[1][k] ? -1 : 1;
    return 0;
}

/* Adds the cotangents of equal slices, which are next to each other, to the first of them. */
static void add_equal(const tg_joint *j)
{
    const tg_shape whole = tg_shape_of(j->in);
    tg_joint_use *first = j->uses;
    for (int i = 1; i < j->count; i++) {
        tg_joint_use *use = &j->uses[i];
        const slice_attributes *a = slice_of_use(first), *b = slice_of_use(use);
        const int axis = axis_of_cut(a, &whole);
        if (axis >= 0 && axis == axis_of_cut(b, &whole) && a->start.dim[axis] == b->start.dim[axis] &&
            a->size.dim[axis] == b->size.dim[axis]) {
            first->cotangent = tg_add(first->cotangent, use->cotangent);
            use->cotangent = TG_NONE;
        } else
            first = use;
    }
}

static tg_tensor zeros(tg_tensor like, tg_shape shape, int axis, int64_t count)
{
    shape.dim[axis] = count;
    return tg_full(tg_tape_of(like), tg_dtype_of(like), shape, 0);
}

/* Takes the first use that is left and those behind it that do not overlap, and joins their cotangents, with zeros
 * where there is none. */
static tg_tensor join_some(const tg_joint *j, int first)
{
    const tg_shape whole = tg_shape_of(j->in);
    const slice_attributes *a = slice_of_use(&j->uses[first]);
    const int axis = axis_of_cut(a, &whole);
    int64_t end = 0;
    int parts = 0, taken = 0;
    for (int i = first; i < j->count; i++) {
        tg_joint_use *use = &j->uses[i];
        const slice_attributes *b = use->cotangent.value ? slice_of_use(use) : NULL;
        if (i > first && b && axis_of_cut(b, &whole) != axis)
            break;
        if (!b || (axis >= 0 && b->start.dim[axis] < end) || (axis < 0 && i > first))
            continue;
        a = b;
        if (axis >= 0 && b->start.dim[axis] > end)
            j->room[parts++] = zeros(use->cotangent, whole, axis, b->start.dim[axis] - end);
        end = axis >= 0 ? b->start.dim[axis] + b->size.dim[axis] : 0;
        j->room[parts++] = use->cotangent;
        use->cotangent = TG_NONE;
        taken++;
    }
    if (taken == 1)
        return tg_scatter_slice(j->room[parts - 1], a->start, a->step, whole, 0);
    if (end < whole.dim[axis])
        j->room[parts++] = zeros(j->in, whole, axis, whole.dim[axis] - end);
    return tg_concat(j->room, parts, axis);
}

static tg_tensor slice_joint(const tg_joint *j)
{
    tg_tensor sum = TG_NONE;
    qsort(j->uses, (size_t)j->count, sizeof *j->uses, by_place);
    add_equal(j);
    for (int i = 0; i < j->count; i++)
        if (j->uses[i].cotangent.value) {
            const tg_tensor some = join_some(j, i);
            sum = sum.value ? tg_add(sum, some) : some;
        }
    return sum;
}

TG_USUAL_OPERATION(slice, 1, TG_ATTRIBUTES(slice_attributes, slice_fields), .joint = slice_joint, .joint_inputs = 1);

/* ---- narrow: a slice in one piece needs no copy ---- */

static bool narrow_shape(tg_value *out)
{
    const slice_attributes *a = out->attributes;
    *out->shape = a->size;
    return slice_fits(out, a, out->inputs[0]->shape) &&
           (in_one_piece(a, out->inputs[0]->shape) || tg_expected(out, "expected a slice in one piece of memory"));
}

static int64_t narrow_offset(const tg_value *out)
{
    int64_t stride[TG_MAX_RANK];
    return out->size > 0 ? slice_strides(out->attributes, out->inputs[0]->shape, stride) : 0;
}

TG_OPERATION(narrow, 1, TG_VIEW, narrow_samples, TG_ATTRIBUTES(slice_attributes, slice_fields), .shape = narrow_shape,
             .view_offset = narrow_offset, .derivative = slice_derivative, .joint = slice_joint, .joint_inputs = 1);

/* ---- scatter_slice: the slice, written into a tensor of a fill value ---- */

static slice_attributes slice_of(const scatter_slice_attributes *a, tg_shape size)
{
    return (slice_attributes){.start = a->start, .step = a->step, .size = size};
}

static bool scatter_slice_shape(tg_value *out)
{
    const scatter_slice_attributes *a = out->attributes;
    const slice_attributes slice = slice_of(a, *out->inputs[0]->shape);
    char whole[128];
    *out->shape = a->shape;
    if (tg_shape_size(&a->shape) < 0)
        return tg_expected(out, "there is no shape %s", tg_shape_text(&a->shape, whole, sizeof whole));
    return tg_number_fits(out, out->inputs[0]->dtype, a->fill) && slice_fits(out, &slice, &a->shape);
}

static void scatter_slice_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_value *in = out->inputs[0];
    const scatter_slice_attributes *a = out->attributes;
    if (in->size < out->size)
        tg_fill(out->dtype, out->size, a->fill, call->out);
    if (in->size == 0)
        return;
    const slice_attributes slice = slice_of(a, *in->shape);
    int64_t stride[2][TG_MAX_RANK];
    tg_strides(in->shape, stride[0]);
    const int64_t offset = slice_strides(&slice, out->shape, stride[1]);
    tg_strided_copy(out->dtype, in->shape, stride, call->in[0],
                    (char *)call->out + offset * (int64_t)tg_dtype_size(out->dtype));
}

static tg_tensor cut(tg_tensor x, const slice_attributes *a)
{
    const tg_shape whole = tg_shape_of(x);
    return TG_APPLY(in_one_piece(a, &whole) ? &tg_op_narrow : &tg_op_slice, a, x);
}

static void scatter_slice_derivative(const tg_derive *d)
{
    const slice_attributes slice = slice_of(d->attributes, tg_shape_of(d->in[0]));
    d->gradient[0] = cut(d->cotangent, &slice);
}

TG_USUAL_OPERATION(scatter_slice, 1, TG_ATTRIBUTES(scatter_slice_attributes, scatter_slice_fields));

tg_tensor tg_scatter_slice(tg_tensor x, tg_shape start, tg_shape step, tg_shape shape, double fill)
{
    return TG_APPLY(&tg_op_scatter_slice, (&(scatter_slice_attributes){start, step, shape, fill}), x);
}

/* ---- compositions ---- */

/* All of x. */
static slice_attributes everything(tg_tensor x)
{
    slice_attributes a = {.size = tg_shape_of(x)};
    a.start.rank = a.step.rank = a.size.rank;
    for (int axis = 0; axis < a.size.rank; axis++)
        a.step.dim[axis] = 1;
    return a;
}

tg_tensor tg_narrow(tg_tensor x, int axis, int64_t start, int64_t count)
{
    axis = tg_find_axis("narrow", x, axis);
    if (axis < 0)
        return TG_NONE;
    slice_attributes a = everything(x);
    a.start.dim[axis] = start;
    a.size.dim[axis] = count;
    return TG_APPLY(&tg_op_narrow, &a, x);
}

/* An end of a slice as in Python: counted from the end if negative, then clamped to low .. high. */
static int64_t end_of(int64_t end, int64_t n, int64_t low, int64_t high)
{
    if (end < 0)
        end += n;
    return end < low ? low : end > high ? high : end;
}

tg_tensor tg_slice(tg_tensor x, int axis, int64_t start, int64_t stop, int64_t step)
{
    axis = tg_find_axis("slice", x, axis);
    if (axis < 0)
        return TG_NONE;
    if (step == 0)
        return tg_refuse("slice", x, "expected a step other than 0");
    slice_attributes a = everything(x);
    const int64_t n = a.size.dim[axis], low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    const int64_t from = end_of(start, n, low, high), to = end_of(stop, n, low, high);
    const int64_t distance = step > 0 ? to - from : from - to;
    const uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
    a.size.dim[axis] = distance > 0 ? 1 + (int64_t)((uint64_t)(distance - 1) / stride) : 0;
    a.start.dim[axis] = distance > 0 ? from : 0;
    a.step.dim[axis] = a.size.dim[axis] > 1 ? step : 1;
    return cut(x, &a);
}

tg_tensor tg_flip(tg_tensor x, tg_axes axes)
{
    slice_attributes a = everything(x);
    const int bits = tg_axis_bits("flip", x, axes);
    if (bits < 0)
        return TG_NONE;
    for (int axis = 0; axis < a.size.rank; axis++) {
        if (!(bits >> axis & 1))
            continue;
        a.step.dim[axis] = a.size.dim[axis] > 1 ? -1 : 1;
        a.start.dim[axis] = a.size.dim[axis] > 0 ? a.size.dim[axis] - 1 : 0;
    }
    return cut(x, &a);
}

tg_tensor tg_pad(tg_tensor x, tg_shape before, tg_shape after, double fill)
{
    slice_attributes a = everything(x);
    tg_shape padded = a.size;
    if (before.rank != padded.rank || after.rank != padded.rank)
        return tg_refuse("pad", x, "expected the padding before and after each of %d axes, not of %d and %d",
                         padded.rank, before.rank, after.rank);
    for (int axis = 0; axis < padded.rank; axis++) {
        if (before.dim[axis] < 0 || after.dim[axis] < 0)
            return tg_refuse("pad", x, "the padding of axis %d is negative; use tg_slice to cut off elements", axis);
        if (before.dim[axis] > INT64_MAX - padded.dim[axis] ||
            after.dim[axis] > INT64_MAX - padded.dim[axis] - before.dim[axis])
            return tg_refuse("pad", x, "the padding of axis %d is too large", axis);
        padded.dim[axis] += before.dim[axis] + after.dim[axis];
    }
    return tg_scatter_slice(x, before, a.step, padded, fill);
}

bool tg_split(tg_tensor x, int axis, int count, tg_tensor *parts)
{
    for (int i = 0; parts && i < count; i++)
        parts[i] = TG_NONE;
    axis = tg_find_axis("split", x, axis);
    if (axis < 0 || !parts)
        return false;
    const int64_t n = tg_dim(x, axis);
    if (count < 1 || n % count != 0) {
        tg_refuse("split", x, "axis %d does not divide into %d equal parts", axis, count);
        return false;
    }
    for (int i = 0; i < count; i++)
        parts[i] = tg_slice(x, axis, n / count * i, n / count * (i + 1), 1);
    return tg_ok(parts[count - 1]);
}
