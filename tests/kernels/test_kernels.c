/* The kernels of every instruction set that runs here: their accuracy, the edges of the number line, and fused kernels
 * against the plain formula. */
#include "autograd/kernels/kernels.h"
#include "tests/accuracy/accuracy.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

Suite *kernels_suite(void);

/* ---- accuracy: the bounds of tests/accuracy/bounds.c ---- */

/* A sample takes one float of this many. Sanitizers look for other faults, and are slow. */
#if defined __SANITIZE_ADDRESS__
enum { STRIDE = 50021 };
#else
enum { STRIDE = 1000 };
#endif
enum { FUNCTIONS = 27, MOST_SETS = ACCURACY_SETS };

static size_t sets_that_run(const tg_kernel_set *sets[MOST_SETS])
{
    size_t count = 0;
    for (int i = 0; tg_kernel_set_at(i); i++)
        if (tg_kernel_set_runs(tg_kernel_set_at(i)))
            sets[count++] = tg_kernel_set_at(i);
    return count;
}

static void judge(const char *name, const tg_kernel_set *set, bool is_double, int order, const accuracy *found)
{
    const accuracy_bound bound = accuracy_bound_of(name, is_double, order);
    ck_assert_msg(accuracy_holds(found, bound),
                  "%s, derivative %d, %s, %s: %.3f ulp at %a (%g), not %g; near its zero off by %g at %g, not %g", name,
                  order, is_double ? "double" : "float", set->isa, found->max_ulp, found->ulp_at, found->ulp_at,
                  bound.ulp, found->max_abs, found->abs_at, bound.absolute);
}

static void judge_all(const accuracy_survey *survey)
{
    ck_assert_int_gt(survey->sets, 0);
    for (int s = 0; s < survey->sets; s++)
        for (int order = 0; order < survey->function->orders; order++) {
            judge(survey->function->name, survey->set[s], false, order, &survey->f32[s][order]);
            judge(survey->function->name, survey->set[s], true, order, &survey->f64[s][order]);
        }
}

START_TEST(sampled_numbers_keep_the_bounds)
{
    accuracy_survey survey = accuracy_begin(reference_at((size_t)_i)->name);
    accuracy_edges(&survey);
    const unsigned fewer = getenv("TG_LONG") ? 1 : 3;
    accuracy_floats(&survey, 0, ACCURACY_FLOATS, fewer * STRIDE);
    accuracy_doubles(&survey, 17, 50000 / fewer);
    judge_all(&survey);
}
END_TEST

START_TEST(edges_alone_keep_the_bounds)
{
    accuracy_survey survey = accuracy_begin(reference_at((size_t)_i)->name);
    accuracy_edges(&survey);
    judge_all(&survey);
}
END_TEST

START_TEST(powers_of_two_and_their_neighbours_keep_the_bounds)
{
    accuracy_survey survey = accuracy_begin(reference_at((size_t)_i)->name);
    accuracy_powers(&survey);
    judge_all(&survey);
}
END_TEST

START_TEST(every_function_with_a_reference_is_tried_and_promises_something)
{
    ck_assert_ptr_nonnull(reference_at(FUNCTIONS - 1));
    ck_assert_ptr_null(reference_at(FUNCTIONS));
    for (size_t i = 0; i < FUNCTIONS; i++)
        for (int order = 0; order < reference_at(i)->orders; order++)
            ck_assert_double_gt(accuracy_bound_of(reference_at(i)->name, order % 2, order).ulp, 0);
}
END_TEST

/* The measurement itself must be able to fail: at 1, gelu_exact and silu are far apart. */
START_TEST(a_wrong_kernel_is_far_off)
{
    accuracy_survey survey = accuracy_begin("gelu_exact");
    const float x = 1;
    const double wide = NAN;
    survey.function = &(reference_function){
        .name = "silu", .orders = 3, .f32 = reference_find("gelu_exact")->f32, .f64 = reference_find("exp")->f64};
    accuracy_add_f32(&survey, 1, &x);
    ck_assert_double_gt(survey.f32[0][0].max_ulp, 1e6);
    ck_assert_double_eq(survey.f32[0][0].ulp_at, 1);
    accuracy_add_f64(&survey, 1, &wide);
    ck_assert_double_eq(survey.f64[0][0].max_ulp, 0); /* both NaN */
}
END_TEST

/* ---- special values ---- */

