/* Compiles exported C with every available compiler, runs it, and compares the results with the library's, to the bit.
 */
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/product.h"
#include "tests/golden/golden.h"
#include "tests/support/exported.h"
#include "tests/support/run_programs.h"
#include "tests/support/seeds.h"
#include "tests/support/temporary_files.h"
#include "tests/support/tensors.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *export_suite(void);
Suite *exported_suite(void);

/* ---- compiling and running ---- */

/* Products in exported C are summed in the order of our own kernels. */
static void make_folder(void)
{
    temporary_folder_make();
    tg_products_by(TG_PRODUCTS_OWN, NULL);
    start_tape();
}

static void remove_folder(void)
{
    finish_tape();
    tg_products_by(TG_PRODUCTS_AUTO, NULL);
    temporary_folder_remove();
}

static const compiler *first(void)
{
    return compiler_next(NULL, COMPILERS_ONE);
}

static char *exported(const tg_export_config *config)
{
    const size_t length = tg_export(tape, config, NULL, 0);
    ck_assert_msg(length > 0, "%s", tg_tape_error(tape));
    char *text = malloc(length + 1);
    ck_assert_uint_eq(tg_export(tape, config, text, length + 1), length);
    ck_assert_uint_eq(strlen(text), length);
    temporary_write("net.c", text, length);
    return text;
}

/* The source of a program that calls net_predict for each row of standard input. */
static void write_driver(const char *in, size_t inputs, const char *out, size_t outputs, const char *begin)
{
    char text[1000];
    const int length = snprintf(text, sizeof text,
                                "#include <stdint.h>\n#include <stdio.h>\n"
                                "int net_predict(const %s *x, %s *y);\nvoid net_weights(const void *w);\n"
                                "static %s x[%zu];\nstatic %s y[%zu];\n"
                                "int main(void)\n{\n    %s\n    while (fread(x, sizeof x, 1, stdin) == 1)\n"
                                "        if (net_predict(x, y) != 0 || fwrite(y, sizeof y, 1, stdout) != 1)\n"
                                "            return 3;\n    return 0;\n}\n",
                                in, out, in, inputs, out, outputs, begin);
    temporary_write("driver.c", text, (size_t)length);
}

/* True if two numbers are equal to the bit, or both NaN. */
static bool is_same(tg_dtype dtype, const void *a, const void *b)
{
    if (memcmp(a, b, tg_dtype_size(dtype)) == 0)
        return true;
    return dtype == TG_F64   ? isnan(*(const double *)a) && isnan(*(const double *)b)
           : dtype == TG_F32 ? isnan(*(const float *)a) && isnan(*(const float *)b)
                             : false;
}

static void expect_rows(const compiler *c, tg_tensor y)
{
    const size_t element = tg_dtype_size(tg_dtype_of(y)), bytes = (size_t)tg_size(y) * element;
    const char *expected = tg_data(y);
    ck_assert_int_eq(shell("%s < rows > results", c->run), 0);
    FILE *file = fopen(temporary_path("results"), "rb");
    char *found = malloc(bytes + 1);
    ck_assert_uint_eq(fread(found, 1, bytes + 1, file), bytes);
    fclose(file);
    for (size_t i = 0; i < bytes; i += element)
        ck_assert_msg(is_same(tg_dtype_of(y), found + i, expected + i), "%s: number %zu is not %g to the bit",
                      c->command, i / element, tg_at(y, (int64_t)(i / element)));
    free(found);
}

static const char *type_of(tg_tensor x)
{
    return tg_dtype_of(x) == TG_F32 ? "float" : tg_dtype_of(x) == TG_F64 ? "double" : "int32_t";
}

/* Builds net.c with driver.c, runs it and expects y. */
static void expect_built(tg_tensor y, compilers_of which)
{
    int tried = 0;
    for (const compiler *c = NULL; (c = compiler_next(c, which)); tried++) {
        ck_assert_msg(compiler_build(c, "net.c driver.c"), "%s does not take it", c->command);
        expect_rows(c, y);
    }
    ck_assert_int_gt(tried, 0);
}

/* Expects the exported program to compute the values on the tape. */
static void expect_same(const tg_export_config *config, compilers_of which)
{
    const tg_tensor x = config->input.tensor, y = config->output.tensor;
    free(exported(config));
    write_driver(type_of(x), (size_t)tg_size(x), type_of(y), (size_t)tg_size(y), "");
    temporary_write("rows", tg_data(x), (size_t)tg_size(x) * tg_dtype_size(tg_dtype_of(x)));
    expect_built(y, which);
}

/* ---- every operation, by its own samples ---- */

/* True if a NULL-terminated list contains the name. */
static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

/* Operations that cannot be written as C. */
static const char *const refused[] = {"random_uniform",  "random_normal", "dropout", "stochastic_gate",
                                      "stochastic_gelu", "label_weights", NULL};

/* Records an operation's samples on the tape, those with a floating result, each as a vector. */
static int draw_all(const golden_subject *subject, tg_dtype dtype, tg_tensor *outputs, int most)
{
    int count = 0;
    for (int number = 0; number < subject->op->sample_count; number++) {
        golden_case c;
        ck_assert_msg(golden_draw(tape, subject, number, dtype, false, &c), "%s", tg_tape_error(tape));
        if (tg_size(c.output) == 0 || tg_dtype_of(c.output) != dtype)
            continue;
        ck_assert_int_lt(count, most);
        outputs[count++] = tg_reshape(c.output, TG_SHAPE(tg_size(c.output)));
    }
    return count;
}

static tg_tensor input_of(tg_dtype dtype)
{
    static const double quarter[1] = {0.25};
    static const float narrow[1] = {0.25f};
    return tg_constant(tape, dtype, dtype == TG_F64 ? (const void *)quarter : narrow, TG_SHAPE(1));
}

