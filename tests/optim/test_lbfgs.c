/* Compares L-BFGS with PyTorch's; losses that fail, and how a search ends. */
#include <check.h>
#include <math.h>
#include <string.h>
#include <tapegrad.h>

#include "tests/support/wrapped_memory.h"

Suite *lbfgs_suite(void);

/* ---- Rosenbrock's function in six numbers, with its gradient by hand ---- */

enum { SIZE = 6 };

typedef struct valley {
    tg_parameters *set;
    double wall;    /* the loss is NaN where the last parameter exceeds this */
    int fails_at;   /* the evaluation that fails; 0: none */
    int evaluation; /* so far */
} valley;

static bool rosenbrock(void *context, double *loss)
{
    valley *v = context;
    double *p = tg_parameters_values(v->set), *g = tg_parameters_gradients(v->set);
    *loss = 0;
    memset(g, 0, SIZE * sizeof *g);
    for (int i = 0; i + 1 < SIZE; i++) {
        const double a = p[i + 1] - p[i] * p[i], b = 1 - p[i];
        *loss += 100 * a * a + b * b;
        g[i + 1] += 200 * a;
        g[i] -= 400 * a * p[i] + 2 * b;
    }
    if (v->wall != 0 && p[SIZE - 1] > v->wall)
        *loss = NAN;
    return ++v->evaluation != v->fails_at;
}

static const double beginning[SIZE] = {-1.2, 1, 0.5, -0.75, 1.5, -1};

static valley new_valley(void)
{
    valley v = {.set = tg_parameters_new(TG_F64)};
    tg_parameters_add(v.set, "p", TG_SHAPE(2, 3), true);
    memcpy(tg_parameters_values(v.set), beginning, sizeof beginning);
    return v;
}

/* PyTorch 2.15, p in double from the same beginning: torch.optim.LBFGS([p], max_iter=steps, max_eval=10000,
 * line_search_fn='strong_wolfe') and lr, history_size, tolerance_grad, tolerance_change as given. */
static const struct {
    tg_lbfgs_config config;
    int steps, evaluations;
    double expected[SIZE];
} paths[] = {
    {{0},
     5,
     6,
     {-0.7800918778128831, 0.4835312870490506, 0.29511359731760084, 0.054484485715609626, 0.01111418655738497,
      -0.0032148721655510387}},
    {{0},
     20,
     24,
     {-0.9205051129825418, 0.8635386536815246, 0.747213564283641, 0.5446820769680307, 0.27825500216698684,
      0.049274309300689656}},
    {{.gradient_tolerance = 1e-14, .change_tolerance = 1e-18},
     45, /* the next step gains less than rounding */
     50,
     {-0.9865749795291338, 0.9833982287895832, 0.9721066698924661, 0.9474374363563187, 0.8986511840999134,
      0.8075739507193415}},
    {{.history = 3, .gradient_tolerance = 1e-14, .change_tolerance = 1e-18},
     50,
     61,
     {-0.9865763155290996, 0.9834002862448259, 0.9721110388517317, 0.947444375687342, 0.8986683220913723,
      0.8076048510525251}},
    {{0}, /* which stops by itself */
     200,
     45,
     {-0.9865738851267649, 0.9833963107765132, 0.9721028475240526, 0.9474299694010879, 0.8986361871629384,
      0.8075475351952928}},
    {{.lr = 0.1},
     12,
     20,
     {-0.7231866096651658, 0.5276142746718009, 0.26869808842473497, 0.07122663619471171, 0.06874659643208549,
      0.008629703148011524}},
};

START_TEST(steps_through_a_valley_are_pytorchs)
{
    valley v = new_valley();
    tg_lbfgs *lbfgs = tg_lbfgs_new(v.set, &paths[_i].config);
    ck_assert(isnan(tg_lbfgs_loss(lbfgs)));
    while (tg_lbfgs_steps(lbfgs) < paths[_i].steps && tg_lbfgs_step(lbfgs, rosenbrock, &v))
        ck_assert(!tg_parameters_have_gradient(v.set));
    ck_assert_ptr_null(tg_lbfgs_error(lbfgs));
    ck_assert_int_eq(tg_lbfgs_evaluations(lbfgs), v.evaluation);
    ck_assert_int_eq(v.evaluation, paths[_i].evaluations);
    for (int k = 0; k < SIZE; k++)
        ck_assert_double_eq_tol(tg_parameter_get(tg_parameters_at(v.set, 0), k), paths[_i].expected[k], 1e-10);
    double loss = 0;
    rosenbrock(&v, &loss);
    ck_assert_double_eq(loss, tg_lbfgs_loss(lbfgs));
    tg_lbfgs_free(lbfgs);
    tg_parameters_free(v.set);
}
END_TEST

