/* Tables through train and predict: numbers are written exactly, columns are those of the training file, and ambiguous
 * tables are refused. */
#include "tests/support/run_programs.h"
#include "tests/support/seeds.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>
#include <unistd.h>

Suite *train_tables_suite(void);

/* `rows` lines under `header`, "%d" of row_format being the row's number. */
static void write_rows(const char *name, const char *header, int rows, void (*write)(FILE *file, int row))
{
    FILE *file = fopen(temporary_path(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs(header, file);
    for (int row = 0; row < rows; row++)
        write(file, row);
    fclose(file);
}

static void write_text_file(const char *name, const char *text)
{
    temporary_write(name, text, strlen(text));
}

/* The value after `what` in the last line of the output that begins with `line`. */
static double printed(const char *line, const char *what)
{
    const char *at = NULL;
    for (const char *next = train_output; (next = strstr(next, line)); next++)
        at = next;
    ck_assert_msg(at, "no '%s' in: %.900s", line, train_output);
    const char *value = strstr(at, what);
    ck_assert_msg(value, "no '%s' in: %.900s", what, at);
    return atof(value + strlen(what));
}

/* Line number `line`, from 0, of a file; until the next call. */
static const char *line_of(const char *name, int line)
{
    char *text = temporary_text(name);
    while (line-- > 0)
        text = strchr(text, '\n') + 1;
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* ---- numbers that are names ---- */

static void large_codes(FILE *file, int row)
{
    static const double target[] = {1, 7, -3};
    fprintf(file, "%d,%g\n", 1234567891 + row % 3, target[row % 3] + 0.01 * (row % 5));
}

START_TEST(categories_that_are_large_numbers_stay_apart)
{
    write_rows("codes.csv", "code,y\n", 90, large_codes);
    expect_fine(train_run(
        "train",
        "--data csv:codes.csv --categorical code --hidden 16 --epochs 80 --dropout 0 --lr 0.002 --no-plots --out m"));
    write_text_file("new.csv", "code\n1234567891\n1234567892\n1234567893\n");
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:new.csv > p"));
    ck_assert_double_eq_tol(atof(line_of("p", 1)), 1, 0.5);
    ck_assert_double_eq_tol(atof(line_of("p", 2)), 7, 0.5);
    ck_assert_double_eq_tol(atof(line_of("p", 3)), -3, 0.5);
}
END_TEST

static void large_classes(FILE *file, int row)
{
    fprintf(file, "%d,%d\n", row % 2, 1234567891 + row % 2);
}

START_TEST(classes_that_are_large_numbers_keep_their_digits)
{
    write_rows("classes.csv", "x,class\n", 80, large_classes);
    expect_fine(train_run("train", "--data csv:classes.csv --hidden 8 --epochs 30 --no-plots --out m"));
    write_text_file("new.csv", "x\n0\n1\n");
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:new.csv --probabilities > p"));
    ck_assert_str_eq(line_of("p", 0), "class,probability,1234567891,1234567892");
    ck_assert_int_eq(strncmp(line_of("p", 1), "1234567891,", 11), 0);
    ck_assert_int_eq(strncmp(line_of("p", 2), "1234567892,", 11), 0);
}
END_TEST

static void signed_zeros(FILE *file, int row)
{
    fprintf(file, "%s,%d\n", row % 4 == 0 ? "-0" : row % 2 == 0 ? "0" : "1", row % 2);
}

START_TEST(minus_zero_is_the_category_zero)
{
    write_rows("zeros.csv", "code,class\n", 80, signed_zeros);
    expect_fine(
        train_run("train", "--data csv:zeros.csv --categorical code --hidden 8 --epochs 20 --no-plots --out m"));
    write_text_file("new.csv", "code\n-0\n0\n");
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:new.csv > p"));
    char first[100];
    snprintf(first, sizeof first, "%s", line_of("p", 1));
    ck_assert_str_eq(first, line_of("p", 2));
}
END_TEST

/* ---- numbers in the output ---- */

static void large_targets(FILE *file, int row)
{
    fprintf(file, "%d,%.0f\n", row, 1.7e9 + 86. * row);
}

START_TEST(predictions_have_the_digits_of_a_large_target)
{
    write_rows("large.csv", "x,y\n", 100, large_targets);
    expect_fine(train_run("train", "--data csv:large.csv --hidden 16 --epochs 100 --no-plots --out m"));
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:large.csv > p"));
    for (int row = 20; row < 80; row++)
        ck_assert_double_eq_tol(atof(line_of("p", 1 + row)), 1.7e9 + 86. * row, 1500);
    ck_assert_str_ne(line_of("p", 30), line_of("p", 60));
}
END_TEST

/* ---- several targets ---- */

enum { TWO_TEST = 50 };

/* Two targets: one that is a function of x; one that is nearly constant over the training rows, the last ones, and
 * varies over the test rows, the first ones. */
static void two_targets(FILE *file, int row)
{
    const int x = row * 37 % 101;
    fprintf(file, "%d,%d,%d\n", x, 1000 * x, row < TWO_TEST ? row * 7919 % 1009 : row % 2);
}

START_TEST(the_determination_of_several_targets_is_their_mean)
{
    write_rows("two.csv", "x,y,z\n", 300, two_targets);
    expect_fine(train_run("train",
                          "--data csv:two.csv --target y,z --test first:%d --hidden 16 --epochs 40 --no-plots --out m",
                          TWO_TEST));
    const double reported = printed("test:", "R2 ");
    expect_fine(train_run("predict", "--model m --data csv:two.csv > p"));
    double wanted[TWO_TEST][2], sum[2] = {0, 0}, squares[2] = {0, 0}, errors[2] = {0, 0};
    char *line = strchr(temporary_text("p"), '\n') + 1;
    for (int row = 0; row < TWO_TEST; row++, line = strchr(line, '\n') + 1) {
        double predicted[2];
        ck_assert_int_eq(sscanf(line, "%lf,%lf", &predicted[0], &predicted[1]), 2);
        wanted[row][0] = 1000. * (row * 37 % 101);
        wanted[row][1] = row * 7919 % 1009;
        for (int k = 0; k < 2; k++)
            errors[k] += pow(predicted[k] - wanted[row][k], 2), sum[k] += wanted[row][k];
    }
    double mean = 0;
    for (int k = 0; k < 2; k++) {
        for (int row = 0; row < TWO_TEST; row++)
            squares[k] += pow(wanted[row][k] - sum[k] / TWO_TEST, 2);
        mean += (1 - errors[k] / squares[k]) / 2;
    }
    ck_assert_double_eq_tol(reported, mean, 2e-4);
}
END_TEST

static void four_targets(FILE *file, int row)
{
    fprintf(file, "%d,%d,%d,%d,%d\n", row % 7, row * 37 % 101, row * 41 % 103, row * 43 % 107, row * 47 % 109);
}

/* Outputs whose second moment is that of the targets would double the error. */
START_TEST(outputs_of_several_numbers_begin_small)
{
    write_rows("four.csv", "x,a,b,c,d\n", 300, four_targets);
    expect_fine(train_run("train", "--data csv:four.csv --target a,b,c,d --hidden 64 --lr 1e-12 --epochs 1 --refit no "
                                   "--no-plots --out m"));
    ck_assert_double_gt(printed("test:", "R2 "), -0.4);
}
END_TEST

static void constant_in_training(FILE *file, int row)
{
    fprintf(file, "%d,%d\n", row, row < 20 ? 1000 : 5); /* the first 20 rows are the test rows */
}

START_TEST(a_target_that_is_constant_in_training_has_an_error_elsewhere)
{
    write_rows("constant.csv", "x,y\n", 100, constant_in_training);
    expect_fine(train_run("train",
                          "--data csv:constant.csv --task regression --test first:20 --validation 0.2 --hidden 8 "
                          "--epochs 5 --no-plots --out m"));
    ck_assert_double_eq_tol(printed("test:", "root mean squared error "), 995, 30);
}
END_TEST

/* ---- headers, names and orders of columns ---- */

static void words_of_two(FILE *file, int row)
{
    fprintf(file, "%s,%s\n", row % 2 ? "red" : "blue", row % 2 ? "yes" : "no");
}

START_TEST(a_file_of_words_without_a_header_loses_no_row)
{
    write_rows("words.csv", "", 60, words_of_two);
    expect_fine(train_run("train", "--data csv:words.csv --header no --hidden 8 --epochs 20 --no-plots --out m"));
    write_text_file("new.csv", "red\nblue\nred\n");
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:new.csv > p"));
    ck_assert_int_eq(strncmp(line_of("p", 1), "yes,", 4), 0);
    ck_assert_int_eq(strncmp(line_of("p", 2), "no,", 3), 0);
    ck_assert_int_eq(strncmp(line_of("p", 3), "yes,", 4), 0);
}
END_TEST

static void minus_one(FILE *file, int row)
{
    fprintf(file, "%d,%d,%s\n", row % 7, row % 5, row % 2 ? "yes" : "no");
}

START_TEST(the_last_column_is_the_target_whatever_another_is_called)
{
    write_rows("minus.csv", "-1,b,class\n", 80, minus_one);
    expect_fine(train_run("train", "--data csv:minus.csv --header yes --hidden 8 --epochs 2 --no-plots --out m"));
    write_text_file("new.csv", "b,-1\n3,2\n");
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:new.csv --header yes > p"));
    ck_assert_str_eq(line_of("p", 0), "class,probability");
}
END_TEST

static void twins(FILE *file, int row)
{
    fprintf(file, "%d,%d,%d\n", row % 7, row % 5, row % 7 - row % 5);
}

START_TEST(a_column_is_not_taken_for_two_of_one_name)
{
    write_rows("twins.csv", "a,a,y\n", 80, twins);
    expect_fine(train_run("train", "--data csv:twins.csv --task regression --hidden 8 --epochs 2 --no-plots --out m"));
    write_text_file("both.csv", "a,a\n1,2\n");
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:both.csv"));
    write_text_file("one.csv", "a,b\n1,2\n");
    expect_refused(train_run("predict", "--model m/best.safetensors --data csv:one.csv"), "is not unique");
}
END_TEST

static void two_and_two(FILE *file, int row)
{
    fprintf(file, "%d,%d,%d,%d\n", row % 7, row % 5, row % 7 + row % 3, row % 5 * 2);
}

START_TEST(weights_of_other_targets_or_columns_are_refused)
{
    write_rows("named.csv", "a,b,t,u\n", 80, two_and_two);
    write_rows("plain.csv", "", 80, two_and_two);
    expect_fine(train_run("train", "--data csv:named.csv --target t,u --hidden 8 --epochs 1 --no-plots --out named"));
    expect_refused(train_run("train", "--data csv:named.csv --target u,t --start named/best.safetensors --out other"),
                   "its targets differ");
    expect_fine(train_run("train", "--data csv:plain.csv --target 3 --ignore 2 --task regression --hidden 8 --epochs 1 "
                                   "--no-plots --out plain"));
    expect_refused(train_run("train", "--data csv:plain.csv --target 3 --ignore 1 --task regression --start "
                                      "plain/best.safetensors --out other"),
                   "its columns differ");
}
END_TEST

START_TEST(a_file_that_is_not_utf8_is_refused_with_its_line)
{
    write_text_file("latin.csv", "Gr\xf6\xdf"
                                 "e,L\xe4nge,ziel\n1,2,3\n");
    expect_refused(train_run("train", "--data csv:latin.csv"), "latin.csv:1: not UTF-8");
    write_text_file("late.csv", "a,class\n1,gr\xfcn\n2,rot\n");
    expect_refused(train_run("train", "--data csv:late.csv"), "late.csv:2: not UTF-8");
}
END_TEST

/* The number of a program's allocations, whose output is in train_output; 0 with sanitizers, which must be loaded
 * first. */
static int count_allocations(const char *program, const char *arguments)
{
    char folder[PATH_MAX];
    int calls = 0;
    if (!ADDRESS_SPACE_CAN_BE_LIMITED)
        return 0;
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    expect_fine(train_run("${TG_CC:-cc}", "-O1 -fPIC -shared -o fail.so '%s/tests/faults/fail.c' -ldl", folder));
    expect_fine(
        train_run("env", "TG_FAULT=memory:0 TG_FAULT_COUNT=count LD_PRELOAD=./fail.so %s %s", program, arguments));
    ck_assert_int_eq(sscanf(temporary_text("count"), "%d", &calls), 1);
    return calls;
}

/* jansson drops entries of an object when memory runs out. A model that loses the names of its columns this way would
 * predict from the wrong columns. */
START_TEST(an_allocation_that_fails_is_told_and_never_changes_a_model)
{
    static const char arguments[] = "--data csv:named.csv --target t,u --hidden 2 --epochs 1 --no-plots --out out";
    char program[200];
    int told = 0;
    write_rows("named.csv", "a,b,t,u\n", 30, two_and_two);
    const int calls = count_allocations("train", arguments);
    if (calls == 0)
        return;
    expect_fine(train_run("mv", "out whole"));
    for (int call = 1; call <= calls; call += 1 + calls / 60) {
        snprintf(program, sizeof program, "env TG_FAULT=memory:%d LD_PRELOAD=./fail.so train", call);
        const bool fine = train_run(program, arguments) == 0;
        told += !fine;
        ck_assert_msg(fine || *train_output, "allocation %d: no reason", call);
        ck_assert_msg(!strstr(train_output, "not that of this program"), "allocation %d: %s", call, train_output);
        ck_assert_msg(!fine || train_run("cmp", "out/best.safetensors whole/best.safetensors") == 0,
                      "allocation %d: %s", call, train_output);
        train_run("rm", "-rf out");
    }
    ck_assert_int_gt(told, 30);
}
END_TEST

/* Runs gradcheck with the allocations first, first + step, ... failing: it says so, or prints the same table. */
static int told_by_gradcheck(const char *what, int first, int step, int calls, const char *expected)
{
    int told = 0;
    for (int call = first; call <= calls; call += step) {
        const int status = train_run("env", "TG_FAULT=memory:%d LD_PRELOAD=./fail.so gradcheck %s", call, what);
        told += status != 0;
        ck_assert_msg(status == 0 ? strcmp(train_output, expected) == 0
                                  : status <= 2 && strstr(train_output, "out of memory") != NULL,
                      "%s, allocation %d of %d: %d: %s", what, call, calls, status, train_output);
    }
    return told;
}

/* The last allocations of gradcheck print its table. Others are for points of the checker's own, and for steps with
 * dropout that go on otherwise than recorded. */
START_TEST(an_allocation_that_fails_is_told_and_never_changes_a_table)
{
    enum { LAST = 30 };
    static const struct {
        const char *what;
        int step;
    } checked[] = {{"relu", 40}, {"attention.training", 20}};
    for (int i = today(2); i < 2; i += every(2)) {
        const int calls = count_allocations("gradcheck", checked[i].what);
        char *expected = strdup(train_output);
        ck_assert(calls == 0 || told_by_gradcheck(checked[i].what, calls - LAST + 1, 1, calls, expected) > LAST / 3);
        ck_assert(calls == 0 || told_by_gradcheck(checked[i].what, 1, checked[i].step, calls, expected) > 10);
        free(expected);
    }
}
END_TEST

/* ---- random tables, against an independent computation ---- */

enum { COLUMNS = 8, ROWS = 60, WORDS = 3 };

typedef struct table {
    int columns;
    char names[COLUMNS + 1][40];
    bool categorical[COLUMNS];
    char cells[ROWS][COLUMNS + 1][40];
    double values[ROWS][COLUMNS + 1];
} table;

static void random_name(tg_rng *rng, char *name)
{
    static const char *const pieces[] = {"a", "B", "Größe", "x y", "-", "1", "né", "\"\"q\"\"", ",", "_", "0", "."};
    int pieces_used = 1 + (int)tg_rng_below(rng, 4);
    *name = '\0';
    while (pieces_used--)
        strcat(name, pieces[tg_rng_below(rng, sizeof pieces / sizeof *pieces)]);
    sprintf(name + strlen(name), "k%d", (int)tg_rng_below(rng, 1000));
}

/* A number of up to 17 digits. */
static double random_number(tg_rng *rng, char *text)
{
    const int digits = 1 + (int)tg_rng_below(rng, 17), exponent = (int)tg_rng_below(rng, 9) - 4;
    sprintf(text, "%.*g", digits, tg_rng_normal(rng) * pow(10, exponent) + (tg_rng_below(rng, 3) ? 0 : 1e6));
    return strtod(text, NULL);
}

static table random_table(tg_rng *rng)
{
    table t = {.columns = 1 + (int)tg_rng_below(rng, COLUMNS - 1)};
    double spread[COLUMNS];
    for (int c = 0; c <= t.columns; c++) {
        random_name(rng, t.names[c]);
        sprintf(t.names[c] + strlen(t.names[c]), "c%d", c); /* different ones */
        if (c < t.columns) {
            t.categorical[c] = tg_rng_below(rng, 4) == 0;
            spread[c] = pow(10, (int)tg_rng_below(rng, 7) - 3);
        }
    }
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < t.columns; c++)
            if (t.categorical[c]) {
                t.values[r][c] = tg_rng_below(rng, WORDS);
                sprintf(t.cells[r][c], "\"w%d, o\"", (int)t.values[r][c]);
            } else {
                random_number(rng, t.cells[r][c]);
                t.values[r][c] = strtod(t.cells[r][c], NULL) * spread[c];
                sprintf(t.cells[r][c], "%.17g", t.values[r][c]);
            }
        t.values[r][t.columns] = random_number(rng, t.cells[r][t.columns]);
    }
    return t;
}

/* Writes the columns in some order, with the target or without. */
static void write_random(const table *t, const char *name, const int *order, int columns, bool header)
{
    FILE *file = fopen(temporary_path(name), "w");
    for (int c = 0; header && c < columns; c++)
        fprintf(file, "%s\"%s\"%s", c ? "," : "", t->names[order[c]], c + 1 < columns ? "" : "\n");
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < columns; c++)
            fprintf(file, "%s%s%s", c ? "," : "", t->cells[r][order[c]], c + 1 < columns ? "" : "\n");
    fclose(file);
}

