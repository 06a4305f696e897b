/* Sample inputs for matmul.c. */
#define FLAT (&(matmul_attributes){false, false})
static const tg_sample matmul_samples[] = {
    {.attributes = FLAT, .input = {{.shape = {2, {3, 4}}}, {.shape = {2, {4, 5}}}}},
    {.attributes = &(matmul_attributes){true, false}, .input = {{.shape = {2, {4, 3}}}, {.shape = {2, {4, 5}}}}},
    {.attributes = &(matmul_attributes){false, true}, .input = {{.shape = {2, {3, 4}}}, {.shape = {2, {5, 4}}}}},
    {.attributes = &(matmul_attributes){true, true}, .input = {{.shape = {2, {4, 3}}}, {.shape = {2, {5, 4}}}}},
    {.attributes = FLAT, .input = {{.shape = {3, {2, 3, 4}}}, {.shape = {3, {2, 4, 2}}}}},
    {.attributes = &(matmul_attributes){false, true},
     .input = {{.shape = {4, {2, 1, 3, 2}}}, {.shape = {3, {3, 4, 2}}}}},
    {.attributes = &(matmul_attributes){true, true}, .input = {{.shape = {2, {2, 3}}}, {.shape = {3, {3, 4, 2}}}}},
    {.attributes = FLAT, .input = {{.shape = {2, {3, 0}}}, {.shape = {2, {0, 2}}}}},
    {.attributes = FLAT, .input = {{.shape = {3, {0, 3, 2}}}, {.shape = {2, {2, 4}}}}},
    {.attributes = FLAT, .input = {{.shape = {2, {1, 1}}}, {.shape = {2, {1, 1}}}}},
    {.attributes = FLAT, .input = {{.shape = {2, {17, 33}}}, {.shape = {2, {33, 9}}}}},
};

static const tg_sample linear_samples[] = {
    {.count = 3, .input = {{.shape = {2, {5, 3}}}, {.shape = {2, {4, 3}}}, {.shape = {1, {4}}}}},
    {.count = 2, .input = {{.shape = {2, {5, 3}}}, {.shape = {2, {4, 3}}}}},
    {.count = 3, .input = {{.shape = {1, {3}}}, {.shape = {2, {2, 3}}}, {.shape = {1, {2}}}}},
    {.count = 3, .input = {{.shape = {3, {2, 3, 4}}}, {.shape = {2, {3, 4}}}, {.shape = {1, {3}}}}},
    {.count = 3, .input = {{.shape = {2, {3, 0}}}, {.shape = {2, {4, 0}}}, {.shape = {1, {4}}}}},
    {.count = 3, .input = {{.shape = {2, {0, 3}}}, {.shape = {2, {4, 3}}}, {.shape = {1, {4}}}}},
    {.count = 3, .input = {{.shape = {2, {2, 3}}}, {.shape = {2, {0, 3}}}, {.shape = {1, {0}}}}},
    {.count = 2, .input = {{.shape = {2, {1, 1}}}, {.shape = {2, {1, 1}}}}},
    {.count = 3, .input = {{.shape = {2, {7, 19}}}, {.shape = {2, {17, 19}}}, {.shape = {1, {17}}}}},
};
