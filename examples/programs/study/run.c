#include "examples/programs/study/run.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const double seconds_of_a_sample = 0.2;

run_spec study_spec(void)
{
    run_spec s = run_spec_defaults();
    s.net.model = "mlp";
    s.split = "fixed";
    s.schedule = "constant";
    s.warmup = s.weight_decay = s.clip = 0; /* AdamW without decay is Adam */
    s.paired = true;
    s.activation_from = "model";
    return s;
}

/* The folder of a run, for which STUDY_OUT leaves room. */
static char *folder_of(const study_run *run, const char *folder, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 2 * STUDY_NAME, folder, run->name);
    return path;
}

/* Opens the run's rows with splits of their own; free source.data.order. */
static bool open_source(const study_run *run, run_spec *spec, run_source *from, tg_error *error)
{
    *spec = run->spec;
    *from = *run->from;
    from->data.order = NULL;
    return source_complete(spec, from, error) && source_split(spec, from, error);
}

bool study_run_split(const study_run *run, dataset *data, tg_error *error)
{
    run_spec spec = run->spec;
    run_source from = {.data = *data};
    const bool fine = source_split(&spec, &from, error);
    *data = from.data;
    return fine;
}

/* ---- identity of a run ---- */

/* A checksum of a file's bytes; 0 if it cannot be read. */
static unsigned long file_checksum(const char *path)
{
    unsigned char some[1 << 14];
    unsigned long sum = crc32(0, NULL, 0);
    FILE *file = fopen(path, "re");
    for (size_t got; file && (got = fread(some, 1, sizeof some, file)) > 0;)
        sum = crc32(sum, some, (unsigned)got);
    if (file)
        fclose(file);
    return file ? sum : 0;
}

static const char *const not_compared[] = {"epochs", NULL};

