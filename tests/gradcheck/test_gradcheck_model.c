/* The gradient checker on a model of many operations. */
#include <check.h>
#include <tapegrad.h>

Suite *gradcheck_model_suite(void);

/* Pre-norm, causal, two heads: x [batch, time, width] and twelve weights. */
enum { TF_BATCH = 2, TF_TIME = 5, TF_WIDTH = 12, TF_HEADS = 2, TF_HIDDEN = 20, TF_INPUTS = 13 };

static tg_tensor transformer_heads(tg_tensor x)
{
    x = tg_reshape(x, TG_SHAPE(TF_BATCH, TF_TIME, TF_HEADS, TF_WIDTH / TF_HEADS));
    return tg_permute(x, TG_AXES(0, 2, 1, 3));
}

static tg_tensor transformer_block(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    tg_tensor x = in[0], parts[3];
    (void)t, (void)count, (void)user;
    tg_split(tg_linear(tg_layer_norm(x, in[1], in[2], 1e-5), in[3], in[4]), -1, 3, parts);
    tg_tensor mixed = tg_scaled_dot_product_attention(transformer_heads(parts[0]), transformer_heads(parts[1]),
                                                      transformer_heads(parts[2]), TG_NONE, true);
    mixed = tg_reshape(tg_permute(mixed, TG_AXES(0, 2, 1, 3)), TG_SHAPE(TF_BATCH, TF_TIME, TF_WIDTH));
    x = tg_add(x, tg_linear(mixed, in[5], in[6]));
    tg_tensor hidden = tg_gelu_exact(tg_linear(tg_layer_norm(x, in[7], in[8], 1e-5), in[9], in[10]));
    return tg_add(x, tg_linear(hidden, in[11], in[12]));
}

START_TEST(a_transformer_block_is_right_to_second_order)
{
    const tg_shape shapes[TF_INPUTS] = {TG_SHAPE(TF_BATCH, TF_TIME, TF_WIDTH),
                                        TG_SHAPE(TF_WIDTH),
                                        TG_SHAPE(TF_WIDTH),
                                        TG_SHAPE(3 * TF_WIDTH, TF_WIDTH),
                                        TG_SHAPE(3 * TF_WIDTH),
                                        TG_SHAPE(TF_WIDTH, TF_WIDTH),
                                        TG_SHAPE(TF_WIDTH),
                                        TG_SHAPE(TF_WIDTH),
                                        TG_SHAPE(TF_WIDTH),
                                        TG_SHAPE(TF_HIDDEN, TF_WIDTH),
                                        TG_SHAPE(TF_HIDDEN),
                                        TG_SHAPE(TF_WIDTH, TF_HIDDEN),
                                        TG_SHAPE(TF_WIDTH)};
    static double data[TF_INPUTS][3 * TF_WIDTH * TF_WIDTH];
    tg_gradcheck_input inputs[TF_INPUTS];
    tg_rng rng = tg_rng_seed(8);
    for (int i = 0; i < TF_INPUTS; i++) {
        for (int64_t k = 0; k < tg_shape_size(&shapes[i]); k++)
            data[i][k] = 0.5 * tg_rng_normal(&rng);
        inputs[i] = (tg_gradcheck_input){.shape = shapes[i], .data = data[i]};
    }
    const tg_gradcheck_options options = {.order = 2, .seed = 1};
    tg_gradcheck_result result = tg_gradcheck(transformer_block, NULL, inputs, TF_INPUTS, &options);
    ck_assert_msg(result.passed, "%s", result.why);
}
END_TEST

Suite *gradcheck_model_suite(void)
{
    Suite *suite = suite_create("gradcheck_model");
    TCase *tests = tcase_create("gradcheck_model");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, a_transformer_block_is_right_to_second_order);
    suite_add_tcase(suite, tests);
    return suite;
}
