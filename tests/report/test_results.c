/* Additions of a comparison to its table: steps, confusion, noise, surfaces; and the pictures and the report made from
 * these. */
#include "plots/plots.h"
#include "tests/support/run_programs.h"
#include "tests/support/run_logs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *results_suite(void);

/* ---- files of synthetic runs ---- */

static void add_series(runlog *log)
{
    for (int run = 0; run < 6; run++) {
        const double first = run; /* twice the activation, plus the seed less one */
        runlog_add_series(runlog_at(log, run), RUNLOG_STEPS, (double[]){5, 1 + first, 10, 2 + first}, 4);
        runlog_add_series(runlog_at(log, run), RUNLOG_CONFUSION, (double[]){first, 1, 2, 10}, 4);
        runlog_add_series(runlog_at(log, run), RUNLOG_NOISE, (double[]){0, first, 0.75}, 3);
        runlog_add_series(runlog_at(log, run), RUNLOG_NOISE, (double[]){0.5, 2 * first, 0.5}, 3);
    }
    static char no[] = "no", yes[] = "yes, it \"is\"", *const names[] = {no, yes};
    runlog_describe(log, &(runlog_about){.compared.class_names = names, .compared.classes = 2});
}

START_TEST(series_are_written_over_the_finished_runs)
{
    runlog *log = run_log_small(true);
    add_series(log);
    run_log_write(log);
    const char *confusion = temporary_text("confusion.csv");
    ck_assert_str_eq(confusion,
                     "activation,class,no,\"yes, it \"\"is\"\"\"\n"
                     "relu,no,1,2\nrelu,\"yes, it \"\"is\"\"\",4,20\n"
                     "gelu,no,5,2\ngelu,\"yes, it \"\"is\"\"\",4,20\n"
                     "\"si,lu\",no,4,1\n\"si,lu\",\"yes, it \"\"is\"\"\",2,10\n"); /* one of two seeds has finished */
    const char *steps = temporary_text("step_bands.csv");
    ck_assert_ptr_nonnull(strstr(
        steps, "\nrelu,5,2,1.5,1,2,,,\nrelu,10,2,2.5,2,3,,,\nrelu,10,2,,,,0.5,0.5,0.5\nrelu,20,2,,,,0.5,0.25,0.75\n"));
    ck_assert_ptr_nonnull(strstr(steps, "\n\"si,lu\",5,1,5,,,,,\n"));
    const char *noise = temporary_text("noise.csv");
    ck_assert_ptr_nonnull(strstr(noise,
                                 "activation,noise,runs,loss,loss_low,loss_high,accuracy,accuracy_low,accuracy_high\n"
                                 "relu,0,2,0.5,0,1,0.75,0.75,0.75\nrelu,0.5,2,1,0,2,0.5,0.5,0.5\n"));
    ck_assert(!temporary_exists("surface.csv") && !temporary_exists("points.csv"));
    runlog_free(log);
}
END_TEST

START_TEST(files_of_an_earlier_comparison_do_not_linger)
{
    runlog *log = run_log_small(true);
    add_series(log);
    run_log_write(log);
    ck_assert(temporary_exists("step_bands.csv") && temporary_exists("confusion.csv") && temporary_exists("noise.csv"));
    runlog_free(log);
    log = run_log_small(true);
    run_log_write(log);
    ck_assert(!temporary_exists("step_bands.csv") && !temporary_exists("confusion.csv") &&
              !temporary_exists("noise.csv"));
    runlog_free(log);
}
END_TEST

