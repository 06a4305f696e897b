#include "nn/layers/relative.h"

#include "nn/layers/layer_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tg_relative_config complete(tg_relative_config c)
{
    c.buckets = c.buckets ? c.buckets : 32;
    c.distance = c.distance ? c.distance : 128;
    return c;
}

/* Buckets of one direction. */
static int count_of(const tg_relative_config *c)
{
    return c->causal ? c->buckets : c->buckets / 2;
}

const char *tg_relative_config_error(const tg_relative_config *config)
{
    if (!config)
        return "there is no configuration of the relative positions";
    const tg_relative_config c = complete(*config);
    if (c.heads < 1 || c.heads > 1 << 15)
        return "the number of heads must be positive, 2^15 at most";
    if (c.buckets < 2 || c.buckets > 1 << 15 || (!c.causal && (c.buckets < 4 || c.buckets % 2 != 0)))
        return "the number of buckets must be 2 to 2^15, and if positions see later ones 4 at least and even";
    return c.distance > count_of(&c) / 2 ? NULL : "the largest distance must exceed half of the buckets of a direction";
}

tg_relative tg_relative_add(tg_parameters *set, const char *name, const tg_relative_config *config)
{
    tg_relative r = {.weight = NULL};
    if (tg_relative_config_error(config))
        return r;
    r.config = complete(*config);
    r.weight =
        tg_parameters_add(set, tg_name_in(name, "weight").text, TG_SHAPE(r.config.buckets, config->heads), false);
    return r;
}

int tg_relative_bucket(const tg_relative *relative, int64_t distance)
{
    if (!relative)
        return 0;
    const tg_relative_config *c = &relative->config;
    const int count = count_of(c), exact = count / 2, first = !c->causal && distance > 0 ? count : 0;
    if (distance < -c->distance) /* all in one bucket, the least number, which has no opposite, among them */
        distance = -c->distance;
    const int64_t d = !c->causal ? llabs(distance) : distance < 0 ? -distance : 0;
    if (d < exact)
        return first + (int)d;
    const double part = log((double)d / exact) / log((double)c->distance / exact) * (count - exact);
    return first + (part < count - exact - 1 ? exact + (int)part : count - 1);
}

tg_tensor tg_relative_forward(const tg_relative *r, tg_tape *tape, int64_t queries, int64_t keys)
{
    if (!r || !r->weight)
        return TG_FAIL(tape, "tg_relative_forward: the layer has no weight: tg_relative_config_error or "
                             "tg_parameters_error says why");
    const int64_t scores = tg_shape_size(&TG_SHAPE(queries, keys));
    if (scores < 0)
        return TG_FAIL(tape, "tg_relative_forward: there are no scores of %lld queries and %lld keys",
                       (long long)queries, (long long)keys);
    int32_t *bucket = calloc((size_t)scores + 1, sizeof *bucket),
            *of = calloc((size_t)queries + (size_t)keys + 1, sizeof *of); /* distances from 1 - queries on */
    if (!bucket || !of) {
        free(bucket);
        free(of);
        return TG_FAIL(tape, "tg_relative_forward: out of memory");
    }
    for (int64_t i = 0; i < queries + keys - 1; i++)
        of[i] = tg_relative_bucket(r, i + 1 - queries);
    for (int64_t i = 0; i < queries; i++)
        memcpy(bucket + i * keys, of + queries - 1 - i, (size_t)keys * sizeof *bucket);
    free(of);
    const tg_tensor index = tg_constant(tape, TG_I32, bucket, TG_SHAPE(queries, keys)),
                    bias = tg_embedding(tg_parameter_tensor(tape, r->weight), index);
    free(bucket);
    return tg_reshape(tg_permute(bias, TG_AXES(2, 0, 1)), TG_SHAPE(r->config.heads, 1, queries, keys));
}

/* ---- samples: e^bias times x, so that second derivatives are not 0 ---- */

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    const int64_t positions = tg_dim(x, -2), keys = tg_dim(x, -1);
    const tg_tensor bias = tg_relative_forward(self->layer, tg_tape_of(x), positions, keys);
    (void)pass;
    return tg_mul(tg_exp(tg_sum_over(bias, TG_AXES(0, 1), false)), x);
}

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    tg_relative *l = layer;
    (void)x;
    *l = tg_relative_add(set, name,
                         &(tg_relative_config){.heads = 2, .buckets = 6, .distance = 5, .causal = sample == 1});
    return (tg_layer){.kind = &tg_relative_kind, .layer = l};
}

static const tg_shape shapes[] = {{2, {3, 4}}, {3, {2, 4, 9}}, {0}};
static const tg_layer_sample samples[] = {
    {"", "e to biases by distance, times x", shapes}, {"causal", "of earlier keys only", shapes}, {0}};

const tg_layer_kind tg_relative_kind = {"relative", "layer", sizeof(tg_relative), forward, add, samples};
