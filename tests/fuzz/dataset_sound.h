/* Invariants after every dataset_load and dataset_split, whatever the file contains. */
#ifndef DATASET_SOUND_H
#define DATASET_SOUND_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "examples/programs/data/dataset.h"

/* Loads, checks and frees. Returns the violated invariant, or NULL. */
static inline const char *dataset_sound(const char *spec, const dataset_options *options)
{
    dataset set;
    tg_error error = {""};
    if (!dataset_load(spec, options, &set, &error)) {
        if (set.name || set.x || set.class_names)
            return "something is left after a failure";
        return !*error.text ? "no message" : strchr(error.text, '\n') ? "a message of several lines" : NULL;
    }
    const char *problem = NULL;
    const size_t rows = set.rows;
    if (*error.text)
        problem = "a message without a failure";
    const bool split = dataset_split(&set, NULL, &error);
    if (split ? !set.train.rows || !set.validation.rows : !*error.text || strchr(error.text, '\n'))
        problem = "an empty part, or no message of one line";
    if (!rows || !set.features)
        problem = "an empty data set";
    for (size_t i = 0; i < rows * set.features; i++)
        if (!isfinite(set.x[i]))
            problem = "a feature that is not finite";
    for (size_t i = 0; i < rows * set.targets; i++)
        if (!isfinite(set.y[i]))
            problem = "a target that is not finite";
    for (size_t i = 0; i < rows && set.labels; i++)
        if (set.labels[i] < 0 || (size_t)set.labels[i] >= set.classes)
            problem = "a label out of range";
    if ((set.task == DATASET_CLASSIFICATION) != (set.labels && set.class_names && set.classes > 0))
        problem = "a classification without labels";
    if ((set.task == DATASET_REGRESSION) != (set.y && set.targets > 0))
        problem = "a regression without targets";
    dataset_free(&set);
    return problem;
}

#endif
