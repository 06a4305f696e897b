/* Sample inputs for attention.c. */
static const tg_sample causal_softmax_samples[] = {
    {.input = {{.shape = {2, {4, 4}}}}},           {.input = {{.shape = {2, {3, 5}}}}},
    {.input = {{.shape = {2, {5, 3}}}}},           {.input = {{.shape = {4, {2, 1, 3, 3}}}}},
    {.input = {{.shape = {2, {1, 1}}}}},           {.input = {{.shape = {3, {2, 0, 3}}}}},
    {.input = {{.shape = {3, {2, 3, 0}}}}},        {.input = {{.shape = {2, {3, 3}}, .low = 700, .high = 800}}},
    {.input = {{.shape = {2, {3, 3}}, TG_EDGES}}},
};
