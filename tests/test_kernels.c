/* The kernels of every instruction set that runs here: how exact they are, what they do at the edges of the number
 * line, and whether fused kernels agree with the plain formula. */
#include "autograd/kernels/kernels.h"
#include "autograd/rng.h"
#include "examples/common/accuracy.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *kernels_suite(void);

/* ---- accuracy ---- */

/* Largest error in ulp of value, first and second derivative. Near a zero of a derivative an absolute error is allowed
 * instead. */
static const struct {
    const char *name;
    double f32[REFERENCE_ORDERS], f64[REFERENCE_ORDERS];
} bounds[] = {
    {"gelu_exact", {7, 6, 4}, {9, 6, 5}},
    {"gelu_tanh", {4, 7, 10}, {4, 9, 9}},
    {"gelu_quick", {4, 6, 9}, {4, 9, 9}},
    {"silu", {4, 6, 9}, {4, 6, 9}},
    {"softplus", {2, 3, 4}, {3, 3, 5}},
    {"mish", {5, 8, 25}, {4, 8, 25}},
    {"elu", {2, 2, 2}, {2, 2, 2}},
    {"selu", {3, 3, 3}, {3, 3, 3}},
    {"exp", {2}, {2}},
    {"expm1", {2}, {2}},
    {"log", {1}, {1}},
    {"log1p", {2}, {2}},
    {"sin", {2}, {2}},
    {"cos", {2}, {2}},
    {"tanh", {3}, {3}},
    {"sigmoid", {3}, {3}},
    {"log_sigmoid", {3}, {3}},
    {"erf", {2}, {2}},
    {"erfc", {6}, {9}},
    {"sqrt", {0.5}, {0.5}},
    {"rsqrt", {1.5}, {1.5}},
};
/* How many floats a sample leaves out. Sanitizers look for something else, and slowly. */
#if defined __SANITIZE_ADDRESS__
enum { STRIDE = 50021 };
#else
enum { STRIDE = 1000 };
#endif
enum { FUNCTIONS = sizeof bounds / sizeof bounds[0], MOST_SETS = 3 };

static size_t sets_that_run(const tg_kernel_set *sets[MOST_SETS])
{
    size_t count = 0;
    for (int i = 0; tg_kernel_set_at(i); i++)
        if (tg_kernel_set_runs(tg_kernel_set_at(i)))
            sets[count++] = tg_kernel_set_at(i);
    return count;
}

static void judge(const char *name, const tg_kernel_set *set, const char *precision, const accuracy *found,
                  int orders, const double *bound, double unit)
{
    for (int order = 0; order < orders; order++) {
        ck_assert_msg(found[order].max_ulp <= bound[order],
                      "%s, derivative %d, %s, %s: %.3f ulp at %a (%g), not %g", name, order, precision,
                      set->isa, found[order].max_ulp, found[order].ulp_at, found[order].ulp_at, bound[order]);
        ck_assert_msg(found[order].max_abs <= 8 * unit * order, "%s, derivative %d, %s, %s: off by %g at %g",
                      name, order, precision, set->isa, found[order].max_abs, found[order].abs_at);
    }
}

static const float float_edges[] = {
    0.f,        0x1p-149f,  0x1p-148f, 0x1.fffffcp-127f,
    0x1p-126f,  0x1p-64f,   0x1p-24f,  1e-4f,
    0.5f,       0.7517915f, 0.9f,      1.f,
    1.4142135f, 2.f,        3.f,       5.f,
    8.f,        10.f,       10.4f,     11.3f,
    13.f,       14.2f,      14.4f,     15.f,
    60.f,       69.f,       87.f,      87.3f,
    88.f,       88.72283f,  88.73f,    102.f,
    103.9f,     104.f,      110.f,     119.f,
    1e3f,       1e10f,      1e19f,     1e20f,
    1e30f,      3e38f,      FLT_MAX,   INFINITY,
    NAN,
};

/* Every `stride`-th of the 2^32 floats, and the edges with both signs and their neighbours. */
static void measure_floats(const reference_function *function, uint64_t stride, size_t sets_count,
                           const tg_kernel_set **sets, accuracy found[][REFERENCE_ORDERS])
{
    enum { CHUNK = 4096, EDGES = sizeof float_edges / sizeof float_edges[0] };
    float x[CHUNK];
    size_t n = 0;
    for (size_t i = 0; i < EDGES; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            float edge = (float)sign * float_edges[i];
            x[n++] = edge;
            x[n++] = nextafterf(edge, INFINITY);
            x[n++] = nextafterf(edge, -INFINITY);
        }
    for (uint64_t bits = 0; bits < 1ull << 32; bits += stride) {
        uint32_t word = (uint32_t)bits;
        memcpy(&x[n++], &word, sizeof word);
        if (n == CHUNK) {
            accuracy_measure_f32(sets_count, sets, function, n, x, found);
            n = 0;
        }
    }
    accuracy_measure_f32(sets_count, sets, function, n, x, found);
}

