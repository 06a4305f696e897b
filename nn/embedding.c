#include "nn/embedding.h"

#include <stdio.h>

tg_embedding_layer tg_embedding_layer_add(tg_parameters *set, const char *name, int64_t entries, int64_t size)
{
    char full[TG_NAME_SIZE + 1]; /* what does not fit is too long for the set as well, which says so */
    snprintf(full, sizeof full, "%s.weight", name ? name : "");
    return (tg_embedding_layer){tg_parameters_add(set, full, TG_SHAPE(entries, size), false)};
}

bool tg_embedding_layer_initialize(const tg_embedding_layer *layer, double deviation, const tg_rng *rng)
{
    if (!layer || !layer->weight)
        return false;
    tg_rng own = tg_rng_stream(rng, layer->weight->name);
    tg_parameter_fill_normal(layer->weight, deviation != 0 ? deviation : 1, &own);
    return true;
}

static tg_tensor table_of(const tg_embedding_layer *layer, tg_tape *tape)
{
    if (layer && layer->weight)
        return tg_parameter_tensor(tape, layer->weight);
    tg_tape_fail(tape, "tg_embedding_layer_forward: the layer has no weight; tg_parameters_error tells why");
    return TG_NONE;
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
