/* What is linear stays linear: twice the size takes less than 2.5 times the processor time, on every path of which a
 * user may double the size. TG_GROWTH=1 prints how many times as long each takes. */
#include "examples/programs/data/csv.h"
#include "examples/programs/data/dataset.h"
#include "examples/programs/report/report.h"
#include "examples/programs/run/source.h"
#include "tests/support/run_logs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>
#include <time.h>

Suite *growth_suite(void);

static tg_tape *tape;
static const double HALF[1] = {0.5};

static tg_tensor half(void)
{
    return tg_variable(tape, TG_F64, HALF, TG_SCALAR);
}

static void expect(bool fine)
{
    ck_assert_msg(fine && !tg_tape_error(tape), "%s", tg_tape_error(tape) ? tg_tape_error(tape) : "failed");
}

/* ---- recording, backward passes, replay ---- */

static tg_tensor chain(int64_t n)
{
    tg_tensor x = half();
    for (int64_t i = 0; i < n; i++)
        x = i % 2 ? tg_sin(x) : tg_mul_scalar(x, 0.9);
    return x;
}

static void recorded(int64_t n)
{
    expect(tg_ok(chain(n)));
}

static void without_gradients(int64_t n)
{
    tg_no_grad_begin(tape);
    expect(tg_ok(chain(n)));
    tg_no_grad_end(tape);
}

static void backward(int64_t n)
{
    expect(tg_backward(chain(n)));
}

/* Longer steps than the plan of the memory takes, which compares each buffer with the others that live then. */
static void repeated(int64_t n)
{
    for (int step = 0; step < 4; step++, tg_tape_reset(tape))
        backward(n);
}

static void replayed(int64_t n)
{
    backward(n);
    for (int step = 0; step < 4; step++)
        expect(tg_replay(tape));
}

static void changing(int64_t n)
{
    for (int step = 0; step < 3; step++, tg_tape_reset(tape))
        expect(tg_backward(tg_add_scalar(chain(n - 10 * step), step)));
}

static void saving_memory(int64_t n)
{
    tg_tape_save_memory(tape, true);
    repeated(n);
}

static void of_second_order(int64_t n)
{
    const tg_tensor x = half();
    tg_tensor y = x, first, second;
    for (int64_t i = 0; i < n; i++)
        y = tg_sin(y);
    expect(tg_grad(&y, 1, &x, 1, NULL, true, &first) && tg_grad(&first, 1, &x, 1, NULL, false, &second));
}

static void one_used_often(int64_t n)
{
    const tg_tensor x = half();
    tg_tensor sum = x;
    for (int64_t i = 0; i < n; i++)
        sum = tg_add(sum, tg_sin(x));
    expect(tg_backward(sum));
}

static tg_tensor many(int64_t n)
{
    double *numbers = calloc((size_t)n, sizeof *numbers);
    const tg_tensor x = tg_variable(tape, TG_F64, numbers, TG_SHAPE(n, 1));
    free(numbers);
    return x;
}

static void stacked(int64_t n)
{
    tg_tensor *parts = malloc((size_t)n * sizeof *parts);
    for (int64_t i = 0; i < n; i++)
        parts[i] = tg_reshape(half(), TG_SHAPE(1));
    expect(tg_backward(tg_sum(tg_stack(parts, (int)n, 0))));
    free(parts);
}

static void cut_into_slices(int64_t n)
{
    const tg_tensor x = many(n);
    tg_tensor sum = tg_full(tape, TG_F64, TG_SHAPE(1, 1), 0);
    for (int64_t i = 0; i < n; i++)
        sum = tg_add(sum, tg_slice(x, 0, i, i + 1, 1));
    expect(tg_backward(tg_sum(sum)));
}

static void narrowed(int64_t n)
{
    const tg_tensor x = many(n);
    tg_tensor sum = tg_full(tape, TG_F64, TG_SHAPE(1, 1), 0);
    for (int64_t i = 0; i < n; i++)
        sum = tg_add(sum, tg_narrow(x, 0, i, 1));
    expect(tg_backward(tg_sum(sum)));
}

