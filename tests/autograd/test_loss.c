/* Softmax and losses against naive loops and closed-form derivatives; overflow, empty rows and invalid labels. */
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/product.h"
#include "autograd/kernels/product_kernel.h"
#include "tests/support/tensors.h"

#include <math.h>
#include <stdlib.h>

Suite *loss_suite(void);

static tg_tensor labels_of(int64_t count, const int32_t *labels)
{
    return tg_constant(tape, TG_I32, labels, TG_SHAPE(count));
}

static double probability(tg_tensor logits, int64_t row, int64_t label)
{
    const int64_t classes = tg_dim(logits, -1);
    double sum = 0;
    for (int64_t j = 0; j < classes; j++)
        sum += exp(tg_at(logits, row * classes + j) - tg_at(logits, row * classes + label));
    return 1 / sum;
}

/* ---- the order of summation ---- */

enum { LOSSES = 6 };

static void compute_losses(tg_dtype dtype, double losses[LOSSES])
{
    static const int32_t labels[11] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
    tg_tape_reset(tape);
    double numbers[2][11 * 97];
    float rounded[2][11 * 97];
    for (int i = 0; i < 11 * 97; i++) {
        rounded[0][i] = (float)(numbers[0][i] = 3 * sin(1.7 * i));
        rounded[1][i] = (float)(numbers[1][i] = 2 * cos(0.3 * i * i));
    }
    tg_tensor in[2];
    for (int k = 0; k < 2; k++)
        in[k] = tg_constant(tape, dtype, dtype == TG_F64 ? (void *)numbers[k] : rounded[k], TG_SHAPE(11, 97));
    const tg_tensor a = in[0], b = in[1];
    const tg_tensor all[LOSSES] = {tg_mse(a, b),
                                   tg_l1(a, b),
                                   tg_huber(a, b, 0.7),
                                   tg_bce_on_logits(a, tg_sigmoid(b)),
                                   tg_kl(tg_log_softmax(a, -1), tg_softmax(b, -1)),
                                   tg_cross_entropy_with(a, labels_of(11, labels), 0.1, -1)};
    for (int i = 0; i < LOSSES; i++)
        losses[i] = tg_item(all[i]);
}

START_TEST(losses_have_the_same_bits_in_every_instruction_set)
{
    double first[LOSSES] = {NAN}, now[LOSSES];
    const char *best = tg_kernels.isa;
    int sets = 0;
    for (int i = 0; tg_kernel_set_at(i); i++) {
        const tg_kernel_set *set = tg_kernel_set_at(i);
        if (!tg_kernel_set_runs(set) || !set->products[0]->fused)
            continue;
        ck_assert(tg_kernels_use(set->isa));
        compute_losses(_i ? TG_F64 : TG_F32, sets++ ? now : first);
        for (int k = 0; sets > 1 && k < LOSSES; k++)
            ck_assert_msg(now[k] == first[k], "loss %d with %s: %.17g, and %.17g with the first set", k, set->isa,
                          now[k], first[k]);
    }
    ck_assert(tg_kernels_use(best));
    ck_assert(sets == 0 || isfinite(first[0]));
}
END_TEST

/* ---- softmax ---- */

START_TEST(softmax_is_normalised_exponentials_along_any_axis)
{
    for (int axis = -3; axis < 3; axis++) {
        tg_tensor x = drawn(TG_F64, TG_SHAPE(3, 4, 5)), y = tg_softmax(x, axis), logarithm = tg_log_softmax(x, axis);
        const int64_t stride[] = {20, 5, 1}, a = axis < 0 ? axis + 3 : axis, dims = tg_dim(x, axis);
        assert_shape(y, TG_SHAPE(3, 4, 5));
        for (int64_t i = 0; i < 60; i++) {
            double sum = 0;
            for (int64_t j = 0; j < dims; j++)
                sum += exp(tg_at(x, i + (j - i / stride[a] % dims) * stride[a]) - tg_at(x, i));
            assert_close(tg_at(y, i), 1 / sum, TG_F64);
            assert_close(tg_at(logarithm, i), -log(sum), TG_F64);
        }
    }
    ck_assert(!tg_ok(tg_softmax(drawn(TG_F64, TG_SHAPE(3, 4)), 2)));
    expect_error("softmax(f64[3, 4]): there is no axis 2 in [3, 4]");
    ck_assert(!tg_ok(tg_log_softmax(drawn(TG_F64, TG_SCALAR), -1)));
    expect_error("there is no axis -1 in []");
}
END_TEST