/* True if all samples of the operation, recorded alone, can be exported. Otherwise the error must name it. */
static bool is_exported(const golden_subject *subject, tg_dtype dtype)
{
    tg_tape *const all = tape;
    tg_tensor outputs[200];
    tape = tg_tape_new();
    const tg_tensor x = input_of(dtype);
    const int count = draw_all(subject, dtype, outputs, 200);
    const tg_export_config config = {.input = {x}, .output = {count ? tg_concat(outputs, count, 0) : x}};
    const bool fine = tg_export(tape, &config, NULL, 0) > 0;
    ck_assert_msg(fine || (strstr(tg_tape_error(tape), "export: the operation ") &&
                           strstr(tg_tape_error(tape), " cannot be written as C")),
                  "%s: %s", subject->op->name, tg_tape_error(tape));
    tg_tape_free(tape);
    tape = all;
    return fine;
}

static tg_dtype const types[] = {TG_F32, TG_F64};

/* One program computes all samples of several operations. */
enum { PARTS = 6 };
static void expect_operations(tg_dtype dtype, int part)
{
    enum { MOST = 4000 };
    tg_tensor *outputs = calloc(MOST, sizeof *outputs);
    golden_subject subject;
    int count = 1;
    const tg_tensor x = outputs[0] = input_of(dtype);
    for (int i = 0; golden_at(i, &subject); i++) {
        if (i % PARTS != part)
            continue;
        const bool fine = is_exported(&subject, dtype);
        ck_assert_msg(fine || is_among(refused, subject.op->name), "%s is refused", subject.op->name);
        if (fine)
            count += draw_all(&subject, dtype, outputs + count, MOST - count);
    }
    ck_assert_int_gt(count, 100);
    expect_same(&(tg_export_config){.input = {x}, .output = {tg_concat(outputs, count, 0)}}, COMPILERS_ONE);
    free(outputs);
}

START_TEST(operations_give_the_bits_of_their_kernels)
{
    expect_operations(types[_i / PARTS], _i % PARTS);
}
END_TEST

/* The quick one, for each `make check`. */
START_TEST(shapes_that_are_broadcast_give_the_same_bits)
{
    static const double numbers[6] = {1, -2, 0.5, 3, -0.25, 7};
    const tg_tensor x = tg_constant(tape, TG_F64, numbers, TG_SHAPE(6)), column = tg_reshape(x, TG_SHAPE(6, 1));
    expect_same(&(tg_export_config){.input = {x}, .output = {tg_gelu_exact(tg_add(column, x))}}, COMPILERS_ONE);
}
END_TEST

START_TEST(a_variance_of_too_few_elements_is_infinite)
{
    static const double numbers[6] = {1, -2, 0.5, 3, -0.25, 7};
    const tg_tensor x = tg_constant(tape, TG_F64, numbers, TG_SHAPE(2, 3));
    for (int correction = 2; correction < 6; correction++) {
        const tg_tensor y = tg_var_over(x, TG_AXES(1), correction, false);
        ck_assert_int_eq(isinf(tg_at(y, 1)), correction > 2);
        expect_same(&(tg_export_config){.input = {x}, .output = {y}}, COMPILERS_ONE);
    }
}
END_TEST

/* ---- products in vectors of 16 bytes, which no AVX has ---- */

static const int64_t product_rows[] = {1, 2, 3, 5, 6, 7, 13}, product_columns[] = {1, 3, 4, 7, 8, 15, 16, 17, 37},
                     product_steps[] = {1, 16, 19, 530};
enum { PRODUCT_ROWS = 7, PRODUCT_COLUMNS = 9, PRODUCT_STEPS = 4 };

/* a B + bias with the matrix in the file, and a B^T, of which it makes panels. */
static tg_tensor both_products(tg_dtype dtype, int64_t m, int64_t n, int64_t k, tg_tensor first)
{
    const tg_tensor x = tg_add(drawn(dtype, TG_SHAPE(m, k)), first), matrix = drawn(dtype, TG_SHAPE(n, k)),
                    once = tg_linear(x, matrix, drawn(dtype, TG_SHAPE(n))),
                    other = tg_matmul_transposed(x, tg_add(drawn(dtype, TG_SHAPE(n, k)), first), false, true);
    return tg_reshape(tg_add(once, other), TG_SHAPE(m * n));
}

/* One shape in six each day: compilers take long for products of constant sizes. */
START_TEST(products_in_narrow_vectors_give_the_same_bits)
{
    static const compiler narrow[] = {{{"gcc"}, "gcc -O2 -mno-avx", "./net", true, ""},
                                      {{"clang"}, "clang -O2 -mno-avx", "./net", true, ""}};
    const tg_dtype dtype = types[_i / PRODUCT_ROWS];
    const tg_tensor x = input_of(dtype);
    tg_tensor made[1 + PRODUCT_COLUMNS * PRODUCT_STEPS] = {x};
    int count = 1;
    for (int i = (today(6) + _i) % every(6); i < PRODUCT_COLUMNS * PRODUCT_STEPS; i += every(6))
        made[count++] = both_products(dtype, product_rows[_i % PRODUCT_ROWS], product_columns[i / PRODUCT_STEPS],
                                      product_steps[(i + i / PRODUCT_STEPS) % PRODUCT_STEPS], x);
    const tg_tensor y = tg_concat(made, count, 0);
    free(exported(&(tg_export_config){.input = {x}, .output = {y}}));
    write_driver(type_of(x), 1, type_of(y), (size_t)tg_size(y), "");
    temporary_write("rows", tg_data(x), tg_dtype_size(dtype));
    for (int i = 0; i < (getenv("TG_LONG") ? 2 : 1); i++) {
#if defined __x86_64__
        if (shell("command -v %s >/dev/null", narrow[i].needs[0]) != 0)
            continue;
        ck_assert(compiler_build(&narrow[i], "net.c driver.c"));
        expect_rows(&narrow[i], y);
#else
        (void)narrow;
#endif
    }
}
END_TEST

/* ---- the models of `train` ---- */

static void expect_model(net_spec spec, compilers_of which)
{
    tg_model_spec_complete(&spec);
    tg_model *model = exported_model(&spec);
    tg_tensor x;
    const tg_tensor y = exported_prediction(&spec, model, tape, &x);
    expect_same(&(tg_export_config){.input = {.tensor = x}, .output = {.tensor = y}}, which);
    tg_model_free(model);
    tg_tape_reset(tape);
}

