/* The score that predict prints if the data has the target, calibration, and categories that a model does not know. */
#include "examples/programs/run/tally.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *predict_suite(void);

/* The rest of the last line that begins with `start`, without its newline. */
static const char *rest_of(const char *start, char rest[200])
{
    const char *at = NULL, *constant = strstr(train_output, "constant prediction: ");
    for (const char *next = train_output; (next = strstr(next, start)) && (!constant || next < constant); next++)
        at = next;
    ck_assert_msg(at, "no '%s' in: %.900s", start, train_output);
    snprintf(rest, 200, "%.*s", (int)strcspn(at + strlen(start), "\n"), at + strlen(start));
    return rest;
}

/* The first 60 rows of train.csv and price.csv, which were the test rows in training. */
enum { TEST = 60 };
static const char *const tables[] = {"train", "price"};

START_TEST(the_score_is_that_of_the_test_rows)
{
    char trained[200], scored[200];
    expect_fine(train_run("train", "--data csv:%s.csv --test first:%d --hidden 8 --epochs 15 --no-plots --out m",
                          tables[_i], TEST));
    rest_of("test: ", trained);
    expect_fine(train_run("sh", "-c 'head -n %d %s.csv > rows.csv'", TEST + 1, tables[_i]));
    expect_fine(train_run("predict", "--model m --data csv:rows.csv > p"));
    ck_assert_str_eq(rest_of("60 samples: ", scored), trained);
    /* a file without the column has no score, whatever the order of the others */
    write_table("bare.csv", "colour,b,a\n", "c,b,a\n", TEST);
    expect_fine(train_run("predict", "--model m --data csv:bare.csv > q"));
    ck_assert_str_eq(train_output, "");
}
END_TEST

START_TEST(the_score_is_what_the_predictions_come_to)
{
    char rest[200];
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 6 --no-plots --out m"));
    expect_fine(train_run("predict", "--model m --data csv:train.csv > p"));
    rest_of(", accuracy ", rest);
    train_run("sh", "-c 'tail -n +2 p | cut -d, -f1 > a; tail -n +2 train.csv | sed s/.*,// > b; paste a b | "
                    "awk \"\\$1==\\$2\" | wc -l'");
    ck_assert_double_eq_tol(atof(rest), atof(train_output) / 3, 0.006);
    expect_fine(train_run("train", "--data csv:price.csv --hidden 8 --epochs 6 --no-plots --out r"));
    expect_fine(train_run("predict", "--model r --data csv:price.csv > p"));
    rest_of("root mean squared error ", rest);
    train_run("sh", "-c 'tail -n +2 p > a; tail -n +2 price.csv | sed s/.*,// > b; paste a b | "
                    "awk \"{s+=(\\$1-\\$2)^2} END {print sqrt(s/NR)}\"'");
    ck_assert_double_eq_tol(atof(rest), atof(train_output), 1e-3 * atof(train_output));
}
END_TEST

START_TEST(answers_that_are_missing_or_unknown_are_left_out_of_the_score)
{
    expect_fine(train_run("train", "--data csv:train.csv --hidden 8 --epochs 2 --no-plots --out m"));
    const char rows[] = "a,b,colour,size\n1000,0.01,red,small\n1010,0.02,green,\n990,0.01,red,huge\n980,0,red,large\n";
    temporary_write("new.csv", rows, strlen(rows));
    expect_fine(train_run("predict", "--model m --data csv:new.csv"));
    ck_assert_ptr_nonnull(strstr(train_output, "\n2 samples: loss "));
    ck_assert_msg(strstr(train_output, "warning: 1 answer left out of the score; the first: new.csv:4, column 'size': "
                                       "'huge' is a class that the model does not know"),
                  "%s", train_output);
}
END_TEST

START_TEST(images_with_labels_have_a_score)
{
    char trained[200], scored[200];
    expect_fine(train_run("train", "--data idx:images --model mlp --hidden 16 --epochs 2 --no-plots --out m"));
    rest_of("test: ", trained);
    expect_fine(train_run("predict", "--model m --data idx:images > p"));
    ck_assert_str_eq(rest_of("50 samples: ", scored), trained);
    expect_fine(train_run("train", "--data idx:images --model autoencoder --hidden 16 --code 4 --epochs 1 --no-plots "
                                   "--out e"));
    ck_assert_ptr_nonnull(strstr(train_output, ", 64 features; reconstruction of these\n"));
    rest_of("test: ", trained);
    expect_fine(train_run("predict", "--model e --data idx:images > p"));
    ck_assert_str_eq(rest_of("50 samples: ", scored), trained);
}
END_TEST

