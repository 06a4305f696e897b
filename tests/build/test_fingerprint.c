/* Trainings give the bytes of tests/fingerprint/fingerprints.txt in every instruction set, on any number of threads. */
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/product.h"
#include "autograd/kernels/product_kernel.h"
#include "tests/support/cut_finely.h"
#include "tests/fingerprint/fingerprint.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *fingerprint_suite(void);

static char *read_list(const char *path)
{
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    char *text = NULL;
    size_t size = 0;
    ck_assert_msg(getdelim(&text, &size, '\0', file) > 0, "%s is empty", path);
    fclose(file);
    return text;
}

/* Compares both texts line by line, so that a difference is reported by its name. */
static void check_list(const char *path, const char *instructions, int threads)
{
    char *list = read_list(path), *printed = NULL;
    size_t size;
    FILE *to = open_memstream(&printed, &size);
    ck_assert(tg_kernels_use(instructions));
    tg_set_threads(threads);
    cut_finely = threads > 1;
    ck_assert(fingerprint_print("*", to) && fclose(to) == 0);
    cut_finely = false;
    char *line = list, *now = printed;
    for (; *line && *now; line += strcspn(line, "\n") + 1, now += strcspn(now, "\n") + 1) {
        const int length = (int)strcspn(line, "\n");
        ck_assert_msg(strncmp(line, now, (size_t)length + 1) == 0, "with %s and %d threads\n%.*s, and %s has\n%.*s",
                      instructions, threads, (int)strcspn(now, "\n"), now, path, length, line);
    }
    ck_assert_msg(!*line && !*now, "%s has other trainings than there are: build/bin/fingerprint > %s", path, path);
    free(list);
    free(printed);
}

START_TEST(trainings_have_the_same_bytes_in_every_instruction_set)
{
    const tg_kernel_set *set = tg_kernel_set_at(_i);
    if (!set || !tg_kernel_set_runs(set))
        return;
    check_list(set->products[0]->fused ? "tests/fingerprint/fingerprints.txt"
                                       : "tests/fingerprint/fingerprints-baseline.txt",
               set->isa, 1);
}
END_TEST

START_TEST(trainings_have_the_same_bytes_on_any_number_of_threads)
{
    check_list(tg_kernels.products[0]->fused ? "tests/fingerprint/fingerprints.txt"
                                             : "tests/fingerprint/fingerprints-baseline.txt",
               tg_kernels.isa, many_threads[_i]);
}
END_TEST

Suite *fingerprint_suite(void)
{
    Suite *suite = suite_create("fingerprint");
    TCase *tests = tcase_create("fingerprint");
    tcase_add_loop_test(tests, trainings_have_the_same_bytes_in_every_instruction_set, 0, 3);
    tcase_add_loop_test(tests, trainings_have_the_same_bytes_on_any_number_of_threads, 0, MANY_THREADS);
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    return suite;
}
