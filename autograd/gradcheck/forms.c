/* An operation in other forms: in float, in a program that is replayed, on parts of other tensors; and an elementwise
 * one in other shapes and broadcast. */
#include "autograd/gradcheck/check.h"

#include "autograd/ops.h"

#include <float.h>
#include <string.h>

enum { MOST = TG_SAMPLE_INPUTS };

/* How the inputs reach the operation. */
typedef enum { AS_LEAVES, REPLAYED, TRANSPOSED, AS_PARTS, WAYS } way;

/* One form: the type, and the shape and numbers of each input; its results. */
typedef struct form {
    tg_gradcheck_status status; /* of a failure, and how its sentence begins */
    const char *what;
    tg_dtype dtype;
    way way;
    tg_shape shape[MOST], output;
    const double *data[MOST], *cotangent;
    double *results[1 + MOST]; /* the value, and the gradient by each input */
} form;

static int64_t result_size(const form *f, int result)
{
    return tg_shape_size(result == 0 ? &f->output : &f->shape[result - 1]);
}

static tg_tensor put(tg_check *c, tg_tape *tape, const double *data, tg_shape shape, tg_dtype dtype, bool varied)
{
    const int64_t size = tg_shape_size(&shape);
    float *single = dtype == TG_F32 ? tg_check_take(c, size, sizeof *single) : NULL;
    for (int64_t i = 0; single && i < size; i++)
        single[i] = (float)data[i];
    return (varied ? tg_variable : tg_constant)(tape, dtype, single ? (const void *)single : data, shape);
}

/* The same numbers, from elsewhere. */
static tg_tensor passed_on(tg_tensor x, way by)
{
    if (by == REPLAYED)
        return tg_mul_scalar(x, 1);
    if (by == TRANSPOSED && tg_rank(x) >= 2)
        return tg_transpose(tg_transpose(x, -1, -2), -1, -2);
    if (by == AS_PARTS && tg_rank(x) >= 1)
        return tg_narrow(tg_concat((tg_tensor[]){x, x}, 2, 0), 0, tg_dim(x, 0), tg_dim(x, 0));
    return x;
}

static bool take_step(tg_check *c, tg_tape *tape, form *f)
{
    tg_tensor in[MOST], varied[MOST], gradients[MOST];
    int count = 0;
    tg_tape_reset(tape);
    for (int i = 0; i < c->count; i++) {
        const tg_gradcheck_input *from = &c->inputs[i];
        in[i] = from->integers ? tg_constant(tape, TG_I32, from->integers, from->shape)
                               : put(c, tape, f->data[i], f->shape[i], f->dtype, !from->fixed);
        if (tg_check_is_varied(from)) {
            varied[count++] = in[i];
            in[i] = passed_on(in[i], f->way);
        }
    }
    const tg_tensor result = c->function(tape, in, c->count, c->user);
    const tg_tensor cotangent = put(c, tape, f->cotangent, f->output, f->dtype, false);
    bool fine = tg_read(result, TG_F64, f->results[0], result_size(f, 0)) &&
                tg_grad(&result, 1, varied, count, &cotangent, false, gradients);
    for (int p = 0; fine && p < count; p++)
        fine = tg_read(gradients[p], TG_F64, f->results[1 + c->parts[p].input],
                       c->parts[p].size > 0 ? tg_size(gradients[p]) : 0);
    return fine;
}

/* A step; a replay is the last of several on a tape that plans its memory. */
static void run(tg_check *c, form *f)
{
    tg_tape *tape = c->other_tape = tg_tape_new();
    bool fine = tape != NULL;
    if (f->way == REPLAYED)
        tg_tape_save_memory(tape, true);
    for (int r = 0; r <= c->count; r++)
        f->results[r] = tg_check_numbers(c, result_size(f, r));
    for (int step = 0; fine && step < (f->way == REPLAYED ? 4 : 1); step++)
        fine = take_step(c, tape, f);
    if (!fine) {
        const char *error = tg_tape_error(tape);
        tg_check_stop(c, f->status, "%s it fails: %s", f->what, error ? error : "another shape, or out of memory");
    }
    tg_tape_free(tape);
    c->other_tape = NULL;
}

/* Stops where a result is further from the expected one than a part of it and of the largest one, and the noise of the
 * value or of the gradients. */
static void expect(tg_check *c, const form *f, double *const *expected, double part, const double noise[2])
{
    for (int r = 0; r <= c->count; r++) {
        double largest = 0;
        for (int64_t k = 0; k < result_size(f, r); k++)
            largest = fmax(largest, isfinite(expected[r][k]) ? fabs(expected[r][k]) : 0);
        for (int64_t k = 0; k < result_size(f, r); k++) {
            const double found = f->results[r][k], right = expected[r][k];
            if (fabs(found - right) <= part * (fabs(right) + largest / 64) + (noise ? noise[r > 0] : 0) ||
                found == right || !isfinite(right))
                continue;
            tg_check_set_place(c, r > 0, -1, found, right);
            c->result.input = r - 1;
            tg_check_stop(c, f->status, "%s, at element %lld, the %s is %.9g, where %.9g is expected", f->what,
                          (long long)k, r == 0 ? "result" : "gradient", found, right);
        }
    }
}

