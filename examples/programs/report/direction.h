/* Whether more or less of a measure is better, by its name.
 *
 *     direction_of("val/mAP@50", NULL, NULL);              // DIRECTION_MORE
 *     direction_of("auc_loss", NULL, NULL);                // DIRECTION_LESS
 *     direction_of("steering", NULL, NULL);                // DIRECTION_UNKNOWN: no verdict is possible
 *     direction_of("steering", "steering,kappa", NULL);    // DIRECTION_MORE, as the user says so
 *
 * A name is split into words at everything that is no letter or digit, and between a letter and a digit; if its words
 * say nothing, also between a small letter and a capital (valLoss). Only whole words count, never parts of one:
 * inaccuracy is no accuracy. Loss, error and the like decide over all others; neg and minus reverse the direction.
 * Words like std, gap or ratio make another quantity of a measure, whose direction is unknown. */
#pragma once

#include "examples/programs/system/standard.h"

typedef enum direction { DIRECTION_UNKNOWN, DIRECTION_LESS, DIRECTION_MORE } direction;

/* `more` and `less` are names that the user listed, with commas between; either may be NULL. They decide first. */
direction direction_of(const char *name, const char *more, const char *less);

/* True if a word of the name is accuracy, or acc. */
bool direction_is_accuracy(const char *name);

/* "more is better" or "less is better"; NULL if unknown. */
const char *direction_words(direction of);
