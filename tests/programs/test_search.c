/* The search of --lr auto and --init-scale auto, on losses that are known. */
#include "examples/programs/run/experiment.h"
#include "tests/support/run_programs.h"
#include "tests/support/seeds.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

Suite *search_suite(void);

enum { ACTIVATIONS = 2 };

/* The loss of an activation is the distance, in logarithms, from its best point. */
static double loss(int activation, search_point at, const search_point best[])
{
    return fabs(log(at.at[SEARCH_RATE] / best[activation].at[SEARCH_RATE])) +
           fabs(log(at.at[SEARCH_SCALE] / best[activation].at[SEARCH_SCALE]));
}

/* Of the points that an activation tries: how many, and the one with the lowest loss. */
static search_point best_of(const search *s, int activation, const search_point best[], int *count)
{
    search_point found = {{NAN, NAN}};
    double least = INFINITY;
    *count = 0;
    for (int i = 0; i < s->count[SEARCH_RATE]; i++)
        for (int k = 0; k < s->count[SEARCH_SCALE]; k++) {
            const search_point at = {{s->values[SEARCH_RATE][i], s->values[SEARCH_SCALE][k]}};
            if (!search_tries(s, activation, at))
                continue;
            ++*count;
            if (loss(activation, at, best) < least) {
                least = loss(activation, at, best);
                found = at;
            }
        }
    return found;
}

static search searched(const search_point best[ACTIVATIONS], int count[ACTIVATIONS], search_point found[ACTIVATIONS])
{
    search s = {.on = {true, true}};
    search_begin(&s, (search_point){{0.001, 1}});
    do
        for (int a = 0; a < ACTIVATIONS; a++)
            found[a] = best_of(&s, a, best, &count[a]);
    while (search_grow(&s, found, ACTIVATIONS));
    return s;
}

START_TEST(the_grid_grows_until_it_brackets_and_then_halves_its_steps)
{
    static const search_point best[] = {{{0.008, 0.04}}, {{0.0006, 1}}};
    int count[ACTIVATIONS];
    search_point found[ACTIVATIONS];
    const search s = searched(best, count, found);
    char text[200];
    search_list(&s, SEARCH_RATE, text, sizeof text); /* 0.01 was best for the first, so 0.0316 was added */
    ck_assert_str_eq(text, "0.000316,0.000562,0.001,0.00178,0.00316,0.00562,0.01,0.0178,0.0316");
    search_list(&s, SEARCH_SCALE, text, sizeof text); /* 1/64 and 4 bracket, 1/32 to 2 are halves */
    ck_assert_str_eq(text, "0.0156,0.0312,0.0625,0.125,0.25,0.5,1,2,4");
    ck_assert_double_eq_tol(found[0].at[SEARCH_SCALE], 0.03125, 1e-3);
    ck_assert_double_eq_tol(found[0].at[SEARCH_RATE], 0.01, 1e-9);
    ck_assert_double_eq_tol(found[1].at[SEARCH_RATE], 0.000562, 1e-9);
    ck_assert_double_eq_tol(found[1].at[SEARCH_SCALE], 1, 1e-9);
    ck_assert_int_eq(count[0], count[1]); /* the same budget: a coarse grid of 5 times 5, and 4 halves */
    ck_assert_int_eq(count[0], 5 * 5 + 4);
}
END_TEST

START_TEST(a_best_that_is_never_bracketed_ends_the_search)
{
    static const search_point best[] = {{{1e9, 1e-9}}, {{1e9, 1e-9}}};
    int count[ACTIVATIONS];
    search_point found[ACTIVATIONS];
    const search s = searched(best, count, found);
    ck_assert_int_eq(s.coarse_count[SEARCH_RATE], 9);
    ck_assert_int_eq(s.coarse_count[SEARCH_SCALE], 6);
    ck_assert_int_eq(count[0], 9 * 6 + 4);
}
END_TEST