/* A model of synthetic digits, whose pixels are already between 0 and 1. */
START_TEST(images_of_a_file_and_of_its_folder_are_predicted_alike)
{
    enum { IMAGES = 5, SIDE = 28 };
    unsigned char images[16 + IMAGES * SIDE * SIDE] = {[2] = 8, 3, [7] = IMAGES, [11] = SIDE, [15] = SIDE};
    const unsigned char labels[8 + IMAGES] = {[2] = 8, 1, [7] = IMAGES};
    for (size_t i = 16; i < sizeof images; i++)
        images[i] = (unsigned char)(i * i % 256);
    expect_fine(train_run("sh", "-c 'mkdir drawn'"));
    temporary_write("drawn/train-images-idx3-ubyte", images, sizeof images);
    temporary_write("drawn/train-labels-idx1-ubyte", labels, sizeof labels);
    expect_fine(train_run("train", "--data glyphs --rows 300 --model mlp --hidden 16 --epochs 1 --no-plots --out m"));
    expect_fine(train_run("predict", "--model m --data idx:drawn --probabilities > p"));
    expect_fine(train_run("predict", "--model m --data idx:drawn/train-images-idx3-ubyte --probabilities > q"));
    expect_fine(train_run("sh", "-c 'cmp p q'"));
}
END_TEST

/* ---- unknown categories ---- */

enum { ROWS = 40, HIDDEN = 4, FIRST = 5 };
static const char *const colours[] = {"blue", "green", "red"}; /* in ascending order, as in the model */

/* The output of the net of m/ for a colour, computed by hand; 3: none of the known ones. */
static double own_output(int colour)
{
    tg_error error;
    const tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 3, .hidden = {HIDDEN}, .outputs = 1});
    tg_parameters *set = tg_mlp_parameters(net);
    ck_assert(tg_parameters_load(set, temporary_path("m/best.safetensors"), &(tg_load_options){.allow_unknown = true},
                                 &error));
    const float *w0 = tg_parameters_find(set, "layers.0.weight")->data,
                *b0 = tg_parameters_find(set, "layers.0.bias")->data,
                *w1 = tg_parameters_find(set, "layers.1.weight")->data,
                *b1 = tg_parameters_find(set, "layers.1.bias")->data;
    double y = *b1, mean_y = 0, squares_y = 0;
    for (int h = 0; h < HIDDEN; h++) {
        double sum = b0[h];
        for (int i = 0; i < 3; i++)
            sum += w0[3 * h + i] * (colour == i);
        y += w1[h] * sum * 0.5 * erfc(-sum / sqrt(2));
    }
    for (int row = FIRST; row < ROWS; row++)
        mean_y += 0.5 * row / (ROWS - FIRST);
    for (int row = FIRST; row < ROWS; row++)
        squares_y += pow(0.5 * row - mean_y, 2) / (ROWS - FIRST);
    tg_mlp_free(net);
    return y * sqrt(squares_y) + mean_y;
}

