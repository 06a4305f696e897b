/* Linear layers, and activations by name. */
#include "tests/support/tensors.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *nn_suite(void);

/* ---- activations ---- */

START_TEST(names_lead_to_activations_and_back)
{
    int count = 0;
    for (; tg_activation_name((tg_activation)count); count++) {
        tg_activation found = (tg_activation)-1;
        ck_assert(tg_activation_from_name(tg_activation_name((tg_activation)count), &found));
        ck_assert_int_eq((int)found, count);
        ck_assert_ptr_null(tg_activation_name_error(tg_activation_name((tg_activation)count)));
    }
    ck_assert_int_eq(count, TG_REGLU_SQUARED + 1);
    ck_assert_ptr_null(tg_activation_name((tg_activation)INT_MIN)); /* and nothing overflows, says a sanitizer */
    ck_assert_ptr_null(tg_activation_name((tg_activation)INT_MAX));
}
END_TEST

START_TEST(a_bare_gelu_is_refused_with_the_choices)
{
    tg_activation activation = TG_RELU;
    ck_assert(!tg_activation_from_name("gelu", &activation));
    ck_assert_int_eq(activation, TG_RELU);
    const char *error = tg_activation_name_error("gelu");
    ck_assert_ptr_nonnull(strstr(error, "gelu_exact"));
    ck_assert_ptr_nonnull(strstr(error, "gelu_tanh"));
    ck_assert_ptr_nonnull(strstr(error, "gelu_quick"));
}
END_TEST

START_TEST(an_unknown_name_is_answered_with_all_names)
{
    const char *error = tg_activation_name_error("gleu");
    for (int i = 0; tg_activation_name((tg_activation)i); i++)
        ck_assert_ptr_nonnull(strstr(error, tg_activation_name((tg_activation)i)));
    ck_assert_ptr_nonnull(tg_activation_name_error(NULL));
}
END_TEST

/* E f(z)^2 by the trapezoidal rule, which converges faster than any power for an integrand that decays. */
static double second_moment(tg_activation activation)
{
    enum { POINTS = 24001 };
    double *points = malloc(POINTS * sizeof *points), step = 24. / (POINTS - 1), moment = 0;
    for (int i = 0; i < POINTS; i++)
        points[i] = -12 + step * i;
    tg_tensor z = tg_constant(tape, TG_F64, points, TG_SHAPE(POINTS));
    const double *f = tg_f64(tg_activate(activation, z, NULL));
    for (int i = 0; i < POINTS; i++)
        moment += step * f[i] * f[i] * exp(-points[i] * points[i] / 2) / sqrt(2 * acos(-1));
    free(points);
    return moment;
}

START_TEST(gains_bring_the_second_moment_back_to_one)
{
    tg_activation activation = (tg_activation)_i;
    double gain = tg_activation_gain(activation);
    double tolerance = 1e-7; /* of the rule at a kink; the smooth ones are exact */
    if (tg_activation_is_gated(activation))
        ck_assert_double_eq(gain, 1);
    else if (activation != TG_STOCHASTIC_GELU)
        ck_assert_double_eq_tol(gain * gain * second_moment(activation), 1, tolerance);
}
END_TEST

START_TEST(gains_are_those_of_the_table)
{
    ck_assert_double_eq_tol(tg_activation_gain(TG_GELU_EXACT), 1.533530441196, 1e-12);
    ck_assert_double_eq_tol(tg_activation_gain(TG_GELU_TANH), 1.533580521666, 1e-12);
    ck_assert_double_eq_tol(tg_activation_gain(TG_GELU_QUICK), 1.539458762299, 1e-12);
    ck_assert_double_eq_tol(tg_activation_gain(TG_SILU), 1.676532470331, 1e-12);
    ck_assert_double_eq_tol(tg_activation_gain(TG_RELU), 1.414213562373, 1e-12);
    ck_assert_double_eq_tol(tg_activation_gain(TG_ELU), 1.245198300701, 1e-12);
}
END_TEST

