/* Names of columns, classes, groups, files and folders that a terminal, a page, a shell or gnuplot would execute: what
 * the programs print and write has no control character, is UTF-8, and nothing is run. TG_LONG=1 tries 2,000 names. */
#include "autograd/rng.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *names_suite(void);

enum { NAME = 160, COLUMNS = 4, CLASSES = 3, GROUPS = 3, OF_A_ROUND = COLUMNS + CLASSES + GROUPS + 2, ROUNDS = 4 };

static tg_rng rng;

static int below(int n)
{
    return (int)(tg_rng_uniform(&rng) * n);
}

/* What is put together to names; the last ones are for names of files only, which need not be UTF-8. */
static const char *const pieces[] = {"a",
                                     "price",
                                     " ",
                                     "_",
                                     "0",
                                     "-",
                                     "\303\251",
                                     "\342\202\254",
                                     "\360\237\230\200",
                                     "'",
                                     "\"",
                                     "`",
                                     "$(touch pwned)",
                                     ";touch pwned;",
                                     "|touch pwned",
                                     "`touch pwned`",
                                     "\033]0;OWNED\007",
                                     "\033[31m",
                                     ("\302\233"
                                      "31m"),
                                     "\177",
                                     "\001",
                                     "\b\b\b",
                                     "\r",
                                     "\342\200\256",
                                     "\342\201\246",
                                     "\342\200\217",
                                     "<script>alert(1)</script>",
                                     "&amp;",
                                     "<b>",
                                     "%s%n",
                                     "\\input{x}",
                                     "\\write18{touch pwned}",
                                     "$x^2_",
                                     "{",
                                     "}",
                                     "#",
                                     "~",
                                     "*/ int x; /*",
                                     "\\",
                                     "{/Symbol a}",
                                     "@",
                                     "=1+1",
                                     "\t",
                                     "system('touch pwned')",
                                     "'; system('touch pwned'); '",
                                     ",",
                                     "|",
                                     "[x](y)",
                                     "?\077/",
                                     "\377",
                                     "\302",
                                     "\n",
                                     "\355\240\200"};
enum { PIECES = sizeof pieces / sizeof *pieces, ONLY_OF_FILES = 4 };

static const char *draw_name(char name[NAME], bool file)
{
    strcpy(name, file ? "" : "k"); /* a word, and no number */
    const int parts = 1 + below(below(8) == 0 ? 30 : 5);
    for (int i = 0; i < parts; i++) {
        const char *piece = pieces[below(PIECES - (file ? 0 : ONLY_OF_FILES))];
        if (strlen(name) + strlen(piece) + 8 < (file ? 90 : NAME))
            strcat(name, piece);
    }
    for (char *letter = name; file && *letter; letter++)
        *letter = *letter == '/' ? '.' : *letter;
    sprintf(name + strlen(name), "%d", below(100000)); /* so that names differ */
    return name;
}

/* ---- what may be printed ---- */

/* Takes out the sequences that the programs themselves send to a terminal: colours and movements of the cursor. */
static void remove_own_sequences(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        if (from[0] == '\033' && from[1] == '[') {
            const size_t numbers = strspn(from + 2, "0123456789;?");
            if (from[2 + numbers] && strchr("mKAJhlGBC", from[2 + numbers])) {
                from += 3 + numbers;
                continue;
            }
        }
        *to++ = *from++;
    }
    *to = '\0';
}

/* The place of something that must not be there; NULL: none. */
static const char *strange_in(const char *text, bool terminal)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        const int length = *at < 0x80                  ? 1
                           : *at >= 0xc2 && *at < 0xe0 ? 2
                           : *at >= 0xe0 && *at < 0xf0 ? 3
                           : *at >= 0xf0 && *at < 0xf5 ? 4
                                                       : 0;
        for (int i = 1; i < length; i++)
            if ((at[i] & 0xc0) != 0x80)
                return (const char *)at;
        const bool control = (*at < ' ' && *at != '\n' && !(terminal && *at == '\r') && *at != '\t') || *at == 0x7f ||
                             (at[0] == 0xc2 && at[1] < 0xa0);
        const bool turns = (at[0] == 0xe2 && at[1] == 0x80 && ((at[2] >= 0xa8 && at[2] <= 0xae) || at[2] == 0x8f)) ||
                           (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9) ||
                           (at[0] == 0xed && at[1] >= 0xa0);
        if (!length || control || turns)
            return (const char *)at;
        at += length;
    }
    return NULL;
}

