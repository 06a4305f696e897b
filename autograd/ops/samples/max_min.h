/* Sample inputs for max_min.c. */
static const double ties[] = {1, 3, 3, -2, -2, 3};

#define AXES(first, count) (&(tg_reduce_attributes){first, count, 0})
static const tg_sample max_min_samples[] = {
    {.attributes = AXES(0, 2), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = AXES(1, 1), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = AXES(0, 1), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = AXES(1, 1), .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = AXES(0, 0), .input = {{.shape = {0}}}},
    {.attributes = AXES(0, 1), .input = {{.shape = {2, {3, 0}}}}},
    {.attributes = AXES(0, 1), .input = {{.shape = {1, {37}}}}},
    {.attributes = AXES(1, 1), .input = {{.shape = {2, {1, 6}}, .fixed = true, .value_count = 6, .values = ties}}},
    {.attributes = AXES(1, 1), .input = {{.shape = {2, {2, 9}}, TG_EDGES}}},
};
