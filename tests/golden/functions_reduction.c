/* Reductions over axes that are not adjacent, or count from the end; products with vectors. */
#include "tests/golden/golden.h"

#include <math.h>

typedef struct axes_attributes {
    tg_shape axes; /* a list; empty means all */
    bool keep;
} axes_attributes;

static const tg_field axes_fields[] = {
    TG_FIELD(axes_attributes, axes, TG_FIELD_SHAPE), TG_FIELD(axes_attributes, keep, TG_FIELD_BOOL), {0}};

static tg_axes axes_of(const void *attributes)
{
    const tg_shape *list = &((const axes_attributes *)attributes)->axes;
    tg_axes axes = {.count = list->rank};
    for (int i = 0; i < list->rank; i++)
        axes.axis[i] = (int)list->dim[i];
    return axes;
}

static bool keep_of(const void *attributes)
{
    return ((const axes_attributes *)attributes)->keep;
}

#define OVER(kept, ...)              \
    .attributes = &(axes_attributes) \
    {                                \
        {__VA_ARGS__}, kept          \
    }
#define SAMPLES_OVER_AXES                                                     \
    {OVER(false, 2, {0, 2}), .input = {{.shape = {3, {2, 3, 4}}}}},           \
        {OVER(true, 2, {0, 2}), .input = {{.shape = {3, {2, 3, 4}}}}},        \
        {OVER(false, 1, {-1}), .input = {{.shape = {2, {5, 3}}}}},            \
        {OVER(true, 1, {-2}), .input = {{.shape = {3, {2, 3, 4}}}}},          \
        {OVER(false, 0, {0}), .input = {{.shape = {3, {2, 3, 2}}}}},          \
        {OVER(true, 0, {0}), .input = {{.shape = {2, {1, 7}}}}},              \
        {OVER(true, 3, {3, 1, -4}), .input = {{.shape = {4, {2, 3, 1, 5}}}}}, \
        {OVER(false, 2, {2, 0}), .input = {{.shape = {3, {3, 0, 2}}}}},

#define REDUCTION(name, result)                                                         \
    static tg_tensor call_##name(const tg_tensor *x, int count, const void *attributes) \
    {                                                                                   \
        (void)count;                                                                    \
        const tg_axes axes = axes_of(attributes);                                       \
        const bool keep = keep_of(attributes);                                          \
        return result;                                                                  \
    }                                                                                   \
    static const tg_sample name##_samples[] = {SAMPLES_OVER_AXES};

REDUCTION(sum_over_axes, tg_sum_over(*x, axes, keep))
REDUCTION(mean_over_axes, tg_mean_over(*x, axes, keep))
REDUCTION(var_over_axes, tg_var_over(*x, axes, 1, keep))
REDUCTION(norm_over_axes, tg_norm_over(*x, axes, keep))
REDUCTION(max_over_axes, tg_max_over(*x, axes, keep))
REDUCTION(min_over_axes, tg_min_over(*x, axes, keep))

/* ---- products ---- */

static tg_tensor call_matmul_of_any_rank(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    (void)attributes;
    return tg_matmul(x[0], x[1]);
}

static const tg_sample matmul_of_any_rank_samples[] = {
    {.input = {{.shape = {1, {4}}}, {.shape = {1, {4}}}}},
    {.input = {{.shape = {1, {4}}}, {.shape = {2, {4, 3}}}}},
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {1, {4}}}}},
    {.input = {{.shape = {3, {2, 3, 4}}}, {.shape = {1, {4}}}}},
    {.input = {{.shape = {1, {4}}}, {.shape = {3, {2, 4, 3}}}}},
    {.input = {{.shape = {3, {2, 3, 4}}}, {.shape = {2, {4, 5}}}}},
    {.input = {{.shape = {1, {0}}}, {.shape = {1, {0}}}}},
    {.input = {{.shape = {4, {2, 1, 3, 2}}}, {.shape = {3, {4, 2, 5}}}}},
    {.input = {{.shape = {3, {0, 3, 2}}}, {.shape = {1, {2}}}}},
};

static tg_tensor call_dot(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    (void)attributes;
    return tg_dot(x[0], x[1]);
}

static tg_tensor call_outer(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    (void)attributes;
    return tg_outer(x[0], x[1]);
}

#define VECTORS(n, m)                                         \
    {                                                         \
        .input = { {.shape = {1, {n}}}, {.shape = {1, {m}}} } \
    }
static const tg_sample dot_samples[] = {VECTORS(1, 1), VECTORS(0, 0),   VECTORS(3, 3),   VECTORS(8, 8),
                                        VECTORS(9, 9), VECTORS(33, 33), VECTORS(64, 64), VECTORS(100, 100)};
static const tg_sample outer_samples[] = {VECTORS(1, 1), VECTORS(0, 3),  VECTORS(3, 0), VECTORS(4, 1),
                                          VECTORS(1, 5), VECTORS(3, 17), VECTORS(9, 8), VECTORS(16, 3)};

const golden_function golden_reductions[] = {
    GOLDEN_FUNCTION(sum_over_axes, 1, axes_fields),
    GOLDEN_FUNCTION(mean_over_axes, 1, axes_fields),
    GOLDEN_FUNCTION(var_over_axes, 1, axes_fields),
    GOLDEN_FUNCTION(norm_over_axes, 1, axes_fields),
    GOLDEN_FUNCTION(max_over_axes, 1, axes_fields),
    GOLDEN_FUNCTION(min_over_axes, 1, axes_fields),
    GOLDEN_FUNCTION(matmul_of_any_rank, 2, NULL),
    GOLDEN_FUNCTION(dot, 2, NULL),
    GOLDEN_FUNCTION(outer, 2, NULL),
    {{0}, NULL},
};