/* After a list of rates the hint advises a search, after a search that ended there it does not. */
START_TEST(the_hint_at_an_edge_advises_no_search_after_a_search)
{
    static char text[1 << 15];
    for (int searched = 0; searched < 2; searched++) {
        runlog *log = run_log_small(true);
        runlog_describe(log, &(runlog_about){.searched = searched});
        for (int run = 0; run < 6; run++)
            runlog_set_point(log, run, run % 2 ? "lr 0.1" : "lr 0.001", run % 2 ? 0.1 : 0.001);
        FILE *out = tmpfile();
        runlog_print_table_as(log, "table", out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        runlog_free(log);
        const char *hint = strstr(text, "Hint: best at the edge of the learning rates:");
        ck_assert_msg(hint != NULL, "%s", text);
        ck_assert((strstr(hint, "where the search ended.") != NULL) == searched);
        ck_assert((strstr(hint, "--lr auto.") != NULL) != searched);
    }
}
END_TEST

START_TEST(a_search_tells_of_the_best_points)
{
    runlog *log = run_log_small(true);
    add_series(log);
    for (int run = 0; run < 6; run++)
        runlog_set_point(log, run, run % 2 ? "lr 0.1" : "lr 0.001", run % 2 ? 0.1 : 0.001);
    run_log_write(log);
    const char *confusion = temporary_text("confusion.csv");
    ck_assert_ptr_nonnull(strstr(confusion, "\nrelu,no,0,1\n")); /* the first run of relu has the lower loss */
    ck_assert_ptr_nonnull(strstr(confusion, "\ngelu,no,2,1\n"));
    const char *curves = temporary_text("curves.csv");
    ck_assert_ptr_nonnull(strstr(curves, "relu,lr 0.001,1,0,1,10,0.333333333,0.5,0.5,inf,0,1,1,0.500000\n"));
    ck_assert_ptr_nonnull(strstr(curves, "relu,lr 0.1,2,0,1,10,0.333333333,0.5,0.625,inf,0,1,0,0.500000\n"));
    runlog_free(log);
}
END_TEST

static bool have_gnuplot(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

START_TEST(each_series_has_its_picture)
{
    tg_error error;
    if (!have_gnuplot())
        return;
    runlog *log = run_log_small(true);
    add_series(log);
    for (int i = 0; i < RUNLOG_SURFACE_SIDE * RUNLOG_SURFACE_SIDE; i++)
        runlog_add_series(runlog_at(log, 0), RUNLOG_SURFACE,
                          (double[]){i % RUNLOG_SURFACE_SIDE, i / RUNLOG_SURFACE_SIDE, i % 2, 0.5 + 0.5 * (i % 3) / 3.},
                          4);
    runlog_add_series(runlog_at(log, 0), RUNLOG_POINTS, (double[]){3, 50, 0, 70, 30, 1}, 6);
    run_log_write(log);
    const plots_look look = {.class_names = (char *[]){(char[]){"it's"}, (char[]){"two"}},
                             .classes = 2,
                             .feature_names = (char *[]){(char[]){"length"}, (char[]){"width"}}};
    ck_assert_msg(plots_draw(temporary_folder(), &look, &error) == PLOTS_DRAWN, "%s", error.text);
    static const char *const pictures[] = {"loss.svg",  "steps.svg",    "accuracy.svg",
                                           "noise.svg", "boundary.svg", "boundary.png"};
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++)
        ck_assert_msg(temporary_exists(pictures[i]), "no %s", pictures[i]);
    const char *boundary = temporary_text("boundary.svg");
    static const char *const has[] = {"it's", "length", "width", "data:image/png"};
    for (size_t i = 0; i < sizeof has / sizeof has[0]; i++)
        ck_assert_msg(strstr(boundary, has[i]) != NULL, "no %s", has[i]);
    runlog_free(log);

    log = run_log_small(true);
    run_log_write(log);
    ck_assert_msg(plots_draw(temporary_folder(), &(plots_look){0}, &error) == PLOTS_DRAWN, "%s", error.text);
    ck_assert(!temporary_exists("steps.svg") && !temporary_exists("noise.png") && !temporary_exists("boundary.svg"));
    runlog_free(log);
}
END_TEST

/* ---- files of real runs ---- */

/* Column `column` of the first row that begins with this; NaN if there is none. */
static double number_in(const char *file, const char *begin, int column)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, "\n%s,", begin);
    const char *at = strstr(temporary_text(file), wanted);
    for (at = at ? at + 1 : NULL; at && column > 0; column--)
        at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    return at && *at != ',' && *at != '\n' ? atof(at) : NAN;
}

static int column_of(const char *file, const char *name)
{
    char header[8192];
    snprintf(header, sizeof header, "%.*s", (int)strcspn(temporary_text(file), "\n"), temporary_text(file));
    int column = 0;
    for (char *field = strtok(header, ","); field; field = strtok(NULL, ","), column++)
        if (strcmp(field, name) == 0)
            return column;
    ck_abort_msg("%s has no %s", file, name);
    return -1;
}

/* The additional results come from the net of the best epoch. Without noise, its accuracy equals the table's. Its
 * confusion matrix counts all test rows, and the diagonal counts the right ones. */
