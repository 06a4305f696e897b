/* The nets that the benchmark trains, each a multi-layer perceptron for classification.
 *
 *     const bench_net *net = bench_net_find("paper");                       // 784-128x7-10, batch 128
 *     bench_shape shape = bench_shape_of(net, TG_SWIGLU);                   // widths for a gated activation
 *     bench_batch *batch = bench_batch_new(&shape, 1);
 */
#ifndef BENCH_NETS_H
#define BENCH_NETS_H

#include <tapegrad.h>

enum { BENCH_LAYERS = 16 };

typedef struct bench_net {
    const char *name;
    int batch;
    int inputs, hidden[BENCH_LAYERS], outputs; /* hidden widths end with 0 */
} bench_net;

/* Net number `index`, NULL past the end; and by name, NULL if there is none. */
const bench_net *bench_net_at(int index);
const bench_net *bench_net_find(const char *name);

/* True if a list separated by commas contains the word. */
bool bench_is_listed(const char *list, const char *word);

/* A net with one activation: linear layers from width[0] to width[1] and so on. A gated layer has two matrices; its
 * hidden widths are reduced, as in tg_mlp, until the net has as many parameters as the plain one. */
typedef struct bench_shape {
    tg_activation activation;
    int batch;
    int layers;
    int width[BENCH_LAYERS + 1];
} bench_shape;

tg_mlp_config bench_config_of(const bench_net *net, tg_activation activation);
bench_shape bench_shape_of(const bench_net *net, tg_activation activation);

/* Floating-point operations of the matrix products of one training step: forward, for the weights and, except in the
 * first layer, for the inputs. */
double bench_product_operations(const bench_shape *shape);

/* Normal random inputs [batch, width[0]] and random labels [batch]. NULL if out of memory. */
typedef struct bench_batch {
    float *inputs;
    int32_t *labels;
} bench_batch;

bench_batch *bench_batch_new(const bench_shape *shape, uint64_t seed);
void bench_batch_free(bench_batch *batch);

#endif
