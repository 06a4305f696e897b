/* Sample inputs for softmax.c. */
#define LAST .attributes = (&(axis_attributes){-1})
static const tg_sample softmax_samples[] = {
    {LAST, .input = {{.shape = {2, {3, 4}}}}},
    {LAST, .input = {{.shape = {1, {33}}, .low = -12, .high = 12}}},
    {LAST, .input = {{.shape = {3, {2, 3, 5}}}}},
    {LAST, .input = {{.shape = {2, {4, 1}}}}},
    {LAST, .input = {{.shape = {1, {1}}}}},
    {LAST, .input = {{.shape = {2, {0, 3}}}}},
    {LAST, .input = {{.shape = {2, {3, 0}}}}},
    {LAST, .input = {{.shape = {2, {2, 6}}, .low = 700, .high = 800}}},
    {LAST, .input = {{.shape = {2, {3, 2}},
                      .value_count = 6,
                      .values = (const double[]){-INFINITY, -INFINITY, 1e30, -1e30, 0, -1000}}}},
    {LAST, .input = {{.shape = {2, {9, 1}}, TG_EDGES}}},
};

/* A cotangent with the output that it belongs to: probabilities, or their logarithms. */
#define COTANGENTS(from, to)                                                                        \
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}, .low = from, .high = to}}},           \
        {.input = {{.shape = {1, {33}}}, {.shape = {1, {33}}, .low = from, .high = to}}},           \
        {.input = {{.shape = {3, {2, 3, 5}}}, {.shape = {3, {2, 3, 5}}, .low = from, .high = to}}}, \
        {.input = {{.shape = {2, {4, 1}}}, {.shape = {2, {4, 1}}, .low = from, .high = to}}},       \
        {.input = {{.shape = {1, {1}}}, {.shape = {1, {1}}, .low = from, .high = to}}},             \
        {.input = {{.shape = {2, {0, 3}}}, {.shape = {2, {0, 3}}}}},                                \
        {.input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},                                \
        {.input = {{.shape = {2, {2, 6}}, .low = -100, .high = 100},                                \
                   {.shape = {2, {2, 6}}, .low = from, .high = to}}},

static const tg_sample softmax_grad_samples[] = {COTANGENTS(0, 1)};

static const tg_sample log_softmax_grad_samples[] = {COTANGENTS(-4, 0)};