START_TEST(softmax_survives_large_numbers_and_masked_rows)
{
    static const float rows[] = {1e38f, -1e38f, 1000, -INFINITY, 0, 0, -INFINITY, -INFINITY, -INFINITY};
    tg_tensor x = tg_variable(tape, TG_F32, rows, TG_SHAPE(3, 3)), y = tg_softmax(x, -1), gradient;
    static const double should_be[] = {1, 0, 0, 0, 0.5, 0.5, 0, 0, 0};
    for (int i = 0; i < 9; i++)
        ck_assert_double_eq(tg_at(y, i), should_be[i]);
    tg_tensor cotangent = drawn(TG_F32, TG_SHAPE(3, 3));
    ck_assert(tg_grad(&y, 1, &x, 1, &cotangent, false, &gradient));
    for (int i = 0; i < 9; i++)
        ck_assert(isfinite(tg_at(gradient, i)));
}
END_TEST

/* For a row {top, others ...} the log-probability of the top class is -log1p(rest) with rest = sum e^(other - top). Its
 * derivative by its own logit is rest / (1 + rest). Both must have all digits, however small rest is. */
START_TEST(log_softmax_keeps_the_class_that_is_decided)
{
    static const double rests[] = {30, 60, 10, 100, 0.5, 16, 700};
    for (int precision = 0; precision < 2; precision++)
        for (int columns = 2; columns <= 1100; columns = 3 * columns - 3)
            for (size_t k = 0; k < sizeof rests / sizeof *rests; k++) {
                const tg_dtype dtype = precision ? TG_F64 : TG_F32;
                const double gap = dtype == TG_F32 && rests[k] > 80 ? 80 : rests[k]; /* no subnormal numbers */
                const int top = columns / 2;
                float f32[1100];
                double f64[1100];
                for (int j = 0; j < columns; j++)
                    f32[j] = (float)(f64[j] = j == top ? 30 : 30 - gap - (j % 2 ? 1 : 0));
                double rest = 0;
                for (int j = 0; j < columns; j++)
                    rest += j == top ? 0 : exp(f64[j] - 30);
                tg_tensor x = tg_variable(tape, dtype, dtype == TG_F32 ? (void *)f32 : (void *)f64, TG_SHAPE(columns));
                tg_tensor l = tg_log_softmax(x, -1), loss = tg_neg(tg_sum(tg_narrow(l, 0, top, 1))), slope, all;
                const double error = dtype == TG_F32 ? 1e-6 : 1e-13;
                assert_relative(tg_at(l, top), -log1p(rest), error);
                ck_assert(tg_grad(&loss, 1, &x, 1, NULL, false, &slope));
                assert_relative(tg_at(slope, top), -rest / (1 + rest), error);
                /* The other elements' cotangents count too: d sum l / d x[top] = 1 - columns p[top]. */
                ck_assert(tg_grad(&l, 1, &x, 1, NULL, false, &all));
                ck_assert_double_le(fabs(tg_at(all, top) - (1 - columns / (1 + rest))), columns * error);
            }
}
END_TEST

START_TEST(logsumexp_keeps_what_the_largest_hides)
{
    static const double row[] = {0, -40, -45};
    tg_tensor x = tg_variable(tape, TG_F64, row, TG_SHAPE(3));
    assert_relative(tg_item(tg_logsumexp_over(x, TG_AXES(-1), false)), log1p(exp(-40) + exp(-45)), 4e-15);
    /* log(1 + e^-60 + e^-30), by 50 decimal digits */
    static const double sure[] = {30, -30, 0};
    assert_relative(tg_at(tg_log_softmax(tg_variable(tape, TG_F64, sure, TG_SHAPE(3)), -1), 0), -9.357622968840612e-14,
                    4e-15);
}
END_TEST

