/* Checks an operation in other forms: in float, in shapes of every rank and length, broadcast each way. */
#include "autograd/gradcheck/check.h"
#include "autograd/gradcheck/tolerances.h"

#include <float.h>
#include <stdio.h>

enum { MOST_INPUTS = TG_SAMPLE_INPUTS };

/* One form of an operation: its type, the shape and numbers of each input, and its results. `what` begins the sentence
 * of a failure. */
typedef struct form {
    tg_gradcheck_status status; /* of a failure */
    char what[200];
    tg_dtype dtype;
    tg_shape shape[MOST_INPUTS];
    const double *data[MOST_INPUTS];
    tg_shape output;
    const double *cotangent;
    double *results[1 + MOST_INPUTS]; /* the value, and the gradient by each input */
} form;

static double *take(tg_check *c, int64_t size)
{
    return tg_check_take_from(c, &c->steps, size, sizeof(double));
}

static tg_tensor put(tg_check *c, const double *data, tg_shape shape, tg_dtype dtype, bool varied)
{
    const int64_t size = tg_shape_size(&shape);
    float *single = dtype == TG_F32 ? tg_check_take_from(c, &c->steps, size, sizeof *single) : NULL;
    for (int64_t i = 0; single && i < size; i++)
        single[i] = (float)data[i];
    return (varied ? tg_variable : tg_constant)(c->tape, dtype, single ? (const void *)single : data, shape);
}

/* Stops if the operation fails in this form. */
static void run_form(tg_check *c, form *f)
{
    tg_tensor varied[MOST_INPUTS], gradients[MOST_INPUTS];
    int count = 0;
    tg_tape_reset(c->tape);
    for (int i = 0; i < c->report.count; i++) {
        const tg_gradcheck_input *in = &c->report.inputs[i];
        c->tensors[i] = in->integers ? tg_constant(c->tape, TG_I32, in->integers, in->shape)
                                     : put(c, f->data[i], f->shape[i], f->dtype, !in->fixed);
        if (tg_check_is_varied(in))
            varied[count++] = c->tensors[i];
    }
    f->results[0] = take(c, tg_shape_size(&f->output));
    const tg_tensor result = c->function(c->tape, c->tensors, c->report.count, c->user);
    const tg_tensor cotangent = put(c, f->cotangent, f->output, f->dtype, false);
    bool fine = tg_read(result, TG_F64, f->results[0], tg_shape_size(&f->output)) &&
                tg_grad(&result, 1, varied, count, &cotangent, false, gradients);
    for (int i = 0, k = 0; fine && i < c->report.count; i++) {
        f->results[1 + i] = take(c, tg_shape_size(&f->shape[i]));
        if (tg_check_is_varied(&c->report.inputs[i]))
            fine = tg_read(gradients[k++], TG_F64, f->results[1 + i], tg_shape_size(&f->shape[i]));
    }
    const char *error = tg_tape_error(c->tape);
    if (!fine)
        tg_check_stop(c, f->status, "%s it fails: %s", f->what, error ? error : "another shape, or out of memory");
}

/* Stops at a failure of one element of the gradient by an input, or of the result (-1). */
_Noreturn static void stop_at(tg_check *c, const form *f, int input, double found, double expected)
{
    tg_check_set_place(c, input < 0 ? 0 : 1, -1, found, expected);
    c->report.result.input = input;
    tg_check_stop(c, f->status, "%s the %s is %.9g, where %.9g is expected", f->what, input < 0 ? "result" : "gradient",
                  found, expected);
}

/* Numbers of the check: the result (part -1), or the gradient by an input. */
typedef struct compared {
    int input; /* -1: the result */
    const tg_check_level *level;
    int64_t offset, size;
} compared;

static compared compared_of(const tg_check *c, int part)
{
    const tg_check_part *p = &c->parts[part];
    return part < 0 ? (compared){-1, &c->level[0], 0, c->level[0].length}
                    : (compared){p->input, &c->level[1], p->offset, p->size};
}

/* ---- float ---- */

