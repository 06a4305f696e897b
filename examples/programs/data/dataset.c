#include "examples/programs/data/internal.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

void *dataset_array(size_t count, size_t width, size_t size)
{
    size_t items;
    if (__builtin_mul_overflow(count, width, &items))
        return NULL;
    return calloc(items ? items : 1, size);
}

/* ---- memory ---------------------------------------------------------------- */

struct dataset_block {
    struct dataset_block *before;
    double bytes[]; /* aligned for all that a set has */
};

void *dataset_new(dataset_memory *memory, size_t count, size_t width, size_t size)
{
    size_t bytes;
    struct dataset_block *block = NULL;
    if (!__builtin_mul_overflow(count, width, &bytes) && !__builtin_mul_overflow(bytes, size, &bytes) &&
        bytes < SIZE_MAX - sizeof *block)
        block = calloc(1, sizeof *block + bytes);
    memory->failed |= !block;
    if (!block)
        return NULL;
    block->before = memory->last;
    memory->last = block;
    return block->bytes;
}

char *dataset_text(dataset_memory *memory, const char *text)
{
    char *copy = dataset_new(memory, strlen(text) + 1, 1, 1);
    return copy ? strcpy(copy, text) : NULL;
}

void dataset_free_memory(dataset_memory *memory)
{
    for (struct dataset_block *block = memory->last, *before; block; block = before) {
        before = block->before;
        free(block);
    }
    *memory = (dataset_memory){0};
}

