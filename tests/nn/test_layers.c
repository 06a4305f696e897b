/* Every layer against PyTorch: outputs, gradients of the input and of all parameters, from the files of
 * tests/golden/make_layers.py. */
#include "tests/support/pytorch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *layers_suite(void);

/* A layer under test. It is built in `set`, whose parameters come from the file, and run on x. */
typedef struct setting {
    tg_parameters *set;
    pytorch file;
    tg_tensor x;
    tg_rng *training;
} setting;

/* Adds the layer's parameters if there is no x yet, otherwise runs it. */
typedef tg_tensor (*layer_function)(const setting *s);

/* ---- the layers ---- */

static tg_tensor linear(const setting *s)
{
    static tg_linear_layer layer;
    if (!s->x.value)
        layer = tg_linear_layer_add(s->set, "", pytorch_dim(&s->file, "weight", 1), pytorch_dim(&s->file, "weight", 0),
                                    pytorch_has(&s->file, "bias"));
    return tg_linear_layer_forward(&layer, s->x);
}

static tg_tensor embedding(const setting *s)
{
    static tg_embedding_layer layer;
    if (!s->x.value) {
        layer =
            tg_embedding_layer_add(s->set, "", pytorch_dim(&s->file, "weight", 0), pytorch_dim(&s->file, "weight", 1));
        return TG_NONE;
    }
    return tg_embedding_layer_forward(&layer, s->x);
}

static tg_tensor norm(const setting *s, tg_norm kind, double epsilon, int groups)
{
    static tg_norm_layer layer;
    if (!s->x.value) {
        layer = tg_norm_layer_add(s->set, "", kind, pytorch_dim(&s->file, "weight", 0), epsilon);
        layer.groups = groups;
    }
    return tg_norm_layer_forward(&layer, s->x, s->training);
}

static tg_tensor layer_norm(const setting *s)
{
    return norm(s, TG_NORM_LAYER, pytorch_dim(&s->file, "weight", 0) == 7 ? 1e-12 : 0, 1);
}

static tg_tensor rms_norm(const setting *s)
{
    return norm(s, TG_NORM_RMS, 0, 1);
}

static tg_tensor group_norm(const setting *s)
{
    return norm(s, TG_NORM_GROUP, 0, pytorch_dim(&s->file, "weight", 0) == 6 ? 3 : 1);
}

static tg_tensor batch_norm(const setting *s)
{
    return norm(s, TG_NORM_BATCH, 0, 1);
}

static tg_tensor convolution(const setting *s, int64_t inputs, tg_window window)
{
    static tg_convolution layer;
    if (!s->x.value) {
        const tg_file_tensor *weight = pytorch_find(&s->file, "weight");
        layer =
            tg_convolution_add(s->set, "",
                               &(tg_convolution_config){
                                   .inputs = inputs,
                                   .outputs = weight->shape.dim[0],
                                   .kernel = {weight->shape.dim[2], weight->shape.rank == 4 ? weight->shape.dim[3] : 0},
                                   .window = window,
                                   .no_bias = !pytorch_has(&s->file, "bias")});
    }
    return tg_convolution_forward(&layer, s->x);
}

static tg_tensor conv1d_1(const setting *s)
{
    return convolution(s, 3, (tg_window){.padding = {1}});
}

static tg_tensor conv1d_2(const setting *s)
{
    return convolution(s, 4, (tg_window){.stride = {2}, .dilation = {2}, .groups = 2});
}

static tg_tensor conv2d_1(const setting *s)
{
    return convolution(s, 3, (tg_window){.stride = {2, 1}, .padding = {1, 0}});
}

static tg_tensor conv2d_2(const setting *s)
{
    return convolution(s, 4, (tg_window){.padding = {2, 2}, .dilation = {2, 2}, .groups = 4});
}

static tg_tensor feed_forward(const setting *s, tg_activation activation)
{
    static tg_feed_forward layer;
    if (!s->x.value) {
        const char *first = tg_activation_is_gated(activation) ? "gate_proj.weight" : "fc1.weight";
        const char *bias = tg_activation_is_gated(activation) ? "gate_proj.bias" : "fc1.bias";
        layer = tg_feed_forward_add(s->set, "", pytorch_dim(&s->file, first, 1), pytorch_dim(&s->file, first, 0),
                                    activation, pytorch_has(&s->file, bias));
    }
    return tg_feed_forward_forward(&layer, s->x, s->training);
}

