/* Activations against constants computed with 40 digits: minima, extremes of the derivatives, distances between the
 * forms of GELU, moments under the normal distribution, third derivatives, limits.
 */
#include "tests/support/tensors.h"

#include <math.h>
#include <string.h>

Suite *activation_suite(void);

static tg_tensor elu_1(tg_tensor x)
{
    return tg_elu(x, 1);
}

static tg_tensor elu_1_d1(tg_tensor x)
{
    return tg_elu_grad(x, 1);
}

static tg_tensor leaky_relu(tg_tensor x)
{
    return tg_leaky_relu(x, 0.01);
}

/* The value, or a derivative computed by reverse mode. */
static double at(tg_tensor (*f)(tg_tensor x), double point, int order)
{
    tg_tensor x = tg_variable(tape, TG_F64, &point, TG_SCALAR), y = f(x);
    for (; order > 0; order--) {
        tg_tensor derivative;
        ck_assert_msg(tg_grad(&y, 1, &x, 1, NULL, true, &derivative), "%s", tg_tape_error(tape));
        y = derivative;
    }
    return tg_item(y);
}

static void assert_about(double is, double should_be, double bound)
{
    ck_assert_msg(fabs(is - should_be) <= bound, "%.17g is not %.17g", is, should_be);
}

START_TEST(minima_lie_where_they_should)
{
    static const struct {
        tg_tensor (*f)(tg_tensor x);
        double place, value;
    } minima[] = {
        {tg_gelu_exact, -0.7517915246935645, -0.1699712074799037},
        {tg_gelu_tanh, -0.7524614220710163, -0.1700407505712541},
        {tg_gelu_quick, -0.751154255441289, -0.1636101896363536},
        {tg_silu, -1.278464542761074, -0.2784645427610738},
    };
    for (size_t i = 0; i < sizeof minima / sizeof minima[0]; i++) {
        assert_about(at(minima[i].f, minima[i].place, 0), minima[i].value, 1e-15);
        assert_about(at(minima[i].f, minima[i].place, 1), 0, 1e-15);
        ck_assert_double_gt(at(minima[i].f, minima[i].place, 2), 0.1);
    }
}
END_TEST

START_TEST(gelu_exact_has_its_known_values)
{
    static const double known[][2] = {{-1, -0.15865525393146}, {-0.2, -0.084148058112179}, {-0.75, -0.16997051428265},
                                      {1, 0.84134474606854},   {2, 1.9544997361036},       {-3, -0.0040496940948903}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_about(at(tg_gelu_exact, known[i][0], 0), known[i][1], 1e-13);
    assert_about(at(tg_gelu_exact, -sqrt(2), 1), -0.1289041451851548, 1e-15); /* the extremes of the derivative */
    assert_about(at(tg_gelu_exact, sqrt(2), 1), 1.128904145185155, 1e-15);
    assert_about(at(tg_gelu_exact, sqrt(2), 2), 0, 1e-15);
}
END_TEST

START_TEST(the_forms_of_gelu_differ_by_what_is_known)
{
    static const struct {
        tg_tensor (*f)(tg_tensor x);
        int order;
        double place, distance;
    } known[] = {
        {tg_gelu_tanh, 0, 2.69894138638, 4.7323552068728e-4},
        {tg_gelu_quick, 0, 2.2703977372, 0.020334872209239},
        {tg_gelu_tanh, 1, 2.01865575977, 8.6845183498591e-4},
        {tg_gelu_quick, 1, 1.42194759096, 0.029072045515623},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        double most = 0;
        for (double x = -6; x <= 6; x += 0.01)
            most = fmax(most, fabs(at(known[i].f, x, known[i].order) - at(tg_gelu_exact, x, known[i].order)));
        ck_assert_double_le(most, known[i].distance);
        assert_about(most, known[i].distance, 1e-3 * known[i].distance);
        for (int side = -1; side <= 1; side += 2) {
            const double x = side * known[i].place;
            const double there = at(known[i].f, x, known[i].order) - at(tg_gelu_exact, x, known[i].order);
            assert_about(fabs(there), known[i].distance, 1e-15);
        }
    }
}
END_TEST

/* The trapezoidal rule, which is exact to rounding for functions as smooth as these; relu and elu are not smooth at a
 * node. */
START_TEST(moments_under_the_normal_distribution_are_known)
{
    static const struct {
        tg_tensor (*f)(tg_tensor x);
        double mean, square, derivative_square, bound;
    } known[] = {
        {tg_gelu_exact, 0.2820947917739, 0.4252214825703, 0.4558508656493, 1e-12},
        {tg_gelu_tanh, 0.2820385880788, 0.4251937110331, 0.4558178459630, 1e-12},
        {tg_gelu_quick, 0.2823305528128, 0.4219528068970, 0.4495492004791, 1e-12},
        {tg_silu, 0.2066209641419, 0.3557755198174, 0.3794823516328, 1e-12},
        {tg_relu, 0.3989422804014, 0.5, 0.5, 1e-4},
        {elu_1, 0.1605205722666, 0.6449454174929, 0.6681020012232, 1e-4},
    };
    enum { NODES = 6401 };
    static double nodes[NODES];
    for (int i = 0; i < NODES; i++)
        nodes[i] = (i - NODES / 2) * 0.00375;
    const double step = nodes[1] - nodes[0];
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        tg_tensor x = tg_variable(tape, TG_F64, nodes, TG_SHAPE(NODES)), y = known[k].f(x), derivative;
        ck_assert(tg_grad(&y, 1, &x, 1, NULL, false, &derivative));
        double mean = 0, square = 0, derivative_square = 0;
        for (int i = 0; i < NODES; i++) {
            const double weight = step * exp(-0.5 * nodes[i] * nodes[i]) / sqrt(2 * acos(-1));
            const bool kink = known[k].f == tg_relu && nodes[i] == 0; /* derivative 0 on one side, 1 on the other */
            mean += weight * tg_at(y, i);
            square += weight * tg_at(y, i) * tg_at(y, i);
            derivative_square += weight * (kink ? 0.5 : tg_at(derivative, i) * tg_at(derivative, i));
        }
        assert_about(mean, known[k].mean, known[k].bound);
        assert_about(square, known[k].square, known[k].bound);
        assert_about(derivative_square, known[k].derivative_square, 3 * known[k].bound);
    }
}
END_TEST

