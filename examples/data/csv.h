/* The reader of CSV files: a table of numbers and words; its header and the roles of its columns; classes; and a
 * description of each column as it was read.
 *
 *     csv_source source = {.table.path = path, .error = error};
 *     if (csv_table_read(path, &source.table, error) && csv_find_header(&source, DATASET_HEADER_AUTO) &&
 *         csv_find_targets(&source, "-1"))
 *         ... csv_value(&source, row, column)
 *     csv_source_free(&source);
 *
 * Rows are counted from the first row of data, columns from 0. */
#ifndef DATA_CSV_H
#define DATA_CSV_H

#include "examples/data/internal.h"
#include "examples/data/number.h"

/* ---- the table (csv_table.c): a number, or a word where it is none, for each cell ---- */

typedef struct csv_word {
    size_t cell; /* row * columns + column */
    size_t text; /* where it begins in csv_table.text */
} csv_word;

typedef struct csv_table {
    const char *path;
    size_t rows, columns;
    double *values;  /* [rows, columns]; NaN for a word */
    size_t *lines;   /* [rows], where a row begins in the file, from 1 */
    csv_word *words; /* in reading order: every cell that is not a number, and all of the first row (a header?) */
    size_t word_count;
    char *text; /* the words, each followed by a zero byte */
} csv_table;

/* Reads a file, plain or gzip, or standard input for "-". The first line determines the separator: semicolon, else tab,
 * else comma, else blanks (several count as one). Blanks win over commas if the first lines have numbers like 3,5
 * between blanks, and no other comma except in a header. If the comma is not the separator, numbers may have a decimal
 * comma. Every row must have the same number of cells; a line that is not UTF-8 is refused; blank lines, lines that
 * begin with # and a byte-order mark are skipped. The path must outlive the table. */
bool csv_table_read(const char *path, csv_table *table, tg_error *error);
void csv_table_free(csv_table *table);

/* The first word whose cell is at least `cell`, as an index into words, or word_count. */
size_t csv_table_find(const csv_table *table, size_t cell);

/* The text of a word. */
const char *csv_table_text(const csv_table *table, size_t word);

/* True if a word is a number that no float can represent: NaN, infinite or too large. */
bool csv_word_is_huge(const char *text);

/* True if a word is a formatted number: 1.234,56 or 1,234.56 or 1'234'567, with a mark before every three digits, or
 * 3,5 if commas separate cells. */
bool csv_word_is_formatted(const char *text);

/* ---- its columns (csv_columns.c) ---- */

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

/* ---- the distinct entries of a column in ascending order (csv_classes.c): classes to predict, or categories ---- */

/* Words, or numbers if most cells are numbers. */
typedef struct csv_classes {
    bool words;
    size_t count;
    struct csv_class {
        const char *word; /* NULL if they are numbers; belongs to the table */
        double number;
    } * class; /* [count] */
} csv_classes;

/* Fails at a cell of the other kind, and at a missing one unless `missing` allows cells without a class. Free with
 * csv_classes_free, also on failure. */
bool csv_classes_collect(const csv_source *source, size_t column, bool missing, csv_classes *classes);
void csv_classes_free(csv_classes *classes);

/* The number of the class in a row; -1 where that is missing. */
int32_t csv_classes_find(const csv_source *source, size_t column, const csv_classes *classes, size_t row);

/* The name of a class; a number is written to `text`. */
const char *csv_classes_name(const csv_classes *classes, size_t i, char text[NUMBER_TEXT]);

/* ---- a description of each column, so that the user can find mistakes: a date that became 84 categories, a row number
 * that is used as a feature (csv_describe.c) ---- */

/* Fills set->columns and set->column. False with one line when memory runs out. */
bool csv_describe_columns(const csv_source *source, dataset *set);

#endif
