/* Relative positions: a bias of attention's scores that depends on the distance of key and query (T5, arXiv
 * 1910.10683). Each head has a number for every bucket of distances; blocks of a stack share them.
 *
 *     score[h, i, j] = q_i k_j + weight[bucket(j - i), h]
 *
 *     tg_relative relative = tg_relative_add(set, "relative_attention_bias", &(tg_relative_config){.heads = 8});
 *     const tg_attention_context context = {.bias = tg_relative_forward(&relative, tape, positions, positions)};
 *     x = tg_block_forward(&block, x, &context, NULL);
 *
 * Half of the buckets are for one distance each; the others grow in geometric progression up to `distance`, and the
 * last one is for all beyond it:
 *
 *     d < exact     bucket = d
 *     otherwise     bucket = exact + (count - exact) log(d / exact) / log(distance / exact), rounded down, count - 1 at
 *                   most
 *
 * If causal, d = max(i - j, 0), with count = buckets and exact = count / 2. Otherwise d = |j - i|, with count = buckets
 * / 2 for keys up to the query, and as many for those after it.
 */
#ifndef TG_RELATIVE_H
#define TG_RELATIVE_H

#include "autograd/ops.h"
#include "autograd/parameters.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef struct tg_relative_config {
    int heads;    /* of the attention */
    int buckets;  /* 0: 32; at least 2, or 4 and even if not causal */
    int distance; /* 0: 128 */
    bool causal;  /* keys are never after queries */
} tg_relative_config;

typedef struct tg_relative {
    tg_relative_config config; /* with its defaults */
    tg_parameter *weight;      /* [buckets, heads] */
} tg_relative;

/* NULL, or the error in the configuration. */
const char *tg_relative_config_error(const tg_relative_config *config);

/* Adds NAME.weight, zeros at first, without weight decay. The set remembers errors. If the configuration is wrong,
 * nothing is added, and forward reports it. */
tg_relative tg_relative_add(tg_parameters *set, const char *name, const tg_relative_config *config);

/* The bucket of the distance j - i of key j and query i. */
int tg_relative_bucket(const tg_relative *relative, int64_t distance);

/* The bias [heads, 1, queries, keys] of all scores, on this tape. */
tg_tensor tg_relative_forward(const tg_relative *relative, tg_tape *tape, int64_t queries, int64_t keys);

TG_API_END
#endif
