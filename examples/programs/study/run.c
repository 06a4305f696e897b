#include "examples/programs/study/runs.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

run_spec study_spec(void)
{
    run_spec s = run_spec_defaults(true); /* AdamW without decay is Adam */
    run_spec_set(&s, "model=mlp split=fixed schedule=constant warmup=0 weight-decay=0 clip=0 activation-from=model");
    return s;
}

/* The folder of a run, for which STUDY_OUT leaves room. */
static const char *folder_of(const study_run *run, const char *folder, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 2 * STUDY_NAME, folder, run->name);
    return path;
}

/* ---- identity of a run ---- */

static const char *const not_compared[] = {"epochs", NULL};

/* The options and a checksum of the rows, which determine the numbers. */
static json_t *config_of(const study_run *run)
{
    static const void *known; /* the checksum is computed once for several hundred runs on a set of 200 MB */
    static unsigned long sum;
    run_spec spec = run->spec;
    if (run->from != known)
        sum = source_checksum(run->from);
    known = run->from;
    tg_model_spec_complete(&spec.net); /* an explicit default is the same run */
    json_t *config = run_spec_json(&spec);
    json_object_set_new(config, "checksum", json_integer((json_int_t)sum));
    return config;
}

bool study_record_is_foreign(const study_run *run, const char *folder, tg_error *error)
{
    char path[PATH_MAX];
    json_t *config = config_of(run);
    const bool ours = record_is_ours(folder_of(run, folder, path), config, not_compared, error);
    json_decref(config);
    return !ours;
}

/* ---- training ---- */

/* A diverged run is concluded with its last epoch. */
static json_t *results_of(const study_run *run, trainer *r, tg_error *error)
{
    json_t *results = run_outcome(r, error);
    if (results && run->grid->more && !tg_fit_diverged(r->fit))
        run->grid->more(r, results);
    return results;
}

static bool train(const study_run *run, const char *path, jobs_link *link, tg_error *error)
{
    run_source from = *run->from; /* with splits of its own */
    trainer r;
    run_setup setup = {.spec = run->spec,
                       .from = &from,
                       .folder = path,
                       .numbers_only = !run->grid->keeps_model,
                       .timed = true,
                       .link = link};
    tg_set_threads(1); /* runs share the processors among themselves */
    from.data.order = NULL;
    bool fine = source_complete(&setup.spec, &from, error) && source_split(&setup.spec, &from, error) &&
                run_open(&r, &setup, error);
    if (fine) {
        fine = (run_train(&r, error) || tg_fit_diverged(r.fit)) && run_conclude(&r, results_of(run, &r, error), error);
        run_close(&r);
    }
    free(from.data.order);
    return fine;
}

bool study_run_is_complete(const study_run *run, const char *folder)
{
    study_record record;
    tg_error unread;
    study_record_read(&record, run, folder, &unread);
    study_record_free(&record);
    return record.complete;
}

bool study_run_train(const study_run *run, const char *folder, bool overwrite, jobs_link *link, tg_error *error)
{
    char path[PATH_MAX];
    tg_error other;
    if (study_run_is_complete(run, folder))
        return true;
    const record_claims claims =
        overwrite && study_record_is_foreign(run, folder, &other) ? RECORD_OVERWRITE : RECORD_SAME;
    json_t *config = config_of(run);
    const bool fine = record_claim(folder_of(run, folder, path), config, claims, not_compared, error);
    json_decref(config);
    return fine && train(run, path, link, error);
}

/* ---- results ---- */

double study_record_result(const study_record *record, const char *name)
{
    const json_t *number = json_object_get(record->results, name);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

static void put(json_t *results, const char *name, double number)
{
    if (isfinite(number))
        json_object_set_new(results, name, json_real(number));
}

static void put_epoch(json_t *results, const char *name, double loss, int epoch)
{
    char text[40];
    snprintf(text, sizeof text, "%s_%d", name, epoch);
    put(results, text, loss);
}

/* Adds what the epochs give to the results. */
static void summarise(const study_record *record, const study_grid *grid)
{
    const runlog_epoch *first = record->epoch, *last = first + record->epochs - 1, *best = first;
    const runlog_measures test = record_measures(record->results, RUNLOG_TEST); /* of the best epoch */
    json_t *results = record->results;
    double rise = -INFINITY, most = 0, least = INFINITY;
    for (const runlog_epoch *e = first; e <= last; e++) {
        best = !(e->val_loss >= best->val_loss) ? e : best;
        rise = e > first ? fmax(rise, e->val_loss / e[-1].val_loss) : rise;
        most = fmax(most, e->grad_norm);
        least = fmin(least, e->grad_norm);
    }
    json_object_set_new(results, "best_epoch", json_integer(best->epoch));
    put(results, "best_val_loss", best->val_loss);
    put(results, "best_val_accuracy", best->val_accuracy);
    put(results, "test_loss", isnan(test.loss) ? last->test_loss : test.loss);
    put(results, "test_accuracy", test.accuracy);
    put(results, "epoch_2_loss", last > first ? first[1].train_loss : NAN);
    put(results, "dead", last->dead_fraction);
    put(results, "gap", last->val_loss - last->whole_train_loss);
    put(results, "rise", rise);
    put(results, "gradient_range", most / least);
    for (const int *after = grid->epochs; after<grid->epochs + GRID_EPOCHS && * after> 0; after++)
        if (*after <= record->epochs) {
            put_epoch(results, "val_loss", first[*after - 1].val_loss, *after);
            put_epoch(results, "test_loss", first[*after - 1].test_loss, *after);
            put_epoch(results, "train_loss", first[*after - 1].whole_train_loss, *after);
        }
}

bool study_record_read(study_record *record, const study_run *run, const char *folder, tg_error *error)
{
    tg_error foreign, unread;
    char path[PATH_MAX];
    *record = (study_record){0};
    if (study_record_is_foreign(run, folder, &foreign))
        return true;
    record->results = record_results(folder_of(run, folder, path), &unread);
    record->epoch = unread.text[0] ? NULL : record_epochs(path, &record->epochs, &unread);
    if (!record->epoch)
        return tg_fail(error, "%s", unread.text);
    record->diverged = (int)json_integer_value(json_object_get(record->results, "diverged"));
    record->complete = record->results && (record->diverged || record->epochs >= run->spec.epochs);
    if (record->complete && !record->diverged && record->epochs)
        summarise(record, run->grid);
    return true;
}

void study_record_free(study_record *record)
{
    free(record->epoch);
    json_decref(record->results);
    record->epoch = NULL;
    record->results = NULL;
}
