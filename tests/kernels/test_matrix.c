/* Matrix products against the triple loop. */
#include "autograd/kernels/product.h"
#include "tests/support/tensors.h"

#include <math.h>

Suite *matrix_suite(void);

START_TEST(every_transposition_agrees_with_the_triple_loop)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {2, 3, 4}, {5, 1, 7}, {17, 16, 33}, {1, 40, 3}, {31, 29, 1}};
    for (int which = 0; which < 48; which++) {
        const int64_t *size = sizes[which / 8], m = size[0], n = size[1], k = size[2];
        bool ta = which & 1, tb = which & 2;
        tg_dtype dtype = which & 4 ? TG_F64 : TG_F32;
        tg_tensor a = drawn(dtype, ta ? TG_SHAPE(k, m) : TG_SHAPE(m, k));
        tg_tensor b = drawn(dtype, tb ? TG_SHAPE(n, k) : TG_SHAPE(k, n));
        tg_tensor c = tg_matmul_transposed(a, b, ta, tb);
        assert_shape(c, TG_SHAPE(m, n));
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;
                for (int64_t l = 0; l < k; l++)
                    sum += tg_at(a, ta ? l * m + i : i * k + l) * tg_at(b, tb ? j * k + l : l * n + j);
                assert_close(tg_at(c, i * n + j), sum, dtype);
            }
    }
}
END_TEST

/* The element of x at batch indices of a result [B0, B1, ...], where x has batch axes that broadcast. */
static double element(tg_tensor x, int64_t b0, int64_t b1, int64_t row, int64_t column)
{
    int64_t d0 = tg_rank(x) == 4 ? tg_dim(x, 0) : 1, d1 = tg_rank(x) >= 3 ? tg_dim(x, -3) : 1;
    int64_t batch = (d0 == 1 ? 0 : b0) * d1 + (d1 == 1 ? 0 : b1);
    return tg_at(x, (batch * tg_dim(x, -2) + row) * tg_dim(x, -1) + column);
}

START_TEST(batches_broadcast)
{
    tg_shape left[] = {TG_SHAPE(2, 3, 4, 5), TG_SHAPE(2, 1, 4, 5), TG_SHAPE(3, 4, 5), TG_SHAPE(4, 5),
                       TG_SHAPE(1, 3, 4, 5)};
    tg_shape right[] = {TG_SHAPE(5, 6), TG_SHAPE(3, 5, 6), TG_SHAPE(2, 1, 5, 6), TG_SHAPE(2, 3, 5, 6)};
    for (int which = 0; which < 20; which++) {
        tg_tensor a = drawn(TG_F64, left[which % 5]), b = drawn(TG_F64, right[which / 5]), c = tg_matmul(a, b);
        ck_assert(tg_ok(c));
        int64_t d0 = tg_rank(c) == 4 ? tg_dim(c, 0) : 1, d1 = tg_rank(c) >= 3 ? tg_dim(c, -3) : 1;
        for (int64_t i = 0; i < tg_size(c); i++) {
            int64_t column = i % 6, row = i / 6 % 4, b1 = i / 24 % d1, b0 = i / 24 / d1;
            double sum = 0;
            for (int64_t l = 0; l < 5; l++)
                sum += element(a, b0, b1, row, l) * element(b, b0, b1, l, column);
            ck_assert_int_lt(b0, d0);
            assert_close(tg_at(c, i), sum, TG_F64);
        }
    }
}
END_TEST

START_TEST(gradients_of_broadcast_batches_are_summed)
{
    /* The loss is the sum of all elements: the gradient of a at [row, l] is the sum of b's row l over all batches. */
    tg_tensor a = drawn(TG_F64, TG_SHAPE(4, 5)), b = drawn(TG_F64, TG_SHAPE(2, 3, 5, 6)), gradients[2];
    tg_tensor c = tg_matmul(a, b);
    ck_assert(tg_grad(&c, 1, (tg_tensor[]){a, b}, 2, NULL, false, gradients));
    assert_shape(gradients[0], TG_SHAPE(4, 5));
    assert_shape(gradients[1], TG_SHAPE(2, 3, 5, 6));
    for (int64_t l = 0; l < 5; l++) {
        double of_a = 0, of_b = 0;
        for (int64_t batch = 0; batch < 6; batch++)
            for (int64_t j = 0; j < 6; j++)
                of_a += tg_at(b, (batch * 5 + l) * 6 + j);
        for (int64_t row = 0; row < 4; row++) {
            assert_close(tg_at(gradients[0], row * 5 + l), of_a, TG_F64);
            of_b += tg_at(a, row * 5 + l);
        }
        for (int64_t batch = 0; batch < 6; batch++)
            assert_close(tg_at(gradients[1], (batch * 5 + l) * 6), of_b, TG_F64);
    }
}
END_TEST

