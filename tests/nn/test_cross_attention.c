/* Attention to a second sequence, T5's block, encoder and decoder: equality with PyTorch, masks, refusals. */
#include "tests/support/pytorch.h"

#include <stdio.h>
#include <string.h>

Suite *cross_attention_suite(void);

static const struct {
    const char *name;
    tg_attention_config config;
    bool padded;
} cases[] = {{"cross_1", {.width = 6, .heads = 3}, false},
             {"cross_2", {.width = 8, .heads = 2}, true},
             {"cross_3", {.width = 5, .heads = 1, .no_bias = true}, true}};
enum { CASES = sizeof cases / sizeof cases[0] };

static tg_tensor attend(int of, const pytorch *p, const tg_attention *a, tg_tensor x, tg_tensor memory)
{
    const tg_attention_context context = {.memory = memory,
                                          .memory_padding = cases[of].padded ? pytorch_tensor(p, "padding") : TG_NONE};
    return tg_attention_forward(a, x, &context, NULL);
}

START_TEST(cross_attention_is_that_of_pytorch)
{
    for (int dtype = TG_F32; dtype <= TG_F64; dtype++) {
        pytorch p = pytorch_open_file("tests/golden/sequences.safetensors", cases[_i].name, (tg_dtype)dtype);
        tg_parameters *set = tg_parameters_new((tg_dtype)dtype);
        const tg_attention a = tg_attention_add(set, "attn", &cases[_i].config);
        pytorch_load(&p, set, "*", true);
        const tg_tensor x = pytorch_tensor(&p, "input"), memory = pytorch_tensor(&p, "memory");
        pytorch_compare(&p, x, attend(_i, &p, &a, x, memory), set);
        pytorch_assert(&p, "grad.memory", tg_data(tg_gradient(memory)), tg_size(memory));
        tg_parameters_free(set);
        pytorch_close(&p);
        tg_tape_reset(tape);
    }
}
END_TEST

/* Runs a net of the file on the test's tape. */
typedef tg_tensor run(const pytorch *p, const void *net);

/* `noise`: parameters of this name have gradients that are rounding errors only, which AdamW divides by their own size.
 */
static void assert_trained(pytorch *p, tg_parameters *set, run *forward, const void *net, const char *noise)
{
    tg_parameters_clear_gradients(set);
    for (int i = 0; i < tg_parameters_count(set); i++) /* as in the file */
        tg_parameters_at(set, i)->decay = tg_parameters_at(set, i)->shape.rank > 1;
    tg_optimizer *adamw = tg_optimizer_new(set, &(tg_optimizer_config){.lr = 0.01, .weight_decay = 0.1});
    for (int step = 0; step < 20; step++) {
        tg_tape_reset(tape);
        const tg_tensor y = forward(p, net);
        ck_assert(tg_backward(tg_mean(tg_square(tg_sub(y, pytorch_tensor(p, "cotangent"))))));
        ck_assert(tg_optimizer_step(adamw));
    }
    for (int i = 0; i < tg_parameters_count(set); i++) {
        char name[TG_NAME_SIZE + 16];
        const tg_parameter *parameter = tg_parameters_at(set, i);
        snprintf(name, sizeof name, "trained.%s", parameter->name);
        p->within = strstr(name, noise) ? 1e-9 : 1e-12;
        pytorch_assert(p, name, parameter->data, tg_shape_size(&parameter->shape));
    }
    tg_optimizer_free(adamw);
}

typedef struct attention_case {
    int of;
    tg_attention attention;
} attention_case;

static tg_tensor run_attention(const pytorch *p, const void *net)
{
    const attention_case *c = net;
    return attend(c->of, p, &c->attention, pytorch_tensor(p, "input"), pytorch_tensor(p, "memory"));
}

START_TEST(twenty_steps_of_adamw_come_to_pytorchs_weights)
{
    pytorch p = pytorch_open_file("tests/golden/sequences.safetensors", cases[_i].name, TG_F64);
    tg_parameters *set = tg_parameters_new(TG_F64);
    const attention_case c = {_i, tg_attention_add(set, "attn", &cases[_i].config)};
    pytorch_load(&p, set, "*", true);
    assert_trained(&p, set, run_attention, &c, "in_proj_bias"); /* of the keys */
    tg_parameters_free(set);
    pytorch_close(&p);
}
END_TEST

