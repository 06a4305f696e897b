/* Saved nets in C (nn/saved/saved.h): the digits of the program predict for tables, images and texts, from several
 * threads at once, and errors that name the file, the tensor and the cell. */
#include "examples/programs/data/number.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *saved_suite(void);

static tg_model *opened(const char *path)
{
    tg_error error;
    tg_model *model = tg_model_open(temporary_path(path), &error);
    ck_assert_msg(model, "%s", error.text);
    return model;
}

/* The part of the predictions' file `p` after a row's name of the class and its probability. */
static void expect_row(int row, const double *results, int count, int skipped)
{
    char expected[400] = "", *line = temporary_text("p");
    for (int i = 0; i <= row; i++)
        line = strchr(line, '\n') + 1;
    for (int i = 0; i < count; i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%s", i ? "," : "",
                 number_text(results[i], (char[NUMBER_TEXT]){0}));
    for (int i = 0; i < skipped; i++)
        line = strchr(line, ',') + 1;
    ck_assert_msg(strncmp(line, expected, strlen(expected)) == 0 && line[strlen(expected)] == '\n', "%s, not %.200s",
                  expected, line);
}

START_TEST(a_new_users_program_has_the_digits_of_predict)
{
    expect_fine(train_run("sh", "-c 'seq -f \"%%g The sea, the sea\" 400 > t.txt'"));
    FILE *table = fopen(temporary_path("iris.csv"), "w");
    fputs("a,b,c,d,class\n", table);
    for (int i = 0; i < 150; i++)
        fprintf(table, "%g,%d,%d,%g,%d\n", i % 7 / 2., i % 5, i % 11, i / 100., i % 3);
    fclose(table);
    expect_fine(train_run("train", "--data iris.csv --epochs 3 --no-plots --out table"));
    expect_fine(train_run("train", "--data glyphs --rows 300 --epochs 1 --no-plots --out image"));
    expect_fine(
        train_run("train", "--data text:t.txt --layers 1 --width 16 --context 16 --epochs 1 --no-plots --out gpt"));
    expect_fine(train_run("saved", "table image/best.safetensors gpt"));
    char given[TRAIN_OUTPUT], *line = given;
    memcpy(given, train_output, sizeof given);
    expect_fine(train_run("sh", "-c 'printf \"a,b,c,d\\n5.1,3.5,1.4,0.2\\n\" > row.csv'"));
    static const char black[16 + 28 * 28] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28};
    temporary_write("black", black, sizeof black);
    static const char *const commands[] = {"--model table --data row.csv --probabilities",
                                           "--model image --data idx:black --probabilities"};
    for (int i = 0; i < 2; i++) { /* class,probability of class 0 */
        char name[40], class[40];
        double probability, first;
        ck_assert_int_eq(sscanf(line, "%39[^,],%lf", name, &first), 2);
        expect_fine(train_run("predict", "%s", commands[i]));
        ck_assert_int_eq(sscanf(strchr(train_output, '\n') + 1, "%39[^,],%*[^,],%lf", class, &probability), 2);
        ck_assert_str_eq(name, class);
        ck_assert_double_eq_tol(first, probability, 5e-9 * probability); /* nine digits */
        line = strchr(line, '\n') + 1;
    }
    expect_fine(train_run("predict", "--model gpt --prompt 'The ' --length 100 --temperature 0.8"));
    ck_assert_str_eq(train_output, line);
}
END_TEST

/* ---- tables ---- */

enum { ROWS = 12 };

