/* Sample inputs for attention.c. */
static const tg_sample causal_softmax_samples[] = {
    {.input = {{TG_OF(4, 4)}}},           {.input = {{TG_OF(3, 5)}}},
    {.input = {{TG_OF(5, 3)}}},           {.input = {{TG_OF(2, 1, 3, 3)}}},
    {.input = {{TG_OF(1, 1)}}},           {.input = {{TG_OF(2, 0, 3)}}},
    {.input = {{TG_OF(2, 3, 0)}}},        {.input = {{TG_OF(3, 3), .low = 700, .high = 800}}},
    {.input = {{TG_OF(3, 3), TG_EDGES}}},
};
