/* `compare --identify`: the function that produced given pairs. */
#include "examples/programs/data/csv.h"
#include "examples/programs/identify/identify.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

Suite *identify_suite(void);

static const identify_form *form_named(const char *name)
{
    for (int i = 0; i < identify_form_count(); i++)
        if (strcmp(identify_form_at(i)->name, name) == 0)
            return identify_form_at(i);
    ck_abort_msg("no form '%s'", name);
    return NULL;
}

static double value_of(const identify_form *form, double x)
{
    static tg_tape *tape;
    double y = NAN;
    if (!tape)
        tape = tg_tape_new();
    ck_assert(identify_evaluate(form, tape, 1, &x, &y));
    return y;
}

/* ---- forms ---- */

/* The largest difference between two forms on [-6, 6]; with `of_erf`, between their factors of x/2. */
static double distance(const char *name, const char *other, bool of_erf)
{
    const identify_form *form = form_named(name), *exact = form_named(other);
    double most = 0;
    for (int i = -3000; i <= 3000; i++) {
        const double x = i / 500., d = fabs(value_of(form, x) - value_of(exact, x));
        most = fmax(most, of_erf && i ? d / fabs(x / 2) : d);
    }
    return most;
}

START_TEST(approximations_are_as_far_off_as_their_authors_say)
{
    static const struct {
        const char *form;
        double bound; /* of erf */
    } known[] = {
        {"gelu_as_7_1_25", 2.5e-5}, {"gelu_as_7_1_26", 1.5e-7}, {"gelu_as_7_1_27", 5e-4}, {"gelu_as_7_1_28", 3e-7}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double off = distance(known[i].form, "gelu_exact", true);
        ck_assert_msg(off <= known[i].bound && off > 0.8 * known[i].bound, "%s: %.3g", known[i].form, off);
    }
    const double ibert = distance("gelu_ibert", "gelu_exact", false); /* table 1 of the paper: 0.018 */
    ck_assert_msg(ibert > 0.0175 && ibert < 0.0185, "%.4g", ibert);
}
END_TEST

START_TEST(lamberts_fraction_is_the_quotient_that_runtimes_compute)
{
    const identify_form *form = form_named("gelu_tanh_lambert");
    for (int i = -200; i <= 200; i++) {
        const double x = i / 40., z = sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x), s = z * z;
        const double quotient =
            z * (135135 + s * (17325 + s * (378 + s))) / (135135 + s * (62370 + s * (3150 + s * 28)));
        const double tanh_z = fabs(z) > 5 ? copysign(1, z) : quotient;
        ck_assert_double_eq_tol(value_of(form, x), 0.5 * x * (1 + tanh_z), 1e-13);
    }
}
END_TEST

/* ---- pairs computed here ---- */

/* y is the form's value in the format, plus or minus up to `noise` ulp. */
static identify_pair pair_of(const identify_form *form, const identify_format *format, double x, int noise, tg_rng *rng)
{
    x = identify_round(format, x);
    const double exact = value_of(form, x), y = identify_round(format, exact);
    const int off = noise ? (int)(tg_rng_uniform(rng) * (2 * noise + 1)) - noise : 0;
    return (identify_pair){x, identify_round(format, y + off * identify_ulp(format, y))};
}

START_TEST(every_form_is_named_from_the_points_that_are_printed)
{
    static double x[IDENTIFY_MOST];
    static identify_pair pairs[IDENTIFY_MOST];
    const size_t count = identify_points(x);
    ck_assert(count > 30 && count < 250);
    for (size_t i = 0; i < count; i++)
        for (int f = 0; f < IDENTIFY_FORMATS; f++)
            ck_assert_double_eq(identify_round(&identify_formats[f], x[i]), x[i]);
    for (int i = 0; i < identify_form_count(); i++)
        for (int f = 0; f < IDENTIFY_FORMATS; f++) {
            const identify_form *form = identify_form_at(i);
            identify_result result;
            for (size_t p = 0; p < count; p++)
                pairs[p] = pair_of(form, &identify_formats[f], x[p], 0, NULL);
            ck_assert(identify(pairs, count, &result));
            const bool wide = f == IDENTIFY_F64 || f == IDENTIFY_F32;
            ck_assert_msg(result.form == form || (!wide && !result.form), "%s in %s: %s", form->name,
                          identify_formats[f].name, result.form ? result.form->name : "cannot tell");
            for (int c = 0; c < result.count; c++)
                ck_assert_msg(result.candidates[c].form != form || result.candidates[c].formats >> f & 1, "%s in %s",
                              form->name, identify_formats[f].name);
        }
}
END_TEST

