/* Layers with more than one part: dropout, initialisation, and errors. */
#include "tests/support/tensors.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *blocks_suite(void);

static tg_parameters *set;

static void start(void)
{
    start_tape();
    set = tg_parameters_new(TG_F64);
}

static void finish(void)
{
    tg_parameters_free(set);
    finish_tape();
}

static void assert_equal(tg_tensor a, tg_tensor b)
{
    ck_assert_msg(tg_ok(a) && tg_ok(b), "%s", tg_tape_error(tape));
    for (int64_t i = 0; i < tg_size(a); i++)
        assert_close(tg_at(a, i), tg_at(b, i), TG_F64);
}

static bool differ(tg_tensor a, tg_tensor b)
{
    return memcmp(tg_f64(a), tg_f64(b), (size_t)tg_size(a) * sizeof(double)) != 0;
}

/* A rate so small that no element is dropped: the code with dropout gives the result of the code without. */
START_TEST(attention_with_dropout_is_attention_but_for_what_is_dropped)
{
    const tg_rng seed = tg_rng_seed(4);
    tg_rng rng = seed, once = seed, again = seed;
    tg_attention_config config = {.width = 6, .heads = 3, .causal = _i % 2};
    tg_attention a = tg_attention_add(set, "a", &config), b;
    ck_assert(tg_parameters_initialize(set, TG_INIT_XAVIER_UNIFORM, 0, &rng));
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 4, 6));
    double keep[] = {1, 1, 1, 1, 1, 1, 0, 0};
    tg_attention_context context = {.padding = tg_constant(tape, TG_F64, keep, TG_SHAPE(2, 4))};
    tg_tensor plain = tg_attention_forward(&a, x, &context, NULL);
    b = a;
    b.config.dropout = 1e-18;
    assert_equal(plain, tg_attention_forward(&b, x, &context, &rng));
    b.config.dropout = 0.5;
    tg_tensor dropped = tg_attention_forward(&b, x, &context, &once);
    assert_equal(dropped, tg_attention_forward(&b, x, &context, &again));
    ck_assert(differ(dropped, plain));
    assert_equal(plain, tg_attention_forward(&b, x, &context, NULL));
    ck_assert(differ(plain, tg_attention_forward(&a, x, NULL, NULL))); /* padding counts */
}
END_TEST

START_TEST(a_block_drops_in_training_only_and_its_gradient_is_exact)
{
    tg_rng rng = tg_rng_seed(4);
    tg_block_config config = _i == 0   ? tg_block_bert(6, 2)
                             : _i == 1 ? tg_block_gpt(6, 2)
                             : _i == 2 ? tg_block_vit(6, 2)
                                       : tg_block_llama(6, 1);
    config.dropout = config.attention.dropout = 0.25;
    tg_block block = tg_block_add(set, "layers.0", &config);
    ck_assert(tg_parameters_initialize(set, TG_INIT_XAVIER_UNIFORM, 0, &rng));
    ck_assert_ptr_nonnull(tg_parameters_find(set, "layers.0.norm2.weight"));
    ck_assert_ptr_nonnull(tg_parameters_find(set, _i == 3 ? "layers.0.mlp.down_proj.weight" : "layers.0.linear2.bias"));
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 6));
    double numbers[36];
    memcpy(numbers, tg_f64(x), sizeof numbers);
    tg_rng once = rng, again = rng;
    tg_tensor y = tg_block_forward(&block, x, NULL, &once), still = tg_block_forward(&block, x, NULL, NULL);
    ck_assert(differ(y, still));
    assert_equal(y, tg_block_forward(&block, x, NULL, &again));
    ck_assert(tg_backward(tg_sum(tg_square(y))));
    const double h = 1e-5;
    for (int i = 0; i < tg_parameters_count(set); i++) {
        tg_parameter *p = tg_parameters_at(set, i);
        const double value = tg_parameter_get(p, 1), gradient = ((const double *)p->gradient)[1];
        double loss[2];
        for (int side = 0; side < 2; side++) {
            once = rng;
            tg_parameter_put(p, 1, value + (side ? h : -h));
            tg_tape_reset(tape);
            x = tg_constant(tape, TG_F64, numbers, TG_SHAPE(2, 3, 6));
            loss[side] = tg_item(tg_sum(tg_square(tg_block_forward(&block, x, NULL, &once))));
        }
        tg_parameter_put(p, 1, value);
        ck_assert_msg(fabs((loss[1] - loss[0]) / (2 * h) - gradient) < 1e-5 * fmax(1, fabs(gradient)), "%s: %g, not %g",
                      p->name, gradient, (loss[1] - loss[0]) / (2 * h));
    }
}
END_TEST

