/* Runs in folders: every model compared, and no file overwritten. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <tapegrad.h>
#include <time.h>
#include <unistd.h>

Suite *run_suite(void);

/* ---- every model ---- */

static const struct {
    const char *name, *options, *measure;
} models[] = {
    {"gpt", "--data text:text --layers 1 --heads 2 --width 16 --context 8", "val loss"},
    {"charmlp", "--data text:text --hidden 32", "val loss"},
    {"charmlp", "--data text:text --hidden 32 --test 0.2", "test loss"},
    {"rnn", "--data text:text --hidden 16 --width 8 --context 8", "val loss"},
    {"gru", "--data text:text --hidden 16 --width 8 --context 8 --layers 2", "val loss"},
    {"lstm", "--data lines:words --hidden 16 --width 8 --context 8", "val loss"},
    {"seq2seq", "--data pairs:pairs --layers 1 --heads 2 --width 16", "test acc %"},
    {"seq2seq", "--data pairs:pairs --layers 1 --heads 2 --width 16 --test none --relative", "val acc %"},
    {"convnet", "--data idx:images --filters 4,8", "test acc %"},
    {"vit", "--data idx:images --layers 1 --heads 2 --width 16 --patch 4 --init orthogonal", "test acc %"},
    {"autoencoder", "--data idx:images --hidden 32 --code 8", "test loss"},
    {"mlp", "--data idx:images --hidden 16x2", "test acc %"},
};

/* The text's words, one per line; and pairs: a number and another one. */
static void make_words(void)
{
    expect_fine(train_run("sh", "-c 'seq 1000 1399 > sources; seq 12000 12399 | paste sources - > pairs'"));
    expect_fine(train_run("sh", "-c 'tr -s \" \" \"\\n\" < text > words'"));
}

START_TEST(every_model_is_compared_seed_by_seed)
{
    const char *options = models[_i].options;
    make_words();
    expect_fine(train_run("compare",
                          "--model %s %s --activations relu,gelu_tanh,swiglu --seeds 2 --epochs 1 --batch 32 "
                          "--no-plots --keep-models --out c",
                          models[_i].name, options));
    ck_assert_msg(strstr(train_output, models[_i].measure) && strstr(train_output, "gelu_tanh against relu: "), "%s",
                  train_output);
    ck_assert_ptr_null(strstr(train_output, "nan"));
    ck_assert_msg((strstr(models[_i].measure, "acc") != NULL) == (strstr(train_output, " acc %") != NULL), "%s",
                  train_output);
    ck_assert_msg(strstr(models[_i].name, "gpt") == NULL || strstr(train_output, "nats a character"), "%s",
                  train_output);
    /* A running text is split at one place, for all seeds; its lines and pairs are drawn anew. */
    const bool running = strstr(options, "text:") != NULL, tested = strstr(options, "--test") != NULL;
    ck_assert_msg((strstr(train_output, " The validation text is one fixed piece: ") != NULL) == (running && !tested) &&
                      (strstr(train_output, " The validation and test texts are fixed pieces: ") != NULL) ==
                          (running && tested),
                  "%s", train_output);
    ck_assert_msg(!running || strstr(train_output, "constant: predicts characters by their frequencies"), "%s",
                  train_output);
    ck_assert_int_eq((int)csv_cell("c/summary.csv", "swiglu", "runs"), 2);
    /* gated nets have about as many parameters as plain ones; gelu_tanh's net has exactly as many as relu's */
    const double plain = csv_cell("c/summary.csv", "relu", "parameters"),
                 gated = csv_cell("c/summary.csv", "swiglu", "parameters");
    ck_assert_msg(plain == csv_cell("c/summary.csv", "gelu_tanh", "parameters") && gated > 0.9 * plain &&
                      gated < 1.1 * plain,
                  "%g and %g parameters", plain, gated);
    /* the folder of a run can be loaded as a model */
    expect_fine(strstr(options, "text:") || strstr(options, "lines:")
                    ? train_run("predict", "--model c/runs/swiglu-seed2 --length 5")
                : strstr(options, "pairs:")
                    ? train_run("predict", "--model c/runs/swiglu-seed2 --data pairs --beams 3")
                    : train_run("predict", "--model c/runs/swiglu-seed2 --data idx:images/t10k-images-idx3-ubyte"));
}
END_TEST

