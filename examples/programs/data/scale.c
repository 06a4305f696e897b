/* The scales of a table's columns, by the training split: standardised, or softened where tails are long. */
#include "examples/programs/data/internal.h"
#include "nn/saved/card.h"
#include "examples/programs/system/posix.h"

/* The value of a feature, or of a target after the features, as in the file; NaN: missing. */
static double value_of(const dataset *set, size_t row, size_t i)
{
    const double *cells = set->cells + row * set->columns;
    if (i >= set->features)
        return cells[set->target_column[i - set->features]];
    const dataset_feature *feature = &set->feature[i];
    const double cell = cells[feature->number];
    return feature->missing ? isnan(cell) : feature->category ? cell == (double)feature->index : cell;
}

/* ---- standardising ---- */

/* Squares are of values in this unit: those of 1e38 and of 1e-200 are doubles. A power of two rounds nothing. */
#define UNIT 0x1p-300

/* Mean and deviation over the training rows that weigh something (Welford, 1962: exactly 0 for a constant column,
 * however large). */
typedef struct moments {
    double count, mean, squares;
    bool flags; /* all values are 0 or 1 */
} moments;

static double deviation_of(const moments *m)
{
    return m->count > 0 ? UNIT * sqrt(m->squares / m->count) : 0;
}

static double weight_of(const dataset *set, size_t row)
{
    return set->weight ? set->weight[row] : 1;
}

static void measure(const dataset *set, moments *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        of[i].flags = true;
    for (size_t t = 0; t < set->train.rows; t++) {
        const size_t row = (size_t)set->train.row[t];
        const double weight = weight_of(set, row);
        for (size_t i = 0; weight > 0 && i < count; i++) {
            moments *m = &of[i];
            const double value = value_of(set, row, i), away = value - m->mean;
            if (isnan(value))
                continue;
            m->flags &= value == 0 || value == 1;
            m->count += weight;
            m->mean += away * weight / m->count;
            m->squares += away / UNIT * weight * ((value - m->mean) / UNIT);
        }
    }
}

/* Features that are 0 or 1 stay so: standardised, a category of one row in a thousand would be an input of 31. A target
 * that is constant over the training rows keeps its unit, so that errors on other rows remain visible. */
static void choose_scales(dataset *set, const moments *of)
{
    for (size_t i = 0; i < set->features; i++) {
        const double scale = deviation_of(&of[i]);
        const bool flag = of[i].flags && scale > 0;
        set->feature_mean[i] = flag ? 0 : of[i].mean;
        set->feature_scale[i] = flag ? 1 : scale;
        set->feature_limit[i] = 0;
    }
    for (size_t i = 0; i < set->targets; i++) {
        const moments *m = &of[set->features + i];
        const double scale = deviation_of(m);
        set->target_mean[i] = m->mean;
        set->target_scale[i] = scale > 0 ? scale : 1;
    }
}

/* As a model's card has it. */
static float scaled(double original, double mean, double scale, double limit)
{
    return (float)tg_card_standardise((tg_card_scale){mean, scale, limit}, original);
}

static void scale_value(dataset *set, size_t row, size_t i)
{
    set->x[row * set->features + i] =
        scaled(value_of(set, row, i), set->feature_mean[i], set->feature_scale[i], set->feature_limit[i]);
}

void dataset_scale(dataset *set)
{
    const size_t features = set->features, targets = set->targets;
    for (size_t row = 0; row < set->rows; row++) {
        for (size_t i = 0; i < features; i++)
            scale_value(set, row, i);
        for (size_t i = 0; i < targets; i++)
            set->y[row * targets + i] =
                scaled(value_of(set, row, features + i), set->target_mean[i], set->target_scale[i], 0);
    }
}

bool dataset_standardise(dataset *set)
{
    const size_t features = set->features, targets = set->targets;
    moments *of = dataset_array(features + targets, 1, sizeof *of);
    if (!of)
        return false;
    measure(set, of, features + targets);
    choose_scales(set, of);
    free(of);
    dataset_scale(set);
    return true;
}

/* ---- softening ---- */

