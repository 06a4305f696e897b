#include "autograd/shape.h"

#include "autograd/base/shape_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* True if a shape can have this rank: dimensions are read only then. */
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
        /* The number of bytes, at most eight per element, must fit too. Factors below 2^30 fit without a division. */
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
    if (a == b)
        return true;
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

bool tg_broadcasts_to(const tg_shape *from, const tg_shape *to)
{
    tg_shape both;
    return tg_shape_broadcast(from, to, &both) && tg_shape_equal(&both, to);
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

/* ---- types ---- */

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [TG_F32] = {"f32", sizeof(float)},
    [TG_F64] = {"f64", sizeof(double)},
    [TG_I32] = {"i32", sizeof(int32_t)},
};
enum { TYPES = sizeof types / sizeof types[0] };

const char *tg_dtype_name(tg_dtype dtype)
{
    return (unsigned)dtype < TYPES ? types[dtype].name : "?";
}

size_t tg_dtype_size(tg_dtype dtype)
{
    return (unsigned)dtype < TYPES ? types[dtype].size : 0;
}

bool tg_dtype_is_floating(tg_dtype dtype)
{
    return dtype == TG_F32 || dtype == TG_F64;
}

double tg_element(tg_dtype dtype, const void *data, int64_t index)
{
    return dtype == TG_F32   ? (double)((const float *)data)[index]
           : dtype == TG_F64 ? ((const double *)data)[index]
                             : ((const int32_t *)data)[index];
}

/* Towards 0, and into the range; NaN becomes 0. */
static int32_t integer_of(double number)
{
    return number >= INT32_MAX ? INT32_MAX : number <= INT32_MIN ? INT32_MIN : isnan(number) ? 0 : (int32_t)number;
}

void tg_set_element(tg_dtype dtype, void *data, int64_t index, double number)
{
    if (dtype == TG_F32)
        ((float *)data)[index] = (float)number;
    else if (dtype == TG_F64)
        ((double *)data)[index] = number;
    else
        ((int32_t *)data)[index] = integer_of(number);
}

void tg_copy_elements(tg_dtype to_type, void *to, tg_dtype from_type, const void *from, int64_t count)
{
    if (to_type == from_type && count > 0)
        memmove(to, from, (size_t)count * tg_dtype_size(to_type));
    for (int64_t i = 0; to_type != from_type && i < count; i++)
        tg_set_element(to_type, to, i, tg_element(from_type, from, i));
}