START_TEST(rows_with_categories_and_missing_cells_have_the_digits_of_predict)
{
    setenv("TG_PRODUCTS", "own", 1); /* OpenBLAS sums one row in a different order than many */
    ck_assert(tg_products_by(TG_PRODUCTS_OWN, NULL));
    FILE *file = fopen(temporary_path("t.csv"), "w");
    fputs("a,colour,y,z\n", file);
    for (int i = 0; i < 60; i++)
        fprintf(file, "%s,%s,%d,%d\n",
                i % 7 == 3 ? ""
                : i % 2    ? "1.25"
                           : "3.5",
                i % 9 == 4 ? "" : (const char *[]){"red", "green", "blue"}[i % 3], i, 1000 - 3 * i);
    fclose(file);
    expect_fine(
        train_run("train", "--data t.csv --target y,z --missing mean --hidden 8 --epochs 4 --no-plots --out m"));
    static const char *const colours[] = {"red", "blue", NULL, "green"};
    static const double numbers[] = {1.25, NAN, -40, 1e30};
    tg_model *m = opened("m");
    const tg_card *card = tg_model_card(m);
    double rows[ROWS][2], results[ROWS][2], one[2];
    ck_assert_uint_eq(card->columns, 2);
    ck_assert_str_eq(card->column[1].name, "colour");
    file = fopen(temporary_path("new.csv"), "w");
    fputs("a,colour\n", file);
    for (int i = 0; i < ROWS; i++) {
        const char *colour = colours[i % 4];
        rows[i][0] = numbers[i / 3];
        rows[i][1] = colour ? tg_card_category(card, 1, colour) : NAN;
        fprintf(file, "%s,%s\n", isnan(rows[i][0]) ? "" : number_text(rows[i][0], (char[NUMBER_TEXT]){0}),
                colour ? colour : "");
    }
    fclose(file);
    expect_fine(train_run("predict", "--model m --data new.csv > p"));
    tg_error error;
    ck_assert(tg_model_predict_rows(m, rows[0], ROWS, results[0], &error));
    for (int i = 0; i < ROWS; i++) {
        expect_row(i, results[i], 2, 0);
        ck_assert(tg_model_predict(m, rows[i], one));
        ck_assert_mem_eq(one, results[i], sizeof one);
    }
    /* unknown categories are none of the known ones, as with --unknown ignore */
    ck_assert_double_eq(tg_card_category(card, 1, "mauve"), -1);
    ck_assert_ptr_null(tg_card_category_name(card, 1, -1));
    ck_assert_str_eq(tg_card_category_name(card, 1, tg_card_category(card, 1, "red")), "red");
    expect_fine(train_run("sh", "-c 'printf \"a,colour\\n3.5,mauve\\n\" > new.csv'"));
    expect_fine(train_run("predict", "--model m --data new.csv --unknown ignore 2> q > p"));
    ck_assert(tg_model_predict(m, (double[]){3.5, -1}, one));
    expect_row(0, one, 2, 0);
    ck_assert(!tg_model_predict_rows(m, (double[]){3.5, 7}, 1, one, &error));
    ck_assert_str_eq(error.text, "row 0, column 1, colour: no number of a category");
    tg_model_free(m);
}
END_TEST

/* A tape is kept from call to call, and columns of numbers are converted together: neither changes a bit, whatever the
 * number of rows, the values and the weights that another has changed. */
START_TEST(what_is_kept_from_call_to_call_changes_no_bit)
{
    enum { MANY = 300, COLUMNS = 3 };
    ck_assert(tg_products_by(TG_PRODUCTS_OWN, NULL)); /* OpenBLAS sums one row in a different order than many */
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 2 --no-plots --out m"));
    tg_model *m = opened("m");
    const tg_card *card = tg_model_card(m);
    static double rows[MANY][COLUMNS], together[MANY][2], one[2];
    tg_rng rng = tg_rng_seed(1);
    for (int i = 0; i < MANY * COLUMNS; i++)
        rows[i / COLUMNS][i % COLUMNS] = i % 41 == 0 ? INFINITY : i % 43 == 0 ? -1e308 : 100 * tg_rng_normal(&rng);
    for (int i = 0; i < MANY; i++) /* the last column has categories */
        rows[i][2] = i % 3 - 1;
    for (int turn = 0; turn < 3; turn++) {
        ((float *)tg_parameters_at(tg_model_parameters(m), 0)->data)[turn] += 0.5F;
        tg_error error = {0};
        ck_assert_msg(tg_model_predict_rows(m, rows[0], MANY, together[0], &error), "%s", error.text);
        for (int i = 0; i < MANY; i++) {
            float inputs[16];
            for (size_t k = 0; k < COLUMNS; k++)
                ck_assert_ptr_null(tg_card_encode(card, k, rows[i][k], inputs));
            tg_tape *tape = tg_tape_new();
            tg_card_decode(
                card,
                tg_f32(tg_model_forward(m, tg_borrow(tape, TG_F32, inputs, TG_SHAPE(1, card->spec.inputs)), NULL)),
                one);
            ck_assert_mem_eq(one, together[i], sizeof one);
            ck_assert(tg_model_predict(m, rows[i], one));
            ck_assert_mem_eq(one, together[i], sizeof one);
            tg_tape_free(tape);
        }
    }
    tg_model_free(m);
}
END_TEST

