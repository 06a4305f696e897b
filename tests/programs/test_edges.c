/* Edges of the file system and of limits: what cannot be read, is gone, is a pipe, or is too large is told in a line.
 */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *edges_suite(void);

#define SMALL "--data moons --rows 60 --hidden 4 --epochs 2 --no-plots "

/* A folder in the place of a file can be opened and not be read; a pipe would be read for ever. */
START_TEST(a_record_that_cannot_be_read_is_not_an_empty_one)
{
    static const char *const replaced[] = {"curves.csv", "steps.csv", "result.json", "config.json"};
    static const char *const by[] = {"mkdir", "mkfifo"};
    const char *name = replaced[_i % 4], *how = by[_i / 4];
    expect_fine(train_run("compare", SMALL "--activations relu --seeds 1 --out o"));
    const char *folder = strcmp(name, "config.json") == 0 ? "o" : "o/runs/relu-seed1";
    ck_assert_int_eq(train_run("sh", "-c 'cp -r o before && rm %s/%s && %s %s/%s'", folder, name, how, folder, name),
                     0);
    const int status = train_run("timeout", "60 compare " SMALL "--activations relu --seeds 1 --out o");
    const bool replaced_again = status == 0 && strcmp(name, "result.json") == 0; /* it can be made from the others */
    ck_assert_msg(replaced_again || ((status == 1 || status == 2) && strstr(train_output, name)), "%s %s: %d: %s", how,
                  name, status, train_output);
    ck_assert(replaced_again || train_run("cmp", "o/curves.csv before/curves.csv") == 0);
}
END_TEST

START_TEST(a_record_of_train_that_cannot_be_read_is_told)
{
    static const char *const replaced[] = {"curves.csv", "steps.csv"};
    expect_fine(train_run("train", SMALL "--out o"));
    ck_assert_int_eq(train_run("sh", "-c 'rm o/%s && mkdir o/%s'", replaced[_i], replaced[_i]), 0);
    ck_assert_int_ne(train_run("train", SMALL "--out o"), 0);
    ck_assert_msg(strstr(train_output, replaced[_i]) &&
                      strstr(train_output, _i ? "Is a directory" : "a folder has this"),
                  "%s", train_output);
}
END_TEST

/* Models and configurations that are pipes, into which no program writes. */
START_TEST(a_pipe_in_a_folder_is_refused_at_once)
{
    static const char *const commands[] = {"predict --model o --data csv:train.csv", "train --resume --out o",
                                           "compare --config o/config.json",
                                           "train --start o/best.safetensors --out p"};
    expect_fine(train_run("train", SMALL "--out o"));
    ck_assert_int_eq(
        train_run("sh", "-c 'rm o/best.safetensors o/config.json; mkfifo o/best.safetensors o/config.json'"), 0);
    expect_refused(train_run("timeout", "60 %s", commands[_i]), "regular file");
}
END_TEST

START_TEST(what_is_gone_at_the_end_is_a_failure)
{
    static const char *const programs[] = {
        "train --data moons --rows 100 --hidden 4 --epochs 2000",
        "compare --data moons --rows 100 --hidden 4 --epochs 2000 --activations relu --seeds 1"};
    const pid_t child =
        train_start(_i ? "compare" : "train", "%s --no-plots --out o >said 2>&1", strchr(programs[_i], ' '));
    wait_for_row(_i ? "o/runs/relu-seed1/curves.csv" : "o/curves.csv");
    char *aside = strdup(temporary_path("o2"));
    ck_assert_int_eq(rename(temporary_path("o"), aside), 0);
    free(aside);
    int status;
    waitpid(child, &status, 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) != 0, "%s", temporary_text("said"));
}
END_TEST

/* With --overwrite the same command does not continue but starts over. */
START_TEST(what_was_interrupted_says_how_it_continues)
{
    static const char *const said[2][2] = {
        {"; the same command continues, or `", "train --resume --out over` continues\n"},
        {"; the same command continues\n", "; the same command without --overwrite continues\n"}};
    for (int over = 0; over < 2; over++) {
        const char *out = over ? "over" : "first";
        char curves[60];
        int status;
        const pid_t child =
            train_start(_i ? "compare" : "train",
                        "--data moons --rows 100 --hidden 4 --epochs 1000000 --patience 0 --no-plots --out %s %s "
                        "%s >said 2>&1",
                        out, _i ? "--activations relu --seeds 1" : "", over ? "--overwrite" : "");
        snprintf(curves, sizeof curves, "%s%s/curves.csv", out, _i ? "/runs/relu-seed1" : "");
        wait_for_row(curves);
        kill(child, SIGINT);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(strstr(temporary_text("said"), said[_i][over]) != NULL, "%s", temporary_text("said"));
    }
}
END_TEST

