/* The table of a gradient check: a row for each operation or layer, and what went wrong below.
 *
 *     check_table *table = check_table_new(false);
 *     tg_gradcheck_result result = tg_gradcheck_op(op, NULL);
 *     check_table_add(table, op->name, 1, &result);
 *     check_table_print(table, stdout);              // operation, order, samples, derivatives, worst relative error, where
 *     return check_table_count(table, stdout) > 0;   // prints "81 passed, 0 failed"
 */
#ifndef GRADCHECK_CHECK_TABLE_H
#define GRADCHECK_CHECK_TABLE_H

#include "autograd/gradcheck.h"

#include <stdio.h>

typedef struct check_table check_table;

/* Adds what checking the same again, with another seed or shape, has brought: the first failure counts, or else the worst. */
void gradcheck_result_join(tg_gradcheck_result *total, const tg_gradcheck_result *next);

/* An empty table, to be printed for reading or as CSV; NULL if out of memory. On a terminal, what is being checked shows on
 * standard error meanwhile. */
check_table *check_table_new(bool csv);
void check_table_free(check_table *table);

/* Adds a row. `name` must live as long as the table. */
void check_table_add(check_table *table, const char *name, int order, const tg_gradcheck_result *result);

/* Notes something that has no derivative by nature. */
void check_table_skip(check_table *table, const char *name);

/* Prints the rows; for reading, then a sentence for every failure and what was skipped. */
void check_table_print(const check_table *table, FILE *out);

/* Prints "N passed, N failed" and returns the second number. */
int check_table_count(const check_table *table, FILE *out);

#endif
