#include "optim/schedule.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* What a schedule is: its factor `after` steps since the end of the warm-up, and what may be wrong with its settings.
 */
typedef struct rule {
    double (*factor)(const tg_schedule *schedule, int64_t after);
    const char *(*error)(const tg_schedule *schedule); /* NULL: nothing */
} rule;

static double one(const tg_schedule *schedule, int64_t after)
{
    (void)schedule, (void)after;
    return 1;
}

static const rule schedule_constant = {one, NULL};

static double half_cosine(const tg_schedule *schedule, int64_t after)
{
    int64_t length = schedule->steps - schedule->warmup;
    if (after >= length)
        return schedule->end;
    double angle = 3.141592653589793 * (double)after / (double)length;
    return schedule->end + (1 - schedule->end) * (1 + cos(angle)) / 2;
}

static const char *cosine_error(const tg_schedule *schedule)
{
    if (schedule->steps <= schedule->warmup)
        return "the cosine schedule needs steps, more of them than the warm-up has";
    return schedule->end >= 0 && schedule->end <= 1 ? NULL : "the end of the cosine schedule lies outside 0 .. 1";
}

static const rule schedule_cosine = {half_cosine, cosine_error};

static double powers(const tg_schedule *schedule, int64_t after)
{
    double decay = schedule->decay != 0 ? schedule->decay : 0.1;
    return schedule->period > 0 ? pow(decay, (double)(after / schedule->period)) : 1;
}

static const char *step_error(const tg_schedule *schedule)
{
    if (schedule->period < 1)
        return "the step schedule needs a period of one step at least";
    return schedule->decay >= 0 && schedule->decay <= 1 ? NULL : "the decay of the step schedule lies outside 0 .. 1";
}

static const rule schedule_step = {powers, step_error};

static const struct {
    const char *name;
    const rule *rule;
} table[] = {
#define TG_SCHEDULE(constant, name, formula) [constant] = {#name, &schedule_##name},
#include "optim/schedules.def"
#undef TG_SCHEDULE
};
enum { KINDS = sizeof table / sizeof table[0] };

double tg_schedule_factor(const tg_schedule *schedule, int64_t step)
{
    if (!schedule || (unsigned)schedule->kind >= KINDS)
        return 1;
    if (step < 0)
        step = 0;
    if (step < schedule->warmup)
        return (double)(step + 1) / (double)schedule->warmup;
    return table[schedule->kind].rule->factor(schedule, step - schedule->warmup);
}

const char *tg_schedule_error(const tg_schedule *schedule)
{
    if (!schedule)
        return NULL;
    if ((unsigned)schedule->kind >= KINDS)
        return "the schedule is of no known kind";
    if (schedule->warmup < 0)
        return "the warm-up of the schedule is negative";
    const rule *own = table[schedule->kind].rule;
    return own->error ? own->error(schedule) : NULL;
}

const char *tg_schedule_name(tg_schedule_kind kind)
{
    return (unsigned)kind < KINDS ? table[kind].name : NULL;
}

bool tg_schedule_from_name(const char *name, tg_schedule_kind *kind)
{
    for (int i = 0; name && kind && i < KINDS; i++)
        if (strcmp(table[i].name, name) == 0) {
            *kind = (tg_schedule_kind)i;
            return true;
        }
    return false;
}