START_TEST(softmax_has_the_jacobian_of_the_textbook)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(5)), s = tg_softmax(x, -1), jacobian = tg_jacobian(s, x);
    tg_tensor of_log = tg_jacobian(tg_log_softmax(x, -1), x);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            assert_close(tg_at(jacobian, 5 * i + j), tg_at(s, i) * ((i == j) - tg_at(s, j)), TG_F64);
            assert_close(tg_at(of_log, 5 * i + j), (i == j) - tg_at(s, j), TG_F64);
        }
}
END_TEST

/* ---- cross-entropy ---- */

START_TEST(cross_entropy_is_the_mean_of_minus_log_probabilities)
{
    static const int32_t labels[] = {0, 3, 3, 1, 2, 0};
    for (int precision = 0; precision < 2; precision++) {
        const tg_dtype dtype = precision ? TG_F64 : TG_F32;
        tg_tensor logits = drawn(dtype, TG_SHAPE(6, 4)), loss = tg_cross_entropy(logits, labels_of(6, labels)),
                  gradient;
        double sum = 0;
        for (int row = 0; row < 6; row++)
            sum -= log(probability(logits, row, labels[row]));
        assert_shape(loss, TG_SCALAR);
        assert_close(tg_item(loss), sum / 6, dtype);
        ck_assert(tg_grad(&loss, 1, &logits, 1, NULL, false, &gradient));
        for (int i = 0; i < 24; i++)
            assert_close(tg_at(gradient, i), (probability(logits, i / 4, i % 4) - (i % 4 == labels[i / 4])) / 6, dtype);
    }
}
END_TEST

START_TEST(smoothing_and_ignored_labels_change_the_target_only)
{
    static const int32_t labels[] = {0, 3, -100, 1, 0, -100};
    const int classes = _i == 0 ? 4 : 40; /* small numbers of classes are computed in tiles of rows */
    const double smoothing = 0.3;
    tg_tensor logits = drawn(TG_F64, TG_SHAPE(6, classes)), gradient;
    tg_tensor loss = tg_cross_entropy_with(logits, labels_of(6, labels), smoothing, -100);
    double sum = 0;
    for (int row = 0; row < 6; row++)
        for (int j = 0; j < classes && labels[row] >= 0; j++)
            sum -= (smoothing / classes + (j == labels[row]) * (1 - smoothing)) * log(probability(logits, row, j));
    assert_close(tg_item(loss), sum / 4, TG_F64);
    ck_assert(tg_grad(&loss, 1, &logits, 1, NULL, false, &gradient));
    for (int i = 0; i < 6 * classes; i++) {
        const int row = i / classes, j = i % classes;
        const double target = smoothing / classes + (j == labels[row]) * (1 - smoothing);
        assert_close(tg_at(gradient, i), labels[row] < 0 ? 0 : (probability(logits, row, j) - target) / 4, TG_F64);
    }
}
END_TEST

START_TEST(a_class_can_be_the_one_to_ignore)
{
    static const int32_t labels[] = {0, 2, 0, 1}, rest[] = {2, 1};
    tg_tensor logits = drawn(TG_F64, TG_SHAPE(4, 3));
    double kept[6];
    for (int i = 0; i < 6; i++)
        kept[i] = tg_at(logits, i < 3 ? 3 + i : 6 + i);
    tg_tensor few = tg_constant(tape, TG_F64, kept, TG_SHAPE(2, 3));
    ck_assert_double_eq(tg_item(tg_cross_entropy_with(logits, labels_of(4, labels), 0, 0)),
                        tg_item(tg_cross_entropy(few, labels_of(2, rest))));
}
END_TEST

START_TEST(cross_entropy_does_not_overflow)
{
    static const float rows[] = {1e30f, 0, -1e30f, -2000, 2000, 0};
    static const int32_t right[] = {0, 1}, wrong[] = {1, 0};
    tg_tensor logits = tg_variable(tape, TG_F32, rows, TG_SHAPE(2, 3)), gradient;
    ck_assert_double_eq(tg_item(tg_cross_entropy(logits, labels_of(2, right))), 0);
    tg_tensor loss = tg_cross_entropy(logits, labels_of(2, wrong));
    ck_assert_double_eq_tol(tg_item(loss), 0.5 * (1e30 + 4000), 1e24);
    ck_assert(tg_grad(&loss, 1, &logits, 1, NULL, false, &gradient));
    static const double should_be[] = {0.5, -0.5, 0, -0.5, 0.5, 0};
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(tg_at(gradient, i), should_be[i]);
}
END_TEST

