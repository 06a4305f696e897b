/* The programs, run as users run them. */
#include "autograd/registry.h"
#include "tests/support/run_programs.h"
#include "tests/support/seeds.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *programs_suite(void);

/* Runs build/bin/PROGRAM with arguments; captures both streams and the exit status. */
static int run(const char *program, char *output, size_t size)
{
    const char *build = getenv("TG_BUILD");
    char command[2000];
    snprintf(command, sizeof command, "%s/bin/%s 2>&1 </dev/null", build ? build : "build", program);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t length = 0, got;
    while (length + 1 < size && (got = fread(output + length, 1, size - 1 - length, pipe)) > 0)
        length += got;
    output[length] = '\0';
    while (fgetc(pipe) != EOF)
        ;
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char output[1 << 18];

START_TEST(quickstart_learns_the_spirals)
{
    ck_assert_int_eq(run("quickstart", output, sizeof output), 0);
    const char *last = strstr(output, "on new points");
    ck_assert_ptr_nonnull(last);
    ck_assert_double_ge(atof(strstr(last, "accuracy") + strlen("accuracy")), 98);
}
END_TEST

START_TEST(fit_learns_the_chessboard_and_writes_its_curves)
{
    ck_assert_int_eq(run_there("fit", ""), 0);
    const char *accuracy = strstr(temporary_text("out"), "accuracy ");
    ck_assert(accuracy && atof(accuracy + strlen("accuracy ")) > 98);
    ck_assert_ptr_nonnull(strstr(temporary_text("curves.csv"), "\n12,360,0.01,"));
    ck_assert_ptr_nonnull(strstr(temporary_text("curves.gp"), "using 1:4"));
}
END_TEST

/* Minima by hand: that of x clamp(x + 3, 0, 6) / 6 is exactly at a point of the grid, and sine has two. */
START_TEST(activations_prints_the_lowest_minimum_and_the_errors_of_other_forms)
{
    ck_assert_int_eq(run_there("activations", "--no-plots --out a/b"), 0);
    const char *out = temporary_text("out");
    ck_assert_ptr_nonnull(strstr(out, "\nhardswish       -0.3333333  0.6666667  -1.5000000  -0.3750000\n"));
    ck_assert_ptr_nonnull(strstr(out, "\nsine            -0.8414710  0.8414710  -1.5707963  -1.0000000\n"));
    ck_assert_ptr_nonnull(strstr(out, "\nrelu             0.0000000  1.0000000           -           -\n"));
    ck_assert_ptr_nonnull(strstr(out, "\nsilu            -0.2689414  0.7310586  -1.2784645  -0.2784645\n"));
    ck_assert_ptr_nonnull(strstr(out, "-0.7517915  -0.1699712")); /* minimum of gelu_exact: where, and how low */
    ck_assert_ptr_nonnull(strstr(out, "4.732e-04    8.685e-04")); /* the largest errors of the tanh form */
    ck_assert(temporary_exists("a/b/activations.csv"));
}
END_TEST

START_TEST(mnist_without_its_files_says_so)
{
    ck_assert_int_eq(run("mnist", output, sizeof output), 2);
    ck_assert_int_eq(run("mnist --help", output, sizeof output), 0);
    ck_assert_str_eq(output, "usage: mnist FOLDER [EPOCHS], with the four files of MNIST in the folder\n");
    ck_assert_int_eq(run("mnist /nowhere", output, sizeof output), 2);
    ck_assert_str_eq(output, "mnist: /nowhere: no such folder\n");
}
END_TEST

START_TEST(names_learns_syllables_and_invents_words)
{
    static char words[40000];
    static const char *const syllables[] = {"ka", "lo", "mi", "ten"};
    size_t length = 0;
    for (unsigned i = 0; i < 2000; i++)
        length += (size_t)snprintf(words + length, sizeof words - length, "%s%s%s\n", syllables[i % 4],
                                   syllables[i / 4 % 4], i % 3 ? syllables[i / 16 % 4] : "");
    temporary_write("words", words, length);
    ck_assert_msg(run_there("names", "words 3") == 0, "%s", temporary_text("out"));
    const char *out = temporary_text("out"), *last = strstr(out, "epoch  3");
    ck_assert_msg(last && atof(strstr(last, "held out") + strlen("held out")) < 1.0, "%s",
                  out); /* log 4 for a syllable's first character, else 0 */
    ck_assert_int_eq(run_there("names", "nowhere"), 2);
    ck_assert_str_eq(temporary_text("out"), "nowhere: No such file or directory\n");
    ck_assert_int_eq(run_there("names", "words 1 2"), 2);
    memcpy(words + length - 6, "\303\244hr", 4); /* was read as C$hr */
    temporary_write("umlauts", words, length);
    ck_assert_int_eq(run_there("names", "umlauts 1"), 2);
    temporary_write("words", words, 1000); /* fewer steps than a long run's warm-up has */
    ck_assert_msg(run_there("names", "words 1") == 0, "%s", temporary_text("out"));
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_told_with_the_reason)
{
    ck_assert_int_eq(run_there("gpt", "nowhere"), 2);
    ck_assert_str_eq(temporary_text("out"), "nowhere: No such file or directory\n");
    ck_assert_int_eq(run_there("gpt", "."), 2);
    ck_assert_str_eq(temporary_text("out"), ".: Is a directory\n");
    ck_assert_int_eq(run_there("names", "."), 2);
    ck_assert_str_eq(temporary_text("out"), ".: Is a directory\n");
    ck_assert_int_eq(run_there("autoencoder", "nowhere"), 2);
    ck_assert_str_eq(temporary_text("out"), "nowhere: No such file or directory\n");
    temporary_write("short", "a\nb\n", 4);
    ck_assert_int_eq(run_there("gpt", "short"), 2);
    ck_assert_ptr_eq(strstr(temporary_text("out"), "usage: "), temporary_text("out"));
}
END_TEST

START_TEST(autoencoder_draws_what_comes_back)
{
    enum { IMAGES = 2000, SIDE = 6 };
    static unsigned char images[16 + IMAGES * SIDE * SIDE] = {[2] = 8, 3,    0, 0, IMAGES >> 8, IMAGES & 255, 0, 0,
                                                              0,       SIDE, 0, 0, 0,           SIDE};
    for (unsigned i = 0; i < IMAGES * SIDE * SIDE; i++)
        images[16 + i] = i % SIDE == i / (SIDE * SIDE) % SIDE ? 255 : 0;
    temporary_write_gzip("images", images, sizeof images);
    ck_assert_msg(run_there("autoencoder", "images 4") == 0, "%s", temporary_text("out"));
    const char *last = strstr(temporary_text("out"), "epoch  4");
    ck_assert_msg(last && atof(strstr(last, "held out") + strlen("held out")) < 0.01, "%s",
                  temporary_text("out")); /* 5/36 if the prediction were always black */
    ck_assert_ptr_nonnull(strstr(temporary_text("autoencoder.png") + 1, "PNG"));
    ck_assert_int_eq(run_there("autoencoder", "out"), 2);
    ck_assert_msg(run_there("autoencoder", "images 1") == 0, "%s", temporary_text("out"));
}
END_TEST

START_TEST(an_operation_of_ones_own_passes_the_gradient_check)
{
    ck_assert_msg(run("own_operation", output, sizeof output) == 0, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "derivatives agree on 3 samples")); /* and none on the empty one */
    ck_assert_ptr_nonnull(strstr(output, "squash( 1) =  0.865098"));         /* mish(1), as in any table */
}
END_TEST

