/* Compiles exported C with every available compiler, for this processor and others, and makes models to export.
 *
 *     temporary_write("net.c", text, length);
 *     for (const compiler *c = NULL; (c = compiler_next(c, COMPILERS_ALL));)
 *         if (compiler_build(c, "net.c driver.c"))
 *             shell("%s < rows > results", c->run);
 */
#ifndef TESTS_EXPORTED_H
#define TESTS_EXPORTED_H

#include "examples/programs/run/net.h"

/* Runs a command in the temporary folder, and returns its exit status. */
__attribute__((format(printf, 1, 2))) int shell(const char *format, ...);

typedef struct compiler {
    const char *needs[2]; /* commands that must be available, or it is skipped */
    const char *command;  /* command to which files and options are appended */
    const char *run;      /* runs the program that it built, "net" */
    bool is_native;
    const char *fused; /* the flag for fused multiply-adds, if it needs one */
} compiler;

typedef enum compilers_of { COMPILERS_ONE, COMPILERS_NATIVE, COMPILERS_ALL } compilers_of;

/* The next available compiler, the first one after NULL; NULL after the last. A missing one is reported as skipped,
 * once. */
const compiler *compiler_next(const compiler *last, compilers_of which);

/* Builds the program "net" from C99 without warnings; it computes like the library's current kernels. */
bool compiler_build(const compiler *c, const char *files);

/* A small model of `train`, number i of net_models, with a norm; false if it does not take this norm. */
bool exported_spec(int i, const char *norm, net_spec *spec);

/* A gated GPT with rotary positions and shared heads. */
extern const net_spec exported_rotary_gpt;

/* The numbers of a row: inputs, or tokens, of pairs those of a source and of a target. */
int64_t exported_width(const net_spec *spec);

/* The prediction of a model for one row of random inputs, which is stored in *x. */
tg_tensor exported_prediction(const net_spec *spec, const tg_model *model, tg_tape *tape, tg_tensor *x);

/* A model of `train` with weights like trained ones: none is 0. Its own functions free it. */
tg_model *exported_model(const net_spec *spec);

#endif
