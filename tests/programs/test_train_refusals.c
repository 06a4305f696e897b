/* Error messages of the programs train and predict, and notes about what they leave out. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <tapegrad.h>

Suite *train_refusals_suite(void);

START_TEST(wrong_options_are_told_in_a_line)
{
    expect_fine(train_run("sh", "-c 'seq 1000 1399 > sources; seq 12000 12399 | paste sources - > pairs; "
                                "printf \"a\\tb\\na\\tb\\tc\\n\" > two; printf \"\\ta\\n\" > none; "
                                "printf \"a\\001\\tb\\n\" > binary'"));
    static const char *const mistakes[][2] = {
        {"--resume --out nowhere", "there is no nowhere/last.safetensors"},
        {"--data csv:nowhere.csv", "nowhere.csv"},
        {"--data csv:train.csv --model gpt", "reads characters"},
        {"--data csv:train.csv --model seq2seq", "reads pairs of lines, a source, a tab and a target: pairs:FILE"},
        {"--data csv:train.csv --model convnet", "needs images"},
        {"--data csv:train.csv --hidden 0x3", "--hidden"},
        {"--data csv:train.csv --activation gelu", "there is no plain gelu"},
        {"--data csv:train.csv --norm much", "is not one of none, layer"},
        {"--data csv:train.csv --layers 3", "--layers is not for --model mlp"},
        {"--data csv:train.csv --epoch-windows 10", "--epoch-windows is not for --model mlp"},
        {"--data text:text --target 0", "--target is for rows"},
        {"--data text:text --refit yes", "--refit is for rows, and a text has none"},
        {"--data pairs:pairs --refit yes", "--refit is for rows, and a text has none"},
        {"--data csv:train.csv --optimizer sgd --beta1 0.5", "--beta1 is for"},
        {"--data csv:train.csv --schedule step --end 0.1", "--end has no effect with this --schedule"},
        {"--data csv:train.csv --schedule inverse_sqrt --warmup 0",
         "--warmup 0: --schedule inverse_sqrt counts its steps in units of the warm-up"},
        {"--data csv:train.csv --momentum 0.9", "--momentum is for"},
        {"--data csv:price.csv --label-smoothing 0.1", "--label-smoothing is for"},
        {"--data csv:price.csv --best accuracy", "--best accuracy"},
        {"--data text:text --model mlp", "does not read characters"},
        {"--data lines:text --model gpt", "reads text:FILE"},
        {"--data text:text --model seq2seq", "reads pairs of lines, a source, a tab and a target: pairs:FILE"},
        {"--data pairs:pairs --model gpt", "reads one text; pairs:FILE is for seq2seq"},
        {"--data pairs:pairs --model mlp", "does not read characters"},
        {"--data pairs:pairs --context 4", "--context 4: a source or target has 5 characters, which need --context 6"},
        {"--data pairs:pairs --hidden 4", "--hidden is not for --model seq2seq"},
        {"--data pairs:pairs --rows 4", "--rows is for rows"},
        {"--data pairs:text", "text:1: expected a source, a tab and a target"},
        {"--data pairs:two", "two:2: there is more than one tab"},
        {"--data pairs:none", "none:1: the source is empty"},
        {"--data pairs:binary", "binary:1: a byte of this line is not of a text"},
        {"--data pairs:nowhere", "nowhere"},
        {"--data text:text --test first:9", "expected a fraction between 0 and 1 for a text"},
        {"--data text:text --test 0.0001", "too short to hold 0.1001 of it out"},
        {"--data csv:train.csv --folds 3", "--folds: one of them is the test split: --fold N, from 1 to --folds"},
        {"--data csv:train.csv --folds 3 --fold 4", "one of them is the test split"},
        {"--data csv:train.csv --fold 1", "--fold is for --folds"},
        {"--data text:text --folds 3 --fold 1", "--folds is for rows"},
        {"--data moons --validation none", "nothing chooses the best epoch; --epochs N says how many there are"},
        {"--data text:text --context 900", "context"},
        {"--data text:text --heads 5", "cannot be made"},
        {"--data idx:images --model vit --patch 3",
         "the side of the patches must divide height and width of the images, here of 8x8; choose another --patch"},
        {"--data idx:images --model vit --patch 3", "; choose another --patch, or --model mlp"},
        {"--data idx:images --model convnet --filters 1,1,1,1,1,1",
         "; choose fewer blocks (--filters 16), or --model mlp"},
        {"--data csv:train.csv --activation swiglu --hidden 4,4 --unit-groups 2",
         "groups of a gated activation need equal_width; choose --gated width"},
        {"--data idx:images --model vit --patch 4 --heads 7",
         "positive, 2^30 at most, and a multiple of the number of heads\n"},
        {"--data csv:train.csv --ignore a --categorical a", "column 'a' is ignored"},
        {"--data csv:train.csv --data csv:price.csv", "--data is given twice: it takes one\n"},
        {"--data csv:train.csv --ignore a --ign b", "--ignore is given twice: it takes one list, with commas between"},
        {"--data csv:train.csv --activation relu --gated width", "--gated: relu is not gated"},
        {"--data idx:images --model vit --patch 4 --activation swiglu --gated width",
         "--gated width: gated feed-forward layers of a vit always have as many parameters as plain ones"},
        {"--data csv:train.csv --hidden 4,5 --residual",
         "--residual: no two successive hidden layers have the same width"},
        {"--data csv:train.csv --hidden 4 --residual", "--residual: no two successive hidden layers"},
        {"--data csv:train.csv --epochs 2 --patience 5",
         "--patience has no effect: a run has no more epochs; choose fewer, or more --epochs"},
        {"--data csv:train.csv --weights colour", "is not a number"},
        {"--data moons --weights w", "a column of weights is for csv: only"},
        {"--data text:text --weights w", "--weights is for rows, and a text has none"},
        {"--data text:text --drop-duplicates", "--drop-duplicates is for rows, and a text has none"},
        {"--data text:text --class-weights balanced", "--class-weights is for rows, and a text has none"},
        {"--data csv:price.csv --class-weights balanced", "--class-weights is for classes only"},
        {"--data idx:images --model autoencoder --class-weights balanced", "--class-weights is for classes only"},
        {"--data csv:train.csv --class-weights even",
         "--class-weights: expected balanced or a file: even: No such file or directory"},
        {"--data csv:train.csv --class-weights unknown.csv",
         "unknown.csv:2, column 0 (of 0 to 1): 'huge' is no class of "
         "the data"},
        {"--data csv:train.csv --class-weights twice.csv", "'large' has a weight already"},
        {"--data csv:train.csv --class-weights bad.csv", "expected the weight of a class, a number from 0 on"},
        {"--data csv:train.csv --class-weights zero.csv", "all classes that have training rows weigh 0"},
        {"--data csv:train.csv --class-weights one.csv --test first:1", "all classes that have test rows weigh 0"},
        {"--data csv:train.csv --class-weights one.csv --validation first:1",
         "all classes that have validation rows weigh 0"},
        {"--data csv:train.csv --class-weights wide.csv", "expected two: class and weight"},
        {"--data csv:train.csv --resume --config m/config.json", "--config begins a run, and --resume continues one"},
        {"--data csv:train.csv --out text/x", "text"}};
    static const char *const weights[][2] = {{"unknown.csv", "large,2\nhuge,1\n"},
                                             {"twice.csv", "large,2\nlarge,1\n"},
                                             {"bad.csv", "large,-2\n"},
                                             {"zero.csv", "large,0\nsmall,0\n"},
                                             {"one.csv", "large,0\n"},
                                             {"wide.csv", "large,0,1\n"}};
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
        temporary_write(weights[i][0], weights[i][1], strlen(weights[i][1]));
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        expect_refused(train_run("train", "%s", mistakes[i][0]), mistakes[i][1]);
    expect_refused(train_run("predict", "--data csv:train.csv"), "--model FILE is missing");
    expect_fine(train_run("train", "--data csv:train.csv --hidden 4 --epochs 1 --no-plots --out m"));
    expect_refused(train_run("train", "--resume --activation relu --out m"), "the run in m has another --activation");
}
END_TEST

/* The program itself writes null for unset options; null is invalid for all others. */
START_TEST(what_a_kept_run_cannot_have_said_is_refused)
{
    static const char *const keys[] = {"data", "optimizer", "task", "header", "missing", "best", "schedule"};
    expect_fine(train_run("train", "--data csv:train.csv --hidden 4 --epochs 1 --no-plots --out m"));
    expect_fine(train_run("train", "--resume --validation 0.2 --epochs 2 --no-plots --out m"));
    train_run("cp", "m/config.json kept.json");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        expect_fine(train_run("sed", "'s/\"%s\": .*,/\"%s\": null,/' kept.json > m/config.json", keys[i], keys[i]));
        char says[100];
        snprintf(says, sizeof says, "m/config.json: \"%s\" has a value that the option does not take", keys[i]);
        expect_refused(train_run("train", "--resume --out m"), says);
    }
    temporary_write("compared.json", "{\"code\": \"0\", \"activations\": \"relu\"}", 36);
    expect_refused(train_run("train", "--config compared.json"),
                   "compared.json: these are options of compare: compare --config takes them");
}
END_TEST

