/* The multi-layer perceptron: shapes, widths, gradients. */
#include "tests/support/wrapped_memory.h"
#include "tests/support/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *mlp_suite(void);

static const tg_mlp_config small = {.inputs = 3, .hidden = {5, 4}, .outputs = 2, .dtype = TG_F64};

static tg_mlp *small_net(tg_activation activation, tg_dtype dtype)
{
    tg_rng rng = tg_rng_seed(2);
    tg_mlp_config config = small;
    config.activation = activation;
    config.dtype = dtype;
    tg_mlp *net = tg_mlp_new(&rng, &config);
    ck_assert_ptr_nonnull(net);
    return net;
}

START_TEST(parameters_have_the_names_and_shapes_of_the_ecosystem)
{
    static const struct {
        const char *name;
        tg_shape shape;
    } plain[] = {{"layers.0.weight", {2, {5, 3}}}, {"layers.0.bias", {1, {5}}},      {"layers.1.weight", {2, {4, 5}}},
                 {"layers.1.bias", {1, {4}}},      {"layers.2.weight", {2, {2, 4}}}, {"layers.2.bias", {1, {2}}}};
    tg_mlp *net = small_net(TG_RELU, TG_F32);
    for (int i = 0; i < 6; i++) {
        const tg_parameter *parameter = tg_parameters_at(tg_mlp_parameters(net), i);
        ck_assert_str_eq(parameter->name, plain[i].name);
        ck_assert(tg_shape_equal(&parameter->shape, &plain[i].shape));
    }
    ck_assert_int_eq(tg_parameters_count(tg_mlp_parameters(net)), 6);
    tg_mlp_free(net);
    net = small_net(TG_SWIGLU, TG_F32);
    ck_assert_str_eq(tg_parameters_at(tg_mlp_parameters(net), 0)->name, "layers.0.gate_proj.weight");
    ck_assert_str_eq(tg_parameters_at(tg_mlp_parameters(net), 3)->name, "layers.0.up_proj.bias");
    ck_assert_str_eq(tg_parameters_at(tg_mlp_parameters(net), 8)->name, "layers.2.weight");
    tg_mlp_free(net);
}
END_TEST

START_TEST(the_net_of_the_paper_has_217354_parameters)
{
    tg_mlp_config paper = {.inputs = 784, .hidden = {128, 128, 128, 128, 128, 128, 128, 128}, .outputs = 10};
    ck_assert_int_eq(tg_mlp_size(&paper, NULL), 217354);
    int64_t widths[TG_MLP_HIDDEN + 1];
    paper.activation = TG_SWIGLU;
    int64_t size = tg_mlp_size(&paper, widths);
    ck_assert_int_le(llabs(size - 217354), 250);
    for (int i = 0; i < 8; i++)
        ck_assert_int_le(llabs(widths[i] - widths[0]), 1);
    ck_assert_int_eq(widths[8], 0);
    paper.equal_width = true;
    ck_assert_int_eq(tg_mlp_size(&paper, widths), 2 * (785 * 128 + 7 * 129 * 128) + 129 * 10);
    ck_assert_int_eq(widths[0], 128);
}
END_TEST

START_TEST(a_gated_net_comes_close_to_the_size_of_the_plain_one)
{
    tg_rng rng = tg_rng_seed(4);
    for (int trial = 0; trial < 200; trial++) {
        tg_mlp_config config = {.inputs = 1 + (int64_t)tg_rng_below(&rng, 100),
                                .outputs = 1 + (int64_t)tg_rng_below(&rng, 10),
                                .no_bias = trial % 2};
        int64_t widest = 0, widths[TG_MLP_HIDDEN + 1];
        for (int i = 0; i <= trial % 5; i++) {
            config.hidden[i] = 8 + (int64_t)tg_rng_below(&rng, 200);
            widest = config.hidden[i] > widest ? config.hidden[i] : widest;
        }
        int64_t plain = tg_mlp_size(&config, NULL);
        config.activation = TG_GEGLU;
        int64_t gated = tg_mlp_size(&config, widths);
        /* The sizes may differ by half of the cheapest unit's parameters. No unit has more parameters than `unit`. */
        int64_t unit = 2 * (widest + config.inputs + 1) + 2 * widest + config.outputs;
        ck_assert_int_le(llabs(gated - plain), unit / 2 + 1);
        tg_mlp *net = trial < 10 ? tg_mlp_new(&rng, &config) : NULL;
        if (net) {
            ck_assert_int_eq(tg_parameters_size(tg_mlp_parameters(net)), gated);
            ck_assert_int_eq(tg_mlp_width(net, 0), widths[0]);
        }
        tg_mlp_free(net);
    }
}
END_TEST