/* The result at a position does not depend on later positions. */
START_TEST(a_causal_block_does_not_look_ahead)
{
    tg_rng rng = tg_rng_seed(4);
    const tg_block_config config = _i ? tg_block_llama(8, 2) : tg_block_gpt(8, 2);
    tg_block block = tg_block_add(set, "b", &config);
    ck_assert(tg_parameters_initialize(set, TG_INIT_XAVIER_UNIFORM, 0, &rng));
    tg_tensor x = drawn(TG_F64, TG_SHAPE(1, 5, 8));
    double changed[40];
    memcpy(changed, tg_f64(x), sizeof changed);
    for (int i = 24; i < 40; i++)
        changed[i] += 1;
    const tg_rotary rotary = tg_rotary_angles(tape, TG_F64, 5, 4, 10000);
    const tg_attention_context context = {.rotary = &rotary};
    tg_tensor y = tg_block_forward(&block, x, &context, NULL);
    tg_tensor other = tg_block_forward(&block, tg_constant(tape, TG_F64, changed, TG_SHAPE(1, 5, 8)), &context, NULL);
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(tg_at(y, i) == tg_at(other, i), i < 24);
}
END_TEST

START_TEST(embeddings_are_rows_of_a_table)
{
    const tg_rng rng = tg_rng_seed(3);
    tg_embedding_layer table = tg_embedding_layer_add(set, "wte", 2000, 3);
    tg_parameter_initial(table.weight, (tg_initial){.deviation = 0.02});
    ck_assert(tg_parameters_initialize(set, TG_INIT_XAVIER_UNIFORM, 0, &rng));
    double square = 0;
    for (int64_t i = 0; i < 6000; i++)
        square += tg_parameter_get(table.weight, i) * tg_parameter_get(table.weight, i) / 6000;
    ck_assert_double_eq_tol(square / (0.02 * 0.02), 1, 5 * sqrt(2. / 6000));
    tg_tensor first = tg_embedding_layer_first(&table, tape, 4);
    assert_shape(first, TG_SHAPE(4, 3));
    ck_assert_double_eq(tg_at(first, 11), tg_parameter_get(table.weight, 11));
    const int32_t wrong = 2000;
    ck_assert(!tg_ok(tg_embedding_layer_forward(&table, tg_constant(tape, TG_I32, &wrong, TG_SHAPE(1)))));
    expect_error("2000");
}
END_TEST

