/* Nested and repeated backward passes: through checkpoints of any depth, inside hooks, inside derivatives, and on the
 * results of an earlier pass. The expected numbers come from the formulas. Functions of one number: c(x) = x^3 with c'
 * = 3 x^2, c'' = 6 x. */
#include "tests/support/tensors.h"

#include <math.h>
#include <string.h>

Suite *passes_suite(void);

static tg_tensor variable(double value)
{
    return tg_variable(tape, TG_F64, &value, TG_SHAPE(1));
}

static double gradient_by(tg_tensor y, tg_tensor x, bool create_graph, tg_tensor *gradient)
{
    tg_tensor scalar = tg_sum(y);
    ck_assert_msg(tg_grad(&scalar, 1, &x, 1, NULL, create_graph, gradient), "%s", tg_tape_error(tape));
    return tg_item(*gradient);
}

/* ---- checkpoints ---- */

static tg_tensor cube(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)t, (void)count, (void)user;
    return tg_mul(in[0], tg_square(in[0]));
}

START_TEST(every_derivative_goes_through_a_checkpoint)
{
    tg_tensor x = variable(2), one = tg_full(tape, TG_F64, TG_SHAPE(1), 1),
              y = tg_sum(tg_checkpoint(cube, &x, 1, NULL)), d[3];
    ck_assert_double_eq(gradient_by(y, x, false, d), 12);
    ck_assert_double_eq(gradient_by(y, x, true, d), 12);
    ck_assert_double_eq(gradient_by(d[0], x, true, d + 1), 12); /* 6 x */
    ck_assert_double_eq(gradient_by(d[1], x, true, d + 2), 6);
    ck_assert(tg_hvp(y, &x, &one, 1, d));
    ck_assert_double_eq(tg_item(d[0]), 12);
    ck_assert_double_eq(tg_item(tg_hessian(y, x)), 12);
    ck_assert_double_eq(tg_item(tg_jacobian(y, x)), 12);
    ck_assert_double_eq(tg_item(tg_jvp(y, &x, &one, 1)), 12);
    ck_assert(tg_backward(y) && tg_backward(y));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 24);
}
END_TEST

START_TEST(the_jacobian_of_checkpoints_in_a_row_is_the_one_on_paper)
{
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){1, 2, -1}, TG_SHAPE(3)), y = tg_checkpoint(cube, &x, 1, NULL);
    tg_tensor z = tg_checkpoint(cube, &y, 1, NULL), j = tg_jacobian(z, x); /* x^9 */
    const double diagonal[] = {9, 9 * 256, 9};
    for (int i = 0; i < 9; i++)
        ck_assert_double_eq(tg_at(j, i), i % 4 ? 0 : diagonal[i / 4]);
}
END_TEST

START_TEST(a_tensor_used_inside_a_checkpoint_and_beside_it_gets_both)
{
    /* z = x, s = 100 z + c(z) */
    tg_tensor x = variable(2), z = tg_mul_scalar(x, 1), beside = tg_mul_scalar(z, 100);
    tg_tensor s = tg_sum(tg_add(beside, tg_checkpoint(cube, &z, 1, NULL))), in[2] = {z, x}, d[2];
    ck_assert_double_eq(gradient_by(s, x, false, d), 112);
    ck_assert_double_eq(gradient_by(s, z, false, d), 112);
    ck_assert(tg_grad(&s, 1, in, 2, NULL, false, d));
    ck_assert_double_eq(tg_item(d[0]), 112);
    ck_assert_double_eq(tg_item(d[1]), 112);
    ck_assert(tg_backward(s));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 112);
}
END_TEST

static tg_tensor times_square_of(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)t, (void)count;
    return tg_mul(in[0], tg_square(*(tg_tensor *)user));
}

START_TEST(what_a_checkpoint_reaches_by_itself_has_its_gradient)
{
    /* k = 3 w, y = x k^2 */
    tg_tensor x = variable(2), w = variable(5. / 3), k = tg_mul_scalar(w, 3),
              y = tg_checkpoint(times_square_of, &x, 1, &k), d[3];
    ck_assert_double_eq(gradient_by(y, x, false, d), 25);
    ck_assert_double_eq(gradient_by(y, k, false, d), 20);
    ck_assert_double_eq(gradient_by(y, w, false, d), 60);
    ck_assert_double_eq(gradient_by(y, k, true, d), 20);
    ck_assert_double_eq(gradient_by(d[0], x, false, d + 1), 10); /* 2 k */
    ck_assert_double_eq(gradient_by(d[0], k, false, d + 1), 4);  /* 2 x */
    ck_assert(tg_backward(tg_sum(y)));
    ck_assert_double_eq(tg_item(tg_gradient(w)), 60);
}
END_TEST