static tg_tensor in_checkpoint(tg_tape *own, const tg_tensor *inputs, int count, void *user)
{
    (void)own, (void)count, (void)user;
    return tg_sin(tg_mul_scalar(inputs[0], 0.9));
}

static void checkpoints(int64_t n)
{
    tg_tensor x = half();
    for (int64_t i = 0; i < n; i++)
        x = tg_checkpoint(in_checkpoint, &x, 1, NULL);
    expect(tg_backward(x));
}

static tg_tensor unchanged(tg_tensor gradient, void *user)
{
    (void)user;
    return gradient;
}

static void retained(int64_t n)
{
    tg_tensor x = half();
    for (int64_t i = 0; i < n; i++) {
        x = tg_sin(x);
        if (i % (n / 8) == 0)
            tg_retain_gradient(x);
        if (i % (n / 4) == 0)
            tg_add_hook(x, unchanged, NULL);
    }
    expect(tg_backward(x));
}

static void of_many_inputs(int64_t n)
{
    tg_tensor *inputs = malloc((size_t)n * sizeof *inputs), *results = malloc((size_t)n * sizeof *results),
              sum = half();
    for (int64_t i = 0; i < n; i++)
        sum = tg_add(sum, inputs[i] = half());
    expect(tg_grad(&sum, 1, inputs, (int)n, NULL, false, results));
    free(inputs), free(results);
}

static void in_scopes(int64_t n)
{
    tg_tensor x = half();
    for (int64_t i = 0; i < n; i++) {
        tg_scope_begin(tape, "part");
        x = tg_named(tg_sin(x), "result");
        tg_scope_end(tape);
    }
    expect(tg_backward(x));
}

static void listed(int64_t n)
{
    backward(n);
    ck_assert_uint_gt(tg_tape_dot(tape, NULL, 0), (size_t)n);
}

/* ---- operations over many elements, and many parameters ---- */

static void elementwise(int64_t n)
{
    expect(tg_backward(tg_sum(tg_square(tg_gelu_exact(many(n))))));
}

static void rows_of_a_product(int64_t n)
{
    const tg_tensor x = tg_reshape(many(64 * n), TG_SHAPE(n, 64)), w = tg_reshape(many(64 * 64), TG_SHAPE(64, 64));
    expect(tg_backward(tg_sum(tg_square(tg_matmul(x, w)))));
}

static void softmax_and_norm(int64_t n)
{
    const tg_tensor x = tg_reshape(many(32 * n), TG_SHAPE(n, 32));
    expect(tg_backward(tg_sum(tg_square(tg_softmax(tg_normalize(x, true, 1e-5), -1)))));
}

static void embedded(int64_t n)
{
    int32_t *ids = calloc((size_t)n, sizeof *ids);
    for (int64_t i = 0; i < n; i++)
        ids[i] = (int32_t)(i * 7919 % n);
    const tg_tensor table = tg_reshape(many(8 * n), TG_SHAPE(n, 8));
    expect(tg_backward(tg_sum(tg_square(tg_embedding(table, tg_constant(tape, TG_I32, ids, TG_SHAPE(n)))))));
    free(ids);
}

static void cumulated_over_axes(int64_t n)
{
    const tg_tensor x = tg_reshape(many(16 * n), TG_SHAPE(n, 16));
    expect(tg_backward(tg_sum(tg_square(tg_sum_over(tg_cumsum(x, 0, false), TG_AXES(1), false)))));
}

static tg_parameters *parameters(int64_t n)
{
    tg_parameters *set = tg_parameters_new(TG_F32);
    const tg_rng rng = tg_rng_seed(1);
    for (int64_t i = 0; i < n; i++) {
        char name[40];
        snprintf(name, sizeof name, "layers.%lld.weight", (long long)i);
        tg_parameter_initial(tg_parameters_add(set, name, TG_SHAPE(2, 2), true), (tg_initial){.gain = 1});
    }
    ck_assert(tg_parameters_initialize(set, TG_INIT_DEFAULT, 1, &rng));
    return set;
}

static void parameters_added(int64_t n)
{
    tg_parameters_free(parameters(n));
}