static void check_text(char *text, bool terminal, const char *what)
{
    if (terminal)
        remove_own_sequences(text);
    const char *strange = strange_in(text, terminal);
    if (!strange)
        return;
    char near[400] = "";
    const char *from = strange - text > 60 ? strange - 60 : text;
    for (int i = 0; i < 90 && from[i]; i++)
        sprintf(near + strlen(near), from[i] >= ' ' && from[i] < 0x7f ? "%c" : "\\x%02x", (unsigned char)from[i]);
    ck_abort_msg("%s: %s", what, near);
}

static void check_file(const char *name)
{
    if (temporary_exists(name))
        check_text(temporary_text(name), false, name);
}

static char said[TRAIN_OUTPUT]; /* by the last command */

static void expect_clean(const char *command)
{
    strcpy(said, train_output);
    check_text(train_output, true, command);
    ck_assert_msg(train_run("sh", "-c 'ls -R . | grep -q pwned$'") != 0, "%s ran a name", command);
}

/* Runs a command through a pipe and on a terminal of its own; false if it failed. */
static bool run_both(const char *command)
{
    char script[4000];
    snprintf(script, sizeof script, "#!/bin/sh\n%s\n", command);
    temporary_write("go", script, strlen(script));
    ck_assert_int_eq(chmod(temporary_path("go"), 0777), 0);
    const bool fine = train_run("./go", " ") == 0;
    expect_clean(command);
    train_run("script", "-qec ./go /dev/null");
    expect_clean(command);
    return fine;
}

/* ---- a round ---- */

static void put_csv(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, to);
    fputc('"', to);
}

/* A word for the shell. */
static const char *quoted(const char *word)
{
    static char text[4 * NAME];
    char *to = text;
    *to++ = '\'';
    for (; *word; word++)
        to += sprintf(to, *word == '\'' ? "'\\''" : "%c", *word);
    strcpy(to, "'");
    return text;
}

static void write_data(char column[][NAME], char class[][NAME], char group[][NAME], const char *file)
{
    FILE *to = fopen(temporary_path(file), "w"), *runs = fopen(temporary_path("runs.csv"), "w");
    ck_assert(to && runs);
    for (int c = 0; c < COLUMNS; c++) {
        fputs(c ? "," : "", to);
        put_csv(to, column[c]);
    }
    fputc('\n', to);
    for (int row = 0; row < 60; row++) {
        fprintf(to, "%.3f,%.3f,", tg_rng_normal(&rng), tg_rng_normal(&rng));
        put_csv(to, class[row % CLASSES]); /* a column of categories has the same names */
        fputc(',', to);
        put_csv(to, class[below(CLASSES)]);
        fputc('\n', to);
    }
    fputs("group,seed,", runs);
    put_csv(runs, column[0]);
    fputc('\n', runs);
    for (int g = 0; g < GROUPS; g++)
        for (int seed = 0; seed < 3; seed++) {
            put_csv(runs, group[g]);
            fprintf(runs, ",%d,%.3f\n", seed, g + tg_rng_uniform(&rng));
        }
    fclose(to);
    fclose(runs);
}

