/* The runs of the GELU paper's MNIST classifiers (Hendrycks and Gimpel, arXiv 1606.08415), which two studies look at.
 */
#ifndef STUDY_MNIST_H
#define STUDY_MNIST_H

#include "examples/study/study.h"

/* A study on MNIST, or on so many glyphs where it is a quick one: loads the data, runs it, and frees both data and
 * work. The exit status. */
int mnist_study(const study_context *c, size_t glyphs, study_work work,
                int (*run)(const study_context *c, dataset *data, study_work *work));

enum { MNIST_ACTIVATIONS = 3, MNIST_RATES = 3 };
extern const tg_activation mnist_activations[MNIST_ACTIVATIONS];

/* What the protocol says, or its quick version. */
typedef struct mnist_protocol {
    int seeds, epochs, rates;
    double rate[MNIST_RATES];
    const char *hidden, *validation;
    int batch;
} mnist_protocol;
mnist_protocol mnist_protocol_of(const study_context *c);

/* Adds the runs of an activation at a rate with a probability of keeping a unit, for the seeds first .. last. False if
 * memory runs out. */
bool mnist_add(study_work *work, const mnist_protocol *p, const dataset *data, tg_activation activation, double keep,
               double rate, int first, int last);

/* The records of all seeds that are there. */
int mnist_records(const study_work *work, const mnist_protocol *p, tg_activation activation, double keep, double rate,
                  const study_record *records[STUDY_SEEDS]);

/* The rate with the lowest minimum of the median validation loss, among those with the most complete runs; 0 where
 * nothing is complete. */
double mnist_best_rate(const study_work *work, const mnist_protocol *p, tg_activation activation, double keep);

#endif
