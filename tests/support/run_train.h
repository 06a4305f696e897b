/* The programs train and predict, run as a user runs them, in a temporary folder that has data for them. */
#ifndef RUN_TRAIN_H
#define RUN_TRAIN_H

#include <sys/types.h>

/* Makes the folder, with train.csv, price.csv, text and images/ in it. temporary_folder_remove removes it. */
void train_folder_make(void);

/* A table with words, numbers of other sizes, and classes that follow from them: a row is `row` with a, b, c, k and t
 * replaced. */
void write_table(const char *name, const char *header, const char *row, int rows);

/* Runs build/bin/PROGRAM in the folder; what it printed is in train_output. Its exit status. */
enum { TRAIN_OUTPUT = 1 << 16 };
extern char train_output[TRAIN_OUTPUT];
__attribute__((format(printf, 2, 3))) int train_run(const char *program, const char *format, ...);

/* Starts build/bin/PROGRAM in the folder, as a process of its own that can be killed. Where it prints to is for the
 * arguments to say. */
__attribute__((format(printf, 2, 3))) pid_t train_start(const char *program, const char *format, ...);

/* Status 0; status 2 and one line with this in it. */
void expect_fine(int status);
void expect_refused(int status, const char *part);

/* A number of a CSV file in the folder: of the row that begins with `row`, in the column of this name; NaN where the
 * cell is empty. */
double csv_cell(const char *file, const char *row, const char *column);

#endif
