/* Invalid arguments that a multi-layer perceptron refuses, and errors that it survives. */
#include "tests/support/wrapped_memory.h"
#include "tests/support/tensors.h"

#include <math.h>
#include <string.h>

Suite *mlp_refusals_suite(void);

START_TEST(wrong_configurations_are_refused_with_the_reason)
{
    static const struct {
        tg_mlp_config config;
        const char *reason;
    } wrong[] = {
        {{.outputs = 1}, "inputs"},
        {{.inputs = 1}, "outputs"},
        {{.inputs = 1, .outputs = (int64_t)1 << 40}, "outputs"},
        {{.inputs = 1, .outputs = 1, .hidden = {4, -1}}, "width"},
        {{.inputs = 1, .outputs = 1, .activation = (tg_activation)99}, "activation"},
        {{.inputs = 1, .outputs = 1, .dropout = 1}, "dropout"},
        {{.inputs = 1, .outputs = 1, .dropout = NAN}, "dropout"},
        {{.inputs = 1, .outputs = 1, .init = (tg_init)99}, "initialiser"},
        {{.inputs = 1, .outputs = 1, .scale = INFINITY}, "scale"},
        {{.inputs = 1, .outputs = 1, .scale = -1}, "scale"},
        {{.inputs = 1, .outputs = 1, .norm = (tg_norm)99}, "normalisation"},
        {{.inputs = 1, .outputs = 1, .dtype = TG_I32}, "f32 or f64"},
        {{.inputs = 1, .outputs = 1, .hidden = {4, 6}, .groups = 4}, "groups"},
        {{.inputs = 1, .outputs = 1, .hidden = {4, 4}, .groups = -1}, "groups"},
        {{.inputs = 1, .outputs = 1, .hidden = {4, 4}, .groups = 2, .activation = TG_GLU}, "equal_width"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *error = tg_mlp_config_error(&wrong[i].config);
        ck_assert_msg(error && strstr(error, wrong[i].reason), "%s: %s", wrong[i].reason, error ? error : "accepted");
        ck_assert_ptr_null(tg_mlp_new(NULL, &wrong[i].config));
        ck_assert_int_eq(tg_mlp_size(&wrong[i].config, NULL), -1);
    }
    tg_mlp_config endless = {.inputs = 1, .outputs = 1};
    for (int i = 0; i <= TG_MLP_HIDDEN; i++)
        endless.hidden[i] = 1;
    ck_assert_ptr_nonnull(strstr(tg_mlp_config_error(&endless), "64 hidden layers"));
    endless.hidden[TG_MLP_HIDDEN] = 0;
    ck_assert_ptr_null(tg_mlp_config_error(&endless));
}
END_TEST

START_TEST(a_size_beyond_a_whole_number_of_64_bits_is_none)
{
    tg_mlp_config huge = {.inputs = 1 << 30, .outputs = 1 << 30, .hidden = {1 << 30, 1 << 30}, .norm = TG_NORM_LAYER};
    int64_t widths[TG_MLP_HIDDEN + 1] = {-7};
    ck_assert_int_eq(tg_mlp_size(&huge, widths), 3LL * ((1LL << 60) + (1LL << 30)) + 4 * (1LL << 30));
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 10; i++)
            huge.hidden[i] = 1 << 30;
        huge.activation = k ? TG_GEGLU : TG_RELU;
        huge.equal_width = k == 2;
        widths[0] = -7;
        ck_assert_int_eq(tg_mlp_size(&huge, widths), -1);
        ck_assert_int_eq(widths[0], -7);
    }
}
END_TEST

START_TEST(too_little_memory_gives_null)
{
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        tg_mlp *net = tg_mlp_new(
            NULL,
            &(tg_mlp_config){
                .inputs = 20, .hidden = {20, 20}, .outputs = 3, .activation = TG_SWIGLU, .init = TG_INIT_ORTHOGONAL});
        tg_dead_units *dead = tg_dead_units_new(net);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(reached, !net || !dead);
        tg_dead_units_free(dead);
        tg_mlp_free(net);
        ck_assert_int_lt(nth, 50);
    }
}
END_TEST

START_TEST(null_is_survived)
{
    ck_assert_ptr_null(tg_mlp_new(NULL, NULL));
    ck_assert_int_eq(tg_mlp_size(NULL, NULL), -1);
    tg_mlp_free(NULL);
    ck_assert_ptr_null(tg_mlp_parameters(NULL));
    ck_assert_int_eq(tg_mlp_hidden_count(NULL), 0);
    ck_assert_int_eq(tg_mlp_width(NULL, 0), 0);
    ck_assert_int_eq(tg_mlp_activation(NULL), TG_GELU_EXACT);
    tg_mlp_trace trace;
    ck_assert(!tg_ok(tg_mlp_forward_with(NULL, TG_NONE, NULL, &trace)));
    ck_assert_int_eq(trace.count, 0);
    tg_mlp *net = tg_mlp_new(NULL, &(tg_mlp_config){.inputs = 3, .hidden = {5, 4}, .outputs = 2});
    ck_assert(!tg_ok(tg_mlp_forward(net, TG_NONE)));
    ck_assert_int_eq(tg_mlp_width(net, -1), 0);
    ck_assert_int_eq(tg_mlp_width(net, 2), 0);
    tg_mlp_free(net);
}
END_TEST

Suite *mlp_refusals_suite(void)
{
    Suite *suite = suite_create("mlp_refusals");
    TCase *tests = tcase_create("mlp_refusals");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, wrong_configurations_are_refused_with_the_reason);
    tcase_add_test(tests, a_size_beyond_a_whole_number_of_64_bits_is_none);
    tcase_add_test(tests, too_little_memory_gives_null);
    tcase_add_test(tests, null_is_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
