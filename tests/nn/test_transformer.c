/* Transformers: learning, cost of a step, refusals. test_layers.c compares them with PyTorch. */
#include "tests/support/temporary_files.h"
#include "tests/support/tensors.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *transformer_suite(void);

static tg_transformer_config small(int llama)
{
    tg_transformer_config config = {.vocabulary = 7, .context = 8, .layers = 2, .tied = true};
    config.block = llama ? tg_block_llama(16, 2) : tg_block_gpt(16, 2);
    config.rotary_base = llama ? 10000 : 0;
    return config;
}

/* A step on sequences that count, each from its own start by its own stride; the loss, NaN on failure. */
static double step(const tg_transformer *model, tg_optimizer *adamw, tg_rng *training, int number)
{
    int32_t ids[4 * 8], next[4 * 8];
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < 8; i++) {
            const int stride = 1 + (number + row) % 3, from = number + 2 * row;
            ids[row * 8 + i] = (from + stride * i) % 7;
            next[row * 8 + i] = (from + stride * (i + 1)) % 7;
        }
    tg_tape_reset(tape);
    tg_tensor logits = tg_transformer_forward(model, tg_constant(tape, TG_I32, ids, TG_SHAPE(4, 8)), training);
    tg_tensor loss = tg_cross_entropy(logits, tg_constant(tape, TG_I32, next, TG_SHAPE(4, 8)));
    return tg_backward(loss) && tg_optimizer_step(adamw) ? tg_item(loss) : NAN;
}

START_TEST(a_model_learns_to_count_by_strides)
{
    tg_rng rng = tg_rng_seed(1);
    const tg_transformer_config config = small(_i);
    tg_transformer *model = tg_transformer_new(&rng, &config);
    tg_optimizer *adamw = tg_optimizer_new(tg_transformer_parameters(model), &(tg_optimizer_config){.lr = 1e-2});
    const double first = step(model, adamw, NULL, 0);
    ck_assert_double_eq_tol(first, log(7), 0.5); /* it knows nothing; logits have deviation 0.63 */
    double last = first;
    for (int number = 1; number < 300; number++)
        last = step(model, adamw, NULL, number);
    ck_assert_double_lt(last, 0.45); /* the stride shows in the second number only: log(3) / 8 at best is 0.14 */
    tg_optimizer_free(adamw);
    tg_transformer_free(model);
}
END_TEST

/* Root mean square of a weight. */
static double size_of(const tg_transformer *model, const char *name)
{
    const tg_parameter *p = tg_parameters_find(tg_transformer_parameters(model), name);
    const int64_t n = tg_shape_size(&p->shape);
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += tg_parameter_get(p, i) * tg_parameter_get(p, i);
    return sqrt(squares / (double)n);
}

/* Embeddings are drawn as weights of `width` inputs, and the weights of the 2 layers' 4 sums are divided by 2. */
START_TEST(any_initialiser_draws_the_weights)
{
    static const struct {
        const char *name;
        double gpt2,
            he; /* deviation by these rules; the default's is sqrt(2 / 320), 0.0790569, over 0.02 as large as gpt2's */
    } weights[] = {{"token_embedding.weight", 0.02, 0.1767767},
                   {"position_embedding.weight", 0.02, 0.1767767},
                   {"layers.0.self_attn.in_proj_weight", 0.02, 0.1767767},
                   {"layers.1.self_attn.out_proj.weight", 0.01, 0.0883883},
                   {"layers.0.linear1.weight", 0.02, 0.1767767},
                   {"layers.1.linear2.weight", 0.01, 0.0441942}};
    static const tg_init inits[] = {TG_INIT_GPT2, TG_INIT_HE_NORMAL, TG_INIT_HE_UNIFORM, TG_INIT_DEFAULT};
    for (int i = 0; i < 4; i++)
        for (int scale = 0; scale < 3; scale++) { /* 0 counts as 1 */
            const tg_rng rng = tg_rng_seed(1);
            tg_transformer_config config = {.vocabulary = 99, .context = 40, .layers = 2, .block = tg_block_gpt(64, 2)};
            config.init = inits[i];
            config.scale = scale;
            tg_transformer *model = tg_transformer_new(&rng, &config);
            for (int w = 0; w < 6; w++) {
                const double expected = (scale ? scale : 1) * (i == 3 ? weights[w].gpt2 * 0.0790569 / 0.02
                                                               : i    ? weights[w].he
                                                                      : weights[w].gpt2);
                ck_assert_double_eq_tol(size_of(model, weights[w].name) / expected, 1, 0.04);
            }
            tg_transformer_free(model);
        }
}
END_TEST

