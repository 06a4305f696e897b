#include "autograd/gradcheck/forms.h"

#include "autograd/gradcheck/differences.h"
#include "autograd/gradcheck/invariants.h"
#include "autograd/gradcheck/tolerances.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_INPUTS = TG_SAMPLE_INPUTS };

/* One form of an operation: its type, the shape and numbers of each input, and its results. */
typedef struct form {
    tg_dtype dtype;
    tg_shape shape[MOST_INPUTS];
    const double *data[MOST_INPUTS];
    tg_shape output;
    const double *cotangent;
    double *value, *gradient[MOST_INPUTS];
} form;

static tg_tensor put(tg_check *c, tg_arena *arena, const void *data, tg_shape shape, tg_dtype dtype, bool varied)
{
    const int64_t size = tg_shape_size(&shape);
    float *single = dtype == TG_F32 ? tg_arena_take(arena, (size_t)size * sizeof *single, sizeof *single) : NULL;
    for (int64_t i = 0; single && i < size; i++)
        single[i] = (float)((const double *)data)[i];
    if (dtype == TG_F32 && !single)
        return (tg_tensor){0};
    return (varied ? tg_variable : tg_constant)(c->tape, dtype, single ? single : data, shape);
}

/* Allocates the results of a form. */
static bool make_results(tg_check *c, tg_arena *arena, form *f)
{
    f->value = tg_check_take_from(c, arena, tg_shape_size(&f->output), sizeof(double));
    for (int i = 0; f->value && i < c->report.count; i++)
        if (!(f->gradient[i] = tg_check_take_from(c, arena, tg_shape_size(&f->shape[i]), sizeof(double))))
            return false;
    return f->value;
}

static bool run_form(tg_check *c, tg_arena *arena, form *f)
{
    tg_tensor varied[MOST_INPUTS], gradients[MOST_INPUTS];
    int count = 0;
    if (!make_results(c, arena, f))
        return false;
    tg_tape_reset(c->tape);
    for (int i = 0; i < c->report.count; i++) {
        const tg_gradcheck_input *in = &c->report.inputs[i];
        c->tensors[i] = in->integers ? tg_constant(c->tape, TG_I32, in->integers, in->shape)
                                     : put(c, arena, f->data[i], f->shape[i], f->dtype, !in->fixed);
        if (tg_check_is_varied(in))
            varied[count++] = c->tensors[i];
    }
    tg_tensor result = c->function(c->tape, c->tensors, c->report.count, c->user);
    tg_tensor cotangent = put(c, arena, f->cotangent, f->output, f->dtype, false);
    bool fine = tg_ok(cotangent) && tg_read(result, TG_F64, f->value, tg_shape_size(&f->output)) &&
                tg_grad(&result, 1, varied, count, &cotangent, false, gradients);
    for (int i = 0, k = 0; fine && i < c->report.count; i++)
        if (tg_check_is_varied(&c->report.inputs[i]))
            fine = tg_read(gradients[k++], TG_F64, f->gradient[i], tg_shape_size(&f->shape[i]));
    return fine;
}

static bool refuse_form(tg_check *c, tg_gradcheck_status status, const char *what)
{
    const char *error = tg_tape_error(c->tape);
    return tg_check_fail(&c->report, status, "%s it fails: %s", what,
                         error ? error : "another shape, or out of memory");
}

