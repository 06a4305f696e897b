/* What all parts of a check use: memory, failures, and places in words. */
#include "autograd/gradcheck/check.h"

#include <fenv.h>
#include <string.h>

tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options)
{
    tg_gradcheck_options filled = options ? *options : (tg_gradcheck_options){0};
    if (filled.report_size == 0)
        filled.report = NULL;
    if (filled.report)
        filled.report[0] = '\0';
    filled.order = filled.order < 1 ? 1 : filled.order > TG_GRADCHECK_MAX_ORDER ? TG_GRADCHECK_MAX_ORDER : filled.order;
    if (filled.elements < 1)
        filled.elements = 16;
    return filled;
}

tg_gradcheck_result tg_check_no_result(int sample)
{
    return (tg_gradcheck_result){.sample = sample, .input = -1, .index = -1};
}

/* ---- failures ---- */

/* `outer`, `rounding` and the arguments do not change between setjmp and longjmp, so they are valid after the jump. */
bool tg_check_try(tg_check *c, void (*part)(tg_check *c, void *of), void *of)
{
    jmp_buf stop, *const outer = c->stop;
    const int rounding = fegetround();
    c->stop = &stop;
    const bool fine = setjmp(stop) == 0;
    if (fine)
        part(c, of);
    c->stop = outer;
    if (!fine)
        fesetround(rounding);
    return fine;
}

_Noreturn static void stop(tg_check *c, tg_gradcheck_status status, const char *format, va_list arguments)
{
    tg_gradcheck_result *v = &c->result;
    tg_text text = {v->why, sizeof v->why, 0};
    if (c->over && status != TG_GRADCHECK_REFUSED) /* it is about numbers that were not computed */
        longjmp(*c->stop, 1);
    v->passed = false;
    v->status = status;
    tg_check_where(c, v);
    tg_text_add(&text, "%s%s%s%s: ", c->name, v->where[0] ? ", " : "", v->where, c->at ? c->at : "");
    tg_text_add_arguments(&text, format, arguments);
    if (strstr(v->why, "out of memory")) /* wherever: nothing is known to be wrong */
        v->status = TG_GRADCHECK_REFUSED;
    longjmp(*c->stop, 1);
}

void tg_check_stop(tg_check *c, tg_gradcheck_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    stop(c, status, format, arguments);
}

void tg_check_stop_at(tg_check *c, int order, int64_t i, double found, double expected, tg_gradcheck_status status,
                      const char *format, ...)
{
    tg_gradcheck_result *v = &c->result;
    va_list arguments;
    const tg_check_part *part = i >= 0 ? tg_check_part_of(c, i) : NULL;
    if (c->over)
        longjmp(*c->stop, 1);
    v->order = order;
    v->input = part ? part->input : -1;
    v->index = part ? i - part->offset : -1;
    v->analytic = found;
    v->numeric = expected;
    v->error = fabs(found - expected);
    v->bound = v->relative = 0;
    va_start(arguments, format);
    stop(c, status, format, arguments);
}

void *tg_check_take(tg_check *c, int64_t count, size_t size)
{
    void *memory = NULL;
    if ((uint64_t)count <= SIZE_MAX / size)
        memory = tg_arena_take(&c->arena, (size_t)count * size, _Alignof(long double));
    if (!memory)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
    return memset(memory, 0, (size_t)count * size);
}

/* ---- numbers ---- */

double tg_check_round(const tg_check *c, double x)
{
    if (c->type == TG_GRADCHECK_F64)
        return x;
    float rounded = (float)x;
    if (c->type == TG_GRADCHECK_BF16 && isfinite(rounded)) { /* to the nearest, ties to even */
        uint32_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
        memcpy(&rounded, &bits, sizeof bits);
    }
    return rounded;
}

double tg_check_weight(tg_check *c)
{
    const double size = 0.5 + tg_rng_uniform(&c->rng);
    return tg_check_round(c, tg_rng_below(&c->rng, 2) ? size : -size);
}

/* ---- places ---- */

void tg_check_add_element(tg_text *text, const tg_check *c, int input, int64_t index)
{
    const tg_gradcheck_input *in = &c->inputs[input];
    const char *name = in->name ? in->name : in->parameter ? in->parameter->name : NULL;
    if (name)
        tg_text_add(text, "%s", name);
    else
        tg_text_add(text, "input %d", input);
    if (index >= 0)
        tg_check_add_index(text, tg_check_shape_of(in), index);
}

void tg_check_add_index(tg_text *text, const tg_shape *shape, int64_t index)
{
    int64_t size = tg_shape_size(shape);
    for (int axis = 0; axis < shape->rank; axis++) {
        size /= shape->dim[axis];
        tg_text_add(text, "%s%lld", axis ? ", " : " at [", (long long)(index / size));
        index %= size;
    }
    tg_text_add(text, shape->rank > 0 ? "]" : "");
}

void tg_check_where(const tg_check *c, tg_gradcheck_result *v)
{
    tg_text text = {v->where, sizeof v->where, 0};
    v->where[0] = '\0';
    if (v->sample >= 0)
        tg_text_add(&text, "sample %d", v->sample);
    if (v->input >= 0 && v->input < c->count) {
        tg_text_add(&text, text.used ? ", " : "");
        tg_check_add_element(&text, c, v->input, v->index);
    }
    if (v->order > 0)
        tg_text_add(&text, "%sorder %d", text.used ? ", " : "", v->order);
}
