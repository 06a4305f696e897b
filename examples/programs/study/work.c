/* The runs of a study: training, and the numbers that are kept of them. runs.csv stays small enough for a repository: a
 * row for each complete run with its group (the run's name without the seed), options, lr, seed, state, epochs, and its
 * numbers. `compare --runs` reads it. */
#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/run/record.h"
#include "examples/programs/study/study.h"
#include "examples/programs/system/child.h"

/* ---- the kept file: results have its columns from the state on ---- */

enum { GROUP, OPTIONS, LR, SEED, STATE, EPOCHS };

static bool write_runs(const void *context, FILE *to)
{
    const study *s = context;
    json_t *columns = json_object(), *value; /* that some run has, in order */
    const char *name;
    for (int i = 0; i < s->all.count; i++)
        json_object_update(columns, s->run[i].results);
    fputs("group,options,lr,seed", to);
    json_object_foreach(columns, name, value)
        fprintf(to, ",%s", name);
    for (int i = 0; i < s->all.count; i++) {
        const study_run *run = &s->run[i];
        const char *group = s->all.run[i].name;
        if (!run->results)
            continue;
        fprintf(to, "\n%.*s,\"%s\",%g,%d", (int)(strstr(group, "-seed") - group), group, run->options, run->spec.lr,
                run->spec.seed);
        json_object_foreach(columns, name, value) {
            const json_t *cell = json_object_get(run->results, name);
            fprintf(to, ",%s",
                    json_is_number(cell) ? number_text(json_number_value(cell), (char[NUMBER_TEXT]){0})
                    : cell               ? json_string_value(cell)
                                         : "");
        }
    }
    fputc('\n', to);
    json_decref(columns);
    return true;
}

/* Sets the results of a run from a row of numbers, unless it has some. */
static void set_results(study *s, int i, const char *state, json_t *numbers)
{
    const char *name;
    json_t *value;
    json_t *results = s->run[i].results =
        json_pack("{s:s, s:O}", "state", state, "epochs", json_object_get(numbers, "epochs"));
    json_object_foreach(numbers, name, value) {
        if (json_is_number(value) && strcmp(name, "diverged") != 0)
            json_object_set(results, name, value);
    }
    s->all.run[i].complete = true;
}

/* Takes a row that is of a run without results, has its options, and is complete. */
static void read_row(study *s, const csv_source *from, size_t row)
{
    char name[POOL_NAME];
    int i = 0;
    snprintf(name, sizeof name, "%s-seed%g", csv_text(from, row, GROUP), csv_value(from, row, SEED));
    while (i < s->all.count && strcmp(s->all.run[i].name, name) != 0)
        i++;
    const char *state = strcmp(csv_text(from, row, STATE), "diverged") == 0 ? "diverged" : "finished";
    if (i == s->all.count || s->run[i].results || strcmp(csv_text(from, row, OPTIONS), s->run[i].options) != 0 ||
        (*state == 'f' && csv_value(from, row, EPOCHS) < s->run[i].spec.epochs))
        return;
    json_t *numbers = json_object();
    for (size_t column = EPOCHS; column < from->table.columns; column++)
        if (!csv_word_at(from, row, column))
            json_object_set_new(numbers, csv_column_name(from, column), json_real(csv_value(from, row, column)));
    set_results(s, i, state, numbers);
    json_decref(numbers);
}

static bool read_kept(study *s, tg_error *error)
{
    char path[PATH_MAX];
    csv_source from;
    snprintf(path, sizeof path, "%.*s/runs.csv", PATH_MAX - 10, s->folder);
    if (access(path, F_OK) != 0)
        return true;
    const bool fine = csv_read(path, DATASET_HEADER_YES, &from, error);
    for (size_t row = 0; fine && row < from.rows; row++)
        read_row(s, &from, row);
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
        const bool ours = pool_is_ours(&s->all, i, &foreign);
        if (!ours && !s->settings->overwrite && is_wanted(s, s->all.run[i].name))
            return tg_fail(error, "%s", foreign.text);
        if (s->run[i].results || !ours || !pool_is_complete(&s->all, i) || !pool_path(&s->all, i, path))
            continue;
        error->text[0] = '\0';
        json_t *numbers = run_numbers(path, s->file, error);
        if (!numbers)
            return error->text[0] ? false : tg_fail(error, "%.400s: cannot be read", path);
        set_results(s, i, json_object_get(numbers, "diverged") ? "diverged" : "finished", numbers);
        json_decref(numbers);
    }
    return true;
}

/* ---- training ---- */

/* True if all options of data agree, which are those before the model's, and the weights of classes. */
static bool have_same_data(const experiment *a, const experiment *b)
{
    bool same = options_agree(options_find(run_options, "class-weights"), &a->settings.run, &b->settings.run);
    for (const program_option *o = run_options; o < options_find(run_options, "model"); o++)
        same = same && (!o->name || options_agree(o, &a->settings.run, &b->settings.run));
    return same;
}

/* Loads the data, once for all experiments that have the same. */
static bool prepare(study *s, tg_error *error)
{
    for (int i = 0; i < s->experiment_count; i++) {
        const experiment *lender = NULL;
        for (int k = 0; k < i && !lender; k++)
            lender = have_same_data(s->experiments[k], s->experiments[i]) ? s->experiments[k] : NULL;
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
