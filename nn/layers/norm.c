#include "nn/layers/norm.h"

#include "autograd/grad.h"
#include "autograd/base/names.h"
#include "nn/layers/layer_internal.h"

#include <math.h>

static tg_tensor tensor_of(tg_tensor x, tg_parameter *parameter)
{
    return parameter ? tg_parameter_tensor(tg_tape_of(x), parameter) : TG_NONE;
}

/* ---- the kinds ---- */

static tg_tensor no_norm(const tg_norm_layer *layer, tg_tensor x, tg_rng *training)
{
    (void)layer, (void)training;
    return x;
}

static tg_tensor layer_norm(const tg_norm_layer *l, tg_tensor x, tg_rng *training)
{
    (void)training;
    const tg_tensor bias = tensor_of(x, l->bias);
    return tg_layer_norm(x, tensor_of(x, l->weight), bias, l->epsilon);
}

static tg_tensor rms_norm(const tg_norm_layer *l, tg_tensor x, tg_rng *training)
{
    (void)training;
    return tg_rms_norm(x, tensor_of(x, l->weight), l->epsilon);
}

static bool is_finite(tg_tensor x)
{
    for (int64_t i = 0; i < tg_size(x); i++)
        if (!isfinite(tg_at(x, i)))
            return false;
    return true;
}

static void move_towards(tg_parameter *running, tg_tensor now, double momentum)
{
    for (int64_t i = 0; i < tg_size(now); i++)
        tg_parameter_put(running, i, (1 - momentum) * tg_parameter_get(running, i) + momentum * tg_at(now, i));
}

static void move_statistics(const tg_norm_layer *l, tg_tensor mean, tg_tensor variance)
{
    tg_forbid_replay(tg_tape_of(mean), "the running statistics of a batch norm move in each step");
    if (tg_ok(mean) && tg_ok(variance) && is_finite(mean) && is_finite(variance)) {
        move_towards(l->mean, mean, l->momentum);
        move_towards(l->variance, variance, l->momentum);
    }
}

static tg_tensor batch_norm(const tg_norm_layer *l, tg_tensor x, tg_rng *training)
{
    tg_tensor weight = tensor_of(x, l->weight), bias = tensor_of(x, l->bias);
    const int64_t channels = tg_dim(x, 1);
    if (tg_rank(x) < 2 || channels != l->weight->shape.dim[0])
        return TG_FAIL(tg_tape_of(x), "tg_norm_layer_forward: batch norm %s: expected [batch, %lld, ...]",
                       l->weight->name, (long long)l->weight->shape.dim[0]);
    if (!training) { /* copies, as a pass in training may change the statistics before this one's derivative reads them
                      */
        const tg_tensor variance = tg_copy(tensor_of(x, l->variance));
        return tg_batch_norm_with(x, tg_copy(tensor_of(x, l->mean)), variance, weight, bias, l->epsilon);
    }
    if (tg_size(x) < 2 * channels)
        return TG_FAIL(tg_tape_of(x),
                       "tg_norm_layer_forward: batch norm %s: one number for each channel has no variance",
                       l->weight->name);
    tg_tensor mean, variance;
    const tg_tensor y = tg_batch_norm_moments(x, weight, bias, l->epsilon, &mean, &variance);
    move_statistics(l, mean, variance);
    return y;
}

static tg_tensor group_norm(const tg_norm_layer *l, tg_tensor x, tg_rng *training)
{
    (void)training;
    const tg_tensor bias = tensor_of(x, l->bias);
    return tg_group_norm(x, l->groups, tensor_of(x, l->weight), bias, l->epsilon);
}

static const struct {
    const char *name;
    double epsilon;
    bool has_bias, has_statistics;
    tg_tensor (*function)(const tg_norm_layer *layer, tg_tensor x, tg_rng *training);
} table[] = {
#define TG_NORM(constant, name, epsilon, has_bias, has_statistics, function, formula) \
    [constant] = {#name, epsilon, has_bias, has_statistics, function},
#include "nn/layers/norms.def"
#undef TG_NORM
};
enum { NORMS = sizeof table / sizeof table[0] };

TG_NAMES(norm, tg_norm, NORMS, table[i].name)

int64_t tg_norm_parameters(tg_norm norm, int64_t size)
{
    if ((unsigned)norm >= NORMS || norm == TG_NORM_NONE)
        return 0;
    return table[norm].has_bias ? 2 * size : size;
}

/* ---- the layer ---- */

static tg_parameter *add(tg_parameters *set, const char *name, const char *what, int64_t size, double value)
{
    tg_parameter *parameter = tg_parameters_add(set, tg_name_in(name, what).text, TG_SHAPE(size), false);
    tg_parameter_fill(parameter, value);
    return parameter;
}

tg_norm_layer tg_norm_layer_add(tg_parameters *set, const char *name, tg_norm kind, int64_t size, double epsilon)
{
    tg_norm_layer l = {.kind = (unsigned)kind < NORMS ? kind : TG_NORM_NONE, .momentum = 0.1, .groups = 1};
    if (l.kind == TG_NORM_NONE)
        return l;
    l.epsilon = epsilon != 0 ? epsilon : table[kind].epsilon;
    l.weight = add(set, name, "weight", size, 1);
    if (table[kind].has_bias)
        l.bias = add(set, name, "bias", size, 0);
    if (table[kind].has_statistics) {
        l.mean = add(set, name, "running_mean", size, 0);
        l.variance = add(set, name, "running_var", size, 1);
    }
    if (l.mean && l.variance)
        l.mean->gradient = l.variance->gradient = NULL;
    return l;
}

tg_tensor tg_norm_layer_forward(const tg_norm_layer *layer, tg_tensor x, tg_rng *training)
{
    if (layer && layer->kind != TG_NORM_NONE &&
        (!layer->weight || (table[layer->kind].has_statistics && !layer->variance)))
        return TG_FAIL(tg_tape_of(x), "tg_norm_layer_forward: the layer has no weight; tg_parameters_error says why");
    return layer && tg_ok(x) ? table[layer->kind].function(layer, x, training) : x;
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    return tg_norm_layer_forward(self->layer, x, pass->training);
}

static const tg_norm sample_norm[] = {TG_NORM_LAYER, TG_NORM_RMS, TG_NORM_BATCH, TG_NORM_BATCH, TG_NORM_GROUP};

static tg_layer add_sample(void *memory, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    tg_norm_layer *l = memory;
    const tg_norm kind = sample_norm[sample];
    const bool of_channels = kind == TG_NORM_BATCH || kind == TG_NORM_GROUP;
    *l = tg_norm_layer_add(set, name, kind, of_channels ? x->dim[1] : tg_last(x), 0);
    l->groups = 2;
    return (tg_layer){.kind = &tg_norm_kind, .layer = l};
}

static const tg_shape shapes[] = {{2, {3, 4}}, {3, {2, 4, 3}}, {4, {2, 2, 3, 2}}, {0}};
static const tg_layer_sample samples[] = {{"layer", "LayerNorm", shapes},
                                          {"rms", "RMSNorm", shapes},
                                          {"batch", "BatchNorm in evaluation", shapes},
                                          {"batch.training", "BatchNorm in training", shapes, .training = true},
                                          {"group", "GroupNorm of two groups", shapes},
                                          {0}};

const tg_layer_kind tg_norm_kind = {"norm_layer", "layer", sizeof(tg_norm_layer), forward, add_sample, samples};
