/* The record of a run: the saved weights are measured, once, and everything that is shown is read from there; no
 * result is lost when a program is killed. */
#include "examples/programs/run/record.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tapegrad.h>
#include <time.h>
#include <unistd.h>

Suite *record_suite(void);

/* ---- readers of the record ---- */

/* A number of FOLDER/result.json, below "best_epoch" or "test/loss". */
static double result(const char *folder, const char *name)
{
    char file[200];
    snprintf(file, sizeof file, "%s/result.json", folder);
    json_t *all = json_load_file(temporary_path(file), 0, NULL), *at = all;
    ck_assert_msg(all != NULL, "no %s", file);
    for (const char *word = name; at && *word; word += strcspn(word, "/"), word += *word == '/') {
        char key[40];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(word, "/"), word);
        at = json_object_get(at, key);
    }
    const double number = json_is_number(at) ? json_number_value(at) : NAN;
    json_decref(all);
    return number;
}

/* The columns and the cells of a CSV file without quotes. */
enum { ROWS = 2000, COLUMNS = 24 };
typedef struct csv {
    char *text, *cell[ROWS][COLUMNS];
    int rows, columns; /* the first row has the names */
} csv;

static void csv_open(csv *c, const char *file)
{
    *c = (csv){.text = strdup(temporary_text(file))};
    char *rest = c->text;
    for (char *line; (line = strsep(&rest, "\n")) && *line && c->rows < ROWS; c->rows++)
        for (c->columns = 0; line && c->columns < COLUMNS; c->columns++)
            c->cell[c->rows][c->columns] = strsep(&line, ",");
}

static int column(const csv *c, const char *name)
{
    int i = 0;
    while (i < c->columns && strcmp(c->cell[0][i], name) != 0)
        i++;
    ck_assert_msg(i < c->columns, "no column %s", name);
    return i;
}

static double number(const csv *c, int row, const char *name)
{
    return strtod(c->cell[row][column(c, name)], NULL);
}

/* The epoch of curves.csv with the best value of a column, the first of equal ones. */
static int best_of(const char *folder, const char *name, bool more_is_better)
{
    char file[200];
    static csv c;
    int best = 1;
    snprintf(file, sizeof file, "%s/curves.csv", folder);
    csv_open(&c, file);
    for (int row = 2; row < c.rows; row++) {
        const double now = number(&c, row, name), before = number(&c, best, name);
        best = more_is_better ? now > before ? row : best : now < before ? row : best;
    }
    free(c.text);
    return best;
}

/* ---- the best epoch ---- */

#define MOONS "--data moons --noise 0.6 --rows 300 --epochs 8 --no-plots "

/* Of all measures, the validation measure by which the trainer chooses decides what is shown. */
START_TEST(measures_are_those_of_the_epoch_with_the_best_accuracy)
{
    expect_fine(train_run("compare", MOONS "--activations relu,silu --seeds 3 --best accuracy --out c"));
    ck_assert_msg(!strstr(train_output, "nan") && !strstr(train_output, "diverged"), "%s", train_output);
    static csv runs;
    csv_open(&runs, "c/runs.csv");
    ck_assert_int_eq(runs.rows, 7);
    double mean = 0;
    for (int row = 1; row < runs.rows; row++) {
        char folder[60];
        snprintf(folder, sizeof folder, "c/runs/%s-seed%s", runs.cell[row][0], runs.cell[row][1]);
        ck_assert_int_eq((int)number(&runs, row, "best_epoch"), best_of(folder, "val_accuracy", true));
        ck_assert(number(&runs, row, "test_loss") == result(folder, "test/loss"));
        mean += strcmp(runs.cell[row][0], "silu") == 0 ? result(folder, "test/accuracy") / 3 : 0;
    }
    ck_assert_double_eq_tol(csv_cell("c/summary.csv", "silu", "test_accuracy_mean"), mean, 1e-8);
    free(runs.text);
    int others = 0; /* runs whose lowest loss is of another epoch: without one this would show nothing */
    for (int seed = 1; seed <= 5; seed++) {
        expect_fine(train_run("train", MOONS "--best accuracy --lr 0.03 --seed %d --overwrite --out t", seed));
        ck_assert_int_eq((int)result("t", "best_epoch"), best_of("t", "val_accuracy", true));
        others += best_of("t", "val_accuracy", true) != best_of("t", "val_loss", false);
    }
    ck_assert_int_gt(others, 0);
}
END_TEST

/* ---- the saved weights ---- */

static const char *const trained[] = {
    "--data csv:train.csv --hidden 8 --epochs 4",
    "--data csv:train.csv --hidden 8 --epochs 4 --batch 7 --ema 0.9",
    "--data csv:train.csv --hidden 16x3 --epochs 30 --lr 0.05 --best accuracy --label-smoothing 0.2",
    "--data csv:price.csv --hidden 8 --epochs 4 --ema 0.99 --dropout 0.2",
    "--data csv:price.csv --hidden 8 --epochs 40 --lr 0.05 --patience 3 --activation swiglu",
    "--data csv:money.csv --hidden 8 --lr 0.01 --dropout 0",
};

