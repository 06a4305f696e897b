/* The files of numbers that a comparison writes. */
#include "examples/programs/report/runlog_internal.h"
#include "tests/support/run_logs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tapegrad.h>
#include <unistd.h>

Suite *runs_suite(void);

/* The number of files and folders in the temporary folder. */
static int entries(void)
{
    int count = -2; /* . and .. */
    DIR *opened = opendir(temporary_folder());
    while (opened && readdir(opened))
        count++;
    closedir(opened);
    return count;
}

/* ---- files -------------------------------------------------------------------------------------------------- */

/* A synthetic training curve. */
static runlog_epoch epoch_of(int run, int epoch)
{
    double loss = 2.3 * exp(-0.3 * epoch) + 0.01 * run;
    return (runlog_epoch){.epoch = epoch,
                          .step = 100L * epoch,
                          .train_loss = 0.8 * loss,
                          .val_loss = loss,
                          .val_accuracy = 1 - 0.1 * loss,
                          .grad_norm = 1. / epoch,
                          .dead_fraction = 0.125 * (run % 2),
                          .test_loss = NAN,
                          .seconds = 0.25 * epoch,
                          .best = 1};
}

enum { ACTIVATIONS = 4, SEEDS = 3, EPOCHS = 6, RUNS = ACTIVATIONS * SEEDS };
static const char *const activations[ACTIVATIONS] = {"relu", "gelu_exact", "gelu_tanh", "swiglu"};

START_TEST(files_are_identical_in_whatever_order_runs_report)
{
    static const char *const names[] = {"curves.csv", "bands.csv", "summary.csv"};
    static char first[3][1 << 16];
    for (int order = 0; order < 3; order++) {
        runlog *log = runlog_new(temporary_folder());
        for (int run = 0; run < RUNS; run++)
            ck_assert_int_eq(runlog_add_run(log, activations[run / SEEDS], 1 + run % SEEDS, 0, 100), run);
        for (int i = 0; i < RUNS * EPOCHS;
             i++) { /* run by run; epoch by epoch, with the runs mixed or from the last on */
            const int run = order == 0 ? i / EPOCHS : order == 1 ? i * 5 % RUNS : RUNS - 1 - i % RUNS;
            const runlog_epoch epoch = epoch_of(run, 1 + (order == 0 ? i % EPOCHS : i / RUNS));
            runlog_add_epoch(runlog_at(log, run), &epoch);
        }
        for (int run = 0; run < RUNS; run++)
            runlog_finish_run(runlog_at(log, order == 2 ? RUNS - 1 - run : run), false);
        run_log_write(log);
        runlog_free(log);
        for (int i = 0; i < 3; i++) {
            if (order == 0)
                strcpy(first[i], temporary_text(names[i]));
            ck_assert_str_eq(temporary_text(names[i]), first[i]);
        }
    }
    int lines = 0;
    for (const char *line = first[0]; (line = strchr(line, '\n')); line++)
        lines++;
    ck_assert_int_eq(lines, 1 + RUNS * EPOCHS);
}
END_TEST

START_TEST(curves_have_the_promised_columns_and_digits)
{
    runlog *log = run_log_small(true);
    run_log_write(log);
    char *text = temporary_text("curves.csv");
    ck_assert_ptr_eq(
        strstr(text,
               "activation,point,seed,fold,epoch,step,train_loss,val_loss,val_accuracy,grad_norm,dead_fraction,best,"
               "at_best_point,seconds\nrelu,,1,0,1,10,0.333333333,0.5,0.5,inf,0,1,1,0.500000\n"),
        text);
    ck_assert_ptr_nonnull(strstr(text, "\n\"si,lu\",,1,0,2,20,0.333333333,nan,0.0625,inf,0,0,1,0.500000\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n\"si,lu\",,2,0,2,20,"));
    runlog_free(log);

    log = run_log_small(false);
    run_log_write(log);
    ck_assert_ptr_nonnull(
        strstr(temporary_text("curves.csv"), "\nrelu,,1,0,1,10,0.333333333,0.5,,inf,0,1,1,0.500000\n"));
    runlog_free(log);
}
END_TEST