#define FEED_FORWARD(name, activation)      \
    static tg_tensor name(const setting *s) \
    {                                       \
        return feed_forward(s, activation); \
    }
FEED_FORWARD(glu, TG_GLU)
FEED_FORWARD(bilinear, TG_BILINEAR)
FEED_FORWARD(reglu, TG_REGLU)
FEED_FORWARD(geglu, TG_GEGLU)
FEED_FORWARD(swiglu, TG_SWIGLU)
FEED_FORWARD(gelu_exact, TG_GELU_EXACT)
FEED_FORWARD(gelu_quick, TG_GELU_QUICK)

static tg_tensor attention(const setting *s, tg_attention_config config, const tg_attention_context *context)
{
    static tg_attention layer;
    if (!s->x.value)
        layer = tg_attention_add(s->set, "", &config);
    return tg_attention_forward(&layer, s->x, context, s->training);
}

static tg_tensor attention_plain(const setting *s)
{
    const int64_t width = pytorch_dim(&s->file, "in_proj_weight", 1);
    return attention(s, (tg_attention_config){.width = width, .heads = width == 6 ? 3 : 1, .no_bias = width == 5},
                     NULL);
}

static tg_tensor attention_causal(const setting *s)
{
    const int64_t width = pytorch_dim(&s->file, "in_proj_weight", 1);
    tg_attention_context context = {0};
    if (s->x.value)
        context.padding = pytorch_tensor(&s->file, "padding");
    return attention(s, (tg_attention_config){.width = width, .heads = width == 6 ? 2 : 3, .causal = true}, &context);
}

static tg_tensor attention_grouped(const setting *s)
{
    const bool first = pytorch_dim(&s->file, "q_proj.weight", 0) == 12;
    const tg_attention_config config = {.width = first ? 12 : 8,
                                        .heads = first ? 6 : 4,
                                        .key_value_heads = first ? 2 : 1,
                                        .separate = true,
                                        .no_bias = first,
                                        .causal = true};
    tg_rotary rotary = {0};
    if (s->x.value && first)
        rotary = tg_rotary_angles(tape, s->file.dtype, 5, 2, 10000);
    return attention(s, config, &(tg_attention_context){.rotary = first ? &rotary : NULL});
}

static tg_tensor block(const setting *s, tg_block_config config, const tg_attention_context *context)
{
    static tg_block layer;
    if (!s->x.value)
        layer = tg_block_add(s->set, "", &config);
    return tg_block_forward(&layer, s->x, context, s->training);
}

static tg_tensor published(const setting *s, tg_block_config (*config)(int64_t width, int heads))
{
    const int64_t width = pytorch_dim(&s->file, "self_attn.in_proj_weight", 1);
    tg_block_config c = config(width, width == 6 ? 3 : 1);
    c.hidden = width == 6 ? 11 : 0;
    return block(s, c, NULL);
}

static tg_tensor bert(const setting *s)
{
    return published(s, tg_block_bert);
}

static tg_tensor gpt(const setting *s)
{
    return published(s, tg_block_gpt);
}

static tg_tensor vit(const setting *s)
{
    return published(s, tg_block_vit);
}

static tg_tensor llama(const setting *s)
{
    const bool first = pytorch_dim(&s->file, "norm1.weight", 0) == 8;
    tg_block_config c = tg_block_llama(first ? 8 : 12, first ? 2 : 6);
    c.hidden = first ? 0 : 7;
    c.attention.key_value_heads = first ? 0 : 3;
    tg_rotary rotary = {0};
    if (s->x.value)
        rotary = tg_rotary_angles(tape, s->file.dtype, 5, first ? 4 : 2, 10000);
    return block(s, c, &(tg_attention_context){.rotary = &rotary});
}