/* A price that depends on the logarithm of an income: inputs with long tails are softened. */
static void write_money(void)
{
    FILE *file = fopen(temporary_path("money.csv"), "w");
    tg_rng rng = tg_rng_seed(4);
    fputs("income,age,price\n", file);
    for (int row = 0; row < 150; row++) {
        const double size = tg_rng_normal(&rng), age = 20 + 40 * tg_rng_uniform(&rng);
        fprintf(file, "%.9g,%.9g,%.9g\n", exp(9 + 1.5 * size), age, size + age / 50);
    }
    fclose(file);
}

/* The options that a rule chose, and those that were given, make the same run again. */
START_TEST(a_configuration_repeats_its_run)
{
    static const char *const files[] = {"best.safetensors", "refit.safetensors", "result.json", "curves.csv"};
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --class-weights balanced --weights a --epochs 9 "
                                   "--no-plots --out m"));
    expect_fine(train_run("train", "--config m/config.json --out again"));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        expect_fine(train_run("cmp", "m/%s again/%s", files[i], files[i]));
    expect_fine(train_run("train", "--config m/config.json --seed 2 --out other"));
    ck_assert(result("other", "test/loss") != result("m", "test/loss"));
}
END_TEST

/* A step is the same in one pass, in several and in shards, also where rows weigh differently: pairs by the characters
 * of their targets. */
START_TEST(the_parts_of_a_step_do_not_matter)
{
    static const char *const steps[] = {"--batch 24", "--batch 8 --accumulate 3", "--batch 4 --accumulate 6",
                                        "--batch 24 --shards 3"};
    static const char *const uneven[] = {
        "pairs:uneven --layers 1 --heads 2 --width 8 --epochs 1 --label-smoothing 0.1",
        "csv:train.csv --hidden 8 --epochs 2 --refit no --dropout 0 --weights a --class-weights balanced"};
    FILE *file = fopen(temporary_path("uneven"), "w");
    for (int i = 0; i < 300; i++)
        fprintf(file, "%d\t%.*s\n", i, i % 5 ? 1 : 14, &"abcdefghijklmn"[i % 3]);
    fclose(file);
    double loss[4];
    for (int i = 0; i < 4; i++) {
        expect_fine(train_run("train", "--data %s --lr 0.01 %s --overwrite --no-plots --out t", uneven[_i], steps[i]));
        loss[i] = result("t", "test/loss");
        ck_assert_double_eq_tol(loss[i], loss[0], 2e-5 * loss[0]);
    }
}
END_TEST

/* --overwrite and --config are for one call: what began with them is resumed, and does not overwrite another folder. */
START_TEST(options_of_one_call_are_not_passed_on)
{
    expect_fine(train_run("train", "--data moons --epochs 1 --no-plots --out other"));
    expect_fine(train_run("train", "--data moons --epochs 2 --no-plots --overwrite --out m"));
    expect_fine(train_run("train", "--resume --epochs 3 --patience 0 --out m"));
    expect_refused(train_run("train", "--config m/config.json --out other"), "other has results");
    expect_fine(train_run("train", "--config m/config.json --out again"));
    expect_fine(train_run("train", "--resume --epochs 4 --out again"));
    expect_fine(
        train_run("sed", "-i 's/\"overwrite\": false/\"overwrite\": true/' m/config.json")); /* of an older one */
    expect_refused(train_run("train", "--config m/config.json --out other"), "other has results");
    expect_fine(train_run("train", "--resume --epochs 4 --out m"));
}
END_TEST

/* A run is stopped between two entries of steps.csv, continued and killed before its next state: the state that it
 * continues from is still the first one, and so are the losses of an entry that was begun. */
START_TEST(losses_that_are_pending_survive_a_kill)
{
    tg_error error;
    record_files files;
    ck_assert(record_continue(&files, temporary_folder(), 0, false, &error));
    files.pending.sum = 1.5;
    files.pending.count = 1;
    ck_assert(record_put_loss(&files, 2, 0.5) && record_put_pending(&files, 3));
    record_close(&files);
    for (int killed = 0; killed < 3; killed++) {
        ck_assert(record_continue(&files, temporary_folder(), 3, false, &error));
        ck_assert(files.pending.sum == 1.5 && files.pending.count == 1);
        ck_assert(record_put_loss(&files, 4, 9));
        record_close(&files);
    }
    ck_assert(record_continue(&files, temporary_folder(), 4, false, &error));
    ck_assert_int_eq(files.pending.count, 0);
    record_close(&files);
}
END_TEST

/* 1,012 steps, and an entry for every three of them: the last has one. */
START_TEST(the_losses_of_a_finished_run_are_a_table_which_the_same_command_leaves)
{
    static const char options[] = "--data circles --rows 610 --hidden 4 --batch 4 --epochs 11 --no-plots --out m";
    expect_fine(train_run("train", "%s", options));
    const char *losses = temporary_text("m/steps.csv");
    ck_assert_ptr_null(strchr(losses, '#'));
    ck_assert_ptr_nonnull(strstr(losses, "\n1011,"));
    ck_assert_ptr_nonnull(strstr(losses, "\n1012,"));
    ck_assert(!temporary_exists("m/pending.csv"));
    expect_fine(train_run("sh", "-c 'sleep 0.01; touch now; train %s && test ! m/steps.csv -nt now'", options));
    expect_fine(train_run("train", "--resume --epochs 12 --out m"));
    ck_assert(!temporary_exists("m/pending.csv"));
}
END_TEST

/* A record has fifteen digits of a number, and so have the settings: 0.003 times lion's tenth, and 20 digits. It has
 * the narrower widths of a gated net, which are not to be narrowed again. */
