/* Runs the programs train and predict as users do, in a temporary folder with data for them. */
#ifndef RUN_TRAIN_H
#define RUN_TRAIN_H

#include <sys/types.h>

/* Makes the folder with train.csv, price.csv, text and images/. temporary_folder_remove removes it. */
void train_folder_make(void);

/* Writes a table with words, numbers of different scales, and classes that depend on them: a row is `row` with a, b, c,
 * k and t replaced. */
void write_table(const char *name, const char *header, const char *row, int rows);

/* Runs build/bin/PROGRAM in the folder; its output is in train_output. Returns the exit status. */
enum { TRAIN_OUTPUT = 1 << 16 };
extern char train_output[TRAIN_OUTPUT];
__attribute__((format(printf, 2, 3))) int train_run(const char *program, const char *format, ...);

/* Starts build/bin/PROGRAM in the folder as a separate process that can be killed. The arguments say where its output
 * goes. */
__attribute__((format(printf, 2, 3))) pid_t train_start(const char *program, const char *format, ...);

/* Expects status 0; expects status 2 and one line that contains this. */
void expect_fine(int status);
void expect_refused(int status, const char *part);

/* A number of a CSV file in the folder: from the row that begins with `row`, in the column of this name; NaN if the
 * cell is empty. */
double csv_cell(const char *file, const char *row, const char *column);

#endif
