/* The program `compare` as users see it: its output, and that it writes the same again. */
#include "examples/programs/run/experiment.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *compare_suite(void);

START_TEST(the_same_command_gives_the_same_curves_with_any_number_of_jobs)
{
    char errors[4000], arguments[600], *first = NULL;
    for (int jobs = 1; jobs <= 3; jobs++) {
        snprintf(arguments, sizeof arguments, SMALL_RUNS "--jobs %d --out '%s/jobs%d'", jobs, temporary_folder(), jobs);
        ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
        char folder[300];
        snprintf(folder, sizeof folder, "%s/jobs%d", temporary_folder(), jobs);
        char *rows = rows_without_seconds(folder);
        int lines = 0;
        for (const char *c = rows; *c; c++)
            lines += *c == '\n';
        ck_assert_int_eq(lines, 1 + 4 * 2 * 2);
        if (first)
            ck_assert_str_eq(rows, first);
        else
            first = strdup(rows);
        free(rows);
    }
    ck_assert_ptr_nonnull(
        strstr(first, "activation,point,seed,fold,epoch,step,train_loss,val_loss,val_accuracy,grad_norm,dead_fraction,"
                      "best,at_best_point\n"));
    free(first);
}
END_TEST

/* The last line of the output, the command of train, is run by a shell; its curve without the seconds is that of the
 * run of the same name. */
static void expect_repeated(const char *options)
{
    char command[3000], name[200], line[2][1000];
    expect_fine(train_run("compare", "%s --no-plots --jobs 1 --out w", options));
    train_output[strlen(train_output) - 1] = '\0';
    const char *last = strrchr(train_output, '\n') + 1;
    ck_assert_msg(strstr(last, "train --data ") && strlen(last) < sizeof command - 20, "%s", last);
    snprintf(name, sizeof name, "%s", strstr(last, "--out w/train/") + strlen("--out w/train/"));
    snprintf(command, sizeof command, "%s --no-plots", last);
    temporary_write("command.sh", command, strlen(command));
    expect_fine(train_run("sh", "command.sh"));
    FILE *file[2];
    for (int i = 0; i < 2; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/w/%s/%s/curves.csv", temporary_folder(), i ? "train" : "runs", name);
        ck_assert_msg((file[i] = fopen(path, "r")) != NULL, "%s", path);
    }
    int lines = 0;
    for (; fgets(line[0], sizeof line[0], file[0]) && fgets(line[1], sizeof line[1], file[1]); lines++) {
        for (int i = 0; i < 2; i++)
            *strrchr(line[i], ',') = '\0';
        ck_assert_str_eq(line[0], line[1]);
    }
    ck_assert_int_gt(lines, 1);
    fclose(file[0]);
    fclose(file[1]);
    expect_fine(train_run("rm", "-r w"));
}

START_TEST(the_printed_command_repeats_the_winner)
{
    char text[4000] = "a,y\n";
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d\n", i, i * i % 7);
    temporary_write("it's a table.csv", text, strlen(text));
    expect_repeated("--data \"it's a table.csv\" --activations relu,swiglu --seeds 1"); /* all defaults of tables */
    expect_repeated("--data moons --rows 90 --activations 'mine: x sigmoid(b x), b = 1' --seeds 1 --epochs 2");
    expect_repeated("--data moons --rows 90 --folds 2 --refit yes --activations relu,geglu --seeds 1 --epochs 2 --lr "
                    "0.0012345678,0.1");
}
END_TEST

