/* Sample inputs for reduce.c. */
#define OVER(axes, keep) (&(tg_reduce_attributes){axes, keep})
static const tg_sample sum_over_samples[] = {
    {.attributes = OVER(255, false), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(1, false), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(2, true), .input = {{TG_OF(3, 4)}}},
    {.attributes = OVER(5, true), .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = OVER(2, false), .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = OVER(255, true), .input = {{.shape = {0}}}},
    {.attributes = OVER(1, false), .input = {{TG_OF(0, 4)}}},
    {.attributes = OVER(2, false), .input = {{TG_OF(3, 0)}}},
    {.attributes = OVER(6, true), .input = {{TG_OF(2, 1, 3, 2)}}},
    {.attributes = OVER(2, false), .input = {{TG_OF(9, 1), TG_EDGES}}},
};