START_TEST(slopes_are_derivatives)
{
    tg_activation activation = (tg_activation)_i, of_gate = activation;
    static const tg_activation inner[] = {TG_SIGMOID, TG_IDENTITY, TG_RELU, TG_GELU_EXACT, TG_SILU};
    if (tg_activation_is_gated(activation))
        of_gate = inner[activation - TG_GLU];
    const double h = 1e-5;
    tg_tensor x = drawn(TG_F64, TG_SHAPE(5, 7));
    tg_tensor slope = tg_activation_derivative(activation, x);
    tg_tensor right = tg_activate(of_gate, tg_add_scalar(x, h), NULL),
              left = tg_activate(of_gate, tg_add_scalar(x, -h), NULL);
    for (int i = 0; i < 35; i++)
        ck_assert_double_eq_tol(tg_at(slope, i), (tg_at(right, i) - tg_at(left, i)) / (2 * h), 1e-9);
}
END_TEST

START_TEST(the_stochastic_gelu_drops_in_training_and_is_exact_in_evaluation)
{
    enum { N = 10000 };
    tg_rng rng = tg_rng_seed(5);
    tg_tensor x = tg_full(tape, TG_F64, TG_SHAPE(N), 0.5), y = tg_activate(TG_STOCHASTIC_GELU, x, &rng);
    int kept = 0;
    for (int i = 0; i < N; i++) {
        ck_assert(tg_at(y, i) == 0 || tg_at(y, i) == 0.5);
        kept += tg_at(y, i) != 0;
    }
    double p = 0.6914624612740131; /* Phi(1/2) */
    ck_assert_double_eq_tol(kept / (double)N, p, 5 * sqrt(p * (1 - p) / N));
    ck_assert_double_eq_tol(tg_at(tg_activate(TG_STOCHASTIC_GELU, x, NULL), 0), 0.5 * p, 1e-15);
}
END_TEST

START_TEST(plain_and_gated_are_not_mixed_up)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(3));
    ck_assert(!tg_ok(tg_activate(TG_SWIGLU, x, NULL)));
    expect_error("swiglu is not an activation of one tensor; tg_activate_gated takes");
    ck_assert(!tg_ok(tg_activate_gated(TG_SILU, x, x)));
    expect_error("silu is not a gated activation");
    ck_assert(!tg_ok(tg_activate((tg_activation)99, x, NULL)));
    expect_error("a number out of range");
}
END_TEST

/* ---- layers ---- */

/* sum over i of a[row, i] weight[column, i], + bias[column] */
static double by_hand(tg_tensor x, int64_t row, const tg_linear_layer *layer, int64_t column)
{
    const double *weight = layer->weight->data, *bias = layer->bias ? layer->bias->data : NULL;
    int64_t inputs = layer->weight->shape.dim[1];
    double sum = bias ? bias[column] : 0;
    for (int64_t i = 0; i < inputs; i++)
        sum += tg_at(x, row * inputs + i) * weight[column * inputs + i];
    return sum;
}

static void fill(tg_parameters *set)
{
    double *values = tg_parameters_values(set);
    for (int64_t i = 0; i < tg_parameters_size(set); i++)
        values[i] = sin((double)i);
}

START_TEST(a_linear_layer_is_its_formula)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_linear_layer layer = tg_linear_layer_add(set, "in", 5, 4, true);
    tg_linear_layer bare = tg_linear_layer_add(set, "out", 4, 3, false);
    ck_assert_ptr_eq(tg_parameters_find(set, "in.weight"), layer.weight);
    ck_assert_ptr_eq(tg_parameters_find(set, "in.bias"), layer.bias);
    ck_assert_ptr_null(tg_parameters_find(set, "out.bias"));
    ck_assert(layer.weight->decay && !layer.bias->decay);
    fill(set);
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 5));
    tg_tensor h = tg_linear_layer_forward(&layer, x), y = tg_linear_layer_forward(&bare, h);
    assert_shape(y, TG_SHAPE(2, 3, 3));
    for (int64_t row = 0; row < 6; row++) {
        for (int64_t column = 0; column < 4; column++)
            assert_close(tg_at(h, row * 4 + column), by_hand(x, row, &layer, column), TG_F64);
        for (int64_t column = 0; column < 3; column++)
            assert_close(tg_at(y, row * 3 + column), by_hand(h, row, &bare, column), TG_F64);
    }
    tg_parameters_free(set);
}
END_TEST

