#include "nn/layers/maxout.h"

#include "nn/layers/layer_internal.h"

tg_maxout tg_maxout_add(tg_parameters *set, const char *name, int64_t inputs, int64_t outputs, int64_t pieces)
{
    const bool fine =
        tg_is_size(outputs) && tg_is_size(pieces); /* the product fits; else a shape that the set refuses */
    return (tg_maxout){tg_linear_layer_add(set, name, inputs, fine ? outputs * pieces : -1, true), outputs, pieces};
}

tg_tensor tg_maxout_forward(const tg_maxout *layer, tg_tensor x)
{
    const tg_tensor z = tg_linear_layer_forward(layer ? &layer->linear : NULL, x);
    if (!tg_ok(z))
        return TG_NONE;
    tg_shape shape = tg_shape_of(z);
    shape.dim[shape.rank - 1] = layer->outputs;
    const tg_tensor columns =
        tg_reshape(z, TG_SHAPE(tg_size(z) / (layer->outputs * layer->pieces) * layer->outputs, layer->pieces));
    return tg_reshape(tg_max_over(columns, TG_AXES(1), false), shape);
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    (void)pass;
    return tg_maxout_forward(self->layer, x);
}

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    tg_maxout *l = layer;
    *l = tg_maxout_add(set, name, tg_last(x), 3, 2 + sample);
    return (tg_layer){.kind = &tg_maxout_kind, .layer = l};
}

static const tg_layer_sample samples[] = {
    {"", "the larger of two linear pieces", tg_sample_rows}, {"three", "the largest of three", tg_sample_rows}, {0}};

const tg_layer_kind tg_maxout_kind = {"maxout", "layer", sizeof(tg_maxout), forward, add, samples};