/* One case in three is compiled by all of these compilers, others each day; in the long check every case. */
static compilers_of todays(int number, compilers_of which)
{
    return number % every(3) == today(3) ? which : COMPILERS_ONE;
}

/* A model that multiplies the embedding of each letter once, as it has few letters. */
static const net_spec of_few_letters = {
    .model = "gru", .norm = "none", .vocabulary = 5, .layers = 1, .width = 16, .context = 12, .hidden = "13"};

START_TEST(models_give_the_same_bits)
{
    const char *const norms[] = {"none", "layer", "rms", "batch"};
    net_spec spec;
    for (int i = 0; net_models[i]; i++)
        if (exported_spec(i, norms[_i], &spec))
            expect_model(spec, todays(i + _i, COMPILERS_ALL));
    spec = exported_rotary_gpt;
    spec.context = 40;
    expect_model(spec, COMPILERS_ALL);
    expect_model(of_few_letters, COMPILERS_ONE);
}
END_TEST

START_TEST(activations_give_the_same_bits)
{
    for (int i = 0; tg_activation_name((tg_activation)i); i++)
        expect_model((net_spec){.model = "mlp",
                                .inputs = 20,
                                .outputs = 3,
                                .hidden = "12,12",
                                .norm = "none",
                                .activation = tg_activation_name((tg_activation)i),
                                .residual = true},
                     todays(i, COMPILERS_NATIVE));
}
END_TEST

START_TEST(without_fused_products_the_bits_are_those_of_the_baseline)
{
    const char *const best = tg_kernels.isa;
    ck_assert(tg_kernels_use("baseline"));
    expect_model((net_spec){.model = "mlp", .inputs = 20, .outputs = 3, .hidden = "12,12", .norm = "layer"},
                 COMPILERS_ALL);
    expect_model((net_spec){.model = "gpt", .vocabulary = 9, .layers = 1, .width = 16, .context = 12}, COMPILERS_ALL);
    ck_assert(tg_kernels_use(best));
}
END_TEST

/* ---- sequences, read token by token ---- */

enum { NEW_SEQUENCE = -2 };

/* A program that reads each token of standard input, and writes the logits; sevens, if the token is refused. */
static void write_reader(int vocabulary)
{
    char text[1000];
    const int length = snprintf(text, sizeof text,
                                "#include <stdint.h>\n#include <stdio.h>\n"
                                "void net_begin(void);\nint net_next(int32_t token, float *y);\n"
                                "static float y[%d];\n"
                                "int main(void)\n{\n    int32_t token;\n"
                                "    while (fread(&token, sizeof token, 1, stdin) == 1) {\n"
                                "        if (token == %d)\n            net_begin();\n"
                                "        else if (net_next(token, y) != 0)\n"
                                "            for (int i = 0; i < %d; i++)\n                y[i] = 7;\n"
                                "        if (token != %d && fwrite(y, sizeof y, 1, stdout) != 1)\n"
                                "            return 3;\n    }\n    return 0;\n}\n",
                                vocabulary, NEW_SEQUENCE, vocabulary, NEW_SEQUENCE);
    temporary_write("driver.c", text, (size_t)length);
}

/* The logits of a decoder for these tokens, [count, vocabulary] as one tensor; sevens for what it cannot read. */
static tg_tensor logits_of_decoder(const tg_model *model, const int32_t *tokens, int64_t count, int vocabulary)
{
    tg_decoder *decoder = tg_decoder_new(model, INT64_MAX);
    float *all = malloc((size_t)(count * vocabulary) * sizeof *all), *to = all;
    for (int64_t i = 0; i < count; i++) {
        if (tokens[i] == NEW_SEQUENCE) {
            tg_decoder_restart(decoder);
            continue;
        }
        const bool fits = tokens[i] >= 0 && tokens[i] < vocabulary;
        const float *logits = fits ? tg_f32(tg_decoder_read(decoder, tokens + i, 1)) : NULL;
        for (int k = 0; k < vocabulary; k++)
            *to++ = logits ? logits[k] : 7;
    }
    const tg_tensor y = tg_constant(tape, TG_F32, all, TG_SHAPE((to - all) / vocabulary, vocabulary));
    tg_decoder_free(decoder);
    free(all);
    return y;
}

/* A sequence up to the context and beyond it, with tokens that do not exist, and two shorter ones. */
static void expect_reading(net_spec spec, bool trains, compilers_of which)
{
    enum { TOKENS = 40 };
    tg_export_next next;
    tg_model_spec_complete(&spec);
    tg_model *model = exported_model(&spec);
    tg_tensor x;
    const tg_tensor y = exported_prediction(&spec, model, tape, &x);
    ck_assert_msg(tg_decoder_record(model, tape, &next), "%s", tg_tape_error(tape));
    const tg_tensor target = tg_constant(tape, TG_I32, (int32_t[64]){0}, TG_SHAPE(1, spec.context)),
                    loss = trains ? tg_cross_entropy(tg_model_forward(model, x, NULL), target) : y;
    ck_assert(!trains || tg_backward(loss));
    const tg_export_step step = {.input = {x}, .target = {target}, .loss = loss};
    free(exported(&(tg_export_config){.input = {x}, .output = {y}, .next = &next, .step = trains ? &step : NULL}));
    int32_t tokens[TOKENS];
    for (int i = 0; i < TOKENS; i++)
        tokens[i] = i == 3               ? -1
                    : i == 5             ? spec.vocabulary
                    : i == 28 || i == 33 ? NEW_SEQUENCE
                                         : i * i % spec.vocabulary;
    temporary_write("rows", tokens, sizeof tokens);
    write_reader(spec.vocabulary);
    expect_built(logits_of_decoder(model, tokens, TOKENS, spec.vocabulary), which);
    tg_model_free(model);
    tg_tape_reset(tape);
}