/* A row of `classes` logits: 0 at its label, -distance everywhere else. The loss is log(1 + rest), rest = (classes - 1)
 * e^-distance, and the gradient -rest / (1 + rest) at the label: tiny, and exact to a few units in the last place. */
START_TEST(the_loss_of_a_row_that_is_sure_has_all_its_digits)
{
    static const int classes[] = {3, 40, 1500};
    static const double distances[] = {5, 16, 30, 60};
    static double row[1500];
    static float single[1500];
    for (int k = 0; k < 24; k++) {
        const tg_dtype dtype = k % 2 ? TG_F64 : TG_F32;
        const int n = classes[k / 2 % 3];
        const int32_t label = n / 2;
        const double distance = distances[k / 6], rest = (n - 1) * exp(-distance), few = dtype == TG_F64 ? 4e-15 : 1e-6;
        for (int j = 0; j < n; j++)
            single[j] = (float)(row[j] = j == label ? 0 : -distance);
        tg_tensor logits = tg_variable(tape, dtype, dtype == TG_F64 ? (const void *)row : single, TG_SHAPE(1, n)),
                  gradient;
        tg_tensor loss = tg_cross_entropy(logits, labels_of(1, &label));
        ck_assert(tg_grad(&loss, 1, &logits, 1, NULL, false, &gradient));
        ck_assert_double_eq_tol(tg_item(loss) / log1p(rest), 1, few);
        ck_assert_double_eq_tol(tg_at(gradient, label) / (-rest / (1 + rest)), 1, few);
        ck_assert_double_eq_tol(tg_at(gradient, 0) / (rest / (n - 1) / (1 + rest)), 1, few);
        ck_assert_double_eq(tg_item(loss), tg_item(tg_cross_entropy(tg_stop_gradient(logits), labels_of(1, &label))));
    }
}
END_TEST

/* d2 / dz_i dz_j = (p_i [i = j] - p_i p_j) / rows within a row, with smoothing or without. */
START_TEST(cross_entropy_has_the_hessian_of_the_textbook)
{
    static const int32_t labels[] = {2, 7, 0};
    tg_tensor logits = drawn(TG_F64, TG_SHAPE(3, 3));
    tg_tensor hessian = tg_hessian(tg_cross_entropy_with(logits, labels_of(3, labels), 0.1, 7), logits);
    for (int a = 0; a < 9; a++)
        for (int b = 0; b < 9; b++) {
            const int row = a / 3, i = a % 3, j = b % 3;
            const double p = probability(logits, row, i), q = probability(logits, row, j);
            const double should_be = row == b / 3 && row != 1 ? (p * (i == j) - p * q) / 2 : 0;
            assert_close(tg_at(hessian, 9 * a + b), should_be, TG_F64);
        }
}
END_TEST

/* Of logits 0, -d, -d with probabilities p, q, q: p (1 - p) is 2 p q, and tiny, where 1 - p is 0 in double. */
START_TEST(the_second_derivative_of_a_row_that_is_sure_has_all_its_digits)
{
    static const double distances[] = {5, 40, 300};
    const int32_t label = 0;
    for (int k = 0; k < 3; k++) {
        const double d = distances[k], row[] = {0, -d, -d}, p = 1 / (1 + 2 * exp(-d)), q = exp(-d) * p;
        const double should_be[] = {2 * p * q, -p * q, -p * q};
        tg_tensor logits = tg_variable(tape, TG_F64, row, TG_SHAPE(1, 3));
        tg_tensor hessian = tg_hessian(tg_cross_entropy(logits, labels_of(1, &label)), logits);
        for (int j = 0; j < 3; j++)
            ck_assert_double_eq_tol(tg_at(hessian, j) / should_be[j], 1, 1e-14);
    }
}
END_TEST

