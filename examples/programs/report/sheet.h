/* The report of a study: headings, paragraphs, tables and pictures, for the terminal, as Markdown and as one HTML file.
 *
 *     sheet *s = sheet_new("GELU paper: MNIST classification");
 *     sheet_text(s, "Median of %d runs.", 5);
 *     sheet_table(s, 1, "activation|published|ours|interval");
 *     sheet_row(s, "%s|%.4f|%.4f|%.4f to %.4f", "relu", 0.0906, 0.0899, 0.0880, 0.0911);
 *     sheet_picture(s, "curves.svg", "validation loss over epochs");
 *     sheet_print(s, stdout);
 *     sheet_write(s, "results/studies/gelu-mnist", "study gelu-mnist", &error);   // report.html and report.md
 *     sheet_free(s);
 *
 * Cells are separated by |. */
#pragma once

#include "examples/programs/report/files.h"

typedef struct sheet sheet;

sheet *sheet_new(const char *title);
void sheet_free(sheet *s);

void sheet_heading(sheet *s, const char *text);
void sheet_text(sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A highlighted sentence, computed from the numbers above. */
void sheet_verdict(sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Begins a table with these headings; rows follow. The first `keys` columns identify a row. Columns of numbers are
 * right-aligned. */
void sheet_table(sheet *s, int keys, const char *headings);
void sheet_row(sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An .svg file in the folder of the report. */
void sheet_picture(sheet *s, const char *file, const char *says);

/* Prints without pictures, in lines of at most the terminal's width. Columns of a table that do not fit are printed
 * below, with the key columns repeated. */
void sheet_print(const sheet *s, FILE *out);

/* Writes report.html, with embedded pictures, and report.md into the folder; `command` repeats it. Leaves
 * out pictures unless they have been `drawn`, as existing ones show earlier numbers. On failure false and one line. */
bool sheet_write(const sheet *s, const char *folder, const char *command, bool drawn, tg_error *error);