START_TEST(what_cannot_be_is_an_error_in_words)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 6));
    tg_attention wrong = tg_attention_add(set, "a", &(tg_attention_config){.width = 6, .heads = 4});
    ck_assert(!tg_ok(tg_attention_forward(&wrong, x, NULL, NULL)));
    expect_error("its widths and heads do not divide");
    wrong = tg_attention_add(set, "a", &(tg_attention_config){.width = 6, .heads = 3, .key_value_heads = 2});
    ck_assert(!tg_ok(tg_attention_forward(&wrong, x, NULL, NULL)));
    expect_error("its widths and heads do not divide");
    wrong = tg_attention_add(set, "a", &(tg_attention_config){.width = INT64_MAX / 2, .heads = 1});
    ck_assert(!tg_ok(tg_attention_forward(&wrong, x, NULL, NULL)));
    expect_error("its widths and heads do not divide");
    tg_attention fine = tg_attention_add(set, "b", &(tg_attention_config){.width = 6, .heads = 3});
    ck_assert(!tg_ok(tg_attention_forward(&fine, drawn(TG_F64, TG_SHAPE(3, 6)), NULL, NULL)));
    expect_error("expected x [batch, positions, 6]");
    const tg_shape paddings[] = {TG_SHAPE(3, 2), TG_SHAPE(6), TG_SHAPE(2, 3, 1)};
    for (int i = 0; i < 3; i++) {
        const tg_attention_context context = {.padding = drawn(TG_F64, paddings[i])};
        ck_assert(!tg_ok(tg_attention_forward(&fine, x, &context, NULL)));
        expect_error("expected padding [2, 3]");
    }
    ck_assert(!tg_ok(tg_rotary_angles(tape, TG_F64, 4, 3, 10000).cosine));
    expect_error("expected an even size");
    const tg_rotary rotary = tg_rotary_angles(tape, TG_F64, 3, 4, 10000);
    const tg_shape others[] = {TG_SHAPE(2, 3, 5), TG_SHAPE(2, 3, 8), TG_SHAPE(2, 1, 4), TG_SHAPE(4)};
    for (int i = 0; i < 4; i++) {
        ck_assert(!tg_ok(tg_rotary_turn(&rotary, drawn(TG_F64, others[i]))));
        expect_error("expected [..., 3, 4]");
    }
    const tg_rotary narrow = tg_rotary_angles(tape, TG_F64, 3, 2, 10000);
    ck_assert(!tg_ok(tg_rotary_turn(&narrow, x)));
    expect_error("expected [..., 3, 2]");
    tg_block_config batch = tg_block_gpt(6, 2), group = batch;
    batch.norm = TG_NORM_BATCH; /* in [batch, positions, width], positions would be taken as channels */
    group.norm = TG_NORM_GROUP;
    ck_assert_ptr_nonnull(strstr(tg_block_config_error(&batch), "not over the last axis"));
    ck_assert_ptr_nonnull(strstr(tg_block_config_error(&group), "not over the last axis"));
    tg_block_config unknown = tg_block_gpt(6, 2);
    unknown.activation = (tg_activation)999;
    ck_assert_str_eq(tg_block_config_error(&unknown), "there is no such activation or normalisation");
    unknown = (tg_block_config){.attention = {.width = 6, .heads = 2}, .norm = (tg_norm)999};
    ck_assert_str_eq(tg_block_config_error(&unknown), "there is no such activation or normalisation");
    const tg_block block = tg_block_add(set, "d", &batch);
    ck_assert(!tg_ok(tg_block_forward(&block, drawn(TG_F64, TG_SHAPE(2, 6, 6)), NULL, NULL)));
    expect_error("the block has no weight: tg_block_config_error");
    tg_convolution odd = tg_convolution_add(
        set, "c", &(tg_convolution_config){.inputs = 3, .outputs = 4, .kernel = {2, 2}, .window = {.groups = 2}});
    ck_assert(!tg_ok(tg_convolution_forward(&odd, drawn(TG_F64, TG_SHAPE(1, 3, 4, 4)))));
    expect_error("conv");
    tg_conv_block even = tg_conv_block_add(set, "e", &(tg_conv_block_config){.inputs = 3, .outputs = 4, .kernel = 2});
    ck_assert(!tg_ok(tg_conv_block_forward(&even, drawn(TG_F64, TG_SHAPE(1, 3, 4, 4)), NULL)));
    expect_error("the block has no weight: tg_conv_block_config_error");
}
END_TEST

START_TEST(batch_norm_refuses_other_channels_and_a_replay_of_its_training)
{
    tg_norm_layer norm = tg_norm_layer_add(set, "n", TG_NORM_BATCH, 6, 0),
                  none = tg_norm_layer_add(NULL, "n", TG_NORM_BATCH, 6, 0);
    tg_rng training = tg_rng_seed(1);
    ck_assert(!tg_ok(tg_norm_layer_forward(&norm, drawn(TG_F64, TG_SHAPE(4, 5)), &training)));
    expect_error("expected [batch, 6, ...]");
    ck_assert(!tg_ok(tg_norm_layer_forward(&none, drawn(TG_F64, TG_SHAPE(4, 6)), &training)));
    expect_error("the layer has no weight");
    ck_assert(tg_ok(tg_norm_layer_forward(&norm, drawn(TG_F64, TG_SHAPE(4, 6)), NULL)));
    ck_assert_msg(tg_replay(tape), "%s", tg_tape_error(tape));
    ck_assert(tg_ok(tg_norm_layer_forward(&norm, drawn(TG_F64, TG_SHAPE(4, 6)), &training)));
    ck_assert(!tg_replay(tape));
    expect_error("the running statistics of a batch norm move in each step, which a replay would not do");
}
END_TEST

