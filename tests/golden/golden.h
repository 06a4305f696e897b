/* What the reference files in tests/golden are made from and compared with.
 *
 *     golden_subject subject;
 *     golden_case c;
 *     if (!golden_at(2, &subject) || !golden_draw(tape, &subject, 3, TG_F64, true, &c))
 *         return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
 *     tg_vjp(c.output, c.cotangent, c.input, c.count, gradients);
 *
 *     if (!expected_load("tests/golden/expected.txt"))
 *         ...
 *     expected_line line;
 *     if (expected_find("mul", 3, "gradient-1", &line)) {
 *         double *numbers = expected_numbers(&line);
 *         ...
 *         free(numbers);
 *     }
 */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <tapegrad.h>

/* ---- composed functions ---- */

/* Functions of the library that are composed of several operations, with samples like an operation's, so that they are
 * compared with references in the same way. Each list ends with an entry without a name. */
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

/* ---- samples ---- */

/* The samples of an operation, filled with random numbers: the same ones for the reference files and for the test.
 * Every number drawn is a float, so that both precisions compute with the very same inputs. They depend only on the
 * operation's name, the sample's number and the sample. */

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

/* ---- expected results ---- */

typedef struct expected_line {
    tg_dtype dtype;
    tg_shape shape;
    const char *text; /* what follows */
} expected_line;

/* Reads the file; false if it is not there or memory runs out. */
bool expected_load(const char *path);
void expected_free(void);

/* Finds the line `what` of a sample: "output", "output-terms", "gradient-0", ... False if there is none. */
bool expected_find(const char *operation, int sample, const char *what, expected_line *line);

/* The numbers of a line, for the caller to free; NULL if their count differs from the shape. */
double *expected_numbers(const expected_line *line);

/* The checksum of the sample when the reference was computed; false if there is none. */
bool expected_checksum(const char *operation, int sample, uint64_t *checksum);

/* The number of cases of an operation, or of all with NULL. */
int expected_cases(const char *operation);

#endif
