/* The table of a comparison: a row for each group, and one for the constant prediction. */
#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/comparison_view.h"

/* ---- cells ---- */

static void add_value(const comparison_view *v, table *t, const comparison_group *group, int measure)
{
    const comparison_result *of = &group->of[measure];
    const bool share = v->c->measures[measure].share, interval = of->value.error > 0;
    const double scale = share ? 100 : 1, mean = scale * of->value.mean;
    const int decimals = v->decimals[measure], ends = share ? 1 : decimals;
    char number[3][NUMBER_TEXT];
    number_placed(mean, decimals, false, number[0]);
    if (of->value.count == 0 || isnan(mean))
        table_add_cell(t, of->value.count == 0 ? "" : "nan");
    else if (interval)
        table_add_cell(t, "%s (%s%s%s)", number[0], number_placed(scale * of->range.low, ends, false, number[1]),
                       v->until[measure], number_placed(scale * of->range.high, ends, false, number[2]));
    else
        table_add_cell(t, "%s", number[0]);
    table_numbers(t, 3, (double[]){of->value.mean, interval ? of->range.low : NAN, interval ? of->range.high : NAN});
}

/* The difference to the first group; of a loss also in percent of its loss. */
static void add_difference(const comparison_view *v, table *t, const comparison_group *group, int measure)
{
    const comparison_measure *m = &v->c->measures[measure];
    const comparison_result *of = &group->of[measure];
    const statistics_range range = statistics_difference_interval(&of->difference, m->share);
    const double mean = of->difference.mean, base = v->groups[0].of[measure].value.mean;
    const bool significant = (of->corrected < 0.05), interval = of->difference.error > 0;
    const int decimals = v->decimals[measure];
    const char *mark = significant ? "*" : " ";
    char number[2][NUMBER_TEXT];
    number_placed((m->share ? 100 : 1) * mean, decimals, true, number[0]);
    if (of->difference.count == 0 || isnan(mean))
        table_add_cell(t, of->difference.count == 0 ? "" : "nan ");
    else if (m->share || !(base > 0))
        table_add_cell(t, "%s%s", number[0], mark);
    else
        table_add_cell(t, "%s (%s %%)%s", number[0], number_placed(100 * mean / base, 1, true, number[1]), mark);
    table_numbers(t, 4, (double[]){mean, interval ? range.low : NAN, interval ? range.high : NAN, of->corrected});
    if (significant)
        table_set_mark(t, (mean > 0) == m->more_is_better ? TABLE_GOOD : TABLE_BAD, 0);
}

/* The number of pairs in which the group is better: "4/5". */
static void add_better(table *t, const comparison_group *group, const comparison_measure *m, int measure)
{
    const statistics_test *test = &group->of[measure].test;
    const int better = m->more_is_better ? test->greater : test->less;
    table_add_cell(t, group->pairs > 0 ? "%d/%d" : "", better, group->pairs);
    table_numbers(t, 2, (double[]){group->pairs > 0 ? better : NAN, group->pairs > 0 ? group->pairs : NAN});
}

static void add_step_time(table *t, double seconds)
{
    const double microseconds = 1e6 * seconds;
    table_add_cell(t, isnan(seconds) ? "" : "%.*f", microseconds < 10 ? 2 : microseconds < 100 ? 1 : 0, microseconds);
    table_numbers(t, 1, &microseconds);
}

static void add_parameters(table *t, long parameters)
{
    char digits[32], text[64];
    const int length = parameters > 0 ? snprintf(digits, sizeof digits, "%ld", parameters) : 0;
    int put = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[put++] = ',';
        text[put++] = digits[i];
    }
    text[put] = '\0';
    table_add_cell(t, "%s", text);
    table_numbers(t, 1, (double[]){parameters > 0 ? (double)parameters : NAN});
}

/* ---- columns ---- */

