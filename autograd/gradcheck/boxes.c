/* Black boxes: a user's functions that work on plain arrays, not on tensors. */
#include "autograd/gradcheck/check.h"

#include "autograd/base/shape_internal.h"

#include <string.h>

typedef enum { VALUE, VJP, JVP, JACOBIAN } box_function;

/* The source of a check of a black box. Arrays for the user's functions: [count of inputs] and [count of outputs]. The
 * gradient and the tangent of an input that is not differentiated are NULL. */
typedef struct source {
    const tg_black_box *box;
    void **in, **kept; /* and a copy from before the call */
    void **outputs, **cotangents, **gradients, **tangents;
    void *jacobian;
} source;

/* ---- arrays of its type ---- */

static size_t bytes_of(const tg_check *c, int input)
{
    const tg_gradcheck_input *in = &c->inputs[input];
    return (size_t)tg_shape_size(&in->shape) * tg_dtype_size(in->integers ? TG_I32 : tg_check_dtype(c));
}

static void **arrays_like(tg_check *c, const tg_check_part *parts, int count, int all)
{
    void **arrays = tg_check_take(c, all, sizeof *arrays);
    for (const tg_check_part *p = parts; p < parts + count; p++)
        arrays[p->input] = tg_check_numbers(c, p->size + 1);
    return arrays;
}

static void put(const tg_check *c, const double *numbers, int64_t count, void *to)
{
    for (int64_t i = 0; i < count; i++)
        tg_set_element(tg_check_dtype(c), to, i, tg_check_round(c, numbers[i]));
}

/* All variables, or values, to arrays like the inputs, or outputs, and back. */
static void put_parts(const tg_check *c, const tg_check_part *parts, int count, const double *x, void **arrays)
{
    for (const tg_check_part *p = parts; p < parts + count; p++)
        put(c, x + p->offset, p->size, arrays[p->input]);
}

static void get_parts(const tg_check *c, const tg_check_part *parts, int count, void *const *arrays, double *x)
{
    for (const tg_check_part *p = parts; p < parts + count; p++)
        tg_copy_elements(TG_F64, x + p->offset, tg_check_dtype(c), arrays[p->input], p->size);
}

static void open_box(tg_check *c)
{
    source *s = c->source;
    const bool given = s->box->output_count > 0;
    tg_check_set_outputs(c, given ? s->box->outputs : &TG_SCALAR, given ? s->box->output_count : 1);
    const int64_t outputs = c->level[0].length;
    if (s->box->jacobian && outputs > 0 && c->variables > INT64_MAX / 16 / outputs)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
    s->gradients = arrays_like(c, c->parts, c->part_count, c->count);
    s->tangents = arrays_like(c, c->parts, c->part_count, c->count);
    s->outputs = arrays_like(c, c->outputs, c->output_count, c->output_count);
    s->cotangents = arrays_like(c, c->outputs, c->output_count, c->output_count);
    s->jacobian = s->box->jacobian ? tg_check_numbers(c, outputs * c->variables) : NULL;
    s->in = tg_check_take(c, c->count, sizeof *s->in);
    s->kept = tg_check_take(c, c->count, sizeof *s->kept);
    for (int i = 0; i < c->count; i++) {
        s->in[i] = tg_check_take(c, (int64_t)bytes_of(c, i) + 1, 1);
        s->kept[i] = tg_check_take(c, (int64_t)bytes_of(c, i) + 1, 1);
        if (c->inputs[i].integers)
            memcpy(s->in[i], c->inputs[i].integers, bytes_of(c, i));
        else if (c->inputs[i].data)
            put(c, c->inputs[i].data, tg_shape_size(&c->inputs[i].shape), s->in[i]);
    }
}

/* ---- calls ---- */

