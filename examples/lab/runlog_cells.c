/* What stands in the cells of the table. */
#include "examples/lab/runlog_table_internal.h"

#include <math.h>
#include <string.h>

table_content table_content_of(const table_view *table, table_column which, runlog_metric *metric)
{
    switch (which) {
    case ACCURACY:
        return *metric = table->accuracy_metric, VALUE;
    case ACCURACY_DIFFERENCE:
        return *metric = table->accuracy_metric, DIFFERENCE;
    case VALIDATION_ACCURACY:
        return *metric = RUNLOG_BEST_ACCURACY, VALUE;
    case LOSS:
        return *metric = table->loss_metric, VALUE;
    case LOSS_DIFFERENCE:
        return *metric = table->loss_metric, DIFFERENCE;
    case VALIDATION_LOSS:
        return *metric = RUNLOG_BEST_LOSS, VALUE;
    case RMSE:
        return *metric = RUNLOG_TEST_RMSE, VALUE;
    case R2:
        return *metric = RUNLOG_TEST_R2, VALUE;
    case CALIBRATION:
        return *metric = RUNLOG_TEST_CALIBRATION, VALUE;
    case BETTER:
        return *metric = table->accuracy ? table->accuracy_metric : table->loss_metric, COUNT;
    case STEP_TIME:
    case PARAMETERS:
        return COUNT;
    default:
        return NAME;
    }
}

void table_write_title(const table_view *table, table_column which, char title[CELL])
{
    const char *part = table->test ? "test" : "final", *loss = table->accuracy ? "loss" : "std. MSE";
    const char *delta = table->screen.utf8 ? "Δ" : "diff";
    title[0] = '\0';
    switch (which) {
    case ACTIVATION:
        snprintf(title, CELL, "activation");
        break;
    case ACCURACY:
        snprintf(title, CELL, "%s acc %%", part);
        break;
    case ACCURACY_DIFFERENCE:
        snprintf(title, CELL, "%s %s acc ", delta, part);
        break;
    case VALIDATION_ACCURACY:
        snprintf(title, CELL, "val acc %%");
        break;
    case LOSS:
        snprintf(title, CELL, "%s %s", part, loss);
        break;
    case LOSS_DIFFERENCE:
        snprintf(title, CELL, "%s %s ", delta, loss);
        break;
    case VALIDATION_LOSS:
        snprintf(title, CELL, "val %s", loss);
        break;
    case RMSE:
        snprintf(title, CELL, "RMSE");
        break;
    case R2:
        snprintf(title, CELL, table->screen.utf8 ? "R²" : "R2");
        break;
    case CALIBRATION:
        snprintf(title, CELL, "ECE %%");
        break;
    case BETTER:
        snprintf(title, CELL, "better");
        break;
    case STEP_TIME:
        snprintf(title, CELL, table->screen.utf8 ? "µs/step" : "us/step");
        break;
    case PARAMETERS:
        snprintf(title, CELL, "parameters");
        break;
    case COLUMNS:
        break;
    }
}

/* ---- cells ------------------------------------------------------------------------------------------------- */

int table_decimals(const runlog_group *groups, int count, runlog_metric metric)
{
    double smallest = INFINITY;
    for (int i = 0; i < count; i++)
        if (fabs(groups[i].value[metric].mean) > 0)
            smallest = fmin(smallest, fabs(groups[i].value[metric].mean));
    double decimals = isfinite(smallest) ? 2 - floor(log10(smallest)) : 3;
    return (int)fmax(1, fmin(6, decimals));
}

bool table_is_clear(const runlog_group *group, runlog_metric metric)
{
    return group->corrected[metric] < 0.05;
}

static void write_value(const table_view *table, const runlog_group *group, runlog_metric metric, char cell[CELL])
{
    const statistics_estimate *value = &group->value[metric];
    const bool share = runlog_metrics[metric].share;
    const double scale = share ? 100 : 1;
    const int decimals = share || metric == RUNLOG_TEST_R2 ? 2 + !share
                         : metric == RUNLOG_TEST_RMSE      ? table->unit_decimals
                                                           : table->loss_decimals;
    if (value->count == 0)
        return;
    if (isnan(value->mean)) {
        snprintf(cell, CELL, "nan");
        return;
    }
    if (fabs(value->mean) >= HUGE_LOSS) {
        snprintf(cell, CELL, "%.3g", value->mean);
        return;
    }
    int length = snprintf(cell, CELL, "%.*f", decimals, scale * value->mean);
    if (!(value->deviation > 0) || length >= CELL)
        return;
    if (share)
        snprintf(cell + length, (size_t)(CELL - length), " (%.1f-%.1f)", scale * group->range[metric].low,
                 scale * group->range[metric].high);
    else
        snprintf(cell + length, (size_t)(CELL - length), " %s%.*f", table->screen.utf8 ? "±" : "+/-", decimals,
                 scale * value->margin);
}

static void write_difference(const table_view *table, const runlog_group *group, runlog_metric metric, char cell[CELL])
{
    const statistics_estimate *difference = &group->difference[metric];
    const bool share = runlog_metrics[metric].share;
    const double scale = share ? 100 : 1;
    const int decimals = share ? 2 : table->loss_decimals;
    if (difference->count == 0)
        return;
    if (isnan(difference->mean)) {
        snprintf(cell, CELL, "nan ");
        return;
    }
    if (fabs(difference->mean) >= HUGE_LOSS) {
        snprintf(cell, CELL, "%+.3g ", difference->mean);
        return;
    }
    int length = snprintf(cell, CELL, "%+.*f", decimals, scale * difference->mean);
    if (difference->deviation > 0 && length < CELL)
        length += snprintf(cell + length, (size_t)(CELL - length), " %s%.*f", table->screen.utf8 ? "±" : "+/-",
                           decimals, fmin(scale * difference->margin, share ? 100 : INFINITY));
    if (length < CELL)
        snprintf(cell + length, (size_t)(CELL - length), table_is_clear(group, metric) ? "*" : " ");
}

/* In how many pairs it is the better one: "4/5". */
static void write_better(const runlog_group *group, runlog_metric metric, char cell[CELL])
{
    const statistics_test *test = &group->test[metric];
    if (group->pairs > 0)
        snprintf(cell, CELL, "%d/%d", runlog_metrics[metric].more_is_better ? test->greater : test->less, group->pairs);
}

static void write_parameters(long parameters, char cell[CELL])
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%ld", parameters), put = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            cell[put++] = ',';
        cell[put++] = digits[i];
    }
    cell[put] = '\0';
}

void table_write_cell(const table_view *table, table_column which, const runlog_group *group, char cell[CELL])
{
    runlog_metric metric = 0;
    const table_content kind = table_content_of(table, which, &metric);
    const double microseconds = 1e6 * group->seconds_per_step;
    cell[0] = '\0';
    if (which == ACTIVATION)
        snprintf(cell, CELL, "%s", group->activation);
    else if (which == PARAMETERS)
        write_parameters(group->parameters, cell);
    else if (which == STEP_TIME && !isnan(microseconds))
        snprintf(cell, CELL, "%.*f", microseconds < 10 ? 2 : microseconds < 100 ? 1 : 0, microseconds);
    else if (which == BETTER)
        write_better(group, metric, cell);
    else if (kind == VALUE)
        write_value(table, group, metric, cell);
    else if (kind == DIFFERENCE)
        write_difference(table, group, metric, cell);
}
