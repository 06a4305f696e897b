/* `gradcheck --html` writes one self-contained file. */
#include "examples/programs/gradcheck/check_report.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tapegrad.h>
#include <unistd.h>

Suite *gradcheck_html_suite(void);

/* Runs build/bin/gradcheck --html with these arguments; returns its standard error and exit status. */
static int run(const char *arguments, char *text, size_t size)
{
    const char *build = getenv("TG_BUILD");
    char line[1000];
    snprintf(line, sizeof line, "%s/bin/gradcheck --html %s 2>&1 >/dev/null </dev/null", build ? build : "build",
             arguments);
    FILE *pipe = popen(line, "r");
    ck_assert_ptr_nonnull(pipe);
    text[fread(text, 1, size - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Every element that is opened is closed, in order, except those that HTML never closes. */
static void assert_balanced(const char *html)
{
    static const char *const without_end[] = {"meta", "br", "img"};
    char open[64][16];
    int depth = 0;
    for (const char *at = html; (at = strchr(at, '<')); at++) {
        char name[16];
        const bool ends = at[1] == '/';
        const char *last = strchr(at, '>');
        ck_assert_msg(last != NULL, "no end: %.40s", at);
        if (at[1] == '!')
            continue;
        ck_assert_msg(sscanf(at + 1 + ends, "%15[a-z0-9]", name) == 1, "no name: %.40s", at);
        bool alone = last[-1] == '/';
        for (size_t i = 0; i < sizeof without_end / sizeof without_end[0]; i++)
            alone |= strcmp(name, without_end[i]) == 0;
        if (ends)
            ck_assert_msg(depth > 0 && strcmp(open[--depth], name) == 0, "closes what is not open: %.60s", at);
        else if (!alone) {
            ck_assert_int_lt(depth, 64);
            strcpy(open[depth++], name);
        }
    }
    ck_assert_int_eq(depth, 0);
}

static void assert_alone(const char *html)
{
    static const char *const others[] = {"http:", "https:", "<script", "<link", " src=", "url(", "@import"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_msg(strstr(html, others[i]) == NULL, "%.80s", strstr(html, others[i]));
}

static int count_of(const char *html, const char *part)
{
    int count = 0;
    for (const char *at = html; (at = strstr(at, part)); at++)
        count++;
    return count;
}

START_TEST(a_report_has_everything_and_needs_nothing)
{
    char arguments[700], text[2000];
    snprintf(arguments, sizeof arguments,
             "'%s/new folder/check.html' --seed 7 --seeds 2 --order 1 tanh mul mlp.rms sign", temporary_folder());
    ck_assert_msg(run(arguments, text, sizeof text) == 0, "%s", text);
    const char *html = temporary_text("new folder/check.html");
    ck_assert_int_eq(strncmp(html, "<!DOCTYPE html>", 15), 0);
    assert_balanced(html);
    assert_alone(html);
    ck_assert_ptr_nonnull(strstr(html, "<b>3</b> passed"));
    ck_assert_ptr_nonnull(strstr(html, "To order 1; seeds 7 to 8; tapegrad "));
    ck_assert_ptr_nonnull(strstr(html, "--seed 7 --seeds 2 --order 1 tanh mul mlp.rms sign</pre>"));
    ck_assert_ptr_nonnull(strstr(html, "nothing to check: sign"));
    ck_assert_int_eq(count_of(html, "<circle"), 1 + 3 + 3); /* by the counts, in the chart, in the table */
    ck_assert_int_eq(count_of(html, "<figure"), 2);
    ck_assert_int_eq(count_of(html, "<polyline"), 2 * 3);
    ck_assert_ptr_nonnull(strstr(html, "href=\"#v-tanh\""));
    ck_assert_ptr_nonnull(strstr(html, "id=\"v-tanh\""));
}
END_TEST

START_TEST(what_has_not_passed_comes_first_with_its_reason)
{
    tg_error error;
    char program[] = "gradcheck", word[] = "a<b", *argv[] = {program, word, NULL};
    subject list[] = {{.name = "a<b", .category = "yours", .about = "\"1 & 2\""},
                      {.name = "c", .category = "yours", .about = "", .op = &tg_op_tanh},
                      {.name = "d", .category = "layer", .about = ""}};
    const check_row rows[] = {{&list[0], 2, {.status = TG_GRADCHECK_WRONG, .relative = 0.5, .why = "a<b: it is wrong"}},
                              {&list[1],
                               2,
                               {.status = TG_GRADCHECK_CANNOT_TELL,
                                .why = "c: differences do not converge",
                                .undecided = 3,
                                .comparisons = 10}},
                              {&list[2], 2, {.passed = true, .relative = 0, .comparisons = 1, .samples = 1}}};
    const check_table table = {rows, 3};
    const check_report report = {&table, &(subjects){list, 3}, 0, 1, 2, true, argv};
    ck_assert_msg(check_report_write(temporary_path("r.html"), &report, &error), "%s", error.text);
    char *html = temporary_text("r.html");
    assert_balanced(html);
    assert_alone(html);
    ck_assert_ptr_nonnull(strstr(html, "<b>FAILED</b> a&lt;b: it is wrong</p>"));
    ck_assert_ptr_nonnull(strstr(html, "<b>cannot tell</b> c: differences do not converge</p>"));
    ck_assert(strstr(html, "it is wrong") < strstr(html, "<h2>Results</h2>"));
    ck_assert_ptr_nonnull(strstr(html, "<b>Interrupted:</b>"));
    ck_assert_ptr_nonnull(strstr(html, "10 differences on 0 samples, 3 undecided"));
    ck_assert_ptr_nonnull(strstr(html, "1 difference on 1 shape"));
    ck_assert_ptr_nonnull(strstr(html, "&quot;1 &amp; 2&quot;"));
    ck_assert_ptr_nonnull(strstr(html, "'a&lt;b'</pre>"));
    ck_assert_ptr_null(strstr(html, "a<b"));
}
END_TEST

START_TEST(a_report_that_cannot_be_written_is_told)
{
    char arguments[700], text[2000];
    ck_assert_int_eq(run("/proc/nothing/check.html tanh", text, sizeof text), 2);
    ck_assert_ptr_nonnull(strstr(text, "gradcheck: --html: cannot write into the folder '/proc'"));
    snprintf(arguments, sizeof arguments, "'%s' tanh", temporary_folder());
    ck_assert_int_eq(run(arguments, text, sizeof text), 2);
    ck_assert_ptr_nonnull(strstr(text, "a folder has this name"));
    ck_assert_int_eq(run("'' tanh", text, sizeof text), 2);
    ck_assert_ptr_nonnull(strstr(text, "gradcheck: --html: '' is not the name of a file\n"));
    if (access("/dev/full", W_OK) == 0) {
        ck_assert_int_eq(run("/dev/full tanh", text, sizeof text), 2);
        ck_assert_ptr_nonnull(strstr(text, "gradcheck: --html: cannot write '/dev/full': No space left on device\n"));
        ck_assert_int_eq(access("/dev/full", W_OK), 0);
    }
}
END_TEST

Suite *gradcheck_html_suite(void)
{
    Suite *suite = suite_create("gradcheck_html");
    TCase *tests = tcase_create("gradcheck_html");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, a_report_has_everything_and_needs_nothing);
    tcase_add_test(tests, what_has_not_passed_comes_first_with_its_reason);
    tcase_add_test(tests, a_report_that_cannot_be_written_is_told);
    suite_add_tcase(suite, tests);
    return suite;
}