START_TEST(moments_that_overflow_are_called_so)
{
    ck_assert_msg(run("activations --moments 8", output, sizeof output) == 0, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "| overflows |"));
    ck_assert_ptr_null(strstr(output, "nan |"));
}
END_TEST

/* A missing tool or file is reported: no signal ends the program, and no incomplete file remains. */
START_TEST(activations_survives_short_memory)
{
    const char *build = getenv("TG_BUILD");
    char command[1000];
    for (int kilobytes = 20000; kilobytes <= 160000; kilobytes += 20000) {
        snprintf(command, sizeof command,
                 "ulimit -v %d; OPENBLAS_NUM_THREADS=2 timeout -s KILL 60 %s/bin/activations --no-plots --out '%s' "
                 ">/dev/null 2>&1",
                 kilobytes, build ? build : "build", temporary_folder());
        const int status = system(command);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) < 128, "%d kB: %d", kilobytes, WEXITSTATUS(status));
        ck_assert_msg((WEXITSTATUS(status) == 0) == temporary_exists("activations.csv"), "%d kB", kilobytes);
        if (WEXITSTATUS(status) == 0)
            return;
    }
}
END_TEST

/* OpenBLAS starts its threads before main. When memory is short they must not retry forever while the program waits. */
START_TEST(programs_end_however_short_memory_is)
{
    static const char *const programs[] = {"gradcheck gelu_exact", "xor"};
    const char *build = getenv("TG_BUILD");
    char command[600];
    for (int kilobytes = 60000; ADDRESS_SPACE_CAN_BE_LIMITED && kilobytes <= 180000; kilobytes += 60000)
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
            snprintf(command, sizeof command,
                     "ulimit -v %d; OPENBLAS_NUM_THREADS=2 timeout -s KILL 60 %s/bin/%s >/dev/null 2>&1", kilobytes,
                     build ? build : "build", programs[i]);
            const int status = system(command);
            ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) < 128, "%s with %d kB: %d", programs[i], kilobytes,
                          WEXITSTATUS(status));
        }
}
END_TEST