/* ---- a net: one hidden layer of five units, tanh, twelve points of sin(3 x) + 0.3 x ---- */

enum { POINTS = 12, UNITS = 5, NUMBERS = 3 * UNITS + 1 };

typedef struct net {
    tg_tape *tape;
    tg_parameters *set;
} net;

static net new_net(tg_dtype dtype)
{
    static const double first[NUMBERS] = {0.5,  -1.25, 2,   0.75, -1.5, 0.1,  -0.2, 0.3,
                                          -0.4, 0.5,   0.6, -0.3, 0.4,  -0.7, 0.2,  0.05};
    net n = {tg_tape_new(), tg_parameters_new(dtype)};
    tg_parameters_add(n.set, "w", TG_SHAPE(UNITS, 1), true);
    tg_parameters_add(n.set, "b", TG_SHAPE(UNITS), false);
    tg_parameters_add(n.set, "v", TG_SHAPE(1, UNITS), true);
    tg_parameters_add(n.set, "d", TG_SHAPE(1), false);
    for (int i = 0, k = 0; i < 4; i++)
        for (int64_t j = 0; j < tg_shape_size(&tg_parameters_at(n.set, i)->shape); j++)
            tg_parameter_put(tg_parameters_at(n.set, i), j, first[k++]);
    return n;
}

static bool loss_of_net(void *context, double *loss)
{
    net *n = context;
    double x[POINTS], y[POINTS];
    float x32[POINTS], y32[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = i / 6.0 - 1;
        y[i] = sin(3 * x[i]) + 0.3 * x[i];
        x32[i] = (float)x[i];
        y32[i] = (float)y[i];
    }
    const tg_dtype dtype = tg_parameters_dtype(n->set);
    tg_tape_reset(n->tape);
    tg_tensor t[4];
    for (int i = 0; i < 4; i++)
        t[i] = tg_parameter_tensor(n->tape, tg_parameters_at(n->set, i));
    const tg_tensor in = tg_constant(n->tape, dtype, dtype == TG_F32 ? (void *)x32 : (void *)x, TG_SHAPE(POINTS, 1));
    const tg_tensor out = tg_constant(n->tape, dtype, dtype == TG_F32 ? (void *)y32 : (void *)y, TG_SHAPE(POINTS, 1));
    const tg_tensor mean = tg_mse(tg_linear(tg_tanh(tg_linear(in, t[0], t[1])), t[2], t[3]), out);
    *loss = tg_item(mean);
    return tg_backward(mean);
}

static void free_net(net *n)
{
    tg_parameters_free(n->set);
    tg_tape_free(n->tape);
}