/* f(0) = x^2, f(n) = x f(n-1) + x, each level in a checkpoint of its own, the first `depth` of them. */
typedef struct tower {
    int level, depth;
} tower;

static tg_tensor climb(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    const tower *of = user;
    if (of->level == 0)
        return tg_square(in[0]);
    tower *below = (tower *)user - 1;
    tg_tensor before = tg_mul_scalar(in[0], 1); /* first used in the outer checkpoint */
    tg_tensor inner = of->level <= of->depth ? tg_checkpoint(climb, in, count, below) : climb(t, in, count, below);
    return tg_add(tg_mul(inner, in[0]), before);
}

START_TEST(nested_checkpoints_lose_nothing)
{
    /* f(4) = x^6 + x^4 + x^3 + x^2 + x */
    for (int depth = 0; depth <= 4; depth++) {
        tower levels[5];
        for (int i = 0; i < 5; i++)
            levels[i] = (tower){i, depth};
        tg_tape_reset(tape);
        tg_tensor x = variable(2), d[3],
                  y = depth ? tg_checkpoint(climb, &x, 1, &levels[4]) : climb(tape, &x, 1, &levels[4]);
        ck_assert_double_eq(tg_item(y), 94);
        ck_assert_double_eq(gradient_by(y, x, true, d), 241);
        ck_assert_double_eq(gradient_by(d[0], x, true, d + 1), 542);
        ck_assert_double_eq(gradient_by(d[1], x, false, d + 2), 1014);
        ck_assert_double_eq(tg_item(tg_hessian(tg_sum(y), x)), 542);
        ck_assert(tg_backward(tg_sum(y)));
        ck_assert_double_eq(tg_item(tg_gradient(x)), 241);
    }
}
END_TEST

static tg_parameter weight;
static double weight_value, weight_gradient;

static void make_weight(double value)
{
    weight_value = value;
    weight = (tg_parameter){
        .name = "w", .dtype = TG_F64, .shape = {1, {1}}, .data = &weight_value, .gradient = &weight_gradient};
}

/* x w^2 with the parameter w; and, around a checkpoint of it, (x w^2) x + 100 w. */
static tg_tensor weighted(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)count, (void)user;
    return tg_mul(in[0], tg_square(tg_parameter_tensor(t, &weight)));
}

static tg_tensor weighted_twice(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)user;
    tg_tensor beside = tg_mul_scalar(tg_parameter_tensor(t, &weight), 100);
    return tg_add(tg_mul(tg_checkpoint(weighted, in, count, NULL), in[0]), beside);
}

START_TEST(parameters_inside_nested_checkpoints_have_all_of_their_gradient)
{
    /* y = x^2 w^2 + 100 w at x = 2, w = 3 */
    make_weight(3);
    tg_tensor x = variable(2), w = tg_parameter_tensor(tape, &weight),
              y = tg_sum(tg_checkpoint(weighted_twice, &x, 1, NULL));
    tg_tensor both[2] = {x, w}, d[2],
              v[2] = {tg_full(tape, TG_F64, TG_SHAPE(1), 1), tg_full(tape, TG_F64, TG_SHAPE(1), 10)};
    ck_assert(tg_backward(y));
    ck_assert_double_eq(weight_gradient, 24 + 100);
    ck_assert_double_eq(tg_item(tg_gradient(x)), 36);
    ck_assert(tg_backward(y));
    ck_assert_double_eq(weight_gradient, 248);
    ck_assert(tg_grad(&y, 1, both, 2, NULL, false, d));
    ck_assert_double_eq(tg_item(d[0]), 36);
    ck_assert_double_eq(tg_item(d[1]), 124);
    ck_assert(tg_hvp(y, both, v, 2, d)); /* H = (2 w^2, 4 x w; 4 x w, 2 x^2) = (18, 24; 24, 8) */
    ck_assert_double_eq(tg_item(d[0]), 18 + 240);
    ck_assert_double_eq(tg_item(d[1]), 24 + 80);
    ck_assert_double_eq(weight_gradient, 248); /* tg_grad must not change it */
}
END_TEST