/* Values of a feature over the training rows that weigh something, ascending. */
typedef struct values {
    double *of;
    size_t count;
} values;

static void sort_values(const dataset *set, size_t feature, values *all)
{
    all->count = 0;
    for (size_t t = 0; t < set->train.rows; t++) {
        const size_t row = (size_t)set->train.row[t];
        const double value = value_of(set, row, feature);
        if (weight_of(set, row) > 0 && !isnan(value))
            all->of[all->count++] = value;
    }
    system_sort(all->of, all->count, sizeof *all->of, system_ascending);
}

/* The value below which this fraction lies, between neighbours in proportion (Hyndman and Fan's type 7). */
static double quantile(const values *all, double fraction)
{
    const double place = fraction * (double)(all->count - 1);
    const size_t below = (size_t)place, above = below + 1 < all->count ? below + 1 : below;
    return all->of[below] + (place - (double)below) * (all->of[above] - all->of[below]);
}

static double mean_of(const values *all)
{
    double mean = 0;
    for (size_t i = 0; i < all->count; i++)
        mean += (all->of[i] - mean) / (double)(i + 1);
    return mean;
}

/* The mean of ((value - mean) / unit)^power. */
static double moment_of(const values *all, double unit, int power)
{
    const double mean = mean_of(all);
    double sum = 0;
    for (size_t i = 0; i < all->count; i++)
        sum += pow((all->of[i] - mean) / unit, power);
    return sum / (double)all->count;
}

static bool are_flags(const values *all)
{
    size_t i = 0;
    while (i < all->count && (all->of[i] == 0 || all->of[i] == 1))
        i++;
    return i == all->count;
}

/* By skewness and kurtosis, which is 3 for a normal distribution. */
static bool has_long_tails(const values *all, double unit)
{
    static const double skewed = 1.5, peaked = 3 + 6;
    const double variance = moment_of(all, unit, 2);
    return fabs(moment_of(all, unit, 3)) >= skewed * pow(variance, 1.5) ||
           moment_of(all, unit, 4) >= peaked * variance * variance;
}

/* Sets median, quartiles and limit so that the softened values have deviation 1. False, and nothing changes, if these
 * numbers are out of range. */
static bool soften(dataset *set, size_t i, values *all)
{
    enum { QUARTILES = 3 };
    const double median = quantile(all, 0.5), between = quantile(all, 0.75) - quantile(all, 0.25),
                 range = (all->of[all->count - 1] - all->of[0]) / 2, unit = between > 0 ? between : range;
    for (size_t k = 0; k < all->count; k++)
        all->of[k] = scaled(all->of[k], median, unit, QUARTILES);
    const double deviation = sqrt(moment_of(all, 1, 2)), scale = unit * deviation;
    if (!(scale > 0 && scale < INFINITY))
        return false;
    set->feature_mean[i] = median;
    set->feature_scale[i] = scale;
    set->feature_limit[i] = QUARTILES / deviation;
    for (size_t row = 0; row < set->rows; row++)
        scale_value(set, row, i);
    return true;
}

int dataset_soften(dataset *set, bool soft)
{
    int softened = 0;
    values all = {.of = set->cells ? dataset_array(set->train.rows, 1, sizeof *all.of) : NULL};
    if (set->cells && (!all.of || !dataset_standardise(set)))
        softened = -1;
    for (size_t i = 0; soft && all.of && softened >= 0 && i < set->features; i++) {
        if (set->feature_scale[i] == 0 || set->feature[i].category || set->feature[i].missing)
            continue;
        sort_values(set, i, &all);
        softened += !are_flags(&all) && has_long_tails(&all, set->feature_scale[i]) && soften(set, i, &all);
    }
    free(all.of);
    return softened;
}

double dataset_in_source(const dataset *set, size_t i, double value)
{
    const double limit = set->feature_limit[i], part = limit > 0 ? fmax(fmin(value / limit, 0.99875), -0.99875) : 0,
                 z = limit > 0 ? limit * part / sqrt(1 - part * part) : value;
    return z * set->feature_scale[i] + set->feature_mean[i];
}
