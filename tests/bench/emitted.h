/* The training step written as C (autograd/export.h), compiled by this system's compiler, against the step on the tape.
 *
 *     emitted_bench(&(emitted_settings){.nets = "toy,small", .activations = "relu", .compiler = "cc", .keep = ""});
 */
#ifndef BENCH_EMITTED_H
#define BENCH_EMITTED_H

#include <stdbool.h>

typedef struct emitted_settings {
    const char *nets, *activations; /* separated by commas */
    const char *compiler;           /* a command, to which flags and files are appended */
    const char *keep;               /* a folder for the files, which stay; empty: a temporary one */
    double seconds;                 /* for each line of the table */
    bool csv;
} emitted_settings;

/* Prints the table, or its CSV form, on standard output. False, with a message on standard error, for an invalid list,
 * if the compiler is missing or refuses the file, or if a step failed. */
bool emitted_bench(const emitted_settings *settings);

#endif
