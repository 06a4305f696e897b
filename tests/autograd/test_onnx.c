/* Exported ONNX models: their bytes, read by a short parser; and, where Python has them, by onnx and onnxruntime. */
#include "tests/golden/golden.h"
#include "tests/support/exported.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"
#include "tests/support/tensors.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

Suite *onnx_suite(void);

static void make_folder(void)
{
    temporary_folder_make();
    start_tape();
}

static void remove_folder(void)
{
    finish_tape();
    temporary_folder_remove();
}

/* The model of a configuration, to be freed; NULL, with the error on the tape, if ONNX cannot express it. */
static char *exported(const tg_export_config *config, size_t *size)
{
    *size = tg_export_onnx(tape, config, NULL, 0);
    if (*size == 0)
        return NULL;
    char *bytes = malloc(*size);
    ck_assert_uint_eq(tg_export_onnx(tape, config, bytes, *size), *size);
    return bytes;
}

/* ---- by our own parser ---- */

typedef struct field {
    int number;
    uint64_t integer; /* or the length of the bytes */
    const unsigned char *bytes;
} field;

static uint64_t read_varint(const unsigned char **at)
{
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
        const unsigned char byte = *(*at)++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
}

/* Reads the next field of a message; false at its end. */
static bool next_field(const unsigned char **at, const unsigned char *end, field *f)
{
    if (*at >= end)
        return false;
    const uint64_t tag = read_varint(at);
    *f = (field){.number = (int)(tag >> 3)};
    if ((tag & 7) == 5) { /* four bytes */
        f->bytes = *at;
        *at += 4;
        return true;
    }
    ck_assert_uint_eq(tag & 5, 0); /* a number, or bytes */
    f->integer = read_varint(at);
    f->bytes = *at;
    if ((tag & 7) == 2)
        *at += f->integer;
    ck_assert(*at <= end);
    return true;
}

/* The n-th field with this number in a message. */
static field find_field(field message, int number, int n)
{
    const unsigned char *at = message.bytes;
    field f;
    while (next_field(&at, message.bytes + message.integer, &f))
        if (f.number == number && n-- == 0)
            return f;
    return (field){0};
}

static bool is_text(field f, const char *text)
{
    return f.bytes && f.integer == strlen(text) && memcmp(f.bytes, text, f.integer) == 0;
}

static void expect_text(field f, const char *text)
{
    ck_assert_msg(is_text(f, text), "%.*s and not %s", f.bytes ? (int)f.integer : 0, (const char *)f.bytes, text);
}

/* ---- whether a reader could follow the model ---- */

enum { MOST_NAMES = 8192 };

static field known_names[MOST_NAMES];
static int known_count;

static bool is_known(field name)
{
    for (int i = known_count; i-- > 0;)
        if (known_names[i].integer == name.integer && memcmp(known_names[i].bytes, name.bytes, name.integer) == 0)
            return true;
    return false;
}

static void add_name(field name)
{
    ck_assert_msg(name.bytes && !is_known(name), "made twice: %.*s", (int)name.integer, (const char *)name.bytes);
    ck_assert_int_lt(known_count, MOST_NAMES);
    known_names[known_count++] = name;
}

/* A TensorProto has as many bytes as its dimensions and its type say. */
static void expect_whole_tensor(field tensor)
{
    const uint64_t type = find_field(tensor, 2, 0).integer;
    uint64_t size = type == 11 || type == 7 ? 8 : 4; /* DOUBLE, INT64; FLOAT, INT32 */
    ck_assert(type == 1 || type == 6 || type == 7 || type == 11);
    const unsigned char *at = tensor.bytes;
    for (field f; next_field(&at, tensor.bytes + tensor.integer, &f);)
        size *= f.number == 1 ? f.integer : 1;
    ck_assert_uint_eq(find_field(tensor, 9, 0).integer, size);
}

/* The field of an AttributeProto that has the value is the one that its type names. */
static void expect_whole_attribute(field attribute)
{
    static const int of_type[] = {0, 2, 3, 4, 5, 0, 0, 8}; /* FLOAT, INT, STRING, TENSOR; INTS */
    const uint64_t type = find_field(attribute, 20, 0).integer;
    ck_assert(type < sizeof of_type / sizeof of_type[0] && of_type[type]);
    const unsigned char *at = attribute.bytes;
    for (field f; next_field(&at, attribute.bytes + attribute.integer, &f);)
        ck_assert(f.number == 1 || f.number == 20 || f.number == of_type[type]);
    if (type == 4)
        expect_whole_tensor(find_field(attribute, 5, 0));
}

