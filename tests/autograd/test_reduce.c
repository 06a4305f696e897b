/* Reductions over axes against plain loops, and their promised accuracy. */
#include "autograd/ops/reduction.h"
#include "tests/support/tensors.h"

#include <math.h>
#include <stdlib.h>

Suite *reduce_suite(void);

/* True if element `i` of x is reduced into element `r` of the result. */
static bool reduces_to(tg_shape shape, int bits, int64_t i, int64_t r)
{
    for (int axis = shape.rank - 1; axis >= 0; axis--) {
        int64_t dim = shape.dim[axis], at = i % dim;
        i /= dim;
        if (bits >> axis & 1)
            continue;
        if (r % dim != at)
            return false;
        r /= dim;
    }
    return true;
}

/* Collects the elements of x that are reduced to element `r`, in order; returns their number. */
static int64_t group(tg_tensor x, int bits, int64_t r, double *elements)
{
    int64_t count = 0;
    for (int64_t i = 0; i < tg_size(x); i++)
        if (reduces_to(tg_shape_of(x), bits, i, r))
            elements[count++] = tg_at(x, i);
    return count;
}

static tg_axes axes_of(int bits)
{
    tg_axes axes = {0};
    for (int axis = 0; axis < TG_MAX_RANK; axis++)
        if (bits >> axis & 1)
            axes.axis[axes.count++] = axis;
    return axes;
}

/* Two passes with a plain sum each. */
static double variance_of(const double *x, int64_t n, int correction)
{
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return squares / (double)(n - correction);
}

START_TEST(every_reduction_over_every_set_of_axes_agrees_with_a_plain_loop)
{
    const tg_shape shapes[] = {TG_SHAPE(3, 2, 4, 5), TG_SHAPE(2, 1, 3, 17), TG_SHAPE(5, 20, 1, 2)};
    double *x = malloc(1000 * sizeof *x);
    for (int which = 0; which < 3 * 15 * 2; which++) {
        const int bits = which % 15 + 1;
        const tg_dtype dtype = which >= 45 ? TG_F64 : TG_F32;
        tg_tensor all = drawn(dtype, shapes[which / 15 % 3]);
        const tg_axes axes = axes_of(bits);
        tg_tensor sum = tg_sum_over(all, axes, false), mean = tg_mean_over(all, axes, true);
        tg_tensor variance = tg_var_over(all, axes, 0, false), norm = tg_norm_over(all, axes, true);
        tg_tensor most = tg_max_over(all, axes, false), least = tg_min_over(all, axes, true);
        tg_tensor logarithm = tg_logsumexp_over(all, axes, bits & 1);
        ck_assert_int_eq(tg_rank(least), 4);
        ck_assert_int_eq(tg_rank(logarithm) == 4, bits & 1);
        for (int64_t r = 0; r < tg_size(sum); r++) {
            int64_t n = group(all, bits, r, x);
            double total = 0, squares = 0, powers = 0, high = x[0], low = x[0];
            for (int64_t i = 0; i < n; i++) {
                total += x[i];
                squares += x[i] * x[i];
                powers += exp(x[i]);
                high = fmax(high, x[i]);
                low = fmin(low, x[i]);
            }
            assert_close(tg_at(sum, r), total, dtype);
            assert_close(tg_at(mean, r), total / (double)n, dtype);
            assert_close(tg_at(variance, r), variance_of(x, n, 0), dtype);
            assert_close(tg_at(norm, r), sqrt(squares), dtype);
            assert_close(tg_at(logarithm, r), log(powers), dtype);
            ck_assert_double_eq(tg_at(most, r), high);
            ck_assert_double_eq(tg_at(least, r), low);
        }
        tg_tape_reset(tape);
    }
    free(x);
}
END_TEST