/* ---- T5's block ---- */

static const struct {
    const char *name;
    int width, heads, buckets, distance;
    bool gated, cross;
} t5_cases[] = {{"t5_1", 6, 2, 8, 12, false, false},
                {"t5_2", 8, 4, 0, 0, true, false},
                {"t5_3", 6, 3, 6, 10, false, true},
                {"t5_4", 4, 1, 0, 0, true, true}};
enum { T5_CASES = sizeof t5_cases / sizeof t5_cases[0] };

typedef struct t5_block {
    tg_relative relative;
    tg_block block;
} t5_block;

static t5_block t5_add(tg_parameters *set, int of)
{
    tg_block_config config = tg_block_t5(t5_cases[of].width, t5_cases[of].heads);
    config.hidden = 4 * t5_cases[of].width - 1;
    config.activation = t5_cases[of].gated ? TG_GEGLU_TANH : TG_RELU;
    config.cross = config.attention.causal = t5_cases[of].cross;
    return (t5_block){tg_relative_add(set, "relative_attention_bias",
                                      &(tg_relative_config){.heads = t5_cases[of].heads,
                                                            .buckets = t5_cases[of].buckets,
                                                            .distance = t5_cases[of].distance,
                                                            .causal = t5_cases[of].cross}),
                      tg_block_add(set, "block", &config)};
}

static tg_tensor run_t5(const t5_block *net, tg_tensor x, tg_tensor memory, tg_tensor padding)
{
    const int64_t positions = tg_dim(x, 1);
    tg_attention_context context = {.bias = tg_relative_forward(&net->relative, tape, positions, positions)};
    if (net->block.config.cross) {
        context.memory = memory;
        context.memory_padding = padding;
    } else
        context.padding = padding;
    return tg_block_forward(&net->block, x, &context, NULL);
}

static tg_tensor run_t5_of_file(const pytorch *p, const void *net)
{
    const tg_tensor memory = pytorch_has(p, "memory") ? pytorch_tensor(p, "memory") : TG_NONE;
    return run_t5(net, pytorch_tensor(p, "input"), memory, pytorch_tensor(p, "padding"));
}

START_TEST(t5s_block_is_that_of_the_paper)
{
    for (int dtype = TG_F32; dtype <= TG_F64; dtype++) {
        pytorch p = pytorch_open_file("tests/golden/sequences.safetensors", t5_cases[_i].name, (tg_dtype)dtype);
        tg_parameters *set = tg_parameters_new((tg_dtype)dtype);
        const t5_block net = t5_add(set, _i);
        pytorch_load(&p, set, "*", true);
        const tg_tensor x = pytorch_tensor(&p, "input"),
                        memory = t5_cases[_i].cross ? pytorch_tensor(&p, "memory") : TG_NONE;
        pytorch_compare(&p, x, run_t5(&net, x, memory, pytorch_tensor(&p, "padding")), set);
        if (t5_cases[_i].cross)
            pytorch_assert(&p, "grad.memory", tg_data(tg_gradient(memory)), tg_size(memory));
        if (dtype == TG_F64)
            assert_trained(&p, set, run_t5_of_file, &net, " ");
        tg_parameters_free(set);
        pytorch_close(&p);
        tg_tape_reset(tape);
    }
}
END_TEST

/* ---- the whole model ---- */

static tg_tensor run_model(const pytorch *p, const void *net)
{
    return tg_seq2seq_forward(net, pytorch_tensor(p, "input"), NULL);
}

START_TEST(encoder_and_decoder_are_t5)
{
    for (int dtype = TG_F32; dtype <= TG_F64; dtype++) {
        pytorch p =
            pytorch_open_file("tests/golden/sequences.safetensors", _i ? "t5_model_2" : "t5_model_1", (tg_dtype)dtype);
        tg_seq2seq_config config = {.vocabulary = 7,
                                    .context = 6,
                                    .layers = _i ? 1 : 2,
                                    .block = tg_block_t5(8, 2),
                                    .relative = true,
                                    .buckets = 8,
                                    .distance = 12,
                                    .dtype = (tg_dtype)dtype};
        config.block.hidden = 15;
        config.block.activation = _i ? TG_GEGLU_TANH : TG_RELU;
        tg_seq2seq *net = tg_seq2seq_new(NULL, &config);
        pytorch_load(&p, tg_seq2seq_parameters(net), "*", true);
        const tg_tensor x = pytorch_tensor(&p, "input");
        pytorch_compare(&p, x, tg_seq2seq_forward(net, x, NULL), tg_seq2seq_parameters(net));
        if (dtype == TG_F64)
            assert_trained(&p, tg_seq2seq_parameters(net), run_model, net, " ");
        tg_seq2seq_free(net);
        pytorch_close(&p);
        tg_tape_reset(tape);
    }
}
END_TEST

