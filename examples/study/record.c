#include "examples/study/record.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[STUDY_COLUMNS] = {"step_loss", "train_loss",    "val_loss", "val_accuracy",
                                                   "test_loss", "test_accuracy", "dead",     "seconds"};

bool study_record_add(study_record *record, const study_epoch *epoch)
{
    study_epoch *more = realloc(record->epoch, ((size_t)record->epochs + 1) * sizeof *more);
    if (!more)
        return false;
    record->epoch = more;
    record->epoch[record->epochs++] = *epoch;
    return true;
}

void study_record_free(study_record *record)
{
    free(record->epoch);
    *record = (study_record){0};
}

/* ---- reading ---- */

static void read_epochs(study_record *record, const json_t *rows)
{
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        study_epoch epoch;
        for (int c = 0; c < STUDY_COLUMNS; c++) {
            const json_t *number = json_array_get(row, (size_t)c);
            epoch.of[c] = json_is_number(number) ? json_number_value(number) : NAN;
        }
        if (!study_record_add(record, &epoch))
            return;
    }
}

static bool has_columns(const json_t *names)
{
    for (size_t c = 0; c < STUDY_COLUMNS; c++) {
        const char *name = json_string_value(json_array_get(names, c));
        if (!name || strcmp(name, columns[c]) != 0)
            return false;
    }
    return true;
}

bool study_record_is_foreign(const char *folder, const char *name, const char *key, char message[FILES_MESSAGE])
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s.json", folder, name) >= (int)sizeof path)
        return false;
    json_t *file = json_load_file(path, 0, NULL);
    const char *kept = json_string_value(json_object_get(file, "key"));
    const bool foreign = kept && strcmp(kept, key) != 0;
    size_t same = 0;
    while (foreign && kept[same] && kept[same] == key[same])
        same++;
    while (same > 0 && key[same - 1] != ' ')
        same--; /* to the beginning of the word */
    if (foreign)
        snprintf(message, FILES_MESSAGE,
                 "%.150s is the record of another run: of '%.60s', not '%.60s'; --out names another folder, "
                 "--overwrite trains it anew",
                 path, kept + same, key + same);
    json_decref(file);
    return foreign;
}

void study_record_read(study_record *record, const char *folder, const char *name, const char *key)
{
    char path[PATH_MAX];
    *record = (study_record){0};
    if (snprintf(path, sizeof path, "%s/%s.json", folder, name) >= (int)sizeof path)
        return;
    json_t *file = json_load_file(path, 0, NULL);
    const char *kept = json_string_value(json_object_get(file, "key"));
    if (kept && strcmp(kept, key) == 0 && has_columns(json_object_get(file, "columns"))) {
        record->parameters = (long)json_integer_value(json_object_get(file, "parameters"));
        record->diverged = (int)json_integer_value(json_object_get(file, "diverged"));
        read_epochs(record, json_object_get(file, "epochs"));
    }
    json_decref(file);
}

/* ---- writing ---- */

typedef struct writing {
    const study_record *record;
    const char *key;
} writing;

/* Nine digits say which float it was; what is not finite is null. */
static void put_number(double number, FILE *to)
{
    if (isfinite(number))
        fprintf(to, "%.9g", number);
    else
        fputs("null", to);
}

static bool write_json(const void *context, FILE *to)
{
    const writing *w = context;
    json_t *key = json_string(w->key);
    char *quoted = key ? json_dumps(key, JSON_ENCODE_ANY) : NULL;
    fprintf(to, "{\"key\": %s,\n \"parameters\": %ld, \"diverged\": %d,\n \"columns\": [", quoted ? quoted : "null",
            w->record->parameters, w->record->diverged);
    for (int c = 0; c < STUDY_COLUMNS; c++)
        fprintf(to, "%s\"%s\"", c ? ", " : "", columns[c]);
    fputs("],\n \"epochs\": [", to);
    for (int e = 0; e < w->record->epochs; e++) {
        fputs(e ? ",\n  [" : "\n  [", to);
        for (int c = 0; c < STUDY_COLUMNS; c++) {
            fputs(c ? ", " : "", to);
            put_number(w->record->epoch[e].of[c], to);
        }
        putc(']', to);
    }
    fputs("]}\n", to);
    const bool complete = quoted != NULL;
    free(quoted);
    json_decref(key);
    return complete;
}

bool study_record_write(const study_record *record, const char *folder, const char *name, const char *key,
                        char message[FILES_MESSAGE])
{
    char file[STUDY_NAME + 8];
    snprintf(file, sizeof file, "%s.json", name);
    return files_write(folder, file, write_json, &(writing){record, key}, message);
}

/* ---- looking at it ---- */

double study_record_at(const study_record *record, int epoch, study_column column)
{
    return epoch >= 1 && epoch <= record->epochs ? record->epoch[epoch - 1].of[column] : NAN;
}

int study_record_lowest(const study_record *record, int epochs, study_column column)
{
    int lowest = 0;
    for (int e = 1; e <= epochs && e <= record->epochs; e++)
        if (!isnan(study_record_at(record, e, column)) &&
            (!lowest || study_record_at(record, e, column) < study_record_at(record, lowest, column)))
            lowest = e;
    return lowest;
}

bool study_record_complete(const study_record *record, int epochs)
{
    return record->diverged || record->epochs >= epochs;
}
