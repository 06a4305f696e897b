/* A CSV file as a table of numbers, and of words for cells that are not numbers; csv.c interprets them.
 *
 *     csv_table table;
 *     if (!csv_table_read("iris.csv", &table, error))
 *         return false;
 *     double first = table.values[0];
 *     csv_table_free(&table);
 */
#ifndef DATA_CSV_TABLE_H
#define DATA_CSV_TABLE_H

#include "examples/data/internal.h"

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

#endif
