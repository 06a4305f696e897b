/* Whose a folder is, and what a run in it came to: result.json. */
#include "examples/programs/data/advice.h"
#include "examples/programs/run/record.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/run/paper.h"
#include "examples/programs/run/options.h"
#include "examples/programs/system/posix.h"
#include "plots/plots.h"

/* The object in a file. NULL if there is no such file, with an empty error, or if it cannot be read; a damaged one, as
 * after a power failure, counts as none. */
static json_t *load(const char *folder, const char *name, tg_error *error)
{
    FILE *file = files_read(folder, name, error);
    json_t *object = file ? json_loadf(file, 0, NULL) : NULL;
    if (file && !files_end_reading(file, folder, name, error)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static bool write_json(const void *object, FILE *to)
{
    return json_dumpf(object, to, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0 && fputc('\n', to) != EOF;
}

static bool write_config(const void *object, FILE *to)
{
    return json_dumpf(object, to, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 && fputc('\n', to) != EOF; /* 0.1 */
}

/* ---- ownership of a folder ---- */

/* Equal as options: 1e-3 as a number or as text is the same; an option that an older version lacked equals one that is
 * not set. */
static bool is_same(const json_t *a, const json_t *b)
{
    if (!b)
        return !a || json_is_null(a) || json_is_false(a) || (json_is_number(a) && json_number_value(a) == 0) ||
               (json_is_string(a) &&
                (strcmp(json_string_value(a), "0") == 0 || strcmp(json_string_value(a), "no") == 0));
    return json_is_number(a) && json_is_number(b) ? json_number_value(a) == json_number_value(b)
                                                  : json_equal(a, b) || (!a && json_is_null(b));
}

/* The checksum of all data decides, not that of the rows, which an older version lacked. */
static const char *difference(json_t *ours, json_t *theirs, const char *const *ignored)
{
    const char *name;
    json_t *value;
    json_object_foreach(ours, name, value) {
        if (strcmp(name, "checksum_rows") != 0 && !ignored[options_position(ignored, name)] &&
            !is_same(value, json_object_get(theirs, name)))
            return name;
    }
    return NULL;
}

/* True for the configuration of compare, which has several values of an option where train has one. */
static bool is_comparison(const json_t *config)
{
    return json_object_get(config, "activations") != NULL;
}

static const char *const result_files[] = {
    "runs",        "last.safetensors", "best.safetensors", "curves.csv",        "steps.csv",
    "result.json", "rows.csv",         "predictions.csv",  "refit.safetensors", "grid.csv",
    "pending.csv", "report.html",      "runs.csv",         "summary.csv",       "pairs.csv"};
enum { RESULTS = sizeof result_files / sizeof *result_files };

static void remove_results(const char *folder)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < RESULTS; i++)
        if (files_path(folder, result_files[i], path))
            files_remove_all(path);
    plots_remove(folder);
    paper_remove(folder);
}

static bool is_result(const char *folder, const char *name, const char *path)
{
    char of_folder[PATH_MAX];
    return files_path(folder, name, of_folder) && files_are_one(of_folder, path);
}

bool record_spares(const char *folder, const char *path, tg_error *error)
{
    bool lost = path && paper_has(folder, path);
    for (size_t i = 0; path && i < RESULTS; i++)
        lost |= is_result(folder, result_files[i], path);
    for (int i = 0; path && runlog_file(i); i++)
        lost |= is_result(folder, runlog_file(i), path);
    return !lost || tg_fail(error, "%.200s is a file that --out %.200s overwrites; use another folder", path, folder);
}

static const char data_sum[] = "checksum";

/* True unless the folder has results of other data. */
static bool is_of_our_data(const char *folder, const json_t *config, tg_error *error)
{
    tg_error unread;
    json_t *theirs = load(folder, "config.json", &unread);
    const json_t *sum = json_object_get(theirs, data_sum);
    const bool same = !sum || is_same(json_object_get(config, data_sum), sum);
    json_decref(theirs);
    return same || tg_fail(error, "--resume: the run in %.200s has other data, or the file has changed; " ADVICE_START,
                           folder, folder);
}

/* Describes a value in a message. */
static void say(const json_t *value, char *text, size_t size)
{
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL;
    snprintf(text, size, "%s", dumped ? dumped : "nothing");
    free(dumped);
}

/* A file in the folder that a run would overwrite or remove although no run of ours wrote it: those of a run lie beside
 * its config.json. NULL if there is none. */
static const char *foreign_file(const char *folder, const json_t *config, char picture[PLOTS_NAME])
{
    if (json_object_get(config, "data") && json_object_get(config, "epochs"))
        return NULL;
    for (int i = 0; runlog_file(i); i++)
        if (files_exists(folder, runlog_file(i)))
            return runlog_file(i);
    for (size_t i = 0; i < RESULTS; i++)
        if (files_exists(folder, result_files[i]))
            return result_files[i];
    return plots_find(folder, picture) ? picture : NULL;
}

static bool fail_foreign(const char *folder, const char *file, tg_error *error)
{
    return tg_fail(error, "%.200s has %s, which is not of a run of this program; use --out for another folder", folder,
                   file);
}

bool record_may_overwrite(const char *folder, tg_error *error)
{
    char picture[PLOTS_NAME];
    json_t *theirs = load(folder, "config.json", error);
    const char *foreign = error->text[0] ? NULL : foreign_file(folder, theirs, picture);
    json_decref(theirs);
    return foreign ? fail_foreign(folder, foreign, error) : !error->text[0];
}

bool record_is_ours(const char *folder, json_t *config, const char *const *ignored, tg_error *error)
{
    /* checks results before config.json: a process that starts at the same time writes config.json first */
    const bool used =
        files_exists(folder, "curves.csv") || files_exists(folder, "runs") || files_exists(folder, "last.safetensors");
    tg_error unread;
    json_t *theirs = load(folder, "config.json", &unread);
    if (unread.text[0])
        return tg_fail(error, "%s", unread.text);
    char picture[PLOTS_NAME];
    const char *foreign = foreign_file(folder, theirs, picture);
    const char *other = theirs && used ? difference(config, theirs, ignored) : NULL;
    const bool ours = !foreign && !other;
    if (!ours) {
        char had[80] = "", have[80] = "";
        if (foreign) {
            fail_foreign(folder, foreign, error);
        } else if (is_comparison(theirs) != is_comparison(config)) {
            tg_fail(error, "%.200s has results of %s; " ADVICE_OTHER_FOLDER, folder,
                    is_comparison(theirs) ? "compare" : "train");
        } else if (strcmp(other, data_sum) == 0) {
            tg_fail(error, "%.200s has results of other data: the file has changed; " ADVICE_OTHER_FOLDER, folder);
        } else {
            say(json_object_get(theirs, other), had, sizeof had);
            say(json_object_get(config, other), have, sizeof have);
            tg_fail(error, "%.200s has results with another --%s: %s, not %s; " ADVICE_OTHER_FOLDER, folder, other, had,
                    have);
        }
    }
    json_decref(theirs);
    return ours;
}

bool record_claim(const char *folder, json_t *config, record_claims claims, const char *const *ignored, tg_error *error)
{
    if (claims == RECORD_SAME && !record_is_ours(folder, config, ignored, error))
        return false;
    if (claims == RECORD_SAME_DATA)
        return is_of_our_data(folder, config, error);
    if (claims == RECORD_OVERWRITE)
        remove_results(folder);
    return files_make_folder(folder, error) && record_configure(folder, config, error);
}

bool record_configure(const char *folder, json_t *config, tg_error *error)
{
    return files_write(folder, "config.json", write_config, config, error);
}

/* The number of epochs in the folder; -1 if they cannot be read. */
static int count_epochs(const char *folder, tg_error *error)
{
    int count;
    runlog_epoch *epochs = record_epochs(folder, &count, error);
    free(epochs);
    return epochs ? count : -1;
}

/* The rows of rows.csv, below its header; -1 if it cannot be read. A row whose line is broken off does not count. */
static long count_rows(const char *folder, tg_error *error)
{
    FILE *file = files_read(folder, "rows.csv", error);
    long lines = 0;
    if (!file)
        return error->text[0] ? -1 : 0;
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    return !files_end_reading(file, folder, "rows.csv", error) ? -1 : lines > 0 ? lines - 1 : 0;
}

/* ---- the rows of a run ---- */

/* True if both have the same value of an option, or neither has one. */
static bool has_same(const json_t *a, const json_t *b, const char *option)
{
    const json_t *x = json_object_get(a, option), *y = json_object_get(b, option);
    return (!x && !y) || json_equal(x, y);
}

/* Splits the path of a model file into folder and name, which is returned. */
static const char *split_path(const char *model, char folder[PATH_MAX])
{
    const char *slash = strrchr(model, '/');
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - model) : 1, slash ? model : ".");
    return slash ? slash + 1 : model;
}

