/* The examples that solve an equation and learn an image: their data files against numbers computed elsewhere. And the
 * README's command on a table. */
#include "tests/support/run_programs.h"
#include "tests/support/seeds.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *examples_suite(void);

static double number_after(const char *words)
{
    const char *at = strstr(temporary_text("out"), words);
    ck_assert_msg(at != NULL, "no '%s' in\n%s", words, temporary_text("out"));
    return atof(at + strlen(words));
}

START_TEST(recurrent_nets_learn_the_adding_problem)
{
    static const char *const cells[] = {"gru", "lstm"};
    ck_assert_int_eq(run_there("rnn", cells[_i]), 0);
    const char *out = temporary_text("out"), *last = strstr(out, "squared error ");
    for (const char *next = last; next; next = strstr(next + 1, "squared error "))
        last = next;
    ck_assert_msg(last && atof(last + 14) < 0.01, "%s", out);
    ck_assert_int_eq(run_there("rnn", "gnu"), 2);
}
END_TEST

/* Both integrals of the Cole-Hopf transformation by NumPy: sums over two million values of y. */
START_TEST(the_solution_of_burgers_equation_is_that_of_cole_and_hopf)
{
    static const double known[][3] = {{0.25, 0.5, -0.8031984208406325},       {0.5, -0.125, 0.9437375425392963},
                                      {0.75, 0.0078125, -0.6848433618941482}, {1, -0.9921875, 0.005915158276121273},
                                      {0.4, 0.015625, -0.8730300409907542},   {0.025, -0.703125, 0.7653958625296102}};
    double row[4], above = 0, below = 0;
    int found = 0, rows = 0;
    ck_assert_int_eq(run_there("pinn", "60"), 0);
    FILE *csv = fopen(temporary_path("pinn.csv"), "r");
    ck_assert_ptr_nonnull(csv);
    while (fscanf(csv, "%lf,%lf,%lf,%lf", &row[0], &row[1], &row[2], &row[3]) == 4) {
        rows++;
        above += (row[2] - row[3]) * (row[2] - row[3]);
        below += row[3] * row[3];
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (row[0] == known[i][0] && row[1] == known[i][1]) {
                ck_assert_double_eq_tol(row[3], known[i][2], 1e-13);
                found++;
            }
        if (row[0] == 0)
            ck_assert_double_eq_tol(row[3], -sin(3.141592653589793 * row[1]), 1e-14);
    }
    fclose(csv);
    ck_assert_int_eq(found, sizeof known / sizeof *known);
    ck_assert_int_eq(rows, 41 * 257);
    const double error = number_after("points: ");
    ck_assert_double_eq_tol(error, sqrt(above / below), 5e-5);
    ck_assert_double_lt(error, 0.7); /* after 60 of 2,000 steps */
    ck_assert(temporary_exists("pinn.png"));
}
END_TEST

/* The formula of the image, in C. */
static double image(double x, double y)
{
    const double rings = x * x + y * y, disc = pow(x - 0.4, 2) + pow(y + 0.4, 2),
                 patch = pow(x + 0.5, 2) + pow(y - 0.5, 2);
    return 0.5 * sin(30 * rings) * exp(-2 * rings) + 0.3 * tanh(4 - 50 * disc) +
           0.2 * sin(25 * x + 12 * y) * exp(-4 * patch) + 0.1 * x;
}