/* The forward pass by hand, one row at a time. */
static void forward_by_hand(const tg_mlp *net, const double *x, double (*act)(double), double *out)
{
    double now[16], next[16];
    memcpy(now, x, 3 * sizeof *x);
    for (int layer = 0; layer < 3; layer++) {
        const tg_parameter *weight = tg_parameters_at(tg_mlp_parameters(net), 2 * layer);
        const double *w = weight->data, *b = tg_parameters_at(tg_mlp_parameters(net), 2 * layer + 1)->data;
        int64_t outputs = weight->shape.dim[0], inputs = weight->shape.dim[1];
        for (int64_t o = 0; o < outputs; o++) {
            double sum = b[o];
            for (int64_t i = 0; i < inputs; i++)
                sum += w[o * inputs + i] * now[i];
            next[o] = layer < 2 ? act(sum) : sum;
        }
        memcpy(now, next, sizeof now);
    }
    memcpy(out, now, 2 * sizeof *out);
}

START_TEST(forward_is_what_the_picture_says)
{
    tg_mlp *net = small_net(TG_TANH, TG_F64);
    double *bias = tg_parameters_find(tg_mlp_parameters(net), "layers.1.bias")->data;
    bias[2] = 0.75;
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 2, 3)), y = tg_mlp_forward(net, x);
    assert_shape(y, TG_SHAPE(2, 2, 2));
    for (int row = 0; row < 4; row++) {
        double out[2];
        forward_by_hand(net, tg_f64(x) + row * 3, tanh, out);
        assert_close(tg_at(y, row * 2), out[0], TG_F64);
        assert_close(tg_at(y, row * 2 + 1), out[1], TG_F64);
    }
    tg_mlp_free(net);
}
END_TEST

static double number(const tg_mlp *net, const char *name, int64_t index)
{
    return tg_parameter_get(tg_parameters_find(tg_mlp_parameters(net), name), index);
}

/* sum over i of x[i] W[unit, i] + b[unit] for NAME.weight and NAME.bias */
static double linear_by_hand(const tg_mlp *net, const char *name, const double *x, int inputs, int unit)
{
    char weight[64], bias[64];
    snprintf(weight, sizeof weight, "%s.weight", name);
    snprintf(bias, sizeof bias, "%s.bias", name);
    double sum = number(net, bias, unit);
    for (int i = 0; i < inputs; i++)
        sum += x[i] * number(net, weight, unit * inputs + i);
    return sum;
}

