/* A check of a user's function that works on plain arrays, not on tensors. */
#include "autograd/gradcheck/check.h"
#include "autograd/base/numbers.h"

#include <string.h>

/* The functions of a black box. */
typedef enum { VALUE, VJP, JVP, JACOBIAN } box_function;

/* ---- numbers of its type ---- */

static size_t size_of(const tg_check *c)
{
    return c->type == TG_GRADCHECK_F64 ? sizeof(double) : sizeof(float);
}

static void put(const tg_check *c, const double *numbers, int64_t count, void *to)
{
    if (size_of(c) == sizeof(double))
        memcpy(to, numbers, (size_t)count * sizeof(double));
    else
        for (int64_t i = 0; i < count; i++)
            ((float *)to)[i] = (float)tg_check_round(c, numbers[i]);
}

static double number_at(const tg_check *c, const void *from, int64_t i)
{
    return size_of(c) == sizeof(double) ? ((const double *)from)[i] : ((const float *)from)[i];
}

/* ---- room ---- */

static const tg_shape *output_shape(const tg_check *c, int output)
{
    static const tg_shape scalar = {0};
    return c->box->output_count > 0 ? &c->box->outputs[output] : &scalar;
}

static int output_count(const tg_check *c)
{
    return c->box->output_count > 0 ? c->box->output_count : 1;
}

/* Arrays for the user's functions. Those of all outputs are contiguous; so are those of all varied inputs, in the order
 * of the variables. */
struct tg_check_room {
    void **in, **outputs, **cotangents; /* [count of inputs], [count of outputs] */
    void **gradients, **tangents;       /* [count of inputs], NULL if not differentiated */
    double *jacobian;                   /* [outputs, variables]; floats have room there, too */
    double *unit;                       /* [variables] a direction */
    double *product;                    /* [outputs] */
    char *given, *kept;                 /* all inputs now, and a copy from before the call */
    size_t bytes;
};

static size_t bytes_of(const tg_check *c, int input)
{
    const tg_gradcheck_input *in = &c->inputs[input];
    const size_t each = in->integers ? sizeof(int32_t) : size_of(c), align = 16;
    return ((size_t)tg_shape_size(&in->shape) * each + align - 1) / align * align;
}

static void cut_inputs(tg_check *c, struct tg_check_room *r)
{
    for (int i = 0; i < c->count; i++)
        r->bytes += bytes_of(c, i);
    r->given = tg_check_take(c, (int64_t)r->bytes, 1);
    r->kept = tg_check_take(c, (int64_t)r->bytes, 1);
    r->in = tg_check_take(c, c->count, sizeof(void *));
    char *at = r->given;
    for (int i = 0; i < c->count; at += bytes_of(c, i++)) {
        const tg_gradcheck_input *in = &c->inputs[i];
        const int64_t size = tg_shape_size(&in->shape);
        r->in[i] = at;
        if (in->integers)
            memcpy(at, in->integers, (size_t)size * sizeof(int32_t));
        else if (in->data)
            put(c, in->data, size, at);
    }
}

static void **cut_outputs(tg_check *c)
{
    void **arrays = tg_check_take(c, output_count(c), sizeof(void *));
    char *block = (char *)tg_check_numbers(c, c->level[0].length + 1);
    for (int i = 0; i < output_count(c); i++) {
        arrays[i] = block;
        block += (size_t)tg_shape_size(output_shape(c, i)) * size_of(c);
    }
    return arrays;
}

static void **cut_variables(tg_check *c)
{
    void **arrays = tg_check_take(c, c->count, sizeof(void *));
    char *block = (char *)tg_check_numbers(c, c->variables + 1);
    for (int p = 0; p < c->part_count; p++)
        arrays[c->parts[p].input] = block + (size_t)c->parts[p].offset * size_of(c);
    return arrays;
}

static void measure(tg_check *c)
{
    struct tg_check_room *r = c->room = tg_check_take(c, 1, sizeof *r);
    int64_t outputs = 0;
    for (int i = 0; i < output_count(c); i++)
        outputs += tg_shape_size(output_shape(c, i));
    c->level[0].length = outputs;
    if (c->box->jacobian && outputs > 0 && c->variables > INT64_MAX / 16 / outputs)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
    cut_inputs(c, r);
    r->outputs = cut_outputs(c);
    r->cotangents = cut_outputs(c);
    r->gradients = cut_variables(c);
    r->tangents = cut_variables(c);
    r->unit = tg_check_numbers(c, c->variables);
    r->product = tg_check_numbers(c, outputs);
    r->jacobian = c->box->jacobian ? tg_check_numbers(c, outputs * c->variables) : NULL;
}