START_TEST(rates_alone_are_tried_by_all)
{
    static const search_point first[] = {{{0.001, 0}}, {{0.001, 0}}};
    search s = {.on = {true, false}};
    char text[100];
    search_begin(&s, (search_point){{0.001, 1}});
    ck_assert(search_grow(&s, first, ACTIVATIONS) && s.refined);
    search_list(&s, SEARCH_RATE, text, sizeof text);
    ck_assert_str_eq(text, "0.000316,0.000562,0.001,0.00178,0.00316");
    ck_assert(search_tries(&s, 1, (search_point){{0.00178, 0}}));
    ck_assert(!search_grow(&s, first, ACTIVATIONS));
}
END_TEST

START_TEST(a_short_search_is_a_line)
{
    search s = {0};
    char text[100];
    search_briefly(&s, (search_point){{0.001, 1}}, true);
    search_list(&s, SEARCH_RATE, text, sizeof text);
    ck_assert_str_eq(text, "0.001,0.00316,0.01");
    search_list(&s, SEARCH_SCALE, text, sizeof text);
    ck_assert_str_eq(text, "0.25,0.5,1");
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(search_tries(&s, 0, (search_point){{s.values[SEARCH_RATE][i], s.values[SEARCH_SCALE][k]}}),
                             i + k == 2);
    ck_assert(!search_is_on(&s));
    s = (search){0};
    search_briefly(&s, (search_point){{0.001, 1}}, false);
    ck_assert_int_eq(s.count[SEARCH_SCALE], 0);
    ck_assert(search_tries(&s, 0, (search_point){{0.00316, 0}}));
}
END_TEST

#define TABLE "--data csv:train.csv --hidden 8 --epochs 3 --activations relu,tanh --seeds 2 --no-plots --jobs 1 "

/* Advises a search of many points where validation rows are enough to tell them apart: 99 or 100 of 500. */
START_TEST(a_long_search_is_advised_where_validation_can_judge_it)
{
    static const char *const others[] = {"", "--lr 0.01 ", "--lr 0.01 --init-scale 1,2 ", "--lr 0.01,0.02 "},
                             *const searches[] = {"(--lr auto --init-scale auto).", "(--lr auto --init-scale auto).",
                                                  "(--lr auto).", "(--init-scale auto)."};
    FILE *file = fopen(temporary_path("long.csv"), "w");
    for (int i = 0; file && i < 500; i++)
        fprintf(file, "%d,%d,%d\n", i * 37 % 101, i * 53 % 97, i * 37 % 101 < 40);
    fclose(file);
    for (int enough = 0; enough < 2; enough++) {
        expect_fine(train_run("compare",
                              "--data csv:long.csv --hidden 2 --epochs 1 --activations relu,tanh --seeds 1 "
                              "--no-plots --jobs 1 --validation %s %s--out %d%d",
                              enough ? "0.2" : "0.198", others[_i], enough, _i));
        ck_assert_msg((strstr(train_output, searches[_i]) != NULL) == enough, "%s", train_output);
        ck_assert_msg(strstr(train_output, _i ? "order can differ" : "better one may lie"), "%s", train_output);
    }
}
END_TEST

/* A line of search.csv has "ACTIVATION,"POINT",": how many there are. */
static int count_points(const char *folder, const char *activation, const char *point)
{
    char path[100], start[100];
    int count = 0;
    snprintf(path, sizeof path, "%s/search.csv", folder);
    snprintf(start, sizeof start, "\n%s,%s", activation, point);
    for (const char *at = temporary_text(path); (at = strstr(at, start)); at++)
        count++;
    return count;
}

