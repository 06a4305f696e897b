/* compare with several --data: a comparison of each, and the ranks over all of them. */
#include "examples/programs/report/ranks.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *data_sets_suite(void);

static char plots_folder[4000];

/* Without --measures each has accuracy first; the second has options of its own. */
START_TEST(ranks_are_those_of_the_comparisons)
{
    static const char *const forms[] = {"relu", "tanh"}, *const sets[] = {"moons", "circles", "circles-2"};
    double scores[9], mean[3];
    expect_fine(train_run("compare", "--data moons --data='circles --rows 80' --data circles --rows 120 --hidden 4 "
                                     "--epochs 4 --seeds 2 --activations relu,tanh --no-plots --out all"));
    for (int s = 0; s < 3; s++)
        for (int f = 0; f < 2; f++) {
            char file[60];
            snprintf(file, sizeof file, "all/%s/summary.csv", sets[s]);
            scores[s * 2 + f] = csv_cell(file, forms[f], "test_accuracy_mean");
            ck_assert_double_eq(csv_cell("all/ranks.csv", forms[f], sets[s]), scores[s * 2 + f]);
        }
    ranks_mean(&(ranks_scores){scores, 3, 2, false}, mean);
    for (int f = 0; f < 2; f++)
        ck_assert_double_eq_tol(csv_cell("all/ranks.csv", forms[f], "mean_rank"), mean[f], 1e-8);
    ck_assert_msg(strstr(train_output, "3 data sets are too few to tell two of 2 apart: that takes 6 at least."), "%s",
                  train_output);
    ck_assert(strstr(temporary_text("all/circles/config.json"), "\"rows\": 80"));
    ck_assert(csv_cell("all/ranks.csv", "relu", "joined_to") >= 1.5); /* up to the other one */
    const double shares = csv_cell("all/rank_pairs.csv", "tanh", "probability_better") +
                          csv_cell("all/rank_pairs.csv", "tanh", "probability_equal") +
                          csv_cell("all/rank_pairs.csv", "tanh", "probability_worse");
    ck_assert_double_eq_tol(shares, 1, 2e-4);
    if (system("gnuplot --version >/dev/null 2>&1") == 0) {
        expect_fine(train_run("gnuplot", "-c '%s/ranks.gp' all", plots_folder));
        const char *picture = temporary_text("all/ranks.svg");
        ck_assert(strstr(picture, "relu  ") && strstr(picture, "  tanh"));
    }
}
END_TEST

/* Of classes and numbers both have a loss. */
START_TEST(data_sets_of_two_kinds_count_by_their_losses)
{
    expect_fine(train_run("compare", "--dat moons --data sine --dat=circles --rows 60 --hidden 4 --epochs 1 --seeds 1 "
                                     "--activations relu,tanh --no-plots --ou all")); /* names may be abbreviated */
    ck_assert_msg(strstr(train_output, "A data set counts by its mean test loss"), "%s", train_output);
    ck_assert_double_eq(csv_cell("all/ranks.csv", "tanh", "moons"),
                        csv_cell("all/moons/summary.csv", "tanh", "test_loss_mean"));
    ck_assert_double_eq(csv_cell("all/ranks.csv", "tanh", "sine"),
                        csv_cell("all/sine/summary.csv", "tanh", "test_loss_mean"));
}
END_TEST