START_TEST(feed_forward_layers_have_a_scale_of_their_own)
{
    static const char *const plain[] = {"layers.0.linear1.weight", "layers.1.linear2.weight"},
                             *const gated[] = {"layers.0.mlp.gate_proj.weight", "layers.0.mlp.up_proj.weight",
                                               "layers.1.mlp.down_proj.weight"},
                             *const others[] = {"token_embedding.weight", "layers.1.self_attn.out_proj.weight"};
    const tg_rng rng = tg_rng_seed(1);
    for (int is_gated = 0; is_gated < 2; is_gated++) {
        tg_transformer_config config = {
            .vocabulary = 99, .context = 40, .layers = 2, .block = tg_block_gpt(64, 2), .init = TG_INIT_GPT2};
        config.block.activation = is_gated ? TG_SWIGLU : TG_RELU;
        tg_transformer *model = tg_transformer_new(&rng, &config);
        config.block.feed_forward_scale = 3;
        tg_transformer *scaled = tg_transformer_new(&rng, &config);
        for (int w = 0; w < (is_gated ? 3 : 2); w++) {
            const char *name = (is_gated ? gated : plain)[w];
            ck_assert_double_eq_tol(size_of(scaled, name) / size_of(model, name), 3, 1e-6);
        }
        for (int w = 0; w < 2; w++)
            ck_assert_double_eq(size_of(scaled, others[w]), size_of(model, others[w]));
        tg_transformer_free(model);
        tg_transformer_free(scaled);
    }
    tg_transformer_config wrong = {.vocabulary = 9, .context = 4, .layers = 1, .block = tg_block_gpt(8, 2)};
    wrong.block.feed_forward_scale = -1;
    ck_assert_ptr_null(tg_transformer_new(&rng, &wrong));
}
END_TEST

START_TEST(after_the_first_steps_a_step_allocates_nothing)
{
    tg_rng rng = tg_rng_seed(1);
    tg_transformer_config config = small(_i);
    config.dropout = config.block.dropout = config.block.attention.dropout = 0.1;
    tg_transformer *model = tg_transformer_new(&rng, &config);
    tg_optimizer *adamw = tg_optimizer_new(tg_transformer_parameters(model), NULL);
    for (int number = 0; number < 5; number++) {
        if (number > 2)
            wrapped_memory_fail_after(0);
        const bool fine = isfinite(step(model, adamw, &rng, number)), allocated = wrapped_memory_stop();
        ck_assert_msg(fine && !allocated, "step %d: %s", number, tg_tape_error(tape));
    }
    tg_optimizer_free(adamw);
    tg_transformer_free(model);
}
END_TEST

START_TEST(padding_is_not_seen)
{
    tg_rng rng = tg_rng_seed(1);
    tg_transformer_config config = {.vocabulary = 7, .context = 8, .layers = 2, .block = tg_block_bert(16, 2)};
    config.no_head = true;
    tg_transformer *model = tg_transformer_new(&rng, &config);
    const int32_t a[] = {1, 2, 3, 0, 0}, b[] = {1, 2, 3, 6, 5};
    const float keep[] = {1, 1, 1, 0, 0};
    tg_tensor padding = tg_constant(tape, TG_F32, keep, TG_SHAPE(1, 5));
    tg_tensor x = tg_transformer_forward_padded(model, tg_constant(tape, TG_I32, a, TG_SHAPE(1, 5)), padding, NULL);
    tg_tensor y = tg_transformer_forward_padded(model, tg_constant(tape, TG_I32, b, TG_SHAPE(1, 5)), padding, NULL);
    assert_shape(x, TG_SHAPE(1, 5, 16));
    ck_assert_mem_eq(tg_f32(x), tg_f32(y), 3 * 16 * sizeof(float));
    ck_assert_double_ne(tg_at(x, 3 * 16), tg_at(y, 3 * 16));
    tg_transformer_free(model);
}
END_TEST