static form own_form(tg_check *c, bool in_float)
{
    form f = {.dtype = TG_F64, .output = c->output_shape, .status = TG_GRADCHECK_ANOTHER_WAY, .what = "again"};
    const double *from[1 + MOST] = {c->level[0].cotangent};
    double *to[1 + MOST] = {0};
    for (int i = 0; i < c->count; i++) {
        f.shape[i] = c->inputs[i].shape;
        from[1 + i] = c->inputs[i].data;
    }
    for (int r = 0; r <= c->count; r++) {
        to[r] = tg_check_numbers(c, result_size(&f, r));
        for (int64_t k = 0; k < result_size(&f, r) && from[r]; k++)
            to[r][k] = in_float ? (float)from[r][k] : from[r][k];
    }
    f.cotangent = to[0];
    for (int i = 0; i < c->count; i++)
        f.data[i] = to[1 + i];
    return f;
}

/* ---- in float; replayed, transposed, as parts ---- */

/* Numbers near the ends of float's range are not compared. Float may give what double gives for inputs that are a few
 * roundings away; and the rounding of the function shows in the gradient, per 1 or per scale of x. */
static void check_in_float(tg_check *c)
{
    enum { AWAY = 3 };
    form twice = own_form(c, true), single = twice, near = twice;
    double noise[2] = {FLT_MIN, FLT_MIN}, size = 0, least = 1;
    single.dtype = TG_F32;
    single.status = TG_GRADCHECK_SINGLE;
    single.what = "in float";
    run(c, &twice);
    run(c, &single);
    for (int n = 0; n < AWAY; n++) {
        for (int i = 0; i < c->count; i++) {
            double *data = tg_check_numbers(c, result_size(&near, 1 + i));
            for (int64_t k = 0; k < result_size(&near, 1 + i); k++)
                data[k] = twice.data[i][k] * (1 + (tg_rng_below(&c->rng, 2) ? 0x1p-24 : -0x1p-24));
            near.data[i] = data;
        }
        run(c, &near);
        for (int r = 0; r <= c->count; r++)
            for (int64_t k = 0; k < result_size(&near, r); k++)
                if (isfinite(near.results[r][k] - twice.results[r][k]))
                    noise[r > 0] = fmax(noise[r > 0], TG_SAFETY * fabs(near.results[r][k] - twice.results[r][k]));
    }
    for (int64_t k = 0; k < result_size(&twice, 0); k++)
        size += fabs(twice.cotangent[k] * twice.results[0][k]);
    for (int64_t i = 0; i < c->variables; i++)
        least = fmin(least, c->scale[i]);
    noise[1] += TG_SAFETY * 0x1p-24 * size / least;
    for (int r = 0; r <= c->count; r++)
        for (int64_t k = 0; k < result_size(&single, r); k++)
            if (fabs(twice.results[r][k]) > 0.01 * FLT_MAX || fabs(twice.results[r][k]) < 100 * FLT_MIN)
                twice.results[r][k] = single.results[r][k];
    expect(c, &single, twice.results, TG_TOLERANCE * TG_PROMISE_F32, noise);
}

static void check_ways(tg_check *c)
{
    static const char *const what[] = {"", "replayed on results of other operations", "on transposed tensors",
                                       "on parts of other tensors"};
    form plain = own_form(c, false), f = plain;
    run(c, &plain);
    for (f.way = REPLAYED; f.way < WAYS; f.way++) {
        f.what = what[f.way];
        run(c, &f);
        expect(c, &f, plain.results, c->terms * c->epsilon, NULL);
    }
}

/* ---- other shapes ---- */

/* The elements of the check from number `start` on, repeated cyclically. */
static double *repeated(tg_check *c, const double *numbers, int64_t start, int64_t size)
{
    double *out = tg_check_numbers(c, size);
    for (int64_t i = 0; i < size; i++)
        out[i] = numbers[(start + i) % c->level[0].length];
    return out;
}

/* The index in `small`, which broadcasts to `large`, of element k of `large`. */
static int64_t source_of(const tg_shape *small, const tg_shape *large, int64_t k)
{
    int64_t index = 0, stride = 1;
    for (int axis = 1; axis <= small->rank; axis++) {
        const int64_t size = small->dim[small->rank - axis], of = large->dim[large->rank - axis];
        index += size > 1 ? k % of * stride : 0;
        k /= of;
        stride *= size;
    }
    return index;
}

