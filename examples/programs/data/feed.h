/* Splits of a data set in the form that tg_fit takes.
 *
 *     dataset_feed train = {&set, &set.train}, valid = {&set, &set.validation};
 *     tg_fit_config config = {.train = dataset_feed_rows(&train), .valid = dataset_feed_rows(&valid), ...};
 *
 * Column 0 is the features, f32 [features]; column 1 the label, i32, or the targets, f32 [targets]; column 2, if the
 * rows have weights, the weight, f32.
 */
#pragma once

#include "examples/programs/data/dataset.h"

typedef struct dataset_feed {
    const dataset *set;
    const dataset_part *part;
    bool inputs_only; /* no column 1: the inputs are their own targets */
    double noise;     /* uniform numbers between -noise and noise are added to the features, */
    tg_rng random;    /* which are drawn from this, batch by batch */
} dataset_feed;

/* The rows of a split, which may be empty. `feed` must outlive them. */
tg_fit_rows dataset_feed_rows(dataset_feed *feed);

/* Orders an epoch's rows, given as 0 .. count - 1, as a function of seed and epoch alone, for tg_fit_config.order.
 * Published numbers depend on this function: do not change it. */
void dataset_feed_order(uint64_t seed, int64_t epoch, int32_t *rows, int64_t count);
