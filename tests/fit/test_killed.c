/* A program that is killed while it writes, or whose disk is full, leaves a readable file: the old one or the new
 * one. */
#include "tests/support/temporary_files.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tapegrad.h>
#include <time.h>
#include <unistd.h>

Suite *killed_suite(void);

enum { SIZE = 200000 };

static tg_error error;

/* A set of parameters whose values all equal the number of the write. */
static tg_parameters *numbered(double number)
{
    tg_parameters *set = tg_parameters_new(TG_F32);
    tg_parameter_fill(tg_parameters_add(set, "weight", TG_SHAPE(SIZE), true), number);
    ck_assert(!tg_parameters_error(set));
    return set;
}

/* Writes 2, 3, ... until it is killed; a byte on the pipe reports the first file. */
static void write_for_ever(const char *path, int told)
{
    tg_parameters *set = numbered(1);
    tg_rng rng = tg_rng_seed(1);
    for (int64_t number = 2;; number++) {
        tg_parameter_fill(tg_parameters_at(set, 0), (double)number);
        const tg_training_state state = {.parameters = set, .rng = {&rng}, .position = number};
        if (!tg_training_state_save(&state, path, NULL, 0, &error))
            _exit(1);
        if (number == 2 && write(told, "x", 1) != 1)
            _exit(2);
    }
}

static void pause_for(double seconds)
{
    const struct timespec time = {0, (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

/* Starts a writer, kills it a random time after its first file, and returns the number of the write in the file. */
static int64_t kill_a_writer(const char *path, tg_rng *rng)
{
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t writer = fork();
    ck_assert_int_ge(writer, 0);
    if (writer == 0)
        write_for_ever(path, ends[1]);
    close(ends[1]);
    const bool told = read(ends[0], &byte, 1) == 1;
    pause_for(tg_rng_uniform(rng) * 0.02);
    kill(writer, SIGKILL);
    int status;
    waitpid(writer, &status, 0);
    close(ends[0]);
    ck_assert_msg(told && WIFSIGNALED(status), "the writer ended by itself: %d", status);

    tg_parameters *set = numbered(0);
    tg_rng read_back;
    tg_training_state state = {.parameters = set, .rng = {&read_back}};
    ck_assert_msg(tg_training_state_load(&state, path, &error), "%s", error.text);
    for (int64_t i = 0; i < SIZE; i++)
        ck_assert_msg(tg_parameter_get(tg_parameters_at(set, 0), i) == (double)state.position,
                      "number %lld is of another write than %lld", (long long)i, (long long)state.position);
    tg_parameters_free(set);
    return state.position;
}

START_TEST(a_killed_writer_leaves_a_whole_file)
{
    const int times = getenv("TG_LONG") ? 200 : 5;
    char path[600];
    tg_rng rng = tg_rng_seed(1);
    snprintf(path, sizeof path, "%s", temporary_path("run"));
    for (int i = 0; i < times; i++)
        ck_assert_int_ge(kill_a_writer(path, &rng), 2);
}
END_TEST

/* A disk that has room for only some bytes of the new file: none, up to all but one. */
START_TEST(a_full_disk_is_an_error_and_keeps_the_old_file)
{
    char path[600];
    tg_rng rng = tg_rng_seed(1);
    tg_parameters *set = numbered(1);
    tg_training_state state = {.parameters = set, .rng = {&rng}, .position = 1};
    snprintf(path, sizeof path, "%s", temporary_path("run"));
    ck_assert(tg_training_state_save(&state, path, NULL, 0, &error));
    struct stat whole;
    ck_assert_int_eq(stat(path, &whole), 0);
    tg_parameter_fill(tg_parameters_at(set, 0), 2);
    struct rlimit before, tiny;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    const rlim_t room[] = {0, 1, 7, 8, 100, 4096, (rlim_t)whole.st_size / 2, (rlim_t)whole.st_size - 1};
    for (int i = 0; i < 8; i++) {
        tiny = before;
        tiny.rlim_cur = room[i];
        setrlimit(RLIMIT_FSIZE, &tiny);
        const bool saved = tg_training_state_save(&state, path, NULL, 0, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        ck_assert_msg(!saved && strstr(error.text, "/run: File too large") && !strchr(error.text, '\n'), "%s",
                      error.text);
        int64_t position = state.position;
        ck_assert_msg(tg_training_state_load(&state, path, &error) && state.position == position, "%s", error.text);
        ck_assert_double_eq(tg_parameter_get(tg_parameters_at(set, 0), SIZE - 1), 1);
        tg_parameter_fill(tg_parameters_at(set, 0), 2);
    }
    signal(SIGXFSZ, handler);
    char beside[700];
    snprintf(beside, sizeof beside, "%s.%ld.tmp", path, (long)getpid());
    ck_assert_int_ne(access(beside, F_OK), 0);
    ck_assert(tg_training_state_save(&state, path, NULL, 0, &error));
    tg_parameters_free(set);
}
END_TEST

Suite *killed_suite(void)
{
    Suite *suite = suite_create("killed");
    TCase *tests = tcase_create("killed");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, a_killed_writer_leaves_a_whole_file);
    tcase_add_test(tests, a_full_disk_is_an_error_and_keeps_the_old_file);
    suite_add_tcase(suite, tests);
    return suite;
}
