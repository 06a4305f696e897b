#include "tests/bench/kernel_work.h"

#include "autograd/kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

/* ---- the arrays ---- */

kernel_data *kernel_data_new(size_t n)
{
    enum {
        ARRAYS = 7,
        APART = 80 * 16
    }; /* arrays a whole number of pages apart would compete for the same cache lines */
    const size_t rows = n / KERNEL_COLUMNS, length = (n + APART + 15) / 16 * 16;
    kernel_data *d = calloc(1, sizeof *d);
    float *block = d ? aligned_alloc(64, (ARRAYS * length + (rows + 15) / 16 * 16) * sizeof *block) : NULL;
    if (!block) {
        free(d);
        return NULL;
    }
    float *array[ARRAYS];
    for (int k = 0; k < ARRAYS; k++)
        array[k] = block + (size_t)k * length;
    *d = (kernel_data){n,        array[0], array[1], array[2],       array[3],
                       array[4], array[5], array[6], .block = block, .labels = (int32_t *)(block + ARRAYS * length)};
    memset(block, 0, ARRAYS * length * sizeof *block);
    const uint32_t streams[3][4] = {{1}, {2}, {3}};
    tg_kernels.of[TG_F32]->normal_fill(0, n, streams[0], 0, 1, d->x);
    tg_kernels.of[TG_F32]->uniform_fill(0, n, streams[1], 0.1, 1, d->second);
    tg_kernels.of[TG_F32]->normal_fill(0, n, streams[2], 0, 1, d->cotangent);
    for (size_t row = 0; row < rows; row++)
        d->labels[row] = (int32_t)(row * 37 % KERNEL_COLUMNS);
    return d;
}

void kernel_data_free(kernel_data *d)
{
    if (d)
        free(d->block);
    free(d);
}

/* ---- calls ---- */

#define K tg_kernels.of[TG_F32]->
#define CALL(name, ...)                    \
    static void name(const kernel_data *d) \
    {                                      \
        __VA_ARGS__;                       \
    }
#define ROWS d->n / KERNEL_COLUMNS, KERNEL_COLUMNS
#define RECORD(name, ...)                               \
    static tg_tensor name##_record(const tg_tensor *in) \
    {                                                   \
        return __VA_ARGS__;                             \
    }

CALL(times_slope, K mul(d->n, d->cotangent, 1, d->slope, 1, d->dx))

CALL(copy_forward, memcpy(d->y, d->x, d->n * sizeof *d->y))
CALL(copy_backward, memcpy(d->dx, d->cotangent, d->n * sizeof *d->dx))

CALL(relu_forward, K relu(d->n, d->x, d->y))
CALL(relu_backward, K relu_grad(d->n, d->cotangent, 1, d->y, 1, d->dx))
RECORD(relu, tg_relu(in[0]))

CALL(leaky_relu_forward, K leaky_relu(d->n, d->x, 0.01, d->y))
CALL(leaky_relu_backward, K leaky_relu_grad(d->n, d->cotangent, 1, d->x, 1, 0.01, d->dx))
RECORD(leaky_relu, tg_leaky_relu(in[0], 0.01))