/* Makes what is asked for NaN. */
static void forget_results(const tg_check *c, box_function which)
{
    const source *s = c->source;
    const size_t size = tg_dtype_size(tg_check_dtype(c));
    for (const tg_check_part *p = c->parts; which == VJP && p < c->parts + c->part_count; p++)
        memset(s->gradients[p->input], 0xff, (size_t)p->size * size);
    for (int i = 0; i < c->output_count; i++)
        memset(s->outputs[i], 0xff, (size_t)c->outputs[i].size * size);
    if (which == JACOBIAN)
        memset(s->jacobian, 0xff, (size_t)(c->level[0].length * c->variables) * size);
}

/* Calls one of the user's functions at x, of v or u; the result, but for a Jacobian, goes to `out`. What it does not
 * write is NaN. */
static void call(tg_check *c, box_function which, const double *x, const double *times, double *out)
{
    static const char *const names[] = {"value", "vjp", "jvp", "jacobian"};
    source *s = c->source;
    const tg_black_box *box = s->box;
    const void *const *in = (const void *const *)s->in;
    put_parts(c, c->parts, c->part_count, x, s->in);
    for (int i = 0; i < c->count; i++)
        memcpy(s->kept[i], s->in[i], bytes_of(c, i));
    if (which == VJP)
        put_parts(c, c->outputs, c->output_count, times, s->cotangents);
    if (which == JVP)
        put_parts(c, c->parts, c->part_count, times, s->tangents);
    forget_results(c, which);
    const bool done = which == VALUE ? box->value(in, s->outputs, box->user)
                      : which == VJP ? box->vjp(in, (const void *const *)s->cotangents, s->gradients, box->user)
                      : which == JVP ? box->jvp(in, (const void *const *)s->tangents, s->outputs, box->user)
                                     : box->jacobian(in, s->jacobian, box->user);
    if (!done && !c->opened)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "its %s returned false", names[which]);
    if (!done) { /* a call that was interrupted counts as none */
        c->over |= c->options.progress && !c->options.progress(c->result.evaluations - 1, c->options.user);
        *(c->over ? &c->result.evaluations : &c->result.failed) += c->over ? -1 : 1;
        forget_results(c, which);
    }
    for (int i = 0; i < c->count; i++)
        if (memcmp(s->kept[i], s->in[i], bytes_of(c, i)) != 0)
            tg_check_stop(c, TG_GRADCHECK_DISTURBED, "its %s changes what it is given", names[which]);
    if (which == VJP)
        get_parts(c, c->parts, c->part_count, s->gradients, out);
    else if (which != JACOBIAN)
        get_parts(c, c->outputs, c->output_count, s->outputs, out);
}

/* Of the Jacobian that was asked for last. */
static double entry(const tg_check *c, int64_t row, int64_t column)
{
    return tg_element(tg_check_dtype(c), ((const source *)c->source)->jacobian, row * c->variables + column);
}

/* J u at x, from the jvp or the Jacobian. */
static void multiply(tg_check *c, box_function which, const double *x, const double *u, double *out)
{
    c->result.evaluations++;
    call(c, which, x, u, out);
    for (int64_t j = 0; which == JACOBIAN && j < c->level[0].length; j++) {
        out[j] = 0;
        for (int64_t i = 0; i < c->variables; i++)
            out[j] += u[i] == 0 ? 0 : entry(c, j, i) * u[i];
    }
}

/* J^T v, by the vjp if there is one, or the Jacobian, else by J times each unit vector. */
static void evaluate(tg_check *c, int level, const double *x, double *out)
{
    const tg_black_box *box = ((source *)c->source)->box;
    const double *v = c->level[0].cotangent;
    if (level == 0 || box->vjp) {
        call(c, level == 0 ? VALUE : VJP, x, v, out);
        return;
    }
    const int64_t here = tg_arena_here(&c->arena);
    double *unit = tg_check_numbers(c, c->variables), *product = tg_check_numbers(c, c->level[0].length);
    if (box->jacobian)
        call(c, JACOBIAN, x, NULL, NULL);
    for (int64_t i = 0; i < c->variables; i++) {
        out[i] = 0;
        unit[i] = 1;
        if (!box->jacobian)
            multiply(c, JVP, x, unit, product);
        unit[i] = 0;
        for (int64_t j = 0; j < c->level[0].length; j++)
            out[i] += v[j] * (box->jacobian ? entry(c, j, i) : product[j]);
    }
    tg_arena_rewind(&c->arena, here);
}

