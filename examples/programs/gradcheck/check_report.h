/* Writes a self-contained HTML report of a gradient check: the checks and their seeds, the basis of each result, the
 * errors, and for each operation the error of finite differences over the step.
 *
 *     const check_report report = {.table = &table, .all = &all, .seed = 0, .seeds = 1, .order = 2, .argv = argv};
 *     if (!check_report_write("check.html", &report, &error))
 *         fprintf(stderr, "gradcheck: --html: %s\n", error.text);
 */
#ifndef GRADCHECK_CHECK_REPORT_H
#define GRADCHECK_CHECK_REPORT_H

#include "examples/programs/gradcheck/check_table.h"
#include "examples/programs/report/files.h"

typedef struct check_report {
    const check_table *table;
    const subjects *all;
    int seed, seeds, order;
    bool interrupted;  /* the table is incomplete */
    char *const *argv; /* the command line, ended by NULL */
} check_report;

/* Writes the file completely or, on failure, not at all: false and one line. */
bool check_report_write(const char *path, const check_report *report, tg_error *error);

#endif
