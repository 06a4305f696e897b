/* Averages of the weights, gradients in parts, recomputed blocks. */
#include "tests/support/temporary_files.h"
#include "tests/support/tensors.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *ema_suite(void);

/* ---- averages ---- */

static tg_parameters *set_of(tg_dtype dtype, tg_parameter **weight, tg_parameter **running)
{
    tg_parameters *set = tg_parameters_new(dtype);
    *weight = tg_parameters_add(set, "weight", TG_SHAPE(3, 2), true);
    *running = tg_parameters_add(set, "running", TG_SHAPE(2), false);
    (*running)->gradient = NULL;
    return set;
}

static void set_weights(tg_parameter *p, int step)
{
    for (int64_t i = 0; i < tg_shape_size(&p->shape); i++)
        tg_parameter_put(p, i, sin((double)(7 * step + i)));
}

/* After n updates, the weight w_k of update k has the factor (1 - d) d^(n-k) in the average, the first one d^(n-1). */
START_TEST(an_average_is_the_sum_of_weights_that_fade)
{
    const tg_dtype dtype = _i % 2 ? TG_F64 : TG_F32;
    const bool warmup = _i / 2;
    tg_parameter *weight, *running;
    tg_parameters *set = set_of(dtype, &weight, &running);
    tg_ema *ema = tg_ema_new(set, &(tg_ema_config){.decay = 0.9, .warmup = warmup});
    double factor[20], last = 0;
    for (int step = 0; step < 20; step++) {
        set_weights(weight, step);
        set_weights(running, 100 + step);
        ck_assert(tg_ema_update(ema));
        const double early = (1. + step) / (10. + step), decay = warmup && early < 0.9 ? early : 0.9;
        for (int k = 0; k < step; k++)
            factor[k] *= decay;
        factor[step] = step == 0 ? 1 : 1 - decay;
    }
    const tg_parameter *average = tg_parameters_find(tg_ema_parameters(ema), "weight");
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int k = 0; k < 20; k++)
            sum += factor[k] * sin((double)(7 * k + i));
        assert_close(tg_parameter_get(average, i), sum, dtype);
    }
    average = tg_parameters_find(tg_ema_parameters(ema), "running");
    for (int i = 0; i < 2; i++)
        last = fmax(last, fabs(tg_parameter_get(average, i) - tg_parameter_get(running, i)));
    ck_assert_double_eq(last, 0);
    ck_assert_int_eq(tg_ema_updates(ema), 20);
    tg_ema_free(ema);
    tg_parameters_free(set);
}
END_TEST

START_TEST(swapping_twice_changes_nothing)
{
    tg_parameter *weight, *running;
    tg_parameters *set = set_of(TG_F32, &weight, &running);
    set_weights(weight, 0);
    tg_ema *ema = tg_ema_new(set, NULL);
    ck_assert(tg_ema_update(ema));
    set_weights(weight, 1);
    ck_assert(tg_ema_update(ema));
    tg_ema_swap(ema);
    ck_assert(tg_ema_is_swapped(ema) && !tg_ema_update(ema));
    assert_close(tg_parameter_get(weight, 3), sin(3) + 0.001 * (sin(10) - sin(3)), TG_F32);
    tg_ema_swap(ema);
    ck_assert_float_eq((float)tg_parameter_get(weight, 3), (float)sin(10));
    tg_ema_swap(ema);
    tg_ema_free(ema); /* puts the weights back */
    ck_assert_float_eq((float)tg_parameter_get(weight, 3), (float)sin(10));
    tg_parameters_free(set);
}
END_TEST

/* Parameters that were added have no average. Weights that were swapped out still come back. */
START_TEST(a_set_that_has_grown_is_refused_and_gets_its_weights_back)
{
    tg_error error;
    tg_parameter *weight, *running;
    tg_parameters *set = set_of(TG_F32, &weight, &running);
    tg_ema *ema = tg_ema_new(set, NULL);
    set_weights(weight, 0);
    ck_assert(tg_ema_update(ema));
    set_weights(weight, 1);
    if (_i)
        ck_assert(tg_ema_swap(ema));
    ck_assert_ptr_null(tg_ema_error(ema));
    ck_assert_ptr_nonnull(tg_parameters_add(set, "more", TG_SHAPE(1000), true));
    ck_assert(!tg_ema_update(ema) && tg_ema_swap(ema) == _i);
    ck_assert(!tg_ema_swap(ema));
    ck_assert_str_eq(tg_ema_error(ema), "tg_ema_swap: the parameter set has grown since the average was made");
    ck_assert(!tg_ema_update(ema));
    ck_assert_str_eq(tg_ema_error(ema), "tg_ema_update: the parameter set has grown since the average was made");
    ck_assert_float_eq((float)tg_parameter_get(weight, 3), (float)sin(10));
    ck_assert(!tg_training_state_save(&(tg_training_state){.parameters = set, .ema = ema}, "unused", NULL, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "the parameter set has grown since the average was made"));
    tg_ema_free(ema);
    tg_parameters_free(set);
}
END_TEST

