/* The operations: every line of ops.def as a function tg_NAME, and the shorthands below.
 *
 *     tg_tensor loss = tg_mean(tg_square(tg_sub(y, target)));
 */
#ifndef TG_OPS_H
#define TG_OPS_H

#include "autograd/apply.h"
#include "autograd/leaf.h"
#include "autograd/rng.h"

TG_API_BEGIN

/* A set of axes; negative ones count from the end. TG_AXES(0, -1), or TG_ALL_AXES. */
typedef struct tg_axes {
    int count; /* 0 means all axes */
    int axis[TG_MAX_RANK];
} tg_axes;

#ifdef __cplusplus
#define TG_AXES(...) (tg_axes_from(__VA_ARGS__))
#define TG_ALL_AXES  (tg_axes())
#else
#define TG_AXES(...) ((tg_axes){.count = (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), .axis = {__VA_ARGS__}})
#define TG_ALL_AXES  ((tg_axes){.count = 0})
#endif

/* How windows slide over images: {height, width}, or {length} alone in one dimension. 0 means the default: stride and
 * dilation 1 (for a pool, stride is the kernel's size, so that windows do not overlap), groups 1, no padding. */
typedef struct tg_window {
    int stride[2];
    int padding[2];  /* number of zeros on either side; a max pool ignores them */
    int dilation[2]; /* distance between neighbouring elements of a window */
    int groups;      /* of channels, convolved separately; convolutions only */
} tg_window;

/* Placeholder for an optional tensor that is not given. */
#ifdef __cplusplus
#define TG_NONE (tg_tensor())
#else
#define TG_NONE ((tg_tensor){0})
#endif

#define TG_OP(function, op, parameters, formula) \
    extern const tg_op op;                       \
    tg_tensor function parameters;
#include "autograd/ops.def"

/* ---- shorthands: compositions of the operations above ---- */

/* The sum of all elements, a scalar. */
tg_tensor tg_sum(tg_tensor x);

/* The mean of all elements, a scalar; or over these axes, which are kept with size 1 if `keep`. NaN if there are no
 * elements. */
tg_tensor tg_mean(tg_tensor x);
tg_tensor tg_mean_over(tg_tensor x, tg_axes axes, bool keep);

/* x summed to `shape`, which must broadcast to x's shape: the adjoint of tg_expand. */
tg_tensor tg_sum_to(tg_tensor x, tg_shape shape);

/* -x. */
tg_tensor tg_neg(tg_tensor x);

/* tg_cross_entropy with label smoothing: the target is smoothing / classes for each class, plus 1 - smoothing for the
 * label. Rows whose label is ignore_index do not count (TG_NO_LABEL: all count). */
enum { TG_NO_LABEL = INT32_MIN };
tg_tensor tg_cross_entropy_with(tg_tensor logits, tg_tensor labels, double smoothing, int ignore_index);

/* The mean of -l at each row's label, for log-probabilities l [..., classes] as from tg_log_softmax. */
tg_tensor tg_nll(tg_tensor log_probabilities, tg_tensor labels);

/* The mean over rows of -sum p log softmax(logits) along the last axis: cross-entropy with a target distribution p for
 * each row, or one for all rows. */
tg_tensor tg_cross_entropy_to(tg_tensor logits, tg_tensor probabilities);

/* The stochastic GELU of Hendrycks and Gimpel (2016, "SOI map"), for training: x with probability Phi(x), else 0. Its
 * mean is gelu_exact(x); use that in evaluation. Its derivative is 1 where x was kept and 0 elsewhere; the mean of the
 * derivative is Phi(x), not the derivative of gelu_exact. */
tg_tensor tg_stochastic_gelu(tg_tensor x, tg_tensor stream);

/* x with two of its axes swapped. */
tg_tensor tg_transpose(tg_tensor x, int axis, int other);

/* The tensors, of one shape, along a new axis. */
tg_tensor tg_stack(const tg_tensor *tensors, int count, int axis);

/* Splits x along an axis into `count` equal parts; false, and inert parts, if the size of the axis is not divisible. */
bool tg_split(tg_tensor x, int axis, int count, tg_tensor *parts);

/* x in reverse order along these axes. */
tg_tensor tg_flip(tg_tensor x, tg_axes axes);

/* x padded with the value `fill`: before[i] elements before axis i and after[i] behind it, tg_rank(x) numbers each. */
tg_tensor tg_pad(tg_tensor x, tg_shape before, tg_shape after, double fill);

