/* Exported C, by each compiler that is here, for this processor and for others; and models that are worth exporting.
 *
 *     temporary_write("net.c", text, length);
 *     for (const compiler *c = NULL; (c = compiler_next(c, COMPILERS_ALL));)
 *         if (compiler_build(c, "net.c driver.c"))
 *             shell("%s < rows > results", c->run);
 */
#ifndef TESTS_EXPORTED_H
#define TESTS_EXPORTED_H

#include "examples/run/net.h"

/* Runs a command in the temporary folder, and returns its exit status. */
__attribute__((format(printf, 1, 2))) int shell(const char *format, ...);

typedef struct compiler {
    const char *needs[2]; /* the commands without which it is passed over */
    const char *command;  /* to which files and options are added */
    const char *run;      /* runs the program it has built, "net" */
    bool is_native, has_mfma;
} compiler;

typedef enum compilers_of { COMPILERS_ONE, COMPILERS_NATIVE, COMPILERS_ALL } compilers_of;

/* The next one that is here, the first behind NULL; NULL behind the last. One that is not here is said to be skipped,
 * once. */
const compiler *compiler_next(const compiler *last, compilers_of which);

/* Builds the program "net" of C99, without a warning, that computes as the library's kernels do now. */
bool compiler_build(const compiler *c, const char *files);

/* A model of `train` with weights as a training leaves them: none is 0. Its own functions free it. */
tg_model *exported_model(const net_spec *spec);

#endif