/* PyTorch 2.15 on the same net in double, tolerance_grad=1e-14, tolerance_change=1e-18. */
START_TEST(fifty_steps_of_a_net_end_where_pytorchs_do)
{
    static const double after_10[NUMBERS] = {
        0.3884892189029068,    -1.6480815042900583,  2.782022454844048,     0.7393675480106889,
        -1.5777122475810088,   -0.08484345830504675, 0.1746000965454824,    -0.0010900055856236934,
        0.0062758420247784885, 0.45470348032973623,  0.09274268541281866,   -0.2841418963194721,
        1.2689859296974966,    -1.018276158894669,   -0.004505630976673773, -0.0027984852319311374};
    static const double after_50[NUMBERS] = {
        1.1576006479507546,  -2.7736440994224743, 1.8875424846913857,   1.1763440185748633,
        -1.5656760317682406, -1.097424118449036,  1.071910840493146,    0.1229803858262143,
        1.610595978210466,   0.47465124130708863, -2.615101170268392,   -0.4813665065126081,
        2.3444362949992597,  -3.3957996542026896, -0.10912958975664956, 1.1885691396468347};
    net n = new_net(TG_F64);
    tg_lbfgs *lbfgs = tg_lbfgs_new(n.set, &(tg_lbfgs_config){.gradient_tolerance = 1e-14, .change_tolerance = 1e-18});
    const double *values = tg_parameters_values(n.set);
    double off[2] = {0};
    for (int step = 1; step <= 50; step++) {
        ck_assert(tg_lbfgs_step(lbfgs, loss_of_net, &n));
        for (int k = 0; k < NUMBERS && step % 40 == 10; k++)
            off[step == 50] = fmax(off[step == 50], fabs(values[k] - (step == 10 ? after_10 : after_50)[k]));
    }
    ck_assert_msg(off[0] < 1e-12 && off[1] < 1e-8, "%g after 10 steps, %g after 50", off[0], off[1]);
    ck_assert_double_eq_tol(tg_lbfgs_loss(lbfgs), 1.541396295733339e-05, 1e-12);
    ck_assert_int_eq(tg_lbfgs_evaluations(lbfgs), 55);
    tg_lbfgs_free(lbfgs);
    free_net(&n);
}
END_TEST

START_TEST(float_parameters_converge_too)
{
    net n = new_net(TG_F32);
    tg_lbfgs *lbfgs = tg_lbfgs_new(n.set, NULL);
    while (tg_lbfgs_steps(lbfgs) < 200 && tg_lbfgs_step(lbfgs, loss_of_net, &n))
        ;
    ck_assert_ptr_null(tg_lbfgs_error(lbfgs));
    ck_assert_double_lt(tg_lbfgs_loss(lbfgs), 1e-3);
    tg_lbfgs_free(lbfgs);
    free_net(&n);
}
END_TEST

START_TEST(what_is_not_trained_stays)
{
    net n = new_net(TG_F64);
    tg_parameter *v = tg_parameters_find(n.set, "v");
    v->gradient = NULL;
    const double before = tg_parameter_get(v, 2);
    tg_lbfgs *lbfgs = tg_lbfgs_new(n.set, NULL);
    for (int step = 0; step < 10; step++)
        ck_assert(tg_lbfgs_step(lbfgs, loss_of_net, &n));
    ck_assert_double_eq(tg_parameter_get(v, 2), before);
    ck_assert_double_lt(tg_lbfgs_loss(lbfgs), 0.2);
    tg_lbfgs_free(lbfgs);
    free_net(&n);
}
END_TEST

/* ---- failures and ends ---- */

START_TEST(a_loss_that_fails_leaves_the_values_of_before)
{
    valley v = new_valley();
    v.fails_at = _i;
    tg_lbfgs *lbfgs = tg_lbfgs_new(v.set, NULL);
    double before[SIZE];
    do
        memcpy(before, tg_parameters_values(v.set), sizeof before);
    while (tg_lbfgs_step(lbfgs, rosenbrock, &v));
    ck_assert_str_eq(tg_lbfgs_error(lbfgs), "L-BFGS: the loss could not be computed");
    ck_assert_mem_eq(tg_parameters_values(v.set), before, sizeof before);
    const int calls = v.evaluation;
    ck_assert(!tg_lbfgs_step(lbfgs, rosenbrock, &v) && v.evaluation == calls); /* it has ended */
    tg_lbfgs_restart(lbfgs);
    v.fails_at = 0;
    while (tg_lbfgs_step(lbfgs, rosenbrock, &v))
        ;
    ck_assert_ptr_null(tg_lbfgs_error(lbfgs));
    ck_assert_double_eq_tol(tg_lbfgs_loss(lbfgs), 3.97394050131, 1e-6);
    tg_lbfgs_free(lbfgs);
    tg_parameters_free(v.set);
}
END_TEST

/* Where the loss is NaN, the search steps back; it stops before that region. */
typedef struct parabola {
    tg_tape *tape;
    tg_parameters *set;
    int fails_at; /* the evaluation that fails, after its backward pass; 0: none */
} parabola;

static bool squares_of_distances(void *context, double *loss)
{
    parabola *p = context;
    tg_tape_reset(p->tape);
    const tg_tensor mean =
        tg_mean(tg_square(tg_add_scalar(tg_parameter_tensor(p->tape, tg_parameters_at(p->set, 0)), -3)));
    *loss = tg_item(mean);
    return tg_backward(mean) && --p->fails_at != 0;
}

