/* Normalisation against its definition, for large means, tiny epsilons and missing weights. */
#include "tests/support/tensors.h"

#include <math.h>

Suite *norm_suite(void);

/* (x - mean) / sqrt(variance + epsilon) of element number `i` of group `g`, whose `n` elements lie a stride apart. */
typedef struct grouping {
    int64_t n, (*at)(int64_t group, int64_t i);
} grouping;

static void assert_normalised(tg_tensor x, tg_tensor y, int64_t groups, grouping by, bool centred, double epsilon)
{
    for (int64_t g = 0; g < groups; g++) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; centred && i < by.n; i++)
            mean += tg_at(x, by.at(g, i)) / (double)by.n;
        for (int64_t i = 0; i < by.n; i++)
            squares += pow(tg_at(x, by.at(g, i)) - mean, 2);
        for (int64_t i = 0; i < by.n; i++)
            assert_close(tg_at(y, by.at(g, i)), (tg_at(x, by.at(g, i)) - mean) / sqrt(squares / (double)by.n + epsilon),
                         tg_dtype_of(x));
    }
}

static int64_t in_rows_of_70(int64_t row, int64_t i)
{
    return row * 70 + i;
}

START_TEST(rows_are_normalised)
{
    for (int which = 0; which < 4; which++) {
        tg_tensor x = drawn(which & 1 ? TG_F64 : TG_F32, TG_SHAPE(10, 13, 70)); /* more rows than one block */
        assert_normalised(x, tg_normalize(x, which & 2, 1e-5), 130, (grouping){70, in_rows_of_70}, which & 2, 1e-5);
    }
}
END_TEST

START_TEST(large_means_leave_finite_rows_of_unit_variance)
{
    /* Computed as E[x^2] - E[x]^2, this variance would be noise, or negative. */
    for (int which = 0; which < 2; which++) {
        tg_dtype dtype = which ? TG_F64 : TG_F32;
        tg_tensor x = tg_add_scalar(tg_mul_scalar(drawn(dtype, TG_SHAPE(4, 64)), 64), which ? 1e9 : 1e6),
                  y = tg_normalize(x, true, 1e-12);
        for (int row = 0; row < 4; row++) {
            double sum = 0, squares = 0;
            for (int i = 0; i < 64; i++) {
                sum += tg_at(y, row * 64 + i);
                squares += tg_at(y, row * 64 + i) * tg_at(y, row * 64 + i);
            }
            ck_assert_double_le(fabs(sum), 1e-4);
            ck_assert_double_le(fabs(squares / 64 - 1), 1e-5);
        }
    }
}
END_TEST

START_TEST(constant_rows_and_rows_of_zeros_give_zeros_and_finite_gradients)
{
    for (int which = 0; which < 4; which++) {
        const double value = which & 1 ? 0 : 12345.678;
        tg_tensor x = tg_add(drawn(TG_F32, TG_SHAPE(2, 1)), tg_full(tape, TG_F32, TG_SHAPE(2, 9), 0)), g;
        tg_tensor same = tg_add(tg_mul_scalar(x, 0), tg_full(tape, TG_F32, TG_SHAPE(2, 9), value));
        tg_tensor y = tg_normalize(same, true, which & 2 ? 1e-12 : 1e-5);
        ck_assert(tg_grad(&y, 1, &same, 1, NULL, false, &g));
        for (int i = 0; i < 18; i++) {
            ck_assert_double_eq(tg_at(y, i), 0);
            ck_assert(isfinite(tg_at(g, i)));
        }
    }
    tg_tensor y = tg_rms_norm(tg_full(tape, TG_F64, TG_SHAPE(3), 0), TG_NONE, 1e-6);
    ck_assert_double_eq(tg_at(y, 2), 0);
}
END_TEST

START_TEST(layer_norm_scales_and_shifts_by_column)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 5)), weight = drawn(TG_F64, TG_SHAPE(5)),
              bias = drawn(TG_F64, TG_SHAPE(5));
    tg_tensor u = tg_normalize(x, true, 1e-5), r = tg_normalize(x, false, 1e-5);
    tg_tensor both = tg_layer_norm(x, weight, bias, 1e-5), scaled = tg_layer_norm(x, weight, TG_NONE, 1e-5);
    tg_tensor shifted = tg_layer_norm(x, TG_NONE, bias, 1e-5), plain = tg_layer_norm(x, TG_NONE, TG_NONE, 1e-5);
    tg_tensor rms = tg_rms_norm(x, weight, 1e-5);
    for (int i = 0; i < 30; i++) {
        assert_close(tg_at(both, i), tg_at(u, i) * tg_at(weight, i % 5) + tg_at(bias, i % 5), TG_F64);
        assert_close(tg_at(scaled, i), tg_at(u, i) * tg_at(weight, i % 5), TG_F64);
        assert_close(tg_at(shifted, i), tg_at(u, i) + tg_at(bias, i % 5), TG_F64);
        assert_close(tg_at(plain, i), tg_at(u, i), TG_F64);
        assert_close(tg_at(rms, i), tg_at(r, i) * tg_at(weight, i % 5), TG_F64);
    }
}
END_TEST

