#include "tests/bench/floor.h"

#include "autograd/kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct matrix {
    float *weight, *bias; /* [out, in], [out] */
    float *weight_gradient, *bias_gradient;
} matrix;

/* The data that a layer keeps for the backward pass, each [batch, out]. */
typedef struct layer {
    int in, out;
    matrix linear, value; /* value: the second matrix of a gated layer */
    float *output;        /* act(z), or the logits, which become their gradient */
    float *slope;         /* gelu_exact: act'(z); swiglu: z */
    float *factor;        /* swiglu: the value that the gate multiplies */
} layer;

struct floor_net {
    bench_shape shape;
    layer layers[BENCH_LAYERS];
    size_t size;
    float *parameters, *gradients, *first, *second; /* one block each; the moments */
    float *cotangent, *other, *factor_cotangent;    /* [batch, widest hidden] */
    float *totals;                                  /* [batch]: sums of the exponentials */
    double rate, beta1_power, beta2_power;
};

/* ---- memory ---- */

static float *numbers(size_t count)
{
    const size_t line = 64, size = (count * sizeof(float) + line - 1) / line * line;
    float *block = aligned_alloc(line, size ? size : line);
    if (block)
        memset(block, 0, size);
    return block;
}

static bool is_gated(const floor_net *net, int index)
{
    return net->shape.activation == TG_SWIGLU && index + 1 < net->shape.layers;
}

/* Takes a matrix and its bias from the blocks, starting at `at`; returns where the next one starts. */
static size_t place(const floor_net *net, matrix *m, int in, int out, size_t at)
{
    const size_t bias = at + (size_t)in * (size_t)out;
    *m = (matrix){net->parameters + at, net->parameters + bias, net->gradients + at, net->gradients + bias};
    return bias + (size_t)out;
}

static bool allocate(floor_net *net)
{
    const size_t batch = (size_t)net->shape.batch;
    size_t widest = 0;
    for (int i = 0; i < net->shape.layers; i++) {
        const size_t in = (size_t)net->shape.width[i], out = (size_t)net->shape.width[i + 1];
        net->size += (in + 1) * out * (is_gated(net, i) ? 2 : 1);
        widest = out > widest && i + 1 < net->shape.layers ? out : widest;
    }
    float **const blocks[] = {&net->parameters, &net->gradients,        &net->first, &net->second, &net->cotangent,
                              &net->other,      &net->factor_cotangent, &net->totals};
    const size_t sizes[] = {net->size,
                            net->size,
                            net->size,
                            net->size,
                            batch * widest,
                            batch * widest,
                            net->shape.activation == TG_SWIGLU ? batch * widest : 0,
                            batch};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (!(*blocks[i] = numbers(sizes[i])))
            return false;

    size_t at = 0;
    for (int i = 0; i < net->shape.layers; i++) {
        layer *l = &net->layers[i];
        l->in = net->shape.width[i];
        l->out = net->shape.width[i + 1];
        const bool hidden = i + 1 < net->shape.layers;
        at = place(net, &l->linear, l->in, l->out, at);
        if (is_gated(net, i))
            at = place(net, &l->value, l->in, l->out, at);
        const size_t size = batch * (size_t)l->out;
        if (!(l->output = numbers(size)) ||
            (hidden && net->shape.activation != TG_RELU && !(l->slope = numbers(size))) ||
            (is_gated(net, i) && !(l->factor = numbers(size))))
            return false;
    }
    return true;
}

floor_net *floor_new(const bench_shape *shape, double rate, const float *parameters)
{
    const bool known =
        shape->activation == TG_RELU || shape->activation == TG_GELU_EXACT || shape->activation == TG_SWIGLU;
    floor_net *net = known ? calloc(1, sizeof *net) : NULL;
    if (!net)
        return NULL;
    net->shape = *shape;
    net->rate = rate;
    net->beta1_power = net->beta2_power = 1;
    if (!allocate(net)) {
        floor_free(net);
        return NULL;
    }
    memcpy(net->parameters, parameters, net->size * sizeof *parameters);
    return net;
}

