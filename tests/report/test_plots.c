/* The display of a comparison: the table on the terminal and the pictures. */
#include "examples/programs/report/files.h"
#include "examples/programs/system/signals.h"
#include "plots/plots.h"
#include "examples/programs/report/runlog.h"
#include "tests/support/run_logs.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *plots_suite(void);

/* ---- the table ---------------------------------------------------------------------------------------------- */

static char *table_of(const runlog *log)
{
    static char text[8192];
    FILE *out = tmpfile();
    runlog_print_table_as(log, "table", out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    for (const char *letter = text; *letter; letter++)
        ck_assert_msg(*letter == '\n' || (*letter >= ' ' && *letter <= '~'), "not plain ASCII: %s", text);
    return text;
}

START_TEST(the_table_shows_every_activation_in_plain_text)
{
    runlog *log = run_log_small(true);
    char *text = table_of(log);
    ck_assert_ptr_nonnull(strstr(text, "81.25 (0.0-100.0)"));
    ck_assert_ptr_nonnull(strstr(text, "0.25 (0.00-1.84)"));
    ck_assert_ptr_nonnull(strstr(text, "1,001"));
    ck_assert_ptr_nonnull(strstr(text, "si,lu: 1 of 2 runs has not finished and is not counted."));
    runlog_free(log);
    log = run_log_small(false);
    ck_assert_ptr_null(strstr(table_of(log), "acc"));
    runlog_free(log);
}
END_TEST

START_TEST(the_table_comes_in_other_formats)
{
    static const struct {
        const char *format, *has;
    } cases[] = {{"markdown", "| gelu | 81.25 (0.0-100.0) | +12.50 | 0.25 (0.00-1.84) | -0.12 (-33.3 %) | "},
                 {"markdown", "\n|---|---:|---:|"},
                 {"latex", "\\\\\ngelu & 81.25 (0.0--100.0) & +12.50 & 0.25 (0.00--1.84) & $-$0.12 ($-$33.3 \\%) & "},
                 {"latex",
                  "% needs \\usepackage{booktabs}\n\\begin{tabular}{lrrrrrrr}\n\\toprule\nactivation & val acc \\% & "
                  "$\\Delta$ val acc & "},
                 {"latex", "\\end{tabular}\n"},
                 {"csv", "activation,best_val_accuracy,best_val_accuracy_low,"},
                 {"csv", "\ngelu,0.8125,0,1,0.125,"},
                 {"csv", "\n\"si,lu\",0.5,,,-0.25,"}};
    static char text[8192];
    runlog *log = run_log_small(true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *out = tmpfile();
        runlog_print_table_as(log, cases[i].format, out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        ck_assert_msg(strstr(text, cases[i].has) != NULL, "'%s' is not in\n%s", cases[i].has, text);
    }
    runlog_free(log);
}
END_TEST

START_TEST(one_seed_has_no_intervals)
{
    runlog *log = runlog_new(temporary_folder());
    for (int run = 0; run < 2; run++) {
        runlog_add_run(log, run ? "gelu_exact" : "relu", 1, 0, 1234567);
        for (int epoch = 1; epoch <= 2; epoch++)
            runlog_add_epoch(runlog_at(log, run), &(runlog_epoch){.epoch = epoch,
                                                                  .step = epoch,
                                                                  .val_loss = run ? 0.25 : 0.5,
                                                                  .val_accuracy = run ? 0.875 : 0.75,
                                                                  .seconds = 1e-4 * epoch});
        run_log_finish(log, run, run ? 0.25 : 0.5, run ? 0.875 : 0.75, NAN);
    }
    char *text = table_of(log);
    ck_assert_ptr_null(strstr(text, "+/-"));
    ck_assert_ptr_nonnull(strstr(text, "+12.50"));
    ck_assert_ptr_nonnull(strstr(text, "1,234,567"));
    ck_assert_ptr_nonnull(strstr(text, "One seed: no intervals."));
    runlog_free(log);
}
END_TEST

/* Two activations with two seeds each; the last `failed` runs do not finish. */
static const char *table_with_failures(size_t classes, int failed)
{
    static char no[] = "no", yes[] = "yes", *const names[] = {no, yes};
    runlog *log = runlog_new(temporary_folder());
    runlog_describe(log, &(runlog_about){.compared.class_names = classes ? names : NULL, .compared.classes = classes});
    for (int run = 0; run < 4; run++) {
        runlog_add_run(log, run % 2 ? "silu" : "relu", run < 2 ? 1 : 2, 0, 10);
        if (run >= 4 - failed)
            continue;
        runlog_add_epoch(runlog_at(log, run),
                         &(runlog_epoch){.epoch = 1, .step = 1, .val_loss = 0.5, .val_accuracy = classes ? 0.75 : NAN});
        run_log_finish(log, run, 0.5, classes ? 0.75 : NAN, NAN);
    }
    const char *text = table_of(log);
    runlog_free(log);
    return text;
}

START_TEST(where_runs_diverge_the_table_says_of_what_and_how_many)
{
    const char *text = table_with_failures(2, 4);
    ck_assert_msg(strstr(text, "relu") && strstr(text, "parameters") && !strstr(text, "loss"), "%s", text);
    ck_assert_msg(strstr(text, "\nNo run has finished.\n") && !strstr(text, "seed"), "%s", text);
    ck_assert_ptr_nonnull(strstr(table_with_failures(0, 2), "val loss"));
    text = table_with_failures(2, 2);
    ck_assert_msg(strstr(text, "\nNo two runs of one kind have finished: no intervals.\ndiff: difference to relu"),
                  "%s", text);
    ck_assert_ptr_nonnull(strstr(table_with_failures(2, 0), " over 2 seeds."));
}
END_TEST

START_TEST(the_table_says_whether_its_values_are_of_seeds_or_of_folds)
{
    static const struct {
        int seeds, folds;
        const char *says, *pairs;
    } cases[] = {{1, 3, " over 3 folds; folds share most training samples.", "fold by fold"},
                 {2, 3, " over 6 folds of all seeds.", "fold by fold"},
                 {3, 1, " over 3 seeds.", "seed by seed"}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        runlog *log = runlog_new(temporary_folder());
        for (int i = 0; i < 2 * cases[c].seeds * cases[c].folds; i++) {
            const int run = runlog_add_run(log, i % 2 ? "silu" : "relu", (uint64_t)(i / 2 / cases[c].folds),
                                           i / 2 % cases[c].folds, 10);
            runlog_add_epoch(
                runlog_at(log, run),
                &(runlog_epoch){.epoch = 1, .step = 1, .val_loss = 0.5 + 0.01 * i * i, .val_accuracy = NAN});
            run_log_finish(log, run, 0.5 + 0.01 * i * i, NAN, NAN);
        }
        const char *text = table_of(log);
        ck_assert_msg(strstr(text, cases[c].says) && strstr(text, cases[c].pairs), "%s", text);
        runlog_free(log);
    }
}
END_TEST

/* ---- pictures ----------------------------------------------------------------------------------------------- */

static bool have_gnuplot(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") == 0)
        return true;
    puts("pictures: skipped, gnuplot is not installed");
    return false;
}

static void ck_assert_picture(const char *name, const char *begin)
{
    ck_assert_msg(strncmp(temporary_text(name), begin, strlen(begin)) == 0, "%s does not begin with %s", name, begin);
    ck_assert_int_gt(strlen(begin), 0);
    struct stat status;
    ck_assert_int_eq(stat(temporary_path(name), &status), 0);
    ck_assert_int_gt(status.st_size, 5000);
}

/* A report must be readable on a telephone without scrolling sideways. There, a text size of 14 in a picture 900 wide
 * is too small. */
static void ck_assert_fits_a_report(const char *name)
{
    int width = 0;
    const char *size = strstr(temporary_text(name), "<svg");
    ck_assert(size && (size = strstr(size, "width=\"")) && sscanf(size, "width=\"%d\"", &width) == 1);
    ck_assert_msg(width > 0 && width <= 800, "%s is %d wide", name, width);
}

START_TEST(pictures_are_drawn_and_old_ones_do_not_linger)
{
    tg_error error;
    if (!have_gnuplot())
        return;
    runlog *log = run_log_small(true);
    run_log_write(log);
    ck_assert_msg(plots_draw(temporary_folder(), &(plots_look){.title = "it's a title, 100 %"}, &error) == PLOTS_DRAWN,
                  "%s", error.text);
    ck_assert_picture("loss.png", "\x89PNG\r\n");
    ck_assert_picture("accuracy.png", "\x89PNG\r\n");
    ck_assert_picture("loss.svg", "<?xml");
    ck_assert_picture("accuracy.svg", "<?xml");
    ck_assert_fits_a_report("loss.svg");
    ck_assert_fits_a_report("accuracy.svg");
    ck_assert_ptr_nonnull(strstr(temporary_text("loss.svg"), "it's a title, 100 %"));
    runlog_free(log);

    log = run_log_small(false);
    run_log_write(log);
    ck_assert_msg(plots_draw(temporary_folder(), &(plots_look){0}, &error) == PLOTS_DRAWN, "%s", error.text);
    ck_assert(temporary_exists("loss.png") && !temporary_exists("accuracy.png") && !temporary_exists("accuracy.svg"));
    runlog_free(log);
}
END_TEST

START_TEST(many_activations_are_drawn_as_small_multiples)
{
    static const char *const names[] = {"relu", "elu", "silu", "gelu", "tanh", "mish", "selu", "glu", "swiglu"};
    tg_error error;
    if (!have_gnuplot())
        return;
    runlog *log = runlog_new(temporary_folder());
    for (int seed = 1; seed <= 3; seed++)
        for (int a = 0; a < 9; a++) {
            const int run = runlog_add_run(log, names[a], (uint64_t)seed, 0, 1);
            const double loss = a == 8 ? 1e12 : 0.1 * a + 0.03 * seed; /* the last diverges */
            runlog_add_epoch(runlog_at(log, run), &(runlog_epoch){.epoch = 1,
                                                                  .step = 1,
                                                                  .train_loss = loss,
                                                                  .val_loss = loss,
                                                                  .val_accuracy = 0.9 - 0.01 * a * seed});
            run_log_finish(log, run, loss, 0.9 - 0.01 * a * seed, NAN);
        }
    run_log_write(log);
    ck_assert_msg(plots_draw(temporary_folder(), &(plots_look){0}, &error) == PLOTS_DRAWN, "%s", error.text);
    ck_assert_picture("loss.png", "\x89PNG\r\n");
    ck_assert_picture("accuracy.svg", "<?xml");
    ck_assert_fits_a_report("loss.svg");
    ck_assert_ptr_nonnull(strstr(temporary_text("loss.svg"), "swiglu  diverged"));
    ck_assert_ptr_nonnull(strstr(temporary_text("accuracy.svg"), "grey: the others"));
    runlog_free(log);
}
END_TEST

START_TEST(a_search_is_drawn)
{
    tg_error error;
    if (!have_gnuplot())
        return;
    runlog *log = run_log_small(true);
    for (int run = 0; run < 6; run++)
        runlog_set_point(log, run, run % 2 ? "lr 0.1" : "lr 0.001", run % 2 ? 0.1 : 0.001);
    run_log_write(log);
    ck_assert_msg(plots_draw(temporary_folder(), &(plots_look){.searched = "lr"}, &error) == PLOTS_DRAWN, "%s",
                  error.text);
    ck_assert_picture("search.png", "\x89PNG\r\n");
    ck_assert_picture("search.svg", "<?xml");
    ck_assert_fits_a_report("search.svg");
    ck_assert_ptr_nonnull(strstr(temporary_text("loss.svg"), "gelu, lr 0."));
    FILE *letters = tmpfile();
    ck_assert(plots_show(temporary_folder(), letters));
    rewind(letters);
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, letters)] = '\0';
    fclose(letters);
    ck_assert_msg(strstr(text, "gelu, lr 0.") != NULL, "%s", text);
    ck_assert_ptr_null(strstr(temporary_text("search.svg"), "each with its learning rate"));
    const plots_look scales = {.searched = "init-scale", .searched_rates = "0.1 0.0316 0.001 0.5"};
    ck_assert_msg(plots_draw(temporary_folder(), &scales, &error) == PLOTS_DRAWN, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(temporary_text("search.svg"), "init-scale, each with its learning rate (lr)"));
    ck_assert_ptr_nonnull(strstr(temporary_text("search.svg"), "lr 0.0316"));
    ck_assert_ptr_nonnull(strstr(temporary_text("search.svg"), "lr 0.5"));
    ck_assert_msg(plots_draw(temporary_folder(), &(plots_look){0}, &error) == PLOTS_DRAWN, "%s", error.text);
    ck_assert(!temporary_exists("search.png") && !temporary_exists("search.svg"));
    runlog_free(log);
}
END_TEST

