/* Sample inputs for softmax.c. */
#define LAST .attributes = (&(axis_attributes){-1})
static const tg_sample softmax_samples[] = {
    {LAST, .input = {{TG_OF(3, 4)}}},
    {LAST, .input = {{TG_OF(33), .low = -12, .high = 12}}},
    {LAST, .input = {{TG_OF(2, 3, 5)}}},
    {LAST, .input = {{TG_OF(4, 1)}}},
    {LAST, .input = {{TG_OF(1)}}},
    {LAST, .input = {{TG_OF(0, 3)}}},
    {LAST, .input = {{TG_OF(3, 0)}}},
    {LAST, .input = {{TG_OF(2, 6), .low = 700, .high = 800}}},
    {LAST, .input = {{TG_OF(3, 2), .value_count = 6,
                      .values = (const double[]){-INFINITY, -INFINITY, 1e30, -1e30, 0, -1000}}}},
    {LAST, .input = {{TG_OF(9, 1), TG_EDGES}}},
};

/* A cotangent with the output that it belongs to: probabilities, or their logarithms. */
#define COTANGENTS(from, to)                                                                                     \
    {.input = {{TG_OF(3, 4)}, {TG_OF(3, 4), .low = from, .high = to}}},                                          \
        {.input = {{TG_OF(33)}, {TG_OF(33), .low = from, .high = to}}},                                          \
        {.input = {{TG_OF(2, 3, 5)}, {TG_OF(2, 3, 5), .low = from, .high = to}}},                                \
        {.input = {{TG_OF(4, 1)}, {TG_OF(4, 1), .low = from, .high = to}}},                                      \
        {.input = {{TG_OF(1)}, {TG_OF(1), .low = from, .high = to}}}, {.input = {{TG_OF(0, 3)}, {TG_OF(0, 3)}}}, \
        {.input = {{TG_OF(3, 0)}, {TG_OF(3, 0)}}},                                                               \
        {.input = {{TG_OF(2, 6), .low = -100, .high = 100}, {TG_OF(2, 6), .low = from, .high = to}}},

static const tg_sample softmax_grad_samples[] = {COTANGENTS(0, 1)};

static const tg_sample log_softmax_grad_samples[] = {COTANGENTS(-4, 0)};
