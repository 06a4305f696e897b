/* The programs train and predict, run as users run them. */
#include "examples/programs/report/files.h"
#include "examples/programs/data/dataset.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tapegrad.h>
#include <unistd.h>

Suite *train_suite(void);

static void assert_same_files(const char *a, const char *b)
{
    ck_assert_msg(train_run("cmp", "%s %s", a, b) == 0, "%s", train_output);
}

/* ---- stopping ---- */

static const char *const kinds[] = {
    "--data csv:train.csv --hidden 16x2 --dropout 0.3 --epochs 40",
    "--data idx:images --model convnet --filters 4,8 --epochs 12 --batch 16",
    "--data text:text --layers 2 --heads 2 --width 16 --context 16 --epochs 12 --dropout 0.1",
    "--data idx:images --model convnet --filters 4,8 --epochs 12 --batch 16 --ema 0.98",
    "--data pairs:pairs --layers 1 --heads 2 --width 16 --epochs 12 --dropout 0.1 --ema 0.98 --best accuracy"};

/* A number of four digits and one of five. */
static void make_pairs(void)
{
    expect_fine(train_run("sh", "-c 'seq 1000 1399 > sources; seq 12000 12399 | paste sources - > pairs'"));
}

START_TEST(interrupted_and_resumed_is_never_interrupted)
{
    make_pairs();
    expect_fine(train_run("train", "%s --no-plots --out whole", kinds[_i]));
    int interruptions = 0;
    int status = train_run("timeout", "-s INT %g train %s --no-plots --out half", 0.03 + 0.03 * _i, kinds[_i]);
    while (status != 0 && interruptions++ < 30) { /* where a program only starts after seconds, too */
        const double seconds = 0.1 * (1 << interruptions / 3);
        status = temporary_exists("half/last.safetensors")
                     ? train_run("timeout", "-s INT %g train --resume --out half", seconds)
                     : train_run("timeout", "-s INT %g train %s --no-plots --out half", seconds, kinds[_i]);
    }
    expect_fine(status);
    assert_same_files("whole/last.safetensors", "half/last.safetensors");
    assert_same_files("whole/best.safetensors", "half/best.safetensors");
    assert_same_files("whole/curves.csv", "half/curves.csv");
}
END_TEST

/* Files are complete whenever the program is killed. The test kills it mostly while it writes, after a request to
 * end. */
START_TEST(killed_at_any_moment_leaves_files_that_can_be_read)
{
    const int times = getenv("TG_LONG") ? 200 : 8;
    int killed = 0;
    tg_rng rng = tg_rng_seed(9);
    expect_fine(train_run("train", "--data csv:train.csv --hidden 256x2 --epochs 1 --no-plots --out killed"));
    const char *go_on = "--resume --epochs 1000000 --out killed";
    for (int i = 0; i < times; i++) {
        const int status = train_run("timeout", "-s INT -k %.4f %.3f train %s", 0.001 + 0.03 * tg_rng_uniform(&rng),
                                     0.05 + 0.1 * tg_rng_uniform(&rng), go_on);
        ck_assert_msg(status == 137 || status == 124 || status == 130, "%d: %s", status, train_output);
        killed += status == 137;
        tg_error error;
        static const char *const names[] = {"killed/last.safetensors", "killed/best.safetensors"};
        for (int f = 0; f < 2; f++) {
            tg_safetensors *file = tg_safetensors_open(temporary_path(names[f]), &error);
            ck_assert_msg(file != NULL, "%s", error.text);
            tg_safetensors_close(file);
        }
    }
    if (getenv("TG_LONG"))
        printf("train: %d of %d runs were killed, and the files of all could be read\n", killed, times);
    ck_assert(!getenv("TG_LONG") || killed > times / 8);
}
END_TEST

/* Whatever their process numbers: these are used again, and the lock on the folder says that no other process writes.
 * The suite "killed" tests the library's files in every size that a full disk may leave. */
START_TEST(what_a_killed_run_left_is_removed)
{
    static const struct {
        const char *name;
        bool goes;
    } files[] = {{"m/.config.json.new.%ld%s", true},
                 {"m/.curves.csv.new.%ld%s", true},
                 {"m/last.safetensors.%ld.tmp", true},
                 {"m/best.safetensors.%ld.tmp", true},
                 {"m/.config.json.new.%ld@another.machine", true},
                 {"m/.config.json.new.x%ld%s", false},
                 {"m/config.json.new.%ld%s", false},
                 {"m/last.safetensors.%ld.tmp.mine", false},
                 {"m/mine.%ld.tmp", false}};
    char name[100];
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(dead, NULL, 0), dead);
    ck_assert_int_eq(mkdir(temporary_path("m"), 0777), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (int lives = 0; lives < 2; lives++) {
            snprintf(name, sizeof name, files[i].name, lives ? (long)getpid() : (long)dead, files_machine());
            temporary_write(name, "half", 4);
        }
    expect_fine(train_run("train", "--data moons --rows 60 --epochs 1 --no-plots --out m"));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (int lives = 0; lives < 2; lives++) {
            snprintf(name, sizeof name, files[i].name, lives ? (long)getpid() : (long)dead, files_machine());
            ck_assert_msg(temporary_exists(name) == !files[i].goes, "%s", name);
        }
}
END_TEST

