/* Sample inputs for pointwise.c. */
static const tg_sample power_samples[] = {
    {.attributes = TG_NUMBER(2), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = TG_NUMBER(3), .input = {{.shape = {1, {33}}}}},
    {.attributes = TG_NUMBER(0), .input = {{.shape = {1, {5}}}}},
    {.attributes = TG_NUMBER(1), .input = {{.shape = {0}}}},
    {.attributes = TG_NUMBER(-1), .input = {{.shape = {3, {1, 2, 1}}, .low = -3, .high = -0.5}}},
    {.attributes = TG_NUMBER(0.3), .input = {{.shape = {1, {17}}, .low = 0.1, .high = 30}}},
    {.attributes = TG_NUMBER(-2.5), .input = {{.shape = {2, {2, 7}}, .low = 0.5, .high = 3}}},
    {.attributes = TG_NUMBER(7), .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = TG_NUMBER(0.5), .input = {{.shape = {1, {9}}, TG_EDGES}}},
    {.attributes = TG_NUMBER(-3), .input = {{.shape = {1, {9}}, TG_EDGES}}},
};

static const tg_sample pow_samples[] = {
    {.input = {{.shape = {2, {3, 4}}, .low = 0.2, .high = 3}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {3, {2, 1, 3}}, .low = 0.2, .high = 3}, {.shape = {2, {4, 1}}}}},
    {.input = {{.shape = {1, {5}}, .low = 0.2, .high = 3}, {.shape = {0}}}},
    {.input = {{.shape = {0}, .low = 0.2, .high = 3}, {.shape = {2, {2, 3}}}}},
    {.input = {{.shape = {2, {0, 3}}, .low = 0.2, .high = 3}, {.shape = {1, {3}}}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}, {.shape = {2, {9, 1}}, TG_EDGES}}},
    {.input = {{.shape = {1, {7}}, .low = -3, .high = -0.5},
               {.shape = {1, {7}}, .fixed = true, .value_count = 4, .values = (const double[]){2, 3, -1, 0}}}},
    {.input = {{.shape = {1, {5}}, .low = 10, .high = 100}, {.shape = {1, {5}}, .low = 2, .high = 4}}},
};

static const tg_sample clamp_samples[] = {
    {.attributes = &(clamp_attributes){-1, 1}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(clamp_attributes){0, 6}, .input = {{.shape = {1, {33}}, .low = -8, .high = 12}}},
    {.attributes = &(clamp_attributes){-0.5, 2}, .input = {{.shape = {0}}}},
    {.attributes = &(clamp_attributes){-100, 100}, .input = {{.shape = {1, {5}}}}},
    {.attributes = &(clamp_attributes){5, 5}, .input = {{.shape = {3, {1, 2, 1}}}}},
    {.attributes = &(clamp_attributes){-1, 1}, .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = &(clamp_attributes){-1, 1e9}, .input = {{.shape = {1, {9}}, TG_EDGES}}},
    {.attributes = &(clamp_attributes){-3, -1}, .input = {{.shape = {2, {2, 7}}}}},
};