/* Every name that a node reads was made before, by the input, an initializer or an earlier node; each is made once. */
static void expect_sound(const char *bytes, size_t size)
{
    const field model = {.integer = size, .bytes = (const unsigned char *)bytes}, graph = find_field(model, 7, 0);
    const unsigned char *const end = graph.bytes + graph.integer, *at = graph.bytes;
    known_count = 0;
    for (field f; next_field(&at, end, &f);)
        if (f.number == 11)
            add_name(find_field(f, 1, 0));
        else if (f.number == 5) {
            add_name(find_field(f, 8, 0));
            expect_whole_tensor(f);
        }
    at = graph.bytes;
    for (field f; next_field(&at, end, &f);) {
        const unsigned char *inside = f.bytes;
        for (field part; f.number == 1 && next_field(&inside, f.bytes + f.integer, &part);)
            if (part.number == 1)
                ck_assert_msg(is_known(part), "read before it is made: %.*s", (int)part.integer,
                              (const char *)part.bytes);
            else if (part.number == 2)
                add_name(part);
            else if (part.number == 5)
                expect_whole_attribute(part);
    }
    at = graph.bytes;
    for (field f; next_field(&at, end, &f);) /* the result, and the types of what is between */
        ck_assert((f.number != 12 && f.number != 13) || is_known(find_field(f, 1, 0)));
}

/* Finds a tensor of the graph by its name. */
static field find_tensor(field graph, const char *name)
{
    field f = {0};
    for (int i = 0; !i || f.bytes; i++)
        if (is_text(find_field(f = find_field(graph, 5, i), 8, 0), name))
            return f;
    ck_abort_msg("there is no %s", name);
}

START_TEST(a_model_has_the_fields_that_onnx_wants)
{
    static const char *const classes[] = {"a\"b", "caf\xc3\xa9", "\xe9\n"};
    static const double mean[] = {1, 2}, scale[] = {0.5, 0};
    net_spec spec = {.model = "mlp", .inputs = 2, .outputs = 3, .hidden = "4", .activation = "gelu_tanh"};
    tg_model_spec_complete(&spec);
    tg_model *net = exported_model(&spec);
    tg_no_grad_begin(tape);
    const tg_tensor x = tg_constant(tape, TG_F32, (float[]){1, 2}, TG_SHAPE(1, 2)), y = tg_model_forward(net, x, NULL);
    tg_no_grad_end(tape);
    field model = {0};
    char *bytes = exported(
        &(tg_export_config){
            .title = "A net", .name = "tiny", .input = {x, mean, scale, NULL}, .output = {y, NULL, NULL, classes}},
        &model.integer);
    model.bytes = (const unsigned char *)bytes;
    ck_assert_uint_eq(find_field(model, 1, 0).integer, 9);                    /* ir_version */
    ck_assert_uint_eq(find_field(find_field(model, 8, 0), 2, 0).integer, 20); /* opset_import */
    expect_text(find_field(model, 2, 0), "tapegrad");
    expect_text(find_field(model, 6, 0), "A net");
    const field names = find_field(model, 14, 0), graph = find_field(model, 7, 0);
    expect_text(find_field(names, 1, 0), "outputs");
    expect_text(find_field(names, 2, 0), "[\"a\\\"b\", \"caf\xc3\xa9\", \"\\u00e9\\u000a\"]");
    expect_text(find_field(graph, 2, 0), "tiny");
    expect_text(find_field(find_field(graph, 11, 0), 1, 0), "x");
    expect_text(find_field(find_field(graph, 12, 0), 1, 0), "y");
    for (int port = 11; port <= 12; port++) { /* its type, tensor, shape, first dimension, dim_param */
        const field shape = find_field(find_field(find_field(find_field(graph, port, 0), 2, 0), 1, 0), 2, 0);
        expect_text(find_field(find_field(shape, 1, 0), 2, 0), "rows");
        ck_assert_uint_eq(find_field(find_field(shape, 1, 1), 1, 0).integer, port == 11 ? 2 : 3);
    }

    static const char *const nodes[] = {"Cast",     "Sub",      "Div",  "IsNaN", "Constant", "Cast", "Where",   "Cast",
                                        "Constant", "Constant", "Clip", "Gemm",  "Gelu",     "Gemm", "Identity"};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
        expect_text(find_field(find_field(graph, 1, (int)i), 4, 0), nodes[i]);
    ck_assert_ptr_null(find_field(graph, 1, sizeof nodes / sizeof nodes[0]).bytes);
    const field gelu = find_field(graph, 1, 12), approximate = find_field(gelu, 5, 0);
    expect_text(find_field(approximate, 1, 0), "approximate");
    expect_text(find_field(approximate, 4, 0), "tanh");

    const tg_parameter *weight = tg_parameters_find(tg_model_parameters(net), "layers.0.weight");
    const field tensor = find_tensor(graph, "layers.0.weight"), raw = find_field(tensor, 9, 0);
    ck_assert_uint_eq(find_field(tensor, 1, 0).integer, 4);
    ck_assert_uint_eq(find_field(tensor, 1, 1).integer, 2);
    ck_assert_uint_eq(find_field(tensor, 2, 0).integer, 1);
    ck_assert_uint_eq(raw.integer, 4 * 2 * sizeof(float));
    ck_assert_mem_eq(raw.bytes, weight->data, raw.integer);
    const field deviation = find_field(find_tensor(graph, "x_scale"), 9, 0);
    const double divisors[] = {0.5, INFINITY}; /* a column with scale 0 is 0 for the net */
    ck_assert_uint_eq(deviation.integer, sizeof divisors);
    ck_assert_mem_eq(deviation.bytes, divisors, sizeof divisors);
    free(bytes);
    tg_model_free(net);
}
END_TEST