static double number_at(const table *t, int row, int column, int which)
{
    (void)which;
    return t->values[row][column];
}

static double is_word_at(const table *t, int row, int column, int which)
{
    return t->values[row][column] == which;
}

enum { HIDDEN = 4, VALIDATION = 5 };

/* Mean and deviation over the training rows: all but the first. */
static void statistics(const table *t, double (*value)(const table *, int, int, int), int column, int which,
                       double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    for (int r = VALIDATION; r < ROWS; r++)
        sum += value(t, r, column, which);
    *mean = sum / (ROWS - VALIDATION);
    for (int r = VALIDATION; r < ROWS; r++)
        squares += pow(value(t, r, column, which) - *mean, 2);
    *deviation = sqrt(squares / (ROWS - VALIDATION));
}

/* The features of a row, as train standardises them: categories stay 0 or 1. */
static int own_features(const table *t, int row, float *x)
{
    int inputs = 0;
    for (int c = 0; c < t->columns; c++)
        for (int which = 0; which < (t->categorical[c] ? WORDS : 1); which++) {
            double (*value)(const table *, int, int, int) = t->categorical[c] ? is_word_at : number_at, mean, deviation;
            bool there = !t->categorical[c];
            for (int r = 0; r < ROWS; r++)
                there |= t->values[r][c] == which;
            if (!there)
                continue; /* a word that occurs in no row is not a category */
            statistics(t, value, c, which, &mean, &deviation);
            const double own = value(t, row, c, which);
            x[inputs++] = deviation > 0 ? (float)(t->categorical[c] ? own : (own - mean) / deviation) : 0;
        }
    return inputs;
}