START_TEST(an_unknown_category_is_named_or_ignored)
{
    FILE *file = fopen(temporary_path("t.csv"), "w");
    fputs("colour,y\n", file);
    for (int row = 0; row < ROWS; row++)
        fprintf(file, "%s,%.1f\n", colours[row % 3], 0.5 * row);
    fclose(file);
    expect_fine(train_run("train",
                          "--data csv:t.csv --task regression --hidden %d --test none --validation first:%d "
                          "--epochs 3 --refit no --no-plots --out m",
                          HIDDEN, FIRST));
    const char rows[] = "colour\nred\n\nviolet\ngreen\n\"\033[1m\"\n";
    temporary_write("new.csv", rows, strlen(rows));
    expect_refused(train_run("predict", "--model m --data csv:new.csv"),
                   "new.csv:4, column 'colour': 'violet' is a category that the model does not know; --unknown ignore");
    expect_fine(train_run("predict", "--model m --data csv:new.csv --unknown ignore > p"));
    ck_assert_msg(strstr(train_output, "warning: 2 unknown categories ignored; the first: new.csv:4, column 'colour': "
                                       "'violet'\n"),
                  "%s", train_output);
    double got[4];
    ck_assert_int_eq(sscanf(temporary_text("p"), "y\n%lf\n%lf\n%lf\n%lf", got, got + 1, got + 2, got + 3), 4);
    for (int i = 0; i < 4; i++) {
        const double own = own_output((const int[]){2, 3, 1, 3}[i]);
        ck_assert_double_eq_tol(got[i], own, 1e-4);
        ck_assert(i == 0 || fabs(got[i] - got[i - 1]) > 1e-3);
    }
    expect_refused(train_run("predict", "--model m --data csv:new.csv --unknown maybe"), "--unknown");
    expect_fine(train_run("train", "--data glyphs --rows 80 --model mlp --hidden 4 --epochs 1 --no-plots --out g"));
    expect_refused(train_run("predict", "--model g --data csv:new.csv --strict"), "--strict is for tables");
    expect_refused(train_run("predict", "--model m --data nowhere.csv"),
                   "there is no file 'nowhere.csv'; csv:FILE is a table");
}
END_TEST

/* ---- calibration ---- */

/* Two rows of confidence 1/2, both right, and three of 9/10, one of them right: (|1 - 2| + |2.7 - 1|) / 5. */
START_TEST(the_calibration_error_is_that_of_its_definition)
{
    static const int32_t labels[] = {0, 0, 1, 0, 0};
    const float certain = logf(9);
    const float logits[] = {0, 0, 0, 0, 0, certain, 0, certain, 0, certain};
    tg_tape *tape = tg_tape_new();
    tally sums = {0};
    const tg_card c = {.task = TG_CARD_CLASSES, .classes = 2};
    tally_add(&sums, &c, tg_constant(tape, TG_F32, logits, TG_SHAPE(5, 2)),
              tg_constant(tape, TG_I32, labels, TG_SHAPE(5)), TG_NONE);
    const runlog_measures m = tally_measures(&sums, &c);
    ck_assert_double_eq_tol(m.calibration, (1 + 1.7) / 5, 1e-6);
    ck_assert_double_eq(m.accuracy, 3. / 5);
    tg_tape_free(tape);
}
END_TEST

START_TEST(a_run_of_a_comparison_is_asked_for_its_predictions)
{
    expect_fine(train_run("compare", "--data moons --rows 60 --epochs 1 --seeds 1 --activations relu --no-plots "
                                     "--keep-models --out c"));
    expect_refused(train_run("predict", "--model c --data csv:train.csv"),
                   "c holds a comparison: use one of its runs, --model c/runs/NAME, which --keep-models keeps");
    expect_refused(train_run("emit", "--model c"), "emit: c holds a comparison: use one of its runs, --model c/runs/");
    expect_refused(train_run("train", "--resume --out c"), "--resume: c holds a comparison");
    temporary_write("two.csv", "0.5,-0.5\n", 9);
    expect_fine(train_run("predict", "--model c/runs/relu-seed1 --data csv:two.csv --header no"));
    ck_assert_ptr_null(strstr(train_output, "warning"));
    temporary_write("far.csv", "3e38,-3e38\n0.5,-0.5\n", 20);
    expect_fine(train_run("predict", "--model c/runs/relu-seed1 --data csv:far.csv --header no >p"));
    ck_assert_msg(strstr(train_output, "warning: 1 of 2 rows have an output that is not finite"), "%s", train_output);
    expect_fine(train_run("rm", "c/runs/relu-seed1/best.safetensors"));
    expect_refused(train_run("predict", "--model c/runs/relu-seed1 --data csv:two.csv"),
                   "c/runs/relu-seed1 has no weights: compare keeps them with --keep-models");
}
END_TEST

/* ---- several nets in one ---- */

