/* Sample inputs for activation.c. */
static const tg_sample elu_samples[] = {
    {.attributes = TG_NUMBER(1), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = TG_NUMBER(0.5), .input = {{.shape = {0}}}},
    {.attributes = TG_NUMBER(1), .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = TG_NUMBER(2), .input = {{.shape = {1, {33}}}}},
    {.attributes = TG_NUMBER(1), .input = {{.shape = {1, {17}}, .low = -12, .high = 12}}},
    {.attributes = TG_NUMBER(-1), .input = {{.shape = {3, {1, 2, 1}}}}},
    {.attributes = TG_NUMBER(1), .input = {{.shape = {2, {2, 7}}, .low = -8, .high = -4}}},
    {.attributes = TG_NUMBER(1.5), .input = {{.shape = {1, {9}}, TG_EDGES}}},
};