START_TEST(what_cannot_be_ranked_is_refused)
{
    /* the second one has not the measure, so that the third is not trained */
    ck_assert_int_eq(train_run("compare",
                               "--data moons --data sine --data circles --rows 60 --hidden 4 --epochs 1 "
                               "--seeds 1 --activations relu,tanh --no-plots --measures test_accuracy --out early"),
                     2);
    ck_assert_msg(strstr(train_output, "test_accuracy is for classes") && !strstr(train_output, "data set 3 of 3"),
                  "%s", train_output);
    /* a text has no test rows */
    static const char text[] =
        "--data 'text:text --layers 1 --width 8 --context 8 --model gpt' --data 'moons --rows 60' "
        "--epochs 1 --seeds 1 --activations relu,tanh --no-plots";
    ck_assert_int_eq(train_run("compare", "%s --measures test_loss --out t", text), 1);
    ck_assert_msg(strstr(train_output, "has no test_loss: name a measure that all data sets have, like --measures "
                                       "best_val_loss"),
                  "%s", train_output);
    expect_fine(train_run("compare", "%s --measures best_val_loss --out u", text));
    static const char table[] = "u,Sale Price\n1,2\n2,4\n3,5\n4,9\n5,11\n6,12\n7,13\n8,17\n9,18\n10,19\n";
    temporary_write("blank.csv", table, sizeof table - 1);
    expect_fine(train_run("compare",
                          "--data 'blank.csv --target \"Sale Price\" --hidden 3' --data 'sine --rows 60' --epochs 1 "
                          "--seeds 1 --activations relu,tanh --no-plots --out blank"));
    ck_assert(strstr(temporary_text("blank/blank/config.json"), "\"target\": \"Sale Price\"") &&
              strstr(temporary_text("blank/blank/config.json"), "\"hidden\": \"3\""));
    static const char list[] = "# two\nmoons --rows 60\n\ncircles --rows 70\n";
    temporary_write("list.txt", list, sizeof list - 1);
    expect_fine(train_run(
        "compare", "--data @list.txt --hidden 4 --epochs 1 --seeds 1 --activations relu,tanh --no-plots --out listed"));
    ck_assert(strstr(temporary_text("listed/circles/config.json"), "\"rows\": 70"));
    ck_assert(csv_cell("listed/ranks.csv", "tanh", "moons") ==
              csv_cell("listed/moons/summary.csv", "tanh", "test_accuracy_mean"));
    expect_refused(train_run("compare", "--data @none.txt"), "--data: there is no file none.txt");
    temporary_write("list.txt", "\n", 1);
    expect_refused(train_run("compare", "--data @list.txt"), "--data: the list is empty");
    expect_refused(train_run("compare", "--data moons --data nowhere.csv --out other"),
                   "there is no file 'nowhere.csv'");
    expect_refused(train_run("compare", "--data moons --data csv:none.csv --out other"),
                   "none.csv: No such file or directory");
    static const char *const shared[] = {"--data circles", "--activations relu", "--out x", "--meas test_loss",
                                         "--help"};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        expect_refused(train_run("compare", "--data 'moons %s' --data circles --out other", shared[i]),
                       "is not an option of one data set");
    expect_refused(train_run("compare", "--data \"moons --rows '60\" --data circles --out other"),
                   "a quote opens and never closes");
    expect_refused(train_run("compare", "--data 'moons --rows 60' --data moons --data 'moons  --rows 60' --out other"),
                   "--data: 'moons  --rows 60' is there twice");
    ck_assert(!temporary_exists("other"));
}
END_TEST

/* A signal to compare alone reaches the comparison that runs. */
START_TEST(an_interrupted_comparison_ends_with_the_signals_status)
{
    int status = 0;
    const pid_t child = train_start("compare", "--data moons --data circles --hidden 4 --epochs 100000 --seeds 1 "
                                               "--activations relu --no-plots --out all >said 2>&1");
    wait_for_row("all/moons/runs/relu-seed1/curves.csv");
    kill(child, SIGTERM);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM, "%d: %s", status, temporary_text("said"));
    ck_assert_ptr_null(strstr(temporary_text("said"), "data set 2 of 2"));
}
END_TEST

Suite *data_sets_suite(void)
{
    if (!getcwd(plots_folder, sizeof plots_folder - 7))
        plots_folder[0] = '\0';
    strcat(plots_folder, "/plots");
    Suite *suite = suite_create("data_sets");
    TCase *tests = tcase_create("data_sets");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_test(tests, ranks_are_those_of_the_comparisons);
    tcase_add_test(tests, an_interrupted_comparison_ends_with_the_signals_status);
    tcase_add_test(tests, data_sets_of_two_kinds_count_by_their_losses);
    tcase_add_test(tests, what_cannot_be_ranked_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