START_TEST(tokens_one_by_one_give_the_bits_of_the_decoder)
{
    static const net_spec specs[] = {
        {.model = "rnn", .norm = "none", .vocabulary = 9, .layers = 2, .width = 21, .context = 12, .hidden = "13"},
        {.model = "gru", .norm = "layer", .vocabulary = 31, .layers = 1, .width = 16, .context = 12, .hidden = "8"},
        {.model = "lstm", .norm = "none", .vocabulary = 31, .layers = 3, .width = 16, .context = 5, .hidden = "16"},
        {.model = "gpt", .norm = "layer", .vocabulary = 31, .layers = 2, .heads = 4, .width = 32, .context = 20},
        {.model = "gpt",
         .norm = "rms",
         .vocabulary = 5,
         .layers = 1,
         .heads = 4,
         .kv_heads = 2,
         .width = 16,
         .context = 12,
         .activation = "swiglu",
         .post_norm = true},
        {.model = "gpt",
         .norm = "layer",
         .vocabulary = 9,
         .layers = 1,
         .heads = 1,
         .width = 16,
         .context = 26,
         .rotary = true},
        {.model = "gpt",
         .norm = "layer",
         .vocabulary = 9,
         .layers = 1,
         .heads = 1,
         .width = 16,
         .context = 1,
         .rotary = true},
        {.model = "gpt", .norm = "layer", .vocabulary = 5, .layers = 1, .heads = 2, .width = 8, .context = 1}};
    enum { SPECS = sizeof specs / sizeof specs[0] };
    for (int i = 0; i < SPECS; i++)
        expect_reading(specs[i], i == 3, todays(i, COMPILERS_ALL));
    expect_reading(exported_rotary_gpt, false, todays(SPECS, COMPILERS_ALL));
}
END_TEST