START_TEST(the_net_at_the_best_epoch_is_kept)
{
    static const char *const activations[] = {"relu", "swiglu"};
    char errors[4000], arguments[600];
    snprintf(arguments, sizeof arguments,
             "--data moons --rows 200 --hidden 6x2 --norm batch --lr 0.3 --schedule constant --activations relu,swiglu "
             "--seeds 2 --epochs 8 "
             "--test-noise 0,0.5 --report --no-plots --out '%s/out'",
             temporary_folder());
    ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
    for (int i = 0; i < 2; i++) {
        char begin[64];
        snprintf(begin, sizeof begin, "%s,0", activations[i]);
        const double loss =
            number_in("out/summary.csv", activations[i], column_of("out/summary.csv", "test_loss_mean"));
        const double accuracy =
            number_in("out/summary.csv", activations[i], column_of("out/summary.csv", "test_accuracy_mean"));
        ck_assert_double_eq_tol(number_in("out/noise.csv", begin, 3), loss, 1e-6 * loss);
        ck_assert_double_eq_tol(number_in("out/noise.csv", begin, 6), accuracy, 1e-6);
        double counts[2][2];
        for (int label = 0; label < 2; label++)
            for (int answer = 0; answer < 2; answer++) {
                snprintf(begin, sizeof begin, "%s,%d", activations[i], label);
                counts[label][answer] = number_in("out/confusion.csv", begin, 2 + answer);
            }
        ck_assert_double_eq(counts[0][0] + counts[0][1] + counts[1][0] + counts[1][1], 80); /* 40 rows, two seeds */
        ck_assert_double_eq_tol((counts[0][0] + counts[1][1]) / 80, accuracy, 1e-6);
    }
    const char *surface = temporary_text("out/surface.csv");
    int rows = -1;
    for (const char *letter = surface; *letter; letter++)
        rows += *letter == '\n';
    ck_assert_int_eq(rows, 2 * RUNLOG_SURFACE_SIDE * RUNLOG_SURFACE_SIDE);
}
END_TEST

/* If all batches are full, the mean over an epoch's steps is the epoch's training loss. */
START_TEST(steps_add_up_to_epochs)
{
    char errors[4000], arguments[600];
    snprintf(arguments, sizeof arguments,
             "--data sine --rows 400 --hidden 4 --activations relu --seeds 1 --epochs 2 --batch 60 --no-plots --out "
             "'%s/out'",
             temporary_folder()); /* 240 rows for training */
    ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
    double sum = 0;
    for (int step = 1; step <= 4; step++) {
        char begin[32];
        snprintf(begin, sizeof begin, "relu,%d,1", step);
        sum += number_in("out/step_bands.csv", begin, 3);
    }
    ck_assert_double_eq_tol(
        sum / 4, number_in("out/curves.csv", "relu,,1,0,1", column_of("out/curves.csv", "train_loss")), 1e-7);
    ck_assert(!temporary_exists("out/confusion.csv"));
}
END_TEST

START_TEST(a_report_is_one_file)
{
    char errors[4000], arguments[600];
    snprintf(arguments, sizeof arguments,
             "--data moons --rows 100 --hidden 4 --activations relu,silu --seeds 2 --epochs 2 --report --out '%s/a<b'",
             temporary_folder());
    ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
    const char *html = temporary_text("a<b/report.html");
    static const char *const has[] = {"<!DOCTYPE html>",
                                      ">test acc %</th>",
                                      "moons: 100 rows, 2 features; classification",
                                      "/a&lt;b'",
                                      "&quot;activations&quot;: &quot;relu,silu&quot;",
                                      "<caption>silu</caption>",
                                      "</body></html>"};
    for (size_t i = 0; i < sizeof has / sizeof has[0]; i++)
        ck_assert_msg(strstr(html, has[i]) != NULL, "no %s", has[i]);
    ck_assert_int_eq(strncmp(html, has[0], strlen(has[0])), 0);
    ck_assert_ptr_null(strstr(html, "http")); /* nothing from elsewhere */
    ck_assert_ptr_nonnull(strstr(html, "Confusion matrix"));
    if (have_gnuplot())
        ck_assert_ptr_nonnull(
            strstr(html, "<img alt=\"Loss over epochs\" src=\"data:image/svg+xml;base64,PD94bWwg")); /* <?xml */
}
END_TEST

START_TEST(numbers_are_not_mistaken_for_each_other)
{
    char errors[4000], arguments[600];
    snprintf(
        arguments, sizeof arguments,
        "--data sine --rows 100 --hidden 4 --activations relu,silu --seeds 1 --epochs 1 --no-plots --report --out '%s'",
        temporary_folder());
    ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
    ck_assert_ptr_null(strstr(temporary_text("report.html"), "Confusion matrix"));
}
END_TEST

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == 0x7f ||
            strncmp(text, "\xc2\x9b", 2) == 0)
            return false;
    return true;
}