/* A field of the CSV line that begins with a name, under a heading; only the first field may be quoted. */
static const char *field(char *text, const char *name, const char *heading)
{
    static char value[64];
    int column = 0;
    char *at = strstr(text, heading), *line = strstr(text, name);
    ck_assert_msg(at && line, "%s or %s is not there", name, heading);
    for (char *letter = text; letter < at; letter++)
        column += *letter == ',';
    line += strlen(name);
    for (; column > 1; column--)
        line = strchr(line, ',') + 1;
    snprintf(value, sizeof value, "%.*s", (int)strcspn(line, ",\n"), line);
    return value;
}

START_TEST(the_summary_holds_means_intervals_and_paired_differences)
{
    runlog *log = run_log_small(true);
    run_log_write(log);
    char *text = temporary_text("summary.csv");
    const double t1 = 12.7062047362; /* Student's t for one degree of freedom: two seeds */
    ck_assert_str_eq(field(text, "\nrelu,", "runs"), "2");
    ck_assert_str_eq(field(text, "\nrelu,", "parameters"), "1000");
    ck_assert_str_eq(field(text, "\nrelu,", "seconds_per_step"), "0.025");
    ck_assert_str_eq(field(text, "\nrelu,", "best_val_loss_mean"), "0.375");
    ck_assert_str_eq(field(text, "\nrelu,", "best_val_accuracy_mean"), "0.6875");
    ck_assert_double_eq_tol(atof(field(text, "\nrelu,", "best_val_loss_deviation")), 0.25 / sqrt(2), 1e-9);
    ck_assert_str_eq(field(text, "\nrelu,", "best_val_loss_low"), "0"); /* the interval of a loss begins at 0 */
    ck_assert_double_eq_tol(atof(field(text, "\nrelu,", "best_val_loss_high")), 0.375 + t1 * 0.125, 1e-8);
    ck_assert_str_eq(field(text, "\nrelu,", "best_val_loss_difference"), "");
    ck_assert_str_eq(field(text, "\ngelu,", "pairs"), "2");
    ck_assert_str_eq(field(text, "\ngelu,", "best_val_loss_difference"), "-0.125");     /* twice */
    ck_assert_str_eq(field(text, "\ngelu,", "best_val_accuracy_difference"), "0.125");  /* of 0.25 and 0 */
    ck_assert_str_eq(field(text, "\ngelu,", "best_val_accuracy_difference_low"), "-1"); /* of 0.125 - t1 0.125 */
    ck_assert_double_eq_tol(atof(field(text, "\ngelu,", "best_val_loss_difference_low")), -0.125, 1e-8);
    ck_assert_str_eq(field(text, "\n\"si,lu\",", "runs"), "1");
    ck_assert_str_eq(field(text, "\n\"si,lu\",", "best_val_loss_mean"), "0.5");
    ck_assert_str_eq(field(text, "\n\"si,lu\",", "best_val_loss_deviation"), "");
    ck_assert_str_eq(field(text, "\n\"si,lu\",", "best_val_loss_difference"), "0.25");
    ck_assert_str_eq(field(text, "\n\"si,lu\",", "best_val_loss_difference_high"), "");
    runlog_free(log);
}
END_TEST