/* A number of a model in double precision is a double; an infinite one keeps its sign. */
START_TEST(numbers_have_the_type_of_the_model)
{
    const double number = (const double[]){0.1, INFINITY, -INFINITY}[_i];
    const tg_tensor x = tg_constant(tape, TG_F64, (double[]){1}, TG_SHAPE(1, 1));
    field model = {0};
    char *bytes = exported(&(tg_export_config){.input = {x}, .output = {tg_mul_scalar(x, number)}}, &model.integer);
    model.bytes = (const unsigned char *)bytes;
    const field graph = find_field(model, 7, 0), constant = find_field(graph, 1, 0),
                tensor = find_field(find_field(constant, 5, 0), 5, 0), raw = find_field(tensor, 9, 0);
    expect_sound(bytes, model.integer);
    expect_text(find_field(constant, 4, 0), "Constant");
    ck_assert_uint_eq(find_field(tensor, 2, 0).integer, 11); /* DOUBLE */
    ck_assert(raw.integer == sizeof number && memcmp(raw.bytes, &number, sizeof number) == 0);
    free(bytes);
}
END_TEST

static void expect_refusal(const tg_export_config *config, const char *part)
{
    ck_assert_uint_eq(tg_export_onnx(tape, config, NULL, 0), 0);
    expect_error(part);
}

START_TEST(what_onnx_cannot_express_is_refused)
{
    const tg_tensor x = tg_constant(tape, TG_F32, (float[9]){0}, TG_SHAPE(1, 1, 3, 3));
    const tg_window windows = {.stride = {1, 1}};
    tg_op own = tg_op_square; /* a user's own operation of the same name */
    expect_refusal(&(tg_export_config){.input = {x}, .output = {tg_apply(&own, NULL, 1, &x)}},
                   "export: ONNX cannot express the operation square");
    expect_refusal(&(tg_export_config){.input = {x}, .output = {tg_unfold(x, 2, 2, windows)}},
                   "export: ONNX cannot express the operation unfold");
    expect_refusal(&(tg_export_config){.input = {x}, .output = {tg_square(tg_unfold(x, 2, 2, windows))}},
                   "export: ONNX cannot express the operation unfold");
    tg_tensor many[65];
    for (int i = 0; i < 65; i++)
        many[i] = x;
    expect_refusal(&(tg_export_config){.input = {x}, .output = {tg_concat(many, 65, 0)}},
                   "export: concat has too many inputs for ONNX");
    expect_refusal(&(tg_export_config){.input = {x}, .output = {TG_NONE}}, "inert");
    ck_assert_uint_eq(tg_export_onnx(NULL, &(tg_export_config){.input = {x}}, NULL, 0), 0);
    ck_assert_uint_eq(tg_export_onnx(tape, NULL, NULL, 0), 0);
}
END_TEST

