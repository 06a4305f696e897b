/* Prints a gradient check: a row for each operation or layer, and below it failures and undecided results.
 *
 *     check_row rows[] = {{.what = subject, .order = 2, .result = tg_gradcheck_op(subject->op, NULL)}};
 *     const check_table table = {rows, 1};
 *     check_table_print(&table, stdout);         // operation, result, worst error, order, derivatives, samples, where
 *     check_table_print_counts(&table, stdout);  // "1 passed, 0 failed"
 *
 * On a terminal the table has the columns that fit, and names are never cut; in a file it has all columns, as plain
 * text.
 */
#pragma once

#include "examples/programs/gradcheck/results.h"
#include "examples/programs/gradcheck/subjects.h"

typedef struct check_row {
    const subject *what;
    int order;
    tg_gradcheck_result result;
    double seconds;
    char *report; /* full report of a failure, with a program that reproduces it; to be freed. May be NULL */
} check_row;

typedef struct check_table {
    const check_row *rows;
    int count;
} check_table;

/* True if a result has a worst error: not if something other than a derivative was wrong. */
bool check_has_error(const tg_gradcheck_result *result);

int check_table_count(const check_table *table, verdict which);

/* Prints the rows as a table, then a sentence for each that did not pass; or the rows as comma-separated values. */
void check_table_print(const check_table *table, FILE *out);
void check_table_print_csv(const check_table *table, FILE *out);

/* "190 passed, 0 failed", or "188 passed, 1 failed, 1 cannot tell". */
void check_table_print_counts(const check_table *table, FILE *out);

/* The list of everything that is selected: name, inputs, category, and its formula. */
void check_table_list(const subjects *all, FILE *out);

/* Writes a JUnit XML file for CI systems, a test for each row, completely or, on failure, not at all: false and one
 * line. A row that failed is a failure; a row that could not be decided or checked is an error. Both have their
 * sentence, and the report if there is one. */
bool check_table_write_junit(const char *path, const check_table *table, tg_error *error);
