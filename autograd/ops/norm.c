/* Normalisation of rows, and the layers' norms made of it. */
#include "autograd/kernels/parallel.h"
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/ops/rows.h"

typedef struct normalize_attributes {
    int64_t centred; /* 0 or 1, and no gap before the next one */
    double epsilon;
} normalize_attributes;

static const tg_field normalize_fields[] = {TG_FIELD(normalize_attributes, centred, TG_FIELD_BOOL),
                                            TG_FIELD(normalize_attributes, epsilon, TG_FIELD_REAL),
                                            {0}};
#include "autograd/ops/samples/norm.h"

/* ---- normalize: each row (x - mean) / sqrt(variance + epsilon), or x / sqrt(mean(x^2) + epsilon) ---- */

static const normalize_attributes *of(const tg_value *out)
{
    return out->attributes;
}

static bool normalize_shape(tg_value *out)
{
    return tg_shape_same_floating(out) &&
           (out->shape->rank > 0 || tg_expected(out, "a scalar has no row to normalise"));
}

static void normalize_derivative(const tg_derive *d)
{
    const normalize_attributes *a = d->attributes;
    d->gradient[0] = tg_normalize_grad(d->cotangent, d->in[0], a->centred, a->epsilon);
}

TG_ROWS_FORWARD(normalize, normalize_rows, r->in[0], of(out)->centred, of(out)->epsilon)
TG_USUAL_OPERATION(normalize, 1, TG_ATTRIBUTES(normalize_attributes, normalize_fields));

tg_tensor tg_normalize(tg_tensor x, bool centred, double epsilon)
{
    return TG_APPLY(&tg_op_normalize, (&(normalize_attributes){centred, epsilon}), x);
}

/* ---- normalize_grad: with u = normalize(x) = (x - mean) s, it is s (g - mean g - u mean(g u)) ---- */

static bool normalize_grad_shape(tg_value *out)
{
    return tg_inputs_alike(out, 2) && normalize_shape(out);
}

static tg_tensor means(tg_tensor a, tg_tensor b, tg_axes axes)
{
    return tg_mean_over(tg_mul(a, b), axes, true);
}

static tg_tensor without_mean(tg_tensor x, tg_axes axes)
{
    return tg_sub(x, tg_mean_over(x, axes, true));
}

/* What the derivatives of rows and of channels differ in: which axes a row has, its variance, or mean square if not
 * centred, and the two functions without weight and bias. */
typedef struct layout {
    tg_axes axes;
    tg_tensor (*variance)(tg_tensor x, const normalize_attributes *a);
    tg_tensor (*normalize)(tg_tensor x, const normalize_attributes *a);
    tg_tensor (*grad)(tg_tensor cotangent, tg_tensor x, const normalize_attributes *a);
} layout;

/* The gradient by x of normalize_grad(g, x), its result, with the cotangent h. With F = sum h result for each row, x
 * stands in s and in u:
 *
 *     dF/ds = F / s,  ds/dx = -s^2 u / n;      dF/du = -s (h mean(g u) + g mean(h u)) = -k,  and k goes through u to x
 *
 * g and h are used without their means. The means cancel, as sum u = 0, and would add only rounding errors. */
static tg_tensor gradient_by_x(const layout *l, const normalize_attributes *a, tg_tensor g, tg_tensor h, tg_tensor x,
                               tg_tensor result)
{
    g = a->centred ? without_mean(g, l->axes) : g;
    h = a->centred ? without_mean(h, l->axes) : h;
    const tg_tensor s = tg_rsqrt(tg_add_scalar(l->variance(x, a), a->epsilon)), u = l->normalize(x, a);
    const tg_tensor g_means = tg_mul(g, means(h, u, l->axes));
    const tg_tensor k = tg_mul(s, tg_add(tg_mul(h, means(g, u, l->axes)), g_means));
    const tg_tensor through_u = l->grad(k, x, a), through_s = tg_mul(u, tg_mul(s, means(h, result, l->axes)));
    return tg_neg(tg_add(through_u, through_s));
}

static tg_tensor rows_variance(tg_tensor x, const normalize_attributes *a)
{
    return a->centred ? tg_var_over(x, TG_AXES(-1), 0, true) : means(x, x, TG_AXES(-1));
}

static tg_tensor rows_normalized(tg_tensor x, const normalize_attributes *a)
{
    return tg_normalize(x, a->centred, a->epsilon);
}