/* A comparison whose runs have one value as loss, accuracy and test score: value(activation, seed, fold). */
static runlog *made_up(int names, int seeds, int folds, double (*value)(int activation, int seed, int fold))
{
    static const char *const name[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    runlog *log = runlog_new(temporary_folder());
    for (int seed = 0; seed < seeds; seed++)
        for (int fold = 0; fold < folds; fold++)
            for (int a = 0; a < names; a++) {
                const double x = value(a, seed, fold);
                const int run = runlog_add_run(log, name[a], (uint64_t)seed, fold, 1);
                runlog_add_epoch(runlog_at(log, run),
                                 &(runlog_epoch){.epoch = 1, .step = 1, .val_loss = x, .val_accuracy = NAN, .best = 1});
                run_log_finish(log, run, x, NAN, x);
            }
    return log;
}

enum { TEST_LOSS }; /* the first measure of a regression with a test split */

static double folds_of_seeds(int activation, int seed, int fold)
{
    return activation * (1 + 0.1 * seed) + 10 * seed + fold;
}

START_TEST(folds_are_values_of_their_own_or_those_of_all_seeds_one)
{
    int count;
    runlog *log = made_up(2, 3, 4, folds_of_seeds);
    comparison_group *groups = run_log_groups(log, &count);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(groups[1].runs, 12);
    ck_assert_int_eq(groups[1].pairs, 12);
    ck_assert_double_eq_tol(groups[0].of[TEST_LOSS].value.mean, 11.5, 1e-12);
    ck_assert_double_eq_tol(groups[1].of[TEST_LOSS].difference.mean, 1.1, 1e-12);
    /* 1, 1.1 and 1.2, four times each */
    ck_assert_double_eq_tol(groups[1].of[TEST_LOSS].difference.deviation, sqrt(4 * 0.02 / 11), 1e-12);
    free(groups);
    /* a value for each fold, the mean over the seeds */
    runlog_describe(
        log,
        &(runlog_about){.compared.note = "Folds cut once.", .compared.redrawn = true, .compared.same_folds = true});
    groups = run_log_groups(log, &count);
    ck_assert_int_eq(groups[1].pairs, 4);
    ck_assert_double_eq_tol(groups[1].of[TEST_LOSS].difference.mean, 1.1, 1e-12);
    ck_assert_double_eq(groups[1].of[TEST_LOSS].difference.deviation, 0);
    free(groups);
    runlog_free(log);
    log = made_up(2, 1, 4, folds_of_seeds); /* a single seed: its folds count as the samples */
    groups = run_log_groups(log, &count);
    ck_assert_int_eq(groups[1].pairs, 4);
    ck_assert_double_nan(groups[1].of[TEST_LOSS].test.p); /* a difference that is the same everywhere proves nothing */
    ck_assert_double_nan(groups[1].of[TEST_LOSS].corrected);
    free(groups);
    runlog_free(log);
}
END_TEST

/* Two seeds with two test rows each, one of them in both: the differences 1, 3 and 5, 3 of test_statistics.c. */
START_TEST(rows_that_seeds_share_widen_the_interval)
{
    static const double rows[2][2] = {{0, 1}, {1, 2}}, difference[2][2] = {{1, 3}, {5, 3}};
    for (int redrawn = 0; redrawn < 2; redrawn++) {
        runlog *log = runlog_new(temporary_folder());
        for (int seed = 0; seed < 2; seed++)
            for (int a = 0; a < 2; a++) {
                const double loss[2] = {7 + a * difference[seed][0], 7 + a * difference[seed][1]};
                const int run = runlog_add_run(log, a ? "gelu" : "relu", (uint64_t)seed, 0, 1);
                runlog_add_epoch(runlog_at(log, run),
                                 &(runlog_epoch){.epoch = 1, .step = 1, .val_loss = 1, .val_accuracy = NAN, .best = 1});
                const double values[2][RUNLOG_ROW] = {{rows[seed][0], loss[0], 0, NAN, NAN, NAN, NAN, NAN, NAN},
                                                      {rows[seed][1], loss[1], 0, NAN, NAN, NAN, NAN, NAN, NAN}};
                runlog_set_rows(runlog_at(log, run), values[0], 2);
                run_log_finish(log, run, 1, NAN, (loss[0] + loss[1]) / 2);
            }
        runlog_describe(log, &(runlog_about){.compared.note = "Splits.", .compared.redrawn = redrawn});
        int count;
        comparison_group *groups = run_log_groups(log, &count);
        const statistics_estimate found = groups[1].of[TEST_LOSS].difference;
        ck_assert_double_eq_tol(found.mean, 3, 1e-12);
        ck_assert_double_eq_tol(found.error, redrawn ? sqrt(1.4) : 1, 1e-12);
        ck_assert_double_eq_tol(groups[0].of[TEST_LOSS].value.error, 0, 1e-12); /* all rows have the loss 7 */
        free(groups);
        runlog_free(log);
    }
}
END_TEST

/* Two activations at three learning rates with two seeds; the loss of each run, one of them unfinished. */
static runlog *searched(void)
{
    static const double rates[] = {0.01, 0.1, 1}, loss[2][3] = {{0.5, 0.25, 0.125}, {0.4, 0.1, 0.6}};
    runlog *log = runlog_new(temporary_folder());
    for (int seed = 1; seed <= 2; seed++)
        for (int rate = 0; rate < 3; rate++)
            for (int a = 0; a < 2; a++) {
                char point[32];
                const int run = runlog_add_run(log, a ? "gelu" : "relu", (uint64_t)seed, 0, 1);
                snprintf(point, sizeof point, "lr %g", rates[rate]);
                runlog_set_point(log, run, point, rates[rate]);
                const double x = loss[a][rate] + 0.01 * seed;
                runlog_add_epoch(runlog_at(log, run),
                                 &(runlog_epoch){.epoch = 1, .step = 1, .val_loss = x, .val_accuracy = NAN, .best = 1});
                if (!(a == 0 && rate == 2 && seed == 2)) /* relu's best rate is excluded: a run diverged */
                    run_log_finish(log, run, x, NAN, rates[rate]);
            }
    runlog_describe(log, &(runlog_about){.compared.note = "Said before."});
    return log;
}

/* Names have an order in the list, but no edge. */
START_TEST(a_search_of_names_has_no_edge)
{
    static const char *const names[] = {"init gpt2", "init default", "init he_normal"};
    runlog *log = searched();
    for (int run = 0; run < 12; run++) /* the best is first in the list */
        runlog_set_point(log, run, names[run % 6 / 2], (run % 6 / 2 + 2) % 3);
    runlog *best = runlog_at_best(log, false);
    ck_assert_str_eq(best->note, "Each is at its best by validation: relu init default; gelu init default.");
    runlog_free(best);
    runlog_free(log);
}
END_TEST

/* At scale 1 relu has the lower loss, at 0.5 gelu; a point that only one of them tries says nothing of the order. */
START_TEST(a_search_of_scales_says_where_the_order_depends_on_them)
{
    static const struct {
        const char *name, *point;
        double loss;
    } runs[] = {{"relu", "init-scale 1, lr 0.1", 0.3},   {"gelu", "init-scale 1, lr 0.1", 0.4},
                {"relu", "init-scale 1, lr 0.01", 0.35}, {"gelu", "init-scale 1, lr 0.01", 0.31},
                {"relu", "init-scale 0.5, lr 0.1", 0.3}, {"gelu", "init-scale 0.5, lr 0.1", 0.2},
                {"gelu", "init-scale 0.25, lr 0.1", 0.1}};
    for (int same = 0; same < 2; same++) {
        runlog *log = runlog_new(temporary_folder());
        for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
            const int run = runlog_add_run(log, runs[i].name, 1, 0, 1);
            const double loss = same && i == 5 ? 0.5 : runs[i].loss;
            runlog_set_point(log, run, runs[i].point, 1);
            runlog_add_epoch(runlog_at(log, run),
                             &(runlog_epoch){.epoch = 1, .step = 1, .val_loss = loss, .val_accuracy = NAN, .best = 1});
            run_log_finish(log, run, loss, NAN, 1);
        }
        runlog_describe(log, &(runlog_about){.unsearched = "Something was not searched."});
        runlog *best = runlog_at_best(log, false);
        const char *said = strstr(best->note, ". ") + 2;
        ck_assert_str_eq(
            said, same ? "By validation relu comes first at each of 2 initial scales, perhaps by chance. "
                         "Something was not searched."
                       : "Which one is first by validation differs between initial scales, perhaps by chance: gelu "
                         "comes first at 0.5, "
                         "relu comes first at 1. Something was not searched.");
        runlog_free(best);
        runlog_free(log);
    }
}
END_TEST

