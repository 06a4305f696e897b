/* Units that respond to no input. */
#include "tests/support/tensors.h"

#include <string.h>

Suite *dead_units_suite(void);

static tg_mlp *another_net(tg_activation activation, tg_dtype dtype)
{
    return tg_mlp_new(
        NULL, &(tg_mlp_config){.inputs = 3, .hidden = {5, 4}, .outputs = 2, .activation = activation, .dtype = dtype});
}

/* A net of three hidden units with the pre-activations x - 100, x and x + 100. */
static tg_mlp *three_units(tg_activation activation)
{
    tg_mlp *net = tg_mlp_new(
        NULL,
        &(tg_mlp_config){
            .inputs = 1, .hidden = {3}, .outputs = 1, .activation = activation, .equal_width = true, .dtype = TG_F64});
    double *weight = tg_parameters_at(tg_mlp_parameters(net), 0)->data;
    double *bias = tg_parameters_at(tg_mlp_parameters(net), 1)->data;
    for (int unit = 0; unit < 3; unit++) {
        weight[unit] = 1;
        bias[unit] = 100 * (unit - 1);
    }
    return net;
}

static double dead_after(tg_dead_units *dead, const tg_mlp *net, const double *inputs, int64_t count)
{
    tg_mlp_trace trace;
    tg_mlp_forward_with(net, tg_constant(tape, TG_F64, inputs, TG_SHAPE(count, 1)), NULL, &trace);
    ck_assert_int_eq(trace.count, 1);
    assert_shape(trace.preactivation[0], TG_SHAPE(count, 3));
    ck_assert(tg_dead_units_see(dead, &trace));
    return tg_dead_units_fraction(dead);
}

START_TEST(a_unit_is_dead_when_it_reacts_to_nothing_seen)
{
    static const struct {
        tg_activation activation;
        double dead_third[2]; /* inputs around 0 first, then 200 as well */
    } cases[] = {
        {TG_RELU, {1, 0}},     {TG_GELU_EXACT, {1, 0}}, {TG_SILU, {1, 0}},  {TG_TANH, {2, 2}},
        {TG_BILINEAR, {0, 0}}, {TG_SWIGLU, {1, 0}},     {TG_GLU, {2, 2}},   {TG_LEAKY_RELU, {0, 0}},
        {TG_ELU, {1, 0}},      {TG_IDENTITY, {0, 0}},   {TG_REGLU, {1, 0}},
    };
    const double around_zero[] = {-0.5, 0.25, 1}, far[] = {200};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tg_tape_reset(tape); /* the parameters of the net before are gone */
        tg_mlp *net = three_units(cases[i].activation);
        tg_dead_units *dead = tg_dead_units_new(net);
        ck_assert_double_eq(tg_dead_units_fraction(dead), 0); /* without inputs, no unit counts as dead */
        ck_assert_double_eq(tg_dead_units_fraction_of(dead, 0), 0);
        ck_assert_double_eq(dead_after(dead, net, around_zero, 3), cases[i].dead_third[0] / 3);
        ck_assert_double_eq(tg_dead_units_fraction_of(dead, 0), cases[i].dead_third[0] / 3);
        ck_assert_double_eq(tg_dead_units_fraction_of(dead, 1), 0); /* no such layer */
        ck_assert_double_eq(dead_after(dead, net, far, 1), cases[i].dead_third[1] / 3);
        tg_dead_units_clear(dead);
        ck_assert_double_eq(dead_after(dead, net, around_zero, 3), cases[i].dead_third[0] / 3);
        tg_dead_units_free(dead);
        tg_mlp_free(net);
    }
}
END_TEST

START_TEST(dead_units_are_counted_inside_no_grad_too)
{
    tg_mlp *net = three_units(TG_RELU);
    tg_dead_units *dead = tg_dead_units_new(net);
    tg_no_grad_begin(tape);
    ck_assert_double_eq(dead_after(dead, net, &(double){0.5}, 1), 1. / 3);
    tg_no_grad_end(tape);
    tg_dead_units_free(dead);
    tg_mlp_free(net);
}
END_TEST

START_TEST(a_trace_of_another_net_is_refused)
{
    tg_mlp *net = another_net(TG_RELU, TG_F64), *other = three_units(TG_RELU);
    tg_dead_units *dead = tg_dead_units_new(net);
    tg_mlp_trace trace;
    ck_assert(tg_ok(tg_mlp_forward_with(other, drawn(TG_F64, TG_SHAPE(2, 1)), NULL, &trace)));
    ck_assert(!tg_dead_units_see(dead, &trace));
    trace = (tg_mlp_trace){.count = 2};
    ck_assert(!tg_dead_units_see(dead, &trace));
    tg_dead_units_free(dead);
    tg_mlp_free(net);

    dead = tg_dead_units_new(other);
    const int32_t integers[3] = {1, 2, 3};
    trace = (tg_mlp_trace){.count = 1, .preactivation = {tg_constant(tape, TG_I32, integers, TG_SHAPE(1, 3))}};
    ck_assert(!tg_dead_units_see(dead, &trace));
    expect_error("i32");
    ck_assert_double_eq(tg_dead_units_fraction_of(dead, 0), 0);
    tg_dead_units_free(dead);
    tg_mlp_free(other);
}
END_TEST

START_TEST(null_is_survived)
{
    ck_assert_ptr_null(tg_dead_units_new(NULL));
    tg_dead_units_free(NULL);
    tg_dead_units_clear(NULL);
    ck_assert(!tg_dead_units_see(NULL, NULL));
    ck_assert_double_eq(tg_dead_units_fraction(NULL), 0);
}
END_TEST

Suite *dead_units_suite(void)
{
    Suite *suite = suite_create("dead_units");
    TCase *tests = tcase_create("dead_units");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, a_unit_is_dead_when_it_reacts_to_nothing_seen);
    tcase_add_test(tests, dead_units_are_counted_inside_no_grad_too);
    tcase_add_test(tests, a_trace_of_another_net_is_refused);
    tcase_add_test(tests, null_is_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
