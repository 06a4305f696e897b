/* Convolutions and their two gradients. All three are the same sum seen from three sides,
 *
 *     sum over n, o, y, x, c, i, j of g[n, o, y, x] weight[o, c, i, j] image[n, c, y stride + i dilation - padding, ..]
 *
 * so the derivatives of each are the other two. Each element of a result is one chain of multiply-adds (product.h),
 * unless Winograd's algorithm takes less time (winograd.h):
 *
 *     conv2d               over c, i, j; then the bias is added
 *     conv2d_grad_image    over o, i, j: a convolution of the cotangent, for each place of a pixel within a stride
 *     conv2d_grad_weight   over n, y, x */
#include "autograd/ops/convolve.h"

#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/ops/window.h"
#include "autograd/ops/winograd.h"

typedef struct convolution_attributes {
    tg_window_layout window;
    int64_t groups;
} convolution_attributes;

static const tg_field convolution_fields[] = {
    TG_FIELD_NAMED("kernel", convolution_attributes, window.kernel, TG_FIELD_SHAPE),
    TG_FIELD_NAMED("stride", convolution_attributes, window.stride, TG_FIELD_SHAPE),
    TG_FIELD_NAMED("padding", convolution_attributes, window.padding, TG_FIELD_SHAPE),
    TG_FIELD_NAMED("dilation", convolution_attributes, window.dilation, TG_FIELD_SHAPE),
    TG_FIELD_NAMED("size", convolution_attributes, window.size, TG_FIELD_SHAPE),
    TG_FIELD(convolution_attributes, groups, TG_FIELD_INT),
    {0}};
#include "autograd/ops/samples/convolution.h"

/* ---- shared by the three operations ---- */

/* For an image, weights and a cotangent or result of these shapes. */
static bool shapes_fit(const tg_value *out, const tg_shape *image, const tg_shape *weight, const tg_shape *result)
{
    char text[128];
    const convolution_attributes *a = out->attributes;
    const tg_window_layout *w = &a->window;
    const int64_t channels = image->dim[1], outputs = weight->dim[0], groups = a->groups;
    if (image->rank != 4 || weight->rank != 4)
        return tg_expected(out, "expected [batch, channels, height, width] and a weight [outputs, channels / groups, "
                                "height, width]");
    if (groups < 1 || channels % groups != 0 || outputs % groups != 0)
        return tg_expected(out, "%lld input and %lld output channels do not divide into %lld equal groups",
                           (long long)channels, (long long)outputs, (long long)groups);
    if (weight->dim[1] != channels / groups)
        return tg_expected(out, "expected a weight for %lld channels, not %s", (long long)(channels / groups),
                           tg_shape_text(weight, text, sizeof text));
    if (!tg_window_fits(out, w))
        return false;
    if (w->size.dim[0] != image->dim[2] || w->size.dim[1] != image->dim[3] || w->kernel.dim[0] != weight->dim[2] ||
        w->kernel.dim[1] != weight->dim[3])
        return tg_expected(out, "the window is for images of %lld x %lld and kernels of %lld x %lld",
                           (long long)w->size.dim[0], (long long)w->size.dim[1], (long long)w->kernel.dim[0],
                           (long long)w->kernel.dim[1]);
    const tg_shape expected = TG_SHAPE(image->dim[0], outputs, tg_windows(w, 0), tg_windows(w, 1));
    return !result || tg_shape_equal(result, &expected) ||
           tg_expected(out, "expected a cotangent %s", tg_shape_text(&expected, text, sizeof text));
}

/* Of images and weights of these shapes, with the window's own axes. */
static tg_conv_sum convolution_of(const tg_call *call, const tg_shape *image, const tg_shape *weight)
{
    const convolution_attributes *a = call->value->attributes;
    const tg_window_layout *w = &a->window;
    tg_conv_sum v = {.value = call->value,
                     .kernels = tg_kernels.products[call->value->dtype],
                     .element = tg_dtype_size(call->value->dtype),
                     .batch = image->dim[0],
                     .groups = a->groups,
                     .m = weight->dim[0] / a->groups,
                     .c = weight->dim[1],
                     .out = call->out};
    for (int i = 0; i < 2; i++)
        v.axis[i] = (tg_conv_axis){.size = w->size.dim[i],
                                   .windows = tg_windows(w, i),
                                   .stride = w->stride.dim[i],
                                   .taps = w->kernel.dim[i],
                                   .first = -w->padding.dim[i],
                                   .step = w->dilation.dim[i]};
    return v;
}

