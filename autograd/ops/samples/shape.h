/* Sample inputs for shape.c. */
static const tg_sample permute_samples[] = {
    {.attributes = &(permute_attributes){{2, {1, 0}}}, .input = {{TG_OF(3, 4)}}},
    {.attributes = &(permute_attributes){{3, {2, 0, 1}}}, .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = &(permute_attributes){{3, {0, 2, 1}}}, .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = &(permute_attributes){{4, {3, 1, 0, 2}}}, .input = {{TG_OF(2, 3, 1, 4)}}},
    {.attributes = &(permute_attributes){{0}}, .input = {{.shape = {0}}}},
    {.attributes = &(permute_attributes){{1, {0}}}, .input = {{TG_OF(5)}}},
    {.attributes = &(permute_attributes){{3, {1, 2, 0}}}, .input = {{TG_OF(2, 0, 3)}}},
    {.attributes = &(permute_attributes){{2, {1, 0}}}, .input = {{TG_OF(3, 3), TG_EDGES}}},
    {.attributes = &(permute_attributes){{2, {1, 0}}}, .input = {{TG_OF(37, 41)}}},
};

#define JOIN(axis, stack, inputs) .attributes = &(concat_attributes){axis, stack}, .count = inputs
static const tg_sample concat_samples[] = {
    {JOIN(0, false, 2), .input = {{TG_OF(2, 3)}, {TG_OF(1, 3)}}},
    {JOIN(1, false, 3), .input = {{TG_OF(2, 3)}, {TG_OF(2, 0)}, {TG_OF(2, 4)}}},
    {JOIN(1, false, 2), .input = {{TG_OF(2, 1, 3)}, {TG_OF(2, 2, 3)}}},
    {JOIN(0, false, 1), .input = {{TG_OF(4)}}},
    {JOIN(0, false, 2), .input = {{TG_OF(0, 3)}, {TG_OF(0, 3)}}},
    {JOIN(0, true, 3), .input = {{.shape = {0}}, {.shape = {0}}, {.shape = {0}}}},
    {JOIN(1, true, 2), .input = {{TG_OF(2, 3)}, {TG_OF(2, 3)}}},
    {JOIN(2, true, 2), .input = {{TG_OF(2, 3)}, {TG_OF(2, 3)}}},
    {JOIN(0, false, 2), .input = {{TG_OF(9), TG_EDGES}, {TG_OF(2)}}},
};

static const tg_sample triangle_samples[] = {
    {.attributes = &(triangle_attributes){0}, .input = {{TG_OF(3, 3)}}},
    {.attributes = &(triangle_attributes){1}, .input = {{TG_OF(3, 4)}}},
    {.attributes = &(triangle_attributes){-1}, .input = {{TG_OF(4, 3)}}},
    {.attributes = &(triangle_attributes){-7}, .input = {{TG_OF(3, 3)}}},
    {.attributes = &(triangle_attributes){7}, .input = {{TG_OF(3, 3)}}},
    {.attributes = &(triangle_attributes){0}, .input = {{TG_OF(2, 1, 3, 2)}}},
    {.attributes = &(triangle_attributes){0}, .input = {{TG_OF(2, 0, 3)}}},
    {.attributes = &(triangle_attributes){0}, .input = {{TG_OF(3, 3), TG_EDGES}}},
};
