/* Random numbers on the tape. A stream, i32[4], is the key and the upper half of the counter of Philox 4x32-10 (Salmon
 * et al., 2011):
 *
 *     key low | key high | counter word 2 | counter word 3
 *
 * Element i of a result is a function of the stream and i alone. So a derivative, or a value computed once more, names
 * the same stream and sees the same numbers, and no mask is kept.
 */
#include "autograd/ops/category.h"

#include <string.h>

typedef struct stream_attributes {
    tg_rng *rng; /* must come first: this is how the core finds the generator of a random source */
} stream_attributes;

typedef struct fill_attributes {
    int64_t dtype; /* a tg_dtype */
    tg_shape shape;
    double first, second; /* low and high, or mean and deviation */
} fill_attributes;

static const tg_field stream_fields[] = {TG_FIELD(stream_attributes, rng, TG_FIELD_POINTER), {0}};
static const tg_field uniform_fields[] = {TG_FIELD(fill_attributes, dtype, TG_FIELD_INT),
                                          TG_FIELD(fill_attributes, shape, TG_FIELD_SHAPE),
                                          TG_FIELD_NAMED("low", fill_attributes, first, TG_FIELD_REAL),
                                          TG_FIELD_NAMED("high", fill_attributes, second, TG_FIELD_REAL),
                                          {0}};
static const tg_field normal_fields[] = {TG_FIELD(fill_attributes, dtype, TG_FIELD_INT),
                                         TG_FIELD(fill_attributes, shape, TG_FIELD_SHAPE),
                                         TG_FIELD_NAMED("mean", fill_attributes, first, TG_FIELD_REAL),
                                         TG_FIELD_NAMED("deviation", fill_attributes, second, TG_FIELD_REAL),
                                         {0}};
static const tg_field dropout_fields[] = {TG_NUMBER_FIELD("drop"), {0}};
#include "autograd/ops/samples/random.h"

static bool is_stream(const tg_value *out, const tg_value *stream)
{
    return (stream->dtype == TG_I32 && stream->size == 4) ||
           tg_expected(out, "expected a stream from tg_random_stream, an i32[4]");
}

/* ---- random_stream ---- */

static bool random_stream_shape(tg_value *out)
{
    out->dtype = TG_I32;
    *out->shape = TG_SHAPE(4);
    return ((const stream_attributes *)out->attributes)->rng || tg_expected(out, "expected a generator, not NULL");
}

static void random_stream_forward(const tg_call *call)
{
    uint32_t stream[4];
    tg_rng_draw_stream(((const stream_attributes *)call->value->attributes)->rng, stream);
    memcpy(call->out, stream, sizeof stream);
}

const tg_op tg_op_random_stream = {.name = "random_stream",
                                   .arity = 0,
                                   .flags = TG_SOURCE | TG_RANDOM | TG_CONSTANT,
                                   TG_ATTRIBUTES(stream_attributes, stream_fields),
                                   .shape = random_stream_shape,
                                   .forward = random_stream_forward};

tg_tensor tg_random_stream(tg_tape *tape, tg_rng *rng)
{
    return tg_apply_on(tape, &tg_op_random_stream, &(stream_attributes){rng});
}

/* ---- uniform and normal numbers ---- */

static bool fill_shape(tg_value *out)
{
    const fill_attributes *a = out->attributes;
    out->dtype = (tg_dtype)a->dtype;
    *out->shape = a->shape;
    if (out->dtype == TG_I32)
        return tg_expected(out, "expected to make f32 or f64");
    return is_stream(out, out->inputs[0]);
}

#define RANDOM_FILL(distribution)                                                                                     \
    static void random_##distribution##_forward(const tg_call *call)                                                  \
    {                                                                                                                 \
        const fill_attributes *a = call->value->attributes;                                                           \
        TG_KERNEL_CALL(call->value->dtype, distribution##_fill, 0, (size_t)call->value->size, call->in[0], a->first,  \
                       a->second, call->out);                                                                         \
    }                                                                                                                 \
    TG_OPERATION(random_##distribution, 1, TG_RANDOM | TG_CONSTANT, fill_samples,                                     \
                 TG_ATTRIBUTES(fill_attributes, distribution##_fields), .shape = fill_shape,                          \
                 .forward = random_##distribution##_forward);                                                         \
    tg_tensor tg_random_##distribution(tg_tensor stream, tg_dtype dtype, tg_shape shape, double first, double second) \
    {                                                                                                                 \
        return TG_APPLY(&tg_op_random_##distribution, (&(fill_attributes){dtype, shape, first, second}), stream);     \
    }

RANDOM_FILL(uniform)
RANDOM_FILL(normal)

/* ---- dropout: linear in x, so the derivative is dropout of the cotangent on the same stream ---- */

static bool dropout_shape(tg_value *out)
{
    const double drop = tg_number_of(out->attributes);
    if (!tg_shape_same_floating(out))
        return false;
    if (!(drop >= 0 && drop <= 1))
        return tg_expected(out, "expected a probability from 0 to 1, not %.10g", drop);
    return is_stream(out, out->inputs[1]);
}

static void dropout_forward(const tg_call *call)
{
    TG_KERNEL_CALL(call->value->dtype, dropout, (size_t)call->value->size, call->in[0], call->in[1],
                   1 - tg_number_of(call->value->attributes), call->out);
}

TG_GRADIENT(dropout, tg_dropout(d->cotangent, d->in[1], tg_number_of(d->attributes)))

TG_OPERATION(dropout, 2, TG_RANDOM, dropout_samples, TG_ATTRIBUTES(tg_number_attributes, dropout_fields),
             .shape = dropout_shape, .forward = dropout_forward, .derivative = dropout_derivative);

tg_tensor tg_dropout(tg_tensor x, tg_tensor stream, double drop)
{
    return TG_APPLY(&tg_op_dropout, TG_NUMBER(drop), x, stream);
}

/* ---- stochastic_gate: the cotangent passes where x did; p has no derivative but 0 ---- */

static bool stochastic_gate_shape(tg_value *out)
{
    *out->shape = *out->inputs[0]->shape;
    return tg_inputs_alike(out, 2) && is_stream(out, out->inputs[2]);
}

static void stochastic_gate_forward(const tg_call *call)
{
    TG_KERNEL_CALL(call->value->dtype, stochastic_gate, (size_t)call->value->size, call->in[0], call->in[1],
                   call->in[2], call->out);
}

static void stochastic_gate_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_stochastic_gate(d->cotangent, d->in[1], d->in[2]);
}

TG_OPERATION(stochastic_gate, 3, TG_RANDOM, stochastic_gate_samples, .shape = stochastic_gate_shape,
             .forward = stochastic_gate_forward, .derivative = stochastic_gate_derivative);

tg_tensor tg_stochastic_gelu(tg_tensor x, tg_tensor stream)
{
    const double one_over_sqrt_2 = 0.7071067811865476;
    tg_tensor phi = tg_mul_scalar(tg_erfc(tg_mul_scalar(x, -one_over_sqrt_2)), 0.5);
    return tg_stochastic_gate(x, phi, stream);
}