static bool is_close_in_single(const tg_check_level *level, int64_t i, double found, double expected, double usual)
{
    double typical = level->size / sqrt((double)level->length) + usual;
    if (!(fabs(expected) < 0.01 * FLT_MAX) || (expected != 0 && fabs(expected) < 100 * FLT_MIN))
        return true;
    double rounding = 0x1p29 * fmax(level->value_rounding[i], 0x1p-53 * fabs(expected));
    return fabs(found - expected) <= SINGLE_SAFETY * rounding + 0x1p-20 * typical + 100 * FLT_MIN;
}

static const double *rounded(tg_check *c, const double *numbers, int64_t size)
{
    double *out = take(c, size);
    for (int64_t i = 0; i < size; i++)
        out[i] = (float)numbers[i];
    return out;
}

static const double *data_of(const tg_check *c, int input)
{
    for (int p = 0; p < c->part_count; p++)
        if (c->parts[p].input == input)
            return c->point + c->parts[p].offset;
    return c->report.inputs[input].data;
}

/* Runs both forms, with inputs that a float represents exactly. */
void tg_check_single(tg_check *c)
{
    form single = {.status = TG_GRADCHECK_SINGLE, .what = "in float", .dtype = TG_F32, .output = c->output_shape};
    tg_arena_empty(&c->steps);
    single.cotangent = rounded(c, c->level[0].cotangent, c->level[0].length);
    for (int i = 0; i < c->report.count; i++) {
        single.shape[i] = c->report.inputs[i].shape;
        if (data_of(c, i))
            single.data[i] = rounded(c, data_of(c, i), tg_shape_size(&single.shape[i]));
    }
    form twice = single;
    twice.dtype = TG_F64;
    run_form(c, &twice);
    run_form(c, &single);
    for (int p = -1; p < c->part_count; p++) {
        const compared of = compared_of(c, p);
        const double *found = single.results[1 + of.input], *expected = twice.results[1 + of.input];
        for (int64_t i = 0; i < of.size; i++) {
            double usual = p < 0 ? 0 : tg_check_typical_derivative(c, 1, of.offset + i);
            if (is_close_in_single(of.level, of.offset + i, found[i], expected[i], usual))
                continue;
            snprintf(single.what, sizeof single.what, "in float, at element %lld,", (long long)i);
            stop_at(c, &single, of.input, found[i], expected[i]);
        }
    }
}

/* ---- shapes ---- */

/* The elements of the check from number `start` on, repeated cyclically. */
static double *repeated(tg_check *c, const double *numbers, int64_t start, int64_t size)
{
    double *out = take(c, size);
    for (int64_t i = 0; i < size; i++)
        out[i] = numbers[(start + i) % c->level[0].length];
    return out;
}

static bool is_same(const tg_check_level *level, int64_t k, double found)
{
    const double expected = level->value[k];
    return found == expected || fabs(found - expected) <= SAME_TO * fabs(expected) + 64 * level->value_rounding[k];
}

/* All inputs in one shape, filled with the elements of the check from number `start` on, cyclically. */
static void expect_the_same_elements(tg_check *c, const tg_shape *shape, int64_t start)
{
    form f = {.status = TG_GRADCHECK_SHAPE, .dtype = TG_F64, .output = *shape};
    const int64_t size = tg_shape_size(shape), n = c->level[0].length;
    char text[100];
    snprintf(f.what, sizeof f.what, "in shape %s", tg_shape_text(shape, text, sizeof text));
    f.cotangent = repeated(c, c->level[0].cotangent, start, size);
    for (int i = 0; i < c->report.count; i++) {
        f.shape[i] = *shape;
        f.data[i] = repeated(c, data_of(c, i), start, size);
    }
    run_form(c, &f);
    for (int p = -1; p < c->part_count; p++) {
        const compared of = compared_of(c, p);
        const double *found = f.results[1 + of.input];
        for (int64_t k = 0; k < size; k++) {
            const int64_t at = of.offset + (start + k) % n;
            if (!is_same(of.level, at, found[k]))
                stop_at(c, &f, of.input, found[k], of.level->value[at]);
        }
    }
}

/* The index in `small`, which broadcasts to `large`, of element k of `large`. */
static int64_t source_of(const tg_shape *small, const tg_shape *large, int64_t k)
{
    int64_t index = 0, stride = 1;
    for (int axis = 1; axis <= large->rank; axis++) {
        int64_t at = k % large->dim[large->rank - axis];
        k /= large->dim[large->rank - axis];
        if (axis > small->rank)
            continue;
        int64_t size = small->dim[small->rank - axis];
        index += size > 1 ? at * stride : 0;
        stride *= size;
    }
    return index;
}

