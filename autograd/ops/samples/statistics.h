/* Sample inputs for statistics.c. */
#define OVER(axes, correction) (&(tg_reduce_attributes){axes, false, correction})
static const double far_away[] = {4096, 4096.5, 4095.25, 4097, 4096.125, 4094.75, 4096}; /* exact in float as well */

static const tg_sample var_over_samples[] = {
    {.attributes = OVER(3, 0), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(2, 1), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(1, 0), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(2, 1), .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = OVER(0, 0), .input = {{.shape = {0}}}},
    {.attributes = OVER(1, 0), .input = {{TG_OF(3, 0)}}},
    {.attributes = OVER(1, 1), .input = {{TG_OF(37)}}},
    {.attributes = OVER(2, 0), .input = {{TG_OF(2, 7), .value_count = 7, .values = far_away}}},
    {.attributes = OVER(2, 0), .input = {{TG_OF(9, 1), TG_EDGES}}},
};

static const tg_sample norm_over_samples[] = {
    {.attributes = OVER(3, 0), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(2, 0), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(1, 0), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(2, 0), .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = OVER(0, 0), .input = {{.shape = {0}, .low = 0.5, .high = 3}}},
    {.attributes = OVER(1, 0), .input = {{TG_OF(0, 3)}}},
    {.attributes = OVER(1, 0), .input = {{TG_OF(37)}}},
    {.attributes = OVER(2, 0), .input = {{TG_OF(2, 3), .fixed = true, .value_count = 1, .values = (double[]){0}}}},
    {.attributes = OVER(2, 0), .input = {{TG_OF(9, 1), TG_EDGES}}},
};

static const tg_sample logsumexp_over_samples[] = {
    {.attributes = OVER(2, 0), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(1, 0), .input = {{TG_OF(33), .low = -12, .high = 12}}},
    {.attributes = OVER(4, 0), .input = {{TG_OF(2, 3, 5)}}},
    {.attributes = OVER(2, 0), .input = {{TG_OF(4, 1)}}},
    {.attributes = OVER(1, 0), .input = {{TG_OF(1)}}},
    {.attributes = OVER(2, 0), .input = {{TG_OF(0, 3)}}},
    {.attributes = OVER(2, 0), .input = {{TG_OF(2, 6), .low = 700, .high = 800}}},
    {.attributes = OVER(2, 0),
     .input = {{TG_OF(3, 2), .value_count = 6,
                .values = (const double[]){-INFINITY, -INFINITY, 1e30, -1e30, 0, -1000}}}},
};

static const tg_sample cumsum_samples[] = {
    {.attributes = &(cumsum_attributes){0, false}, .input = {{TG_OF(5)}}},
    {.attributes = &(cumsum_attributes){0, true}, .input = {{TG_OF(5)}}},
    {.attributes = &(cumsum_attributes){1, false}, .input = {{TG_OF(3, 4)}}},
    {.attributes = &(cumsum_attributes){0, true}, .input = {{TG_OF(3, 4)}}},
    {.attributes = &(cumsum_attributes){1, false}, .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = &(cumsum_attributes){1, false}, .input = {{TG_OF(3, 0)}}},
    {.attributes = &(cumsum_attributes){0, false}, .input = {{TG_OF(2, 300)}}},
    {.attributes = &(cumsum_attributes){0, false}, .input = {{TG_OF(9), TG_EDGES}}},
};
