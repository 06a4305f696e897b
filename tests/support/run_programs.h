/* Runs programs as users do: train, predict and others in a temporary folder with data for them, and compare. */
#ifndef RUN_PROGRAMS_H
#define RUN_PROGRAMS_H

#include <stddef.h>
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

/* The same with both streams in the file `out` of the folder. */
int run_there(const char *program, const char *arguments);

/* Starts build/bin/PROGRAM in the folder as a separate process that can be killed. The arguments say where its output
 * goes. */
__attribute__((format(printf, 2, 3))) pid_t train_start(const char *program, const char *format, ...);

/* Waits until a CSV file of the temporary folder has a row, for which a program has a minute. */
void wait_for_row(const char *name);

/* Expects status 0; expects status 2 and one line that contains this. */
void expect_fine(int status);
void expect_refused(int status, const char *part);

/* A number of a CSV file in the folder: from the row that begins with `row`, in the column of this name; NaN if the
 * cell is empty. */
double csv_cell(const char *file, const char *row, const char *column);

/* ---- compare ---- */

/* The folder that make builds into. */
const char *compare_build(void);

/* Runs build/bin/compare with these arguments; captures its standard error and exit status. */
int compare_run(const char *arguments, char *errors, size_t size);

/* Eight small runs: options of compare, followed by a blank. */
#define SMALL_RUNS                                                                               \
    "--data moons --rows 300 --hidden 8x2 --activations relu,gelu_exact,swiglu,stochastic_gelu " \
    "--dropout 0.1 --seeds 2 --epochs 2 --batch 32 --no-plots "

/* The rows of a curves.csv without their last column, the seconds; to be freed. */
char *rows_without_seconds(const char *folder);

#endif
