#include "examples/run/progress.h"

typedef struct shown_jobs {
    progress *view;
    const jobs_config *jobs; /* whose functions get their own context */
} shown_jobs;

static int run(int job, jobs_link *link, void *context)
{
    const jobs_config *jobs = ((const shown_jobs *)context)->jobs;
    return jobs->run(job, link, jobs->context);
}

static jobs_turn turn(int job, void *context)
{
    const jobs_config *jobs = ((const shown_jobs *)context)->jobs;
    return jobs->turn ? jobs->turn(job, jobs->context) : JOBS_NOW;
}

static bool is_ours(int job, void *context)
{
    const jobs_config *jobs = ((const shown_jobs *)context)->jobs;
    return !jobs->is_ours || jobs->is_ours(job, jobs->context);
}

static void on_start(int job, void *context)
{
    const shown_jobs *s = context;
    progress_start(s->view, job);
    if (s->jobs->on_start)
        s->jobs->on_start(job, s->jobs->context);
}

static void on_progress(int job, const jobs_progress *now, void *context)
{
    const shown_jobs *s = context;
    progress_update(s->view, job, now);
    if (s->jobs->on_progress)
        s->jobs->on_progress(job, now, s->jobs->context);
}

static void on_record(int job, const void *bytes, size_t size, void *context)
{
    const jobs_config *jobs = ((const shown_jobs *)context)->jobs;
    if (jobs->on_record)
        jobs->on_record(job, bytes, size, jobs->context);
}

static void on_end(int job, jobs_state state, const char *message, void *context)
{
    const shown_jobs *s = context;
    if (s->jobs->on_end)
        s->jobs->on_end(job, state, message, s->jobs->context);
    progress_end(s->view, job, state, message);
}

static void on_tick(void *context)
{
    const shown_jobs *s = context;
    if (s->jobs->on_tick)
        s->jobs->on_tick(s->jobs->context);
    progress_tick(s->view);
}

jobs_outcome progress_run(const progress_config *config, const jobs_config *jobs)
{
    shown_jobs s = {progress_new(config), jobs};
    const jobs_outcome outcome = jobs_run(&(jobs_config){.count = jobs->count,
                                                         .at_once = jobs->at_once,
                                                         .silence = jobs->silence,
                                                         .context = &s,
                                                         .run = run,
                                                         .turn = turn,
                                                         .is_ours = is_ours,
                                                         .on_start = on_start,
                                                         .on_progress = on_progress,
                                                         .on_record = on_record,
                                                         .on_end = on_end,
                                                         .on_tick = on_tick});
    progress_free(s.view);
    return outcome;
}