/* Normalises [4, 3, 5] by channel, over samples and places; and [4, 6, 5] in 3 groups of 2 channels. */
static int64_t in_channels(int64_t channel, int64_t i)
{
    return (i / 5 * 3 + channel) * 5 + i % 5;
}

static int64_t in_groups(int64_t group, int64_t i)
{
    return group * 10 + i;
}

START_TEST(batch_norm_normalises_channels_and_group_norm_groups)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(4, 3, 5)), y = tg_batch_norm(x, TG_NONE, TG_NONE, 1e-3);
    assert_shape(y, TG_SHAPE(4, 3, 5));
    assert_normalised(x, y, 3, (grouping){20, in_channels}, true, 1e-3);
    tg_tensor flat = tg_reshape(tg_transpose(x, 1, 2), TG_SHAPE(20, 3));
    tg_tensor same = tg_transpose(tg_reshape(tg_batch_norm(flat, TG_NONE, TG_NONE, 1e-3), TG_SHAPE(4, 5, 3)), 1, 2);
    tg_tensor weight = drawn(TG_F64, TG_SHAPE(3)), bias = drawn(TG_F64, TG_SHAPE(3));
    tg_tensor scaled = tg_batch_norm(x, weight, bias, 1e-3);
    for (int i = 0; i < 60; i++) {
        assert_close(tg_at(same, i), tg_at(y, i), TG_F64);
        assert_close(tg_at(scaled, i), tg_at(y, i) * tg_at(weight, i / 5 % 3) + tg_at(bias, i / 5 % 3), TG_F64);
    }
    tg_tensor six = drawn(TG_F64, TG_SHAPE(4, 6, 5)), grouped = tg_group_norm(six, 3, TG_NONE, TG_NONE, 1e-5);
    assert_normalised(six, grouped, 12, (grouping){10, in_groups}, true, 1e-5);
    tg_tensor w = drawn(TG_F64, TG_SHAPE(6)), b = drawn(TG_F64, TG_SHAPE(6)), z = tg_group_norm(six, 3, w, b, 1e-5);
    for (int i = 0; i < 120; i++)
        assert_close(tg_at(z, i), tg_at(grouped, i) * tg_at(w, i / 5 % 6) + tg_at(b, i / 5 % 6), TG_F64);
}
END_TEST

/* The square of such a mean is infinite. */
START_TEST(batch_norm_stands_means_whose_squares_overflow)
{
    double numbers[24];
    for (int i = 0; i < 24; i++)
        numbers[i] = 1e160 * (1 + i * i * 1e-8);
    tg_tensor x = tg_variable(tape, TG_F64, numbers, TG_SHAPE(2, 1, 12)), y = tg_batch_norm(x, TG_NONE, TG_NONE, 0),
              weight = drawn(TG_F64, TG_SHAPE(2, 1, 12)), dx;
    tg_tensor row = tg_normalize(tg_reshape(x, TG_SHAPE(1, 24)), true, 0), sum = tg_sum(tg_mul(y, weight));
    ck_assert(tg_grad(&sum, 1, &x, 1, NULL, false, &dx));
    for (int i = 0; i < 24; i++) {
        assert_relative(tg_at(y, i), tg_at(row, i), 1e-6);
        ck_assert(isfinite(tg_at(dx, i)));
    }
}
END_TEST

