/* Trainable activations, with one parameter for all units, or one for each channel.
 *
 *     PReLU    x for x > 0, else w x                       w = 0.25 at first (He et al., arXiv 1502.01852)
 *     swish    x sigmoid(w x)                              w = 1 (Ramachandran, Zoph and Le, arXiv 1710.05941)
 *     snake    x + sin(a x)^2 / a,   a = e^w               w = 0, a = 1 (Ziyin, Hartwig and Ueda, arXiv 2006.08195)
 *
 *     tg_learned act = tg_learned_add(set, "layers.1", TG_LEARNED_PRELU, 128);
 *     tg_tensor h = tg_learned_forward(&act, tg_linear_layer_forward(&linear, x));       // [..., 128] -> [..., 128]
 *
 * The paper's snake learns a itself, which must not become 0. Here its logarithm w is learned, as in later work (Lee et
 * al., BigVGAN, arXiv 2206.04658), so a stays positive. At 0 PReLU's derivative is w, as in PyTorch.
 */
#ifndef TG_LEARNED_H
#define TG_LEARNED_H

#include "nn/layers/layer.h"

TG_API_BEGIN

typedef enum tg_learned_function { TG_LEARNED_PRELU, TG_LEARNED_SWISH, TG_LEARNED_SNAKE } tg_learned_function;

/* "prelu", "swish", "snake"; NULL past the end. */
const char *tg_learned_name(tg_learned_function function);

typedef struct tg_learned {
    tg_learned_function function;
    tg_parameter *weight; /* [channels] */
} tg_learned;

/* Adds NAME.weight with the value above, which initialisers do not change, and without weight decay, as the PReLU paper
 * says. `channels` is 1 for one parameter for all units. The set remembers errors. */
tg_learned tg_learned_add(tg_parameters *set, const char *name, tg_learned_function function, int64_t channels);

/* x -> the same shape. Channels are axis 1 of images, [batch, channels, height, width], and the last axis of other
 * tensors. */
tg_tensor tg_learned_forward(const tg_learned *layer, tg_tensor x);

TG_API_END
#endif
