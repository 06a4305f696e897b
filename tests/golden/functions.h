/* Functions of the library that are made of several operations, with samples as an operation has them, so that they are
 * compared with their references in the same way. Each list ends with one that has no name.
 */
#ifndef TESTS_GOLDEN_FUNCTIONS_H
#define TESTS_GOLDEN_FUNCTIONS_H

#include <tapegrad.h>

typedef tg_tensor (*golden_call)(const tg_tensor *x, int count, const void *attributes);

typedef struct golden_function {
    tg_op described; /* name, arity, attributes and samples: not an operation to be applied */
    golden_call call;
} golden_function;

/* An entry of a list: call_NAME on NAME_samples. */
#define GOLDEN_FUNCTION(function, inputs, field_table)                                                            \
    {                                                                                                             \
        .described = {.name = #function, .arity = inputs, .fields = field_table, TG_SAMPLES(function##_samples)}, \
        .call = call_##function                                                                                   \
    }

extern const golden_function golden_reductions[];
extern const golden_function golden_rearrangements[];
extern const golden_function golden_losses[];
extern const golden_function golden_layers[];

#endif