START_TEST(a_parameter_shared_by_two_layers_gets_the_sum_of_both_gradients)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_linear_layer once = tg_linear_layer_add(set, "shared", 1, 1, true), again = once;
    double *values = tg_parameters_values(set), w = 3, b = 2, x = 5;
    values[0] = w;
    values[1] = b;
    tg_tensor y =
        tg_linear_layer_forward(&again, tg_linear_layer_forward(&once, tg_full(tape, TG_F64, TG_SHAPE(1, 1), x)));
    ck_assert(tg_backward(y)); /* w (w x + b) + b */
    const double *gradients = tg_parameters_gradients(set);
    ck_assert_double_eq(gradients[0], 2 * w * x + b);
    ck_assert_double_eq(gradients[1], w + 1);
    tg_parameters_free(set);
}
END_TEST

START_TEST(a_gated_block_is_its_formula_under_the_names_of_the_field)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_feed_forward block = tg_feed_forward_add(set, "mlp", 4, 6, TG_SWIGLU, true);
    ck_assert_ptr_eq(tg_parameters_find(set, "mlp.gate_proj.weight"), block.hidden.linear.weight);
    ck_assert_ptr_eq(tg_parameters_find(set, "mlp.up_proj.bias"), block.hidden.value.bias);
    ck_assert_ptr_eq(tg_parameters_find(set, "mlp.down_proj.weight"), block.out.weight);
    ck_assert_int_eq(tg_parameters_count(set), 6);
    fill(set);
    tg_tensor x = drawn(TG_F64, TG_SHAPE(3, 4)), y = tg_feed_forward_forward(&block, x, NULL);
    double products[18];
    for (int row = 0; row < 3; row++)
        for (int unit = 0; unit < 6; unit++) {
            double gate = by_hand(x, row, &block.hidden.linear, unit);
            products[row * 6 + unit] = gate / (1 + exp(-gate)) * by_hand(x, row, &block.hidden.value, unit);
        }
    tg_tensor h = tg_constant(tape, TG_F64, products, TG_SHAPE(3, 6));
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++)
            assert_close(tg_at(y, row * 4 + column), by_hand(h, row, &block.out, column), TG_F64);
    tg_parameters_free(set);
}
END_TEST

START_TEST(maxout_is_the_largest_of_its_pieces)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    const tg_maxout layer = tg_maxout_add(set, "maxout", 4, 5, 3);
    const tg_rng rng = tg_rng_seed(3);
    ck_assert(tg_parameters_initialize(set, TG_INIT_HE_NORMAL, 0, &rng));
    for (int i = 0; i < 15; i++)
        tg_parameter_put(layer.linear.bias, i, 0.1 * i - 0.7);
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 4)), y = tg_maxout_forward(&layer, x);
    assert_shape(y, TG_SHAPE(2, 3, 5));
    for (int row = 0; row < 6; row++)
        for (int unit = 0; unit < 5; unit++) {
            double largest = -INFINITY;
            for (int piece = 0; piece < 3; piece++)
                largest = fmax(largest, by_hand(x, row, &layer.linear, unit * 3 + piece));
            assert_close(tg_at(y, row * 5 + unit), largest, TG_F64);
        }
    ck_assert(!tg_ok(tg_maxout_forward(NULL, x)));
    expect_error("the layer has no weight");
    const tg_maxout none = tg_maxout_add(set, "none", 4, 5, 0);
    ck_assert(!none.linear.weight && tg_parameters_error(set));
    tg_parameters_free(set);
}
END_TEST