START_TEST(a_cell_that_is_missing_where_training_had_none_is_named)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 2 --no-plots --out m"));
    tg_model *m = opened("m/best.safetensors");
    const size_t columns = tg_model_card(m)->columns;
    double rows[2][3] = {{1000, 0.01, 0}, {1000, NAN, 0}}, out[2][3] = {{0}};
    tg_error error;
    ck_assert_uint_eq(columns, 3);
    ck_assert(tg_model_predict(m, rows[0], out[0]));
    ck_assert_double_eq_tol(out[0][0] + out[0][1] + out[0][2], 1, 1e-12);
    ck_assert(!tg_model_predict_rows(m, rows[0], 2, out[0], &error));
    ck_assert_str_eq(error.text,
                     "row 1, column 1, b: missing, and the model was trained on rows without missing values");
    ck_assert(!tg_model_predict_rows(m, NULL, 1, out[0], &error) && !tg_model_predict(NULL, rows[0], out[0]));
    ck_assert(tg_model_predict_rows(m, NULL, 0, NULL, &error));
    ck_assert_int_eq(tg_model_generate(m, &(tg_generate_options){.length = 3}, NULL, NULL, &error), -1);
    ck_assert_str_eq(error.text, "tg_model_generate: the model reads rows");
    tg_model_free(m);
}
END_TEST

START_TEST(a_card_refuses_what_it_does_not_have)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 4 --epochs 1 --no-plots --out t"));
    tg_model *m = opened("t");
    const tg_card *c = tg_model_card(m);
    float input = 0;
    char bytes[4];
    const char *text = "a";
    tg_metadata lines[TG_CARD_LINES];
    ck_assert_str_eq(tg_card_encode(c, c->columns, 0, &input), "no such column");
    ck_assert_str_eq(tg_card_encode(NULL, 0, 0, &input), "no such column");
    ck_assert_int_eq(tg_card_letter(c, 0, bytes), 0);
    ck_assert_int_eq(tg_card_letter(c, -1, bytes), 0);
    ck_assert_int_eq(tg_card_letter(NULL, 0, bytes), 0);
    ck_assert_int_eq(tg_card_number(NULL, &text), -1);
    ck_assert_str_eq(text, "a");
    ck_assert_ptr_null(tg_card_class(NULL, (double[]){1, 0}));
    ck_assert_ptr_null(tg_card_class(c, NULL));
    ck_assert_uint_eq(tg_card_results(NULL), 0);
    tg_card_decode(NULL, &input, NULL);
    ck_assert(isnan(tg_card_pixel(NULL, 255)));
    tg_card_metadata(NULL, lines);
    ck_assert(lines[1].key && !lines[1].value);
    ck_assert_ptr_null(tg_card_parse(c->model_text, NULL, NULL));
    ck_assert_ptr_null(tg_card_parse(NULL, c->data_text, NULL));
    static const char *const numbers[] = {"1.2.3", "1-2", "1e5e5", "+1", ".5", "-", "e5"};
    for (int i = 0; i < 7; i++) {
        char wrong[40];
        tg_error error = {""};
        snprintf(wrong, sizeof wrong, "{\"layers\": %s}", numbers[i]);
        ck_assert_ptr_null(tg_card_parse(wrong, c->data_text, &error));
        ck_assert_msg(strstr(error.text, "a value is missing or wrong"), "%s: %s", numbers[i], error.text);
    }
    tg_model_set_card(NULL, tg_card_read(c->path, NULL)); /* which frees it */
    tg_model_free(m);
}
END_TEST

/* ---- images ---- */

