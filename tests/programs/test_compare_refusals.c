/* Error messages of the program `compare`. */
#include "examples/programs/run/experiment.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

Suite *compare_refusals_suite(void);

static const struct {
    const char *arguments, *says;
} mistakes[] = {
    {"--activations relu,gelu", "say gelu_exact, gelu_tanh or gelu_quick"},
    {"--activations swish2", "'swish2': not an activation; there are gelu_exact"},
    {"--activations relu,relu", "'relu' is listed twice"},
    {"--batch -1", "--batch: '-1' is not a list of different whole numbers"},
    {"--batch 12.5", "--batch: '12.5' is not a list of different whole numbers"},
    {"--lr fast", "--lr: 'fast' is not a list of different numbers, with commas between, from"},
    {"--lr 0.1,", "--lr: '0.1,' is not a list"},
    {"--lr 0.1,1e-1", "--lr: '0.1,1e-1' is not a list of different numbers"},
    {"--dropout 0,1", "--dropout: '0,1' is not a list"},
    {"--epochs -3", "--epochs: '-3'"},
    {"--activations ReLU", "'ReLU': not an activation; 'relu' is similar"},
    {"--optimizer Adam", "muon; did you mean adam"},
    {"--optimizer tiger", "--optimizer: 'tiger' is not one of adamw, adam, sgd, nadam, rmsprop, lion"},
    {"--hidden 128x", "--hidden: '128x' is not a list of"},
    {"--hidden 8x1000", "--hidden: '8x1000' is not a list of at most 64"},
    {"--data nowhere", "idx:DIR, csv:FILE; texts are text:FILE, lines:FILE, pairs:FILE"},
    {"--data csv:no-such-file.csv", "no-such-file.csv"},
    {"--data idx:no-such-folder", "no-such-folder"},
    {"--out /proc/nothing/here --data spirals", "--out: cannot write into the folder '/proc'"},
    {"--data moons --momentum 0.9", "--momentum is for sgd and rmsprop only"},
    {"--data sine --label-smoothing 0.1", "--label-smoothing is for classes and characters only"},
    {"--data moons --activations relu,silu --gated width", "--gated: no activation is gated"},
    {"--data glyphs --model mlp,vit --activations relu,swiglu --gated width",
     "--gated width: gated feed-forward layers of a vit"},
    {"--data moons --hidden 16,8 --residual", "--residual: no two successive hidden layers have the same width"},
    {"--batch 8,8.5", "--batch: '8,8.5' is not a list of different whole numbers"},
    {"--data moons --width 4", "--width is not for --model mlp"},
    {"--data moons --target -1", "--target is for csv: only"},
    {"--data moons --epochs 5 --patience 5", "--patience has no effect: a run has no more epochs"},
    {"--data moons --warmup 1", "compare: the cosine schedule needs steps, more of them than the warm-up has\n"},
    {"--data moons --warmup 0.1,1 --epochs 1",
     "compare: the cosine schedule needs steps, more of them than the warm-up has\n"},
    {"--data moons --folds 1000 --seeds 1000 --activations relu,silu",
     "--seeds: 2000000 runs in all, expected at most 1000000"},
    {"--data moons --folds 1", "moons: 1 fold is no cross-validation"},
    {"--data moons --folds 3 --test 0.1", "moons: the folds are the test splits"},
    {"--data moons --target x", "moons: target column and header are for csv: only"},
    {"--data moons --header no", "moons: target column and header are for csv: only"},
    {"--data moons --ignore x", "moons: ignored, categorical and missing columns are for csv: only"},
    {"--data moons --categorical x", "moons: ignored, categorical and missing columns are for csv: only"},
    {"--data moons --missing error", "--missing is for csv: only"},
    {"--data moons --weights w", "moons: a column of weights is for csv: only"},
    {"--data sine --class-weights balanced", "--class-weights is for classes only"},
    {"--data moons --class-weights nothing", "--class-weights: expected balanced or a file: nothing: No such file"},
    {"--data moons --measures test_f1", "is none of test_accuracy"},
    {"--data sine --measures test_auc", "--measures: test_auc is for two classes"},
    {"--data csv:examples/iris.csv --measures test_loss,test_auc", "--measures: test_auc is for two classes"},
    {"--data moons --measures test_r2", "--measures: test_r2 is for targets that are numbers"},
    {"--data sine --measures test_accuracy", "--measures: test_accuracy is for classes"},
    {"--data moons --task classification", "--task is for csv: only"},
    {"--data moons --validation 0.6 --test 0.5", "leave none for training"},
    {"stray", "'stray' is not an option"},
    {"--unheard-of", "unrecognized option '--unheard-of'"},
    {"--config /", "--config: cannot read '/': Is a directory\n"},
    {"--config /nowhere", "--config: /nowhere: No such file or directory\n"},
};