/* Each function in plain C, with a different weight for each of three channels. */
static double learned_by_hand(tg_learned_function function, double x, double w)
{
    return function == TG_LEARNED_PRELU   ? (x > 0 ? x : w * x)
           : function == TG_LEARNED_SWISH ? x / (1 + exp(-w * x))
                                          : x + pow(sin(exp(w) * x), 2) / exp(w);
}

START_TEST(learned_activations_are_their_formulas_along_the_channels)
{
    static const double initial[] = {0.25, 1, 0};
    for (int f = 0; tg_learned_name((tg_learned_function)f); f++)
        for (int dtype = 0; dtype < 2; dtype++) {
            const tg_dtype type = dtype ? TG_F64 : TG_F32;
            tg_parameters *set = tg_parameters_new(type);
            const tg_learned each = tg_learned_add(set, "each", (tg_learned_function)f, 3),
                             one = tg_learned_add(set, "one", (tg_learned_function)f, 1);
            ck_assert(tg_parameters_initialize(set, TG_INIT_HE_NORMAL, 0, NULL));
            ck_assert_double_eq(tg_parameter_get(each.weight, 2), initial[f]);
            ck_assert_double_eq(tg_parameter_get(one.weight, 0), initial[f]);
            ck_assert(!each.weight->decay);
            for (int i = 0; i < 3; i++)
                tg_parameter_put(each.weight, i, 0.5 * i - 0.25);
            tg_tensor rows = drawn(type, TG_SHAPE(4, 5, 3)), images = drawn(type, TG_SHAPE(2, 3, 4, 5));
            tg_tensor of_rows = tg_learned_forward(&each, rows), of_images = tg_learned_forward(&each, images),
                      of_one = tg_learned_forward(&one, images);
            assert_shape(of_rows, TG_SHAPE(4, 5, 3));
            assert_shape(of_images, TG_SHAPE(2, 3, 4, 5));
            for (int i = 0; i < 60; i++)
                assert_close(tg_at(of_rows, i), learned_by_hand(each.function, tg_at(rows, i), 0.5 * (i % 3) - 0.25),
                             type);
            for (int i = 0; i < 120; i++) {
                assert_close(tg_at(of_images, i),
                             learned_by_hand(each.function, tg_at(images, i), 0.5 * (i / 20 % 3) - 0.25), type);
                assert_close(tg_at(of_one, i), learned_by_hand(one.function, tg_at(images, i), initial[f]), type);
            }
            tg_tape_reset(tape); /* before what it reads is freed */
            tg_parameters_free(set);
        }
}
END_TEST

/* PyTorch 2.15, float64, of the sum of outputs: PReLU at -2, -0, 0, 3 with slopes of 0.25 has the derivatives 0.25,
 * 0.25, 0.25, 1 by x and -2, 0, 0, 0 by the slopes. */
START_TEST(the_kink_of_prelu_is_that_of_pytorch)
{
    static const double by_x[] = {0.25, 0.25, 0.25, 1}, by_slope[] = {-2, 0, 0, 0};
    tg_parameters *set = tg_parameters_new(TG_F64);
    const tg_learned prelu = tg_learned_add(set, "prelu", TG_LEARNED_PRELU, 4);
    tg_tensor x = tg_variable(tape, TG_F64, (const double[]){-2, -0., 0, 3}, TG_SHAPE(1, 4));
    ck_assert(tg_backward(tg_sum(tg_learned_forward(&prelu, x))));
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq(tg_at(tg_gradient(x), i), by_x[i]);
        ck_assert_double_eq(((const double *)prelu.weight->gradient)[i], by_slope[i]);
    }
    tg_parameters_free(set);
}
END_TEST

