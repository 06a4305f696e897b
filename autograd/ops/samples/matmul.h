/* Sample inputs for matmul.c. */
#define FLAT (&(matmul_attributes){false, false})
static const tg_sample matmul_samples[] = {
    {.attributes = FLAT, .input = {{TG_OF(3, 4)}, {TG_OF(4, 5)}}},
    {.attributes = &(matmul_attributes){true, false}, .input = {{TG_OF(4, 3)}, {TG_OF(4, 5)}}},
    {.attributes = &(matmul_attributes){false, true}, .input = {{TG_OF(3, 4)}, {TG_OF(5, 4)}}},
    {.attributes = &(matmul_attributes){true, true}, .input = {{TG_OF(4, 3)}, {TG_OF(5, 4)}}},
    {.attributes = FLAT, .input = {{TG_OF(2, 3, 4)}, {TG_OF(2, 4, 2)}}},
    {.attributes = &(matmul_attributes){false, true}, .input = {{TG_OF(2, 1, 3, 2)}, {TG_OF(3, 4, 2)}}},
    {.attributes = &(matmul_attributes){true, true}, .input = {{TG_OF(2, 3)}, {TG_OF(3, 4, 2)}}},
    {.attributes = FLAT, .input = {{TG_OF(3, 0)}, {TG_OF(0, 2)}}},
    {.attributes = FLAT, .input = {{TG_OF(0, 3, 2)}, {TG_OF(2, 4)}}},
    {.attributes = FLAT, .input = {{TG_OF(1, 1)}, {TG_OF(1, 1)}}},
    {.attributes = FLAT, .input = {{TG_OF(17, 33)}, {TG_OF(33, 9)}}},
};

static const tg_sample linear_samples[] = {
    {.count = 3, .input = {{TG_OF(5, 3)}, {TG_OF(4, 3)}, {TG_OF(4)}}},
    {.count = 2, .input = {{TG_OF(5, 3)}, {TG_OF(4, 3)}}},
    {.count = 3, .input = {{TG_OF(3)}, {TG_OF(2, 3)}, {TG_OF(2)}}},
    {.count = 3, .input = {{TG_OF(2, 3, 4)}, {TG_OF(3, 4)}, {TG_OF(3)}}},
    {.count = 3, .input = {{TG_OF(3, 0)}, {TG_OF(4, 0)}, {TG_OF(4)}}},
    {.count = 3, .input = {{TG_OF(0, 3)}, {TG_OF(4, 3)}, {TG_OF(4)}}},
    {.count = 3, .input = {{TG_OF(2, 3)}, {TG_OF(0, 3)}, {TG_OF(0)}}},
    {.count = 2, .input = {{TG_OF(1, 1)}, {TG_OF(1, 1)}}},
    {.count = 3, .input = {{TG_OF(7, 19)}, {TG_OF(17, 19)}, {TG_OF(17)}}},
};

#define IN_GROUPS(count) (&(grouped_linear_attributes){count})
static const tg_sample grouped_linear_samples[] = {
    {.attributes = IN_GROUPS(2), .count = 3, .input = {{TG_OF(5, 6)}, {TG_OF(4, 3)}, {TG_OF(4)}}},
    {.attributes = IN_GROUPS(3), .count = 2, .input = {{TG_OF(2, 2, 6)}, {TG_OF(9, 2)}}},
    {.attributes = IN_GROUPS(1), .count = 3, .input = {{TG_OF(4, 3)}, {TG_OF(2, 3)}, {TG_OF(2)}}},
    {.attributes = IN_GROUPS(4), .count = 3, .input = {{TG_OF(4)}, {TG_OF(8, 1)}, {TG_OF(8)}}},
    {.attributes = IN_GROUPS(2), .count = 3, .input = {{TG_OF(0, 4)}, {TG_OF(2, 2)}, {TG_OF(2)}}},
    {.attributes = IN_GROUPS(2), .count = 3, .input = {{TG_OF(3, 0)}, {TG_OF(4, 0)}, {TG_OF(4)}}},
    {.attributes = IN_GROUPS(2), .count = 2, .input = {{TG_OF(3, 4)}, {TG_OF(0, 2)}}},
    {.attributes = IN_GROUPS(2), .count = 3, .input = {{TG_OF(7, 38)}, {TG_OF(34, 19)}, {TG_OF(34)}}},
};
