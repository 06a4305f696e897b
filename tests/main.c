/* Runs suites of suites.def, each in a process of its own, as many at a time as there are processors.
 *
 *     tests                 what `make check` runs: every suite but those of TG_SUITE_OF_ALL
 *     tests all             those, too; `tests rest` those alone
 *     tests tape grad       these; a single one runs in this process, as debuggers like it (with CK_FORK=no)
 *     TG_JOBS=1 tests       one at a time
 *     TG_TIMES=1 tests      ends with the time of every suite, not of the five slowest
 *
 * The last line is libcheck's, over all of them. */
#include "tests/support/temporary_files.h"

#include <check.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TG_SUITE(name)        Suite *name##_suite(void);
#define TG_SUITE_ALONE(name)  TG_SUITE(name)
#define TG_SUITE_OF_ALL(name) TG_SUITE(name)
#include "tests/suites.def"
#undef TG_SUITE
#undef TG_SUITE_ALONE
#undef TG_SUITE_OF_ALL

typedef enum place { TOGETHER, OF_ALL, ALONE } place;

static struct suite {
    const char *name;
    Suite *(*make)(void);
    place place;
    bool wanted;
    pid_t process;
    FILE *said;
    double began, waited, used; /* seconds, the last of processors */
} suites[] = {
#define TG_SUITE(name)        {#name, name##_suite, TOGETHER, false, 0, NULL, 0, 0, 0},
#define TG_SUITE_ALONE(name)  {#name, name##_suite, ALONE, false, 0, NULL, 0, 0, 0},
#define TG_SUITE_OF_ALL(name) {#name, name##_suite, OF_ALL, false, 0, NULL, 0, 0, 0},
#include "tests/suites.def"
#undef TG_SUITE
#undef TG_SUITE_ALONE
#undef TG_SUITE_OF_ALL
};
enum { COUNT = sizeof suites / sizeof suites[0], BUDGET = 5, SHOWN = 5 };

/* Reads build/environment, which has the variables that `make check` sets; true if it set any. */
static bool completes_environment(void)
{
    char path[PATH_MAX + 32], line[4096];
    bool any = false;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    for (int up = 0; up < 2; up++) /* from build/bin/tests */
        while (length > 0 && path[--length] != '/')
            ;
    if (length <= 0)
        return false;
    strcpy(path + length, "/environment");
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strchr(line, '=');
        line[strcspn(line, "\n")] = '\0';
        if (!value)
            continue;
        *value++ = '\0';
        any |= !getenv(line) && setenv(line, value, 1) == 0;
    }
    if (file)
        fclose(file);
    return any;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int run_here(const struct suite *s)
{
    SRunner *runner = srunner_create(s->make());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool start(struct suite *s)
{
    s->said = tmpfile();
    s->began = now();
    fflush(NULL);
    s->process = s->said ? fork() : -1;
    if (s->process == 0) {
        dup2(fileno(s->said), STDOUT_FILENO);
        dup2(fileno(s->said), STDERR_FILENO);
        exit(run_here(s));
    }
    return s->process > 0;
}

typedef struct counts {
    int checks, failures, errors;
} counts;

/* Adds a suite's counts. Prints what else it said: each line once, under its name. */
static void read_suite(struct suite *s, int status, counts *all)
{
    char *line = NULL, *shown = NULL;
    size_t room = 0, size;
    counts c = {0};
    bool counted = false;
    FILE *show = open_memstream(&shown, &size);
    rewind(s->said);
    while (show && getline(&line, &room, s->said) > 0) {
        if (sscanf(line, "%*d%%: Checks: %d, Failures: %d, Errors: %d", &c.checks, &c.failures, &c.errors) == 3)
            counted = true;
        else if (strncmp(line, "Running suite(s): ", 18) != 0 && fflush(show) == 0 && !strstr(shown, line))
            fputs(line, show);
    }
    if (!counted || (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) != (c.failures + c.errors > 0)) {
        fprintf(show, "tests: the suite ended with status %d\n", status);
        c.errors++;
        c.checks += !counted;
    }
    fclose(show);
    if (size > 0)
        printf("---- %s\n%s", s->name, shown);
    all->checks += c.checks;
    all->failures += c.failures;
    all->errors += c.errors;
    fclose(s->said);
    free(line);
    free(shown);
}

static void wait_for_one(counts *all)
{
    int status;
    struct rusage usage;
    const pid_t process = wait4(-1, &status, 0, &usage);
    for (struct suite *s = suites; s < suites + COUNT; s++)
        if (s->process == process) {
            s->waited = now() - s->began;
            s->used = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                      1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
            read_suite(s, status, all);
            s->process = 0; /* a later suite may get its number */
        }
}

static int compare_used(const void *left, const void *right)
{
    const struct suite *a = left, *b = right;
    return (a->used < b->used) - (a->used > b->used);
}

static int run_one(void)
{
    struct suite *s = suites;
    while (!s->wanted)
        s++;
    return run_here(s);
}

static int run_all(void)
{
    const char *given = getenv("TG_JOBS");
    const long jobs = given && atol(given) > 0 ? atol(given) : sysconf(_SC_NPROCESSORS_ONLN);
    const double began = now();
    counts sum = {0};
    for (int alone = 0; alone < 2; alone++) {
        long running = 0;
        for (struct suite *s = suites; s < suites + COUNT; s++) {
            if (!s->wanted || (s->place == ALONE) != alone)
                continue;
            if (running == (alone ? 1 : jobs))
                wait_for_one(&sum), running--;
            if (!start(s))
                return perror("tests: cannot start a suite"), 2;
            running++;
        }
        while (running-- > 0)
            wait_for_one(&sum);
    }
    qsort(suites, COUNT, sizeof *suites, compare_used);
    printf("%.0f s; the slowest, in seconds of processor time, of which a suite may use %d:", now() - began, BUDGET);
    for (int i = 0; i < (getenv("TG_TIMES") ? COUNT : SHOWN) && suites[i].wanted; i++)
        printf("%s%s %.1f", i ? ", " : " ", suites[i].name, suites[i].used);
    const int wrong = sum.failures + sum.errors;
    printf("\n%d%%: Checks: %d, Failures: %d, Errors: %d\n", sum.checks ? 100 * (sum.checks - wrong) / sum.checks : 0,
           sum.checks, sum.failures, sum.errors);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const bool all = argc == 2 && strcmp(argv[1], "all") == 0, rest = argc == 2 && strcmp(argv[1], "rest") == 0;
    int wanted = 0;
    for (struct suite *s = suites; s < suites + COUNT; s++)
        wanted += s->wanted = all || ((argc < 2 || rest) && (s->place == OF_ALL) == rest);
    for (int a = 1; a < argc && !all && !rest; a++) {
        struct suite *s = suites;
        while (s < suites + COUNT && strcmp(argv[a], s->name) != 0)
            s++;
        if (s == suites + COUNT)
            return fprintf(stderr, "tests: there is no suite '%s' in tests/suites.def\n", argv[a]), 2;
        wanted += !s->wanted;
        s->wanted = true;
    }
    if (completes_environment()) /* and starts again, as sanitizers have already read theirs */
        execv("/proc/self/exe", argv);
    if (!temporary_root_make())
        return perror("tests: no folder for temporary files"), 2;
    const int status = wanted == 1 ? run_one() : run_all();
    temporary_root_remove();
    return status;
}
