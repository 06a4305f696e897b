/* Files of weights that name the activation of their training. */
#include "tests/support/temporary_files.h"
#include "tests/support/tensors.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *weights_suite(void);

static tg_error error;

static void start(void)
{
    start_tape();
    temporary_folder_make();
}

static void finish(void)
{
    temporary_folder_remove();
    finish_tape();
}

static tg_mlp *net_with(tg_activation activation, uint64_t seed)
{
    tg_rng rng = tg_rng_seed(seed);
    return tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 3, .hidden = {8, 8}, .outputs = 2, .activation = activation});
}

static const float sample[12] = {0.3f, -1, 2, 0.5f, 1, -2, 0, 0.7f, -0.4f, 3, -3, 1};

/* A copy of the model with the other activation; the sample is fixed. */
static tg_tensor outputs(tg_tape *on, tg_activation activation, const tg_parameters *weights, void *user)
{
    ++*(int *)user;
    tg_mlp *twin = net_with(activation, 9);
    tg_parameters_copy(tg_mlp_parameters(twin), weights);
    tg_tensor y = tg_mlp_forward(twin, tg_constant(on, TG_F32, sample, TG_SHAPE(4, 3)));
    tg_mlp_free(twin);
    return y;
}

/* The expected result of `outputs`: the largest difference of the two models on the sample. */
static double difference(tg_mlp *net, tg_activation other)
{
    int calls = 0;
    double furthest = 0;
    tg_tensor x = tg_mlp_forward(net, tg_constant(tape, TG_F32, sample, TG_SHAPE(4, 3))),
              y = outputs(tape, other, tg_mlp_parameters(net), &calls);
    for (int i = 0; i < 8; i++)
        furthest = fmax(furthest, fabs(tg_at(x, i) - tg_at(y, i)));
    return furthest;
}

START_TEST(another_activation_is_an_error_that_says_how_far_outputs_differ)
{
    const tg_activation other = _i == 0 ? TG_GELU_TANH : _i == 1 ? TG_GELU_QUICK : TG_RELU;
    int calls = 0;
    tg_mlp *net = net_with(TG_GELU_EXACT, 1), *model = net_with(other, 2), *twin = net_with(other, 2);
    ck_assert_msg(tg_weights_save(tg_mlp_parameters(net), temporary_path("net"), TG_GELU_EXACT, NULL, &error), "%s",
                  error.text);
    const tg_weights_load_options options = {.outputs = outputs, .user = &calls};
    ck_assert(!tg_weights_load(tg_mlp_parameters(model), temporary_path("net"), other, &options, &error));
    ck_assert_int_eq(calls, 2);
    char expected[200];
    snprintf(expected, sizeof expected,
             "it was trained with gelu_exact, and the model has %s; on a sample outputs differ by up to %.2g "
             "(of up to ",
             tg_activation_name(other), difference(net, other));
    ck_assert_msg(strstr(error.text, expected) != NULL, "%s\nnot\n%s", error.text, expected);
    ck_assert_ptr_null(strchr(error.text, '\n'));
    ck_assert_mem_eq(tg_parameters_values(tg_mlp_parameters(model)), tg_parameters_values(tg_mlp_parameters(twin)),
                     (size_t)tg_parameters_size(tg_mlp_parameters(model)) * sizeof(float));
    ck_assert(!tg_weights_load(tg_mlp_parameters(model), temporary_path("net"), other, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "it was trained with gelu_exact, and the model has "));
    tg_mlp_free(net);
    tg_mlp_free(model);
    tg_mlp_free(twin);
}
END_TEST