/* clang-format does not settle on a layout for these lists */
/* clang-format off */
#define GELU_FORMS(APPLY) APPLY(gelu_exact) APPLY(gelu_tanh) APPLY(gelu_quick) APPLY(silu)
#define OTHER_UNARY(APPLY) \
    APPLY(softplus) APPLY(mish) APPLY(mish_grad) \
    APPLY(mish_grad_grad) APPLY(selu) APPLY(selu_grad) APPLY(selu_grad_grad) \
    APPLY(exp) APPLY(expm1) APPLY(tanh) APPLY(sigmoid) APPLY(log) \
    APPLY(log1p) APPLY(sqrt) APPLY(rsqrt) APPLY(erf) APPLY(erfc) APPLY(sin) \
    APPLY(cos) APPLY(relu) APPLY(hardsigmoid) APPLY(hardsigmoid_grad) APPLY(hardswish) \
    APPLY(hardswish_grad) \
    APPLY(softsign) APPLY(softsign_grad) APPLY(softsign_grad_grad) APPLY(penalized_tanh) APPLY(penalized_tanh_grad) \
    APPLY(penalized_tanh_grad_grad) APPLY(star_relu) APPLY(star_relu_grad) APPLY(star_relu_grad_grad) APPLY(xielu) \
    APPLY(xielu_grad) APPLY(xielu_grad_grad) APPLY(snake) APPLY(snake_grad) APPLY(snake_grad_grad) APPLY(erf_grad)
/* clang-format on */

typedef void unary(size_t n, const void *x, void *y);

/* Arguments too large for the polynomials are passed to the C library, without changing their neighbours. */
static void check_beside_a_large_one(const char *name, unary *f32, unary *f64)
{
    enum { N = 200, LARGE = 70 };
    float x[N], y[N], alone;
    double wide[N], wide_y[N], wide_alone;
    for (int i = 0; i < N; i++)
        wide[i] = x[i] = i == LARGE ? 1e9f : 0.37f * (float)(i - N / 2);
    f32(N, x, y);
    f64(N, wide, wide_y);
    for (int i = 0; i < N; i++) {
        f32(1, &x[i], &alone);
        f64(1, &wide[i], &wide_alone);
        ck_assert_msg(y[i] == alone && wide_y[i] == wide_alone, "%s at %g: %a and %a, alone %a and %a", name, wide[i],
                      (double)y[i], wide_y[i], (double)alone, wide_alone);
    }
}

START_TEST(a_value_does_not_depend_on_its_neighbours)
{
    const tg_kernel_set *sets[MOST_SETS];
    for (size_t s = 0, count = sets_that_run(sets); s < count; s++) {
        const tg_kernel_table *f32 = sets[s]->of[TG_F32], *f64 = sets[s]->of[TG_F64];
        check_beside_a_large_one("sin", f32->sin, f64->sin);
        check_beside_a_large_one("cos", f32->cos, f64->cos);
        check_beside_a_large_one("snake", f32->snake, f64->snake);
        check_beside_a_large_one("snake_grad", f32->snake_grad, f64->snake_grad);
        check_beside_a_large_one("snake_grad_grad", f32->snake_grad_grad, f64->snake_grad_grad);
    }
}
END_TEST

/* Value and derivatives at infinities, NaN, zero, and huge finite numbers. */
static void check_gelu_edges(const char *name, unary *const f32[3], unary *const f64[3])
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
                          "%s, derivative %d at %g: %g and %g", name, order, wide[i], (double)y[i], wide_y[i]);
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
#define CHECK(name)                                                                                \
    check_gelu_edges(#name,                                                                        \
                     (unary *const[]){sets[s]->of[TG_F32]->name, sets[s]->of[TG_F32]->name##_grad, \
                                      sets[s]->of[TG_F32]->name##_grad_grad},                      \
                     (unary *const[]){sets[s]->of[TG_F64]->name, sets[s]->of[TG_F64]->name##_grad, \
                                      sets[s]->of[TG_F64]->name##_grad_grad});
        GELU_FORMS(CHECK)
#undef CHECK
    }
}
END_TEST

/* The vector part of a loop and its last few elements give the same results, even if the output is the input. */
static void check_in_place(const char *name, unary *f32, unary *f64)
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
            /* libcheck passes each assertion to another process: too slow for each number */
            if (!((isnan(expected) && isnan(y[i])) || expected == y[i]))
                ck_abort_msg("%s at %g of %zu: %a, alone %a", name, (double)x[i], n, (double)y[i], (double)expected);
            if (!((isnan(wide_expected) && isnan(wide_y[i])) || wide_expected == wide_y[i]))
                ck_abort_msg("%s in double at %g of %zu: %a, alone %a", name, wide[i], n, wide_y[i], wide_expected);
        }
    }
}