/* Terminals obey these characters, and XML does not allow them. */
START_TEST(control_characters_of_a_table_stay_in_it)
{
    static const char *const files[] = {"report.html", "boundary.svg", "loss.svg"};
    static const char classes[] = "\"a\nb\",\"\033[31mc\a\",kind\n", numbers[] = "a,b,\"\033]0;x\a\xc2\x9b"
                                                                                 "1m\"\n";
    char text[4000], errors[4000], arguments[600];
    for (int regression = 0; regression < 2; regression++) {
        size_t length = (size_t)sprintf(text, "%s", regression ? numbers : classes);
        for (int row = 0; row < 60; row++)
            length += (size_t)sprintf(text + length, regression ? "%d,%d,%d.5\n" : "%d,%d,\"\033[31mclass\x7f\n%d\"\n",
                                      row % 7, row % 5, row % 2);
        temporary_write("a\033b.csv", text, length);
        snprintf(arguments, sizeof arguments,
                 "--data 'csv:%s/a\033b.csv' --hidden 4 --activations relu --seeds 1 --epochs 1 --report --overwrite "
                 "--out '%s'",
                 temporary_folder(), temporary_folder());
        ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
        ck_assert_msg(is_plain(errors) && strstr(errors, regression ? "of 1 target: ?]0;x??1m" : "(?[31mclass??0, "),
                      "%s", errors);
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
            ck_assert_msg(!temporary_exists(files[i]) || is_plain(temporary_text(files[i])), "%s", files[i]);
    }
}
END_TEST

/* How many pictures a report contains. */
static int pictures_in(const char *report)
{
    int count = 0;
    for (const char *at = temporary_text(report); (at = strstr(at, "<img ")); at++)
        count++;
    return count;
}

START_TEST(a_report_shows_pictures_of_its_own_runs_only)
{
    static const struct {
        const char *options;
        int status, shown;
        bool there; /* whether the folder has pictures behind it */
    } comparisons[] = {{"", 0, 4, true}, {"--no-plots", 0, 0, false}, {"", 0, 4, true}, {"--lr 1e6", 0, 0, false}};
    char errors[4000], arguments[600];
    if (!have_gnuplot())
        return;
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        snprintf(arguments, sizeof arguments,
                 "--data moons --rows 100 --hidden 4x3 --activations relu,elu --seeds 2 --epochs 3 --report "
                 "--overwrite --out '%s' %s",
                 temporary_folder(), comparisons[i].options);
        ck_assert_msg(compare_run(arguments, errors, sizeof errors) == comparisons[i].status, "%s", errors);
        ck_assert_msg(pictures_in("report.html") == comparisons[i].shown, "'%s': %d pictures", comparisons[i].options,
                      pictures_in("report.html"));
        static const char *const pictures[] = {"loss.svg", "loss.png", "accuracy.svg", "steps.png", "boundary.svg"};
        for (size_t p = 0; p < sizeof pictures / sizeof pictures[0]; p++)
            ck_assert_msg(temporary_exists(pictures[p]) == comparisons[i].there, "'%s': %s", comparisons[i].options,
                          pictures[p]);
        temporary_write("noise2.png", "mine", 4);
    }
    ck_assert_str_eq(temporary_text("noise2.png"), "mine");
}
END_TEST

Suite *results_suite(void)
{
    Suite *suite = suite_create("results");
    TCase *tests = tcase_create("results");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, series_are_written_over_the_finished_runs);
    tcase_add_test(tests, files_of_an_earlier_comparison_do_not_linger);
    tcase_add_test(tests, a_search_tells_of_the_best_points);
    tcase_add_test(tests, the_hint_at_an_edge_advises_no_search_after_a_search);
    tcase_add_test(tests, each_series_has_its_picture);
    tcase_add_test(tests, the_net_at_the_best_epoch_is_kept);
    tcase_add_test(tests, steps_add_up_to_epochs);
    tcase_add_test(tests, a_report_is_one_file);
    tcase_add_test(tests, numbers_are_not_mistaken_for_each_other);
    tcase_add_test(tests, control_characters_of_a_table_stay_in_it);
    tcase_add_test(tests, a_report_shows_pictures_of_its_own_runs_only);
    suite_add_tcase(suite, tests);
    return suite;
}
