/* Sample inputs for unfold.c. */
static const tg_sample unfold_samples[] = {
    {WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 4)), .input = {{TG_OF(1, 1, 3, 4)}}},
    {WINDOW(PAIR(3, 3), PAIR(1, 1), PAIR(1, 1), PAIR(1, 1), PAIR(4, 3)), .input = {{TG_OF(2, 3, 4, 3)}}},
    {WINDOW(PAIR(2, 3), PAIR(2, 3), PAIR(0, 2), PAIR(1, 1), PAIR(5, 4)), .input = {{TG_OF(2, 2, 5, 4)}}},
    {WINDOW(PAIR(2, 2), PAIR(1, 2), PAIR(1, 0), PAIR(3, 2), PAIR(4, 5)), .input = {{TG_OF(1, 2, 4, 5)}}},
    {WINDOW(PAIR(1, 1), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(1, 1)), .input = {{TG_OF(3, 2, 1, 1)}}},
    {WINDOW(PAIR(1, 3), PAIR(1, 1), PAIR(0, 1), PAIR(1, 1), PAIR(1, 6)), .input = {{TG_OF(2, 2, 1, 6)}}},
    {WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 3)), .input = {{TG_OF(0, 2, 3, 3)}}},
    {WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(3, 3), PAIR(1, 1), PAIR(1, 2)), .input = {{TG_OF(1, 1, 1, 2)}}},
    {WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 3)), .input = {{TG_OF(1, 1, 3, 3), TG_EDGES}}},
};

static const tg_sample fold_samples[] = {
    {WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 4)), .input = {{TG_OF(1, 2, 2, 1, 2, 3)}}},
    {WINDOW(PAIR(3, 3), PAIR(1, 1), PAIR(1, 1), PAIR(1, 1), PAIR(4, 3)), .input = {{TG_OF(3, 3, 3, 2, 4, 3)}}},
    {WINDOW(PAIR(2, 3), PAIR(2, 3), PAIR(0, 2), PAIR(1, 1), PAIR(5, 4)), .input = {{TG_OF(2, 2, 3, 2, 2, 2)}}},
    {WINDOW(PAIR(2, 2), PAIR(1, 2), PAIR(1, 0), PAIR(3, 2), PAIR(4, 5)), .input = {{TG_OF(2, 2, 2, 1, 3, 2)}}},
    {WINDOW(PAIR(1, 1), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(1, 1)), .input = {{TG_OF(2, 1, 1, 3, 1, 1)}}},
    {WINDOW(PAIR(1, 3), PAIR(1, 1), PAIR(0, 1), PAIR(1, 1), PAIR(1, 6)), .input = {{TG_OF(2, 1, 3, 2, 1, 6)}}},
    {WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 3)), .input = {{TG_OF(2, 2, 2, 0, 2, 2)}}},
    {WINDOW(PAIR(2, 2), PAIR(1, 1), PAIR(3, 3), PAIR(1, 1), PAIR(1, 2)), .input = {{TG_OF(1, 2, 2, 1, 6, 7)}}},
};
