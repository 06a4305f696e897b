/* The results as a JUnit XML file, which CI systems show: a test for each row. What failed is a failure; what could not
 * be decided, or not be checked, an error; both have their sentence, and the report if there is one. */
#ifndef GRADCHECK_CHECK_JUNIT_H
#define GRADCHECK_CHECK_JUNIT_H

#include "examples/gradcheck/check_table.h"
#include "examples/report/files.h"

/* Writes it: whole or, on failure, false and one line. */
bool check_junit_write(const char *path, const check_table *table, tg_error *error);

#endif
