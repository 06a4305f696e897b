/* `compare --runs`: results of other programs, shown as our own are. */
#ifndef RUN_ELSEWHERE_H
#define RUN_ELSEWHERE_H

#include "examples/run/experiment.h"

/* Prints the table and its verdicts; with --out, summary.csv goes there, and with --report a page with the curves. The
 * exit status. */
int compare_elsewhere(const experiment_settings *s, char *const *argv);

#endif