/* Compares input `which` in a shape of its own with the same call on inputs expanded to the full shape. */
static void expect_broadcasting(tg_check *c, int which, const tg_shape *own, const tg_shape *others, int64_t start)
{
    form f = {.status = TG_GRADCHECK_SHAPE, .dtype = TG_F64};
    char text[2][80];
    tg_shape_broadcast(own, others, &f.output);
    const int64_t size = tg_shape_size(&f.output);
    snprintf(f.what, sizeof f.what, "with input %d %s beside %s", which, tg_shape_text(own, text[0], sizeof text[0]),
             tg_shape_text(others, text[1], sizeof text[1]));
    f.cotangent = repeated(c, c->level[0].cotangent, start, size);
    form full = f;
    for (int i = 0; i < c->report.count; i++) {
        double *expanded = take(c, size);
        f.shape[i] = i == which ? *own : *others;
        f.data[i] = repeated(c, data_of(c, i), start, tg_shape_size(&f.shape[i]));
        full.shape[i] = f.output;
        full.data[i] = expanded;
        for (int64_t k = 0; k < size; k++)
            expanded[k] = f.data[i][source_of(&f.shape[i], &f.output, k)];
    }
    run_form(c, &f);
    run_form(c, &full);
    for (int64_t k = 0; k < size; k++) {
        const double found = f.results[0][k], expected = full.results[0][k];
        if (!(fabs(found - expected) <= SAME_TO * fabs(expected)) && isfinite(expected))
            stop_at(c, &f, -1, found, expected);
    }
    for (int i = 0; i < c->report.count; i++)
        for (int64_t at = 0; tg_check_is_varied(&c->report.inputs[i]) && at < tg_shape_size(&f.shape[i]); at++) {
            double sum = 0, terms = 0;
            for (int64_t k = 0; k < size; k++)
                if (source_of(&f.shape[i], &f.output, k) == at) {
                    sum += full.results[1 + i][k];
                    terms += fabs(full.results[1 + i][k]);
                }
            if (!(fabs(f.results[1 + i][at] - sum) <= SAME_TO * terms) && isfinite(sum))
                stop_at(c, &f, i, f.results[1 + i][at], sum);
        }
}

void tg_check_shapes(tg_check *c, bool broadcast)
{
    static const int lengths[] = {
        0 /* a scalar */, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 1003};
    static const tg_shape shapes[] = {{2, {3, 5}},       {2, {64, 65}},        {3, {2, 1, 7}},
                                      {4, {2, 3, 2, 2}}, {5, {2, 1, 3, 2, 2}}, {6, {1, 2, 1, 2, 1, 3}}};
    static const tg_shape pairs[][2] = {{{1, {4}}, {2, {3, 4}}},    {{2, {3, 1}}, {2, {3, 4}}},
                                        {{0}, {2, {3, 4}}},         {{1, {1}}, {1, {9}}},
                                        {{2, {3, 1}}, {2, {1, 4}}}, {{3, {2, 1, 5}}, {2, {3, 1}}}};
    /* The first points are zeros, where many wrong derivatives are right: small shapes start at another point. */
    enum { FIRST_POINT = 2, APART = 3 };
    enum { LENGTHS = sizeof lengths / sizeof *lengths, SHAPES = sizeof shapes / sizeof *shapes };
    const int64_t n = c->level[0].length;
    for (int i = 0; i < LENGTHS + SHAPES; i++) {
        const tg_shape shape = i < LENGTHS ? (tg_shape){lengths[i] > 0, {lengths[i]}} : shapes[i - LENGTHS];
        tg_arena_empty(&c->steps);
        expect_the_same_elements(c, &shape, (FIRST_POINT + APART * i) % n);
    }
    for (int which = 0; broadcast && c->report.count > 1 && which < c->report.count; which++)
        for (size_t i = 0; i < 2 * sizeof pairs / sizeof pairs[0]; i++) {
            tg_arena_empty(&c->steps);
            expect_broadcasting(c, which, &pairs[i / 2][i % 2], &pairs[i / 2][1 - i % 2],
                                (FIRST_POINT + APART * (int64_t)i) % n);
        }
}
