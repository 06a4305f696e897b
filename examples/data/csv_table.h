/* A CSV file as a table of numbers, and of words where a cell is not a number; what they mean is the part of csv.c.
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
    char *text; /* the words, each closed by a zero byte */
} csv_table;

/* Reads a file, plain or gzip, or standard input for "-", with the separator that its first line shows: semicolon, else
 * tab, else comma, else blanks, of which several are one; blanks go before commas where the first lines have numbers
 * like 3,5 between blanks, and no other comma but in a header. Numbers may have a decimal comma where that separates
 * nothing. Every row has the same number of cells; a line that is not UTF-8 is refused; blank lines, lines that begin
 * with # and a byte-order mark are passed over. The path must outlive the table. */
bool csv_table_read(const char *path, csv_table *table, tg_error *error);
void csv_table_free(csv_table *table);

/* The first word whose cell is at least `cell`, as an index into words, or word_count. */
size_t csv_table_find(const csv_table *table, size_t cell);

/* The text of a word. */
const char *csv_table_text(const csv_table *table, size_t word);

/* True if a word is a number that no float can represent: NaN, infinite or too large. */
bool csv_word_is_huge(const char *text);

/* Whether a word is a number written for people: 1.234,56 or 1,234.56 or 1'234'567, with a mark before every three
 * digits, or 3,5 where commas separate cells. */
bool csv_word_is_formatted(const char *text);

#endif