START_TEST(curves_are_drawn_in_letters)
{
    static char text[1 << 16];
    if (!have_gnuplot())
        return;
    runlog *log = run_log_small(true);
    run_log_write(log);
    FILE *out = tmpfile();
    ck_assert(plots_show(temporary_folder(), out));
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "validation loss over epochs"));
    ck_assert_ptr_nonnull(strstr(text, "validation accuracy (%) over epochs"));
    ck_assert_ptr_nonnull(strstr(text, "gelu 0.250"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        ck_assert_int_lt(strcspn(line, "\n"), 80);
    for (const char *letter = text; *letter; letter++)
        ck_assert(*letter == '\n' || (*letter >= ' ' && *letter <= '~'));
    runlog_free(log);
}
END_TEST

START_TEST(without_gnuplot_one_line_says_so)
{
    tg_error error = {""};
    char *path = strdup(getenv("PATH"));
    runlog *log = run_log_small(true);
    run_log_write(log);
    setenv("PATH", temporary_folder(), 1);
    const plots_outcome outcome = plots_draw(temporary_folder(), &(plots_look){0}, &error);
    setenv("PATH", path, 1);
    free(path);
    ck_assert_int_eq(outcome, PLOTS_NOTHING);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot run gnuplot"));
    ck_assert(!temporary_exists("loss.png"));
    runlog_free(log);
}
END_TEST

/* How many names in the temporary folder begin with this. */
static int entries_like(const char *begin)
{
    int count = 0;
    DIR *opened = opendir(temporary_folder());
    for (const struct dirent *entry; (entry = readdir(opened));)
        count += strncmp(entry->d_name, begin, strlen(begin)) == 0;
    closedir(opened);
    return count;
}

/* A copy without scripts beside it. The second list is followed by a variable that must not be read as a part of it. */
START_TEST(a_program_moved_alone_finds_its_scripts_in_a_list_of_folders)
{
    static const char *const lists[] = {"\"XDG_DATA_DIRS=/none::$PWD/data\"", "\"XDG_DATA_DIRS=/none $PWD/data:=1\""};
    if (!have_gnuplot())
        return;
    expect_fine(
        train_run("build=$(dirname \"$(dirname \"$(command -v activations)\")\")",
                  "&& mkdir -p alone/bin data/tapegrad && cp \"$build\"/bin/activations alone/bin && "
                  "ln -s \"$build\"/lib*.so* alone && cp -r \"$(readlink -f \"$build/plots\")\" data/tapegrad/plots"));
    for (int i = 0; i < 2; i++) {
        expect_fine(train_run("env",
                              "-u HOME -u XDG_DATA_HOME -u XDG_DATA_DIRS %s alone/bin/activations --points 5 --out o%d",
                              lists[i], i));
        ck_assert_msg(temporary_exists(i ? "o1/activations.png" : "o0/activations.png") == (i == 0), "%s",
                      train_output);
    }
}
END_TEST

START_TEST(a_full_disk_keeps_the_old_pictures_and_is_told)
{
    tg_error error = {""};
    struct rlimit before, tiny;
    if (!have_gnuplot())
        return;
    runlog *log = run_log_small(true);
    run_log_write(log);
    temporary_write("loss.png", "precious", 8);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN); /* gnuplot inherits the limit, and does not check its writes */
    getrlimit(RLIMIT_FSIZE, &before);
    tiny = before;
    tiny.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &tiny);
    const plots_outcome outcome = plots_draw(temporary_folder(), &(plots_look){0}, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    ck_assert_int_eq(outcome, PLOTS_FAILED);
    ck_assert_msg(strstr(error.text, "no pictures are drawn") != NULL, "%s", error.text);
    ck_assert_str_eq(temporary_text("loss.png"), "precious");
    ck_assert_int_eq(entries_like(".pictures"), 0);
    runlog_free(log);
}
END_TEST

