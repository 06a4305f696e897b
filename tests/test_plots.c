/* How a comparison is shown: the table on the terminal and the pictures. */
#include "plots/plots.h"
#include "examples/lab/runlog.h"
#include "tests/run_logs.h"
#include "tests/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *plots_suite(void);

/* ---- the table ---------------------------------------------------------------------------------------------- */

static char *table_of(const runlog *log)
{
    static char text[8192];
    FILE *out = tmpfile();
    runlog_print_table(log, out);
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
    ck_assert_ptr_nonnull(strstr(text, "68.75 +/-79.41"));
    ck_assert_ptr_nonnull(strstr(text, "-0.250 +/-1.588 "));
    ck_assert_ptr_nonnull(strstr(text, "1,001"));
    ck_assert_ptr_nonnull(strstr(text, "si,lu: 1 of 2 runs did not finish and are not counted."));
    runlog_free(log);
    log = run_log_small(false);
    ck_assert_ptr_null(strstr(table_of(log), "acc"));
    runlog_free(log);
}
END_TEST

START_TEST(one_seed_has_no_intervals)
{
    runlog *log = runlog_new(temporary_folder());
    for (int run = 0; run < 2; run++) {
        runlog_add_run(log, run ? "gelu_exact" : "relu", 1, 1234567);
        for (int epoch = 1; epoch <= 2; epoch++)
            runlog_add_epoch(log, run,
                             &(runlog_epoch){.epoch = epoch,
                                             .step = epoch,
                                             .val_loss = run ? 0.25 : 0.5,
                                             .val_accuracy = run ? 0.875 : 0.75,
                                             .seconds = 1e-4 * epoch});
        runlog_finish_run(log, run);
    }
    char *text = table_of(log);
    ck_assert_ptr_null(strstr(text, "+/-"));
    ck_assert_ptr_nonnull(strstr(text, "+12.50"));
    ck_assert_ptr_nonnull(strstr(text, "1,234,567"));
    ck_assert_ptr_nonnull(strstr(text, "One seed: no intervals."));
    runlog_free(log);
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
    ck_assert_msg(strncmp(temporary_text(name), begin, strlen(begin)) == 0, "%s does not begin with %s", name,
                  begin);
    ck_assert_int_gt(strlen(begin), 0);
    struct stat status;
    ck_assert_int_eq(stat(temporary_path(name), &status), 0);
    ck_assert_int_gt(status.st_size, 5000);
}

START_TEST(pictures_are_drawn_and_old_ones_do_not_linger)
{
    char message[PLOTS_MESSAGE];
    if (!have_gnuplot())
        return;
    runlog *log = run_log_small(true);
    run_log_write(log);
    ck_assert_msg(plots_draw(temporary_folder(), "it's a title, 100 %", message), "%s", message);
    ck_assert_picture("loss.png", "\x89PNG\r\n");
    ck_assert_picture("accuracy.png", "\x89PNG\r\n");
    ck_assert_picture("loss.svg", "<?xml");
    ck_assert_picture("accuracy.svg", "<?xml");
    ck_assert_ptr_nonnull(strstr(temporary_text("loss.svg"), "it's a title, 100 %"));
    runlog_free(log);

    log = run_log_small(false);
    run_log_write(log);
    ck_assert_msg(plots_draw(temporary_folder(), NULL, message), "%s", message);
    ck_assert(temporary_exists("loss.png") && !temporary_exists("accuracy.png") &&
              !temporary_exists("accuracy.svg"));
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
    char message[PLOTS_MESSAGE] = "", *path = strdup(getenv("PATH"));
    runlog *log = run_log_small(true);
    run_log_write(log);
    setenv("PATH", temporary_folder(), 1);
    bool drawn = plots_draw(temporary_folder(), NULL, message);
    setenv("PATH", path, 1);
    free(path);
    ck_assert(!drawn);
    ck_assert_ptr_nonnull(strstr(message, "cannot run gnuplot"));
    ck_assert(!temporary_exists("loss.png"));
    runlog_free(log);
}
END_TEST

START_TEST(nothing_to_draw_is_said)
{
    char message[PLOTS_MESSAGE] = "";
    ck_assert(!plots_draw(temporary_folder(), NULL, message));
    ck_assert_ptr_nonnull(strstr(message, "bands.csv"));
    runlog *log = runlog_new(temporary_folder());
    runlog_add_run(log, "relu", 1, 1);
    run_log_write(log);
    ck_assert(!plots_draw(temporary_folder(), NULL, message));
    ck_assert_ptr_nonnull(strstr(message, "no epoch was finished"));
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
    tcase_add_test(tests, one_seed_has_no_intervals);
    tcase_add_test(tests, pictures_are_drawn_and_old_ones_do_not_linger);
    tcase_add_test(tests, curves_are_drawn_in_letters);
    tcase_add_test(tests, without_gnuplot_one_line_says_so);
    tcase_add_test(tests, nothing_to_draw_is_said);
    suite_add_tcase(suite, tests);
    return suite;
}
