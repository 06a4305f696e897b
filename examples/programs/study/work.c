/* The runs of a study: training, and the numbers that are kept of them. runs.csv stays small enough for a repository: a
 * row for each complete run with its group (the run's name without the seed), options, lr, seed, state, epochs, and its
 * numbers. `compare --runs` reads it. */
#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/run/numbers.h"
#include "examples/programs/study/study.h"
#include "examples/programs/system/child.h"
#include "examples/programs/system/posix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the kept file ---- */

static const char *const before[] = {"group", "options", "lr", "seed", "state", "epochs"};
enum { GROUP, OPTIONS, LR, SEED, STATE, EPOCHS, BEFORE };

static int group_length(const pool_run *run)
{
    return (int)(strstr(run->name, "-seed") - run->name);
}

/* False for what stands in other columns, and for lists. */
static bool is_column(const char *name, const json_t *value)
{
    return json_is_number(value) && strcmp(name, "epochs") != 0 && strcmp(name, "diverged") != 0;
}

static bool write_runs(const void *context, FILE *to)
{
    const study *s = context;
    json_t *names = json_object(), *value; /* of all numbers that some run has, in order */
    const char *name;
    for (int i = 0; i < BEFORE; i++)
        fprintf(to, "%s%s", i ? "," : "", before[i]);
    for (int i = 0; i < s->all.count; i++)
        json_object_foreach(s->run[i].results, name, value) {
            if (is_column(name, value))
                json_object_set_new(names, name, json_null());
        }
    json_object_foreach(names, name, value)
        fprintf(to, ",%s", name);
    fputc('\n', to);
    for (int i = 0; i < s->all.count; i++) {
        const study_run *run = &s->run[i];
        if (!run->results)
            continue;
        fprintf(to, "%.*s,\"%s\",%g,%d,%s,%d", group_length(&s->all.run[i]), s->all.run[i].name, run->options,
                run->spec.lr, run->spec.seed, run->diverged ? "diverged" : "finished", run->epochs);
        json_object_foreach(names, name, value) {
            const json_t *number = json_object_get(run->results, name);
            fprintf(to, ",%s", number ? number_text(json_number_value(number), (char[NUMBER_TEXT]){0}) : "");
        }
        fputc('\n', to);
    }
    json_decref(names);
    return true;
}

/* Gives a row's numbers to the run of its group and seed, if that has none. */
static void read_run(study *s, const csv_source *from, size_t row)
{
    const char *group = csv_word_at(from, row, GROUP);
    int i = 0;
    while (i < s->all.count && (!group || s->run[i].spec.seed != csv_value(from, row, SEED) ||
                                strlen(group) != (size_t)group_length(&s->all.run[i]) ||
                                strncmp(s->all.run[i].name, group, strlen(group)) != 0))
        i++;
    study_run *run = &s->run[i];
    const char *options = csv_word_at(from, row, OPTIONS); /* the next word takes its place */
    if (i == s->all.count || run->results || !options || strcmp(options, run->options) != 0)
        return;
    const char *state = csv_word_at(from, row, STATE);
    run->epochs = (int)csv_value(from, row, EPOCHS);
    run->diverged = state && strcmp(state, "diverged") == 0;
    if (!run->diverged && run->epochs < run->spec.epochs)
        return;
    run->results = json_object();
    s->all.run[i].complete = true;
    for (size_t column = BEFORE; column < from->table.columns; column++)
        if (!csv_word_at(from, row, column))
            json_object_set_new(run->results, csv_column_name(from, column), json_real(csv_value(from, row, column)));
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
        read_run(s, &from, row);
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
        run->diverged = json_object_get(run->results, "diverged");
        run->epochs = (int)json_integer_value(json_object_get(run->results, "epochs"));
        s->all.run[i].complete = true;
    }
    return true;
}

