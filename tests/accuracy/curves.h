/* The error of exact GELU in single precision over x, for four ways to compute it: the data of plots/exactness.gp.
 *
 *     if (!accuracy_curves_write("results", "python3", NULL, &error))
 *         fprintf(stderr, "%s\n", error.text);
 *
 * The columns are form, x, ulp; form is naive (0.5 x (1 + erff(x / sqrt 2))), erfc (0.5 x erfcf(-x / sqrt 2)), pytorch
 * where that Python can import it, and tapegrad. Each row has the largest error among a few hundred numbers around x.
 */
#ifndef ACCURACY_CURVES_H
#define ACCURACY_CURVES_H

#include "examples/programs/report/files.h"

/* Writes exactness.csv into an existing folder; false, with a message, on failure. `has_pytorch` says whether PyTorch
 * was available; may be NULL. */
bool accuracy_curves_write(const char *folder, const char *python, bool *has_pytorch, tg_error *error);

#endif
