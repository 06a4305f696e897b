/* Functions that layers use: norms, attention, convolutions and pools. */
#include "tests/golden/golden.h"

/* Input number i; TG_NONE if the sample has fewer. */
static tg_tensor optional(const tg_tensor *x, int count, int i)
{
    return i < count ? x[i] : TG_NONE;
}

/* ---- norms ---- */

typedef struct norm_attributes {
    double epsilon;
    int groups;
} norm_attributes;

static const tg_field norm_fields[] = {
    TG_FIELD(norm_attributes, epsilon, TG_FIELD_REAL), TG_FIELD(norm_attributes, groups, TG_FIELD_INT), {0}};

static double epsilon_of(const void *attributes)
{
    return ((const norm_attributes *)attributes)->epsilon;
}

static tg_tensor call_layer_norm(const tg_tensor *x, int count, const void *attributes)
{
    return tg_layer_norm(x[0], optional(x, count, 1), optional(x, count, 2), epsilon_of(attributes));
}

static tg_tensor call_rms_norm(const tg_tensor *x, int count, const void *attributes)
{
    return tg_rms_norm(x[0], optional(x, count, 1), epsilon_of(attributes));
}

static tg_tensor call_batch_norm(const tg_tensor *x, int count, const void *attributes)
{
    return tg_batch_norm(x[0], optional(x, count, 1), optional(x, count, 2), epsilon_of(attributes));
}

static tg_tensor call_batch_norm_with(const tg_tensor *x, int count, const void *attributes)
{
    return tg_batch_norm_with(x[0], x[1], x[2], optional(x, count, 3), optional(x, count, 4), epsilon_of(attributes));
}

static tg_tensor call_group_norm(const tg_tensor *x, int count, const void *attributes)
{
    const norm_attributes *a = attributes;
    return tg_group_norm(x[0], a->groups, optional(x, count, 1), optional(x, count, 2), a->epsilon);
}

#define NORM(inputs, epsilon) .attributes = &(norm_attributes){epsilon, 0}, .count = inputs
#define DRAWN(...)               \
    {                            \
        .shape = { __VA_ARGS__ } \
    }

static const tg_sample layer_norm_samples[] = {
    {NORM(3, 1e-5), .input = {DRAWN(2, {3, 4}), DRAWN(1, {4}), DRAWN(1, {4})}},
    {NORM(1, 1e-5), .input = {DRAWN(2, {5, 3})}},
    {NORM(2, 1e-12), .input = {DRAWN(3, {2, 3, 7}), DRAWN(1, {7})}},
    {NORM(3, 1e-12), .input = {DRAWN(1, {33}), DRAWN(1, {33}), DRAWN(1, {33})}},
    {NORM(3, 0.1), .input = {DRAWN(4, {2, 1, 2, 3}), DRAWN(1, {3}), DRAWN(1, {3})}},
    {NORM(3, 1e-5), .input = {DRAWN(2, {1, 2}), DRAWN(1, {2}), DRAWN(1, {2})}},
    {NORM(3, 1e-5), .input = {DRAWN(2, {0, 4}), DRAWN(1, {4}), DRAWN(1, {4})}},
    {NORM(3, 1e-5), .input = {{.shape = {2, {3, 5}}, .low = 99, .high = 101}, DRAWN(1, {5}), DRAWN(1, {5})}},
};

static const tg_sample rms_norm_samples[] = {
    {NORM(2, 1e-5), .input = {DRAWN(2, {3, 4}), DRAWN(1, {4})}},
    {NORM(1, 1e-5), .input = {DRAWN(2, {5, 3})}},
    {NORM(2, 1e-12), .input = {DRAWN(3, {2, 3, 7}), DRAWN(1, {7})}},
    {NORM(2, 1e-6), .input = {DRAWN(1, {33}), DRAWN(1, {33})}},
    {NORM(2, 0.1), .input = {DRAWN(2, {3, 1}), DRAWN(1, {1})}},
    {NORM(1, 1), .input = {DRAWN(4, {2, 1, 2, 3})}},
    {NORM(2, 1e-5), .input = {DRAWN(2, {0, 4}), DRAWN(1, {4})}},
    {NORM(2, 1e-5), .input = {{.shape = {2, {2, 6}}, .low = -1000, .high = 1000}, DRAWN(1, {6})}},
};

