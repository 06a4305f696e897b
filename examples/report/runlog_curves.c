/* curves.csv, what happened, and bands.csv, what its pictures show. */
#include "examples/report/runlog_internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void runlog_number_field(FILE *to, double number)
{
    if (isnan(number))
        fputs(",nan", to); /* printf would add the sign bit, which means nothing */
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
    const char **best = calloc((size_t)log->count + 1, sizeof *best); /* of the first run of each activation */
    fputs("activation,point,seed,fold,epoch,step,train_loss,val_loss,val_accuracy,test_loss,test_accuracy,grad_norm,"
          "dead_fraction,at_best_"
          "point,seconds\n",
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

/* ---- bands -------------------------------------------------------------------------------------------------- */

enum { TRAIN_LOSS, VAL_LOSS, VAL_ACCURACY, CURVES };

bool runlog_band_counts(const runlog *log, const runlog_run *run)
{
    for (int i = 0; i < log->count && !run->finished; i++)
        if (log->runs[i].finished && strcmp(log->runs[i].activation, run->activation) == 0)
            return false;
    return true;
}

/* The values of all seeds of an activation after one epoch; returns how many. */
static int values_at(const runlog *log, const char *activation, int epoch, double *values[CURVES])
{
    int count = 0;
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        if (strcmp(run->activation, activation) != 0 || !runlog_band_counts(log, run))
            continue;
        for (int e = 0; e < run->count; e++) {
            const runlog_epoch *row = &run->epochs[e];
            if (row->epoch != epoch)
                continue;
            values[TRAIN_LOSS][count] = row->train_loss;
            values[VAL_LOSS][count] = row->val_loss;
            values[VAL_ACCURACY][count] = row->val_accuracy;
            count++;
            break;
        }
    }
    return count;
}

/* The next epoch after `epoch` that an activation has; INT_MAX after the last. */
static int next_epoch(const runlog *log, const char *activation, int epoch)
{
    int next = INT_MAX;
    for (int r = 0; r < log->count; r++) {
        const runlog_run *run = &log->runs[r];
        for (int i = 0; i < run->count && strcmp(run->activation, activation) == 0; i++)
            if (run->epochs[i].epoch > epoch && run->epochs[i].epoch < next && runlog_band_counts(log, run))
                next = run->epochs[i].epoch;
    }
    return next;
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

bool runlog_write_bands(const runlog *log, FILE *to)
{
    size_t runs = (size_t)log->count + 1;
    double *values[CURVES], *memory = calloc(CURVES * runs, sizeof *memory);
    if (!memory)
        return false;
    for (int curve = 0; curve < CURVES; curve++)
        values[curve] = memory + (size_t)curve * runs;
    fputs("activation,epoch,runs,train_loss,train_loss_low,train_loss_high,val_loss,val_loss_low,val_loss_high,"
          "val_accuracy,val_accuracy_low,val_accuracy_high\n",
          to);
    for (int run = 0; run < log->count; run++) {
        const char *activation = log->runs[run].activation;
        if (!runlog_is_first_of_activation(log, run))
            continue;
        for (int epoch = next_epoch(log, activation, INT_MIN); epoch < INT_MAX;
             epoch = next_epoch(log, activation, epoch)) {
            int count = values_at(log, activation, epoch, values);
            table_csv_text(to, activation);
            fprintf(to, ",%d,%d", epoch, count);
            for (int curve = 0; curve < CURVES; curve++)
                runlog_write_band(to, values[curve], count, curve == VAL_ACCURACY);
            fputc('\n', to);
        }
    }
    free(memory);
    return true;
}