/* y = (silu(x W^T + b) (x V^T + c)) W2^T + d, without any other layer. */
START_TEST(a_gated_net_is_the_published_layer)
{
    tg_rng rng = tg_rng_seed(2);
    tg_mlp *net = tg_mlp_new(
        &rng,
        &(tg_mlp_config){
            .inputs = 3, .hidden = {5}, .outputs = 2, .activation = TG_SWIGLU, .equal_width = true, .dtype = TG_F64});
    for (int i = 0; i < tg_parameters_count(tg_mlp_parameters(net)); i++) {
        const tg_parameter *p = tg_parameters_at(tg_mlp_parameters(net), i);
        for (int64_t k = 0; p->shape.rank == 1 && k < p->shape.dim[0]; k++)
            ck_assert_double_eq(tg_parameter_get(p, k), strstr(p->name, "gate_proj") ? 1 : 0); /* gates start open */
    }
    tg_tensor x = drawn(TG_F64, TG_SHAPE(4, 3)), y = tg_mlp_forward(net, x);
    for (int row = 0; row < 4; row++) {
        const double *in = tg_f64(x) + 3 * row;
        double product[5];
        for (int unit = 0; unit < 5; unit++) {
            const double gate = linear_by_hand(net, "layers.0.gate_proj", in, 3, unit);
            product[unit] = gate / (1 + exp(-gate)) * linear_by_hand(net, "layers.0.up_proj", in, 3, unit);
        }
        for (int out = 0; out < 2; out++)
            assert_close(tg_at(y, 2 * row + out), linear_by_hand(net, "layers.1", product, 5, out), TG_F64);
    }
    tg_mlp_free(net);
}
END_TEST

/* With one hidden layer and the same weights, a transformer's feed-forward block gives the same numbers. */
START_TEST(a_net_and_a_feed_forward_block_agree)
{
    const tg_activation activation = (tg_activation)_i;
    tg_rng rng = tg_rng_seed(3);
    tg_mlp *net = tg_mlp_new(
        &rng,
        &(tg_mlp_config){
            .inputs = 4, .hidden = {6}, .outputs = 4, .activation = activation, .equal_width = true, .dtype = TG_F64});
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_feed_forward block = tg_feed_forward_add(set, "mlp", 4, 6, activation, true);
    ck_assert_int_eq(tg_parameters_count(set), tg_parameters_count(tg_mlp_parameters(net)));
    const size_t bytes = (size_t)tg_parameters_size(set) * sizeof(double);
    memcpy(tg_parameters_values(set), tg_parameters_values(tg_mlp_parameters(net)), bytes);
    tg_tensor x = drawn(TG_F64, TG_SHAPE(5, 4));
    ck_assert_mem_eq(tg_f64(tg_mlp_forward(net, x)), tg_f64(tg_feed_forward_forward(&block, x, NULL)),
                     20 * sizeof(double));
    tg_parameters_free(set);
    tg_mlp_free(net);
}
END_TEST

/* norm(act(x W^T + b)) W2^T + d, for plain and gated activations alike. */
START_TEST(a_normalisation_stands_behind_every_activation)
{
    static const tg_activation activations[] = {TG_RELU, TG_GELU_EXACT, TG_SWIGLU, TG_BILINEAR};
    const tg_norm kind = (tg_norm)_i;
    for (int a = 0; a < 4; a++) {
        tg_mlp_config config = {.inputs = 4, .hidden = {6}, .outputs = 3, .equal_width = true, .dtype = TG_F64};
        config.activation = activations[a];
        config.norm = kind;
        tg_mlp *net = tg_mlp_new(NULL, &config);
        tg_parameters *set = tg_mlp_parameters(net);
        const tg_norm_layer norm = {.kind = kind,
                                    .epsilon = kind == TG_NORM_RMS ? 1e-6 : 1e-5,
                                    .weight = tg_parameters_find(set, "layers.0.norm.weight"),
                                    .bias = tg_parameters_find(set, "layers.0.norm.bias"),
                                    .mean = tg_parameters_find(set, "layers.0.norm.running_mean"),
                                    .variance = tg_parameters_find(set, "layers.0.norm.running_var")};
        ck_assert_int_eq(norm.weight != NULL, kind != TG_NORM_NONE);
        ck_assert_int_eq(norm.mean != NULL, kind == TG_NORM_BATCH);
        int64_t trained = 0;
        for (int i = 0; i < tg_parameters_count(set); i++)
            trained += tg_parameters_at(set, i)->gradient ? tg_shape_size(&tg_parameters_at(set, i)->shape) : 0;
        ck_assert_int_eq(trained, tg_mlp_size(&config, NULL));
        for (int i = 0; norm.weight && i < 6; i++)
            tg_parameter_put(norm.weight, i, 1 + 0.1 * i);
        tg_mlp_trace trace;
        tg_tensor x = drawn(TG_F64, TG_SHAPE(5, 4)), y = tg_mlp_forward_with(net, x, NULL, &trace);
        tg_tensor h = trace.preactivation[0];
        const char *value = "layers.0.up_proj.weight";
        if (tg_activation_is_gated(config.activation)) /* biases are 0 */
            h = tg_activate_gated(config.activation, h,
                                  tg_linear(x, tg_parameter_tensor(tape, tg_parameters_find(set, value)), TG_NONE));
        else
            h = tg_activate(config.activation, h, NULL);
        tg_tensor out = tg_parameter_tensor(tape, tg_parameters_find(set, "layers.1.weight"));
        tg_tensor again = tg_linear(tg_norm_layer_forward(&norm, h, NULL), out, TG_NONE);
        for (int i = 0; i < 15; i++)
            assert_close(tg_at(y, i), tg_at(again, i), TG_F64);
        tg_tape_reset(tape); /* before what it reads is freed */
        tg_mlp_free(net);
    }
}
END_TEST

