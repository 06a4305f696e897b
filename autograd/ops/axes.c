#include "autograd/ops/axes.h"

#include "autograd/error.h"
#include "autograd/ops/category.h"
#include "autograd/tape/program.h"
#include "autograd/tape/strided.h"

#include <stdarg.h>
#include <stdio.h>

tg_tensor tg_refuse(const char *operation, tg_tensor x, const char *format, ...)
{
    char shape[128];
    tg_error error;
    va_list arguments;
    va_start(arguments, format);
    tg_fail_arguments(&error, format, arguments);
    va_end(arguments);
    tg_shape of = tg_shape_of(x);
    if (tg_ok(x))
        tg_tape_fail(tg_tape_of(x), "%s(%s%s): %s", operation, tg_dtype_name(tg_dtype_of(x)),
                     tg_shape_text(&of, shape, sizeof shape), error.text);
    else if (x.value)
        tg_program_fail(x.value->program, "%s: the input is a tensor of a step that ended with tg_tape_reset",
                        operation);
    return (tg_tensor){0};
}

int tg_find_axis(const char *operation, tg_tensor x, int axis)
{
    const int rank = tg_rank(x), positive = axis < 0 ? axis + rank : axis;
    if (positive >= 0 && positive < rank)
        return positive;
    tg_refuse(operation, x, "there is no axis %d", axis);
    return -1;
}

tg_blocks tg_blocks_of(const tg_shape *shape, int first, int count)
{
    tg_blocks b = {1, 1, 1};
    for (int axis = 0; axis < shape->rank; axis++)
        *(axis < first ? &b.outer : axis < first + count ? &b.n : &b.inner) *= shape->dim[axis];
    return b;
}

int tg_axis_bits(const char *operation, tg_tensor x, tg_axes axes)
{
    if (axes.count == 0)
        return (1 << tg_rank(x)) - 1;
    bool fits = axes.count > 0 && axes.count <= TG_MAX_RANK;
    if (!fits)
        tg_refuse(operation, x, "expected up to %d axes, not %d axes", TG_MAX_RANK, axes.count);
    int bits = 0;
    for (int i = 0; fits && i < axes.count; i++) {
        const int axis = tg_find_axis(operation, x, axes.axis[i]);
        fits = axis >= 0 && !(bits >> axis & 1);
        if (fits)
            bits |= 1 << axis;
        else if (axis >= 0)
            tg_refuse(operation, x, "axis %d is named twice", axes.axis[i]);
    }
    return fits ? bits : -1;
}

char *tg_position_text(const tg_shape *shape, int64_t element, char *text, size_t size)
{
    tg_shape position = {.rank = shape->rank};
    tg_strided s = {.rank = shape->rank};
    for (int axis = 0; axis < s.rank; axis++)
        s.dim[axis] = shape->dim[s.rank - 1 - axis];
    const tg_strided_place place = tg_strided_seek(&s, 0, element);
    for (int axis = 0; axis < s.rank; axis++)
        position.dim[axis] = place.index[s.rank - 1 - axis];
    return tg_shape_text(&position, text, size);
}