START_TEST(the_files_activation_or_the_models_may_be_taken)
{
    tg_activation activation = TG_GELU_TANH;
    tg_mlp *relu = net_with(TG_RELU, 1), *gelu = net_with(TG_GELU_EXACT, 2);
    tg_parameters *from = tg_mlp_parameters(relu), *to = tg_mlp_parameters(gelu);
    ck_assert(tg_weights_save(from, temporary_path("relu"), TG_RELU, "{\"hidden\": [8, 8]}", &error));
    ck_assert(tg_weights_activation(temporary_path("relu"), &activation, &error));
    ck_assert_int_eq(activation, TG_RELU);
    ck_assert(tg_weights_load(from, temporary_path("relu"), activation, NULL, &error));
    ck_assert(!tg_weights_load(to, temporary_path("relu"), TG_GELU_EXACT, NULL, &error));
    ck_assert(tg_weights_load(to, temporary_path("relu"), TG_GELU_EXACT, &(tg_weights_load_options){.migrate = true},
                              &error));
    ck_assert_mem_eq(tg_parameters_values(to), tg_parameters_values(from),
                     (size_t)tg_parameters_size(to) * sizeof(float));
    tg_safetensors *file = tg_safetensors_open(temporary_path("relu"), &error);
    ck_assert_str_eq(tg_safetensors_metadata(file, "config"), "{\"hidden\": [8, 8]}");
    ck_assert_str_eq(tg_safetensors_metadata(file, "tapegrad"), TG_VERSION);
    tg_safetensors_close(file);
    tg_mlp_free(relu);
    tg_mlp_free(gelu);
}
END_TEST

START_TEST(a_training_state_is_read_as_a_model_by_renames)
{
    tg_mlp *net = net_with(TG_SILU, 1), *other = net_with(TG_SILU, 2);
    tg_training_state state = {.parameters = tg_mlp_parameters(net), .ema = tg_ema_new(tg_mlp_parameters(net), NULL)};
    tg_ema_update(state.ema);
    tg_metadata lines[TG_WEIGHTS_METADATA];
    const int count = tg_weights_metadata(lines, TG_SILU, NULL);
    ck_assert(tg_training_state_save(&state, temporary_path("run"), lines, count, &error));
    /* The averages replace the weights, which are swapped out and dropped. */
    static const tg_rename averages[] = {{"ema.*", "*"}, {"*", "weights.*"}};
    const tg_weights_load_options options = {.load = {.allow_unknown = true, .renames = averages, .rename_count = 2}};
    ck_assert_msg(tg_weights_load(tg_mlp_parameters(other), temporary_path("run"), TG_SILU, &options, &error), "%s",
                  error.text);
    ck_assert_mem_eq(tg_parameters_values(tg_mlp_parameters(net)), tg_parameters_values(tg_mlp_parameters(other)),
                     (size_t)tg_parameters_size(tg_mlp_parameters(net)) * sizeof(float));
    ck_assert(!tg_weights_load(tg_mlp_parameters(other), temporary_path("run"), TG_RELU, &options, &error));
    tg_ema_free(state.ema);
    tg_mlp_free(net);
    tg_mlp_free(other);
}
END_TEST

START_TEST(what_cannot_be_read_is_said)
{
    tg_activation activation = TG_TANH;
    tg_mlp *net = net_with(TG_GELU_EXACT, 1);
    tg_parameters *set = tg_mlp_parameters(net);
    ck_assert(tg_parameters_save(set, temporary_path("plain"), NULL, 0, &error));
    ck_assert(tg_weights_load(set, temporary_path("plain"), TG_GELU_EXACT, NULL, &error)); /* as PyTorch's */
    ck_assert(!tg_weights_activation(temporary_path("plain"), &activation, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "it names no activation"));
    ck_assert(tg_parameters_save(set, temporary_path("odd"), &(tg_metadata){"activation", "gelu"}, 1, &error));
    ck_assert(!tg_weights_activation(temporary_path("odd"), &activation, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "'gelu', which is unknown"));
    ck_assert(!tg_weights_load(set, temporary_path("odd"), TG_GELU_EXACT, NULL, &error));
    ck_assert(!tg_weights_activation(temporary_path("nothing"), &activation, &error));
    ck_assert_int_eq(activation, TG_TANH);
    ck_assert(!tg_weights_load(set, temporary_path("nothing"), TG_TANH, NULL, &error));
    ck_assert(!tg_weights_load(set, NULL, TG_TANH, NULL, &error));
    ck_assert(!tg_weights_load(NULL, temporary_path("plain"), TG_TANH, NULL, &error));
    ck_assert(!tg_weights_load(set, temporary_path("plain"), (tg_activation)99, NULL, &error));
    ck_assert(!tg_weights_save(NULL, temporary_path("plain"), TG_TANH, NULL, &error));
    int calls = 0;
    tg_parameters *none = tg_parameters_new(TG_F32);
    ck_assert(tg_weights_save(none, temporary_path("none"), TG_RELU, NULL, &error));
    ck_assert(!tg_weights_load(none, temporary_path("none"), TG_TANH,
                               &(tg_weights_load_options){.outputs = outputs, .user = &calls}, &error));
    ck_assert_str_eq(strstr(error.text, "it was"), "it was trained with relu, and the model has tanh");
    tg_parameters_free(none);
    tg_mlp_free(net);
}
END_TEST