static tg_tensor whole(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)t, (void)user;
    return tg_sum(tg_tanh(tg_checkpoint(cube, in, count, NULL)));
}

/* The derivatives of x y where its cotangent is 1: the inputs themselves, without a copy. */
static void other_input(const tg_derive *d)
{
    d->gradient[0] = d->in[1];
    d->gradient[1] = d->in[0];
}

static tg_tensor with_inputs_as_gradients(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)t, (void)count;
    tg_tensor v = tg_exp(in[0]), w = tg_tanh(in[0]), u[2] = {tg_square(in[0]), v};
    return tg_add(tg_apply(user, NULL, 2, u), w);
}

/* A recomputed value serves as a cotangent, and is read again after that. */
START_TEST(a_cotangent_that_was_recomputed_stays)
{
    static tg_op op;
    double data[40];
    op = tg_op_mul;
    op.derivative = other_input;
    for (int i = 0; i < 40; i++)
        data[i] = 0.05 * i - 1;
    tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(40));
    ck_assert(tg_backward(tg_sum(tg_checkpoint(with_inputs_as_gradients, &x, 1, &op))));
    for (int i = 0; i < 40; i++) { /* x^2 e^x + tanh x */
        const double a = data[i], expected = (2 * a + a * a) * exp(a) + 1 - tanh(a) * tanh(a);
        ck_assert_double_eq_tol(tg_at(tg_gradient(x), i), expected, 1e-14 * fmax(1, fabs(expected)));
    }
}
END_TEST

START_TEST(a_checkpointed_function_passes_the_gradient_check)
{
    const double x[] = {0.3, -0.4, 0.7};
    const tg_gradcheck_input in[] = {{.name = "x", .shape = TG_SHAPE(3), .data = x}};
    const tg_gradcheck_result result = tg_gradcheck(whole, NULL, in, 1, &(tg_gradcheck_options){.order = 2});
    ck_assert_msg(result.passed, "%s", result.why);
}
END_TEST

static tg_tensor drop(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)count;
    return tg_dropout(in[0], tg_random_stream(t, user), 0.5);
}

static tg_tensor drop_deeper(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)count;
    tg_tensor once = tg_checkpoint(drop, in, 1, user);
    return tg_add(once, drop(t, in, 1, user));
}

START_TEST(every_pass_through_a_checkpoint_drops_the_same)
{
    static const tg_function functions[] = {drop, drop_deeper};
    for (int f = 0; f < 2; f++) {
        double ones[64], y[64], g[64];
        for (int i = 0; i < 64; i++)
            ones[i] = 1;
        tg_rng rng = tg_rng_seed(1), other = rng;
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F64, ones, TG_SHAPE(64)), out = tg_checkpoint(functions[f], &x, 1, &rng), d;
        tg_tensor loss = tg_sum(out), plain = functions[f](tape, &x, 1, &other);
        ck_assert(tg_read(out, TG_F64, y, 64)); /* for a cotangent of ones the result is its own derivative */
        ck_assert_mem_eq(tg_f64(plain), y, sizeof y);
        for (int pass = 1; pass <= 3; pass++) {
            ck_assert(tg_backward(loss));
            for (int i = 0; i < 64; i++)
                ck_assert_double_eq(tg_at(tg_gradient(x), i), pass * y[i]);
            ck_assert(tg_grad(&loss, 1, &x, 1, NULL, pass == 2, &d) && tg_read(d, TG_F64, g, 64));
            ck_assert_mem_eq(g, y, sizeof y);
            ck_assert_uint_eq(rng.position, other.position); /* no random number is redrawn */
        }
    }
}
END_TEST

/* ---- hooks ---- */

/* loss = x b + 3 x with a = x^2, b = e^a: (1 + 2 x^2) e^(x^2) + 3 is its derivative, (6 x + 4 x^3) e^(x^2) the second.
 */
typedef struct scene {
    tg_tensor x, a, loss, d;
    int calls;
    double seen;
} scene;

static void set_scene(scene *s, tg_hook_function hook)
{
    *s = (scene){.x = variable(2), .seen = NAN};
    s->a = tg_square(s->x);
    tg_tensor b = tg_exp(s->a);
    tg_add_hook(b, hook, s);
    s->loss = tg_sum(tg_add(tg_mul(b, s->x), tg_mul_scalar(s->x, 3)));
}

