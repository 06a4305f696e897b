/* Sample inputs for loss.c: a prediction, and a target from a range. */
#define MEAN_SAMPLES(from, to)                                                                                     \
    {.input = {{TG_OF(3, 4)}, {TG_OF(3, 4), .low = from, .high = to}}},                                            \
        {.input = {{.shape = {0}}, {.shape = {0}, .low = from, .high = to}}},                                      \
        {.input = {{TG_OF(3, 0)}, {TG_OF(3, 0)}}}, {.input = {{TG_OF(33)}, {TG_OF(33), .low = from, .high = to}}}, \
        {.input = {{TG_OF(2, 1, 5)}, {TG_OF(2, 1, 5), .low = from, .high = to}}},                                  \
        {.input = {{TG_OF(17), .low = -12, .high = 12}, {TG_OF(17), .low = from, .high = to}}},                    \
        {.input = {{TG_OF(1)}, {TG_OF(1), .low = from, .high = to}}},                                              \
        {.input = {{TG_OF(2, 7), .low = -50, .high = 50}, {TG_OF(2, 7), .low = from, .high = to}}},

static const tg_sample difference_samples[] = {MEAN_SAMPLES(-3, 3)};
static const tg_sample bce_on_logits_samples[] = {MEAN_SAMPLES(0, 1)};
static const tg_sample kl_samples[] = {MEAN_SAMPLES(0.05, 1)};

#define DELTA(number) .attributes = TG_NUMBER(number)
static const tg_sample huber_samples[] = {
    {DELTA(1), .input = {{TG_OF(3, 4)}, {TG_OF(3, 4)}}},
    {DELTA(0.5), .input = {{.shape = {0}}, {.shape = {0}}}},
    {DELTA(1), .input = {{TG_OF(3, 0)}, {TG_OF(3, 0)}}},
    {DELTA(2), .input = {{TG_OF(33)}, {TG_OF(33)}}},
    {DELTA(100), .input = {{TG_OF(2, 1, 5)}, {TG_OF(2, 1, 5)}}},
    {DELTA(0.01), .input = {{TG_OF(17), .low = -12, .high = 12}, {TG_OF(17)}}},
    {DELTA(1), .input = {{TG_OF(1)}, {TG_OF(1)}}},
    {DELTA(3), .input = {{TG_OF(2, 7), .low = -50, .high = 50}, {TG_OF(2, 7)}}},
};
