/* Texts: their characters are code points where they are UTF-8, else bytes, and what is printed says which. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tapegrad.h>

Suite *characters_suite(void);

#define QUICK "--model charmlp --hidden 8 --epochs 1 --no-plots --overwrite --out m "

/* A text of lines in Cyrillic, 15 different characters with the newline, after `head` and cut to `bytes`. */
static void write_russian(const char *name, const char *head, size_t bytes)
{
    char text[4000];
    size_t used = (size_t)sprintf(text, "%s", head);
    while (used + 100 < sizeof text)
        used += (size_t)sprintf(text + used, "мама мыла раму, а папа читал газету\n");
    temporary_write(name, text, bytes + strlen(head));
}

static void expect_said(const char *what)
{
    ck_assert_msg(strstr(train_output, what), "no '%s' in: %.1500s", what, train_output);
}

START_TEST(characters_of_utf8_are_code_points)
{
    static const char *const heads[] = {"", "\xef\xbb\xbf"}; /* a byte order mark is no character */
    for (int i = 0; i < 2; i++) {
        write_russian("russian", heads[i], 3001); /* the last character is cut */
        expect_fine(train_run("train", "--data text:russian " QUICK));
        expect_said("russian: 1688 characters, 16 different; ");
        expect_said(" nats a character (");
        expect_fine(train_run("predict", "--model m --prompt мама --length 300 > sample"));
        expect_fine(train_run("iconv", "-f UTF-8 -t UTF-32LE sample -o wide"));
        expect_fine(train_run("sh", "-c 'test $(wc -c < wide) = 1220'")); /* 4 of the prompt, 300 and a newline */
    }
    expect_fine(train_run("predict", "--model m --prompt мама --top-k 4096")); /* as many as there may be */
    expect_refused(train_run("predict", "--model m --prompt маяк"), "does not know the character 'я' of the prompt");
    expect_fine(train_run("emit", "--model m --out net.c"));
}
END_TEST

START_TEST(characters_of_other_texts_are_bytes)
{
    char text[3000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "ab\xe9 \n"[i * i % 7 % 5]; /* Latin-1 */
    temporary_write("latin", text, sizeof text);
    expect_fine(train_run("train", "--data text:latin " QUICK));
    expect_said("latin: 3000 bytes, ");
    expect_said(" nats a byte (");
    FILE *file = fopen(temporary_path("many"), "wb"); /* one more than may be code points */
    for (unsigned code = 0x4e00; code <= 0x4e00 + TG_CARD_MOST_LETTERS; code++)
        fprintf(file, "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f));
    fclose(file);
    expect_fine(train_run("train", "--data text:many " QUICK));
    expect_said("many: 12291 bytes, ");
    expect_fine(train_run("sh", "-c 'head -c 12288 many > fewer'"));
    expect_fine(train_run("train", "--data text:fewer " QUICK));
    expect_said("fewer: 4096 characters, 4096 different; ");
    expect_fine(train_run("predict", "--model m --prompt 一丁 --length 5 --top-k 3"));
}
END_TEST

START_TEST(pairs_are_counted_in_characters)
{
    FILE *file = fopen(temporary_path("pairs"), "w");
    for (int i = 0; i < 60; i++)
        fprintf(file, "при%s\tвет\n", i % 2 ? "м" : "я");
    fclose(file);
    expect_fine(train_run("train", "--data pairs:pairs --layers 1 --width 8 --heads 1 --epochs 1 --no-plots --out m"));
    expect_said("pairs: pairs of at most 4 characters, 8 different; ");
    expect_fine(train_run("predict", "--model m --prompt прим"));
}
END_TEST

/* A line that is much longer than the others is most often a mistake; attention takes the square of it. */
START_TEST(a_pair_that_is_too_long_is_named)
{
    FILE *file = fopen(temporary_path("pairs"), "w");
    for (int i = 0; i < 60; i++) {
        fputs("abc\t", file);
        for (int k = 0; k < (i == 41 ? 20000 : 3); k++)
            fputc("xyz"[k % 3], file);
        fputc('\n', file);
    }
    fclose(file);
    expect_refused(
        train_run("train", "--data pairs:pairs --no-plots --out m"),
        "pairs:42: a source or target of 20000 characters, and a model takes memory with the square of that: "
        "leave the line out, or ask for it with --context 20001");
    ck_assert_int_eq(train_run("sh", "-c 'sed 42d pairs > fewer'"), 0);
    expect_fine(train_run("train", "--data pairs:fewer --layers 1 --width 8 --heads 1 --epochs 1 --no-plots --out m"));
}
END_TEST

/* Also where no run has a number the columns are those of characters, and the loss is their cross-entropy. */
START_TEST(columns_of_a_text_do_not_depend_on_what_diverged)
{
    static const char *const rates[] = {"0.01", "1e6"};
    char heads[2][4000];
    write_russian("russian", "", 2000);
    for (int i = 0; i < 2; i++) {
        expect_fine(train_run("compare",
                              "--data text:russian --model charmlp --hidden 4 --epochs 1 --seeds 1 --activations "
                              "relu,tanh --optimizer sgd --lr %s --no-plots --overwrite --out o",
                              rates[i]));
        ck_assert_msg(strstr(train_output, "validation loss (cross-entropy)"), "%s", train_output);
        ck_assert_msg(!strstr(train_output, "squared"), "%s", train_output);
        snprintf(heads[i], sizeof heads[i], "%.*s", (int)strcspn(temporary_text("o/summary.csv"), "\n"),
                 temporary_text("o/summary.csv"));
    }
    ck_assert_msg(strstr(train_output, "diverged in 1 of 1 run"), "%s", train_output);
    ck_assert_str_eq(heads[1], heads[0]);
}
END_TEST

/* ---- what a file claims ---- */

static long peak_kilobytes(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
}

START_TEST(claimed_widths_take_no_memory_before_they_are_compared)
{
    static const char edit[] = "sed 's/1000,1000/9999,9999/' m/best.safetensors > claims.safetensors";
    tg_error error;
    expect_fine(train_run("train", "--data train.csv --hidden 1000,1000 --epochs 1 --refit no --no-plots --out m"));
    temporary_write("edit", edit, strlen(edit));
    ck_assert_int_eq(train_run("sh", "edit"), 0);
    const long before = peak_kilobytes();
    ck_assert_ptr_null(tg_model_open(temporary_path("claims.safetensors"), &error));
    ck_assert_msg(strstr(error.text, "shape"), "%s", error.text);
    ck_assert_msg(peak_kilobytes() - before < 100000, "%ld kB", peak_kilobytes() - before); /* the weights: 400 MB */
    tg_model *model = tg_model_open(temporary_path("m/best.safetensors"), &error);
    ck_assert_msg(model, "%s", error.text);
    tg_model_free(model);
}
END_TEST

Suite *characters_suite(void)
{
    Suite *suite = suite_create("characters");
    TCase *tests = tcase_create("characters");
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, characters_of_utf8_are_code_points);
    tcase_add_test(tests, characters_of_other_texts_are_bytes);
    tcase_add_test(tests, pairs_are_counted_in_characters);
    tcase_add_test(tests, a_pair_that_is_too_long_is_named);
    tcase_add_test(tests, columns_of_a_text_do_not_depend_on_what_diverged);
    tcase_add_test(tests, claimed_widths_take_no_memory_before_they_are_compared);
    suite_add_tcase(suite, tests);
    return suite;
}
