#include "examples/study/work.h"
#include "examples/data/words.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double silence = 900; /* seconds after which a silent run is killed */

bool study_context_of(study_context *c, const study_settings *settings, const char *name, const char *command)
{
    *c = (study_context){.settings = settings, .name = name, .command = command};
    snprintf(c->records, sizeof c->records, "%s/%s%s/runs", settings->out, name, settings->quick ? "-quick" : "");
    return snprintf(c->folder, sizeof c->folder, "%s/%s%s", settings->out, name, settings->quick ? "-quick" : "") <
           PATH_MAX - 2 * STUDY_NAME;
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
static double estimate(study_work *work, const int *pending, int count, tg_error *error)
{
    double seconds = 0;
    for (int i = 0; i < count; i++) {
        study_run *run = &work->run[pending[i]];
        for (int k = 0; k < i && !run->epoch_seconds; k++)
            if (strcmp(work->run[pending[k]].group, run->group) == 0)
                run->epoch_seconds = work->run[pending[k]].epoch_seconds;
        if (!run->epoch_seconds)
            run->epoch_seconds = study_run_seconds(run, error);
        seconds += run->epoch_seconds * (run->spec.epochs - work->record[pending[i]].epochs);
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

typedef struct pool {
    const study_work *work;
    const int *pending; /* numbers of runs */
} pool;

static int train(int job, jobs_link *link, void *context)
{
    const pool *p = context;
    tg_error error;
    const study_context *c = p->work->c;
    return study_run_train(&p->work->run[p->pending[job]], c->records, c->settings->overwrite, link, &error)
               ? 0
               : jobs_fail(link, "%s", error.text);
}

static bool is_finished(int job, void *context)
{
    const pool *p = context;
    return study_run_is_complete(&p->work->run[p->pending[job]], p->work->c->records);
}

static const char *name_of(int job, void *context)
{
    const pool *p = context;
    return p->work->run[p->pending[job]].name;
}

/* Announces the runs and the estimated time. False if a run is impossible. */
static bool say_estimate(study_work *work, const int *pending, int count, int missing, FILE *out, tg_error *error)
{
    const double seconds = estimate(work, pending, count, error);
    const int at_once = work->c->settings->sweep.at_once;
    if (isnan(seconds))
        return false;
    fprintf(out, "%d of %d run%s done; ", work->count - missing, work->count, plural(work->count));
    if (count < missing)
        fprintf(out, "%d of the rest take%s about ", count, count == 1 ? "s" : "");
    else
        fprintf(out, "the rest takes about ");
    say_duration(seconds / at_once, out);
    fprintf(out, " (%d at once, from timed samples)\n", at_once);
    return true;
}

/* Trains these of `missing` runs. */
static void do_pending(study_work *work, int *pending, int count, int missing, study_outcome *outcome, FILE *out)
{
    const study_settings *s = work->c->settings;
    const int taken = files_take_folder(work->c->records, !s->overwrite, &outcome->error);
    const bool shows = sweep_shows(&s->sweep);
    outcome->broken =
        taken == FILES_TAKEN || (shows && !say_estimate(work, pending, count, missing, out, &outcome->error));
    if (!outcome->broken) {
        const jobs_outcome jobs = sweep_run(&s->sweep, &(sweep_work){.folder = work->c->records,
                                                                     .count = count,
                                                                     .out = shows ? out : NULL,
                                                                     .silence = silence,
                                                                     .unit = "rows",
                                                                     .context = &(pool){work, pending},
                                                                     .name = name_of,
                                                                     .is_finished = is_finished,
                                                                     .run = train});
        outcome->failed = jobs.failed;
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
    if (!check_only(work, &outcome.error)) {
        outcome.broken = 2;
        return outcome;
    }
    int count = 0, missing = 0, *pending = calloc((size_t)work->count + 1, sizeof *pending);
    if (!pending)
        tg_fail(&outcome.error, "out of memory");
    outcome.broken = !pending || !files_make_folder(work->c->records, &outcome.error) ? 1
                     : read_records(work, &outcome)                                   ? 0
                                                                                      : 2;
    for (int i = 0; !outcome.broken && i < work->count; i++)
        if (!work->record[i].complete) {
            missing++;
            if (is_wanted(work, i) && sweep_has(&work->c->settings->sweep, i))
                pending[count++] = i;
        }
    if (!outcome.broken && count > 0 && !work->c->settings->report_only) {
        do_pending(work, pending, count, missing, &outcome, out);
        outcome.broken |= !read_records(work, &outcome);
    }
    free(pending);
    return outcome;
}