/* Input `which` in one shape and the others in another: compared with inputs written out in the full shape; or with the
 * results of the check itself, if all have that shape. */
static void check_shape(tg_check *c, const form *own, int which, const tg_shape *small, const tg_shape *others,
                        int64_t start)
{
    char text[2][50], what[160];
    form f = *own, full;
    tg_text words = {what, sizeof what, 0};
    const bool same = tg_shape_equal(small, others);
    if (same)
        tg_text_add(&words, "in shape %s", tg_shape_text(small, text[0], sizeof text[0]));
    else
        tg_text_add(&words, "with input %d %s beside %s", which, tg_shape_text(small, text[0], sizeof text[0]),
                    tg_shape_text(others, text[1], sizeof text[1]));
    f.status = TG_GRADCHECK_SHAPE;
    f.what = what;
    tg_shape_broadcast(small, others, &f.output);
    const int64_t size = tg_shape_size(&f.output);
    f.cotangent = repeated(c, own->cotangent, start, size);
    for (int i = 0; i < c->count; i++) {
        f.shape[i] = i == which ? *small : *others;
        f.data[i] = repeated(c, own->data[i], start, tg_shape_size(&f.shape[i]));
    }
    full = f;
    run(c, &f);
    for (int i = 0; i < c->count; i++) {
        double *expanded = tg_check_numbers(c, size);
        full.shape[i] = f.output;
        full.data[i] = expanded;
        for (int64_t k = 0; k < size; k++)
            expanded[k] = f.data[i][source_of(&f.shape[i], &f.output, k)];
    }
    if (!same)
        run(c, &full);
    for (int r = 0; r <= c->count && same; r++)
        full.results[r] = repeated(c, own->results[r], start, size);
    const double part = 4 * c->terms * c->epsilon;
    double noise[2] = {0};
    for (int i = 0; i < c->count; i++) { /* the gradients add up where an element is read several times */
        double *sum = tg_check_numbers(c, result_size(&f, 1 + i));
        for (int64_t k = 0; k < size; k++) {
            const double term = full.results[1 + i][k];
            sum[source_of(&f.shape[i], &f.output, k)] += term;
            noise[1] = fmax(noise[1], isfinite(term) ? part * fabs(term) : 0);
        }
        full.results[1 + i] = sum;
    }
    expect(c, &f, full.results, part, noise);
}

static void check_shapes(tg_check *c)
{
    static const int lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,   9,   13,  15,  16,
                                  17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 1003};
    static const tg_shape shapes[][2] = {{{0}, {0}},
                                         {{2, {3, 5}}, {2, {3, 5}}},
                                         {{2, {64, 65}}, {2, {64, 65}}},
                                         {{3, {2, 1, 7}}, {3, {2, 1, 7}}},
                                         {{4, {2, 3, 2, 2}}, {4, {2, 3, 2, 2}}},
                                         {{6, {1, 2, 1, 2, 1, 3}}, {6, {1, 2, 1, 2, 1, 3}}},
                                         {{1, {4}}, {2, {3, 4}}},
                                         {{2, {3, 1}}, {2, {3, 4}}},
                                         {{0}, {2, {3, 4}}},
                                         {{1, {1}}, {1, {9}}},
                                         {{2, {3, 1}}, {2, {1, 4}}},
                                         {{3, {2, 1, 5}}, {2, {3, 1}}}};
    enum { LENGTHS = sizeof lengths / sizeof *lengths, SHAPES = sizeof shapes / sizeof *shapes, APART = 3 };
    form own = own_form(c, false);
    run(c, &own);
    for (int i = 0; i < LENGTHS + 2 * SHAPES; i++) {
        const int64_t start = APART * i % c->level[0].length;
        const tg_shape line = i < LENGTHS ? (tg_shape){1, {lengths[i]}} : TG_SCALAR;
        const tg_shape *pair = i < LENGTHS ? NULL : shapes[(i - LENGTHS) / 2], *small = pair ? &pair[i % 2] : &line,
                       *others = pair ? &pair[1 - i % 2] : &line;
        const bool same = tg_shape_equal(small, others);
        for (int which = 0; which < (same ? 1 : c->count > 1 ? c->count : 0); which++) {
            const int64_t here = tg_arena_here(&c->arena);
            check_shape(c, &own, which, small, others, start);
            tg_arena_rewind(&c->arena, here);
        }
    }
}

static bool has_one_shape(const tg_check *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->inputs[i].integers || !tg_shape_equal(&c->inputs[i].shape, &c->output_shape))
            return false;
    return c->level[0].length > 0;
}

void tg_check_forms(tg_check *c, const tg_op *op)
{
    c->at = "";
    if (!c->options.double_only)
        check_in_float(c);
    check_ways(c);
    if (op->flags & TG_ELEMENTWISE && !op->shape && has_one_shape(c)) /* a shape rule may refuse other shapes */
        check_shapes(c);
}