/* Padding of the source, and what is behind a target, changes nothing before it. */
START_TEST(padding_changes_nothing)
{
    tg_seq2seq_config config = {.vocabulary = 5, .context = 4, .layers = 2, .block = tg_block_t5(8, 2), .relative = _i};
    tg_rng rng = tg_rng_seed(3);
    tg_seq2seq *small = tg_seq2seq_new(&rng, &config);
    config.context = 6;
    tg_seq2seq *large = tg_seq2seq_new(&rng, &config);
    for (int i = 0; i < tg_parameters_count(tg_seq2seq_parameters(small)); i++) { /* positions of the large one too */
        const tg_parameter *p = tg_parameters_at(tg_seq2seq_parameters(small), i);
        tg_parameter *q = tg_parameters_find(tg_seq2seq_parameters(large), p->name);
        for (int64_t k = 0; k < tg_shape_size(&p->shape); k++)
            tg_parameter_put(q, k, tg_parameter_get(p, k));
    }
    const int32_t one[] = {3, 4, 2, 0, 1, 2}, other[] = {3, 4, 2, 0, 0, 0, 1, 2, 4};
    const tg_tensor y = tg_seq2seq_forward(small, tg_constant(tape, TG_I32, one, TG_SHAPE(1, 6)), NULL),
                    z = tg_seq2seq_forward(large, tg_constant(tape, TG_I32, other, TG_SHAPE(1, 9)), NULL);
    ck_assert_msg(tg_ok(y) && tg_ok(z), "%s", tg_tape_error(tape));
    for (int64_t i = 0; i < tg_size(y); i++)
        assert_close(tg_at(y, i), tg_at(z, i), TG_F32);
    tg_seq2seq_free(small);
    tg_seq2seq_free(large);
}
END_TEST