/* 180 of 300 rows are for training. */
START_TEST(batch_norm_does_without_a_row_that_is_left_alone)
{
    expect_fine(
        train_run("train", "--data csv:train.csv --hidden 4 --norm batch --batch 179 --epochs 2 --no-plots --out m"));
    ck_assert_msg(strstr(train_output, "2 epochs of 1 step,"), "%s", train_output);
    expect_fine(train_run("train", "--resume --epochs 3 --no-plots --out m"));
    expect_fine(
        train_run("train", "--data csv:train.csv --hidden 4 --batch 179 --epochs 2 --no-plots --overwrite --out m"));
    ck_assert_msg(strstr(train_output, "2 epochs of 2 steps,"), "%s", train_output);
    expect_refused(train_run("train", "--data csv:train.csv --hidden 4 --norm batch --batch 1 --no-plots --out m"),
                   "--batch: --norm batch needs at least two rows");
    expect_fine(train_run("train", "--data idx:images --model convnet --norm batch --batch 1 --epochs 1 --no-plots "
                                   "--overwrite --out m")); /* has
                                                               pixels
                                                             */
}
END_TEST

START_TEST(a_run_that_fails_says_why_once)
{
    ck_assert_int_eq(
        train_run("train",
                  "--data csv:train.csv --hidden 4 --lr 1e6 --optimizer sgd --clip 0 --epochs 50 --no-plots --out m"),
        1);
    const char *told = strstr(train_output, "train: epoch ");
    ck_assert_msg(told && strchr(told, '\n') == train_output + strlen(train_output) - 1 &&
                      !strstr(train_output, "failed"),
                  "%s", train_output);
}
END_TEST

