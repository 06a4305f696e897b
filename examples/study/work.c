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
    return snprintf(c->folder, sizeof c->folder, "%s/%s%s", settings->out, name, settings->quick ? "-quick" : "") <
               (int)sizeof c->folder - 8 &&
           snprintf(c->records, sizeof c->records, "%s/runs", c->folder) < (int)sizeof c->records;
}

study_work study_work_of(const study_context *c)
{
    return (study_work){.folder = c->records,
                        .sweep = &c->settings->sweep,
                        .read_only = c->settings->report_only,
                        .only = c->settings->only,
                        .overwrite = c->settings->overwrite};
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

int study_work_number(const study_work *work, const char *name)
{
    for (int i = 0; i < work->count; i++)
        if (strcmp(work->run[i].name, name) == 0)
            return i;
    return -1;
}

static bool is_wanted(const study_work *work, int run)
{
    return !work->only || fnmatch(work->only, work->run[run].name, 0) == 0;
}

static bool read_records(study_work *work, study_outcome *outcome)
{
    free_records(work);
    outcome->complete = 0;
    work->record = calloc((size_t)work->count + 1, sizeof *work->record);
    if (!work->record)
        return tg_fail(&outcome->error, "out of memory");
    for (int i = 0; i < work->count; i++) {
        if (!work->overwrite && !work->read_only && is_wanted(work, i) &&
            study_record_is_foreign(&work->run[i], work->folder, &outcome->error))
            return false;
        study_record_read(&work->record[i], &work->run[i], work->folder);
        outcome->complete += study_record_complete(&work->record[i], work->run[i].spec.epochs);
    }
    return true;
}

/* ---- estimated time ---- */

/* The first run of the same group that is still to be done. */
static int first_of_group(const study_work *work, const int *pending, int count, int run)
{
    for (int i = 0; i < count; i++)
        if (strcmp(work->run[pending[i]].group, work->run[run].group) == 0)
            return i;
    return 0;
}

/* Seconds for the pending runs, one after the other; NaN and a message if one cannot be made. */
static double estimate(const study_work *work, const int *pending, int count, tg_error *error)
{
    double *epoch = calloc((size_t)count + 1, sizeof *epoch), seconds = 0;
    for (int i = 0; epoch && i < count; i++) {
        const study_run *run = &work->run[pending[i]];
        const int first = first_of_group(work, pending, count, pending[i]);
        epoch[i] = first == i ? study_run_seconds(run, error) : epoch[first];
        seconds += epoch[i] * (run->spec.epochs - work->record[pending[i]].epochs);
    }
    if (!epoch)
        tg_fail(error, "out of memory");
    free(epoch);
    return epoch ? seconds : NAN;
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
    return study_run_train(&p->work->run[p->pending[job]], p->work->folder, p->work->overwrite, link, &error)
               ? 0
               : jobs_fail(link, "%s", error.text);
}

static bool is_finished(int job, void *context)
{
    const pool *p = context;
    const study_run *run = &p->work->run[p->pending[job]];
    study_record record;
    study_record_read(&record, run, p->work->folder);
    const bool complete = study_record_complete(&record, run->spec.epochs);
    study_record_free(&record);
    return complete;
}

static const char *name_of(int job, void *context)
{
    const pool *p = context;
    return p->work->run[p->pending[job]].name;
}

/* Announces the runs and the estimated time. False if a run is impossible. */
static bool say_estimate(const study_work *work, const int *pending, int count, int missing, FILE *out, tg_error *error)
{
    const double seconds = estimate(work, pending, count, error);
    if (isnan(seconds))
        return false;
    fprintf(out, "%d of %d run%s done; ", work->count - missing, work->count, plural(work->count));
    if (count < missing)
        fprintf(out, "%d of the rest take%s about ", count, count == 1 ? "s" : "");
    else
        fprintf(out, "the rest takes about ");
    say_duration(seconds / work->sweep->at_once, out);
    fprintf(out, " (%d at once, from timed samples)\n", work->sweep->at_once);
    return true;
}

/* Trains these of `missing` runs. */
static void do_pending(study_work *work, int *pending, int count, int missing, study_outcome *outcome, FILE *out)
{
    const int taken = files_take_folder(work->folder, !work->overwrite, &outcome->error);
    const bool shows = sweep_shows(work->sweep);
    outcome->broken =
        taken == FILES_TAKEN || (shows && !say_estimate(work, pending, count, missing, out, &outcome->error));
    if (!outcome->broken) {
        const jobs_outcome jobs = jobs_run(&(jobs_config){.count = count,
                                                          .at_once = work->sweep->at_once,
                                                          .silence = silence,
                                                          .context = &(pool){work, pending},
                                                          .run = train,
                                                          .name = name_of,
                                                          .out = shows ? out : NULL,
                                                          .unit = "rows",
                                                          .folder = work->folder,
                                                          .takeover = work->sweep->takeover,
                                                          .waits = work->sweep->waits,
                                                          .is_finished = is_finished});
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
                   work->only, work->count ? work->run[0].name : "not there");
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
    outcome.broken = !pending || !files_make_folder(work->folder, &outcome.error) ? 1
                     : read_records(work, &outcome)                               ? 0
                                                                                  : 2;
    for (int i = 0; !outcome.broken && i < work->count; i++)
        if (!study_record_complete(&work->record[i], work->run[i].spec.epochs)) {
            missing++;
            if (is_wanted(work, i) && sweep_has(work->sweep, i))
                pending[count++] = i;
        }
    if (!outcome.broken && count > 0 && !work->read_only) {
        do_pending(work, pending, count, missing, &outcome, out);
        outcome.broken |= !read_records(work, &outcome);
    }
    free(pending);
    return outcome;
}
