/* One HTML file of a gradient check, which needs no other file and no network: what was checked and with which seeds,
 * what each result rests on, the errors, and for each operation the error of a difference over its step.
 *
 *     const check_report report = {.table = &table, .all = &all, .seed = 0, .seeds = 1, .order = 2, .argv = argv};
 *     if (!check_report_write("check.html", &report, &error))
 *         fprintf(stderr, "gradcheck: --html: %s\n", error.text);
 */
#ifndef GRADCHECK_CHECK_REPORT_H
#define GRADCHECK_CHECK_REPORT_H

#include "examples/gradcheck/check_table.h"
#include "examples/report/files.h"

typedef struct check_report {
    const check_table *table;
    const subjects *all;
    int seed, seeds, order;
    bool interrupted;  /* the table has not everything */
    char *const *argv; /* how it was called, ended by NULL */
} check_report;

/* Writes it: whole or, on failure, false and one line. */
bool check_report_write(const char *path, const check_report *report, tg_error *error);

#endif