/* A fake gnuplot that draws half a picture and then sleeps for a minute. */
static void slow_gnuplot(void)
{
    static const char script[] =
        "#!/bin/sh\nfor a; do case $a in *out=*) out=${a#*out=\\'}; out=${out%%\\'*};; esac; done\n"
        "echo half > \"$out/loss.png\"; kill -TERM $PPID; exec sleep 60\n";
    temporary_write("gnuplot", script, sizeof script - 1);
    ck_assert_int_eq(chmod(temporary_path("gnuplot"), 0755), 0);
}

START_TEST(a_signal_ends_gnuplot_and_leaves_nothing_behind)
{
    tg_error error = {""};
    char search[700], *path = strdup(getenv("PATH"));
    runlog *log = run_log_small(true);
    run_log_write(log);
    slow_gnuplot();
    snprintf(search, sizeof search, "%s:%s", temporary_folder(), path);
    setenv("PATH", search, 1);
    void (*before)(int) = signal(SIGTERM, SIG_DFL);
    const plots_outcome outcome = plots_draw(temporary_folder(), &(plots_look){0}, &error);
    ck_assert(signal(SIGTERM, before) == SIG_DFL);
    setenv("PATH", path, 1);
    free(path);
    ck_assert_int_eq(outcome, PLOTS_INTERRUPTED);
    ck_assert_int_eq(signals_status(), 143);
    ck_assert(!temporary_exists("loss.png"));
    ck_assert_int_eq(entries_like(".pictures"), 0);
    runlog_free(log);
}
END_TEST