/* Three points on a line: where all are best at one end of it, the best may lie beyond. */
START_TEST(a_short_search_says_where_a_better_point_may_lie)
{
    static const char *const points[] = {"init-scale 1, lr 0.001", "init-scale 0.5, lr 0.003",
                                         "init-scale 0.25, lr 0.01"};
    for (int inside = 0; inside < 3; inside++) { /* 2: only the first run has finished */
        runlog *log = runlog_new(temporary_folder());
        for (int i = 0; i < 6; i++) {
            const int run = runlog_add_run(log, i % 2 ? "gelu" : "relu", 1, 0, 1);
            const double loss = inside && i == 3 ? 0.1 : 1. / (i + 1);
            runlog_set_point(log, run, points[i / 2], 1);
            if (inside == 2 && i > 0)
                continue;
            runlog_add_epoch(runlog_at(log, run),
                             &(runlog_epoch){.epoch = 1, .step = 1, .val_loss = loss, .val_accuracy = NAN, .best = 1});
            run_log_finish(log, run, loss, NAN, 1);
        }
        runlog_describe(log, &(runlog_about){.tried = "Each was tried.", .wider = "--lr auto"});
        runlog *best = runlog_at_best(log, false);
        if (inside == 2) {
            ck_assert_str_eq(best->note, "5 of 6 runs have not finished; of the others each is at its best by "
                                         "validation: relu init-scale 1, lr 0.001; gelu none.");
            runlog_free(best);
            runlog_free(log);
            break;
        }
        const char *said = strstr(best->note, " Each was tried. ");
        ck_assert_msg(said != NULL, "%s", best->note);
        ck_assert_str_eq(said, inside ? " Each was tried. A better one may lie elsewhere (--lr auto)."
                                      : " Each was tried. All are best at one end of them, init-scale 0.25, lr 0.01: a "
                                        "better one may lie beyond it (--lr auto).");
        runlog_free(best);
        runlog_free(log);
    }
}
END_TEST