/* Records a failure of one element. */
static bool differs(tg_check *c, tg_gradcheck_status status, int input, double found, double expected, const char *what)
{
    tg_check_set_place(c, input < 0 ? 0 : 1, -1, found, expected);
    c->report.result.input = input;
    return tg_check_fail(&c->report, status, "%s the %s is %.9g, where %.9g is expected", what,
                         input < 0 ? "result" : "gradient", found, expected);
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

static const double *rounded(tg_check *c, tg_arena *arena, const double *numbers, int64_t size)
{
    double *out = tg_check_take_from(c, arena, size, sizeof(double));
    for (int64_t i = 0; out && i < size; i++)
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

/* Both forms, with inputs that a float represents exactly. */
static bool run_in_both(tg_check *c, tg_arena *arena, form *single, form *twice)
{
    single->dtype = TG_F32;
    single->output = c->output_shape;
    single->cotangent = rounded(c, arena, c->level[0].cotangent, c->level[0].length);
    for (int i = 0; single->cotangent && i < c->report.count; i++) {
        const tg_gradcheck_input *in = &c->report.inputs[i];
        const double *data = data_of(c, i);
        single->shape[i] = in->shape;
        if (data && !(single->data[i] = rounded(c, arena, data, tg_shape_size(&in->shape))))
            return false;
    }
    *twice = *single;
    twice->dtype = TG_F64;
    return single->cotangent && ((run_form(c, arena, twice) && run_form(c, arena, single)) ||
                                 refuse_form(c, TG_GRADCHECK_SINGLE, "in float"));
}

bool tg_check_single(tg_check *c)
{
    tg_gradcheck_result worst = c->report.result;
    tg_arena arena = {0};
    form single = {0}, twice = {0};
    bool fine = run_in_both(c, &arena, &single, &twice);
    char what[80];
    for (int p = -1; fine && p < c->part_count; p++) {
        const int input = p < 0 ? -1 : c->parts[p].input;
        const int64_t from = p < 0 ? 0 : c->parts[p].offset, size = p < 0 ? c->level[0].length : c->parts[p].size;
        const double *found = p < 0 ? single.value : single.gradient[input];
        const double *expected = p < 0 ? twice.value : twice.gradient[input];
        for (int64_t i = 0; fine && i < size; i++) {
            double usual = p < 0 ? 0 : tg_check_typical_derivative(c, 1, from + i);
            if (is_close_in_single(&c->level[p < 0 ? 0 : 1], from + i, found[i], expected[i], usual))
                continue;
            snprintf(what, sizeof what, "in float, at element %lld,", (long long)i);
            fine = differs(c, TG_GRADCHECK_SINGLE, input, found[i], expected[i], what);
        }
    }
    tg_arena_free(&arena);
    if (fine)
        c->report.result = worst;
    return fine;
}

/* ---- shapes ---- */

/* The elements of the check from number `start` on, repeated cyclically. */
static const double *repeated(tg_check *c, tg_arena *arena, const double *numbers, int64_t start, int64_t size)
{
    double *out = tg_check_take_from(c, arena, size, sizeof(double));
    for (int64_t i = 0, at = start; out && i < size; i++, at = tg_check_next(at, c->level[0].length))
        out[i] = numbers[at];
    return out;
}

static bool is_same(const tg_check_level *level, int64_t k, double found)
{
    const double expected = level->value[k];
    return found == expected || fabs(found - expected) <= SAME_TO * fabs(expected) + 64 * level->value_rounding[k];
}

/* All inputs in one shape, filled with the elements of the check from number `start` on, cyclically. */
static bool has_same_elements(tg_check *c, tg_arena *arena, const tg_shape *shape, int64_t start)
{
    form f = {.dtype = TG_F64, .output = *shape};
    const int64_t size = tg_shape_size(shape), n = c->level[0].length;
    char what[200], text[100];
    snprintf(what, sizeof what, "in shape %s", tg_shape_text(shape, text, sizeof text));
    f.cotangent = repeated(c, arena, c->level[0].cotangent, start, size);
    for (int i = 0; f.cotangent && i < c->report.count; i++) {
        f.shape[i] = *shape;
        if (!(f.data[i] = repeated(c, arena, data_of(c, i), start, size)))
            return false;
    }
    if (!f.cotangent)
        return false;
    if (!run_form(c, arena, &f))
        return refuse_form(c, TG_GRADCHECK_SHAPE, what);
    for (int p = -1; p < c->part_count; p++) { /* -1: the value */
        const int input = p < 0 ? -1 : c->parts[p].input;
        const tg_check_level *level = &c->level[p < 0 ? 0 : 1];
        const double *found = p < 0 ? f.value : f.gradient[input];
        for (int64_t k = 0, place = start; k < size; k++, place = tg_check_next(place, n)) {
            const int64_t at = place + (p < 0 ? 0 : c->parts[p].offset);
            if (!is_same(level, at, found[k]))
                return differs(c, TG_GRADCHECK_SHAPE, input, found[k], level->value[at], what);
        }
    }
    return true;
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
static bool broadcasts(tg_check *c, tg_arena *arena, int which, const tg_shape *own, const tg_shape *others,
                       int64_t start)
{
    form f = {.dtype = TG_F64}, full = {.dtype = TG_F64};
    char what[200], text[2][80];
    tg_shape_broadcast(own, others, &f.output);
    const int64_t size = tg_shape_size(&f.output);
    snprintf(what, sizeof what, "with input %d %s beside %s", which, tg_shape_text(own, text[0], sizeof text[0]),
             tg_shape_text(others, text[1], sizeof text[1]));
    full.output = f.output;
    f.cotangent = full.cotangent = repeated(c, arena, c->level[0].cotangent, start, size);
    for (int i = 0; i < c->report.count; i++) {
        f.shape[i] = i == which ? *own : *others;
        full.shape[i] = f.output;
        f.data[i] = repeated(c, arena, data_of(c, i), start, tg_shape_size(&f.shape[i]));
        double *copied = tg_check_take_from(c, arena, size, sizeof(double));
        for (int64_t k = 0; copied && f.data[i] && k < size; k++)
            copied[k] = f.data[i][source_of(&f.shape[i], &f.output, k)];
        full.data[i] = copied;
        if (!copied || !f.data[i] || !f.cotangent)
            return false;
    }
    if (!run_form(c, arena, &f) || !run_form(c, arena, &full))
        return refuse_form(c, TG_GRADCHECK_SHAPE, what);
    for (int64_t k = 0; k < size; k++)
        if (!(fabs(f.value[k] - full.value[k]) <= SAME_TO * fabs(full.value[k])) && isfinite(full.value[k]))
            return differs(c, TG_GRADCHECK_SHAPE, -1, f.value[k], full.value[k], what);
    for (int i = 0; i < c->report.count; i++)
        for (int64_t at = 0; tg_check_is_varied(&c->report.inputs[i]) && at < tg_shape_size(&f.shape[i]); at++) {
            double sum = 0, terms = 0;
            for (int64_t k = 0; k < size; k++)
                if (source_of(&f.shape[i], &f.output, k) == at) {
                    sum += full.gradient[i][k];
                    terms += fabs(full.gradient[i][k]);
                }
            if (!(fabs(f.gradient[i][at] - sum) <= SAME_TO * terms) && isfinite(sum))
                return differs(c, TG_GRADCHECK_SHAPE, i, f.gradient[i][at], sum, what);
        }
    return true;
}

bool tg_check_shapes(tg_check *c, bool broadcast)
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
    tg_gradcheck_result worst = c->report.result;
    tg_arena arena = {0};
    bool fine = true;
    for (int i = 0; fine && i < LENGTHS + SHAPES; i++) {
        const tg_shape shape = i < LENGTHS ? (tg_shape){lengths[i] > 0, {lengths[i]}} : shapes[i - LENGTHS];
        fine = has_same_elements(c, &arena, &shape, (FIRST_POINT + APART * i) % n);
        tg_arena_empty(&arena);
    }
    for (int which = 0; broadcast && c->report.count > 1 && which < c->report.count; which++)
        for (size_t i = 0; fine && i < 2 * sizeof pairs / sizeof pairs[0]; i++) {
            fine = broadcasts(c, &arena, which, &pairs[i / 2][i % 2], &pairs[i / 2][1 - i % 2],
                              (FIRST_POINT + APART * (int64_t)i) % n);
            tg_arena_empty(&arena);
        }
    tg_arena_free(&arena);
    if (fine)
        c->report.result = worst;
    return fine;
}