START_TEST(pixels_are_as_in_the_file_and_an_autoencoder_gives_pixels)
{
    enum { IMAGES = 20 };
    expect_fine(train_run("train", "--data idx:images --model mlp --hidden 16 --epochs 2 --no-plots --out m"));
    expect_fine(train_run("train", "--data idx:images --model autoencoder --hidden 16 --code 4 --epochs 1 --no-plots "
                                   "--out e"));
    expect_fine(train_run("predict", "--model m --data idx:images --probabilities 2> q > p"));
    tg_model *m = opened("m"), *e = opened("e");
    const tg_card *card = tg_model_card(m);
    const size_t pixels = (size_t)card->spec.inputs;
    FILE *file = fopen(temporary_path("images/t10k-images-idx3-ubyte"), "rb");
    ck_assert_ptr_nonnull(file);
    unsigned char *bytes = malloc(16 + IMAGES * pixels);
    ck_assert_uint_eq(fread(bytes, 1, 16 + IMAGES * pixels, file), 16 + IMAGES * pixels);
    fclose(file);
    double *row = calloc(pixels, sizeof *row), *out = calloc(pixels, sizeof *out), squares = 0;
    for (int image = IMAGES - 1; image >= 0; image--) {
        for (size_t i = 0; i < pixels; i++)
            row[i] = bytes[16 + (size_t)image * pixels + i];
        ck_assert(tg_model_predict(m, row, out));
        expect_row(image, out, (int)card->classes, 2);
    }
    ck_assert_uint_eq(tg_card_results(tg_model_card(e)), pixels);
    ck_assert(tg_model_predict(e, row, out));
    for (size_t i = 0; i < pixels; i++)
        squares += pow((out[i] - row[i]) / 255, 2) / (double)pixels;
    expect_fine(train_run("predict", "--model e --data idx:images 2> q > p"));
    ck_assert_double_eq_tol(atof(strchr(temporary_text("p"), '\n') + 1), squares, 1e-5 * squares);
    free(bytes);
    free(row);
    free(out);
    tg_model_free(m);
    tg_model_free(e);
}
END_TEST

/* ---- texts ---- */

/* Makes a number of the last weights NaN, as in a file of a net that diverged. */
static void spoil(tg_model *m)
{
    tg_parameters *set = tg_model_parameters(m);
    tg_parameter *last = tg_parameters_at(set, tg_parameters_count(set) - 1);
    tg_parameter_put(last, 0, NAN);
}

/* Beyond the context that it was trained with, too: each character is drawn from the probabilities after all before it,
 * the first whose sum is above a uniform number. */
START_TEST(a_recurrent_net_writes_from_all_that_it_has_read)
{
    static const char *const models[] = {"rnn", "gru", "lstm"};
    enum { LENGTH = 200 };
    tg_error error;
    char text[LENGTH + 1];
    int32_t ids[2 + LENGTH];
    expect_fine(train_run("sh", "-c 'seq -f \"%%g The sea, the sea\" 300 > t.txt'"));
    expect_fine(train_run(
        "train", "--data text:t.txt --model %s --context 2 --width 12 --hidden 16 --epochs 1 --no-plots --out w",
        models[_i]));
    tg_model *m = opened("w");
    tg_rng rng = tg_rng_seed(3), again = rng;
    const tg_generate_options how = {.prompt = "Th", .length = LENGTH, .temperature = 1};
    for (int64_t length = -3; length <= -1; length++) {
        ck_assert_int_eq(tg_model_generate(m, &(tg_generate_options){"Th", .length = length}, &rng, text, &error), -1);
        ck_assert_str_eq(error.text, "tg_model_generate: there are no options, or a negative length");
    }
    ck_assert_int_eq(tg_model_generate(m, NULL, &rng, text, &error), -1);
    ck_assert_int_eq(tg_model_generate(m, &(tg_generate_options){"Th", .length = INT64_MAX}, &rng, NULL, &error), -1);
    ck_assert_str_eq(error.text, "out of memory");
    ck_assert_int_eq(tg_model_generate(m, &how, &rng, text, &error), LENGTH);
    const tg_card *c = tg_model_card(m);
    char *unsorted = strdup(c->data_text), *letters = strstr(unsorted, "[10,");
    ck_assert_ptr_nonnull(letters);
    memcpy(letters, "[99,", 4);
    ck_assert_ptr_null(tg_card_parse(c->model_text, unsorted, &error));
    ck_assert_msg(strstr(error.text, "the characters are missing or wrong"), "%s", error.text);
    free(unsorted);
    const char *next = "Th", *at = text;
    for (int i = 0; i < 2 + LENGTH; i++)
        ids[i] = tg_card_number(c, i < 2 ? &next : &at);
    tg_tape *tape = tg_tape_new();
    const tg_tensor x = tg_constant(tape, TG_I32, ids, TG_SHAPE(1, 1 + LENGTH));
    const float *p = tg_f32(tg_softmax(tg_model_forward(m, x, NULL), -1));
    ck_assert_ptr_nonnull(p);
    p += c->vocabulary;
    for (int i = 2; i < 2 + LENGTH; i++, p += c->vocabulary) {
        const double u = tg_rng_uniform(&again);
        double before = 0;
        for (int k = 0; k < ids[i]; k++)
            before += (double)p[k];
        ck_assert_msg(u >= before - 1e-5 && u <= before + (double)p[ids[i]] + 1e-5, "character %d: %g, %g to %g", i, u,
                      before, before + (double)p[ids[i]]);
    }
    tg_tape_free(tape);
    spoil(m);
    ck_assert_int_eq(tg_model_generate(m, &how, &rng, text, &error), -1);
    ck_assert_str_eq(error.text, "the model's logits are not numbers");
    ck_assert_str_eq(text, "");
    tg_model_free(m);
}
END_TEST