START_TEST(a_batch_norm_treats_all_leading_axes_as_the_batch)
{
    tg_rng rng = tg_rng_seed(1);
    tg_mlp_config config = {.inputs = 4, .hidden = {6}, .outputs = 3, .dtype = TG_F64, .norm = TG_NORM_BATCH};
    tg_mlp *net = tg_mlp_new(&rng, &config);
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 5, 4)), rows = tg_reshape(x, TG_SHAPE(10, 4));
    tg_tensor y = tg_mlp_forward_with(net, x, &rng, NULL), flat = tg_mlp_forward_with(net, rows, &rng, NULL);
    assert_shape(y, TG_SHAPE(2, 5, 3));
    ck_assert_mem_eq(tg_f64(y), tg_f64(flat), 30 * sizeof(double));
    ck_assert(!tg_ok(tg_mlp_forward_with(net, drawn(TG_F64, TG_SHAPE(1, 4)), &rng, NULL)));
    expect_error("one number for each channel has no variance");
    tg_mlp_free(net);
}
END_TEST

enum { ROWS = 6, INPUTS = 3 };

/* sum y^2 / 2 on a fixed batch, with gradients if asked for; NaN on failure. */
static double objective(const tg_mlp *net, bool differentiate)
{
    float single[ROWS * INPUTS];
    double twice[ROWS * INPUTS];
    for (int i = 0; i < ROWS * INPUTS; i++)
        twice[i] = single[i] = (float)sin(i + 1);
    tg_dtype dtype = tg_parameters_dtype(tg_mlp_parameters(net));
    tg_tape_reset(tape);
    tg_tensor x = tg_constant(tape, dtype, dtype == TG_F32 ? (void *)single : twice, TG_SHAPE(ROWS, INPUTS));
    tg_tensor loss = tg_mul_scalar(tg_sum(tg_square(tg_mlp_forward(net, x))), 0.5);
    return differentiate && !tg_backward(loss) ? NAN : tg_item(loss);
}

START_TEST(gradients_are_those_of_central_differences)
{
    tg_mlp *net = small_net((tg_activation)_i, TG_F64);
    tg_parameters *set = tg_mlp_parameters(net);
    double *values = tg_parameters_values(set);
    for (int64_t k = 0; k < tg_parameters_size(set);
         k++) /* a row with no active unit and no bias ends on the kink of relu */
        values[k] += 0.1 * sin((double)k);
    objective(net, true);
    const double *gradients = tg_parameters_gradients(set), h = 1e-5;
    for (int64_t k = 0; k < tg_parameters_size(set); k++) {
        double value = values[k];
        values[k] = value + h;
        double right = objective(net, false);
        values[k] = value - h;
        double left = objective(net, false);
        values[k] = value;
        ck_assert_double_eq_tol(gradients[k], (right - left) / (2 * h), 1e-7 * fmax(1, fabs(gradients[k])));
    }
    tg_mlp_free(net);
}
END_TEST

