#include "examples/programs/run/sweep.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A number from the environment, 0 or more; -1 if it is not set. */
static int number_in(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    const long number = text && *text ? strtol(text, &end, 10) : -1;
    return number >= 0 && number < INT_MAX && !*end ? (int)number : -1;
}

/* Reads an array like 0-3 or 1-7:2, whose tasks get parts 1, 2, ... in order. */
static bool take_array(sweep *s, tg_error *error)
{
    const int id = number_in("SLURM_ARRAY_TASK_ID"), count = number_in("SLURM_ARRAY_TASK_COUNT"),
              first = number_in("SLURM_ARRAY_TASK_MIN"), step = number_in("SLURM_ARRAY_TASK_STEP");
    if (id < 0 || count < 1)
        return true;
    const int from = first > 0 ? first : 0, by = step > 0 ? step : 1, index = (id - from) / by;
    if (id < from || (id - from) % by != 0 || index >= count)
        return tg_fail(error,
                       "SLURM_ARRAY_TASK_ID is %d, and the array's %d tasks are not counted evenly from %d; use --part",
                       id, count, from);
    s->index = index;
    s->count = count;
    snprintf(s->said, sizeof s->said, "part %d of %d, from the Slurm array; override with --part", index + 1, count);
    return true;
}

/* The launchers of several processes, and their variables for a process's number. */
static const struct {
    const char *rank, *size;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMI_RANK", "PMI_SIZE"},
                 {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

/* Reads --part or, without it, the environment. */
static bool take_part(sweep *s, tg_error *error)
{
    int index, count, used = 0;
    if (!s->part)
        return take_array(s, error);
    if (sscanf(s->part, "%9d/%9d%n", &index, &count, &used) != 2 || s->part[used] || index < 1 || index > count)
        return tg_fail(error, "--part: '%.80s': expected I/N with I from 1 to N, as 2/4", s->part);
    s->index = index - 1;
    s->count = count;
    return true;
}

bool sweep_prepare(sweep *s, tg_error *error)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    bool launched = false;
    s->index = s->rank = 0;
    s->count = 1;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && !launched; i++) {
        const int rank = number_in(launchers[i].rank), size = number_in(launchers[i].size);
        launched = rank >= 0 && size > 1;
        s->rank = launched ? rank : 0;
    }
    if (s->jobs == 0 && !launched) /* under a launcher the option stays 0: the processes share the processors */
        s->jobs = processors > 0 ? (int)processors : 1;
    s->at_once = s->jobs ? s->jobs : 1;
    const bool fine = take_part(s, error);
    s->waits = s->count == 1 && s->rank == 0;
    return fine;
}

void sweep_share_all(sweep *s)
{
    s->index = 0;
    s->count = 1;
    s->waits = true;
    s->said[0] = '\0';
}

bool sweep_has(const sweep *s, int run)
{
    return run % s->count == s->index;
}

bool sweep_shows(const sweep *s)
{
    return s->rank == 0;
}
