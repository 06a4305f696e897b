#include "examples/programs/study/work.h"
#include "examples/programs/data/words.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

study_context study_context_of(const study_settings *settings, const char *name, const char *command)
{
    study_context c = {.settings = settings, .name = name, .command = command};
    const char *suffix = settings->quick ? "-quick" : "";
    snprintf(c.folder, sizeof c.folder, "%.*s/%s%s", STUDY_OUT, settings->out, name, suffix);
    snprintf(c.records, sizeof c.records, "%.*s/%s%s/runs", STUDY_OUT, settings->out, name, suffix);
    return c;
}

study_work study_work_of(const study_context *c)
{
    return (study_work){.c = c};
}

study_run *study_work_add(study_work *work)
{
    study_run *more = realloc(work->run, ((size_t)work->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    work->run = more;
    return &work->run[work->count++];
}

static void free_records(study_work *work)
{
    for (int i = 0; work->record && i < work->count; i++)
        study_record_free(&work->record[i]);
    free(work->record);
    work->record = NULL;
}

void study_work_free(study_work *work)
{
    free_records(work);
    free(work->run);
    free(work->pending);
    *work = (study_work){0};
}

static bool is_wanted(const study_work *work, int run)
{
    const char *only = work->c->settings->only;
    return !only || fnmatch(only, work->run[run].name, 0) == 0;
}

static bool read_records(study_work *work, study_outcome *outcome)
{
    const study_settings *s = work->c->settings;
    free_records(work);
    outcome->complete = 0;
    work->record = calloc((size_t)work->count + 1, sizeof *work->record);
    if (!work->record)
        return tg_fail(&outcome->error, "out of memory");
    for (int i = 0; i < work->count; i++) {
        if (!s->overwrite && !s->report_only && is_wanted(work, i) &&
            study_record_is_foreign(&work->run[i], work->c->records, &outcome->error))
            return false;
        study_record_read(&work->record[i], &work->run[i], work->c->records);
        outcome->complete += work->record[i].complete;
    }
    return true;
}

/* ---- estimated time ---- */

/* Seconds for the pending runs, one after the other; NaN and a message if one cannot be made. */
static double estimate(study_work *work, tg_error *error)
{
    double seconds = 0;
    for (int i = 0; i < work->pending_count; i++) {
        study_run *run = work->pending[i];
        for (int k = 0; k < i && !run->epoch_seconds; k++)
            if (strcmp(work->pending[k]->group, run->group) == 0)
                run->epoch_seconds = work->pending[k]->epoch_seconds;
        if (!run->epoch_seconds)
            run->epoch_seconds = study_run_seconds(run, error);
        seconds += run->epoch_seconds * (run->spec.epochs - work->record[run - work->run].epochs);
    }
    return seconds;
}

static void say_duration(double seconds, FILE *out)
{
    if (seconds < 100)
        fprintf(out, "%.0f second%s", ceil(seconds), plural((long long)ceil(seconds)));
    else if (seconds < 6000)
        fprintf(out, "%.0f minutes", ceil(seconds / 60));
    else
        fprintf(out, "%.1f hours", seconds / 3600);
}

/* ---- the pool ---- */

static int train(int job, jobs_link *link, void *context)
{
    const study_work *work = context;
    const study_context *c = work->c;
    tg_error error;
    return study_run_train(work->pending[job], c->records, c->settings->overwrite, link, &error)
               ? 0
               : jobs_fail(link, "%s", error.text);
}

static bool is_finished(int job, void *context)
{
    const study_work *work = context;
    return study_run_is_complete(work->pending[job], work->c->records);
}

static const char *name_of(int job, void *context)
{
    const study_work *work = context;
    return work->pending[job]->name;
}

/* Announces the runs and the estimated time. False if a run is impossible. */
static bool say_estimate(study_work *work, int complete, FILE *out, tg_error *error)
{
    const double seconds = estimate(work, error);
    const int at_once = work->c->settings->sweep.at_once, count = work->pending_count;
    if (isnan(seconds))
        return false;
    fprintf(out, "%d of %d run%s done; ", complete, work->count, plural(work->count));
    if (complete + count < work->count)
        fprintf(out, "%d of the rest take%s about ", count, count == 1 ? "s" : "");
    else
        fprintf(out, "the rest takes about ");
    say_duration(seconds / at_once, out);
    fprintf(out, " (%d at once, from timed samples)\n", at_once);
    return true;
}

static void do_pending(study_work *work, study_outcome *outcome, FILE *out)
{
    const study_settings *s = work->c->settings;
    const int taken = files_take_folder(work->c->records, !s->overwrite, &outcome->error);
    outcome->broken = taken == FILES_TAKEN || !say_estimate(work, outcome->complete, out, &outcome->error);
    if (!outcome->broken) {
        const jobs_outcome jobs = jobs_run(&(jobs_config){.count = work->pending_count,
                                                          .at_once = s->sweep.at_once,
                                                          .context = work,
                                                          .run = train,
                                                          .name = name_of,
                                                          .out = out,
                                                          .unit = "rows",
                                                          .folder = work->c->records,
                                                          .is_finished = is_finished});
        outcome->failed = jobs.failed;
        outcome->broken = jobs.refused ? 2 : 0;
        outcome->error = jobs.error;
        outcome->interrupted = jobs.interrupted;
    }
    files_release_folder(taken);
}

static bool check_only(const study_work *work, tg_error *error)
{
    for (int i = 0; i < work->count; i++)
        if (is_wanted(work, i))
            return true;
    return tg_fail(error, "--only: none of the %d runs is called like '%.80s'; the first is %s", work->count,
                   work->c->settings->only, work->count ? work->run[0].name : "not there");
}

study_outcome study_work_do(study_work *work, FILE *out)
{
    study_outcome outcome = {0};
    const study_settings *s = work->c->settings;
    free(work->pending);
    work->pending_count = 0;
    work->pending = calloc((size_t)work->count + 1, sizeof(study_run *));
    if (!work->pending)
        tg_fail(&outcome.error, "out of memory");
    outcome.broken = !check_only(work, &outcome.error)                                        ? 2
                     : !work->pending || !files_make_folder(work->c->records, &outcome.error) ? 1
                     : !read_records(work, &outcome)                                          ? 2
                                                                                              : 0;
    for (int i = 0; !outcome.broken && i < work->count; i++)
        if (!work->record[i].complete && is_wanted(work, i) && sweep_has(&s->sweep, i))
            work->pending[work->pending_count++] = &work->run[i];
    if (work->pending_count > 0 && !s->report_only) {
        do_pending(work, &outcome, out);
        outcome.broken |= !read_records(work, &outcome);
    }
    return outcome;
}