static const struct {
    const char *name;
    layer_function layer;
    bool evaluation; /* otherwise a training pass */
} cases[] = {
    {"linear_1", linear},
    {"linear_2", linear},
    {"embedding_1", embedding},
    {"embedding_2", embedding},
    {"layer_norm_1", layer_norm},
    {"layer_norm_2", layer_norm},
    {"rms_norm_1", rms_norm},
    {"rms_norm_2", rms_norm},
    {"group_norm_1", group_norm},
    {"group_norm_2", group_norm},
    {"batch_norm_1", batch_norm},
    {"batch_norm_2", batch_norm},
    {"batch_norm_1_evaluation", batch_norm, true},
    {"batch_norm_2_evaluation", batch_norm, true},
    {"conv1d_1", conv1d_1},
    {"conv1d_2", conv1d_2},
    {"conv2d_1", conv2d_1},
    {"conv2d_2", conv2d_2},
    {"feed_forward_glu_1", glu},
    {"feed_forward_glu_2", glu},
    {"feed_forward_bilinear_1", bilinear},
    {"feed_forward_bilinear_2", bilinear},
    {"feed_forward_reglu_1", reglu},
    {"feed_forward_reglu_2", reglu},
    {"feed_forward_geglu_1", geglu},
    {"feed_forward_geglu_2", geglu},
    {"feed_forward_swiglu_1", swiglu},
    {"feed_forward_swiglu_2", swiglu},
    {"feed_forward_gelu_exact_1", gelu_exact},
    {"feed_forward_gelu_exact_2", gelu_exact},
    {"feed_forward_gelu_quick_1", gelu_quick},
    {"feed_forward_gelu_quick_2", gelu_quick},
    {"attention_plain_1", attention_plain},
    {"attention_plain_2", attention_plain},
    {"attention_causal_1", attention_causal},
    {"attention_causal_2", attention_causal},
    {"attention_grouped_1", attention_grouped},
    {"attention_grouped_2", attention_grouped},
    {"block_bert_1", bert},
    {"block_bert_2", bert},
    {"block_vit_1", vit},
    {"block_vit_2", vit},
    {"block_gpt_1", gpt},
    {"block_gpt_2", gpt},
    {"block_llama_1", llama},
    {"block_llama_2", llama},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* ---- the comparison ---- */

static void discard(setting *s)
{
    pytorch_close(&s->file);
    tg_parameters_free(s->set);
}

static setting build(const char *name, tg_dtype dtype, layer_function layer, bool evaluation)
{
    static tg_rng rng;
    rng = tg_rng_seed(1);
    setting s = {
        .set = tg_parameters_new(dtype), .file = pytorch_open(name, dtype), .training = evaluation ? NULL : &rng};
    layer(&s);
    tg_tape_clear_error(tape);
    ck_assert_msg(!tg_parameters_error(s.set), "%s", tg_parameters_error(s.set));
    pytorch_load(&s.file, s.set, ".*", evaluation);
    return s;
}

START_TEST(a_layer_is_that_of_pytorch)
{
    for (int dtype = TG_F32; dtype <= TG_F64; dtype++) {
        setting s = build(cases[_i].name, (tg_dtype)dtype, cases[_i].layer, cases[_i].evaluation);
        s.x = pytorch_tensor(&s.file, "input");
        pytorch_compare(&s.file, s.x, cases[_i].layer(&s), s.set);
        discard(&s);
        tg_tape_reset(tape);
    }
}
END_TEST

/* The evaluation's file begins with PyTorch's running statistics after the training pass. */
START_TEST(running_statistics_move_as_pytorchs_do)
{
    char name[100];
    snprintf(name, sizeof name, "batch_norm_%d", _i);
    setting s = build(name, TG_F64, batch_norm, false);
    s.x = pytorch_tensor(&s.file, "input");
    ck_assert(tg_ok(batch_norm(&s)));
    strcat(name, "_evaluation");
    setting after = build(name, TG_F64, batch_norm, true);
    pytorch_assert(&after.file, "running_mean", tg_parameters_find(s.set, ".running_mean")->data, 3);
    pytorch_assert(&after.file, "running_var", tg_parameters_find(s.set, ".running_var")->data, 3);
    discard(&s);
    discard(&after);
}
END_TEST

/* One bad batch must not spoil the statistics of evaluation for good. */
START_TEST(running_statistics_leave_out_a_batch_that_is_not_finite)
{
    tg_parameters *set = tg_parameters_new(TG_F32);
    const tg_norm_layer layer = tg_norm_layer_add(set, "norm", TG_NORM_BATCH, 2, 0);
    tg_rng training = tg_rng_seed(1);
    const float bad[2][4] = {{1, 2, 3, INFINITY}, {1, NAN, 3, 4}}, good[4] = {1, 2, 3, 6};
    for (int i = 0; i < 2; i++)
        tg_norm_layer_forward(&layer, tg_constant(tape, TG_F32, bad[i], TG_SHAPE(2, 2)), &training);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq(tg_parameter_get(layer.mean, i), 0);
        ck_assert_double_eq(tg_parameter_get(layer.variance, i), 1);
    }
    tg_norm_layer_forward(&layer, tg_constant(tape, TG_F32, good, TG_SHAPE(2, 2)), &training);
    assert_close(tg_parameter_get(layer.mean, 1), 0.1 * 4, TG_F32);
    assert_close(tg_parameter_get(layer.variance, 1), 0.9 + 0.1 * 8, TG_F32);
    tg_parameters_free(set);
}
END_TEST