START_TEST(long_rows_and_many_columns_are_reduced_whole)
{
    /* Sizes on both sides of every block: 16 lanes, 256 and 1024 columns, matrices so narrow that rows are joined. */
    static const int64_t sizes[][2] = {{1, 1},   {3, 15},  {2, 16},   {5, 33},  {700, 3},
                                       {33, 64}, {4, 257}, {9, 1030}, {2, 2100}};
    for (int which = 0; which < 9; which++) {
        const int64_t rows = sizes[which][0], columns = sizes[which][1];
        tg_tensor x = drawn(TG_F64, TG_SHAPE(rows, columns));
        tg_tensor by_row = tg_sum_over(x, TG_AXES(1), false), by_column = tg_sum_over(x, TG_AXES(0), false);
        tg_tensor norms = tg_norm_over(x, TG_AXES(0), false), largest = tg_max_over(x, TG_AXES(1), false);
        tg_tensor spread = tg_var_over(x, TG_AXES(0), 0, false);
        for (int64_t r = 0; r < rows; r++) {
            double sum = 0, high = -INFINITY;
            for (int64_t c = 0; c < columns; c++) {
                sum += tg_at(x, r * columns + c);
                high = fmax(high, tg_at(x, r * columns + c));
            }
            assert_close(tg_at(by_row, r), sum, TG_F64);
            ck_assert_double_eq(tg_at(largest, r), high);
        }
        for (int64_t c = 0; c < columns; c++) {
            double sum = 0, squares = 0;
            for (int64_t r = 0; r < rows; r++) {
                sum += tg_at(x, r * columns + c);
                squares += tg_at(x, r * columns + c) * tg_at(x, r * columns + c);
            }
            assert_close(tg_at(by_column, c), sum, TG_F64);
            assert_close(tg_at(norms, c), sqrt(squares), TG_F64);
            assert_close(tg_at(spread, c), squares / (double)rows - sum * sum / (double)(rows * rows), TG_F64);
        }
    }
}
END_TEST

START_TEST(a_sum_of_a_million_floats_is_exact_to_rounding)
{
    /* The sum of many 0.1f, added one by one in single precision, is off by 1 %. */
    enum { N = 1000000 };
    tg_tensor tenth = tg_full(tape, TG_F32, TG_SHAPE(N), 0.1);
    assert_relative(tg_item(tg_sum(tenth)), (double)0.1f * N, 6e-8);
    assert_relative(tg_item(tg_mean(tenth)), (double)0.1f, 1.2e-7);
    tg_tensor columns = tg_sum_over(tg_reshape(tenth, TG_SHAPE(N / 2, 2)), TG_AXES(0), false);
    assert_relative(tg_at(columns, 1), (double)0.1f * N / 2, 6e-8);
    columns = tg_sum_over(tg_reshape(tenth, TG_SHAPE(1000, 1000)), TG_AXES(0), false);
    assert_relative(tg_at(columns, 999), (double)0.1f * 1000, 6e-8);
    tg_tensor outer = tg_sum_over(tg_reshape(tenth, TG_SHAPE(1000, 10, 100)), TG_AXES(0, 2), false);
    assert_relative(tg_at(outer, 9), (double)0.1f * 100000, 6e-8);
    assert_relative(tg_at(tg_cumsum(tenth, 0, false), N - 1), (double)0.1f * N, 6e-8);
}
END_TEST

START_TEST(variance_of_large_means_is_neither_negative_nor_lost)
{
    /* E[x^2] - E[x]^2 gives 0 or less here, even in double. */
    double x[64];
    float narrow[64];
    for (int i = 0; i < 64; i++) {
        x[i] = 1e9 + (i % 2 ? 1 : -1);
        narrow[i] = 8388608.f + (float)(i % 2 ? 1 : -1);
    }
    ck_assert_double_eq(tg_item(tg_var_over(tg_constant(tape, TG_F64, x, TG_SHAPE(64)), TG_ALL_AXES, 0, false)), 1);
    ck_assert_double_eq(tg_item(tg_var_over(tg_constant(tape, TG_F32, narrow, TG_SHAPE(64)), TG_ALL_AXES, 0, false)),
                        1);
    tg_tensor columns = tg_constant(tape, TG_F64, x, TG_SHAPE(32, 2));
    ck_assert_double_eq(tg_at(tg_var_over(columns, TG_AXES(0), 0, false), 1), 0);
    assert_close(tg_item(tg_var_over(columns, TG_ALL_AXES, 1, false)), 64. / 63, TG_F64);
    ck_assert(isnan(tg_item(tg_var_over(drawn(TG_F64, TG_SHAPE(1)), TG_ALL_AXES, 1, false))));
}
END_TEST

START_TEST(the_gradient_of_an_extreme_goes_to_the_first_of_equal_ones)
{
    const double x[] = {1, 3, 3, -2, -2, 3};
    tg_tensor v = tg_variable(tape, TG_F64, x, TG_SHAPE(2, 3)), g;
    tg_tensor most = tg_max_over(v, TG_ALL_AXES, false), least = tg_min_over(v, TG_AXES(1), false);
    ck_assert(tg_grad(&most, 1, &v, 1, NULL, false, &g));
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(tg_at(g, i), i == 1);
    ck_assert(tg_grad(&least, 1, &v, 1, NULL, false, &g));
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(tg_at(g, i), i == 0 || i == 3);
    ck_assert_double_eq(tg_at(tg_argmax(v, 1, false), 0), 1);
    ck_assert_double_eq(tg_at(tg_argmin(v, -1, true), 1), 0);
    ck_assert_int_eq(tg_dtype_of(tg_argmax(v, 0, false)), TG_I32);
    assert_shape(tg_argmin(v, 0, true), TG_SHAPE(1, 3));
}
END_TEST

