/* Runs shared among processes: each run is done once, even if some processes die. */
#include "examples/programs/report/files.h"
#include "examples/programs/run/claim.h"
#include "examples/programs/run/jobs.h"
#include "examples/programs/run/record.h"
#include "examples/programs/run/sweep.h"
#include "tests/support/run_train.h"
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
static const double patience = 0.4;

static void wait_seconds(double seconds)
{
    usleep((useconds_t)(1e6 * seconds));
}

/* ---- one claim ---- */

static const char *work_folder(void)
{
    static char folder[200];
    snprintf(folder, sizeof folder, "%s", temporary_path("work"));
    mkdir(folder, 0777);
    return folder;
}

/* A process that takes the claim, writes a file to say so, and waits. */
static pid_t take_in_a_process(const char *folder)
{
    const pid_t child = fork();
    if (child == 0) {
        claim c = {0};
        if (claim_take(&c, folder, patience, &error) == CLAIM_OURS)
            temporary_write("taken", "", 0);
        pause();
        _exit(0);
    }
    for (int i = 0; i < 1000 && !temporary_exists("taken"); i++)
        wait_seconds(0.01);
    ck_assert(temporary_exists("taken"));
    return child;
}

START_TEST(a_claim_is_one_processs_until_that_ends)
{
    const char *folder = work_folder();
    claim c = {0};
    const pid_t child = take_in_a_process(folder);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(claim_take(&c, folder, 1000, &error), CLAIM_THEIRS);
    char holder[60];
    snprintf(holder, sizeof holder, ", process %ld", (long)child);
    ck_assert_msg(strstr(c.holder, holder) != NULL, "%s", c.holder);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert_int_eq(claim_take(&c, folder, 1000, &error), CLAIM_OURS); /* at once: its lock has been released */
    ck_assert(temporary_exists("work/claim.2"));
    claim_release(&c, folder, true);
    ck_assert(!temporary_exists("work/claim.1") && !temporary_exists("work/claim.2"));
}
END_TEST

START_TEST(a_claim_that_was_given_back_is_free)
{
    const char *folder = work_folder();
    claim first = {0}, second = {0};
    ck_assert_int_eq(claim_take(&first, folder, 1000, &error), CLAIM_OURS);
    claim_release(&first, folder, false);
    ck_assert_int_eq(claim_take(&second, folder, 1000, &error), CLAIM_OURS);
    claim_release(&second, folder, true);
}
END_TEST

/* Writes the file of another machine's claim. The claim may be taken over once the file's modification time stops
 * changing. */
START_TEST(another_machines_claim_is_free_when_it_shows_no_life)
{
    static const char theirs[] = "{\"host\":\"far.away\",\"boot\":\"1\",\"process\":1}";
    const char *folder = work_folder();
    claim c = {0};
    temporary_write("work/claim.7", theirs, sizeof theirs - 1);
    const double begin = jobs_clock();
    while (jobs_clock() - begin < 2 * patience) { /* signs of life */
        ck_assert_int_eq(claim_take(&c, folder, patience, &error), CLAIM_THEIRS);
        wait_seconds(patience / 20);
        temporary_write("work/claim.7", theirs, sizeof theirs - 1);
    }
    ck_assert_str_eq(c.holder, "host far.away, process 1");
    const double silent = jobs_clock();
    while (claim_take(&c, folder, patience, &error) == CLAIM_THEIRS)
        wait_seconds(patience / 20);
    ck_assert(c.held && c.number == 8 && jobs_clock() - silent > 0.9 * patience);
    claim_release(&c, folder, true);
}
END_TEST

START_TEST(a_process_that_slept_finds_that_it_has_lost)
{
    const char *folder = work_folder();
    claim c = {0};
    ck_assert_int_eq(claim_take(&c, folder, patience, &error), CLAIM_OURS);
    ck_assert(claim_keep(&c, folder, patience));
    temporary_write("work/claim.2", "{}", 2);
    wait_seconds(patience / 6);
    ck_assert(!claim_keep(&c, folder, patience) && !claim_keep(&c, folder, patience));
    claim_release(&c, folder, true); /* another process has taken it over: it stays */
    ck_assert(temporary_exists("work/claim.2"));
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_said)
{
    claim c = {0};
    ck_assert_int_eq(claim_take(&c, temporary_path("not-there"), 1, &error), CLAIM_FAILED);
    ck_assert_msg(strstr(error.text, "not-there/claim.1") && strstr(error.text, "No such file"), "%s", error.text);
}
END_TEST

/* ---- many processes ---- */

enum { WORKERS = 8, DOOMED = 2, PIECES = 40 }; /* the first DOOMED die in their first piece, the next one never */

