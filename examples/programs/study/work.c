/* The runs of a study: training, and the numbers that are kept of them. runs.csv stays small enough for a repository: a
 * row for each complete run with its group (the run's name without the seed), options, lr, seed, state, epochs, and its
 * numbers. `compare --runs` reads it. */
#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/run/numbers.h"
#include "examples/programs/study/study.h"
#include "examples/programs/system/child.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the kept file ---- */

static const char header[] = "group,options,lr,seed,state,epochs";
enum { GROUP, OPTIONS, LR, SEED, STATE, EPOCHS, BEFORE };

/* Adds the names of a run's numbers, but for those in other columns. */
static void add_names(json_t *names, const json_t *results)
{
    const char *name;
    const json_t *value;
    json_object_foreach((json_t *)results, name, value) {
        if (json_is_number(value) && strcmp(name, "epochs") != 0 && strcmp(name, "diverged") != 0)
            json_object_set_new(names, name, json_null());
    }
}

static void write_run(const study *s, int i, json_t *names, FILE *to)
{
    const study_run *run = &s->run[i];
    const char *folder = s->all.run[i].name, *name;
    json_t *value;
    fprintf(to, "%.*s,\"%s\",%g,%d,%s,%d", (int)(strstr(folder, "-seed") - folder), folder, run->options, run->spec.lr,
            run->spec.seed, json_object_get(run->results, "diverged") ? "diverged" : "finished",
            (int)json_number_value(json_object_get(run->results, "epochs")));
    json_object_foreach(names, name, value) {
        const json_t *number = json_object_get(run->results, name);
        fprintf(to, ",%s", number ? number_text(json_number_value(number), (char[NUMBER_TEXT]){0}) : "");
    }
    fputc('\n', to);
}

static bool write_runs(const void *context, FILE *to)
{
    const study *s = context;
    json_t *names = json_object(), *value; /* of all numbers that some run has, in order */
    const char *name;
    for (int i = 0; i < s->all.count; i++)
        add_names(names, s->run[i].results);
    fputs(header, to);
    json_object_foreach(names, name, value)
        fprintf(to, ",%s", name);
    fputc('\n', to);
    for (int i = 0; i < s->all.count; i++)
        if (s->run[i].results)
            write_run(s, i, names, to);
    json_decref(names);
    return true;
}

/* The run of a row; NULL if there is none with these options, or it is not complete. */
static study_run *run_of_row(study *s, const csv_source *from, size_t row)
{
    char name[POOL_NAME];
    int i = 0;
    snprintf(name, sizeof name, "%s-seed%g", csv_text(from, row, GROUP), csv_value(from, row, SEED));
    while (i < s->all.count && strcmp(s->all.run[i].name, name) != 0)
        i++;
    study_run *run = &s->run[i];
    const bool ours = i < s->all.count && strcmp(csv_text(from, row, OPTIONS), run->options) == 0,
               diverged = strcmp(csv_text(from, row, STATE), "diverged") == 0;
    return ours && (diverged || csv_value(from, row, EPOCHS) >= run->spec.epochs) ? run : NULL;
}

/* Reads the numbers of runs that have none. */
static bool read_kept(study *s, tg_error *error)
{
    char path[PATH_MAX];
    csv_source from;
    snprintf(path, sizeof path, "%.*s/runs.csv", PATH_MAX - 10, s->folder);
    if (access(path, F_OK) != 0)
        return true;
    const bool fine = csv_read(path, DATASET_HEADER_YES, &from, error);
    for (size_t row = 0; fine && row < from.rows; row++) {
        study_run *run = run_of_row(s, &from, row);
        if (!run || run->results)
            continue;
        run->results = json_object();
        s->all.run[run - s->run].complete = true;
        if (strcmp(csv_text(&from, row, STATE), "diverged") == 0)
            json_object_set_new(run->results, "diverged", json_true());
        for (size_t column = EPOCHS; column < from.table.columns; column++)
            if (!csv_word_at(&from, row, column))
                json_object_set_new(run->results, csv_column_name(&from, column),
                                    json_real(csv_value(&from, row, column)));
    }
    csv_source_free(&from);
    return fine;
}

