/* Sample inputs for gated.c. */
static const tg_sample product_samples[] = {
    {.input = {{TG_OF(3, 4)}, {TG_OF(3, 4)}}},
    {.input = {{.shape = {0}}, {.shape = {0}}}},
    {.input = {{TG_OF(3, 0)}, {TG_OF(3, 0)}}},
    {.input = {{TG_OF(33)}, {TG_OF(33)}}},
    {.input = {{TG_OF(2, 1, 5)}, {TG_OF(2, 1, 5)}}},
    {.input = {{TG_OF(17), .low = -12, .high = 12}, {TG_OF(17)}}},
    {.input = {{TG_OF(1, 2, 1, 2, 1, 2, 1, 2)}, {TG_OF(1, 2, 1, 2, 1, 2, 1, 2)}}},
    {.input = {{TG_OF(9), TG_EDGES}, {TG_OF(9)}}},
};

static const tg_sample gradients_samples[] = {
    {.input = {{TG_OF(3, 4)}, {TG_OF(3, 4)}, {TG_OF(3, 4)}}},
    {.input = {{.shape = {0}}, {.shape = {0}}, {.shape = {0}}}},
    {.input = {{TG_OF(3, 0)}, {TG_OF(3, 0)}, {TG_OF(3, 0)}}},
    {.input = {{TG_OF(33)}, {TG_OF(33)}, {TG_OF(33)}}},
    {.input = {{TG_OF(2, 1, 5)}, {TG_OF(2, 1, 5)}, {TG_OF(2, 1, 5)}}},
    {.input = {{TG_OF(17)}, {TG_OF(17), .low = -12, .high = 12}, {TG_OF(17)}}},
    {.input = {{TG_OF(1, 2, 1, 2, 1, 2, 1, 2)}, {TG_OF(1, 2, 1, 2, 1, 2, 1, 2)}, {TG_OF(1, 2, 1, 2, 1, 2, 1, 2)}}},
    {.input = {{TG_OF(9)}, {TG_OF(9), TG_EDGES}, {TG_OF(9)}}},
};