START_TEST(averages_travel_in_a_training_state)
{
    tg_error error;
    tg_parameter *weight, *running;
    tg_parameters *set = set_of(TG_F32, &weight, &running);
    tg_ema *ema = tg_ema_new(set, NULL), *other = tg_ema_new(set, NULL);
    tg_training_state state = {.parameters = set, .ema = ema};
    temporary_folder_make();
    for (int step = 0; step < 4; step++) {
        set_weights(weight, step);
        tg_ema_update(ema);
    }
    ck_assert_msg(tg_training_state_save(&state, temporary_path("run"), NULL, 0, &error), "%s", error.text);
    state.ema = other;
    ck_assert_msg(tg_training_state_load(&state, temporary_path("run"), &error), "%s", error.text);
    ck_assert_int_eq(tg_ema_updates(other), 4);
    ck_assert_mem_eq(tg_parameters_values(tg_ema_parameters(ema)), tg_parameters_values(tg_ema_parameters(other)),
                     8 * sizeof(float));
    tg_ema_swap(other);
    ck_assert(!tg_training_state_save(&state, temporary_path("run"), NULL, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "tg_ema_swap"));
    tg_ema_swap(other);
    state.ema = NULL;
    ck_assert(!tg_training_state_load(&state, temporary_path("run"), &error));
    ck_assert_ptr_nonnull(strstr(error.text, "'training.ema'"));
    temporary_folder_remove();
    tg_ema_free(ema);
    tg_ema_free(other);
    tg_parameters_free(set);
}
END_TEST

START_TEST(nothing_and_too_little_memory_are_survived)
{
    tg_parameter *weight, *running;
    tg_parameters *set = set_of(TG_F32, &weight, &running);
    ck_assert_ptr_null(tg_ema_new(NULL, NULL));
    ck_assert_ptr_null(tg_ema_new(set, &(tg_ema_config){.decay = 1}));
    ck_assert_ptr_null(tg_ema_new(set, &(tg_ema_config){.decay = NAN}));
    ck_assert(!tg_ema_update(NULL) && !tg_ema_is_swapped(NULL) && !tg_ema_restore(NULL, 1));
    ck_assert_ptr_null(tg_ema_parameters(NULL));
    ck_assert_int_eq(tg_ema_updates(NULL), 0);
    tg_ema_swap(NULL);
    tg_ema_free(NULL);
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        tg_ema *ema = tg_ema_new(set, NULL);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(reached, !ema);
        ck_assert(!tg_ema_restore(ema, -1));
        tg_ema_free(ema);
        ck_assert_int_lt(nth, 50);
    }
    tg_parameters_free(set);
}
END_TEST

/* ---- gradients in parts ---- */

typedef struct batch {
    tg_mlp *net;
    int rows; /* of a part */
    int wrong;
} batch;

static tg_tensor part_loss(tg_tape *on, int part, void *user)
{
    const batch *b = user;
    double x[24], y[24];
    for (int i = 0; i < 3 * b->rows; i++) {
        x[i] = sin(part * 3 * b->rows + i);
        y[i] = cos(part * 3 * b->rows + i);
    }
    if (part == b->wrong)
        tg_tape_fail(on, "no more data");
    tg_tensor prediction = tg_mlp_forward(b->net, tg_constant(on, TG_F64, x, TG_SHAPE(b->rows, 3)));
    return tg_mse(prediction, tg_constant(on, TG_F64, y, TG_SHAPE(b->rows, 3)));
}

static tg_tensor no_loss(tg_tape *on, int part, void *user)
{
    (void)on, (void)part, (void)user;
    return TG_NONE;
}