START_TEST(vectors_are_rows_on_the_left_and_columns_on_the_right)
{
    tg_tensor v = drawn(TG_F32, TG_SHAPE(4)), w = drawn(TG_F32, TG_SHAPE(4)), m = drawn(TG_F32, TG_SHAPE(4, 3));
    tg_tensor batch = drawn(TG_F32, TG_SHAPE(2, 3, 4));
    assert_shape(tg_matmul(v, w), TG_SCALAR);
    assert_shape(tg_matmul(v, m), TG_SHAPE(3));
    assert_shape(tg_matmul(batch, v), TG_SHAPE(2, 3));
    assert_shape(tg_matmul(v, tg_transpose(batch, 1, 2)), TG_SHAPE(2, 3));
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += tg_at(v, i) * tg_at(w, i);
    assert_close(tg_item(tg_matmul(v, w)), sum, TG_F32);
    assert_close(tg_item(tg_dot(v, w)), sum, TG_F32);
    tg_tensor outer = tg_outer(v, drawn(TG_F32, TG_SHAPE(3)));
    assert_shape(outer, TG_SHAPE(4, 3));
}
END_TEST

START_TEST(a_sum_over_nothing_is_zero)
{
    tg_tensor a = drawn(TG_F32, TG_SHAPE(3, 0)), b = drawn(TG_F32, TG_SHAPE(0, 2)), c = tg_matmul(a, b);
    assert_shape(c, TG_SHAPE(3, 2));
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(tg_at(c, i), 0);
    tg_tensor bias = drawn(TG_F32, TG_SHAPE(2)), y = tg_linear(a, drawn(TG_F32, TG_SHAPE(2, 0)), bias);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(tg_at(y, i), tg_at(bias, i % 2));
    ck_assert(tg_backward(tg_sum(tg_add(c, y))));
    ck_assert_double_eq(tg_at(tg_gradient(bias), 0), 3);
    assert_shape(tg_gradient(a), TG_SHAPE(3, 0));
    assert_shape(tg_matmul(drawn(TG_F32, TG_SHAPE(0, 3)), drawn(TG_F32, TG_SHAPE(3, 2))), TG_SHAPE(0, 2));
    assert_shape(tg_matmul(drawn(TG_F32, TG_SHAPE(0, 2, 3)), drawn(TG_F32, TG_SHAPE(3, 0))), TG_SHAPE(0, 2, 0));
}
END_TEST

START_TEST(linear_is_x_times_the_weight_transposed_plus_bias)
{
    for (int which = 0; which < 4; which++) {
        tg_dtype dtype = which & 1 ? TG_F64 : TG_F32;
        tg_tensor x = drawn(dtype, which & 2 ? TG_SHAPE(2, 3, 5) : TG_SHAPE(6, 5)), w = drawn(dtype, TG_SHAPE(4, 5));
        tg_tensor bias = drawn(dtype, TG_SHAPE(4)), y = tg_linear(x, w, bias), plain = tg_linear(x, w, TG_NONE);
        for (int64_t i = 0; i < 24; i++) {
            double sum = 0;
            for (int64_t l = 0; l < 5; l++)
                sum += tg_at(x, i / 4 * 5 + l) * tg_at(w, i % 4 * 5 + l);
            assert_close(tg_at(plain, i), sum, dtype);
            assert_close(tg_at(y, i), sum + tg_at(bias, i % 4), dtype);
        }
    }
}
END_TEST

START_TEST(gradients_of_linear_have_their_closed_form)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 5)), w = drawn(TG_F64, TG_SHAPE(4, 5)),
              bias = drawn(TG_F64, TG_SHAPE(4));
    tg_tensor y = tg_linear(x, w, bias), g = drawn(TG_F64, TG_SHAPE(2, 3, 4)), gradient[3];
    ck_assert(tg_grad(&y, 1, (tg_tensor[]){x, w, bias}, 3, &g, false, gradient));
    for (int64_t l = 0; l < 5; l++)
        for (int64_t row = 0; row < 6; row++) {
            double sum = 0;
            for (int64_t j = 0; j < 4; j++)
                sum += tg_at(g, row * 4 + j) * tg_at(w, j * 5 + l);
            assert_close(tg_at(gradient[0], row * 5 + l), sum, TG_F64);
        }
    for (int64_t j = 0; j < 4; j++) {
        double sum = 0, of_bias = 0;
        for (int64_t row = 0; row < 6; row++) {
            sum += tg_at(g, row * 4 + j) * tg_at(x, row * 5 + 2);
            of_bias += tg_at(g, row * 4 + j);
        }
        assert_close(tg_at(gradient[1], j * 5 + 2), sum, TG_F64);
        assert_close(tg_at(gradient[2], j), of_bias, TG_F64);
    }
}
END_TEST