static const tg_sample batch_norm_samples[] = {
    {NORM(3, 1e-5), .input = {DRAWN(2, {4, 3}), DRAWN(1, {3}), DRAWN(1, {3})}},
    {NORM(1, 1e-5), .input = {DRAWN(2, {7, 2})}},
    {NORM(3, 1e-5), .input = {DRAWN(4, {2, 3, 2, 2}), DRAWN(1, {3}), DRAWN(1, {3})}},
    {NORM(2, 1e-3), .input = {DRAWN(3, {3, 2, 5}), DRAWN(1, {2})}},
    {NORM(3, 0.1), .input = {DRAWN(4, {1, 1, 3, 3}), DRAWN(1, {1}), DRAWN(1, {1})}},
    {NORM(3, 1e-5), .input = {DRAWN(3, {1, 4, 6}), DRAWN(1, {4}), DRAWN(1, {4})}},
    {NORM(3, 1e-5), .input = {DRAWN(2, {33, 2}), DRAWN(1, {2}), DRAWN(1, {2})}},
    {NORM(3, 1e-5), .input = {{.shape = {2, {9, 2}}, .low = 99, .high = 101}, DRAWN(1, {2}), DRAWN(1, {2})}},
};

#define VARIANCE(n)                              \
    {                                            \
        .shape = {1, {n}}, .low = 0.1, .high = 3 \
    }
static const tg_sample batch_norm_with_samples[] = {
    {NORM(5, 1e-5), .input = {DRAWN(2, {4, 3}), DRAWN(1, {3}), VARIANCE(3), DRAWN(1, {3}), DRAWN(1, {3})}},
    {NORM(3, 1e-5), .input = {DRAWN(2, {7, 2}), DRAWN(1, {2}), VARIANCE(2)}},
    {NORM(5, 1e-5), .input = {DRAWN(4, {2, 3, 2, 2}), DRAWN(1, {3}), VARIANCE(3), DRAWN(1, {3}), DRAWN(1, {3})}},
    {NORM(4, 1e-3), .input = {DRAWN(3, {3, 2, 5}), DRAWN(1, {2}), VARIANCE(2), DRAWN(1, {2})}},
    {NORM(5, 0.1), .input = {DRAWN(4, {1, 1, 3, 3}), DRAWN(1, {1}), VARIANCE(1), DRAWN(1, {1}), DRAWN(1, {1})}},
    {NORM(5, 1e-5), .input = {DRAWN(2, {1, 4}), DRAWN(1, {4}), VARIANCE(4), DRAWN(1, {4}), DRAWN(1, {4})}},
    {NORM(5, 1e-5), .input = {DRAWN(2, {0, 2}), DRAWN(1, {2}), VARIANCE(2), DRAWN(1, {2}), DRAWN(1, {2})}},
    {NORM(3, 1), .input = {DRAWN(3, {2, 5, 3}), DRAWN(1, {5}), VARIANCE(5)}},
};

#define GROUPS(inputs, groups, epsilon) .attributes = &(norm_attributes){epsilon, groups}, .count = inputs
static const tg_sample group_norm_samples[] = {
    {GROUPS(3, 2, 1e-5), .input = {DRAWN(2, {3, 4}), DRAWN(1, {4}), DRAWN(1, {4})}},
    {GROUPS(3, 1, 1e-5), .input = {DRAWN(4, {2, 3, 2, 2}), DRAWN(1, {3}), DRAWN(1, {3})}},
    {GROUPS(3, 3, 1e-5), .input = {DRAWN(4, {2, 6, 1, 3}), DRAWN(1, {6}), DRAWN(1, {6})}},
    {GROUPS(1, 2, 1e-3), .input = {DRAWN(3, {1, 4, 5})}},
    {GROUPS(2, 4, 1e-5), .input = {DRAWN(3, {2, 4, 3}), DRAWN(1, {4})}},
    {GROUPS(3, 2, 0.1), .input = {DRAWN(4, {1, 2, 3, 3}), DRAWN(1, {2}), DRAWN(1, {2})}},
    {GROUPS(3, 5, 1e-5), .input = {DRAWN(3, {1, 10, 2}), DRAWN(1, {10}), DRAWN(1, {10})}},
    {GROUPS(1, 1, 1e-12), .input = {DRAWN(2, {2, 33})}},
};

/* ---- attention: query, key, value and perhaps a mask ---- */

typedef struct attention_attributes {
    bool causal;
} attention_attributes;

static const tg_field attention_fields[] = {TG_FIELD(attention_attributes, causal, TG_FIELD_BOOL), {0}};

static tg_tensor call_scaled_dot_product_attention(const tg_tensor *x, int count, const void *attributes)
{
    return tg_scaled_dot_product_attention(x[0], x[1], x[2], optional(x, count, 3),
                                           ((const attention_attributes *)attributes)->causal);
}

#define ATTENTION(inputs, causal) .attributes = &(attention_attributes){causal}, .count = inputs
#define MASK(...)                                                                           \
    {                                                                                       \
        .shape = {__VA_ARGS__}, .fixed = true, .value_count = 7, .values = (const double[]) \
        {                                                                                   \
            1, 0, 1, 1, 0, 0, 1                                                             \
        }                                                                                   \
    }