static void check_floats(int index, uint64_t stride)
{
    const tg_kernel_set *sets[MOST_SETS];
    const size_t count = sets_that_run(sets);
    accuracy found[MOST_SETS][REFERENCE_ORDERS] = {0};
    const reference_function *function = reference_find(bounds[index].name);
    measure_floats(function, stride, count, sets, found);
    for (size_t s = 0; s < count; s++)
        judge(function->name, sets[s], "float", found[s], function->orders, bounds[index].f32, 0x1p-24);
}

START_TEST(sampled_floats_keep_the_bounds)
{
    check_floats(_i, STRIDE);
}
END_TEST

START_TEST(all_floats_keep_the_bounds)
{
    check_floats(_i, 1);
}
END_TEST

/* Random doubles: of every exponent, and evenly spread over the ranges where things happen. */
static void check_doubles(int index, size_t samples)
{
    static const double ranges[] = {2, 10, 40, 800};
    enum { CHUNK = 4096, EDGES = sizeof float_edges / sizeof float_edges[0] };
    const tg_kernel_set *sets[MOST_SETS];
    const size_t count = sets_that_run(sets);
    accuracy found[MOST_SETS][REFERENCE_ORDERS] = {0};
    const reference_function *function = reference_find(bounds[index].name);
    tg_rng rng = tg_rng_seed(17);
    double x[CHUNK];
    size_t n = 0;
    for (size_t i = 0; i < EDGES; i++) {
        x[n++] = (double)float_edges[i];
        x[n++] = -(double)float_edges[i];
    }
    static const double more[] = {0x1p-1074, 0x1p-1022, 0x1.fp-1030, 38.4, 38.6,  39,    708.3,
                                  709.7,     710,       744,         746,  1e154, 1e300, DBL_MAX};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        x[n++] = more[i];
        x[n++] = -more[i];
    }
    for (size_t i = 0; i < samples; i++) {
        if (i % 5 == 4) {
            uint64_t word = tg_rng_bits(&rng);
            memcpy(&x[n++], &word, sizeof word);
        } else
            x[n++] = ranges[i % 5] * (2 * tg_rng_uniform(&rng) - 1);
        if (n == CHUNK) {
            accuracy_measure_f64(count, sets, function, n, x, found);
            n = 0;
        }
    }
    accuracy_measure_f64(count, sets, function, n, x, found);
    for (size_t s = 0; s < count; s++)
        judge(function->name, sets[s], "double", found[s], function->orders, bounds[index].f64, 0x1p-53);
}

START_TEST(sampled_doubles_keep_the_bounds)
{
    check_doubles(_i, 50000);
}
END_TEST

START_TEST(ten_million_doubles_keep_the_bounds)
{
    check_doubles(_i, 10000000);
}
END_TEST

/* ---- special values ---- */

#define GELU_FORMS(APPLY) APPLY(gelu_exact) APPLY(gelu_tanh) APPLY(gelu_quick) APPLY(silu)
#define OTHER_UNARY(APPLY)                                                                                   \
    APPLY(softplus)                                                                                          \
    APPLY(softplus_d1) APPLY(softplus_d2) APPLY(mish) APPLY(mish_d1) APPLY(mish_d2) APPLY(selu)              \
        APPLY(selu_d1) APPLY(selu_d2) APPLY(log_sigmoid) APPLY(exp) APPLY(expm1) APPLY(tanh) APPLY(sigmoid)  \
            APPLY(log) APPLY(log1p) APPLY(sqrt) APPLY(rsqrt) APPLY(erf) APPLY(erfc) APPLY(sin) APPLY(cos)    \
                APPLY(relu) APPLY(relu_d1) APPLY(hardsigmoid) APPLY(hardsigmoid_d1) APPLY(hardswish)         \
                    APPLY(hardswish_d1)

typedef void unary_f32(size_t n, const float *x, float *y);
typedef void unary_f64(size_t n, const double *x, double *y);

