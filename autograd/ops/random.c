/* Random numbers on the tape. A stream, i32[4], is the key and the upper half of the counter of Philox 4x32-10 (Salmon et
 * al., 2011):
 *
 *     key low | key high | counter word 2 | counter word 3
 *
 * Element i of a result is a function of the stream and i alone. So a derivative, or a value computed once more, names the
 * same stream and sees the same numbers, and no mask is kept.
 */
#include "autograd/ops.h"
#include "autograd/ops/family.h"

#include <string.h>

static bool is_stream(const tg_value *out, const tg_value *stream)
{
    return (stream->dtype == TG_I32 && stream->size == 4) ||
           tg_expected(out, "expected a stream from tg_random_stream, an i32[4]");
}

#define STREAM(seed)                                                                                         \
    {                                                                                                        \
        .shape = {1, {4}}, .index = true, .fixed = true, .value_count = 4, .values = (const double[])        \
        {                                                                                                    \
            seed, 2 * seed + 1, 77, -5                                                                       \
        }                                                                                                    \
    }

/* ---- draw ---- */

typedef struct draw_attributes {
    tg_rng *rng; /* must come first: this is how the core finds the generator of a random source */
} draw_attributes;

static bool draw_shape(tg_value *out)
{
    out->dtype = TG_I32;
    out->shape = TG_SHAPE(4);
    return ((const draw_attributes *)out->attributes)->rng ||
           tg_expected(out, "expected a generator, not NULL");
}

static void draw_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    uint32_t stream[4];
    tg_rng_draw_stream(((const draw_attributes *)out->attributes)->rng, stream);
    memcpy(call->out, stream, sizeof stream);
}

static const tg_field draw_fields[] = {TG_FIELD(draw_attributes, rng, TG_FIELD_POINTER), {0}};

const tg_op tg_op_random_stream = {.name = "random_stream",
                          .arity = 0,
                          .flags = TG_SOURCE | TG_RANDOM | TG_CONSTANT,
                          .attributes_size = sizeof(draw_attributes),
                          .fields = draw_fields,
                          .shape = draw_shape,
                          .forward = draw_forward};

tg_tensor tg_random_stream(tg_tape *tape, tg_rng *rng)
{
    return tg_apply_on(tape, &tg_op_random_stream, &(draw_attributes){rng});
}

/* ---- uniform and normal numbers ---- */

typedef struct fill_attributes {
    int64_t dtype; /* a tg_dtype */
    tg_shape shape;
    double first, second; /* low and high, or mean and deviation */
} fill_attributes;

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

static bool fill_shape(tg_value *out)
{
    const fill_attributes *a = out->attributes;
    out->dtype = (tg_dtype)a->dtype;
    out->shape = a->shape;
    if (out->dtype == TG_I32)
        return tg_expected(out, "expected to make f32 or f64");
    return is_stream(out, out->inputs[0]);
}

static void random_uniform_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const fill_attributes *a = out->attributes;
    TG_KERNEL_CALL(out->dtype, uniform_fill, (size_t)out->size, call->in[0], a->first, a->second,
                   call->out);
}

static void random_normal_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const fill_attributes *a = out->attributes;
    TG_KERNEL_CALL(out->dtype, normal_fill, (size_t)out->size, call->in[0], a->first, a->second,
                   call->out);
}

#define FILL(...)                                                                                            \
    .attributes = &(fill_attributes)                                                                         \
    {                                                                                                        \
        TG_F64, {__VA_ARGS__}, -1, 2                                                                         \
    }

static const tg_sample fill_samples[] = {
    {FILL(1, {7}), .input = {STREAM(1)}},    {FILL(0), .input = {STREAM(2)}},
    {FILL(2, {3, 0}), .input = {STREAM(3)}}, {FILL(2, {3, 5}), .input = {STREAM(4)}},
    {FILL(1, {129}), .input = {STREAM(5)}},  {FILL(1, {128}), .input = {STREAM(6)}},
    {FILL(1, {1}), .input = {STREAM(7)}},    {FILL(3, {2, 1, 3}), .input = {STREAM(8)}},
};

const tg_op tg_op_random_uniform = {.name = "random_uniform",
                                    .arity = 1,
                                    .flags = TG_RANDOM | TG_CONSTANT,
                                    .attributes_size = sizeof(fill_attributes),
                                    .fields = uniform_fields,
                                    .shape = fill_shape,
                                    .forward = random_uniform_forward,
                                    TG_SAMPLES(fill_samples)};

tg_tensor tg_random_uniform(tg_tensor stream, tg_dtype dtype, tg_shape shape, double low, double high)
{
    return TG_APPLY(&tg_op_random_uniform, (&(fill_attributes){dtype, shape, low, high}), stream);
}

const tg_op tg_op_random_normal = {.name = "random_normal",
                                   .arity = 1,
                                   .flags = TG_RANDOM | TG_CONSTANT,
                                   .attributes_size = sizeof(fill_attributes),
                                   .fields = normal_fields,
                                   .shape = fill_shape,
                                   .forward = random_normal_forward,
                                   TG_SAMPLES(fill_samples)};

tg_tensor tg_random_normal(tg_tensor stream, tg_dtype dtype, tg_shape shape, double mean, double deviation)
{
    return TG_APPLY(&tg_op_random_normal, (&(fill_attributes){dtype, shape, mean, deviation}), stream);
}