void floor_free(floor_net *net)
{
    if (!net)
        return;
    for (int i = 0; i < net->shape.layers; i++) {
        free(net->layers[i].output);
        free(net->layers[i].slope);
        free(net->layers[i].factor);
    }
    float *const blocks[] = {net->parameters, net->gradients,        net->first, net->second, net->cotangent,
                             net->other,      net->factor_cotangent, net->totals};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        free(blocks[i]);
    free(net);
}

const float *floor_parameters(const floor_net *net)
{
    return net->parameters;
}

size_t floor_size(const floor_net *net)
{
    return net->size;
}

/* ---- products: c [m, n] += a b, added to the content of c ---- */

static void multiply(CBLAS_TRANSPOSE order_a, CBLAS_TRANSPOSE order_b, int m, int n, int k, const float *a,
                     const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, order_a, order_b, m, n, k, 1, a, order_a == CblasTrans ? m : k, b,
                order_b == CblasTrans ? k : n, 1, c, n);
}

/* z = x W^T + b. The bias is written first, as OpenBLAS would otherwise fill z with zeros. */
static void product_forward(const floor_net *net, const layer *l, const matrix *m, const float *x, float *restrict z)
{
    for (int row = 0; row < net->shape.batch; row++)
        memcpy(z + (size_t)row * (size_t)l->out, m->bias, (size_t)l->out * sizeof *z);
    multiply(CblasNoTrans, CblasTrans, net->shape.batch, l->out, l->in, x, m->weight, z);
}

/* dW = dz^T x */
static void product_weight(const floor_net *net, const layer *l, const matrix *m, const float *x, const float *dz)
{
    memset(m->weight_gradient, 0, (size_t)l->in * (size_t)l->out * sizeof(float));
    multiply(CblasTrans, CblasNoTrans, l->out, l->in, net->shape.batch, dz, x, m->weight_gradient);
}

/* dx = dz W, or dx += dz W */
static void product_input(const floor_net *net, const layer *l, const matrix *m, const float *dz, bool more, float *dx)
{
    if (!more)
        memset(dx, 0, (size_t)net->shape.batch * (size_t)l->in * sizeof *dx);
    multiply(CblasNoTrans, CblasNoTrans, net->shape.batch, l->in, l->out, dz, m->weight, dx);
}

/* ---- forward ---- */

static void activate(const floor_net *net, const layer *l)
{
    const size_t size = (size_t)net->shape.batch * (size_t)l->out;
    float *output = l->output;
    if (net->shape.activation == TG_SWIGLU)
        tg_kernels.of[TG_F32]->swiglu(size, l->slope, l->factor, output);
    else if (net->shape.activation == TG_GELU_EXACT)
        tg_kernels.of[TG_F32]->gelu_exact_with_grad(size, output, output, l->slope);
    else
        for (size_t i = 0; i < size; i++)
            output[i] = output[i] > 0 ? output[i] : 0;
}

/* Runs the whole pass, or only its products. */
static void forward(const floor_net *net, const float *inputs, bool whole)
{
    const float *x = inputs;
    for (int i = 0; i < net->shape.layers; i++) {
        const layer *l = &net->layers[i];
        product_forward(net, l, &l->linear, x, is_gated(net, i) ? l->slope : l->output);
        if (is_gated(net, i))
            product_forward(net, l, &l->value, x, l->factor);
        if (whole && i + 1 < net->shape.layers)
            activate(net, l);
        x = l->output;
    }
}

/* ---- loss: logits become their gradient, with the column sums and the sums of exponentials along with it ---- */