static void parameters_in_a_file(int64_t n)
{
    tg_parameters *set = parameters(n);
    tg_error error;
    const char *path = temporary_path("w.safetensors");
    ck_assert(tg_parameters_save(set, path, NULL, 0, &error));
    ck_assert_msg(tg_parameters_load(set, path, NULL, &error), "%s", error.text);
    tg_parameters_free(set);
}

static void parameters_trained(int64_t n)
{
    tg_parameters *set = parameters(n);
    tg_optimizer *adamw = tg_optimizer_new(set, &(tg_optimizer_config){.lr = 1e-3});
    for (int step = 0; step < 3; step++, tg_tape_reset(tape)) {
        tg_tensor sum = tg_full(tape, TG_F32, TG_SCALAR, 0);
        for (int i = 0; i < n; i++)
            sum = tg_add(sum, tg_sum(tg_square(tg_parameter_tensor(tape, tg_parameters_at(set, i)))));
        expect(tg_backward(sum) && tg_optimizer_step(adamw));
    }
    tg_optimizer_free(adamw);
    tg_parameters_free(set);
}

/* ---- models: positions, layers, rows, characters ---- */

static void positions_of(tg_cell cell, int64_t segment, int64_t n)
{
    const tg_rng rng = tg_rng_seed(1);
    tg_char_rnn *net = tg_char_rnn_new(
        &rng, &(tg_char_rnn_config){.vocabulary = 5, .cell = cell, .embedding = 4, .width = 8, .segment = segment});
    int32_t *ids = calloc((size_t)n, sizeof *ids);
    const tg_tensor x = tg_constant(tape, TG_I32, ids, TG_SHAPE(1, n));
    expect(tg_backward(tg_cross_entropy(tg_char_rnn_forward(net, x, NULL), x)));
    free(ids);
    tg_char_rnn_free(net);
}

static void positions_of_an_rnn(int64_t n)
{
    positions_of(TG_RNN, 0, n);
}

static void positions_of_a_gru(int64_t n)
{
    positions_of(TG_GRU, 0, n);
}

static void positions_of_an_lstm(int64_t n)
{
    positions_of(TG_LSTM, 0, n);
}

static void positions_in_segments(int64_t n)
{
    positions_of(TG_LSTM, 16, n);
}

static tg_transformer *transformer(int layers, int64_t context)
{
    const tg_rng rng = tg_rng_seed(1);
    return tg_transformer_new(
        &rng, &(tg_transformer_config){
                  .vocabulary = 8, .context = context, .layers = layers, .block = tg_block_gpt(64, 2), .tied = true});
}

static void layers_of_a_gpt(int64_t n)
{
    static const int32_t ids[16];
    tg_transformer *net = transformer((int)n, 16);
    const tg_tensor x = tg_borrow(tape, TG_I32, ids, TG_SHAPE(1, 16));
    expect(tg_backward(tg_cross_entropy(tg_transformer_forward(net, x, NULL), x)));
    tg_transformer_free(net);
}

static void tokens_read(tg_model *model, int64_t n)
{
    tg_decoder *d = tg_decoder_new(model, n);
    const int32_t id = 1;
    for (int64_t i = 0; i < n; i++)
        ck_assert(tg_ok(tg_decoder_read(d, &id, 1)));
    tg_decoder_free(d);
    tg_model_free(model);
}

static void tokens_written_by_a_gpt(int64_t n)
{
    tokens_read(transformer(1, n), n);
}

static void tokens_written_by_an_lstm(int64_t n)
{
    const tg_rng rng = tg_rng_seed(1);
    tokens_read(
        tg_char_rnn_new(
            &rng, &(tg_char_rnn_config){.vocabulary = 8, .cell = TG_LSTM, .embedding = 8, .width = 16, .layers = 2}),
        n);
}

