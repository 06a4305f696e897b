/* An error is one line of text, whatever its arguments contain. */
#include <check.h>
#include <string.h>
#include <tapegrad.h>

Suite *error_suite(void);

START_TEST(the_text_is_that_of_printf)
{
    tg_error error;
    memset(&error, 'x', sizeof error); /* the previous content does not matter */
    ck_assert(!tg_fail(&error, "%s: %d rows, %.2f", "table", 3, 0.5));
    ck_assert_str_eq(error.text, "table: 3 rows, 0.50");
}
END_TEST

START_TEST(the_old_text_may_be_part_of_the_new)
{
    tg_error error;
    tg_fail(&error, "the loss is infinite");
    tg_fail(&error, "epoch %d: %s", 7, error.text);
    ck_assert_str_eq(error.text, "epoch 7: the loss is infinite");
}
END_TEST

START_TEST(the_first_of_several_stays)
{
    tg_error error = {""};
    ck_assert(!tg_fail_first(&error, "%s", "the first"));
    ck_assert(!tg_fail_first(&error, "%s", "the second"));
    ck_assert_str_eq(error.text, "the first");
}
END_TEST

START_TEST(a_long_text_is_cut)
{
    char text[3000];
    tg_error error;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    tg_fail(&error, "%s", text);
    ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
}
END_TEST

START_TEST(control_characters_do_not_reach_a_terminal)
{
    tg_error error;
    tg_fail(&error, "a\x1b[31mb\nc\x7f%s",
            "\xc2\x9b"
            "2J \xc3\xa9"); /* U+009B is a terminal control, U+00E9 an accented letter */
    ck_assert_str_eq(error.text, "a?[31mb?c???2J \xc3\xa9");
}
END_TEST

START_TEST(without_a_place_the_text_is_lost)
{
    ck_assert(!tg_fail(NULL, "%d", 1));
    ck_assert(!tg_fail_first(NULL, "%d", 1));
}
END_TEST

Suite *error_suite(void)
{
    Suite *suite = suite_create("error");
    TCase *tests = tcase_create("error");
    tcase_add_test(tests, the_text_is_that_of_printf);
    tcase_add_test(tests, the_old_text_may_be_part_of_the_new);
    tcase_add_test(tests, the_first_of_several_stays);
    tcase_add_test(tests, a_long_text_is_cut);
    tcase_add_test(tests, control_characters_do_not_reach_a_terminal);
    tcase_add_test(tests, without_a_place_the_text_is_lost);
    suite_add_tcase(suite, tests);
    return suite;
}
