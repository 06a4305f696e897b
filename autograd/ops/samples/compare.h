/* Sample inputs for compare.c. */
static const double truths[] = {1, 0, 0, 1, -2, 0, 1};

#define CONDITION .fixed = true, .value_count = 7, .values = truths
static const tg_sample where_samples[] = {
    {.input = {{.shape = {2, {3, 4}}, CONDITION}, {.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {2, {4, 1}}, CONDITION}, {.shape = {3, {2, 1, 3}}}, {.shape = {1, {3}}}}},
    {.input = {{.shape = {1, {33}}, CONDITION}, {.shape = {0}}, {.shape = {1, {33}}}}},
    {.input = {{.shape = {1, {33}}, CONDITION}, {.shape = {1, {33}}}, {.shape = {0}}}},
    {.input = {{.shape = {0}, CONDITION}, {.shape = {1, {5}}}, {.shape = {2, {2, 5}}}}},
    {.input = {{.shape = {0}, CONDITION}, {.shape = {0}}, {.shape = {0}}}},
    {.input = {{.shape = {2, {0, 3}}, CONDITION}, {.shape = {1, {3}}}, {.shape = {0}}}},
    {.input = {{.shape = {1, {9}}, CONDITION}, {.shape = {1, {9}}, TG_EDGES}, {.shape = {1, {9}}, TG_EDGES}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}, {.shape = {1, {9}}}, {.shape = {0}}}},
};