/* Asks for one thread more than there are processors, so that the test sees both the variable and its limit. */
START_TEST(the_environment_says_how_many_threads_there_are)
{
    static const struct {
        const char *environment;
        int expected;
    } cases[] = {{"TG_THREADS=8", 8},
                 {"TG_THREADS=8 OPENBLAS_NUM_THREADS=1", 8},
                 {"OPENBLAS_NUM_THREADS=1", 1},
                 {"OMP_NUM_THREADS=1", 1},
                 {"TG_THREADS=none OMP_NUM_THREADS=1", 1}};
    static const char program[] = "#include <tapegrad.h>\nint main(void) { return tg_threads(); }\n";
    const char *build = getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
    char command[1200];
    if (!ADDRESS_SPACE_CAN_BE_LIMITED) /* a library with a sanitizer needs a program with one */
        return;
    temporary_write("threads.c", program, sizeof program - 1);
    snprintf(command, sizeof command,
             "${TG_CC:-cc} -I. -I'%s/include' '%s' '%s/libtapegrad.a' -lm -ldl -pthread -o '%s'", build,
             temporary_path("threads.c"), build, temporary_path("threads"));
    ck_assert_int_eq(system(command), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(command, sizeof command, "env -u TG_THREADS -u OPENBLAS_NUM_THREADS -u OMP_NUM_THREADS %s '%s'",
                 cases[i].environment, temporary_path("threads"));
        const int status = system(command);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == cases[i].expected, "%s: %d", cases[i].environment,
                      WEXITSTATUS(status));
    }
}
END_TEST

/* A quarter of the operations a day. */
START_TEST(gradcheck_passes_everything_to_second_order_and_says_so_in_its_last_line)
{
    char arguments[1500] = "gradcheck --order 2";
    for (int i = today(4); every(4) > 1 && tg_op_at(i); i += every(4))
        sprintf(arguments + strlen(arguments), " %s", tg_op_at(i)->name);
    ck_assert_msg(run(arguments, output, sizeof output) == 0, "%s", output);
    const char *last = strstr(output, " passed, ");
    ck_assert_msg(last && strcmp(last, " passed, 0 failed\n") == 0, "%s", output);
    ck_assert_int_eq(run("gradcheck no_such_operation", output, sizeof output), 2);
    ck_assert_int_eq(run("gradcheck --order 9", output, sizeof output), 2);
}
END_TEST

START_TEST(every_program_explains_itself_and_refuses_nonsense)
{
    static const char *const programs[] = {"compare",  "activations", "study",   "gradcheck",
                                           "accuracy", "train",       "predict", "emit"};
    char arguments[200];
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        snprintf(arguments, sizeof arguments, "%s --help", programs[i]);
        ck_assert_int_eq(run(arguments, output, sizeof output), 0);
        ck_assert_ptr_nonnull(strstr(output, "Usage: "));
        snprintf(arguments, sizeof arguments, "%s --nonsense", programs[i]);
        ck_assert_int_eq(run(arguments, output, sizeof output), 2);
        ck_assert_ptr_nonnull(strstr(output, "nonsense"));
    }
}
END_TEST

