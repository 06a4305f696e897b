/* Windows laid out as columns of a matrix, and added up where they came from; each is the other's derivative.
 *
 *     image [N, C, H, W]  --unfold-->  columns [C, kernel height, kernel width, N, windows down, windows across]
 */
#include "autograd/kernels/parallel.h"
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/ops/window.h"
#include "autograd/tape/strided.h"

#include <string.h>

#include "autograd/ops/samples/unfold.h"

/* ---- shared by unfold and fold ---- */

/* All rows of windows, and which way elements go: from the image to the columns, or added to the image, which is
 * cleared first. */
typedef struct window_rows {
    tg_dtype dtype;
    const tg_window_layout *w;
    int64_t batch, channels;
    const char *from;
    char *to;
    bool adds;
} window_rows;

/* One row of windows at one place of the kernel: `count` elements of the columns from `column` on. The first `before`
 * of them and those from `end` on lie in the padding; window x belongs to element image + x stride of the image. */
typedef struct row {
    int64_t image, column, before, end, count;
} row;

static void unfold_row(const window_rows *v, const row *r)
{
    const int64_t stride = v->w->stride.dim[1];
    TG_FOR_ELEMENT_SIZE(tg_dtype_size(v->dtype), {
        char *column = v->to + r->column * BYTES;
        const char *image = v->from + r->image * BYTES;
        for (int64_t x = 0; x < r->before; x++)
            memset(column + x * BYTES, 0, BYTES);
        if (stride == 1 && r->end > r->before)
            memcpy(column + r->before * BYTES, image + r->before * BYTES, (size_t)(r->end - r->before) * BYTES);
        else
            for (int64_t x = r->before; x < r->end; x++)
                memcpy(column + x * BYTES, image + x * stride * BYTES, BYTES);
        for (int64_t x = r->end; x < r->count; x++)
            memset(column + x * BYTES, 0, BYTES);
    })
}

static void fold_row(const window_rows *v, const row *r)
{
    const int64_t element = (int64_t)tg_dtype_size(v->dtype), stride = v->w->stride.dim[1];
    if (r->end <= r->before)
        return;
    const size_t count = (size_t)(r->end - r->before);
    const char *column = v->from + (r->column + r->before) * element;
    char *image = v->to + (r->image + r->before * stride) * element;
    if (stride == 1)
        TG_KERNEL_CALL(v->dtype, accumulate, count, column, image);
    else
        TG_KERNEL_CALL(v->dtype, accumulate_strided, count, column, image, (size_t)stride);
}

