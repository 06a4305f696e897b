/* Writes the results as a JUnit XML file for CI systems, a test for each row. A row that failed is a failure; a row
 * that could not be decided or checked is an error. Both have their sentence, and the report if there is one. */
#ifndef GRADCHECK_CHECK_JUNIT_H
#define GRADCHECK_CHECK_JUNIT_H

#include "examples/gradcheck/check_table.h"
#include "examples/report/files.h"

/* Writes the file completely or, on failure, not at all: false and one line. */
bool check_junit_write(const char *path, const check_table *table, tg_error *error);

#endif
