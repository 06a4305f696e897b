/* Sample inputs for norm.c. */
static const double far_away[] = {4096, 4096.5, 4095.25, 4097, 4096.125, 4094.75}; /* exact in float as well */

#define NORMALIZE(centred, epsilon) (&(normalize_attributes){centred, epsilon})
static const tg_sample normalize_samples[] = {
    {.attributes = NORMALIZE(true, 1e-5), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = NORMALIZE(false, 1e-5), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = NORMALIZE(true, 1e-12), .input = {{.shape = {3, {2, 3, 5}}}}},
    {.attributes = NORMALIZE(false, 1e-12), .input = {{.shape = {1, {33}}}}},
    {.attributes = NORMALIZE(true, 0.1), .input = {{.shape = {2, {3, 1}}}}},
    {.attributes = NORMALIZE(false, 0.1), .input = {{.shape = {2, {3, 1}}}}},
    {.attributes = NORMALIZE(true, 1e-5), .input = {{.shape = {2, {0, 4}}}}},
    {.attributes = NORMALIZE(true, 1e-5), .input = {{.shape = {2, {4, 0}}}}},
    {.attributes = NORMALIZE(true, 1e-5), .input = {{.shape = {2, {2, 6}}, .value_count = 6, .values = far_away}}},
};

static const double away[] = {64, 64.5, 63.25, 65, 64.125, 62.75};

static const tg_sample normalize_grad_samples[] = {
    {.attributes = NORMALIZE(true, 0.1), .input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.attributes = NORMALIZE(false, 0.1), .input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.attributes = NORMALIZE(true, 0.01), .input = {{.shape = {3, {2, 3, 5}}}, {.shape = {3, {2, 3, 5}}}}},
    {.attributes = NORMALIZE(false, 0.01), .input = {{.shape = {1, {33}}}, {.shape = {1, {33}}}}},
    {.attributes = NORMALIZE(true, 0.1), .input = {{.shape = {2, {3, 1}}}, {.shape = {2, {3, 1}}}}},
    {.attributes = NORMALIZE(false, 0.1), .input = {{.shape = {2, {3, 1}}}, {.shape = {2, {3, 1}}}}},
    {.attributes = NORMALIZE(true, 0.1), .input = {{.shape = {2, {0, 4}}}, {.shape = {2, {0, 4}}}}},
    {.attributes = NORMALIZE(true, 0.1), .input = {{.shape = {2, {4, 0}}}, {.shape = {2, {4, 0}}}}},
    {.attributes = NORMALIZE(true, 0.1),
     .input = {{.shape = {2, {2, 6}}}, {.shape = {2, {2, 6}}, .value_count = 6, .values = away}}},
};
