/* Jobs in child processes, and the display of their progress. */
#include "examples/programs/run/jobs.h"
#include "examples/programs/run/progress.h"
#include "tests/support/pseudo_terminal.h"
#include "examples/programs/report/terminal.h"

#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *jobs_suite(void);

enum { JOBS = 9 };

/* What the jobs and the pool note, in memory that they share. */
typedef struct {
    _Atomic int running, most_running, ticks;
} harvest;

static const char *name_of(int job, void *context)
{
    static const char *const names[JOBS] = {"job0", "job1", "job2", "job3", "job4", "job5", "job6", "job7", "job8"};
    (void)context;
    return names[job];
}

static void note_tick(void *context)
{
    ((harvest *)context)->ticks++;
}

/* Runs the jobs, and returns what the view shows of them. */
static const char *shown(jobs_config config, jobs_outcome *outcome)
{
    static char text[4096];
    config.out = tmpfile();
    config.name = name_of;
    *outcome = jobs_run(&config);
    rewind(config.out);
    text[fread(text, 1, sizeof text - 1, config.out)] = '\0';
    fclose(config.out);
    return text;
}

static harvest *new_harvest(void)
{
    harvest *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(all != MAP_FAILED);
    return all;
}

/* True if the view has this line; jobs end in any order. */
static bool has_line(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    return at && (at == text || at[-1] == '\n');
}

enum { REPORTS = 100000 }; /* far more than a pipe takes */

static int report_often(int job, jobs_link *link, void *context)
{
    harvest *all = context;
    const int running = ++all->running;
    for (int most = all->most_running;
         running > most && !atomic_compare_exchange_weak(&all->most_running, &most, running);)
        ;
    usleep((useconds_t)(job * 7919 % 3000)); /* so that jobs overtake each other */
    for (int i = 1; i <= REPORTS; i++)
        jobs_report(link, &(jobs_progress){.fraction = (double)i / REPORTS, .epoch = i, .loss = NAN, .accuracy = NAN});
    all->running--;
    return 0;
}

START_TEST(the_last_report_always_arrives_last_however_many_jobs_run)
{
    static const int widths[] = {1, 2, 4, 50};
    for (int w = 0; w < 4; w++) {
        harvest *all = new_harvest();
        jobs_outcome outcome;
        char line[60];
        const char *text =
            shown((jobs_config){.count = JOBS, .at_once = widths[w], .run = report_often, .context = all}, &outcome);
        ck_assert(outcome.done == JOBS && outcome.failed == 0 && outcome.stopped == 0 && !outcome.interrupted);
        ck_assert_int_le(all->most_running, widths[w]);
        for (int job = 0; job < JOBS; job++) {
            snprintf(line, sizeof line, "job%d: done, %d epochs, in ", job, REPORTS);
            ck_assert_msg(has_line(text, line), "%s", text);
        }
        munmap(all, sizeof *all);
    }
}
END_TEST

/* A job takes a file of this process: of those for which there is none, each waits for the end of another one. */
START_TEST(jobs_wait_for_open_files)
{
    harvest *all = new_harvest();
    jobs_outcome outcome;
    char line[60];
    const int next = dup(STDIN_FILENO);
    ck_assert_int_eq(close(next), 0);
    const struct rlimit few = {(rlim_t)next + 4, (rlim_t)next + 4}; /* the view has one */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    const char *text =
        shown((jobs_config){.count = JOBS, .at_once = JOBS, .run = report_often, .context = all}, &outcome);
    ck_assert_msg(outcome.done == JOBS && outcome.failed == 0, "%s", text);
    ck_assert_int_le(all->most_running, 2);
    for (int job = 0; job < JOBS; job++) {
        snprintf(line, sizeof line, "job%d: done, %d epochs, in ", job, REPORTS);
        ck_assert_msg(has_line(text, line), "%s", text);
    }
    munmap(all, sizeof *all);
}
END_TEST