START_TEST(a_search_is_judged_at_the_best_points)
{
    int count;
    runlog *log = searched();
    ck_assert(runlog_is_search(log));
    for (int common = 0; common < 2; common++) { /* 0.1 is the best for gelu, of what is left for relu, and for both */
        runlog *best = runlog_at_best(log, common);
        comparison_group *groups = run_log_groups(best, &count);
        ck_assert_int_eq(count, 2);
        ck_assert(!runlog_is_search(best) && groups[0].runs == 2 && groups[1].runs == 2);
        ck_assert_double_eq(groups[0].of[TEST_LOSS].value.mean, 0.1);
        ck_assert_double_eq(groups[1].of[TEST_LOSS].value.mean, 0.1);
        ck_assert_str_eq(best->note, common ? "All are at lr 0.1, the best for all together by validation."
                                            : "Each is at its best by validation: relu lr 0.1; gelu lr 0.1.");
        free(groups);
        runlog_free(best);
    }
    run_log_finish(log, 10, 0.145, NAN, 1); /* now relu's best rate counts, for relu alone */
    runlog *best = runlog_at_best(log, false);
    ck_assert_str_eq(best->note, "Each is at its best by validation: relu lr 1 (the edge of the list); gelu lr 0.1.");
    runlog_free(best);
    FILE *out = tmpfile();
    char text[8192];
    runlog_print_table_as(log, "table", out); /* what differs comes with each table, what words mean once */
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    const char *hint = strstr(text, "Hint: best at the edge"), *each = strstr(text, "Each is at its best"),
               *all = strstr(text, "All are at lr 0.1"), *once = strstr(text, "Said before.");
    ck_assert_msg(hint == text && hint < each && each < all && all < once && !strstr(once + 1, "Said before."), "%s",
                  text);
    run_log_write(log);
    ck_assert_ptr_nonnull(strstr(temporary_text("search.csv"), "\nrelu,lr 0.1,0.1,1,2,0,0.265,"));
    ck_assert_ptr_nonnull(strstr(temporary_text("curves.csv"), "\nrelu,lr 1,2,0,1,1,0,0.145,,0,0,1,"));
    ck_assert_ptr_nonnull(strstr(temporary_text("bands.csv"), "\nrelu,1,2,0,0,0,0.14,"));
    runlog_free(log);
}
END_TEST

/* The mean of the second epoch is not of the run alone that patience did not end. */
START_TEST(a_run_that_patience_ended_keeps_its_last_values_in_the_mean)
{
    static const double losses[3][2] = {{0.5, NAN}, {0.75, 0.25}, {1, 0.25}};
    runlog *log = runlog_new(temporary_folder());
    for (int seed = 0; seed < 3; seed++) {
        const int run = runlog_add_run(log, "relu", (uint64_t)seed, 0, 10);
        for (int epoch = 0; epoch < 2 && !isnan(losses[seed][epoch]); epoch++)
            runlog_add_epoch(runlog_at(log, run), &(runlog_epoch){.epoch = epoch + 1,
                                                                  .step = 10 * (epoch + 1),
                                                                  .val_loss = losses[seed][epoch],
                                                                  .val_accuracy = NAN,
                                                                  .test_loss = NAN,
                                                                  .best = 1});
        if (seed < 2)
            run_log_finish(log, run, losses[seed][0], NAN, NAN);
    }
    run_log_write(log);
    runlog_free(log);
    ck_assert_ptr_nonnull(strstr(temporary_text("bands.csv"), "\nrelu,2,2,0,0,0,0.375,0.25,0.5,"));
}
END_TEST

static tg_rng draws;
static double shift; /* a measure by which every activation but the first is better */
static double common[64];