/* Images of 35 numbers in each channel, and the same numbers as a batch of single ones, which are copied into rows. */
START_TEST(batch_norm_of_images_is_that_of_their_pixels)
{
    const int threads = tg_threads();
    for (int which = 0; which < 4; which++) {
        const tg_dtype dtype = which % 2 ? TG_F64 : TG_F32;
        tg_set_threads(which < 2 ? 1 : 3);
        const tg_tensor x = tg_add_scalar(drawn(dtype, TG_SHAPE(3, 20, 35)), 5), weight = drawn(dtype, TG_SHAPE(20)),
                        bias = drawn(dtype, TG_SHAPE(20)), g = drawn(dtype, TG_SHAPE(3, 20, 35)),
                        in[] = {x, weight, bias};
        const tg_tensor pixels = tg_reshape(tg_transpose(x, 1, 2), TG_SHAPE(105, 20));
        tg_tensor mean[2], variance[2], gradient[3], same_gradient[3];
        const tg_tensor y = tg_batch_norm_moments(x, weight, bias, 1e-3, &mean[0], &variance[0]);
        const tg_tensor z = tg_batch_norm_moments(pixels, weight, bias, 1e-3, &mean[1], &variance[1]);
        const tg_tensor same = tg_transpose(tg_reshape(z, TG_SHAPE(3, 35, 20)), 1, 2);
        ck_assert(tg_grad(&y, 1, in, 3, &g, false, gradient) && tg_grad(&same, 1, in, 3, &g, false, same_gradient));
        for (int64_t i = 0; i < tg_size(x); i++) {
            assert_close(tg_at(y, i), tg_at(same, i), dtype);
            assert_close(tg_at(gradient[0], i), tg_at(same_gradient[0], i), dtype);
        }
        for (int64_t c = 0; c < 20; c++) {
            assert_close(tg_at(mean[0], c), tg_at(mean[1], c), dtype);
            assert_close(tg_at(variance[0], c), tg_at(variance[1], c), dtype);
            assert_close(tg_at(gradient[1], c), tg_at(same_gradient[1], c), dtype);
            assert_close(tg_at(gradient[2], c), tg_at(same_gradient[2], c), dtype);
        }
    }
    tg_set_threads(threads);
}
END_TEST

/* Of the same numbers in float and in double, with deviations of a few units in the last place of a float mean. */
START_TEST(second_derivatives_stand_large_means)
{
    enum { N = 96 };
    double x[N], g[N], h[N], result[2][N];
    ck_assert(tg_read(drawn(TG_F32, TG_SHAPE(N)), TG_F64, g, N) && tg_read(drawn(TG_F32, TG_SHAPE(N)), TG_F64, h, N));
    for (int i = 0; i < N; i++)
        x[i] = 1e6 + 0.0625 * (i * 37 % 16);
    for (int channels = 0; channels < 2; channels++) {
        for (int wide = 0; wide < 2; wide++) {
            const tg_dtype dtype = wide ? TG_F64 : TG_F32;
            const tg_shape shape = TG_SHAPE(2, 3, 16);
            float narrow[3][N];
            for (int i = 0; i < N; i++) {
                narrow[0][i] = (float)x[i];
                narrow[1][i] = (float)g[i];
                narrow[2][i] = (float)h[i];
            }
            const tg_tensor v = tg_variable(tape, dtype, wide ? (void *)x : narrow[0], shape),
                            c = tg_variable(tape, dtype, wide ? (void *)g : narrow[1], shape),
                            o = tg_variable(tape, dtype, wide ? (void *)h : narrow[2], shape),
                            one = tg_full(tape, dtype, TG_SHAPE(3), 1);
            const tg_tensor gradients = channels ? tg_normalize_channels_grad(c, v, one, 1e-5)
                                                 : tg_reshape(tg_normalize_grad(c, v, true, 1e-5), TG_SHAPE(N));
            const tg_tensor y = tg_dot(tg_narrow(gradients, 0, 0, N), tg_reshape(o, TG_SHAPE(N)));
            tg_tensor of_x;
            ck_assert(tg_grad(&y, 1, &v, 1, NULL, false, &of_x) && tg_read(of_x, TG_F64, result[wide], N));
        }
        double error = 0, whole = 0;
        for (int i = 0; i < N; i++) {
            error = fmax(error, fabs(result[0][i] - result[1][i]));
            whole = fmax(whole, fabs(result[1][i]));
        }
        ck_assert_double_le(error, 1e-5 * whole);
    }
}
END_TEST

START_TEST(batch_norm_in_evaluation_with_the_batch_s_own_statistics_is_that_of_training)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(4, 3, 2, 5)), weight = drawn(TG_F64, TG_SHAPE(3)),
              bias = drawn(TG_F64, TG_SHAPE(3));
    tg_tensor mean = tg_mean_over(x, TG_AXES(0, 2, 3), false), variance = tg_var_over(x, TG_AXES(0, 2, 3), 0, false);
    tg_tensor y = tg_batch_norm(x, weight, bias, 1e-5), z = tg_batch_norm_with(x, mean, variance, weight, bias, 1e-5);
    assert_shape(z, TG_SHAPE(4, 3, 2, 5));
    for (int i = 0; i < 120; i++)
        assert_close(tg_at(z, i), tg_at(y, i), TG_F64);
    z = tg_batch_norm_with(x, mean, variance, TG_NONE, TG_NONE, 1e-5);
    y = tg_batch_norm(x, TG_NONE, TG_NONE, 1e-5);
    assert_close(tg_at(z, 77), tg_at(y, 77), TG_F64);
}
END_TEST