static void put_letter(const char *folder, const char *name, char letter)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0 || write(file, &letter, 1) != 1)
        _exit(9);
    close(file);
}

/* Works through the pieces until all are done; dies in some of them, like a killed process. */
static void work(int worker)
{
    claim c[PIECES] = {0};
    char folder[PIECES][200], path[300];
    tg_rng rng = tg_rng_seed(100 + (uint64_t)worker);
    for (int left = PIECES; left > 0;) {
        left = PIECES;
        for (int i = 0; i < PIECES; i++) {
            const int piece = (i + 7 * worker) % PIECES;
            snprintf(folder[piece], sizeof folder[piece], "%s/piece%d", temporary_folder(), piece);
            snprintf(path, sizeof path, "%s/piece%d/done", temporary_folder(), piece);
            if (access(path, F_OK) == 0) {
                left--;
            } else if (claim_take(&c[piece], folder[piece], 1000, &error) == CLAIM_OURS) {
                if (access(path, F_OK) != 0) {
                    put_letter(folder[piece], "begun", 'x');
                    if (worker < DOOMED || (worker > DOOMED && tg_rng_uniform(&rng) < 0.05))
                        raise(SIGKILL);
                    wait_seconds(0.005 * tg_rng_uniform(&rng));
                    put_letter(folder[piece], "done", 'x');
                }
                claim_release(&c[piece], folder[piece], true);
            }
        }
    }
    _exit(0);
}

