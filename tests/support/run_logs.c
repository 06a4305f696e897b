#include "tests/support/run_logs.h"
#include "examples/programs/report/runlog_internal.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

runlog *run_log_small(bool accuracy)
{
    static const struct {
        const char *activation;
        int seed, finished;
        double losses[2], accuracies[2];
    } runs[] = {
        {"relu", 1, 1, {0.5, 0.25}, {0.5, 0.75}},   {"relu", 2, 1, {0.5, 0.75}, {0.625, 0.5}},
        {"gelu", 1, 1, {0.25, 0.125}, {0.75, 1}},   {"gelu", 2, 1, {0.5, 0.375}, {0.5, 0.625}},
        {"si,lu", 1, 1, {0.5, NAN}, {0.5, 0.0625}}, {"si,lu", 2, 0, {0.5, 0.25}, {0.5, 0.5}},
    };
    runlog *log = runlog_new(temporary_folder());
    for (int i = 0; i < 6; i++) {
        int run = runlog_add_run(log, runs[i].activation, (uint64_t)runs[i].seed, 0, 1000 + i / 2);
        const int best = runs[i].losses[1] < runs[i].losses[0];
        for (int epoch = 0; epoch < 2; epoch++)
            runlog_add_epoch(runlog_at(log, run),
                             &(runlog_epoch){.epoch = epoch + 1,
                                             .step = 10 * (epoch + 1),
                                             .train_loss = 1. / 3,
                                             .val_loss = runs[i].losses[epoch],
                                             .val_accuracy = accuracy ? runs[i].accuracies[epoch] : NAN,
                                             .grad_norm = INFINITY,
                                             .dead_fraction = 0,
                                             .test_loss = NAN,
                                             .seconds = 0.5,
                                             .best = epoch <= best});
        if (!runs[i].finished)
            continue;
        run_log_finish(log, run, runs[i].losses[best], accuracy ? runs[i].accuracies[best] : NAN, NAN);
    }
    return log;
}

void run_log_finish(runlog *log, int run, double loss, double accuracy, double test_loss)
{
    runlog_measures valid = runlog_no_measures, test = runlog_no_measures;
    valid.loss = loss;
    valid.accuracy = accuracy;
    test.loss = test_loss;
    runlog_at(log, run)->net.of[RUNLOG_VALIDATION] = valid;
    runlog_at(log, run)->net.of[RUNLOG_TEST] = test;
    runlog_finish_run(runlog_at(log, run), false);
}

void run_log_write(const runlog *log)
{
    tg_error error;
    ck_assert_msg(runlog_write(log, &error), "%s", error.text);
}

comparison_group *run_log_groups(const runlog *log, int *count)
{
    comparison c;
    runlog_comparison(log, &c);
    comparison_group *groups = comparison_groups(&c, count);
    return groups;
}