START_TEST(a_comparison_of_mlps_on_a_table_searches_briefly)
{
    static const char *const points[] = {"\"init-scale 1, lr 0.001\"", "\"init-scale 0.5, lr 0.00316\"",
                                         "\"init-scale 0.25, lr 0.01\""};
    expect_fine(train_run("compare", TABLE "--out a"));
    ck_assert_ptr_nonnull(strstr(train_output, "12 runs"));
    ck_assert_ptr_null(strstr(train_output, "auto)"));      /* of many points few validation rows know no best */
    ck_assert_ptr_null(strstr(train_output, "the edge"));   /* of three points most are at an edge */
    ck_assert_ptr_null(strstr(train_output, " searched:")); /* of what has not been searched */
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(count_points("a", i % 2 ? "tanh" : "relu", points[i]), 1);
    ck_assert_int_eq(count_points("a", "relu", ""), 3);
    ck_assert_ptr_nonnull(strstr(temporary_text("a/config.json"), "\"init-scale\": \"0\""));
    expect_fine(train_run("compare", "--config a/config.json --out a")); /* again: all runs are there */
    ck_assert_ptr_null(strstr(train_output, ": done"));
    expect_fine(train_run("compare", TABLE "--part 1/2 --out b")); /* it needs no results */
    expect_fine(train_run("compare", TABLE "--part 2/2 --out b"));
    expect_fine(train_run("compare", TABLE "--out b"));
    ck_assert_ptr_null(strstr(train_output, ": done"));
    expect_fine(train_run("cmp", "a/search.csv b/search.csv"));
    expect_fine(train_run("compare", TABLE "--format csv --out a")); /* one table: the first line has the names */
    ck_assert_ptr_null(strstr(strstr(train_output, "activation,") + 1, "activation,"));
}
END_TEST

START_TEST(what_is_given_is_not_searched_briefly)
{
    static const struct {
        const char *options, *runs, *said;
    } given[] = {{"--lr 0.001", ": 4 runs", "All have learning rate 0.001 and initial scale 1,"},
                 {"--init-scale 0.5", ": 12 runs", "All have initial scale 0.5, which was not"},
                 {"--init-scale 0.5,1", ": 8 runs", "All have learning rate 0.001, which was not"},
                 {"--optimizer sgd", ": 4 runs", "All have learning rate 0.02 and initial scale 1,"},
                 {"--dropout 0,0.1", ": 8 runs", "All have learning rate 0.001 and initial scale 1,"}};
    expect_fine(train_run("compare", TABLE "%s --out o%d", given[_i].options, _i));
    char words[sizeof train_output];
    size_t length = 0; /* lines are broken anywhere */
    for (const char *at = train_output; *at; at++)
        words[length++] = *at == '\n' ? ' ' : *at;
    words[length] = '\0';
    for (int i = 0; i < 2; i++) {
        const char *expected = i ? given[_i].said : given[_i].runs + 2;
        ck_assert_msg(strstr(words, expected) != NULL, "%s: not '%s': %s", given[_i].options, expected, words);
    }
}
END_TEST

/* By the file: each activation's best point has scales and rates on both sides. */
START_TEST(rates_and_scales_are_searched_together)
{
    static const char *const command = "--data sine --rows 120 --hidden 8 --epochs 4 --activations relu,tanh --seeds 1 "
                                       "--lr auto --init-scale auto --no-plots --jobs 1 --out both";
    static const char *const names[] = {"relu", "tanh"};
    expect_fine(train_run("compare", "%s", command));
    ck_assert_msg(strstr(train_output, "learning rates 0.000316,0.001,0.00316") != NULL, "%s", train_output);
    ck_assert_msg(strstr(train_output, " for each that is compared\n") != NULL, "%s", train_output);
    ck_assert_ptr_null(strstr(train_output, " searched:")); /* the only word that no line break divides */
    const char *points = temporary_text("both/search.csv");
    for (int i = 0; i < 2; i++) {
        struct {
            double scale, rate;
        } best = {NAN, NAN}, tried[200];
        double least = INFINITY;
        int count = 0, smaller = 0, larger = 0, below = 0, above = 0;
        for (const char *line = points; (line = strchr(line, '\n')) && line[1];) {
            char name[20];
            double loss;
            if (sscanf(++line, "%19[^,],\"init-scale %lg, lr %lg\",%*g,%*d,1,0,%lg", name, &tried[count].scale,
                       &tried[count].rate, &loss) != 4 ||
                strcmp(name, names[i]) != 0)
                continue;
            if (loss < least) {
                best.scale = tried[count].scale, best.rate = tried[count].rate;
                least = loss;
            }
            count++;
        }
        for (int k = 0; k < count; k++) {
            smaller += tried[k].scale < best.scale;
            larger += tried[k].scale > best.scale;
            below += tried[k].rate < best.rate;
            above += tried[k].rate > best.rate;
        }
        ck_assert_msg(smaller && larger && below && above, "%s: the best of %d is scale %g, rate %g: %d %d %d %d",
                      names[i], count, best.scale, best.rate, smaller, larger, below, above);
    }
    ck_assert_ptr_nonnull(strstr(temporary_text("both/config.json"), "\"init-scale\": \"auto\""));
    expect_fine(train_run("compare", "%s", command)); /* again: all runs are there */
    ck_assert_ptr_null(strstr(train_output, ": done"));
    expect_refused(train_run("compare", "%s --part 1/2", command), "auto chooses by the results of all runs");
    expect_fine(train_run("compare", "--data sine --rows 120 --hidden 8 --epochs 4 --activations relu,tanh --seeds 1 "
                                     "--no-plots --out one"));
    ck_assert_ptr_nonnull(strstr(train_output, " searched:"));
}
END_TEST