START_TEST(random_forms_are_never_given_a_wrong_name)
{
    enum { POINTS = 64 };
    static double printed[IDENTIFY_MOST];
    const int tries = getenv("TG_LONG") ? 10000 : 400;
    const size_t printed_count = identify_points(printed);
    tg_rng rng = tg_rng_seed(31);
    int named = 0;
    for (int try = 0; try < tries; try++) {
        const identify_form *form = identify_form_at((int)(tg_rng_uniform(&rng) * identify_form_count()));
        const identify_format *format = &identify_formats[(int)(tg_rng_uniform(&rng) * IDENTIFY_FORMATS)];
        const double width = exp(3 * tg_rng_uniform(&rng)); /* 1 to 20 */
        identify_pair pairs[POINTS];
        identify_result result;
        for (int i = 0; i < POINTS; i++)
            pairs[i] = pair_of(form, format,
                               try % 2 ? printed[(size_t)(tg_rng_uniform(&rng) * (double)printed_count)]
                                       : width * (2 * tg_rng_uniform(&rng) - 1),
                               1, &rng);
        ck_assert(identify(pairs, POINTS, &result));
        ck_assert_msg(!result.form || result.form == form, "try %d: %s in %s was called %s", try, form->name,
                      format->name, result.form ? result.form->name : "");
        for (int c = 0; c < result.count; c++)
            ck_assert_msg(result.candidates[c].form != form || result.candidates[c].share > 0,
                          "try %d: %s in %s is out", try, form->name, format->name);
        named += result.form != NULL;
    }
    ck_assert_msg(named > tries * 8 / 10, "%d of %d named", named, tries);
    if (getenv("TG_VERBOSE"))
        printf("%d of %d named\n", named, tries);
}
END_TEST

/* ---- pairs of other programs ---- */

START_TEST(other_programs_are_never_given_a_wrong_name)
{
    tg_error error = {""};
    csv_source s;
    ck_assert_msg(csv_read("tests/golden/identify.csv", DATASET_HEADER_YES, &s, &error), "%s", error.text);
    identify_pair *pairs = calloc(s.rows, sizeof *pairs);
    int named = 0;
    for (size_t column = 1; column < s.table.columns; column++) {
        char program[40], form[40], arithmetic[8];
        const char *name = csv_column_name(&s, column);
        ck_assert_int_eq(sscanf(name, "%39s %39s %7s", program, form, arithmetic), 3);
        for (size_t row = 0; row < s.rows; row++)
            pairs[row] = (identify_pair){csv_value(&s, row, 0), csv_value(&s, row, column)};
        identify_result result;
        ck_assert(identify(pairs, s.rows, &result));
        ck_assert_msg(!result.form || strcmp(result.form->name, form) == 0, "%s: %s", name, result.form->name);
        for (int c = 0; c < result.count; c++)
            ck_assert_msg(strcmp(result.candidates[c].form->name, form) != 0 || result.candidates[c].formats,
                          "%s is out", name);
        ck_assert_msg(result.form || strcmp(arithmetic, "f32") != 0, "%s: cannot tell", name);
        named += result.form != NULL;
    }
    ck_assert_int_ge(named, 40);
    free(pairs);
    csv_source_free(&s);
}
END_TEST

/* The error of x Phi(x) in the arithmetic that fits the pairs best. */
static double error_of_gelu(identify_pair *pairs, size_t count)
{
    identify_result r;
    double error = NAN;
    ck_assert(identify(pairs, count, &r));
    for (int i = 0; i < r.count; i++)
        if (strcmp(r.candidates[i].form->name, "gelu_exact") == 0)
            error = r.candidates[i].worst;
    return error;
}

