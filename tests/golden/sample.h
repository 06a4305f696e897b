/* The samples of an operation with numbers drawn into them: always the same ones, for the reference files and for the test.
 *
 *     golden_case c;
 *     if (!golden_draw(tape, tg_op_find("mul"), 3, TG_F64, true, &c))
 *         return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
 *     tg_vjp(c.output, c.cotangent, c.input, c.count, gradients);
 *
 * Every number drawn is a float, so that both precisions compute with the very same inputs. They depend on the
 * name of the operation, the number of the sample and the sample, and on nothing else.
 */
#ifndef TESTS_GOLDEN_SAMPLE_H
#define TESTS_GOLDEN_SAMPLE_H

#include <tapegrad.h>

typedef struct golden_case {
    const tg_op *op;
    const void *attributes;
    int count; /* of inputs */
    tg_tensor input[TG_SAMPLE_INPUTS];
    bool differentiated[TG_SAMPLE_INPUTS]; /* whether the reference tells its gradient */
    tg_tensor output;
    tg_tensor cotangent; /* like the output; inert where the operation is not differentiated */
    uint64_t checksum;   /* of attributes, inputs and cotangent, the same in both precisions */
} golden_case;

/* Draws sample `number` onto the tape and applies the operation to it. With `variables`, gradients of the inputs that are
 * differentiated can be asked for; without, all are constants, which may take another path through the kernels.
 * False if the tape has an error. */
bool golden_draw(tg_tape *tape, const tg_op *op, int number, tg_dtype dtype, bool variables, golden_case *c);

/* Whether its samples can be computed anew from what golden_draw knows: not those of a source of random numbers. */
bool golden_can_draw(const tg_op *op);

#endif
