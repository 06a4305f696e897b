/* Writes curves.csv. */
#include "examples/report/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void runlog_number_field(FILE *to, double number)
{
    if (isnan(number))
        fputs(",nan", to); /* printf would write the sign bit of NaN, which has no meaning */
    else
        fprintf(to, ",%.9g", number);
}

static void optional_field(FILE *to, double number)
{
    if (isnan(number))
        fputc(',', to);
    else
        runlog_number_field(to, number);
}

bool runlog_write_curves(const runlog *log, FILE *to)
{
    double *losses = calloc((size_t)log->count + 1, sizeof *losses);
    const char **best = calloc((size_t)log->count + 1, sizeof *best); /* for the first run of each activation */
    fputs("activation,point,seed,fold,epoch,step,train_loss,val_loss,val_accuracy,test_loss,test_accuracy,grad_norm,"
          "dead_fraction,at_best_point,seconds\n",
          to);
    for (int i = 0; losses && best && i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        int first = 0;
        while (strcmp(log->runs[first].activation, run->activation) != 0)
            first++;
        if (first == i)
            best[i] = runlog_best_point(log, run->activation, losses);
        const bool at_best = strcmp(run->point, best[first]) == 0;
        for (int e = 0; e < run->count; e++) {
            const runlog_epoch *epoch = &run->epochs[e];
            table_csv_text(to, run->activation);
            fputc(',', to);
            table_csv_text(to, run->point);
            fprintf(to, ",%llu,%d,%d,%ld", (unsigned long long)run->seed, run->fold, epoch->epoch, epoch->step);
            runlog_number_field(to, epoch->train_loss);
            runlog_number_field(to, epoch->val_loss);
            optional_field(to, epoch->val_accuracy);
            optional_field(to, epoch->test.loss);
            optional_field(to, epoch->test.accuracy);
            runlog_number_field(to, epoch->grad_norm);
            optional_field(to, epoch->dead_fraction);
            fprintf(to, ",%d,", at_best);
            fprintf(to, isnan(epoch->seconds) ? "\n" : "%.6f\n", epoch->seconds);
        }
    }
    const bool complete = losses && best;
    free(losses);
    free(best);
    return complete;
}

void runlog_write_band(FILE *to, const double values[], int count, bool share)
{
    enum { TOO_FEW_FOR_AN_INTERVAL = 3 };
    statistics_estimate estimate = statistics_of(values, (size_t)count);
    const statistics_range range =
        share ? statistics_share_interval(values, (size_t)count, &estimate) : statistics_interval(&estimate);
    double low = range.low, high = range.high;
    if (count > 1 && count <= TOO_FEW_FOR_AN_INTERVAL && !isnan(estimate.mean)) {
        low = high = values[0];
        for (int i = 1; i < count; i++) {
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
    }
    optional_field(to, estimate.mean);
    optional_field(to, low);
    optional_field(to, high);
}
