/* Synthetic comparisons in the temporary folder of a test. */
#ifndef RUN_LOGS_H
#define RUN_LOGS_H

#include "examples/programs/report/runlog.h"
#include "examples/programs/report/comparison.h"

/* Two epochs of relu with seeds 1 and 2; of gelu with the same; of "si,lu" with seed 1, where training diverged, and
 * with seed 2, which did not finish. Accuracies are optional, as in a regression. To be freed. */
runlog *run_log_small(bool accuracy);

/* Writes the files of a log, which must succeed. */
/* Finishes a run with these measures of its best epoch's net, on validation and test rows. */
void run_log_finish(runlog *log, int run, double loss, double accuracy, double test_loss);

void run_log_write(const runlog *log);

/* The summaries of the activations of a log, to be freed. */
comparison_group *run_log_groups(const runlog *log, int *count);

#endif