START_TEST(settings_are_those_of_the_record)
{
    static const char *const runs[] = {
        "--data text:text --layers 1 --heads 1 --width 4 --context 8 --epochs 1 --optimizer lion",
        "--data moons --epochs 2 --lr 0.012345678901234567891",
        "--data lines:text --model charmlp --epochs 2 --hidden 30 --activation swiglu --gated parameters"};
    expect_fine(train_run("train", "%s --no-plots --out m", runs[_i]));
    expect_fine(train_run("train", "%s --no-plots --out m", runs[_i]));
    expect_fine(train_run("train", "--config m/config.json --out again"));
    expect_fine(train_run("cmp", "m/last.safetensors again/last.safetensors"));
    expect_fine(train_run("train", "--resume --epochs 3 --patience 0 --out m"));
}
END_TEST

/* With --round float16 a step may be left out, which the optimiser does not count but the record does. */
START_TEST(a_step_that_is_left_out_is_recorded)
{
    static const char options[] =
        "--data csv:price.csv --hidden 8 --lr 1 --clip 0 --epochs 6 --patience 0 --refit no --init-scale 30 "
        "--round float16 --no-plots";
    expect_fine(train_run("train", "%s --out m", options));
    expect_fine(train_run("cp", "-r m copy"));
    expect_fine(train_run("train", "%s --out m", options));
    expect_fine(train_run("train", "--resume --out m"));
    expect_fine(train_run("cmp", "m/curves.csv copy/curves.csv"));
    expect_fine(train_run("cmp", "m/steps.csv copy/steps.csv"));
}
END_TEST

/* Scales are those of the training rows, so other rows cannot continue a run. */
START_TEST(a_run_is_not_resumed_with_other_data)
{
    write_table("n.csv", "a,b,colour,size\n", "b,a,c,k\n", 90);
    expect_fine(train_run("train", "--data csv:n.csv --hidden 4 --epochs 2 --no-plots --out m"));
    expect_fine(train_run("train", "--resume --epochs 3 --out m"));
    expect_refused(train_run("train", "--resume --epochs 4 --data csv:train.csv --out m"),
                   "the run in m has other data");
    expect_fine(train_run("sed", "-i '2s/^[^,]*/0.5/' n.csv"));
    expect_refused(train_run("train", "--resume --epochs 4 --out m"), "has other data, or the file has changed");
    expect_refused(train_run("train", "--data csv:n.csv --hidden 4 --epochs 3 --no-plots --out m"),
                   "has results of other data");
    expect_fine(train_run("train", "--data csv:n.csv --start m/best.safetensors --epochs 2 --no-plots --out n"));
}
END_TEST

/* Whatever is validated, chosen and saved is what predict computes from the files, to the last digit. Validation rows
 * are measured before a refit trains on them too, by the weights of the best epoch. */
START_TEST(predict_gives_the_recorded_numbers)
{
    char data[60];
    snprintf(data, sizeof data, "%.*s", (int)strcspn(strchr(trained[_i], ' ') + 1, " "), strchr(trained[_i], ' ') + 1);
    const bool classes = strstr(data, "train.csv"), money = strstr(data, "money.csv");
    write_money();
    expect_fine(train_run("train", "%s --keep-predictions --no-plots --out m", trained[_i]));
    ck_assert(money == !!strstr(train_output, "\nsoftened: 1 input with long tails\n"));
    ck_assert_int_eq(money, result("m", "softened") == 1);
    for (int best = 0; best < 2; best++)
        expect_fine(train_run("predict", "--model m%s --data %s %s 2>/dev/null >p%d.csv",
                              best ? "/best.safetensors" : "", data, classes ? "--probabilities" : "", best));
    static csv kept, rows, predicted, chosen;
    csv_open(&kept, "m/predictions.csv");
    csv_open(&rows, "m/rows.csv");
    csv_open(&predicted, "p0.csv");
    csv_open(&chosen, "p1.csv");
    const int shift = kept.columns - predicted.columns, split = column(&kept, "split");
    ck_assert_int_eq(kept.rows, predicted.rows);
    double sums[3] = {0}, right = 0;
    int counts[3] = {0};
    for (int row = 1; row < kept.rows; row++) {
        const int in = strcmp(kept.cell[row][split], "train") == 0  ? 0
                       : strcmp(kept.cell[row][split], "test") == 0 ? 2
                                                                    : 1;
        for (int i = 0; i < predicted.columns; i++)
            ck_assert_str_eq(kept.cell[row][shift + i],
                             (in == 1 ? &chosen : &predicted)->cell[1 + atoi(kept.cell[row][0])][i]);
        sums[in] += number(&kept, row, "loss");
        counts[in]++;
        if (in < 2)
            continue;
        ck_assert_str_eq(rows.cell[counts[2]][0], kept.cell[row][0]);
        ck_assert_str_eq(rows.cell[counts[2]][1], kept.cell[row][column(&kept, "loss")]);
        right +=
            classes && strcmp(kept.cell[row][column(&kept, "class")], kept.cell[row][column(&kept, "true_class")]) == 0;
    }
    ck_assert_int_eq(rows.rows - 1, counts[2]);
    ck_assert(sums[0] / counts[0] == result("m", "train/loss"));
    ck_assert(sums[1] / counts[1] == result("m", "validation/loss"));
    ck_assert(sums[2] / counts[2] == result("m", "test/loss"));
    ck_assert(!classes || right / counts[2] == result("m", "test/accuracy"));
    free(kept.text);
    free(rows.text);
    free(predicted.text);
    free(chosen.text);
    /* the validation loss is the one by which the epoch was chosen */
    csv_open(&kept, "m/curves.csv");
    ck_assert(number(&kept, (int)result("m", "best_epoch"), "val_loss") == result("m", "validation/loss"));
    free(kept.text);
}
END_TEST

