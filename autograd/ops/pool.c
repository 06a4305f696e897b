/* Pooling: the largest element, or the mean, of each window. */
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/ops/window.h"

#include <limits.h>

#include "autograd/ops/samples/pool.h"

/* ---- max_pool2d, and max_pool2d_index, which says where in the image each largest element is ---- */

static bool pool_shape(tg_value *out)
{
    const tg_window_layout *w = out->attributes;
    const tg_shape *in = &out->inputs[0]->shape;
    if (!tg_window_fits_input(out, w))
        return false;
    for (int axis = 0; axis < 2; axis++)
        if (w->padding.dim[axis] > w->kernel.dim[axis] / 2)
            return tg_expected(
                out, "expected a padding of at most half the kernel: a window may not lie outside the image");
    if (in->dim[2] * in->dim[3] > INT_MAX)
        return tg_expected(out, "an image has more than %d elements", INT_MAX);
    out->shape = TG_SHAPE(in->dim[0], in->dim[1], tg_windows(w, 0), tg_windows(w, 1));
    return true;
}

static bool pool_index_shape(tg_value *out)
{
    const bool fits = pool_shape(out);
    out->dtype = TG_I32;
    return fits;
}

/* The place of the largest element of one window; the first of equal ones, or the first NaN. */
#define LARGEST_OF_WINDOW(type)                                                                              \
    static int64_t largest_##type(const tg_window_layout *w, const type *image, int64_t y, int64_t x)               \
    {                                                                                                        \
        int64_t best = -1;                                                                                   \
        for (int64_t i = 0; i < w->kernel.dim[0]; i++)                                                       \
            for (int64_t j = 0; j < w->kernel.dim[1]; j++) {                                                 \
                const int64_t line = y * w->stride.dim[0] + i * w->dilation.dim[0] - w->padding.dim[0];      \
                const int64_t place = x * w->stride.dim[1] + j * w->dilation.dim[1] - w->padding.dim[1];     \
                const int64_t at = line * w->size.dim[1] + place;                                            \
                if (line < 0 || line >= w->size.dim[0] || place < 0 || place >= w->size.dim[1])              \
                    continue;                                                                                \
                if (best < 0 || image[at] > image[best] ||                                                   \
                    (image[at] != image[at] && image[best] == image[best]))                                  \
                    best = at;                                                                               \
            }                                                                                                \
        return best;                                                                                         \
    }
LARGEST_OF_WINDOW(float)
LARGEST_OF_WINDOW(double)

/* Calls for the elements, or for their places if the result is of integers. */
static void pool_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_window_layout *w = out->attributes;
    const tg_value *in = out->inputs[0];
    const int64_t across = out->shape.dim[3], windows = out->shape.dim[2] * across,
                  image = w->size.dim[0] * w->size.dim[1];
    for (int64_t i = 0; i < out->size; i++) {
        const int64_t from = i / windows * image, y = i % windows / across, x = i % across;
        const float *f32 = (const float *)call->in[0] + from;
        const double *f64 = (const double *)call->in[0] + from;
        const int64_t at = in->dtype == TG_F32 ? largest_float(w, f32, y, x) : largest_double(w, f64, y, x);
        if (out->dtype == TG_I32)
            ((int32_t *)call->out)[i] = (int32_t)at;
        else if (out->dtype == TG_F32)
            ((float *)call->out)[i] = f32[at];
        else
            ((double *)call->out)[i] = f64[at];
    }
}

static void max_pool2d_derivative(const tg_derive *d)
{
    const tg_shape in = tg_shape_of(d->in[0]), out = tg_shape_of(d->out);
    const tg_shape windows = TG_SHAPE(out.dim[0] * out.dim[1], out.dim[2] * out.dim[3]);
    tg_tensor index = tg_reshape(TG_APPLY(&tg_op_max_pool2d_index, d->attributes, d->in[0]), windows);
    d->gradient[0] =
        tg_reshape(tg_scatter_add(tg_reshape(d->cotangent, windows), 1, index, in.dim[2] * in.dim[3]), in);
}

const tg_op tg_op_max_pool2d_index = {.name = "max_pool2d_index", .arity = 1, .flags = TG_CONSTANT,
                                      TG_WINDOW_ATTRIBUTES, .shape = pool_index_shape, .forward = pool_forward,
                                      TG_SAMPLES(pool_samples)};

const tg_op tg_op_max_pool2d = {.name = "max_pool2d", .arity = 1, TG_WINDOW_ATTRIBUTES, .shape = pool_shape,
                                .forward = pool_forward, .derivative = max_pool2d_derivative,
                                TG_SAMPLES(pool_samples)};

/* Windows that do not overlap, unless a stride is given. */
static tg_window pooling(int64_t kernel_height, int64_t kernel_width, tg_window window)
{
    if (window.stride[0] == 0)
        window.stride[0] = (int)kernel_height;
    if (window.stride[1] == 0)
        window.stride[1] = (int)kernel_width;
    return window;
}

tg_tensor tg_max_pool2d(tg_tensor x, int kernel_height, int kernel_width, tg_window window)
{
    window = pooling(kernel_height, kernel_width, window);
    const tg_window_layout w = tg_window_over(x, kernel_height, kernel_width, &window);
    return TG_APPLY(&tg_op_max_pool2d, &w, x);
}

tg_tensor tg_max_pool2d_index(tg_tensor x, int kernel_height, int kernel_width, tg_window window)
{
    window = pooling(kernel_height, kernel_width, window);
    const tg_window_layout w = tg_window_over(x, kernel_height, kernel_width, &window);
    return TG_APPLY(&tg_op_max_pool2d_index, &w, x);
}

/* ---- what is made of others ---- */

tg_tensor tg_average_pool2d(tg_tensor x, int kernel_height, int kernel_width, tg_window window)
{
    tg_tensor columns =
        tg_unfold(x, kernel_height, kernel_width, pooling(kernel_height, kernel_width, window));
    return tg_transpose(tg_mean_over(columns, TG_AXES(1, 2), false), 0, 1);
}

static tg_tensor pool1d(const char *operation, tg_tensor pool(tg_tensor, int, int, tg_window), tg_tensor x,
                        int kernel, tg_window window)
{
    if (tg_ok(x) && tg_rank(x) != 3)
        return tg_refuse(operation, x, "expected [batch, channels, length]");
    return tg_without_height(pool(tg_with_height(x), 1, kernel, tg_window_across(window)));
}

tg_tensor tg_max_pool1d(tg_tensor x, int kernel, tg_window window)
{
    return pool1d("max_pool1d", tg_max_pool2d, x, kernel, window);
}

tg_tensor tg_average_pool1d(tg_tensor x, int kernel, tg_window window)
{
    return pool1d("average_pool1d", tg_average_pool2d, x, kernel, window);
}