static void report_memory(const tg_conv_sum *v)
{
    if (v->without_memory)
        tg_expected(v->value, "no memory for the windows of an image");
}

/* Winograd's algorithm reads weights and writes results that lie side by side; the gradient of images of a stride does
 * not. */
static void convolve(tg_conv_sum *v)
{
    const bool side_by_side = v->weight_tap[0] == v->axis[1].taps && v->weight_tap[1] == 1 && v->out_step == 1;
    (side_by_side && tg_winograd_suits(v) ? tg_winograd_convolve : tg_convolve)(v);
    report_memory(v);
}

static void correlate(tg_conv_sum *v)
{
    (tg_winograd_suits(v) ? tg_winograd_correlate : tg_correlate)(v);
    report_memory(v);
}

/* Multiply-adds for each element of the result count twice. */
static double work_of(const tg_shape *weight, int64_t batch, const tg_window_layout *w)
{
    return 2 * (double)tg_shape_size(weight) * (double)batch * (double)tg_windows(w, 0) * (double)tg_windows(w, 1);
}

/* ---- conv2d ---- */

static bool conv2d_shape(tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    if (!tg_same_floating_type(out))
        return false;
    if (out->input_count < 2 || out->input_count > 3)
        return tg_expected(out, "expected images, a weight and perhaps a bias");
    const tg_shape *image = out->inputs[0]->shape, *weight = out->inputs[1]->shape;
    if (!shapes_fit(out, image, weight, NULL))
        return false;
    if (out->input_count == 3 && !tg_shape_equal(out->inputs[2]->shape, &TG_SHAPE(weight->dim[0])))
        return tg_expected(out, "expected a bias [%lld]", (long long)weight->dim[0]);
    *out->shape = TG_SHAPE(image->dim[0], weight->dim[0], tg_windows(&a->window, 0), tg_windows(&a->window, 1));
    return true;
}

static void conv2d_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    tg_conv_sum v = convolution_of(call, out->inputs[0]->shape, out->inputs[1]->shape);
    const int64_t all = v.axis[0].taps * v.axis[1].taps, windows = v.axis[0].windows * v.axis[1].windows;
    v.image = call->in[0];
    v.weight = call->in[1];
    v.bias = out->input_count == 3 ? call->in[2] : NULL;
    v.weight_group = v.m * v.c * all;
    v.weight_row = v.c * all;
    v.weight_channel = all;
    v.weight_tap[0] = v.axis[1].taps;
    v.weight_tap[1] = 1;
    v.out_image = v.groups * v.m * windows;
    v.out_channel = windows;
    v.out_line = v.axis[1].windows;
    v.out_step = 1;
    convolve(&v);
}

static void conv2d_derivative(const tg_derive *d)
{
    if (d->count == 3 && d->wanted[2])
        d->gradient[2] = tg_sum_over(d->cotangent, TG_AXES(0, 2, 3), false);
    if (d->wanted[1])
        d->gradient[1] = TG_APPLY(&tg_op_conv2d_grad_weight, d->attributes, d->cotangent, d->in[0]);
    if (d->wanted[0])
        d->gradient[0] = TG_APPLY(&tg_op_conv2d_grad_image, d->attributes, d->cotangent, d->in[1]);
}

static double conv2d_work(const tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    return work_of(out->inputs[1]->shape, out->shape->dim[0], &a->window);
}

TG_USUAL_OPERATION(conv2d, TG_VARIADIC, TG_ATTRIBUTES(convolution_attributes, convolution_fields), .work = conv2d_work);

static convolution_attributes attributes_of(tg_tensor image, int64_t kernel_height, int64_t kernel_width,
                                            const tg_window *window)
{
    return (convolution_attributes){tg_window_over(image, kernel_height, kernel_width, window),
                                    window->groups ? window->groups : 1};
}