static tg_tensor in_evaluation(tg_tape *on, const tg_tensor *in, int count, void *user)
{
    (void)on, (void)count;
    return tg_square(tg_norm_layer_forward(user, in[0], NULL));
}

static tg_tensor in_evaluation_twice(tg_tape *on, const tg_tensor *in, int count, void *user)
{
    tg_tensor inner = tg_checkpoint(in_evaluation, in, count, user);
    return in_evaluation(on, &inner, 1, user);
}

/* The gradient of an evaluation pass uses the statistics of that pass, even if a training pass changes them before the
 * backward pass, as in a consistency loss. The pass may be recomputed (1), also within another recomputation (2). */
START_TEST(a_pass_in_evaluation_keeps_its_statistics)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_norm_layer layer = tg_norm_layer_add(set, "norm", TG_NORM_BATCH, 2, 0);
    const tg_function function = _i == 2 ? in_evaluation_twice : in_evaluation;
    tg_rng training = tg_rng_seed(1);
    double numbers[10], gradient[2][4];
    ck_assert(tg_read(drawn(TG_F64, TG_SHAPE(5, 2)), TG_F64, numbers, 10));
    for (int both = 0; both < 2; both++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F64, numbers, TG_SHAPE(5, 2));
        for (int i = 0; i < 2; i++) {
            tg_parameter_put(layer.mean, i, 0.5 - i);
            tg_parameter_put(layer.variance, i, 2 + i);
        }
        tg_tensor y = _i > 0 ? tg_checkpoint(function, &x, 1, &layer) : function(tape, &x, 1, &layer);
        if (both)
            tg_norm_layer_forward(&layer, tg_add_scalar(x, 3), &training);
        ck_assert(tg_backward(tg_sum(y)));
        memcpy(gradient[both], tg_parameters_gradients(set), sizeof gradient[both]);
        tg_parameters_clear_gradients(set);
    }
    ck_assert(tg_parameter_get(layer.mean, 0) != 0.5);
    ck_assert_mem_eq(gradient[0], gradient[1], sizeof gradient[0]);
    tg_parameters_free(set);
}
END_TEST

/* The Hessian of sum(y * cotangent), from the transposes of its own rows, is symmetric; a second derivative is the
 * difference of first ones. */
static double gradient_along(setting *s, layer_function layer, const double *x, tg_shape shape, const double *v)
{
    tg_tape_reset(tape);
    s->x = tg_variable(tape, TG_F64, x, shape);
    tg_tensor loss = tg_sum(tg_mul(layer(s), pytorch_tensor(&s->file, "cotangent"))), g;
    ck_assert(tg_grad(&loss, 1, &s->x, 1, NULL, false, &g));
    double sum = 0;
    for (int64_t i = 0; i < tg_size(g); i++)
        sum += tg_at(g, i) * v[i];
    return sum;
}

