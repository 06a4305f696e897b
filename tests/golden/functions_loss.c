/* Softmax along any axis, and losses and activations made of other operations. */
#include "tests/golden/golden.h"

typedef struct along_attributes {
    int axis;
} along_attributes;

static const tg_field along_fields[] = {TG_FIELD(along_attributes, axis, TG_FIELD_INT), {0}};

static tg_tensor call_softmax_along(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    return tg_softmax(*x, ((const along_attributes *)attributes)->axis);
}

static tg_tensor call_log_softmax_along(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    return tg_log_softmax(*x, ((const along_attributes *)attributes)->axis);
}

#define ALONG(number)                 \
    .attributes = &(along_attributes) \
    {                                 \
        number                        \
    }
#define SAMPLES_ALONG_AXES                                                                                    \
    {ALONG(0), .input = {{.shape = {2, {3, 4}}}}}, {ALONG(1), .input = {{.shape = {3, {2, 3, 4}}}}},          \
        {ALONG(-2), .input = {{.shape = {3, {2, 5, 1}}}}}, {ALONG(-3), .input = {{.shape = {3, {2, 1, 3}}}}}, \
        {ALONG(0), .input = {{.shape = {1, {7}}}}}, {ALONG(-1), .input = {{.shape = {2, {3, 4}}}}},           \
        {ALONG(0), .input = {{.shape = {2, {17, 2}}, .low = -12, .high = 12}}},                               \
        {ALONG(1), .input = {{.shape = {3, {2, 3, 0}}}}},

static const tg_sample softmax_along_samples[] = {SAMPLES_ALONG_AXES};
static const tg_sample log_softmax_along_samples[] = {SAMPLES_ALONG_AXES};

/* ---- losses ---- */

static tg_tensor call_nll(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    (void)attributes;
    return tg_nll(x[0], x[1]);
}

static tg_tensor call_cross_entropy_to(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    (void)attributes;
    return tg_cross_entropy_to(x[0], x[1]);
}

#define LABELS(classes, ...)                                   \
    {                                                          \
        .shape = {__VA_ARGS__}, .index = true, .high = classes \
    }
#define LOGARITHMS(...)                                 \
    {                                                   \
        .shape = {__VA_ARGS__}, .low = -4, .high = -0.1 \
    }
static const tg_sample nll_samples[] = {
    {.input = {LOGARITHMS(2, {3, 4}), LABELS(4, 1, {3})}},
    {.input = {LOGARITHMS(1, {7}), LABELS(7, 0, {0})}},
    {.input = {LOGARITHMS(3, {2, 3, 5}), LABELS(5, 2, {2, 3})}},
    {.input = {LOGARITHMS(2, {1, 9}), LABELS(9, 1, {1})}},
    {.input = {LOGARITHMS(2, {33, 2}), LABELS(2, 1, {33})}},
    {.input = {LOGARITHMS(2, {4, 1}), LABELS(1, 1, {4})}},
    {.input = {LOGARITHMS(2, {0, 3}), LABELS(3, 1, {0})}},
    {.input = {LOGARITHMS(4, {2, 1, 3, 4}), LABELS(4, 3, {2, 1, 3})}},
};

#define PROBABILITIES(...)                             \
    {                                                  \
        .shape = {__VA_ARGS__}, .low = 0.01, .high = 1 \
    }
static const tg_sample cross_entropy_to_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, PROBABILITIES(2, {3, 4})}},
    {.input = {{.shape = {1, {7}}}, PROBABILITIES(1, {7})}},
    {.input = {{.shape = {2, {5, 3}}}, PROBABILITIES(1, {3})}},
    {.input = {{.shape = {3, {2, 3, 5}}}, PROBABILITIES(3, {2, 3, 5})}},
    {.input = {{.shape = {2, {2, 6}}, .low = 700, .high = 704}, PROBABILITIES(2, {2, 6})}},
    {.input = {{.shape = {2, {4, 1}}}, PROBABILITIES(2, {4, 1})}},
    {.input = {{.shape = {2, {17, 2}}, .low = -4, .high = 4}, PROBABILITIES(2, {17, 2})}},
    {.input = {{.shape = {2, {0, 3}}}, PROBABILITIES(2, {0, 3})}},
};

/* ---- the stochastic GELU ---- */

static tg_tensor call_stochastic_gelu(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    (void)attributes;
    return tg_stochastic_gelu(x[0], x[1]);
}

#define STREAM(seed)                                                                   \
    {                                                                                  \
        .shape = {1, {4}}, .index = true, .value_count = 4, .values = (const double[]) \
        {                                                                              \
            seed, 3 * seed, -7, 11                                                     \
        }                                                                              \
    }
static const tg_sample stochastic_gelu_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, STREAM(1)}},
    {.input = {{.shape = {0}}, STREAM(2)}},
    {.input = {{.shape = {2, {0, 3}}}, STREAM(3)}},
    {.input = {{.shape = {1, {33}}}, STREAM(4)}},
    {.input = {{.shape = {1, {129}}}, STREAM(5)}},
    {.input = {{.shape = {3, {2, 1, 3}}}, STREAM(6)}},
    {.input = {{.shape = {1, {1}}}, STREAM(7)}},
    {.input = {{.shape = {1, {17}}, .low = -12, .high = 12}, STREAM(8)}},
};

const golden_function golden_losses[] = {
    GOLDEN_FUNCTION(softmax_along, 1, along_fields),
    GOLDEN_FUNCTION(log_softmax_along, 1, along_fields),
    GOLDEN_FUNCTION(nll, 2, NULL),
    GOLDEN_FUNCTION(cross_entropy_to, 2, NULL),
    GOLDEN_FUNCTION(stochastic_gelu, 2, NULL),
    {{0}, NULL},
};