START_TEST(learned_activations_refuse_what_they_cannot_do)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    const tg_learned prelu = tg_learned_add(set, "prelu", TG_LEARNED_PRELU, 3);
    ck_assert(!tg_ok(tg_learned_forward(NULL, drawn(TG_F64, TG_SHAPE(2, 3)))));
    expect_error("the layer has no weight");
    ck_assert(!tg_ok(tg_learned_forward(&prelu, drawn(TG_F64, TG_SHAPE(2, 1))))); /* which would expand to 3 */
    expect_error("prelu has 3 channels, x has others");
    ck_assert_ptr_null(tg_learned_name((tg_learned_function)3));
    ck_assert(!tg_learned_add(set, "none", (tg_learned_function)3, 1).weight && tg_parameters_error(set));
    tg_parameters_free(set);
}
END_TEST

START_TEST(a_plain_block_is_two_layers)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_feed_forward block = tg_feed_forward_add(set, "mlp", 4, 6, TG_TANH, false);
    ck_assert_ptr_eq(tg_parameters_find(set, "mlp.fc1.weight"), block.hidden.linear.weight);
    ck_assert_ptr_eq(tg_parameters_find(set, "mlp.fc2.weight"), block.out.weight);
    ck_assert_int_eq(tg_parameters_count(set), 2);
    ck_assert(tg_parameters_initialize(set, TG_INIT_UNIT_ROWS, 0, NULL));
    tg_tensor x = drawn(TG_F64, TG_SHAPE(4)), y = tg_feed_forward_forward(&block, x, NULL);
    double hidden[6];
    for (int unit = 0; unit < 6; unit++)
        hidden[unit] = tanh(by_hand(x, 0, &block.hidden.linear, unit));
    tg_tensor h = tg_constant(tape, TG_F64, hidden, TG_SHAPE(6));
    for (int column = 0; column < 4; column++)
        assert_close(tg_at(y, column), by_hand(h, 0, &block.out, column), TG_F64);
    tg_parameters_free(set);
}
END_TEST

START_TEST(a_gated_block_of_two_thirds_the_width_has_the_parameters_of_a_plain_one)
{
    ck_assert_int_eq(tg_gated_width(3072), 2048);
    ck_assert_int_eq(tg_gated_width(128), 85);
    ck_assert_int_eq(tg_gated_width(1), 1);
    ck_assert_int_eq(tg_gated_width(0), 0);
    ck_assert_int_eq(tg_gated_width(-5), 0);
    tg_parameters *plain = tg_parameters_new(TG_F32), *gated = tg_parameters_new(TG_F32);
    tg_feed_forward_add(plain, "mlp", 64, 192, TG_GELU_EXACT, false);
    tg_feed_forward_add(gated, "mlp", 64, tg_gated_width(192), TG_GEGLU, false);
    ck_assert_int_eq(tg_parameters_size(plain), tg_parameters_size(gated));
    tg_parameters_free(plain);
    tg_parameters_free(gated);
}
END_TEST

START_TEST(dropout_is_for_training_only)
{
    enum { N = 10000 };
    tg_rng rng = tg_rng_seed(8);
    tg_tensor x = tg_full(tape, TG_F32, TG_SHAPE(N), 3), y = tg_dropout_forward(x, 0.25, &rng);
    ck_assert_ptr_eq(tg_dropout_forward(x, 0.25, NULL).value, x.value);
    ck_assert_ptr_eq(tg_dropout_forward(x, 0, &rng).value, x.value);
    int dropped = 0;
    for (int i = 0; i < N; i++) {
        ck_assert(tg_at(y, i) == 0 || fabs(tg_at(y, i) - 4) < 1e-6);
        dropped += tg_at(y, i) == 0;
    }
    ck_assert_double_eq_tol(dropped / (double)N, 0.25, 5 * sqrt(0.25 * 0.75 / N));
}
END_TEST