/* The first help of the two programs with the most options, and all options, each of which is accepted. */
START_TEST(help_fits_a_screen_and_help_all_has_the_rest)
{
    static const char *const programs[] = {"train", "compare"};
    static char all[sizeof output];
    char arguments[60];
    for (int p = 0; p < 2; p++) {
        int lines = 0, widest = 0, options[2] = {0};
        snprintf(arguments, sizeof arguments, "%s --help-all", programs[p]);
        ck_assert_int_eq(run(arguments, all, sizeof all), 0);
        snprintf(arguments, sizeof arguments, "%s --help", programs[p]);
        ck_assert_int_eq(run(arguments, output, sizeof output), 0);
        for (const char *line = output; *line; line += strcspn(line, "\n") + 1, lines++)
            widest = (int)strcspn(line, "\n") > widest ? (int)strcspn(line, "\n") : widest;
        ck_assert_msg(lines <= 60 && widest <= 80, "%s --help: %d lines, the widest of %d", programs[p], lines, widest);
        for (const char *at = output; (at = strstr(at, "\n      --")); at++) {
            char option[40];
            snprintf(option, sizeof option, "%.*s", 9 + (int)strcspn(at + 9, "= \n"), at);
            ck_assert_msg(strstr(all, option) || strcmp(option, "\n      --help-all") == 0, "%s", option);
            options[0]++;
        }
        for (const char *at = all; (at = strstr(at, "\n      --")); at++)
            options[1]++;
        ck_assert_msg(options[0] > 10 && options[1] > 2 * options[0], "%d and %d", options[0], options[1]);
    }
}
END_TEST

/* They take a file, or nothing; what they print for --help is not the beginning of their work. */
START_TEST(the_short_programs_explain_themselves_and_do_nothing_else)
{
    static const char *const programs[] = {"fit", "mnist", "gpt", "names", "autoencoder", "pinn", "siren"};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        ck_assert_msg(run_there(programs[i], "--help") == 0, "%s", programs[i]);
        ck_assert_msg(strncmp(temporary_text("out"), "usage: ", 7) == 0, "%s", programs[i]);
        ck_assert(!temporary_exists("curves.csv") && !temporary_exists("autoencoder.png"));
    }
    ck_assert_int_eq(run_there("fit", "--nonsense"), 2);
    ck_assert(strncmp(temporary_text("out"), "usage: ", 7) == 0 && !temporary_exists("curves.csv"));
}
END_TEST

/* Messages use the singular for one: not "1 epochs". */
START_TEST(what_is_counted_is_singular_where_it_is_one)
{
    static const char *const commands[] = {
        "compare --data moons --rows 60 --epochs 1 --batch 100 --seeds 1 --activations relu --format csv --no-plots",
        "compare --data 'csv:%s/one.csv' --epochs 1 --batch 2 --seeds 1 --activations relu --test none --no-plots",
        "train --data moons --rows 60 --epochs 1 --batch 100 --no-plots",
        "train --data 'csv:%s/one.csv' --epochs 1 --validation first:1 --test none --no-plots",
        "train --data 'lines:%s/lines' --epochs 1 --no-plots",
        "train --data 'pairs:%s/pairs' --epochs 1 --no-plots --layers 1 --width 4 --validation 0.01 --test 0.01",
        "train --data 'text:%s/text' --epochs 1 --layers 1 --heads 1 --width 4 --context 4 --no-plots",
        "study gelu-autoencoder --quick --epochs 1 --no-plots --only '*seed1'"};
    static char text[300];
    regex_t plural;
    temporary_write("one.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n", 20);
    memset(text, 'a', sizeof text);
    temporary_write("text", text, sizeof text);
    for (size_t i = 4; i < sizeof text; i += 5)
        text[i] = '\n';
    temporary_write("lines", text, sizeof text);
    for (size_t i = 2; i < sizeof text; i += 5)
        text[i] = '\t';
    temporary_write("pairs", text, sizeof text);
    ck_assert_int_eq(regcomp(&plural, "(^|[^0-9.,-])1 [a-z]*[^i]s( |;|,|:|\n)", REG_EXTENDED), 0);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char command[500], arguments[800];
        regmatch_t at;
        snprintf(command, sizeof command, commands[i], temporary_folder());
        snprintf(arguments, sizeof arguments, "%s --out '%s/%zu'", command, temporary_folder(), i);
        ck_assert_msg(run(arguments, output, sizeof output) == 0, "%s: %s", arguments, output);
        ck_assert_int_gt((int)strlen(output), 20);
        ck_assert_msg(regexec(&plural, output, 1, &at, 0) != 0, "%s: %.30s", commands[i], output + at.rm_so);
    }
    regfree(&plural);
}
END_TEST