START_TEST(what_cannot_be_read_token_by_token_is_refused)
{
    tg_export_next next = {0};
    net_spec spec = {.model = "charmlp", .vocabulary = 9, .hidden = "8", .context = 4};
    tg_model_spec_complete(&spec);
    tg_model *model = exported_model(&spec);
    ck_assert(!tg_decoder_record(model, tape, &next) && !tg_decoder_record(NULL, tape, &next));
    ck_assert_ptr_null(tg_tape_error(tape));
    tg_model_free(model);
    const int32_t zero[2] = {0};
    const float zeros[6] = {0};
    const tg_tensor token = tg_constant(tape, TG_I32, zero, TG_SHAPE(1, 1)),
                    pair = tg_constant(tape, TG_I32, zero, TG_SHAPE(1, 2)),
                    state = tg_constant(tape, TG_F32, zeros, TG_SHAPE(1, 2, 3)),
                    sum = tg_sum_over(state, TG_AXES(1), true);
    tg_export_config config = {.input = {token}, .output = {sum}, .next = &next};
    const struct {
        tg_export_next next;
        const char *problem;
    } wrong[] = {
        {{.token = pair, .logits = sum, .most = 2}, "token and position are not one i32 each"},
        {{.token = token, .logits = sum}, "has no position without `most`, and a state or `most`"},
        {{.token = token, .logits = sum, .position = token}, "has no position without `most`"},
        {{.token = token, .logits = sum, .states = 1, .state = {{state, sum, false}}}, "of the same type and shape"},
        {{.token = token, .logits = sum, .states = 1, .state = {{sum, sum, false}}}, "an input is computed"},
        {{.token = token, .logits = sum, .most = 3, .states = 1, .state = {{state, sum, true}}},
         "a state that grows is not [1, most, size]"},
        {{.token = token, .logits = sum, .most = 2, .states = 1, .state = {{state, sum, true}}},
         "the operation sum_over reads a state that grows"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        next = wrong[i].next;
        ck_assert_uint_eq(tg_export(tape, &config, NULL, 0), 0);
        expect_error(wrong[i].problem);
    }
}
END_TEST

/* ---- the training step ---- */

enum { ROWS = 4 };

/* Trains in the library and in exported C on the same rows, changes the learning rate half way, and compares
 * predictions. */
static void expect_training(net_spec spec, const tg_optimizer_config *how, tg_export_rule rule, int steps,
                            compilers_of which)
{
    tg_model_spec_complete(&spec);
    const bool text = tg_model_traits_of(spec.model)->text, images = tg_model_traits_of(spec.model)->reconstructs;
    const int64_t width = exported_width(&spec);
    tg_model *model = exported_model(&spec);
    tg_parameters *set = tg_model_parameters(model);
    tg_optimizer *optimizer = tg_optimizer_new(set, how);
    ck_assert_ptr_nonnull(optimizer);
    tg_rng rng = tg_rng_seed(5);
    const int64_t positions = tg_model_traits_of(spec.model)->every_position ? spec.context : 1;
    const int64_t each = ROWS * width, each_target = images ? each : ROWS * positions;
    union {
        float f;
        int32_t i;
    } *x = calloc((size_t)(each * (steps + 1)), sizeof *x), *y = calloc((size_t)(each_target * (steps + 1)), sizeof *y);
    for (int64_t i = 0; i < each * (steps + 1); i++)
        if (text)
            x[i].i = (int32_t)(tg_rng_uniform(&rng) * spec.vocabulary);
        else
            x[i].f = (float)tg_rng_uniform(&rng) * 2 - 0.5f;
    for (int64_t i = 0; i < each_target * (steps + 1); i++)
        if (images)
            y[i].f = (float)tg_rng_uniform(&rng);
        else
            y[i].i = (int32_t)(tg_rng_uniform(&rng) * (text ? spec.vocabulary : spec.outputs));

    /* The driver program: a prediction, and a training step on changing rows. */
    void *batch = malloc((size_t)each * 4), *wanted = malloc((size_t)each_target * 4);
    memcpy(batch, x, (size_t)each * 4);
    memcpy(wanted, y, (size_t)each_target * 4);
    tg_no_grad_begin(tape);
    const tg_tensor row = tg_constant(tape, text ? TG_I32 : TG_F32, x, TG_SHAPE(1, width));
    const tg_tensor output = tg_model_forward(model, row, NULL);
    tg_no_grad_end(tape);
    const tg_tensor rows = tg_borrow(tape, text ? TG_I32 : TG_F32, batch, TG_SHAPE(ROWS, width));
    const tg_tensor made = tg_model_forward(model, rows, &rng);
    tg_shape of_labels = tg_shape_of(made);
    of_labels.rank--;
    const tg_tensor target = tg_borrow(tape, images ? TG_F32 : TG_I32, wanted, images ? tg_shape_of(made) : of_labels);
    const tg_tensor loss = images ? tg_mse(made, target) : tg_cross_entropy(made, target);
    ck_assert_msg(tg_backward(loss), "%s", tg_tape_error(tape));
    /* Where both are real, their own units, which change nothing. */
    double *mean = calloc((size_t)(2 * width), sizeof *mean), *scale = malloc((size_t)(2 * width) * sizeof *scale);
    for (int64_t i = 0; i < 2 * width; i++)
        scale[i] = 1;
    const tg_export_step step = {.input = {rows, images ? mean : NULL, images ? scale : NULL},
                                 .target = {target, images ? mean + width : NULL, images ? scale + width : NULL},
                                 .loss = loss,
                                 .rule = rule,
                                 .rate = how->lr, /* zeros are the optimiser's defaults, as there */
                                 .weight_decay = how->weight_decay,
                                 .beta1 = how->beta1,
                                 .beta2 = how->beta2,
                                 .epsilon = how->epsilon,
                                 .momentum = how->momentum,
                                 .nesterov = how->nesterov};
    free(exported(&(tg_export_config){.input = {row}, .output = {output}, .step = &step}));

    for (int k = 0; k <= steps; k++) { /* the last time only to predict */
        tg_parameters_clear_gradients(set);
        memcpy(batch, x + k * each, (size_t)each * 4);
        memcpy(wanted, y + k * each_target, (size_t)each_target * 4);
        ck_assert_msg(tg_replay(tape), "%s", tg_tape_error(tape));
        if (k == steps / 2)
            ck_assert(tg_optimizer_set_rate(optimizer, how->lr / 4));
        if (k < steps)
            ck_assert(tg_optimizer_step(optimizer));
    }
    char driver[2000];
    const int length =
        snprintf(driver, sizeof driver,
                 "#include <stdint.h>\n#include <stdio.h>\n"
                 "int net_predict(const %s *x, float *y);\ndouble net_train(const %s *x, const %s *y, size_t n);\n"
                 "void net_rate(double rate);\n"
                 "static %s x[%lld];\nstatic %s t[%lld];\nstatic float y[%lld];\n"
                 "int main(void)\n{\n    if (fread(x, sizeof x, 1, stdin) != 1 || fread(t, sizeof t, 1, stdin) != 1)\n"
                 "        return 2;\n    net_train(x, t, %d);\n    net_rate(%.17g);\n"
                 "    const double loss = net_train(x + %lld, t + %lld, %d);\n"
                 "    return !(loss > 0) || net_predict(x, y) != 0 || fwrite(y, sizeof y, 1, stdout) != 1;\n}\n",
                 type_of(row), type_of(row), images ? "float" : "int32_t", type_of(row), (long long)(each * steps),
                 images ? "float" : "int32_t", (long long)(each_target * steps), (long long)tg_size(output),
                 steps / 2 * ROWS, how->lr / 4, (long long)(each * (steps / 2)), (long long)(each_target * (steps / 2)),
                 (steps - steps / 2) * ROWS);
    temporary_write("driver.c", driver, (size_t)length);
    const size_t bytes_x = (size_t)(each * steps) * 4, bytes_y = (size_t)(each_target * steps) * 4;
    char *both = malloc(bytes_x + bytes_y);
    memcpy(both, x, bytes_x);
    memcpy(both + bytes_x, y, bytes_y);
    temporary_write("rows", both, bytes_x + bytes_y);
    expect_built(output, which);
    free(both), free(x), free(y), free(batch), free(wanted), free(mean), free(scale);
    tg_optimizer_free(optimizer);
    tg_model_free(model);
    tg_tape_reset(tape);
}

START_TEST(thousand_steps_leave_the_same_weights)
{
    const net_spec spec = {.model = "mlp", .inputs = 2, .outputs = 3, .hidden = "8,8", .norm = "layer"};
    const struct {
        tg_optimizer_config how;
        tg_export_rule rule;
    } each[] = {{{.kind = TG_ADAMW, .lr = 1e-2, .weight_decay = 0.1}, TG_EXPORT_ADAMW},
                {{.kind = TG_ADAM, .lr = 1e-2, .weight_decay = 0.01, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6},
                 TG_EXPORT_ADAM},
                {{.kind = TG_SGD, .lr = 1e-2, .weight_decay = 0.01, .momentum = 0.9, .nesterov = true}, TG_EXPORT_SGD}};
    for (int i = 0; i < 3; i++)
        expect_training(spec, &each[i].how, each[i].rule, 1000, COMPILERS_ALL);
}
END_TEST

static void expect_model_trains(int model, int steps, compilers_of which)
{
    const tg_optimizer_config how = {.lr = 1e-3, .weight_decay = 0.01};
    net_spec spec;
    exported_spec(model, strcmp(net_models[model], "convnet") == 0 ? "group" : "rms", &spec);
    expect_training(spec, &how, TG_EXPORT_ADAMW, steps, which);
}

START_TEST(models_train_to_the_same_weights)
{
    for (int i = 0; net_models[i]; i++)
        if (i % 2 == _i)
            expect_model_trains(i, 10, todays(i / 2, COMPILERS_ALL));
    if (_i == 0)
        expect_training(of_few_letters, &(tg_optimizer_config){.lr = 1e-3}, TG_EXPORT_ADAMW, 10, COMPILERS_ONE);
    for (int i = 0; net_models[i] && getenv("TG_LONG"); i++)
        if (i % 2 == _i)
            expect_model_trains(i, 1000, COMPILERS_NATIVE);
}
END_TEST

/* ---- errors, names and sizes ---- */

static tg_tensor zeros_of(tg_dtype dtype, tg_shape shape)
{
    return tg_constant(tape, dtype, (double[64]){0}, shape);
}

START_TEST(names_end_no_comment_and_no_string)
{
    static const char *const names[] = {"a\"b", "c\\", "*/ int x; /*", "\?\?/", "two\nlines", "caf\xc3\xa9"};
    static const double mean[] = {1, 2, 3, 4, 5, 0}, scale[] = {0.5, 0.25, 2, 1, 1, 0},
                        limit[] = {0, 2, 0, 4, 1e-200, 1};
    const float row[] = {1.5f, NAN, 7, 1, 2, 3};
    const tg_tensor x = tg_named(tg_constant(tape, TG_F32, row, TG_SHAPE(1, 6)), "x */ ?"
                                                                                 "?/\n");
    const tg_tensor y = tg_add_scalar(x, 1);
    free(exported(&(tg_export_config){.title = "*/ \"?"
                                               "?/\n\\",
                                      .input = {x, mean, scale, names, limit},
                                      .output = {y, mean, scale, names}}));
    const char driver[] = "#include <stdio.h>\n#include <math.h>\n#include <string.h>\n"
                          "int net_predict(const float *x, float *y);\nextern const char *const net_outputs[6];\n"
                          "int main(void)\n{\n    const float x[6] = {1.5f, NAN, 7, 1, 2, 3};\n    float y[6];\n"
                          "    net_predict(x, y);\n    for (int i = 0; i < 6; i++)\n"
                          "        fwrite(net_outputs[i], 1, strlen(net_outputs[i]) + 1, stdout);\n"
                          "    return !(y[0] == 2 && y[1] == 2.25f && y[2] == 9 && fabsf(y[3] - 2.6f) < 1e-6f && y[4] "
                          "== 6 && y[5] == 0);\n}\n";
    temporary_write("driver.c", driver, sizeof driver - 1);
    for (const compiler *c = NULL; (c = compiler_next(c, COMPILERS_ALL));) {
        ck_assert(compiler_build(c, "net.c driver.c"));
        ck_assert_int_eq(shell("%s > results", c->run), 0);
        const char *at = temporary_text("results");
        for (int k = 0; k < 6; k++, at += strlen(at) + 1)
            ck_assert_str_eq(at, names[k]);
    }
}
END_TEST

START_TEST(weights_may_lie_in_a_file_of_their_own)
{
    const net_spec plain = {.model = "mlp", .inputs = 5, .outputs = 3, .hidden = "7"};
    net_spec spec = plain;
    tg_model_spec_complete(&spec);
    tg_model *model = exported_model(&spec);
    const tg_tensor x = tg_constant(tape, TG_F32, (float[]){1, 2, 3, 4, 5}, TG_SHAPE(1, 5)),
                    y = tg_model_forward(model, x, NULL);
    const tg_export_config config = {.input = {x}, .output = {y}, .weights_apart = true};
    float weights[7 * 5 + 7 + 3 * 7 + 3];
    ck_assert_uint_eq(tg_export_weights(tape, &config, NULL, 0), sizeof weights);
    ck_assert_uint_eq(tg_export_weights(tape, &config, weights, sizeof weights), sizeof weights);
    free(exported(&config));
    temporary_write("weights", weights, sizeof weights);
    write_driver("float", 5, "float", 3,
                 "static char w[1000];\n    FILE *file = fopen(\"weights\", \"rb\");\n"
                 "    if (!file || fread(w, 1, sizeof w, file) == 0)\n        return 2;\n    fclose(file);\n    "
                 "net_weights(w);");
    temporary_write("rows", tg_data(x), 5 * sizeof(float));
    ck_assert(compiler_build(first(), "net.c driver.c"));
    expect_rows(first(), y);
    tg_model_free(model);
}
END_TEST

static void expect_no_export(const tg_export_config *config, const char *part)
{
    ck_assert_uint_eq(tg_export(tape, config, NULL, 0), 0);
    expect_error(part);
}

START_TEST(what_cannot_be_exported_is_refused)
{
    const tg_tensor x = zeros_of(TG_F32, TG_SHAPE(1, 3)), y = tg_relu(x), wide = zeros_of(TG_F64, TG_SHAPE(1, 3));
    const tg_tensor mixed = tg_one_hot(tg_argmax(wide, -1, false), 3, TG_F32);
    const tg_tensor i = zeros_of(TG_I32, TG_SHAPE(1)), b = zeros_of(TG_F32, TG_SHAPE(2, 3));
    const double scale[3] = {1, 1, 1};
    tg_rng rng = tg_rng_seed(1);
    expect_no_export(&(tg_export_config){.input = {TG_NONE}, .output = {y}},
                     "export: an input or output is an inert tensor");
    expect_no_export(&(tg_export_config){.input = {x}, .output = {TG_NONE}}, "inert");
    expect_no_export(&(tg_export_config){.input = {y}, .output = {y}}, "export: an input is computed");
    expect_no_export(&(tg_export_config){.input = {x}, .output = {y}, .name = "2net"},
                     "export: the name is not one of C");
    expect_no_export(&(tg_export_config){.input = {x}, .output = {y}, .name = ""}, "export: the name is not one of C");
    expect_no_export(&(tg_export_config){.input = {x, NULL, scale}, .output = {y}}, "a scale needs a mean");
    expect_no_export(&(tg_export_config){.input = {i, scale, scale}, .output = {y}}, "a scale needs a mean");
    expect_no_export(&(tg_export_config){.input = {x, .limit = scale}, .output = {y}}, "a limit is for an input");
    expect_no_export(&(tg_export_config){.input = {x}, .output = {y, scale, scale, .limit = scale}}, "a limit is for");
    expect_no_export(&(tg_export_config){.input = {x}, .output = {tg_dropout(y, tg_random_stream(tape, &rng), 0.5)}},
                     "export: the operation random_stream cannot be written as C");
    tg_op own = tg_op_square; /* a user's, of the same name */
    expect_no_export(&(tg_export_config){.input = {x}, .output = {tg_apply(&own, NULL, 1, &x)}},
                     "export: the operation square cannot be written as C");
    expect_no_export(&(tg_export_config){.input = {wide}, .output = {mixed}}, "values of f32 and of f64");
    const tg_export_step step = {.input = {b}, .target = {x}, .loss = tg_sum(y)};
    expect_no_export(&(tg_export_config){.input = {x}, .output = {y}, .step = &step},
                     "a step needs a loss, of which tg_backward has been called");
    const tg_export_step computed = {.input = {y}, .target = {x}, .loss = tg_sum(y)};
    expect_no_export(&(tg_export_config){.input = {x}, .output = {y}, .step = &computed},
                     "export: an input is computed");
    const tg_tensor none = zeros_of(TG_F32, TG_SHAPE(0, 3));
    expect_no_export(&(tg_export_config){.input = {none}, .output = {tg_relu(none)}}, "an input or output is empty");
    tg_parameters *set = tg_parameters_new(TG_F32);
    const tg_tensor w = tg_parameter_tensor(tape, tg_parameters_add(set, "w", TG_SHAPE(3), true));
    const tg_export_step unequal = {.input = {b}, .target = {x}, .loss = tg_mse(tg_sum(tg_mul(b, w)), tg_sum(x))};
    ck_assert(tg_backward(unequal.loss));
    expect_no_export(&(tg_export_config){.input = {x}, .output = {y}, .step = &unequal},
                     "input and target of the step have no equal number of rows");
    tg_parameters_free(set);
    ck_assert_uint_eq(tg_export(NULL, &(tg_export_config){.input = {x}}, NULL, 0), 0);
    ck_assert_uint_eq(tg_export(tape, NULL, NULL, 0), 0);
    ck_assert_uint_eq(tg_export_weights(tape, NULL, NULL, 0), 0);
}
END_TEST

START_TEST(an_index_out_of_range_is_reported)
{
    const tg_tensor table = zeros_of(TG_F32, TG_SHAPE(4, 2)), x = zeros_of(TG_I32, TG_SHAPE(1));
    free(exported(&(tg_export_config){.input = {x}, .output = {tg_embedding(table, x)}}));
    write_driver("int32_t", 1, "float", 2, "");
    ck_assert(compiler_build(first(), "net.c driver.c"));
    temporary_write("rows", (int32_t[]){3}, 4);
    ck_assert_int_eq(shell("./net < rows > results"), 0);
    for (int k = 0; k < 2; k++) {
        temporary_write("rows", (int32_t[]){k ? 4 : -1}, 4);
        ck_assert_int_eq(shell("./net < rows > results"), 3);
    }
}
END_TEST

START_TEST(want_of_memory_is_an_error)
{
    const tg_tensor x = zeros_of(TG_F32, TG_SHAPE(1, 3));
    const tg_export_config config = {.input = {x}, .output = {tg_relu(x)}};
    ck_assert_uint_gt(tg_export(tape, &config, NULL, 0), 0);
    for (int nth = 0;; nth++) {
        wrapped_memory_fail_after(nth);
        const size_t length = tg_export(tape, &config, NULL, 0);
        if (!wrapped_memory_stop())
            break;
        ck_assert_uint_eq(length, 0);
        expect_error("export: out of memory");
    }
    ck_assert_uint_gt(tg_export(tape, &config, NULL, 0), 0);
}
END_TEST

/* ---- the program ---- */

START_TEST(the_program_writes_what_train_has_kept)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 2 --dropout 0 --out m"));
    expect_fine(train_run("emit", "--model m --out net.c --name iris"));
    ck_assert_ptr_nonnull(strstr(temporary_text("net.c"), "int iris_predict(const float x["));
    ck_assert_ptr_nonnull(strstr(temporary_text("net.c"), "const char *const iris_outputs["));
    expect_fine(train_run("emit", "--model m/best.safetensors > other.c"));
    ck_assert_ptr_nonnull(strstr(temporary_text("other.c"), "int net_predict(const float x["));
    expect_fine(train_run("emit", "--model m --train --batch 8 --out step.c --weights step.bin"));
    ck_assert_ptr_nonnull(
        strstr(temporary_text("step.c"), "double net_train(const float *x, const int32_t *y, size_t n)"));
    ck_assert(compiler_build(first(), "-c net.c") && compiler_build(first(), "-c step.c"));
    expect_fine(train_run("emit", "--model m --table > table"));
    ck_assert_ptr_nonnull(strstr(temporary_text("table"), "gelu_exact"));
    expect_fine(train_run("emit", "--model m --dot > dot"));
    ck_assert_ptr_nonnull(strstr(temporary_text("dot"), "digraph tape"));
    expect_refused(train_run("emit", "%s", ""), "--model FILE is missing");
    expect_refused(train_run("emit", "--model nowhere"), "nowhere");
    expect_refused(train_run("emit", "--model m --dot --table"), "exclude each other");
    expect_refused(train_run("emit", "--model m --dot --name x"), "are for C");
    expect_refused(train_run("emit", "--model m --lr 1"), "are for --train");
    expect_refused(train_run("emit", "--model m --name 1x"), "the name is not one of C");
    expect_refused(train_run("emit", "--model m --out missing/net.c"), "missing");
    expect_refused(train_run("emit", "--model m --out m"), "m: not a regular file");
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 1 --dropout 0.2 --out d"));
    expect_fine(train_run("emit", "--model d --out net.c"));
    expect_refused(train_run("emit", "--model d --out net.c --train"),
                   "random_stream cannot be written as C; a net without dropout has none");
}
END_TEST