START_TEST(what_a_killed_program_left_is_removed)
{
    tg_error error;
    char left[64];
    runlog *log = run_log_small(true);
    run_log_write(log);
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(dead, NULL, 0), dead);
    snprintf(left, sizeof left, ".pictures.%ld%s", (long)dead, files_machine());
    ck_assert_int_eq(mkdir(temporary_path(left), 0777), 0);
    snprintf(left, sizeof left, ".pictures.%ld%s/loss.png", (long)dead, files_machine());
    temporary_write(left, "half", 4);
    snprintf(left, sizeof left, ".pictures.%ld%s", (long)getppid(), files_machine()); /* a process that lives */
    ck_assert_int_eq(mkdir(temporary_path(left), 0777), 0);
    plots_draw(temporary_folder(), &(plots_look){0}, &error);
    ck_assert_int_eq(entries_like(".pictures"), 1);
    ck_assert_int_eq(rmdir(temporary_path(left)), 0);
    runlog_free(log);
}
END_TEST

/* The name of a folder that a program which has ended would have left. */
static const char *left_folder(void)
{
    static char left[64];
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(dead, NULL, 0), dead);
    snprintf(left, sizeof left, ".pictures.%ld%s", (long)dead, files_machine());
    return left;
}

START_TEST(links_in_the_folder_of_results_lead_nowhere)
{
    tg_error error;
    char inside[128];
    runlog *log = run_log_small(true);
    run_log_write(log);
    ck_assert_int_eq(mkdir(temporary_path("elsewhere"), 0777), 0);
    temporary_write("elsewhere/precious", "x", 1);
    const char *left = left_folder();
    ck_assert_int_eq(symlink(temporary_path("elsewhere"), temporary_path(left)), 0);
    plots_draw(temporary_folder(), &(plots_look){0}, &error);
    ck_assert_str_eq(temporary_text("elsewhere/precious"), "x");
    ck_assert(!temporary_exists(left));

    ck_assert_int_eq(mkdir(temporary_path(left), 0777), 0);
    snprintf(inside, sizeof inside, "%s/loss.png", left);
    ck_assert_int_eq(symlink(temporary_path("elsewhere/precious"), temporary_path(inside)), 0);
    plots_draw(temporary_folder(), &(plots_look){0}, &error);
    ck_assert(!temporary_exists(left));
    ck_assert_str_eq(temporary_text("elsewhere/precious"), "x");
    runlog_free(log);
}
END_TEST

