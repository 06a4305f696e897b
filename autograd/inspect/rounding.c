/* Training in 16 bits, emulated: a feature of the tape that rounds what operations read and what they make. */
#include "autograd/tape/tape_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keeps so many of a float's 24 binary digits: to nearest, ties to even. A NaN stays as it is, and a carry gives the
 * next power of two, in the end infinity. */
static float keep_digits(float x, int digits)
{
    const int dropped = 24 - digits;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t up = (1u << (dropped - 1)) - 1 + (bits >> dropped & 1);
    bits = isnan(x) ? bits : (bits + up) & ~((1u << dropped) - 1);
    memcpy(&x, &bits, sizeof bits);
    return x;
}

float tg_round(tg_format format, float x)
{
    if (format == TG_BFLOAT16)
        return keep_digits(x, 8);
    if (format != TG_FLOAT16)
        return x;
    const float size = fabsf(x), least = 0x1p-14f, most = 65504;
    /* Smaller numbers are multiples of 2^-24, as are floats from 0.5 to 1. */
    const float nearest = size < least ? (size + 0.5f) - 0.5f : keep_digits(size, 11);
    return copysignf(nearest > most ? INFINITY : nearest, x);
}

typedef struct copy {
    float *numbers;
    int64_t version; /* of the parameter that was copied in this step; -1: none was */
} copy;

/* A value has a copy in each format: views of one may be read when the format has changed. */
typedef struct rounding {
    tg_feature feature;
    tg_format format;
    copy *copies; /* [count], two for each value of the program */
    int64_t count;
} rounding;

/* A parameter of the next step may lie where another one of this step did. */
static void forget_versions(tg_feature *feature, tg_tape *tape)
{
    rounding *r = (rounding *)feature;
    (void)tape;
    for (int64_t i = 0; i < r->count; i++)
        r->copies[i].version = -1;
}

static void forget(tg_feature *feature, int64_t count)
{
    rounding *r = (rounding *)feature;
    for (int64_t i = 2 * count; i < r->count; i++) {
        free(r->copies[i].numbers);
        r->copies[i] = (copy){0};
    }
}

static void release(tg_feature *feature)
{
    forget(feature, 0);
    free(((rounding *)feature)->copies);
}

static void round_all(const rounding *r, const float *from, float *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = tg_round(r->format, from[i]);
}

/* The loss, a scalar, of whose derivative the value is a part, saved or recorded; NULL: none. */
static const tg_value *loss_of(const tg_value *value)
{
    const tg_value *of = value->is_saved ? tg_program_at(value->program, value->index - 1) : value->derived_from;
    return of && of->shape->rank == 0 ? of : NULL;
}

/* Whether an operation reads a rounded copy of its input. */
static bool is_copied(const tg_value *input, const tg_value *reader)
{
    const tg_value *loss = loss_of(input);
    return input->dtype == TG_F32 && input->shape->rank > 0 && input->slot.data &&
           (!input->op || (loss && loss != loss_of(reader)));
}

static bool reserve(rounding *r, int64_t count)
{
    if (count <= r->count)
        return true;
    copy *copies = realloc(r->copies, (size_t)count * sizeof *copies);
    if (!copies)
        return false;
    memset(copies + r->count, 0, (size_t)(count - r->count) * sizeof *copies);
    r->copies = copies;
    r->count = count;
    return true;
}

/* The numbers of an input as operations are to read them; NULL if out of memory. A parameter is rounded once a step
 * for each of its versions, others whenever they are read. */
static float *copy_of(rounding *r, const tg_value *input)
{
    if (!reserve(r, 2 * (input->index + 1)))
        return NULL;
    copy *c = &r->copies[2 * input->index + (r->format == TG_FLOAT16)];
    const bool is_new = !c->numbers;
    if (is_new && !(c->numbers = malloc((size_t)input->size * sizeof(float) + 1)))
        return NULL;
    if (is_new || !input->parameter || c->version != input->parameter->version)
        round_all(r, input->slot.data, c->numbers, input->size);
    c->version = input->parameter ? input->parameter->version : 0;
    return c->numbers;
}

/* Computes the value with input `i` and those after it rounded. */
static bool compute_from(rounding *r, tg_run *run, tg_value *value, int i)
{
    while (i < value->input_count && !is_copied(value->inputs[i], value))
        i++;
    if (i == value->input_count)
        return tg_run_compute(run, r->feature.next, value);
    tg_value *input = value->inputs[i];
    void *own = input->slot.data;
    float *rounded = copy_of(r, input);
    if (!rounded)
        return tg_program_fail(value->program, "out of memory for a rounded copy of %lld numbers",
                               (long long)input->size);
    input->slot.data = rounded;
    const bool fine = compute_from(r, run, value, i + 1);
    input->slot.data = own;
    return fine;
}

static bool compute(tg_feature *feature, tg_run *run, tg_value *value)
{
    rounding *r = (rounding *)feature;
    const bool fine = compute_from(r, run, value, 0);
    if (fine && value->dtype == TG_F32 && value->shape->rank > 0 && !(value->op->flags & TG_VIEW) && !loss_of(value))
        round_all(r, value->slot.data, value->slot.data, value->size);
    return fine;
}

static const tg_feature_kind kind = {.level = TG_LEVEL_ROUND,
                                     .size = sizeof(rounding),
                                     .reset = forget_versions,
                                     .cut = forget,
                                     .compute = compute,
                                     .free = release};

void tg_tape_round(tg_tape *tape, tg_format format)
{
    const bool on = format == TG_BFLOAT16 || format == TG_FLOAT16;
    rounding *r = !tape ? NULL : on ? tg_tape_have(tape, &kind) : tg_tape_find(tape, &kind);
    if (!r && on)
        tg_tape_fail(tape, "out of memory: tg_tape_round");
    if (!r)
        return;
    r->format = format;
    r->feature.computes = on;
}