START_TEST(null_and_inert_arguments_are_survived)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3)), none = TG_NONE;
    ck_assert(!tg_ok(tg_linear_layer_forward(NULL, x)));
    expect_error("the layer has no weight");
    ck_assert(!tg_ok(tg_hidden_layer_forward(NULL, x, NULL, NULL)));
    expect_error("the layer has no weight");
    ck_assert(!tg_ok(tg_feed_forward_forward(NULL, x, NULL)));
    expect_error("the layer has no weight");
    tg_linear_layer nowhere = tg_linear_layer_add(NULL, NULL, 2, 3, true);
    ck_assert_ptr_null(nowhere.weight);
    tg_hidden_layer hidden = tg_hidden_layer_add(NULL, "h", 2, 3, TG_GLU, true);
    ck_assert(!hidden.linear.weight && !hidden.value.weight);
    tg_feed_forward block = tg_feed_forward_add(NULL, NULL, 2, 3, (tg_activation)99, true);
    ck_assert(!block.hidden.linear.weight && !block.out.weight);
    tg_rng rng = tg_rng_seed(1);
    ck_assert(!tg_ok(tg_activate(TG_RELU, none, NULL)));
    ck_assert(!tg_ok(tg_activate(TG_STOCHASTIC_GELU, none, &rng)));
    ck_assert(!tg_ok(tg_activate_gated(TG_GLU, none, none)));
    ck_assert(!tg_ok(tg_activation_derivative(TG_RELU, none)));
    ck_assert(!tg_ok(tg_dropout_forward(none, 0.5, &rng)));
    ck_assert_double_eq(tg_activation_gain((tg_activation)-1), 1);
    ck_assert(!tg_activation_is_gated((tg_activation)-1));
}
END_TEST

START_TEST(a_name_that_is_too_long_is_refused_by_the_set)
{
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    tg_parameters *set = tg_parameters_new(TG_F32);
    tg_feed_forward_add(set, name, 2, 3, TG_GLU, true);
    ck_assert_ptr_nonnull(strstr(tg_parameters_error(set), "fewer than 200 characters"));
    ck_assert_int_eq(tg_parameters_count(set), 0);
    tg_parameters_free(set);
}
END_TEST

Suite *nn_suite(void)
{
    Suite *suite = suite_create("nn");
    TCase *tests = tcase_create("nn");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, names_lead_to_activations_and_back);
    tcase_add_test(tests, a_bare_gelu_is_refused_with_the_choices);
    tcase_add_test(tests, an_unknown_name_is_answered_with_all_names);
    tcase_add_loop_test(tests, gains_bring_the_second_moment_back_to_one, 0, TG_SWIGLU + 1);
    tcase_add_test(tests, gains_are_those_of_the_table);
    tcase_add_loop_test(tests, slopes_are_derivatives, 0, TG_SWIGLU + 1);
    tcase_add_test(tests, the_stochastic_gelu_drops_in_training_and_is_exact_in_evaluation);
    tcase_add_test(tests, plain_and_gated_are_not_mixed_up);
    tcase_add_test(tests, a_linear_layer_is_its_formula);
    tcase_add_test(tests, a_parameter_shared_by_two_layers_gets_the_sum_of_both_gradients);
    tcase_add_test(tests, a_gated_block_is_its_formula_under_the_names_of_the_field);
    tcase_add_test(tests, maxout_is_the_largest_of_its_pieces);
    tcase_add_test(tests, learned_activations_are_their_formulas_along_the_channels);
    tcase_add_test(tests, the_kink_of_prelu_is_that_of_pytorch);
    tcase_add_test(tests, learned_activations_refuse_what_they_cannot_do);
    tcase_add_test(tests, a_plain_block_is_two_layers);
    tcase_add_test(tests, a_gated_block_of_two_thirds_the_width_has_the_parameters_of_a_plain_one);
    tcase_add_test(tests, dropout_is_for_training_only);
    tcase_add_test(tests, null_and_inert_arguments_are_survived);
    tcase_add_test(tests, a_name_that_is_too_long_is_refused_by_the_set);
    suite_add_tcase(suite, tests);
    return suite;
}
