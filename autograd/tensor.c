#include "autograd/tensor.h"

#include "autograd/tape_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool tg_ok(tg_tensor x)
{
    return tg_value_of(x) != NULL;
}

tg_dtype tg_dtype_of(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    return value ? value->dtype : TG_F32;
}

tg_shape tg_shape_of(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    return value ? value->shape : TG_SCALAR;
}

int tg_rank(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    return value ? value->shape.rank : 0;
}

int64_t tg_size(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    return value ? value->size : 0;
}

int64_t tg_dim(tg_tensor x, int axis)
{
    const tg_value *value = tg_value_of(x);
    if (value && axis < 0)
        axis += value->shape.rank;
    return value && axis >= 0 && axis < value->shape.rank ? value->shape.dim[axis] : 0;
}

const void *tg_data(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    return value ? value->data : NULL;
}

static const void *data_as(tg_tensor x, tg_dtype dtype)
{
    return tg_dtype_of(x) == dtype ? tg_data(x) : NULL;
}

const float *tg_f32(tg_tensor x)
{
    return data_as(x, TG_F32);
}

const double *tg_f64(tg_tensor x)
{
    return data_as(x, TG_F64);
}

const int32_t *tg_i32(tg_tensor x)
{
    return data_as(x, TG_I32);
}

static double element(const tg_value *value, int64_t index)
{
    switch (value->dtype) {
    case TG_F32:
        return (double)((const float *)value->data)[index];
    case TG_F64:
        return ((const double *)value->data)[index];
    case TG_I32:
        return ((const int32_t *)value->data)[index];
    }
    return NAN;
}

double tg_at(tg_tensor x, int64_t index)
{
    const tg_value *value = tg_value_of(x);
    return value && value->data && index >= 0 && index < value->size ? element(value, index) : NAN;
}

double tg_item(tg_tensor x)
{
    return tg_size(x) == 1 ? tg_at(x, 0) : NAN;
}

bool tg_read(tg_tensor x, tg_dtype dtype, void *out, int64_t count)
{
    const tg_value *value = tg_value_of(x);
    if (!value || !value->data || value->size != count || (count > 0 && !out) || tg_dtype_size(dtype) == 0)
        return false;
    if (dtype == value->dtype) {
        if (count > 0)
            memcpy(out, value->data, (size_t)count * tg_dtype_size(dtype));
        return true;
    }
    for (int64_t i = 0; i < count; i++) {
        double number = element(value, i);
        if (dtype == TG_F32)
            ((float *)out)[i] = (float)number;
        else if (dtype == TG_F64)
            ((double *)out)[i] = number;
        else
            ((int32_t *)out)[i] = (int32_t)number;
    }
    return true;
}

/* Whether the rank is one that a shape can have: dimensions are read only then. */
static bool has_rank(const tg_shape *shape)
{
    return shape && shape->rank >= 0 && shape->rank <= TG_MAX_RANK;
}

int64_t tg_shape_size(const tg_shape *shape)
{
    if (!has_rank(shape))
        return -1;
    int64_t size = 1;
    bool empty = false;
    for (int axis = 0; axis < shape->rank; axis++) {
        int64_t dim = shape->dim[axis];
        if (dim < 0)
            return -1;
        if (dim == 0) {
            empty = true;
            continue;
        }
        /* Bytes, at most eight an element, must fit as well. Factors below 2^30 do, without a division. */
        if ((size | dim) >> 30 != 0 && size > INT64_MAX / 8 / dim)
            return -1;
        size *= dim;
    }
    return empty ? 0 : size;
}

bool tg_shape_equal(const tg_shape *a, const tg_shape *b)
{
    if (!has_rank(a) || !b || a->rank != b->rank)
        return false;
    for (int axis = 0; axis < a->rank; axis++)
        if (a->dim[axis] != b->dim[axis])
            return false;
    return true;
}

bool tg_shape_broadcast(const tg_shape *a, const tg_shape *b, tg_shape *out)
{
    if (!has_rank(a) || !has_rank(b) || !out)
        return false;
    tg_shape result = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int back = 1; back <= result.rank; back++) {
        int64_t from_a = back <= a->rank ? a->dim[a->rank - back] : 1;
        int64_t from_b = back <= b->rank ? b->dim[b->rank - back] : 1;
        if (from_a != from_b && from_a != 1 && from_b != 1)
            return false;
        result.dim[result.rank - back] = from_a == 1 ? from_b : from_a;
    }
    *out = result;
    return true;
}

char *tg_shape_text(const tg_shape *shape, char *text, size_t size)
{
    if (!text || size == 0)
        return text;
    if (shape && !has_rank(shape)) {
        snprintf(text, size, "[rank %d]", shape->rank);
        return text;
    }
    size_t used = (size_t)snprintf(text, size, "[");
    for (int axis = 0; shape && axis < shape->rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, axis ? ", %lld" : "%lld", (long long)shape->dim[axis]);
    if (used < size)
        snprintf(text + used, size - used, "]");
    return text;
}

const char *tg_dtype_name(tg_dtype dtype)
{
    return dtype == TG_F32 ? "f32" : dtype == TG_F64 ? "f64" : dtype == TG_I32 ? "i32" : "?";
}

size_t tg_dtype_size(tg_dtype dtype)
{
    return dtype == TG_F64 ? sizeof(double) : dtype == TG_F32 || dtype == TG_I32 ? sizeof(float) : 0;
}