static int fail_in_various_ways(int job, jobs_link *link, void *context)
{
    (void)context;
    jobs_report(link, &(jobs_progress){.fraction = 0.5, .loss = NAN, .accuracy = NAN});
    switch (job) {
    case 0:
        kill(getpid(), SIGKILL);
        break;
    case 1:
        _exit(7);
    case 2:
        return jobs_fail(link, "the loss is not a number\nafter step %d", 12);
    case 3:
        return 256; /* a status that would wrap to success */
    case 4:
        kill(getpid(), SIGTERM);
    }
    return 0;
}

START_TEST(a_child_that_fails_is_named_and_spares_the_others)
{
    static const char *const lines[] = {
        "job0: failed: killed by signal 9 (Killed), perhaps because memory ran out (",
        "job1: failed: ended with exit status 7 (",
        "job2: failed: the loss is not a number after step 12 (",
        "job3: failed: ended with exit status 1 (",
        "job4: failed: killed by signal 15 (Terminated) (",
        "job5: done, ",
    };
    jobs_outcome outcome;
    const char *text = shown((jobs_config){.count = 6, .at_once = 2, .run = fail_in_various_ways}, &outcome);
    ck_assert(outcome.done == 1 && outcome.failed == 5 && outcome.stopped == 0 && !outcome.interrupted);
    for (int job = 0; job < 6; job++)
        ck_assert_msg(has_line(text, lines[job]), "no '%s' in %s", lines[job], text);
}
END_TEST

/* Job 0 ends at once; job 1 interrupts the parent and then, like job 2, would run for a minute. */
static int interrupt_parent(int job, jobs_link *link, void *context)
{
    (void)context;
    jobs_report(link, &(jobs_progress){.fraction = 0.5, .loss = NAN, .accuracy = NAN});
    if (job == 0)
        return 0;
    usleep(100000);
    if (job == 1)
        kill(getppid(), SIGINT);
    raise(SIGINT); /* as from a terminal, which signals the whole group: the child must not react */
    sleep(60);
    return 0;
}

START_TEST(an_interruption_stops_promptly_and_keeps_what_is_finished)
{
    harvest *all = new_harvest();
    jobs_outcome outcome;
    void (*before)(int) = signal(SIGINT, SIG_DFL);
    const char *text =
        shown((jobs_config){.count = 6, .at_once = 2, .run = interrupt_parent, .on_tick = note_tick, .context = all},
              &outcome);
    ck_assert(outcome.interrupted);
    ck_assert(outcome.done == 1 && outcome.failed == 0 && outcome.stopped == 5);
    ck_assert_msg(has_line(text, "job0: done, ") && has_line(text, "job1: stopped (") &&
                      has_line(text, "job2: stopped (") && !strstr(text, "job3"),
                  "%s", text);
    ck_assert_int_le(all->ticks, 15);
    ck_assert(signal(SIGINT, before) == SIG_DFL);
    munmap(all, sizeof *all);
}
END_TEST

static int hang_up(int job, jobs_link *link, void *context)
{
    (void)job, (void)link, (void)context;
    usleep(100000);
    kill(getppid(), SIGHUP);
    raise(SIGHUP); /* the whole group gets it */
    sleep(60);
    return 0;
}

