/* Layers in sequence: the results of PyTorch's nn.Sequential, and to the bit those of calling the layers by hand. */
#include "tests/support/pytorch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

Suite *sequential_suite(void);

static tg_rng rng;

static void load(const pytorch *file, tg_parameters *set)
{
    ck_assert_msg(!tg_parameters_error(set), "%s", tg_parameters_error(set));
    pytorch_load(file, set, "*", false);
}

/* Linear, LayerNorm, GELU, a residual sum around two linear layers, GLU, Linear. */
static void compare_dense(tg_dtype dtype, bool recompute)
{
    pytorch file = pytorch_open("sequential_1", dtype);
    tg_parameters *set = tg_parameters_new(dtype);
    const tg_linear_layer first = tg_linear_layer_add(set, "0", 5, 6, true),
                          inner = tg_linear_layer_add(set, "3.0", 6, 7, true),
                          outer = tg_linear_layer_add(set, "3.2", 7, 6, true),
                          last = tg_linear_layer_add(set, "5", 3, 2, true);
    const tg_norm_layer norm = tg_norm_layer_add(set, "1", TG_NORM_LAYER, 6, 0);
    load(&file, set);
    const tg_layer branch[] = {tg_sequential_linear(&inner), tg_sequential_activation(TG_SILU),
                               tg_sequential_linear(&outer)};
    tg_layer net[] = {
        tg_sequential_linear(&first), tg_sequential_norm(&norm),        tg_sequential_activation(TG_GELU_EXACT),
        tg_sequential_of(branch, 3),  tg_sequential_activation(TG_GLU), tg_sequential_linear(&last)};
    net[3].residual = true;
    for (int i = 0; i < 6; i++)
        net[i].recompute = recompute;
    const tg_tensor x = pytorch_tensor(&file, "input");
    pytorch_compare(&file, x, tg_sequential_forward(net, 6, x, NULL), set);
    tg_parameters_free(set);
    pytorch_close(&file);
}

/* Conv2d, BatchNorm2d in training, GELU, MaxPool2d, AvgPool2d, Flatten, Linear. */
static void compare_images(tg_dtype dtype, bool recompute)
{
    pytorch file = pytorch_open("sequential_2", dtype);
    tg_parameters *set = tg_parameters_new(dtype);
    const tg_convolution conv = tg_convolution_add(
        set, "0", &(tg_convolution_config){.inputs = 2, .outputs = 3, .kernel = {3, 3}, .window = {.padding = {1, 1}}});
    const tg_norm_layer norm = tg_norm_layer_add(set, "1", TG_NORM_BATCH, 3, 0);
    const tg_linear_layer last = tg_linear_layer_add(set, "6", 18, 4, true);
    load(&file, set);
    tg_layer net[] = {tg_sequential_convolution(&conv),
                      tg_sequential_norm(&norm),
                      tg_sequential_activation(TG_GELU_EXACT),
                      tg_sequential_max_pool2d(2, 2, (tg_window){.stride = {1, 1}}),
                      tg_sequential_average_pool2d(2, 3, (tg_window){.stride = {2, 3}}),
                      tg_sequential_flatten(),
                      tg_sequential_linear(&last)};
    for (int i = 0; i < 7; i++)
        net[i].recompute = recompute;
    const tg_tensor x = pytorch_tensor(&file, "input");
    pytorch_compare(&file, x, tg_sequential_forward(net, 7, x, &rng), set);
    tg_parameters_free(set);
    pytorch_close(&file);
}

START_TEST(a_sequence_is_that_of_pytorch)
{
    rng = tg_rng_seed(1);
    for (int dtype = TG_F32; dtype <= TG_F64; dtype++) {
        compare_dense((tg_dtype)dtype, _i);
        tg_tape_reset(tape);
        compare_images((tg_dtype)dtype, _i);
        tg_tape_reset(tape);
    }
}
END_TEST

/* A user's own layer. */
static tg_tensor scale_forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    (void)pass;
    return tg_mul(x, tg_parameter_tensor(tg_tape_of(x), (tg_parameter *)(void *)self->layer));
}

static const tg_layer_kind scale_kind = {.name = "scale", .forward = scale_forward};

