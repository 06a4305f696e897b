#include "examples/programs/data/dataset.h"

static bool fill(void *context, const int32_t *rows, int64_t count, tg_rng *rng, void *const *columns)
{
    dataset_feed *feed = context;
    const dataset *set = feed->set;
    void *targets = feed->inputs_only ? NULL : columns[1];
    float *x = columns[0], *y = targets;
    int32_t *labels = targets;
    float *weight = targets && set->weight ? columns[2] : NULL;
    (void)rng;
    for (int64_t i = 0; i < count; i++) {
        const size_t row = (size_t)feed->part->row[rows[i]];
        memcpy(x + (size_t)i * set->features, set->x + row * set->features, set->features * sizeof *x);
        if (feed->inputs_only)
            continue;
        if (set->labels)
            labels[i] = set->labels[row];
        else
            memcpy(y + (size_t)i * set->targets, set->y + row * set->targets, set->targets * sizeof *y);
        if (weight)
            weight[i] = set->weight[row];
    }
    for (size_t i = 0; feed->noise > 0 && i < (size_t)count * set->features; i++)
        x[i] += (float)(feed->noise * (2 * tg_rng_uniform(&feed->random) - 1));
    return true;
}

tg_fit_rows dataset_feed_rows(dataset_feed *feed)
{
    const dataset *set = feed->set;
    tg_fit_rows rows = {.count = (int64_t)feed->part->rows,
                        .columns = feed->inputs_only ? 1
                                   : set->weight     ? 3
                                                     : 2,
                        .fill = fill,
                        .context = feed};
    rows.column[0] = (tg_fit_column){.dtype = TG_F32, .shape = TG_SHAPE((int64_t)set->features)};
    rows.column[1] = (tg_fit_column){.dtype = set->labels ? TG_I32 : TG_F32};
    if (!set->labels)
        rows.column[1].shape = TG_SHAPE((int64_t)set->targets);
    rows.column[2] = (tg_fit_column){.dtype = TG_F32};
    return rows;
}

void dataset_feed_order(uint64_t seed, int64_t epoch, int32_t *rows, int64_t count)
{
    const tg_rng of_seed = tg_rng_seed(seed), of_batches = tg_rng_stream(&of_seed, "dataset.batches");
    tg_rng of_epoch = tg_rng_split(&of_batches, (uint64_t)epoch);
    tg_rng_shuffle(&of_epoch, (size_t)count, rows);
}