START_TEST(a_label_that_is_no_class_is_named)
{
    static const int32_t too_large[] = {0, 1, 4}, negative[] = {0, -1, 1};
    tg_tensor logits = drawn(TG_F32, TG_SHAPE(3, 4));
    ck_assert(!tg_ok(tg_cross_entropy(logits, labels_of(3, too_large))));
    expect_error("cross_entropy(f32[3, 4], i32[3]): label 4 in row 2 is none of the 4 classes, which count from 0");
    ck_assert(!tg_ok(tg_cross_entropy_with(logits, labels_of(3, negative), 0, -100)));
    expect_error("label -1 in row 1");
    /* After the error is cleared, the tape works again. */
    static const int32_t fine[] = {0, 1, 3};
    tg_tensor loss = tg_cross_entropy(logits, labels_of(3, fine));
    ck_assert(tg_ok(loss) && isfinite(tg_item(loss)) && tg_backward(loss));
}
END_TEST

START_TEST(logits_and_labels_that_do_not_fit_are_refused)
{
    tg_tensor logits = drawn(TG_F32, TG_SHAPE(3, 4));
    static const int32_t labels[12] = {0};
    ck_assert(!tg_ok(tg_cross_entropy(logits, labels_of(4, labels))));
    expect_error("cross_entropy(f32[3, 4], i32[4]): expected logits [..., classes] and labels [...]");
    ck_assert(!tg_ok(tg_cross_entropy(logits, logits)));
    expect_error("labels of i32");
    ck_assert(!tg_ok(tg_cross_entropy(drawn(TG_F32, TG_SCALAR), labels_of(0, labels))));
    expect_error("expected logits [..., classes]");
    ck_assert(!tg_ok(tg_cross_entropy_with(logits, labels_of(3, labels), 1.5, TG_NO_LABEL)));
    expect_error("smoothing from 0 to 1, not 1.5");
}
END_TEST

START_TEST(nothing_to_average_is_nan_with_a_gradient_of_zero)
{
    static const int32_t ignored[] = {9, 9};
    tg_tensor none = drawn(TG_F32, TG_SHAPE(0, 4)), logits = drawn(TG_F32, TG_SHAPE(2, 4)), gradient;
    tg_tensor empty = tg_cross_entropy(none, labels_of(0, NULL));
    ck_assert(tg_ok(empty) && isnan(tg_item(empty)) && tg_backward(empty));
    tg_tensor loss = tg_cross_entropy_with(logits, labels_of(2, ignored), 0, 9);
    ck_assert(isnan(tg_item(loss)));
    ck_assert(tg_grad(&loss, 1, &logits, 1, NULL, false, &gradient));
    for (int i = 0; i < 8; i++)
        ck_assert_double_eq(tg_at(gradient, i), 0);
}
END_TEST

/* ---- element by element ---- */

START_TEST(mse_is_the_mean_of_squares)
{
    for (int precision = 0; precision < 2; precision++) {
        const tg_dtype dtype = precision ? TG_F64 : TG_F32;
        tg_tensor a = drawn(dtype, TG_SHAPE(7, 5)), b = drawn(dtype, TG_SHAPE(7, 5)), inputs[] = {a, b}, gradients[2];
        tg_tensor loss = tg_mse(a, b);
        double sum = 0;
        for (int i = 0; i < 35; i++)
            sum += pow(tg_at(a, i) - tg_at(b, i), 2);
        assert_close(tg_item(loss), sum / 35, dtype);
        ck_assert(tg_grad(&loss, 1, inputs, 2, NULL, false, gradients));
        for (int i = 0; i < 35; i++) {
            assert_close(tg_at(gradients[0], i), 2 * (tg_at(a, i) - tg_at(b, i)) / 35, dtype);
            ck_assert_double_eq(tg_at(gradients[1], i), -tg_at(gradients[0], i));
        }
    }
    ck_assert(!tg_ok(tg_mse(drawn(TG_F32, TG_SHAPE(5, 1)), drawn(TG_F32, TG_SHAPE(5)))));
    expect_error("mse(f32[5, 1], f32[5]): expected tensors of one floating type and shape");
}
END_TEST