/* Value and derivative share an exponential, so the derivative is kept. */
#define SMOOTH(name)                                                  \
    CALL(name##_forward, K name(d->n, d->x, d->y))                    \
    CALL(name##_keep, K name##_with_grad(d->n, d->x, d->y, d->slope)) \
    RECORD(name, tg_##name(in[0]))

SMOOTH(gelu_exact)
SMOOTH(gelu_tanh)
SMOOTH(gelu_quick)
SMOOTH(silu)
SMOOTH(softplus)
SMOOTH(mish)

CALL(elu_forward, K elu(d->n, d->x, 1, d->y))
CALL(elu_keep, K elu_with_grad(d->n, d->x, 1, d->y, d->slope))
RECORD(elu, tg_elu(in[0], 1))

CALL(selu_forward, K selu(d->n, d->x, d->y))
CALL(selu_backward, K selu_grad(d->n, d->x, d->slope), times_slope(d))
RECORD(selu, tg_selu(in[0]))

CALL(tanh_forward, K tanh(d->n, d->x, d->y))
CALL(tanh_backward, K tanh_grad(d->n, d->cotangent, 1, d->x, 1, d->dx))
RECORD(tanh, tg_tanh(in[0]))

CALL(sigmoid_forward, K sigmoid(d->n, d->x, d->y))
CALL(sigmoid_backward, K sigmoid_grad(d->n, d->cotangent, 1, d->x, 1, d->dx))
RECORD(sigmoid, tg_sigmoid(in[0]))

CALL(erf_forward, K erf(d->n, d->x, d->y))
CALL(erf_backward, K erf_grad(d->n, d->x, d->slope), times_slope(d))
RECORD(erf, tg_erf(in[0]))

CALL(exp_forward, K exp(d->n, d->x, d->y))
CALL(exp_backward, K mul(d->n, d->cotangent, 1, d->y, 1, d->dx))
RECORD(exp, tg_exp(in[0]))

CALL(log_forward, K log(d->n, d->second, d->y))
CALL(log_backward, K div(d->n, d->cotangent, 1, d->second, 1, d->dx))
RECORD(log, tg_log(in[1]))

#define GATED(name)                                                                              \
    CALL(name##_forward, K name(d->n, d->x, d->second, d->y))                                    \
    CALL(name##_backward, K name##_grad(d->n, d->x, d->second, d->cotangent, d->dx, d->dsecond)) \
    RECORD(name, tg_##name(in[0], in[1]))

GATED(glu)
GATED(reglu)
GATED(geglu)
GATED(swiglu)

CALL(softmax_forward, K softmax_rows(ROWS, d->x, d->y))
CALL(softmax_backward, K softmax_grad_rows(ROWS, d->cotangent, d->y, d->dx))
RECORD(softmax, tg_softmax(in[0], -1))

CALL(log_softmax_forward, K log_softmax_rows(ROWS, d->x, d->y))
CALL(log_softmax_backward, K log_softmax_grad_rows(ROWS, d->cotangent, d->y, d->dx))
RECORD(log_softmax, tg_log_softmax(in[0], -1))

CALL(layer_norm_forward, K normalize_rows(ROWS, d->x, true, 1e-5, d->y))
CALL(layer_norm_backward, K normalize_grad_rows(ROWS, d->cotangent, d->x, true, 1e-5, d->dx))
RECORD(layer_norm, tg_layer_norm(in[0], TG_NONE, TG_NONE, 1e-5))

CALL(rms_norm_forward, K normalize_rows(ROWS, d->x, false, 1e-5, d->y))
CALL(rms_norm_backward, K normalize_grad_rows(ROWS, d->cotangent, d->x, false, 1e-5, d->dx))
RECORD(rms_norm, tg_rms_norm(in[0], TG_NONE, 1e-5))

static double losses;
CALL(cross_entropy_forward, K cross_entropy_sum(ROWS, d->x, d->labels, 0, -1, 0, &losses, NULL))
CALL(cross_entropy_backward, K cross_entropy_sum(ROWS, d->x, d->labels, 0, -1, 1, &losses, d->dx))

static const uint32_t dropout_stream[4] = {4};
CALL(dropout_forward, K dropout(d->n, d->x, dropout_stream, 0.9, d->y))
CALL(dropout_backward, K dropout(d->n, d->cotangent, dropout_stream, 0.9, d->dx))

/* An update counts as forward. Its moments are in dx and dsecond. */
CALL(adamw_forward, K adamw(d->n, d->y, d->cotangent, d->dx, d->dsecond, 1, 1e-6, 0.9, 0.999, 1e-8, 0.01, 1, 1))

/* ---- the list ---- */

#define PLAIN(name)                                                 \
    {                                                               \
#name, name##_forward, NULL, name##_backward, name##_record \
    }
#define KEEPS_SLOPE(name)                                              \
    {                                                                  \
#name, name##_forward, name##_keep, times_slope, name##_record \
    }

static const kernel_work works[] = {
    {"copy", copy_forward, NULL, copy_backward, NULL},
    PLAIN(relu),
    PLAIN(leaky_relu),
    KEEPS_SLOPE(gelu_exact),
    KEEPS_SLOPE(gelu_tanh),
    KEEPS_SLOPE(gelu_quick),
    KEEPS_SLOPE(silu),
    KEEPS_SLOPE(softplus),
    KEEPS_SLOPE(mish),
    KEEPS_SLOPE(elu),
    PLAIN(selu),
    PLAIN(tanh),
    PLAIN(sigmoid),
    PLAIN(erf),
    PLAIN(exp),
    PLAIN(log),
    PLAIN(glu),
    PLAIN(reglu),
    PLAIN(geglu),
    PLAIN(swiglu),
    PLAIN(softmax),
    PLAIN(log_softmax),
    PLAIN(layer_norm),
    PLAIN(rms_norm),
    {"cross_entropy", cross_entropy_forward, NULL, cross_entropy_backward, NULL},
    {"dropout", dropout_forward, NULL, dropout_backward, NULL},
    {"adamw", adamw_forward, NULL, NULL, NULL},
};

const kernel_work *kernel_work_at(int index)
{
    return index >= 0 && index < (int)(sizeof works / sizeof works[0]) ? &works[index] : NULL;
}

const kernel_work *kernel_work_find(const char *name)
{
    for (int i = 0; kernel_work_at(i); i++)
        if (strcmp(works[i].name, name) == 0)
            return &works[i];
    return NULL;
}
