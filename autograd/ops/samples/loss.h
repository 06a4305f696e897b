/* Sample inputs for loss.c: a prediction, and a target from a range. */
#define MEAN_SAMPLES(from, to)                                                                                    \
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}, .low = from, .high = to}}},                         \
        {.input = {{.shape = {0}}, {.shape = {0}, .low = from, .high = to}}},                                     \
        {.input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},                                              \
        {.input = {{.shape = {1, {33}}}, {.shape = {1, {33}}, .low = from, .high = to}}},                         \
        {.input = {{.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}, .low = from, .high = to}}},               \
        {.input = {{.shape = {1, {17}}, .low = -12, .high = 12}, {.shape = {1, {17}}, .low = from, .high = to}}}, \
        {.input = {{.shape = {1, {1}}}, {.shape = {1, {1}}, .low = from, .high = to}}},                           \
        {.input = {{.shape = {2, {2, 7}}, .low = -50, .high = 50}, {.shape = {2, {2, 7}}, .low = from, .high = to}}},

static const tg_sample difference_samples[] = {MEAN_SAMPLES(-3, 3)};
static const tg_sample bce_on_logits_samples[] = {MEAN_SAMPLES(0, 1)};
static const tg_sample kl_samples[] = {MEAN_SAMPLES(0.05, 1)};

#define DELTA(number) .attributes = TG_NUMBER(number)
static const tg_sample huber_samples[] = {
    {DELTA(1), .input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {DELTA(0.5), .input = {{.shape = {0}}, {.shape = {0}}}},
    {DELTA(1), .input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},
    {DELTA(2), .input = {{.shape = {1, {33}}}, {.shape = {1, {33}}}}},
    {DELTA(100), .input = {{.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}}}},
    {DELTA(0.01), .input = {{.shape = {1, {17}}, .low = -12, .high = 12}, {.shape = {1, {17}}}}},
    {DELTA(1), .input = {{.shape = {1, {1}}}, {.shape = {1, {1}}}}},
    {DELTA(3), .input = {{.shape = {2, {2, 7}}, .low = -50, .high = 50}, {.shape = {2, {2, 7}}}}},
};