START_TEST(want_of_memory_is_an_error)
{
    static const double mean[3] = {0}, scale[3] = {1, 1, 1};
    const tg_tensor x = tg_constant(tape, TG_F32, (float[3]){0}, TG_SHAPE(1, 3));
    const tg_export_config config = {.input = {x, mean, scale}, .output = {tg_relu(x), mean, scale}};
    ck_assert_uint_gt(tg_export_onnx(tape, &config, NULL, 0), 0);
    for (int nth = 0;; nth++) {
        wrapped_memory_fail_after(nth);
        const size_t length = tg_export_onnx(tape, &config, NULL, 0);
        if (!wrapped_memory_stop())
            break;
        ck_assert_uint_eq(length, 0);
        expect_error("export: out of memory");
    }
}
END_TEST

START_TEST(the_program_writes_onnx)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 2 --out m"));
    expect_fine(train_run("emit", "--model m --onnx net.onnx"));
    ck_assert_ptr_nonnull(memmem(temporary_text("net.onnx"), 4000, "layers.0.weight", 15));
    expect_fine(train_run("emit", "--model m --out named.onnx"));
    expect_fine(train_run("cmp", "net.onnx named.onnx"));
    expect_refused(train_run("emit", "--model m --onnx net.onnx --out net.c"), "--onnx excludes");
    expect_refused(train_run("emit", "--model m --out named.onnx --table"), "--onnx excludes");
}
END_TEST

/* ---- by our own parser, and by onnxruntime ---- */

static bool has_onnx(void)
{
    const char *python = getenv("TG_ONNX_PYTHON") ? getenv("TG_ONNX_PYTHON") : "python3";
    if (shell("%s -c 'import onnx, onnxruntime' 2>/dev/null", python) == 0)
        return true;
    printf("not run: %s has no onnx and onnxruntime (TG_ONNX_PYTHON)\n", python);
    return false;
}

/* Adds a model with input rows and the expected results. */
static bool add_model(const char *name, const tg_export_config *config, const void *row, size_t row_size,
                      const float *expected, size_t count)
{
    char file[200];
    size_t size;
    char *bytes = exported(config, &size);
    if (!bytes)
        return false;
    expect_sound(bytes, size);
    snprintf(file, sizeof file, "%s.onnx", name);
    temporary_write(file, bytes, size);
    snprintf(file, sizeof file, "%s.x", name);
    temporary_write(file, row, row_size);
    snprintf(file, sizeof file, "%s.y", name);
    temporary_write(file, expected, count * sizeof *expected);
    free(bytes);
    return true;
}

static bool add_output(const char *name, const tg_export_config *config)
{
    const tg_tensor x = config->input.tensor, y = config->output.tensor;
    return add_model(name, config, tg_data(x), (size_t)tg_size(x) * 4, tg_data(y), (size_t)tg_size(y));
}

static void expect_agreement(double bound)
{
    char path[PATH_MAX];
    if (!has_onnx())
        return;
    const char *python = getenv("TG_ONNX_PYTHON") ? getenv("TG_ONNX_PYTHON") : "python3";
    ck_assert_ptr_nonnull(realpath("tests/support/onnx_run.py", path));
    const int status = shell("%s '%s' . %g > results 2>&1", python, path, bound);
    ck_assert_msg(status == 0, "%.3000s", temporary_text("results"));
    if (getenv("TG_ONNX_PYTHON"))
        printf("%s", temporary_text("results"));
}

static void add_net(const char *name, net_spec spec)
{
    tg_model_spec_complete(&spec);
    tg_model *model = exported_model(&spec);
    tg_tensor x;
    const tg_tensor y = exported_prediction(&spec, model, tape, &x);
    ck_assert_msg(add_output(name, &(tg_export_config){.input = {x}, .output = {y}}), "%s", tg_tape_error(tape));
    tg_model_free(model);
    tg_tape_reset(tape);
}