START_TEST(third_derivatives_are_right)
{
    static const double points[7] = {-6, -1.5, -0.25, 0, 0.75, 2, 9};
    static const struct {
        tg_tensor (*f)(tg_tensor x);
        double third[7]; /* by mpmath */
    } known[] = {
        {tg_gelu_exact,
         {-1.1665695071660708e-6, 0.33998368862296578, 0.38062642747780469, 0, -0.77636994227410511,
          -5.3990966513188052e-31, 7.123883085166558e-16}},
        {tg_gelu_tanh,
         {-5.8373865618502813e-8, 0.3396216894677243, 0.38219167171230408, 0, -0.77479551362581024,
          -0.0057331784040208527, 8.6230469076188558e-25}},
        {tg_gelu_quick,
         {-0.00076701777967225079, 0.20189273443074799, 0.56325795364034437, 0, -0.85026808584976932,
          -0.0035078411582070018, 7.942104004264692e-6}},
        {tg_silu,
         {-0.0072171083109822175, 0.2606729377352716, 0.1211619954233751, 0, -0.28448363129214709, -0.16218416807204715,
          0.00073954543159117816}},
        {tg_mish,
         {-0.0073256638629956406, 0.31733304899946271, 0.1642169576918787, -0.096, -0.58718891468044251,
          -0.024006767434248678, 1.8259741463511955e-6}},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        for (int i = 0; i < 7; i++)
            assert_about(at(known[k].f, points[i], 3), known[k].third[i], 1e-15 + 1e-13 * fabs(known[k].third[i]));
    assert_about(at(elu_1, -1.5, 3), exp(-1.5), 1e-15);
    assert_about(at(tg_selu, -1.5, 3), 1.0507009873554805 * 1.6732632423543772 * exp(-1.5), 1e-15);
    ck_assert_double_eq(at(elu_1, 1.5, 3), 0);
}
END_TEST

START_TEST(limits_are_limits_and_nan_stays_nan)
{
    static const struct {
        const char *name;
        tg_tensor (*f)(tg_tensor x);
        double below, derivative_below;
    } all[] = {
        {"gelu_exact", tg_gelu_exact, 0, 0},
        {"gelu_tanh", tg_gelu_tanh, 0, 0},
        {"gelu_quick", tg_gelu_quick, 0, 0},
        {"silu", tg_silu, 0, 0},
        {"mish", tg_mish, 0, 0},
        {"relu", tg_relu, 0, 0},
        {"hardswish", tg_hardswish, 0, 0},
        {"elu", elu_1, -1, 0},
        {"softplus", tg_softplus, 0, 0},
        {"leaky_relu", leaky_relu, -INFINITY, 0.01},
    };
    static const double numbers[] = {INFINITY, -INFINITY, NAN, 1e300, -1e300, 1e20, -1e20, 0.0, -0.0};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        tg_tensor x = tg_variable(tape, TG_F64, numbers, TG_SHAPE(9)), y = all[k].f(x), derivative;
        ck_assert(tg_grad(&y, 1, &x, 1, NULL, true, &derivative));
        const char *name = all[k].name;
        ck_assert_msg(tg_at(y, 0) == INFINITY && tg_at(derivative, 0) == 1, "%s at infinity", name);
        ck_assert_msg(tg_at(y, 1) == all[k].below && tg_at(derivative, 1) == all[k].derivative_below, "%s at -infinity",
                      name);
        ck_assert_msg(isnan(tg_at(y, 2)), "%s of NaN", name);
        ck_assert_msg(tg_at(y, 3) == 1e300 && tg_at(derivative, 3) == 1, "%s at 1e300", name);
        ck_assert_msg(isfinite(tg_at(y, 4)) && tg_at(derivative, 4) == all[k].derivative_below, "%s at -1e300", name);
        ck_assert_msg(tg_at(y, 5) == 1e20 && tg_at(derivative, 5) == 1, "%s at 1e20", name);
        ck_assert_msg(tg_at(derivative, 6) == all[k].derivative_below, "%s at -1e20", name);
        if (strcmp(name, "softplus") != 0)
            ck_assert_msg(!signbit(tg_at(y, 7)) && tg_at(y, 7) == 0 && signbit(tg_at(y, 8)) && tg_at(y, 8) == 0,
                          "%s keeps the sign of zero", name);
    }
}
END_TEST