START_TEST(a_nan_is_the_extreme_and_is_found)
{
    for (int place = 0; place < 40; place++) {
        double x[40];
        for (int i = 0; i < 40; i++)
            x[i] = i == place ? NAN : i - 20;
        tg_tensor row = tg_constant(tape, TG_F64, x, TG_SHAPE(40)), column = tg_reshape(row, TG_SHAPE(20, 2));
        ck_assert(isnan(tg_item(tg_max_over(row, TG_ALL_AXES, false))));
        ck_assert(isnan(tg_item(tg_min_over(row, TG_ALL_AXES, false))));
        ck_assert(isnan(tg_at(tg_max_over(column, TG_AXES(0), false), place % 2)));
        ck_assert_double_eq(tg_at(tg_max_over(column, TG_AXES(0), false), 1 - place % 2), place % 2 ? 18 : 19);
        ck_assert_double_eq(tg_item(tg_argmax(row, 0, false)), place);
        ck_assert_double_eq(tg_item(tg_argmin(row, 0, false)), place);
    }
}
END_TEST

START_TEST(the_norm_neither_overflows_nor_divides_by_zero)
{
    ck_assert_double_eq(tg_item(tg_norm_over(tg_full(tape, TG_F64, TG_SHAPE(4), 1e300), TG_ALL_AXES, false)), 2e300);
    assert_relative(tg_item(tg_norm_over(tg_full(tape, TG_F64, TG_SHAPE(4), 1e-300), TG_ALL_AXES, false)), 2e-300,
                    1e-15);
    assert_relative(tg_at(tg_norm_over(tg_full(tape, TG_F32, TG_SHAPE(4, 3), 1e-30), TG_AXES(0), false), 2), 2e-30,
                    1e-6);
    ck_assert(isinf(tg_item(tg_norm_over(tg_full(tape, TG_F64, TG_SHAPE(2), -INFINITY), TG_ALL_AXES, false))));
    ck_assert(isnan(tg_item(tg_norm_over(tg_full(tape, TG_F64, TG_SHAPE(2), NAN), TG_ALL_AXES, false))));
    tg_tensor zero = tg_variable(tape, TG_F64, (double[2]){0}, TG_SHAPE(2)),
              norm = tg_norm_over(zero, TG_ALL_AXES, false);
    tg_tensor slope, curvature;
    ck_assert(tg_grad(&norm, 1, &zero, 1, NULL, true, &slope));
    ck_assert_double_eq(tg_at(slope, 0), 0);
    ck_assert(tg_grad(&slope, 1, &zero, 1, NULL, false, &curvature));
    ck_assert_double_eq(tg_at(curvature, 1), 0);
}
END_TEST

START_TEST(cumulative_sums_run_along_any_axis_both_ways)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(3, 5, 300)), up = tg_cumsum(x, 1, false), down = tg_cumsum(x, -2, true);
    for (int64_t o = 0; o < 3; o++)
        for (int64_t i = 0; i < 300; i++) {
            double from_start = 0, from_end = 0;
            for (int64_t j = 0; j < 5; j++) {
                from_start += tg_at(x, (o * 5 + j) * 300 + i);
                from_end += tg_at(x, (o * 5 + 4 - j) * 300 + i);
                assert_close(tg_at(up, (o * 5 + j) * 300 + i), from_start, TG_F64);
                assert_close(tg_at(down, (o * 5 + 4 - j) * 300 + i), from_end, TG_F64);
            }
        }
}
END_TEST

START_TEST(reductions_of_nothing_and_of_scalars_are_defined)
{
    tg_tensor none = drawn(TG_F32, TG_SHAPE(3, 0)), scalar = drawn(TG_F64, TG_SCALAR);
    assert_shape(tg_var_over(none, TG_AXES(0), 0, false), TG_SHAPE(0));
    ck_assert(isnan(tg_at(tg_var_over(none, TG_AXES(1), 0, false), 2)));
    ck_assert_double_eq(tg_at(tg_norm_over(none, TG_AXES(1), false), 2), 0);
    assert_shape(tg_max_over(none, TG_AXES(0), true), TG_SHAPE(1, 0));
    assert_shape(tg_cumsum(none, 0, false), TG_SHAPE(3, 0));
    ck_assert_double_eq(tg_item(tg_max_over(scalar, TG_ALL_AXES, true)), tg_item(scalar));
    ck_assert_double_eq(tg_item(tg_var_over(scalar, TG_ALL_AXES, 0, false)), 0);
    ck_assert_double_eq(tg_item(tg_norm_over(scalar, TG_ALL_AXES, false)), fabs(tg_item(scalar)));
}
END_TEST