static char *whole_file(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

/* Copies a program of docs/export/. */
static void write_page(const char *name)
{
    char path[100];
    snprintf(path, sizeof path, "docs/export/%s", name);
    char *text = whole_file(path);
    temporary_write(name, text, strlen(text));
    free(text);
}

/* The net reads on beyond the context that it was trained with, gpt up to it. */
static void expect_said(const char *model, int length)
{
    const char *const text = "the quick brown fox jumps over the lazy dog";
    char lines[2000] = "";
    while (strlen(lines) + strlen(text) < sizeof lines)
        strcat(lines, text);
    temporary_write("words.txt", lines, strlen(lines));
    expect_fine(train_run("train",
                          "--data text:words.txt --model %s --context 16 --width 16 --epochs 30 --no-plots --out %s",
                          model, model));
    expect_fine(train_run("emit", "--model %s --out net.c", model));
    expect_fine(
        train_run("predict", "--model %s --prompt jump --length %d --temperature 0 > predicted", model, length));
    write_page("say.c");
    ck_assert(compiler_build(first(), "net.c say.c"));
    ck_assert_int_eq(shell("{ printf jump; ./net jump %d; } > said", length), 0);
    char *said = strdup(temporary_text("said"));
    ck_assert_uint_eq(strlen(said), (size_t)length + 4);
    ck_assert_int_eq(strncmp(said, temporary_text("predicted"), strlen(said)), 0);
    free(said);
}

/* Words reversed; words of other letters than in training are unlike all that the net has seen. */
START_TEST(the_program_translates_as_predict_does)
{
    enum { WORDS = 400, TRANSLATED = 40 };
    char pairs[WORDS * 30], sources[TRANSLATED * 12], options[100];
    size_t used = 0, used_sources = 0;
    tg_rng rng = tg_rng_seed(9);
    for (int i = 0; i < WORDS + TRANSLATED; i++) {
        char word[10] = "", back[10] = "";
        const int length = 3 + (int)tg_rng_below(&rng, 6);
        for (int k = 0; k < length; k++)
            word[k] = back[length - 1 - k] = (char)('a' + tg_rng_below(&rng, 26));
        if (i < WORDS)
            used += (size_t)snprintf(pairs + used, sizeof pairs - used, "%s\t%s\n", word, back);
        else
            used_sources += (size_t)snprintf(sources + used_sources, sizeof sources - used_sources, "%s\n", word);
    }
    temporary_write("pairs.tsv", pairs, used);
    temporary_write("sources", sources, used_sources);
    for (int relative = 0; relative < 2; relative++) {
        expect_fine(train_run("train",
                              "--data pairs:pairs.tsv --model seq2seq --layers 1 --width 16 --heads 2 --context 10 "
                              "--epochs 3 --no-plots %s --out m%d",
                              relative ? "--relative" : "", relative));
        expect_fine(train_run("emit", "--model m%d --out net.c", relative));
        expect_fine(train_run("predict", "--model m%d --data pairs:sources > predicted", relative));
        write_page("translate.c");
        const char *const size = strstr(temporary_text("net.c"), "net_outputs[");
        ck_assert_ptr_nonnull(size);
        snprintf(options, sizeof options, "-DLETTERS=%d -DCONTEXT=10 net.c translate.c", atoi(size + 12));
        ck_assert(compiler_build(first(), options));
        ck_assert_int_eq(shell("./net < sources > translated && cmp translated predicted"), 0);
    }
}
END_TEST

START_TEST(the_program_says_what_predict_says)
{
    expect_said("gru", 40);
    expect_said("lstm", 40);
    expect_said("gpt", 12);
}
END_TEST

/* ---- the page ---- */

int export_of_the_page(void);
#define main export_of_the_page
#define tape tape_of_the_page
#include "docs/export/step.c"
#undef tape
#undef main

START_TEST(the_page_shows_what_its_program_writes)
{
    char *wanted = whole_file("docs/export/tiny.c"), *page = whole_file("docs/export.md");
    FILE *kept = freopen(temporary_path("tiny.c"), "w", stdout);
    ck_assert_ptr_nonnull(kept);
    ck_assert_int_eq(export_of_the_page(), 0);
    fflush(stdout);
    ck_assert_str_eq(temporary_text("tiny.c"), wanted);
    ck_assert_ptr_nonnull(strstr(page, strstr(wanted, "/* What training keeps from step to step")));
    ck_assert(compiler_build(first(), "-c tiny.c"));
    free(wanted), free(page);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_set_timeout(tests, 600); /* compilers need time on a loaded machine */
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    suite_add_tcase(suite, tests);
    return tests;
}

Suite *exported_suite(void)
{
    Suite *suite = suite_create("exported");
    TCase *quick = new_case(suite, "quick");
    tcase_add_test(quick, shapes_that_are_broadcast_give_the_same_bits);
    tcase_add_test(quick, a_variance_of_too_few_elements_is_infinite);
    return suite;
}

Suite *export_suite(void)
{
    Suite *suite = suite_create("export");
    TCase *operations = new_case(suite, "operations"), *models = new_case(suite, "models"),
          *steps = new_case(suite, "steps");
    tcase_add_loop_test(operations, operations_give_the_bits_of_their_kernels, 0, 2 * PARTS);
    tcase_add_loop_test(new_case(suite, "narrow"), products_in_narrow_vectors_give_the_same_bits, 0, 2 * PRODUCT_ROWS);
    tcase_add_loop_test(models, models_give_the_same_bits, 0, 4);
    tcase_add_test(new_case(suite, "reading"), tokens_one_by_one_give_the_bits_of_the_decoder);
    tcase_add_test(models, activations_give_the_same_bits);
    tcase_add_test(models, without_fused_products_the_bits_are_those_of_the_baseline);
    TCase *rest = new_case(suite, "rest"), *programs = tcase_create("programs");
    tcase_add_test(rest, names_end_no_comment_and_no_string);
    tcase_add_test(rest, weights_may_lie_in_a_file_of_their_own);
    tcase_add_test(rest, what_cannot_be_exported_is_refused);
    tcase_add_test(rest, what_cannot_be_read_token_by_token_is_refused);
    tcase_add_test(rest, an_index_out_of_range_is_reported);
    tcase_add_test(rest, want_of_memory_is_an_error);
    tcase_add_test(rest, the_page_shows_what_its_program_writes);
    tcase_set_timeout(programs, 600);
    tcase_add_checked_fixture(programs, train_folder_make, temporary_folder_remove);
    tcase_add_test(programs, the_program_writes_what_train_has_kept);
    tcase_add_test(programs, the_program_says_what_predict_says);
    tcase_add_test(programs, the_program_translates_as_predict_does);
    suite_add_tcase(suite, programs);
    tcase_add_test(steps, thousand_steps_leave_the_same_weights);
    tcase_add_loop_test(steps, models_train_to_the_same_weights, 0, 2);
    return suite;
}
