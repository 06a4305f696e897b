/* The reader of CSV files: a table of numbers and words; its header and the roles of its columns; classes; and a
 * description of each column as it was read.
 *
 *     csv_source source;
 *     if (csv_read(path, DATASET_HEADER_AUTO, &source, error))
 *         ... csv_value(&source, row, column)
 *     csv_source_free(&source);
 *
 * Rows are counted from the first row of data, columns from 0. */
#ifndef DATA_CSV_H
#define DATA_CSV_H

#include "examples/programs/data/internal.h"
#include "examples/programs/data/number.h"

enum { CSV_MOST_TARGETS = 64 };

/* All cells of a file. */
typedef struct csv_table {
    const char *path;
    size_t rows, columns;
    double *values;     /* [rows, columns]; NaN for a word */
    const char **texts; /* [rows, columns]: the cells as in the file, without quotes */
    size_t *lines;      /* [rows], where a row begins in the file, from 1 */
} csv_table;

/* Distinct entries of a column in ascending order: classes to predict, or categories. They are words, or numbers if
 * most cells are numbers. */
typedef struct csv_classes {
    bool words;
    size_t count;
    struct csv_class {
        const char *word; /* NULL if they are numbers; belongs to the table */
        double number;
    } * class; /* [count] */
} csv_classes;

typedef enum csv_role { CSV_NUMBERS = 0, CSV_CATEGORIES, CSV_TARGET, CSV_IGNORED } csv_role; /* features come first */

typedef struct csv_column {
    csv_role role;
    size_t missing, words; /* cells without a value, and with a word, in rows that were dropped too */

    /* Of the used rows: */
    size_t present, dates; /* cells with a value, and those of them that are dates */
    size_t example;        /* row of the first value */
    bool whole;            /* all are whole numbers, none is missing */
    double low, high;      /* of the numbers; NaN without any */

    csv_classes classes; /* of categories, and of a target */
    size_t width;        /* of a feature: one input, or one for each category; */
    bool marked;         /* and one more that marks missing cells */
} csv_column;

typedef struct csv_source {
    csv_table table;
    tg_error *error;
    size_t first;       /* the first row of data in the table: 1 after a header, else 0 */
    size_t rows;        /* rows of data that are used */
    size_t *kept;       /* [rows]: their numbers, from 0; NULL: all */
    csv_column *column; /* [columns] */
    size_t targets;
    size_t target_columns[CSV_MOST_TARGETS]; /* [targets], in the order they were asked for */
    dataset_memory memory;                   /* owns all of these */
} csv_source;

/* Reads a file, plain or gzip, or standard input for "-", and finds its header. The path must outlive the source; free
 * the source also on failure. */
bool csv_read(const char *path, dataset_header header, csv_source *source, tg_error *error);
void csv_source_free(csv_source *source);

/* Fails for lack of memory. */
bool csv_out_of_memory(const csv_source *source);

/* ---- the table (csv_table.c) ---- */

/* Reads the table. The first line determines the separator: semicolon, else tab, else comma, else blanks (several count
 * as one). Blanks win over commas if the first lines have numbers like 3,5 between blanks, and no other comma except in
 * a header. If the comma is not the separator, numbers may have a decimal comma. Every row must have the same number of
 * cells; a line that is not UTF-8 is refused; blank lines, lines that begin with # and a byte-order mark are skipped.
 */
bool csv_read_table(const char *path, csv_source *source);

/* True if a word is a number that no float can represent: NaN, infinite or too large. */
bool csv_word_is_huge(const char *text);

/* True if a word is a formatted number: 1.234,56 or 1,234.56 or 1'234'567, with a mark before every three digits, or
 * 3,5 if commas separate cells. */
bool csv_word_is_formatted(const char *text);

/* ---- its columns (csv_columns.c) ---- */

/* Sets the role of each column, and drops rows with missing cells, as the options say. A list of columns is the name of
 * one, which may contain a comma, or several names or numbers separated by commas; for targets "-1" is the last column,
 * even if a column has this name. Columns of words are categorical too. */
bool csv_choose_columns(csv_source *source, const dataset_options *options);

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

/* ---- a description of each column, so that the user can find mistakes: a date that became 84 categories, a row number
 * that is used as a feature (csv_describe.c) ---- */

/* Finds out what the used cells of a column have in common. */
void csv_summarise(csv_source *source, size_t column);

/* Fills set->columns and set->column. */
bool csv_describe_columns(const csv_source *source, dataset *set);

#endif