tg_tensor tg_conv2d(tg_tensor x, tg_tensor weight, tg_tensor bias, tg_window window)
{
    const convolution_attributes a = attributes_of(x, tg_dim(weight, 2), tg_dim(weight, 3), &window);
    return tg_apply(&tg_op_conv2d, &a, bias.value ? 3 : 2, (tg_tensor[]){x, weight, bias});
}

tg_tensor tg_conv1d(tg_tensor x, tg_tensor weight, tg_tensor bias, tg_window window)
{
    if (tg_ok(x) && tg_rank(x) != 3)
        return tg_refuse("conv1d", x, "expected [batch, channels, length]");
    const tg_tensor kernel = tg_with_height(weight);
    return tg_without_height(tg_conv2d(tg_with_height(x), kernel, bias, tg_window_across(window)));
}

/* ---- conv2d_grad_image ---- */

static bool conv2d_grad_image_shape(tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    const tg_shape *cotangent = out->inputs[0]->shape, *weight = out->inputs[1]->shape;
    if (!tg_same_floating_type(out))
        return false;
    if (cotangent->rank != 4 || weight->rank != 4 || a->window.size.rank != 2)
        return tg_expected(out, "expected a cotangent and a weight of four axes");
    const uint64_t channels = (uint64_t)a->groups * (uint64_t)weight->dim[1]; /* which fit, unless this wraps */
    const tg_shape image = TG_SHAPE(cotangent->dim[0], (int64_t)channels, a->window.size.dim[0], a->window.size.dim[1]);
    if (!shapes_fit(out, &image, weight, cotangent))
        return false;
    *out->shape = image;
    return true;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* The pixels that are `place` behind a multiple of the stride, counted from the padding's edge, are the results of a
 * convolution of the cotangent, over those elements of the kernel that windows put there. Returns the first such pixel
 * and changes the axis from that of the image to that of the cotangent; `tap` is the first element of the kernel, and
 * `tap_step` leads to the next one. */
static int64_t axis_of_cotangent(tg_conv_axis *a, int64_t place, int64_t *tap, int64_t *tap_step)
{
    const tg_conv_axis of = *a;
    const int64_t padding = -of.first, before = padding - place,
                  first = before > 0 ? tg_conv_pieces(before, of.stride) : 0,
                  pixel = first * of.stride + place - padding;
    *tap = 0;
    *tap_step = of.stride / common_divisor(of.stride, of.step);
    while (*tap < of.taps && *tap < *tap_step && *tap * of.step % of.stride != place)
        ++*tap;
    const bool any = *tap < of.taps && *tap < *tap_step;
    *a = (tg_conv_axis){.size = of.windows,
                        .windows = pixel < of.size ? (of.size - 1 - pixel) / of.stride + 1 : 0,
                        .stride = 1,
                        .taps = any ? (of.taps - 1 - *tap) / *tap_step + 1 : 0,
                        .first = first - (*tap * of.step - place) / of.stride,
                        .step = -(*tap_step * of.step / of.stride)};
    return pixel;
}

/* Pixels at one place within a stride, down and across. */
static void grad_at_place(const tg_call *call, const tg_conv_sum *whole, int64_t down, int64_t across)
{
    tg_conv_sum v = *whole;
    int64_t tap[2], step[2];
    const int64_t all = tg_conv_taps(&v), width = v.axis[1].taps, stride[2] = {v.axis[0].stride, v.axis[1].stride},
                  size[2] = {v.axis[0].size, v.axis[1].size};
    const int64_t y = axis_of_cotangent(&v.axis[0], down, &tap[0], &step[0]),
                  x = axis_of_cotangent(&v.axis[1], across, &tap[1], &step[1]);
    v.m = whole->c;
    v.c = whole->m;
    if (tg_conv_taps(&v) == 0) { /* no window reads these pixels */
        v.axis[0].taps = v.axis[1].taps = 1;
        v.c = 0;
        tap[0] = tap[1] = 0;
    }
    v.image = call->in[0];
    v.weight = (const char *)call->in[1] + (tap[0] * width + tap[1]) * (int64_t)v.element;
    v.weight_group = whole->m * whole->c * all;
    v.weight_row = all;
    v.weight_channel = whole->c * all;
    v.weight_tap[0] = step[0] * width;
    v.weight_tap[1] = step[1];
    v.out += (y * size[1] + x) * (int64_t)v.element;
    v.out_image = v.groups * v.m * size[0] * size[1];
    v.out_channel = size[0] * size[1];
    v.out_line = stride[0] * size[1];
    v.out_step = stride[1];
    convolve(&v);
}

static void conv2d_grad_image_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_conv_sum whole = convolution_of(call, out->shape, out->inputs[1]->shape);
    if (out->size == 0)
        return;
    for (int64_t y = 0; y < tg_conv_smaller(whole.axis[0].stride, whole.axis[0].size); y++)
        for (int64_t x = 0; x < tg_conv_smaller(whole.axis[1].stride, whole.axis[1].size); x++)
            grad_at_place(call, &whole, (y - whole.axis[0].first) % whole.axis[0].stride,
                          (x - whole.axis[1].first) % whole.axis[1].stride);
}

