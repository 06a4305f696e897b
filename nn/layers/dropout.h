/* Inverted dropout (Srivastava et al., 2014): evaluation needs no scaling.
 *
 *     h = tg_dropout_forward(h, 0.1, &rng);       // in training
 *     h = tg_dropout_forward(h, 0.1, NULL);       // in evaluation: h itself
 */
#ifndef TG_DROPOUT_H
#define TG_DROPOUT_H

#include "autograd/ops.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

/* Each element is 0 with probability `rate` and divided by 1 - rate otherwise. `training` is the generator of
 * a training pass; with NULL, or a rate of 0, x itself. */
tg_tensor tg_dropout_forward(tg_tensor x, double rate, tg_rng *training);

/* Dropout as a layer of a sequence or a model. */
tg_layer tg_sequential_dropout(double rate);

TG_API_END
#endif