START_TEST(float_and_double_nets_agree)
{
    tg_mlp *single = small_net((tg_activation)_i, TG_F32), *twice = small_net((tg_activation)_i, TG_F64);
    ck_assert_double_eq_tol(objective(single, true), objective(twice, true), 1e-4);
    const float *a = tg_parameters_gradients(tg_mlp_parameters(single));
    const double *b = tg_parameters_gradients(tg_mlp_parameters(twice));
    for (int64_t k = 0; k < tg_parameters_size(tg_mlp_parameters(twice)); k++)
        ck_assert_double_eq_tol(a[k], b[k], 1e-4 * fmax(1, fabs(b[k])));
    tg_mlp_free(single);
    tg_mlp_free(twice);
}
END_TEST

START_TEST(nets_of_one_seed_start_with_the_same_weights_up_to_the_gain)
{
    tg_rng rng = tg_rng_seed(9);
    tg_mlp_config config = small;
    config.init = TG_INIT_VARIANCE_PRESERVING;
    config.activation = TG_RELU;
    tg_mlp *relu = tg_mlp_new(&rng, &config), *same = tg_mlp_new(&rng, &config);
    config.activation = TG_ELU;
    tg_mlp *elu = tg_mlp_new(&rng, &config);
    config.init = TG_INIT_HE_NORMAL;
    tg_mlp *elu_with_gain_of_relu = tg_mlp_new(&rng, &config);
    const tg_parameters *set = tg_mlp_parameters(relu);
    size_t bytes = (size_t)tg_parameters_size(set) * sizeof(double);
    ck_assert_mem_eq(tg_parameters_values(set), tg_parameters_values(tg_mlp_parameters(same)), bytes);
    ck_assert_mem_eq(tg_parameters_values(set), tg_parameters_values(tg_mlp_parameters(elu_with_gain_of_relu)), bytes);
    double ratio = tg_activation_gain(TG_ELU) / tg_activation_gain(TG_RELU);
    for (int64_t k = 0; k < tg_parameters_size(set); k++)
        ck_assert_double_eq_tol(((double *)tg_parameters_values(tg_mlp_parameters(elu)))[k],
                                ratio * ((double *)tg_parameters_values(set))[k], 1e-15);
    tg_mlp_free(relu);
    tg_mlp_free(same);
    tg_mlp_free(elu);
    tg_mlp_free(elu_with_gain_of_relu);
}
END_TEST

START_TEST(dropout_repeats_with_its_generator_and_is_absent_in_evaluation)
{
    tg_mlp_config config = {.inputs = 3, .hidden = {50}, .outputs = 1, .activation = TG_RELU, .dropout = 0.5};
    tg_rng rng = tg_rng_seed(6), once = rng, again = rng;
    tg_mlp *net = tg_mlp_new(&rng, &config);
    tg_tensor x = drawn(TG_F32, TG_SHAPE(4, 3));
    tg_tensor a = tg_mlp_forward_with(net, x, &once, NULL), b = tg_mlp_forward_with(net, x, &again, NULL);
    tg_tensor next = tg_mlp_forward_with(net, x, &once, NULL);
    tg_tensor still = tg_mlp_forward(net, x), same = tg_mlp_forward_with(net, x, NULL, NULL);
    ck_assert_mem_eq(tg_data(a), tg_data(b), 4 * sizeof(float));
    ck_assert_mem_eq(tg_data(still), tg_data(same), 4 * sizeof(float));
    ck_assert_float_ne(tg_f32(a)[0], tg_f32(next)[0]);
    ck_assert_float_ne(tg_f32(a)[0], tg_f32(still)[0]);
    tg_mlp_free(net);
}
END_TEST

