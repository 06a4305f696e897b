#include <stdlib.h>
#include <string.h>

#include "autograd/rng.h"
#include "examples/data/internal.h"

static void restore_order(dataset_batches *batches)
{
    for (size_t i = 0; i < batches->part->rows; i++)
        batches->order[i] = (int32_t)i;
    batches->next = 0;
}

bool dataset_batches_init(dataset_batches *batches, const dataset *set, const dataset_part *part,
                          size_t batch_size, dataset_partial partial)
{
    if (!batches)
        return false;
    *batches = (dataset_batches){0};
    if (!set || !part || batch_size == 0)
        return false;
    int32_t *order = dataset_array(part->rows, 1, sizeof *order);
    if (!order)
        return false;
    *batches = (dataset_batches){
        .set = set, .part = part, .batch_size = batch_size, .partial = partial, .order = order};
    restore_order(batches);
    return true;
}

void dataset_batches_free(dataset_batches *batches)
{
    if (!batches)
        return;
    free(batches->order);
    *batches = (dataset_batches){0};
}

size_t dataset_batches_count(const dataset_batches *batches)
{
    if (!batches || !batches->order)
        return 0;
    size_t full = batches->part->rows / batches->batch_size, left = batches->part->rows % batches->batch_size;
    return full + (left > 0 && batches->partial == DATASET_KEEP_PARTIAL);
}

void dataset_batches_start(dataset_batches *batches, uint64_t seed, uint64_t epoch)
{
    if (!batches || !batches->order)
        return;
    restore_order(batches);
    tg_rng of_seed = tg_rng_seed(seed), of_batches = tg_rng_stream(&of_seed, "dataset.batches");
    tg_rng of_epoch = tg_rng_split(&of_batches, epoch);
    tg_rng_shuffle(&of_epoch, batches->part->rows, batches->order);
}

size_t dataset_batches_next(dataset_batches *batches, float *features, int32_t *labels, float *targets)
{
    if (!batches || !batches->order || !features)
        return 0;
    const dataset_part *part = batches->part;
    size_t width = batches->set->features, target_width = batches->set->targets;
    size_t left = part->rows - batches->next;
    size_t rows = left < batches->batch_size ? left : batches->batch_size;
    if (rows < batches->batch_size && batches->partial == DATASET_DROP_PARTIAL)
        return 0;
    for (size_t i = 0; i < rows; i++) {
        size_t row = (size_t)batches->order[batches->next + i];
        memcpy(features + i * width, part->features + row * width, width * sizeof *features);
        if (labels && part->labels)
            labels[i] = part->labels[row];
        if (targets && part->targets)
            memcpy(targets + i * target_width, part->targets + row * target_width,
                   target_width * sizeof *targets);
    }
    batches->next += rows;
    return rows;
}
