/* One comparison on each of several data sets, and then over all of them.
 *
 *     compare --data csv:a.csv --data csv:b.csv --data csv:c.csv --activations relu,gelu_exact --out three
 *
 * Each data set has its own comparison, with the other options of the command, in a folder of `three`; the same command
 * continues. Options of one data set alone follow it in its word: --data "ames.csv --target Sale_Price". --data @FILE
 * has one of these in each line. Then the forms
 * are ranked on each data set by the mean of the first measure that is shown, and the ranks are tested
 * (report/ranks_table.h). */
#ifndef RUN_DATA_SETS_H
#define RUN_DATA_SETS_H

/* How many times the command line has --data; a list in a file counts twice. */
int data_sets_count(int argc, char *const *argv);

/* Compares on all of them. Returns the status of the program: that of the first comparison that fails, if one does, and
 * of a signal that interrupts it. */
int data_sets_compare(int argc, char **argv);

#endif
