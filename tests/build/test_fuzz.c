/* Runs every input of tests/fuzz/seeds.txt through its target; these contain all inputs that ever failed. */
#include "tests/fuzz/fuzz.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *fuzz_suite(void);

/* The bytes of a text with the escapes \0ooo and \\, in its place; their number. */
static size_t unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        char octal[4] = "";
        if (at[0] != '\\') {
            *to++ = *at++;
        } else if (at[1] == '\\') {
            *to++ = '\\';
            at += 2;
        } else {
            ck_assert_msg(at[1] == '0' && strlen(at) >= 5, "an escape that is none: %.5s", at);
            memcpy(octal, at + 2, 3);
            *to++ = (char)strtol(octal, NULL, 8);
            at += 5;
        }
    }
    return (size_t)(to - text);
}

START_TEST(every_input_that_is_kept_passes)
{
    static char line[1 << 16];
    const fuzz_target *target = &fuzz_targets[_i];
    FILE *file = fopen("tests/fuzz/seeds.txt", "re");
    ck_assert_ptr_nonnull(file);
    int inputs = 0;
    while (fgets(line, sizeof line, file)) {
        char *name = strchr(line, ' '), *bytes = name ? strchr(name + 1, ' ') : NULL;
        ck_assert_msg(bytes && strchr(line, '\n'), "a line without target, name and bytes: %.40s", line);
        if (strncmp(line, target->name, (size_t)(name - line)) != 0 || target->name[name - line])
            continue;
        *strchr(line, '\n') = '\0';
        const size_t size = unescape(bytes + 1);
        char *exact = malloc(size + 1); /* at the end of its block, where a sanitizer sees a read past it */
        ck_assert_ptr_nonnull(exact);
        memcpy(exact + 1, bytes + 1, size);
        target->run((const uint8_t *)exact + 1, size);
        free(exact);
        inputs++;
    }
    fclose(file);
    ck_assert_msg(inputs > 0, "tests/fuzz/seeds.txt has no %s", target->name);
}
END_TEST

Suite *fuzz_suite(void)
{
    Suite *suite = suite_create("fuzz");
    TCase *tests = tcase_create("fuzz");
    int targets = 0;
    while (fuzz_targets[targets].name)
        targets++;
    tcase_add_loop_test(tests, every_input_that_is_kept_passes, 0, targets);
    suite_add_tcase(suite, tests);
    return suite;
}