static const char *const damages[][2] = {
    {"head -c 100 m/best.safetensors > bad", "bad: "},
    {"printf '\\377\\377\\377\\377\\377\\377\\377\\177' > bad", "bad: "},
    {"printf 'not a model' > bad", "bad: "},
    {": > bad", "bad: "},
    {"rm -f bad", "bad: "},
    {"sed 's/tapegrad.model/tapegrad.moral/' m/best.safetensors > bad", "not one of train"},
    {"sed 's/layers.0.weight/layers.7.weight/' m/best.safetensors > bad", "layers."},
    {"sed 's/default/tluafed/' m/best.safetensors > bad", "\"init\" is missing or wrong"},
    {"sed 's/gelu_exact/gelu_extra/g' m/best.safetensors > bad", "gelu_extra"},
    {"sed 's/large/lar\\xff\\xff/' m/best.safetensors > bad", "bad: "},
    {"sed 's/activation\\\\\":\\\\\"gelu_exact\\\\\"/activation\\\\\":null          /' m/best.safetensors > bad",
     "\"activation\" is missing"},
    {"sed 's/outputs\\(..\\):2/outputs\\1:3/' m/best.safetensors > bad", "outputs"},
};

START_TEST(malformed_model_files_are_refused_in_a_line)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 4 --epochs 1 --no-plots --out m"));
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        train_run("true", "; %s", damages[i][0]);
        expect_refused(train_run("predict", "--model bad --data csv:train.csv"), damages[i][1]);
        ck_assert_ptr_eq(strstr(train_output, "predict: "), train_output);
    }
    write_table("unknown.csv", "a,b,colour\n1,2,violet\n", "a,b,c\n", 3);
    expect_refused(train_run("predict", "--model m/best.safetensors --data csv:unknown.csv"),
                   "unknown.csv:2, column 'colour': 'violet' is a category that the model does not know");
    write_table("missing.csv", "a,colour\n", "a,c\n", 3);
    expect_refused(train_run("predict", "--model m/best.safetensors --data csv:missing.csv"), "there is no column 'b'");
    expect_refused(train_run("predict", "--model m/best.safetensors --data idx:images"), "the model takes rows");
    expect_refused(train_run("predict", "--model m/best.safetensors --data csv:train.csv --prompt x"), "are for texts");
}
END_TEST