/* A backward pass adds to a gradient that is there: one from before the search, or from an evaluation that failed. */
START_TEST(gradients_from_outside_are_not_added)
{
    parabola p = {.tape = tg_tape_new(), .set = tg_parameters_new(TG_F64), .fails_at = _i};
    tg_parameter *x = tg_parameters_add(p.set, "x", TG_SHAPE(2), true);
    tg_lbfgs *lbfgs = tg_lbfgs_new(p.set, NULL);
    for (int runs = 0; runs <= (_i > 0); runs++) {
        tg_tape_reset(p.tape);
        ck_assert(tg_backward(tg_mul_scalar(tg_sum(tg_parameter_tensor(p.tape, x)), 10)));
        tg_lbfgs_restart(lbfgs);
        while (tg_lbfgs_step(lbfgs, squares_of_distances, &p))
            ck_assert(!tg_parameters_have_gradient(p.set));
        ck_assert(!tg_parameters_have_gradient(p.set));
    }
    ck_assert_ptr_null(tg_lbfgs_error(lbfgs));
    ck_assert_double_eq_tol(tg_parameter_get(x, 0), 3, 1e-6);
    tg_lbfgs_free(lbfgs);
    tg_parameters_free(p.set);
    tg_tape_free(p.tape);
}
END_TEST

START_TEST(it_avoids_points_whose_loss_is_not_a_number)
{
    valley v = new_valley();
    v.wall = 0.001;
    tg_lbfgs *lbfgs = tg_lbfgs_new(v.set, NULL);
    while (tg_lbfgs_steps(lbfgs) < 500 && tg_lbfgs_step(lbfgs, rosenbrock, &v))
        ck_assert(isfinite(tg_lbfgs_loss(lbfgs)));
    ck_assert_ptr_null(tg_lbfgs_error(lbfgs));
    ck_assert_double_lt(tg_lbfgs_loss(lbfgs), 30); /* 707 at the start */
    ck_assert_double_le(tg_parameter_get(tg_parameters_at(v.set, 0), SIZE - 1), 0.001);
    tg_lbfgs_free(lbfgs);
    v.wall = -2;
    memcpy(tg_parameters_values(v.set), beginning, sizeof beginning);
    lbfgs = tg_lbfgs_new(v.set, NULL);
    ck_assert(!tg_lbfgs_step(lbfgs, rosenbrock, &v));
    ck_assert(strstr(tg_lbfgs_error(lbfgs), "not finite where the first step begins"));
    tg_lbfgs_free(lbfgs);
    tg_parameters_free(v.set);
}
END_TEST

START_TEST(at_a_minimum_it_has_ended)
{
    valley v = new_valley();
    for (int i = 0; i < SIZE; i++)
        ((double *)tg_parameters_values(v.set))[i] = 1;
    tg_lbfgs *lbfgs = tg_lbfgs_new(v.set, NULL);
    ck_assert(!tg_lbfgs_step(lbfgs, rosenbrock, &v) && !tg_lbfgs_error(lbfgs));
    ck_assert(tg_lbfgs_loss(lbfgs) == 0 && tg_lbfgs_steps(lbfgs) == 0 && v.evaluation == 1);
    tg_lbfgs_free(lbfgs);
    tg_parameters_free(v.set);
}
END_TEST

/* exp(steepness x) - x, whose slope on one side of the minimum is many times that on the other. */
static bool cliff(void *context, double *loss)
{
    valley *v = context;
    const double x = *(double *)tg_parameters_values(v->set), steepness = v->wall;
    *loss = exp(steepness * x) - x;
    *(double *)tg_parameters_gradients(v->set) = steepness * exp(steepness * x) - 1;
    v->evaluation++;
    return true;
}