/* A run that has not saved yet was not stopped. */
START_TEST(a_run_that_works_is_not_called_stopped)
{
    const pid_t child =
        train_start("train", "--data moons --rows 20000 --hidden 256x8 --epochs 100 --patience 0 --batch 20000 "
                             "--no-plots --out o >said 2>&1");
    for (int i = 0; i < 4000 && !temporary_exists("o/config.json"); i++)
        usleep(5000);
    const int status = temporary_exists("o/last.safetensors") ? -1 : train_run("train", "--resume --out o");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (status != -1)
        expect_refused(status, "another process is working in the folder 'o'");
}
END_TEST

START_TEST(a_named_pipe_is_read_once)
{
    ck_assert_int_eq(train_run("sh", "-c 'mkfifo pipe; (exec cat train.csv > pipe) & timeout 60 train --data csv:pipe "
                                     "--hidden 4 --epochs 1 --no-plots --out o'"),
                     0);
}
END_TEST

START_TEST(a_file_beyond_the_limit_is_a_message_and_no_signal)
{
    static const char *const programs[] = {"train", "compare --seeds 1 --activations relu"};
    for (int i = 0; i < 2; i++) {
        const int status = train_run("bash",
                                     "-c 'ulimit -f 4; %s --data csv:train.csv --hidden 64x2 --epochs 2 "
                                     "--report --no-plots --out o%d'",
                                     programs[i], i);
        ck_assert_msg((status == 1 || status == 2) && strstr(train_output, "File too large"), "%d: %s", status,
                      train_output);
    }
}
END_TEST

START_TEST(a_small_stack_is_enlarged_or_told)
{
    expect_refused(train_run("bash", "-c 'ulimit -s 64; train " SMALL "--out o'"), "ulimit -s 8192");
    expect_fine(train_run("bash",
                          "-c 'ulimit -S -s 64; TG_THREADS=4 train --data moons --rows 3000 --batch 1000 --hidden "
                          "256x2 --epochs 2 --no-plots --out o'"));
}
END_TEST

/* The numbers of processes say nothing, as they are used again; the lock of the folder does. */
START_TEST(what_a_killed_process_has_left_is_removed)
{
    expect_fine(train_run("compare", SMALL "--activations relu --seeds 2 --epochs 2 --out o"));
    expect_fine(train_run("sh", "-c 'cd o/runs/relu-seed2 && rm result.json && touch last.safetensors.1.tmp "
                                ".curves.csv.new.1@machine kept.1.tmp .kept'"));
    expect_fine(train_run("compare", SMALL "--activations relu --seeds 2 --epochs 2 --out o"));
    ck_assert(!temporary_exists("o/runs/relu-seed2/last.safetensors.1.tmp"));
    ck_assert(!temporary_exists("o/runs/relu-seed2/.curves.csv.new.1@machine"));
    ck_assert(temporary_exists("o/runs/relu-seed2/kept.1.tmp") && temporary_exists("o/runs/relu-seed2/.kept"));
}
END_TEST

START_TEST(more_shards_than_rows_are_named)
{
    expect_refused(train_run("train", "--data moons --rows 300 --batch 16 --shards 17 --no-plots"),
                   "--shards 17: a pass has only 16 rows (--batch), and each shard needs one");
    expect_fine(train_run("train", "--data moons --rows 300 --batch 16 --shards 16 --epochs 1 --no-plots --out o"));
    expect_refused(train_run("compare", "--data moons --rows 300 --batch 7 --shards 4 --norm batch --no-plots"),
                   "--shards 4: a pass has only 7 rows (--batch), and each shard needs two for --norm batch");
}
END_TEST