static void conv2d_grad_image_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = TG_APPLY(&tg_op_conv2d, d->attributes, d->cotangent, d->in[1]);
    if (d->wanted[1])
        d->gradient[1] = TG_APPLY(&tg_op_conv2d_grad_weight, d->attributes, d->in[0], d->cotangent);
}

static double conv2d_grad_image_work(const tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    return work_of(out->inputs[1]->shape, out->shape->dim[0], &a->window);
}

TG_USUAL_OPERATION(conv2d_grad_image, 2, TG_ATTRIBUTES(convolution_attributes, convolution_fields),
                   .work = conv2d_grad_image_work);

tg_tensor tg_conv2d_grad_image(tg_tensor cotangent, tg_tensor weight, int64_t height, int64_t width, tg_window window)
{
    convolution_attributes a = attributes_of(cotangent, tg_dim(weight, 2), tg_dim(weight, 3), &window);
    a.window.size = TG_SHAPE(height, width);
    return TG_APPLY(&tg_op_conv2d_grad_image, &a, cotangent, weight);
}

/* ---- conv2d_grad_weight ---- */

static bool conv2d_grad_weight_shape(tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    const tg_shape *cotangent = out->inputs[0]->shape, *image = out->inputs[1]->shape;
    if (!tg_same_floating_type(out))
        return false;
    if (cotangent->rank != 4 || image->rank != 4 || a->window.kernel.rank != 2)
        return tg_expected(out, "expected a cotangent and images of four axes");
    const tg_shape weight = TG_SHAPE(cotangent->dim[1], image->dim[1] / (a->groups > 0 ? a->groups : 1),
                                     a->window.kernel.dim[0], a->window.kernel.dim[1]);
    if (!shapes_fit(out, image, &weight, cotangent))
        return false;
    *out->shape = weight;
    return true;
}

static void conv2d_grad_weight_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    tg_conv_sum v = convolution_of(call, out->inputs[1]->shape, out->shape);
    v.cotangent = call->in[0];
    v.image = call->in[1];
    if (out->size > 0)
        correlate(&v);
}

static void conv2d_grad_weight_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = TG_APPLY(&tg_op_conv2d, d->attributes, d->in[1], d->cotangent);
    if (d->wanted[1])
        d->gradient[1] = TG_APPLY(&tg_op_conv2d_grad_image, d->attributes, d->in[0], d->cotangent);
}

static double conv2d_grad_weight_work(const tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    return work_of(out->shape, out->inputs[0]->shape->dim[0], &a->window);
}

TG_USUAL_OPERATION(conv2d_grad_weight, 2, TG_ATTRIBUTES(convolution_attributes, convolution_fields),
                   .work = conv2d_grad_weight_work);

tg_tensor tg_conv2d_grad_weight(tg_tensor cotangent, tg_tensor image, int64_t kernel_height, int64_t kernel_width,
                                tg_window window)
{
    const convolution_attributes a = attributes_of(image, kernel_height, kernel_width, &window);
    return TG_APPLY(&tg_op_conv2d_grad_weight, &a, cotangent, image);
}