START_TEST(a_closed_terminal_is_an_interruption)
{
    pid_t child = fork(); /* the signal stays ignored afterwards */
    if (child == 0) {
        signal(SIGHUP, SIG_DFL);
        const jobs_outcome outcome = jobs_run(&(jobs_config){.count = 2, .run = hang_up});
        raise(SIGHUP); /* terminals may send it twice */
        _exit(outcome.interrupted && outcome.stopped == 2 ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

static int sleep_holding_pipe(int job, jobs_link *link, void *context)
{
    (void)job;
    (void)link;
    ssize_t told = write(*(int *)context, "x", 1);
    sleep(60);
    return told == 1 ? 0 : 1;
}

START_TEST(children_die_with_the_parent)
{
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        close(ends[0]);
        jobs_run(&(jobs_config){.count = 1, .run = sleep_holding_pipe, .context = &ends[1]});
        _exit(0);
    }
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1); /* the child is running */
    kill(parent, SIGKILL);
    ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* and now no process has the pipe open */
    waitpid(parent, NULL, 0);
    close(ends[0]);
}
END_TEST

START_TEST(no_jobs_are_no_trouble)
{
    jobs_outcome outcome = jobs_run(&(jobs_config){.count = 0, .at_once = 3, .run = report_often});
    ck_assert(outcome.done == 0 && outcome.failed == 0 && outcome.stopped == 0 && !outcome.interrupted);
}
END_TEST

/* ---- progress ----------------------------------------------------------------------------------------------- */

/* Shows two running jobs in this state, and all together: the end of the third one repaints them. */
static void show_state(FILE *out, const void *context)
{
    static const char *const names[] = {"gelu_exact seed 12", "relu", "silu"};
    progress *view = progress_new(&(progress_config){.out = out, .count = 3, .names = names, .unit = "samples"});
    unsetenv("NO_COLOR");
    for (int job = 0; job < 3; job++)
        progress_start(view, job);
    progress_update(view, 0, context);
    progress_end(view, 2, JOBS_DONE, NULL);
    progress_free(view);
}

/* The number of columns of a line without control codes. */
static int width_on_screen(const char *line)
{
    int width = 0;
    for (; *line && *line != '\n'; line++)
        if (*line == '\033')
            line += strcspn(line, "ABCDEFGHIJKhlm");
        else
            width += ((unsigned char)*line & 0xC0) != 0x80;
    return width;
}

START_TEST(progress_lines_fit_every_width)
{
    static const jobs_progress states[] = {
        {.fraction = 0, .loss = NAN, .accuracy = NAN},
        {.fraction = 0.643, .epoch = 13, .epochs = 20, .loss = 0.0802, .accuracy = 0.9761, .rate = 61234},
        {.fraction = 1, .epoch = 10000, .epochs = 10000, .loss = -1e30, .accuracy = 1, .rate = 1e13},
        {.fraction = 7, .epoch = 3, .epochs = 5, .loss = INFINITY, .accuracy = NAN, .rate = 0.001},
    };
    for (int columns = 12; columns <= 200; columns++)
        for (int kind = 0; kind < 8; kind++) {
            setenv("LC_ALL", kind & 4 ? "C.UTF-8" : "C", 1);
            const char *text = terminal_output(columns, 10, show_state, &states[kind % 4]);
            int lines = 0;
            for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
                const bool lasts = strstr(line, "silu") && strstr(line, "silu") < strchr(line, '\n');
                ck_assert_msg(lasts || width_on_screen(line) < columns, "%d columns: %.*s", columns,
                              (int)strcspn(line, "\n"), line);
                lines++;
            }
            ck_assert_int_gt(lines, 4);
        }
}
END_TEST

