/* Measures matrix products alone, in the shapes of the nets' steps: our kernels and OpenBLAS's, alternately.
 *
 *     products_bench(&(products_settings){.isa = "best", .dtype = "f32", .threads = "1", .seconds = 0.2});
 *
 * GF/s are those of the fastest rounds. The ratio of both is the median over the rounds, because a change of the clock
 * rate affects both in a round. The peak is the rate of a loop of multiply-adds in registers, measured in the same run
 * with the same instruction set.
 */
#ifndef BENCH_PRODUCTS_H
#define BENCH_PRODUCTS_H

#include <stdbool.h>

typedef struct products_settings {
    const char *isa;   /* our kernels' instruction set; "best": the best that runs here */
    const char *dtype; /* "f32" or "f64" */
    const char *nets;  /* separated by commas, "square" too; NULL: all */
    int threads;
    double seconds; /* for each product; at least nine rounds */
    bool csv, titles;
} products_settings;

/* Prints the table, or its CSV form, on standard output. False, with a message on standard error, for an instruction
 * set that this processor lacks, or if out of memory. */
bool products_bench(const products_settings *settings);

/* The same in separate processes, one for each OpenBLAS core in a list separated by commas. `arguments` are those of
 * this program. */
bool products_bench_cores(const char *cores, char **arguments);

/* The position in the list of the core that this process measures; -1 if it measures none. */
int products_core_number(void);

#endif
