/* The page itself, in headless Chromium: make check-playground. Otherwise these tests do nothing. */
#include "examples/programs/playground/playground.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/product.h"

Suite *playground_page_suite(void);

enum { STEPS = 200, POINTS = 300, SEED = 1, LINE = 1 << 14 };

static FILE *ask(const char *what)
{
    char command[4096];
    if (!getenv("TG_PLAYGROUND"))
        return NULL;
    snprintf(command, sizeof command, "python3 tests/playground/page.py %s '%s'", what, getenv("TG_PLAYGROUND"));
    return popen(command, "r");
}

static int index_of(playground_list list, const char *name)
{
    for (int i = 0; playground_name(list, i); i++)
        if (strcmp(playground_name(list, i), name) == 0)
            return i;
    ck_abort_msg("the page has '%s', which the library has not", name);
}

/* In WebAssembly, the page's losses equal those of the kernels without fused multiply-adds, to the bit. */
START_TEST(the_page_s_numbers_are_those_of_the_baseline)
{
    static char line[LINE];
    int trainings = 0;
    FILE *page = ask("losses");
    if (!page)
        return;
    ck_assert(tg_kernels_use("baseline"));
    tg_products_by(TG_PRODUCTS_OWN, NULL);
    playground *p = playground_new();
    while (fgets(line, sizeof line, page)) { /* data activation optimizer loss loss ... */
        char *data = strtok(line, " \n"), *activation = strtok(NULL, " \n"), *optimizer = strtok(NULL, " \n");
        ck_assert(data && activation && optimizer);
        const int how = index_of(PLAYGROUND_OPTIMIZERS, optimizer);
        ck_assert(playground_draw(p, index_of(PLAYGROUND_DATA, data), POINTS, -1, SEED));
        ck_assert(
            playground_net(p, 0, index_of(PLAYGROUND_ACTIVATIONS, activation), 2, 16, how, playground_rate(how), SEED));
        for (int step = 1; step <= STEPS; step++) {
            const char *word = strtok(NULL, " \n");
            ck_assert_msg(word != NULL, "%s, %s, %s: the page gives %d losses", data, activation, optimizer, step - 1);
            const double here = playground_train(p, 0, 1), there = atof(word);
            ck_assert_msg(here == there || (isnan(here) && isnan(there)),
                          "%s, %s, %s, step %d: %.9g here, %.9g on the page", data, activation, optimizer, step, here,
                          there);
        }
        trainings++;
    }
    playground_free(p);
    ck_assert_int_eq(pclose(page), 0);
    ck_assert_int_gt(trainings, 30);
}
END_TEST

START_TEST(the_page_works_in_chromium)
{
    char line[1000], said[8000] = "";
    FILE *page = ask("use");
    while (page && fgets(line, sizeof line, page))
        strncat(said, line, sizeof said - strlen(said) - 1);
    ck_assert_msg(!page || pclose(page) == 0, "%s", said);
}
END_TEST

Suite *playground_page_suite(void)
{
    Suite *suite = suite_create("playground_page");
    TCase *tests = tcase_create("playground_page");
    tcase_add_test(tests, the_page_s_numbers_are_those_of_the_baseline);
    tcase_add_test(tests, the_page_works_in_chromium);
    tcase_set_timeout(tests, 300);
    suite_add_tcase(suite, tests);
    return suite;
}
