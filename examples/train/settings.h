/* The options of `train`. */
#ifndef TRAIN_SETTINGS_H
#define TRAIN_SETTINGS_H

#include "examples/train/net.h"

typedef struct train_settings {
    net_spec net; /* first: NET_OPTIONS */
    const char *data, *validation, *test, *target, *task, *header, *ignore, *categorical, *missing;
    int rows;
    double noise;
    int epochs, batch, accumulate, patience, seed;
    const char *start, *activation_from; /* may be NULL */
    const char *optimizer, *schedule, *best;
    double lr, warmup, end, weight_decay, momentum, beta1, beta2, epsilon, clip, ema, label_smoothing;
    int threads;
    const char *out;
    bool resume, profile, no_plots;
} train_settings;

extern const char *const settings_tasks[],
    *const settings_headers[], *const settings_missings[]; /* ended by NULL, in the order of the enumerations */

extern const options_program settings_program;
train_settings settings_defaults(void);

/* Puts what suits the model where options left 0. */
void settings_complete(train_settings *s, int64_t training_rows);

/* Whether every option that was given has a use beside the others; one line if not. */
bool settings_fit(const train_settings *s, bool classifies, char message[NET_MESSAGE]);

tg_optimizer_config settings_optimizer(const train_settings *s, int64_t steps);

#endif
