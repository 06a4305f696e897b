/* Pooling: the largest element, or the mean, of each window. */
#include "autograd/kernels/parallel.h"
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/ops/window.h"

#include <limits.h>

#include "autograd/ops/samples/pool.h"

/* ---- max_pool2d, and max_pool2d_index, which says where in the image each largest element is ---- */

/* The part of a window inside the image along an axis: `count` elements, the first of them at `first`. */
static int64_t part_in_image(const tg_window_layout *w, int axis, int64_t window, int64_t *first)
{
    const int64_t size = w->size.dim[axis], dilation = w->dilation.dim[axis], kernel = w->kernel.dim[axis];
    const int64_t place = window * w->stride.dim[axis] - w->padding.dim[axis];
    *first = place;
    if (place >= 0 && place + (kernel - 1) * dilation < size)
        return kernel;
    const int64_t skipped = place < 0 ? (-place + dilation - 1) / dilation : 0;
    const int64_t end = place < size ? (size - 1 - place) / dilation + 1 : 0;
    *first = place + skipped * dilation;
    return (end < kernel ? end : kernel) - skipped;
}

static bool pool_shape(tg_value *out)
{
    static const char *const axes[2] = {"height", "width"};
    const tg_window_layout *w = out->attributes;
    const tg_shape *in = out->inputs[0]->shape;
    if (!tg_window_fits_input(out, w))
        return false;
    int64_t first;
    for (int axis = 0; axis < 2; axis++) {
        if (w->padding.dim[axis] > w->kernel.dim[axis] / 2)
            return tg_expected(out,
                               "expected a padding of at most half the kernel: a window may not lie outside the image");
        for (int64_t i = 0; i * w->stride.dim[axis] < w->padding.dim[axis] && i < tg_windows(w, axis); i++)
            if (part_in_image(w, axis, i, &first) < 1)
                return tg_expected(out, "window %lld along the %s lies outside the image", (long long)i, axes[axis]);
    }
    if (in->dim[2] * in->dim[3] > INT_MAX)
        return tg_expected(out, "an image has more than %d elements", INT_MAX);
    *out->shape = TG_SHAPE(in->dim[0], in->dim[1], tg_windows(w, 0), tg_windows(w, 1));
    return true;
}

static bool pool_index_shape(tg_value *out)
{
    const bool fits = pool_shape(out);
    out->dtype = TG_I32;
    return fits;
}

/* Images with their windows, and the requested outputs: either may be NULL. */
typedef struct pooling {
    const tg_window_layout *w;
    tg_dtype dtype;
    const char *images;
    char *largest;
    int32_t *places; /* in its image */
} pooling;

/* The number of windows from this one on that lie entirely in the image along an axis; 1 if this one does not. */
static int64_t whole_windows(const tg_window_layout *w, int axis, int64_t window)
{
    const int64_t reach = (w->kernel.dim[axis] - 1) * w->dilation.dim[axis],
                  room = w->size.dim[axis] - 1 - reach + w->padding.dim[axis];
    const int64_t last = room < 0 ? -1 : room / w->stride.dim[axis], windows = tg_windows(w, axis);
    const bool inside = window * w->stride.dim[axis] >= w->padding.dim[axis] && window <= last;
    return inside ? (last < windows ? last + 1 : windows) - window : 1;
}

static void pool_image(const pooling *p, int64_t image)
{
    const tg_window_layout *w = p->w;
    const int64_t down = tg_windows(w, 0), across = tg_windows(w, 1), width = w->size.dim[1];
    const int64_t element = (int64_t)tg_dtype_size(p->dtype);
    const char *from = p->images + image * w->size.dim[0] * width * element;
    for (int64_t x = 0, columns; x < across; x += columns) {
        columns = whole_windows(w, 1, x);
        for (int64_t y = 0, lines; y < down; y += lines) {
            lines = whole_windows(w, 0, y);
            int64_t line, column;
            const int64_t at = (image * down + y) * across + x;
            tg_image_windows s = {.size = (size_t)(w->size.dim[0] * width),
                                  .down = (size_t)lines,
                                  .across = (size_t)columns,
                                  .rows = (size_t)part_in_image(w, 0, y, &line),
                                  .columns = (size_t)part_in_image(w, 1, x, &column),
                                  .down_step = (size_t)(w->stride.dim[0] * width),
                                  .across_step = (size_t)w->stride.dim[1],
                                  .row_step = (size_t)(w->dilation.dim[0] * width),
                                  .column_step = (size_t)w->dilation.dim[1],
                                  .line = (size_t)across};
            s.first = (size_t)(line * width + column);
            TG_KERNEL_CALL(p->dtype, max_windows, &s, from, p->largest ? p->largest + at * element : NULL,
                           p->places ? p->places + at : NULL);
        }
    }
}

