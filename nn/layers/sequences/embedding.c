#include "nn/layers/embedding.h"

#include "nn/init.h"
#include "nn/layers/layer_internal.h"

tg_embedding_layer tg_embedding_layer_add(tg_parameters *set, const char *name, int64_t entries, int64_t size)
{
    tg_parameter *weight = tg_parameters_add(set, tg_name_in(name, "weight").text, TG_SHAPE(entries, size), false);
    tg_parameter_initial(weight, (tg_initial){.deviation = 1});
    return (tg_embedding_layer){weight};
}

static tg_tensor table_of(const tg_embedding_layer *layer, tg_tape *tape)
{
    const bool has = tg_layer_has(tape, "tg_embedding_layer_forward", layer ? layer->weight : NULL);
    return has ? tg_parameter_tensor(tape, layer->weight) : TG_NONE;
}

tg_tensor tg_embedding_layer_forward(const tg_embedding_layer *layer, tg_tensor index)
{
    tg_tensor table = table_of(layer, tg_tape_of(index));
    return tg_ok(table) ? tg_embedding(table, index) : TG_NONE;
}

tg_tensor tg_embedding_layer_first(const tg_embedding_layer *layer, tg_tape *tape, int64_t count)
{
    tg_tensor table = table_of(layer, tape);
    return tg_ok(table) ? tg_narrow(table, 0, 0, count) : TG_NONE;
}

static tg_tensor forward(const tg_layer *self, tg_tensor index, tg_layer_pass *pass)
{
    (void)pass;
    return tg_embedding_layer_forward(self->layer, index);
}

/* A token embedding multiplied by a position embedding, so that a sample uses both. */
static tg_tensor forward_sample(const tg_layer *self, tg_tensor index, tg_layer_pass *pass)
{
    const tg_tensor positions = tg_embedding_layer_first(self->layer, tg_tape_of(index), tg_dim(index, -1));
    return tg_mul(forward(self, index, pass), positions);
}

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    static const tg_layer_kind with_positions = {"embedding_layer", "layer", sizeof(tg_embedding_layer),
                                                 forward_sample,    NULL,    NULL};
    tg_embedding_layer *l = layer;
    (void)x, (void)sample;
    *l = tg_embedding_layer_add(set, name, 5, 3);
    return (tg_layer){.kind = &with_positions, .layer = l};
}

static const tg_shape shapes[] = {{2, {3, 4}}, {1, {5}}, {0}};

static const tg_layer_sample samples[] = {{"", "rows of a table by number, times the first ones", shapes, .ids = 5},
                                          {0}};

const tg_layer_kind tg_embedding_kind = {"embedding_layer", "layer", sizeof(tg_embedding_layer), forward, add, samples};
