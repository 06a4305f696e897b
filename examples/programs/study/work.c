#include "examples/programs/study/runs.h"

#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

study_context study_context_of(const study_settings *settings, const char *name, const char *command)
{
    study_context c = {.settings = settings, .command = command};
    const char *suffix = settings->quick ? "-quick" : "";
    snprintf(c.folder, sizeof c.folder, "%.*s/%s%s", STUDY_OUT, settings->out, name, suffix);
    snprintf(c.records, sizeof c.records, "%.*s/%s%s/runs", STUDY_OUT, settings->out, name, suffix);
    return c;
}

void study_work_free(study_work *work)
{
    for (int i = 0; i < work->count; i++)
        study_record_free(&work->run[i].record);
    free(work->run);
    free(work->pending);
    *work = (study_work){0};
}

/* ---- the kept file ---- */

static const char *const before[] = {"group", "options", "lr", "seed", "state", "epochs"};
enum { GROUP, OPTIONS, LR, SEED, STATE, EPOCHS, BEFORE };

/* "relu-dropout0-lr0.001": the name of a run without its seed. */
static int group_length(const study_run *run)
{
    return (int)(strstr(run->name, "-seed") - run->name);
}

/* ---- writing ---- */

static bool write_runs(const void *context, FILE *to)
{
    const study_work *work = context;
    json_t *names = json_object(), *value; /* of all numbers that some run has, in order */
    const char *name;
    for (int i = 0; i < BEFORE; i++)
        fprintf(to, "%s%s", i ? "," : "", before[i]);
    for (int i = 0; i < work->count; i++)
        json_object_foreach(work->run[i].record.results, name, value)
            if (json_is_number(value) && strcmp(name, "epochs") != 0 && strcmp(name, "diverged") != 0 &&
                json_object_set_new(names, name, json_null()) != 0)
                return false;
    json_object_foreach(names, name, value)
        fprintf(to, ",%s", name);
    fputc('\n', to);
    for (const study_run *run = work->run; run < work->run + work->count; run++) {
        const study_record *r = &run->record;
        if (!r->complete)
            continue;
        fprintf(to, "%.*s,\"%s\",%g,%d,%s,%d", group_length(run), run->name, run->options, run->spec.lr, run->spec.seed,
                r->diverged ? "diverged" : "finished", r->epochs);
        json_object_foreach(names, name, value) {
            const double number = study_record_result(r, name);
            fprintf(to, ",%s", isnan(number) ? "" : number_text(number, (char[NUMBER_TEXT]){0}));
        }
        fputc('\n', to);
    }
    json_decref(names);
    return true;
}

/* ---- reading ---- */

/* Gives a row's numbers to the run of its group and seed, if that has no record of its own. */
static void read_run(const study_work *work, const csv_source *s, size_t row)
{
    const char *group = csv_word_at(s, row, GROUP);
    study_run *run = work->run, *end = run + work->count;
    while (run < end && (!group || run->spec.seed != csv_value(s, row, SEED) ||
                         strlen(group) != (size_t)group_length(run) || strncmp(run->name, group, strlen(group)) != 0))
        run++;
    const char *options = csv_word_at(s, row, OPTIONS); /* the next word takes its place */
    if (run == end || run->record.complete || !options || strcmp(options, run->options) != 0)
        return;
    study_record *r = &run->record;
    study_record_free(r);
    const char *state = csv_word_at(s, row, STATE);
    r->epochs = (int)csv_value(s, row, EPOCHS);
    r->diverged = state && strcmp(state, "diverged") == 0 ? r->epochs : 0;
    r->complete = r->diverged || r->epochs >= run->spec.epochs;
    r->results = json_object();
    for (size_t i = BEFORE; i < s->table.columns; i++)
        if (!csv_word_at(s, row, i))
            json_object_set_new(r->results, csv_column_name(s, i), json_real(csv_value(s, row, i)));
}

static bool read_kept(const study_work *work, tg_error *error)
{
    char path[PATH_MAX + 20];
    csv_source s;
    snprintf(path, sizeof path, "%s/runs.csv", work->c->folder);
    if (access(path, F_OK) != 0)
        return true;
    const bool fine = csv_read(path, DATASET_HEADER_YES, &s, error);
    for (size_t row = 0; fine && row < s.rows; row++)
        read_run(work, &s, row);
    csv_source_free(&s);
    return fine;
}

/* ---- records ---- */

static bool is_wanted(const study_work *work, const study_run *run)
{
    const char *only = work->c->settings->only;
    return !only || fnmatch(only, run->name, 0) == 0;
}

static bool read_records(const study_work *work, study_outcome *outcome)
{
    const study_settings *s = work->c->settings;
    for (study_run *run = work->run; run < work->run + work->count; run++) {
        study_record_free(&run->record);
        run->record = (study_record){0};
        if (s->report_only) /* the data that says whether a folder is ours is not read */
            continue;
        if (!s->overwrite && is_wanted(work, run) && study_record_is_foreign(run, work->c->records, &outcome->error))
            return false;
        if (!study_record_read(&run->record, run, work->c->records, &outcome->error))
            return false;
    }
    if (!read_kept(work, &outcome->error))
        return false;
    outcome->complete = 0;
    for (int i = 0; i < work->count; i++)
        outcome->complete += work->run[i].record.complete;
    return true;
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

static void do_pending(study_work *work, study_outcome *outcome, FILE *out)
{
    const study_settings *s = work->c->settings;
    const int taken = files_take_folder(work->c->records, !s->overwrite, &outcome->error);
    outcome->broken = taken == FILES_TAKEN;
    fprintf(out, "%d of %d run%s done, %d to do\n", outcome->complete, work->count, plural(work->count),
            work->pending_count);
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
        if (is_wanted(work, &work->run[i]))
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
        if (!work->run[i].record.complete && is_wanted(work, &work->run[i]) && sweep_has(&s->sweep, i))
            work->pending[work->pending_count++] = &work->run[i];
    if (work->pending_count > 0 && !s->report_only) {
        do_pending(work, &outcome, out);
        outcome.broken |= !read_records(work, &outcome);
    }
    if (!outcome.broken && !s->report_only && outcome.complete && sweep_is_whole(&s->sweep))
        outcome.broken = !files_write(work->c->folder, "runs.csv", write_runs, work, &outcome.error);
    return outcome;
}
