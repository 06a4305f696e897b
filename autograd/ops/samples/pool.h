/* Sample inputs for pool.c. */
#define PAIR(a, b) \
    {              \
        2,         \
        {          \
            a, b   \
        }          \
    }
#define WINDOW(kernel, stride, padding, dilation, size) (&(tg_window_layout){kernel, stride, padding, dilation, size})
static const tg_sample pool_samples[] = {
    {.attributes = WINDOW(PAIR(2, 2), PAIR(2, 2), PAIR(0, 0), PAIR(1, 1), PAIR(4, 4)),
     .input = {{.shape = {4, {2, 3, 4, 4}}}}},
    {.attributes = WINDOW(PAIR(3, 3), PAIR(1, 1), PAIR(1, 1), PAIR(1, 1), PAIR(4, 3)),
     .input = {{.shape = {4, {1, 2, 4, 3}}}}},
    {.attributes = WINDOW(PAIR(2, 3), PAIR(2, 1), PAIR(1, 0), PAIR(1, 1), PAIR(5, 4)),
     .input = {{.shape = {4, {2, 1, 5, 4}}}}},
    {.attributes = WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(0, 1), PAIR(2, 3), PAIR(4, 5)),
     .input = {{.shape = {4, {1, 1, 4, 5}}}}},
    {.attributes = WINDOW(PAIR(1, 1), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(1, 1)),
     .input = {{.shape = {4, {3, 2, 1, 1}}}}},
    {.attributes = WINDOW(PAIR(1, 2), PAIR(1, 2), PAIR(0, 0), PAIR(1, 1), PAIR(1, 7)),
     .input = {{.shape = {4, {1, 2, 1, 7}}}}},
    {.attributes = WINDOW(PAIR(2, 2), PAIR(2, 2), PAIR(0, 0), PAIR(1, 1), PAIR(4, 4)),
     .input = {{.shape = {4, {0, 3, 4, 4}}}}},
    {.attributes = WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(1, 1), PAIR(1, 1), PAIR(3, 3)),
     .input = {{.shape = {4, {1, 1, 3, 3}}, TG_EDGES}}},
};