/* Derivatives of every order are finite where the function is constant or linear. */
START_TEST(higher_derivatives_vanish_at_infinity)
{
    static tg_tensor (*const all[])(tg_tensor x) = {tg_gelu_exact, tg_gelu_tanh, tg_gelu_quick, tg_silu,
                                                    tg_mish,       tg_selu,      tg_softplus,   tg_hardswish,
                                                    tg_erf,        tg_erfc,      tg_softsign,   tg_penalized_tanh};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        for (int order = 2; order <= 4; order++) {
            ck_assert_double_eq(at(all[k], INFINITY, order), 0);
            ck_assert_double_eq(at(all[k], -INFINITY, order), 0);
            ck_assert_double_eq(at(all[k], 1e300, order), 0);
            ck_assert_double_eq(at(all[k], -1e300, order), 0);
        }
}
END_TEST

START_TEST(straight_pieces_have_the_derivatives_of_their_lines)
{
    static const double points[] = {-4, -3, -1.5, 0, 1.5, 3, 4};
    for (int i = 0; i < 7; i++) {
        const double x = points[i], gate = fmin(fmax(x / 6 + 0.5, 0), 1);
        const bool inside = x > -3 && x < 3;
        ck_assert_double_eq_tol(at(tg_hardsigmoid, x, 0), gate, 1e-15);
        ck_assert_double_eq_tol(at(tg_hardswish, x, 0), x * gate, 1e-15);
        ck_assert_double_eq_tol(at(tg_hardsigmoid, x, 1), inside ? 1. / 6 : 0, 1e-15);
        ck_assert_double_eq_tol(at(tg_hardswish, x, 1), inside ? (2 * x + 3) / 6 : x > 0, 1e-15);
        ck_assert_double_eq_tol(at(tg_hardswish, x, 2), inside ? 1. / 3 : 0, 1e-15);
        ck_assert_double_eq(at(tg_relu, x, 1), x > 0);
        ck_assert_double_eq(at(leaky_relu, x, 1), x > 0 ? 1 : 0.01);
        ck_assert_double_eq(at(tg_relu, x, 2), 0);
    }
}
END_TEST

/* A unit that is switched off has a derivative of zero, for any cotangent. */
START_TEST(flat_pieces_block_even_an_infinite_cotangent)
{
    static tg_tensor (*const functions[])(tg_tensor) = {tg_relu, tg_hardsigmoid, tg_hardswish};
    tg_tensor x = tg_variable(tape, TG_F32, (float[]){-4, -3, 2}, TG_SHAPE(3)), gradient;
    tg_tensor cotangent = tg_constant(tape, TG_F32, (float[]){INFINITY, NAN, 6}, TG_SHAPE(3));
    static const double expected[] = {6, 1, 7};
    for (int i = 0; i < 3; i++) {
        tg_tensor y = functions[i](x);
        ck_assert(tg_grad(&y, 1, &x, 1, &cotangent, false, &gradient));
        ck_assert(tg_at(gradient, 0) == 0 && tg_at(gradient, 1) == 0);
        ck_assert_double_eq_tol(tg_at(gradient, 2), expected[i], 1e-5);
    }
}
END_TEST

START_TEST(elu_with_one_slope_is_elu)
{
    ck_assert_double_eq(at(elu_1_d1, -2, 0), at(elu_1, -2, 1));
    ck_assert_double_eq(at(elu_1, -2, 0), expm1(-2));
    ck_assert_double_eq(at(elu_1, 2, 0), 2);
}
END_TEST

Suite *activation_suite(void)
{
    Suite *suite = suite_create("activation");
    TCase *tests = tcase_create("activation");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, minima_lie_where_they_should);
    tcase_add_test(tests, gelu_exact_has_its_known_values);
    tcase_add_test(tests, the_forms_of_gelu_differ_by_what_is_known);
    tcase_add_test(tests, moments_under_the_normal_distribution_are_known);
    tcase_add_test(tests, third_derivatives_are_right);
    tcase_add_test(tests, limits_are_limits_and_nan_stays_nan);
    tcase_add_test(tests, higher_derivatives_vanish_at_infinity);
    tcase_add_test(tests, straight_pieces_have_the_derivatives_of_their_lines);
    tcase_add_test(tests, flat_pieces_block_even_an_infinite_cotangent);
    tcase_add_test(tests, elu_with_one_slope_is_elu);
    suite_add_tcase(suite, tests);
    return suite;
}