/* A net of a table, with its card. */
static tg_model *table_model(int64_t columns)
{
    char *data = malloc(200 + 60 * (size_t)columns), model[300];
    snprintf(model, sizeof model,
             "{\"model\":\"mlp\",\"hidden\":\"4\",\"activation\":\"relu\",\"norm\":\"none\",\"init\":\"default\","
             "\"inputs\":%lld,\"outputs\":1,\"image_height\":0,\"image_width\":0,\"vocabulary\":0}",
             (long long)columns);
    char *to = data + sprintf(data, "{\"task\":\"targets\",\"inputs\":[");
    for (int i = 0; i < columns; i++)
        to += sprintf(to, "%s{\"mean\":0.5,\"scale\":2.0,\"number\":%d}", i ? "," : "", i);
    sprintf(
        to,
        "],\"classes\":[],\"targets\":[{\"name\":\"y\",\"mean\":0.0,\"scale\":1.0}],\"lines\":false,\"letters\":[]}");
    tg_error error;
    tg_card *card = tg_card_parse(model, data, &error);
    ck_assert_msg(card != NULL, "%s", error.text);
    const tg_rng rng = tg_rng_seed(1);
    tg_model *m =
        tg_mlp_new(&rng, &(tg_mlp_config){.inputs = columns, .hidden = {4}, .outputs = 1, .activation = TG_RELU});
    tg_model_set_card(m, card);
    free(data);
    return m;
}

static void predict(int64_t rows, int64_t columns)
{
    tg_model *m = table_model(columns);
    double *x = calloc((size_t)(rows * columns), sizeof *x), *y = calloc((size_t)rows, sizeof *y);
    ck_assert(tg_model_predict_rows(m, x, rows, y, NULL));
    free(x), free(y);
    tg_model_free(m);
}

static void rows_predicted(int64_t n)
{
    predict(n, 13);
}

static void columns_predicted(int64_t n)
{
    predict(4, n);
}

/* ---- files ---- */

static void table_of(int64_t rows, int64_t columns, bool words)
{
    FILE *file = fopen(temporary_path("t.csv"), "w");
    for (int64_t c = 0; c < columns; c++)
        fprintf(file, "%sc%lld", c ? "," : "", (long long)c);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            if (words && c == 0)
                fprintf(file, "\n%s", (const char *[]){"red", "green", "blue"}[r % 3]);
            else
                fprintf(file, "%s%lld.%lld", c ? "," : "\n", (long long)(r * 7 % 100), (long long)(c % 10));
    fclose(file);
    char spec[600];
    dataset set;
    tg_error error;
    snprintf(spec, sizeof spec, "csv:%s", temporary_path("t.csv"));
    ck_assert_msg(dataset_load(spec, NULL, &set, &error), "%s", error.text);
    dataset_free(&set);
}

static void rows_of_a_table(int64_t n)
{
    table_of(n, 5, false);
}

static void rows_with_words(int64_t n)
{
    table_of(n, 5, true);
}

static void columns_of_a_table(int64_t n)
{
    table_of(12, n, false);
}

/* Images of 4 x 4 pixels, n for training and one for a test. */
static void images_of_an_idx_file(int64_t n)
{
    char spec[600], name[64];
    for (int test = 0; test < 2; test++) {
        const int64_t count = test ? 1 : n;
        const unsigned char high = (unsigned char)(count >> 8), low = (unsigned char)count,
                            images[16] = {0, 0, 8, 3, 0, 0, high, low, 0, 0, 0, 4, 0, 0, 0, 4},
                            labels[8] = {0, 0, 8, 1, 0, 0, high, low};
        unsigned char *bytes = calloc((size_t)count, 16);
        for (int64_t i = 0; i < 16 * count; i++)
            bytes[i] = (unsigned char)(i * 7919 >> 4);
        for (int of_labels = 0; of_labels < 2; of_labels++) {
            snprintf(name, sizeof name, "%s-%s-ubyte", test ? "t10k" : "train",
                     of_labels ? "labels-idx1" : "images-idx3");
            FILE *file = fopen(temporary_path(name), "wb");
            fwrite(of_labels ? labels : images, of_labels ? sizeof labels : sizeof images, 1, file);
            if (of_labels)
                memset(bytes, 3, (size_t)count);
            fwrite(bytes, of_labels ? 1 : 16, (size_t)count, file);
            fclose(file);
        }
        free(bytes);
    }
    dataset set;
    tg_error error;
    snprintf(spec, sizeof spec, "idx:%s", temporary_folder());
    ck_assert_msg(dataset_load(spec, NULL, &set, &error) &&
                      dataset_split(&set, &(dataset_parts){.validation = "0.1"}, &error),
                  "%s", error.text);
    dataset_free(&set);
}