/* 1 + erf cancels left of 0, so a float near 0 may have no right digit. Relative to that float, the error would be
 * millions of ulp for a program that is as exact as its arithmetic allows. */
START_TEST(the_error_of_a_careless_program_is_small_and_that_of_a_wrong_one_large)
{
    double x[IDENTIFY_MOST];
    identify_pair careless[IDENTIFY_MOST], printed[IDENTIFY_MOST], wrong[IDENTIFY_MOST];
    const size_t count = identify_points(x);
    ck_assert_uint_gt(count, IDENTIFY_LEAST);
    for (size_t i = 0; i < count; i++) {
        const float v = (float)x[i], y = 0.5f * v * (1 + erff(v * 0.70710678f));
        careless[i] = (identify_pair){x[i], (double)y};
        printed[i] = (identify_pair){x[i], round((double)y * 1e6) / 1e6};
        wrong[i] = (identify_pair){x[i], (double)y + (i + 1 == count ? 0.01 : 0)};
    }
    ck_assert_double_le(error_of_gelu(careless, count), 4);
    ck_assert_double_le(error_of_gelu(printed, count), 1);
    ck_assert_double_ge(error_of_gelu(wrong, count), 1000);
}
END_TEST

/* ---- the program ---- */

static int run(const char *arguments)
{
    char path[600], command[1400];
    ck_assert_ptr_nonnull(realpath(getenv("TG_BUILD") ? getenv("TG_BUILD") : "build", path));
    snprintf(command, sizeof command, "cd '%s' && '%s/bin/activations' %s > out 2> errors", temporary_folder(), path,
             arguments);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs it on a file with this text; true if the status is as given and the output contains the words. */
static void expect(const char *text, int status, const char *words)
{
    temporary_write("pairs.csv", text, strlen(text));
    const int found = run("--identify pairs.csv");
    const char *output = temporary_text(status == 2 ? "errors" : "out");
    ck_assert_msg(found == status && strstr(output, words), "status %d, expected %d and '%s' for '%.60s': %s", found,
                  status, words, text, output);
    ck_assert(status != 2 || (strchr(output, '\n') && !strchr(output, '\n')[1])); /* one line */
}

START_TEST(files_that_are_no_pairs_are_refused_in_a_line)
{
    expect("", 2, "--identify: pairs.csv: the file is empty");
    expect("x,y\n", 2, "only a header");
    expect("1\n2\n", 2, "1 column, expected two, x and y");
    expect("1,2,3\n4,5,6\n", 2, "3 columns, expected two, x and y, or a header that names them");
    expect("x,y\n1,2\n3\n", 2, "pairs.csv:3: 1 field, expected 2");
    expect("x,y\n1,2\n3,abc\n", 2, "'abc' is not a number");
    expect("x,y\n1,2\n3,\n", 2, "'' is not a number");
    ck_assert_int_eq(run("--identify nowhere.csv"), 2);
    ck_assert_int_eq(run("--identify x --identify-points"), 2);
}
END_TEST

START_TEST(few_points_name_nothing)
{
    expect("0.5,0.34573123\n", 1, "Cannot tell: 1 different point, expected at least 8");
    expect("x,y\n0.5,0.34573123\n0.5,0.34573123\n0.5,0.34573123\n1,0.84134477\n1,0.84134477\n1,0.84134477\n"
           "2,1.9544997\n2,1.9544997\n2,1.9544997\n",
           1, "Cannot tell: 3 different points");
    expect("nan,1\n1,nan\n2,inf\n", 1, "3 rows left out: NaN or infinite");
}
END_TEST

/* Values of x Phi(x) by mpmath, rounded to float. */
static const double exact[][2] = {{0.5, 0.345731229},      {-3, -0.00404969417},    {1, 0.841344774},
                                  {2, 1.95449972},         {-1, -0.158655256},      {-2, -0.0455002636},
                                  {-0.5, -0.154268771},    {3, 2.99595022},         {-2.75, -0.00819434877},
                                  {-3.5, -0.000814201776}, {-4.5, -1.52895282e-05}, {-5, -1.43325781e-06},
                                  {-6, -5.91952576e-09}};

/* The pairs as lines of a file; `swap` puts y first. */
static const char *lines(const char *head, const char *format, bool swap, const char *tail)
{
    static char text[2000];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", head);
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, format, exact[i][swap], exact[i][!swap]);
    snprintf(text + length, sizeof text - length, "%s", tail);
    return text;
}

