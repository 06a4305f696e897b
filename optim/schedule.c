#include "optim/schedule.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const names[] = {
    [TG_CONSTANT_RATE] = "constant", [TG_WARMUP_COSINE] = "cosine", [TG_STEP_DECAY] = "step"};
enum { KINDS = sizeof names / sizeof names[0] };

static double cosine(const tg_schedule *schedule, int64_t after)
{
    int64_t length = schedule->steps - schedule->warmup;
    if (after >= length)
        return schedule->end;
    double angle = 3.141592653589793 * (double)after / (double)length;
    return schedule->end + (1 - schedule->end) * (1 + cos(angle)) / 2;
}

static double steps(const tg_schedule *schedule, int64_t after)
{
    double decay = schedule->decay != 0 ? schedule->decay : 0.1;
    return schedule->period > 0 ? pow(decay, (double)(after / schedule->period)) : 1;
}

double tg_schedule_factor(const tg_schedule *schedule, int64_t step)
{
    if (!schedule || schedule->kind == TG_CONSTANT_RATE)
        return 1;
    if (step < 0)
        step = 0;
    if (step < schedule->warmup)
        return (double)(step + 1) / (double)schedule->warmup;
    int64_t after = step - schedule->warmup;
    return schedule->kind == TG_WARMUP_COSINE ? cosine(schedule, after) : steps(schedule, after);
}

const char *tg_schedule_error(const tg_schedule *schedule)
{
    if (!schedule || schedule->kind == TG_CONSTANT_RATE)
        return NULL;
    if ((unsigned)schedule->kind >= KINDS)
        return "the schedule is of no known kind";
    if (schedule->warmup < 0)
        return "the warm-up of the schedule is negative";
    if (schedule->kind == TG_WARMUP_COSINE && schedule->steps <= schedule->warmup)
        return "the cosine schedule needs steps, more of them than the warm-up has";
    if (schedule->kind == TG_WARMUP_COSINE && !(schedule->end >= 0 && schedule->end <= 1))
        return "the end of the cosine schedule lies outside 0 .. 1";
    if (schedule->kind == TG_STEP_DECAY && schedule->period < 1)
        return "the step schedule needs a period of one step at least";
    if (schedule->kind == TG_STEP_DECAY && !(schedule->decay >= 0 && schedule->decay <= 1))
        return "the decay of the step schedule lies outside 0 .. 1";
    return NULL;
}

const char *tg_schedule_name(tg_schedule_kind kind)
{
    return (unsigned)kind < KINDS ? names[kind] : NULL;
}

bool tg_schedule_from_name(const char *name, tg_schedule_kind *kind)
{
    for (int i = 0; name && kind && i < KINDS; i++)
        if (strcmp(names[i], name) == 0) {
            *kind = (tg_schedule_kind)i;
            return true;
        }
    return false;
}