/* Models that read other contexts of a text, whose epochs have other numbers of steps. */
START_TEST(several_models_are_compared_like_activations)
{
    char text[2000] = "";
    for (int i = 0; i < 300; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%c%c ", 'a' + i % 7, 'b' + i % 5);
    temporary_write("text", text, strlen(text));
    expect_repeated("--data text:text --model rnn,gpt --width 8 --epochs 2 --activations relu --seeds 2 --jobs 2");
    expect_fine(train_run("compare", "--data glyphs --rows 200 --model mlp,convnet --activations relu,silu --epochs 1 "
                                     "--seeds 2 --no-plots --out both"));
    ck_assert_msg(strstr(train_output, "convnet-silu against mlp-relu: "), "%s", train_output);
    ck_assert_msg(strstr(train_output, "\nmodel ") && !strstr(train_output, "\nactivation "), "%s", train_output);
    ck_assert(temporary_exists("both/runs/convnet-silu-seed2"));
    ck_assert_double_gt(csv_cell("both/summary.csv", "convnet-relu", "parameters"), 0);
    expect_fine(train_run("compare", "--config both/config.json --seeds 1 --out again"));
    ck_assert(temporary_exists("again/runs/convnet-silu-seed1"));
    expect_refused(train_run("compare", "--data glyphs --rows 200 --model mlp,autoencoder --out none"),
                   "--model: an autoencoder's losses are not comparable");
    expect_refused(train_run("compare", "--data glyphs --rows 200 --model mlp,gpt --out none"),
                   "--model gpt reads characters");
    expect_refused(train_run("compare", "--data glyphs --rows 200 --model mlp,vit --filters 3 --out none"),
                   "is not for --model mlp");
}
END_TEST

/* The rows of a curves.csv that begin like this. */
static char *rows_like(const char *folder, const char *begin)
{
    char *rows = rows_without_seconds(folder), *text = NULL;
    size_t size = 0;
    FILE *kept = open_memstream(&text, &size);
    for (char *line = strtok(rows, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, begin, strlen(begin)) == 0)
            fprintf(kept, "%s\n", line);
    fclose(kept);
    free(rows);
    return text;
}

START_TEST(a_seed_is_the_same_run_in_any_comparison)
{
    char errors[4000], arguments[600], folder[300];
    char *rows[2];
    static const char table[] =
        "x,y,t\n1,2,.5\n2,1,1.5\n3,5,2.5\n4,2,3.5\n5,9,4.25\n6,1,5.5\n7,3,6.5\n8,2,7.5\n9,4,8.5\n10,2,9.5\n";
    temporary_write("table.csv", table, sizeof table - 1);
    for (int first = 1; first <= 2; first++) {
        snprintf(arguments, sizeof arguments,
                 "--data 'csv:%s' --hidden 4 --activations relu --lr 0.001 --epochs 3 --no-plots --seed %d --seeds %d "
                 "--out '%s/s%d'",
                 temporary_path("table.csv"), first, 3 - first, temporary_folder(), first);
        ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
        snprintf(folder, sizeof folder, "%s/s%d", temporary_folder(), first);
        rows[first - 1] = rows_like(folder, "relu,,2,");
    }
    ck_assert_uint_gt(strlen(rows[0]), 100);
    ck_assert_str_eq(rows[0], rows[1]);
    free(rows[0]);
    free(rows[1]);
}
END_TEST

/* If no net is given, it is the one of --help, whatever the number of rows, and config.json has it. */
START_TEST(the_default_net_is_that_of_the_help)
{
    static const struct {
        const char *options, *net;
    } cases[] = {
        {"--rows 400", "\n2-128x2-2, "}, {"--rows 600", "\n2-128x2-2, "}, {"--rows 400 --hidden 5", "\n2-5-2, "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char errors[4000], arguments[600];
        snprintf(arguments, sizeof arguments,
                 "--data moons --activations relu --seeds 1 --epochs 1 --no-plots --overwrite --out '%s/few' %s",
                 temporary_folder(), cases[i].options);
        ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
        ck_assert_msg(strstr(errors, cases[i].net) != NULL, "%s: %s", cases[i].options, errors);
    }
    ck_assert_ptr_nonnull(strstr(temporary_text("few/config.json"), "\"hidden\": \"5\""));
}
END_TEST

static void ck_assert_help(const char *option, const char *format, ...)
{
    char words[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    const char *help = options_find(experiment_program()->table, option)->help;
    ck_assert_msg(strstr(help, words) != NULL, "--%s has no '%s': %s", option, words, help);
}

static net_spec default_net(const char *model)
{
    net_spec net = {.model = model};
    tg_model_spec_complete(&net);
    return net;
}

/* The run of a comparison whose training split has this many rows. */
static run_spec completed(const char *model, int64_t rows)
{
    run_spec s = experiment_defaults().settings.run;
    s.data = "csv:x.csv";
    s.net.model = model;
    run_spec_complete(&s, rows);
    return s;
}

START_TEST(the_help_has_the_defaults_of_the_code)
{
    const net_spec mlp = default_net("mlp"), charmlp = default_net("charmlp"), gpt = default_net("gpt"),
                   vit = default_net("vit"), autoencoder = default_net("autoencoder");
    ck_assert_help("hidden", "mlp (%s by default), charmlp (%s), autoencoder (%s)", mlp.hidden, charmlp.hidden,
                   autoencoder.hidden);
    ck_assert_help("filters", "%s by default", default_net("convnet").filters);
    ck_assert_help("code", "0: %d", autoencoder.code);
    ck_assert_help("patch", "0: %d", vit.patch);
    ck_assert_help("embedding", "0: %d", charmlp.embedding);
    ck_assert_help("context", "0: %d, %d and %d", gpt.context, charmlp.context, default_net("gru").context);
    ck_assert(gpt.layers == vit.layers && gpt.heads == vit.heads && gpt.width == vit.width);
    ck_assert_help("layers", "0: %d", gpt.layers);
    ck_assert_help("heads", "0: %d", gpt.heads);
    ck_assert_help("width", "0: %d", gpt.width);
    ck_assert_help("batch", "0: %d, fewer for small data, %d for gpt", completed("mlp", 1000000).batch,
                   completed("gpt", 1000000).batch);
    ck_assert_help("epochs", "%d to %d", completed("mlp", 1000000).epochs, completed("mlp", 20).epochs);
    ck_assert_help("epochs", "about 1,500 steps");
    const run_spec some = completed("mlp", 2560); /* 20 passes of 128 rows */
    ck_assert_int_eq(some.epochs * (2560 / some.batch), 1500);
    ck_assert_help("patience", "0 or -1: never");
    ck_assert_help("dropout", "-1: none");
    ck_assert(some.patience == 0 && some.net.dropout == 0);
}
END_TEST

START_TEST(what_was_read_is_told_before_training)
{
    char errors[4000], arguments[600];
    snprintf(arguments, sizeof arguments, SMALL_RUNS "--folds 3 --patience 1 --out '%s/told'", temporary_folder());
    ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
    static const char *const said[] = {"moons: 300 rows, 2 features; classification into 2 classes (0, 1)\n",
                                       "140 training, 60 validation and 100 test samples. 3 folds are redrawn per seed",
                                       "2-8x2-2, 2 epochs of 5 steps, batch 32, adamw 0.001, cosine; 24 runs\n"};
    for (int i = 0; i < 3; i++)
        ck_assert_msg(strstr(errors, said[i]) != NULL, "%s is missing in %s", said[i], errors);
    ck_assert_msg(strstr(errors, ": done, 2 epochs, validation loss ") != NULL, "%s", errors);
}
END_TEST

START_TEST(an_interruption_keeps_what_is_finished)
{
    static const int asking[] = {SIGINT, SIGTERM, SIGHUP};
    int status;
    signal(asking[_i], SIG_DFL); /* under nohup, compare would inherit an ignored signal */
    const pid_t child = train_start("compare", "--data moons --hidden 4 --activations relu --seeds 1 --epochs 1000000 "
                                               "--no-plots --out interrupted >/dev/null 2>&1");
    wait_for_row("interrupted/runs/relu-seed1/curves.csv");
    kill(child, asking[_i]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 128 + asking[_i]);
    char *rows = rows_without_seconds(temporary_path("interrupted"));
    ck_assert_ptr_nonnull(strstr(rows, "relu,,1,0,1,"));
    free(rows);
}
END_TEST

/* With too little memory OpenBLAS cannot start its threads, and fork() must not wait for them forever. */
START_TEST(short_memory_is_told_and_does_not_hang)
{
    char command[1500];
    for (int kilobytes = 100000; kilobytes <= 300000; kilobytes += 100000) {
        snprintf(command, sizeof command,
                 "ulimit -v %d; OPENBLAS_NUM_THREADS=4 timeout -s KILL 60 %s/bin/compare " SMALL_RUNS
                 "--out '%s/short' >/dev/null 2>&1",
                 kilobytes, compare_build(), temporary_folder());
        const int status = system(command);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) < 128, "%d kB: %d", kilobytes, WEXITSTATUS(status));
    }
}
END_TEST

START_TEST(a_full_disk_is_reported_before_anything_is_trained)
{
    char command[1500];
    static char output[10000];
    snprintf(command, sizeof command, "ulimit -f 0; trap '' XFSZ; %s/bin/compare " SMALL_RUNS "--out '%s/full' 2>&1",
             compare_build(), temporary_folder());
    FILE *pipe = popen(command, "r");
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    while (fgetc(pipe) != EOF) /* under gcov, a line for each file of counters */
        continue;
    const int status = pclose(pipe);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    ck_assert_msg(strstr(output, "full/config.json") && strstr(output, "File too large") != NULL, "%s", output);
}
END_TEST

START_TEST(widths_are_read_as_written)
{
    enum { MOST = 64 };
    int64_t widths[MOST + 1];
    tg_error error;
    ck_assert(tg_widths_read("hidden", "128x3,10", widths, MOST, &error));
    const int64_t expected[] = {128, 128, 128, 10, 0};
    ck_assert_mem_eq(widths, expected, sizeof expected);
    static const char *const wrong[] = {"x",  "0",   "-1",   "8x0",    "8x",         "8,",
                                        ",8", "8 8", "8x65", "8x64,1", "99999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(!tg_widths_read("hidden", wrong[i], widths, MOST, &error), "'%s' was taken", wrong[i]);
}
END_TEST

/* 57 rows in batches of 8 leave a single row, for which batch norm has no variance. */
START_TEST(batch_norm_does_without_a_row_that_is_left_alone)
{
    char errors[4000], arguments[600], table[2000] = "x,y,kind\n";
    for (int i = 0; i < 95; i++)
        snprintf(table + strlen(table), sizeof table - strlen(table), "%d,%d,%d\n", i, i * i % 17, i % 2);
    temporary_write("table.csv", table, strlen(table));
    static const char run[] = "--data 'csv:%s' --norm %s --batch %d --hidden 4 --activations relu --seeds 1 --epochs 2 "
                              "--no-plots --overwrite --out '%s/o'";
    snprintf(arguments, sizeof arguments, run, temporary_path("table.csv"), "batch", 8, temporary_folder());
    ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
    ck_assert_msg(strstr(errors, "57 training") && strstr(errors, "2 epochs of 7 steps"), "%s", errors);
    snprintf(arguments, sizeof arguments, run, temporary_path("table.csv"), "rms", 8, temporary_folder());
    ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 0, "%s", errors);
    ck_assert_msg(strstr(errors, "2 epochs of 8 steps"), "%s", errors);
    snprintf(arguments, sizeof arguments, run, temporary_path("table.csv"), "batch", 1, temporary_folder());
    ck_assert_int_eq(compare_run(arguments, errors, sizeof errors), 2);
    ck_assert_str_eq(errors, "compare: --batch: --norm batch needs at least two rows\n");
}
END_TEST

Suite *compare_suite(void)
{
    Suite *suite = suite_create("compare");
    TCase *tests = tcase_create("compare");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, the_same_command_gives_the_same_curves_with_any_number_of_jobs);
    tcase_add_test(tests, several_models_are_compared_like_activations);
    tcase_add_test(tests, the_printed_command_repeats_the_winner);
    tcase_add_test(tests, a_seed_is_the_same_run_in_any_comparison);
    tcase_add_test(tests, the_default_net_is_that_of_the_help);
    tcase_add_test(tests, the_help_has_the_defaults_of_the_code);
    tcase_add_test(tests, what_was_read_is_told_before_training);
    tcase_add_loop_test(tests, an_interruption_keeps_what_is_finished, 0, 3);
    if (ADDRESS_SPACE_CAN_BE_LIMITED)
        tcase_add_test(tests, short_memory_is_told_and_does_not_hang);
    tcase_add_test(tests, a_full_disk_is_reported_before_anything_is_trained);
    tcase_add_test(tests, widths_are_read_as_written);
    tcase_add_test(tests, batch_norm_does_without_a_row_that_is_left_alone);
    suite_add_tcase(suite, tests);
    return suite;
}