START_TEST(results_do_not_depend_on_length_or_place)
{
    const tg_kernel_set *sets[MOST_SETS];
    const size_t count = sets_that_run(sets);
    for (size_t s = 0; s < count; s++) {
#define CHECK(name)     check_in_place(#name, sets[s]->of[TG_F32]->name, sets[s]->of[TG_F64]->name);
#define CHECK_ALL(name) CHECK(name) CHECK(name##_grad) CHECK(name##_grad_grad)
        GELU_FORMS(CHECK_ALL)
        OTHER_UNARY(CHECK)
#undef CHECK
#undef CHECK_ALL
    }
}
END_TEST

/* ---- results that overwrite an input ---- */

enum kind { UNARY, CLAMP, NUMBER, WITH_GRAD, NUMBER_WITH_GRAD, BINARY, GATED, GATED_GRAD };

#define OVERWRITES(name, kind)                {#name, kind, offsetof(tg_kernel_table, name)},
#define TG_UNARY_KERNEL(name, ...)            OVERWRITES(name, UNARY)
#define TG_UNARY_NUMBER_KERNEL(name, ...)     OVERWRITES(name, NUMBER)
#define TG_WITH_GRAD_KERNEL(name, ...)        OVERWRITES(name, WITH_GRAD)
#define TG_NUMBER_WITH_GRAD_KERNEL(name, ...) OVERWRITES(name, NUMBER_WITH_GRAD)
#define TG_BINARY_KERNEL(name, ...)           OVERWRITES(name, BINARY)
#define TG_GATED_KERNEL(name, ...)            OVERWRITES(name, GATED)
#define TG_GATED_GRAD_KERNEL(name, ...)       OVERWRITES(name, GATED_GRAD)
#define TG_SUM_KERNEL(name, ...)
#define TG_VECTOR_KERNEL(name, parameters)
#define TG_KERNEL(name, parameters)
static const struct overwriting {
    const char *name;
    enum kind kind;
    size_t offset; /* in a table */
} overwriting[] = {
#include "autograd/kernels/kernels.def"
    OVERWRITES(sin, UNARY) OVERWRITES(cos, UNARY) OVERWRITES(snake, UNARY) OVERWRITES(snake_grad, UNARY)
        OVERWRITES(snake_grad_grad, UNARY) OVERWRITES(power, NUMBER) OVERWRITES(clamp, CLAMP)};

typedef void any_kernel(void);
typedef void number_kernel(size_t n, const void *x, double number, void *y);
typedef void clamp_kernel(size_t n, const void *x, double low, double high, void *y);
typedef void with_grad_kernel(size_t n, const void *x, void *y, void *dy);
typedef void number_with_grad_kernel(size_t n, const void *x, double number, void *y, void *dy);
typedef void binary_kernel(size_t n, const void *a, int step_a, const void *b, int step_b, void *y);
typedef void gated_kernel(size_t n, const void *a, const void *b, void *y);
typedef void gated_grad_kernel(size_t n, const void *a, const void *b, const void *g, void *da, void *db);

static int inputs_of(enum kind kind)
{
    return kind == GATED_GRAD ? 3 : kind >= BINARY ? 2 : 1;
}

/* One of the inputs of a binary kernel, number `repeated`, may be a single number. */
static void apply(enum kind kind, any_kernel *kernel, size_t n, void *const in[3], int repeated, void *const out[2])
{
    switch (kind) {
    case UNARY:
        ((unary *)kernel)(n, in[0], out[0]);
        break;
    case CLAMP:
        ((clamp_kernel *)kernel)(n, in[0], -1, 2, out[0]);
        break;
    case NUMBER:
        ((number_kernel *)kernel)(n, in[0], 0.7, out[0]);
        break;
    case WITH_GRAD:
        ((with_grad_kernel *)kernel)(n, in[0], out[0], out[1]);
        break;
    case NUMBER_WITH_GRAD:
        ((number_with_grad_kernel *)kernel)(n, in[0], 0.7, out[0], out[1]);
        break;
    case BINARY:
        ((binary_kernel *)kernel)(n, in[0], repeated != 0, in[1], repeated != 1, out[0]);
        break;
    case GATED:
        ((gated_kernel *)kernel)(n, in[0], in[1], out[0]);
        break;
    case GATED_GRAD:
        ((gated_grad_kernel *)kernel)(n, in[0], in[1], in[2], out[0], out[1]);
        break;
    }
}

