/* The summary of a model: its counts against hand-computed ones. */
#include "tests/support/tensors.h"

#include <stdio.h>
#include <string.h>

Suite *summary_suite(void);

static char text[4000];

/* Finds the line that begins with this word, and reads its shape, parameters and operations. */
static void expect_line(const char *layer, const char *shape, long long parameters, double operations)
{
    char line[200], head[40];
    snprintf(head, sizeof head, "\n%-20s ", layer);
    const char *at = strstr(text, head);
    ck_assert_msg(at != NULL, "no line %s in\n%s", layer, text);
    snprintf(line, sizeof line, "\n%-20s %-18s %12lld %14.0f\n", layer, shape, parameters, operations);
    ck_assert_msg(strncmp(at, line, strlen(line)) == 0, "expected%sin\n%s", line, text);
}

START_TEST(a_perceptron_is_counted_by_layers_and_the_backward_pass_is_not)
{
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 7, .hidden = {5}, .outputs = 3, .dtype = TG_F64});
    for (int step = 0; step < 2; step++) {
        tg_tape_reset(tape);
        tg_tensor y = tg_mlp_forward(net, drawn(TG_F64, TG_SHAPE(4, 7)));
        for (int pass = 0; pass < 2; pass++) {
            tg_tape_summary(tape, text, sizeof text);
            expect_line("layers.0", "[4, 5]", 7 * 5 + 5, 2 * 4 * 7 * 5 + 4 * 5);
            expect_line("layers.1", "[4, 3]", 5 * 3 + 3, 2 * 4 * 5 * 3);
            expect_line("all", "", 58, 280 + 20 + 120);
            if (pass == 0)
                ck_assert(tg_backward_from(y, drawn(TG_F64, TG_SHAPE(4, 3))));
        }
    }
    tg_mlp_free(net);
}
END_TEST

START_TEST(a_transformer_is_counted_once_though_its_head_is_tied_and_its_blocks_recomputed)
{
    tg_transformer_config config = {
        .vocabulary = 11, .context = 6, .layers = 2, .block = tg_block_gpt(8, 2), .tied = true};
    config.block.recompute = _i;
    tg_transformer *gpt = tg_transformer_new(NULL, &config);
    tg_tensor y = tg_transformer_forward(gpt, counted(TG_I32, TG_SHAPE(1, 6)), NULL);
    if (_i)
        ck_assert(tg_backward(tg_sum(y)));
    tg_tape_summary(tape, text, sizeof text);
    expect_line("embedding", "[1, 6, 8]", 17 * 8, 6 * 8 + 6 * 8);
    expect_line("head", "[1, 6, 11]", 0, 2 * 6 * 8 * 11);
    char all[60];
    snprintf(all, sizeof all, "\n%-20s %-18s %12lld ", "all", "",
             (long long)tg_parameters_size(tg_transformer_parameters(gpt)));
    ck_assert_msg(strstr(text, all) != NULL, "%s", text);
    tg_transformer_free(gpt);
}
END_TEST

START_TEST(scopes_nest_and_what_has_none_stands_outside)
{
    tg_tensor x = tg_square(drawn(TG_F32, TG_SHAPE(2, 3)));
    tg_scope_begin(tape, "encoder");
    tg_scope_begin(tape, "inner");
    x = tg_matmul(x, drawn(TG_F32, TG_SHAPE(3, 4)));
    tg_scope_end(tape);
    x = tg_transpose(x, 0, 1);
    tg_scope_end(tape);
    tg_scope_begin(tape, "encoder");
    x = tg_reshape(tg_exp(x), TG_SHAPE(8));
    tg_scope_end(tape);
    const size_t length = tg_tape_summary(tape, text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    expect_line("(outside)", "[2, 3]", 0, 6);
    expect_line("encoder.inner", "[2, 4]", 0, 2 * 2 * 3 * 4);
    expect_line("encoder", "[8]", 0, 8 + 8);
    char few[12];
    ck_assert_uint_eq(tg_tape_summary(tape, few, sizeof few), length);
    ck_assert_str_eq(few, "layer      ");
    ck_assert_uint_eq(tg_tape_summary(tape, NULL, 0), length);
    ck_assert_uint_gt(tg_tape_summary(NULL, NULL, 0), 0);
}
END_TEST

Suite *summary_suite(void)
{
    Suite *suite = suite_create("summary");
    TCase *tests = tcase_create("summary");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, a_perceptron_is_counted_by_layers_and_the_backward_pass_is_not);
    tcase_add_loop_test(tests, a_transformer_is_counted_once_though_its_head_is_tied_and_its_blocks_recomputed, 0, 2);
    tcase_add_test(tests, scopes_nest_and_what_has_none_stands_outside);
    suite_add_tcase(suite, tests);
    return suite;
}
