/* The text of a paper on how a comparison was made. Each sentence comes from the options of the runs.
 *
 *     methods_print(&e, "compare --data digits", file);
 */
#pragma once

#include "examples/programs/run/experiment.h"

/* The methods of a comparison but for its tests: data and split, nets and training, the choice of the epoch and of
 * learning rate and scale, version, seeds and command. */
void methods_print(const experiment *e, const char *command, FILE *to);

/* "Software. tapegrad 0.9.0; the command: compare ..." */
void methods_print_software(const char *command, FILE *to);