/* Loads the data, once for all experiments that have the same. */
static bool prepare(study *s, tg_error *error)
{
    for (int i = 0; i < s->experiment_count; i++) {
        const run_spec *own = &s->experiments[i]->settings.run;
        const experiment *lender = NULL;
        for (int k = 0; k < i && !lender; k++)
            if (strcmp(s->experiments[k]->settings.run.data, own->data) == 0 &&
                s->experiments[k]->settings.run.rows == own->rows)
                lender = s->experiments[k];
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
    return tg_fail(error, "--only: none of the %d runs is called like '%.80s'; the first is %s", s->all.count,
                   s->settings->only, s->all.count ? s->all.run[0].name : "not there");
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
    if (!check_only(s, error) && s->all.count)
        return 2;
    if (trains && !prepare(s, error))
        return 2;
    if (!files_make_folder(s->runs, error))
        return 1;
    if ((trains && !read_folders(s, error)) || !read_kept(s, error))
        return 2;
    if (trains) {
        pool_look(&s->all, &s->settings->sweep, is_wanted, s);
        if (s->all.pending_count && (!train(s, error) || !read_folders(s, error)))
            return s->outcome.refused ? 2 : 1;
    }
    s->all.complete_count = 0;
    for (int i = 0; i < s->all.count; i++)
        s->all.complete_count += s->all.run[i].complete;
    const bool keeps = trains && s->all.complete_count && sweep_is_whole(&s->settings->sweep);
    return keeps && !files_write(s->folder, "runs.csv", write_runs, s, error);
}

/* ---- cells ---- */

/* The run of a cell; NULL if it is not complete. */
static const study_run *run_of(const study_cell *cell, double rate, int seed)
{
    for (int i = 0; cell->name && i < cell->of->all.count; i++) {
        const study_run *run = &cell->of->run[i];
        if (run->cell == cell->name && run->spec.lr == rate && run->spec.seed == seed) /* equal texts are shared */
            return run->results ? run : NULL;
    }
    return NULL;
}

double study_cell_value(const study_cell *cell, double rate, const char *name, int seed)
{
    const study_run *run = run_of(cell, rate, seed);
    const json_t *number = run && !run->diverged ? json_object_get(run->results, name) : NULL;
    return json_is_number(number) ? json_number_value(number) : NAN;
}

int study_cell_values(const study_cell *cell, double rate, const char *name, double values[STUDY_SEEDS])
{
    int complete = 0;
    for (int seed = 1; seed <= cell->seeds; seed++) {
        values[seed - 1] = study_cell_value(cell, rate, name, seed);
        complete += complete == seed - 1 && run_of(cell, rate, seed);
    }
    return complete;
}

/* The mean logarithm of the lowest validation losses, of losses on the test rows without validation rows, over the
 * seeds that are complete; infinite if a run diverged. */
static double loss_at(const study_cell *cell, double rate, int *complete)
{
    double losses[2][STUDY_SEEDS], sum = 0;
    *complete = study_cell_values(cell, rate, "best_val_loss", losses[0]);
    study_cell_values(cell, rate, "test_loss", losses[1]);
    for (int i = 0; i < *complete; i++) {
        const double loss = losses[isnan(losses[0][i])][i];
        sum += isnan(loss) ? INFINITY : log(loss);
    }
    return sum / *complete;
}

study_cell study_cell_of(const study *s, const char *name)
{
    study_cell cell = {.of = s};
    for (int i = 0; i < s->all.count; i++) {
        const study_run *run = &s->run[i];
        if (strcmp(run->cell, name) != 0)
            continue;
        cell.name = run->cell;
        cell.seeds = run->spec.seed < STUDY_SEEDS ? run->spec.seed : STUDY_SEEDS;
        if (run->spec.seed == 1 && cell.rate_count < STUDY_RATES)
            cell.rates[cell.rate_count++] = run->spec.lr;
    }
    double lowest = INFINITY;
    int most = 0;
    cell.whole = cell.name;
    for (int rate = 0; rate < cell.rate_count; rate++) {
        int complete;
        const double loss = loss_at(&cell, cell.rates[rate], &complete);
        cell.whole = cell.whole && complete == cell.seeds;
        if (complete > most || (complete == most && loss < lowest)) {
            lowest = loss;
            cell.best = complete ? cell.rates[rate] : 0;
            most = complete;
        }
    }
    return cell;
}