/* Losses by OpenBLAS's products are those by our own but for rounding. Without OpenBLAS: an error. */
START_TEST(products_of_openblas_train_alike)
{
    static const char *const whose[] = {"own", "openblas"};
    double loss[2];
    tg_error error;
    make_words();
    if (!tg_products_by(TG_PRODUCTS_OPENBLAS, &error)) {
        expect_refused(train_run("train", "--data idx:images --products openblas"), "OpenBLAS is not installed");
        return;
    }
    tg_products_by(TG_PRODUCTS_AUTO, NULL);
    for (int i = 0; i < 2; i++) {
        expect_fine(train_run("train", "--model %s %s --epochs 2 --batch 32 --no-plots --products %s --out %s",
                              models[_i].name, models[_i].options, whose[i], whose[i]));
        char file[40];
        snprintf(file, sizeof file, "%s/curves.csv", whose[i]);
        loss[i] = csv_cell(file, "2", "train_loss");
    }
    ck_assert_msg(loss[0] > 0 && fabs(loss[0] - loss[1]) <= 1e-4 * loss[0], "%.9g and %.9g", loss[0], loss[1]);
}
END_TEST

START_TEST(without_openblas_its_products_are_an_error)
{
    if (!ADDRESS_SPACE_CAN_BE_LIMITED) /* a sanitizer's library must be loaded first */
        return;
    const char *compiler = getenv("TG_CC") ? getenv("TG_CC") : "cc";
    static const char source[] = "void *dlopen(const char *name, int flags) { (void)name, (void)flags; return 0; }";
    temporary_write("none.c", source, strlen(source));
    expect_fine(train_run("sh", "-c '%s -shared -fPIC -o none.so none.c'", compiler));
    static const char *const commands[] = {"train --data idx:images --out o --products openblas",
                                           "compare --data idx:images --out o --products openblas --seeds 1",
                                           "gradcheck --products openblas linear"};
    for (int i = 0; i < 3; i++) {
        expect_refused(train_run("sh", "-c 'LD_PRELOAD=./none.so %s'", commands[i]),
                       "--products: OpenBLAS is not installed: there is no libopenblas.so.0");
    }
    train_run("sh", "-c 'LD_PRELOAD=./none.so TG_PRODUCTS=openblas train --data idx:images --out o'");
    ck_assert_ptr_nonnull(strstr(train_output, "train: epoch 1, step 1: OpenBLAS is not installed"));
}
END_TEST

START_TEST(lists_of_numbers_and_names_are_tried)
{
    expect_fine(train_run("compare",
                          "--model gpt --data text:text --layers 1,2 --heads 2 --width 8 --context 8 "
                          "--init gpt2,he_normal --activations relu --seeds 1 --epochs 1 --no-plots --out c"));
    ck_assert(temporary_exists("c/runs/relu-layers2-inithe_normal-seed1/result.json"));
    ck_assert_ptr_nonnull(strstr(temporary_text("c/search.csv"), "relu,\"layers 1, init gpt2\","));
}
END_TEST

/* The default rate is 0.001; on these data all are best far above it, so the list grows. */
START_TEST(rates_are_bracketed_for_each_activation)
{
    static const char *const command = "--data sine --rows 120 --hidden 8 --epochs 4 --activations relu,silu --seeds 1 "
                                       "--lr auto --no-plots --out auto";
    static const char *const names[] = {"relu", "silu"};
    expect_fine(train_run("compare", "%s", command));
    ck_assert_msg(strstr(train_output, "learning rates 0.000316,0.001,0.00316,0.01\n") != NULL, "%s", train_output);
    const char *search = temporary_text("auto/search.csv");
    for (int i = 0; i < 2; i++) { /* by the file: the best has neighbours on both sides */
        double best = NAN, least = INFINITY, lowest = INFINITY, greatest = 0;
        for (const char *line = search; (line = strchr(line, '\n')) && line[1];) {
            char name[20];
            double rate, loss;
            if (sscanf(++line, "%19[^,],lr %*g,%lg,1,1,0,%lg", name, &rate, &loss) != 3 || strcmp(name, names[i]) != 0)
                continue;
            best = loss < least ? rate : best;
            least = fmin(least, loss);
            lowest = fmin(lowest, rate);
            greatest = fmax(greatest, rate);
        }
        ck_assert_msg(lowest < best && best < greatest, "%s: %g in %g to %g", names[i], best, lowest, greatest);
    }
    ck_assert_ptr_null(strstr(train_output, "edge"));
    ck_assert_ptr_nonnull(strstr(temporary_text("auto/config.json"), "\"lr\": \"auto\""));
    expect_fine(train_run("compare", "%s", command)); /* again: all runs are there */
    ck_assert_ptr_null(strstr(train_output, ": done"));
    expect_refused(train_run("compare", "%s --part 1/2", command), "--lr auto chooses by the results of all runs");
    expect_fine(train_run("compare", "--data sine --rows 120 --hidden 8 --epochs 4 --activations relu,silu --seeds 1 "
                                     "--lr 1e-5,1e-4 --no-plots --out edge"));
    ck_assert_msg(
        strstr(train_output, "Hint: best at the edge of the learning rates: relu at 0.0001, silu at 0.0001.") != NULL,
        "%s", train_output);
}
END_TEST

