/* A recurrent layer that reads an embedding. Internal to nn.
 *
 *     tg_tensor y = tg_recurrent_forward_ids(&lstm, table, ids);     // table [letters, inputs], ids [batch, positions]
 */
#ifndef TG_RECURRENT_INTERNAL_H
#define TG_RECURRENT_INTERNAL_H

#include "nn/layers/recurrent.h"

/* tg_recurrent_forward of tg_embedding(table, ids), without padding, from a state of zeros. W x + b is computed once
 * for each row of the table, and its gradients too, in place of once for each position. So results are the same to the
 * bit, and the gradients of W, b and the table are rounded in another order. */
tg_tensor tg_recurrent_forward_ids(const tg_recurrent *layer, tg_tensor table, tg_tensor ids);

#endif