/* One row; returns the label's logit minus the largest one, whose subtraction prevents overflow of the exponentials. */
static float wide_row(int n, float share, int label, float *restrict z, float *restrict bias_gradient, float *total)
{
    float largest = -INFINITY, sum = 0;
#pragma omp simd reduction(max : largest)
    for (int j = 0; j < n; j++)
        largest = z[j] > largest ? z[j] : largest;
    for (int j = 0; j < n; j++)
        z[j] -= largest;
    const float at_label = z[label];
    tg_kernels.of[TG_F32]->exp((size_t)n, z, z);
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; j++)
        sum += z[j];
    *total = sum;
    z[label] -= sum;
    for (int j = 0; j < n; j++) {
        z[j] *= share / sum;
        bias_gradient[j] += z[j];
    }
    return at_label;
}

/* A row of few columns does not fill a vector, so several rows are processed side by side: turned[j][row]. */
enum { NARROW = 32, ABREAST = 16 };

/* Up to ABREAST rows; returns the sum of their labels' logits less each row's largest. */
static float narrow_rows(int rows, int n, float share, const int32_t *labels, float *z, float *bias_gradient,
                         float *totals)
{
    float turned[NARROW][ABREAST] = {{0}}, largest[ABREAST], total[ABREAST] = {0}, at_labels = 0;
    for (int row = 0; row < rows; row++)
        for (int j = 0; j < n; j++)
            turned[j][row] = z[row * n + j];
    for (int row = 0; row < ABREAST; row++)
        largest[row] = -INFINITY;
    for (int j = 0; j < n; j++)
        for (int row = 0; row < ABREAST; row++)
            largest[row] = turned[j][row] > largest[row] ? turned[j][row] : largest[row];
    for (int j = 0; j < n; j++)
        for (int row = 0; row < ABREAST; row++)
            turned[j][row] -= largest[row];
    for (int row = 0; row < rows; row++)
        at_labels += turned[labels[row]][row];
    tg_kernels.of[TG_F32]->exp((size_t)n * ABREAST, turned[0], turned[0]);
    for (int j = 0; j < n; j++)
        for (int row = 0; row < ABREAST; row++)
            total[row] += turned[j][row];
    for (int row = 0; row < rows; row++) {
        totals[row] = total[row];
        turned[labels[row]][row] -= total[row];
    }
    for (int row = 0; row < rows; row++)
        total[row] = share / total[row];
    for (int row = 0; row < rows; row++)
        for (int j = 0; j < n; j++) {
            z[row * n + j] = turned[j][row] * total[row];
            bias_gradient[j] += z[row * n + j];
        }
    return at_labels;
}

static double loss_and_gradient(const floor_net *net, const int32_t *labels)
{
    const layer *l = &net->layers[net->shape.layers - 1];
    const int n = l->out, batch = net->shape.batch;
    const float share = 1 / (float)batch;
    float *z = l->output, *bias_gradient = l->linear.bias_gradient;
    double loss = 0;
    memset(bias_gradient, 0, (size_t)n * sizeof *bias_gradient);
    if (n <= NARROW)
        for (int row = 0; row < batch; row += ABREAST)
            loss -= (double)narrow_rows(batch - row < ABREAST ? batch - row : ABREAST, n, share, labels + row,
                                        z + row * n, bias_gradient, net->totals + row);
    else
        for (int row = 0; row < batch; row++)
            loss -=
                (double)wide_row(n, share, labels[row], z + (size_t)row * (size_t)n, bias_gradient, net->totals + row);
    tg_kernels.of[TG_F32]->log((size_t)batch, net->totals, net->totals);
    for (int row = 0; row < batch; row++)
        loss += (double)net->totals[row];
    return loss / batch;
}

/* ---- backward ---- */

/* dz = dh where the unit is active. */
static void relu_backward(int n, const float *restrict h, float *restrict g, float *restrict bias_gradient)
{
    for (int j = 0; j < n; j++) {
        g[j] = h[j] > 0 ? g[j] : 0;
        bias_gradient[j] += g[j];
    }
}