static void try_round(bool pictures)
{
    static const char *const written[] = {"link/report.html",  "link/summary.csv",   "link/curves.csv",
                                          "link/loss.svg",     "link/confusion.csv", "link/bands.csv",
                                          "link/boundary.svg", "link/runs.csv",      "link/accuracy.svg"};
    static const char *const formats[] = {"table", "markdown", "latex", "csv", "html"};
    char column[COLUMNS][NAME], class[CLASSES][NAME], group[GROUPS][NAME], file[NAME + 8], folder[NAME];
    char data[5 * NAME], out[5 * NAME], command[4000];
    for (int i = 0; i < COLUMNS; i++)
        draw_name(column[i], false);
    for (int i = 0; i < CLASSES; i++)
        draw_name(class[i], false);
    for (int i = 0; i < GROUPS; i++)
        draw_name(group[i], false);
    snprintf(file, sizeof file, "%s.csv", draw_name(folder, true));
    draw_name(folder, true);
    write_data(column, class, group, file);
    strcpy(data, quoted(file));
    strcpy(out, quoted(folder));
    const char *plots = pictures ? "" : "--no-plots";
    train_run("sh", "-c 'rm -rf link o'");
    ck_assert_int_eq(symlink(folder, temporary_path("link")), 0);

    snprintf(command, sizeof command, "train --data csv:%s --hidden 3 --epochs 2 --report %s --overwrite --out ./%s",
             data, plots, out);
    ck_assert_msg(run_both(command), "%s", said);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        check_file(written[i]);
    ck_assert_msg(temporary_exists("link/report.html"), "%s", said);
    snprintf(command, sizeof command,
             "predict --model link --data csv:%s --probabilities >/dev/tty 2>&1 || predict --model link --data csv:%s "
             "--probabilities 2>&1 >/dev/null",
             data, data);
    run_both(command);
    ck_assert_msg(run_both("emit --model link --out link/net.c && cc -fsyntax-only -x c link/net.c"), "%s", said);
    check_file("link/net.c");
    snprintf(command, sizeof command,
             "compare --data csv:%s --hidden 3 --epochs 2 --seeds 2 --activations relu,tanh --report %s --overwrite "
             "--out ./%s",
             data, plots, out);
    run_both(command);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        check_file(written[i]);
    snprintf(command, sizeof command, "train --data csv:%s --target %s --hidden 3 --epochs 1 --no-plots", data,
             quoted(column[0]));
    run_both(command); /* the name of the folder is made of the file's */
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        snprintf(command, sizeof command, "compare --runs runs.csv --format %s --report --out ./%s", formats[i], out);
        run_both(command);
    }
    check_file("link/report.html");
    check_file("link/summary.csv");
    snprintf(command, sizeof command,
             "gradcheck %s; train --data %s --model %s; activations --no-plots --out ./%s/a | tail -1",
             quoted(group[0]), out, quoted(group[1]), out);
    run_both(command);
    train_run("sh", "-c 'rm -rf link results ./*'");
}

START_TEST(names_of_data_are_neither_executed_nor_sent_to_a_terminal)
{
    rng = tg_rng_seed(1 + (uint64_t)_i);
    for (int round = 0; round < ROUNDS; round++)
        try_round(round == 0);
}
END_TEST

/* Functions of another program: `gradcheck --command`. */
START_TEST(names_of_another_programs_functions_are_cleaned)
{
    static const char child[] =
        "echo '{\"function\":\"f\\u001b]0;OWNED\\u0007\\u202e\",\"inputs\":[{\"shape\":[2],\"data\":[1,2],\"name\":"
        "\"\\u001b]0;OWNED\\u0007\\u009b31mx\"}],\"outputs\":[[2]],\"gives\":[\"vjp\"]}'\n"
        "while read l; do echo '{\"out\":[[1,4]]}'; done\n";
    temporary_write("child.sh", child, sizeof child - 1);
    run_both("gradcheck --command 'sh child.sh' --junit page.xml; gradcheck --command 'sh child.sh' --csv");
    check_file("page.xml");
    ck_assert(temporary_exists("page.xml"));
}
END_TEST

Suite *names_suite(void)
{
    Suite *suite = suite_create("names");
    TCase *tests = tcase_create("names");
    tcase_set_timeout(tests, 3600);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_loop_test(tests, names_of_data_are_neither_executed_nor_sent_to_a_terminal, 0,
                        getenv("TG_LONG") ? 1 + 2000 / (ROUNDS * OF_A_ROUND) : 1);
    tcase_add_test(tests, names_of_another_programs_functions_are_cleaned);
    suite_add_tcase(suite, tests);
    return suite;
}