START_TEST(a_mistake_gets_a_line_that_names_it_and_status_2)
{
    char errors[2000];
    ck_assert_int_eq(compare_run(mistakes[_i].arguments, errors, sizeof errors), 2);
    ck_assert_msg(strstr(errors, mistakes[_i].says) != NULL, "'%s' says: %s", mistakes[_i].arguments, errors);
    ck_assert_msg(strncmp(errors, "compare: ", 9) == 0, "%s", errors);
}
END_TEST

/* Every value in a configuration is accepted or refused in a line that names the file and the key. null is accepted
 * only where the program itself writes it. */
START_TEST(values_of_another_kind_are_refused)
{
    static const char *const values[] = {"null",   "true",       "5",    "-7.5",        "1e300",
                                         "[1, 2]", "{\"a\": 1}", "\"\"", "\"nonsense\""};
    enum { NULL_IS, TRUE_IS, VALUES = sizeof values / sizeof *values };
    char text[200];
    tg_error error;
    for (const program_option *o = experiment_program()->table; o->name || o->help; o++)
        for (int i = 0; i < VALUES && o->name; i++) {
            experiment e = experiment_defaults();
            const experiment defaults = e;
            const char *const *was = (const char *const *)(const void *)((const char *)&defaults.settings + o->offset);
            const bool number = !o->list && (o->type == OPTION_INT || o->type == OPTION_REAL),
                       flag = o->type == OPTION_FLAG;
            snprintf(text, sizeof text, "{\"%s\": %s}", o->name, values[i]);
            temporary_write("config.json", text, strlen(text));
            const bool taken = options_load(experiment_program(), temporary_path("config.json"), &e.settings, &error);
            if (i == NULL_IS)
                ck_assert_msg(taken == (!number && !flag && !*was), "%s", text);
            if (i == TRUE_IS)
                ck_assert_msg(taken == flag, "%s", text);
            if (!taken)
                ck_assert_msg(strstr(error.text, temporary_path("config.json")) && strstr(error.text, o->name) &&
                                  !strchr(error.text, '\n'),
                              "%s", error.text);
        }
    static const char *const beyond[] = {"{\"lr\": 1e999}", "{\"seeds\": 99999999999999999999999}", "{\"seeds\": 1e18}",
                                         "{\"activations\": null}", "{\"data\": \"moons\", \"optimizer\": null}"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        char arguments[600], errors[2000];
        temporary_write("config.json", beyond[i], strlen(beyond[i]));
        snprintf(arguments, sizeof arguments, "--config '%s' --out '%s/none'", temporary_path("config.json"),
                 temporary_folder());
        ck_assert_msg(compare_run(arguments, errors, sizeof errors) == 2, "%s: %s", beyond[i], errors);
        ck_assert_msg(strstr(errors, "config.json") && strchr(errors, '\n') == errors + strlen(errors) - 1, "%s",
                      errors);
    }
}
END_TEST

/* The value 0 stands for one that suits the data. A batch never has more rows than the data
 * set. */
