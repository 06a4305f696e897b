/* Prints every sample of every operation and composed function as a line of JSON; make_golden.py computes the reference
 * values from these.
 *
 *     build/bin/golden-samples | python3 tests/golden/make_golden.py
 *     build/bin/golden-samples add mul | head
 *
 * An infinity is spelt Infinity and a NaN NaN, as Python's json module reads them.
 */
#include "tests/golden/sample.h"

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

static bool wanted(const tg_op *op, int argc, char **argv)
{
    bool named = argc < 2;
    for (int a = 1; a < argc; a++)
        named |= strcmp(argv[a], op->name) == 0;
    return named;
}

int main(int argc, char **argv)
{
    tg_tape *tape = tg_tape_new();
    golden_subject subject;
    for (int index = 0; golden_at(index, &subject); index++)
        for (int number = 0; number < subject.op->sample_count && wanted(subject.op, argc, argv); number++) {
            golden_case c;
            tg_tape_reset(tape);
            if (!golden_draw(tape, &subject, number, TG_F64, false, &c)) {
                fprintf(stderr, "%s, sample %d: %s\n", subject.op->name, number, tg_tape_error(tape));
                return EXIT_FAILURE;
            }
            print_case(subject.op, &c, number);
        }
    tg_tape_free(tape);
    return EXIT_SUCCESS;
}