/* The last line of train is a command that can be pasted, by the name and path by which train was called. */
START_TEST(hints_can_be_pasted)
{
    static const char *const names[][2] = {
        {"train", "predict"}, {"./tapegrad-train", "./tapegrad-predict"}, {"'./a b/train'", "'./a b/predict'"}};
    char expected[100];
    ck_assert_int_eq(train_run("sh", "-c 'mkdir \"a b\"; for p in train predict; do ln -s \"$(command -v $p)\" "
                                     "tapegrad-$p; ln -s \"$(command -v $p)\" \"a b/$p\"; done'"),
                     0);
    for (int i = 0; i < 3; i++) {
        expect_fine(train_run(names[i][0], "--data train.csv --hidden 4 --epochs 1 --no-plots --out o%d", i));
        snprintf(expected, sizeof expected, "to use it: %s --model o%d --data FILE\n", names[i][1], i);
        ck_assert_msg(strstr(train_output, expected) != NULL, "%s", train_output);
        expect_fine(train_run(names[i][1], "--model o%d --data train.csv", i));
    }
    ck_assert_int_eq(train_run("./tapegrad-train", "--help"), 0);
    ck_assert_msg(strstr(train_output, "Usage: tapegrad-train [OPTION...]\n") &&
                      strstr(train_output, "\ntapegrad-train --data csv:housing.csv "),
                  "%s", train_output);
}
END_TEST

/* The path of a file or folder alone means a table, images, or the images of a folder. */
START_TEST(data_may_be_named_by_its_path)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 4 --epochs 1 --no-plots --out o"));
    expect_fine(train_run("train", "--data train.csv --hidden 4 --epochs 1 --no-plots --out o"));
    expect_fine(train_run("compare", "--data ./train.csv --hidden 4 --epochs 1 --activations relu --seeds 1 --no-plots "
                                     "--out c"));
    expect_fine(train_run("train", "--data images --hidden 4 --model mlp --epochs 1 --no-plots --out i"));
    expect_fine(train_run("predict", "--model i --data images/t10k-images-idx3-ubyte"));
    expect_refused(train_run("train", "--data no-such.csv --no-plots"), "no-such.csv");
}
END_TEST

/* JSON is UTF-8, and the name of a file need not be. */
START_TEST(a_name_that_is_not_utf8_is_kept)
{
    expect_fine(train_run("sh",
                          "-c 'cp train.csv \"$(printf \"caf\\\\351.csv\")\"; for e in 1 2; do train --data \"$(printf "
                          "\"caf\\\\351.csv\")\" --hidden 4 --epochs 1 --no-plots --out o || exit; done'"));
    ck_assert(strstr(temporary_text("o/config.json"), "caf\xee\xbf\xa9.csv") != NULL);
    expect_fine(train_run("train", "--resume --out o --no-plots"));
    ck_assert_ptr_nonnull(strstr(train_output, "300 rows"));
}
END_TEST

/* Scripts of another user, in the current folder or above that of the program. */
START_TEST(scripts_of_pictures_are_those_of_the_program)
{
    expect_fine(train_run(
        "sh", "-c 'mkdir -p plots deep/er/bin; echo \"system(\\\"touch ran\\\")\" | tee plots/style.gp "
              "plots/loss.gp plots/activations.gp >/dev/null; cp -r plots deep/; cp \"$(command -v activations)\" "
              "deep/er/bin; "
              "env -i PATH=\"$PATH\" HOME=/nowhere LD_LIBRARY_PATH=\"$(dirname \"$(command -v activations)\")/..\" "
              "deep/er/bin/activations --out o'"));
    ck_assert_msg(!temporary_exists("ran") && strstr(train_output, "cannot find"), "%s", train_output);
}
END_TEST

Suite *edges_suite(void)
{
    Suite *suite = suite_create("edges");
    TCase *tests = tcase_create("edges");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_loop_test(tests, a_record_that_cannot_be_read_is_not_an_empty_one, 0, 8);
    tcase_add_loop_test(tests, a_record_of_train_that_cannot_be_read_is_told, 0, 2);
    tcase_add_loop_test(tests, a_pipe_in_a_folder_is_refused_at_once, 0, 4);
    tcase_add_loop_test(tests, what_is_gone_at_the_end_is_a_failure, 0, 2);
    tcase_add_loop_test(tests, what_was_interrupted_says_how_it_continues, 0, 2);
    tcase_add_test(tests, a_run_that_works_is_not_called_stopped);
    tcase_add_test(tests, a_named_pipe_is_read_once);
    tcase_add_test(tests, a_file_beyond_the_limit_is_a_message_and_no_signal);
    tcase_add_test(tests, a_small_stack_is_enlarged_or_told);
    tcase_add_test(tests, what_a_killed_process_has_left_is_removed);
    tcase_add_test(tests, more_shards_than_rows_are_named);
    tcase_add_test(tests, hints_can_be_pasted);
    tcase_add_test(tests, data_may_be_named_by_its_path);
    tcase_add_test(tests, a_name_that_is_not_utf8_is_kept);
    tcase_add_test(tests, scripts_of_pictures_are_those_of_the_program);
    suite_add_tcase(suite, tests);
    return suite;
}