START_TEST(two_numbers_that_come_to_the_same_are_refused)
{
    static const struct {
        const char *options, *message;
    } cases[] = {{"--batch 0,16,8", "--batch: 0 and 8 give the same training here"},
                 {"--batch 120,121", "--batch: 120 and 121 give the same training here"},
                 {"--batch 8 --epochs 100,0", "--epochs: 100 and 0 give the same training here"},
                 {"--lr 1e-3,0.001",
                  "--lr: '1e-3,0.001' is not a list of different numbers, with commas between, from 0 to 1000000"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char errors[4000], arguments[600], line[200];
        snprintf(arguments, sizeof arguments,
                 "--data moons --rows 200 --hidden 4 --activations relu --seeds 1 --no-plots --out '%s/same' %s",
                 temporary_folder(), cases[i].options);
        snprintf(line, sizeof line, "compare: %s\n", cases[i].message);
        ck_assert_int_eq(compare_run(arguments, errors, sizeof errors), 2);
        ck_assert_str_eq(errors, line);
    }
}
END_TEST

/* In a folder of their own files, people would lose what a comparison writes or clears away. */
START_TEST(files_that_no_run_has_written_are_left_alone)
{
    static const char *const names[] = {"config.json",   "runs.csv",   "summary.csv",  "search.csv",
                                        "points.csv",    "curves.csv", "report.html",  "confusion.csv",
                                        "runs/mine.csv", "loss.png",   "accuracy.svg", "steps.csv"};
    static const struct {
        const char *program, *options;
    } calls[] = {{"compare", "--data sine --rows 40 --epochs 2 --hidden 4 --activations relu --seeds 1 --no-plots"},
                 {"train", "--data sine --rows 40 --epochs 2 --hidden 4 --no-plots --overwrite"},
                 {"train", "--data sine --rows 40 --epochs 2 --hidden 4 --no-plots --lr auto"},
                 {"compare", "--data sine --rows 40 --epochs 2 --hidden 4 --activations relu --no-plots --overwrite"},
                 {"compare", "--runs all.csv"}};
    enum { CALLS = sizeof calls / sizeof *calls };
    static const char logs[] = "group,seed,loss\na,1,0.5\na,2,0.6\nb,1,0.4\nb,2,0.3\n";
    temporary_write("all.csv", logs, sizeof logs - 1);
    for (int i = 0; i < CALLS * (int)(sizeof names / sizeof *names); i++) {
        const char *name = names[i / CALLS], *program = calls[i % CALLS].program;
        const bool refused = i % CALLS < CALLS - 1 || !strcmp(name, "summary.csv") || !strcmp(name, "report.html");
        char file[100], words[100];
        snprintf(words, sizeof words, "mine%d has %.*s, which is not of ", i, (int)strcspn(name, "/"), name);
        snprintf(file, sizeof file, "mine%d/%s", i, name);
        ck_assert_int_eq(train_run("mkdir", "-p mine%d/runs", i), 0);
        ck_assert_int_eq(strchr(name, '/') ? 0 : train_run("rmdir", "mine%d/runs", i), 0);
        temporary_write(file, "[1]", 3);
        const int status = train_run(program, "%s --out mine%d", calls[i % CALLS].options, i);
        ck_assert_msg((status == 2) == refused, "%s beside %s: %s", program, name, train_output);
        ck_assert_msg(!refused || strstr(train_output, words), "%s", train_output);
        ck_assert_str_eq(temporary_text(file), "[1]");
    }
}
END_TEST

Suite *compare_refusals_suite(void)
{
    Suite *suite = suite_create("compare_refusals");
    TCase *tests = tcase_create("compare_refusals");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_loop_test(tests, a_mistake_gets_a_line_that_names_it_and_status_2, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    tcase_add_test(tests, values_of_another_kind_are_refused);
    tcase_add_test(tests, two_numbers_that_come_to_the_same_are_refused);
    tcase_add_test(tests, files_that_no_run_has_written_are_left_alone);
    suite_add_tcase(suite, tests);
    return suite;
}