/* Text from a configuration or an argument is printed without its control characters. */
START_TEST(messages_bring_no_escape_sequences)
{
    static const char *const texts[] = {"{\"da\\u001b[31mta\": 1}", "{\"activations\": \"re\\u001b[31mlu\"}",
                                        "{\"data\": \"mo\\u009b31mons\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        temporary_write("config.json", texts[i], strlen(texts[i]));
        expect_refused(train_run("compare", "--config config.json"), "31m");
        ck_assert_msg(!strpbrk(train_output, "\033\302"), "%s", train_output);
    }
}
END_TEST

/* Files that are, or unpack to, more than the limit or than the process can allocate. */
START_TEST(what_is_too_large_is_refused_before_memory_is_taken)
{
    /* the last four bytes of a gzip file say what its last member unpacks to; here 4 GB, once rightly, at least as many
     * as are too many, and once of a file that was cut */
    static const char *const make[] = {
        "truncate -s 5G sparse.csv", "head -c 64M /dev/zero | gzip -1 > part",
        "(for i in `seq 33`; do cat part; done; head -c -4 part; printf \\\\377\\\\377\\\\377\\\\377) > bomb.csv.gz",
        "(gzip < train.csv | head -c 100; printf \\\\377\\\\377\\\\377\\\\377) > cut.csv.gz"};
    static const char *const large[] = {"csv:sparse.csv", "csv:bomb.csv.gz", "text:sparse.csv"};
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    static const char limit[] = "true"; /* sanitizers reserve terabytes of address space */
#else
    static const char limit[] = "ulimit -v 500000";
    expect_refused(train_run("sh", "-c '%s; train --data csv:/dev/zero --no-plots'", limit), "out of memory after");
#endif
    for (size_t i = 0; i < sizeof make / sizeof *make; i++)
        ck_assert_int_eq(train_run("sh", "-c '%s'", make[i]), 0);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        expect_refused(train_run("sh", "-c '%s; train --data %s --no-plots'", limit, large[i]),
                       "more than 2048 megabytes, unpacked; data is kept in memory: use a part of the rows");
    expect_refused(train_run("train", "--data csv:cut.csv.gz --no-plots"), "gzip data ends too early");
    expect_fine(train_run("train", "--data csv:train.csv --epochs 1 --no-plots --out m"));
    expect_refused(train_run("sh", "-c '%s; predict --model m --data csv:sparse.csv'", limit),
                   "more than 2048 megabytes");
}
END_TEST

/* Only one of two programs may use a folder at a time. */
START_TEST(a_folder_in_use_is_refused)
{
    static const char *const programs[][2] = {{"train", "--out o"}, {"compare", "--seeds 1 --jobs 1 --out o"}};
    const char *program = programs[_i][0], *more = programs[_i][1];
    ck_assert_int_eq(train_run("sh",
                               "-c '%s --data spirals --epochs 100000 --no-plots %s > first 2>&1 & echo $! > number; "
                               "for i in $(seq 100); do [ -e o/config.json ] && exit; sleep 0.05; done; exit 1'",
                               program, more),
                     0);
    expect_refused(train_run(program, "--data moons --epochs 1 --no-plots --overwrite %s", more),
                   "another process is working in the folder 'o'");
    ck_assert_int_eq(train_run("sh", "-c 'kill -9 $(cat number); flock o true'"), 0);
}
END_TEST

/* --help-all names, for each setting, exactly the optimisers that use it. */
START_TEST(help_names_the_optimisers_that_use_a_setting)
{
    static const char *const settings[] = {"momentum", "beta1", "beta2", "epsilon"};
    static const char *const optimizers[] = {
#define TG_OPTIMIZER(constant, name) #name,
#include "optim/optimizers.def"
    };
    char option[20], text[400];
    ck_assert_int_eq(train_run("train", "--help-all"), 0);
    snprintf(option, sizeof option, "--%s=X", settings[_i]);
    const char *at = strstr(train_output, option), *end = at ? strchr(at, '[') : NULL;
    ck_assert_ptr_nonnull(end);
    at = strstr(at, "; for ");
    ck_assert(at && at < end);
    int length = snprintf(text, sizeof text, ",%.*s", (int)(end - at - 5), at + 5);
    for (int i = 0; i < length; i++)
        text[i] = text[i] == '\n' || text[i] == ' ' ? ',' : text[i];
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
        tg_optimizer_kind kind;
        char name[40];
        snprintf(name, sizeof name, ",%s,", optimizers[i]);
        ck_assert(tg_optimizer_from_name(optimizers[i], &kind));
        ck_assert_msg(!strstr(text, name) == !tg_optimizer_uses(kind, settings[_i]), "--%s and %s: %s", settings[_i],
                      optimizers[i], text);
    }
}
END_TEST