#define BLIND(...)                                                                          \
    {                                                                                       \
        .shape = {__VA_ARGS__}, .fixed = true, .value_count = 6, .values = (const double[]) \
        {                                                                                   \
            0, 0, 0, 1, 0, 1                                                                \
        }                                                                                   \
    }
static const tg_sample scaled_dot_product_attention_samples[] = {
    {ATTENTION(3, false), .input = {DRAWN(2, {3, 4}), DRAWN(2, {5, 4}), DRAWN(2, {5, 2})}},
    {ATTENTION(3, true), .input = {DRAWN(2, {4, 3}), DRAWN(2, {4, 3}), DRAWN(2, {4, 3})}},
    {ATTENTION(3, true), .input = {DRAWN(4, {2, 2, 5, 4}), DRAWN(4, {2, 2, 5, 4}), DRAWN(4, {2, 2, 5, 4})}},
    {ATTENTION(4, false), .input = {DRAWN(3, {2, 3, 4}), DRAWN(3, {2, 5, 4}), DRAWN(3, {2, 5, 4}), MASK(2, {3, 5})}},
    {ATTENTION(4, true), .input = {DRAWN(3, {2, 4, 2}), DRAWN(3, {2, 4, 2}), DRAWN(3, {2, 4, 3}), MASK(3, {2, 1, 4})}},
    {ATTENTION(4, false), .input = {DRAWN(2, {2, 3}), DRAWN(2, {3, 3}), DRAWN(2, {3, 2}), BLIND(2, {2, 3})}},
    {ATTENTION(3, false), .input = {DRAWN(3, {2, 3, 4}), DRAWN(2, {5, 4}), DRAWN(2, {5, 4})}},
    {ATTENTION(3, true), .input = {DRAWN(2, {3, 1}), DRAWN(2, {5, 1}), DRAWN(2, {5, 2})}},
    {ATTENTION(3, false), .input = {DRAWN(3, {2, 0, 4}), DRAWN(3, {2, 3, 4}), DRAWN(3, {2, 3, 4})}},
};

/* ---- convolutions and pools ---- */

typedef struct window_attributes {
    int kernel[2];
    tg_window window;
} window_attributes;

static const tg_field window_fields[] = {
    TG_FIELD_NAMED("kernel_height", window_attributes, kernel[0], TG_FIELD_INT),
    TG_FIELD_NAMED("kernel_width", window_attributes, kernel[1], TG_FIELD_INT),
    TG_FIELD_NAMED("stride_height", window_attributes, window.stride[0], TG_FIELD_INT),
    TG_FIELD_NAMED("stride_width", window_attributes, window.stride[1], TG_FIELD_INT),
    TG_FIELD_NAMED("padding_height", window_attributes, window.padding[0], TG_FIELD_INT),
    TG_FIELD_NAMED("padding_width", window_attributes, window.padding[1], TG_FIELD_INT),
    TG_FIELD_NAMED("dilation_height", window_attributes, window.dilation[0], TG_FIELD_INT),
    TG_FIELD_NAMED("dilation_width", window_attributes, window.dilation[1], TG_FIELD_INT),
    TG_FIELD_NAMED("groups", window_attributes, window.groups, TG_FIELD_INT),
    {0}};

static tg_tensor call_conv1d(const tg_tensor *x, int count, const void *attributes)
{
    return tg_conv1d(x[0], x[1], optional(x, count, 2), ((const window_attributes *)attributes)->window);
}

static tg_tensor call_average_pool2d(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const window_attributes *a = attributes;
    return tg_average_pool2d(*x, a->kernel[0], a->kernel[1], a->window);
}

static tg_tensor call_max_pool2d_of_settings(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const window_attributes *a = attributes;
    return tg_max_pool2d(*x, a->kernel[0], a->kernel[1], a->window);
}

static tg_tensor call_average_pool1d(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const window_attributes *a = attributes;
    return tg_average_pool1d(*x, a->kernel[0], a->window);
}

static tg_tensor call_max_pool1d(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const window_attributes *a = attributes;
    return tg_max_pool1d(*x, a->kernel[0], a->window);
}

