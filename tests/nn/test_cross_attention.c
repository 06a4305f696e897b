/* Attention to a second sequence: equality with PyTorch, masks, refusals. */
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

START_TEST(twenty_steps_of_adamw_come_to_pytorchs_weights)
{
    pytorch p = pytorch_open_file("tests/golden/sequences.safetensors", cases[_i].name, TG_F64);
    tg_parameters *set = tg_parameters_new(TG_F64);
    const tg_attention a = tg_attention_add(set, "attn", &cases[_i].config);
    pytorch_load(&p, set, "*", true);
    tg_optimizer *adamw = tg_optimizer_new(set, &(tg_optimizer_config){.lr = 0.01, .weight_decay = 0.1});
    for (int step = 0; step < 20; step++) {
        tg_tape_reset(tape);
        const tg_tensor y = attend(_i, &p, &a, pytorch_tensor(&p, "input"), pytorch_tensor(&p, "memory"));
        ck_assert(tg_backward(tg_mean(tg_square(tg_sub(y, pytorch_tensor(&p, "cotangent"))))));
        ck_assert(tg_optimizer_step(adamw));
    }
    for (int i = 0; i < tg_parameters_count(set); i++) {
        char name[TG_NAME_SIZE + 16];
        const tg_parameter *parameter = tg_parameters_at(set, i);
        snprintf(name, sizeof name, "trained.%s", parameter->name);
        /* the gradient of the keys' bias is rounding error only, which AdamW divides by its own size */
        p.within = strstr(name, "in_proj_bias") ? 1e-9 : 1e-12;
        pytorch_assert(&p, name, parameter->data, tg_shape_size(&parameter->shape));
    }
    tg_optimizer_free(adamw);
    tg_parameters_free(set);
    pytorch_close(&p);
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
    tcase_add_loop_test(tests, a_memory_that_is_x_gives_self_attention, 0, 2);
    tcase_add_test(tests, what_does_not_fit_is_an_error);
    suite_add_tcase(suite, tests);
    return suite;
}
