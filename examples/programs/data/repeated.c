/* Rows that are found more than once in a table. */
#include "examples/programs/data/csv.h"

/* A hash table of rows by the cells of some columns. */
typedef struct row_set {
    const double *cells; /* [rows, columns] */
    size_t columns;
    const size_t *used; /* [count]: the columns that are compared */
    size_t count;
    size_t *slot; /* [slots]: a row + 1; 0: none */
    size_t slots; /* a power of two */
} row_set;

/* The bits of a cell; those of 0 and -0, and of all gaps, are the same. */
static uint64_t bits_of(double value)
{
    uint64_t bits;
    value = value != value ? NAN : value + 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool is_same(const row_set *set, size_t a, size_t b)
{
    const double *x = set->cells + a * set->columns, *y = set->cells + b * set->columns;
    size_t i = 0;
    while (i < set->count && bits_of(x[set->used[i]]) == bits_of(y[set->used[i]]))
        i++;
    return i == set->count;
}

/* The slot of a row that is the same, or the empty one where this row belongs. */
static size_t *find(const row_set *set, size_t row)
{
    const double *x = set->cells + row * set->columns;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < set->count; i++) {
        hash = (hash ^ bits_of(x[set->used[i]])) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    size_t at = (size_t)(hash ^ hash >> 32);
    while (set->slot[at & (set->slots - 1)] && !is_same(set, set->slot[at & (set->slots - 1)] - 1, row))
        at++;
    return &set->slot[at & (set->slots - 1)];
}

/* Makes room for so many rows; the slots are to be freed. */
static bool open_set(row_set *set, size_t rows)
{
    for (set->slots = 16; set->slots < 2 * rows;)
        set->slots *= 2;
    return (set->slot = dataset_array(set->slots, 1, sizeof *set->slot));
}

size_t dataset_repeated(const dataset *set, const dataset_part *part, const dataset_part *among)
{
    bool *there = dataset_array(set->rows, 1, sizeof *there);
    size_t repeated = 0;
    if (!set->alike || !there)
        return free(there), set->alike ? SIZE_MAX : 0;
    for (size_t i = 0; i < among->rows; i++)
        there[set->alike[among->row[i]]] = true;
    for (size_t i = 0; i < part->rows; i++)
        repeated += there[set->alike[part->row[i]]];
    free(there);
    return repeated;
}

bool csv_find_alike(csv_source *source, size_t **alike)
{
    const size_t columns = source->table.columns;
    size_t *used = dataset_array(columns, 1, sizeof *used);
    row_set set = {.cells = source->table.values, .columns = columns, .used = used};
    *alike = dataset_new(&source->values, source->rows, 1, sizeof **alike);
    if (!used || !*alike || !open_set(&set, source->rows))
        return free(used), csv_out_of_memory(source);
    for (size_t i = 0; i < columns; i++)
        if (csv_is_feature(&source->column[i]))
            used[set.count++] = i;
    for (size_t row = 0; row < source->rows; row++) {
        size_t *slot = find(&set, row);
        *slot = *slot ? *slot : row + 1;
        (*alike)[row] = *slot - 1;
    }
    free(set.slot);
    free(used);
    return true;
}

bool csv_drop_duplicates(csv_source *source, size_t *dropped)
{
    csv_table *table = &source->table;
    const size_t columns = table->columns, rows = source->rows;
    size_t *used = dataset_array(columns, 1, sizeof *used), kept = 0;
    size_t *numbers = source->numbers ? source->numbers : dataset_new(&source->values, rows, 1, sizeof *numbers);
    row_set set = {.cells = table->values, .columns = columns, .used = used};
    if (!used || !numbers || !open_set(&set, rows))
        return free(used), csv_out_of_memory(source);
    for (size_t i = 0; i < columns; i++)
        if (source->column[i].role != CSV_IGNORED)
            used[set.count++] = i;
    for (size_t row = 0; row < rows; row++) {
        const size_t number = source->numbers ? source->numbers[row] : row;
        memmove(table->values + kept * columns, table->values + row * columns, columns * sizeof *table->values);
        size_t *slot = find(&set, kept);
        if (*slot)
            continue;
        table->starts[kept] = table->starts[row];
        numbers[kept++] = number;
        *slot = kept;
    }
    *dropped = rows - kept;
    source->rows = kept;
    source->numbers = kept < rows || source->numbers ? numbers : NULL;
    free(set.slot);
    free(used);
    return true;
}