/* Every model of `train` with every norm that it supports; and every activation. */
START_TEST(models_are_sound_and_onnxruntime_gives_their_outputs)
{
    const char *const norms[] = {"none", "layer", "rms", "batch"};
    char name[100];
    net_spec spec;
    for (int i = 0; net_models[i]; i++)
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "%s-%s", net_models[i], norms[k]);
            if (exported_spec(i, norms[k], &spec))
                add_net(name, spec);
        }
    add_net("gpt-rotary", (net_spec){.model = "gpt",
                                     .norm = "rms",
                                     .vocabulary = 9,
                                     .layers = 1,
                                     .heads = 4,
                                     .kv_heads = 2,
                                     .width = 32,
                                     .context = 40,
                                     .rotary = true,
                                     .activation = "swiglu"});
    for (int i = 0; tg_activation_name((tg_activation)i); i++)
        add_net(tg_activation_name((tg_activation)i), (net_spec){.model = "mlp",
                                                                 .inputs = 20,
                                                                 .outputs = 3,
                                                                 .hidden = "12,12",
                                                                 .norm = "none",
                                                                 .activation = tg_activation_name((tg_activation)i),
                                                                 .residual = true});
    expect_agreement(3e-5); /* rows of 784 numbers are summed in another order */
}
END_TEST

static void expect_any_rows(const char *name, const net_spec *spec)
{
    char file[60];
    struct stat about;
    snprintf(file, sizeof file, "%s.onnx", name);
    add_net(name, *spec);
    ck_assert_int_eq(stat(temporary_path(file), &about), 0);
    ck_assert_msg(memmem(temporary_text(file), (size_t)about.st_size, "\x12\x04rows", 6) != NULL, "%s", name);
}

/* Every model of `train` with every norm that it supports, except where a norm mixes the first axis with others: batch
 * norm at each position of a text. */
START_TEST(models_take_any_number_of_rows)
{
    const char *const norms[] = {"none", "layer", "rms", "batch"};
    const net_spec others[] = {
        {.model = "seq2seq",
         .norm = "rms",
         .vocabulary = 9,
         .layers = 2,
         .heads = 2,
         .width = 16,
         .context = 8,
         .relative = true},
        {.model = "gpt",
         .vocabulary = 9,
         .layers = 1,
         .heads = 4,
         .kv_heads = 2,
         .width = 16,
         .context = 1,
         .post_norm = true},
        {.model = "lstm", .norm = "none", .vocabulary = 9, .layers = 2, .width = 7, .context = 1},
        {.model = "convnet",
         .norm = "group",
         .inputs = 784,
         .outputs = 3,
         .image_width = 28,
         .image_height = 28,
         .filters = "8,8",
         .activation = "swiglu"}};
    char name[100];
    net_spec spec;
    for (int i = 0; net_models[i]; i++)
        for (int k = 0; k < 4; k++) {
            const tg_model_traits *traits = tg_model_traits_of(net_models[i]);
            snprintf(name, sizeof name, "%s-%s", net_models[i], norms[k]);
            if (exported_spec(i, norms[k], &spec) && !(k == 3 && traits->every_position))
                expect_any_rows(name, &spec);
        }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(name, sizeof name, "other-%zu", i);
        expect_any_rows(name, &others[i]);
    }
    expect_any_rows("rotary", &exported_rotary_gpt);
    expect_agreement(3e-5);
}
END_TEST

