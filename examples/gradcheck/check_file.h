/* Writes a file completely or not at all; or writes to a device directly.
 *
 *     if (!check_file_possible("check.xml", &error) || ... || !check_file_write("check.xml", write, &table, &error))
 *         fprintf(stderr, "gradcheck: --junit: %s\n", error.text);
 */
#ifndef GRADCHECK_CHECK_FILE_H
#define GRADCHECK_CHECK_FILE_H

#include "examples/report/files.h"

typedef bool check_file_writer(const void *context, FILE *to);

/* Checks beforehand, as far as possible, if the file can be written; and writes it. On failure, false and one line. */
bool check_file_possible(const char *path, tg_error *error);
bool check_file_write(const char *path, check_file_writer *write, const void *context, tg_error *error);

#endif