static void text_of(const char *kind, int64_t lines)
{
    char spec[600];
    text_source text;
    tg_error error;
    FILE *file = fopen(temporary_path("t.txt"), "w");
    for (int64_t i = 0; i < lines; i++)
        fprintf(file, "the sea, line %lld\t%lld lines\n", (long long)i, (long long)(i * 7919 % lines));
    fclose(file);
    snprintf(spec, sizeof spec, "%s:%s", kind, temporary_path("t.txt"));
    ck_assert_msg(text_load(spec, &text, &error) && text_split(&text, 0.1, 0.1, 1, &error), "%s", error.text);
    text_free(&text);
}

static void lines_of_one_text(int64_t n)
{
    text_of("text", n);
}

static void lines_apart(int64_t n)
{
    text_of("lines", n);
}

static void lines_of_pairs(int64_t n)
{
    text_of("pairs", n);
}

/* ---- reports ---- */

static void say_nothing(const void *context, FILE *to)
{
    (void)context, (void)to;
}

/* The files, the table and the page of a comparison of two activations. */
static void report_of(int64_t seeds, int64_t epochs)
{
    static const char *const activations[] = {"relu", "gelu"};
    runlog *log = runlog_new(temporary_folder());
    for (int64_t i = 0; i < 2 * seeds; i++) {
        const int run = runlog_add_run(log, activations[i % 2], (uint64_t)i / 2 + 1, 0, 1000);
        for (int64_t epoch = 1; epoch <= epochs; epoch++)
            runlog_add_epoch(runlog_at(log, run), &(runlog_epoch){.epoch = (int)epoch,
                                                                  .step = (long)epoch,
                                                                  .train_loss = 1. / (double)epoch,
                                                                  .val_loss = 1. / (double)(epoch + i % 5),
                                                                  .seconds = 0.5,
                                                                  .best = 1});
        run_log_finish(log, run, 1. / (double)(epochs + i % 5), 0.5, 0.25 + 0.01 * (double)(i * 7 % 11));
    }
    run_log_write(log);
    FILE *out = fopen(temporary_path("table"), "w");
    runlog_print_table_as(log, "table", out);
    runlog_print_results(log, "table", out);
    fclose(out);
    tg_error error;
    ck_assert_msg(report_write(temporary_folder(),
                               &(report){.title = "two", .command = "compare", .about = say_nothing, .log = log},
                               &error),
                  "%s", error.text);
    runlog_free(log);
}

static void seeds_of_a_report(int64_t n)
{
    report_of(n, 2);
}

static void epochs_of_a_report(int64_t n)
{
    report_of(2, n);
}

/* ---- exports ---- */

static void exported_as_C(int64_t n)
{
    const tg_tensor x = tg_constant(tape, TG_F64, HALF, TG_SHAPE(1, 1));
    tg_tensor y = x;
    for (int64_t i = 0; i < n; i++)
        y = tg_sin(tg_mul_scalar(y, 0.5));
    expect(tg_export(tape, &(tg_export_config){.input = {.tensor = x}, .output = {.tensor = y}}, NULL, 0) > 0);
}

static void exported_as_ONNX(int64_t n)
{
    const float one[1] = {1};
    const tg_tensor x = tg_constant(tape, TG_F32, one, TG_SHAPE(1, 1));
    tg_tensor y = x;
    for (int64_t i = 0; i < n; i++)
        y = tg_sin(tg_mul_scalar(y, 0.5));
    expect(tg_export_onnx(tape, &(tg_export_config){.input = {.tensor = x}, .output = {.tensor = y}}, NULL, 0) > 0);
}

/* ---- judging ---- */