/* Formulas, with numbers and trained numbers that are the same for all rows; layers in groups; every norm, and gates. */
START_TEST(perceptrons_take_any_number_of_rows)
{
    static const char *const norms[] = {"layer", "rms", "batch"}, *const activations[] = {"tanh", "swiglu"};
    static const char *const formulas[] = {"x sigmoid(b x) + c, b = 1.5 per unit, c = 0.1", "where(x > 0, x, sin(x))",
                                           "max(0, x)^2 + 0.1 min(x, 0)", "u * gelu_exact(v) + clamp(v, -1, 1)"};
    net_spec spec = {.model = "mlp", .inputs = 20, .outputs = 3, .hidden = "12,12", .norm = "none"};
    char name[40];
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        snprintf(name, sizeof name, "formula-%zu", i);
        spec.activation = formulas[i];
        expect_any_rows(name, &spec);
    }
    spec.activation = "tanh";
    spec.groups = 4;
    expect_any_rows("groups", &spec);
    spec.groups = 0;
    for (int k = 0; k < 6; k++) {
        spec.norm = norms[k / 2];
        spec.activation = activations[k % 2];
        spec.residual = k % 2 == 0;
        snprintf(name, sizeof name, "%s-%s", spec.norm, spec.activation);
        expect_any_rows(name, &spec);
    }
    expect_agreement(1e-6);
}
END_TEST

START_TEST(units_are_sound_and_onnxruntime_standardises_as_we_do)
{
    static const double mean[] = {1e6, -2, 3, 4, 0}, scale[] = {1e-3, 5, 0, 1, 1e-300};
    const float rows[][5] = {
        {1e6f, 3, 7, NAN, 1}, {1000001, -7, NAN, 1, -1}, {NAN, INFINITY, -INFINITY, -INFINITY, 0}, {0, 0, 0, 0, NAN}};
    float expected[4][5];
    const tg_tensor x = tg_constant(tape, TG_F32, rows[0], TG_SHAPE(1, 5)), y = tg_mul_scalar(x, 0.5);
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 5; k++) {
            const double u = scale[k] == 0 || isnan(rows[r][k]) ? 0 : ((double)rows[r][k] - mean[k]) / scale[k];
            const float z = (float)fmin(fmax(u, -3.4028234663852886e38), 3.4028234663852886e38);
            expected[r][k] = (float)((double)(z * 0.5f) * scale[k] + mean[k]);
        }
    ck_assert(add_model("units", &(tg_export_config){.input = {x, mean, scale}, .output = {y, mean, scale}}, rows,
                        sizeof rows, expected[0], 20));
    expect_agreement(0);
}
END_TEST

START_TEST(softened_units_are_sound_and_onnxruntime_softens_as_we_do)
{
    static const double mean[] = {1, -2, 3, 4, 0}, scale[] = {0.5, 5, 0, 1, 1e-30}, limit[] = {3, 0, 2, 1e-3, 4};
    const float rows[][5] = {{1, 3, 7, NAN, 1}, {100, -7, NAN, 1, -1e-30f}, {-8, 1, 2, 4.001f, 0}, {0, 0, 0, 5, NAN}};
    float expected[4][5];
    const tg_tensor x = tg_constant(tape, TG_F32, rows[0], TG_SHAPE(1, 5)), y = tg_mul_scalar(x, 0.5);
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 5; k++) {
            const double z = scale[k] == 0 || isnan(rows[r][k]) ? 0 : ((double)rows[r][k] - mean[k]) / scale[k];
            expected[r][k] = 0.5f * (float)(limit[k] > 0 ? z / hypot(1, z / limit[k]) : z);
        }
    ck_assert(add_model("softened", &(tg_export_config){.input = {x, mean, scale, .limit = limit}, .output = {y}}, rows,
                        sizeof rows, expected[0], 20));
    expect_agreement(1e-7);
}
END_TEST

/* The same numbers without infinite and large ones, for which ONNX specifies nothing and onnxruntime gives NaN. */
static tg_tensor ordinary(tg_tensor x)
{
    if (tg_dtype_of(x) != TG_F32)
        return x;
    float *numbers = malloc((size_t)tg_size(x) * sizeof *numbers + 1);
    for (int64_t i = 0; i < tg_size(x); i++)
        numbers[i] = fabs(tg_at(x, i)) < 100 ? (float)tg_at(x, i) : (float)i / 8 - 1;
    const tg_tensor copy = tg_constant(tape, TG_F32, numbers, tg_shape_of(x));
    free(numbers);
    return copy;
}