bool record_has_refit(const char *model)
{
    char folder[PATH_MAX];
    return strcmp(split_path(model, folder), "best.safetensors") == 0 && files_exists(folder, "refit.safetensors");
}

record_seen record_seen_rows(const char *model, const json_t *config)
{
    static const char *const splits[] = {"validation", "test", "split", "folds", "fold", "groups"};
    char folder[PATH_MAX], path[PATH_MAX];
    const bool refit = strcmp(split_path(model, folder), "refit.safetensors") == 0;
    if (!files_path(folder, "config.json", path))
        return RECORD_SEEN_NONE;
    json_t *theirs = json_load_file(path, 0, NULL);
    const char *split = json_string_value(json_object_get(config, "split")),
               *validation = json_string_value(json_object_get(config, "validation"));
    bool same = has_same(theirs, config, "seed") || (split && strcmp(split, "fixed") == 0);
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        same = same && has_same(theirs, config, splits[i]);
    const char *sum = json_object_get(theirs, "checksum_rows") ? "checksum_rows" : "checksum"; /* of an older version */
    const bool data = json_object_get(theirs, sum) && has_same(theirs, config, sum);
    json_decref(theirs);
    return !data                                                       ? RECORD_SEEN_NONE
           : !same                                                     ? RECORD_SEEN_ALL
           : refit && !(validation && strcmp(validation, "none") == 0) ? RECORD_SEEN_VALIDATION
                                                                       : RECORD_SEEN_NONE;
}