static const struct {
    const char *name;
    void (*run)(int64_t n);
    int64_t n;
} paths[] = {
#define PATH(function, n)      \
    {                          \
#function, function, n \
    }
    PATH(recorded, 1000),
    PATH(without_gradients, 1000),
    PATH(backward, 2000),
    PATH(repeated, 5000),
    PATH(replayed, 1000),
    PATH(changing, 1000),
    PATH(saving_memory, 5000),
    PATH(of_second_order, 600),
    PATH(one_used_often, 1000),
    PATH(stacked, 5000),
    PATH(cut_into_slices, 1000),
    PATH(narrowed, 1000),
    PATH(checkpoints, 500),
    PATH(retained, 2000),
    PATH(of_many_inputs, 1000),
    PATH(in_scopes, 400),
    PATH(listed, 3000),
    PATH(elementwise, 8000),
    PATH(rows_of_a_product, 200),
    PATH(softmax_and_norm, 300),
    PATH(embedded, 1500),
    PATH(cumulated_over_axes, 800),
    PATH(parameters_added, 2000),
    PATH(parameters_in_a_file, 1000),
    PATH(parameters_trained, 1000),
    PATH(positions_of_an_rnn, 400),
    PATH(positions_of_a_gru, 150),
    PATH(positions_of_an_lstm, 150),
    PATH(positions_in_segments, 800),
    PATH(layers_of_a_gpt, 8),
    PATH(tokens_written_by_a_gpt, 60),
    PATH(tokens_written_by_an_lstm, 100),
    PATH(rows_predicted, 10000),
    PATH(columns_predicted, 1000),
    PATH(rows_of_a_table, 4000),
    PATH(rows_with_words, 4000),
    PATH(columns_of_a_table, 2000),
    PATH(images_of_an_idx_file, 10000),
    PATH(lines_of_one_text, 4000),
    PATH(lines_apart, 4000),
    PATH(lines_of_pairs, 4000),
    PATH(seeds_of_a_report, 20),
    PATH(epochs_of_a_report, 400),
    PATH(exported_as_C, 200),
    PATH(exported_as_ONNX, 150),
};
enum { PATHS = sizeof paths / sizeof *paths, ROUNDS = 80 };

static double seconds_of(void (*run)(int64_t n), int64_t n)
{
    struct timespec from, to;
    tape = tg_tape_new();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    run(n);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    tg_tape_free(tape);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* The time of twice the size as a multiple: of the least times of some rounds, and of more rounds if that is large, as
 * other work on the machine only adds. */
static double growth_of(void (*run)(int64_t n), int64_t n)
{
    double once = 1e9, twice = 1e9;
    for (int round = 0; round < 3 || (round < ROUNDS && twice >= 2.5 * once); round++) {
        const double small = seconds_of(run, n), large = seconds_of(run, 2 * n);
        once = small < once ? small : once;
        twice = large < twice ? large : twice;
    }
    return twice / once;
}

/* So that memory is not given back and cleared again, from some size on. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

START_TEST(twice_the_size_takes_twice_the_time)
{
    keep_memory();
    tg_set_threads(1);
    const double growth = growth_of(paths[_i].run, paths[_i].n);
    if (getenv("TG_GROWTH"))
        fprintf(stderr, "%-28s%8lld%6.2f\n", paths[_i].name, (long long)paths[_i].n, growth);
    ck_assert_msg(growth < 2.5, "%s: twice %lld takes %.2f times as long", paths[_i].name, (long long)paths[_i].n,
                  growth);
}
END_TEST

static void pairs(int64_t n)
{
    volatile double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            sum = sum + 1;
}

START_TEST(what_grows_with_the_square_is_seen)
{
    ck_assert_double_gt(growth_of(pairs, 300), 3);
}
END_TEST

Suite *growth_suite(void)
{
    Suite *suite = suite_create("growth");
    TCase *tests = tcase_create("growth");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_loop_test(tests, twice_the_size_takes_twice_the_time, 0, PATHS);
    tcase_add_test(tests, what_grows_with_the_square_is_seen);
    suite_add_tcase(suite, tests);
    return suite;
}
