#include "examples/run/sweep.h"

#include "examples/data/words.h"
#include "examples/run/claim.h"
#include "examples/run/progress.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double look_interval = 0.5; /* seconds between two checks of another process's claim */

/* ---- the part of this process ---- */

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

/* ---- the pool ---- */

typedef struct shared_run {
    claim claim;
    char *folder;
    double looked; /* when another process's claim was checked */
} shared_run;

typedef struct pool {
    const sweep *settings;
    const sweep_work *work;
    shared_run *run; /* [work->count], */
    const char **names;
    int running;
    bool said_waiting;
} pool;

static jobs_turn turn(int job, void *context)
{
    pool *p = context;
    shared_run *run = &p->run[job];
    const sweep_work *work = p->work;
    tg_error error;
    if (run->looked > 0 && jobs_clock() - run->looked < look_interval)
        return JOBS_LATER;
    run->looked = jobs_clock();
    if (work->is_finished(job, work->context))
        return JOBS_NEVER;
    if (!files_make_folder(run->folder, &error))
        return JOBS_NOW; /* the run itself then reports the error */
    switch (claim_take(&run->claim, run->folder, p->settings->takeover, &error)) {
    case CLAIM_THEIRS:
        return p->settings->waits ? JOBS_LATER : JOBS_NEVER;
    case CLAIM_FAILED:
        return JOBS_NOW; /* likewise if it cannot write the claim */
    case CLAIM_OURS:
        break;
    }
    if (!work->is_finished(job, work->context)) /* time between two checks */
        return JOBS_NOW;
    claim_release(&run->claim, run->folder, true);
    return JOBS_NEVER;
}

static bool is_ours(int job, void *context)
{
    pool *p = context;
    shared_run *run = &p->run[job];
    if (!run->claim.held || claim_keep(&run->claim, run->folder, p->settings->takeover))
        return true;
    p->running--;
    if (p->work->out)
        fprintf(p->work->out, "%s: another process has taken it over\n", p->names[job]);
    return false;
}

static void on_start(int job, void *context)
{
    (void)job;
    ((pool *)context)->running++;
}

static void on_end(int job, jobs_state state, const char *message, void *context)
{
    pool *p = context;
    (void)message;
    p->running -= state != JOBS_ELSEWHERE;
    claim_release(&p->run[job].claim, p->run[job].folder, state == JOBS_DONE);
}

/* Says once that the remaining runs belong to other processes. */
static void say_waiting(pool *p)
{
    int left = 0;
    const char *holder = "";
    for (int job = 0; job < p->work->count && p->running == 0; job++) {
        const claim *c = &p->run[job].claim;
        if (p->run[job].looked > 0 && !c->held && c->number > 0 && !p->work->is_finished(job, p->work->context))
            holder = left++ == 0 ? c->holder : holder;
    }
    if (!left || !p->work->out)
        return;
    fprintf(p->work->out, "waiting for %d run%s of other processes (%s%s); Ctrl-C ends the waiting\n", left,
            plural(left), *holder ? holder : "not known", left > 1 ? ", ..." : "");
    p->said_waiting = true;
}

static void on_tick(void *context)
{
    pool *p = context;
    if (p->running == 0 && !p->said_waiting && p->settings->waits)
        say_waiting(p);
    if (p->work->on_tick)
        p->work->on_tick(p->work->context);
}

static int train(int job, jobs_link *link, void *context)
{
    const sweep_work *work = ((const pool *)context)->work;
    return work->run(job, link, work->context);
}

static bool name_all(pool *p)
{
    const sweep_work *work = p->work;
    p->run = calloc((size_t)work->count + 1, sizeof *p->run);
    p->names = calloc((size_t)work->count + 1, sizeof *p->names);
    bool fine = p->run && p->names;
    for (int job = 0; fine && job < work->count; job++) {
        p->names[job] = work->name(job, work->context);
        fine = asprintf(&p->run[job].folder, "%s/%s", work->folder, p->names[job]) >= 0;
    }
    return fine || (fputs("out of memory\n", work->out ? work->out : stderr), false);
}

jobs_outcome sweep_run(const sweep *s, const sweep_work *work)
{
    pool p = {.settings = s, .work = work};
    jobs_outcome outcome = {.failed = work->count};
    if (name_all(&p))
        outcome = jobs_run_shown(&(progress_config){.out = work->out,
                                                    .count = work->count,
                                                    .names = p.names,
                                                    .unit = work->unit,
                                                    .measured = work->measured},
                                 &(jobs_config){.count = work->count,
                                                .at_once = s->at_once,
                                                .silence = work->silence,
                                                .context = &p,
                                                .run = train,
                                                .turn = turn,
                                                .is_ours = is_ours,
                                                .on_start = on_start,
                                                .on_end = on_end,
                                                .on_tick = on_tick});
    for (int job = 0; p.run && job < work->count; job++)
        free(p.run[job].folder);
    free(p.run);
    free(p.names);
    return outcome;
}