START_TEST(a_full_disk_is_a_line_and_keeps_the_old_files)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 64x2 --epochs 2 --no-plots --out d"));
    train_run("cp", "-r d before");
    const int status =
        train_run("sh", "-c 'trap \"\" XFSZ; ulimit -f 8; train --resume --epochs 4 --no-plots --out d'");
    ck_assert_msg(status == 1 && strstr(train_output, "train: d/") &&
                      strstr(train_output, ".safetensors: File too large\n"),
                  "%d: %s", status, train_output);
    assert_same_files("d/last.safetensors", "before/last.safetensors");
    assert_same_files("d/best.safetensors", "before/best.safetensors");
    train_run("ls", "d");
    ck_assert_msg(!strstr(train_output, ".tmp"), "%s", train_output);
    expect_fine(train_run("train", "--resume --no-plots --out d"));
}
END_TEST

/* ---- predicting ---- */

START_TEST(predictions_follow_names_of_columns_and_name_classes)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 32 --epochs 60 --lr 0.002 --no-plots --out m"));
    ck_assert_ptr_nonnull(strstr(train_output, "test: loss"));
    const char *matrix = strstr(train_output, "in the same order:\n");
    int right[2], wrong[2];
    ck_assert_ptr_nonnull(matrix);
    ck_assert_int_eq(sscanf(matrix, "in the same order:\n%d %d large\n%d %d small", right, wrong, wrong + 1, right + 1),
                     4);
    ck_assert_int_eq(right[0] + right[1] + wrong[0] + wrong[1], 60);
    write_table("new.csv", "colour,extra,size,b,a\n", "c,7,k,b,a\n", 300); /* the same rows in other columns */
    expect_fine(train_run("predict", "--model m --data csv:train.csv --probabilities > old"));
    expect_fine(train_run("predict", "--model m --data csv:new.csv --probabilities > new"));
    assert_same_files("old", "new");
    expect_fine(train_run(
        "sh",
        "-c 'tail -n +2 old | cut -d, -f1 > p; tail -n +2 new.csv | grep -o \"large\\|small\" > q; paste -d\" \" p q | "
        "awk \"\\$1==\\$2\" | wc -l'"));
    ck_assert_int_ge(atoi(train_output), 285);
    ck_assert_ptr_nonnull(strstr(temporary_text("old"), "class,probability,large,small\n"));
    write_table("numbers.csv", "", "a,b,c\n", 300); /* no header, and no target */
    expect_fine(train_run("predict", "--model m --data csv:numbers.csv --header no --probabilities > plain"));
    assert_same_files("old", "plain");
}
END_TEST

START_TEST(columns_of_one_name_are_told_apart_by_their_places)
{
    write_table("twins.csv", "x,x,colour,size\n", "a,b,c,k\n", 300);
    write_table("bare.csv", "", "a,b,c\n", 300);
    write_table("moved.csv", "colour,x,x\n", "c,a,b\n", 300);
    expect_fine(train_run("train", "--data csv:twins.csv --hidden 32 --epochs 5 --no-plots --out m"));
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:twins.csv > named"));
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:bare.csv --header no > plain"));
    assert_same_files("named", "plain");
    expect_refused(train_run("predict", "--model m/best.safetensors --data csv:moved.csv"),
                   "the name 'x' is not unique");
}
END_TEST

START_TEST(regressions_are_in_the_targets_unit)
{
    expect_fine(
        train_run("train", "--data csv:price.csv --hidden 32 --epochs 100 --batch 16 --dropout 0 --no-plots --out m"));
    const char *r2 = strstr(train_output, "R2 ");
    ck_assert_msg(r2 && atof(r2 + 3) > 0.98, "%s", train_output);
    expect_fine(train_run("predict", "--model m/last.safetensors --data csv:price.csv > p"));
    const char *text = temporary_text("p");
    ck_assert_msg(strstr(text, "price\n") == text, "%.60s", text);
    double mean = 0;
    int rows = 0;
    for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1, rows++)
        mean += atof(line) / 300;
    ck_assert_int_eq(rows, 300);
    ck_assert_double_eq_tol(mean, 5.1e5, 3e3);
    expect_refused(train_run("predict", "--model m/last.safetensors --data csv:price.csv --probabilities"),
                   "is for models of classes");
    temporary_write("gap.csv", "a,b,colour\n,0.01,red\n", 21);
    expect_refused(train_run("predict", "--model m/last.safetensors --data csv:gap.csv --strict"),
                   "gap.csv:2, column 'a': missing");
}
END_TEST

START_TEST(what_a_terminal_would_obey_is_not_printed)
{
    temporary_write("odd.csv",
                    "a,\033[31mb\n1,2.5\n2,1.5\n3,0.5\n4,3.5\n5,0.25\n6,1.25\n7,1.75\n8,1.5\n9,2.25\n10,1.25\n", 75);
    expect_fine(train_run("train", "--data csv:odd.csv --epochs 1 --no-plots --out m"));
    ck_assert_msg(strstr(train_output, " of ?[31mb\n") && !strchr(train_output, '\033'), "%s", train_output);
}
END_TEST

