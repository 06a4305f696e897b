/* Sample inputs for shape.c. */
static const tg_sample permute_samples[] = {
    {.attributes = &(permute_attributes){{2, {1, 0}}}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(permute_attributes){{3, {2, 0, 1}}}, .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = &(permute_attributes){{3, {0, 2, 1}}}, .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = &(permute_attributes){{4, {3, 1, 0, 2}}}, .input = {{.shape = {4, {2, 3, 1, 4}}}}},
    {.attributes = &(permute_attributes){{0}}, .input = {{.shape = {0}}}},
    {.attributes = &(permute_attributes){{1, {0}}}, .input = {{.shape = {1, {5}}}}},
    {.attributes = &(permute_attributes){{3, {1, 2, 0}}}, .input = {{.shape = {3, {2, 0, 3}}}}},
    {.attributes = &(permute_attributes){{2, {1, 0}}}, .input = {{.shape = {2, {3, 3}}, TG_EDGES}}},
    {.attributes = &(permute_attributes){{2, {1, 0}}}, .input = {{.shape = {2, {37, 41}}}}},
};

static const tg_sample concat_samples[] = {
    {.attributes = &(concat_attributes){0, false}, .count = 2,
     .input = {{.shape = {2, {2, 3}}}, {.shape = {2, {1, 3}}}}},
    {.attributes = &(concat_attributes){1, false}, .count = 3,
     .input = {{.shape = {2, {2, 3}}}, {.shape = {2, {2, 0}}}, {.shape = {2, {2, 4}}}}},
    {.attributes = &(concat_attributes){1, false}, .count = 2,
     .input = {{.shape = {3, {2, 1, 3}}}, {.shape = {3, {2, 2, 3}}}}},
    {.attributes = &(concat_attributes){0, false}, .count = 1, .input = {{.shape = {1, {4}}}}},
    {.attributes = &(concat_attributes){0, false}, .count = 2,
     .input = {{.shape = {2, {0, 3}}}, {.shape = {2, {0, 3}}}}},
    {.attributes = &(concat_attributes){0, true}, .count = 3,
     .input = {{.shape = {0}}, {.shape = {0}}, {.shape = {0}}}},
    {.attributes = &(concat_attributes){1, true}, .count = 2,
     .input = {{.shape = {2, {2, 3}}}, {.shape = {2, {2, 3}}}}},
    {.attributes = &(concat_attributes){2, true}, .count = 2,
     .input = {{.shape = {2, {2, 3}}}, {.shape = {2, {2, 3}}}}},
    {.attributes = &(concat_attributes){0, false}, .count = 2,
     .input = {{.shape = {1, {9}}, TG_EDGES}, {.shape = {1, {2}}}}},
};

static const tg_sample triangle_samples[] = {
    {.attributes = &(triangle_attributes){0}, .input = {{.shape = {2, {3, 3}}}}},
    {.attributes = &(triangle_attributes){1}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(triangle_attributes){-1}, .input = {{.shape = {2, {4, 3}}}}},
    {.attributes = &(triangle_attributes){-7}, .input = {{.shape = {2, {3, 3}}}}},
    {.attributes = &(triangle_attributes){7}, .input = {{.shape = {2, {3, 3}}}}},
    {.attributes = &(triangle_attributes){0}, .input = {{.shape = {4, {2, 1, 3, 2}}}}},
    {.attributes = &(triangle_attributes){0}, .input = {{.shape = {3, {2, 0, 3}}}}},
    {.attributes = &(triangle_attributes){0}, .input = {{.shape = {2, {3, 3}}, TG_EDGES}}},
};