/* Result 0 begins where input number `over` does; result 1 of a gated product follows it, as in its operation. */
static void check_overwriting(const struct overwriting *o, any_kernel *kernel, tg_dtype dtype, size_t n, int over,
                              int repeated)
{
    enum { MOST = 133 };
    static double in[3][2 * MOST], result[2][2][MOST], other[MOST];
    const size_t element = dtype == TG_F32 ? sizeof(float) : sizeof(double);
    for (int again = 0; again < 2; again++) {
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < MOST; i++) {
                const double number = 0.11 * (double)i * (k + 1) - 7 + 0.3 * k;
                if (dtype == TG_F32)
                    ((float *)(void *)in[k])[i] = (float)number;
                else
                    in[k][i] = number;
            }
        void *from[3] = {in[0], in[1], in[2]}, *to[2] = {result[0][0], result[0][1]};
        if (again) {
            to[0] = in[over];
            to[1] = o->kind == GATED_GRAD ? (char *)in[over] + n * element : (void *)other;
        }
        apply(o->kind, kernel, n, from, repeated, to);
        const int results = o->kind == GATED_GRAD || o->kind == WITH_GRAD || o->kind == NUMBER_WITH_GRAD ? 2 : 1;
        for (int r = 0; again && r < results; r++)
            if (memcmp(to[r], result[0][r], n * element) != 0)
                ck_abort_msg("%s over input %d, %zu elements of %zu bytes, input %d repeated", o->name, over, n,
                             element, repeated);
    }
}

START_TEST(a_result_may_overwrite_an_input)
{
    static const size_t sizes[] = {0, 1, 2, 7, 8, 15, 16, 17, 31, 48, 63, 64, 65, 96, 127, 128, 129, 133};
    const tg_kernel_set *sets[MOST_SETS];
    const size_t count = sets_that_run(sets), kernels = sizeof overwriting / sizeof *overwriting;
    ck_assert_uint_gt(kernels, 90);
    for (size_t s = 0; s < count; s++)
        for (size_t k = 0; k < 2 * kernels; k++) {
            const struct overwriting *o = &overwriting[k / 2];
            const tg_dtype dtype = k % 2 ? TG_F64 : TG_F32;
            any_kernel *kernel;
            memcpy(&kernel, (const char *)sets[s]->of[dtype] + o->offset, sizeof kernel);
            for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
                for (int over = 0; over < inputs_of(o->kind); over++)
                    for (int repeated = -1; repeated < (o->kind == BINARY ? 2 : 0); repeated++)
                        if (repeated != over)
                            check_overwriting(o, kernel, dtype, sizes[n], over, repeated);
        }
}
END_TEST