START_TEST(a_search_beside_a_cliff_ends_at_the_minimum)
{
    for (double steepness = 1; steepness < 1000; steepness *= 1.7) {
        valley v = {.set = tg_parameters_new(TG_F64), .wall = steepness};
        tg_parameters_add(v.set, "x", TG_SCALAR, true);
        *(double *)tg_parameters_values(v.set) = -3;
        tg_lbfgs *lbfgs = tg_lbfgs_new(v.set, &(tg_lbfgs_config){.change_tolerance = 1e-14});
        while (tg_lbfgs_steps(lbfgs) < 100 && tg_lbfgs_step(lbfgs, cliff, &v))
            ;
        ck_assert_ptr_null(tg_lbfgs_error(lbfgs));
        ck_assert_double_eq_tol(*(double *)tg_parameters_values(v.set), -log(steepness) / steepness, 1e-6);
        tg_lbfgs_free(lbfgs);
        tg_parameters_free(v.set);
    }
}
END_TEST

START_TEST(wrong_use_is_an_error)
{
    static const struct {
        tg_lbfgs_config config;
        const char *reason;
    } wrong[] = {
        {{.lr = -1}, "first length"},
        {{.lr = NAN}, "first length"},
        {{.history = -1}, "history"},
        {{.history = 10001}, "history"},
        {{.gradient_tolerance = -1}, "tolerances"},
        {{.change_tolerance = INFINITY}, "tolerances"},
    };
    valley v = new_valley();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *error = tg_lbfgs_config_error(&wrong[i].config);
        ck_assert_msg(error && strstr(error, wrong[i].reason), "%s: %s", wrong[i].reason, error ? error : "accepted");
        ck_assert_ptr_null(tg_lbfgs_new(v.set, &wrong[i].config));
    }
    ck_assert_ptr_null(tg_lbfgs_config_error(NULL));
    ck_assert(!tg_lbfgs_step(NULL, rosenbrock, &v) && strstr(tg_lbfgs_error(NULL), "is NULL"));
    ck_assert(isnan(tg_lbfgs_loss(NULL)) && tg_lbfgs_steps(NULL) == 0 && tg_lbfgs_evaluations(NULL) == 0);
    tg_lbfgs_restart(NULL);
    tg_lbfgs_free(NULL);
    tg_lbfgs *lbfgs = tg_lbfgs_new(v.set, NULL);
    ck_assert(!tg_lbfgs_step(lbfgs, NULL, &v) && strstr(tg_lbfgs_error(lbfgs), "no function"));
    tg_lbfgs_restart(lbfgs);
    tg_parameters_add(v.set, "late", TG_SHAPE(2), true);
    ck_assert(!tg_lbfgs_step(lbfgs, rosenbrock, &v) && strstr(tg_lbfgs_error(lbfgs), "has grown"));
    tg_lbfgs_free(lbfgs);
    tg_parameters *empty = tg_parameters_new(TG_F64);
    ck_assert_ptr_null(tg_lbfgs_new(empty, NULL));
    tg_parameters_free(empty);
    for (int nth = 0, reached = 1; reached; nth++) {
        wrapped_memory_fail_after(nth);
        lbfgs = tg_lbfgs_new(v.set, NULL);
        reached = wrapped_memory_stop();
        ck_assert(reached == !lbfgs);
        tg_lbfgs_free(lbfgs);
    }
    tg_parameters_free(v.set);
}
END_TEST

Suite *lbfgs_suite(void)
{
    Suite *suite = suite_create("lbfgs");
    TCase *same = tcase_create("as PyTorch");
    tcase_add_loop_test(same, steps_through_a_valley_are_pytorchs, 0, (int)(sizeof paths / sizeof paths[0]));
    tcase_add_test(same, fifty_steps_of_a_net_end_where_pytorchs_do);
    suite_add_tcase(suite, same);
    TCase *ends = tcase_create("ends");
    tcase_add_test(ends, at_a_minimum_it_has_ended);
    tcase_add_test(ends, a_search_beside_a_cliff_ends_at_the_minimum);
    tcase_add_test(ends, float_parameters_converge_too);
    tcase_add_test(ends, what_is_not_trained_stays);
    tcase_add_loop_test(ends, a_loss_that_fails_leaves_the_values_of_before, 1, 40);
    tcase_add_loop_test(ends, gradients_from_outside_are_not_added, 0, 3);
    tcase_add_test(ends, it_avoids_points_whose_loss_is_not_a_number);
    tcase_add_test(ends, wrong_use_is_an_error);
    suite_add_tcase(suite, ends);
    return suite;
}
