/* The floor of the benchmark: a hand-written training step of a multi-layer perceptron, as fast as plain C with a BLAS
 * can be. The tape is measured against it. Buffers are allocated once, products are cblas_sgemm, and the loops between
 * them read and write each number as few times as possible:
 *
 *     forward    z = x W^T;  h = act(z + b), and the slope act'(z + b) along with it, in one pass
 *     loss       softmax, cross-entropy, its gradient and the last layer's bias gradient, block by block in the cache
 *     backward   dW = dz^T x;  dh = dz W (not for the first layer);
 *                dz = dh slope and db = column sums of dz in one pass
 *     AdamW      one loop over the contiguous parameters
 *
 *     floor_net *net = floor_new(&shape, 1e-3, initial);
 *     double loss = floor_step(net, batch->inputs, batch->labels);
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include "tests/bench/nets.h"

typedef struct floor_net floor_net;

/* A net of this shape (relu, gelu_exact or swiglu) with these parameters, laid out as in a tg_mlp's parameter set, and
 * AdamW with this rate, no decay and the other defaults of optim. NULL if out of memory or for another activation. */
floor_net *floor_new(const bench_shape *shape, double rate, const float *parameters);
void floor_free(floor_net *net);

/* One training step on inputs [batch, width[0]] and labels [batch]; returns the mean loss before the step. */
double floor_step(floor_net *net, const float *inputs, const int32_t *labels);

/* Only the matrix products of a step. */
void floor_products(floor_net *net, const float *inputs);

/* The current parameters, and their number. */
const float *floor_parameters(const floor_net *net);
size_t floor_size(const floor_net *net);

#endif