START_TEST(the_gradient_of_logsumexp_is_the_softmax_over_the_same_axes)
{
    for (int bits = 1; bits < 8; bits++) {
        tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 4));
        tg_tensor y = tg_logsumexp_over(x, axes_of(bits), bits & 1);
        ck_assert(tg_backward(tg_sum(y)));
        for (int64_t r = 0; r < tg_size(y); r++)
            for (int64_t i = 0; i < tg_size(x); i++)
                if (reduces_to(tg_shape_of(x), bits, i, r))
                    assert_close(tg_at(tg_gradient(x), i), exp(tg_at(x, i) - tg_at(y, r)), TG_F64);
        tg_tape_reset(tape);
    }
}
END_TEST

/* The convenience functions permute axes; the operations themselves refuse such axes. */
/* As in PyTorch. */
START_TEST(logsumexp_of_a_row_with_infinity_is_infinity_but_with_a_nan_nan)
{
    for (int length = 2; length < 40; length++)
        for (int place = 1; place < length; place++) {
            double x[40] = {INFINITY};
            x[place] = -INFINITY;
            const tg_tensor row = tg_constant(tape, TG_F64, x, TG_SHAPE(length));
            ck_assert_double_eq(tg_item(tg_logsumexp_over(row, TG_ALL_AXES, false)), INFINITY);
            x[place] = NAN;
            const tg_tensor with_nan = tg_constant(tape, TG_F64, x, TG_SHAPE(length));
            ck_assert(isnan(tg_item(tg_logsumexp_over(with_nan, TG_ALL_AXES, false))));
        }
}
END_TEST

START_TEST(axes_that_an_operation_cannot_reduce_are_refused)
{
    tg_tensor x = drawn(TG_F32, TG_SHAPE(2, 3, 4));
    tg_apply(&tg_op_max_over, &(tg_reduce_attributes){.axes = 5}, 1, &x);
    expect_error("max_over(f32[2, 3, 4]): expected axes side by side");
    x = drawn(TG_F32, TG_SHAPE(2, 3, 4));
    tg_apply(&tg_op_logsumexp_over, &(tg_reduce_attributes){.axes = 3}, 1, &x);
    expect_error("logsumexp_over(f32[2, 3, 4]): expected the last axes");
}
END_TEST

START_TEST(reductions_that_cannot_be_are_named)
{
    tg_tensor x = drawn(TG_F32, TG_SHAPE(3, 0)), labels = counted(TG_I32, TG_SHAPE(3));
    tg_max_over(x, TG_AXES(1), false);
    expect_error("max_over(f32[3, 0]): there is no largest or smallest of no elements");
    tg_argmax(x, 2, false);
    expect_error("argmax(f32[3, 0]): there is no axis 2");
    tg_sum_over(x, TG_AXES(-3), false);
    expect_error("sum_over(f32[3, 0]): there is no axis -3");
    tg_var_over(labels, TG_ALL_AXES, 0, false);
    expect_error("var_over(i32[3]): expected f32 or f64");
    tg_cumsum(labels, 0, false);
    expect_error("cumsum(i32[3]): expected f32 or f64");
    ck_assert(!tg_ok(tg_max_over(TG_NONE, TG_ALL_AXES, false)));
}
END_TEST

Suite *reduce_suite(void)
{
    Suite *suite = suite_create("reduce");
    TCase *tests = tcase_create("reduce");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, every_reduction_over_every_set_of_axes_agrees_with_a_plain_loop);
    tcase_add_test(tests, long_rows_and_many_columns_are_reduced_whole);
    tcase_add_test(tests, a_sum_of_a_million_floats_is_exact_to_rounding);
    tcase_add_test(tests, variance_of_large_means_is_neither_negative_nor_lost);
    tcase_add_test(tests, the_gradient_of_an_extreme_goes_to_the_first_of_equal_ones);
    tcase_add_test(tests, a_nan_is_the_extreme_and_is_found);
    tcase_add_test(tests, the_norm_neither_overflows_nor_divides_by_zero);
    tcase_add_test(tests, cumulative_sums_run_along_any_axis_both_ways);
    tcase_add_test(tests, reductions_of_nothing_and_of_scalars_are_defined);
    tcase_add_test(tests, the_gradient_of_logsumexp_is_the_softmax_over_the_same_axes);
    tcase_add_test(tests, logsumexp_of_a_row_with_infinity_is_infinity_but_with_a_nan_nan);
    tcase_add_test(tests, axes_that_an_operation_cannot_reduce_are_refused);
    tcase_add_test(tests, reductions_that_cannot_be_are_named);
    suite_add_tcase(suite, tests);
    return suite;
}
