/* Sample inputs for max_min.c. */
static const double ties[] = {1, 3, 3, -2, -2, 3};

#define OVER(axes) (&(tg_reduce_attributes){axes, false})
static const tg_sample max_min_samples[] = {
    {.attributes = OVER(3), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(2), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(1), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(2), .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = OVER(0), .input = {{.shape = {0}}}},
    {.attributes = OVER(1), .input = {{TG_OF(3, 0)}}},
    {.attributes = OVER(1), .input = {{TG_OF(37)}}},
    {.attributes = OVER(2), .input = {{TG_OF(1, 6), .fixed = true, .value_count = 6, .values = ties}}},
    {.attributes = OVER(2), .input = {{TG_OF(2, 9), TG_EDGES}}},
};
