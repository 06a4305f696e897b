/* Sample inputs for arithmetic.c. */
static const tg_sample div_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {3, {2, 1, 3}}}, {.shape = {2, {4, 1}}, .low = -3, .high = -0.5}}},
    {.input = {{.shape = {1, {5}}}, {.shape = {0}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {0}}, {.shape = {2, {2, 3}}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {2, {0, 3}}}, {.shape = {1, {3}}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}, {.shape = {2, {9, 1}}, TG_EDGES}}},
    {.input = {{.shape = {1, {3}}, .low = 1e3, .high = 1e5}, {.shape = {1, {3}}, .low = 1e-3, .high = 1e-2}}},
    {.input = {{.shape = {1, {1}}}, {.shape = {3, {1, 1, 1}}, .low = 1, .high = 2}}},
};

static const tg_sample number_samples[] = {
    {.attributes = TG_NUMBER(2.5), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = TG_NUMBER(-1), .input = {{.shape = {1, {7}}}}},
    {.attributes = TG_NUMBER(0), .input = {{.shape = {1, {7}}}}},
    {.attributes = TG_NUMBER(1e-3), .input = {{.shape = {0}}}},
    {.attributes = TG_NUMBER(3), .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = TG_NUMBER(0.1), .input = {{.shape = {1, {9}}, TG_EDGES}}},
    {.attributes = TG_NUMBER(1. / 3), .input = {{.shape = {3, {1, 2, 1}}}}},
    {.attributes = TG_NUMBER(7), .input = {{.shape = {1, {33}}}}},
};

static const tg_sample copy_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}}}},
    {.input = {{.shape = {2, {3, 0}}}}},
    {.input = {{.shape = {1, {1}}}}},
    {.input = {{.shape = {1, {33}}}}},
    {.input = {{.shape = {3, {2, 1, 3}}}}},
    {.input = {{.shape = {8, {1, 1, 2, 1, 1, 2, 1, 1}}}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}}},
};

static const tg_sample mul_add_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {1, {4}}}, {.shape = {1, {4}}}}},
    {.input = {{.shape = {3, {2, 3, 4}}}, {.shape = {2, {3, 1}}}, {.shape = {2, {3, 1}}}}},
    {.input = {{.shape = {0}}, {.shape = {2, {2, 3}}}, {.shape = {1, {3}}}}},
    {.input = {{.shape = {0}}, {.shape = {0}}, {.shape = {0}}}},
    {.input = {{.shape = {2, {0, 3}}}, {.shape = {1, {3}}}, {.shape = {0}}}},
    {.input = {{.shape = {1, {33}}}, {.shape = {0}}, {.shape = {1, {33}}}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}, {.shape = {2, {9, 1}}, TG_EDGES}, {.shape = {0}}}},
};

static const tg_sample div_or_zero_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {3, {2, 1, 3}}}, {.shape = {2, {4, 1}}, .low = -3, .high = -0.5}}},
    {.input = {{.shape = {1, {5}}}, {.shape = {0}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {0}}, {.shape = {2, {2, 3}}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {2, {0, 3}}}, {.shape = {1, {3}}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}, {.shape = {2, {9, 1}}, TG_EDGES}}},
    {.input = {{.shape = {1, {5}}}, {.shape = {1, {5}}, .fixed = true, .value_count = 2, .values = (double[]){0, 2}}}},
    {.input = {{.shape = {1, {1}}}, {.shape = {3, {1, 1, 1}}, .low = 1, .high = 2}}},
};