/* ---- calls ---- */

/* The block of contiguous arrays that begins at the first one that is not NULL (fixed inputs have none). */
static void *block_of(void **arrays)
{
    while (!*arrays)
        arrays++;
    return *arrays;
}

/* Calls one of the user's functions at x. Outputs that it does not write are NaN. */
static void call(tg_check *c, box_function which, const double *x)
{
    static const char *const names[] = {"value", "vjp", "jvp", "jacobian"};
    const tg_black_box *box = c->box;
    const struct tg_check_room *r = c->room;
    const void *const *in = (const void *const *)r->in;
    const size_t outputs = (size_t)c->level[0].length * size_of(c), variables = (size_t)c->variables * size_of(c);
    for (int p = 0; p < c->part_count; p++)
        put(c, x + c->parts[p].offset, c->parts[p].size, r->in[c->parts[p].input]);
    memcpy(r->kept, r->given, r->bytes);
    bool done = false;
    if (which == VJP) {
        memset(block_of(r->gradients), 0xff, variables);
        done = box->vjp(in, (const void *const *)r->cotangents, r->gradients, box->user);
    } else if (which == JACOBIAN) {
        memset(r->jacobian, 0xff, (size_t)c->level[0].length * variables);
        done = box->jacobian(in, r->jacobian, box->user);
    } else {
        memset(r->outputs[0], 0xff, outputs);
        done = which == VALUE ? box->value(in, r->outputs, box->user)
                              : box->jvp(in, (const void *const *)r->tangents, r->outputs, box->user);
    }
    if (!done)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "its %s returned false", names[which]);
    if (memcmp(r->kept, r->given, r->bytes) != 0)
        tg_check_stop(c, TG_GRADCHECK_DISTURBED, "its %s changes what it is given", names[which]);
}

static void read_block(const tg_check *c, void **arrays, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = number_at(c, block_of(arrays), i);
}

/* J u at x, from the jvp or the Jacobian. */
static void multiply(tg_check *c, box_function which, const double *x, const double *u, double *out)
{
    struct tg_check_room *r = c->room;
    if (which == JVP)
        put(c, u, c->variables, block_of(r->tangents));
    call(c, which, x);
    if (which == JVP) {
        read_block(c, r->outputs, c->level[0].length, out);
        return;
    }
    for (int64_t j = 0; j < c->level[0].length; j++) {
        out[j] = 0;
        for (int64_t i = 0; i < c->variables; i++)
            out[j] += number_at(c, r->jacobian, j * c->variables + i) * u[i];
    }
}

/* The function that gradients are computed from. */
static box_function source_of_gradients(const tg_check *c)
{
    return c->box->vjp ? VJP : c->box->jacobian ? JACOBIAN : JVP;
}

/* J^T v. */
static void gradient(tg_check *c, const double *x, const double *v, double *out)
{
    struct tg_check_room *r = c->room;
    const int64_t outputs = c->level[0].length;
    const box_function source = source_of_gradients(c);
    if (source == VJP)
        put(c, v, outputs, r->cotangents[0]);
    if (source != JVP)
        call(c, source, x);
    if (source == VJP) {
        read_block(c, r->gradients, c->variables, out);
        return;
    }
    for (int64_t i = 0; i < c->variables; i++) {
        out[i] = 0;
        r->unit[i] = 1;
        if (source == JVP)
            multiply(c, JVP, x, r->unit, r->product);
        r->unit[i] = 0;
        for (int64_t j = 0; j < outputs; j++)
            out[i] += v[j] * (source == JVP ? r->product[j] : number_at(c, r->jacobian, j * c->variables + i));
    }
}

static void evaluate(tg_check *c, int level, const double *x, double *out)
{
    if (level > 0) {
        gradient(c, x, c->level[0].cotangent, out);
        return;
    }
    call(c, VALUE, x);
    read_block(c, c->room->outputs, c->level[0].length, out);
}

/* ---- invariants ---- */

/* The function is evaluated at another point before the gradient, so values that it caches for the gradient are wrong
 * then. */