START_TEST(parts_add_up_to_the_whole)
{
    tg_rng rng = tg_rng_seed(1);
    batch b = {tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 3, .hidden = {5}, .outputs = 3, .dtype = TG_F64}), 8, -1};
    tg_parameters *set = tg_mlp_parameters(b.net);
    const size_t size = (size_t)tg_parameters_size(set);
    double whole, parts, *expected = malloc(size * sizeof *expected);
    ck_assert(tg_accumulate(tape, 1, part_loss, &b, &whole));
    memcpy(expected, tg_parameters_gradients(set), size * sizeof *expected);
    for (int count = 2; count <= 8; count *= 2) {
        tg_parameters_clear_gradients(set);
        b.rows = 8 / count;
        ck_assert(tg_accumulate(tape, count, part_loss, &b, &parts));
        ck_assert_double_eq_tol(parts, whole, 1e-14);
        for (size_t i = 0; i < size; i++)
            ck_assert_double_eq_tol(((double *)tg_parameters_gradients(set))[i], expected[i], 1e-14);
    }
    b.wrong = 2;
    ck_assert(!tg_accumulate(tape, 4, part_loss, &b, &parts) && isnan(parts));
    expect_error("no more data");
    ck_assert(!tg_accumulate(tape, 0, part_loss, &b, NULL));
    expect_error("one part at least");
    ck_assert(!tg_accumulate(tape, 2, NULL, &b, NULL));
    expect_error("tg_accumulate");
    ck_assert(!tg_accumulate(tape, 2, no_loss, NULL, NULL));
    expect_error("tg_accumulate: part 0 has no loss");
    ck_assert(!tg_accumulate(NULL, 2, part_loss, &b, NULL));
    free(expected);
    tg_mlp_free(b.net);
}
END_TEST

/* ---- recomputed blocks ---- */

typedef struct memory {
    int64_t forward, used, held;
} memory;

/* A training step of a BERT encoder of 12 layers, width 128, 4 heads, dropout 0.1, on 4 sequences of 64; measures its
 * tape's memory. */
static memory bert_step(bool recompute, float *gradients)
{
    tg_rng rng = tg_rng_seed(1), training = tg_rng_seed(2);
    tg_transformer_config config = {
        .vocabulary = 50, .context = 64, .layers = 12, .block = tg_block_bert(128, 4), .dropout = 0.1};
    config.block.dropout = config.block.attention.dropout = 0.1;
    config.block.recompute = recompute;
    tg_transformer *model = tg_transformer_new(&rng, &config);
    tg_parameters *set = tg_transformer_parameters(model);
    tg_tape *own = tg_tape_new();
    int32_t ids[4 * 64];
    for (int i = 0; i < 4 * 64; i++)
        ids[i] = i * i % 50;
    tg_tensor x = tg_constant(own, TG_I32, ids, TG_SHAPE(4, 64)),
              loss = tg_cross_entropy(tg_transformer_forward(model, x, &training), x);
    const int64_t forward = tg_tape_count(own).bytes_used;
    ck_assert_msg(tg_backward(loss), "%s", tg_tape_error(own));
    memcpy(gradients, tg_parameters_gradients(set), (size_t)tg_parameters_size(set) * sizeof(float));
    const memory m = {forward, tg_tape_count(own).bytes_used, tg_tape_count(own).bytes_held};
    tg_tape_free(own);
    tg_transformer_free(model);
    return m;
}

/* Recomputation needs a quarter of the used memory; the tape may keep up to twice what it uses. The backward pass
 * without recomputation needs the tensors of a few layers, not of all. */
START_TEST(recomputed_blocks_of_bert_take_less_than_two_fifths_of_the_memory)
{
    enum { MOST = 3000000 };
    float *stored = calloc(MOST, sizeof *stored), *recomputed = calloc(MOST, sizeof *recomputed);
    const memory all = bert_step(false, stored), some = bert_step(true, recomputed);
    ck_assert_mem_eq(stored, recomputed, MOST * sizeof *stored);
    ck_assert_float_ne(stored[10], 0);
    if (getenv("TG_LONG"))
        printf("BERT of 12 layers: %.1f MB stored, %.1f MB recomputed, %.1f %%; held %.1f and %.1f MB, %.1f %%\n",
               (double)all.used / 1e6, (double)some.used / 1e6, 100. * (double)some.used / (double)all.used,
               (double)all.held / 1e6, (double)some.held / 1e6, 100. * (double)some.held / (double)all.held);
    ck_assert_msg((double)some.used < 0.25 * (double)all.used, "%lld of %lld bytes", (long long)some.used,
                  (long long)all.used);
    ck_assert_msg((double)some.held < 0.4 * (double)all.held, "%lld of %lld bytes held", (long long)some.held,
                  (long long)all.held);
    ck_assert_msg((double)all.used < 1.1 * (double)all.forward, "%lld bytes, %lld of them forward", (long long)all.used,
                  (long long)all.forward);
    free(stored);
    free(recomputed);
}
END_TEST