START_TEST(wrong_models_are_refused)
{
    const tg_block_config block = tg_block_t5(8, 2);
    const struct {
        tg_seq2seq_config config;
        const char *part;
    } wrong[] = {{{.context = 4, .block = block}, "the vocabulary and the context"},
                 {{.vocabulary = 5, .block = block}, "the vocabulary and the context"},
                 {{.vocabulary = 5, .context = 4, .layers = 257, .block = block}, "number of layers"},
                 {{.vocabulary = 5, .context = 4, .block = block, .relative = true, .buckets = 7}, "buckets"},
                 {{.vocabulary = 5, .context = 4, .block = block, .relative = true, .distance = 8}, "distance"},
                 {{.vocabulary = 5, .context = 4, .block = block, .dropout = 1}, "dropout"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *error = tg_seq2seq_config_error(&wrong[i].config);
        ck_assert_msg(error && strstr(error, wrong[i].part), "%zu: %s", i, error ? error : "accepted");
        ck_assert_ptr_null(tg_seq2seq_new(NULL, &wrong[i].config));
    }
    tg_seq2seq *net = tg_seq2seq_new(NULL, &(tg_seq2seq_config){.vocabulary = 5, .context = 4, .block = block});
    const int32_t ids[9] = {1};
    for (int64_t width = 4; width <= 9; width += 5) {
        ck_assert(!tg_ok(tg_seq2seq_forward(net, tg_constant(tape, TG_I32, ids, TG_SHAPE(1, width)), NULL)));
        expect_error("expected ids [batch, 4 + targets], 1 to 4 targets");
    }
    tg_seq2seq_free(net);
    tg_parameters *set = tg_parameters_new(TG_F32);
    tg_block_config decoder = block;
    decoder.cross = true;
    const tg_block alone = tg_block_add(set, "b", &decoder);
    ck_assert(!tg_ok(tg_block_forward(&alone, drawn(TG_F32, TG_SHAPE(1, 2, 8)), NULL, NULL)));
    expect_error("needs a memory");
    const tg_relative none = tg_relative_add(set, "r", NULL);
    ck_assert(!tg_ok(tg_relative_forward(&none, tape, 2, 2)));
    expect_error("tg_relative_config_error");
    const tg_relative relative = tg_relative_add(set, "s", &(tg_relative_config){.heads = 1});
    ck_assert_int_eq(tg_relative_bucket(&relative, INT64_MIN), 15);
    ck_assert_int_eq(tg_relative_bucket(&relative, INT64_MAX), 31);
    static const int64_t wrong_sizes[][2] = {{-1, 2}, {2, INT64_MIN}, {INT64_MAX, 2}, {1LL << 62, 4}};
    for (int i = 0; i < 4; i++) {
        ck_assert(!tg_ok(tg_relative_forward(&relative, tape, wrong_sizes[i][0], wrong_sizes[i][1])));
        expect_error("there are no scores of");
    }
    tg_parameters_free(set);
}
END_TEST

/* Attention to x itself as a memory is self-attention, with separate weights and shared heads too. */
START_TEST(a_memory_that_is_x_gives_self_attention)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    const tg_attention a = tg_attention_add(
        set, "a", &(tg_attention_config){.width = 8, .heads = 4, .key_value_heads = 2, .separate = _i});
    const tg_rng rng = tg_rng_seed(2);
    ck_assert(tg_parameters_initialize(set, TG_INIT_XAVIER_UNIFORM, 0, &rng));
    const tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 5, 8)),
                    y = tg_attention_forward(&a, x, &(tg_attention_context){.memory = x}, NULL),
                    z = tg_attention_forward(&a, x, NULL, NULL);
    ck_assert_msg(tg_ok(y) && tg_ok(z), "%s", tg_tape_error(tape));
    for (int64_t i = 0; i < tg_size(y); i++)
        assert_close(tg_at(y, i), tg_at(z, i), TG_F64);
    tg_parameters_free(set);
}
END_TEST

START_TEST(what_does_not_fit_is_an_error)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    const tg_attention a = tg_attention_add(set, "a", &(tg_attention_config){.width = 4, .heads = 2});
    const struct {
        tg_shape memory, padding;
        const char *part;
    } wrong[] = {{TG_SHAPE(2, 3, 5), {0}, "expected a memory [2, positions, 4]"},
                 {TG_SHAPE(1, 3, 4), {0}, "expected a memory [2, positions, 4]"},
                 {TG_SHAPE(6, 4), {0}, "expected a memory [2, positions, 4]"},
                 {TG_SHAPE(2, 3, 4), TG_SHAPE(2, 5), "expected padding [2, 3]"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const tg_attention_context context = {.memory = drawn(TG_F64, wrong[i].memory),
                                              .memory_padding =
                                                  wrong[i].padding.rank ? drawn(TG_F64, wrong[i].padding) : TG_NONE};
        ck_assert(!tg_ok(tg_attention_forward(&a, drawn(TG_F64, TG_SHAPE(2, 5, 4)), &context, NULL)));
        expect_error(wrong[i].part);
    }
    tg_parameters_free(set);
}
END_TEST

Suite *cross_attention_suite(void)
{
    Suite *suite = suite_create("cross_attention");
    TCase *tests = tcase_create("cross_attention");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_loop_test(tests, cross_attention_is_that_of_pytorch, 0, CASES);
    tcase_add_loop_test(tests, twenty_steps_of_adamw_come_to_pytorchs_weights, 0, CASES);
    tcase_add_loop_test(tests, t5s_block_is_that_of_the_paper, 0, T5_CASES);
    tcase_add_loop_test(tests, encoder_and_decoder_are_t5, 0, 2);
    tcase_add_loop_test(tests, padding_changes_nothing, 0, 2);
    tcase_add_test(tests, wrong_models_are_refused);
    tcase_add_loop_test(tests, a_memory_that_is_x_gives_self_attention, 0, 2);
    tcase_add_test(tests, what_does_not_fit_is_an_error);
    suite_add_tcase(suite, tests);
    return suite;
}