/* Else the losses of earlier and later epochs, of which the lowest is chosen, would not be of the same kind. */
START_TEST(a_run_is_not_resumed_with_another_measure_of_its_epochs)
{
    static const char *const others[] = {"class-weights balanced", "best accuracy", "split fixed", "fold 2",
                                         "validation first:20",    "groups a",      "target a"};
    char option[40], part[80];
    expect_fine(train_run("train", "--data csv:train.csv --folds 3 --fold 1 --validation 0.2 --target -1 --hidden 3 "
                                   "--epochs 2 --patience 0 --no-plots --out m"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(option, sizeof option, "%s", others[i]);
        snprintf(part, sizeof part, "--resume: the run in m has another --%.*s; --start begins one with its weights",
                 (int)strcspn(option, " "), option);
        expect_refused(train_run("train", "--resume --epochs 3 --%s --no-plots --out m", option), part);
    }
    expect_fine(train_run("train", "--resume --epochs 3 --lr 0.01 --folds 3 --best loss --no-plots --out m"));
}
END_TEST

START_TEST(no_program_overwrites_what_it_reads)
{
    static const char small[] = "--hidden 3 --epochs 1 --no-plots";
    expect_fine(train_run("train", "--data csv:train.csv %s --keep-predictions --refit yes --out m", small));
    expect_fine(train_run("cp", "-r m before"));
    expect_refused(train_run("emit", "--model m --out m/refit.safetensors"),
                   "--out: m/refit.safetensors is the model that is read");
    expect_refused(train_run("emit", "--model m/best.safetensors --out ./m//best.safetensors"), "is the model");
    expect_refused(train_run("emit", "--model m/best.safetensors --onnx m/best.safetensors"), "--onnx: m/best");
    expect_refused(train_run("emit", "--model m --out net.c --weights m/refit.safetensors"), "--weights: m/refit");
    expect_refused(train_run("emit", "--model m --out net.c --weights net.c"), "--weights: net.c is the file of --out");
    ck_assert(!temporary_exists("net.c"));
    expect_refused(train_run("train", "--data m/predictions.csv %s --overwrite --out m", small),
                   "--data: m/predictions.csv is a file that --out m overwrites");
    expect_refused(train_run("compare", "--data csv:m/predictions.csv %s --overwrite --seeds 1 --out m", small),
                   "--data: ");
    expect_fine(train_run("diff", "-r before m"));
    expect_fine(train_run("emit", "--model m --out m/net.c --weights m/net.weights"));
    expect_fine(train_run("sh", "-c 'mkdir o && printf \"activation,seed,loss\\na,1,2\\nb,1,3\\n\" > o/pairs.csv'"));
    expect_refused(train_run("compare", "--runs o/pairs.csv --out o"),
                   "--runs: o/pairs.csv is a file that --out o overwrites");
}
END_TEST

Suite *train_refusals_suite(void)
{
    Suite *suite = suite_create("train_refusals");
    TCase *tests = tcase_create("train_refusals");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_test(tests, wrong_options_are_told_in_a_line);
    tcase_add_test(tests, what_a_kept_run_cannot_have_said_is_refused);
    tcase_add_test(tests, batch_norm_does_without_a_row_that_is_left_alone);
    tcase_add_test(tests, a_run_that_fails_says_why_once);
    tcase_add_test(tests, a_run_is_not_resumed_with_another_measure_of_its_epochs);
    tcase_add_test(tests, no_program_overwrites_what_it_reads);
    tcase_add_test(tests, malformed_model_files_are_refused_in_a_line);
    tcase_add_test(tests, messages_bring_no_escape_sequences);
    tcase_add_test(tests, what_is_too_large_is_refused_before_memory_is_taken);
    tcase_add_loop_test(tests, a_folder_in_use_is_refused, 0, 2);
    tcase_add_loop_test(tests, help_names_the_optimisers_that_use_a_setting, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
