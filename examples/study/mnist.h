/* The runs of the GELU paper's MNIST classifiers (Hendrycks and Gimpel, arXiv 1606.08415), which two studies use.
 */
#ifndef STUDY_MNIST_H
#define STUDY_MNIST_H

#include "examples/study/study.h"

enum { MNIST_ACTIVATIONS = 3, MNIST_GRIDS = 2 };
extern const tg_activation mnist_activations[MNIST_ACTIVATIONS];

/* The grids of the activations with and without dropout, and of the stochastic GELU without. */
extern const study_grid mnist_grids[MNIST_GRIDS];

/* The runs of an activation with a probability of keeping a unit. */
study_cell mnist_cell(const study_work *work, const study_context *c, tg_activation activation, double keep);

/* The rate with the lowest minimum of the median validation loss, among those with the most complete runs; 0 if no run
 * is complete. */
double mnist_best_rate(const study_cell *cell);

#endif
