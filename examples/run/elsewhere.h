/* `compare --runs`: results of other programs, shown like our own. */
#ifndef RUN_ELSEWHERE_H
#define RUN_ELSEWHERE_H

#include "examples/run/experiment.h"

/* Prints the table and its verdicts; with --out writes summary.csv there, and with --report a page with the curves.
 * Returns the exit status. */
int compare_elsewhere(const experiment_settings *s, const char *command);

#endif