/* The best by accuracy is another epoch than that of the lowest loss, and neither is the last. The lines of a search,
 * which chooses by the loss of the best epoch's net, are of that epoch, too. */
START_TEST(the_last_line_of_progress_is_of_the_best_epoch)
{
    static const char *const by[] = {"loss", "accuracy"};
    int epochs[2];
    for (int i = 0; i < 2; i++) {
        char options[200], row[16];
        snprintf(options, sizeof options,
                 "--data moons --rows 80 --hidden 8 --lr 0.1 --epochs 7 --seed 3 --refit no --nets 1 --no-plots --best "
                 "%s --out "
                 "m%d",
                 by[i], i);
        expect_fine(train_run("train", "%s", options));
        const char *done = strstr(train_output, ": done, ");
        double loss, accuracy, said_loss, said_accuracy;
        ck_assert_msg(done && sscanf(done, ": done, 7 epochs, validation loss %lf in epoch %d, accuracy %lf",
                                     &said_loss, &epochs[i], &said_accuracy) == 3,
                      "%s", train_output);
        snprintf(options, sizeof options, "m%d/curves.csv", i);
        snprintf(row, sizeof row, "\n%d,", epochs[i]);
        const char *curves = temporary_text(options), *best = strstr(curves, row);
        ck_assert_msg(best && sscanf(strchr(best + 1, ',') + 1, "%*d,%*[^,],%lf,%lf", &loss, &accuracy) == 2, "%s",
                      curves);
        ck_assert_double_eq_tol(said_loss, loss, 1e-4);
        ck_assert_double_eq_tol(said_accuracy, 100 * accuracy, 0.01);
        snprintf(row, sizeof row, "epoch %d of 7", epochs[i]);
        ck_assert_msg(strstr(train_output, row) && strstr(train_output, " is the best, and its weights are kept\n"),
                      "%s", train_output);
    }
    ck_assert_msg(epochs[0] < 7 && epochs[1] < 7 && epochs[0] != epochs[1], "%d, %d", epochs[0], epochs[1]);
    expect_fine(train_run("train", "--data sine --rows 80 --hidden 8 --epochs 3 --no-plots --out numbers"));
    ck_assert_msg(strstr(train_output, ": done, 3 epochs, validation loss ") && !strstr(train_output, "accuracy"), "%s",
                  train_output);
}
END_TEST

START_TEST(images_are_told_apart_and_drawn_again)
{
    expect_fine(train_run("train",
                          "--data idx:images --model convnet --filters 8,8 --epochs 15 --batch 16 --no-plots --out c"));
    expect_fine(train_run("predict", "--model c/best.safetensors --data idx:images"));
    const char *score = strstr(train_output, "50 samples: loss "), *met = score ? strstr(score, "accuracy ") : NULL;
    ck_assert_msg(met && atof(met + strlen("accuracy ")) > 90, "%s", train_output);
    expect_fine(train_run("predict", "--model c/best.safetensors --data idx:images/t10k-images-idx3-ubyte"));
    expect_fine(
        train_run("train", "--data idx:images --model autoencoder --hidden 32 --code 8 --epochs 3 --no-plots --out e"));
    expect_fine(train_run("predict", "--model e/best.safetensors --data idx:images/t10k-images-idx3-ubyte"));
    ck_assert_ptr_eq(strstr(train_output, "squared_error\n"), train_output);
    expect_fine(train_run(
        "train",
        "--data idx:images --model vit --patch 4 --width 16 --heads 2 --layers 1 --epochs 2 --no-plots --out v"));
    expect_fine(train_run("predict", "--model v/best.safetensors --data idx:images"));
}
END_TEST

START_TEST(texts_are_written_with_temperature_and_top_k)
{
    expect_fine(train_run(
        "train", "--data text:text --layers 1 --heads 2 --width 16 --context 16 --epochs 30 --no-plots --out g"));
    ck_assert_ptr_nonnull(strstr(train_output, " bits), accuracy "));
    expect_fine(train_run("predict", "--model g/best.safetensors --prompt tw --temperature 0 --length 60 > cold"));
    expect_fine(train_run("predict", "--model g/best.safetensors --prompt tw --top-k 1 --length 60 > one"));
    expect_fine(
        train_run("predict", "--model g/best.safetensors --prompt tw --temperature 9 --top-k 2 --length 60 > two"));
    expect_refused(train_run("predict", "--model g/best.safetensors --header no"),
                   "the model writes texts, and --header is for rows");
    expect_refused(train_run("predict", "--model g/best.safetensors --temperature 0 --top-k 5"),
                   "--top-k: with --temperature 0 nothing is drawn");
    expect_refused(train_run("predict", "--model g/best.safetensors --temperature 0 --seed 5"),
                   "--seed: with --temperature 0 nothing is drawn");
    expect_fine(train_run("predict", "--model g/best.safetensors --prompt tw --length 60 > warm"));
    expect_fine(train_run("predict", "--model g/best.safetensors --prompt tw --length 60 --seed 2 > other"));
    assert_same_files("cold", "one");
    ck_assert_int_ne(train_run("cmp", "cold two"), 0);
    ck_assert_ptr_eq(strstr(temporary_text("cold"), "two "), temporary_text("cold"));
    ck_assert_int_ne(train_run("cmp", "warm other"), 0);
    expect_fine(train_run("train", "--data lines:text --embedding 8 --hidden 32 --epochs 5 --no-plots --out l"));
    expect_fine(train_run("predict", "--model l/best.safetensors --samples 3 --length 90"));
    int lines = 0;
    for (const char *c = train_output; *c; c++)
        lines += *c == '\n';
    ck_assert_int_eq(lines, 3);
    expect_refused(train_run("predict", "--model g/best.safetensors --prompt QUEEN"),
                   "does not know the character 'Q'");
    expect_refused(train_run("predict", "--model g/best.safetensors --data csv:train.csv"),
                   "--data is for rows and images");
}
END_TEST