/* ---- pairs ---- */

/* The logarithm of the probability of a target and its newline, by teacher forcing. */
static double log_probability(const tg_model *m, const int32_t *source, const int32_t *target, int length)
{
    const tg_card *c = tg_model_card(m);
    const int64_t context = c->spec.context, classes = c->vocabulary;
    int32_t ids[16] = {0};
    memcpy(ids, source, (size_t)context * sizeof *ids);
    ids[context] = 1;
    memcpy(ids + context + 1, target, (size_t)length * sizeof *ids);
    tg_tape *tape = tg_tape_new();
    const tg_tensor x = tg_constant(tape, TG_I32, ids, TG_SHAPE(1, context + 1 + length));
    const float *logits = tg_f32(tg_model_forward(m, x, NULL));
    double result = 0;
    for (int t = 0; t <= length; t++, logits += classes) {
        double sum = 0;
        for (int64_t i = 1; i < classes; i++)
            sum += exp(logits[i]);
        result += logits[t < length ? target[t] : 1] - log(sum);
    }
    tg_tape_free(tape);
    return result;
}

/* A beam search wide enough finds the most probable of all targets, and a narrower one none that is more probable. */
START_TEST(beams_find_the_most_probable_target)
{
    expect_fine(train_run("sh",
                          "-c 'for i in 1 2 3 4 5 6 7 8 9; do printf \"ab\\tba\\nb\\tab\\naba\\tb\\nbb\\taab\\n\"; "
                          "done > pairs'"));
    expect_fine(train_run(
        "train", "--data pairs:pairs --layers 1 --heads 1 --width 8 --epochs 3 --seed %d --no-plots --out m", _i));
    tg_model *m = opened("m");
    tg_error error;
    char greedy[5], wide[5], expected[5] = "";
    double of_greedy, of_wide, best = -INFINITY;
    const int32_t source[] = {3, 2, 1, 0}; /* "ba": tab, newline, a, b are 0 to 3 */
    for (int length = 0; length <= 3; length++)
        for (int number = 0; number < 1 << length; number++) {
            int32_t target[4];
            for (int i = 0; i < length; i++)
                target[i] = 2 + (number >> i & 1);
            const double now = log_probability(m, source, target, length);
            if (now > best)
                for (int i = (best = now, expected[length] = 0, 0); i < length; i++)
                    expected[i] = (char)('a' + target[i] - 2);
        }
    ck_assert_int_ge(tg_model_translate(m, "ba", 100, wide, &of_wide, &error), 0);
    ck_assert_int_ge(tg_model_translate(m, "ba", 1, greedy, &of_greedy, &error), 0);
    ck_assert_msg(strcmp(wide, expected) == 0, "%s, and %s is the most probable", wide, expected);
    ck_assert_double_eq_tol(of_wide, best, 1e-5);
    ck_assert_double_le(of_greedy, of_wide + 1e-6);
    ck_assert_int_eq(tg_model_translate(m, "abab", 1, wide, NULL, &error), -1);
    ck_assert_str_eq(error.text, "the source has 4 characters, and the model reads 3 at most");
    ck_assert_int_eq(tg_model_translate(m, "a\tb", 1, wide, NULL, &error), -1);
    ck_assert_int_eq(tg_model_translate(m, NULL, 1, wide, NULL, &error), -1);
    ck_assert_int_eq(tg_model_translate(NULL, "a", 1, wide, NULL, &error), -1);
    ck_assert_str_eq(error.text, "tg_model_translate: the model was not opened from a file");
    ck_assert_int_eq(tg_model_generate(m, &(tg_generate_options){.length = 3}, NULL, NULL, &error), -1);
    ck_assert_str_eq(error.text, "tg_model_generate: the model reads pairs; see tg_model_translate");
    ck_assert(!tg_model_predict_rows(m, (double[]){1}, 1, (double[1]){0}, &error));
    spoil(m);
    ck_assert_int_eq(tg_model_translate(m, "ba", 2, wide, NULL, &error), -1);
    ck_assert_str_eq(error.text, "the model's logits are not numbers");
    tg_model_free(m);
    if (_i == 0)
        return;
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 1 --no-plots --out t"));
    m = opened("t");
    ck_assert_int_eq(tg_model_translate(m, "a", 1, wide, NULL, &error), -1);
    ck_assert_str_eq(error.text, "tg_model_translate: the model does not read pairs");
    tg_model_free(m);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 4, TIMES = 40 };

