/* The distinct entries of columns: classes to predict, or categories; and weights of classes. */
#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

/* The entries of a column in the order of their first rows, and a hash table of them. */
typedef struct entries {
    struct csv_class *entry;
    size_t count, room;
    uint32_t *slot; /* [slots]: an entry's index + 1; 0: none */
    size_t slots;   /* a power of two, at least twice the room */
} entries;

typedef struct collection {
    csv_source *source;
    entries *of; /* [columns] */
} collection;

static size_t hash_of(const char *bytes, size_t length)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of an entry, or the empty one where it belongs. */
static uint32_t *find_slot(const entries *all, const char *word, double number)
{
    size_t at = word ? hash_of(word, strlen(word)) : hash_of((const char *)&number, sizeof number);
    for (;; at++) {
        uint32_t *slot = &all->slot[at & (all->slots - 1)];
        const struct csv_class *here = *slot ? &all->entry[*slot - 1] : NULL;
        if (!here || (word ? strcmp(here->word, word) == 0 : here->number == number))
            return slot;
    }
}

static bool grow(entries *all)
{
    const size_t room = all->room ? 2 * all->room : 32;
    struct csv_class *entry = realloc(all->entry, room * sizeof *entry);
    uint32_t *slot = entry ? calloc(4 * room, sizeof *slot) : NULL;
    all->entry = entry ? entry : all->entry;
    if (!slot)
        return false;
    free(all->slot);
    all->slot = slot;
    all->room = room;
    all->slots = 4 * room;
    for (size_t i = 0; i < all->count; i++)
        *find_slot(all, all->entry[i].word, all->entry[i].number) = (uint32_t)i + 1;
    return true;
}

/* Replaces the value of a cell by the index of its entry. */
static bool take(void *context, size_t row, size_t column, const char *text, size_t length)
{
    const collection *c = context;
    csv_source *source = c->source;
    entries *all = &c->of[column];
    double *value = &source->table.values[row * source->table.columns + column];
    const char *word = source->column[column].named ? text : NULL;
    const double number = word ? 0 : *value + 0.0; /* -0 is 0 */
    (void)length;
    if (csv_is_missing_at(source, row, column))
        return true;
    if (all->count == all->room && !grow(all))
        return csv_out_of_memory(source);
    uint32_t *slot = find_slot(all, word, number);
    if (!*slot) {
        const char *copy = word ? dataset_text(&source->memory, word) : NULL;
        if (word && !copy)
            return csv_out_of_memory(source);
        all->entry[all->count++] = (struct csv_class){.word = copy, .number = number};
        *slot = (uint32_t)all->count;
    }
    all->entry[*slot - 1].rows++;
    *value = *slot - 1;
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct csv_class *left = a, *right = b;
    return left->word ? strcmp(left->word, right->word)
                      : (left->number > right->number) - (left->number < right->number);
}

/* Replaces the indices in a column; `to` [classes] has the new ones. */
static void renumber(csv_source *source, size_t column, const size_t *to)
{
    double *value = source->table.values + column;
    for (size_t row = 0; row < source->rows; row++, value += source->table.columns)
        if (!isnan(*value))
            *value = (double)to[(size_t)*value];
}

/* The entries become classes in ascending order. */
static bool sort(csv_source *source, size_t column, entries *all)
{
    csv_classes *classes = &source->column[column].classes;
    size_t *to = dataset_new(&source->memory, all->count, 1, sizeof *to);
    classes->class = dataset_new(&source->memory, all->count, 1, sizeof *classes->class);
    if (!to || !classes->class)
        return csv_out_of_memory(source);
    classes->count = classes->found = all->count;
    if (all->count)
        memcpy(classes->class, all->entry, all->count * sizeof *all->entry);
    system_sort(classes->class, classes->count, sizeof *classes->class, compare);
    for (size_t i = 0; i < all->count; i++)
        to[*find_slot(all, classes->class[i].word, classes->class[i].number) - 1] = i;
    renumber(source, column, to);
    return true;
}

