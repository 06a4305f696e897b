/* Runs divided among processes: each run is trained once, and one process at a time trains it. */
#include "examples/programs/report/files.h"
#include "examples/programs/run/record.h"
#include "examples/programs/run/sweep.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tapegrad.h>
#include <unistd.h>

Suite *sweep_suite(void);

static tg_error error;
/* ---- choice of the runs ---- */

START_TEST(parts_cover_all_runs_once)
{
    static const char *const parts[] = {"1/3", "2/3", "3/3"};
    int of[10] = {0};
    for (int i = 0; i < 3; i++) {
        sweep s = {.part = parts[i]};
        ck_assert_msg(sweep_prepare(&s, &error) && !sweep_is_whole(&s), "%s", error.text);
        for (int run = 0; run < 10; run++)
            of[run] += sweep_has(&s, run);
    }
    for (int run = 0; run < 10; run++)
        ck_assert_int_eq(of[run], 1);
}
END_TEST

START_TEST(wrong_parts_are_refused)
{
    static const char *const wrong[] = {"", "1", "0/2", "3/2", "1/0", "1/2x", "a/b", "-1/2", "1/-2", "1 of 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sweep s = {.part = wrong[i]};
        ck_assert_msg(!sweep_prepare(&s, &error) && strstr(error.text, "--part: '") && strstr(error.text, "as 2/4"),
                      "%s", wrong[i]);
    }
}
END_TEST

/* ---- the programs ---- */

#define RUNS "--data idx:images --hidden 32x2 --epochs 6 --batch 8 --no-plots --activations relu,tanh,silu --seeds 4 "

/* The lines of a file without the last column, the seconds. */
static char *without_seconds(const char *path)
{
    char *text = strdup(temporary_text(path)), *to = text;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        char *comma = strrchr(line, ',');
        const size_t length = comma ? (size_t)(comma - line) : strlen(line);
        memmove(to, line, length);
        to[length] = '\n';
        to += length + 1;
    }
    *to = '\0';
    return text;
}

static pid_t compare_in_a_process(int number, const char *more)
{
    return train_start("compare", RUNS "--jobs 2 --out shared %s >table%d 2>said%d", more, number, number);
}

/* Where several processes begin one comparison, one may claim the folder while another only checks it. */
START_TEST(a_folder_that_another_process_checks_is_claimed)
{
    enum { CLAIMS = 1500 };
    json_t *config = json_pack("{s:i}", "seeds", 3);
    char folder[200];
    snprintf(folder, sizeof folder, "%s", temporary_path("checked"));
    const pid_t other = fork();
    while (other == 0)
        files_check_folder(folder, &error);
    bool fine = true;
    for (int i = 0; i < CLAIMS && fine; i++) {
        fine = record_claim(folder, config, RECORD_SAME, NULL, &error);
        unlink(temporary_path("checked/config.json"));
        rmdir(folder);
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    json_decref(config);
    ck_assert_msg(fine, "%s", error.text);
}
END_TEST

/* The folder may appear between two looks at it, and then it is no file. */
START_TEST(a_folder_that_another_process_makes_is_none_that_a_file_has)
{
    enum { CHECKS = 4000 };
    char folder[200];
    snprintf(folder, sizeof folder, "%s", temporary_path("checked"));
    const pid_t other = fork();
    while (other == 0) {
        mkdir(folder, 0777);
        rmdir(folder);
    }
    bool is_file = false;
    for (int i = 0; i < CHECKS && !is_file; i++) /* where it has just vanished, it cannot be written into */
        is_file = !files_check_folder(folder, &error) && strstr(error.text, "a file has this name");
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    ck_assert_msg(!is_file, "%s", error.text);
}
END_TEST

/* Four processes at once, of which one is killed; the plain command trains what that has left. */
START_TEST(parts_at_once_make_the_table_of_one_process)
{
    enum { PARTS = 4 };
    pid_t child[PARTS];
    char part[20];
    int status;
    expect_fine(train_run("compare", RUNS "--jobs 2 --out alone"));
    for (int i = 0; i < PARTS; i++) {
        snprintf(part, sizeof part, "--part %d/%d", i + 1, PARTS);
        child[i] = compare_in_a_process(i, part);
    }
    kill(child[0], SIGKILL);
    for (int i = 0; i < PARTS; i++) {
        waitpid(child[i], &status, 0);
        snprintf(part, sizeof part, "said%d", i);
        ck_assert_msg(i == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0), "part %d: %d: %s", i, status,
                      temporary_text(part));
    }
    ck_assert_msg(strstr(temporary_text("said3"), "without --part"), "%s", temporary_text("said3"));
    ck_assert(!temporary_exists("shared/summary.csv") && temporary_text("table3")[0] == '\0');
    expect_fine(train_run("compare", RUNS "--out shared"));
    char *alone = without_seconds("alone/curves.csv"), *shared = without_seconds("shared/curves.csv");
    ck_assert_str_eq(alone, shared);
    free(alone);
    free(shared);
    ck_assert_str_eq(temporary_text("alone/summary.csv"), temporary_text("shared/summary.csv"));
}
END_TEST

