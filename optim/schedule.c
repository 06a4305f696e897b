#include "optim/schedule.h"

#include "autograd/base/names.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The settings that a schedule uses. */
enum { USES_WARMUP = 1, USES_STEPS = 2, USES_END = 4, USES_PERIOD = 8, USES_DECAY = 16 };

/* ---- factors, `after` steps since the end of the warm-up, and the errors of a schedule's own settings ---- */

static double one(const tg_schedule *schedule, int64_t after)
{
    (void)schedule, (void)after;
    return 1;
}

static const double pi = 3.141592653589793;

/* From one factor to another by half a cosine; the angle goes from 0 to pi. */
static double swing(double from, double to, double angle)
{
    return to + (from - to) * (1 + cos(angle)) / 2;
}

static double half_cosine(const tg_schedule *schedule, int64_t after)
{
    int64_t length = schedule->steps - schedule->warmup;
    if (after >= length)
        return schedule->end;
    return swing(1, schedule->end, pi * (double)after / (double)length);
}

/* A line from 1 at the first step down to `end` after the last. */
static double line(const tg_schedule *schedule, int64_t step, int64_t steps)
{
    return step >= steps ? schedule->end : 1 - (1 - schedule->end) * (double)step / (double)steps;
}

static double line_after_warmup(const tg_schedule *schedule, int64_t after)
{
    return line(schedule, after, schedule->steps - schedule->warmup);
}

static int64_t steps_of_decay(const tg_schedule *schedule)
{
    return schedule->period ? schedule->period : schedule->steps / 5 + (schedule->steps % 5 > 0);
}

static double stable_then_line(const tg_schedule *schedule, int64_t after)
{
    const int64_t decay = steps_of_decay(schedule), begin = schedule->steps - schedule->warmup - decay;
    return after < begin ? 1 : line(schedule, after - begin, decay);
}

static const char *stable_decay_error(const tg_schedule *schedule)
{
    if (schedule->period < 0 || steps_of_decay(schedule) < 1 ||
        schedule->steps - schedule->warmup < steps_of_decay(schedule))
        return "the schedule that is stable and then decays needs steps, more of them than warm-up and decay have";
    return NULL;
}

static double inverse_root(const tg_schedule *schedule, int64_t after)
{
    return schedule->warmup > 0 ? 1 / sqrt(1 + (double)after / (double)schedule->warmup) : 1;
}

static const char *inverse_root_error(const tg_schedule *schedule)
{
    return schedule->warmup > 0 ? NULL
                                : "the inverse_sqrt schedule counts its steps in units of the warm-up, and needs one";
}

static double cycle(const tg_schedule *schedule, int64_t after)
{
    const double first = 1. / 25, last = first / 1e4, step = (double)after, steps = (double)schedule->steps;
    const double top = 0.3 * steps - 1, end = steps - 1;
    return step <= top  ? swing(first, 1, pi * step / top)
           : step < end ? swing(1, last, pi * (step - top) / (end - top))
                        : last;
}

static const char *cycle_error(const tg_schedule *schedule)
{
    if (schedule->warmup)
        return "the one-cycle schedule has a rise of its own, and takes no warm-up";
    return schedule->steps >= 4 ? NULL : "the one-cycle schedule needs four steps at least";
}

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

/* ---- the table ---- */

static const struct {
    const char *name;
    double (*factor)(const tg_schedule *schedule, int64_t after);
    const char *(*error)(const tg_schedule *schedule); /* NULL: nothing else can be wrong */
    unsigned uses;
    const char *steps_error, *end_error;
} table[] = {
#define TG_SCHEDULE(constant, name, factor, error, uses, formula)                          \
    [constant] = {#name,                                                                   \
                  factor,                                                                  \
                  error,                                                                   \
                  uses,                                                                    \
                  "the " #name " schedule needs steps, more of them than the warm-up has", \
                  "the end of the " #name " schedule lies outside 0 .. 1"},
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
    return table[schedule->kind].factor(schedule, step - schedule->warmup);
}

const char *tg_schedule_error(const tg_schedule *schedule)
{
    if (!schedule)
        return NULL;
    if ((unsigned)schedule->kind >= KINDS)
        return "the schedule is of no known kind";
    if (schedule->warmup < 0 || schedule->steps < 0)
        return "the steps or the warm-up of the schedule are negative";
    const bool ends = table[schedule->kind].uses & USES_END;
    const char *own = table[schedule->kind].error ? table[schedule->kind].error(schedule) : NULL;
    if (own)
        return own;
    if (ends && schedule->steps <= schedule->warmup)
        return table[schedule->kind].steps_error;
    return ends && !(schedule->end >= 0 && schedule->end <= 1) ? table[schedule->kind].end_error : NULL;
}

bool tg_schedule_uses(tg_schedule_kind kind, const char *setting)
{
    static const struct {
        const char *name;
        unsigned use;
    } settings[] = {{"warmup", USES_WARMUP},
                    {"steps", USES_STEPS},
                    {"end", USES_END},
                    {"period", USES_PERIOD},
                    {"decay", USES_DECAY}};
    for (size_t i = 0; setting && (unsigned)kind < KINDS && i < sizeof settings / sizeof settings[0]; i++)
        if (strcmp(settings[i].name, setting) == 0)
            return table[kind].uses & settings[i].use;
    return false;
}

TG_NAMES(schedule, tg_schedule_kind, KINDS, table[i].name)
