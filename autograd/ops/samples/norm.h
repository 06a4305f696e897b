/* Sample inputs for norm.c. */
static const double far_away[] = {4096, 4096.5, 4095.25, 4097, 4096.125, 4094.75}; /* exact in float as well */

#define NORMALIZE(centred, epsilon) (&(normalize_attributes){centred, epsilon})
static const tg_sample normalize_samples[] = {
    {.attributes = NORMALIZE(true, 1e-5), .input = {{TG_OF(3, 4)}}},
    {.attributes = NORMALIZE(false, 1e-5), .input = {{TG_OF(3, 4)}}},
    {.attributes = NORMALIZE(true, 1e-12), .input = {{TG_OF(2, 3, 5)}}},
    {.attributes = NORMALIZE(false, 1e-12), .input = {{TG_OF(33)}}},
    {.attributes = NORMALIZE(true, 0.1), .input = {{TG_OF(3, 1)}}},
    {.attributes = NORMALIZE(false, 0.1), .input = {{TG_OF(3, 1)}}},
    {.attributes = NORMALIZE(true, 1e-5), .input = {{TG_OF(0, 4)}}},
    {.attributes = NORMALIZE(true, 1e-5), .input = {{TG_OF(4, 0)}}},
    {.attributes = NORMALIZE(true, 1e-5), .input = {{TG_OF(2, 6), .value_count = 6, .values = far_away}}},
};

static const double away[] = {64, 64.5, 63.25, 65, 64.125, 62.75};

static const tg_sample normalize_grad_samples[] = {
    {.attributes = NORMALIZE(true, 0.1), .input = {{TG_OF(3, 4)}, {TG_OF(3, 4)}}},
    {.attributes = NORMALIZE(false, 0.1), .input = {{TG_OF(3, 4)}, {TG_OF(3, 4)}}},
    {.attributes = NORMALIZE(true, 0.01), .input = {{TG_OF(2, 3, 5)}, {TG_OF(2, 3, 5)}}},
    {.attributes = NORMALIZE(false, 0.01), .input = {{TG_OF(33)}, {TG_OF(33)}}},
    {.attributes = NORMALIZE(true, 0.1), .input = {{TG_OF(3, 1)}, {TG_OF(3, 1)}}},
    {.attributes = NORMALIZE(false, 0.1), .input = {{TG_OF(3, 1)}, {TG_OF(3, 1)}}},
    {.attributes = NORMALIZE(true, 0.1), .input = {{TG_OF(0, 4)}, {TG_OF(0, 4)}}},
    {.attributes = NORMALIZE(true, 0.1), .input = {{TG_OF(4, 0)}, {TG_OF(4, 0)}}},
    {.attributes = NORMALIZE(true, 0.1), .input = {{TG_OF(2, 6)}, {TG_OF(2, 6), .value_count = 6, .values = away}}},
};

#define CHANNELS(epsilon) NORMALIZE(true, epsilon)
static const tg_sample normalize_channels_samples[] = {
    {.attributes = CHANNELS(0.1), .input = {{TG_OF(3, 2, 4)}, {TG_OF(2)}, {TG_OF(2)}}},
    {.attributes = CHANNELS(0.01), .input = {{TG_OF(2, 3, 19)}, {TG_OF(3)}, {TG_OF(3)}}},
    {.attributes = CHANNELS(1e-5), .input = {{TG_OF(5, 1, 7)}, {TG_OF(1)}, {TG_OF(1)}}},
    {.attributes = CHANNELS(1e-12), .input = {{TG_OF(1, 4, 6)}, {TG_OF(4)}, {TG_OF(4)}}},
    {.attributes = CHANNELS(0.1), .input = {{TG_OF(1, 2, 1)}, {TG_OF(2)}, {TG_OF(2)}}},
    {.attributes = CHANNELS(0.1), .input = {{TG_OF(0, 2, 3)}, {TG_OF(2)}, {TG_OF(2)}}},
    {.attributes = CHANNELS(0.1), .input = {{TG_OF(2, 0, 3)}, {TG_OF(0)}, {TG_OF(0)}}},
    {.attributes = CHANNELS(1e-5),
     .input = {{TG_OF(1, 2, 6), .value_count = 6, .values = far_away}, {TG_OF(2)}, {TG_OF(2)}}},
};

static const tg_sample normalize_channels_grad_samples[] = {
    {.attributes = CHANNELS(0.1), .input = {{TG_OF(3, 2, 4)}, {TG_OF(3, 2, 4)}, {TG_OF(2)}}},
    {.attributes = CHANNELS(0.1), .input = {{TG_OF(2, 3, 19)}, {TG_OF(2, 3, 19)}, {TG_OF(3)}}},
    {.attributes = CHANNELS(0.01), .input = {{TG_OF(5, 1, 7)}, {TG_OF(5, 1, 7)}, {TG_OF(1)}}},
    {.attributes = CHANNELS(0.01), .input = {{TG_OF(1, 4, 6)}, {TG_OF(1, 4, 6)}, {TG_OF(4)}}},
    {.attributes = CHANNELS(0.1), .input = {{TG_OF(1, 2, 1)}, {TG_OF(1, 2, 1)}, {TG_OF(2)}}},
    {.attributes = CHANNELS(0.1), .input = {{TG_OF(0, 2, 3)}, {TG_OF(0, 2, 3)}, {TG_OF(2)}}},
    {.attributes = CHANNELS(0.1), .input = {{TG_OF(2, 0, 3)}, {TG_OF(2, 0, 3)}, {TG_OF(0)}}},
    {.attributes = CHANNELS(0.1),
     .input = {{TG_OF(1, 2, 6)}, {TG_OF(1, 2, 6), .value_count = 6, .values = away}, {TG_OF(2)}}},
};

static const tg_sample channel_moments_samples[] = {
    {.input = {{TG_OF(3, 2, 4)}}}, {.input = {{TG_OF(2, 3, 19)}}},
    {.input = {{TG_OF(5, 1, 7)}}}, {.input = {{TG_OF(1, 4, 6)}}},
    {.input = {{TG_OF(2, 2, 1)}}}, {.input = {{TG_OF(3, 0, 2)}}},
    {.input = {{TG_OF(2, 5, 3)}}}, {.input = {{TG_OF(1, 2, 6), .value_count = 6, .values = far_away}}},
};