START_TEST(null_and_inert_arguments_are_survived)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 6));
    ck_assert(!tg_ok(tg_attention_forward(NULL, x, NULL, NULL)));
    expect_error("tg_attention_forward");
    ck_assert(!tg_ok(tg_block_forward(NULL, x, NULL, NULL)));
    expect_error("there is no block");
    ck_assert(!tg_ok(tg_convolution_forward(NULL, x)));
    expect_error("tg_convolution_forward");
    ck_assert(!tg_ok(tg_embedding_layer_forward(NULL, x)));
    expect_error("tg_embedding_layer_forward");
    ck_assert(!tg_ok(tg_rotary_turn(NULL, x)));
    tg_parameter_initial(NULL, (tg_initial){.gain = 1});
    ck_assert(!tg_parameters_initialize(NULL, TG_INIT_HE_NORMAL, 0, NULL));
    ck_assert(!tg_parameters_initialize(set, (tg_init)99, 0, NULL));
    const tg_block_config config = tg_block_gpt(6, 2);
    const tg_block nowhere = tg_block_add(NULL, NULL, &config);
    ck_assert(!tg_ok(tg_block_forward(&nowhere, x, NULL, NULL)));
    expect_error("no weight");
    ck_assert_ptr_null(tg_block_add(set, "b", NULL).norm[0].weight);
    ck_assert_ptr_null(tg_attention_add(set, "b", NULL).out.weight);
    ck_assert_ptr_null(tg_convolution_add(set, "b", NULL).weight);
    const tg_block block = tg_block_add(set, "b", &config);
    ck_assert(!tg_ok(tg_block_forward(&block, TG_NONE, NULL, NULL)));
    ck_assert(!tg_ok(tg_rotary_angles(NULL, TG_F64, 4, 4, 10000).cosine));
}
END_TEST

/* ---- every layer and model on tensors that are not for it ---- */

/* A sample of a layer or a model, made for x of this shape. */
typedef struct subject {
    tg_layer layer;
    void *memory;
    tg_model *model;
} subject;

static subject make(const tg_layer_kind *layer, const tg_model_kind *model, int sample, const tg_shape *shape)
{
    subject s = {.memory = calloc(1, (layer ? layer->size : model->config_size) + 1)};
    const tg_rng rng = tg_rng_seed(1);
    if (layer)
        s.layer = layer->add(s.memory, set, layer->name, shape, sample);
    else {
        model->configure(s.memory, shape, sample);
        s.model = tg_model_new(model, &rng, s.memory);
    }
    return s;
}

static tg_tensor run(const subject *s, const tg_layer_sample *sample, tg_tensor x)
{
    tg_rng training = tg_rng_seed(2);
    tg_layer_pass pass = {.training = sample->training ? &training : NULL};
    return s->model ? tg_model_forward_with(s->model, x, &pass) : s->layer.kind->forward(&s->layer, x, &pass);
}

/* Each gives a result, which has a derivative, or an error. */
static void expect_no_surprise(const subject *s, const tg_layer_sample *sample, tg_tensor x)
{
    const bool given = tg_ok(x);
    const tg_tensor y = run(s, sample, x);
    ck_assert(given || !tg_ok(y));
    ck_assert_msg(tg_ok(y) || !given || tg_tape_error(tape), "%s: neither a result nor an error", sample->about);
    if (tg_ok(y) && tg_dtype_of(y) != TG_I32)
        tg_backward(tg_sum(y));
    tg_tape_clear_error(tape);
    tg_tape_reset(tape);
}

static void try_sample(const tg_layer_kind *layer, const tg_model_kind *model, int number)
{
    const tg_layer_sample *sample = &(layer ? layer->samples : model->samples)[number];
    for (const tg_shape *shape = sample->shapes; shape->rank > 0; shape++) {
        tg_parameters_free(set);
        set = tg_parameters_new(TG_F64);
        const subject s = make(layer, model, number, shape);
        expect_no_surprise(&s, sample, TG_NONE);
        for (tg_dtype type = TG_F32; type <= TG_I32; type++)
            for (int number_of = -1; number_of <= 6; number_of += 7) { /* as an index out of range */
                expect_no_surprise(&s, sample, tg_full(tape, type, *shape, number_of));
                for (int axis = 0; axis < shape->rank; axis++)
                    for (int64_t size = 0; size <= 1; size++) {
                        tg_shape other = *shape;
                        other.dim[axis] = size;
                        expect_no_surprise(&s, sample, tg_full(tape, type, other, number_of));
                    }
                tg_shape fewer = *shape, more = *shape;
                fewer.rank--;
                more.dim[more.rank++] = 1;
                expect_no_surprise(&s, sample, tg_full(tape, type, fewer, number_of));
                expect_no_surprise(&s, sample, tg_full(tape, type, more, number_of));
            }
        tg_model_free(s.model);
        free(s.memory);
    }
}

