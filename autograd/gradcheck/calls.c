#include "autograd/gradcheck/calls.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- numbers of its type ---- */

static size_t size_of(const tg_check *c)
{
    return c->numbers->digits == 53 ? sizeof(double) : sizeof(float);
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
    const tg_gradcheck_input *in = &c->report.inputs[input];
    const size_t each = in->integers ? sizeof(int32_t) : size_of(c), align = 16;
    return ((size_t)tg_shape_size(&in->shape) * each + align - 1) / align * align;
}

static bool cut_inputs(tg_check *c, struct tg_check_room *r)
{
    for (int i = 0; i < c->report.count; i++)
        r->bytes += bytes_of(c, i);
    const int64_t doubles = (int64_t)(r->bytes / sizeof(double)) + 2; /* 2 more, to align to 16 bytes */
    r->given = (char *)tg_check_take(c, doubles);
    r->kept = (char *)tg_check_take(c, doubles);
    if (!r->given || !r->kept)
        return false;
    r->given += (uintptr_t)r->given % 16;
    char *at = r->given;
    for (int i = 0; i < c->report.count; at += bytes_of(c, i++)) {
        const tg_gradcheck_input *in = &c->report.inputs[i];
        const int64_t size = tg_shape_size(&in->shape);
        r->in[i] = at;
        if (in->integers)
            memcpy(at, in->integers, (size_t)size * sizeof(int32_t));
        else if (in->data)
            put(c, in->data, size, at);
    }
    return true;
}

/* Arrays for outputs, or for variables. */
static bool cut(tg_check *c, bool variables, void **arrays)
{
    char *block = (char *)tg_check_take(c, (variables ? c->variables : c->level[0].length) + 1);
    for (int i = 0; block && !variables && i < output_count(c); i++) {
        arrays[i] = block;
        block += (size_t)tg_shape_size(output_shape(c, i)) * size_of(c);
    }
    for (int p = 0; block && variables && p < c->part_count; p++)
        arrays[c->parts[p].input] = block + (size_t)c->parts[p].offset * size_of(c);
    return block;
}

bool tg_check_measure_box(tg_check *c)
{
    struct tg_check_room *r = c->room = tg_check_take_from(c, &c->arena, 1, sizeof *r);
    if (!r)
        return false;
    void ***of_inputs[] = {&r->in, &r->gradients, &r->tangents}, ***of_outputs[] = {&r->outputs, &r->cotangents};
    for (int i = 0; i < 3; i++)
        if (!(*of_inputs[i] = tg_check_take_from(c, &c->arena, c->report.count, sizeof(void *))))
            return false;
    for (int i = 0; i < 2; i++)
        if (!(*of_outputs[i] = tg_check_take_from(c, &c->arena, output_count(c), sizeof(void *))))
            return false;
    c->level[0].length = 0;
    for (int i = 0; i < output_count(c); i++)
        c->level[0].length += tg_shape_size(output_shape(c, i));
    const int64_t outputs = c->level[0].length;
    if (c->box->jacobian && outputs > 0 && c->variables > INT64_MAX / 16 / outputs)
        return tg_check_out_of_memory(&c->report);
    return cut_inputs(c, r) && cut(c, false, r->outputs) && cut(c, false, r->cotangents) &&
           cut(c, true, r->gradients) && cut(c, true, r->tangents) && (r->unit = tg_check_take(c, c->variables)) &&
           (r->product = tg_check_take(c, outputs)) &&
           (!c->box->jacobian || (r->jacobian = tg_check_take(c, outputs * c->variables)));
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
static bool call(tg_check *c, int which, const double *x)
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
    if (which == TG_CHECK_VJP) {
        memset(block_of(r->gradients), 0xff, variables);
        done = box->vjp(in, (const void *const *)r->cotangents, r->gradients, box->user);
    } else if (which == TG_CHECK_JACOBIAN) {
        memset(r->jacobian, 0xff, (size_t)c->level[0].length * variables);
        done = box->jacobian(in, r->jacobian, box->user);
    } else {
        memset(r->outputs[0], 0xff, outputs);
        done = which == TG_CHECK_VALUE ? box->value(in, r->outputs, box->user)
                                       : box->jvp(in, (const void *const *)r->tangents, r->outputs, box->user);
    }
    if (!done)
        return tg_check_fail(&c->report, TG_GRADCHECK_REFUSED, "its %s returned false", names[which]);
    return memcmp(r->kept, r->given, r->bytes) == 0 ||
           tg_check_fail(&c->report, TG_GRADCHECK_DISTURBED, "its %s changes what it is given", names[which]);
}

static void read_block(const tg_check *c, void **arrays, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = number_at(c, block_of(arrays), i);
}

bool tg_check_product(tg_check *c, int which, const double *x, const double *u, double *out)
{
    struct tg_check_room *r = c->room;
    if (which == TG_CHECK_JVP) {
        put(c, u, c->variables, block_of(r->tangents));
        if (!call(c, TG_CHECK_JVP, x))
            return false;
        read_block(c, r->outputs, c->level[0].length, out);
        return true;
    }
    if (!call(c, TG_CHECK_JACOBIAN, x))
        return false;
    for (int64_t j = 0; j < c->level[0].length; j++) {
        out[j] = 0;
        for (int64_t i = 0; i < c->variables; i++)
            out[j] += number_at(c, r->jacobian, j * c->variables + i) * u[i];
    }
    return true;
}

int tg_check_source_of_gradients(const tg_check *c)
{
    return c->box->vjp ? TG_CHECK_VJP : c->box->jacobian ? TG_CHECK_JACOBIAN : TG_CHECK_JVP;
}

/* J^T v. */
static bool gradient(tg_check *c, const double *x, const double *v, double *out)
{
    struct tg_check_room *r = c->room;
    const int64_t outputs = c->level[0].length;
    const int source = tg_check_source_of_gradients(c);
    if (source == TG_CHECK_VJP) {
        put(c, v, outputs, r->cotangents[0]);
        if (!call(c, TG_CHECK_VJP, x))
            return false;
        read_block(c, r->gradients, c->variables, out);
        return true;
    }
    if (source == TG_CHECK_JACOBIAN && !call(c, TG_CHECK_JACOBIAN, x))
        return false;
    for (int64_t i = 0; i < c->variables; i++) {
        out[i] = 0;
        r->unit[i] = 1;
        if (source == TG_CHECK_JVP && !tg_check_product(c, TG_CHECK_JVP, x, r->unit, r->product))
            return false;
        r->unit[i] = 0;
        for (int64_t j = 0; j < outputs; j++)
            out[i] += v[j] * (source == TG_CHECK_JVP ? r->product[j] : number_at(c, r->jacobian, j * c->variables + i));
    }
    return true;
}

bool tg_check_call_box(tg_check *c, int level, const double *x, double *const *out)
{
    if (out[0]) {
        if (!call(c, TG_CHECK_VALUE, x))
            return false;
        read_block(c, c->room->outputs, c->level[0].length, out[0]);
    }
    return level == 0 || !out[1] || gradient(c, x, c->level[0].cotangent, out[1]);
}