START_TEST(a_net_that_no_initial_weights_suit_gets_a_warning)
{
    static const struct {
        const char *options, *warning;
    } cases[] = {{"compare --activations relu,swiglu --seeds 1 --hidden 4x3 --init default,he_normal",
                  "Warning: swiglu grows or"},
                 {"compare --activations relu,swiglu --seeds 1 --hidden 4x3 --init he_normal --norm rms", NULL},
                 {"compare --activations relu,swiglu,relu_squared --seeds 1 --hidden 4x4", NULL},
                 {"train --activation relu_squared --hidden 4x12", "Warning: relu_squared has vanishing"},
                 {"train --activation swiglu --hidden 4x5", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *options = strchr(cases[i].options, ' ');
        char program[20];
        snprintf(program, sizeof program, "%.*s", (int)(options - cases[i].options), cases[i].options);
        expect_fine(train_run(program, "--data moons --rows 60 --epochs 1 --no-plots --out w%zu %s", i, options));
        const char *found = strstr(train_output, "Warning: ");
        ck_assert_msg(cases[i].warning ? found && strstr(found, cases[i].warning) : !found, "%s: %s", options,
                      train_output);
    }
}
END_TEST

START_TEST(heads_may_share_keys_and_values_and_an_epoch_have_any_number_of_windows)
{
    expect_fine(train_run("compare", "--model gpt --data text:text --layers 1 --heads 2 --kv-heads 0,1 --width 8 "
                                     "--context 8 --epoch-windows 24 --batch 4 --activations relu --seeds 1 "
                                     "--epochs 2 --keep-models --no-plots --out c"));
    /* one head less for keys and for values: twice 4 rows of 8 weights and a bias */
    int parameters[2] = {0};
    sscanf(temporary_text("c/runs/relu-kv-heads0-seed1/result.json"), "{\"parameters\":%d", &parameters[0]);
    sscanf(temporary_text("c/runs/relu-kv-heads1-seed1/result.json"), "{\"parameters\":%d", &parameters[1]);
    ck_assert_int_eq(parameters[0] - parameters[1], 2 * 4 * (8 + 1));
    ck_assert_ptr_nonnull(strstr(temporary_text("c/runs/relu-kv-heads1-seed1/curves.csv"), "\n2,12,"));
    /* a model from a version that did not have this option */
    expect_fine(train_run("sed", "-i 's/kv-heads/kv-headz/' c/runs/relu-kv-heads0-seed1/best.safetensors"));
    expect_fine(train_run("predict", "--model c/runs/relu-kv-heads0-seed1 --length 5"));
}
END_TEST

/* A post-norm stack normalises after the embeddings, a pre-norm one at its end; the file says which it is. */
START_TEST(blocks_may_normalise_after_the_residual_sum)
{
    expect_fine(train_run("train", "--model gpt --data text:text --layers 1 --heads 2 --width 8 --context 8 "
                                   "--post-norm --epoch-windows 24 --batch 4 --epochs 1 --no-plots --out post"));
    const char *header = temporary_text("post/best.safetensors") + 8; /* behind its size */
    ck_assert_ptr_nonnull(strstr(header, "embedding_norm.weight"));
    expect_fine(train_run("predict", "--model post --length 5"));
}
END_TEST

START_TEST(a_search_is_drawn_over_its_numbers_or_else_its_words)
{
    static const char *const labels[] = {">none<", ">rms<"};
    expect_fine(train_run("compare", "--data moons --rows 80 --epochs 1 --hidden 4 --seeds 1 --activations relu "
                                     "--norm none,rms --lr 0.001,0.01 --no-plots --out both"));
    ck_assert_ptr_nonnull(strstr(temporary_text("both/search.csv"), "relu,\"norm rms, lr 0.01\",0.01,"));
    expect_fine(train_run("compare", "--data moons --rows 80 --epochs 1 --hidden 4 --seeds 1 --activations relu "
                                     "--norm none,rms --out words"));
    ck_assert_ptr_nonnull(strstr(temporary_text("words/search.csv"), "relu,norm rms,1,"));
    for (int i = 0; i < 2 && temporary_exists("words/search.svg"); i++) /* gnuplot may be missing */
        ck_assert_msg(strstr(temporary_text("words/search.svg"), labels[i]) != NULL, "no %s below the axis", labels[i]);
}
END_TEST

/* ---- nothing overwritten ---- */

#define SMALL "--data csv:train.csv --hidden 4 --epochs 2 --no-plots "

START_TEST(a_folder_of_another_run_is_refused)
{
    const char *program = _i ? "compare" : "train";
    const char *more = _i ? "--seeds 1" : "";
    expect_fine(train_run(program, SMALL "%s --out o", more));
    char *curves = strdup(temporary_text("o/curves.csv"));
    expect_refused(train_run(program, SMALL "%s --lr 0.01 --out o", more), "o has results with another --lr: ");
    ck_assert_msg(strstr(train_output, "use --out for another folder, or --overwrite to start over"), "%s",
                  train_output);
    expect_refused(train_run(program, "--data csv:price.csv --hidden 4 --epochs 2 --no-plots %s --out o", more),
                   "another --");
    ck_assert_str_eq(temporary_text("o/curves.csv"), curves);
    write_table("train.csv", "a,b,colour,size\n", "b,a,c,k\n", 300); /* other data under the same name */
    expect_refused(train_run(program, SMALL "%s --out o", more), "has results of other data: the file has changed");
    expect_fine(train_run(program, SMALL "%s --lr 0.01 --overwrite --out o", more));
    ck_assert_str_ne(temporary_text("o/curves.csv"), curves);
    free(curves);
}
END_TEST

/* The same images under other labels are other data. */
START_TEST(labels_are_data_too)
{
    static const char options[] = "--data idx:images --model mlp --hidden 4 --epochs 1 --no-plots --out o";
    expect_fine(train_run("train", options));
    expect_fine(train_run("sh", "-c 'cd images && { head -c 8 train-labels-idx1-ubyte; tail -c +9 "
                                "train-labels-idx1-ubyte | tr \"\\\\0\\\\1\" \"\\\\1\\\\0\"; } >other && "
                                "mv other train-labels-idx1-ubyte'"));
    expect_refused(train_run("train", options), "has results of other data: the file has changed");
}
END_TEST

START_TEST(a_record_of_another_run_is_refused_by_study)
{
    expect_fine(train_run("study", "gelu-mnist --quick --no-plots --only 'relu-dropout0-*' --out o"));
    expect_fine(train_run("sed", "-i 's/\"seed\": 1/\"seed\": 7/' "
                                 "o/gelu-mnist-quick/runs/relu-dropout0-lr0.001-seed1/config.json"));
    char *record = strdup(temporary_text("o/gelu-mnist-quick/runs/relu-dropout0-lr0.001-seed1/curves.csv"));
    expect_refused(train_run("study", "gelu-mnist --quick --no-plots --only 'relu-dropout0-*' --out o"),
                   "has results with another --seed: 7, not 1; use --out for another");
    ck_assert_str_eq(temporary_text("o/gelu-mnist-quick/runs/relu-dropout0-lr0.001-seed1/curves.csv"), record);
    expect_fine(train_run("study", "gelu-mnist --quick --no-plots --only 'relu-dropout0-*' --overwrite --out o"));
    free(record);
}
END_TEST

/* An option that an older version lacked is equal to one that is not set. */
START_TEST(a_folder_of_an_older_version_goes_on)
{
    expect_fine(train_run("compare", SMALL "--lr 0.001 --activations relu --seeds 1 --out o"));
    expect_fine(train_run("sed", "-i '/tensorboard/d; /train-loss-every/d' o/config.json"));
    expect_fine(train_run("compare", SMALL "--lr 0.001 --activations relu --seeds 1 --out o"));
    ck_assert_msg(strstr(train_output, "1 of 1 run is complete\n"), "%s", train_output);
    expect_fine(train_run("sed", "-i '/train-loss-every/d' o/config.json"));
    expect_refused(train_run("compare", SMALL "--lr 0.001 --activations relu --seeds 1 --train-loss-every 2 --out o"),
                   "another --train-loss-every: nothing, not \"2\"");
}
END_TEST

/* A new option that is not set has no effect: a record without it describes the same run. */
START_TEST(a_record_knows_no_options_that_came_later)
{
    expect_fine(train_run("train", SMALL "--out o"));
    expect_fine(train_run("sed", "-i '/\"shards\"/d; /\"post-norm\"/d' o/config.json"));
    ck_assert_ptr_null(strstr(temporary_text("o/config.json"), "shards"));
    expect_fine(train_run("train", SMALL "--out o"));
}
END_TEST

START_TEST(the_default_folder_says_what_the_run_is)
{
    expect_fine(train_run("train", SMALL));
    expect_fine(train_run("train", SMALL "--lr 0.01"));
    ck_assert(temporary_exists("results/train-mlp-hidden4-epochs2/best.safetensors"));
    ck_assert(temporary_exists("results/train-mlp-hidden4-epochs2-lr0.01/best.safetensors"));
    /* and no value that depends on the data, such as the batch size */
    expect_fine(train_run("compare", "--data csv:train.csv --epochs 2 --seeds 1 --activations relu --no-plots"));
    ck_assert(temporary_exists("results/train-mlp-compared-epochs2/curves.csv"));
    expect_fine(train_run("train", "--data csv:- --epochs 1 --no-plots < '%s'", temporary_path("train.csv")));
    ck_assert(temporary_exists("results/stdin-mlp-epochs1/best.safetensors"));
    expect_fine(train_run("compare", "--data csv:train.csv --epochs 1 --seeds 1 --activations relu --no-plots "
                                     "--lr 0.01,0.02 --norm none,rms"));
    ck_assert(temporary_exists("results/train-mlp-compared-normnone,rms-epochs1-lr0.01,0.02/search.csv"));
}
END_TEST

START_TEST(a_net_and_a_comparison_of_the_same_data_have_folders_of_their_own)
{
    expect_fine(train_run("train", "--data moons --rows 60 --epochs 1 --no-plots"));
    expect_fine(train_run("compare", "--data moons --rows 60 --epochs 1 --seeds 1 --activations relu --no-plots"));
    expect_refused(train_run("compare", "--data moons --rows 60 --epochs 1 --out results/moons-mlp-rows60-epochs1"),
                   "results/moons-mlp-rows60-epochs1 has results of train; use --out for another folder");
    expect_refused(train_run("train", "--data moons --rows 60 --out results/moons-mlp-compared-rows60-epochs1"),
                   "has results of compare; use --out for another folder");
}
END_TEST

/* Every name in a table of entries: a new entry appears in the help of the programs that use it. */
START_TEST(help_lists_every_activation_optimizer_and_model)
{
    static const char *const programs[] = {"train", "compare"};
    static const char *const names[] = {
#define TG_PLAIN(constant, name, ...) #name,
#define TG_GATED(constant, name, ...) #name,
#include "nn/activations.def"
#define TG_OPTIMIZER(constant, name) #name,
#include "optim/optimizers.def"
        "mlp", "convnet", "vit", "autoencoder", "charmlp", "gpt", "rnn", "gru", "lstm",
    };
    for (int p = 0; p < 2; p++) {
        train_run(programs[p], "--help-all | tr -s '\\n ' '  '");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            ck_assert_msg(strstr(train_output, names[i]), "%s --help-all: no %s", programs[p], names[i]);
    }
}
END_TEST

/* A failed run counts as a result: the same command does not repeat it, and its numbers are not compared. */
START_TEST(a_comparison_in_which_runs_diverge_ends_and_says_what_helps)
{
    static const char *const command =
        "--data moons --rows 200 --epochs 3 --seeds 2 --activations relu,tanh --no-plots "
        "--lr 0.01,1e6 --optimizer sgd --jobs 1 --report --out d";
    expect_fine(train_run("compare", "%s", command));
    ck_assert_msg(strstr(train_output, "relu-lr1e+06-seed2: done, diverged in epoch 1"), "%s", train_output);
    ck_assert_ptr_null(strstr(train_output, "nan"));
    expect_fine(train_run("compare", "%s", command));
    ck_assert_msg(strstr(train_output, "8 of 8 runs are complete\n"), "%s", train_output);
    expect_fine(train_run("compare", "--data moons --rows 200 --epochs 3 --seeds 2 --activations relu,gelu_exact "
                                     "--lr 1e6 --optimizer sgd --jobs 1 --no-plots --report --out all"));
    ck_assert_msg(strstr(train_output, "Hint: gelu_exact diverged in 2 of 2 runs; what helps: --lr auto."), "%s",
                  train_output);
    ck_assert_ptr_nonnull(strstr(temporary_text("all/report.html"), "Hint: relu diverged in 2 of 2 runs"));
    ck_assert_ptr_nonnull(strstr(train_output, "no verdict on test accuracy, a run diverged."));
    ck_assert_ptr_nonnull(strstr(temporary_text("all/runs/relu-seed1/result.json"), "\"diverged\":1"));
}
END_TEST

/* The best point of each activation, and the best one for all: the second table appears only if it differs. */
START_TEST(a_search_prints_a_table_once)
{
    expect_fine(train_run("compare", "--data moons --rows 200 --epochs 3 --seeds 2 --activations relu,tanh --no-plots "
                                     "--lr 0.01,1e6 --optimizer sgd --jobs 1 --out s"));
    const char *first = strstr(train_output, "\nactivation ");
    ck_assert_msg(first && !strstr(first + 1, "\nactivation "), "%s", train_output);
}
END_TEST

START_TEST(a_folder_in_which_another_program_works_is_refused)
{
    expect_fine(train_run("mkdir", "o"));
    const int folder = open(temporary_path("o"), O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(flock(folder, LOCK_EX | LOCK_NB), 0);
    expect_refused(train_run("compare", SMALL "--seeds 1 --out o"), "o");
    expect_refused(train_run("train", SMALL "--out o"), "o");
    close(folder);
    expect_fine(train_run("train", SMALL "--out o"));
}
END_TEST

Suite *run_suite(void)
{
    Suite *suite = suite_create("run");
    TCase *tests = tcase_create("run");
    tcase_set_timeout(tests, getenv("TG_LONG") ? 1200 : 240);
    tcase_add_loop_test(tests, products_of_openblas_train_alike, 0, sizeof models / sizeof models[0]);
    tcase_add_test(tests, without_openblas_its_products_are_an_error);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_loop_test(tests, every_model_is_compared_seed_by_seed, 0, sizeof models / sizeof *models);
    tcase_add_test(tests, lists_of_numbers_and_names_are_tried);
    tcase_add_test(tests, rates_are_bracketed_for_each_activation);
    tcase_add_test(tests, a_net_that_no_initial_weights_suit_gets_a_warning);
    tcase_add_test(tests, heads_may_share_keys_and_values_and_an_epoch_have_any_number_of_windows);
    tcase_add_test(tests, blocks_may_normalise_after_the_residual_sum);
    tcase_add_test(tests, a_search_is_drawn_over_its_numbers_or_else_its_words);
    tcase_add_loop_test(tests, a_folder_of_another_run_is_refused, 0, 2);
    tcase_add_test(tests, labels_are_data_too);
    tcase_add_test(tests, a_record_of_another_run_is_refused_by_study);
    tcase_add_test(tests, a_folder_of_an_older_version_goes_on);
    tcase_add_test(tests, a_record_knows_no_options_that_came_later);
    tcase_add_test(tests, the_default_folder_says_what_the_run_is);
    tcase_add_test(tests, a_net_and_a_comparison_of_the_same_data_have_folders_of_their_own);
    tcase_add_test(tests, a_comparison_in_which_runs_diverge_ends_and_says_what_helps);
    tcase_add_test(tests, a_search_prints_a_table_once);
    tcase_add_test(tests, help_lists_every_activation_optimizer_and_model);
    tcase_add_test(tests, a_folder_in_which_another_program_works_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
