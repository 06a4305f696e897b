/* Burgers' equation for the study `pinn`: its solution, its points, its loss and the loss's gradient. */
#include "examples/programs/study/burgers.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

Suite *burgers_suite(void);

/* By mpmath with 30 digits: both integrals of the Cole-Hopf transformation over y by adaptive quadrature. */
START_TEST(the_solution_is_that_of_cole_and_hopf)
{
    static const double rows[][3] = {{0.5, 0.1, -0.95815955341890568849},    {0.99, 0.0078, -0.52604377299605922273},
                                     {0.01, -0.7, 0.79386282912663985166},   {0.25, 0.5, -0.80319842084063256465},
                                     {1, -0.999, 0.00075714134937832025769}, {1, 0.001, -0.083591549991330884167},
                                     {0.4, 0.01, -0.76924567932372363774}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_double_eq_tol(burgers_exact(rows[i][0], rows[i][1]), rows[i][2], 1e-13);
    ck_assert_double_eq_tol(burgers_exact(0, 0.3), -sin(0.3 * 3.141592653589793), 1e-15);
    for (double t = 0; t <= 1; t += 0.125) {
        ck_assert_double_eq_tol(burgers_exact(t, 1), 0, 1e-13);
        ck_assert_double_eq_tol(burgers_exact(t, -1), 0, 1e-13);
        ck_assert_double_eq_tol(burgers_exact(t, 0.2), -burgers_exact(t, -0.2), 1e-13);
    }
}
END_TEST

/* True if each of `count` equal intervals from low to high has exactly one number. */
static bool is_spread(const double *numbers, int64_t count, double low, double high)
{
    char *seen = calloc((size_t)count + 1, 1);
    bool once = true;
    for (int64_t i = 0; i < count; i++) {
        const int64_t part = (int64_t)((numbers[i] - low) / (high - low) * (double)count);
        ck_assert(part >= 0 && part < count);
        once &= seen[part]++ == 0;
    }
    free(seen);
    return once;
}

START_TEST(points_are_a_hypercube_with_the_edges_and_some_of_the_edges_are_given)
{
    tg_rng rng = tg_rng_seed(4);
    burgers b;
    ck_assert(burgers_draw(&b, 100, 500, &rng));
    ck_assert_int_eq(b.given, 100);
    ck_assert_int_eq(b.inner, 500 + BURGERS_EDGE);
    ck_assert(is_spread(b.t, 500, 0, 1));
    ck_assert(is_spread(b.x, 500, -1, 1));
    int initial = 0, left = 0, right = 0;
    for (int64_t i = 500; i < b.inner; i++) {
        initial += b.t[i] == 0 && fabs(b.x[i]) <= 1;
        left += b.x[i] == -1;
        right += b.x[i] == 1;
    }
    ck_assert_int_eq(initial, BURGERS_PLACES + 2); /* the corners of the sides too */
    ck_assert_int_eq(left, BURGERS_TIMES + 1);
    ck_assert_int_eq(right, BURGERS_TIMES + 1);
    int inside = 0;
    for (int64_t i = 0; i < b.given; i++) {
        ck_assert(b.given_t[i] == 0 || fabs(b.given_x[i]) == 1);
        ck_assert_double_eq_tol(b.given_u[i], burgers_exact(b.given_t[i], b.given_x[i]), 1e-12);
        for (int64_t k = 0; k < i; k++) /* except at a corner, no point occurs twice */
            ck_assert(b.given_t[i] != b.given_t[k] || b.given_x[i] != b.given_x[k] || fabs(b.given_x[i]) == 1);
        inside += b.given_t[i] == 0;
    }
    ck_assert_int_gt(inside, 30);
    ck_assert_int_lt(inside, 80);
    burgers_free(&b);
    ck_assert(!burgers_draw(&b, BURGERS_EDGE + 1, 10, &rng));
    burgers_free(&b);
}
END_TEST

static tg_mlp *small_net(tg_activation activation)
{
    const tg_rng rng = tg_rng_seed(2);
    return tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2,
                                             .hidden = {7, 6},
                                             .outputs = 1,
                                             .activation = activation,
                                             .init = TG_INIT_XAVIER_NORMAL,
                                             .dtype = TG_F64});
}

static double net_at(const tg_mlp *net, double t, double x)
{
    tg_tape *tape = tg_tape_new();
    const double in[] = {2 * t - 1, x};
    const double u = tg_item(tg_mlp_forward(net, tg_constant(tape, TG_F64, in, TG_SHAPE(1, 2))));
    tg_tape_free(tape);
    return u;
}