/* The net computed by hand in double; GELU is x/2 erfc(-x / sqrt 2). */
static double own_output(const tg_parameters *weights, const float *x, int inputs)
{
    const float *w0 = tg_parameters_find(weights, "layers.0.weight")->data,
                *b0 = tg_parameters_find(weights, "layers.0.bias")->data,
                *w1 = tg_parameters_find(weights, "layers.1.weight")->data,
                *b1 = tg_parameters_find(weights, "layers.1.bias")->data;
    double y = *b1;
    for (int h = 0; h < HIDDEN; h++) {
        double sum = b0[h];
        for (int i = 0; i < inputs; i++)
            sum += (double)w0[h * inputs + i] * x[i];
        y += w1[h] * sum * 0.5 * erfc(-sum / sqrt(2));
    }
    return y;
}

static void expect_predictions_of(const table *t)
{
    float x[COLUMNS * WORDS];
    tg_error error;
    double mean, deviation;
    const int inputs = own_features(t, 0, x);
    const tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = inputs, .hidden = {HIDDEN}, .outputs = 1});
    tg_parameters *weights = tg_mlp_parameters(net);
    ck_assert_msg(tg_parameters_load(weights, temporary_path("m/best.safetensors"),
                                     &(tg_load_options){.allow_unknown = true}, &error),
                  "%s", error.text);
    statistics(t, number_at, t->columns, 0, &mean, &deviation);
    char *line = strchr(temporary_text("p"), '\n') + 1;
    for (int row = 0; row < ROWS; row++, line = strchr(line, '\n') + 1) {
        own_features(t, row, x);
        const double own = own_output(weights, x, inputs) * deviation + mean;
        ck_assert_msg(fabs(strtod(line, NULL) - own) <= 2e-6 * deviation + 1e-15 * fabs(own),
                      "row %d: predicted %.25s, should be %.17g", row, line, own);
    }
    tg_mlp_free(net);
}