/* Value and derivatives at what is infinite, not a number, zero, or finite and enormous. */
static void check_gelu_edges(const char *name, unary_f32 *const f32[3], unary_f64 *const f64[3])
{
    const float x[] = {INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 1e20f, -1e20f, NAN, -NAN, 0.f, -0.f};
    const double limits[3][6] = {{INFINITY, 0, FLT_MAX, 0, 1e20f, 0}, {1, 0, 1, 0, 1, 0}, {0}};
    for (int order = 0; order < 3; order++) {
        float y[10];
        double wide[10], wide_y[10];
        for (int i = 0; i < 10; i++)
            wide[i] = x[i];
        f32[order](10, x, y);
        f64[order](10, wide, wide_y);
        for (int i = 0; i < 6; i++)
            ck_assert_msg((double)y[i] == limits[order][i] && wide_y[i] == limits[order][i],
                          "%s, derivative %d at %g: %g and %g", name, order, wide[i], (double)y[i],
                          wide_y[i]);
        for (int i = 6; i < 8; i++)
            ck_assert_msg(isnan(y[i]) && isnan(wide_y[i]), "%s, derivative %d loses a NaN", name, order);
        if (order == 0)
            ck_assert_msg(y[8] == 0 && y[9] == 0 && !signbit(y[8]) && signbit(y[9]) && wide_y[8] == 0 &&
                              wide_y[9] == 0 && !signbit(wide_y[8]) && signbit(wide_y[9]),
                          "%s loses the sign of zero", name);
    }
}