START_TEST(shapes_that_do_not_fit_are_named)
{
    tg_tensor a = drawn(TG_F32, TG_SHAPE(3, 4)), b = drawn(TG_F32, TG_SHAPE(5, 6));
    tg_matmul(a, b);
    expect_error("matmul(f32[3, 4], f32[5, 6]): the inner sizes differ: 4 columns against 5 rows");
    tg_matmul_transposed(a, b, true, true);
    expect_error("3 columns (of the first, transposed) against 6 rows (of the second, transposed)");
    tg_matmul(a, tg_full(tape, TG_F32, TG_SCALAR, 1));
    expect_error("a scalar multiplies with tg_mul");
    tg_matmul(drawn(TG_F32, TG_SHAPE(2, 3, 4)), drawn(TG_F32, TG_SHAPE(3, 4, 5)));
    expect_error("axes before the last two do not broadcast");
    tg_matmul(a, drawn(TG_F64, TG_SHAPE(4, 5)));
    expect_error("one floating type");
    tg_linear(a, b, TG_NONE);
    expect_error("linear(f32[3, 4], f32[5, 6]): expected x [..., in] and a weight [out, in]");
    tg_linear(a, drawn(TG_F32, TG_SHAPE(7, 4)), b);
    expect_error("expected a bias [7]");
    ck_assert(!tg_ok(tg_matmul(TG_NONE, TG_NONE)));
    ck_assert(!tg_ok(tg_linear(TG_NONE, TG_NONE, TG_NONE)));
}
END_TEST

/* OpenBLAS counts in ints: our own kernels compute what has more rows. */
START_TEST(sizes_of_more_than_31_bits_may_be_multiplied)
{
    const int64_t many = ((int64_t)1 << 32) + 1;
    const tg_tensor high = tg_variable(tape, TG_F32, NULL, TG_SHAPE(many, 0)),
                    none = tg_variable(tape, TG_F32, NULL, TG_SHAPE(0, 0));
    for (int openblas = 0; openblas <= tg_has_openblas(); openblas++) {
        ck_assert(tg_products_by(openblas ? TG_PRODUCTS_OPENBLAS : TG_PRODUCTS_OWN, NULL));
        assert_shape(tg_matmul(high, none), TG_SHAPE(many, 0));
        assert_shape(tg_linear(high, none, TG_NONE), TG_SHAPE(many, 0));
        ck_assert(tg_backward(tg_sum(tg_matmul_transposed(high, tg_linear(high, none, TG_NONE), true, false))));
    }
    tg_products_by(TG_PRODUCTS_AUTO, NULL);
}
END_TEST

START_TEST(means_divide_by_what_was_summed)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 4)), columns = tg_mean_over(x, TG_AXES(0, -1), true);
    assert_shape(columns, TG_SHAPE(1, 3, 1));
    double all = 0;
    for (int64_t j = 0; j < 3; j++) {
        double sum = 0;
        for (int64_t i = 0; i < 8; i++)
            sum += tg_at(x, (i / 4 * 3 + j) * 4 + i % 4);
        assert_close(tg_at(columns, j), sum / 8, TG_F64);
        all += sum;
    }
    assert_close(tg_item(tg_mean(x)), all / 24, TG_F64);
    ck_assert(isnan(tg_item(tg_mean(drawn(TG_F64, TG_SHAPE(0))))));
    assert_shape(tg_mean_over(drawn(TG_F64, TG_SHAPE(3, 0)), TG_AXES(0), false), TG_SHAPE(0));
}
END_TEST

Suite *matrix_suite(void)
{
    Suite *suite = suite_create("matrix");
    TCase *tests = tcase_create("matrix");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, every_transposition_agrees_with_the_triple_loop);
    tcase_add_test(tests, batches_broadcast);
    tcase_add_test(tests, gradients_of_broadcast_batches_are_summed);
    tcase_add_test(tests, vectors_are_rows_on_the_left_and_columns_on_the_right);
    tcase_add_test(tests, a_sum_over_nothing_is_zero);
    tcase_add_test(tests, linear_is_x_times_the_weight_transposed_plus_bias);
    tcase_add_test(tests, gradients_of_linear_have_their_closed_form);
    tcase_add_test(tests, shapes_that_do_not_fit_are_named);
    tcase_add_test(tests, sizes_of_more_than_31_bits_may_be_multiplied);
    tcase_add_test(tests, means_divide_by_what_was_summed);
    suite_add_tcase(suite, tests);
    return suite;
}