#define ALONE "--data csv:train.csv --hidden 8 --epochs 3 --batch 16 --no-plots "

/* At the smallest scale only swiglu is tried, as a neighbour of its best point: differences are to relu all the same. */
START_TEST(differences_are_to_the_first_activation_also_after_a_search)
{
    expect_fine(train_run("compare", "--data sine --rows 80 --activations relu,swiglu,sigmoid --epochs 4 --batch 4 "
                                     "--hidden 6 --seeds 1 --no-plots --init-scale auto --lr auto --out first"));
    ck_assert_msg(strstr(train_output, "diff: difference to relu"), "%.900s", train_output);
    const char *summary = temporary_text("first/summary.csv");
    ck_assert_ptr_eq(strchr(summary, '\n'), strstr(summary, "\nrelu,"));
}
END_TEST

START_TEST(of_several_with_the_lowest_loss_none_is_said_to_have_it_alone)
{
    static const struct {
        const char *other, *said;
    } given[] = {{"max(x, 0)", "\nrelu shares the lowest mean validation loss"},
                 {"max(x, 1)", " has the lowest mean validation loss"}};
    for (int i = 0; i < 2; i++) {
        expect_fine(train_run("compare",
                              "--data sine --rows 40 --activations 'relu,m: %s' --epochs 2 --hidden 4 "
                              "--seeds 1 --no-plots --out o%d",
                              given[i].other, i));
        ck_assert_ptr_nonnull(strstr(train_output, given[i].said));
    }
}
END_TEST

/* What `train` chooses: the files are those of a comparison's best point of one activation and one seed. */
START_TEST(train_searches_as_a_comparison_does)
{
    static const char *const searches[] = {"--lr auto --init-scale auto", "--lr auto", "--init-scale auto --lr 0.01"};
    static const char options[] = ALONE "--dropout 0 --patience 0 --refit no --clip 0 --gated parameters ";
    char words[sizeof train_output], point[200];
    expect_fine(train_run("compare", ALONE "%s --activations swiglu --seeds 1 --out c", searches[_i]));
    const char *repeated = strstr(train_output, " --out c/train/");
    ck_assert_ptr_nonnull(repeated);
    ck_assert_int_eq(sscanf(repeated, " --out c/train/%199s", point), 1);
    expect_fine(train_run("train", "%s --activation swiglu %s --out t", options, searches[_i]));
    snprintf(words, sizeof words, "%s", train_output);
    ck_assert_ptr_nonnull(strstr(words, " points by validation (t/search/): --"));
    expect_fine(train_run("cmp", "c/runs/%s/steps.csv t/steps.csv", point));
    expect_fine(
        train_run("train", "%s --activation swiglu %s --out t", options, searches[_i])); /* again: nothing to do */
    ck_assert_ptr_null(strstr(train_output, "seed1: done"));
    ck_assert_ptr_null(
        strstr(temporary_text("t/config.json"), "\"lr\": \"auto")); /* which has the values that it found */
    expect_fine(train_run("train", "--resume --epochs 5 --out t")); /* with them, without another search */
    ck_assert_ptr_null(strstr(train_output, "by validation ("));
    expect_refused(train_run("train", "%s --activation geglu %s --out t", options, searches[_i]),
                   "t has results with another --activation");
}
END_TEST