START_TEST(every_piece_is_done_once_though_processes_are_killed)
{
    char name[40];
    pid_t worker[WORKERS];
    int killed = 0, begun = 0;
    for (int piece = 0; piece < PIECES; piece++) {
        snprintf(name, sizeof name, "piece%d", piece);
        ck_assert_int_eq(mkdir(temporary_path(name), 0777), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        if ((worker[i] = fork()) == 0)
            work(i);
        if (i < DOOMED) /* so that each process finds work left */
            waitid(P_PID, (id_t)worker[i], &(siginfo_t){0}, WEXITED | WNOWAIT);
    }
    for (int i = 0; i < WORKERS; i++) {
        int status;
        waitpid(worker[i], &status, 0);
        killed += WIFSIGNALED(status);
        ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    }
    for (int piece = 0; piece < PIECES; piece++) {
        snprintf(name, sizeof name, "piece%d/done", piece);
        ck_assert_str_eq(temporary_text(name), "x");
        snprintf(name, sizeof name, "piece%d/begun", piece);
        begun += (int)strlen(temporary_text(name));
        snprintf(name, sizeof name, "piece%d/claim.1", piece);
        ck_assert(!temporary_exists(name));
    }
    ck_assert_msg(killed >= DOOMED && begun == PIECES + killed, "%d killed, %d begun", killed, begun);
}
END_TEST

/* ---- choice of the piece ---- */

START_TEST(parts_cover_all_runs_once)
{
    static const char *const parts[] = {"1/3", "2/3", "3/3"};
    int of[10] = {0};
    for (int i = 0; i < 3; i++) {
        sweep s = {.part = parts[i]};
        ck_assert_msg(sweep_prepare(&s, &error) && !s.waits && sweep_shows(&s), "%s", error.text);
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

static void set_array(const char *id, const char *count, const char *first, const char *step)
{
    setenv("SLURM_ARRAY_TASK_ID", id, 1);
    setenv("SLURM_ARRAY_TASK_COUNT", count, 1);
    setenv("SLURM_ARRAY_TASK_MIN", first, 1);
    setenv("SLURM_ARRAY_TASK_STEP", step, 1);
}

START_TEST(slurms_array_says_the_part)
{
    sweep s = {0}, by_option = {.part = "1/2"};
    set_array("5", "4", "1", "2"); /* --array=1-7:2 */
    ck_assert(sweep_prepare(&s, &error) && s.index == 2 && s.count == 4 && strstr(s.said, "part 3 of 4"));
    ck_assert(sweep_prepare(&by_option, &error) && by_option.count == 2 && !by_option.said[0]);
    set_array("6", "4", "1", "2");
    ck_assert_msg(!sweep_prepare(&s, &error) && strstr(error.text, "SLURM_ARRAY_TASK_ID is 6"), "%s", error.text);
    set_array("", "", "", "");
    ck_assert(sweep_prepare(&s, &error) && s.count == 1 && s.waits);
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
    return train_start("compare", RUNS "--jobs 2 --takeover 2 --out shared %s >table%d 2>said%d", more, number, number);
}

/* How often a text occurs in a file. */
static int count_in(const char *name, const char *text)
{
    int count = 0;
    for (const char *at = temporary_text(name); (at = strstr(at, text)); at++)
        count++;
    return count;
}

/* Where several processes begin one comparison, one may claim the folder while another only checks it. */
START_TEST(a_folder_that_another_process_checks_is_claimed)
{
    enum { CLAIMS = 3000 };
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

START_TEST(processes_share_a_comparison_and_one_is_killed)
{
    enum { PROCESSES = 4 };
    pid_t child[PROCESSES];
    char name[20];
    int status, trained = 0;
    expect_fine(train_run("compare", RUNS "--jobs 2 --out alone"));
    for (int i = 0; i < PROCESSES; i++)
        child[i] = compare_in_a_process(i, "");
    wait_seconds(0.5);
    kill(child[0], SIGKILL);
    for (int i = 0; i < PROCESSES; i++) {
        waitpid(child[i], &status, 0);
        snprintf(name, sizeof name, "said%d", i);
        ck_assert_msg(i == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0), "process %d: %d: %s", i, status,
                      temporary_text(name));
        trained += count_in(name, ": done, ");
    }
    ck_assert_msg(trained <= 12 && trained >= 10, "%d runs were trained", trained); /* killed before it reported two */
    char *alone = without_seconds("alone/curves.csv"), *shared = without_seconds("shared/curves.csv");
    ck_assert_str_eq(alone, shared);
    free(alone);
    free(shared);
    ck_assert_int_eq(train_run("sh", "-c 'sed s/shared/alone/ table1 > 1; compare " RUNS
                                     "--out alone 2>said | cmp - 1 && ! ls shared/runs/*/claim*'"),
                     0);
}
END_TEST

START_TEST(parts_make_a_whole)
{
    expect_fine(train_run("compare", RUNS "--part 2/2 --out o"));
    ck_assert_msg(strstr(train_output, "6 of 12 runs complete"), "%s", train_output);
    expect_fine(train_run("compare", RUNS "--part 1/2 --out o"));
    ck_assert_ptr_null(strstr(train_output, "runs complete"));
    expect_fine(train_run("compare", RUNS "--out o"));
    ck_assert_msg(strstr(train_output, "12 of 12 runs are complete\n"), "%s", train_output);
    expect_refused(train_run("compare", RUNS "--part 3/2 --out o"), "--part: '3/2'");
    expect_refused(train_run("study", "migration --quick --part 1/2 --out s"), "--part: runs of migration build");
}
END_TEST

START_TEST(under_a_launcher_one_process_speaks)
{
    expect_fine(train_run("sh", "-c 'OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 compare " RUNS "--out o'"));
    ck_assert_str_eq(train_output, "");
    ck_assert(!temporary_exists("o/summary.csv"));
    expect_fine(train_run("sh", "-c 'OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 compare " RUNS "--out o'"));
    ck_assert_msg(strstr(train_output, "12 of 12 runs are complete\n"), "%s", train_output);
    expect_fine(train_run("sh", "-c 'PMI_RANK=1 PMI_SIZE=2 study gelu-mnist --quick --no-plots --out s'"));
    ck_assert_str_eq(train_output, "");
    ck_assert(!temporary_exists("s/gelu-mnist-quick/report.md"));
}
END_TEST

START_TEST(an_overwriting_comparison_is_refused_while_others_work)
{
    const pid_t child = compare_in_a_process(0, "--epochs 2000");
    for (int i = 0; i < 1000 && !temporary_exists("shared/runs"); i++)
        wait_seconds(0.01);
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
    tcase_add_test(tests, a_claim_is_one_processs_until_that_ends);
    tcase_add_test(tests, a_claim_that_was_given_back_is_free);
    tcase_add_test(tests, another_machines_claim_is_free_when_it_shows_no_life);
    tcase_add_test(tests, a_process_that_slept_finds_that_it_has_lost);
    tcase_add_test(tests, a_folder_that_cannot_be_written_is_said);
    tcase_add_test(tests, every_piece_is_done_once_though_processes_are_killed);
    tcase_add_test(tests, parts_cover_all_runs_once);
    tcase_add_test(tests, wrong_parts_are_refused);
    tcase_add_test(tests, slurms_array_says_the_part);
    tcase_add_test(tests, a_folder_that_another_process_checks_is_claimed);
    tcase_add_test(tests, processes_share_a_comparison_and_one_is_killed);
    tcase_add_test(tests, parts_make_a_whole);
    tcase_add_test(tests, under_a_launcher_one_process_speaks);
    tcase_add_test(tests, an_overwriting_comparison_is_refused_while_others_work);
    suite_add_tcase(suite, tests);
    return suite;
}