START_TEST(a_gnuplot_that_hangs_is_ended)
{
    static const char script[] = "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n";
    tg_error error = {""};
    char search[700], *path = strdup(getenv("PATH"));
    runlog *log = run_log_small(true);
    run_log_write(log);
    temporary_write("gnuplot", script, sizeof script - 1);
    ck_assert_int_eq(chmod(temporary_path("gnuplot"), 0755), 0);
    snprintf(search, sizeof search, "%s:%s", temporary_folder(), path);
    setenv("PATH", search, 1);
    setenv("TG_GNUPLOT_SECONDS", "0.1", 1);
    ck_assert_int_eq(plots_draw(temporary_folder(), &(plots_look){0}, &error), PLOTS_FAILED);
    unsetenv("TG_GNUPLOT_SECONDS");
    setenv("PATH", path, 1);
    free(path);
    ck_assert_msg(strstr(error.text, "gnuplot was ended after 0.1 seconds") != NULL, "%s", error.text);
    ck_assert_int_eq(entries_like(".pictures"), 0);
    runlog_free(log);
}
END_TEST

START_TEST(bands_that_cannot_be_read_are_a_failure)
{
    tg_error error = {""};
    ck_assert_int_eq(mkdir(temporary_path("bands.csv"), 0777), 0);
    ck_assert_int_eq(plots_draw(temporary_folder(), &(plots_look){0}, &error), PLOTS_FAILED);
    ck_assert_msg(strstr(error.text, "bands.csv': Is a directory") != NULL, "%s", error.text);
}
END_TEST