START_TEST(parts_make_a_whole)
{
    expect_fine(train_run("compare", RUNS "--part 2/2 --out o"));
    ck_assert_msg(strstr(train_output, "6 of all 12 runs complete"), "%s", train_output);
    expect_fine(train_run("compare", RUNS "--part 1/2 --out o"));
    ck_assert_msg(strstr(train_output, "12 of all 12 runs complete"), "%s", train_output);
    /* the part is of the process, not of the comparison that the folder describes */
    expect_fine(train_run("compare", "--config o/config.json --out o"));
    ck_assert_msg(strstr(train_output, "12 of 12 runs are complete\n"), "%s", train_output);
    ck_assert(temporary_exists("o/summary.csv"));
    expect_fine(train_run("compare", RUNS "--out o"));
    ck_assert_msg(strstr(train_output, "12 of 12 runs are complete\n"), "%s", train_output);
    expect_refused(train_run("compare", RUNS "--part 3/2 --out o"), "--part: '3/2'");
    expect_refused(train_run("compare", RUNS "--part 1/2 --overwrite --out o"),
                   "--overwrite: a part would remove the runs of the others");
    ck_assert(temporary_exists("o/runs/relu-seed1/result.json"));
}
END_TEST

/* The same part twice: the second process trains nothing and says what to do. */
START_TEST(a_second_process_for_the_same_runs_is_refused)
{
    const pid_t child = compare_in_a_process(0, "--jobs 1 --epochs 20000 --part 2/2");
    wait_for_row("shared/runs/tanh-seed1/curves.csv");
    ck_assert_int_eq(train_run("compare", RUNS "--jobs 2 --epochs 20000 --out shared --part 2/2"), 2);
    ck_assert_msg(strstr(train_output, "another process is training the run tanh-seed1; wait") &&
                      strstr(train_output, "--part 1/2"),
                  "%s", train_output);
    ck_assert(!temporary_exists("shared/runs/relu-seed2"));
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
}
END_TEST

START_TEST(an_overwriting_comparison_is_refused_while_others_work)
{
    const pid_t child = compare_in_a_process(0, "--epochs 2000");
    for (int i = 0; i < 1000 && !temporary_exists("shared/runs"); i++)
        usleep(10000);
    expect_refused(train_run("compare", RUNS "--overwrite --out shared"), "another process is working");
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    expect_fine(train_run("compare", RUNS "--overwrite --out shared"));
}
END_TEST

Suite *sweep_suite(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tests = tcase_create("sweep");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_test(tests, parts_cover_all_runs_once);
    tcase_add_test(tests, wrong_parts_are_refused);
    tcase_add_test(tests, a_folder_that_another_process_checks_is_claimed);
    tcase_add_test(tests, a_folder_that_another_process_makes_is_none_that_a_file_has);
    tcase_add_test(tests, parts_at_once_make_the_table_of_one_process);
    tcase_add_test(tests, parts_make_a_whole);
    tcase_add_test(tests, a_second_process_for_the_same_runs_is_refused);
    tcase_add_test(tests, an_overwriting_comparison_is_refused_while_others_work);
    suite_add_tcase(suite, tests);
    return suite;
}
