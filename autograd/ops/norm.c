/* Normalisation of rows, and the layers' norms made of it. */
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

static tg_tensor row_means(tg_tensor a, tg_tensor b)
{
    return tg_mean_over(tg_mul(a, b), TG_AXES(-1), true);
}

static tg_tensor without_mean(tg_tensor x)
{
    return tg_sub(x, tg_mean_over(x, TG_AXES(-1), true));
}

/* With the cotangent h and F = sum h out for each row. The operation is a symmetric matrix times g, so g takes it of h.
 * x stands in s and in u:
 *
 *     dF/ds = F / s,  ds/dx = -s^2 u / n;      dF/du = -s (h mean(g u) + g mean(h u)) = -k,  and k goes through u to x
 *
 * g and h are used without their means. The means cancel, as sum u = 0, and would add only rounding errors. */
static void normalize_grad_derivative(const tg_derive *d)
{
    const normalize_attributes *a = d->attributes;
    const tg_tensor x = d->in[1];
    if (d->wanted[0])
        d->gradient[0] = tg_normalize_grad(d->cotangent, x, a->centred, a->epsilon);
    if (!d->wanted[1])
        return;
    tg_tensor g = a->centred ? without_mean(d->in[0]) : d->in[0];
    tg_tensor h = a->centred ? without_mean(d->cotangent) : d->cotangent;
    tg_tensor square = a->centred ? tg_var_over(x, TG_AXES(-1), 0, true) : row_means(x, x);
    tg_tensor s = tg_rsqrt(tg_add_scalar(square, a->epsilon)), u = tg_normalize(x, a->centred, a->epsilon);
    tg_tensor g_means = tg_mul(g, row_means(h, u));
    tg_tensor k = tg_mul(s, tg_add(tg_mul(h, row_means(g, u)), g_means));
    tg_tensor through_u = tg_normalize_grad(k, x, a->centred, a->epsilon);
    tg_tensor through_s = tg_mul(u, tg_mul(s, row_means(h, d->out)));
    d->gradient[1] = tg_neg(tg_add(through_u, through_s));
}

TG_ROWS_FORWARD(normalize_grad, normalize_grad_rows, r->in[0], r->in[1], of(out)->centred, of(out)->epsilon)
TG_USUAL_OPERATION(normalize_grad, 2, TG_ATTRIBUTES(normalize_attributes, normalize_fields));

tg_tensor tg_normalize_grad(tg_tensor cotangent, tg_tensor x, bool centred, double epsilon)
{
    return TG_APPLY(&tg_op_normalize_grad, (&(normalize_attributes){centred, epsilon}), cotangent, x);
}

/* ---- the norms of layers: normalised, then scaled and shifted ---- */

/* x weight + bias, either of which may be missing. Both are vectors of `size` elements; they are reshaped to `as`. */
static tg_tensor affine(const char *operation, tg_tensor x, tg_tensor weight, tg_tensor bias, int64_t size, tg_shape as)
{
    const tg_tensor given[2] = {weight, bias};
    for (int i = 0; i < 2; i++)
        if (tg_ok(given[i]) && (tg_rank(given[i]) != 1 || tg_size(given[i]) != size))
            return tg_refuse(operation, given[i], "expected a %s [%lld]", i == 0 ? "weight" : "bias", (long long)size);
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
    const tg_tensor blocks = with_channels("batch_norm", x);
    const int64_t batch = tg_dim(blocks, 0), channels = tg_dim(blocks, 1), length = tg_dim(blocks, 2);
    tg_tensor rows = tg_reshape(tg_transpose(blocks, 0, 1), TG_SHAPE(channels, batch * length));
    tg_no_grad_begin(tg_tape_of(x));
    if (mean)
        *mean = tg_mean_over(blocks, TG_AXES(0, 2), false);
    if (variance)
        *variance = tg_var_over(rows, TG_AXES(1), 1, false);
    tg_no_grad_end(tg_tape_of(x));
    rows = affine("batch_norm", tg_normalize(rows, true, epsilon), weight, bias, channels, TG_SHAPE(channels, 1));
    tg_tensor back = tg_transpose(tg_reshape(rows, TG_SHAPE(channels, batch, length)), 0, 1);
    return tg_reshape(back, tg_shape_of(x));
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