/* Repeats each element along an axis: a a b b. Or x as a whole: a b a b; the list is for the last axes. */
tg_tensor tg_repeat(tg_tensor x, int axis, int64_t times);
tg_tensor tg_tile(tg_tensor x, tg_shape times);

/* Rows of a table [entries, ...] by number: [index's axes, ...]. */
tg_tensor tg_embedding(tg_tensor table, tg_tensor index);

/* a b, a^T b, a b^T or a^T b^T of the matrices in the last two axes, without a transposed copy. The rank of both is at
 * least 2. */
tg_tensor tg_matmul_transposed(tg_tensor a, tg_tensor b, bool transpose_a, bool transpose_b);

/* The inner product of two vectors of the same length, a scalar; and their outer product [size of a, size of b]. */
tg_tensor tg_dot(tg_tensor a, tg_tensor b);
tg_tensor tg_outer(tg_tensor a, tg_tensor b);

/* Normalises rows of the last axis to mean 0 and variance 1 (layer_norm) or to mean square 1 (rms_norm), multiplies by
 * a weight [size] and adds a bias [size]; either may be TG_NONE. epsilon is added to the variance: 1e-5 usually, 1e-12
 * in BERT. */
tg_tensor tg_layer_norm(tg_tensor x, tg_tensor weight, tg_tensor bias, double epsilon);
tg_tensor tg_rms_norm(tg_tensor x, tg_tensor weight, double epsilon);

/* Batch norm of x [batch, channels, ...]. In training each channel is normalised over all other axes by its own mean
 * and variance; in evaluation by the given mean and variance, [channels] each. Weight and bias as above, [channels]. */
tg_tensor tg_batch_norm(tg_tensor x, tg_tensor weight, tg_tensor bias, double epsilon);

/* The same, with the mean and the variance (divided by count - 1) of each channel, [channels], as constants: for
 * running statistics. */
tg_tensor tg_batch_norm_moments(tg_tensor x, tg_tensor weight, tg_tensor bias, double epsilon, tg_tensor *mean,
                                tg_tensor *variance);
tg_tensor tg_batch_norm_with(tg_tensor x, tg_tensor mean, tg_tensor variance, tg_tensor weight, tg_tensor bias,
                             double epsilon);

/* Group norm: the channels of each sample are normalised in `groups` equal groups. */
tg_tensor tg_group_norm(tg_tensor x, int groups, tg_tensor weight, tg_tensor bias, double epsilon);

/* softmax(query key^T / sqrt(size)) value: query [..., positions, size], key [..., others, size], value [..., others,
 * any]; leading axes broadcast. The mask, of the same type, broadcasts to [..., positions, others]; 0 means masked,
 * TG_NONE means no mask. With `causal`, position i attends to others 0 to i only. A position where all others are
 * masked gives zeros. */
tg_tensor tg_scaled_dot_product_attention(tg_tensor query, tg_tensor key, tg_tensor value, tg_tensor mask, bool causal);

/* Splits columns into heads: [..., positions, heads size] -> [heads, ..., positions, size], and merges them again.
 * Heads come first, so that consecutive heads are contiguous in memory. */
tg_tensor tg_split_heads(tg_tensor x, int64_t heads);
tg_tensor tg_merge_heads(tg_tensor x);

/* tg_conv2d in one dimension: x [batch, channels, length], weight [out, channels / groups, kernel], bias [out] or
 * TG_NONE. */
tg_tensor tg_conv1d(tg_tensor x, tg_tensor weight, tg_tensor bias, tg_window window);

/* The mean of each window, zeros of the padding included; and pools in one dimension, of x [batch, channels,
 * length]. */
tg_tensor tg_average_pool2d(tg_tensor x, int kernel_height, int kernel_width, tg_window window);
tg_tensor tg_max_pool1d(tg_tensor x, int kernel, tg_window window);
tg_tensor tg_average_pool1d(tg_tensor x, int kernel, tg_window window);

TG_API_END

#ifdef __cplusplus
template <typename... Axes>
inline tg_axes tg_axes_from(Axes... axes)
{
    static_assert(sizeof...(axes) <= std::size_t(TG_MAX_RANK), "there are at most TG_MAX_RANK axes");
    return tg_axes{int(sizeof...(axes)), {tg_integer<int>(axes)...}};
}
#endif
#endif