/* A training step of a convolution net, whose images shrink by half and double in number from block to block. */
static memory convnet_step(bool recompute)
{
    enum { BATCH = 8, SIDE = 64 };
    static float x[BATCH * 3 * SIDE * SIDE];
    const int32_t labels[BATCH] = {0};
    const tg_rng rng = tg_rng_seed(1);
    tg_convnet *net = tg_convnet_new(&rng, &(tg_convnet_config){.channels = 3,
                                                                .height = SIDE,
                                                                .width = SIDE,
                                                                .filters = {16, 32, 64, 128},
                                                                .outputs = 10,
                                                                .norm = TG_NORM_GROUP,
                                                                .activation = TG_GELU_EXACT,
                                                                .recompute = recompute});
    tg_tape *own = tg_tape_new();
    tg_tensor images = tg_borrow(own, TG_F32, x, TG_SHAPE(BATCH, 3, SIDE, SIDE));
    tg_tensor loss =
        tg_cross_entropy(tg_convnet_forward(net, images, NULL), tg_constant(own, TG_I32, labels, TG_SHAPE(BATCH)));
    const int64_t forward = tg_tape_count(own).bytes_used;
    ck_assert_msg(tg_backward(loss), "%s", tg_tape_error(own));
    const memory m = {forward, tg_tape_count(own).bytes_used, tg_tape_count(own).bytes_held};
    tg_tape_free(own);
    tg_convnet_free(net);
    return m;
}

/* A checkpoint releases buffers of other sizes than the next one needs: they are split, and joined again. A convolution
 * keeps no matrix of its windows, so that less can be saved than in nets of other layers. */
START_TEST(recomputed_blocks_of_different_sizes_share_their_memory)
{
    const memory all = convnet_step(false), some = convnet_step(true);
    ck_assert_msg((double)some.used < 0.9 * (double)all.used, "%lld of %lld bytes", (long long)some.used,
                  (long long)all.used);
    ck_assert_msg((double)some.held < 1.05 * (double)all.held, "%lld of %lld bytes held", (long long)some.held,
                  (long long)all.held);
}
END_TEST

START_TEST(a_recomputed_convolution_block_is_the_same)
{
    tg_rng rng = tg_rng_seed(1);
    double gradient[2][1000], running[2][4], x[180];
    for (int i = 0; i < 180; i++)
        x[i] = sin(1.3 * i * i);
    for (int recompute = 0; recompute < 2; recompute++) {
        tg_rng training = tg_rng_seed(2);
        tg_convnet *net = tg_convnet_new(&rng, &(tg_convnet_config){.channels = 2,
                                                                    .height = 6,
                                                                    .width = 5,
                                                                    .filters = {4, 3},
                                                                    .outputs = 2,
                                                                    .norm = TG_NORM_BATCH,
                                                                    .activation = TG_STOCHASTIC_GELU,
                                                                    .recompute = recompute,
                                                                    .dtype = TG_F64});
        tg_parameters *set = tg_convnet_parameters(net);
        tg_tensor y = tg_convnet_forward(net, tg_constant(tape, TG_F64, x, TG_SHAPE(3, 60)), &training);
        ck_assert(tg_backward(tg_sum(tg_square(y))));
        memset(gradient[recompute], 0, sizeof gradient[0]);
        memcpy(gradient[recompute], tg_parameters_gradients(set), (size_t)tg_parameters_size(set) * sizeof(double));
        memcpy(running[recompute], tg_parameters_find(set, "blocks.0.norm.running_var")->data, sizeof running[0]);
        tg_convnet_free(net);
        tg_tape_reset(tape);
    }
    ck_assert_mem_eq(gradient[0], gradient[1], sizeof gradient[0]);
    ck_assert_mem_eq(running[0], running[1], sizeof running[0]);
    ck_assert_double_ne(running[0][0], 1);
}
END_TEST

Suite *ema_suite(void)
{
    Suite *suite = suite_create("ema");
    TCase *tests = tcase_create("ema");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_loop_test(tests, an_average_is_the_sum_of_weights_that_fade, 0, 4);
    tcase_add_test(tests, swapping_twice_changes_nothing);
    tcase_add_loop_test(tests, a_set_that_has_grown_is_refused_and_gets_its_weights_back, 0, 2);
    tcase_add_test(tests, averages_travel_in_a_training_state);
    tcase_add_test(tests, nothing_and_too_little_memory_are_survived);
    tcase_add_test(tests, parts_add_up_to_the_whole);
    tcase_add_test(tests, recomputed_blocks_of_bert_take_less_than_two_fifths_of_the_memory);
    tcase_add_test(tests, recomputed_blocks_of_different_sizes_share_their_memory);
    tcase_add_test(tests, a_recomputed_convolution_block_is_the_same);
    suite_add_tcase(suite, tests);
    return suite;
}
