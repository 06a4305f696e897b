/* Sample inputs for gated.c. */
static const tg_sample product_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}}, {.shape = {0}}}},
    {.input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},
    {.input = {{.shape = {1, {33}}}, {.shape = {1, {33}}}}},
    {.input = {{.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}}}},
    {.input = {{.shape = {1, {17}}, .low = -12, .high = 12}, {.shape = {1, {17}}}}},
    {.input = {{.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}}, {.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}, {.shape = {1, {9}}}}},
};

static const tg_sample gradients_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}}, {.shape = {0}}, {.shape = {0}}}},
    {.input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},
    {.input = {{.shape = {1, {33}}}, {.shape = {1, {33}}}, {.shape = {1, {33}}}}},
    {.input = {{.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}}}},
    {.input = {{.shape = {1, {17}}}, {.shape = {1, {17}}, .low = -12, .high = 12}, {.shape = {1, {17}}}}},
    {.input = {{.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}},
               {.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}},
               {.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}}}},
    {.input = {{.shape = {1, {9}}}, {.shape = {1, {9}}, TG_EDGES}, {.shape = {1, {9}}}}},
};
