/* Options of the program `compare`: each changes the runs, and their record runs again. */
#include "tests/support/run_programs.h"
#include "tests/support/seeds.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *compare_options_suite(void);

START_TEST(a_configuration_runs_again)
{
    char errors[4000], arguments[600], folder[300], *rows[2];
    snprintf(arguments, sizeof arguments, SMALL_RUNS "--lr 1e-3,1e-2 --test none --out '%s/first'", temporary_folder());
    ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
    snprintf(arguments, sizeof arguments, "--config '%s/first/config.json' --out '%s/again'", temporary_folder(),
             temporary_folder());
    ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
    for (int i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%s/%s", temporary_folder(), i ? "again" : "first");
        rows[i] = rows_without_seconds(folder);
    }
    ck_assert_uint_gt(strlen(rows[0]), 1000);
    ck_assert_str_eq(rows[0], rows[1]);
    free(rows[0]);
    free(rows[1]);
    static const struct {
        const char *text, *says;
    } wrong[] = {{"{\"lr\": \"fast\"}", "\"lr\" has a value that the option does not take"},
                 {"{\"epochs\": 2.5}", "\"epochs\" has a value"},
                 {"{\"colour\": 1}", "\"colour\" is not an option"},
                 {"{\"fold\": 0, \"activation\": \"relu\"}", "config.json: these are options of train: train --config"},
                 {"[]", "expected an object"},
                 {"{\"lr\"", "config.json:1: "}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        temporary_write("config.json", wrong[i].text, strlen(wrong[i].text));
        snprintf(arguments, sizeof arguments, "--config '%s'", temporary_path("config.json"));
        ck_assert_int_eq(compare_run(arguments, errors, sizeof errors), 2);
        ck_assert_msg(strstr(errors, wrong[i].says) != NULL, "%s", errors);
    }
}
END_TEST

/* The default and the explicit option give the same run, and the configuration records the options' values. */
START_TEST(the_constant_schedule_warms_up_as_the_others_do)
{
    char errors[4000], arguments[700], folder[300], *rows[4];
    static const char *const options[] = {"--schedule constant --warmup 0", "--schedule constant",
                                          "--schedule constant --warmup 0.05"};
    for (int i = 0; i < 4; i++) {
        if (i < 3)
            snprintf(arguments, sizeof arguments, SMALL_RUNS "--activations relu --epochs 10 %s --out '%s/%d'",
                     options[i], temporary_folder(), i);
        else
            snprintf(arguments, sizeof arguments, "--config '%s/0/config.json' --out '%s/3'", temporary_folder(),
                     temporary_folder());
        ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
        snprintf(folder, sizeof folder, "%s/%d", temporary_folder(), i);
        rows[i] = rows_without_seconds(folder);
    }
    ck_assert_str_ne(rows[0], rows[1]);
    ck_assert_str_eq(rows[1], rows[2]);
    ck_assert_str_eq(rows[0], rows[3]);
    for (int i = 0; i < 4; i++)
        free(rows[i]);
}
END_TEST

/* Every setting of training changes the curves of a classification and of a regression, or is refused. */
START_TEST(every_option_of_a_run_changes_it)
{
    static const char *const options[] = {
        "--validation 0.4",   "--test 0.4",
        "--test none",        "--split fixed",
        "--folds 3",          "--rows 70",
        "--noise 0.5",        "--noise -1",
        "--hidden 5x2",       "--gated width",
        "--init he_normal",   "--init-scale 0.5",
        "--norm rms",         "--residual",
        "--dropout 0.3",      "--seed 7",
        "--epochs 1",         "--batch 16",
        "--lr 0.01",          "--optimizer lion",
        "--weight-decay 0.5", "--optimizer sgd --momentum 0.9",
        "--schedule step",    "--warmup 0.5",
        "--clip 0.01",        "--label-smoothing 0.2",
    };
    char errors[4000], arguments[600], folder[300], *plain = NULL;
    for (size_t i = 0; i <= sizeof options / sizeof options[0]; i++) {
        const char *option = i > 0 ? options[i - 1] : "";
        if (!_i && i > 0 && i % 3 != 2) /* all for a regression, a third for classes: the last, of labels, among them */
            continue;
        snprintf(arguments, sizeof arguments,
                 "--data %s --rows 60 --hidden 4x2 --activations swiglu --seeds 1 --epochs 2 --batch 8 --no-plots %s "
                 "--out '%s/%zu'",
                 _i ? "sine" : "moons", option, temporary_folder(), i);
        const int status = compare_run(arguments, errors, sizeof errors);
        if (_i && strstr(option, "label-smoothing")) {
            ck_assert_int_eq(status, 2);
            continue;
        }
        ck_assert_msg(status == 0, "%s", errors);
        snprintf(folder, sizeof folder, "%s/%zu", temporary_folder(), i);
        char *rows = rows_without_seconds(folder);
        ck_assert_msg(!plain || strcmp(rows, plain) != 0, "%s changes nothing", option);
        if (!plain)
            plain = strdup(rows);
        free(rows);
    }
    free(plain);
}
END_TEST

