/* Prints every sample of every operation and composed function as a line of JSON; make_golden.py computes the reference
 * values from these. With --recorded, the tape of each one's derivatives of the first three orders instead, and that
 * of a backward pass through every sample of every layer: every compiler must record the same operations in the same
 * order, which tests/matrix.sh compares.
 *
 *     build/bin/golden-samples | python3 tests/golden/make_golden.py
 *     build/bin/golden-samples add mul | head
 *     build/bin/golden-samples --recorded softmax
 *
 * An infinity is spelt Infinity and a NaN NaN, as Python's json module reads them.
 */
#include "tests/golden/golden.h"
#include "nn/layers/layer.h"
#include "nn/layers/rotary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_number(double number)
{
    if (isnan(number))
        fputs("NaN", stdout);
    else if (isinf(number))
        fputs(number > 0 ? "Infinity" : "-Infinity", stdout);
    else if (number == 0)
        fputs(signbit(number) ? "-0.0" : "0.0", stdout); /* a bare -0 would be read as an integer */
    else
        printf("%.17g", number);
}

static void print_shape(const tg_shape *shape)
{
    printf("[");
    for (int axis = 0; axis < shape->rank; axis++)
        printf("%s%" PRId64, axis ? ", " : "", shape->dim[axis]);
    printf("]");
}

static void print_field(const tg_field *field, const void *attributes)
{
    printf("\"%s\": ", field->name);
    switch (field->type) {
    case TG_FIELD_INT:
        printf("%.0f", tg_field_number(field, attributes));
        break;
    case TG_FIELD_BOOL:
        fputs(tg_field_number(field, attributes) != 0 ? "true" : "false", stdout);
        break;
    case TG_FIELD_REAL:
        print_number(tg_field_number(field, attributes));
        break;
    case TG_FIELD_SHAPE:
        print_shape((const tg_shape *)((const char *)attributes + field->offset));
        break;
    case TG_FIELD_POINTER: /* no sample has one */
        break;
    }
}

static void print_elements(tg_tensor x)
{
    printf("[");
    for (int64_t i = 0; i < tg_size(x); i++) {
        fputs(i ? ", " : "", stdout);
        print_number(tg_at(x, i));
    }
    printf("]");
}

static void print_type(tg_tensor x)
{
    tg_shape shape = tg_shape_of(x);
    printf("{\"type\": \"%s\", \"shape\": ", tg_dtype_name(tg_dtype_of(x)));
    print_shape(&shape);
}

static void print_case(const tg_op *op, const golden_case *c, int number)
{
    printf("{\"operation\": \"%s\", \"sample\": %d, \"checksum\": \"%016" PRIx64 "\", \"attributes\": {", op->name,
           number, c->checksum);
    for (const tg_field *field = op->fields; field && field->name; field++) {
        fputs(field == op->fields ? "" : ", ", stdout);
        print_field(field, c->attributes);
    }
    printf("}, \"inputs\": [");
    for (int i = 0; i < c->count; i++) {
        fputs(i ? ", " : "", stdout);
        print_type(c->input[i]);
        printf(", \"differentiated\": %s, \"values\": ", c->differentiated[i] ? "true" : "false");
        print_elements(c->input[i]);
        printf("}");
    }
    printf("], \"output\": ");
    print_type(c->output);
    printf("}, \"cotangent\": ");
    if (tg_ok(c->cotangent))
        print_elements(c->cotangent);
    else
        printf("null");
    printf("}\n");
}

static void print_table(tg_tape *tape, const char *name, int number)
{
    const size_t size = tg_tape_table(tape, NULL, 0) + 1;
    char *table = malloc(size);
    if (table)
        tg_tape_table(tape, table, size);
    printf("%s, sample %d\n%s\n", name, number, table ? table : "out of memory");
    free(table);
}

static void print_recorded(tg_tape *tape, const tg_op *op, const golden_case *c, int number)
{
    tg_tensor x[TG_SAMPLE_INPUTS], of[TG_SAMPLE_INPUTS] = {c->output}, gradients[TG_SAMPLE_INPUTS];
    int count = 0;
    for (int i = 0; i < c->count; i++)
        if (c->differentiated[i])
            x[count++] = c->input[i];
    for (int order = 1, outputs = 1; count > 0 && order <= 3; order++, outputs = count)
        if (tg_grad(of, outputs, x, count, NULL, true, gradients))
            memcpy(of, gradients, sizeof of);
    print_table(tape, op->name, number);
}

static bool print_layer(tg_tape *tape, const tg_layer_kind *kind, int number)
{
    enum { ELEMENTS = 128 };
    const tg_layer_sample *sample = &kind->samples[number];
    const tg_shape shape = sample->shapes[0];
    double x[ELEMENTS], keep[ELEMENTS];
    int32_t ids[ELEMENTS] = {0};
    tg_parameters *set = tg_parameters_new(TG_F64);
    void *memory = calloc(1, kind->size + 1);
    if (!set || !memory || tg_shape_size(&shape) > ELEMENTS)
        return false;
    const tg_layer layer = kind->add(memory, set, "layer", &shape, number);
    tg_rng rng = tg_rng_seed(1);
    tg_layer_pass pass = {.training = sample->training ? &rng : NULL};
    for (int i = 0; i < ELEMENTS; i++) {
        x[i] = 0.125 * i - 1;
        keep[i] = i != shape.dim[1] - 1;
    }
    tg_tape_reset(tape);
    if (sample->rotary)
        pass.rotary = tg_rotary_angles(tape, TG_F64, shape.dim[1], sample->rotary, 10000);
    if (sample->padded)
        pass.padding = tg_constant(tape, TG_F64, keep, TG_SHAPE(shape.dim[0], shape.dim[1]));
    const tg_tensor input = sample->ids ? tg_constant(tape, TG_I32, ids, shape) : tg_variable(tape, TG_F64, x, shape);
    const bool fine = tg_backward(tg_sum(layer.kind->forward(&layer, input, &pass)));
    print_table(tape, kind->name, number);
    tg_parameters_free(set);
    free(memory);
    return fine;
}

static bool wanted(const tg_op *op, char **names)
{
    bool named = !*names;
    for (; *names; names++)
        named |= strcmp(*names, op->name) == 0;
    return named;
}

int main(int argc, char **argv)
{
    const bool recorded = argc > 1 && strcmp(argv[1], "--recorded") == 0;
    tg_tape *tape = tg_tape_new();
    golden_subject subject;
    for (int index = 0; golden_at(index, &subject); index++)
        for (int number = 0; number < subject.op->sample_count && wanted(subject.op, argv + 1 + recorded); number++) {
            golden_case c;
            tg_tape_reset(tape);
            if (!golden_draw(tape, &subject, number, TG_F64, recorded, &c)) {
                fprintf(stderr, "%s, sample %d: %s\n", subject.op->name, number, tg_tape_error(tape));
                return EXIT_FAILURE;
            }
            if (recorded)
                print_recorded(tape, subject.op, &c, number);
            else
                print_case(subject.op, &c, number);
        }
    for (int index = 0; recorded && argc == 2 && tg_layer_kind_at(index); index++)
        for (int number = 0; tg_layer_kind_at(index)->samples[number].about; number++)
            if (!print_layer(tape, tg_layer_kind_at(index), number)) {
                fprintf(stderr, "%s, sample %d: %s\n", tg_layer_kind_at(index)->name, number, tg_tape_error(tape));
                return EXIT_FAILURE;
            }
    tg_tape_free(tape);
    return EXIT_SUCCESS;
}