static void add_measure_columns(const comparison_view *v, table *t, const comparison_measure *m)
{
    char csv[256], title[64];
    snprintf(csv, sizeof csv, "%s,%s_low,%s_high", m->name, m->name, m->name);
    table_add_column(t, &(table_column){.name = m->title, .csv = csv, .meaning = m->meaning, .optional = m->spare});
    if (!m->judged || v->count < 2)
        return;
    snprintf(csv, sizeof csv, "%s_difference,%s_difference_low,%s_difference_high,%s_p_corrected", m->name, m->name,
             m->name, m->name);
    const int length = (int)strlen(m->title);
    snprintf(title, sizeof title, "Δ %.*s ", m->share && length > 2 ? length - 2 : length,
             m->title); /* without the % */
    table_add_column(t, &(table_column){.name = title, .csv = csv, .optional = m->spare});
}

static void add_columns(const comparison_view *v, table *t)
{
    const comparison *c = v->c;
    char better[256];
    table_add_column(t, &(table_column){.name = c->about.kind ? c->about.kind : c->group, .csv = c->group});
    for (int m = 0; m < c->measure_count; m++)
        if (c->measures[m].title)
            add_measure_columns(v, t, &c->measures[m]);
    if (v->decides >= 0 && v->count > 1 && v->groups[1].pairs > 1) {
        snprintf(better, sizeof better, "%s with a better %s than %.*s", v->folds ? "folds" : "seeds",
                 c->measures[v->decides].words, SHORT(v->groups[0].name));
        table_add_column(t, &(table_column){.name = "better", .csv = "better,pairs", .meaning = better});
    }
    table_add_column(t, &(table_column){.name = "µs/step",
                                        .csv = "microseconds_per_step",
                                        .meaning = "microseconds of training for one step, validation left out",
                                        .optional = true});
    table_add_column(t, &(table_column){.name = "parameters", .optional = true});
}

static void add_row(const comparison_view *v, table *t, const comparison_group *group)
{
    const comparison *c = v->c;
    table_add_row(t);
    table_add_cell(t, "%s", group->name);
    for (int m = 0; m < c->measure_count; m++)
        if (c->measures[m].title) {
            add_value(v, t, group, m);
            if (c->measures[m].judged && v->count > 1)
                add_difference(v, t, group, m);
        }
    if (v->decides >= 0 && v->count > 1 && v->groups[1].pairs > 1)
        add_better(t, group, &c->measures[v->decides], v->decides);
    add_step_time(t, group->step_seconds);
    add_parameters(t, group->parameters);
}

/* Of the constant prediction: its value of each measure that is shown. */
static void add_constant_row(const comparison_view *v, table *t)
{
    const comparison *c = v->c;
    table_add_row(t);
    table_add_cell(t, "constant");
    for (int m = 0; m < c->measure_count; m++) {
        if (!c->measures[m].title)
            continue;
        const comparison_group *from = comparison_with_constant(c, v->groups, v->count, m);
        const double mean = from ? from->over[m].constant.mean : NAN;
        char number[NUMBER_TEXT];
        number_placed((c->measures[m].share ? 100 : 1) * mean, v->decimals[m], false, number);
        table_add_cell(t, "%s", from ? number : "");
        table_numbers(t, 3, (double[]){mean, NAN, NAN});
        if (c->measures[m].judged && v->count > 1) {
            table_add_cell(t, "%s", "");
            table_numbers(t, 4, (double[]){NAN, NAN, NAN, NAN});
        }
    }
    if (v->decides >= 0 && v->count > 1 && v->groups[1].pairs > 1) {
        table_add_cell(t, "%s", "");
        table_numbers(t, 2, (double[]){NAN, NAN});
    }
    add_step_time(t, NAN);
    add_parameters(t, 0);
}

table *comparison_cells(const comparison_view *v)
{
    table *t = table_new(1);
    add_columns(v, t);
    for (int i = 0; i < v->count; i++)
        add_row(v, t, &v->groups[i]);
    if (v->c->has_constant && v->most > 0)
        add_constant_row(v, t);
    return t;
}