/* ---- invariants ---- */

/* J is one linear map, whichever product is asked for: <v, J u> = <J^T v, u> for u of both signs and several sizes, and
 * for 0. */
static void expect_adjoint(tg_check *c, box_function which, const char *of_what)
{
    static const double factors[] = {1, -1, 0x1p10, 0x1p-10, 0};
    double *u = c->moved, *product = c->ahead;
    for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
        for (int64_t i = 0; i < c->variables; i++)
            u[i] = tg_check_round(c, factors[k] * fmin(1, c->scale[i]) * tg_check_weight(c));
        const int64_t failed = c->result.failed;
        multiply(c, which, c->point, u, product);
        if (c->result.failed == failed)
            tg_check_is_adjoint(c, u, product, of_what);
    }
}

/* The function is evaluated at another point before the gradient, so values that it caches for the gradient are wrong
 * then. */
static void invariants(tg_check *c)
{
    const source *s = c->source;
    for (int64_t i = 0; i < c->variables; i++)
        c->moved[i] = tg_check_round(c, 0.75 * c->point[i] + c->scale[i] / 8);
    tg_check_evaluate(c, 0, c->moved, c->ahead);
    if (tg_check_evaluate(c, 1, c->point, c->ahead))
        tg_check_close_to(c, 1, 0, c->variables, c->ahead, TG_GRADCHECK_DISTURBED,
                          "if the function is evaluated on other numbers before,");
    if (s->box->jvp)
        expect_adjoint(c, JVP, "by its jvp");
    if (s->box->jacobian)
        expect_adjoint(c, JACOBIAN, "by its jacobian");
}

/* ---- the check ---- */

/* The error in its description, or NULL if it is valid. */
static const char *misuse(const tg_black_box *box, const tg_gradcheck_input *inputs, int count)
{
    if (!box || !box->value)
        return "expected a function with a value";
    if (!box->vjp && !box->jvp && !box->jacobian)
        return "expected a vjp, a jvp or a jacobian";
    if (box->type > TG_GRADCHECK_BF16)
        return "expected a type";
    if (!inputs || count < 1)
        return "expected at least one input";
    for (int i = 0; i < count; i++)
        if (inputs[i].parameter)
            return "a black box has no parameters: give their numbers as data";
    if (box->output_count < 0 || (box->output_count > 0 && !box->outputs))
        return "expected the shapes of its outputs";
    for (int i = 0; i < box->output_count; i++)
        if (tg_shape_size(&box->outputs[i]) < 0)
            return "the shape of an output is none";
    return NULL;
}

tg_gradcheck_result tg_gradcheck_function(const tg_black_box *box, const tg_gradcheck_input *inputs, int count,
                                          const tg_gradcheck_options *options)
{
    static const tg_check_kind of_boxes = {open_box, evaluate, invariants, NULL, true};
    source of = {.box = box};
    tg_check c = {.name = box && box->name ? box->name : "the function",
                  .inputs = inputs,
                  .count = count,
                  .result = tg_check_no_result(-1),
                  .kind = &of_boxes,
                  .source = &of,
                  .type = box ? box->type : TG_GRADCHECK_F64,
                  .value_rtol = box ? box->value_rtol : NULL,
                  .value_atol = box ? box->value_atol : NULL,
                  .options = tg_check_options(options)};
    c.options.order = 1;
    return tg_check_answer(&c, misuse(box, inputs, count));
}