static double loss_at(const tg_mlp *net, const burgers *b)
{
    tg_tape *tape = tg_tape_new();
    const double loss = tg_item(burgers_loss(tape, net, b));
    tg_tape_free(tape);
    return loss;
}

/* Computes the derivatives of the net by differences. */
START_TEST(the_loss_is_that_of_the_formula)
{
    const double h = 1e-4, nu = 0.01 / 3.141592653589793;
    tg_rng rng = tg_rng_seed(4);
    tg_mlp *net = small_net(TG_TANH);
    burgers b;
    double given = 0, inner = 0;
    ck_assert(burgers_draw(&b, 10, 20, &rng));
    for (int64_t i = 0; i < b.given; i++)
        given += pow(net_at(net, b.given_t[i], b.given_x[i]) - b.given_u[i], 2) / (double)b.given;
    for (int64_t i = 0; i < b.inner; i++) {
        const double t = b.t[i], x = b.x[i], u = net_at(net, t, x);
        const double right = net_at(net, t, x + h), left = net_at(net, t, x - h);
        const double u_t = (net_at(net, t + h, x) - net_at(net, t - h, x)) / (2 * h);
        const double residual = u_t + u * (right - left) / (2 * h) - nu * (right - 2 * u + left) / (h * h);
        inner += residual * residual / (double)b.inner;
    }
    ck_assert_double_eq_tol(loss_at(net, &b), given + inner, 1e-7);
    ck_assert_double_gt(given, 1e-3);
    ck_assert_double_gt(inner, 1e-3);
    tg_mlp_free(net);
    burgers_free(&b);
}
END_TEST

/* The gradient has third derivatives of the net, as the loss has a second: each parameter against differences. */
START_TEST(the_gradient_of_the_loss_is_that_of_differences)
{
    static const tg_activation activations[] = {TG_TANH, TG_SINE, TG_GELU_EXACT, TG_SILU};
    const double h = 1e-5;
    for (size_t a = 0; a < sizeof activations / sizeof activations[0]; a++) {
        tg_rng rng = tg_rng_seed(4);
        tg_mlp *net = small_net(activations[a]);
        tg_parameters *set = tg_mlp_parameters(net);
        burgers b;
        ck_assert(burgers_draw(&b, 10, 20, &rng));
        tg_tape *tape = tg_tape_new();
        ck_assert(tg_backward(burgers_loss(tape, net, &b)));
        for (int p = 0; p < tg_parameters_count(set); p++) {
            tg_parameter *parameter = tg_parameters_at(set, p);
            for (int64_t i = 0; i < tg_shape_size(&parameter->shape); i++) {
                const double value = tg_parameter_get(parameter, i);
                tg_parameter_put(parameter, i, value + h);
                const double above = loss_at(net, &b);
                tg_parameter_put(parameter, i, value - h);
                const double below = loss_at(net, &b);
                tg_parameter_put(parameter, i, value);
                ck_assert_double_eq_tol(((const double *)parameter->gradient)[i], (above - below) / (2 * h), 1e-8);
            }
        }
        tg_tape_free(tape);
        tg_mlp_free(net);
        burgers_free(&b);
    }
}
END_TEST

/* A net whose weights are 0 has the error 1. */
START_TEST(the_error_is_relative)
{
    tg_mlp *net = small_net(TG_TANH);
    tg_parameters *set = tg_mlp_parameters(net);
    for (int p = 0; p < tg_parameters_count(set); p++)
        tg_parameter_fill(tg_parameters_at(set, p), 0);
    ck_assert_double_eq_tol(burgers_error(net), 1, 1e-15);
    tg_mlp_free(net);
}
END_TEST

Suite *burgers_suite(void)
{
    Suite *suite = suite_create("burgers");
    TCase *tests = tcase_create("burgers");
    tcase_add_test(tests, the_solution_is_that_of_cole_and_hopf);
    tcase_add_test(tests, points_are_a_hypercube_with_the_edges_and_some_of_the_edges_are_given);
    tcase_add_test(tests, the_loss_is_that_of_the_formula);
    tcase_add_test(tests, the_gradient_of_the_loss_is_that_of_differences);
    tcase_add_test(tests, the_error_is_relative);
    suite_add_tcase(suite, tests);
    return suite;
}
