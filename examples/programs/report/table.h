/* A table: declared once, printed for a terminal, as Markdown, LaTeX, CSV or HTML.
 *
 *     table *t = table_new(1);                                        // the first column says what a row is
 *     table_add_column(t, &(table_column){.name = "activation"});
 *     table_add_column(t, &(table_column){.name = "acc %", .csv = "accuracy,accuracy_low,accuracy_high",
 *                                         .meaning = "share of samples that are classified correctly"});
 *     table_add_row(t);
 *     table_add_cell(t, "%s", "relu");
 *     table_add_cell(t, "97.12 ±0.34");
 *     table_numbers(t, 3, (double[]){0.9712, 0.9678, 0.9746});        // of this cell, for CSV
 *     table_add_note(t, "Means over %d seeds.", 5);
 *     table_print(t, "markdown", stdout);
 *     table_free(t);
 *
 * Texts are UTF-8; on ASCII terminals ± becomes +/- and so on. Columns whose cells are all numbers are right-aligned. A
 * column that is empty in every row is left out; in CSV this holds for each of its numbers. On a narrow terminal
 * nothing is cut: columns with `least` are wrapped, `optional` ones are left out, and columns that still do not fit are
 * printed below, with the first columns repeated.
 */
#pragma once

#include "examples/programs/system/standard.h"

typedef struct table table;

typedef struct table_column {
    const char *name;
    const char *csv;     /* names of its numbers in CSV, separated by commas; NULL: the cells' texts, under `name` */
    const char *meaning; /* half a sentence that explains the column below the table; NULL: no explanation */
    bool optional;
    int least; /* the text may be wrapped to lines of this length; 0: never */
} table_column;

/* The style of a cell: green, red or bold on a terminal, CSS classes in HTML. */
typedef enum table_mark { TABLE_PLAIN, TABLE_GOOD, TABLE_BAD, TABLE_SHADED_GOOD, TABLE_SHADED_BAD } table_mark;

/* The first `keys` columns identify a row. */
table *table_new(int keys);
void table_free(table *t);

/* Keeps columns that are empty in every row: a file's columns do not depend on its values. */
void table_keep_empty(table *t);

/* A bold title above the table. */
void table_caption(table *t, const char *caption);

/* Columns come before rows; the strings are copied. */
void table_add_column(table *t, const table_column *column);

/* Columns that have only names, separated by |. */
void table_add_columns(table *t, const char *names);

/* Begins a row; its cells follow, and missing ones are empty. */
void table_add_row(table *t);
void table_add_cell(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* All cells of a row, separated by |. */
void table_add_cells(table *t, const char *cells);

/* Set the numbers of the last cell, where NaN is an empty field; its mark; and its shading (0 to 1). */
void table_numbers(table *t, int count, const double numbers[]);
void table_set_mark(table *t, table_mark mark, double strength);

/* A paragraph below. */
void table_add_note(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A sentence of conclusion; it is printed before the notes. */
void table_add_verdict(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

int table_rows(const table *t);

/* Formats: "table" for a terminal or a text file, "markdown", "latex" (a whole tabular with the rules of booktabs;
 * notes as comments), "latex text" (the same, with notes as paragraphs), "csv" (without notes) or "html". */
void table_print(const table *t, const char *format, FILE *out);

/* The same in two parts: caption and rows; then verdicts, notes and explanations of the columns. */
void table_print_rows(const table *t, const char *format, FILE *out);
void table_print_notes(const table *t, const char *format, FILE *out);

/* A sentence of conclusion without a table, or with `verdict` false a note; nothing in CSV. */
void table_print_sentence(const char *sentence, bool verdict, const char *format, FILE *out);

/* A text with LaTeX's own characters in its escapes. */
void table_latex_text(FILE *out, const char *text);

/* A text, of several lines or paragraphs, in which Markdown's own characters are escaped where they would be read as
 * markup. */
void table_markdown_text(FILE *out, const char *text);

/* A text as a field of CSV, in quotes if necessary. */
void table_csv_text(FILE *out, const char *text);

/* The same without cleaning the text. */
void table_csv_exact(FILE *out, const char *text);