static void with_all_samples(void (*call)(const tg_layer_kind *layer, const tg_model_kind *model, int number))
{
    for (int i = 0; tg_layer_kind_at(i); i++)
        for (int number = 0; tg_layer_kind_at(i)->samples[number].about; number++)
            call(tg_layer_kind_at(i), NULL, number);
    for (int i = 0; tg_model_kind_at(i); i++)
        for (int number = 0; tg_model_kind_at(i)->samples[number].about; number++)
            call(NULL, tg_model_kind_at(i), number);
}

START_TEST(no_layer_and_no_model_stumbles_over_a_tensor_that_is_not_for_it)
{
    with_all_samples(try_sample);
}
END_TEST

/* A step on this tape; the loss and the sum of the gradients' squares, or false with an error. */
static bool step(const subject *s, const tg_layer_sample *sample, const tg_shape *shape, double result[2])
{
    static const double numbers[128];
    tg_parameters *of = s->model ? tg_model_parameters(s->model) : set;
    tg_tape_reset(tape);
    tg_parameters_clear_gradients(of);
    const tg_tensor x = sample->ids ? tg_constant(tape, TG_I32, numbers, *shape)
                                    : tg_add_scalar(tg_variable(tape, TG_F64, numbers, *shape), 0.5),
                    loss = tg_sum(tg_square(run(s, sample, x)));
    if (!tg_backward(loss))
        return false;
    result[0] = tg_item(loss);
    result[1] = tg_parameters_gradient_norm(of);
    return true;
}

static void fail_once(const tg_layer_kind *layer, const tg_model_kind *model, int number)
{
    const tg_layer_sample *sample = &(layer ? layer->samples : model->samples)[number];
    tg_parameters_free(set);
    set = tg_parameters_new(TG_F64);
    const subject s = make(layer, model, number, sample->shapes);
    tg_tape *const of_test = tape;
    double expected[2] = {0}, result[2] = {0};
    const bool can = step(&s, sample, sample->shapes, expected);
    tg_tape_clear_error(tape);
    for (int allowed = 0, failed = 1; can && failed; allowed++) {
        tape = tg_tape_new();
        wrapped_memory_fail_after(allowed);
        const bool fine = step(&s, sample, sample->shapes, result);
        failed = wrapped_memory_stop();
        ck_assert_msg(fine || tg_tape_error(tape), "%s: no error", sample->about);
        ck_assert_msg(!fine || memcmp(result, expected, sizeof result) == 0, "%s, %d: another result", sample->about,
                      allowed);
        tg_tape_clear_error(tape);
        ck_assert_msg(step(&s, sample, sample->shapes, result), "%s, %d: %s", sample->about, allowed,
                      tg_tape_error(tape));
        ck_assert_msg(memcmp(result, expected, sizeof result) == 0, "%s, %d: another result", sample->about, allowed);
        tg_tape_free(tape);
    }
    tape = of_test;
    tg_model_free(s.model);
    free(s.memory);
}

START_TEST(a_step_that_lacked_memory_is_right_the_next_time)
{
    with_all_samples(fail_once);
}
END_TEST

Suite *blocks_suite(void)
{
    Suite *suite = suite_create("blocks");
    TCase *tests = tcase_create("blocks");
    tcase_add_checked_fixture(tests, start, finish);
    tcase_add_loop_test(tests, attention_with_dropout_is_attention_but_for_what_is_dropped, 0, 2);
    tcase_add_loop_test(tests, a_block_drops_in_training_only_and_its_gradient_is_exact, 0, 4);
    tcase_add_loop_test(tests, a_causal_block_does_not_look_ahead, 0, 2);
    tcase_add_test(tests, embeddings_are_rows_of_a_table);
    tcase_add_test(tests, what_cannot_be_is_an_error_in_words);
    tcase_add_test(tests, batch_norm_refuses_other_channels_and_a_replay_of_its_training);
    tcase_add_test(tests, null_and_inert_arguments_are_survived);
    tcase_add_test(tests, no_layer_and_no_model_stumbles_over_a_tensor_that_is_not_for_it);
    tcase_add_test(tests, a_step_that_lacked_memory_is_right_the_next_time);
    suite_add_tcase(suite, tests);
    return suite;
}