START_TEST(the_short_programs_fail_where_they_cannot_print)
{
    static const char *const commands[] = {"quickstart",    "fit",         "own_operation",
                                           "names words 1", "gpt words 1", "autoencoder images 1"};
    static unsigned char images[16 + 2000 * 4] = {[2] = 8, 3, 0, 0, 2000 >> 8, 2000 & 255, 0, 0, 0, 2, 0, 0, 0, 2};
    static char words[2100];
    for (size_t i = 0; i < sizeof words; i++)
        words[i] = i % 6 == 5 ? '\n' : "kalomi"[i * 7 / 5 % 6];
    temporary_write("words", words, sizeof words);
    temporary_write("images", images, sizeof images);
    for (size_t i = (size_t)today(3); access("/dev/full", W_OK) == 0 && i < sizeof commands / sizeof commands[0];
         i += (size_t)every(3)) {
        char arguments[100];
        snprintf(arguments, sizeof arguments, "%s >/dev/full #",
                 strchr(commands[i], ' ') ? strchr(commands[i], ' ') : "");
        char program[50];
        snprintf(program, sizeof program, "%.*s", (int)strcspn(commands[i], " "), commands[i]);
        ck_assert_msg(run_there(program, arguments) == 1, "%s", commands[i]);
    }
}
END_TEST

/* A program whose output cannot be written reports that. */
START_TEST(what_cannot_be_printed_is_told)
{
    static const char *const commands[] = {
        "compare --help",
#ifndef TG_NO_BLAS /* without OpenBLAS there is no comparison */
        "bench --nets toy --activations relu --threads 1 --seconds 0 --csv",
#endif
        "compare --data moons --rows 60 --epochs 1 --seeds 1 --activations relu --no-plots --overwrite --format csv",
        "train --data moons --rows 60 --epochs 1 --no-plots --overwrite", "activations --no-plots"};
    char arguments[400];
    for (size_t i = 0; access("/dev/full", W_OK) == 0 && i < sizeof commands / sizeof commands[0]; i++) {
        const bool writes = strstr(commands[i], "--no-plots");
        snprintf(arguments, sizeof arguments, "%s%s%s%s 2>&1 >/dev/full #", commands[i], writes ? " --out '" : "",
                 writes ? temporary_folder() : "", writes ? "'" : "");
        ck_assert_msg(run(arguments, output, sizeof output) == 2, "%s: %s", commands[i], output);
        ck_assert_msg(strstr(output, ": cannot write to standard output"), "%s: %s", commands[i], output);
    }
}
END_TEST

Suite *programs_suite(void)
{
    Suite *suite = suite_create("programs");
    TCase *tests = tcase_create("programs");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, quickstart_learns_the_spirals);
    tcase_add_test(tests, activations_prints_the_lowest_minimum_and_the_errors_of_other_forms);
    tcase_add_test(tests, fit_learns_the_chessboard_and_writes_its_curves);
    tcase_add_test(tests, names_learns_syllables_and_invents_words);
    tcase_add_test(tests, a_file_that_cannot_be_read_is_told_with_the_reason);
    tcase_add_test(tests, autoencoder_draws_what_comes_back);
    tcase_add_test(tests, mnist_without_its_files_says_so);
    tcase_add_test(tests, an_operation_of_ones_own_passes_the_gradient_check);
    tcase_add_test(tests, moments_that_overflow_are_called_so);
    if (ADDRESS_SPACE_CAN_BE_LIMITED)
        tcase_add_test(tests, activations_survives_short_memory);
    tcase_add_test(tests, programs_end_however_short_memory_is);
    tcase_add_test(tests, the_environment_says_how_many_threads_there_are);
    tcase_add_test(tests, gradcheck_passes_everything_to_second_order_and_says_so_in_its_last_line);
    tcase_add_test(tests, every_program_explains_itself_and_refuses_nonsense);
    tcase_add_test(tests, help_fits_a_screen_and_help_all_has_the_rest);
    tcase_add_test(tests, the_short_programs_explain_themselves_and_do_nothing_else);
    tcase_add_test(tests, what_is_counted_is_singular_where_it_is_one);
    tcase_add_test(tests, the_short_programs_fail_where_they_cannot_print);
    tcase_add_test(tests, what_cannot_be_printed_is_told);
    suite_add_tcase(suite, tests);
    return suite;
}
