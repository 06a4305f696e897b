/* Sample inputs for index.c. */
#define INDEX(rank, limit, ...)                                                \
    {                                                                          \
        .shape = {rank, {__VA_ARGS__}}, .index = true, .low = 0, .high = limit \
    }
static const tg_sample gather_samples[] = {
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(5)}, INDEX(1, 5, 7)}},
    {.attributes = &(index_attributes){1, 0}, .input = {{TG_OF(3, 4)}, INDEX(2, 4, 3, 1)}},
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(3, 4)}, INDEX(2, 3, 2, 4)}},
    {.attributes = &(index_attributes){1, 0}, .input = {{TG_OF(2, 3, 4)}, INDEX(3, 3, 2, 5, 4)}},
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(3, 4)}, INDEX(2, 3, 0, 4)}},
    {.attributes = &(index_attributes){1, 0}, .input = {{TG_OF(0, 4)}, INDEX(2, 4, 0, 2)}},
    {.attributes = &(index_attributes){1, 0}, .input = {{TG_OF(3, 1)}, INDEX(2, 1, 3, 4)}},
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(9), TG_EDGES}, INDEX(1, 9, 20)}},
};

static const tg_sample scatter_add_samples[] = {
    {.attributes = &(index_attributes){0, 5}, .input = {{TG_OF(7)}, INDEX(1, 5, 7)}},
    {.attributes = &(index_attributes){1, 4}, .input = {{TG_OF(3, 1)}, INDEX(2, 4, 3, 1)}},
    {.attributes = &(index_attributes){0, 3}, .input = {{TG_OF(2, 4)}, INDEX(2, 3, 2, 4)}},
    {.attributes = &(index_attributes){1, 3}, .input = {{TG_OF(2, 5, 4)}, INDEX(3, 3, 2, 5, 4)}},
    {.attributes = &(index_attributes){0, 3}, .input = {{TG_OF(0, 4)}, INDEX(2, 3, 0, 4)}},
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(0, 4)}, INDEX(2, 3, 0, 4)}},
    {.attributes = &(index_attributes){1, 1}, .input = {{TG_OF(3, 4)}, INDEX(2, 1, 3, 4)}},
    {.attributes = &(index_attributes){0, 20}, .input = {{TG_OF(9), TG_EDGES}, INDEX(1, 20, 9)}},
};

static const tg_sample index_select_samples[] = {
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(5, 3)}, INDEX(1, 5, 7)}},
    {.attributes = &(index_attributes){1, 0}, .input = {{TG_OF(3, 4)}, INDEX(1, 4, 2)}},
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(4, 3)}, INDEX(2, 4, 2, 3)}},
    {.attributes = &(index_attributes){1, 0}, .input = {{TG_OF(2, 3, 4)}, INDEX(0, 3, 0)}},
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(6)}, INDEX(3, 6, 2, 1, 2)}},
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(3, 4)}, INDEX(1, 3, 0)}},
    {.attributes = &(index_attributes){1, 0}, .input = {{TG_OF(0, 4)}, INDEX(1, 4, 2)}},
    {.attributes = &(index_attributes){0, 0}, .input = {{TG_OF(9), TG_EDGES}, INDEX(1, 9, 20)}},
};

static const tg_sample index_add_samples[] = {
    {.attributes = &(index_attributes){0, 5}, .input = {{TG_OF(7, 3)}, INDEX(1, 5, 7)}},
    {.attributes = &(index_attributes){1, 4}, .input = {{TG_OF(3, 2)}, INDEX(1, 4, 2)}},
    {.attributes = &(index_attributes){0, 4}, .input = {{TG_OF(2, 3, 3)}, INDEX(2, 4, 2, 3)}},
    {.attributes = &(index_attributes){1, 3}, .input = {{TG_OF(2, 4)}, INDEX(0, 3, 0)}},
    {.attributes = &(index_attributes){0, 6}, .input = {{TG_OF(2, 1, 2)}, INDEX(3, 6, 2, 1, 2)}},
    {.attributes = &(index_attributes){0, 3}, .input = {{TG_OF(0, 4)}, INDEX(1, 3, 0)}},
    {.attributes = &(index_attributes){1, 4}, .input = {{TG_OF(0, 2)}, INDEX(1, 4, 2)}},
    {.attributes = &(index_attributes){0, 20}, .input = {{TG_OF(9), TG_EDGES}, INDEX(1, 20, 9)}},
};

static const tg_sample one_hot_samples[] = {
    {.attributes = &(one_hot_attributes){4, TG_F64}, .input = {INDEX(1, 4, 5)}},
    {.attributes = &(one_hot_attributes){3, TG_F64}, .input = {INDEX(0, 3, 0)}},
    {.attributes = &(one_hot_attributes){3, TG_F64}, .input = {INDEX(2, 3, 2, 3)}},
    {.attributes = &(one_hot_attributes){1, TG_F64}, .input = {INDEX(1, 1, 4)}},
    {.attributes = &(one_hot_attributes){10, TG_F64}, .input = {INDEX(1, 10, 3)}},
    {.attributes = &(one_hot_attributes){5, TG_F32}, .input = {INDEX(1, 5, 3)}},
    {.attributes = &(one_hot_attributes){5, TG_F64}, .input = {INDEX(1, 5, 0)}},
    {.attributes = &(one_hot_attributes){0, TG_F64}, .input = {INDEX(2, 1, 0, 2)}},
};
