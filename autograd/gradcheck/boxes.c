/* Black boxes: a user's functions that work on plain arrays, not on tensors. */
#include "autograd/gradcheck/check.h"

#include <string.h>

typedef enum { VALUE, VJP, JVP, JACOBIAN } box_function;

/* The source of a check of a black box. Arrays for the user's functions: [count of inputs] and [count of outputs]. The
 * gradient and the tangent of an input that is not differentiated are NULL. */
typedef struct source {
    const tg_black_box *box;
    void **in, **kept; /* and a copy from before the call */
    void **outputs, **cotangents, **gradients, **tangents;
    void *jacobian;
    double *unit, *product; /* [variables], [outputs] */
} source;

/* ---- arrays of its type ---- */

static size_t size_of(const tg_check *c)
{
    return c->type == TG_GRADCHECK_F64 ? sizeof(double) : sizeof(float);
}

static void put(const tg_check *c, const double *numbers, int64_t count, void *to)
{
    for (int64_t i = 0; i < count; i++)
        if (c->type == TG_GRADCHECK_F64)
            ((double *)to)[i] = numbers[i];
        else
            ((float *)to)[i] = (float)tg_check_round(c, numbers[i]);
}

static void get(const tg_check *c, const void *from, int64_t count, double *numbers)
{
    for (int64_t i = 0; i < count; i++)
        numbers[i] = c->type == TG_GRADCHECK_F64 ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

static size_t bytes_of(const tg_check *c, int input)
{
    const tg_gradcheck_input *in = &c->inputs[input];
    return (size_t)tg_shape_size(&in->shape) * (in->integers ? sizeof(int32_t) : size_of(c));
}

static void **arrays_like_inputs(tg_check *c, bool all)
{
    void **arrays = tg_check_take(c, c->count, sizeof *arrays);
    for (int i = 0; i < c->count; i++)
        if (all || tg_check_is_varied(&c->inputs[i]))
            arrays[i] = tg_check_take(c, (int64_t)bytes_of(c, i) + 1, 1);
    return arrays;
}

static void **arrays_like_outputs(tg_check *c)
{
    void **arrays = tg_check_take(c, c->output_count, sizeof *arrays);
    for (int i = 0; i < c->output_count; i++)
        arrays[i] = tg_check_numbers(c, c->outputs[i].size + 1);
    return arrays;
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
        get(c, arrays[p->input], p->size, x + p->offset);
}

static void open_box(tg_check *c)
{
    static const tg_shape scalar = {0};
    source *s = c->source;
    const bool given = s->box->output_count > 0;
    tg_check_set_outputs(c, given ? s->box->outputs : &scalar, given ? s->box->output_count : 1);
    const int64_t outputs = c->level[0].length;
    if (s->box->jacobian && outputs > 0 && c->variables > INT64_MAX / 16 / outputs)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
    s->in = arrays_like_inputs(c, true);
    s->kept = arrays_like_inputs(c, true);
    s->gradients = arrays_like_inputs(c, false);
    s->tangents = arrays_like_inputs(c, false);
    s->outputs = arrays_like_outputs(c);
    s->cotangents = arrays_like_outputs(c);
    s->jacobian = s->box->jacobian ? tg_check_numbers(c, outputs * c->variables) : NULL;
    s->unit = tg_check_numbers(c, c->variables);
    s->product = tg_check_numbers(c, outputs);
    for (int i = 0; i < c->count; i++)
        if (c->inputs[i].integers)
            memcpy(s->in[i], c->inputs[i].integers, bytes_of(c, i));
        else if (c->inputs[i].data)
            put(c, c->inputs[i].data, tg_shape_size(&c->inputs[i].shape), s->in[i]);
}

/* ---- calls ---- */

/* Makes what is asked for NaN. */
static void forget_results(const tg_check *c, box_function which)
{
    const source *s = c->source;
    for (int i = 0; which == VJP && i < c->count; i++)
        if (s->gradients[i])
            memset(s->gradients[i], 0xff, bytes_of(c, i));
    for (int i = 0; i < c->output_count; i++)
        memset(s->outputs[i], 0xff, (size_t)c->outputs[i].size * size_of(c));
    if (which == JACOBIAN)
        memset(s->jacobian, 0xff, (size_t)(c->level[0].length * c->variables) * size_of(c));
}

/* Calls one of the user's functions at x. Outputs that it does not write are NaN. */
static void call(tg_check *c, box_function which, const double *x)
{
    static const char *const names[] = {"value", "vjp", "jvp", "jacobian"};
    source *s = c->source;
    const tg_black_box *box = s->box;
    const void *const *in = (const void *const *)s->in;
    put_parts(c, c->parts, c->part_count, x, s->in);
    for (int i = 0; i < c->count; i++)
        memcpy(s->kept[i], s->in[i], bytes_of(c, i));
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
}

/* Of the Jacobian that was asked for last. */
static double entry(const tg_check *c, int64_t row, int64_t column)
{
    const source *s = c->source;
    double number;
    get(c, (const char *)s->jacobian + (size_t)(row * c->variables + column) * size_of(c), 1, &number);
    return number;
}

/* J u at x, from the jvp or the Jacobian. */
static void multiply(tg_check *c, box_function which, const double *x, const double *u, double *out)
{
    source *s = c->source;
    put_parts(c, c->parts, c->part_count, u, s->tangents);
    c->result.evaluations++;
    call(c, which, x);
    if (which == JVP)
        get_parts(c, c->outputs, c->output_count, s->outputs, out);
    for (int64_t j = 0; which == JACOBIAN && j < c->level[0].length; j++) {
        out[j] = 0;
        for (int64_t i = 0; i < c->variables; i++)
            out[j] += u[i] == 0 ? 0 : entry(c, j, i) * u[i];
    }
}

/* J^T v, by the vjp if there is one, or the Jacobian, else by J times each unit vector. */
static void evaluate(tg_check *c, int level, const double *x, double *out)
{
    source *s = c->source;
    const double *v = c->level[0].cotangent;
    if (level == 0) {
        call(c, VALUE, x);
        get_parts(c, c->outputs, c->output_count, s->outputs, out);
        return;
    }
    if (s->box->vjp) {
        put_parts(c, c->outputs, c->output_count, v, s->cotangents);
        call(c, VJP, x);
        get_parts(c, c->parts, c->part_count, s->gradients, out);
        return;
    }
    if (s->box->jacobian)
        call(c, JACOBIAN, x);
    for (int64_t i = 0; i < c->variables; i++) {
        out[i] = 0;
        s->unit[i] = 1;
        if (!s->box->jacobian)
            multiply(c, JVP, x, s->unit, s->product);
        s->unit[i] = 0;
        for (int64_t j = 0; j < c->level[0].length; j++)
            out[i] += v[j] * (s->box->jacobian ? entry(c, j, i) : s->product[j]);
    }
}

/* ---- invariants ---- */

/* The function is evaluated at another point before the gradient, so values that it caches for the gradient are wrong
 * then. */
static void expect_no_disturbance(tg_check *c)
{
    double *other = tg_check_numbers(c, c->variables), *found = tg_check_numbers(c, c->variables),
           *values = tg_check_numbers(c, c->level[0].length);
    for (int64_t i = 0; i < c->variables; i++)
        other[i] = tg_check_round(c, 0.75 * c->point[i] + c->scale[i] / 8);
    tg_check_evaluate(c, 0, other, values);
    if (tg_check_evaluate(c, 1, c->point, found))
        tg_check_close_to(c, 1, 0, c->variables, found, TG_GRADCHECK_DISTURBED,
                          "if the function is evaluated on other numbers before,");
}

/* J is one linear map, whichever product is asked for: <v, J u> = <J^T v, u> for u of both signs and several sizes, and
 * for 0. */
static void expect_adjoint(tg_check *c, box_function which, const char *of_what)
{
    static const double factors[] = {1, -1, 0x1p10, 0x1p-10, 0};
    double *u = tg_check_numbers(c, c->variables), *product = tg_check_numbers(c, c->level[0].length);
    for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
        for (int64_t i = 0; i < c->variables; i++)
            u[i] = tg_check_round(c, factors[k] * fmin(1, c->scale[i]) * tg_check_weight(c));
        const int64_t failed = c->result.failed;
        multiply(c, which, c->point, u, product);
        if (c->result.failed == failed)
            tg_check_is_adjoint(c, u, product, of_what);
    }
}

static void invariants(tg_check *c)
{
    const source *s = c->source;
    expect_no_disturbance(c);
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
