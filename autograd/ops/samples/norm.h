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