static void slope_backward(int n, const float *restrict slope, float *restrict g, float *restrict bias_gradient)
{
    for (int j = 0; j < n; j++) {
        g[j] *= slope[j];
        bias_gradient[j] += g[j];
    }
}

/* The number of rows for which one pass touches about half of the L1 cache. */
static int rows_at_once(int columns)
{
    return columns < 1024 ? 1024 / columns : 1;
}

static void swiglu_backward(int rows, int n, const float *gate, const float *factor, float *g, float *factor_cotangent,
                            float *restrict bias_gradient, float *restrict factor_bias_gradient)
{
    tg_kernels.of[TG_F32]->swiglu_grad((size_t)rows * (size_t)n, gate, factor, g, g, factor_cotangent);
    for (int row = 0; row < rows; row++)
        for (int j = 0; j < n; j++) {
            bias_gradient[j] += g[row * n + j];
            factor_bias_gradient[j] += factor_cotangent[row * n + j];
        }
}

/* Computes dz from dh in g [batch, out], in place, and the bias gradients. */
static void activate_backward(const floor_net *net, const layer *l, float *g)
{
    const int n = l->out, batch = net->shape.batch, block = rows_at_once(n);
    const size_t size = (size_t)batch * (size_t)n;
    memset(l->linear.bias_gradient, 0, (size_t)n * sizeof(float));
    if (net->shape.activation == TG_SWIGLU) {
        memset(l->value.bias_gradient, 0, (size_t)n * sizeof(float));
        for (int row = 0; row < batch; row += block)
            swiglu_backward(batch - row < block ? batch - row : block, n, l->slope + row * n, l->factor + row * n,
                            g + row * n, net->factor_cotangent + row * n, l->linear.bias_gradient,
                            l->value.bias_gradient);
        return;
    }
    for (size_t at = 0; at < size; at += (size_t)n)
        if (net->shape.activation == TG_RELU)
            relu_backward(n, l->output + at, g + at, l->linear.bias_gradient);
        else
            slope_backward(n, l->slope + at, g + at, l->linear.bias_gradient);
}

static void backward(const floor_net *net, const float *inputs, bool whole)
{
    float *dz = net->layers[net->shape.layers - 1].output;
    for (int i = net->shape.layers - 1; i >= 0; i--) {
        const layer *l = &net->layers[i];
        const float *x = i > 0 ? net->layers[i - 1].output : inputs;
        if (whole && i + 1 < net->shape.layers)
            activate_backward(net, l, dz);
        product_weight(net, l, &l->linear, x, dz);
        if (is_gated(net, i))
            product_weight(net, l, &l->value, x, net->factor_cotangent);
        if (i == 0)
            continue;
        float *dx = dz == net->cotangent ? net->other : net->cotangent;
        product_input(net, l, &l->linear, dz, false, dx);
        if (is_gated(net, i))
            product_input(net, l, &l->value, net->factor_cotangent, true, dx);
        dz = dx;
    }
}

/* ---- AdamW ---- */

static void adamw(size_t n, float rate, float root, const float *restrict g, float *restrict p, float *restrict m,
                  float *restrict v)
{
    for (size_t i = 0; i < n; i++) {
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
        p[i] -= rate * m[i] / (sqrtf(v[i]) * root + 1e-8f);
    }
}

static void update(floor_net *net)
{
    net->beta1_power *= 0.9;
    net->beta2_power *= 0.999;
    const double rate = net->rate / (1 - net->beta1_power), root = 1 / sqrt(1 - net->beta2_power);
    adamw(net->size, (float)rate, (float)root, net->gradients, net->parameters, net->first, net->second);
}

double floor_step(floor_net *net, const float *inputs, const int32_t *labels)
{
    forward(net, inputs, true);
    double loss = loss_and_gradient(net, labels);
    backward(net, inputs, true);
    update(net);
    return loss;
}

void floor_products(floor_net *net, const float *inputs)
{
    forward(net, inputs, false);
    backward(net, inputs, false);
}
