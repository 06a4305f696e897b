#include "autograd/ops/window.h"

#include "autograd/tape/value.h"

#include <limits.h>

const tg_field tg_window_fields[6] = {
    TG_FIELD(tg_window_layout, kernel, TG_FIELD_SHAPE),  TG_FIELD(tg_window_layout, stride, TG_FIELD_SHAPE),
    TG_FIELD(tg_window_layout, padding, TG_FIELD_SHAPE), TG_FIELD(tg_window_layout, dilation, TG_FIELD_SHAPE),
    TG_FIELD(tg_window_layout, size, TG_FIELD_SHAPE),    {0}};

/* The extent of a window, dilation included. */
static int64_t reach(const tg_window_layout *w, int axis)
{
    return (w->kernel.dim[axis] - 1) * w->dilation.dim[axis] + 1;
}

int64_t tg_windows(const tg_window_layout *w, int axis)
{
    const int64_t room = w->size.dim[axis] + 2 * w->padding.dim[axis] - reach(w, axis);
    return room < 0 ? 0 : room / w->stride.dim[axis] + 1;
}

bool tg_window_fits(const tg_value *out, const tg_window_layout *w)
{
    static const char *const axes[2] = {"height", "width"};
    if (w->kernel.rank != 2 || w->stride.rank != 2 || w->padding.rank != 2 || w->dilation.rank != 2 ||
        w->size.rank != 2)
        return tg_expected(out, "expected two numbers, height and width, for each setting of the window");
    for (int axis = 0; axis < 2; axis++) {
        const int64_t kernel = w->kernel.dim[axis], stride = w->stride.dim[axis], padding = w->padding.dim[axis];
        const int64_t dilation = w->dilation.dim[axis], size = w->size.dim[axis];
        if (size < 0 || size > INT64_MAX / 4) /* so that nothing below overflows */
            return tg_expected(out, "there are no images of %s %lld", axes[axis], (long long)size);
        if (kernel < 1 || stride < 1 || dilation < 1 || padding < 0 || kernel > INT_MAX || stride > INT_MAX ||
            dilation > INT_MAX || padding > INT_MAX)
            return tg_expected(
                out,
                "expected a kernel, stride and dilation of at least 1 and a padding of at least 0, not %lld, "
                "%lld, %lld and %lld along the %s",
                (long long)kernel, (long long)stride, (long long)dilation, (long long)padding, axes[axis]);
        if (tg_windows(w, axis) < 1)
            return tg_expected(out, "a kernel that reaches over %lld does not fit the %s %lld with a padding of %lld",
                               (long long)reach(w, axis), axes[axis], (long long)size, (long long)padding);
    }
    return true;
}

bool tg_window_fits_input(tg_value *out, const tg_window_layout *w)
{
    const tg_shape *in = out->inputs[0]->shape;
    if (!tg_same_floating_type(out))
        return false;
    if (in->rank != 4)
        return tg_expected(out, "expected [batch, channels, height, width]");
    if (!tg_window_fits(out, w))
        return false;
    if (w->size.dim[0] != in->dim[2] || w->size.dim[1] != in->dim[3])
        return tg_expected(out, "the window is for images of %lld x %lld", (long long)w->size.dim[0],
                           (long long)w->size.dim[1]);
    return true;
}

static tg_shape pair(const int *setting, int otherwise)
{
    return TG_SHAPE(setting[0] ? setting[0] : otherwise, setting[1] ? setting[1] : otherwise);
}

tg_window_layout tg_window_over(tg_tensor image, int64_t kernel_height, int64_t kernel_width, const tg_window *window)
{
    return (tg_window_layout){.kernel = TG_SHAPE(kernel_height, kernel_width),
                              .stride = pair(window->stride, 1),
                              .padding = pair(window->padding, 0),
                              .dilation = pair(window->dilation, 1),
                              .size = TG_SHAPE(tg_dim(image, -2), tg_dim(image, -1))};
}

tg_window tg_window_across(tg_window window)
{
    return (tg_window){.stride = {1, window.stride[0]},
                       .padding = {0, window.padding[0]},
                       .dilation = {1, window.dilation[0]},
                       .groups = window.groups};
}

tg_tensor tg_with_height(tg_tensor x)
{
    const tg_shape s = tg_shape_of(x);
    return s.rank == 3 ? tg_reshape(x, TG_SHAPE(s.dim[0], s.dim[1], 1, s.dim[2])) : x;
}

tg_tensor tg_without_height(tg_tensor x)
{
    const tg_shape s = tg_shape_of(x);
    return s.rank == 4 ? tg_reshape(x, TG_SHAPE(s.dim[0], s.dim[1], s.dim[3])) : x;
}