/* ---- result.json ---- */

static const char variant_begins[] = "loss_as_", constant_key[] = "constant";
static const struct {
    const char *name;
    runlog_series kind;
} listed[] = {{"points", RUNLOG_POINTS}, {"confusion", RUNLOG_CONFUSION}, {"noise", RUNLOG_NOISE}};
enum { LISTED = sizeof listed / sizeof *listed };

static void put_whole(json_t *to, const runlog_run *run, int field)
{
    if (run->whole[field] || field == RUNLOG_RUN_epochs || (field == RUNLOG_RUN_best_epoch && !run->diverged))
        json_object_set_new(to, runlog_run_fields[field], json_integer(run->whole[field]));
}

static void put_measures(json_t *to, const runlog_values *of, int split)
{
    json_t *measures = json_object();
    for (int i = 0; i < RUNLOG_MEASURES; i++)
        if (!isnan(of->of[split].all[i]))
            json_object_set_new(measures, runlog_measure_fields[i].name,
                                isinf(of->of[split].all[i]) ? json_null() : json_real(of->of[split].all[i]));
    if (of->measured[split])
        json_object_set(to, runlog_splits[split], measures);
    json_decref(measures);
}

/* The measures in the order in which a trainer takes them. */
static void put_splits(json_t *to, const runlog_run *run)
{
    static const int order[RUNLOG_SPLITS] = {RUNLOG_VALIDATION, RUNLOG_TRAIN, RUNLOG_TEST};
    json_t *constant = json_object();
    for (int i = 0; i < RUNLOG_SPLITS; i++) {
        put_measures(to, &run->net, order[i]);
        put_measures(constant, &run->constant, order[i]);
        if (json_object_size(constant))
            json_object_set(to, constant_key, constant);
    }
    json_decref(constant);
}