static tg_tensor all_norms(tg_tape *on, const tg_tensor *in, int count, void *user)
{
    (void)on, (void)count, (void)user;
    tg_tensor x = in[0], w = in[1], b = in[2];
    tg_tensor y = tg_batch_norm(tg_layer_norm(x, w, b, 1e-5), w, b, 1e-5);
    return tg_add(tg_group_norm(y, 2, w, b, 1e-5), tg_rms_norm(x, w, 1e-5));
}

START_TEST(norms_can_be_differentiated_twice)
{
    double x[64], w[4], b[4];
    ck_assert(tg_read(drawn(TG_F64, TG_SHAPE(64)), TG_F64, x, 64) &&
              tg_read(drawn(TG_F64, TG_SHAPE(4)), TG_F64, w, 4) && tg_read(drawn(TG_F64, TG_SHAPE(4)), TG_F64, b, 4));
    const tg_gradcheck_input in[] = {{.name = "x", .shape = TG_SHAPE(4, 4, 4), .data = x},
                                     {.name = "weight", .shape = TG_SHAPE(4), .data = w},
                                     {.name = "bias", .shape = TG_SHAPE(4), .data = b}};
    tg_gradcheck_result result = tg_gradcheck(all_norms, NULL, in, 3, &(tg_gradcheck_options){.order = 2});
    ck_assert_msg(result.passed, "%s", result.why);
}
END_TEST

START_TEST(weights_that_do_not_fit_are_named)
{
    tg_tensor x = drawn(TG_F32, TG_SHAPE(4, 6)), w = drawn(TG_F32, TG_SHAPE(5));
    tg_layer_norm(x, w, TG_NONE, 1e-5);
    expect_error("layer_norm(f32[5]): expected a weight [6]");
    tg_batch_norm(x, TG_NONE, w, 1e-5);
    expect_error("batch_norm(f32[5]): expected a bias [6]");
    tg_batch_norm(w, TG_NONE, TG_NONE, 1e-5);
    expect_error("batch_norm(f32[5]): expected [batch, channels, ...]");
    tg_group_norm(x, 4, TG_NONE, TG_NONE, 1e-5);
    expect_error("group_norm(f32[4, 6]): 6 channels do not divide into 4 equal groups");
    tg_normalize(drawn(TG_F32, TG_SCALAR), true, 1e-5);
    expect_error("a scalar has no row to normalise");
    ck_assert(!tg_ok(tg_layer_norm(TG_NONE, TG_NONE, TG_NONE, 1e-5)));
    ck_assert(!tg_ok(tg_group_norm(TG_NONE, 0, TG_NONE, TG_NONE, 1e-5)));
    assert_shape(tg_batch_norm(drawn(TG_F32, TG_SHAPE(0, 3, 2)), TG_NONE, TG_NONE, 1e-5), TG_SHAPE(0, 3, 2));
    assert_shape(tg_group_norm(drawn(TG_F32, TG_SHAPE(2, 4, 0)), 2, TG_NONE, TG_NONE, 1e-5), TG_SHAPE(2, 4, 0));
}
END_TEST

Suite *norm_suite(void)
{
    Suite *suite = suite_create("norm");
    TCase *tests = tcase_create("norm");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, rows_are_normalised);
    tcase_add_test(tests, large_means_leave_finite_rows_of_unit_variance);
    tcase_add_test(tests, constant_rows_and_rows_of_zeros_give_zeros_and_finite_gradients);
    tcase_add_test(tests, layer_norm_scales_and_shifts_by_column);
    tcase_add_test(tests, batch_norm_normalises_channels_and_group_norm_groups);
    tcase_add_test(tests, batch_norm_stands_means_whose_squares_overflow);
    tcase_add_test(tests, batch_norm_of_images_is_that_of_their_pixels);
    tcase_add_test(tests, second_derivatives_stand_large_means);
    tcase_add_test(tests, batch_norm_in_evaluation_with_the_batch_s_own_statistics_is_that_of_training);
    tcase_add_test(tests, norms_can_be_differentiated_twice);
    tcase_add_test(tests, weights_that_do_not_fit_are_named);
    suite_add_tcase(suite, tests);
    return suite;
}