START_TEST(pairs_may_come_in_any_order_with_a_header_or_without_and_by_a_pipe)
{
    static const char found[] = "gelu_exact, computed in f32: over a million times as probable";
    expect(lines("", "%.9g,%.9g\n", false, ""), 0, found);
    expect(lines("x,y\n", "%.9g,%.9g\n", false, ""), 0, found);
    expect(lines("x y\n", "%.9g  %.9g\n", false, "nan inf\n1 0.841344774\n"), 0, found);
    ck_assert_ptr_nonnull(strstr(temporary_text("out"), "13 of 13"));
    ck_assert_ptr_nonnull(strstr(temporary_text("out"), "1 row left out"));
    expect(lines("# a comment\nname,Y,X\n", "a,%.9g,%.9g\n", true, ""), 0, found);
    char *commas = strdup(lines("x;y\n", "%.9g;%.9g\n", false, ""));
    for (char *c = commas; *c; c++)
        *c = *c == '.' ? ',' : *c;
    expect(commas, 0, found);
    free(commas);
    ck_assert_int_eq(run("--identify - < pairs.csv"), 0);
    ck_assert_int_eq(run("--identify-points"), 0);
}
END_TEST

START_TEST(one_wrong_point_is_shown_and_nothing_is_named)
{
    expect(lines("", "%.9g,%.9g\n", false, "-2.5,-0.0155\n"), 1,
           "None of the 34 forms: the nearest misses 1 of 14 points");
    ck_assert_ptr_nonnull(strstr(temporary_text("out"), " -2.5 "));
    expect(lines("", "%.9g,%.9g\n", false, "-2.25,0.123456789\n"), 1, "the nearest misses 1 of 14 points");
    ck_assert_ptr_nonnull(strstr(temporary_text("out"), "gelu_exact      f32         13 of 14"));
}
END_TEST

/* Four decimals, as PyTorch prints them, are enough to tell the two forms of GELU apart, which differ by up to
 * 4.7e-4. */
START_TEST(rounded_output_says_as_much_as_it_has_digits)
{
    expect("-3,-0.0040\n-2.75,-0.0082\n-2.5,-0.0155\n-2.25,-0.0275\n-2,-0.0455\n-1,-0.1587\n1,0.8413\n2,1.9545\n3,2."
           "9960\n",
           1, "Cannot tell: these points allow");
    ck_assert_ptr_null(strstr(temporary_text("out"), "gelu_tanh,"));
    ck_assert_ptr_nonnull(strstr(temporary_text("out"), "gelu_exact"));
}
END_TEST

Suite *identify_suite(void)
{
    Suite *suite = suite_create("identify");
    TCase *tests = tcase_create("identify"), *files = tcase_create("files");
    tcase_set_timeout(tests, getenv("TG_LONG") ? 1200 : 60);
    tcase_add_test(tests, approximations_are_as_far_off_as_their_authors_say);
    tcase_add_test(tests, lamberts_fraction_is_the_quotient_that_runtimes_compute);
    tcase_add_test(tests, every_form_is_named_from_the_points_that_are_printed);
    tcase_add_test(tests, random_forms_are_never_given_a_wrong_name);
    tcase_add_test(tests, the_error_of_a_careless_program_is_small_and_that_of_a_wrong_one_large);
    tcase_add_test(tests, other_programs_are_never_given_a_wrong_name);
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(files, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(files, files_that_are_no_pairs_are_refused_in_a_line);
    tcase_add_test(files, few_points_name_nothing);
    tcase_add_test(files, pairs_may_come_in_any_order_with_a_header_or_without_and_by_a_pipe);
    tcase_add_test(files, one_wrong_point_is_shown_and_nothing_is_named);
    tcase_add_test(files, rounded_output_says_as_much_as_it_has_digits);
    suite_add_tcase(suite, files);
    return suite;
}
