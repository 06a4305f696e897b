/* Finds the header and the target columns of a CSV file, and reports errors with row and column.
 *
 *     csv_source source = {.error = error};
 *     if (csv_table_read(path, &source.table, error) && csv_find_header(&source, DATASET_HEADER_AUTO) &&
 *         csv_find_targets(&source, "-1"))
 *         ... csv_value(&source, row, column)
 *     csv_table_free(&source.table);
 *
 * Rows are counted from the first row of data, columns from 0.
 */
#ifndef DATA_CSV_COLUMNS_H
#define DATA_CSV_COLUMNS_H

#include "examples/data/csv_table.h"

enum { CSV_MOST_TARGETS = 64 };

typedef enum csv_role { CSV_NUMBERS = 0, CSV_CATEGORIES, CSV_TARGET, CSV_IGNORED } csv_role;

typedef struct csv_source {
    csv_table table;
    tg_error *error;
    size_t first;   /* the first row of data in the table: 1 after a header, else 0 */
    size_t rows;    /* rows of data that are used */
    size_t *kept;   /* [rows]: their numbers, from 0; NULL: all */
    csv_role *role; /* [columns] */
    size_t targets;
    size_t target_columns[CSV_MOST_TARGETS]; /* [targets], in the order they were asked for */
} csv_source;

/* Sets first and rows. */
bool csv_find_header(csv_source *source, dataset_header header);

/* Sets the target columns from the name of one column, which may contain a comma, or from several separated by commas.
 * "-1" is the last column, even if a column has this name. */
bool csv_find_targets(csv_source *source, const char *target);

/* Sets the role of each column. `ignore` and `categorical` name columns as in csv_find_targets, or are NULL; columns of
 * words are categorical too. Drops rows with missing cells as `missing` says.
 */
bool csv_choose_columns(csv_source *source, const char *ignore, const char *categorical, dataset_missing missing);

/* Frees what these functions have allocated, and the table. */
void csv_source_free(csv_source *source);

/* True if a word means that there is no value: empty, ?, NA, N/A, nan, null. */
bool csv_is_missing(const char *word);

/* The number in a cell, NaN if it is a word. Here and below, rows are the used rows of data. */
double csv_value(const csv_source *source, size_t row, size_t column);

/* The word in a cell, NULL if it is a number. */
const char *csv_word_at(const csv_source *source, size_t row, size_t column);

/* Fails at a cell: "wine.csv:3, column 'pH': " and then the problem. */
bool csv_fail_at(const csv_source *source, size_t row, size_t column, const char *problem);

/* The name of a column; without a header, its cell in the first row. */
const char *csv_column_name(const csv_source *source, size_t column);

/* Fails at a cell that contains a word instead of a number. */
bool csv_fail_at_word(const csv_source *source, size_t row, size_t column);

#endif