/* The range of a column from -0.5 to 0.5 or so; PSNR from the file, and derivatives by differences. */
START_TEST(sines_learn_an_image_whose_derivatives_are_those_of_the_formula)
{
    const double h = 1e-4;
    const bool long_check = getenv("TG_LONG");
    double row[10], low = INFINITY, high = -INFINITY, squares = 0;
    int rows = 0;
    ck_assert_int_eq(run_there("siren", long_check ? "" : "sine 150"), 0);
    FILE *csv = fopen(temporary_path("siren.csv"), "r");
    ck_assert_ptr_nonnull(csv);
    for (; fscanf(csv, "%lf", &row[0]) == 1; rows++) {
        for (int i = 1; i < 10; i++)
            ck_assert_int_eq(fscanf(csv, ",%lf", &row[i]), 1);
        const double x = row[0], y = row[1], at = image(x, y), left = image(x - h, y), right = image(x + h, y),
                     above = image(x, y - h), below = image(x, y + h);
        ck_assert_double_eq_tol(row[2], at, 1e-9);
        ck_assert_double_eq_tol(row[3], (right - left) / (2 * h), 1e-3);
        ck_assert_double_eq_tol(row[4], (below - above) / (2 * h), 1e-3);
        ck_assert_double_eq_tol(row[5], (left + right + above + below - 4 * at) / (h * h), 0.05);
        low = fmin(low, at), high = fmax(high, at);
        squares += (row[6] - at) * (row[6] - at);
    }
    fclose(csv);
    ck_assert_int_eq(rows, 64 * 64);
    const double psnr = number_after("PSNR of the image ");
    ck_assert_double_eq_tol(psnr, 10 * log10((high - low) * (high - low) * rows / squares), 0.06);
    ck_assert_double_gt(psnr, long_check ? 38 : 31);
    ck_assert_double_gt(number_after("of its Laplacian "),
                        long_check ? 18 : 15.5); /* a net that is zero everywhere has 14.2 */
    ck_assert(temporary_exists("siren.png"));
}
END_TEST

/* Runs the line of README.md that contains these words, in the folder of the sources. */
START_TEST(the_readmes_command_on_a_table_works_as_it_is)
{
    char line[300], command[1000];
    const char *build = getenv("TG_BUILD");
    FILE *readme = fopen("README.md", "r");
    ck_assert_ptr_nonnull(readme);
    while (fgets(line, sizeof line, readme) && !strstr(line, "bin/compare --data csv:examples/iris.csv"))
        ;
    fclose(readme);
    ck_assert_int_eq(strncmp(line, "build/bin/compare ", 18), 0);
    line[strcspn(line, "#\n")] = '\0';
    snprintf(command, sizeof command, "'%s/bin/compare' %s --epochs 2 --out '%s/iris' > '%s/out' 2>&1",
             build ? build : "build", line + 18, temporary_folder(), temporary_folder());
    ck_assert_msg(system(command) == 0, "%s", temporary_text("out"));
    ck_assert_ptr_nonnull(strstr(temporary_text("out"), "gelu_exact"));
}
END_TEST

START_TEST(an_example_is_short_and_opens_with_what_it_shows)
{
    glob_t found;
    ck_assert_int_eq(glob("examples/*.c", 0, NULL, &found), 0);
    ck_assert_uint_ge(found.gl_pathc, 10);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char text[400] = "";
        int lines = 0;
        FILE *file = fopen(found.gl_pathv[i], "r");
        ck_assert(file && fgets(text, sizeof text, file));
        ck_assert_msg(strncmp(text, "/* ", 3) == 0, "%s", found.gl_pathv[i]);
        do
            lines++;
        while (fgets(text, sizeof text, file));
        fclose(file);
        ck_assert_msg(lines <= 160, "%s has %d lines", found.gl_pathv[i], lines);
    }
    globfree(&found);
}
END_TEST

Suite *examples_suite(void)
{
    Suite *suite = suite_create("examples");
    TCase *tests = tcase_create("examples");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_loop_test(tests, recurrent_nets_learn_the_adding_problem, 0, getenv("TG_LONG") ? 2 : 1);
    if (today(2) == 0) /* one of them a day */
        tcase_add_test(tests, the_solution_of_burgers_equation_is_that_of_cole_and_hopf);
    if (today(2) == 1 || every(2) == 1)
        tcase_add_test(tests, sines_learn_an_image_whose_derivatives_are_those_of_the_formula);
    tcase_add_test(tests, an_example_is_short_and_opens_with_what_it_shows);
    tcase_add_test(tests, the_readmes_command_on_a_table_works_as_it_is);
    suite_add_tcase(suite, tests);
    return suite;
}
