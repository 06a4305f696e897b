/* Normalisation layers behind one interface: LayerNorm, RMSNorm, BatchNorm, GroupNorm.
 *
 *     layer   [..., size], each row by itself       w (x - mean) / sqrt(variance + epsilon) + b
 *     rms     [..., size], each row by itself       w x / sqrt(mean(x^2) + epsilon)
 *     batch   [batch, size, ...], each channel over all other axes: as layer, with the statistics of the batch in
 *             training, and with their running averages in evaluation
 *     group   [batch, size, ...], each sample, its channels in `groups` equal groups (1 at first): as layer
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

/* Converts to the name, "none", "layer", "rms", "batch", "group", and back; NULL, or false with nothing written, if
 * unknown. */
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

/* Adds those of NAME.weight, NAME.bias, NAME.running_mean and NAME.running_var that the kind has, all without weight
 * decay. epsilon 0 means 1e-5, or 1e-6 for TG_NORM_RMS. The set remembers errors. */
tg_norm_layer tg_norm_layer_add(tg_parameters *set, const char *name, tg_norm kind, int64_t size, double epsilon);

/* Like x. `training` is the generator of a training pass, NULL means evaluation. Batch norm in training needs at least
 * two numbers for each channel. It updates the running statistics, with the unbiased variance, as in PyTorch; such a
 * step cannot be replayed. Infinite or NaN statistics of a batch are skipped, as tg_optimizer_step skips such
 * gradients. A pass in evaluation is differentiated with the statistics that it was computed with. */
tg_tensor tg_norm_layer_forward(const tg_norm_layer *layer, tg_tensor x, tg_rng *training);

TG_API_END
#endif
