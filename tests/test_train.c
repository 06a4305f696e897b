/* The programs train and predict, run as a user runs them. */
#include "examples/data/dataset.h"
#include "tests/temporary_files.h"

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

static char output[1 << 16];

/* Runs build/bin/PROGRAM in the temporary folder; what it printed, and its exit status. */
__attribute__((format(printf, 2, 3))) static int run(const char *program, const char *format, ...)
{
    char build[600], arguments[1200], command[2400];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    ck_assert_ptr_nonnull(realpath(getenv("TG_BUILD") ? getenv("TG_BUILD") : "build", build));
    snprintf(command, sizeof command, "cd '%s' && PATH='%s/bin':$PATH; export OPENBLAS_NUM_THREADS=1; %s %s </dev/null 2>&1",
             temporary_folder(), build, program, arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_fine(int status)
{
    ck_assert_msg(status == 0, "%d: %.600s", status, output);
}

/* Status 2 and one line with this in it. */
static void expect_refused(int status, const char *part)
{
    ck_assert_msg(status == 2 && strstr(output, part), "%d, and no '%s' in: %.300s", status, part, output);
    ck_assert_msg(strchr(output, '\n') == output + strlen(output) - 1, "not one line: %.300s", output);
}

static void assert_same_files(const char *a, const char *b)
{
    ck_assert_msg(run("cmp", "%s %s", a, b) == 0, "%s", output);
}

/* ---- data ---- */

/* A table with words, numbers of other sizes, and classes that follow from them. */
static void write_table(const char *name, const char *header, const char *row, int rows)
{
    FILE *file = fopen(temporary_path(name), "w");
    tg_rng rng = tg_rng_seed(5);
    fputs(header, file);
    for (int i = 0; i < rows; i++) {
        static const char *const colours[] = {"red", "green", "blue, dark"};
        const double a = 1000 + 50 * tg_rng_normal(&rng), b = 0.01 * tg_rng_normal(&rng);
        const int colour = (int)tg_rng_below(&rng, 3);
        const double sum = (a - 1000) / 50 + b / 0.01 + colour;
        for (const char *c = row; *c; c++)
            switch (*c) {
            case 'a': fprintf(file, "%.6f", a); break;
            case 'b': fprintf(file, "%.6f", b); break;
            case 'c': fprintf(file, "\"%s\"", colours[colour]); break;
            case 'k': fputs(sum > 1 ? "large" : "small", file); break;
            case 't': fprintf(file, "%.6f", 5e5 + 1e4 * sum); break;
            default: fputc(*c, file);
            }
    }
    fclose(file);
}

static void put_number(FILE *file, unsigned number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(number >> shift & 255), file);
}

/* Images of 8 x 8 with a bright row or column, and which. */
static void write_images(const char *images, const char *labels, unsigned count, uint64_t seed)
{
    FILE *pixels = fopen(temporary_path(images), "wb"), *classes = fopen(temporary_path(labels), "wb");
    tg_rng rng = tg_rng_seed(seed);
    put_number(pixels, 0x803), put_number(pixels, count), put_number(pixels, 8), put_number(pixels, 8);
    put_number(classes, 0x801), put_number(classes, count);
    for (unsigned i = 0; i < count; i++) {
        const unsigned line = (unsigned)tg_rng_below(&rng, 8), column = i % 2;
        fputc((int)column, classes);
        for (unsigned p = 0; p < 64; p++)
            fputc((column ? p % 8 : p / 8) == line ? 255 : (int)tg_rng_below(&rng, 60), pixels);
    }
    fclose(pixels);
    fclose(classes);
}

static void write_text(void)
{
    FILE *file = fopen(temporary_path("text"), "w");
    tg_rng rng = tg_rng_seed(6);
    for (int i = 0; i < 600; i++)
        fprintf(file, "%s", (const char *[]){"one ", "two ", "three\n"}[tg_rng_below(&rng, 3)]);
    fclose(file);
}

static void start(void)
{
    temporary_folder_make();
    write_table("train.csv", "a,b,colour,size\n", "a,b,c,k\n", 300);
    write_table("price.csv", "a,b,colour,price\n", "a,b,c,t\n", 300);
    write_text();
    run("mkdir", "images");
    write_images("images/train-images-idx3-ubyte", "images/train-labels-idx1-ubyte", 200, 1);
    write_images("images/t10k-images-idx3-ubyte", "images/t10k-labels-idx1-ubyte", 50, 2);
}

/* ---- stopping ---- */

static const char *const kinds[] = {"--data csv:train.csv --hidden 16x2 --dropout 0.3 --epochs 40",
                                    "--data idx:images --model convnet --filters 4,8 --epochs 12 --batch 16",
                                    "--data text:text --layers 2 --heads 2 --width 16 --context 16 --epochs 12 --dropout 0.1",
                                    "--data idx:images --model convnet --filters 4,8 --epochs 12 --batch 16 --ema 0.98"};

START_TEST(interrupted_and_resumed_is_never_interrupted)
{
    expect_fine(run("train", "%s --no-plots --out whole", kinds[_i]));
    int interruptions = 0;
    int status = run("timeout", "-s INT %g train %s --no-plots --out half", 0.03 + 0.03 * _i, kinds[_i]);
    while (status != 0 && interruptions++ < 20)
        status = temporary_exists("half/last.safetensors")
                     ? run("timeout", "-s INT %g train --resume --out half", 0.05 * interruptions)
                     : run("timeout", "-s INT %g train %s --no-plots --out half", 0.2 * interruptions, kinds[_i]);
    expect_fine(status);
    assert_same_files("whole/last.safetensors", "half/last.safetensors");
    assert_same_files("whole/best.safetensors", "half/best.safetensors");
    assert_same_files("whole/curves.csv", "half/curves.csv");
}
END_TEST

/* A file is whole, whenever the program is killed: mostly while it writes, which it does when it is asked to end. */
START_TEST(killed_at_any_moment_leaves_files_that_can_be_read)
{
    const int times = getenv("TG_LONG") ? 200 : 8;
    int killed = 0;
    tg_rng rng = tg_rng_seed(9);
    expect_fine(run("train", "--data csv:train.csv --hidden 256x2 --epochs 1 --no-plots --out killed"));
    const char *go_on = "--resume --epochs 1000000 --out killed";
    for (int i = 0; i < times; i++) {
        const int status =
            run("timeout", "-s INT -k %.4f %.3f train %s", 0.001 + 0.03 * tg_rng_uniform(&rng), 0.05 + 0.1 * tg_rng_uniform(&rng), go_on);
        ck_assert_msg(status == 137 || status == 124 || status == 130, "%d: %s", status, output);
        killed += status == 137;
        char message[TG_FILE_MESSAGE];
        static const char *const names[] = {"killed/last.safetensors", "killed/best.safetensors"};
        for (int f = 0; f < 2; f++) {
            tg_safetensors *file = tg_safetensors_open(temporary_path(names[f]), message);
            ck_assert_msg(file != NULL, "%s", message);
            tg_safetensors_close(file);
        }
    }
    if (getenv("TG_LONG"))
        printf("train: %d of %d runs were killed, and the files of all could be read\n", killed, times);
    ck_assert(!getenv("TG_LONG") || killed > times / 8);
}
END_TEST

/* The library's files, in every size that the disk may have left, are in the suite "killed". */
START_TEST(what_a_killed_run_left_is_removed)
{
    static const struct {
        const char *name;
        bool goes;
    } files[] = {{"m/.config.json.new.%ld", true},       {"m/.curves.csv.new.%ld", true}, {"m/last.safetensors.%ld.tmp", true},
                 {"m/best.safetensors.%ld.tmp", true},   {"m/.mine.new.%ld", false},      {"m/.config.json.new.%ldx", false},
                 {"m/config.json.new.%ld", false}};
    char name[100];
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(dead, NULL, 0), dead);
    ck_assert_int_eq(mkdir(temporary_path("m"), 0777), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (int lives = 0; lives < 2; lives++) {
            snprintf(name, sizeof name, files[i].name, lives ? (long)getpid() : (long)dead);
            temporary_write(name, "half", 4);
        }
    expect_fine(run("train", "--data moons --rows 60 --epochs 1 --no-plots --out m"));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (int lives = 0; lives < 2; lives++) {
            snprintf(name, sizeof name, files[i].name, lives ? (long)getpid() : (long)dead);
            ck_assert_msg(temporary_exists(name) == (lives || !files[i].goes), "%s", name);
        }
}
END_TEST

START_TEST(a_full_disk_is_a_line_and_keeps_the_old_files)
{
    expect_fine(run("train", "--data csv:train.csv --hidden 64x2 --epochs 2 --no-plots --out d"));
    run("cp", "-r d before");
    const int status = run("sh", "-c 'trap \"\" XFSZ; ulimit -f 8; train --resume --epochs 4 --no-plots --out d'");
    ck_assert_msg(status == 1 && strstr(output, "train: d/") && strstr(output, ".safetensors: File too large\n"), "%d: %s", status, output);
    assert_same_files("d/last.safetensors", "before/last.safetensors");
    assert_same_files("d/best.safetensors", "before/best.safetensors");
    run("ls", "d");
    ck_assert_msg(!strstr(output, ".tmp"), "%s", output);
    expect_fine(run("train", "--resume --no-plots --out d"));
}
END_TEST

/* ---- predicting ---- */

START_TEST(predictions_follow_names_of_columns_and_name_classes)
{
    expect_fine(run("train", "--data csv:train.csv --hidden 32 --epochs 60 --no-plots --out m"));
    ck_assert_ptr_nonnull(strstr(output, "test: loss"));
    write_table("new.csv", "colour,extra,size,b,a\n", "c,7,k,b,a\n", 300); /* the same rows in other columns */
    expect_fine(run("predict", "--model m/best.safetensors --data csv:train.csv --probabilities > old"));
    expect_fine(run("predict", "--model m/best.safetensors --data csv:new.csv --probabilities > new"));
    assert_same_files("old", "new");
    expect_fine(run("sh", "-c 'tail -n +2 old | cut -d, -f1 > p; tail -n +2 new.csv | grep -o \"large\\|small\" > q; paste -d\" \" p q | "
                          "awk \"\\$1==\\$2\" | wc -l'"));
    ck_assert_int_ge(atoi(output), 285);
    ck_assert_ptr_nonnull(strstr(temporary_text("old"), "class,probability,large,small\n"));
    write_table("numbers.csv", "", "a,b,c\n", 300); /* no header, and no target */
    expect_fine(run("predict", "--model m/best.safetensors --data csv:numbers.csv --header no --probabilities > plain"));
    assert_same_files("old", "plain");
}
END_TEST

START_TEST(columns_of_one_name_are_told_apart_by_their_places)
{
    write_table("twins.csv", "x,x,colour,size\n", "a,b,c,k\n", 300);
    write_table("bare.csv", "", "a,b,c\n", 300);
    write_table("moved.csv", "colour,x,x\n", "c,a,b\n", 300);
    expect_fine(run("train", "--data csv:twins.csv --hidden 32 --epochs 5 --no-plots --out m"));
    expect_fine(run("predict", "--model m/best.safetensors --data csv:twins.csv > named"));
    expect_fine(run("predict", "--model m/best.safetensors --data csv:bare.csv --header no > plain"));
    assert_same_files("named", "plain");
    expect_refused(run("predict", "--model m/best.safetensors --data csv:moved.csv"), "2 columns are called 'x'");
}
END_TEST

START_TEST(regressions_are_in_the_targets_unit)
{
    expect_fine(run("train", "--data csv:price.csv --hidden 32 --epochs 100 --no-plots --out m"));
    const char *r2 = strstr(output, "R2 ");
    ck_assert_msg(r2 && atof(r2 + 3) > 0.98, "%s", output);
    expect_fine(run("predict", "--model m/last.safetensors --data csv:price.csv"));
    ck_assert_msg(strstr(output, "price\n") == output, "%.60s", output);
    double mean = 0;
    int rows = 0;
    for (const char *line = strchr(output, '\n') + 1; *line; line = strchr(line, '\n') + 1, rows++)
        mean += atof(line) / 300;
    ck_assert_int_eq(rows, 300);
    ck_assert_double_eq_tol(mean, 5.1e5, 3e3);
    expect_refused(run("predict", "--model m/last.safetensors --data csv:price.csv --probabilities"), "is for models of classes");
    temporary_write("gap.csv", "a,b,colour\n,0.01,red\n", 21);
    expect_refused(run("predict", "--model m/last.safetensors --data csv:gap.csv"), "gap.csv:2, column 'a': no value");
}
END_TEST

START_TEST(what_a_terminal_would_obey_is_not_printed)
{
    temporary_write("odd.csv", "a,\033[31mb\n1,2.5\n2,1.5\n3,0.5\n4,3.5\n5,0.25\n6,1.25\n7,1.75\n8,1.5\n9,2.25\n10,1.25\n", 75);
    expect_fine(run("train", "--data csv:odd.csv --epochs 1 --no-plots --out m"));
    ck_assert_msg(strstr(output, " of ?[31mb\n") && !strchr(output, '\033'), "%s", output);
}
END_TEST

START_TEST(the_last_line_of_progress_is_of_the_last_validation)
{
    expect_fine(run("train", "--data moons --rows 80 --hidden 8 --lr 0.1 --epochs 7 --no-plots --out m"));
    const char *curves = temporary_text("m/curves.csv"), *last = strstr(curves, "\ngelu_exact,,1,0,7,");
    ck_assert_msg(last != NULL, "%s", curves);
    double loss, accuracy, said_loss, said_accuracy;
    ck_assert_msg(sscanf(last, "\ngelu_exact,,1,0,7,%*d,%*[^,],%lf,%lf", &loss, &accuracy) == 2, "%s", last);
    const char *done = strstr(output, ": done, ");
    ck_assert_msg(done && sscanf(done, ": done, 7 epochs, validation loss %lf, accuracy %lf", &said_loss, &said_accuracy) == 2, "%s",
                  output);
    ck_assert_double_eq_tol(said_loss, loss, 1e-4);
    ck_assert_double_eq_tol(said_accuracy, 100 * accuracy, 0.01);
    ck_assert_ptr_nonnull(strstr(output, " is the best, and its weights are kept\nvalidation: loss "));
}
END_TEST

START_TEST(images_are_told_apart_and_drawn_again)
{
    expect_fine(run("train", "--data idx:images --model convnet --filters 8,8 --epochs 15 --batch 16 --no-plots --out c"));
    expect_fine(run("predict", "--model c/best.safetensors --data idx:images"));
    const char *met = strstr(output, " of 50 labels met");
    ck_assert_msg(met && atof(met + strlen(" of 50 labels met: ")) > 90, "%s", output);
    expect_fine(run("predict", "--model c/best.safetensors --data idx:images/t10k-images-idx3-ubyte"));
    expect_fine(run("train", "--data idx:images --model autoencoder --hidden 32 --code 8 --epochs 3 --no-plots --out e"));
    expect_fine(run("predict", "--model e/best.safetensors --data idx:images/t10k-images-idx3-ubyte"));
    ck_assert_ptr_eq(strstr(output, "squared_error\n"), output);
    expect_fine(run("train", "--data idx:images --model vit --patch 4 --width 16 --heads 2 --layers 1 --epochs 2 --no-plots --out v"));
    expect_fine(run("predict", "--model v/best.safetensors --data idx:images"));
}
END_TEST

START_TEST(texts_are_written_with_temperature_and_top_k)
{
    expect_fine(run("train", "--data text:text --layers 1 --heads 2 --width 16 --context 16 --epochs 30 --no-plots --out g"));
    ck_assert_ptr_nonnull(strstr(output, " nats a letter, accuracy "));
    expect_fine(run("predict", "--model g/best.safetensors --prompt tw --temperature 0 --length 60 > cold"));
    expect_fine(run("predict", "--model g/best.safetensors --prompt tw --top-k 1 --length 60 > one"));
    expect_refused(run("predict", "--model g/best.safetensors --header no"), "the model writes texts, and --header is for rows");
    expect_refused(run("predict", "--model g/best.safetensors --temperature 0 --top-k 5"), "--top-k: with --temperature 0 nothing is drawn");
    expect_refused(run("predict", "--model g/best.safetensors --temperature 0 --seed 5"), "--seed: with --temperature 0 nothing is drawn");
    expect_fine(run("predict", "--model g/best.safetensors --prompt tw --length 60 > warm"));
    expect_fine(run("predict", "--model g/best.safetensors --prompt tw --length 60 --seed 2 > other"));
    assert_same_files("cold", "one");
    ck_assert_ptr_eq(strstr(temporary_text("cold"), "two "), temporary_text("cold"));
    ck_assert_int_ne(run("cmp", "warm other"), 0);
    expect_fine(run("train", "--data lines:text --embedding 8 --hidden 32 --epochs 5 --no-plots --out l"));
    expect_fine(run("predict", "--model l/best.safetensors --samples 3 --length 90"));
    int lines = 0;
    for (const char *c = output; *c; c++)
        lines += *c == '\n';
    ck_assert_int_eq(lines, 3);
    expect_refused(run("predict", "--model g/best.safetensors --prompt QUEEN"), "does not know the letter 'Q'");
    expect_refused(run("predict", "--model g/best.safetensors --data csv:train.csv"), "--data is for rows and images");
}
END_TEST

/* ---- averages, and weights from a file ---- */

/* What stands behind these words of the output; NaN if they do not. */
static double number_behind(const char *words)
{
    const char *at = strstr(output, words);
    return at ? atof(at + strlen(words)) : NAN;
}

START_TEST(with_ema_the_averages_are_kept_and_measured)
{
    static const char *const same = "--data csv:train.csv --hidden 32 --epochs 8 --no-plots";
    expect_fine(run("train", "%s --out plain", same));
    expect_fine(run("train", "%s --ema 0.99 --out averaged", same));
    const double accuracy = number_behind("test: loss ");
    char message[TG_FILE_MESSAGE];
    tg_safetensors *last = tg_safetensors_open(temporary_path("averaged/last.safetensors"), message),
                   *best = tg_safetensors_open(temporary_path("averaged/best.safetensors"), message),
                   *plain = tg_safetensors_open(temporary_path("plain/last.safetensors"), message);
    ck_assert_msg(last && best && plain, "%s", message);
    const char *epoch = tg_safetensors_metadata(best, "fit.epoch");
    static const char *const names[] = {"layers.0.weight", "ema.layers.0.weight"};
    float weights[4][32 * 8] = {0};
    tg_safetensors *const files[] = {plain, last, last, best};
    for (int i = 0; i < 4; i++) {
        const tg_file_tensor *tensor = tg_safetensors_find(files[i], names[i == 2]);
        ck_assert(tensor && tensor->size <= 32 * 8 && tg_safetensors_read(files[i], tensor, TG_F32, weights[i], message));
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

START_TEST(a_run_begins_with_the_weights_of_another)
{
    expect_fine(run("train", "--data csv:train.csv --hidden 32x2 --activation relu --epochs 40 --no-plots --out old"));
    const double before = number_behind("validation: loss ");
    /* The model is the file's: with a rate of next to nothing the loss stays where it was. */
    expect_fine(run("train", "--data csv:train.csv --start old/best.safetensors --lr 1e-9 --epochs 1 --no-plots --out same"));
    ck_assert_msg(strstr(output, "32x2-2, relu") && strstr(output, "begins with the weights of old/best.safetensors"), "%s", output);
    ck_assert_double_eq_tol(number_behind("validation: loss "), before, 1e-4);
    expect_refused(run("train", "--data csv:train.csv --start old/best.safetensors --activation gelu_exact --no-plots --out new"),
                   "trained with relu, and the model has gelu_exact; on a sample outputs differ by up to ");
    ck_assert_ptr_nonnull(strstr(output, "; --activation-from file or model decides\n"));
    ck_assert_int_eq(temporary_exists("new/config.json"), 0);
    expect_fine(run("train", "--data csv:train.csv --start old/best.safetensors --activation gelu_exact --activation-from file --epochs 1 "
                             "--lr 1e-9 --no-plots --out file"));
    ck_assert_ptr_nonnull(strstr(output, "32x2-2, relu"));
    ck_assert_double_eq_tol(number_behind("validation: loss "), before, 1e-4);
    expect_fine(run("train", "--data csv:train.csv --start old/best.safetensors --activation gelu_exact --activation-from model --epochs "
                             "20 --no-plots --out new"));
    ck_assert_ptr_nonnull(strstr(output, "32x2-2, gelu_exact"));
    ck_assert_msg(number_behind("validation: loss ") < 0.2, "%s", output);
    run("rm", "old/best.safetensors"); /* what goes on does not need it */
    expect_fine(run("train", "--resume --out new"));
}
END_TEST

START_TEST(weights_of_other_data_are_refused_in_a_line)
{
    expect_fine(run("train", "--data csv:train.csv --hidden 8 --epochs 1 --no-plots --out t"));
    expect_fine(run("train", "--data text:text --layers 1 --heads 2 --width 8 --context 8 --epochs 1 --no-plots --out g"));
    write_table("other.csv", "a,c,colour,size\n", "a,b,c,k\n", 300);
    run("sh", "-c 'tr n N < text > other; sed s/large/huge/ train.csv > classes.csv; sed s/layers.0.weight/layers.7.weight/ "
              "t/best.safetensors > bad'");
    expect_refused(run("train", "--data csv:other.csv --start t/best.safetensors"), "is for other columns");
    expect_refused(run("train", "--data csv:classes.csv --start t/best.safetensors"), "is for other classes");
    expect_refused(run("train", "--data text:other --start g/best.safetensors"), "is for other letters");
    expect_refused(run("train", "--data csv:train.csv --start t/best.safetensors --hidden 9"), "layers.0.");
    expect_refused(run("train", "--data csv:train.csv --start bad"), "layers.");
    expect_refused(run("train", "--data csv:train.csv --start nothing"), "--start: ");
    expect_refused(run("train", "--data csv:train.csv --activation-from file"), "is for --start only");
    expect_refused(run("train", "--data text:text --start t/best.safetensors"), "does not read letters");
    expect_refused(run("train", "--resume --start t/best.safetensors --out t"), "--start begins a run");
    expect_refused(run("train", "--data csv:train.csv --start t/best.safetensors --init he_normal"),
                   "--init: the weights are those of --start");
}
END_TEST

/* ---- what columns become ---- */

static dataset table_of(const char *text, dataset_options options)
{
    dataset set;
    char spec[600], error[256];
    temporary_write("columns.csv", text, strlen(text));
    snprintf(spec, sizeof spec, "csv:%s", temporary_path("columns.csv"));
    ck_assert_msg(dataset_load(spec, &options, &set, error, sizeof error), "%s", error);
    return set;
}

START_TEST(features_say_what_they_come_from)
{
    static const struct {
        const char *column, *category;
        size_t number;
        bool missing;
    } expected[] = {{"name", "a b", 1, false}, {"name", "c", 1, false}, {"name", NULL, 1, true}, {"code", "7", 2, false},
                    {"code", "9", 2, false},   {"x", NULL, 3, false},   {"x", NULL, 3, true}};
    dataset set = table_of("id,name,code,x,y\n1,c,7,?,1\n2,a b,9,2,3\n3,?,9,5,4.5\n",
                           (dataset_options){.ignore = "id", .categorical = "code", .missing = DATASET_MISSING_MEAN});
    ck_assert_uint_eq(set.features, 7);
    for (size_t i = 0; i < 7; i++) {
        const dataset_feature *f = &set.feature[i];
        ck_assert_str_eq(f->column, expected[i].column);
        ck_assert(f->number == expected[i].number && f->missing == expected[i].missing);
        ck_assert(f->category ? expected[i].category && strcmp(f->category, expected[i].category) == 0 : !expected[i].category);
    }
    dataset_free(&set);
    set = table_of("1,2\n3,4.5\n", (dataset_options){0});
    ck_assert(!set.feature[0].column && set.feature[0].number == 0);
    dataset_free(&set);
}
END_TEST

/* ---- refusing ---- */

START_TEST(wrong_options_are_told_in_a_line)
{
    static const char *const mistakes[][2] = {{"--resume --out nowhere", "there is no nowhere/last.safetensors"},
                                              {"--data csv:nowhere.csv", "nowhere.csv"},
                                              {"--data csv:train.csv --model gpt", "reads letters"},
                                              {"--data csv:train.csv --model convnet", "wants images"},
                                              {"--data csv:train.csv --hidden 0x3", "--hidden"},
                                              {"--data csv:train.csv --activation gelu", "there is no plain gelu"},
                                              {"--data csv:train.csv --norm much", "is not one of none, layer"},
                                              {"--data csv:train.csv --layers 3", "--layers is not for --model mlp"},
                                              {"--data text:text --init he_normal", "--init is not for --model gpt"},
                                              {"--data text:text --target 0", "--target is for rows"},
                                              {"--data csv:train.csv --optimizer sgd --beta1 0.5", "--beta1 is for"},
                                              {"--data csv:train.csv --schedule step --end 0.1", "--end is for"},
                                              {"--data csv:train.csv --momentum 0.9", "--momentum is for"},
                                              {"--data csv:price.csv --label-smoothing 0.1", "--label-smoothing is for"},
                                              {"--data csv:price.csv --best accuracy", "--best accuracy"},
                                              {"--data text:text --model mlp", "does not read letters"},
                                              {"--data lines:text --model gpt", "reads text:FILE"},
                                              {"--data text:text --test 0.1", "validation part only"},
                                              {"--data text:text --context 900", "context"},
                                              {"--data text:text --heads 5", "cannot be made"},
                                              {"--data idx:images --model vit --patch 3", "cannot be made"},
                                              {"--data csv:train.csv --ignore a --categorical a", "column 'a' is ignored"},
                                              {"--data csv:train.csv --hidden 4,5 --residual",
                                               "--residual: no two hidden layers of one width follow each other"},
                                              {"--data csv:train.csv --hidden 4 --residual", "--residual: no two hidden layers of one"},
                                              {"--data csv:train.csv --epochs 2 --patience 5",
                                               "--patience: a run has no more epochs than that; choose fewer, or more --epochs"},
                                              {"--data csv:train.csv --out text/x", "text"}};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        expect_refused(run("train", "%s", mistakes[i][0]), mistakes[i][1]);
    expect_refused(run("predict", "--data csv:train.csv"), "--model FILE is missing");
    expect_fine(run("train", "--data csv:train.csv --hidden 4 --epochs 1 --no-plots --out m"));
    expect_refused(run("train", "--resume --activation relu --out m"), "the run in m has another --activation");
}
END_TEST

/* The program itself writes null where nothing was said; elsewhere it is none of the values. */
START_TEST(what_a_kept_run_cannot_have_said_is_refused)
{
    static const char *const keys[] = {"data", "optimizer", "task", "header", "missing", "best", "schedule", "out"};
    expect_fine(run("train", "--data csv:train.csv --hidden 4 --epochs 1 --no-plots --out m"));
    expect_fine(run("train", "--resume --validation 0.2 --epochs 2 --no-plots --out m"));
    run("cp", "m/config.json kept.json");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        expect_fine(run("sed", "'s/\"%s\": .*,/\"%s\": null,/' kept.json > m/config.json", keys[i], keys[i]));
        char says[100];
        snprintf(says, sizeof says, "m/config.json: \"%s\" has a value that the option does not take", keys[i]);
        expect_refused(run("train", "--resume --out m"), says);
    }
}
END_TEST

/* 180 of 300 rows train. */
START_TEST(batch_norm_does_without_a_row_that_is_left_alone)
{
    expect_fine(run("train", "--data csv:train.csv --hidden 4 --norm batch --batch 179 --epochs 2 --no-plots --out m"));
    ck_assert_msg(strstr(output, "2 epochs of 1 step,"), "%s", output);
    expect_fine(run("train", "--resume --epochs 3 --no-plots --out m"));
    expect_fine(run("train", "--data csv:train.csv --hidden 4 --batch 179 --epochs 2 --no-plots --out m"));
    ck_assert_msg(strstr(output, "2 epochs of 2 steps,"), "%s", output);
    expect_refused(run("train", "--data csv:train.csv --hidden 4 --norm batch --batch 1 --no-plots --out m"),
                   "--batch: --norm batch needs two rows at least");
    expect_fine(run("train", "--data idx:images --model convnet --norm batch --batch 1 --epochs 1 --no-plots --out m")); /* has pixels */
}
END_TEST

START_TEST(a_run_that_fails_says_why_once)
{
    ck_assert_int_eq(run("train", "--data csv:train.csv --hidden 4 --lr 1e6 --optimizer sgd --clip 0 --epochs 50 --no-plots --out m"), 1);
    const char *told = strstr(output, "train: epoch ");
    ck_assert_msg(told && strchr(told, '\n') == output + strlen(output) - 1 && !strstr(output, "failed"), "%s", output);
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
    {"sed 's/variance_preserving/variance_reserving_/' m/best.safetensors > bad", "\"init\" is missing or wrong"},
    {"sed 's/gelu_exact/gelu_extra/g' m/best.safetensors > bad", "gelu_extra"},
    {"sed 's/large/lar\\xff\\xff/' m/best.safetensors > bad", "bad: "},
    {"sed 's/activation\\\\\":\\\\\"gelu_exact\\\\\"/activation\\\\\":null          /' m/best.safetensors > bad", "\"activation\" is missing"},
    {"sed 's/outputs\\(..\\):2/outputs\\1:3/' m/best.safetensors > bad", "outputs"},
};

START_TEST(malformed_model_files_are_refused_in_a_line)
{
    expect_fine(run("train", "--data csv:train.csv --hidden 4 --epochs 1 --no-plots --out m"));
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        run("true", "; %s", damages[i][0]);
        expect_refused(run("predict", "--model bad --data csv:train.csv"), damages[i][1]);
        ck_assert_ptr_eq(strstr(output, "predict: "), output);
    }
    write_table("unknown.csv", "a,b,colour\n1,2,violet\n", "a,b,c\n", 3);
    expect_refused(run("predict", "--model m/best.safetensors --data csv:unknown.csv"),
                   "unknown.csv:2, column 'colour': a category that the model does not know");
    write_table("missing.csv", "a,colour\n", "a,c\n", 3);
    expect_refused(run("predict", "--model m/best.safetensors --data csv:missing.csv"), "there is no column 'b'");
    expect_refused(run("predict", "--model m/best.safetensors --data idx:images"), "the model takes rows");
    expect_refused(run("predict", "--model m/best.safetensors --data csv:train.csv --prompt x"), "are for texts");
}
END_TEST

START_TEST(the_profile_names_operations_and_layers)
{
    expect_fine(run("train", "--data csv:train.csv --hidden 16x2 --epochs 3 --no-plots --profile --out \"it's new\""));
    static const char *const parts[] = {"\nlinear ",   "\ngelu_exact ",     "\nlayers.0 ",
                                        "\nlayers.2 ", "\nall operations ", "\noptimiser, batches, the tape "};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ck_assert_msg(strstr(output, parts[i]), "no %s in %s", parts[i], output);
    ck_assert_msg(strstr(output, "to use it: predict --model 'it'\\''s new/best.safetensors' --data csv:FILE\n"), "%s", output);
}
END_TEST

Suite *train_suite(void)
{
    Suite *suite = suite_create("train");
    TCase *tests = tcase_create("train");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, start, temporary_folder_remove);
    tcase_add_loop_test(tests, interrupted_and_resumed_is_never_interrupted, 0, sizeof kinds / sizeof kinds[0]);
    tcase_add_test(tests, killed_at_any_moment_leaves_files_that_can_be_read);
    tcase_add_test(tests, what_a_killed_run_left_is_removed);
    tcase_add_test(tests, a_full_disk_is_a_line_and_keeps_the_old_files);
    tcase_add_test(tests, predictions_follow_names_of_columns_and_name_classes);
    tcase_add_test(tests, columns_of_one_name_are_told_apart_by_their_places);
    tcase_add_test(tests, with_ema_the_averages_are_kept_and_measured);
    tcase_add_test(tests, a_run_begins_with_the_weights_of_another);
    tcase_add_test(tests, weights_of_other_data_are_refused_in_a_line);
    tcase_add_test(tests, features_say_what_they_come_from);
    tcase_add_test(tests, regressions_are_in_the_targets_unit);
    tcase_add_test(tests, what_a_terminal_would_obey_is_not_printed);
    tcase_add_test(tests, the_last_line_of_progress_is_of_the_last_validation);
    tcase_add_test(tests, images_are_told_apart_and_drawn_again);
    tcase_add_test(tests, texts_are_written_with_temperature_and_top_k);
    tcase_add_test(tests, wrong_options_are_told_in_a_line);
    tcase_add_test(tests, what_a_kept_run_cannot_have_said_is_refused);
    tcase_add_test(tests, batch_norm_does_without_a_row_that_is_left_alone);
    tcase_add_test(tests, a_run_that_fails_says_why_once);
    tcase_add_test(tests, malformed_model_files_are_refused_in_a_line);
    tcase_add_test(tests, the_profile_names_operations_and_layers);
    suite_add_tcase(suite, tests);
    return suite;
}
