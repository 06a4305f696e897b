/* Groups beside the constant prediction, in words. */
#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/comparison_view.h"

const comparison_group *comparison_with_constant(const comparison *c, const comparison_group *groups, int count,
                                                 int measure)
{
    for (int i = 0; c->has_constant && i < count; i++)
        if (isfinite(groups[i].over[measure].constant.mean))
            return &groups[i];
    return NULL;
}

/* A difference to the constant prediction with its interval: "+0.3 points, -1.0 to 1.6". Where this leaves 0 out, but
 * not after the correction for all nets: "; not significant among 4 nets". */
static void say_over(const comparison *c, const comparison_group *group, int measure, int decimals, int count,
                     char *text, size_t size)
{
    const comparison_measure *m = &c->measures[measure];
    const comparison_over *over = &group->over[measure];
    const statistics_range range = statistics_difference_interval(&over->difference, m->share);
    const bool percent = !m->share && over->constant.mean > 0 && !m->more_is_better;
    const double unit = m->share ? 100 : percent ? 100 / over->constant.mean : 1;
    const int digits = m->share || percent ? 1 : decimals;
    const char *of = m->share ? " points" : percent ? " %" : "";
    char number[2][NUMBER_TEXT];
    snprintf(text, size, "%s%s", number_placed(unit * over->difference.mean, digits, true, number[0]), of);
    if (over->difference.error > 0)
        text_add(text, size, ", %s to %s", number_placed(unit * range.low, digits, false, number[0]),
                 number_placed(unit * range.high, digits, false, number[1]));
    if (count && statistics_p(&over->difference) < 0.05)
        text_add(text, size, "; not significant among %d nets", count);
}

/* True for groups that do not beat the constant prediction or, with `like`, differ from it by as much in all seeds. */
static bool is_named(const comparison *c, const comparison_group *group, int measure, const comparison_group *like)
{
    if (!like)
        return !comparison_beats(c, group, measure);
    const statistics_estimate *of = &group->over[measure].difference, *other = &like->over[measure].difference;
    return group == like || (of->mean == other->mean && !(of->error > 0) && !(other->error > 0));
}

/* "relu, gelu and silu"; returns how many these are. */
static int write_names(const comparison *c, const comparison_group *groups, int count, int measure,
                       const comparison_group *like, char *names, size_t size)
{
    int all = 0, listed = 0;
    for (int i = 0; i < count; i++)
        all += is_named(c, &groups[i], measure, like);
    *names = '\0';
    for (int i = 0; i < count; i++)
        if (is_named(c, &groups[i], measure, like) && strlen(names) < size - 80)
            text_add(names, size, "%s%.*s", list_joint(listed++, all), SHORT(groups[i].name));
    return all;
}

void comparison_say_constant(const comparison *c, const comparison_group *groups, int count, int measure, int decimals,
                             char *text, size_t size)
{
    const comparison_measure *m = &c->measures[measure];
    const comparison_group *from = comparison_with_constant(c, groups, count, measure), *nearest = from;
    char difference[160], names[512];
    *text = '\0';
    if (!from)
        return;
    for (int i = 0; i < count; i++) {
        const comparison_group *group = &groups[i];
        const double away = group->over[measure].difference.mean - nearest->over[measure].difference.mean;
        nearest = (m->more_is_better ? away > 0 : away < 0) ? group : nearest;
    }
    char mean[NUMBER_TEXT];
    number_placed((m->share ? 100 : 1) * from->over[measure].constant.mean, decimals, false, mean);
    const char *percent = m->share ? " %" : "";
    const int beaten = write_names(c, groups, count, measure, NULL, names, sizeof names);
    if (beaten == count) {
        const comparison_over *over = &nearest->over[measure];
        const bool ahead = m->more_is_better ? over->difference.mean > 0 : over->difference.mean < 0;
        const int alike = write_names(c, groups, count, measure, nearest, names, sizeof names);
        say_over(c, nearest, measure, decimals, ahead ? count : 0, difference, sizeof difference);
        snprintf(text, size, "no net %sbeats the constant prediction, %s%s (%s%s: %s)", ahead ? "significantly " : "",
                 mean, percent, names,
                 ahead       ? ", the best"
                 : alike > 1 ? " come nearest"
                             : " comes nearest",
                 difference);
        return;
    }
    if (beaten)
        snprintf(text, size, "%s %s not significantly beat the constant prediction, %s%s", names,
                 beaten > 1 ? "do" : "does", mean, percent);
}

bool comparison_is_beside_constant(const comparison *c, int measure)
{
    const comparison_measure *m = &c->measures[measure];
    bool known = false;
    for (int i = 0; i < c->run_count; i++)
        known |= isfinite(comparison_value(&c->runs[i].constant, m));
    return known && m->judged && !m->influence;
}

bool comparison_has_learned(const comparison *c, const runlog_run *run, bool surely)
{
    bool learned = false, known = false;
    for (int m = 0; m < c->measure_count; m++) {
        const comparison_measure *of = &c->measures[m];
        const double value = comparison_value(&run->net, of), constant = comparison_value(&run->constant, of);
        const double *rows = comparison_rows(&run->net, of), *baseline = comparison_rows(&run->constant, of);
        const double sign = of->more_is_better ? 1 : -1;
        if (!of->judged || of->influence || !isfinite(constant))
            continue;
        double sum = 0, squares = 0;
        for (size_t i = 0; (of->share || surely) && rows && baseline && i < run->row_count; i++) {
            sum += sign * (rows[i] - baseline[i]);
            squares += (rows[i] - baseline[i]) * (rows[i] - baseline[i]);
        }
        known = true;
        learned |= squares > 0 ? sum > 2 * sqrt(squares) : sign * (value - constant) > 0;
    }
    return learned || !known || !c->has_constant;
}

int comparison_only_answer(const comparison *c, const comparison_group *group, const char **name)
{
    int runs = 0, first = 0;
    bool same = true;
    for (int i = 0; i < c->run_count; i++) {
        const runlog_run *run = &c->runs[i];
        const int only = runlog_only_answer(run, c->about.classes);
        if (!run->finished || strcmp(run->group, group->name) != 0 || only == 0)
            continue;
        first = first ? first : only;
        same &= only == first;
        runs++;
    }
    *name = runs && same && c->about.class_names ? c->about.class_names[first - 1] : NULL;
    return runs;
}
