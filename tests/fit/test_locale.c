/* In a German locale, where 0.5 is written 0,5, the library reads and writes the same text. */
#include "tests/support/fit_runs.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

Suite *locale_suite(void);

static char german_folder[256];

/* The fixture of all tests: builds the locale, as the machine may have only C. */
static void make_german(void)
{
    char command[700];
    snprintf(german_folder, sizeof german_folder, "%.200s/german-XXXXXX", getenv("TMPDIR")); /* set by main */
    ck_assert_ptr_nonnull(mkdtemp(german_folder));
    snprintf(command, sizeof command,
             "localedef --no-archive -c -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1; "
             "test -e '%s/de_DE.UTF-8/LC_NUMERIC'",
             german_folder, german_folder);
    ck_assert_msg(system(command) == 0, "no German locale could be made: is the package locales installed?");
    setenv("LOCPATH", german_folder, 1);
}

static void remove_german(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", german_folder);
    ck_assert_int_eq(system(command), 0);
}

static void speak_german(void)
{
    ck_assert_ptr_nonnull(setlocale(LC_ALL, "de_DE.UTF-8"));
    char half[8];
    snprintf(half, sizeof half, "%.1f", 0.5);
    ck_assert_str_eq(half, "0,5");
}

static void speak_plainly(void)
{
    ck_assert_ptr_nonnull(setlocale(LC_ALL, "C"));
}

static void assert_same_text(const char *a, const char *b)
{
    char *one = fit_copy_of(a), *other = fit_copy_of(b);
    ck_assert_str_eq(one, other);
    free(one);
    free(other);
}

/* A run with averages, whose decay is in the state. */
static void begin(fit_run *r, const char *folder)
{
    fit_begin(r, 0.25, TG_NORM_BATCH);
    fit_in_folder(r, folder);
    r->config.ema = (tg_ema_config){.decay = 0.8, .warmup = true};
}

START_TEST(errors_are_written_with_points)
{
    tg_error error;
    speak_german();
    tg_fail(&error, "%.1f", 0.5);
    ck_assert_str_eq(error.text, "0.5");
}
END_TEST

START_TEST(curves_are_written_with_points)
{
    fit_run r;
    begin(&r, "run");
    fit_train(&r);
    ck_assert(tg_fit_write_curves(r.fit, temporary_path("plain")));
    speak_german();
    ck_assert(tg_fit_write_curves(r.fit, temporary_path("german")));
    assert_same_text("plain.csv", "german.csv");
    fit_end(&r);
}
END_TEST

static bool stop_in_the_middle(void *context, const tg_fit_step *now)
{
    (void)context;
    return now->step != 5;
}

/* A run is stopped in one locale and resumed in the other. */
START_TEST(a_state_goes_from_one_locale_to_another)
{
    void (*const first)(void) = _i ? speak_german : speak_plainly,
                 (*const second)(void) = _i ? speak_plainly : speak_german;
    fit_run whole, half, rest;
    begin(&whole, "whole");
    fit_train(&whole);
    first();
    begin(&half, "half");
    half.config.on_step = stop_in_the_middle;
    fit_train(&half);
    ck_assert(!tg_fit_finished(half.fit));
    second();
    begin(&rest, "half");
    rest.config.resume = true;
    fit_train(&rest);
    ck_assert_msg(tg_fit_finished(rest.fit), "%s", tg_fit_error(rest.fit));
    fit_assert_same_weights(&whole, &rest);
    fit_assert_same_epochs(&whole, &rest);
    fit_end(&whole);
    fit_end(&half);
    fit_end(&rest);
}
END_TEST

START_TEST(messages_have_points)
{
    speak_german();
    tg_tape *own = tg_tape_new();
    tg_tensor x = tg_constant(own, TG_F64, (double[]){1}, TG_SHAPE(1));
    tg_huber(x, x, -0.5);
    ck_assert_msg(strstr(tg_tape_error(own), "-0.5") != NULL, "%s", tg_tape_error(own));
    tg_tape_free(own);
}
END_TEST

Suite *locale_suite(void)
{
    Suite *suite = suite_create("locale");
    TCase *tests = tcase_create("locale");
    tcase_add_unchecked_fixture(tests, make_german, remove_german);
    tcase_add_checked_fixture(tests, fit_suite_start, fit_suite_finish);
    tcase_add_test(tests, errors_are_written_with_points);
    tcase_add_test(tests, curves_are_written_with_points);
    tcase_add_loop_test(tests, a_state_goes_from_one_locale_to_another, 0, 2);
    tcase_add_test(tests, messages_have_points);
    suite_add_tcase(suite, tests);
    return suite;
}