/* ---- folders of runs ---- */

static bool is_wanted(const void *context, const char *name)
{
    const study *s = context;
    return !s->settings->only || fnmatch(s->settings->only, name, 0) == 0;
}

/* Reads the numbers of complete runs. */
static bool read_folders(study *s, tg_error *error)
{
    char path[PATH_MAX];
    tg_error foreign;
    for (int i = 0; i < s->all.count; i++) {
        study_run *run = &s->run[i];
        const bool ours = pool_is_ours(&s->all, i, &foreign);
        if (!ours && !s->settings->overwrite && is_wanted(s, s->all.run[i].name))
            return tg_fail(error, "%s", foreign.text);
        if (run->results || !ours || !pool_is_complete(&s->all, i) || !pool_path(&s->all, i, path))
            continue;
        error->text[0] = '\0';
        run->results = run_numbers(path, s->file, error);
        if (!run->results)
            return error->text[0] ? false : tg_fail(error, "%.400s: cannot be read", path);
        s->all.run[i].complete = true;
    }
    return true;
}

/* ---- training ---- */

/* Loads the data, once for all experiments that have the same. */
static bool prepare(study *s, tg_error *error)
{
    for (int i = 0; i < s->experiment_count; i++) {
        const run_spec *own = &s->experiments[i]->settings.run;
        const experiment *lender = NULL;
        for (int k = 0; k < i && !lender; k++) {
            const run_spec *other = &s->experiments[k]->settings.run;
            lender = strcmp(other->data, own->data) == 0 && other->rows == own->rows ? s->experiments[k] : NULL;
        }
        if (!experiment_prepare(s->experiments[i], lender, error))
            return false;
    }
    return true;
}

/* Results are numbers alone: no rows, and noise and other forms where they are asked for. */
static bool measure(trainer *r, runlog_run *results, tg_error *error)
{
    const bool fine = run_outcome(r, results, error);
    if (fine && !tg_fit_diverged(r->fit)) {
        run_noise(r, results);
        run_variants(r, results);
    }
    return fine;
}

static bool check_only(const study *s, tg_error *error)
{
    for (int i = 0; i < s->all.count; i++)
        if (is_wanted(s, s->all.run[i].name))
            return true;
    return !s->all.count || tg_fail(error, "--only: none of the %d runs is called like '%.80s'; the first is %s",
                                    s->all.count, s->settings->only, s->all.run[0].name);
}

/* Trains the pending runs. False where another process works in the folder. */
static bool train(study *s, tg_error *error)
{
    const int taken = child_name() ? -1 : files_take_folder(s->runs, !s->settings->overwrite, error);
    fprintf(stderr, "%d of %d run%s done, %d to do\n", s->all.complete_count, s->all.count, plural(s->all.count),
            s->all.pending_count);
    if (taken == FILES_TAKEN)
        return false;
    s->outcome = pool_train(&s->all, &(jobs_config){.at_once = s->settings->sweep.at_once, .out = stderr});
    files_release_folder(taken);
    *error = s->outcome.error;
    return !s->outcome.refused;
}

int study_work(study *s, tg_error *error)
{
    const bool trains = !s->settings->report_only && s->all.count;
    s->all.of_their_own = true;
    s->all.overwrite = s->settings->overwrite;
    s->all.measure = measure;
    if (!check_only(s, error) || (trains && !prepare(s, error)))
        return 2;
    if (!files_make_folder(s->runs, error))
        return 1;
    if ((trains && !read_folders(s, error)) || !read_kept(s, error))
        return 2;
    if (trains)
        pool_look(&s->all, &s->settings->sweep, is_wanted, s);
    if (s->all.pending_count && (!train(s, error) || !read_folders(s, error)))
        return s->outcome.refused ? 2 : 1;
    s->all.complete_count = 0;
    for (int i = 0; i < s->all.count; i++)
        s->all.complete_count += s->all.run[i].complete;
    const bool keeps = trains && s->all.complete_count && sweep_is_whole(&s->settings->sweep);
    return keeps && !files_write(s->folder, "runs.csv", write_runs, s, error);
}