/* Runs with one seed share an effect; each adds noise of its own. */
static double noisy(int activation, int seed, int fold)
{
    (void)fold;
    if (activation == 0)
        common[seed] = 3 * tg_rng_normal(&draws);
    return common[seed] + tg_rng_normal(&draws) - (activation > 0 ? shift : 0);
}

enum { NAMES = 12, SIMULATED_SEEDS = 5 };

/* In `times` synthetic comparisons: how many have a star, and how many intervals contain the true difference. */
static void simulate(int times, double difference, int *starred, long *held)
{
    *starred = 0;
    *held = 0;
    shift = difference;
    for (int i = 0; i < times; i++) {
        int count, stars = 0;
        runlog *log = made_up(NAMES, SIMULATED_SEEDS, 1, noisy);
        comparison_group *groups = run_log_groups(log, &count);
        for (int a = 1; a < count; a++) {
            const statistics_estimate *found = &groups[a].of[TEST_LOSS].difference;
            stars += groups[a].of[TEST_LOSS].corrected < 0.05;
            *held += fabs(found->mean + difference) <= found->margin;
        }
        *starred += stars > 0;
        free(groups);
        runlog_free(log);
    }
}

/* Tests eleven differences at once. If none is real, at most 6 % of comparisons may have a star; 93 to 97 % of the
 * intervals must contain the true difference. (300 comparisons leave room for chance: three standard deviations.) */
START_TEST(stars_are_rarely_false_and_intervals_hold_what_they_say)
{
    const int times = getenv("TG_LONG") ? 2000 : 300;
    const double slack = getenv("TG_LONG") ? 0 : 0.03, all = (double)times * (NAMES - 1);
    int starred;
    long held;
    draws = tg_rng_seed(11);
    simulate(times, 0, &starred, &held);
    ck_assert_msg(starred <= (0.06 + slack) * times, "%d of %d comparisons without a difference have a star", starred,
                  times);
    ck_assert_msg(held >= 0.93 * all && held <= 0.97 * all, "%ld of %g intervals hold 0", held, all);
    simulate(times, 1.5, &starred, &held);
    ck_assert_msg(held >= 0.93 * all && held <= 0.97 * all, "%ld of %g intervals hold 1.5", held, all);
    simulate(times / 10, 12, &starred, &held);
    ck_assert_int_ge(starred, times / 10 - 1); /* and a clear difference is found */
}
END_TEST

START_TEST(bands_are_means_over_the_finished_runs)
{
    runlog *log = run_log_small(true);
    run_log_write(log);
    char *text = temporary_text("bands.csv");
    ck_assert_ptr_nonnull(
        strstr(text, "\nrelu,2,2,0.333333333,0.333333333,0.333333333,0.5,0.25,0.75,0.625,0.5,0.75\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\n\"si,lu\",1,1,0.333333333,,,0.5,,,0.5,,\n\"si,lu\",2,1,0.333333333,,,,,,0.0625,,\n"));
    runlog_free(log);
}
END_TEST

START_TEST(the_configuration_comes_back)
{
    runlog *log = runlog_new(temporary_folder());
    runlog_options(log, json_pack("{s:f, s:[ss]}", "lr", 0.1, "activations", "relu", "gelu_exact"));
    run_log_write(log);
    ck_assert_ptr_nonnull(strstr(temporary_text("config.json"), "\"lr\": 0.1,\n"));
    json_t *read = json_loads(temporary_text("config.json"), 0, NULL);
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(read, "activations"), 1)), "gelu_exact");
    json_decref(read);
    runlog_free(log);
}
END_TEST

static void check_fails(const char *directory, const char *expected)
{
    tg_error error = {""};
    ck_assert_msg(!runlog_check_directory(directory, &error), "%s was accepted", directory);
    ck_assert_msg(strstr(error.text, expected) != NULL, "'%s' does not say '%s'", error.text, expected);
    ck_assert_ptr_null(strchr(error.text, '\n'));
}

START_TEST(a_folder_that_cannot_be_written_is_refused_with_the_reason)
{
    static char endless[5000];
    memset(endless, 'x', sizeof endless - 1);
    temporary_write("file", "", 0);
    check_fails(temporary_path("file"), "/file': a file has this name");
    check_fails(temporary_path("file/below/it"), "/file': a file has this name");
    check_fails("/proc/tapegrad", "cannot write into the folder '/proc'");
    check_fails("/proc", "cannot write into the folder '/proc'");
    check_fails("", "the name is empty");
    check_fails(endless, "the name is too long");
    mkdir(temporary_path("summary.csv"), 0777);
    check_fails(temporary_folder(), "/summary.csv': a folder has this name");
    rmdir(temporary_path("summary.csv"));
}
END_TEST