START_TEST(infinities_nan_and_zero_mean_what_they_mean)
{
    const tg_kernel_set *sets[MOST_SETS];
    const size_t count = sets_that_run(sets);
    for (size_t s = 0; s < count; s++) {
#define CHECK(name)                                                                                          \
    check_gelu_edges(                                                                                        \
        #name, (unary_f32 *const[]){sets[s]->f32->name, sets[s]->f32->name##_d1, sets[s]->f32->name##_d2},   \
        (unary_f64 *const[]){sets[s]->f64->name, sets[s]->f64->name##_d1, sets[s]->f64->name##_d2});
        GELU_FORMS(CHECK)
#undef CHECK
    }
}
END_TEST

/* A loop's vector part and its last few elements give the same, also when the output is the input. */
static void check_in_place(const char *name, unary_f32 *f32, unary_f64 *f64)
{
    enum { MOST = 133 };
    float x[MOST], alone[MOST], y[MOST];
    double wide[MOST], wide_alone[MOST], wide_y[MOST];
    for (int i = 0; i < MOST; i++) {
        x[i] = 0.11f * (float)i - 7.f;
        wide[i] = x[i];
        f32(1, &x[i], &alone[i]);
        f64(1, &wide[i], &wide_alone[i]);
    }
    for (size_t n = 0; n <= MOST; n++) {
        memcpy(y, x, sizeof y);
        memcpy(wide_y, wide, sizeof wide_y);
        f32(n, y, y);
        f64(n, wide_y, wide_y);
        for (size_t i = 0; i < MOST; i++) {
            float expected = i < n ? alone[i] : x[i];
            double wide_expected = i < n ? wide_alone[i] : wide[i];
            ck_assert_msg((isnan(expected) && isnan(y[i])) || expected == y[i],
                          "%s at %g of %zu: %a, alone %a", name, (double)x[i], n, (double)y[i],
                          (double)expected);
            ck_assert_msg((isnan(wide_expected) && isnan(wide_y[i])) || wide_expected == wide_y[i],
                          "%s in double at %g of %zu: %a, alone %a", name, wide[i], n, wide_y[i],
                          wide_expected);
        }
    }
}

START_TEST(results_do_not_depend_on_length_or_place)
{
    const tg_kernel_set *sets[MOST_SETS];
    const size_t count = sets_that_run(sets);
    for (size_t s = 0; s < count; s++) {
#define CHECK(name)     check_in_place(#name, sets[s]->f32->name, sets[s]->f64->name);
#define CHECK_ALL(name) CHECK(name) CHECK(name##_d1) CHECK(name##_d2)
        GELU_FORMS(CHECK_ALL)
        OTHER_UNARY(CHECK)
#undef CHECK
#undef CHECK_ALL
    }
}
END_TEST

START_TEST(pairs_give_the_value_and_the_slope)
{
    enum { N = 1001 };
    static float x[N], y[N], slope[N], expected[N], expected_slope[N];
    const tg_kernel_set *sets[MOST_SETS];
    const size_t count = sets_that_run(sets);
    for (int i = 0; i < N; i++)
        x[i] = 0.02f * (float)i - 10.f;
    for (size_t s = 0; s < count; s++) {
#define CHECK(name)                                                                                          \
    sets[s]->f32->name(N, x, expected);                                                                      \
    sets[s]->f32->name##_d1(N, x, expected_slope);                                                           \
    sets[s]->f32->name##_pair(N, x, y, slope);                                                               \
    ck_assert_msg(memcmp(y, expected, sizeof y) == 0, #name "_pair: another value");                         \
    ck_assert_msg(memcmp(slope, expected_slope, sizeof slope) == 0, #name "_pair: another slope");
        GELU_FORMS(CHECK)
        CHECK(softplus) CHECK(mish)
#undef CHECK
            sets[s]
                ->f32->elu(N, x, 0.5, expected);
        sets[s]->f32->elu_d1(N, x, 0.5, expected_slope);
        sets[s]->f32->elu_pair(N, x, 0.5, y, slope);
        ck_assert_mem_eq(y, expected, sizeof y);
        ck_assert_mem_eq(slope, expected_slope, sizeof slope);
    }
}
END_TEST

START_TEST(published_values_are_met)
{
    /* Constants of the literature to 14 digits: GELU at -1, -0.2, 1, 2, -3 and at its minimum; SiLU's minimum. */
    const double x[] = {-1, -0.2, 1, 2, -3, -0.7517915246935645, -1.278464542761074};
    const double y[] = {-0.15865525393146,   -0.084148058112179,  0.84134474606854,   1.9544997361036,
                        -0.0040496940948903, -0.1699712074799037, -0.2784645427610738};
    double found[7], slope[7];
    tg_kernels.f64->gelu_exact_pair(6, x, found, slope);
    tg_kernels.f64->silu_pair(1, x + 6, found + 6, slope + 6);
    for (int i = 0; i < 7; i++)
        ck_assert_double_eq_tol(found[i], y[i], 1e-13);
    ck_assert_double_eq_tol(slope[5], 0, 1e-15);
    ck_assert_double_eq_tol(slope[6], 0, 1e-15);
}
END_TEST

START_TEST(pieces_of_lines_bend_where_they_should)
{
    const float x[] = {-INFINITY, -4, -3, -1, -0.f, 0.f, 1, 3, 4, INFINITY};
    const float relu[] = {0, 0, 0, 0, 0, 0, 1, 3, 4, INFINITY}, step[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    const float leaky[] = {-INFINITY, -1, -0.75f, -0.25f, 0, 0, 1, 3, 4, INFINITY};
    const float swish[] = {0, 0, 0, -1.f / 3, 0, 0, 2.f / 3, 3, 4, INFINITY};
    const float swish_slope[] = {0, 0, 0, 1.f / 6, 0.5f, 0.5f, 5.f / 6, 1, 1, 1};
    const float sigmoid[] = {0, 0, 0, 1.f / 3, 0.5f, 0.5f, 2.f / 3, 1, 1, 1};
    float y[10];
#define EXPECT(expected)                                                                                     \
    for (int i = 0; i < 10; i++)                                                                             \
        ck_assert_msg(y[i] == (expected)[i] || fabsf(y[i] - (expected)[i]) < 1e-6f, #expected " at %g: %g",  \
                      (double)x[i], (double)y[i]);
    tg_kernels.f32->relu(10, x, y);
    EXPECT(relu)
    tg_kernels.f32->relu_d1(10, x, y);
    EXPECT(step)
    tg_kernels.f32->leaky_relu(10, x, 0.25, y);
    EXPECT(leaky)
    tg_kernels.f32->hardswish(10, x, y);
    EXPECT(swish)
    tg_kernels.f32->hardswish_d1(10, x, y);
    EXPECT(swish_slope)
    tg_kernels.f32->hardsigmoid(10, x, y);
    EXPECT(sigmoid)
#undef EXPECT
}
END_TEST

Suite *kernels_suite(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tests = tcase_create("kernels");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, sampled_floats_keep_the_bounds, 0, FUNCTIONS);
    tcase_add_loop_test(tests, sampled_doubles_keep_the_bounds, 0, FUNCTIONS);
    tcase_add_test(tests, infinities_nan_and_zero_mean_what_they_mean);
    tcase_add_test(tests, results_do_not_depend_on_length_or_place);
    tcase_add_test(tests, pairs_give_the_value_and_the_slope);
    tcase_add_test(tests, published_values_are_met);
    tcase_add_test(tests, pieces_of_lines_bend_where_they_should);
    suite_add_tcase(suite, tests);
    if (getenv("TG_LONG")) {
        TCase *longer = tcase_create("exhaustive");
        tcase_set_timeout(longer, 36000);
        tcase_add_loop_test(longer, all_floats_keep_the_bounds, 0, FUNCTIONS);
        tcase_add_loop_test(longer, ten_million_doubles_keep_the_bounds, 0, FUNCTIONS);
        suite_add_tcase(suite, longer);
    }
    return suite;
}