START_TEST(an_error_names_the_layer)
{
    tg_mlp *net = small_net(TG_RELU, TG_F64);
    ck_assert(!tg_ok(tg_mlp_forward(net, drawn(TG_F64, TG_SHAPE(2, 4)))));
    expect_error("layers.0.weight f64[5, 3]");
    ck_assert(!tg_ok(tg_mlp_forward(NULL, drawn(TG_F64, TG_SHAPE(2, 4)))));
    expect_error("tg_mlp_new gave NULL");
    tg_mlp_free(net);
}
END_TEST

START_TEST(a_net_without_hidden_layers_is_linear)
{
    tg_mlp *net = tg_mlp_new(NULL, &(tg_mlp_config){.inputs = 2, .outputs = 3, .activation = TG_SWIGLU});
    ck_assert_int_eq(tg_parameters_size(tg_mlp_parameters(net)), 9);
    assert_shape(tg_mlp_forward(net, drawn(TG_F32, TG_SHAPE(5, 2))), TG_SHAPE(5, 3));
    tg_dead_units *dead = tg_dead_units_new(net);
    ck_assert_double_eq(tg_dead_units_fraction(dead), 0);
    tg_dead_units_free(dead);
    tg_mlp_free(net);
}
END_TEST

START_TEST(an_empty_batch_goes_through)
{
    tg_mlp *net = small_net(TG_GEGLU, TG_F64);
    tg_tensor y = tg_mlp_forward(net, tg_constant(tape, TG_F64, NULL, TG_SHAPE(0, 3)));
    assert_shape(y, TG_SHAPE(0, 2));
    ck_assert(tg_backward(tg_sum(y)));
    ck_assert_double_eq(tg_parameters_gradient_norm(tg_mlp_parameters(net)), 0);
    tg_mlp_free(net);
}
END_TEST

START_TEST(after_the_third_step_a_step_allocates_nothing)
{
    tg_mlp *net = small_net(TG_GELU_EXACT, TG_F64);
    tg_optimizer *adamw = tg_optimizer_new(tg_mlp_parameters(net), NULL);
    for (int step = 0; step < 6; step++) {
        if (step > 2) /* the third moves it into planned memory */
            wrapped_memory_fail_after(0);
        bool fine = isfinite(objective(net, true)) && tg_optimizer_step(adamw), allocated = wrapped_memory_stop();
        ck_assert(fine && !allocated);
    }
    tg_optimizer_free(adamw);
    tg_mlp_free(net);
}
END_TEST

Suite *mlp_suite(void)
{
    Suite *suite = suite_create("mlp");
    TCase *tests = tcase_create("mlp");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, parameters_have_the_names_and_shapes_of_the_ecosystem);
    tcase_add_test(tests, the_net_of_the_paper_has_217354_parameters);
    tcase_add_test(tests, a_gated_net_comes_close_to_the_size_of_the_plain_one);
    tcase_add_test(tests, forward_is_what_the_picture_says);
    tcase_add_test(tests, a_gated_net_is_the_published_layer);
    tcase_add_loop_test(tests, a_net_and_a_feed_forward_block_agree, 0, TG_SWIGLU + 1);
    tcase_add_loop_test(tests, a_normalisation_stands_behind_every_activation, 0, TG_NORM_BATCH + 1);
    tcase_add_test(tests, a_batch_norm_treats_all_leading_axes_as_the_batch);
    tcase_add_loop_test(tests, gradients_are_those_of_central_differences, 0, TG_SWIGLU + 1);
    tcase_add_loop_test(tests, float_and_double_nets_agree, 0, TG_SWIGLU + 1);
    tcase_add_test(tests, nets_of_one_seed_start_with_the_same_weights_up_to_the_gain);
    tcase_add_test(tests, dropout_repeats_with_its_generator_and_is_absent_in_evaluation);
    tcase_add_test(tests, an_error_names_the_layer);
    tcase_add_test(tests, a_net_without_hidden_layers_is_linear);
    tcase_add_test(tests, an_empty_batch_goes_through);
    tcase_add_test(tests, after_the_third_step_a_step_allocates_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