START_TEST(softening_can_be_chosen)
{
    write_money();
    for (int yes = 0; yes < 2; yes++) {
        expect_fine(train_run("train", "--data csv:money.csv --hidden 8 --soften %s --no-plots --out m%d",
                              yes ? "yes" : "no", yes));
        ck_assert(yes == !!strstr(train_output, "softened: 1 input"));
    }
    expect_refused(train_run("train", "--data csv:money.csv --refit no --soften yes"), "--soften is for --refit");
    expect_refused(train_run("train", "--data glyphs --refit yes --soften yes"), "--soften is for csv: only");
}
END_TEST

/* ---- the same bytes ---- */

static const char *const files[] = {"summary.csv", "runs.csv", "curves.csv",      "step_bands.csv",
                                    "result.json", "rows.csv", "best.safetensors"};

static void assert_same_folders(const char *a, const char *b)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        ck_assert_msg(train_run("cmp", "%s/%s %s/%s", a, files[i], b, files[i]) == 0, "%s: %s", files[i], train_output);
}

START_TEST(the_same_command_again_leaves_the_same_bytes)
{
    const char *data = _i ? "sine" : "moons";
    expect_fine(train_run("train", "--data %s --epochs 4 --no-plots --out m", data));
    expect_fine(train_run("cp", "-r m first"));
    expect_fine(train_run("train", "--data %s --epochs 4 --no-plots --out m", data));
    assert_same_folders("first", "m");
    ck_assert_int_gt((int)(100 * csv_cell("m/summary.csv", "gelu_exact", _i ? "test_r2_mean" : "test_accuracy_mean")),
                     50);
}
END_TEST

