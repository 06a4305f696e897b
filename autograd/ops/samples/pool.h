/* Sample inputs for pool.c. */
static const tg_sample pool_samples[] = {
    {WINDOW(PAIR(2, 2), PAIR(2, 2), PAIR(0, 0), PAIR(1, 1), PAIR(4, 4)), .input = {{TG_OF(2, 3, 4, 4)}}},
    {WINDOW(PAIR(3, 3), PAIR(1, 1), PAIR(1, 1), PAIR(1, 1), PAIR(4, 3)), .input = {{TG_OF(1, 2, 4, 3)}}},
    {WINDOW(PAIR(2, 3), PAIR(2, 1), PAIR(1, 0), PAIR(1, 1), PAIR(5, 4)), .input = {{TG_OF(2, 1, 5, 4)}}},
    {WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(0, 1), PAIR(2, 3), PAIR(4, 5)), .input = {{TG_OF(1, 1, 4, 5)}}},
    {WINDOW(PAIR(1, 1), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(1, 1)), .input = {{TG_OF(3, 2, 1, 1)}}},
    {WINDOW(PAIR(1, 2), PAIR(1, 2), PAIR(0, 0), PAIR(1, 1), PAIR(1, 7)), .input = {{TG_OF(1, 2, 1, 7)}}},
    {WINDOW(PAIR(2, 2), PAIR(2, 2), PAIR(0, 0), PAIR(1, 1), PAIR(4, 4)), .input = {{TG_OF(0, 3, 4, 4)}}},
    {WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(1, 1), PAIR(1, 1), PAIR(3, 3)), .input = {{TG_OF(1, 1, 3, 3), TG_EDGES}}},
};