START_TEST(a_search_of_train_that_cannot_be_is_refused)
{
    expect_refused(train_run("train", ALONE "--lr auto --validation none --out t"),
                   "--lr auto: it needs validation rows");
    expect_refused(train_run("train", ALONE "--lr auto,1 --out t"), "--lr: 'auto,1' is not a");
    expect_fine(train_run("train", ALONE "--out t"));
    expect_refused(train_run("train", ALONE "--init-scale auto --start t/best.safetensors --out u"), "--init-scale");
    expect_refused(train_run("train", "--resume --lr auto --out t"), "--lr auto: --resume continues with");
    expect_fine(train_run("train", ALONE "--lr auto --threads 2"));
    ck_assert(temporary_exists("results/train-mlp-hidden8-epochs3-batch16-lrauto/best.safetensors"));
    expect_fine(train_run("train", "--data lines:text --hidden 8 --epochs 1 --lr auto --no-plots --out l"));
}
END_TEST

/* Nine options of two values are as many points as there may be: each of their runs has a name and a point of its own,
 * of values with many digits, too. */
START_TEST(long_points_have_names_of_their_own)
{
    static const char *const options[] = {"init-scale", "lr",    "warmup", "weight-decay", "label-smoothing",
                                          "ema",        "beta1", "beta2",  "dropout",      NULL};
    enum { RUNS = 2048 };
    static char name[RUNS][EXPERIMENT_POINT], point[2][EXPERIMENT_POINT];
    tg_error error;
    experiment e = experiment_defaults();
    e.settings.activations = "relu,formula_with_a_name_of_forty_characters_: x + tanh(x)";
    e.settings.models = "mlp,seq2seq";
    e.settings.run.seed = 2000000000;
    e.settings.run.folds = 400;
    e.settings.seeds = 1;
    for (int i = 0; options[i]; i++)
        e.settings.list[options_find(run_options, options[i]) - run_options] = "0.612345678901234,0.612345678901235";
    ck_assert_msg(experiment_list_runs(&e, &error), "%s", error.text);
    ck_assert_int_eq(e.points, 512);
    for (int i = 0; i < RUNS; i++) {
        experiment_name(&e, i, name[i]);
        ck_assert_uint_lt(strlen(name[i]), 250);
        ck_assert_ptr_nonnull(strstr(name[i], "-seed2000000000-fold1"));
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(name[k], name[i]);
    }
    experiment_point(&e, 0, point[0]);
    experiment_point(&e, 4, point[1]);
    ck_assert_str_ne(point[0], point[1]);
}
END_TEST

Suite *search_suite(void)
{
    Suite *suite = suite_create("search");
    TCase *tests = tcase_create("search");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_test(tests, the_grid_grows_until_it_brackets_and_then_halves_its_steps);
    tcase_add_test(tests, a_best_that_is_never_bracketed_ends_the_search);
    tcase_add_test(tests, long_points_have_names_of_their_own);
    tcase_add_test(tests, rates_alone_are_tried_by_all);
    tcase_add_test(tests, a_short_search_is_a_line);
    tcase_add_test(tests, a_comparison_of_mlps_on_a_table_searches_briefly);
    tcase_add_loop_test(tests, a_long_search_is_advised_where_validation_can_judge_it, 0, 4);
    tcase_add_loop_test(tests, what_is_given_is_not_searched_briefly, 0, 5);
    tcase_add_loop_test(tests, train_searches_as_a_comparison_does, 0, 3);
    tcase_add_test(tests, a_search_of_train_that_cannot_be_is_refused);
    tcase_add_test(tests, rates_and_scales_are_searched_together);
    tcase_add_test(tests, differences_are_to_the_first_activation_also_after_a_search);
    tcase_add_test(tests, of_several_with_the_lowest_loss_none_is_said_to_have_it_alone);
    suite_add_tcase(suite, tests);
    return suite;
}