START_TEST(numbers_in_progress_lines_keep_their_width)
{
    static const struct {
        jobs_progress now;
        const char *shown;
    } states[] = {
        {{.loss = 9.99996, .accuracy = 0.9999, .rate = 999.4}, "loss 10.000  accuracy 99.99 %    999 samples/s"},
        {{.loss = -9.9996, .accuracy = 1, .rate = 999.6}, "loss -10.00  accuracy 100.0 %  1.00k samples/s"},
        {{.loss = -0.00001, .accuracy = 0, .rate = 99960}, "loss -0.000  accuracy  0.00 %   100k samples/s"},
        {{.loss = 999999, .accuracy = 1, .rate = 1}, "loss 999999  accuracy 100.0 %      1 samples/s"},
        {{.loss = 1e6, .accuracy = 1, .rate = 1.234e6}, "loss  1e+06  accuracy 100.0 %  1.23M samples/s"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        const char *shown = terminal_output(200, 10, show_state, &states[i].now);
        ck_assert_msg(strstr(shown, states[i].shown) != NULL, "%s: %s", states[i].shown, shown);
    }
    ck_assert_str_eq(progress_duration(59.4, text), "0:59");
    ck_assert_str_eq(progress_duration(3599.4, text), "59:59");
    ck_assert_str_eq(progress_duration(3600, text), "1h00m");
    ck_assert_str_eq(progress_duration(4 * 86400 + 3 * 3600, text), "99h00m");
    ck_assert_str_eq(progress_duration(5 * 86400, text), "5d00h");
    ck_assert_str_eq(progress_duration(100 * 86400 + 3600, text), "100d");
    ck_assert_str_eq(progress_duration(NAN, text), "-:--");
}
END_TEST

/* Shows a run with one job of each ending in the view. */
static void show_some_jobs(FILE *out)
{
    static const char *const names[] = {"relu seed 1", "gelu_exact seed 1", "silu seed 1"};
    progress *view = progress_new(&(progress_config){.out = out, .count = 3, .names = names, .unit = "steps"});
    for (int job = 0; job < 3; job++) {
        progress_start(view, job);
        progress_update(
            view, job,
            &(jobs_progress){.fraction = 0.5, .epoch = 1, .epochs = 2, .loss = 0.25, .accuracy = 0.9, .rate = 100});
        usleep(110000);
        progress_tick(view);
    }
    progress_end(view, 1, JOBS_FAILED, "out of luck");
    progress_end(view, 0, JOBS_DONE, NULL);
    progress_end(view, 2, JOBS_STOPPED, "interrupted");
    progress_free(view);
}

typedef struct points {
    int count;
    double loss[2000];
} points;

/* Shows a job with this curve: the end of the other one repaints it. */
static void print_curve(FILE *out, const void *context)
{
    static const char *const names[] = {"gpt", "mlp"};
    const points *all = context;
    progress *view = progress_new(&(progress_config){.out = out, .count = 2, .names = names});
    progress_start(view, 0);
    for (int i = 0; i < all->count; i++)
        progress_point(view, all->loss[i]);
    progress_start(view, 1);
    progress_end(view, 1, JOBS_DONE, NULL);
    progress_free(view);
}

START_TEST(a_curve_stands_below_a_single_line_where_there_is_room)
{
    points all = {.count = 56};
    for (int i = 0; i < all.count; i++)
        all.loss[i] = 56 - i;
    for (int i = 0; i < 3; i++) {
        const int columns = (const int[]){100, 60, 0}[i];
        const char *text = terminal_output(columns, 40, print_curve, &all);
        ck_assert_msg((strstr(text, "56.000") != NULL) == (columns == 100), "%d columns: %.900s", columns, text);
        ck_assert_int_eq(strstr(text, "**") != NULL || strstr(text, "••") != NULL, columns == 100);
    }
}
END_TEST

START_TEST(a_curve_in_letters_falls_from_its_highest_to_its_lowest)
{
    setenv("LC_ALL", "C", 1);
    const char *text = terminal_output(100, 40, print_curve, &(points){2, {3, NAN}});
    ck_assert_ptr_null(strstr(text, "3.0000")); /* one point is no curve */
    text = terminal_output(100, 40, print_curve, &(points){4, {3, NAN, 1.5, 0.5}});
    ck_assert_msg(strstr(text, "3.0000 |*  \033[K\n       |   \033[K\n       |   \033[K\n"
                               "       | * \033[K\n       |   \033[K\n0.5000 |  *\033[K\n") != NULL,
                  "%s", text);
}
END_TEST

START_TEST(a_curve_of_many_points_keeps_its_columns)
{
    points all = {.count = 1000};
    for (int i = 0; i < all.count; i++)
        all.loss[i] = i;
    setenv("LC_ALL", "C", 1);
    const char *text = terminal_output(100, 40, print_curve, &all);
    /* 1000 points, 32 a column, of which the last has 8 and the mean 995.5, and the first the mean 15.5 */
    const char *top = strstr(text, "995.50 |"), *bottom = strstr(text, "15.500 |*");
    ck_assert_msg(top && bottom, "%s", text);
    ck_assert_int_eq((int)strcspn(top + 8, "\033"), 32);
}
END_TEST

START_TEST(progress_in_a_file_is_plain_lines)
{
    char text[4096] = "";
    FILE *out = tmpfile();
    show_some_jobs(out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    char *end = strstr(text, "relu seed 1: done, 1 epoch, loss 0.2500, accuracy 90.00 %, in 0:00 (2 of 3)\n");
    ck_assert_ptr_nonnull(end);
    ck_assert_ptr_nonnull(strstr(text, "gelu_exact seed 1: failed: out of luck (1 of 3)\n"));
    ck_assert_ptr_nonnull(strstr(text, "silu seed 1: stopped in epoch 1 of 2 (3 of 3)\n"));
    for (const char *letter = text; *letter; letter++)
        ck_assert(*letter == '\n' || (*letter >= ' ' && *letter <= '~'));
}
END_TEST

static void show_jobs(FILE *out, const void *context)
{
    (void)context;
    show_some_jobs(out);
}

START_TEST(progress_on_a_terminal_leaves_it_as_it_was)
{
    setenv("LC_ALL", "C", 1);
    const char *text = terminal_output(60, 10, show_jobs, NULL);
    int hidden = 0, most_hidden = 0;
    for (const char *code = strstr(text, "\033[?25"); code; code = strstr(code + 1, "\033[?25")) {
        hidden += code[5] == 'l' ? 1 : -1;
        most_hidden = hidden > most_hidden ? hidden : most_hidden;
        ck_assert(hidden == 0 || hidden == 1);
    }
    ck_assert_int_eq(hidden, 0);
    ck_assert_int_eq(most_hidden, 1);
    ck_assert_ptr_nonnull(strstr(text, "####"));
    ck_assert_ptr_nonnull(strstr(text, "out of luck"));
}
END_TEST

START_TEST(a_view_of_nothing_is_survived)
{
    progress_start(NULL, 0);
    progress_update(NULL, 0, NULL);
    progress_tick(NULL);
    progress_end(NULL, 0, JOBS_DONE, NULL);
    progress_free(NULL);
    ck_assert_ptr_null(progress_new(&(progress_config){.out = NULL, .count = 0}));
}
END_TEST

Suite *jobs_suite(void)
{
    Suite *suite = suite_create("jobs");
    TCase *tests = tcase_create("jobs");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, the_last_report_always_arrives_last_however_many_jobs_run);
    tcase_add_test(tests, jobs_wait_for_open_files);
    tcase_add_test(tests, a_child_that_fails_is_named_and_spares_the_others);
    tcase_add_test(tests, an_interruption_stops_promptly_and_keeps_what_is_finished);
    tcase_add_test(tests, children_die_with_the_parent);
    tcase_add_test(tests, a_closed_terminal_is_an_interruption);
    tcase_add_test(tests, no_jobs_are_no_trouble);
    tcase_add_test(tests, progress_lines_fit_every_width);
    tcase_add_test(tests, numbers_in_progress_lines_keep_their_width);
    tcase_add_test(tests, a_curve_stands_below_a_single_line_where_there_is_room);
    tcase_add_test(tests, a_curve_in_letters_falls_from_its_highest_to_its_lowest);
    tcase_add_test(tests, a_curve_of_many_points_keeps_its_columns);
    tcase_add_test(tests, progress_in_a_file_is_plain_lines);
    tcase_add_test(tests, progress_on_a_terminal_leaves_it_as_it_was);
    tcase_add_test(tests, a_view_of_nothing_is_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