static void expect_no_disturbance(tg_check *c)
{
    double *other = tg_check_numbers(c, c->variables), *found = tg_check_numbers(c, c->variables),
           *values = tg_check_numbers(c, c->level[0].length);
    for (int64_t i = 0; i < c->variables; i++)
        other[i] = tg_check_round(c, 0.75 * c->point[i] + 0.125 * c->scale[i]);
    evaluate(c, 0, c->point, values);
    evaluate(c, 0, other, values);
    evaluate(c, 1, c->point, found);
    tg_check_same(c, 1, found, TG_GRADCHECK_DISTURBED,
                  "the gradient changes when the function is evaluated on other numbers before");
}

/* Stops unless J u is as expected; the difference may be `bound` times the largest element. */
static void expect_product(tg_check *c, const double *u, const double *expected, double bound,
                           tg_gradcheck_status status, const char *what)
{
    double *found = tg_check_numbers(c, c->level[0].length), largest = 0;
    multiply(c, JVP, c->point, u, found);
    for (int64_t j = 0; j < c->level[0].length; j++)
        largest = fmax(largest, fabs(expected[j]));
    for (int64_t j = 0; j < c->level[0].length; j++) {
        if (fabs(found[j] - expected[j]) <= bound * largest || (isnan(found[j]) && isnan(expected[j])))
            continue;
        tg_check_set_place(c, 1, -1, found[j], expected[j]);
        tg_check_stop(c, status, "%s its jvp is %.12g, where %.12g is expected, at element %lld of the result", what,
                      found[j], expected[j], (long long)j);
    }
}

static double *draw_direction(tg_check *c)
{
    double *u = tg_check_numbers(c, c->variables);
    for (int64_t i = 0; i < c->variables; i++)
        u[i] = tg_check_round(c, fmin(1, c->scale[i]) * tg_check_weight(c));
    return u;
}

/* J u twice; J 0; J (s u) for powers of two and signs; J (u + w). */
static void expect_linear_products(tg_check *c)
{
    static const double factors[] = {0, -1, 0x1p10, -0x1p-10};
    const int64_t length = c->level[0].length;
    double *u = draw_direction(c), *w = draw_direction(c), *moved = tg_check_numbers(c, c->variables),
           *of_u = tg_check_numbers(c, length), *of_w = tg_check_numbers(c, length);
    multiply(c, JVP, c->point, u, of_u);
    expect_product(c, u, of_u, 0, TG_GRADCHECK_NOT_REPEATABLE, "called again,");
    for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
        char what[64];
        for (int64_t i = 0; i < c->variables; i++)
            moved[i] = factors[k] * u[i];
        for (int64_t j = 0; j < length; j++)
            of_w[j] = factors[k] * of_u[j];
        tg_print(what, sizeof what, "for a tangent times %g", factors[k]);
        expect_product(c, moved, of_w, 0, factors[k] == 0 ? TG_GRADCHECK_ZERO : TG_GRADCHECK_NOT_LINEAR, what);
    }
    multiply(c, JVP, c->point, w, of_w);
    for (int64_t i = 0; i < c->variables; i++)
        moved[i] = tg_check_round(c, w[i] + u[i]);
    for (int64_t j = 0; j < length; j++)
        of_w[j] += of_u[j];
    expect_product(c, moved, of_w, c->terms * c->epsilon, TG_GRADCHECK_NOT_LINEAR, "for the sum of two tangents");
}

/* <v, J u> against <J^T v, u> for several u. */
static void expect_adjoint(tg_check *c, box_function which, const char *of_what)
{
    enum { DIRECTIONS = 3 };
    double *product = tg_check_numbers(c, c->level[0].length);
    for (int k = 0; k < DIRECTIONS; k++) {
        const double *u = draw_direction(c);
        multiply(c, which, c->point, u, product);
        tg_check_is_adjoint(c, u, product, of_what);
    }
}

static void invariants(tg_check *c)
{
    expect_no_disturbance(c);
    if (c->box->jvp) {
        expect_linear_products(c);
        expect_adjoint(c, JVP, "by its jvp");
    }
    if (c->box->jacobian && source_of_gradients(c) != JACOBIAN)
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

const tg_check_kind tg_check_of_boxes = {measure, evaluate, invariants};

tg_gradcheck_result tg_gradcheck_function(const tg_black_box *box, const tg_gradcheck_input *inputs, int count,
                                          const tg_gradcheck_options *options)
{
    tg_check c = {.name = box && box->name ? box->name : "the function",
                  .inputs = inputs,
                  .count = count,
                  .result = tg_check_no_result(-1),
                  .kind = &tg_check_of_boxes,
                  .box = box,
                  .options = tg_check_options(options)};
    c.options.order = 1;
    return tg_check_answer(&c, misuse(box, inputs, count));
}
