/* Sample inputs for piecewise.c. */
static const tg_sample leaky_relu_samples[] = {
    {.attributes = TG_NUMBER(0.01), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = TG_NUMBER(0.2), .input = {{.shape = {0}, .low = -2, .high = -0.5}}},
    {.attributes = TG_NUMBER(0.01), .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = TG_NUMBER(-0.5), .input = {{.shape = {1, {33}}}}},
    {.attributes = TG_NUMBER(0), .input = {{.shape = {3, {1, 2, 1}}}}},
    {.attributes = TG_NUMBER(1), .input = {{.shape = {1, {17}}, .low = -12, .high = 12}}},
    {.attributes = TG_NUMBER(2), .input = {{.shape = {2, {2, 7}}, .low = -8, .high = -4}}},
    {.attributes = TG_NUMBER(0.1), .input = {{.shape = {1, {9}}, TG_EDGES}}},
};

static const tg_sample leaky_relu_grad_samples[] = {
    {.attributes = TG_NUMBER(0.01), .input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.attributes = TG_NUMBER(0.2), .input = {{.shape = {3, {2, 1, 3}}}, {.shape = {2, {4, 1}}}}},
    {.attributes = TG_NUMBER(-0.5), .input = {{.shape = {1, {5}}}, {.shape = {0}}}},
    {.attributes = TG_NUMBER(2), .input = {{.shape = {0}}, {.shape = {2, {2, 3}}}}},
    {.attributes = TG_NUMBER(0), .input = {{.shape = {2, {0, 3}}}, {.shape = {1, {3}}}}},
    {.attributes = TG_NUMBER(0.1), .input = {{.shape = {1, {9}}, TG_EDGES}, {.shape = {2, {9, 1}}, TG_EDGES}}},
    {.attributes = TG_NUMBER(1),
     .input = {{.shape = {4, {2, 1, 2, 1}}}, {.shape = {3, {3, 1, 2}}, .low = -8, .high = -4}}},
    {.attributes = TG_NUMBER(0.3), .input = {{.shape = {1, {1}}}, {.shape = {3, {1, 1, 1}}}}},
};