START_TEST(bce_on_logits_keeps_its_digits)
{
    static const double logits[] = {0, 3, -3, 50, -50, 800, -800}, targets[] = {1, 0, 0.25, 1, 0, 0, 1};
    /* log(1 + e^z) - t z */
    const double should_be[] = {log(2), log1p(exp(3)), log1p(exp(-3)) + 0.75, exp(-50), exp(-50), 800, 800};
    for (int i = 0; i < 7; i++) {
        tg_tensor z = tg_variable(tape, TG_F64, &logits[i], TG_SHAPE(1)),
                  t = tg_variable(tape, TG_F64, &targets[i], TG_SHAPE(1));
        tg_tensor loss = tg_bce_on_logits(z, t), inputs[] = {z, t}, gradients[2];
        ck_assert_double_eq_tol(tg_item(loss), should_be[i], 1e-14 * should_be[i]);
        ck_assert(tg_grad(&loss, 1, inputs, 2, NULL, false, gradients));
        ck_assert_double_eq_tol(tg_item(gradients[0]), 1 / (1 + exp(-logits[i])) - targets[i], 1e-15);
        ck_assert_double_eq(tg_item(gradients[1]), -logits[i]);
    }
}
END_TEST

/* The mean of a formula over the elements of both, and its derivatives by central differences. */
static void assert_mean_of(tg_tensor loss, tg_tensor a, tg_tensor b, double (*formula)(double a, double b),
                           double count)
{
    const double h = 1e-5;
    const tg_dtype dtype = tg_dtype_of(a);
    tg_tensor inputs[] = {a, b}, gradients[2];
    double sum = 0;
    for (int64_t i = 0; i < tg_size(a); i++)
        sum += formula(tg_at(a, i), tg_at(b, i));
    assert_shape(loss, TG_SCALAR);
    assert_close(tg_item(loss), sum / count, dtype);
    ck_assert(tg_grad(&loss, 1, inputs, 2, NULL, false, gradients));
    for (int64_t i = 0; i < tg_size(a); i++) {
        const double u = tg_at(a, i), v = tg_at(b, i);
        const double da = (formula(u + h, v) - formula(u - h, v)) / (2 * h * count);
        const double db = (formula(u, v + h) - formula(u, v - h)) / (2 * h * count);
        ck_assert_double_eq_tol(tg_at(gradients[0], i), da, 1e-6);
        ck_assert_double_eq_tol(tg_at(gradients[1], i), db, 1e-6);
    }
}

static double distance(double a, double b)
{
    return fabs(a - b);
}

static double huber(double a, double b)
{
    const double error = fabs(a - b), delta = 0.7;
    return error <= delta ? error * error / 2 : delta * (error - delta / 2);
}

static double divergence(double l, double p)
{
    return p * (log(p) - l);
}

START_TEST(l1_huber_and_kl_are_their_formulas)
{
    for (int precision = 0; precision < 2; precision++) {
        const tg_dtype dtype = precision ? TG_F64 : TG_F32;
        tg_tensor a = drawn(dtype, TG_SHAPE(7, 5)), b = drawn(dtype, TG_SHAPE(7, 5));
        assert_mean_of(tg_l1(a, b), a, b, distance, 35);
        assert_mean_of(tg_huber(a, b, 0.7), a, b, huber, 35);
        tg_tensor l = tg_log_softmax(a, -1), p = tg_softmax(b, -1);
        assert_mean_of(tg_kl(l, p), l, p, divergence, 7); /* over rows */
    }
    ck_assert(!tg_ok(tg_huber(drawn(TG_F32, TG_SHAPE(2)), drawn(TG_F32, TG_SHAPE(2)), 0)));
    expect_error("expected delta > 0, not 0");
}
END_TEST

START_TEST(kl_of_a_distribution_to_itself_is_zero_and_what_cannot_happen_adds_nothing)
{
    tg_tensor logits = drawn(TG_F64, TG_SHAPE(4, 6));
    ck_assert_double_le(fabs(tg_item(tg_kl(tg_log_softmax(logits, -1), tg_softmax(logits, -1)))), 1e-15);
    tg_tensor l = tg_constant(tape, TG_F64, (double[]){log(0.25), log(0.75)}, TG_SHAPE(2));
    tg_tensor p = tg_constant(tape, TG_F64, (double[]){0, 1}, TG_SHAPE(2));
    assert_close(tg_item(tg_kl(l, p)), -log(0.75), TG_F64);
}
END_TEST