/* All layers that no sequence above has, with dropout from one stream. */
START_TEST(a_sequence_is_its_layers_called_by_hand)
{
    tg_parameters *set = tg_parameters_new(TG_F32);
    const tg_embedding_layer table = tg_embedding_layer_add(set, "table", 9, 4);
    const tg_attention attention =
        tg_attention_add(set, "attention", &(tg_attention_config){.width = 4, .heads = 2, .dropout = 0.2});
    const tg_feed_forward mlp = tg_feed_forward_add(set, "mlp", 4, 5, TG_SWIGLU, true);
    const tg_maxout maxout = tg_maxout_add(set, "maxout", 4, 4, 2);
    const tg_learned learned = tg_learned_add(set, "learned", TG_LEARNED_PRELU, 4);
    tg_parameter *scale = tg_parameters_add(set, "scale", TG_SHAPE(4), false);
    ck_assert(!tg_parameters_error(set));
    rng = tg_rng_seed(5);
    for (int i = 0; i < tg_parameters_count(set); i++)
        tg_parameter_fill_normal(tg_parameters_at(set, i), 0.5, &rng);
    tg_layer net[] = {tg_sequential_embedding(&table),
                      tg_sequential_attention(&attention),
                      tg_sequential_dropout(0.5),
                      tg_sequential_feed_forward(&mlp),
                      tg_sequential_maxout(&maxout),
                      tg_sequential_learned(&learned),
                      {.kind = &scale_kind, .layer = scale, .name = "scale"}};
    net[1].residual = net[3].residual = true;
    net[1].recompute = net[2].recompute = _i;
    const int32_t numbers[6] = {3, 1, 8, 8, 0, 2};
    float gradients[2][300];
    double loss[2];
    for (int way = 0; way < 2; way++) {
        tg_tape_reset(tape);
        rng = tg_rng_seed(11);
        tg_tensor x = tg_constant(tape, TG_I32, numbers, TG_SHAPE(2, 3));
        if (way == 0)
            x = tg_sequential_forward(net, 7, x, &rng);
        else {
            x = tg_embedding_layer_forward(&table, x);
            x = tg_add(x, tg_attention_forward(&attention, x, NULL, &rng));
            x = tg_dropout_forward(x, 0.5, &rng);
            x = tg_add(x, tg_feed_forward_forward(&mlp, x, &rng));
            x = tg_learned_forward(&learned, tg_maxout_forward(&maxout, x));
            x = tg_mul(x, tg_parameter_tensor(tape, scale));
        }
        const tg_tensor sum = tg_sum(tg_square(x));
        ck_assert(tg_backward(sum));
        loss[way] = tg_item(sum);
        ck_assert_int_le(tg_parameters_size(set), 300);
        memcpy(gradients[way], tg_parameters_gradients(set), (size_t)tg_parameters_size(set) * sizeof(float));
        tg_parameters_clear_gradients(set);
    }
    ck_assert(loss[0] == loss[1] && loss[0] > 0);
    ck_assert(!memcmp(gradients[0], gradients[1], (size_t)tg_parameters_size(set) * sizeof(float)));
    tg_parameters_free(set);
}
END_TEST

START_TEST(layers_are_listed_by_name_or_number)
{
    tg_parameters *set = tg_parameters_new(TG_F32);
    const tg_linear_layer first = tg_linear_layer_add(set, "0", 3, 2, true),
                          last = tg_linear_layer_add(set, "head", 2, 4, false);
    const tg_layer inner[] = {tg_sequential_linear(&first), tg_sequential_activation(TG_RELU)};
    tg_layer net[] = {tg_sequential_of(inner, 2), tg_sequential_linear(&last)};
    net[1].name = "head";
    tg_sequential_forward(net, 2, drawn(TG_F32, TG_SHAPE(5, 3)), NULL);
    char table[2000];
    tg_tape_table(tape, table, sizeof table);
    ck_assert_msg(strstr(table, " 0.1 ") && strstr(table, " 0.0 ") && strstr(table, " head "), "%s", table);
    tg_sequential_forward(net, 2, drawn(TG_F32, TG_SHAPE(5, 2)), NULL);
    expect_error("0.0");
    tg_parameters_free(set);
}
END_TEST

START_TEST(what_cannot_be_a_sequence_is_an_error)
{
    const tg_tensor x = drawn(TG_F32, TG_SHAPE(2, 3));
    const tg_layer missing[] = {tg_sequential_flatten(), {.rate = 0.5}};
    ck_assert(!tg_ok(tg_sequential_forward(missing, 2, x, NULL)));
    expect_error("tg_sequential_forward: layer 1 has no kind");
    ck_assert(!tg_ok(tg_sequential_forward(NULL, 1, x, NULL)));
    expect_error("tg_sequential_forward: layer 0 has no kind");
    const tg_layer gated[] = {tg_sequential_activation(TG_GLU)};
    ck_assert(!tg_ok(tg_sequential_forward(gated, 1, x, NULL)));
    expect_error("split");
    ck_assert(tg_sequential_forward(NULL, 0, x, NULL).value == x.value);
    ck_assert(!tg_ok(tg_sequential_forward(gated, 1, TG_NONE, NULL)));
    const tg_layer flat[] = {tg_sequential_flatten()};
    assert_shape(tg_sequential_forward(flat, 1, drawn(TG_F32, TG_SHAPE(2, 3, 4)), NULL), TG_SHAPE(2, 12));
    assert_shape(tg_sequential_forward(flat, 1, drawn(TG_F32, TG_SHAPE(0, 3, 4)), NULL), TG_SHAPE(0, 12));
}
END_TEST

Suite *sequential_suite(void)
{
    Suite *suite = suite_create("sequential");
    TCase *tests = tcase_create("sequential");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_loop_test(tests, a_sequence_is_that_of_pytorch, 0, 2);
    tcase_add_loop_test(tests, a_sequence_is_its_layers_called_by_hand, 0, 2);
    tcase_add_test(tests, layers_are_listed_by_name_or_number);
    tcase_add_test(tests, what_cannot_be_a_sequence_is_an_error);
    suite_add_tcase(suite, tests);
    return suite;
}