START_TEST(regression_and_every_kind_of_option_run)
{
    char errors[4000], arguments[600];
    static const char *const more[] = {
        "--data sine --optimizer sgd --momentum 0.9 --lr 0.01 --schedule step",
        "--data circles --optimizer adam --clip 1 --label-smoothing 0.1 --schedule constant",
        "--data spirals --init unit_rows --gated width --weight-decay 0",
        "--data moons --init orthogonal --validation 0.5 --noise -1",
        "--data moons --lr 1e-3,1e-2 --dropout 0,0.1 --test none --patience 1",
        "--data moons --norm batch --activations relu,swiglu --optimizer lion",
        "--data moons --hidden 8x2 --residual --batch 16,32 --warmup 0,0.1 --epochs 1,2",
        "--data moons --hidden 9x4 --residual --activations relu,swiglu",
    };
    for (size_t i = (size_t)today(2); i < sizeof more / sizeof more[0]; i += (size_t)every(2)) {
        snprintf(
            arguments, sizeof arguments,
            "--hidden 6,5 --activations elu,geglu %s --rows 60 --seeds 1 --epochs 2 --no-plots --out '%s/options%zu'",
            more[i], temporary_folder(), i);
        ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s: %s", more[i], errors);
    }
}
END_TEST

/* Without test rows it is the validation rows' values that intervals are made of; measures of another split have the
 * seeds alone. */
START_TEST(notes_say_of_which_samples_intervals_are)
{
#define MOONS "--data moons --rows 60 --hidden 3 --epochs 1 --seeds 2 --lr 0.01 --activations relu,tanh --no-plots "
    expect_fine(train_run("compare", MOONS "--test none --out a"));
    ck_assert_msg(strstr(train_output, "over 2 seeds and their validation samples.") &&
                      !strstr(train_output, "their test samples") && !strstr(train_output, "do not allow"),
                  "%.3000s", train_output);
    expect_fine(train_run("compare", MOONS "--measures test_loss,best_val_loss --out b"));
    ck_assert_msg(strstr(train_output, "over 2 seeds and their test samples.") &&
                      strstr(train_output,
                             "Intervals of val loss are by Student's t over the seeds and do not allow for "
                             "samples that they share.\n") &&
                      !strstr(train_output, "Intervals of test loss"),
                  "%.3000s", train_output);
    expect_fine(train_run("compare", MOONS "--folds 2 --split fixed --out d"));
    ck_assert_msg(strstr(train_output, "over 2 folds of all seeds.") &&
                      strstr(train_output, "intervals do not allow for training samples that folds share.") &&
                      !strstr(train_output, "intervals allow"),
                  "%.3000s", train_output);
    expect_fine(train_run("compare", MOONS "--seeds 1 --out e"));
    ck_assert_msg(strstr(train_output, "One seed, and so one split: nothing says what another would change.") &&
                      !strstr(train_output, "intervals allow") && !strstr(train_output, "redrawn"),
                  "%.3000s", train_output);
    expect_fine(train_run("compare", MOONS "--folds 2 --seeds 1 --out c"));
    ck_assert_msg(strstr(train_output, "over 2 folds and their test samples; folds share most training samples.") !=
                      NULL,
                  "%.3000s", train_output);
}
END_TEST

Suite *compare_options_suite(void)
{
    Suite *suite = suite_create("compare_options");
    TCase *tests = tcase_create("compare_options");
    tcase_set_timeout(tests, 240);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, a_configuration_runs_again);
    tcase_add_test(tests, the_constant_schedule_warms_up_as_the_others_do);
    tcase_add_loop_test(tests, every_option_of_a_run_changes_it, 0, 2);
    tcase_add_test(tests, regression_and_every_kind_of_option_run);
    tcase_add_test(tests, notes_say_of_which_samples_intervals_are);
    suite_add_tcase(suite, tests);
    return suite;
}
