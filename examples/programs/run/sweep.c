#include "examples/programs/run/sweep.h"

#include "examples/programs/system/posix.h"

/* Reads --part. */
static bool take_part(sweep *s, tg_error *error)
{
    int index, count, used = 0;
    s->index = 0;
    s->count = 1;
    if (!s->part)
        return true;
    if (sscanf(s->part, "%9d/%9d%n", &index, &count, &used) != 2 || s->part[used] || index < 1 || index > count)
        return tg_fail(error, "--part: '%.80s': expected I/N with I from 1 to N, as 2/4", s->part);
    s->index = index - 1;
    s->count = count;
    return true;
}

bool sweep_prepare(sweep *s, tg_error *error)
{
    s->at_once = s->jobs ? s->jobs : system_processors();
    return take_part(s, error);
}

bool sweep_has(const sweep *s, int run)
{
    return run % s->count == s->index;
}

bool sweep_is_whole(const sweep *s)
{
    return !s->part;
}
