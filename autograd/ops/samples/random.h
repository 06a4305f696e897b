/* Sample inputs for random.c. */
#define STREAM(seed)                                                                         \
    {                                                                                        \
        TG_OF(4), .index = true, .fixed = true, .value_count = 4, .values = (const double[]) \
        {                                                                                    \
            seed, 2 * seed + 1, 77, -5                                                       \
        }                                                                                    \
    }

#define FILL(...) .attributes = (&(fill_attributes){TG_F64, {__VA_ARGS__}, -1, 2})
static const tg_sample fill_samples[] = {
    {FILL(1, {7}), .input = {STREAM(1)}},    {FILL(0), .input = {STREAM(2)}},
    {FILL(2, {3, 0}), .input = {STREAM(3)}}, {FILL(2, {3, 5}), .input = {STREAM(4)}},
    {FILL(1, {129}), .input = {STREAM(5)}},  {FILL(1, {128}), .input = {STREAM(6)}},
    {FILL(1, {1}), .input = {STREAM(7)}},    {FILL(3, {2, 1, 3}), .input = {STREAM(8)}},
};

#define DROP(number) .attributes = TG_NUMBER(number)
static const tg_sample dropout_samples[] = {
    {DROP(0.5), .input = {{TG_OF(3, 4)}, STREAM(1)}}, {DROP(0.1), .input = {{.shape = {0}}, STREAM(2)}},
    {DROP(0.9), .input = {{TG_OF(3, 0)}, STREAM(3)}}, {DROP(0), .input = {{TG_OF(33)}, STREAM(4)}},
    {DROP(1), .input = {{TG_OF(5)}, STREAM(5)}},      {DROP(0.3), .input = {{TG_OF(129)}, STREAM(6)}},
    {DROP(0.5), .input = {{TG_OF(1)}, STREAM(7)}},    {DROP(0.25), .input = {{TG_OF(2, 1, 3)}, STREAM(8)}},
};

#define PROBABILITY .low = 0, .high = 1, .fixed = true
static const tg_sample stochastic_gate_samples[] = {
    {.input = {{TG_OF(3, 4)}, {TG_OF(3, 4), PROBABILITY}, STREAM(1)}},
    {.input = {{.shape = {0}}, {.shape = {0}, PROBABILITY}, STREAM(2)}},
    {.input = {{TG_OF(3, 0)}, {TG_OF(3, 0), PROBABILITY}, STREAM(3)}},
    {.input = {{TG_OF(33)}, {TG_OF(33), PROBABILITY}, STREAM(4)}},
    {.input = {{TG_OF(129)}, {TG_OF(129), PROBABILITY}, STREAM(5)}},
    {.input = {{TG_OF(5)}, {TG_OF(5), .fixed = true, .value_count = 2, .values = (const double[]){0, 1}}, STREAM(6)}},
    {.input = {{TG_OF(1)}, {TG_OF(1), PROBABILITY}, STREAM(7)}},
    {.input = {{TG_OF(9), TG_EDGES}, {TG_OF(9), PROBABILITY}, STREAM(8)}},
};