START_TEST(kernels_with_grad_give_value_and_derivative)
{
    enum { N = 1001 };
    static float x[N], y[N], derivative[N], expected[N], expected_derivative[N];
    const tg_kernel_set *sets[MOST_SETS];
    const size_t count = sets_that_run(sets);
    for (int i = 0; i < N; i++)
        x[i] = 0.02f * (float)i - 10.f;
    for (size_t s = 0; s < count; s++) {
#define CHECK(name) CHECK_PAIR(name, name##_grad)
#define CHECK_PAIR(name, grad)                                                            \
    sets[s]->of[TG_F32]->name(N, x, expected);                                            \
    sets[s]->of[TG_F32]->grad(N, x, expected_derivative);                                 \
    sets[s]->of[TG_F32]->name##_with_grad(N, x, y, derivative);                           \
    ck_assert_msg(memcmp(y, expected, sizeof y) == 0, #name "_with_grad: another value"); \
    ck_assert_msg(memcmp(derivative, expected_derivative, sizeof derivative) == 0,        \
                  #name "_with_grad: another derivative");
        GELU_FORMS(CHECK)
        CHECK(mish)
        CHECK_PAIR(softplus, sigmoid)
#undef CHECK
#undef CHECK_PAIR
        sets[s]->of[TG_F32]->elu(N, x, 0.5, expected);
        sets[s]->of[TG_F32]->elu_grad(N, x, 0.5, expected_derivative);
        sets[s]->of[TG_F32]->elu_with_grad(N, x, 0.5, y, derivative);
        ck_assert_mem_eq(y, expected, sizeof y);
        ck_assert_mem_eq(derivative, expected_derivative, sizeof derivative);
    }
}
END_TEST

START_TEST(published_values_are_met)
{
    /* Constants of the literature to 14 digits: GELU at -1, -0.2, 1, 2, -3 and at its minimum; SiLU's minimum. */
    const double x[] = {-1, -0.2, 1, 2, -3, -0.7517915246935645, -1.278464542761074};
    const double y[] = {-0.15865525393146,   -0.084148058112179,  0.84134474606854,   1.9544997361036,
                        -0.0040496940948903, -0.1699712074799037, -0.2784645427610738};
    double found[7], derivative[7];
    tg_kernels.of[TG_F64]->gelu_exact_with_grad(6, x, found, derivative);
    tg_kernels.of[TG_F64]->silu_with_grad(1, x + 6, found + 6, derivative + 6);
    for (int i = 0; i < 7; i++)
        ck_assert_double_eq_tol(found[i], y[i], 1e-13);
    ck_assert_double_eq_tol(derivative[5], 0, 1e-15);
    ck_assert_double_eq_tol(derivative[6], 0, 1e-15);
}
END_TEST

START_TEST(pieces_of_lines_bend_where_they_should)
{
    const float x[] = {-INFINITY, -4, -3, -1, -0.f, 0.f, 1, 3, 4, INFINITY};
    const float relu[] = {0, 0, 0, 0, 0, 0, 1, 3, 4, INFINITY};
    const float leaky[] = {-INFINITY, -1, -0.75f, -0.25f, 0, 0, 1, 3, 4, INFINITY};
    const float swish[] = {0, 0, 0, -1.f / 3, 0, 0, 2.f / 3, 3, 4, INFINITY};
    const float swish_derivative[] = {0, 0, 0, 1.f / 6, 0.5f, 0.5f, 5.f / 6, 1, 1, 1};
    const float sigmoid[] = {0, 0, 0, 1.f / 3, 0.5f, 0.5f, 2.f / 3, 1, 1, 1};
    float y[10];
#define EXPECT(expected)                                                                                    \
    for (int i = 0; i < 10; i++)                                                                            \
        ck_assert_msg(y[i] == (expected)[i] || fabsf(y[i] - (expected)[i]) < 1e-6f, #expected " at %g: %g", \
                      (double)x[i], (double)y[i]);
    tg_kernels.of[TG_F32]->relu(10, x, y);
    EXPECT(relu)
    tg_kernels.of[TG_F32]->leaky_relu(10, x, 0.25, y);
    EXPECT(leaky)
    tg_kernels.of[TG_F32]->hardswish(10, x, y);
    EXPECT(swish)
    tg_kernels.of[TG_F32]->hardswish_grad(10, x, y);
    EXPECT(swish_derivative)
    tg_kernels.of[TG_F32]->hardsigmoid(10, x, y);
    EXPECT(sigmoid)
#undef EXPECT
}
END_TEST

Suite *kernels_suite(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tests = tcase_create("kernels");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, sampled_numbers_keep_the_bounds, 0, FUNCTIONS);
    tcase_add_loop_test(tests, edges_alone_keep_the_bounds, 0, FUNCTIONS);
    tcase_add_loop_test(tests, powers_of_two_and_their_neighbours_keep_the_bounds, 0, FUNCTIONS);
    tcase_add_test(tests, every_function_with_a_reference_is_tried_and_promises_something);
    tcase_add_test(tests, a_wrong_kernel_is_far_off);
    tcase_add_test(tests, a_value_does_not_depend_on_its_neighbours);
    tcase_add_test(tests, infinities_nan_and_zero_mean_what_they_mean);
    tcase_add_test(tests, results_do_not_depend_on_length_or_place);
    tcase_add_test(tests, a_result_may_overwrite_an_input);
    tcase_add_test(tests, kernels_with_grad_give_value_and_derivative);
    tcase_add_test(tests, published_values_are_met);
    tcase_add_test(tests, pieces_of_lines_bend_where_they_should);
    suite_add_tcase(suite, tests);
    return suite;
}