START_TEST(nll_of_log_softmax_is_cross_entropy)
{
    static const int32_t labels[] = {1, 0, 2, 2}, wrong[] = {1, 0, 3, 2};
    tg_tensor logits = drawn(TG_F64, TG_SHAPE(4, 3)), l = tg_log_softmax(logits, -1);
    tg_tensor a = tg_cross_entropy(logits, labels_of(4, labels)), b = tg_nll(l, labels_of(4, labels)), da, db;
    assert_close(tg_item(b), tg_item(a), TG_F64);
    ck_assert(tg_grad(&a, 1, &logits, 1, NULL, false, &da) && tg_grad(&b, 1, &logits, 1, NULL, false, &db));
    for (int i = 0; i < 12; i++)
        assert_close(tg_at(db, i), tg_at(da, i), TG_F64);
    ck_assert(!tg_ok(tg_nll(l, labels_of(4, wrong))));
    expect_error("gather(f64[4, 3], i32[4, 1])");
    ck_assert(!tg_ok(tg_nll(l, labels_of(3, labels))));
    expect_error("gather(f64[4, 3], i32[3, 1])");
}
END_TEST

START_TEST(cross_entropy_to_distributions_generalises_labels)
{
    static const int32_t labels[] = {1, 0, 2};
    static const double one_hot[] = {0, 1, 0, 1, 0, 0, 0, 0, 1};
    tg_tensor logits = drawn(TG_F64, TG_SHAPE(3, 3)), targets = tg_constant(tape, TG_F64, one_hot, TG_SHAPE(3, 3));
    tg_tensor a = tg_cross_entropy(logits, labels_of(3, labels)), b = tg_cross_entropy_to(logits, targets), da, db;
    assert_close(tg_item(b), tg_item(a), TG_F64);
    ck_assert(tg_grad(&a, 1, &logits, 1, NULL, false, &da) && tg_grad(&b, 1, &logits, 1, NULL, false, &db));
    for (int i = 0; i < 9; i++)
        assert_close(tg_at(db, i), tg_at(da, i), TG_F64);
    /* One distribution for all rows: smoothing 1 means the uniform distribution. */
    tg_tensor uniform = tg_full(tape, TG_F64, TG_SHAPE(3), 1. / 3);
    assert_close(tg_item(tg_cross_entropy_to(logits, uniform)),
                 tg_item(tg_cross_entropy_with(logits, labels_of(3, labels), 1, TG_NO_LABEL)), TG_F64);
}
END_TEST

Suite *loss_suite(void)
{
    Suite *suite = suite_create("loss");
    TCase *tests = tcase_create("loss");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_loop_test(tests, losses_have_the_same_bits_in_every_instruction_set, 0, 2);
    tcase_add_test(tests, softmax_is_normalised_exponentials_along_any_axis);
    tcase_add_test(tests, softmax_survives_large_numbers_and_masked_rows);
    tcase_add_test(tests, log_softmax_keeps_the_class_that_is_decided);
    tcase_add_test(tests, logsumexp_keeps_what_the_largest_hides);
    tcase_add_test(tests, softmax_has_the_jacobian_of_the_textbook);
    tcase_add_test(tests, cross_entropy_is_the_mean_of_minus_log_probabilities);
    tcase_add_loop_test(tests, smoothing_and_ignored_labels_change_the_target_only, 0, 2);
    tcase_add_test(tests, a_class_can_be_the_one_to_ignore);
    tcase_add_test(tests, cross_entropy_does_not_overflow);
    tcase_add_test(tests, the_loss_of_a_row_that_is_sure_has_all_its_digits);
    tcase_add_test(tests, cross_entropy_has_the_hessian_of_the_textbook);
    tcase_add_test(tests, the_second_derivative_of_a_row_that_is_sure_has_all_its_digits);
    tcase_add_test(tests, a_label_that_is_no_class_is_named);
    tcase_add_test(tests, logits_and_labels_that_do_not_fit_are_refused);
    tcase_add_test(tests, nothing_to_average_is_nan_with_a_gradient_of_zero);
    tcase_add_test(tests, mse_is_the_mean_of_squares);
    tcase_add_test(tests, bce_on_logits_keeps_its_digits);
    tcase_add_test(tests, l1_huber_and_kl_are_their_formulas);
    tcase_add_test(tests, kl_of_a_distribution_to_itself_is_zero_and_what_cannot_happen_adds_nothing);
    tcase_add_test(tests, nll_of_log_softmax_is_cross_entropy);
    tcase_add_test(tests, cross_entropy_to_distributions_generalises_labels);
    suite_add_tcase(suite, tests);
    return suite;
}