/* The results of all samples of an operation as one floating tensor; argmax and argmin give one-hot vectors. */
static tg_tensor samples_of(const tg_op *op)
{
    const bool is_place = op == &tg_op_argmax || op == &tg_op_argmin;
    tg_tensor all = tg_full(tape, TG_F32, TG_SHAPE(1), 0);
    for (int number = 0; number < op->sample_count; number++) {
        golden_case c;
        ck_assert_msg(golden_draw(tape, &(golden_subject){.op = op}, number, TG_F32, false, &c), "%s",
                      tg_tape_error(tape));
        for (int k = 0; k < c.count; k++)
            c.input[k] = ordinary(c.input[k]);
        tg_tensor y = c.count ? tg_apply(op, c.attributes, c.count, c.input) : c.output;
        if (tg_size(y) == 0 || (tg_dtype_of(y) != TG_F32 && !is_place))
            continue;
        y = is_place ? tg_one_hot(y, 64, TG_F32) : y;
        all = tg_concat((tg_tensor[]){all, tg_reshape(y, TG_SHAPE(tg_size(y)))}, 2, 0);
    }
    return all;
}

START_TEST(operations_are_sound_and_onnxruntime_gives_their_values)
{
    golden_subject subject;
    int count = 0;
    for (int i = 0; golden_at(i, &subject) && !subject.call; i++) {
        const tg_tensor x = tg_constant(tape, TG_F32, (float[]){0.25f}, TG_SHAPE(1));
        const tg_tensor y = tg_concat((tg_tensor[]){x, samples_of(subject.op)}, 2, 0);
        const bool fine = add_output(subject.op->name, &(tg_export_config){.input = {x}, .output = {y}});
        ck_assert_msg(fine || strstr(tg_tape_error(tape), "export: ONNX cannot express the operation "), "%s: %s",
                      subject.op->name, tg_tape_error(tape));
        count += fine;
        tg_tape_free(tape);
        tape = tg_tape_new();
    }
    ck_assert_int_gt(count, 75);
    expect_agreement(3e-6);
}
END_TEST

/* As the attention of a model of pairs over an empty source. */
START_TEST(a_softmax_of_nothing_is_zeros_in_onnxruntime_too)
{
    const float numbers[6] = {1, 2, 3, 4, 5, 6}, mask[6] = {-INFINITY, -INFINITY, -INFINITY, 0, -INFINITY, 0};
    const tg_tensor x = tg_constant(tape, TG_F32, numbers, TG_SHAPE(2, 3)),
                    y = tg_softmax(tg_add(x, tg_constant(tape, TG_F32, mask, TG_SHAPE(2, 3))), 1);
    ck_assert_double_eq(tg_at(y, 1), 0);
    ck_assert(add_output("masked", &(tg_export_config){.input = {x}, .output = {y}}));
    expect_agreement(1e-6);
}
END_TEST

Suite *onnx_suite(void)
{
    Suite *suite = suite_create("onnx");
    TCase *bytes = tcase_create("bytes"), *runs = tcase_create("runs"), *programs = tcase_create("programs");
    tcase_add_checked_fixture(bytes, make_folder, remove_folder);
    tcase_add_test(bytes, a_model_has_the_fields_that_onnx_wants);
    tcase_add_loop_test(bytes, numbers_have_the_type_of_the_model, 0, 3);
    tcase_add_test(bytes, what_onnx_cannot_express_is_refused);
    tcase_add_test(bytes, want_of_memory_is_an_error);
    tcase_add_checked_fixture(runs, make_folder, remove_folder);
    tcase_set_timeout(runs, 600);
    tcase_add_test(runs, models_are_sound_and_onnxruntime_gives_their_outputs);
    tcase_add_test(runs, models_take_any_number_of_rows);
    tcase_add_test(runs, perceptrons_take_any_number_of_rows);
    tcase_add_test(runs, units_are_sound_and_onnxruntime_standardises_as_we_do);
    tcase_add_test(runs, softened_units_are_sound_and_onnxruntime_softens_as_we_do);
    tcase_add_test(runs, operations_are_sound_and_onnxruntime_gives_their_values);
    tcase_add_test(runs, a_softmax_of_nothing_is_zeros_in_onnxruntime_too);
    tcase_add_checked_fixture(programs, train_folder_make, temporary_folder_remove);
    tcase_set_timeout(programs, 600);
    tcase_add_test(programs, the_program_writes_onnx);
    suite_add_tcase(suite, bytes);
    suite_add_tcase(suite, runs);
    suite_add_tcase(suite, programs);
    return suite;
}