typedef struct thread_work {
    const tg_model *model;
    double row[3], expected[3];
    bool fine;
} thread_work;

static void *predict_often(void *work)
{
    thread_work *w = work;
    double out[3] = {0};
    for (int i = 0; i < TIMES; i++)
        w->fine &= tg_model_predict(w->model, w->row, out) && memcmp(out, w->expected, sizeof out) == 0;
    return NULL;
}

START_TEST(threads_share_a_model)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 32x3 --norm batch --epochs 2 --no-plots --out m"));
    tg_model *m = opened("m");
    thread_work work[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        work[i] = (thread_work){m, {1000 + i, 0.01 * i, i % 3}, {0}, true};
        ck_assert(tg_model_predict(m, work[i].row, work[i].expected));
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, predict_often, &work[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        ck_assert(work[i].fine);
    }
    tg_model_free(m);
}
END_TEST

/* ---- errors ---- */

START_TEST(errors_name_the_file_and_the_tensor)
{
    tg_error error;
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 1 --no-plots --out m"));
    expect_fine(train_run("sh", "-c 'sed s/layers.1.bias/layers.1.bios/ m/best.safetensors > renamed; "
                                "sed s/tapegrad.data/tapegrad.date/ m/best.safetensors > bare; "
                                "sed s/classes/glasses/ m/best.safetensors > other; "
                                "head -c 600 m/best.safetensors > cut; "
                                "sed s/number/bumber/ m/best.safetensors > wrong'"));
    static const struct {
        const char *file, *part;
    } expected[] = {{"renamed", "renamed: tensor layers.1.bias is missing"},
                    {"bare", "bare: a model file, but not one of train"},
                    {"other", "the task is unknown"},
                    {"cut", "cut: "},
                    {"wrong", "wrong: the metadata is not that of this program: "},
                    {"none", "none: No such file"},
                    {"images", "images/best.safetensors: No such file"}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        ck_assert_msg(!tg_model_open(temporary_path(expected[i].file), &error), "%s was opened", expected[i].file);
        ck_assert_msg(strstr(error.text, expected[i].part), "%s", error.text);
    }
    ck_assert_ptr_null(tg_model_open(NULL, &error));
    ck_assert_ptr_null(tg_model_open(temporary_path("none"), NULL));
    const tg_rng rng = tg_rng_seed(1);
    tg_mlp *plain = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .outputs = 1});
    ck_assert(!tg_model_predict_rows(plain, (double[]){1, 2}, 1, (double[1]){0}, &error));
    ck_assert_str_eq(error.text, "tg_model_predict: the model was not opened from a file");
    tg_mlp_free(plain);
}
END_TEST

Suite *saved_suite(void)
{
    Suite *suite = suite_create("saved");
    TCase *tests = tcase_create("saved");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_test(tests, a_new_users_program_has_the_digits_of_predict);
    tcase_add_test(tests, rows_with_categories_and_missing_cells_have_the_digits_of_predict);
    tcase_add_test(tests, what_is_kept_from_call_to_call_changes_no_bit);
    tcase_add_test(tests, a_cell_that_is_missing_where_training_had_none_is_named);
    tcase_add_test(tests, a_card_refuses_what_it_does_not_have);
    tcase_add_test(tests, pixels_are_as_in_the_file_and_an_autoencoder_gives_pixels);
    tcase_add_loop_test(tests, a_recurrent_net_writes_from_all_that_it_has_read, 0, 3);
    tcase_add_loop_test(tests, beams_find_the_most_probable_target, 0, 4);
    tcase_add_test(tests, threads_share_a_model);
    tcase_add_test(tests, errors_name_the_file_and_the_tensor);
    suite_add_tcase(suite, tests);
    return suite;
}