/* A tg_parallel_part: images. */
static void pool_images(void *context, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        pool_image(context, (int64_t)i);
}

static void pool_windows(const tg_call *call, void *largest, int32_t *places)
{
    enum { WORTH_SHARING = 1 << 13 }; /* elements of the images */
    const tg_value *in = call->value->inputs[0];
    const size_t images = (size_t)(in->shape->dim[0] * in->shape->dim[1]),
                 each = images ? (size_t)in->size / images : 0;
    pooling p = {call->value->attributes, in->dtype, call->in[0], largest, places};
    if (call->value->size > 0)
        tg_parallel(images, WORTH_SHARING / each + 1, 1, pool_images, &p);
}

static void max_pool2d_forward(const tg_call *call)
{
    pool_windows(call, call->out, call->saved);
}

static void max_pool2d_index_forward(const tg_call *call)
{
    pool_windows(call, NULL, call->out);
}

static void max_pool2d_derivative(const tg_derive *d)
{
    const tg_shape in = tg_shape_of(d->in[0]), out = tg_shape_of(d->out);
    const tg_shape windows = TG_SHAPE(out.dim[0] * out.dim[1], out.dim[2] * out.dim[3]);
    tg_tensor index = tg_ok(d->saved) ? d->saved : TG_APPLY(&tg_op_max_pool2d_index, d->attributes, d->in[0]);
    tg_tensor cotangent = tg_reshape(d->cotangent, windows);
    d->gradient[0] = tg_reshape(tg_scatter_add(cotangent, 1, tg_reshape(index, windows), in.dim[2] * in.dim[3]), in);
}

TG_OPERATION(max_pool2d_index, 1, TG_CONSTANT, pool_samples, TG_WINDOW_ATTRIBUTES, .shape = pool_index_shape,
             .forward = max_pool2d_index_forward);

TG_OPERATION(max_pool2d, 1, 0, pool_samples, TG_WINDOW_ATTRIBUTES, .shape = pool_shape, .forward = max_pool2d_forward,
             .derivative = max_pool2d_derivative, .saved = &tg_op_max_pool2d_index);

/* Windows that do not overlap, unless a stride is given. */
static tg_window side_by_side(int64_t kernel_height, int64_t kernel_width, tg_window window)
{
    if (window.stride[0] == 0)
        window.stride[0] = (int)kernel_height;
    if (window.stride[1] == 0)
        window.stride[1] = (int)kernel_width;
    return window;
}

tg_tensor tg_max_pool2d(tg_tensor x, int kernel_height, int kernel_width, tg_window window)
{
    window = side_by_side(kernel_height, kernel_width, window);
    const tg_window_layout w = tg_window_over(x, kernel_height, kernel_width, &window);
    return TG_APPLY(&tg_op_max_pool2d, &w, x);
}

tg_tensor tg_max_pool2d_index(tg_tensor x, int kernel_height, int kernel_width, tg_window window)
{
    window = side_by_side(kernel_height, kernel_width, window);
    const tg_window_layout w = tg_window_over(x, kernel_height, kernel_width, &window);
    return TG_APPLY(&tg_op_max_pool2d_index, &w, x);
}

/* ---- compositions ---- */

tg_tensor tg_average_pool2d(tg_tensor x, int kernel_height, int kernel_width, tg_window window)
{
    tg_tensor columns = tg_unfold(x, kernel_height, kernel_width, side_by_side(kernel_height, kernel_width, window));
    return tg_transpose(tg_mean_over(columns, TG_AXES(1, 2), false), 0, 1);
}

static tg_tensor pool1d(const char *operation, tg_tensor pool(tg_tensor, int, int, tg_window), tg_tensor x, int kernel,
                        tg_window window)
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