/* ---- pairs ---- */

START_TEST(pairs_are_learned_and_predicted)
{
    make_pairs();
    expect_fine(train_run(
        "train", "--data pairs:pairs --layers 1 --heads 2 --width 32 --lr 5e-3 --epochs 30 --no-plots --out m"));
    ck_assert_msg(strstr(train_output, "pairs of at most 5 characters, 10 different; 320 training, 40 validation and "
                                       "40 test pairs"),
                  "%s", train_output);
    ck_assert_msg(strstr(train_output, "test: loss ") && strstr(train_output, " bits), exact 100.00 %"), "%s",
                  train_output);
    expect_fine(train_run("predict", "--model m --data pairs:pairs > greedy"));
    ck_assert_ptr_nonnull(strstr(train_output, "400 pairs: exact 100.00 %"));
    expect_fine(train_run("predict", "--model m --data pairs --beams 5 > beams"));
    expect_fine(train_run("sh", "-c 'cut -f 2 pairs | cmp - greedy && cmp greedy beams'"));
    expect_fine(train_run("sh", "-c 'cut -f 1 pairs | predict --model m --data pairs:- | cmp - greedy'"));
    expect_fine(train_run(
        "sh", "-c '(printf \"\\357\\273\\277\"; cat pairs) | predict --model m --data pairs:- | cmp - greedy'"));
    expect_refused(train_run("sh", "-c 'tr 4 \"\\000\" < pairs | predict --model m --data pairs:-'"),
                   "a byte of it is 0, expected a text");
    expect_fine(train_run("predict", "--model m --prompt 1234"));
    ck_assert_str_eq(train_output, "12234\n");
    static const char *const wrong[][2] = {
        {"", "either --data pairs:FILE or --prompt SOURCE"},
        {"--prompt 1 --data pairs", "either --data pairs:FILE or --prompt SOURCE"},
        {"--prompt 1a", "--prompt:1: the model does not know the character 'a'"},
        {"--prompt 123456", "--prompt:1: the source has 6 characters, and the model reads 5 at most"},
        {"--prompt 1 --temperature 0.5", "--temperature"},
        {"--prompt 1 --header no", "--header"},
        {"--prompt 1 --probabilities", "--probabilities"},
        {"--data pairs:nowhere", "nowhere"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_refused(train_run("predict", "--model m %s", wrong[i][0]), wrong[i][1]);
}
END_TEST

/* A file with Windows' line ends, empty lines and UTF-8 has the pairs that it seems to have. */
START_TEST(pairs_are_read_as_people_write_them)
{
    FILE *file = fopen(temporary_path("odd"), "w");
    for (int i = 0; i < 100; i++)
        fprintf(file, "%d caf\u00e9\t%d \u00fc%s%s", i, i, i % 3 ? "\r\n" : "\n", i % 7 ? "" : "\n");
    fclose(file);
    expect_fine(train_run("train",
                          "--data pairs:odd --layers 1 --heads 1 --width 4 --epochs 1 --validation 0.25 --test "
                          "none --no-plots --out o"));
    ck_assert_msg(strstr(train_output, "pairs of at most 7 characters, 16 different; 75 training, 25 validation and 0 "
                                       "test pairs"),
                  "%s", train_output);
    expect_fine(train_run("predict", "--model o --data pairs:odd > out"));
    ck_assert_ptr_nonnull(strstr(train_output, "100 pairs: exact "));
}
END_TEST

/* ---- averages, and weights from a file ---- */

/* The number after these words in train_output; NaN if they are missing. */
static double number_behind(const char *words)
{
    const char *at = strstr(train_output, words);
    return at ? atof(at + strlen(words)) : NAN;
}

/* Other characters in the test part of a text change the test loss and nothing else. */
START_TEST(the_test_part_of_a_text_chooses_nothing)
{
    static const char command[] = "--data text:%s --layers 1 --heads 2 --width 8 --context 8 --epochs 3 --test 0.2 "
                                  "--validation 0.1 --no-plots --out %s";
    char *text = strdup(temporary_text("text"));
    const size_t size = strlen(text), tested = size - (size_t)(0.2 * (double)size + 0.5);
    for (size_t i = tested, end = size - 1; i < end; i++, end--) {
        const char other = text[i];
        text[i] = text[end];
        text[end] = other;
    }
    temporary_write("changed", text, size);
    free(text);
    expect_fine(train_run("train", command, "text", "one"));
    ck_assert_ptr_nonnull(strstr(train_output, " are for testing, "));
    const double before = number_behind("test: loss ");
    expect_fine(train_run("train", command, "changed", "other"));
    ck_assert(number_behind("test: loss ") != before);
    assert_same_files("one/curves.csv", "other/curves.csv");
}
END_TEST

START_TEST(with_ema_the_averages_are_kept_and_measured)
{
    static const char *const same = "--data csv:train.csv --hidden 32 --epochs 8 --refit no --no-plots";
    expect_fine(train_run("train", "%s --out plain", same));
    expect_fine(train_run("train", "%s --ema 0.99 --out averaged", same));
    const double accuracy = number_behind("test: loss ");
    tg_error error;
    tg_safetensors *last = tg_safetensors_open(temporary_path("averaged/last.safetensors"), &error),
                   *best = tg_safetensors_open(temporary_path("averaged/best.safetensors"), &error),
                   *plain = tg_safetensors_open(temporary_path("plain/last.safetensors"), &error);
    ck_assert_msg(last && best && plain, "%s", error.text);
    const char *epoch = tg_safetensors_metadata(best, "fit.epoch");
    static const char *const names[] = {"layers.0.weight", "ema.layers.0.weight"};
    float weights[4][32 * 8] = {0};
    tg_safetensors *const files[] = {plain, last, last, best};
    for (int i = 0; i < 4; i++) {
        const tg_file_tensor *tensor = tg_safetensors_find(files[i], names[i == 2]);
        ck_assert(tensor && tensor->size <= 32 * 8 &&
                  tg_safetensors_read(files[i], tensor, TG_F32, weights[i], &error));
    }
    ck_assert_mem_eq(weights[0], weights[1], sizeof weights[0]); /* the steps are the same */
    ck_assert_mem_ne(weights[1], weights[2], sizeof weights[0]);
    if (strcmp(epoch, "8") == 0) /* the averages of the last step are those of the last epoch */
        ck_assert_mem_eq(weights[2], weights[3], sizeof weights[0]);
    else
        ck_assert_mem_ne(weights[1], weights[3], sizeof weights[0]);
    tg_safetensors_close(last), tg_safetensors_close(best), tg_safetensors_close(plain);
    ck_assert(!isnan(accuracy));
}
END_TEST

/* After the best epoch is known, training and validation rows train as many steps; more epochs go on from before. */
START_TEST(a_refit_trains_on_validation_rows_too)
{
    static const char same[] = "--data csv:price.csv --hidden 8 --epochs 12 --seed 3 --no-plots";
    expect_fine(train_run("train", "%s --refit yes --out a", same));
    const double validation = number_behind("validation: loss "), test = number_behind("test: loss ");
    expect_fine(train_run("train", "%s --refit no --out b", same));
    ck_assert_double_eq(number_behind("validation: loss "), validation); /* measured before it has trained */
    ck_assert_double_ne(number_behind("test: loss "), test);
    assert_same_files("a/best.safetensors", "b/best.safetensors");
    expect_fine(train_run("predict", "--model a --data csv:price.csv > refit"));
    expect_fine(train_run("predict", "--model a/refit.safetensors --data csv:price.csv > named"));
    expect_fine(train_run("predict", "--model b --data csv:price.csv > best"));
    assert_same_files("refit", "named");
    ck_assert_int_ne(train_run("cmp", "refit best"), 0);
    expect_fine(train_run("train", "--resume --epochs 30 --no-plots --out a"));
    expect_fine(train_run("train", "--resume --epochs 30 --no-plots --out b"));
    assert_same_files("a/curves.csv", "b/curves.csv");
    train_run("rm", "a/result.json a/refit.safetensors"); /* killed before the refit had ended */
    train_run("cp", "a/runs.csv runs.csv");
    expect_fine(train_run("train", "--resume --epochs 30 --no-plots --out a"));
    assert_same_files("a/runs.csv", "runs.csv");
}
END_TEST

/* The mean of four nets has the weights of four nets, and can itself be trained, also after an interruption. */
START_TEST(a_mean_of_nets_is_as_large_as_they_are)
{
    static const char onward[] = "--data csv:price.csv --start a/refit.safetensors --epochs 3 --refit no --no-plots";
    tg_error error;
    expect_fine(train_run(
        "train", "--data csv:price.csv --hidden 8,6 --epochs 3 --seed 3 --refit yes --nets 4 --no-plots --out a"));
    tg_safetensors *file = tg_safetensors_open(temporary_path("a/refit.safetensors"), &error);
    ck_assert_msg(file, "%s", error.text);
    const tg_file_tensor *weight = tg_safetensors_find(file, "layers.1.weight");
    ck_assert(weight && tg_shape_equal(&weight->shape, &TG_SHAPE(24, 8)));
    tg_safetensors_close(file);
    expect_fine(train_run("predict", "--model a --data csv:price.csv"));
    const double test = number_behind("root mean squared error ");
    expect_fine(train_run("train", "%s --lr 1e-12 --validation none --out same", onward));
    expect_fine(train_run("predict", "--model same --data csv:price.csv"));
    ck_assert_double_eq_tol(number_behind("root mean squared error "), test, 1e-4 * test);
    ck_assert_ptr_null(strstr(train_output, "Warning: a refit"));
    expect_fine(train_run("train", "%s --seed 3 --out c", onward));
    ck_assert_ptr_nonnull(strstr(train_output, "begins with the weights of a/refit.safetensors\nWarning: a refit is "
                                               "trained on the validation rows too, so their measures are too good"));
    expect_fine(train_run("train", "--data csv:price.csv --start a --seed 3 --epochs 3 --no-plots --out d"));
    ck_assert_ptr_nonnull(strstr(train_output,
                                 "begins with the weights of a/best.safetensors, those of its best epoch; "
                                 "predict uses refit.safetensors\n"));
    ck_assert_ptr_null(strstr(train_output, "Warning: a refit"));
    expect_fine(train_run("train", "%s --out b", onward));
    ck_assert_msg(strstr(train_output, "-32,24-1 in 4 groups, "), "%s", train_output);
    train_run("rm", "a/refit.safetensors"); /* resuming does not need it */
    expect_fine(train_run("train", "--resume --epochs 5 --no-plots --out b"));
}
END_TEST

/* All rows but the test rows train, for the epochs that were asked for. */
START_TEST(without_validation_rows_the_last_epoch_is_kept)
{
    expect_fine(train_run("train", "--data csv:price.csv --hidden 8 --validation none --epochs 5 --no-plots --out m"));
    ck_assert_msg(strstr(train_output, "240 training, 0 validation and 60 test samples.") &&
                      strstr(train_output, "5 epochs are done, and the weights of the last are kept") &&
                      strstr(train_output, "test: loss") && !strstr(train_output, "validation: loss"),
                  "%s", train_output);
    expect_refused(train_run("train", "--data csv:price.csv --validation none --epochs 5 --patience 2 --out n"),
                   "--patience needs validation rows");
    expect_refused(train_run("train", "--data csv:price.csv --validation none --epochs 5 --refit yes --out n"),
                   "--refit: without validation rows all rows are training rows");
    expect_refused(train_run("compare", "--data csv:price.csv --validation none --epochs 5 --out n"),
                   "--validation none: a comparison needs validation rows");
}
END_TEST

START_TEST(a_run_begins_with_the_weights_of_another)
{
    expect_fine(train_run(
        "train", "--data csv:train.csv --hidden 32x2 --activation relu --epochs 40 --refit no --no-plots --out old"));
    const double before = number_behind("validation: loss ");
    /* The model comes from the file: with a rate near zero, the loss does not change. */
    expect_fine(train_run(
        "train", "--data csv:train.csv --start old/best.safetensors --lr 1e-9 --epochs 1 --no-plots --out same"));
    ck_assert_msg(strstr(train_output, "32x2-2, relu") &&
                      strstr(train_output, "begins with the weights of old/best.safetensors"),
                  "%s", train_output);
    ck_assert_double_eq_tol(number_behind("validation: loss "), before, 1e-4);
    expect_refused(
        train_run("train",
                  "--data csv:train.csv --start old/best.safetensors --activation gelu_exact --no-plots --out new"),
        "trained with relu, and the model has gelu_exact; on a sample outputs differ by up to ");
    ck_assert_ptr_nonnull(strstr(train_output, "; choose with --activation-from file or model\n"));
    ck_assert_int_eq(temporary_exists("new/config.json"), 0);
    expect_fine(train_run(
        "train",
        "--data csv:train.csv --start old/best.safetensors --activation gelu_exact --activation-from file --epochs 1 "
        "--lr 1e-9 --no-plots --out file"));
    ck_assert_ptr_nonnull(strstr(train_output, "32x2-2, relu"));
    ck_assert_double_eq_tol(number_behind("validation: loss "), before, 1e-4);
    expect_fine(train_run(
        "train",
        "--data csv:train.csv --start old/best.safetensors --activation gelu_exact --activation-from model --epochs "
        "20 --lr 0.002 --no-plots --out new"));
    ck_assert_ptr_nonnull(strstr(train_output, "32x2-2, gelu_exact"));
    ck_assert_msg(number_behind("validation: loss ") < 0.2, "%s", train_output);
    expect_fine(train_run("train", "--config new/config.json --out repeated"));
    assert_same_files("new/refit.safetensors", "repeated/refit.safetensors");
    train_run("rm", "old/best.safetensors"); /* resuming does not need it */
    expect_fine(train_run("train", "--resume --out new"));
}
END_TEST

/* Inputs are scaled as for the weights: the function that a run begins with is that of the file. */
START_TEST(a_run_begins_with_the_scales_of_another)
{
    FILE *file[2] = {fopen(temporary_path("near.csv"), "w"), fopen(temporary_path("far.csv"), "w")};
    tg_rng rng = tg_rng_seed(3);
    for (int i = 0; i < 400; i++) {
        const double x = tg_rng_normal(&rng), far = 2 + 3 * x;
        fprintf(file[0], "%s%.6g,1,%.6g\n", i ? "" : "x,constant,y\n", x, sin(x));
        fprintf(file[1], "%s%.6g,%d,%.6g\n", i ? "" : "x,constant,y\n", far, i % 2, sin(far));
    }
    fclose(file[0]);
    fclose(file[1]);
    expect_fine(train_run("train", "--data csv:near.csv --hidden 16 --epochs 30 --refit no --no-plots --out near"));
    expect_fine(train_run("train", "--data csv:far.csv --start near --lr 1e-12 --epochs 1 --refit no --no-plots "
                                   "--keep-predictions --out far"));
    const double begun = number_behind("root mean squared error ");
    expect_fine(train_run("predict", "--model near --data csv:far.csv"));
    const double predicted = number_behind("root mean squared error ");
    ck_assert_double_gt(predicted, 0.2);
    ck_assert_double_eq_tol(begun, predicted, 0.15 * predicted); /* of some rows, and of all */
    expect_refused(train_run("train", "--data csv:far.csv --start near --soften yes --out no"),
                   "--soften: inputs are scaled as for --start");
}
END_TEST

/* The state is of batches of 16: with others it is refused, and the folder's options stay those of the run. */
START_TEST(a_refused_resumption_changes_nothing)
{
    expect_fine(train_run("train", "--data moons --rows 80 --hidden 4 --epochs 2 --batch 16 --no-plots --out m"));
    expect_fine(train_run("cp", "-r m before"));
    expect_refused(train_run("train", "--resume --out m --epochs 4 --batch 7"), "16 x 1 a step");
    expect_fine(train_run("diff", "-r m before"));
    expect_fine(train_run("train", "--resume --out m --epochs 4 --no-plots"));
    ck_assert_msg(strstr(train_output, "continues after step "), "%s", train_output);
}
END_TEST

START_TEST(weights_to_start_with_are_not_overwritten_before)
{
    expect_fine(train_run("train", "--data moons --rows 80 --hidden 4 --epochs 2 --no-plots --out m"));
    expect_fine(train_run("cp", "-r m before"));
    expect_refused(train_run("train", "--data moons --rows 80 --start m --epochs 2 --overwrite --out ./m"),
                   "--overwrite would remove the weights of --start: use --out for another folder");
    expect_fine(train_run("diff", "-r m before"));
    expect_fine(train_run("train", "--data moons --rows 80 --start m --epochs 2 --no-plots --overwrite --out other"));
}
END_TEST

/* What was interrupted and resumed begins its refit with the weights of --start, too. */
START_TEST(a_resumed_run_refits_from_the_same_weights)
{
    static const char options[] = "--data csv:train.csv --start old --epochs 60 --patience 0 --no-plots";
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 3 --refit no --no-plots --out old"));
    expect_fine(train_run("train", "%s --out whole", options));
    int status = 1;
    for (double seconds = 0.02; status != 0 && seconds < 30; seconds *= 1.3)
        status = temporary_exists("half/last.safetensors")
                     ? train_run("timeout", "-s INT %g train --resume --out half", seconds)
                     : train_run("timeout", "-s INT %g train %s --out half", seconds, options);
    expect_fine(status);
    assert_same_files("whole/refit.safetensors", "half/refit.safetensors");
    expect_fine(train_run("train", "%s --out half", options));
}
END_TEST

START_TEST(weights_of_other_data_are_refused_in_a_line)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 1 --no-plots --out t"));
    expect_fine(train_run("train",
                          "--data text:text --layers 1 --heads 2 --width 8 --context 8 --epochs 1 --no-plots --out g"));
    write_table("other.csv", "a,c,colour,size\n", "a,b,c,k\n", 300);
    train_run(
        "sh",
        "-c 'tr n N < text > other; sed s/large/huge/ train.csv > classes.csv; sed s/layers.0.weight/layers.7.weight/ "
        "t/best.safetensors > bad'");
    expect_refused(train_run("train", "--data csv:other.csv --start t/best.safetensors"), "its columns differ");
    expect_refused(train_run("train", "--data csv:classes.csv --start t/best.safetensors"), "its classes differ");
    expect_refused(train_run("train", "--data text:other --start g/best.safetensors"), "its characters differ");
    expect_refused(train_run("train", "--data csv:train.csv --start t/best.safetensors --hidden 9"), "layers.0.");
    expect_refused(train_run("train", "--data csv:train.csv --start bad"), "layers.");
    expect_refused(train_run("train", "--data csv:train.csv --start nothing"), "--start: ");
    expect_refused(train_run("train", "--data csv:train.csv --activation-from file"), "is for --start only");
    expect_refused(train_run("train", "--data text:text --start t/best.safetensors"), "does not read characters");
    expect_refused(train_run("train", "--resume --start t/best.safetensors --out t"), "--start begins a run");
    expect_refused(train_run("train", "--data csv:train.csv --start t/best.safetensors --init he_normal"),
                   "--init: the weights are those of --start");
    expect_refused(train_run("train", "--data csv:train.csv --start t/best.safetensors --init-scale 2"),
                   "--init-scale: the weights are those of --start");
}
END_TEST

/* ---- what columns become ---- */

static dataset table_of(const char *text, dataset_options options)
{
    dataset set;
    tg_error error;
    char spec[600];
    temporary_write("columns.csv", text, strlen(text));
    snprintf(spec, sizeof spec, "csv:%s", temporary_path("columns.csv"));
    ck_assert_msg(dataset_load(spec, &options, &set, &error), "%s", error.text);
    return set;
}

START_TEST(features_say_what_they_come_from)
{
    static const struct {
        const char *column, *category;
        size_t number;
        bool missing;
    } expected[] = {{"name", "a b", 1, false}, {"name", "c", 1, false}, {"name", NULL, 1, true},
                    {"code", "7", 2, false},   {"code", "9", 2, false}, {"x", NULL, 3, false},
                    {"x", NULL, 3, true}};
    dataset set = table_of("id,name,code,x,y\n1,c,7,?,1\n2,a b,9,2,3\n3,?,9,5,4.5\n",
                           (dataset_options){.ignore = "id", .categorical = "code", .missing = DATASET_MISSING_MEAN});
    ck_assert_uint_eq(set.features, 7);
    for (size_t i = 0; i < 7; i++) {
        const dataset_feature *f = &set.feature[i];
        ck_assert_str_eq(f->column, expected[i].column);
        ck_assert(f->number == expected[i].number && f->missing == expected[i].missing);
        ck_assert(f->category ? expected[i].category && strcmp(f->category, expected[i].category) == 0
                              : !expected[i].category);
    }
    dataset_free(&set);
    set = table_of("1,2\n3,4.5\n", (dataset_options){0});
    ck_assert(!set.feature[0].column && set.feature[0].number == 0);
    dataset_free(&set);
}
END_TEST

START_TEST(the_profile_names_operations_and_layers)
{
    expect_fine(
        train_run("train", "--data csv:train.csv --hidden 16x2 --epochs 3 --no-plots --profile --out \"it's new\""));
    static const char *const parts[] = {"\nlinear ",   "\ngelu_exact ",     "\nlayers.0 ",
                                        "\nlayers.2 ", "\nall operations ", "\noptimiser, batches, the tape "};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ck_assert_msg(strstr(train_output, parts[i]), "no %s in %s", parts[i], train_output);
    ck_assert_msg(strstr(train_output, "to use it: predict --model 'it'\\''s new' --data FILE\n"), "%s", train_output);
}
END_TEST

Suite *train_suite(void)
{
    Suite *suite = suite_create("train");
    TCase *tests = tcase_create("train");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_loop_test(tests, interrupted_and_resumed_is_never_interrupted, 0, sizeof kinds / sizeof kinds[0]);
    tcase_add_test(tests, killed_at_any_moment_leaves_files_that_can_be_read);
    tcase_add_test(tests, what_a_killed_run_left_is_removed);
    tcase_add_test(tests, a_full_disk_is_a_line_and_keeps_the_old_files);
    tcase_add_test(tests, predictions_follow_names_of_columns_and_name_classes);
    tcase_add_test(tests, columns_of_one_name_are_told_apart_by_their_places);
    tcase_add_test(tests, with_ema_the_averages_are_kept_and_measured);
    tcase_add_test(tests, a_run_begins_with_the_weights_of_another);
    tcase_add_test(tests, a_run_begins_with_the_scales_of_another);
    tcase_add_test(tests, weights_to_start_with_are_not_overwritten_before);
    tcase_add_test(tests, a_refused_resumption_changes_nothing);
    tcase_add_test(tests, a_resumed_run_refits_from_the_same_weights);
    tcase_add_test(tests, a_refit_trains_on_validation_rows_too);
    tcase_add_test(tests, a_mean_of_nets_is_as_large_as_they_are);
    tcase_add_test(tests, without_validation_rows_the_last_epoch_is_kept);
    tcase_add_test(tests, weights_of_other_data_are_refused_in_a_line);
    tcase_add_test(tests, features_say_what_they_come_from);
    tcase_add_test(tests, regressions_are_in_the_targets_unit);
    tcase_add_test(tests, what_a_terminal_would_obey_is_not_printed);
    tcase_add_test(tests, the_last_line_of_progress_is_of_the_best_epoch);
    tcase_add_test(tests, images_are_told_apart_and_drawn_again);
    tcase_add_test(tests, the_test_part_of_a_text_chooses_nothing);
    tcase_add_test(tests, texts_are_written_with_temperature_and_top_k);
    tcase_add_test(tests, pairs_are_learned_and_predicted);
    tcase_add_test(tests, pairs_are_read_as_people_write_them);
    tcase_add_test(tests, the_profile_names_operations_and_layers);
    suite_add_tcase(suite, tests);
    return suite;
}