START_TEST(wrong_configurations_and_ids_are_refused_with_the_reason)
{
    static const struct {
        const char *reason;
        tg_transformer_config config;
    } wrong[] = {
        {"vocabulary", {.context = 8, .block = {.attention = {.width = 4, .heads = 2}}}},
        {"context", {.vocabulary = 8, .block = {.attention = {.width = 4, .heads = 2}}}},
        {"layers", {.vocabulary = 8, .context = 8, .layers = 257, .block = {.attention = {.width = 4, .heads = 2}}}},
        {"width", {.vocabulary = 8, .context = 8, .block = {.attention = {.width = 4, .heads = 3}}}},
        {"key and value",
         {.vocabulary = 8, .context = 8, .block = {.attention = {.width = 4, .heads = 4, .key_value_heads = 3}}}},
        {"rotary",
         {.vocabulary = 8, .context = 8, .rotary_base = 10, .block = {.attention = {.width = 3, .heads = 1}}}},
        {"dropout", {.vocabulary = 8, .context = 8, .dropout = 1, .block = {.attention = {.width = 4, .heads = 2}}}},
        {"f32 or f64",
         {.vocabulary = 8, .context = 8, .dtype = TG_I32, .block = {.attention = {.width = 4, .heads = 2}}}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *error = tg_transformer_config_error(&wrong[i].config);
        ck_assert_msg(error && strstr(error, wrong[i].reason), "%s: %s", wrong[i].reason, error ? error : "accepted");
        ck_assert_ptr_null(tg_transformer_new(NULL, &wrong[i].config));
    }
    const tg_transformer_config config = small(0);
    tg_transformer *model = tg_transformer_new(NULL, &config);
    const int32_t ids[9] = {0};
    ck_assert(!tg_ok(tg_transformer_forward(model, tg_constant(tape, TG_I32, ids, TG_SHAPE(1, 9)), NULL)));
    expect_error("expected ids [batch, positions], 8 positions at most, not [");
    ck_assert(!tg_ok(tg_transformer_forward(NULL, tg_constant(tape, TG_I32, ids, TG_SHAPE(1, 9)), NULL)));
    expect_error("no model");
    ck_assert(!tg_ok(tg_transformer_forward(model, TG_NONE, NULL)));
    tg_transformer_free(model);
    tg_transformer_free(NULL);
    ck_assert_ptr_null(tg_transformer_new(NULL, NULL));
    ck_assert_ptr_null(tg_transformer_parameters(NULL));
}
END_TEST

START_TEST(too_little_memory_gives_null)
{
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        const tg_transformer_config config = small(nth % 2);
        wrapped_memory_fail_after(nth);
        tg_transformer *model = tg_transformer_new(NULL, &config);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(reached, !model);
        tg_transformer_free(model);
        ck_assert_int_lt(nth, 200);
    }
}
END_TEST

#if !defined _WIN32

/* examples/gpt.c on a small text; its file has the weights of the model that it names. */
START_TEST(the_gpt_example_trains_and_keeps_its_weights)
{
    char command[1200];
    tg_error error;
    const char *folder = getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
    temporary_folder_make();
    snprintf(command, sizeof command, "\"%s/bin/gpt\" README.md 2 '%s' > '%s'", folder, temporary_path("gpt"),
             temporary_path("out"));
    ck_assert_int_eq(system(command), 0);
    ck_assert_ptr_nonnull(strstr(temporary_text("out"), "step     2   loss "));
    const tg_transformer_config config = {
        .vocabulary = 256, .context = 64, .layers = 4, .block = tg_block_gpt(64, 4), .tied = true};
    tg_transformer *model = tg_transformer_new(NULL, &config);
    ck_assert_msg(tg_parameters_load(tg_transformer_parameters(model), temporary_path("gpt"), NULL, &error), "%s",
                  error.text);
    tg_transformer_free(model);
    snprintf(command, sizeof command, "\"%s/bin/gpt\" /dev/null 2> '%s'", folder, temporary_path("out"));
    ck_assert_int_ne(system(command), 0);
    ck_assert_ptr_nonnull(strstr(temporary_text("out"), "usage: gpt"));
    temporary_folder_remove();
}
END_TEST

#endif

Suite *transformer_suite(void)
{
    Suite *suite = suite_create("transformer");
    TCase *tests = tcase_create("transformer");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, any_initialiser_draws_the_weights);
    tcase_add_test(tests, feed_forward_layers_have_a_scale_of_their_own);
    tcase_add_loop_test(tests, a_model_learns_to_count_by_strides, 0, 2);
    tcase_add_loop_test(tests, after_the_first_steps_a_step_allocates_nothing, 0, 2);
    tcase_add_test(tests, padding_is_not_seen);
    tcase_add_test(tests, wrong_configurations_and_ids_are_refused_with_the_reason);
    tcase_add_test(tests, too_little_memory_gives_null);
#if !defined _WIN32
    tcase_add_test(tests, the_gpt_example_trains_and_keeps_its_weights);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}
