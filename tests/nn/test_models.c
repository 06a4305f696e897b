/* Whole models: equality with PyTorch, second derivatives, learning, cost of a step, refusals. */
#include "tests/support/pytorch.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *models_suite(void);

/* ---- one way to call every kind ---- */

typedef struct kind {
    void *(*make)(const tg_rng *rng, const void *config, tg_dtype dtype);
    void (*discard)(void *model);
    tg_parameters *(*parameters)(const void *model);
    tg_tensor (*forward)(const void *model, tg_tensor x, tg_rng *training);
    const char *(*config_error)(const void *config);
} kind;

#define KIND(name)                                                                    \
    static void *name##_make(const tg_rng *rng, const void *config, tg_dtype dtype)   \
    {                                                                                 \
        tg_##name##_config c = *(const tg_##name##_config *)config;                   \
        c.dtype = dtype;                                                              \
        return tg_##name##_new(rng, &c);                                              \
    }                                                                                 \
    static void name##_discard(void *model)                                           \
    {                                                                                 \
        tg_##name##_free(model);                                                      \
    }                                                                                 \
    static tg_parameters *name##_parameters(const void *model)                        \
    {                                                                                 \
        return tg_##name##_parameters(model);                                         \
    }                                                                                 \
    static tg_tensor name##_forward(const void *model, tg_tensor x, tg_rng *training) \
    {                                                                                 \
        return tg_##name##_forward(model, x, training);                               \
    }                                                                                 \
    static const char *name##_config_error(const void *config)                        \
    {                                                                                 \
        return tg_##name##_config_error(config);                                      \
    }                                                                                 \
    static const kind name = {name##_make, name##_discard, name##_parameters, name##_forward, name##_config_error};
KIND(transformer)
KIND(convnet)
KIND(vit)
KIND(autoencoder)
KIND(char_mlp)

/* ---- the models of the files ---- */

#define CONFIG(name) static const tg_##name##_config
CONFIG(transformer)
gpt = {.vocabulary = 7,
       .context = 5,
       .layers = 2,
       .tied = true,
       .block = {
           .attention = {.width = 6, .heads = 2, .causal = true}, .activation = TG_GELU_EXACT, .norm = TG_NORM_LAYER}};
CONFIG(transformer)
bert = {.vocabulary = 7,
        .context = 4,
        .layers = 1,
        .block = {.attention = {.width = 6, .heads = 3},
                  .activation = TG_GELU_EXACT,
                  .norm = TG_NORM_LAYER,
                  .epsilon = 1e-12,
                  .post_norm = true}};
CONFIG(convnet)
convnet_1 = {.channels = 3, .height = 7, .width = 5, .filters = {4, 5}, .outputs = 3, .norm = TG_NORM_BATCH};
CONFIG(convnet)
convnet_2 = {.channels = 1,
             .height = 9,
             .width = 10,
             .filters = {6},
             .outputs = 2,
             .kernel = 5,
             .pool = 3,
             .norm = TG_NORM_GROUP,
             .groups = 3,
             .activation = TG_SILU,
             .flatten = true};
CONFIG(convnet)
convnet_3 = {.channels = 2, .height = 5, .width = 4, .filters = {3}, .outputs = 4, .pool = 1, .activation = TG_GLU};
CONFIG(vit)
vit_1 = {.channels = 3,
         .height = 6,
         .width = 9,
         .patch = 3,
         .layers = 2,
         .outputs = 4,
         .block = {.attention = {.width = 6, .heads = 3},
                   .hidden = 11,
                   .activation = TG_GELU_EXACT,
                   .norm = TG_NORM_LAYER,
                   .epsilon = 1e-6}};
CONFIG(vit)
vit_2 = {
    .channels = 1,
    .height = 4,
    .width = 4,
    .patch = 2,
    .layers = 1,
    .outputs = 3,
    .mean_pool = true,
    .block = {
        .attention = {.width = 5, .heads = 1}, .activation = TG_GELU_EXACT, .norm = TG_NORM_LAYER, .epsilon = 1e-6}};
CONFIG(autoencoder) autoencoder_1 = {.inputs = 7, .hidden = {5, 4}, .code = 3};
CONFIG(autoencoder)
autoencoder_2 = {.inputs = 5, .hidden = {4}, .code = 2, .activation = TG_TANH, .linear_code = true};
CONFIG(char_mlp)
char_mlp_1 = {.vocabulary = 7, .context = 3, .embedding = 2, .hidden = {5}, .activation = TG_TANH};
CONFIG(char_mlp)
char_mlp_2 = {.vocabulary = 5, .context = 4, .embedding = 3, .hidden = {7, 3}, .norm = TG_NORM_LAYER};

static const struct {
    const char *file;
    const kind *kind;
    const void *config;
    bool evaluation;
} cases[] = {
    {"transformer_gpt", &transformer, &gpt},
    {"transformer_bert", &transformer, &bert},
    {"convnet_1", &convnet, &convnet_1},
    {"convnet_1_evaluation", &convnet, &convnet_1, true},
    {"convnet_2", &convnet, &convnet_2},
    {"convnet_3", &convnet, &convnet_3},
    {"vit_1", &vit, &vit_1},
    {"vit_2", &vit, &vit_2},
    {"autoencoder_1", &autoencoder, &autoencoder_1},
    {"autoencoder_2", &autoencoder, &autoencoder_2},
    {"char_mlp_1", &char_mlp, &char_mlp_1},
    {"char_mlp_2", &char_mlp, &char_mlp_2},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* The model of a file, with its weights. */
static void *loaded(int i, const pytorch *p)
{
    void *model = cases[i].kind->make(NULL, cases[i].config, p->dtype);
    ck_assert_ptr_nonnull(model);
    pytorch_load(p, cases[i].kind->parameters(model), "*", cases[i].evaluation);
    return model;
}

START_TEST(a_model_is_that_of_pytorch)
{
    for (int dtype = TG_F32; dtype <= TG_F64; dtype++) {
        tg_rng rng = tg_rng_seed(1);
        pytorch p = pytorch_open(cases[_i].file, (tg_dtype)dtype);
        void *model = loaded(_i, &p);
        tg_tensor x = pytorch_tensor(&p, "input");
        tg_tensor y = cases[_i].kind->forward(model, x, cases[_i].evaluation ? NULL : &rng);
        pytorch_compare(&p, x, y, cases[_i].kind->parameters(model));
        cases[_i].kind->discard(model);
        pytorch_close(&p);
        tg_tape_reset(tape);
    }
}
END_TEST

/* The file has exactly the model's names, apart from statistics that a training pass changes. */
START_TEST(names_and_shapes_are_those_of_a_state_dict)
{
    pytorch p = pytorch_open(cases[_i].file, TG_F64);
    void *model = cases[_i].kind->make(NULL, cases[_i].config, TG_F64);
    tg_parameters *set = cases[_i].kind->parameters(model);
    for (int i = 0; i < tg_parameters_count(set); i++) {
        const tg_parameter *q = tg_parameters_at(set, i);
        const tg_file_tensor *tensor = pytorch_find(&p, q->name);
        ck_assert_msg(tensor ? tg_shape_equal(&tensor->shape, &q->shape) : !q->gradient, "%s", q->name);
    }
    const tg_file_tensor *tensor;
    const size_t length = strlen(p.name) + 1;
    for (int i = 0; (tensor = tg_safetensors_at(p.file, i)); i++)
        if (strncmp(tensor->name, p.name, length - 1) == 0 && strncmp(tensor->name + length - 1, "/grad.", 6) == 0 &&
            strcmp(tensor->name + length, "grad.input") != 0)
            ck_assert_msg(tg_parameters_find(set, tensor->name + length + 5) != NULL, "%s", tensor->name);
    cases[_i].kind->discard(model);
    pytorch_close(&p);
}
END_TEST

/* ---- second order ---- */

typedef struct checked {
    int number;
    void *model;
    const pytorch *p;
    int32_t ids[64];
    tg_shape shape;
} checked;

/* The function uses the parameters directly; its first input is x. */
static tg_tensor run(tg_tape *on, const tg_tensor *inputs, int count, void *user)
{
    const checked *c = user;
    static tg_rng rng;
    const bool whole = !pytorch_has(c->p, "grad.input");
    (void)count;
    rng = tg_rng_seed(1);
    tg_tensor x = whole ? tg_constant(on, TG_I32, c->ids, c->shape) : inputs[0];
    return cases[c->number].kind->forward(c->model, x, cases[c->number].evaluation ? NULL : &rng);
}

START_TEST(derivatives_are_right_to_second_order)
{
    pytorch p = pytorch_open(cases[_i].file, TG_F64);
    checked c = {.number = _i, .p = &p, .model = loaded(_i, &p)};
    tg_parameters *set = cases[_i].kind->parameters(c.model);
    tg_tensor x = pytorch_tensor(&p, "input");
    const tg_gradcheck_input in = {.name = "x", .shape = tg_shape_of(x), .data = tg_f64(x)};
    c.shape = tg_shape_of(x);
    for (int64_t i = 0; tg_dtype_of(x) == TG_I32 && i < tg_size(x); i++)
        c.ids[i] = tg_i32(x)[i];
    const tg_gradcheck_options options = {.order = 2, .elements = 1, .directions = 1};
    const tg_gradcheck_result result =
        tg_gradcheck_parameters(run, &c, &in, pytorch_has(&p, "grad.input"), set, &options);
    ck_assert_msg(result.passed, "%s: %s", cases[_i].file, result.why);
    cases[_i].kind->discard(c.model);
    pytorch_close(&p);
}
END_TEST

/* ---- training ---- */

/* One step that fits class i % outputs to the i-th of 6 fixed inputs; returns the loss, NaN on failure. */
static double step(const kind *k, const void *model, tg_optimizer *adamw, tg_rng *training, const tg_shape *shape,
                   bool whole)
{
    double numbers[1000];
    int32_t ids[1000], labels[6];
    tg_tape_reset(tape);
    const int64_t size = tg_shape_size(shape);
    for (int64_t i = 0; i < size; i++) {
        numbers[i] = sin(1.7 * (double)i * (double)i);
        ids[i] = (int32_t)(i * i % 5);
    }
    tg_tensor x = whole ? tg_constant(tape, TG_I32, ids, *shape) : tg_constant(tape, TG_F64, numbers, *shape);
    tg_tensor y = k->forward(model, x, training);
    for (int i = 0; i < 6; i++)
        labels[i] = i % 2;
    tg_tensor loss =
        k == &autoencoder ? tg_mse(y, x) : tg_cross_entropy(y, tg_constant(tape, TG_I32, labels, TG_SHAPE(6)));
    return tg_backward(loss) && tg_optimizer_step(adamw) ? tg_item(loss) : (double)NAN;
}

static const struct {
    const char *name;
    const kind *kind;
    const void *config;
    tg_shape shape;
    bool whole;
} trained[] = {
    {"convnet_1", &convnet, &convnet_1, {4, {6, 3, 7, 5}}},
    {"convnet_2", &convnet, &convnet_2, {2, {6, 90}}}, /* rows of pixels */
    {"convnet_3", &convnet, &convnet_3, {4, {6, 2, 5, 4}}},
    {"vit_1", &vit, &vit_1, {2, {6, 162}}},
    {"vit_2", &vit, &vit_2, {4, {6, 1, 4, 4}}},
    {"autoencoder_1", &autoencoder, &autoencoder_1, {2, {6, 7}}},
    {"char_mlp_2", &char_mlp, &char_mlp_2, {2, {6, 4}}, true},
};
enum { TRAINED = sizeof trained / sizeof trained[0] };

START_TEST(a_model_learns_what_it_is_shown_and_a_step_allocates_nothing)
{
    tg_rng rng = tg_rng_seed(1);
    const kind *k = trained[_i].kind;
    void *model = k->make(&rng, trained[_i].config, TG_F64);
    tg_optimizer *adamw = tg_optimizer_new(k->parameters(model), &(tg_optimizer_config){.lr = 1e-2});
    double first = NAN, last = NAN;
    for (int number = 0; number < 200; number++) {
        const int64_t before = wrapped_memory_count();
        last = step(k, model, adamw, &rng, &trained[_i].shape, trained[_i].whole);
        const int64_t allocations = wrapped_memory_count() - before;
        ck_assert_msg(isfinite(last), "step %d: %s", number, tg_tape_error(tape));
        ck_assert_msg(number < 3 || !allocations, "step %d allocated", number);
        first = number == 0 ? last : first;
    }
    ck_assert_msg(last < first / 4, "%s: from %g to %g", trained[_i].name, first, last);
    tg_optimizer_free(adamw);
    k->discard(model);
}
END_TEST

/* ---- refusals ---- */

START_TEST(wrong_configurations_are_refused_with_the_reason)
{
#define IMAGE .channels = 1, .height = 8, .width = 8, .outputs = 2
#define VIT   .block = {.attention = {.width = 4, .heads = 2}}, .patch = 4
    static const struct {
        const kind *kind;
        const char *reason;
        union {
            tg_convnet_config convnet;
            tg_vit_config vit;
            tg_autoencoder_config autoencoder;
            tg_char_mlp_config char_mlp;
        } config;
    } wrong[] = {
        {&convnet, "channels, height", {.convnet = {.height = 8, .width = 8, .filters = {4}, .outputs = 2}}},
        {&convnet, "outputs", {.convnet = {.channels = 1, .height = 8, .width = 8, .filters = {4}}}},
        {&convnet, "1 to 32 blocks", {.convnet = {IMAGE}}},
        {&convnet, "odd", {.convnet = {IMAGE, .filters = {4}, .kernel = 4}}},
        {&convnet, "batch, group or none", {.convnet = {IMAGE, .filters = {4}, .norm = TG_NORM_LAYER}}},
        {&convnet, "groups", {.convnet = {IMAGE, .filters = {4}, .norm = TG_NORM_GROUP, .groups = 3}}},
        {&convnet, "activation", {.convnet = {IMAGE, .filters = {4}, .activation = (tg_activation)99}}},
        {&convnet, "leave something", {.convnet = {IMAGE, .filters = {4, 4, 4, 4}}}},
        {&convnet, "dropout", {.convnet = {IMAGE, .filters = {4}, .dropout = -1}}},
        {&convnet, "initialiser", {.convnet = {IMAGE, .filters = {4}, .init = (tg_init)99}}},
        {&vit, "channels, height", {.vit = {VIT, .outputs = 2}}},
        {&vit, "patches", {.vit = {IMAGE, .patch = 3, .block = {.attention = {.width = 4, .heads = 2}}}}},
        {&vit, "outputs", {.vit = {.channels = 1, .height = 8, .width = 8, VIT}}},
        {&vit, "layers", {.vit = {IMAGE, VIT, .layers = -1}}},
        {&vit,
         "a multiple of the number of heads",
         {.vit = {IMAGE, .patch = 4, .block = {.attention = {.width = 5, .heads = 2}}}}},
        {&vit, "dropout", {.vit = {IMAGE, VIT, .dropout = NAN}}},
        {&autoencoder, "inputs", {.autoencoder = {.code = 2}}},
        {&autoencoder, "code", {.autoencoder = {.inputs = 2}}},
        {&autoencoder, "width", {.autoencoder = {.inputs = 2, .code = 1, .hidden = {-3}}}},
        {&autoencoder, "normalisation", {.autoencoder = {.inputs = 2, .code = 1, .norm = (tg_norm)99}}},
        {&char_mlp, "vocabulary", {.char_mlp = {.context = 2, .embedding = 2}}},
        {&char_mlp, "context", {.char_mlp = {.vocabulary = 2, .embedding = 2}}},
        {&char_mlp, "width", {.char_mlp = {.vocabulary = 2, .context = 2, .embedding = 2, .hidden = {-1}}}},
        {&char_mlp, "dropout", {.char_mlp = {.vocabulary = 2, .context = 2, .embedding = 2, .dropout = 1}}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *error = wrong[i].kind->config_error(&wrong[i].config);
        ck_assert_msg(error && strstr(error, wrong[i].reason), "%s: %s", wrong[i].reason, error ? error : "accepted");
        ck_assert_ptr_null(wrong[i].kind->make(NULL, &wrong[i].config, TG_F32));
    }
    for (int i = 0; i < TRAINED; i++) {
        ck_assert_str_eq(trained[i].kind->config_error(NULL), "there is no configuration");
        ck_assert_ptr_null(trained[i].kind->make(NULL, trained[i].config, TG_I32));
    }
}
END_TEST

START_TEST(the_limits_of_sizes_are_those_that_the_messages_name)
{
    for (int64_t beyond = 0; beyond <= 1; beyond++) {
        const int64_t most = ((int64_t)1 << 30) + beyond, half = ((int64_t)1 << 29) + beyond;
        const tg_block_config block = tg_block_gpt(1, 1), wide = tg_block_gpt(most, 1),
                              deep = {block.attention, .hidden = most};
        const char *errors[] = {
            tg_mlp_config_error(&(tg_mlp_config){.inputs = most, .outputs = 1}),
            tg_mlp_config_error(&(tg_mlp_config){.inputs = 1, .outputs = most}),
            tg_mlp_config_error(&(tg_mlp_config){.inputs = 1, .outputs = 1, .hidden = {most}}),
            tg_autoencoder_config_error(&(tg_autoencoder_config){.inputs = most, .code = 1}),
            tg_autoencoder_config_error(&(tg_autoencoder_config){.inputs = 1, .code = most}),
            tg_char_mlp_config_error(&(tg_char_mlp_config){.vocabulary = most, .context = 1, .embedding = 1}),
            tg_convnet_config_error(
                &(tg_convnet_config){.channels = 1, .height = 2, .width = 2, .filters = {1}, .outputs = most}),
            tg_vit_config_error(
                &(tg_vit_config){.channels = 1, .height = 1, .width = 1, .patch = 1, .outputs = most, .block = block}),
            tg_transformer_config_error(&(tg_transformer_config){.vocabulary = most, .context = 1, .block = block}),
            tg_transformer_config_error(&(tg_transformer_config){.vocabulary = 1, .context = most, .block = block}),
            tg_block_config_error(&wide),
            tg_block_config_error(&deep),
            tg_conv_block_config_error(&(tg_conv_block_config){.inputs = most, .outputs = 1}),
            tg_conv_block_config_error(&(tg_conv_block_config){.inputs = 1, .outputs = half}),
        };
        const int count = sizeof errors / sizeof errors[0];
        for (int i = 0; i < count; i++) {
            const char *limit = i == count - 1 ? "2^29 at most" : "2^30 at most";
            ck_assert_msg(beyond ? errors[i] && strstr(errors[i], limit) : !errors[i], "%d: %s", i,
                          errors[i] ? errors[i] : "accepted");
        }
    }
}
END_TEST

START_TEST(null_and_unfit_inputs_are_errors_in_words)
{
    const kind *k = trained[_i].kind;
    void *model = k->make(NULL, trained[_i].config, TG_F64);
    const double numbers[2] = {0};
    tg_tensor x = tg_constant(tape, TG_F64, numbers, TG_SHAPE(1, 2));
    ck_assert(!tg_ok(k->forward(model, x, NULL)));
    expect_error("expected");
    ck_assert(!tg_ok(k->forward(model, TG_NONE, NULL)));
    ck_assert(!tg_ok(k->forward(NULL, x, NULL)));
    expect_error("config_error may say why");
    tg_tape_clear_error(tape);
    ck_assert(!tg_ok(tg_model_forward_with(model, x, NULL)));
    expect_error("expected");
    ck_assert_ptr_null(tg_model_new(NULL, NULL, trained[_i].config));
    ck_assert_ptr_null(k->parameters(NULL));
    k->discard(NULL);
    k->discard(model);
}
END_TEST

START_TEST(too_little_memory_gives_null)
{
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        void *model = trained[_i].kind->make(NULL, trained[_i].config, TG_F64);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(reached, !model);
        trained[_i].kind->discard(model);
        ck_assert_int_lt(nth, 300);
    }
}
END_TEST

/* ---- a user's own model ---- */

static void tiny_build(tg_model *model, void *config)
{
    const int64_t *inputs = config;
    tg_parameters *set = model->parameters = tg_parameters_new(TG_F64);
    const tg_linear_layer first = tg_linear_layer_add(set, "first", *inputs, 3, true),
                          last = tg_linear_layer_add(set, "last", 3, 2, true);
    const tg_layer parts[] = {tg_sequential_linear(&first), tg_sequential_activation(TG_TANH)};
    tg_model_add(model, "first", tg_sequential_of(parts, 2));
    tg_model_add(model, "last", tg_sequential_linear(&last));
}

static const char *tiny_error(const void *config)
{
    return *(const int64_t *)config > 0 ? NULL : "no inputs";
}

static const tg_model_kind tiny_kind = {
    .name = "tiny", .config_size = sizeof(int64_t), .config_error = tiny_error, .build = tiny_build};

START_TEST(a_model_of_ones_own_is_a_list_of_layers)
{
    const int64_t inputs = 4, none = 0;
    const tg_rng rng = tg_rng_seed(1);
    tg_model *net = tg_model_new(&tiny_kind, &rng, &inputs);
    ck_assert_ptr_nonnull(net);
    const tg_tensor x = drawn(TG_F64, TG_SHAPE(5, 4)), y = tg_model_forward(net, x, NULL);
    const tg_parameters *set = tg_model_parameters(net);
    for (int row = 0; row < 5; row++)
        for (int out = 0; out < 2; out++) {
            double sum = 0;
            for (int unit = 0; unit < 3; unit++) {
                double z = 0;
                for (int i = 0; i < 4; i++)
                    z +=
                        tg_at(x, row * 4 + i) * tg_parameter_get(tg_parameters_find(set, "first.weight"), unit * 4 + i);
                sum += tanh(z) * tg_parameter_get(tg_parameters_find(set, "last.weight"), out * 3 + unit);
            }
            assert_close(tg_at(y, row * 2 + out), sum, TG_F64);
        }
    char table[2000];
    tg_tape_table(tape, table, sizeof table);
    ck_assert_msg(strstr(table, " first ") && strstr(table, " last "), "%s", table);
    ck_assert(!tg_ok(tg_mlp_forward(net, x)));
    expect_error("tg_mlp_forward: the model is a tiny");
    ck_assert(!tg_ok(tg_model_forward(NULL, x, NULL)));
    expect_error("tg_model_forward: no model");
    ck_assert_int_eq(tg_mlp_hidden_count(net), 0);
    ck_assert_ptr_null(tg_model_new(&tiny_kind, &rng, &none));
    ck_assert_ptr_null(tg_model_new(&tiny_kind, &rng, NULL));
    tg_model_free(net);
    for (int allowed = 0;; allowed++) { /* fails each allocation once */
        wrapped_memory_fail_after(allowed);
        net = tg_model_new(&tiny_kind, &rng, &inputs);
        if (!wrapped_memory_stop())
            break;
        ck_assert_ptr_null(net);
    }
    ck_assert_ptr_nonnull(net);
    tg_model_free(net);
    tg_model_free(NULL);
}
END_TEST

START_TEST(an_autoencoder_is_its_two_halves)
{
    const tg_rng rng = tg_rng_seed(3);
    tg_autoencoder *net = tg_autoencoder_new(&rng, &autoencoder_1);
    const tg_tensor x = drawn(TG_F32, TG_SHAPE(6, 7)), code = tg_autoencoder_encode(net, x, NULL),
                    whole = tg_autoencoder_forward(net, x, NULL), decoded = tg_autoencoder_decode(net, code, NULL);
    assert_shape(code, TG_SHAPE(6, 3));
    assert_shape(decoded, TG_SHAPE(6, 7));
    ck_assert_mem_eq(tg_data(whole), tg_data(decoded), 6 * 7 * sizeof(float));
    tg_autoencoder_free(net);
    ck_assert(!tg_ok(tg_autoencoder_encode(NULL, x, NULL)));
    expect_error("tg_autoencoder_");
}
END_TEST

Suite *models_suite(void)
{
    Suite *suite = suite_create("models");
    TCase *tests = tcase_create("models");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_loop_test(tests, a_model_is_that_of_pytorch, 0, CASES);
    tcase_add_loop_test(tests, names_and_shapes_are_those_of_a_state_dict, 0, CASES);
    tcase_add_loop_test(tests, derivatives_are_right_to_second_order, 0, CASES);
    tcase_add_loop_test(tests, a_model_learns_what_it_is_shown_and_a_step_allocates_nothing, 0, TRAINED);
    tcase_add_test(tests, an_autoencoder_is_its_two_halves);
    tcase_add_test(tests, a_model_of_ones_own_is_a_list_of_layers);
    tcase_add_test(tests, wrong_configurations_are_refused_with_the_reason);
    tcase_add_test(tests, the_limits_of_sizes_are_those_that_the_messages_name);
    tcase_add_loop_test(tests, null_and_unfit_inputs_are_errors_in_words, 0, TRAINED);
    tcase_add_loop_test(tests, too_little_memory_gives_null, 0, TRAINED);
    suite_add_tcase(suite, tests);
    return suite;
}