static double *filled(dataset *set, size_t count, double value)
{
    double *array = dataset_new(&set->memory, count, 1, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = value;
    return array;
}

void dataset_take(dataset_memory *to, dataset_memory *from)
{
    struct dataset_block **end = &from->last;
    while (*end)
        end = &(*end)->before;
    *end = to->last;
    to->last = from->last;
    from->last = NULL;
}

bool dataset_allocate(dataset *set, tg_error *error)
{
    dataset_memory *memory = &set->memory;
    if (set->rows > INT32_MAX)
        return tg_fail(error, "%s: %zu rows, expected at most %d", set->name, set->rows, INT32_MAX);
    set->x = dataset_new(memory, set->rows, set->features, sizeof *set->x);
    set->feature_mean = filled(set, set->features, 0);
    set->feature_scale = filled(set, set->features, 1);
    set->feature_limit = filled(set, set->features, 0);
    if (set->task == DATASET_CLASSIFICATION) {
        set->labels = dataset_new(memory, set->rows, 1, sizeof *set->labels);
    } else {
        set->y = dataset_new(memory, set->rows, set->targets, sizeof *set->y);
        set->target_mean = filled(set, set->targets, 0);
        set->target_scale = filled(set, set->targets, 1);
    }
    return !memory->failed ||
           tg_fail(error, "%s: out of memory for %zu rows of %zu features", set->name, set->rows, set->features);
}

void dataset_number_classes(dataset *set, int first)
{
    char number[24];
    set->class_names = dataset_new(&set->memory, set->classes, 1, sizeof *set->class_names);
    for (size_t i = 0; set->class_names && i < set->classes; i++) {
        snprintf(number, sizeof number, "%d", first + (int)i);
        set->class_names[i] = dataset_text(&set->memory, number);
    }
}

void dataset_free(dataset *set)
{
    if (!set)
        return;
    dataset_free_memory(&set->memory);
    free(set->order);
    *set = (dataset){0};
}

/* ---- loading --------------------------------------------------------------- */

/* Cuts an ending off, unless nothing would be left. */
static void cut(char *title, const char *ending)
{
    const size_t length = strlen(title), tail = strlen(ending);
    if (length > tail && strcmp(title + length - tail, ending) == 0)
        title[length - tail] = 0;
}

/* The last component of a path, without the endings of a CSV file. */
static char *title_of(dataset *set, const char *path)
{
    char *title = dataset_text(&set->memory, path);
    if (!title)
        return NULL;
    while (strlen(title) > 1 && title[strlen(title) - 1] == '/')
        cut(title, "/");
    const char *slash = strrchr(title, '/');
    if (slash)
        memmove(title, slash + 1, strlen(slash));
    cut(title, ".gz");
    cut(title, ".csv");
    return plain_text(title);
}

static const dataset_kind *find_kind(const char *spec, const char **path)
{
    const size_t length = strcspn(spec, ":");
    const dataset_kind *kind;
    for (size_t i = 0; (kind = dataset_kind_at(i)); i++)
        if (strlen(kind->name) == length && strncmp(kind->name, spec, length) == 0 &&
            (spec[length] == ':') == (kind->path != NULL))
            break;
    *path = kind && kind->path ? spec + length + 1 : spec;
    return kind;
}

/* Reject options that would have no effect. */
static bool options_fit(const char *spec, const dataset_kind *kind, const dataset_options *options, tg_error *error)
{
    if (!kind->columns && (options->target || options->header != DATASET_HEADER_AUTO))
        return tg_fail(error, "%s: target column and header are for csv: only", spec);
    if (!kind->columns && (options->ignore || options->categorical || options->missing != DATASET_MISSING_ERROR))
        return tg_fail(error, "%s: ignored, categorical and missing columns are for csv: only", spec);
    if (!kind->columns && options->drop_duplicates)
        return tg_fail(error, "%s: duplicates are dropped of csv: only", spec);
    if (!kind->columns && options->weights)
        return tg_fail(error, "%s: a column of weights is for csv: only", spec);
    if (!kind->columns && options->groups)
        return tg_fail(error, "%s: a column of groups is for csv: only", spec);
    if (kind->path && (options->rows || options->noise != 0))
        return tg_fail(error, "%s: rows and noise are for synthetic data only", spec);
    if (!(options->noise <= 1000))
        return tg_fail(error, "%s: noise %g, expected at most 1000", spec, options->noise);
    return true;
}

bool dataset_is_kind(const char *spec)
{
    const char *path;
    return find_kind(spec, &path);
}

static bool load(const char *spec, const dataset_options *options, dataset *set, tg_error *error)
{
    const char *path;
    const dataset_kind *kind = find_kind(spec, &path);
    if (!kind && access(spec, F_OK) == 0)
        return tg_fail(error, "'%s' is a file; csv:%s reads it as a table", spec, spec);
    if (!kind && strpbrk(spec, "./") && !strchr(spec, ':'))
        return tg_fail(error,
                       "there is no file '%s'; csv:FILE is a table, idx:DIR images, text:FILE, lines:FILE and "
                       "pairs:FILE are texts",
                       spec);
    if (!kind)
        return tg_fail(error, "unknown data set '%s', expected one of %s; texts are text:FILE, lines:FILE, pairs:FILE",
                       spec, dataset_kinds());
    if (!options_fit(spec, kind, options, error))
        return false;
    if (!*path)
        return tg_fail(error, "data set '%s': expected a %s after it", spec,
                       strcmp(kind->path, "DIR") == 0 ? "folder" : "file");
    set->kind = kind;
    set->name = title_of(set, dataset_path_name(path));
    if (!set->name)
        return tg_fail(error, "%s: out of memory", spec);
    if (!kind->load(path, options, set, error))
        return false;
    if (set->memory.failed)
        return tg_fail(error, "%s: out of memory", spec);
    if (options->task != DATASET_TASK_AUTO && options->task != set->task)
        return tg_fail(error, "%s: the task is %s and cannot be chosen", spec,
                       set->task == DATASET_CLASSIFICATION ? "classification" : "regression");
    return true;
}

bool dataset_load(const char *spec, const dataset_options *options, dataset *set, tg_error *error)
{
    static const dataset_options standard;
    if (!set)
        return tg_fail(error, "no place for the data set");
    *set = (dataset){0};
    if (!spec)
        return tg_fail(error, "no data set named");
    if (load(spec, options ? options : &standard, set, error))
        return true;
    dataset_free(set);
    return false;
}