/* The best epoch comes before the kill. */
START_TEST(a_killed_run_that_continues_leaves_the_same_bytes)
{
    static const char *const options =
        "--data moons --rows 3000 --epochs 12 --lr 0.05 --optimizer adagrad --no-plots --threads 1";
    expect_fine(train_run("train", "%s --out whole", options));
    for (int try = 0; try < (getenv("TG_LONG") ? 3 : 1); try++) {
        expect_fine(train_run("rm", "-rf part"));
        const pid_t child = train_start("train", "%s --out part >log 2>&1", options);
        int lines = 0, status;
        while (lines < 9 && waitpid(child, &status, WNOHANG) == 0) {
            lines = 0;
            const char *at = temporary_exists("part/curves.csv") ? temporary_text("part/curves.csv") : "";
            for (; (at = strchr(at, '\n')); at++)
                lines++;
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        expect_fine(train_run("train", "%s --out part", options));
        assert_same_folders("whole", "part");
    }
}
END_TEST

/* The columns are those of the data, also where no run has a number: all diverge, or no test row has the other
 * class. */
START_TEST(columns_of_results_do_not_depend_on_values)
{
    static const char *const data[] = {"moons", "sine"}, rare[] = "x,class\n";
    char *const table = malloc(4000), *to = table + sprintf(table, "%s", rare);
    for (int i = 0; i < 100; i++)
        to += sprintf(to, "%d,%s\n", i * i % 17, i < 98 ? "a" : "b");
    temporary_write("rare.csv", table, (size_t)(to - table));
    free(table);
    for (int i = 0; i < 2; i++) {
        expect_fine(train_run(
            "compare", "--data %s --rows 60 --epochs 2 --activations relu --seeds 2 --no-plots --out a%d", data[i], i));
        expect_fine(train_run("compare",
                              "--data %s --rows 60 --epochs 2 --activations relu --seeds 2 --no-plots --lr 1000 "
                              "--optimizer sgd --norm none --clip 0 --schedule constant --out b%d",
                              data[i], i));
    }
    expect_fine(train_run("compare", "--data csv:rare.csv --epochs 2 --activations relu --seeds 1 --validation 0.1 "
                                     "--test 0.01 --no-plots --out c"));
    expect_fine(train_run("train", "--data csv:rare.csv --epochs 2 --validation 0.1 --test 0.01 --no-plots --out d"));
    expect_fine(train_run("sh",
                          "-c 'for i in 0 1; do head -qn 1 a$i/runs.csv b$i/runs.csv; done | uniq | wc -l | grep "
                          "-qx 2 && head -qn 1 a0/runs.csv c/runs.csv d/runs.csv | sed s/init-scale,lr,// | uniq | "
                          "wc -l | grep -qx 1'"));
    expect_fine(train_run("sh",
                          "-c 'grep -q ,diverged, b1/runs.csv && head -qn 1 a1/summary.csv b1/summary.csv | uniq | "
                          "wc -l | grep -qx 1 && head -qn 1 a0/summary.csv b0/summary.csv c/summary.csv | uniq | wc -l "
                          "| grep -qx 1'"));
}
END_TEST

/* What is written for people is never read back. */
START_TEST(files_for_people_are_not_read)
{
    expect_fine(train_run("compare", MOONS "--activations relu,silu --seeds 2 --out c"));
    char *summary = strdup(temporary_text("c/summary.csv")), *runs = strdup(temporary_text("c/runs.csv"));
    static const char *const written[] = {"c/summary.csv", "c/runs.csv", "c/curves.csv", "c/bands.csv"};
    for (int i = 0; i < 4; i++)
        temporary_write(written[i], "no,such,thing\n1,2,3\n", 20);
    expect_fine(train_run("compare", MOONS "--activations relu,silu --seeds 2 --out c"));
    ck_assert_str_eq(temporary_text("c/summary.csv"), summary);
    ck_assert_str_eq(temporary_text("c/runs.csv"), runs);
    free(summary);
    free(runs);
}
END_TEST

/* Runs whose rates differ in the seventh digit have folders and lines of their own. */
START_TEST(runs_of_close_values_are_told_apart)
{
    expect_fine(train_run("compare", MOONS "--epochs 1 --lr 0.0012345671,0.0012345672 --activations relu --seeds 1 "
                                           "--out c"));
    ck_assert(temporary_exists("c/runs/relu-lr0.0012345671-seed1/result.json"));
    ck_assert_ptr_nonnull(strstr(temporary_text("c/runs.csv"), "\nrelu,0.0012345671,1,0,finished,"));
    ck_assert_ptr_nonnull(strstr(temporary_text("c/runs.csv"), "\nrelu,0.0012345672,1,0,finished,"));
}
END_TEST

/* A net that overfits: its last validation loss, the lowest of the mean curve and the mean of the best epochs are three
 * numbers, of which table, pictures and files show the last. */
START_TEST(a_validation_loss_is_the_same_in_table_pictures_and_files)
{
    if (train_run("gnuplot", "--version") != 0)
        return;
    expect_fine(train_run("compare", "--data moons --noise 0.9 --rows 120 --epochs 40 --lr 0.03 --hidden 64x2 "
                                     "--activations relu,silu --seeds 3 --out c"));
    const double best = csv_cell("c/summary.csv", "relu", "best_val_loss_mean");
    double mean = 0;
    char shown[40];
    for (int seed = 1; seed <= 3; seed++) {
        char folder[60];
        snprintf(folder, sizeof folder, "c/runs/relu-seed%d", seed);
        mean += result(folder, "validation/loss") / 3;
    }
    ck_assert_double_eq_tol(best, mean, 1e-8);
    snprintf(shown, sizeof shown, "relu  %#.3g", best);
    ck_assert_ptr_nonnull(strstr(temporary_text("c/loss.svg"), shown));
    ck_assert_ptr_nonnull(strstr(temporary_text("c/steps.svg"), shown));
    snprintf(shown, sizeof shown, "relu %#.3g", best); /* of the curves in letters */
    ck_assert_msg(strstr(train_output, shown) != NULL, "%s is not in\n%s", shown, train_output);
}
END_TEST

/* A finished run has no measures of the epochs that are to follow. */
START_TEST(more_epochs_are_measured_anew)
{
    expect_fine(train_run("train", "--data sine --rows 200 --hidden 8 --lr 0.003 --epochs 3 --no-plots --out m"));
    const double before = result("m", "test/loss");
    expect_fine(train_run("train", "--resume --epochs 9 --no-plots --out m"));
    ck_assert_int_eq((int)result("m", "epochs"), 9);
    ck_assert_msg(result("m", "test/loss") < before, "%g and %g", result("m", "test/loss"), before);
    ck_assert_int_eq((int)result("m", "best_epoch"), best_of("m", "val_loss", false));
}
END_TEST

/* ---- rows ---- */

/* Rows are named by their index in the file, also where others were dropped. */
START_TEST(rows_have_their_index_in_the_file)
{
    char text[4000] = "x,y\n", *to = text + strlen(text);
    for (int row = 0; row < 100; row++)
        to += row % 3 == 1 ? sprintf(to, ",%d.5\n", row) : sprintf(to, "%d,%d.5\n", row % 7, row);
    temporary_write("holes.csv", text, strlen(text));
    expect_fine(train_run("train", "--data csv:holes.csv --missing drop --hidden 4 --epochs 2 --keep-predictions "
                                   "--no-plots --out m"));
    static csv kept;
    csv_open(&kept, "m/predictions.csv");
    ck_assert_int_eq(kept.rows, 1 + 67);
    for (int row = 1; row < kept.rows; row++)
        ck_assert(number(&kept, row, "true_y") == number(&kept, row, "row") + 0.5 &&
                  (int)number(&kept, row, "row") % 3 != 1);
    free(kept.text);
    expect_fine(train_run("compare", "--data csv:holes.csv --missing drop --hidden 4 --epochs 2 --keep-predictions "
                                     "--activations relu,silu --seeds 1 --lr 0.01,0.1 --no-plots --out c"));
    ck_assert(temporary_exists("c/runs/silu-lr0.1-seed1/predictions.csv"));
    ck_assert_ptr_nonnull(
        strstr(temporary_text("c/runs.csv"), "activation,lr,seed,fold,state,parameters,epochs,best_"));
    ck_assert_ptr_nonnull(strstr(temporary_text("c/runs.csv"), "\nsilu,0.1,1,0,finished,"));
    expect_refused(train_run("train", "--data text:text --keep-predictions --out t"),
                   "--keep-predictions is for rows, and a text has none");
}
END_TEST

/* An autoencoder has as many outputs as inputs, and an image net has rows in the order of its files. */
START_TEST(images_are_predicted_as_recorded)
{
    static const char *const models[] = {"autoencoder", "convnet"};
    setenv("TG_PRODUCTS", "own", 1); /* OpenBLAS sums one row in a different order than many */
    expect_fine(train_run("train", "--data idx:images --model %s --epochs 2 --keep-predictions --no-plots --out m",
                          models[_i]));
    expect_fine(train_run("predict", "--model m --data idx:images %s 2>/dev/null >p.csv", _i ? "--probabilities" : ""));
    static csv kept, predicted;
    csv_open(&kept, "m/predictions.csv");
    csv_open(&predicted, "p.csv");
    const int shift = kept.columns - predicted.columns, split = column(&kept, "split");
    double sum = 0;
    int tests = 0;
    for (int row = 1; row < kept.rows; row++) {
        if (strcmp(kept.cell[row][split], "test") != 0)
            continue;
        tests++;
        for (int i = 0; i < predicted.columns; i++)
            ck_assert_str_eq(kept.cell[row][shift + i], predicted.cell[tests][i]);
        sum += number(&kept, row, "loss");
    }
    ck_assert_int_eq(tests, predicted.rows - 1);
    ck_assert(sum / tests == result("m", "test/loss"));
    free(kept.text);
    free(predicted.text);
}
END_TEST

/* ---- nothing lost ---- */

#define SMALL "--data csv:train.csv --hidden 4 --epochs 2 --no-plots "

#define LONGER "--data idx:images --hidden 32x2 --dropout 0.1 --epochs 16 --batch 8 --no-plots "
static const struct {
    const char *program, *options;
    const char *files[4];
} killed[] = {
    {"train", LONGER "--model mlp --threads 1", {"curves.csv", "best.safetensors", "last.safetensors"}},
    {"compare",
     LONGER "--activations relu,stochastic_gelu --seeds 2 --jobs 2 --report",
     {"curves.csv", "confusion.csv", "step_bands.csv"}},
    {"study",
     "gelu-mnist --quick --only '*0.001-seed1' --jobs 2 --no-plots",
     {"gelu-mnist-quick/runs.csv", "gelu-mnist-quick/report.md"}},
};

/* Starts the program and kills it after this many seconds; true if it ended before. */
static bool kill_after(const char *program, const char *options, const char *out, double seconds)
{
    const pid_t child = train_start(program, "%s --out %s >log 2>&1", options, out);
    nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status);
}

