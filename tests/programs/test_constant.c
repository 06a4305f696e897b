/* What a constant prediction gets, on made tables whose figures follow from counting, and what is said beside it. */
#include "examples/programs/report/comparison.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *constant_suite(void);

static void write_rows(const char *name, const char *header, int rows, void (*put)(FILE *file, int row))
{
    FILE *file = fopen(temporary_path(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs(header, file);
    for (int i = 0; i < rows; i++)
        put(file, i);
    fclose(file);
}

static void expect_line(const char *line)
{
    ck_assert_msg(strstr(train_output, line) != NULL, "no '%s' in\n%s", line, train_output);
}

#define QUICK "--epochs 2 --hidden 4 --refit no --no-plots --validation none --out m --overwrite"

/* The first 20 rows, of the test, have 14 yes; the other 100 have 75. */
static void three_of_four(FILE *file, int row)
{
    fprintf(file, "%d,%s\n", row * 7 % 13, (row < 20 ? row % 10 < 7 : row % 4 > 0) ? "yes" : "no");
}

START_TEST(classes_have_their_shares)
{
    char line[200];
    write_rows("c.csv", "a,class\n", 120, three_of_four);
    expect_fine(train_run("train", "--data c.csv --test first:20 " QUICK));
    const double loss = -0.7 * log(0.75) - 0.3 * log(0.25);
    snprintf(
        line, sizeof line,
        "test, constant prediction: loss %.4f, accuracy 70.00 %%, balanced accuracy 50.00 %%, macro F1 0.4118, AUC "
        "0.5000\n",
        loss);
    expect_line(line);
    expect_fine(train_run("sh", "-c 'head -n 21 c.csv > rows.csv'"));
    expect_fine(train_run("predict", "--model m --data rows.csv > p"));
    expect_line(strchr(line, 'c')); /* "constant prediction: ..." of the same rows */
    ck_assert_double_eq_tol(csv_cell("m/summary.csv", "gelu_exact", "test_loss_constant"), loss, 1e-7);
}
END_TEST

/* Weights of classes make the shares of the loss equal: log 2; answers are still the class of most rows. */
START_TEST(weights_of_classes_are_for_the_loss)
{
    write_rows("c.csv", "a,class\n", 120, three_of_four);
    expect_fine(train_run("train", "--data c.csv --test first:20 --class-weights balanced " QUICK));
    expect_line("test, constant prediction: loss 0.6931, accuracy 70.00 %");
}
END_TEST

/* Training rows are 0 or 10, mean 5, deviation 5; the test rows 9 and 1. */
static void far_or_near(FILE *file, int row)
{
    fprintf(file, "%d.5,%g\n", row * 7 % 13, row < 20 ? (row % 2 ? 9. : 1.) : (row % 2 ? 10. : 0.));
}

START_TEST(targets_have_their_mean)
{
    write_rows("t.csv", "a,y\n", 120, far_or_near);
    expect_fine(train_run("train", "--data t.csv --target y --task regression --test first:20 " QUICK));
    expect_line("test, constant prediction: loss 0.6400, R2 0.0000, root mean squared error 4 of y");
    expect_fine(train_run("sh", "-c 'head -n 21 t.csv > rows.csv'"));
    expect_fine(train_run("predict", "--model m --data rows.csv > p"));
    expect_line("constant prediction: loss 0.6400, R2 0.0000");
}
END_TEST

/* Targets of training pairs are "a" and "ab" with a newline each; of five characters two are a and two are newlines. */
static void source_and_target(FILE *file, int row)
{
    fprintf(file, "x%c\t%s\n", 'x' + row % 2, row % 2 ? "a" : "ab");
}

START_TEST(pairs_have_the_frequencies_of_their_targets)
{
    write_rows("p.tsv", "", 200, source_and_target);
    expect_fine(train_run("train", "--data pairs:p.tsv --epochs 1 --width 8 --layers 1 --heads 2 --test 0.5 "
                                   "--no-plots --validation 0.1 --out pairs"));
    const char *at = strstr(train_output, "test, constant prediction: loss ");
    ck_assert_msg(at, "%s", train_output);
    /* entropy of 0.4, 0.4, 0.2, if the splits had the same share of both; they are drawn */
    ck_assert_double_eq_tol(atof(at + strlen("test, constant prediction: loss ")), 1.0549, 0.02);
}
END_TEST

/* All rows but the last have the same input, so a net predicts one class for them. */
static void the_same_input(FILE *file, int row)
{
    fprintf(file, "%d,%s\n", row == 119, row % 4 > 0 ? "yes" : "no");
}

START_TEST(one_class_for_all_rows_is_said)
{
    write_rows("same.csv", "a,class\n", 120, the_same_input);
    expect_fine(train_run("train",
                          "--data same.csv --test first:20 --validation none --epochs 30 --refit no --hidden 4 "
                          "--no-plots --out m --overwrite"));
    expect_line("all samples are predicted as class yes\n");
    expect_fine(train_run("compare",
                          "--data same.csv --test first:20 --activations relu --epochs 30 --hidden 4 --seeds 3 "
                          "--no-plots --out one"));
    expect_line("relu predicts class yes for all test samples in 3 of 3 runs.");
    expect_line("those that judge are the first ones of the table, and intervals allow for others.");
    expect_line("Test accuracy: no net beats the constant prediction, 75.00 % (relu comes nearest: 0.0 points");
    expect_line("Hint: test accuracy is measured on 20 test samples, of which one is 5.0 points: ");
    expect_fine(train_run("compare",
                          "--data same.csv --test first:20 --activations relu --epochs 30 --hidden 4 --seeds 3 "
                          "--no-plots --out one --measures test_balanced_accuracy"));
    expect_line("Hint: test balanced accuracy is measured on 20 test samples: --folds 5 in");
    expect_line("in 3 of 3 runs: its intervals of balanced accuracy and F1 are too narrow then.");
}
END_TEST

static void a_quarter(FILE *file, int row)
{
    fprintf(file, "%d,0.25,%s\n", row == 119, row % 4 > 0 ? "yes" : "no");
}

/* Samples are counted, also if they weigh less than one; a confusion matrix has weights. */
START_TEST(samples_of_little_weight_are_samples)
{
    write_rows("light.csv", "a,w,class\n", 120, a_quarter);
    expect_fine(train_run("compare",
                          "--data light.csv --weights w --test first:20 --activations relu --epochs 30 --hidden 4 "
                          "--seeds 3 --report --no-plots --out light"));
    expect_line("Hint: test accuracy is measured on 20 test samples: ");
    ck_assert_str_eq(temporary_text("light/confusion.csv"),
                     "activation,class,no,yes\nrelu,no,0,3.75\nrelu,yes,0,11.25\n");
    ck_assert_ptr_nonnull(strstr(temporary_text("light/report.html"), ">3.75</td>"));
}
END_TEST

/* A class that weighs nothing in the loss has an infinite loss times 0. */
START_TEST(a_class_without_weight_adds_nothing)
{
    write_rows("c.csv", "a,class\n", 120, three_of_four);
    write_rows("weights.csv", "no,0\n", 0, NULL);
    expect_fine(train_run("train", "--data c.csv --test first:20 --class-weights weights.csv " QUICK));
    expect_line("test, constant prediction: loss 0.0000, accuracy 70.00 %");
    expect_fine(train_run("compare",
                          "--data c.csv --test first:20 --class-weights weights.csv --activations relu --epochs 2 "
                          "--hidden 4 --seeds 2 --no-plots --out two"));
    ck_assert_double_eq(csv_cell("two/summary.csv", "relu", "test_loss_constant"), 0);
    ck_assert_double_gt(csv_cell("two/summary.csv", "relu", "test_loss_over_constant_high"), 0);
}
END_TEST

/* ---- verdicts ---- */

enum { GROUPS = 2, SEEDS = 6, ROWS = 50 };

/* Rows of which a constant prediction is right on 4 of 5, and groups that are right on others, too, with a share. */
static comparison made(runlog_run runs[], double (*values)[ROWS], double (*constant)[ROWS], uint32_t (*rows)[ROWS],
                       const double more[GROUPS])
{
    static const char *const names[GROUPS] = {"relu", "gelu"};
    comparison c = {.group = "activation",
                    .measures = {{.name = "test_accuracy",
                                  .title = "acc %",
                                  .words = "test accuracy",
                                  .share = true,
                                  .more_is_better = true,
                                  .judged = true}},
                    .measure_count = 1,
                    .runs = runs,
                    .run_count = GROUPS * SEEDS,
                    .about.redrawn = true,
                    .has_constant = true};
    for (int i = 0; i < c.run_count; i++) {
        const int g = i / SEEDS, seed = i % SEEDS;
        runs[i] = (runlog_run){.group = names[g],
                               .seed = (uint64_t)seed,
                               .finished = true,
                               .row_count = ROWS,
                               .rows = rows[i],
                               .net.rows = {values[i]},
                               .constant.rows = {constant[i]}};
        for (int k = 0; k < ROWS; k++) {
            const int row = (seed * 31 + k) % 200;
            rows[i][k] = (uint32_t)row;
            constant[i][k] = row % 5 > 0;
            values[i][k] = more[g] < -1  ? row % 5 > 0 || row == 0
                           : more[g] < 0 ? (row + g) % 5 > 0
                                         : row % 5 > 0 || row % 10 < 10 * more[g];
            runs[i].net.values[0] += values[i][k] / ROWS;
            runs[i].constant.values[0] += constant[i][k] / ROWS;
        }
    }
    return c;
}

static const struct {
    double more[GROUPS]; /* 0: the constant prediction itself; -1: as good, but right on other rows; -2: and on row 0 */
    const char *said, *unsaid;
} verdicts[] = {
    {{0, 0},
     "Test accuracy: no net beats the constant prediction, 80.00 % (relu and gelu come nearest: 0.0 points)",
     NULL},
    {{0, -1}, "no net beats the constant prediction, 80.00 %", "net significantly"},
    {{-2, 0},
     "no net significantly beats the constant prediction, 80.00 % (relu, the best: +0.7 points, ",
     "comes nearest"},
    {{1, 0}, "Test accuracy: gelu does not significantly beat the constant prediction, 80.00 %", "no net"},
    {{1, 1}, "| constant |", "beat"}};

START_TEST(the_verdict_knows_the_constant_prediction)
{
    static runlog_run runs[GROUPS * SEEDS];
    static double values[GROUPS * SEEDS][ROWS], constant[GROUPS * SEEDS][ROWS];
    static uint32_t rows[GROUPS * SEEDS][ROWS];
    static char text[8192];
    const comparison c = made(runs, values, constant, rows, verdicts[_i].more);
    FILE *out = tmpfile();
    comparison_print_results(&c, "markdown", out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    ck_assert_msg(strstr(text, verdicts[_i].said) != NULL, "no '%s' in\n%s", verdicts[_i].said, text);
    ck_assert_msg(!verdicts[_i].unsaid || !strstr(text, verdicts[_i].unsaid), "%s", text);
}
END_TEST

/* A run is no better than the constant prediction by its own rows: neither by R2 nor by the variance of training. */
START_TEST(the_hint_compares_on_the_same_rows)
{
    static const double loss[4] = {0.48, 1.3, 2.6, 0.9}, constant[4] = {1.0, 1.2, 9.8, 0.8};
    runlog_run runs[4];
    comparison c = {.group = "activation",
                    .measures = {{.name = "test_loss", .title = "loss", .words = "test loss", .judged = true}},
                    .measure_count = 1,
                    .runs = runs,
                    .run_count = 4,
                    .has_constant = true,
                    .about.remedy = "--norm rms"};
    static char text[8192];
    for (int i = 0; i < 4; i++)
        runs[i] = (runlog_run){.group = "relu",
                               .seed = (uint64_t)i,
                               .finished = true,
                               .net.values = {loss[i]},
                               .constant.values = {constant[i]}};
    FILE *out = tmpfile();
    comparison_print_results(&c, "markdown", out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    ck_assert_msg(strstr(text, "relu was no better than the constant prediction in test loss in 2 of 4 runs.") != NULL,
                  "%s", text);
}
END_TEST

/* One run of four has a larger loss than the constant prediction: a failure if the others have surely learned, chance
 * if their rows have more and less loss in turns. */
START_TEST(a_remedy_is_for_what_others_have_learned)
{
    enum { RUNS = 4, MANY = 40 };
    static double loss[RUNS][MANY], constant[MANY];
    static uint32_t row[MANY];
    runlog_run runs[RUNS];
    comparison c = {.group = "activation",
                    .measures = {{.name = "test_loss", .title = "loss", .words = "test loss", .judged = true}},
                    .measure_count = 1,
                    .runs = runs,
                    .run_count = RUNS,
                    .has_constant = true,
                    .about.remedy = "--lr auto"};
    for (int learned = 0; learned < 2; learned++) {
        static char text[8192];
        for (int i = 0; i < RUNS; i++) {
            runs[i] =
                (runlog_run){.group = "relu", .seed = (uint64_t)i, .finished = true, .row_count = MANY, .rows = row};
            for (int k = 0; k < MANY; k++) {
                row[k] = (uint32_t)k;
                constant[k] = 1;
                loss[i][k] = i == 0 ? 1.1 : 1 - (learned ? 0.5 : k % 2 ? 0.5 : -0.45);
                runs[i].net.values[0] += loss[i][k] / MANY;
                runs[i].constant.values[0] += 1. / MANY;
            }
            runs[i].net.rows[0] = loss[i];
            runs[i].constant.rows[0] = constant;
        }
        FILE *out = tmpfile();
        comparison_print_results(&c, "markdown", out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        ck_assert_msg(strstr(text, "no better than the constant prediction in test loss in 1 of 4 runs") != NULL, "%s",
                      text);
        ck_assert_msg((strstr(text, "what helps: --lr auto") != NULL) == learned, "%s", text);
    }
}
END_TEST

/* What the terminal advises is no text for a paper. */
START_TEST(methods_have_no_advice_on_the_task)
{
    expect_fine(train_run("compare", "--data train.csv --lr 0.01 --hidden 4 --epochs 1 --seeds 2 --activations relu "
                                     "--no-plots --paper --out told"));
    ck_assert_msg(strstr(train_output, "inferred, override with --task"), "%s", train_output);
    ck_assert_msg(!strstr(temporary_text("told/paper/methods.txt"), "--task"), "%s",
                  temporary_text("told/paper/methods.txt"));
}
END_TEST

START_TEST(the_loss_of_an_autoencoder_is_of_pixels)
{
    expect_fine(train_run("compare", "--data glyphs --rows 140 --model autoencoder --hidden 4 --code 2 --epochs 1 "
                                     "--seeds 2 --activations relu --no-plots --out o"));
    ck_assert_msg(strstr(train_output, "mean squared error of pixels from 0 to 1") &&
                      !strstr(train_output, "standardised"),
                  "%s", train_output);
}
END_TEST

Suite *constant_suite(void)
{
    Suite *suite = suite_create("constant");
    TCase *programs = tcase_create("programs"), *said = tcase_create("verdicts");
    suite_add_tcase(suite, programs);
    suite_add_tcase(suite, said);
    tcase_add_unchecked_fixture(programs, train_folder_make, temporary_folder_remove);
    tcase_add_test(programs, methods_have_no_advice_on_the_task);
    tcase_add_test(programs, the_loss_of_an_autoencoder_is_of_pixels);
    tcase_add_test(programs, classes_have_their_shares);
    tcase_add_test(programs, weights_of_classes_are_for_the_loss);
    tcase_add_test(programs, targets_have_their_mean);
    tcase_add_test(programs, pairs_have_the_frequencies_of_their_targets);
    tcase_add_test(programs, one_class_for_all_rows_is_said);
    tcase_add_test(programs, samples_of_little_weight_are_samples);
    tcase_add_test(programs, a_class_without_weight_adds_nothing);
    tcase_add_loop_test(said, the_verdict_knows_the_constant_prediction, 0, sizeof verdicts / sizeof *verdicts);
    tcase_add_test(said, the_hint_compares_on_the_same_rows);
    tcase_add_test(said, a_remedy_is_for_what_others_have_learned);
    return suite;
}