#define CONV(inputs, ...) .attributes = &(window_attributes){.window = {__VA_ARGS__}}, .count = inputs
static const tg_sample conv1d_samples[] = {
    {CONV(3, {0}), .input = {DRAWN(3, {1, 1, 5}), DRAWN(3, {1, 1, 3}), DRAWN(1, {1})}},
    {CONV(3, .padding = {2}), .input = {DRAWN(3, {2, 3, 4}), DRAWN(3, {2, 3, 3}), DRAWN(1, {2})}},
    {CONV(2, .stride = {2}), .input = {DRAWN(3, {1, 2, 9}), DRAWN(3, {3, 2, 2})}},
    {CONV(3, .dilation = {3}), .input = {DRAWN(3, {1, 1, 8}), DRAWN(3, {2, 1, 2}), DRAWN(1, {2})}},
    {CONV(3, .groups = 2), .input = {DRAWN(3, {2, 4, 3}), DRAWN(3, {6, 2, 2}), DRAWN(1, {6})}},
    {CONV(2, .groups = 3, .padding = {1}), .input = {DRAWN(3, {1, 3, 6}), DRAWN(3, {3, 1, 3})}},
    {CONV(3, {0}), .input = {DRAWN(3, {3, 2, 1}), DRAWN(3, {2, 2, 1}), DRAWN(1, {2})}},
    {CONV(3, .stride = {3}, .padding = {4}, .dilation = {2}),
     .input = {DRAWN(3, {2, 2, 7}), DRAWN(3, {3, 2, 4}), DRAWN(1, {3})}},
};

#define POOL(height, width, ...)       \
    .attributes = &(window_attributes) \
    {                                  \
        {height, width},               \
        {                              \
            __VA_ARGS__                \
        }                              \
    }
#define POOL2D_SAMPLES                                                                                              \
    {POOL(2, 2, {0}), .input = {DRAWN(4, {2, 3, 4, 4})}},                                                           \
        {POOL(3, 3, .stride = {1, 1}, .padding = {1, 1}), .input = {DRAWN(4, {1, 2, 4, 3})}},                       \
        {POOL(2, 3, .stride = {2, 1}, .padding = {1, 0}), .input = {DRAWN(4, {2, 1, 5, 4})}},                       \
        {POOL(2, 3, {0}), .input = {DRAWN(4, {1, 1, 5, 7})}}, {POOL(1, 1, {0}), .input = {DRAWN(4, {3, 2, 1, 1})}}, \
        {POOL(3, 2, .stride = {3, 1}), .input = {DRAWN(4, {1, 2, 7, 4})}},                                          \
        {POOL(2, 2, .stride = {1, 3}), .input = {DRAWN(4, {2, 2, 3, 8})}},                                          \
        {POOL(4, 5, {0}), .input = {DRAWN(4, {2, 1, 4, 5})}},
#define POOL1D_SAMPLES                                                                                        \
    {POOL(2, 0, {0}), .input = {DRAWN(3, {2, 3, 6})}},                                                        \
        {POOL(3, 0, .stride = {1}, .padding = {1}), .input = {DRAWN(3, {1, 2, 5})}},                          \
        {POOL(3, 0, .stride = {2}, .padding = {1}), .input = {DRAWN(3, {2, 1, 8})}},                          \
        {POOL(2, 0, {0}), .input = {DRAWN(3, {1, 1, 7})}}, {POOL(1, 0, {0}), .input = {DRAWN(3, {3, 2, 1})}}, \
        {POOL(4, 0, .stride = {3}), .input = {DRAWN(3, {1, 2, 11})}},                                         \
        {POOL(5, 0, {0}), .input = {DRAWN(3, {2, 2, 5})}},                                                    \
        {POOL(2, 0, .stride = {1}), .input = {DRAWN(3, {1, 3, 33})}},

static const tg_sample average_pool2d_samples[] = {POOL2D_SAMPLES};
static const tg_sample max_pool2d_of_settings_samples[] = {POOL2D_SAMPLES};
static const tg_sample average_pool1d_samples[] = {POOL1D_SAMPLES};
static const tg_sample max_pool1d_samples[] = {POOL1D_SAMPLES};

const golden_function golden_layers[] = {
    GOLDEN_FUNCTION(layer_norm, TG_VARIADIC, norm_fields),
    GOLDEN_FUNCTION(rms_norm, TG_VARIADIC, norm_fields),
    GOLDEN_FUNCTION(batch_norm, TG_VARIADIC, norm_fields),
    GOLDEN_FUNCTION(batch_norm_with, TG_VARIADIC, norm_fields),
    GOLDEN_FUNCTION(group_norm, TG_VARIADIC, norm_fields),
    GOLDEN_FUNCTION(scaled_dot_product_attention, TG_VARIADIC, attention_fields),
    GOLDEN_FUNCTION(conv1d, TG_VARIADIC, window_fields),
    GOLDEN_FUNCTION(average_pool2d, 1, window_fields),
    GOLDEN_FUNCTION(max_pool2d_of_settings, 1, window_fields),
    GOLDEN_FUNCTION(average_pool1d, 1, window_fields),
    GOLDEN_FUNCTION(max_pool1d, 1, window_fields),
    {{0}, NULL},
};