json_t *record_json(const runlog_run *run)
{
    json_t *to = json_object();
    for (int i = 0; i <= RUNLOG_RUN_best_epoch; i++)
        put_whole(to, run, i);
    put_splits(to, run);
    put_whole(to, run, RUNLOG_RUN_softened);
    for (int i = 0; i < LISTED; i++) {
        const runlog_numbers *of = &run->series[listed[i].kind];
        json_t *array = json_array();
        for (size_t k = 0; k < of->count; k++) /* JSON has no NaN */
            json_array_append_new(array, isfinite(of->numbers[k]) ? json_real(of->numbers[k]) : json_null());
        if (of->count)
            json_object_set(to, listed[i].name, array);
        json_decref(array);
    }
    for (int i = 0; i < run->variants; i++) {
        char name[sizeof variant_begins + sizeof run->variant->name];
        snprintf(name, sizeof name, "%s%s", variant_begins, run->variant[i].name);
        json_object_set_new(to, name, isnan(run->variant[i].loss) ? json_null() : json_real(run->variant[i].loss));
    }
    put_whole(to, run, RUNLOG_RUN_epochs);
    return to;
}

/* JSON has no NaN. */
static double number_of(const json_t *number)
{
    return json_is_number(number) ? json_number_value(number) : NAN;
}

static void take_measures(runlog_values *to, const json_t *from)
{
    for (int split = 0; split < RUNLOG_SPLITS; split++) {
        const json_t *of = json_object_get(from, runlog_splits[split]);
        to->measured[split] = of;
        for (int i = 0; i < RUNLOG_MEASURES; i++)
            to->of[split].all[i] = number_of(json_object_get(of, runlog_measure_fields[i].name));
    }
}

/* Older versions measured while they trained, and not the saved weights: such a run has neither a best epoch nor one in
 * which it diverged. */
static void take_results(runlog_run *to, json_t *from, bool *measured)
{
    const char *name;
    json_t *value;
    *measured = json_object_get(from, "best_epoch") || json_object_get(from, "diverged");
    for (int i = 0; i < RUNLOG_RUN_FIELDS; i++)
        to->whole[i] = (long)json_integer_value(json_object_get(from, runlog_run_fields[i]));
    take_measures(&to->net, from);
    take_measures(&to->constant, json_object_get(from, constant_key));
    for (int i = 0; i < LISTED; i++) {
        const json_t *array = json_object_get(from, listed[i].name);
        for (size_t k = 0; k < json_array_size(array); k++)
            runlog_add_series(to, listed[i].kind, (double[]){number_of(json_array_get(array, k))}, 1);
    }
    json_object_foreach(from, name, value) {
        if (strncmp(name, variant_begins, sizeof variant_begins - 1) == 0)
            runlog_add_variant(to, name + sizeof variant_begins - 1, number_of(value));
    }
    runlog_finish_run(to, to->diverged);
}

static bool read_results(const char *folder, runlog_run *run, bool *measured, tg_error *error)
{
    json_t *results = load(folder, "result.json", error);
    const json_t *epochs = json_object_get(results, "epochs");
    const bool there = results && (!epochs || json_integer_value(epochs) == count_epochs(folder, error));
    if (there)
        take_results(run, results, measured);
    json_decref(results);
    return there;
}

bool record_results(const char *folder, runlog_run *run, tg_error *error)
{
    bool measured;
    return read_results(folder, run, &measured, error);
}

bool record_is_finished(const char *folder, runlog_run *results)
{
    tg_error error;
    bool measured = false;
    runlog_run own = runlog_run_new();
    runlog_run *to = results ? results : &own;
    read_results(folder, to, &measured, &error); /* the run itself then meets what cannot be read */
    const long kept = measured ? count_rows(folder, &error) : 0;
    const bool whole = kept < 0 || kept >= to->listed_rows;
    runlog_run_free(&own);
    return measured && whole;
}

bool record_conclude(const char *folder, const runlog_run *results, tg_error *error)
{
    runlog_run ended = *results;
    ended.epochs = count_epochs(folder, error);
    ended.listed_rows = ended.epochs < 0 ? -1 : count_rows(folder, error);
    if (ended.listed_rows < 0)
        return false;
    json_t *object = record_json(&ended);
    if (ended.listed_rows) /* no number of the results, like the others */
        json_object_set_new(object, runlog_run_fields[RUNLOG_RUN_listed_rows], json_integer(ended.listed_rows));
    const bool fine = files_write(folder, "result.json", write_json, object, error);
    json_decref(object);
    if (fine)
        files_remove(folder, "pending.csv");
    return fine;
}