static tg_tensor rows_grad(tg_tensor cotangent, tg_tensor x, const normalize_attributes *a)
{
    return tg_normalize_grad(cotangent, x, a->centred, a->epsilon);
}

/* The operation is a symmetric matrix times g, so g takes it of the cotangent. */
static void normalize_grad_derivative(const tg_derive *d)
{
    const layout rows = {TG_AXES(-1), rows_variance, rows_normalized, rows_grad};
    const normalize_attributes *a = d->attributes;
    if (d->wanted[0])
        d->gradient[0] = tg_normalize_grad(d->cotangent, d->in[1], a->centred, a->epsilon);
    if (d->wanted[1])
        d->gradient[1] = gradient_by_x(&rows, a, d->in[0], d->cotangent, d->in[1], d->out);
}

TG_ROWS_FORWARD(normalize_grad, normalize_grad_rows, r->in[0], r->in[1], of(out)->centred, of(out)->epsilon)
TG_USUAL_OPERATION(normalize_grad, 2, TG_ATTRIBUTES(normalize_attributes, normalize_fields));

tg_tensor tg_normalize_grad(tg_tensor cotangent, tg_tensor x, bool centred, double epsilon)
{
    return TG_APPLY(&tg_op_normalize_grad, (&(normalize_attributes){centred, epsilon}), cotangent, x);
}

/* ---- the same for channels of [batch, channels, n], with a weight and a bias [channels]: y = u weight + bias
 *
 * Its gradients by x, weight and bias, weight normalize_grad(g, x), sum(g u) and sum(g), are one operation with one
 * result, as they need the same sums: the elements of x, and then the two of each channel, [channels] each. ---- */

static const tg_shape *images_of(const tg_value *out, int number)
{
    return out->inputs[number]->shape;
}

/* Inputs 0 .. `images` - 1 are images of the same shape, all others a number for each channel. */
static bool channels_fit(tg_value *out, int images)
{
    if (!tg_same_floating_type(out))
        return false;
    if (images_of(out, 0)->rank != 3)
        return tg_expected(out, "expected [batch, channels, length]");
    for (int i = 1; i < out->input_count; i++) {
        const tg_shape expected = i < images ? *images_of(out, 0) : TG_SHAPE(images_of(out, 0)->dim[1]);
        if (!tg_shape_equal(images_of(out, i), &expected))
            return tg_expected(out, i < images ? "expected a cotangent of the same shape"
                                               : "expected a number for each channel");
    }
    return true;
}

/* Channels of a call, for the kernel of its operation. */
typedef struct some_channels {
    const tg_call *call;
    void (*work)(const struct some_channels *s, size_t first, size_t count, const tg_shape *images);
} some_channels;

static const void *from_channel(const some_channels *s, int input, size_t channel)
{
    const tg_value *in = s->call->value->inputs[input];
    const size_t each = in->shape->rank == 3 ? (size_t)in->shape->dim[2] : 1;
    return (const char *)s->call->in[input] + channel * each * tg_dtype_size(in->dtype);
}

static void *to_channel(const some_channels *s, size_t channel, size_t each)
{
    return (char *)s->call->out + channel * each * tg_dtype_size(s->call->value->dtype);
}

/* A tg_parallel_part: channels. */
static void work_on_channels(void *context, size_t first, size_t count)
{
    const some_channels *s = context;
    s->work(s, first, count, s->call->value->inputs[0]->shape);
}

static void over_channels(const tg_call *call,
                          void (*work)(const some_channels *s, size_t first, size_t count, const tg_shape *images))
{
    enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */
    const tg_shape *images = call->value->inputs[0]->shape;
    const int64_t each = images->dim[0] * images->dim[2];
    some_channels s = {call, work};
    tg_parallel((size_t)images->dim[1], (size_t)(WORTH_SHARING / (each + 1) + 1), 1, work_on_channels, &s);
}