static int64_t clip(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The windows 0 .. count - 1 whose element at kernel place `at` lies inside an axis of the image: before .. end - 1. */
static void inside(const tg_window_layout *w, int axis, int64_t at, int64_t count, int64_t *before, int64_t *end)
{
    const int64_t first = at * w->dilation.dim[axis] - w->padding.dim[axis], stride = w->stride.dim[axis];
    *before = clip(first >= 0 ? 0 : (-first + stride - 1) / stride, 0, count);
    *end = first >= w->size.dim[axis] ? *before : clip((w->size.dim[axis] - 1 - first) / stride + 1, *before, count);
}

static void clear_channel(const window_rows *v, int64_t c)
{
    const size_t element = tg_dtype_size(v->dtype), image = (size_t)(v->w->size.dim[0] * v->w->size.dim[1]);
    for (int64_t n = 0; n < v->batch; n++)
        memset(v->to + (size_t)(n * v->channels + c) * image * element, 0, image * element);
}

static void rows_at(const window_rows *v, int64_t c, int64_t i, int64_t j)
{
    const tg_window_layout *w = v->w;
    const int64_t down = tg_windows(w, 0), across = tg_windows(w, 1);
    row r = {.count = across, .column = ((c * w->kernel.dim[0] + i) * w->kernel.dim[1] + j) * v->batch * down * across};
    int64_t before_x, end_x, before_y, end_y;
    inside(w, 0, i, down, &before_y, &end_y);
    inside(w, 1, j, across, &before_x, &end_x);
    for (int64_t n = 0; n < v->batch; n++)
        for (int64_t y = 0; y < down; y++, r.column += across) {
            const bool out_of_image = y < before_y || y >= end_y;
            const int64_t line = y * w->stride.dim[0] + i * w->dilation.dim[0] - w->padding.dim[0];
            r.image = ((n * v->channels + c) * w->size.dim[0] + line) * w->size.dim[1] + j * w->dilation.dim[1] -
                      w->padding.dim[1];
            r.before = out_of_image ? across : before_x;
            r.end = out_of_image ? across : end_x;
            (v->adds ? fold_row : unfold_row)(v, &r);
        }
}

/* Processes some channels, which are independent: a tg_parallel_part. */
static void some_channels(void *context, size_t first, size_t count)
{
    const window_rows *v = context;
    for (int64_t c = (int64_t)first; c < (int64_t)(first + count); c++) {
        if (v->adds)
            clear_channel(v, c);
        for (int64_t i = 0; i < v->w->kernel.dim[0]; i++)
            for (int64_t j = 0; j < v->w->kernel.dim[1]; j++)
                rows_at(v, c, i, j);
    }
}

/* `columns`: how many elements they have. */
static void all_channels(window_rows *v, int64_t columns)
{
    enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */
    const int64_t each = columns / (v->channels ? v->channels : 1);
    tg_parallel((size_t)v->channels, (size_t)(WORTH_SHARING / (each + 1) + 1), 1, some_channels, v);
}

/* ---- unfold ---- */

static bool unfold_shape(tg_value *out)
{
    const tg_window_layout *w = out->attributes;
    const tg_shape *in = out->inputs[0]->shape;
    if (!tg_window_fits_input(out, w))
        return false;
    *out->shape =
        TG_SHAPE(in->dim[1], w->kernel.dim[0], w->kernel.dim[1], in->dim[0], tg_windows(w, 0), tg_windows(w, 1));
    return true;
}

static void unfold_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_shape *in = out->inputs[0]->shape;
    window_rows v = {out->dtype, out->attributes, in->dim[0], in->dim[1], call->in[0], call->out, false};
    if (out->size > 0)
        all_channels(&v, out->size);
}

TG_GRADIENT(unfold, TG_APPLY(&tg_op_fold, d->attributes, d->cotangent))

TG_USUAL_OPERATION(unfold, 1, TG_WINDOW_ATTRIBUTES);

tg_tensor tg_unfold(tg_tensor image, int64_t kernel_height, int64_t kernel_width, tg_window window)
{
    const tg_window_layout w = tg_window_over(image, kernel_height, kernel_width, &window);
    return TG_APPLY(&tg_op_unfold, &w, image);
}

/* ---- fold ---- */

static bool fold_shape(tg_value *out)
{
    const tg_window_layout *w = out->attributes;
    const tg_shape *in = out->inputs[0]->shape;
    if (!tg_same_floating_type(out) || !tg_window_fits(out, w))
        return false;
    if (in->rank != 6)
        return tg_expected(out,
                           "expected [channels, kernel height, kernel width, batch, windows down, windows across]");
    const tg_shape expected =
        TG_SHAPE(in->dim[0], w->kernel.dim[0], w->kernel.dim[1], in->dim[3], tg_windows(w, 0), tg_windows(w, 1));
    char columns[128];
    if (!tg_shape_equal(in, &expected))
        return tg_expected(out, "expected columns %s for images of %lld x %lld",
                           tg_shape_text(&expected, columns, sizeof columns), (long long)w->size.dim[0],
                           (long long)w->size.dim[1]);
    *out->shape = TG_SHAPE(in->dim[3], in->dim[0], w->size.dim[0], w->size.dim[1]);
    return true;
}

static void fold_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    window_rows v = {out->dtype, out->attributes, out->shape->dim[0], out->shape->dim[1], call->in[0], call->out, true};
    if (out->size > 0)
        all_channels(&v, out->inputs[0]->size);
}

TG_GRADIENT(fold, TG_APPLY(&tg_op_unfold, d->attributes, d->cotangent))

TG_USUAL_OPERATION(fold, 1, TG_WINDOW_ATTRIBUTES);

tg_tensor tg_fold(tg_tensor columns, int64_t height, int64_t width, tg_window window)
{
    tg_window_layout w = tg_window_over(columns, tg_dim(columns, 1), tg_dim(columns, 2), &window);
    w.size = TG_SHAPE(height, width);
    return TG_APPLY(&tg_op_fold, &w, columns);
}
