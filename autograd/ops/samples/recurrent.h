/* Sample inputs for recurrent.c. */
static const tg_sample lstm_cell_samples[] = {
    {.input = {{TG_OF(2, 12)}, {TG_OF(2, 12)}, {TG_OF(2, 3)}}},
    {.input = {{TG_OF(1, 4)}, {TG_OF(1, 4)}, {TG_OF(1, 1)}}},
    {.input = {{TG_OF(0, 8)}, {TG_OF(0, 8)}, {TG_OF(0, 2)}}},
    {.input = {{TG_OF(3, 0)}, {TG_OF(3, 0)}, {TG_OF(3, 0)}}},
    {.input = {{TG_OF(1, 68), .low = -9, .high = 9}, {TG_OF(1, 68)}, {TG_OF(1, 17), .low = -9, .high = 9}}},
    {.input = {{TG_OF(4, 4), .low = -3, .high = 3}, {TG_OF(4, 4)}, {TG_OF(4, 1), .low = -3, .high = 3}}},
    {.input = {{TG_OF(2, 32), .low = -20, .high = 20}, {TG_OF(2, 32)}, {TG_OF(2, 8), .low = -20, .high = 20}}},
    {.input = {{TG_OF(3, 20), .low = -1, .high = 1}, {TG_OF(3, 20)}, {TG_OF(3, 5), .low = -1, .high = 1}}},
};

static const tg_sample lstm_cell_grad_samples[] = {
    {.input = {{TG_OF(2, 2, 3)}, {TG_OF(2, 12)}, {TG_OF(2, 12)}, {TG_OF(2, 3)}}},
    {.input = {{TG_OF(2, 1, 1)}, {TG_OF(1, 4)}, {TG_OF(1, 4)}, {TG_OF(1, 1)}}},
    {.input = {{TG_OF(2, 0, 2)}, {TG_OF(0, 8)}, {TG_OF(0, 8)}, {TG_OF(0, 2)}}},
    {.input = {{TG_OF(2, 3, 0)}, {TG_OF(3, 0)}, {TG_OF(3, 0)}, {TG_OF(3, 0)}}},
    {.input = {{TG_OF(2, 1, 17)},
               {TG_OF(1, 68), .low = -9, .high = 9},
               {TG_OF(1, 68)},
               {TG_OF(1, 17), .low = -9, .high = 9}}},
    {.input =
         {{TG_OF(2, 4, 1)}, {TG_OF(4, 4), .low = -3, .high = 3}, {TG_OF(4, 4)}, {TG_OF(4, 1), .low = -3, .high = 3}}},
    {.input = {{TG_OF(2, 2, 8)},
               {TG_OF(2, 32), .low = -20, .high = 20},
               {TG_OF(2, 32)},
               {TG_OF(2, 8), .low = -20, .high = 20}}},
    {.input =
         {{TG_OF(2, 3, 5)}, {TG_OF(3, 20), .low = -1, .high = 1}, {TG_OF(3, 20)}, {TG_OF(3, 5), .low = -1, .high = 1}}},
};