/* The options, and checksums of the rows and weights, which determine the numbers. */
static json_t *config_of(const study_run *run)
{
    static const void *known; /* the checksum is computed once for several hundred runs on a set of 200 MB */
    static unsigned long sum;
    run_spec spec = run->spec;
    if (run->from != known)
        sum = source_checksum(run->from);
    known = run->from;
    net_spec_complete(&spec.net); /* an explicit default is the same run */
    json_t *config = run_spec_json(&spec);
    json_object_set_new(config, "checksum", json_integer((json_int_t)sum));
    if (spec.start)
        json_object_set_new(config, "start", json_integer((json_int_t)file_checksum(spec.start)));
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

static bool claim(const study_run *run, const char *path, record_claims claims, tg_error *error)
{
    json_t *config = config_of(run);
    const bool fine = record_claim(path, config, claims, not_compared, error);
    json_decref(config);
    return fine;
}

/* ---- training ---- */

/* A diverged run is concluded with its last epoch. */
static json_t *results_of(const study_run *run, trainer *r, tg_error *error)
{
    json_t *results = run_outcome(r, error);
    if (results && run->more && !tg_fit_diverged(r->fit))
        run->more(r, results);
    return results;
}

static bool train(const study_run *run, const char *path, jobs_link *link, tg_error *error)
{
    static const card of_no_model;
    run_source from;
    trainer r;
    run_setup setup = {
        .from = &from, .folder = path, .numbers_only = !run->keeps_model, .link = link, .started = &of_no_model};
    tg_set_threads(1); /* runs share the processors among themselves */
    bool fine = open_source(run, &setup.spec, &from, error) && run_open(&r, &setup, error);
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
    study_record_read(&record, run, folder);
    const bool complete = record.complete;
    study_record_free(&record);
    return complete;
}

bool study_run_train(const study_run *run, const char *folder, bool overwrite, jobs_link *link, tg_error *error)
{
    char path[PATH_MAX];
    tg_error other;
    const bool foreign = overwrite && study_record_is_foreign(run, folder, &other);
    folder_of(run, folder, path);
    return study_run_is_complete(run, folder) ||
           (claim(run, path, foreign ? RECORD_OVERWRITE : RECORD_SAME, error) && train(run, path, link, error));
}

/* ---- work besides training ---- */

static bool sample(void *begin, const jobs_progress *now)
{
    return now->step < 2 || jobs_clock() - *(const double *)begin < seconds_of_a_sample;
}

double study_run_seconds(const study_run *run, tg_error *error)
{
    run_source from;
    trainer r;
    double begin = jobs_clock(), seconds = NAN;
    run_setup setup = {.from = &from, .context = &begin, .on_progress = sample};
    study_run shorter = *run;
    shorter.spec.start = NULL;
    shorter.spec.epochs = 2;
    tg_set_threads(1);
    if (open_source(&shorter, &setup.spec, &from, error) && run_open(&r, &setup, error)) {
        const bool fine = run_train(&r, error) || tg_fit_diverged(r.fit);
        const run_spec *s = &run->spec;
        /* A measurement is forward only: a third of a step for as many rows. */
        const double measured = (double)from.valid.count + 0.3 * (double)from.test.count +
                                (s->train_loss_every ? (double)from.train.count / s->train_loss_every : 0);
        const double step = r.timed_steps ? r.step_seconds / (double)r.timed_steps : r.seconds;
        if (fine)
            seconds = step * ((double)r.steps_of_epoch + measured / s->batch / 3);
        run_close(&r);
    }
    free(from.data.order);
    return seconds;
}

tg_model *study_run_net(const study_run *run, const char *folder, tg_error *error)
{
    const tg_rng rng = tg_rng_seed((uint64_t)run->spec.seed);
    char path[PATH_MAX];
    run_spec spec = run->spec;
    tg_model *made = source_complete(&spec, run->from, error)
                         ? (run_spec_complete(&spec, 1), net_new(&spec.net, &rng, error))
                         : NULL;
    const tg_load_options options = {.allow_unknown = true};
    strcat(folder_of(run, folder, path), "/last.safetensors");
    if (made && tg_parameters_load(tg_model_parameters(made), path, &options, error))
        return made;
    tg_model_free(made);
    return NULL;
}

/* ---- results ---- */

void study_record_read(study_record *record, const study_run *run, const char *folder)
{
    tg_error error;
    char path[PATH_MAX];
    *record = (study_record){0};
    if (study_record_is_foreign(run, folder, &error))
        return;
    folder_of(run, folder, path);
    tg_error unread; /* such a run counts as missing, and training it then fails with the reason */
    record->results = record_results(path, &unread);
    record->epoch = record_epochs(path, &record->epochs, &unread);
    record->diverged = (int)json_integer_value(json_object_get(record->results, "diverged"));
    record->ended = json_is_true(json_object_get(record->results, "ended"));
    record->complete = record->results && (record->diverged || record->ended || record->epochs >= run->spec.epochs);
}

void study_record_free(study_record *record)
{
    free(record->epoch);
    json_decref(record->results);
    *record = (study_record){0};
}

/* A number of an object; NaN if there is none. */
static double number_of(const json_t *object, const char *name)
{
    const json_t *number = json_object_get(object, name);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

double study_record_at(const study_record *record, int epoch, study_column column)
{
    if (record->ended && epoch > record->epochs)
        epoch = record->epochs;
    if (epoch < 1 || epoch > record->epochs)
        return NAN;
    const runlog_epoch *e = &record->epoch[epoch - 1];
    const json_t *best = json_object_get(record->results, "best_epoch"),
                 *test = json_integer_value(best) == epoch ? json_object_get(record->results, "test") : NULL;
    const double of[STUDY_COLUMNS] = {[STUDY_STEP_LOSS] = e->train_loss,
                                      [STUDY_TRAIN_LOSS] = e->whole_train_loss,
                                      [STUDY_VAL_LOSS] = e->val_loss,
                                      [STUDY_VAL_ACCURACY] = e->val_accuracy,
                                      [STUDY_TEST_LOSS] = test ? number_of(test, "loss") : e->test_loss,
                                      [STUDY_TEST_ACCURACY] = number_of(test, "accuracy"),
                                      [STUDY_DEAD] = e->dead_fraction,
                                      [STUDY_GRADIENT] = e->grad_norm};
    return of[column];
}

double study_record_result(const study_record *record, const char *name, size_t index)
{
    const json_t *found = json_object_get(record->results, name);
    const json_t *number = json_is_array(found) ? json_array_get(found, index) : found;
    return json_is_number(number) ? json_number_value(number) : NAN;
}