START_TEST(nothing_to_draw_is_said)
{
    tg_error error = {""};
    ck_assert_int_eq(plots_draw(temporary_folder(), &(plots_look){0}, &error), PLOTS_NOTHING);
    ck_assert_ptr_nonnull(strstr(error.text, "bands.csv"));
    runlog *log = runlog_new(temporary_folder());
    runlog_add_run(log, "relu", 1, 0, 1);
    run_log_write(log);
    ck_assert_int_eq(plots_draw(temporary_folder(), &(plots_look){0}, &error), PLOTS_NOTHING);
    ck_assert_ptr_nonnull(strstr(error.text, "no epoch was finished"));
    runlog_free(log);
}
END_TEST

Suite *plots_suite(void)
{
    Suite *suite = suite_create("plots");
    TCase *tests = tcase_create("plots");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_table_shows_every_activation_in_plain_text);
    tcase_add_test(tests, the_table_comes_in_other_formats);
    tcase_add_test(tests, one_seed_has_no_intervals);
    tcase_add_test(tests, the_table_says_whether_its_values_are_of_seeds_or_of_folds);
    tcase_add_test(tests, where_runs_diverge_the_table_says_of_what_and_how_many);
    tcase_add_test(tests, pictures_are_drawn_and_old_ones_do_not_linger);
    tcase_add_test(tests, many_activations_are_drawn_as_small_multiples);
    tcase_add_test(tests, a_search_is_drawn);
    tcase_add_test(tests, curves_are_drawn_in_letters);
    tcase_add_test(tests, without_gnuplot_one_line_says_so);
    tcase_add_test(tests, a_program_moved_alone_finds_its_scripts_in_a_list_of_folders);
    tcase_add_test(tests, a_full_disk_keeps_the_old_pictures_and_is_told);
    tcase_add_test(tests, a_signal_ends_gnuplot_and_leaves_nothing_behind);
    tcase_add_test(tests, what_a_killed_program_left_is_removed);
    tcase_add_test(tests, links_in_the_folder_of_results_lead_nowhere);
    tcase_add_test(tests, a_gnuplot_that_hangs_is_ended);
    tcase_add_test(tests, bands_that_cannot_be_read_are_a_failure);
    tcase_add_test(tests, nothing_to_draw_is_said);
    suite_add_tcase(suite, tests);
    return suite;
}