START_TEST(predictions_of_random_tables_are_those_of_a_net_by_hand)
{
    tg_rng rng = tg_rng_seed(1000 + (uint64_t)_i);
    const table t = random_table(&rng);
    const bool header = tg_rng_below(&rng, 2), shuffled = header && tg_rng_below(&rng, 2);
    int order[COLUMNS + 1] = {0};
    for (int c = 0; c <= t.columns; c++)
        order[c] = c;
    write_random(&t, "t.csv", order, t.columns + 1, header);
    expect_fine(train_run("train",
                          "--data csv:t.csv --header %s --task regression --hidden %d --epochs 2 --test none "
                          "--validation first:%d --no-plots --out m",
                          header ? "yes" : "no", HIDDEN, VALIDATION));
    for (int c = t.columns - 1; shuffled && c > 0; c--) {
        const int other = (int)tg_rng_below(&rng, (uint64_t)c + 1), mine = order[c];
        order[c] = order[other];
        order[other] = mine;
    }
    write_random(&t, "new.csv", order, t.columns, header);
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:new.csv > p"));
    expect_predictions_of(&t);
}
END_TEST

/* ---- weights ---- */

enum { WEIGHED = 60 };

/* A validation row is written once; of training rows, each as often as it weighs, or once with its weight. */
static void write_weighed(const char *name, bool repeated)
{
    FILE *file = fopen(temporary_path(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs("a,b,c,w,class\n", file);
    for (int row = 0; row < WEIGHED; row++) {
        const int weight = row < 20 ? 1 : row % 4, times = repeated ? weight : 1;
        for (int i = 0; i < times; i++)
            fprintf(file, "%d,%d,%d,%d,%s\n", row % 2, row * row % 31, row * 13 % 17, repeated ? 1 : weight,
                    row * 7919 % 5 < 2 ? "no" : "yes");
    }
    fclose(file);
}

START_TEST(a_weight_of_two_is_a_row_twice)
{
    static const char *const with[] = {"", "--class-weights balanced", "--class-weights classes.csv",
                                       "--label-smoothing 0.2 --class-weights balanced"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        double loss[2], accuracy[2];
        write_text_file("classes.csv", "no,3\n");
        for (int repeated = 0; repeated < 2; repeated++) {
            write_weighed("weighed.csv", repeated);
            expect_fine(train_run("train",
                                  "--data csv:weighed.csv --weights w --validation first:20 --test none --batch 1000 "
                                  "--hidden 8 --epochs 6 --dropout 0 --lr 0.05 --refit no --no-plots --overwrite %s "
                                  "--out m",
                                  with[i]));
            loss[repeated] = printed("validation:", "loss ");
            accuracy[repeated] = printed("validation:", "accuracy ");
        }
        ck_assert_double_eq_tol(loss[0], loss[1], 2e-4);
        ck_assert_double_eq_tol(accuracy[0], accuracy[1], 1e-6);
    }
}
END_TEST

static void flags_row(FILE *file, int row)
{
    fprintf(file, "%d,%d,%d,%s\n", row % 2, row / 2 % 2, row * row % 3 == 1, row < 20 || row % 5 == 0 ? "no" : "yes");
}

/* Validation rows have other classes than training rows, and all rows together a mean weight of 1 all the same. */
START_TEST(a_refit_weighs_classes_as_a_training_on_all_rows)
{
    double loss[2];
    write_rows("flags.csv", "a,b,c,class\n", 60, flags_row);
    write_text_file("classes.csv", "no,9\n");
    for (int all = 0; all < 2; all++) {
        expect_fine(
            train_run("train",
                      "--data csv:flags.csv --class-weights classes.csv --test none --batch 60 --hidden 8 --epochs 3 "
                      "--dropout 0 --optimizer sgd --schedule constant --warmup 0 --lr 0.2 --clip 0 --no-plots "
                      "--overwrite --out m %s",
                      all ? "--validation none" : "--validation first:20 --refit yes --nets 1"));
        ck_assert_ptr_nonnull(strstr(train_output, all ? "3 epochs are done" : "epoch 3 of 3 is the best"));
        expect_fine(train_run("predict", "--model m --data csv:flags.csv > p"));
        loss[all] = printed("60 samples:", "loss ");
    }
    ck_assert_double_eq_tol(loss[0], loss[1], 1e-4);
}
END_TEST

static void few_weigh(FILE *file, int row)
{
    fprintf(file, "%d,%d,%d,%.2f\n", row * 7 % 13, row * 5 % 11, row % 12 == 3, row * 7 % 13 / 13. + row * 5 % 11 / 7.);
}

/* Of five rows that weigh something a division may have none for validation, whose loss is 0 after any epoch: nets that
 * ended after the first spoiled the mean, with a loss of 0.18 on training rows. */
START_TEST(a_division_without_weights_ends_no_net_of_a_refit)
{
    write_rows("few.csv", "a,b,w,y\n", 60, few_weigh);
    expect_fine(train_run("train",
                          "--data few.csv --weights w --test none --validation 0.3 --epochs 200 --patience 0 "
                          "--dropout 0 --hidden 16 --lr 0.01 --refit yes --nets 8 --seed 5 --out few --no-plots"));
    ck_assert_double_lt(csv_cell("few/runs.csv", "gelu_exact", "best_train_loss"), 0.12);
}
END_TEST

/* Weights whose mean is not 1 in the validation split, and larger ones of rows that are right. */
static void heavy_row(FILE *file, int row)
{
    fprintf(file, "%d,%d,%d,%s\n", row % 9, row * 7 % 11, row < 40 ? 1 + 6 * (row % 9 < 4) : 1,
            (row % 9 < 4) != (row % 13 == 0) ? "small" : "large");
}

START_TEST(progress_has_the_measures_of_weighted_rows)
{
    static const char *const with[] = {"", "--class-weights balanced"};
    write_rows("heavy.csv", "a,b,w,size\n", 120, heavy_row);
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        expect_fine(
            train_run("train",
                      "--data csv:heavy.csv --weights w --validation first:40 --hidden 8 --epochs 4 --dropout 0 "
                      "--lr 0.02 --refit no --no-plots --overwrite %s --out m",
                      with[i]));
        ck_assert_double_eq_tol(printed("done,", "validation loss "), printed("validation:", "loss "), 1e-9);
        ck_assert_double_eq_tol(printed("done,", "accuracy "), printed("validation:", "accuracy "), 1e-9);
    }
}
END_TEST

static void exact_line(FILE *file, int row)
{
    fprintf(file, "%d,%d,%d\n", row, row < 40 ? 0 : 2, 3 * row + (row < 40) * 50000);
}

START_TEST(rows_of_weight_0_are_neither_learnt_nor_measured)
{
    write_rows("line.csv", "x,w,y\n", 200, exact_line);
    expect_fine(train_run("train", "--data csv:line.csv --target y --weights w --dropout 0 --no-plots --out m"));
    ck_assert_double_gt(printed("test:", "R2 "), 0.99);
    expect_fine(train_run("predict", "--model m --data csv:line.csv > p"));
    ck_assert_double_gt(printed("200 weighted samples:", "R2 "), 0.99);
}
END_TEST

static void long_weight(FILE *file, int row)
{
    fprintf(file, "%d,1.0123456,%s\n", row * 7919 % 101, row % 2 ? "no" : "yes");
}

START_TEST(weights_in_a_confusion_matrix_stand_apart)
{
    double sum[4] = {0};
    write_rows("long.csv", "x,w,class\n", 200, long_weight);
    expect_fine(train_run("train", "--data csv:long.csv --weights w --hidden 4 --epochs 1 --no-plots --out m"));
    const char *matrix = strstr(train_output, "in the same order:\n");
    ck_assert_msg(
        matrix && sscanf(matrix, "in the same order:\n%lf %lf no %lf %lf yes", &sum[0], &sum[1], &sum[2], &sum[3]) == 4,
        "%s", train_output);
    ck_assert_double_eq_tol(sum[0] + sum[1] + sum[2] + sum[3], 40 * 1.0123456, 1e-4);
}
END_TEST

START_TEST(predict_says_that_weights_are_missing_or_0)
{
    write_rows("line.csv", "x,w,y\n", 200, exact_line);
    expect_fine(train_run("train", "--data csv:line.csv --target y --weights w --epochs 2 --no-plots --out m"));
    write_text_file("new.csv", "x,y\n1,3\n2,6\n");
    expect_fine(train_run("predict", "--model m --data csv:new.csv > p"));
    ck_assert_msg(strstr(train_output, "the data has no column of weights, so each row counts once"), "%s",
                  train_output);
    write_text_file("new.csv", "x,w,y\n1,2,3\n2,many,6\n");
    expect_fine(train_run("predict", "--model m --data csv:new.csv > p"));
    ck_assert_msg(strstr(train_output, "1 answer left out of the score; the first: new.csv:3, column 'w': 'many' is no "
                                       "weight"),
                  "%s", train_output);
    expect_refused(train_run("emit", "--model m --train > code.c"), "trained with weights of rows or classes");
    write_text_file("new.csv", "x,w,y\n1,0,3\n2,0,6\n");
    expect_fine(train_run("predict", "--model m --data csv:new.csv > p"));
    ck_assert_msg(strstr(train_output, "the weights of the rows add up to 0: no score") && !strstr(train_output, "nan"),
                  "%s", train_output);
}
END_TEST

Suite *train_tables_suite(void)
{
    Suite *suite = suite_create("train_tables");
    TCase *tests = tcase_create("train_tables");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, categories_that_are_large_numbers_stay_apart);
    tcase_add_test(tests, classes_that_are_large_numbers_keep_their_digits);
    tcase_add_test(tests, minus_zero_is_the_category_zero);
    tcase_add_test(tests, predictions_have_the_digits_of_a_large_target);
    tcase_add_test(tests, the_determination_of_several_targets_is_their_mean);
    tcase_add_test(tests, outputs_of_several_numbers_begin_small);
    tcase_add_test(tests, a_target_that_is_constant_in_training_has_an_error_elsewhere);
    tcase_add_test(tests, a_file_of_words_without_a_header_loses_no_row);
    tcase_add_test(tests, the_last_column_is_the_target_whatever_another_is_called);
    tcase_add_test(tests, a_column_is_not_taken_for_two_of_one_name);
    tcase_add_test(tests, weights_of_other_targets_or_columns_are_refused);
    tcase_add_test(tests, a_file_that_is_not_utf8_is_refused_with_its_line);
    tcase_add_test(tests, a_weight_of_two_is_a_row_twice);
    tcase_add_test(tests, a_refit_weighs_classes_as_a_training_on_all_rows);
    tcase_add_test(tests, a_division_without_weights_ends_no_net_of_a_refit);
    tcase_add_test(tests, progress_has_the_measures_of_weighted_rows);
    tcase_add_test(tests, rows_of_weight_0_are_neither_learnt_nor_measured);
    tcase_add_test(tests, weights_in_a_confusion_matrix_stand_apart);
    tcase_add_test(tests, predict_says_that_weights_are_missing_or_0);
    tcase_add_test(tests, an_allocation_that_fails_is_told_and_never_changes_a_model);
    tcase_add_test(tests, an_allocation_that_fails_is_told_and_never_changes_a_table);
    tcase_add_loop_test(tests, predictions_of_random_tables_are_those_of_a_net_by_hand, 0, seeds(12, 500));
    suite_add_tcase(suite, tests);
    return suite;
}
