/* Functions of the library that are composed of several operations, with samples like an operation's, so that they are
 * compared with references in the same way. Each list ends with an entry without a name. */
#ifndef TESTS_GOLDEN_FUNCTIONS_H
#define TESTS_GOLDEN_FUNCTIONS_H

#include <tapegrad.h>

typedef tg_tensor (*golden_call)(const tg_tensor *x, int count, const void *attributes);

typedef struct golden_function {
    tg_op described; /* only for name, arity, attributes and samples: cannot be applied */
    golden_call call;
} golden_function;

/* A list entry that runs call_NAME on NAME_samples. */
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