static tg_tensor on_new_tensors(tg_tensor cotangent, void *user)
{
    scene *s = user;
    tg_tensor v = variable(3), d, d2;
    gradient_by(cube(tape, &v, 1, NULL), v, true, &d);
    s->seen = gradient_by(d, v, false, &d2) + tg_item(tg_jacobian(tg_square(v), v)); /* 18 + 6 */
    return cotangent;
}

static tg_tensor on_forward_tensors(tg_tensor cotangent, void *user)
{
    scene *s = user;
    tg_tensor d;
    s->seen = gradient_by(s->a, s->x, false, &d) + tg_item(tg_hessian(tg_sum(s->a), s->x)); /* 4 + 2 */
    return cotangent;
}

START_TEST(a_hook_may_differentiate)
{
    static const struct {
        tg_hook_function hook;
        double sees;
    } cases[] = {{on_new_tensors, 24}, {on_forward_tensors, 6}};
    for (int c = 0; c < 2; c++) {
        scene s;
        tg_tensor d2;
        tg_tape_reset(tape);
        set_scene(&s, cases[c].hook);
        ck_assert_msg(tg_backward(s.loss), "%s", tg_tape_error(tape));
        ck_assert_double_eq(s.seen, cases[c].sees);
        assert_close(tg_item(tg_gradient(s.x)), 9 * exp(4) + 3, TG_F64);
        s.seen = NAN;
        assert_close(gradient_by(s.loss, s.x, true, &s.d), 9 * exp(4) + 3, TG_F64);
        ck_assert_double_eq(s.seen, cases[c].sees);
        assert_close(gradient_by(s.d, s.x, false, &d2), 44 * exp(4), TG_F64);
    }
}
END_TEST

/* What a hook got and what it returned. */
typedef struct caught {
    tg_tensor cotangent, returned;
} caught;

static tg_tensor catch_twice(tg_tensor cotangent, void *user)
{
    caught *c = user;
    *c = (caught){cotangent, tg_mul_scalar(cotangent, 2)};
    return c->returned;
}

/* Ten residual layers h + 3 h, with a hook in each that doubles the cotangent of 3 h: the cotangent of
 * the last but i is 7^i, and buffers of earlier ones are used again. */
START_TEST(what_hooks_saw_can_be_read_when_the_pass_is_over)
{
    enum { N = 64, LAYERS = 10 };
    static const double zeros[N];
    caught c[LAYERS];
    const tg_tensor x = tg_variable(tape, TG_F64, zeros, TG_SHAPE(N));
    tg_tensor h = x;
    for (int i = LAYERS - 1; i >= 0; i--) {
        const tg_tensor branch = tg_mul_scalar(h, 3);
        tg_add_hook(branch, catch_twice, &c[i]);
        h = tg_add(h, branch);
    }
    ck_assert_msg(tg_backward(tg_sum(h)), "%s", tg_tape_error(tape));
    for (int i = 0; i < LAYERS; i++)
        for (int k = 0; k < N; k++) {
            ck_assert_double_eq(tg_at(c[i].cotangent, k), pow(7, i));
            ck_assert_double_eq(tg_at(c[i].returned, k), 2 * pow(7, i));
        }
    for (int k = 0; k < N; k++)
        ck_assert_double_eq(tg_at(tg_gradient(x), k), pow(7, LAYERS));
}
END_TEST

static tg_tensor back_in_back(tg_tensor cotangent, void *user)
{
    scene *s = user;
    return tg_backward(tg_sum(s->a)) ? cotangent : (tg_tensor){0};
}

static tg_tensor around_itself(tg_tensor cotangent, void *user)
{
    scene *s = user;
    tg_tensor d;
    s->calls++;
    return tg_grad(&s->loss, 1, &s->x, 1, NULL, false, &d) ? cotangent : (tg_tensor){0};
}

/* These calls may succeed or fail with an error, but must not give a wrong number or run forever. */
START_TEST(tg_backward_in_a_hook_and_a_hook_that_meets_itself_work_or_are_errors)
{
    scene s;
    set_scene(&s, back_in_back);
    if (tg_backward(s.loss))
        assert_close(tg_item(tg_gradient(s.x)), 9 * exp(4) + 3 + 4, TG_F64);
    else
        expect_error("");
    tg_tape_reset(tape);
    set_scene(&s, around_itself);
    if (tg_backward(s.loss))
        assert_close(tg_item(tg_gradient(s.x)), 9 * exp(4) + 3, TG_F64);
    else
        expect_error("");
}
END_TEST