/* ---- dropout: linear in x, so the derivative is dropout of the cotangent on the same stream ---- */

typedef struct dropout_attributes {
    double drop;
} dropout_attributes;

static const tg_field dropout_fields[] = {TG_FIELD(dropout_attributes, drop, TG_FIELD_REAL), {0}};

static bool dropout_shape(tg_value *out)
{
    const double drop = ((const dropout_attributes *)out->attributes)->drop;
    out->shape = out->inputs[0]->shape;
    if (out->dtype == TG_I32)
        return tg_expected(out, "expected f32 or f64");
    if (!(drop >= 0 && drop <= 1))
        return tg_expected(out, "expected a probability from 0 to 1, not %g", drop);
    return is_stream(out, out->inputs[1]);
}

static void dropout_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const double drop = ((const dropout_attributes *)out->attributes)->drop;
    TG_KERNEL_CALL(out->dtype, dropout, (size_t)out->size, call->in[0], call->in[1],
                   1 - drop, call->out);
}

static void dropout_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_dropout(d->cotangent, d->in[1], ((const dropout_attributes *)d->attributes)->drop);
}

#define DROP(number)                                                                                         \
    .attributes = &(dropout_attributes)                                                                      \
    {                                                                                                        \
        number                                                                                               \
    }

static const tg_sample dropout_samples[] = {
    {DROP(0.5), .input = {{.shape = {2, {3, 4}}}, STREAM(1)}},
    {DROP(0.1), .input = {{.shape = {0}}, STREAM(2)}},
    {DROP(0.9), .input = {{.shape = {2, {3, 0}}}, STREAM(3)}},
    {DROP(0), .input = {{.shape = {1, {33}}}, STREAM(4)}},
    {DROP(1), .input = {{.shape = {1, {5}}}, STREAM(5)}},
    {DROP(0.3), .input = {{.shape = {1, {129}}}, STREAM(6)}},
    {DROP(0.5), .input = {{.shape = {1, {1}}}, STREAM(7)}},
    {DROP(0.25), .input = {{.shape = {3, {2, 1, 3}}}, STREAM(8)}},
};

const tg_op tg_op_dropout = {.name = "dropout",
                             .arity = 2,
                             .flags = TG_RANDOM,
                             .attributes_size = sizeof(dropout_attributes),
                             .fields = dropout_fields,
                             .shape = dropout_shape,
                             .forward = dropout_forward,
                             .derivative = dropout_derivative,
                             TG_SAMPLES(dropout_samples)};

tg_tensor tg_dropout(tg_tensor x, tg_tensor stream, double drop)
{
    return TG_APPLY(&tg_op_dropout, &(dropout_attributes){drop}, x, stream);
}

/* ---- stochastic_gate: the cotangent passes where x did; p has no derivative but 0 ---- */

static bool stochastic_gate_shape(tg_value *out)
{
    const tg_value *x = out->inputs[0], *p = out->inputs[1];
    out->shape = x->shape;
    if (x->dtype == TG_I32 || x->dtype != p->dtype || !tg_shape_equal(&x->shape, &p->shape))
        return tg_expected(out, "expected values and probabilities of one floating type and shape");
    return is_stream(out, out->inputs[2]);
}

static void stochastic_gate_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    TG_KERNEL_CALL(out->dtype, stochastic_gate, (size_t)out->size, call->in[0], call->in[1],
                   call->in[2], call->out);
}

static void stochastic_gate_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_stochastic_gate(d->cotangent, d->in[1], d->in[2]);
}

#define PROBABILITY .low = 0, .high = 1, .fixed = true

static const tg_sample stochastic_gate_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}, PROBABILITY}, STREAM(1)}},
    {.input = {{.shape = {0}}, {.shape = {0}, PROBABILITY}, STREAM(2)}},
    {.input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}, PROBABILITY}, STREAM(3)}},
    {.input = {{.shape = {1, {33}}}, {.shape = {1, {33}}, PROBABILITY}, STREAM(4)}},
    {.input = {{.shape = {1, {129}}}, {.shape = {1, {129}}, PROBABILITY}, STREAM(5)}},
    {.input = {{.shape = {1, {5}}},
               {.shape = {1, {5}}, .fixed = true, .value_count = 2, .values = (const double[]){0, 1}},
               STREAM(6)}},
    {.input = {{.shape = {1, {1}}}, {.shape = {1, {1}}, PROBABILITY}, STREAM(7)}},
    {.input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES},
               {.shape = {1, {9}}, PROBABILITY},
               STREAM(8)}},
};

const tg_op tg_op_stochastic_gate = {.name = "stochastic_gate",
                                     .arity = 3,
                                     .flags = TG_RANDOM,
                                     .shape = stochastic_gate_shape,
                                     .forward = stochastic_gate_forward,
                                     .derivative = stochastic_gate_derivative,
                                     TG_SAMPLES(stochastic_gate_samples)};

tg_tensor tg_stochastic_gate(tg_tensor x, tg_tensor p, tg_tensor stream)
{
    return TG_APPLY(&tg_op_stochastic_gate, NULL, x, p, stream);
}

tg_tensor tg_stochastic_gelu(tg_tensor x, tg_tensor stream)
{
    const double one_over_sqrt_2 = 0.7071067811865476;
    tg_tensor phi = tg_mul_scalar(tg_erfc(tg_mul_scalar(x, -one_over_sqrt_2)), 0.5);
    return tg_stochastic_gate(x, phi, stream);
}
