#include "tests/bench/nets.h"

#include <stdlib.h>
#include <string.h>

static const bench_net nets[] = {
    {"toy", 32, 2, {16, 16}, 2},
    {"small", 32, 16, {64, 64}, 10},
    {"paper", 128, 784, {128, 128, 128, 128, 128, 128, 128}, 10},
    {"mid", 256, 784, {512, 512}, 10},
    {"ffn", 512, 768, {3072}, 768},
};
enum { NETS = sizeof nets / sizeof nets[0] };

const bench_net *bench_net_at(int index)
{
    return index >= 0 && index < NETS ? &nets[index] : NULL;
}

const bench_net *bench_net_find(const char *name)
{
    for (int i = 0; i < NETS; i++)
        if (strcmp(nets[i].name, name) == 0)
            return &nets[i];
    return NULL;
}

bool bench_is_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

tg_mlp_config bench_config_of(const bench_net *net, tg_activation activation)
{
    tg_mlp_config config = {.inputs = net->inputs, .outputs = net->outputs, .activation = activation};
    if (tg_activation_is_gated(activation))
        config.scale = 0.5; /* see `tame` in step.c */
    for (int i = 0; i < BENCH_LAYERS && net->hidden[i]; i++)
        config.hidden[i] = net->hidden[i];
    return config;
}

bench_shape bench_shape_of(const bench_net *net, tg_activation activation)
{
    const tg_mlp_config config = bench_config_of(net, activation);
    int64_t widths[TG_MLP_HIDDEN + 1] = {0};
    tg_mlp_size(&config, widths);
    bench_shape shape = {.activation = activation, .batch = net->batch};
    shape.width[0] = net->inputs;
    for (int i = 0; widths[i]; i++)
        shape.width[++shape.layers] = (int)widths[i];
    shape.width[++shape.layers] = net->outputs;
    return shape;
}

double bench_product_operations(const bench_shape *shape)
{
    double operations = 0;
    for (int layer = 0; layer < shape->layers; layer++) {
        const bool gated = layer + 1 < shape->layers && tg_activation_is_gated(shape->activation);
        const double product = 2.0 * shape->batch * shape->width[layer] * shape->width[layer + 1] * (gated ? 2 : 1);
        operations += (layer == 0 ? 2 : 3) * product;
    }
    return operations;
}

bench_batch *bench_batch_new(const bench_shape *shape, uint64_t seed)
{
    bench_batch *batch = calloc(1, sizeof *batch);
    const size_t size = (size_t)shape->batch * (size_t)shape->width[0];
    if (batch) {
        batch->inputs = malloc(size * sizeof *batch->inputs);
        batch->labels = malloc((size_t)shape->batch * sizeof *batch->labels);
    }
    if (!batch || !batch->inputs || !batch->labels) {
        bench_batch_free(batch);
        return NULL;
    }
    tg_rng rng = tg_rng_seed(seed);
    for (size_t i = 0; i < size; i++)
        batch->inputs[i] = (float)tg_rng_normal(&rng);
    for (int i = 0; i < shape->batch; i++)
        batch->labels[i] = (int32_t)tg_rng_below(&rng, (uint64_t)shape->width[shape->layers]);
    return batch;
}

void bench_batch_free(bench_batch *batch)
{
    if (!batch)
        return;
    free(batch->inputs);
    free(batch->labels);
    free(batch);
}