static tg_tensor fails(tg_tensor cotangent, void *user)
{
    (void)user;
    return tg_mul(cotangent, tg_full(tape, TG_F64, TG_SHAPE(3), 1)); /* [2] by [3] */
}

static tg_tensor counts(tg_tensor cotangent, void *user)
{
    ++*(int *)user;
    return cotangent;
}

static tg_tensor elsewhere(tg_tensor cotangent, void *user)
{
    (void)cotangent;
    return *(tg_tensor *)user;
}

START_TEST(a_hook_that_fails_or_returns_what_does_not_fit_is_an_error)
{
    tg_tape *other = tg_tape_new();
    tg_tensor foreign = tg_full(other, TG_F64, TG_SHAPE(2), 1), wide = tg_full(tape, TG_F64, TG_SHAPE(3), 1);
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){1, 2}, TG_SHAPE(2)), y = tg_square(x), z = tg_square(x),
              v = tg_square(x), d;
    int called = 0;
    tg_add_hook(y, fails, NULL);
    tg_add_hook(y, counts, &called);
    ck_assert(!tg_backward(tg_sum(y)));
    expect_error("mul(");
    ck_assert_int_eq(called, 0); /* the hook is not called without a cotangent */
    tg_add_hook(z, elsewhere, &foreign);
    ck_assert(!tg_backward(tg_sum(z)));
    expect_error("hook");
    tg_tensor sum = tg_sum(z);
    ck_assert(!tg_grad(&sum, 1, &x, 1, NULL, false, &d));
    expect_error("hook");
    tg_add_hook(v, elsewhere, &wide);
    ck_assert(!tg_backward(tg_sum(v)));
    expect_error("hook");
    tg_tape_free(other);
}
END_TEST

/* ---- state after a pass ---- */

START_TEST(no_pass_differentiates_what_was_computed_without_create_graph)
{
    tg_tensor x = variable(1), g;
    tg_tensor y = tg_mul(x, tg_square(x));
    ck_assert_double_eq(gradient_by(y, x, false, &g), 3);
    ck_assert(!tg_backward(tg_sum(tg_mul(tg_square(g), x)))); /* 9 x^5 */
    expect_error("create_graph");
    ck_assert_double_eq(gradient_by(y, x, true, &g), 3);
    ck_assert(tg_backward(tg_sum(tg_mul(tg_square(g), x))));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 45);
}
END_TEST

/* If no gradient flows through it, it is a constant. */
START_TEST(what_is_stopped_may_be_used)
{
    tg_tensor x = variable(2), g;
    gradient_by(cube(tape, &x, 1, NULL), x, false, &g); /* 12 */
    ck_assert(tg_backward(tg_sum(tg_mul(tg_stop_gradient(g), x))));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 12);
    tg_tensor d;
    ck_assert_double_eq(gradient_by(tg_square(g), g, false, &d), 24); /* with respect to it, not through it */
}
END_TEST

Suite *passes_suite(void)
{
    Suite *suite = suite_create("passes");
    TCase *tests = tcase_create("passes");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, every_derivative_goes_through_a_checkpoint);
    tcase_add_test(tests, the_jacobian_of_checkpoints_in_a_row_is_the_one_on_paper);
    tcase_add_test(tests, a_tensor_used_inside_a_checkpoint_and_beside_it_gets_both);
    tcase_add_test(tests, what_a_checkpoint_reaches_by_itself_has_its_gradient);
    tcase_add_test(tests, nested_checkpoints_lose_nothing);
    tcase_add_test(tests, parameters_inside_nested_checkpoints_have_all_of_their_gradient);
    tcase_add_test(tests, a_cotangent_that_was_recomputed_stays);
    tcase_add_test(tests, a_checkpointed_function_passes_the_gradient_check);
    tcase_add_test(tests, every_pass_through_a_checkpoint_drops_the_same);
    tcase_add_test(tests, a_hook_may_differentiate);
    tcase_add_test(tests, what_hooks_saw_can_be_read_when_the_pass_is_over);
    tcase_add_test(tests, tg_backward_in_a_hook_and_a_hook_that_meets_itself_work_or_are_errors);
    tcase_add_test(tests, a_hook_that_fails_or_returns_what_does_not_fit_is_an_error);
    tcase_add_test(tests, no_pass_differentiates_what_was_computed_without_create_graph);
    tcase_add_test(tests, what_is_stopped_may_be_used);
    suite_add_tcase(suite, tests);
    return suite;
}
