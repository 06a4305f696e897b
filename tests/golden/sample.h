/* The samples of an operation, filled with random numbers: the same ones for the reference files and for the test.
 *
 *     golden_subject subject;
 *     golden_case c;
 *     if (!golden_at(2, &subject) || !golden_draw(tape, &subject, 3, TG_F64, true, &c))
 *         return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
 *     tg_vjp(c.output, c.cotangent, c.input, c.count, gradients);
 *
 * Every number drawn is a float, so that both precisions compute with the very same inputs. They depend only on the
 * operation's name, the sample's number and the sample.
 */
#ifndef TESTS_GOLDEN_SAMPLE_H
#define TESTS_GOLDEN_SAMPLE_H

#include "tests/golden/functions.h"

/* A subject with references: an operation, or a composed function; `op` has its name, attributes and samples. */
typedef struct golden_subject {
    const tg_op *op;
    golden_call call; /* NULL: of an operation */
} golden_subject;

/* The operations in the order of ops.def, then the functions; false past the end. */
bool golden_at(int index, golden_subject *subject);

typedef struct golden_case {
    const void *attributes;
    int count; /* of inputs */
    tg_tensor input[TG_SAMPLE_INPUTS];
    bool differentiated[TG_SAMPLE_INPUTS]; /* whether the reference has a gradient for it */
    tg_tensor output;
    tg_tensor cotangent; /* like the output; inert where the operation is not differentiated */
    uint64_t checksum;   /* of attributes, inputs and cotangent, the same in both precisions */
} golden_case;

/* Draws sample `number` onto the tape and applies the subject to it. With `variables` the differentiated inputs are
 * variables. Without it all inputs are constants, for which other kernels may run. False if the tape has an error. */
bool golden_draw(tg_tape *tape, const golden_subject *subject, int number, tg_dtype dtype, bool variables,
                 golden_case *c);

#endif