START_TEST(a_check_leaves_no_trace)
{
    tg_error error;
    ck_assert(runlog_check_directory(temporary_folder(), &error));
    ck_assert(runlog_check_directory(temporary_path("a/b//c/"), &error));
    ck_assert_int_eq(entries(), 0);
    ck_assert_int_eq(symlink("nowhere", temporary_path("link")), 0);
    check_fails(temporary_path("link/below"), "/link': a file has this name");
    ck_assert(chdir(temporary_folder()) == 0 && runlog_check_directory("new", &error));
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(writing_makes_the_folders_it_needs)
{
    runlog *log = runlog_new(temporary_path("a/b"));
    run_log_write(log);
    ck_assert(temporary_exists("a/b/curves.csv"));
    runlog_free(log);
    static const char *const made[] = {"a/b/curves.csv", "a/b/bands.csv", "a/b/summary.csv", "a/b/config.json"};
    for (int i = 0; i < 4; i++)
        unlink(temporary_path(made[i]));
    rmdir(temporary_path("a/b"));
    rmdir(temporary_path("a"));
}
END_TEST

START_TEST(a_full_disk_leaves_the_old_file)
{
    tg_error error;
    struct rlimit before, tiny;
    temporary_write("runs.csv", "precious", 8);
    runlog *log = run_log_small(true);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    tiny = before;
    tiny.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &tiny);
    bool written = runlog_write(log, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    ck_assert(!written);
    ck_assert_ptr_nonnull(strstr(error.text, "/runs.csv': File too large"));
    ck_assert_str_eq(temporary_text("runs.csv"), "precious");
    ck_assert_int_eq(entries(), 1);
    runlog_free(log);
}
END_TEST

START_TEST(a_log_without_runs_has_headings_only)
{
    char printed[80] = "";
    FILE *out = fmemopen(printed, sizeof printed, "w");
    runlog *log = runlog_new(temporary_folder());
    run_log_write(log);
    runlog_print_table_as(log, "table", out);
    fclose(out);
    ck_assert_str_eq(printed, "");
    ck_assert_str_eq(temporary_text("bands.csv"),
                     "activation,epoch,runs,train_loss,train_loss_low,train_loss_high,val_loss,val_loss_low,"
                     "val_loss_high,val_accuracy,val_accuracy_low,val_accuracy_high\n");
    runlog_free(log);
}
END_TEST

Suite *runs_suite(void)
{
    Suite *suite = suite_create("runs");
    TCase *tests = tcase_create("runs");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, files_are_identical_in_whatever_order_runs_report);
    tcase_add_test(tests, curves_have_the_promised_columns_and_digits);
    tcase_add_test(tests, the_summary_holds_means_intervals_and_paired_differences);
    tcase_add_test(tests, folds_are_values_of_their_own_or_those_of_all_seeds_one);
    tcase_add_test(tests, rows_that_seeds_share_widen_the_interval);
    tcase_add_test(tests, a_search_of_names_has_no_edge);
    tcase_add_test(tests, a_search_of_scales_says_where_the_order_depends_on_them);
    tcase_add_test(tests, a_short_search_says_where_a_better_point_may_lie);
    tcase_add_test(tests, a_search_is_judged_at_the_best_points);
    tcase_add_test(tests, a_run_that_patience_ended_keeps_its_last_values_in_the_mean);
    tcase_add_test(tests, stars_are_rarely_false_and_intervals_hold_what_they_say);
    tcase_add_test(tests, bands_are_means_over_the_finished_runs);
    tcase_add_test(tests, the_configuration_comes_back);
    tcase_add_test(tests, a_folder_that_cannot_be_written_is_refused_with_the_reason);
    tcase_add_test(tests, a_check_leaves_no_trace);
    tcase_add_test(tests, writing_makes_the_folders_it_needs);
    tcase_add_test(tests, a_full_disk_leaves_the_old_file);
    tcase_add_test(tests, a_log_without_runs_has_headings_only);
    suite_add_tcase(suite, tests);
    return suite;
}
