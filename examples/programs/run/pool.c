#include "examples/programs/run/pool.h"

#include "examples/programs/report/memory.h"

void pool_add(pool *to, const experiment *e, int number, const char *prefix)
{
    char name[EXPERIMENT_POINT];
    experiment_name(e, number, name);
    to->run = memory_grown(to->run, (size_t)to->count, sizeof *to->run);
    pool_run *added = &to->run[to->count++];
    *added = (pool_run){.of = e, .number = number};
    snprintf(added->name, sizeof added->name, "%s%s", prefix, name);
}

void pool_free(pool *all)
{
    free(all->run);
    free(all->pending);
    *all = (pool){0};
}

bool pool_path(const pool *all, int which, char path[PATH_MAX])
{
    return files_path(all->folder, all->run[which].name, path);
}

/* ---- runs with a config.json of their own ---- */

static const char *const not_compared[] = {"epochs", NULL};

/* The options and a checksum of the data, which determine the numbers. */
static json_t *config_of(const pool_run *one)
{
    static const void *known; /* checksums are computed once for several hundred runs on a set of 200 MB */
    static source_sums sums;
    const run_source *from = &one->of->from;
    const void *data = from->is_text ? (const void *)from->letters.read : from->data.x;
    run_spec spec = experiment_spec(one->of, one->number);
    if (data != known)
        sums = source_checksums(from);
    known = data;
    tg_model_spec_complete(&spec.net); /* an explicit default is the same run */
    json_t *config = run_spec_json(&spec);
    source_put_checksums(&sums, config);
    return config;
}

bool pool_is_ours(const pool *all, int which, tg_error *error)
{
    char path[PATH_MAX];
    json_t *config = config_of(&all->run[which]);
    const bool ours = pool_path(all, which, path) && record_is_ours(path, config, not_compared, error);
    json_decref(config);
    return ours;
}

static bool claim(const pool *all, int which, const char *path, tg_error *error)
{
    tg_error other;
    const bool removes = all->overwrite && !pool_is_ours(all, which, &other);
    json_t *config = config_of(&all->run[which]);
    const bool fine = record_claim(path, config, removes ? RECORD_OVERWRITE : RECORD_SAME, not_compared, error);
    json_decref(config);
    return fine;
}

/* ---- which are missing ---- */

/* A run that has ended may want more epochs now. */
bool pool_is_complete(const pool *all, int which)
{
    tg_error error;
    char path[PATH_MAX];
    const pool_run *one = &all->run[which];
    runlog_run results = runlog_run_new();
    const bool ended = pool_path(all, which, path) && record_is_finished(path, &results),
               complete =
                   ended && (!all->of_their_own ||
                             (pool_is_ours(all, which, &error) &&
                              (results.diverged || results.epochs >= experiment_spec(one->of, one->number).epochs)));
    runlog_run_free(&results);
    return complete;
}

void pool_look(pool *all, const sweep *part, bool (*wanted)(const void *context, const char *name), const void *context)
{
    free(all->pending);
    all->pending = memory_checked(calloc((size_t)all->count + 1, sizeof *all->pending));
    all->pending_count = all->complete_count = 0;
    for (int i = 0; i < all->count; i++) {
        pool_run *one = &all->run[i];
        one->complete = one->complete || pool_is_complete(all, i);
        all->complete_count += one->complete;
        if (!one->complete && sweep_has(part, i) && (!wanted || wanted(context, one->name)))
            all->pending[all->pending_count++] = i;
    }
}

void pool_read(const pool *all, runlog *log)
{
    char folder[PATH_MAX], point[EXPERIMENT_POINT];
    tg_error error;
    for (int i = 0; i < all->count; i++) {
        const experiment *e = all->run[i].of;
        const int number = all->run[i].number;
        const run_spec spec = experiment_given(e, number);
        for (int a = 0; i == 0 && a < e->form_count; a++)
            runlog_add_activation(log, e->form[a].name);
        const int added =
            runlog_add_run(log, experiment_form_of(e, number)->name, (uint64_t)spec.seed, spec.folds ? spec.fold : 0,
                           e->parameters[number % (e->form_count * e->points)]);
        experiment_point(e, number, point);
        runlog_set_point(log, added, point, experiment_number(e, number));
        if (pool_path(all, i, folder) && !record_read(folder, runlog_at(log, added), &error))
            runlog_fail(log, error.text);
    }
}

/* ---- training ---- */

/* A run, in a process of its own. Divergence is a result, not a failure. */
static int train(int job, jobs_link *link, void *context)
{
    const pool *all = context;
    const int which = all->pending[job];
    const experiment *e = all->run[which].of;
    run_source from = e->from; /* with splits of its own */
    tg_error error;
    char path[PATH_MAX];
    trainer r;
    tg_set_threads(1); /* runs share the processors among themselves */
    if (!pool_path(all, which, path))
        return jobs_fail(link, "the folder's name is too long");
    const run_spec spec = experiment_given(e, all->run[which].number);
    const run_setup setup = {.spec = spec,
                             .from = &from,
                             .folder = path,
                             .numbers_only = !e->settings.keep_models,
                             .timed = true,
                             .surface = !all->measure && spec.seed == e->settings.run.seed && spec.fold <= 1,
                             .link = link};
    const bool fine = (all->of_their_own ? claim(all, which, path, &error) : files_make_folder(path, &error)) &&
                      run_open(&r, &setup, &error) && (run_train(&r, &error) || tg_fit_diverged(r.fit)) &&
                      run_conclude(&r, all->measure ? all->measure : run_results, &error);
    return fine ? 0 : jobs_fail(link, "%s", error.text);
}

static bool is_finished(int job, void *context)
{
    const pool *all = context;
    return pool_is_complete(all, all->pending[job]);
}

static const char *name_of(int job, void *context)
{
    const pool *all = context;
    return all->run[all->pending[job]].name;
}

jobs_outcome pool_train(pool *all, const jobs_config *how)
{
    jobs_config config = *how;
    config.count = all->pending_count;
    config.context = all;
    config.run = train;
    config.name = name_of;
    config.unit = "rows";
    config.folder = all->folder;
    config.is_finished = is_finished;
    return jobs_run(&config);
}
