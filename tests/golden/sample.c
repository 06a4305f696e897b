/* Drawing the samples of an operation. */
#include "tests/golden/golden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checksum: FNV-1a over 64-bit words ---- */

static void add_word(uint64_t *checksum, uint64_t word)
{
    for (int shift = 0; shift < 64; shift += 8)
        *checksum = (*checksum ^ (word >> shift & 255)) * UINT64_C(1099511628211);
}

static void add_number(uint64_t *checksum, double number)
{
    uint64_t word = UINT64_C(0x7ff8000000000000); /* every NaN is treated as the same */
    if (!isnan(number))
        memcpy(&word, &number, sizeof word);
    add_word(checksum, word);
}

static void add_shape(uint64_t *checksum, const tg_shape *shape)
{
    add_word(checksum, (uint64_t)shape->rank);
    for (int axis = 0; axis < shape->rank; axis++)
        add_word(checksum, (uint64_t)shape->dim[axis]);
}

static void add_attributes(uint64_t *checksum, const tg_op *op, const void *attributes)
{
    for (const tg_field *field = op->fields; field && field->name; field++) {
        switch (field->type) {
        case TG_FIELD_INT:
        case TG_FIELD_REAL:
            add_number(checksum, tg_field_number(field, attributes));
            break;
        case TG_FIELD_BOOL:
            add_word(checksum, tg_field_number(field, attributes) != 0);
            break;
        case TG_FIELD_SHAPE:
            add_shape(checksum, (const tg_shape *)((const char *)attributes + field->offset));
            break;
        case TG_FIELD_POINTER:
            break;
        }
    }
}

/* ---- numbers ---- */

/* Uniform in [low, high], rounded to a float. In two statements, so that no compiler fuses them into one rounding. */
static double draw_number(tg_rng *rng, double low, double high)
{
    double part = (high - low) * tg_rng_uniform(rng);
    double number = low + part;
    return (double)(float)number;
}

static double draw_element(tg_rng *rng, const tg_sample_input *in, int64_t index)
{
    if (in->value_count > 0)
        return (double)(float)in->values[index % in->value_count];
    if (in->index) {
        int64_t low = (int64_t)in->low, span = (int64_t)in->high - low;
        return (double)(low + (int64_t)tg_rng_below(rng, span > 0 ? (uint64_t)span : 1));
    }
    bool by_default = in->low == 0 && in->high == 0;
    return draw_number(rng, by_default ? -3 : in->low, by_default ? 3 : in->high);
}

static void store(tg_dtype dtype, void *data, int64_t index, double number)
{
    if (dtype == TG_F64)
        ((double *)data)[index] = number;
    else if (dtype == TG_F32)
        ((float *)data)[index] = (float)number;
    else
        ((int32_t *)data)[index] = (int32_t)number;
}

/* ---- tensors ---- */

static tg_tensor draw_input(tg_tape *tape, tg_rng *rng, const tg_sample_input *in, tg_dtype dtype, bool variable,
                            uint64_t *checksum)
{
    int64_t size = tg_shape_size(&in->shape);
    tg_dtype type = in->index ? TG_I32 : dtype;
    void *data = malloc((size_t)size * sizeof(double) + 1);
    add_word(checksum, in->index ? 2 : in->fixed);
    add_shape(checksum, &in->shape);
    for (int64_t i = 0; data && i < size; i++) {
        double number = draw_element(rng, in, i);
        add_number(checksum, number);
        store(type, data, i, number);
    }
    tg_tensor x = data ? (variable ? tg_variable : tg_constant)(tape, type, data, in->shape) : TG_NONE;
    free(data);
    return x;
}

static tg_tensor draw_cotangent(tg_tape *tape, tg_rng *rng, tg_tensor output, uint64_t *checksum)
{
    const tg_sample_input like_output = {.shape = tg_shape_of(output), .low = -2, .high = 2};
    return draw_input(tape, rng, &like_output, tg_dtype_of(output), false, checksum);
}

/* ---- subjects ---- */

bool golden_at(int index, golden_subject *subject)
{
    static const golden_function *const lists[] = {golden_reductions, golden_rearrangements, golden_losses,
                                                   golden_layers};
    for (int i = 0; tg_op_at(i); i++)
        if (index-- == 0) {
            *subject = (golden_subject){.op = tg_op_at(i)};
            return true;
        }
    for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++)
        for (const golden_function *function = lists[list]; function->call; function++)
            if (index-- == 0) {
                *subject = (golden_subject){&function->described, function->call};
                return true;
            }
    return false;
}

static tg_tensor apply(tg_tape *tape, const golden_subject *subject, const golden_case *c)
{
    if (subject->call)
        return subject->call(c->input, c->count, c->attributes);
    if (subject->op->flags & TG_SOURCE)
        return tg_apply_on(tape, subject->op, c->attributes);
    return tg_apply(subject->op, c->attributes, c->count, c->input);
}

bool golden_draw(tg_tape *tape, const golden_subject *subject, int number, tg_dtype dtype, bool variables,
                 golden_case *c)
{
    const tg_op *op = subject->op;
    const tg_sample *sample = &op->samples[number];
    *c = (golden_case){.attributes = sample->attributes, .checksum = UINT64_C(14695981039346656037)};
    c->count = sample->count > 0 ? sample->count : op->arity;
    tg_rng rng = tg_rng_seed(3);
    rng = tg_rng_stream(&rng, op->name);
    rng = tg_rng_split(&rng, (uint64_t)number);

    add_attributes(&c->checksum, op, c->attributes);
    const bool constant = op->flags & TG_CONSTANT;
    for (int i = 0; i < c->count; i++) {
        c->differentiated[i] = !constant && !sample->input[i].index && !sample->input[i].fixed;
        c->input[i] = draw_input(tape, &rng, &sample->input[i], dtype, variables && c->differentiated[i], &c->checksum);
    }
    c->output = apply(tape, subject, c);
    if (tg_ok(c->output) && !constant)
        c->cotangent = draw_cotangent(tape, &rng, c->output, &c->checksum);
    return tg_tape_error(tape) == NULL && tg_ok(c->output);
}