START_TEST(second_derivatives_are_differences_of_first_ones)
{
    setting s = build(cases[_i].name, TG_F64, cases[_i].layer, cases[_i].evaluation);
    if (cases[_i].layer != embedding && cases[_i].layer != reglu) { /* whole numbers, and a kink */
        enum { MOST = 1000 };
        double x[MOST], v[MOST], right[MOST], left[MOST], h = 1e-5, exact = 0;
        s.x = pytorch_tensor(&s.file, "input");
        const tg_shape shape = tg_shape_of(s.x);
        const int64_t size = tg_size(s.x);
        ck_assert_int_le(size, MOST);
        for (int64_t i = 0; i < size; i++) {
            x[i] = tg_at(s.x, i);
            v[i] = sin((double)i + 1);
            right[i] = x[i] + h * v[i];
            left[i] = x[i] - h * v[i];
        }
        tg_tensor loss = tg_sum(tg_mul(cases[_i].layer(&s), pytorch_tensor(&s.file, "cotangent")));
        tg_tensor direction = tg_constant(tape, TG_F64, v, shape), product;
        ck_assert_msg(tg_hvp(loss, &s.x, &direction, 1, &product), "%s", tg_tape_error(tape));
        for (int64_t i = 0; i < size; i++)
            exact += tg_at(product, i) * v[i];
        const double difference = (gradient_along(&s, cases[_i].layer, right, shape, v) -
                                   gradient_along(&s, cases[_i].layer, left, shape, v)) /
                                  (2 * h);
        ck_assert_double_eq_tol(exact, difference, 1e-6 * fmax(1, fabs(exact)));
    }
    discard(&s);
}
END_TEST

/* silu(rms(x W^T + b)) (x V^T + c), from operations. */
START_TEST(a_norm_inside_a_gated_layer_is_before_its_activation)
{
    const tg_rng rng = tg_rng_seed(4);
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_hidden_layer layer = tg_hidden_layer_add(set, "l", 5, 7, TG_SWIGLU, true);
    layer.norm = tg_norm_layer_add(set, "l.gate_norm", TG_NORM_RMS, 7, 0);
    ck_assert(tg_parameters_initialize(set, TG_INIT_XAVIER_UNIFORM, 0, &rng));
    for (int i = 0; i < 7; i++)
        tg_parameter_put(layer.norm.weight, i, 0.5 + i);
    tg_tensor before, x = drawn(TG_F64, TG_SHAPE(3, 5)), y = tg_hidden_layer_forward(&layer, x, NULL, &before);
    const tg_tensor gate = tg_linear_layer_forward(&layer.linear, x), value = tg_linear_layer_forward(&layer.value, x),
                    mean = tg_mean_over(tg_square(gate), TG_AXES(-1), true),
                    unit = tg_div(gate, tg_sqrt(tg_add_scalar(mean, 1e-6))),
                    normed = tg_mul(unit, tg_parameter_tensor(tape, layer.norm.weight)),
                    expected = tg_mul(tg_mul(normed, tg_sigmoid(normed)), value);
    ck_assert_msg(tg_ok(y) && tg_ok(expected), "%s", tg_tape_error(tape));
    for (int64_t i = 0; i < tg_size(y); i++) {
        assert_close(tg_at(y, i), tg_at(expected, i), TG_F64);
        assert_close(tg_at(before, i), tg_at(normed, i), TG_F64);
    }
    tg_parameters_free(set);
}
END_TEST

Suite *layers_suite(void)
{
    Suite *suite = suite_create("layers");
    TCase *tests = tcase_create("layers");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_loop_test(tests, a_layer_is_that_of_pytorch, 0, CASES);
    tcase_add_loop_test(tests, running_statistics_move_as_pytorchs_do, 1, 3);
    tcase_add_test(tests, running_statistics_leave_out_a_batch_that_is_not_finite);
    tcase_add_loop_test(tests, a_pass_in_evaluation_keeps_its_statistics, 0, 3);
    tcase_add_loop_test(tests, second_derivatives_are_differences_of_first_ones, 0, CASES);
    tcase_add_test(tests, a_norm_inside_a_gated_layer_is_before_its_activation);
    suite_add_tcase(suite, tests);
    return suite;
}
