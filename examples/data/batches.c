#include <stdlib.h>
#include <string.h>

#include "autograd/rng.h"
#include "examples/data/internal.h"

static void restore_order(dataset_batches *batches)
{
    for (size_t i = 0; i < batches->part->rows; i++)
        batches->order[i] = batches->part->row[i];
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

static void copy_rows(const dataset *set, const int32_t *rows, size_t count, float *x, int32_t *labels, float *y)
{
    for (size_t i = 0; i < count; i++) {
        const size_t row = (size_t)rows[i];
        memcpy(x + i * set->features, set->x + row * set->features, set->features * sizeof *x);
        if (labels && set->labels)
            labels[i] = set->labels[row];
        if (y && set->y)
            memcpy(y + i * set->targets, set->y + row * set->targets, set->targets * sizeof *y);
    }
}

void dataset_gather(const dataset *set, const dataset_part *part, size_t first, size_t count, float *x, int32_t *labels, float *y)
{
    copy_rows(set, part->row + first, count, x, labels, y);
}

size_t dataset_batches_next(dataset_batches *batches, float *features, int32_t *labels, float *targets)
{
    if (!batches || !batches->order || !features)
        return 0;
    const size_t left = batches->part->rows - batches->next;
    const size_t rows = left < batches->batch_size ? left : batches->batch_size;
    if (rows < batches->batch_size && batches->partial == DATASET_DROP_PARTIAL)
        return 0;
    copy_rows(batches->set, batches->order + batches->next, rows, features, labels, targets);
    batches->next += rows;
    return rows;
}