/* The same once a file in the temporary folder has this text, which is waited for, for a minute at most. */
static void kill_once(const char *program, const char *options, const char *out, const char *file, const char *text)
{
    const pid_t child = train_start(program, "%s --out %s >log 2>&1", options, out);
    for (int i = 0; i < 3000 && !(temporary_exists(file) && strstr(temporary_text(file), text)); i++)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* The text of a file without what differs between runs: times, and the folder's name. */
static char *text_of(const char *folder, const char *file)
{
    char path[200], command[1000];
    static char text[1 << 20];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(command, sizeof command,
             "cd '%s' && case %s in *curves.csv) sed 's/,[^,]*$//' %s ;; *.md) grep -v 'study gelu' %s ;; *) cat %s ;; "
             "esac | cksum",
             temporary_folder(), path, path, path, path);
    FILE *pipe = popen(command, "r");
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    pclose(pipe);
    return strdup(text);
}

START_TEST(a_run_that_is_killed_goes_on_to_the_same_bytes)
{
    const char *program = killed[_i].program, *options = killed[_i].options;
    const int kills = getenv("TG_LONG") ? 34 : 1;
    tg_rng rng = tg_rng_seed(7);
    expect_fine(train_run(program, "%s --out whole", options));
    for (int i = 0; i < kills; i++)
        kill_after(program, options, "killed", 0.05 + 0.5 * tg_rng_uniform(&rng));
    expect_fine(train_run(program, "%s --out killed", options));
    for (int i = 0; i < 4 && killed[_i].files[i]; i++) {
        char *whole = text_of("whole", killed[_i].files[i]), *again = text_of("killed", killed[_i].files[i]);
        ck_assert_msg(strcmp(whole, again) == 0 && strncmp(whole, "4294967295 0", 12) != 0, "%s: %s differs", program,
                      killed[_i].files[i]);
        free(whole);
        free(again);
    }
}
END_TEST

static const struct {
    const char *program, *options, *folder;
} reported[] = {
    {"compare", "--activations relu --seeds 2 --jobs 2", "o/runs/relu-seed1"},
    {"train", "--model mlp --threads 1", "o"},
};

START_TEST(a_report_grows_while_runs_go_on)
{
    const char *program = reported[_i].program, *options = reported[_i].options;
    char options_long[400], file[60];
    snprintf(options_long, sizeof options_long, LONGER "--epochs 200000 --report %s", options);
    kill_once(program, options_long, "o", "o/report.html", "<svg");
    const char *page = temporary_text("o/report.html");
    ck_assert_msg(strstr(page, "http-equiv=\"refresh\"") != NULL, "%s", temporary_text("log"));
    ck_assert_msg(strstr(page, "<svg") && strstr(page, "validation loss"), "%.900s", page);
    snprintf(file, sizeof file, "%s/curves.csv", reported[_i].folder);
    ck_assert(temporary_exists(file));
    expect_fine(train_run(program, LONGER "--epochs 5 --report --overwrite --out o %s", options));
    page = temporary_text("o/report.html");
    ck_assert(!strstr(page, "http-equiv=\"refresh\"") && strstr(page, "--epochs 5"));
}
END_TEST

START_TEST(steps_are_written_while_an_epoch_runs)
{
    kill_once("train",
              "--data circles --rows 40000 --test none --model mlp --hidden 512x3 --batch 4 --epochs 1 --no-plots", "o",
              "o/steps.csv", ".");
    ck_assert_msg(strchr(temporary_text("o/steps.csv"), '.') != NULL, "%s", temporary_text("log"));
    ck_assert_ptr_null(strstr(temporary_text("o/curves.csv"), "\n1,")); /* before the end of the first epoch */
}
END_TEST

START_TEST(a_finished_comparison_trains_nothing_again_and_may_have_more_seeds_and_activations)
{
    expect_fine(train_run("compare", SMALL "--lr 0.001 --activations silu --seeds 1 --out o"));
    expect_fine(train_run("compare", SMALL "--lr 0.001 --activations relu,silu --seeds 2 --out o"));
    ck_assert_msg(strstr(train_output, "1 of 4 runs "), "%s", train_output);
    expect_fine(train_run("compare", SMALL "--lr 0.001 --activations relu,silu --seeds 2 --out o"));
    ck_assert_msg(strstr(train_output, "4 of 4 runs are complete") && !strstr(train_output, ": done"), "%s",
                  train_output);
    expect_fine(train_run("compare", SMALL "--lr 0.001 --activations relu,silu --seeds 2 --out whole"));
    char *whole = text_of("whole", "curves.csv"), *grown = text_of("o", "curves.csv");
    ck_assert_str_eq(whole, grown);
    free(whole);
    free(grown);
}
END_TEST

/* In pictures, too, folds of a seed are no runs of their own: here the band is from one seed's mean to the other's. */
START_TEST(bands_are_of_seeds_not_of_their_folds)
{
    expect_fine(train_run("compare", SMALL "--lr 0.001 --activations relu --seeds 2 --folds 3 --out o"));
    double mean[2] = {0};
    for (int run = 0; run < 6; run++) {
        char file[80];
        snprintf(file, sizeof file, "o/runs/relu-seed%d-fold%d/steps.csv", 1 + run / 3, 1 + run % 3);
        mean[run / 3] += csv_cell(file, "1", "train_loss") / 3;
    }
    ck_assert_double_eq_tol(csv_cell("o/step_bands.csv", "relu,1", "train_loss_low"), fmin(mean[0], mean[1]), 1e-8);
    ck_assert_double_eq_tol(csv_cell("o/step_bands.csv", "relu,1", "train_loss_high"), fmax(mean[0], mean[1]), 1e-8);
}
END_TEST

/* Like a power failure, removes the end of appended data. */
START_TEST(a_finished_run_that_lost_epochs_is_trained_again)
{
    static const char *const file = "o/runs/relu-seed1/curves.csv";
    expect_fine(train_run("compare", SMALL "--lr 0.001 --activations relu,silu --seeds 1 --out o"));
    char *whole = text_of("o", "curves.csv"), *lines = strdup(temporary_text(file));
    temporary_write(file, lines, (size_t)(strchr(strchr(lines, '\n') + 1, '\n') + 1 - lines));
    expect_fine(train_run("compare", SMALL "--lr 0.001 --activations relu,silu --seeds 1 --out o"));
    ck_assert_msg(strstr(train_output, "1 of 2 runs are complete"), "%s", train_output);
    char *again = text_of("o", "curves.csv");
    ck_assert_str_eq(whole, again);
    free(whole);
    free(lines);
    free(again);
}
END_TEST

/* The intervals of a comparison allow for samples that seeds share only if all runs have their test rows. */
START_TEST(a_finished_run_that_lost_test_rows_is_trained_again)
{
    static const char *const file = "o/runs/relu-seed1/rows.csv", *const losses[] = {"rm %s", "truncate -s -3 %s"};
    static const char command[] = "--data csv:train.csv --hidden 4 --epochs 2 --lr 0.01 --activations relu,silu "
                                  "--seeds 2 --no-plots --out o";
    char shell[200];
    expect_fine(train_run("compare", command));
    expect_fine(train_run("cp", "-r o whole"));
    ck_assert_double_gt(result("o/runs/relu-seed1", "listed_rows"), 4);
    for (int i = 0; i < 2; i++) {
        snprintf(shell, sizeof shell, losses[i], file);
        expect_fine(train_run("sh", "-c '%s'", shell));
        expect_fine(train_run("compare", command));
        ck_assert_msg(strstr(train_output, "3 of 4 runs are complete; training the others"), "%s", train_output);
        expect_fine(train_run("cmp", "whole/pairs.csv o/pairs.csv"));
        expect_fine(train_run("cmp", "whole/runs/relu-seed1/rows.csv %s", file));
    }
}
END_TEST

/* Of an older version, whose results do not say how many rows there were. */
START_TEST(intervals_of_runs_without_rows_say_so)
{
    static const char command[] = "--data csv:train.csv --hidden 4 --epochs 2 --lr 0.01 --activations relu,silu "
                                  "--seeds 2 --no-plots --out o";
    expect_fine(train_run("compare", command));
    ck_assert_ptr_null(strstr(train_output, "have no rows.csv"));
    expect_fine(train_run("sh", "-c 'rm o/runs/relu-seed1/rows.csv && sed -i s/listed_rows/unknown/ "
                                "o/runs/relu-seed1/result.json'"));
    expect_fine(train_run("compare", command));
    ck_assert_msg(strstr(train_output, "1 of 4 runs have no rows.csv: intervals with them are by Student's t over the "
                                       "seeds and do not allow for samples that they share."),
                  "%s", train_output);
}
END_TEST

/* The share of a row in the loss of an activation over both seeds, weighted, from rows.csv. */
static double share_of_row(const char *activation, int index)
{
    double part = 0, all = 0;
    for (int seed = 1; seed <= 2; seed++) {
        static csv rows;
        char file[60];
        double weights = 0;
        snprintf(file, sizeof file, "o/runs/%s-seed%d/rows.csv", activation, seed);
        csv_open(&rows, file);
        for (int row = 1; row < rows.rows; row++)
            weights += number(&rows, row, "weight") / (rows.rows - 1);
        for (int row = 1; row < rows.rows; row++) {
            const double loss = number(&rows, row, "weight") * number(&rows, row, "loss") / weights;
            part += number(&rows, row, "row") == index ? loss : 0;
            all += loss;
        }
        free(rows.text);
    }
    return part / all;
}

/* Row 3 is far off, of little or of much weight. */
START_TEST(the_heaviest_row_has_its_share_of_the_weighted_loss)
{
    static const char *const weights[] = {"0.4", "7"}, *const activations[] = {"relu", "tanh"};
    char said[120];
    FILE *file = fopen(temporary_path("w.csv"), "w");
    fputs("a,w,y\n", file);
    for (int i = 0; i < 80; i++)
        fprintf(file, "%d,%s,%g\n", i * 37 % 80,
                i == 3  ? weights[_i]
                : i % 4 ? "1"
                        : "0.1",
                i == 3 ? 400. : i * 37 % 80 + i * 13 % 11);
    fclose(file);
    expect_fine(train_run("compare",
                          "--data w.csv --weights w --test first:24 --hidden 4 --epochs 2 --lr 0.01 --refit no "
                          "--activations relu,tanh --seeds 2 --no-plots --out o"));
    for (int i = 0; i < 2; i++) {
        snprintf(said, sizeof said, "Row 3 of the data (from 0, as in rows.csv) makes %.0f %% of the test loss of %s",
                 100 * share_of_row(activations[i], 3), activations[i]);
        ck_assert_msg(strstr(train_output, said) != NULL, "'%s' is not in %s", said, train_output);
    }
}
END_TEST

Suite *record_suite(void)
{
    Suite *suite = suite_create("record");
    TCase *tests = tcase_create("record");
    tcase_set_timeout(tests, getenv("TG_LONG") ? 1200 : 240);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_test(tests, a_configuration_repeats_its_run);
    tcase_add_test(tests, options_of_one_call_are_not_passed_on);
    tcase_add_test(tests, a_run_is_not_resumed_with_other_data);
    tcase_add_test(tests, the_losses_of_a_finished_run_are_a_table_which_the_same_command_leaves);
    tcase_add_test(tests, losses_that_are_pending_survive_a_kill);
    tcase_add_loop_test(tests, settings_are_those_of_the_record, 0, 3);
    tcase_add_test(tests, a_step_that_is_left_out_is_recorded);
    tcase_add_test(tests, measures_are_those_of_the_epoch_with_the_best_accuracy);
    tcase_add_loop_test(tests, predict_gives_the_recorded_numbers, 0, sizeof trained / sizeof *trained);
    tcase_add_loop_test(tests, the_parts_of_a_step_do_not_matter, 0, 2);
    tcase_add_test(tests, softening_can_be_chosen);
    tcase_add_loop_test(tests, the_same_command_again_leaves_the_same_bytes, 0, 2);
    tcase_add_test(tests, a_killed_run_that_continues_leaves_the_same_bytes);
    tcase_add_test(tests, files_for_people_are_not_read);
    tcase_add_test(tests, runs_of_close_values_are_told_apart);
    tcase_add_test(tests, a_validation_loss_is_the_same_in_table_pictures_and_files);
    tcase_add_test(tests, more_epochs_are_measured_anew);
    tcase_add_test(tests, rows_have_their_index_in_the_file);
    tcase_add_loop_test(tests, images_are_predicted_as_recorded, 0, 2);
    tcase_add_loop_test(tests, a_run_that_is_killed_goes_on_to_the_same_bytes, 0, sizeof killed / sizeof *killed);
    tcase_add_loop_test(tests, a_report_grows_while_runs_go_on, 0, 2);
    tcase_add_test(tests, steps_are_written_while_an_epoch_runs);
    tcase_add_test(tests, a_finished_run_that_lost_epochs_is_trained_again);
    tcase_add_test(tests, intervals_of_runs_without_rows_say_so);
    tcase_add_loop_test(tests, the_heaviest_row_has_its_share_of_the_weighted_loss, 0, 2);
    tcase_add_test(tests, a_finished_run_that_lost_test_rows_is_trained_again);
    tcase_add_test(tests, columns_of_results_do_not_depend_on_values);
    tcase_add_test(tests, bands_are_of_seeds_not_of_their_folds);
    tcase_add_test(tests, a_finished_comparison_trains_nothing_again_and_may_have_more_seeds_and_activations);
    suite_add_tcase(suite, tests);
    return suite;
}
