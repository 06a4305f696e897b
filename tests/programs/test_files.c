/* Files of results are complete or absent, and never written through a link. */
#include "examples/programs/report/files.h"
#include "examples/programs/system/posix.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *files_suite(void);

static bool write_text(const void *context, FILE *to)
{
    return fputs(context, to) >= 0;
}

START_TEST(a_link_of_the_temporary_name_is_not_followed)
{
    tg_error error;
    char guessed[64];
    temporary_write("precious", "x", 1);
    snprintf(guessed, sizeof guessed, ".rows.csv.new.%ld%s", (long)getpid(), files_machine());
    ck_assert_int_eq(symlink(temporary_path("precious"), temporary_path(guessed)), 0);
    ck_assert_msg(files_write(temporary_folder(), "rows.csv", write_text, "a,b\n", &error), "%s", error.text);
    ck_assert_str_eq(temporary_text("precious"), "x");
    ck_assert_str_eq(temporary_text("rows.csv"), "a,b\n");
    ck_assert(!temporary_exists(guessed));
}
END_TEST

START_TEST(a_link_of_the_name_itself_is_replaced)
{
    tg_error error;
    temporary_write("precious", "x", 1);
    ck_assert_int_eq(symlink(temporary_path("precious"), temporary_path("rows.csv")), 0);
    ck_assert_msg(files_write(temporary_folder(), "rows.csv", write_text, "a,b\n", &error), "%s", error.text);
    ck_assert_str_eq(temporary_text("precious"), "x");
    ck_assert_str_eq(temporary_text("rows.csv"), "a,b\n");
}
END_TEST

/* A pipe stands for any device: renaming a file over it would replace it. */
START_TEST(a_device_is_written_and_stays)
{
    tg_error error;
    struct stat status;
    char line[16] = "";
    ck_assert_int_eq(mkfifo(temporary_path("pipe"), 0600), 0);
    const int reader = open(temporary_path("pipe"), O_RDONLY | O_NONBLOCK);
    ck_assert_msg(files_write(temporary_folder(), "pipe", write_text, "a,b\n", &error), "%s", error.text);
    ck_assert_int_eq(read(reader, line, sizeof line), 4);
    ck_assert_msg(files_write_path(temporary_path("pipe"), false, write_text, "c\n", &error), "%s", error.text);
    ck_assert_int_eq(read(reader, line + 4, sizeof line - 4), 2);
    ck_assert_str_eq(line, "a,b\nc\n");
    ck_assert(lstat(temporary_path("pipe"), &status) == 0 && S_ISFIFO(status.st_mode));
    close(reader);
}
END_TEST

/* Nothing is left to be flushed where the disk is full before the end. */
static bool write_at_once(const void *text, FILE *to)
{
    setvbuf(to, NULL, _IONBF, 0);
    fputs(text, to);
    return true;
}

START_TEST(a_failed_write_leaves_the_device)
{
    tg_error error;
    struct stat status;
    if (access("/dev/full", W_OK) != 0)
        return;
    ck_assert(!files_write("/dev", "full", write_text, "a,b\n", &error));
    ck_assert_msg(strstr(error.text, "cannot write '/dev/full': No space left on device"), "%s", error.text);
    ck_assert(!files_write("/dev", "full", write_at_once, "a,b\n", &error));
    ck_assert_msg(strstr(error.text, "cannot write '/dev/full': No space left on device"), "%s", error.text);
    ck_assert(!files_write_path("/dev/full", false, write_text, "a,b\n", &error));
    ck_assert(lstat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode));
}
END_TEST

START_TEST(what_a_killed_program_left_of_a_probe_is_removed)
{
    tg_error error;
    char left[64];
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(dead, NULL, 0), dead);
    snprintf(left, sizeof left, ".file.try.%ld%s", (long)dead, files_machine());
    temporary_write(left, "", 0);
    ck_assert_msg(files_check_folder(temporary_folder(), &error), "%s", error.text);
    ck_assert(!temporary_exists(left));
}
END_TEST

static int by_tens(const void *a, const void *b)
{
    return *(const int *)a / 10 - *(const int *)b / 10;
}

/* The library's qsort may leave equal items in any order, and tables and sums would depend on it. */
START_TEST(equal_items_keep_their_order)
{
    for (int count = 0; count < 200; count++) {
        int items[200], place = 0;
        for (int i = 0; i < count; i++)
            items[i] = 10 * (i * 7 % 5) + i % 3;
        system_sort(items, (size_t)count, sizeof *items, by_tens);
        for (int tens = 0; tens < 5; tens++)
            for (int i = 0; i < count; i++)
                if (i * 7 % 5 == tens)
                    ck_assert_int_eq(items[place++], 10 * tens + i % 3);
    }
}
END_TEST

START_TEST(text_that_does_not_fit_into_memory_is_none)
{
    size_t size;
    char *text = strdup("half");
    FILE *full = fopen("/dev/full", "w");
    ck_assert(text && full && fputs("more", full) >= 0);
    ck_assert(!system_close_memory(full, &text, &size) && !text);

    FILE *to = system_open_memory(&text, &size);
    ck_assert(to && fputs("whole", to) >= 0 && system_close_memory(to, &text, &size));
    ck_assert_str_eq(text, "whole");
    free(text);
}
END_TEST

Suite *files_suite(void)
{
    Suite *suite = suite_create("files");
    TCase *tests = tcase_create("files");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, a_link_of_the_temporary_name_is_not_followed);
    tcase_add_test(tests, a_link_of_the_name_itself_is_replaced);
    tcase_add_test(tests, a_device_is_written_and_stays);
    tcase_add_test(tests, a_failed_write_leaves_the_device);
    tcase_add_test(tests, what_a_killed_program_left_of_a_probe_is_removed);
    tcase_add_test(tests, equal_items_keep_their_order);
    tcase_add_test(tests, text_that_does_not_fit_into_memory_is_none);
    suite_add_tcase(suite, tests);
    return suite;
}