bool csv_collect(csv_source *source, const bool *flags)
{
    const size_t columns = source->table.columns;
    collection c = {source, dataset_new(&source->memory, columns, 1, sizeof *c.of)};
    if (!c.of)
        return csv_out_of_memory(source);
    bool fine = csv_each_text(source, flags, take, &c);
    for (size_t i = 0; i < columns; i++) {
        fine = fine && (!flags[i] || sort(source, i, &c.of[i]));
        free(c.of[i].entry);
        free(c.of[i].slot);
    }
    return fine;
}

const char *csv_class_name(const csv_classes *classes, size_t i, char text[NUMBER_TEXT])
{
    return classes->class[i].word ? classes->class[i].word : number_text(classes->class[i].number, text);
}

static int by_rows(const void *a, const void *b)
{
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left < right) - (left > right);
}

bool csv_join_rare(csv_source *source, size_t column, size_t most)
{
    csv_column *c = &source->column[column];
    csv_classes *classes = &c->classes;
    size_t *rows = dataset_new(&source->memory, classes->count, 1, sizeof *rows), kept = 0;
    if (!rows)
        return false;
    for (size_t i = 0; i < classes->count; i++)
        rows[i] = classes->class[i].rows;
    system_sort(rows, classes->count, sizeof *rows, by_rows);
    const size_t least = rows[most - 2] < 2 ? 2 : rows[most - 2]; /* of those that are kept */
    size_t room = most - 1;                                       /* for those with just as many */
    for (size_t i = 0; i < classes->count; i++)
        room -= classes->class[i].rows > least;
    for (size_t i = 0; i < classes->count; i++) { /* in rows: the new indices, SIZE_MAX for the others */
        const size_t has = classes->class[i].rows;
        const bool keep = has > least || (has == least && room > 0);
        room -= keep && has == least;
        rows[i] = keep ? kept++ : SIZE_MAX;
    }
    for (size_t i = 0; i < classes->count; i++)
        if (rows[i] != SIZE_MAX)
            classes->class[rows[i]] = classes->class[i];
        else
            rows[i] = kept;
    renumber(source, column, rows);
    classes->count = kept + 1;
    classes->class[kept] = (struct csv_class){.word = ""};
    c->joined = true;
    return kept > 0;
}

/* The weight in a row goes to its class. */
static bool take_weight(const csv_source *source, size_t row, const dataset *set, bool *named, double *weight)
{
    char number[NUMBER_TEXT], problem[PLAIN_NAME + 80];
    const bool is_number = csv_kind_at(source, row, 0) == CSV_NUMBER;
    const char *word = csv_text(source, row, 0);
    size_t i = 0;
    while (i < set->classes && strcmp(set->class_names[i], word) != 0)
        i++;
    if (i == set->classes && is_number) { /* 1.0 is the class 1 */
        word = number_text(csv_value(source, row, 0), number);
        for (i = 0; i < set->classes && strcmp(set->class_names[i], word) != 0;)
            i++;
    }
    snprintf(problem, sizeof problem, "'%s' %s", plain_name(word, (char[PLAIN_NAME]){0}),
             i == set->classes ? "is no class of the data" : "has a weight already");
    if (i == set->classes || named[i])
        return csv_fail_at(source, row, 0, problem);
    if (csv_kind_at(source, row, 1) != CSV_NUMBER || csv_value(source, row, 1) < 0)
        return csv_fail_at(source, row, 1, "expected the weight of a class, a number from 0 on");
    named[i] = true;
    weight[i] = csv_value(source, row, 1);
    return true;
}

bool dataset_read_class_weights(const char *path, const dataset *set, double *weight, tg_error *error)
{
    csv_source source;
    bool *named = dataset_array(set->classes, 1, sizeof *named);
    bool fine = csv_read(path, DATASET_HEADER_NO, &source, error);
    if (fine && source.table.columns != 2)
        fine = tg_fail(error, "%s: %zu column%s, expected two: class and weight", path, source.table.columns,
                       plural((long long)source.table.columns));
    for (size_t i = 0; i < set->classes; i++)
        weight[i] = 1;
    for (size_t row = 0; named && fine && row < source.rows; row++)
        fine = take_weight(&source, row, set, named, weight);
    fine = fine && (named || csv_out_of_memory(&source));
    csv_source_free(&source);
    free(named);
    return fine;
}
