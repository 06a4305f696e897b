/* Normalisation layers, of any kind behind one interface: LayerNorm, RMSNorm, BatchNorm, GroupNorm.
 *
 *     layer   [..., size], each row by itself       w (x - mean) / sqrt(variance + epsilon) + b
 *     rms     [..., size], each row by itself       w x / sqrt(mean(x^2) + epsilon)
 *     batch   [batch, size, ...], each channel over all the rest: w (x - mean) / sqrt(variance + epsilon) + b, with the
 * mean and variance of the batch in training, in evaluation with those that were seen, on average, in training group
 * [batch, size, ...], the channels of each sample in `groups` equal groups, 1 at first: GroupNorm
 *
 *     tg_norm_layer norm = tg_norm_layer_add(set, "ln_1", TG_NORM_LAYER, 768, 0);      // epsilon 1e-5
 *     tg_tensor y = tg_norm_layer_forward(&norm, x, NULL);                             // like x
 *
 * Ba, Kiros and Hinton, arXiv 1607.06450; Zhang and Sennrich, arXiv 1910.07467; Ioffe and Szegedy, arXiv 1502.03167; Wu
 * and He, arXiv 1803.08494.
 */
#ifndef TG_NORM_H
#define TG_NORM_H

#include "autograd/ops.h"
#include "autograd/parameters.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef enum tg_norm {
#define TG_NORM(constant, name, epsilon, has_bias, has_statistics, function, formula) constant,
#include "nn/layers/norms.def"
#undef TG_NORM
} tg_norm;

/* "none", "layer", "rms", "batch", "group", and back; NULL, or false and nothing written, where there is none. */
const char *tg_norm_name(tg_norm norm);
bool tg_norm_from_name(const char *name, tg_norm *norm);

/* The number of trained parameters of a normalisation of this size. */
int64_t tg_norm_parameters(tg_norm norm, int64_t size);

typedef struct tg_norm_layer {
    tg_norm kind;
    double epsilon, momentum;      /* momentum of running statistics: new = (1 - momentum) old + momentum batch; 0.1 */
    tg_parameter *weight;          /* [size], 1 at first; NULL for TG_NORM_NONE */
    tg_parameter *bias;            /* [size], 0 at first; NULL for TG_NORM_RMS */
    int groups;                    /* of TG_NORM_GROUP */
    tg_parameter *mean, *variance; /* [size], running statistics of TG_NORM_BATCH, not trained: 0 and 1 at first */
} tg_norm_layer;

/* Adds NAME.weight, NAME.bias, NAME.running_mean and NAME.running_var, as far as the kind has them; none of them
 * decays. epsilon 0 stands for 1e-5, 1e-6 for TG_NORM_RMS. Errors are remembered by the set. */
tg_norm_layer tg_norm_layer_add(tg_parameters *set, const char *name, tg_norm kind, int64_t size, double epsilon);

/* Like x. `training` is the generator of a training pass, NULL means evaluation. A batch norm's pass in training needs
 * two numbers for each channel at least, and moves the running statistics, with the unbiased variance, as in PyTorch; a
 * step with it cannot be replayed. Statistics of a batch that are infinite or NaN are left out, as tg_optimizer_step
 * leaves out such gradients. A pass in evaluation is differentiated with the statistics that it was computed with. */
tg_tensor tg_norm_layer_forward(const tg_norm_layer *layer, tg_tensor x, tg_rng *training);

TG_API_END
#endif