START_TEST(joined_nets_give_the_mean_of_their_outputs)
{
    static const net_spec specs[] = {
        {.model = "mlp", .hidden = "5,3", .activation = "gelu_exact", .inputs = 4, .outputs = 2},
        {.model = "mlp", .hidden = "6x3", .activation = "tanh", .inputs = 1, .outputs = 3, .residual = true},
        {.model = "mlp", .hidden = "none", .activation = "relu", .inputs = 3, .outputs = 1}};
    enum { NETS = 3, JOINED_ROWS = 7 };
    net_spec spec = specs[_i];
    tg_model *nets[NETS];
    tg_error error;
    tg_rng rng = tg_rng_seed(5);
    float x[JOINED_ROWS * 4], wanted[JOINED_ROWS * 3] = {0};
    tg_model_spec_complete(&spec);
    ck_assert(net_joins(&spec));
    for (int i = 0; i < JOINED_ROWS * spec.inputs; i++)
        x[i] = (float)tg_rng_normal(&rng);
    tg_tape *tape = tg_tape_new();
    const tg_tensor input = tg_constant(tape, TG_F32, x, TG_SHAPE(JOINED_ROWS, spec.inputs));
    for (int net = 0; net < NETS; net++) {
        const tg_rng weights = tg_rng_seed((uint64_t)net);
        ck_assert_ptr_nonnull(nets[net] = net_new(&spec, &weights, &error));
        for (int p = 1; p < tg_parameters_count(tg_model_parameters(nets[net])); p += 2)
            tg_parameter_fill_normal(tg_parameters_at(tg_model_parameters(nets[net]), p), 1, &rng); /* biases */
        const float *output = tg_f32(tg_model_forward(nets[net], input, NULL));
        for (int i = 0; i < JOINED_ROWS * spec.outputs; i++)
            wanted[i] += output[i] / NETS;
    }
    tg_model *joined = net_join(&spec, nets, NETS, &error);
    int64_t parameters = spec.outputs; /* the biases of the outputs are one */
    for (int net = 0; net < NETS; net++)
        parameters += tg_parameters_size(tg_model_parameters(nets[net])) - spec.outputs;
    if (strcmp(spec.hidden, "none") != 0)
        ck_assert_int_eq(tg_parameters_size(tg_model_parameters(joined)), parameters); /* none is 0 for want of a net */
    const float *output = tg_f32(tg_model_forward(joined, input, NULL));
    for (int i = 0; i < JOINED_ROWS * spec.outputs; i++)
        ck_assert_float_eq_tol(output[i], wanted[i], 2e-6F);
    for (int net = 0; net < NETS; net++)
        tg_model_free(nets[net]);
    tg_model_free(joined);
    tg_tape_free(tape);
    spec.norm = "rms";
    ck_assert(!net_joins(&spec));
    spec.norm = "none";
    spec.activation = "swiglu";
    ck_assert(!net_joins(&spec));
}
END_TEST

/* To the last digit: one function computes both. */
START_TEST(the_probability_is_the_largest_of_all_classes)
{
    expect_fine(train_run(
        "train", "--data glyphs --model mlp --rows 400 --epochs 1 --hidden 8 --keep-predictions --no-plots --out g"));
    expect_fine(train_run("sh", "-c \"awk -F, 'NR > 1 { most = 7; for (i = 8; i <= NF; i++) most = \\$i > \\$most ? i "
                                ": most; if (\\$most \\\"\\\" != \\$6) exit 1 }' g/predictions.csv\""));
}
END_TEST

Suite *predict_suite(void)
{
    Suite *suite = suite_create("predict");
    TCase *tests = tcase_create("predict");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_test(tests, the_probability_is_the_largest_of_all_classes);
    tcase_add_loop_test(tests, the_score_is_that_of_the_test_rows, 0, 2);
    tcase_add_test(tests, the_score_is_what_the_predictions_come_to);
    tcase_add_test(tests, answers_that_are_missing_or_unknown_are_left_out_of_the_score);
    tcase_add_test(tests, images_with_labels_have_a_score);
    tcase_add_test(tests, images_of_a_file_and_of_its_folder_are_predicted_alike);
    tcase_add_test(tests, an_unknown_category_is_named_or_ignored);
    tcase_add_test(tests, the_calibration_error_is_that_of_its_definition);
    tcase_add_test(tests, a_run_of_a_comparison_is_asked_for_its_predictions);
    tcase_add_loop_test(tests, joined_nets_give_the_mean_of_their_outputs, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