START_TEST(too_little_memory_changes_nothing)
{
    int calls = 0;
    tg_mlp *net = net_with(TG_GELU_EXACT, 1);
    tg_parameters *set = tg_mlp_parameters(net);
    const size_t bytes = (size_t)tg_parameters_size(set) * sizeof(float);
    void *before = malloc(bytes);
    ck_assert(tg_weights_save(set, temporary_path("net"), TG_RELU, NULL, &error));
    memcpy(before, tg_parameters_values(set), bytes);
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        const bool loaded = tg_weights_load(set, temporary_path("net"), TG_GELU_EXACT,
                                            &(tg_weights_load_options){.outputs = outputs, .user = &calls}, &error);
        reached = wrapped_memory_stop();
        ck_assert(!loaded && error.text[0]);
        ck_assert_mem_eq(before, tg_parameters_values(set), bytes);
        ck_assert_int_lt(nth, 1000);
    }
    free(before);
    tg_mlp_free(net);
}
END_TEST

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
START_TEST(the_names_of_version_0_1_do_the_same)
{
    tg_activation activation = TG_TANH;
    tg_mlp *net = net_with(TG_SILU, 1), *other = net_with(TG_SILU, 2);
    const tg_model_load_options options = {.migrate = true};
    tg_metadata lines[TG_MODEL_METADATA];
    ck_assert_int_eq(tg_model_metadata(lines, TG_SILU, NULL), 2);
    ck_assert(tg_model_save(tg_mlp_parameters(net), temporary_path("net"), TG_SILU, NULL, &error));
    ck_assert(tg_model_activation(temporary_path("net"), &activation, &error) && activation == TG_SILU);
    ck_assert(tg_model_load(tg_mlp_parameters(other), temporary_path("net"), TG_RELU, &options, &error));
    ck_assert_mem_eq(tg_parameters_values(tg_mlp_parameters(net)), tg_parameters_values(tg_mlp_parameters(other)),
                     (size_t)tg_parameters_size(tg_mlp_parameters(net)) * sizeof(float));
    ck_assert_int_eq(tg_model_write(NULL, &(tg_write_options){.length = 3}, NULL, NULL, &error), -1);
    ck_assert_str_eq(error.text, "tg_model_generate: the model was not opened from a file");
    tg_mlp_free(net);
    tg_mlp_free(other);
}
END_TEST
#pragma GCC diagnostic pop

Suite *weights_suite(void)
{
    Suite *suite = suite_create("weights");
    TCase *tests = tcase_create("weights");
    tcase_add_checked_fixture(tests, start, finish);
    tcase_add_loop_test(tests, another_activation_is_an_error_that_says_how_far_outputs_differ, 0, 3);
    tcase_add_test(tests, the_files_activation_or_the_models_may_be_taken);
    tcase_add_test(tests, a_training_state_is_read_as_a_model_by_renames);
    tcase_add_test(tests, what_cannot_be_read_is_said);
    tcase_add_test(tests, too_little_memory_changes_nothing);
    tcase_add_test(tests, the_names_of_version_0_1_do_the_same);
    suite_add_tcase(suite, tests);
    return suite;
}