/* NAME_forward by the kernel NAME, which takes `images` and then what follows. */
#define CHANNELS_FORWARD(name, ...)                                                                                  \
    static void name##_of(const some_channels *s, size_t first, size_t count, const tg_shape *images)                \
    {                                                                                                                \
        const size_t batch = (size_t)images->dim[0], n = (size_t)images->dim[2], apart = (size_t)images->dim[1] * n; \
        TG_KERNEL_CALL(s->call->value->dtype, name, batch, count, n, apart, __VA_ARGS__);                            \
    }                                                                                                                \
    static void name##_forward(const tg_call *call)                                                                  \
    {                                                                                                                \
        over_channels(call, name##_of);                                                                              \
    }
#define EPSILON of(s->call->value)->epsilon

static bool normalize_channels_shape(tg_value *out)
{
    *out->shape = *images_of(out, 0);
    return channels_fit(out, 1);
}

/* The parts of the gradients, or of a cotangent for them: 0 for x, of this shape, 1 for the weight, 2 for the bias. */
static tg_tensor part(tg_tensor gradients, int number, tg_shape shape)
{
    const int64_t channels = shape.dim[1], size = tg_size(gradients) - 2 * channels;
    const tg_tensor all =
        tg_narrow(gradients, 0, number == 0 ? 0 : size + (number - 1) * channels, number == 0 ? size : channels);
    return number == 0 ? tg_reshape(all, shape) : all;
}

static void normalize_channels_derivative(const tg_derive *d)
{
    const double epsilon = ((const normalize_attributes *)d->attributes)->epsilon;
    const tg_tensor all = tg_normalize_channels_grad(d->cotangent, d->in[0], d->in[1], epsilon);
    for (int i = 0; i < 3; i++)
        if (d->wanted[i])
            d->gradient[i] = part(all, i, tg_shape_of(d->in[0]));
}

CHANNELS_FORWARD(normalize_channels, from_channel(s, 0, first), from_channel(s, 1, first), from_channel(s, 2, first),
                 EPSILON, to_channel(s, first, n))
TG_USUAL_OPERATION(normalize_channels, 3, TG_ATTRIBUTES(normalize_attributes, normalize_fields));

tg_tensor tg_normalize_channels(tg_tensor x, tg_tensor weight, tg_tensor bias, double epsilon)
{
    return TG_APPLY(&tg_op_normalize_channels, (&(normalize_attributes){true, epsilon}), x, weight, bias);
}

static bool normalize_channels_grad_shape(tg_value *out)
{
    if (!channels_fit(out, 2))
        return false;
    *out->shape = TG_SHAPE(out->inputs[0]->size + 2 * images_of(out, 0)->dim[1]);
    return true;
}

/* For channels of x, each with this weight, or bias. */
static tg_tensor all(tg_tensor x, double number)
{
    return tg_full(tg_tape_of(x), tg_dtype_of(x), TG_SHAPE(tg_dim(x, 1)), number);
}

static tg_tensor channels_variance(tg_tensor x, const normalize_attributes *a)
{
    (void)a;
    return tg_reshape(tg_var_over(tg_transpose(x, 0, 1), TG_AXES(1, 2), 0, false), TG_SHAPE(tg_dim(x, 1), 1));
}

static tg_tensor channels_normalized(tg_tensor x, const normalize_attributes *a)
{
    return tg_normalize_channels(x, all(x, 1), all(x, 0), a->epsilon);
}

static tg_tensor grad_of_channels(tg_tensor g, tg_tensor x, tg_tensor weight, const normalize_attributes *a)
{
    return part(tg_normalize_channels_grad(g, x, weight, a->epsilon), 0, tg_shape_of(x));
}

static tg_tensor channels_grad(tg_tensor g, tg_tensor x, const normalize_attributes *a)
{
    return grad_of_channels(g, x, all(x, 1), a);
}

/* All is linear in g: the part for x is a symmetric matrix times g, and those for weight and bias are the adjoint of
 * normalize_channels by them. */
static void normalize_channels_grad_derivative(const tg_derive *d)
{
    const layout channels = {TG_AXES(0, 2), channels_variance, channels_normalized, channels_grad};
    const normalize_attributes *a = d->attributes;
    const tg_tensor g = d->in[0], x = d->in[1], weight = d->in[2];
    const tg_shape shape = tg_shape_of(x);
    const tg_tensor h = part(d->cotangent, 0, shape), of_weight = part(d->cotangent, 1, shape),
                    of_bias = part(d->cotangent, 2, shape);
    if (d->wanted[0])
        d->gradient[0] =
            tg_add(grad_of_channels(h, x, weight, a), tg_normalize_channels(x, of_weight, of_bias, a->epsilon));
    if (d->wanted[1]) {
        const tg_tensor weighted = tg_mul(g, tg_reshape(weight, TG_SHAPE(shape.dim[1], 1)));
        d->gradient[1] = tg_add(gradient_by_x(&channels, a, weighted, h, x, part(d->out, 0, shape)),
                                grad_of_channels(g, x, of_weight, a));
    }
    if (d->wanted[2])
        d->gradient[2] = tg_sum_over(tg_mul(h, channels_grad(g, x, a)), TG_AXES(0, 2), false);
}

/* The channel's number for the weight, 0, or the bias, 1. */
static void *to_number(const some_channels *s, size_t channel, int64_t which)
{
    const tg_value *x = s->call->value->inputs[1];
    return to_channel(s, (size_t)(x->size + which * x->shape->dim[1]) + channel, 1);
}

CHANNELS_FORWARD(normalize_channels_grad, from_channel(s, 0, first), from_channel(s, 1, first),
                 from_channel(s, 2, first), EPSILON, to_channel(s, first, n), to_number(s, first, 0),
                 to_number(s, first, 1))
TG_USUAL_OPERATION(normalize_channels_grad, 3, TG_ATTRIBUTES(normalize_attributes, normalize_fields));

tg_tensor tg_normalize_channels_grad(tg_tensor cotangent, tg_tensor x, tg_tensor weight, double epsilon)
{
    return TG_APPLY(&tg_op_normalize_channels_grad, (&(normalize_attributes){true, epsilon}), cotangent, x, weight);
}

/* ---- channel_moments: [2, channels], mean and variance, divided by one less than the count ---- */

static bool channel_moments_shape(tg_value *out)
{
    *out->shape = TG_SHAPE(2, images_of(out, 0)->rank == 3 ? images_of(out, 0)->dim[1] : 0);
    return channels_fit(out, 1);
}

/* [channels] of row 0 or 1, for each image. */
static tg_tensor moment(tg_tensor of, int row)
{
    return tg_reshape(tg_narrow(of, 0, row, 1), TG_SHAPE(tg_dim(of, 1), 1));
}

/* h0 / n + h1 2 (x - mean) / (n - 1) */
static void channel_moments_derivative(const tg_derive *d)
{
    const tg_tensor x = d->in[0], deviation = tg_sub(x, moment(d->out, 0));
    const double n = (double)tg_dim(x, 0) * (double)tg_dim(x, 2);
    d->gradient[0] = tg_mul_add(deviation, tg_mul_scalar(moment(d->cotangent, 1), 2 / (n - 1)),
                                tg_mul_scalar(moment(d->cotangent, 0), 1 / n));
}

CHANNELS_FORWARD(channel_moments, from_channel(s, 0, first), to_channel(s, first, 1),
                 to_channel(s, (size_t)images->dim[1] + first, 1))
TG_USUAL_OPERATION(channel_moments, 1);

tg_tensor tg_channel_moments(tg_tensor x)
{
    return TG_APPLY(&tg_op_channel_moments, NULL, x);
}

/* ---- the norms of layers: normalised, then scaled and shifted ---- */

/* False, with the error recorded, unless weight and bias are missing or vectors of `size` elements. */
static bool affine_fits(const char *operation, tg_tensor weight, tg_tensor bias, int64_t size)
{
    const tg_tensor given[2] = {weight, bias};
    for (int i = 0; i < 2; i++)
        if (tg_ok(given[i]) && (tg_rank(given[i]) != 1 || tg_size(given[i]) != size)) {
            tg_refuse(operation, given[i], "expected a %s [%lld]", i == 0 ? "weight" : "bias", (long long)size);
            return false;
        }
    return true;
}

/* x weight + bias, either of which may be missing; they are reshaped to `as`. */
static tg_tensor affine(const char *operation, tg_tensor x, tg_tensor weight, tg_tensor bias, int64_t size, tg_shape as)
{
    if (!affine_fits(operation, weight, bias, size))
        return TG_NONE;
    tg_tensor w = weight.value ? tg_reshape(weight, as) : TG_NONE, b = bias.value ? tg_reshape(bias, as) : TG_NONE;
    if (weight.value && bias.value)
        return tg_mul_add(x, w, b);
    return weight.value ? tg_mul(x, w) : bias.value ? tg_add(x, b) : x;
}

tg_tensor tg_layer_norm(tg_tensor x, tg_tensor weight, tg_tensor bias, double epsilon)
{
    const int64_t size = tg_dim(x, -1);
    return affine("layer_norm", tg_normalize(x, true, epsilon), weight, bias, size, TG_SHAPE(size));
}

tg_tensor tg_rms_norm(tg_tensor x, tg_tensor weight, double epsilon)
{
    const int64_t size = tg_dim(x, -1);
    return affine("rms_norm", tg_normalize(x, false, epsilon), weight, TG_NONE, size, TG_SHAPE(size));
}

/* [N, C, ...] as [N, C, L]; inert, with the error recorded, if there are no channels. */
static tg_tensor with_channels(const char *operation, tg_tensor x)
{
    const tg_shape shape = tg_shape_of(x);
    if (shape.rank < 2)
        return tg_refuse(operation, x, "expected [batch, channels, ...]");
    const tg_blocks b = tg_blocks_of(&shape, 1, 1);
    return tg_reshape(x, TG_SHAPE(b.outer, b.n, b.inner));
}

tg_tensor tg_batch_norm_moments(tg_tensor x, tg_tensor weight, tg_tensor bias, double epsilon, tg_tensor *mean,
                                tg_tensor *variance)
{
    enum { SHORT = 16 }; /* parts of a channel, which is copied into one row rather than read part by part */
    const tg_tensor blocks = with_channels("batch_norm", x);
    const int64_t batch = tg_dim(blocks, 0), channels = tg_dim(blocks, 1), length = tg_dim(blocks, 2);
    const bool copied = length < SHORT;
    const tg_tensor rows =
        copied ? tg_reshape(tg_transpose(blocks, 0, 1), TG_SHAPE(1, channels, batch * length)) : blocks;
    tg_no_grad_begin(tg_tape_of(x));
    const tg_tensor moments = mean || variance ? tg_channel_moments(rows) : TG_NONE;
    if (mean)
        *mean = tg_reshape(tg_narrow(moments, 0, 0, 1), TG_SHAPE(channels));
    if (variance)
        *variance = tg_reshape(tg_narrow(moments, 0, 1, 1), TG_SHAPE(channels));
    tg_no_grad_end(tg_tape_of(x));
    if (!affine_fits("batch_norm", weight, bias, channels))
        return TG_NONE;
    const tg_tensor y =
        tg_normalize_channels(rows, weight.value ? weight : all(rows, 1), bias.value ? bias : all(rows, 0), epsilon);
    return tg_reshape(copied ? tg_transpose(tg_reshape(y, TG_SHAPE(channels, batch, length)), 0, 1) : y,
                      tg_shape_of(x));
}

tg_tensor tg_batch_norm(tg_tensor x, tg_tensor weight, tg_tensor bias, double epsilon)
{
    return tg_batch_norm_moments(x, weight, bias, epsilon, NULL, NULL);
}

tg_tensor tg_batch_norm_with(tg_tensor x, tg_tensor mean, tg_tensor variance, tg_tensor weight, tg_tensor bias,
                             double epsilon)
{
    tg_tensor blocks = with_channels("batch_norm", x);
    const int64_t channels = tg_dim(blocks, 1);
    tg_tensor scale = tg_rsqrt(tg_add_scalar(variance, epsilon));
    if (weight.value)
        scale = tg_mul(scale, weight);
    tg_tensor offset = tg_neg(tg_mul(mean, scale));
    if (bias.value)
        offset = tg_add(offset, bias);
    return tg_reshape(affine("batch_norm", blocks, scale, offset, channels, TG_SHAPE(channels, 1)), tg_shape_of(x));
}

tg_tensor tg_group_norm(tg_tensor x, int groups, tg_tensor weight, tg_tensor bias, double epsilon)
{
    tg_tensor blocks = with_channels("group_norm", x);
    const int64_t batch = tg_dim(blocks, 0), channels = tg_dim(blocks, 1), length = tg_dim(blocks, 2);
    if (tg_ok(blocks) && (groups < 1 || groups > channels || channels % groups != 0))
        return tg_refuse("group_norm", x, "%lld channels do not divide into %d equal groups", (long long)channels,
                         groups);
    const int64_t row = groups > 0 ? channels / groups * length : 0;
    tg_tensor rows = tg_normalize(tg_reshape(blocks, TG_SHAPE(batch * groups, row)), true, epsilon);
    tg_tensor back = tg_reshape(rows, TG_SHAPE(batch, channels, length));
    return tg_reshape(affine("group_norm", back, weight, bias, channels, TG_SHAPE(channels, 1)), tg_shape_of(x));
}
