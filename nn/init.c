#include "nn/init.h"

#include "autograd/kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [TG_INIT_FITTED] = "fitted",
    [TG_INIT_HE_NORMAL] = "he_normal",
    [TG_INIT_HE_UNIFORM] = "he_uniform",
    [TG_INIT_XAVIER_NORMAL] = "xavier_normal",
    [TG_INIT_XAVIER_UNIFORM] = "xavier_uniform",
    [TG_INIT_UNIT_ROWS] = "unit_rows",
    [TG_INIT_ORTHOGONAL] = "orthogonal",
};
enum { KINDS = sizeof names / sizeof names[0] };

const char *tg_init_name(tg_init init)
{
    return (unsigned)init < KINDS ? names[init] : NULL;
}

bool tg_init_from_name(const char *name, tg_init *init)
{
    for (int i = 0; name && init && i < KINDS; i++)
        if (strcmp(names[i], name) == 0) {
            *init = (tg_init)i;
            return true;
        }
    return false;
}

double tg_init_gain(tg_init init, tg_activation activation)
{
    switch (init) {
    case TG_INIT_FITTED:
    case TG_INIT_ORTHOGONAL:
        return tg_activation_gain(activation);
    case TG_INIT_HE_NORMAL:
    case TG_INIT_HE_UNIFORM:
        return 1.4142135623730951;
    default:
        return 1;
    }
}

/* A weight as a matrix: what one output sees is a row. */
typedef struct matrix {
    tg_parameter *parameter;
    int64_t rows, columns;
} matrix;

static void set_element(const matrix *m, int64_t index, double value)
{
    if (m->parameter->dtype == TG_F32)
        ((float *)m->parameter->data)[index] = (float)value;
    else
        ((double *)m->parameter->data)[index] = value;
}

static void fill_normal(const matrix *m, double deviation, tg_rng *rng)
{
    uint32_t stream[4];
    tg_rng_draw_stream(rng, stream);
    TG_KERNEL_CALL(m->parameter->dtype, normal_fill, (size_t)(m->rows * m->columns), stream, 0, deviation,
                   m->parameter->data);
}

static void fill_uniform(const matrix *m, double deviation, tg_rng *rng)
{
    double bound = sqrt(3) * deviation;
    for (int64_t i = 0; i < m->rows * m->columns; i++)
        set_element(m, i, bound * (2 * tg_rng_uniform(rng) - 1));
}

/* Draws every row twice: once for its length, once to write it. */
static void fill_unit_rows(const matrix *m, double length, tg_rng *rng)
{
    for (int64_t row = 0; row < m->rows; row++) {
        tg_rng again = *rng;
        double squares = 0;
        for (int64_t column = 0; column < m->columns; column++) {
            double z = tg_rng_normal(rng);
            squares += z * z;
        }
        for (int64_t column = 0; column < m->columns; column++)
            set_element(m, row * m->columns + column, length / sqrt(squares) * tg_rng_normal(&again));
    }
}

/* ---- orthogonal ---- */

static double dot(const double *a, const double *b, int64_t n)
{
    double sum[4] = {0}; /* four chains of additions run faster than one */
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* Makes vector number `index` a unit vector orthogonal to those before it. Gram and Schmidt's method loses
 * orthogonality when much cancels; a second round restores it to rounding. */
static void orthogonalize(double *vectors, int64_t index, int64_t length)
{
    double *v = vectors + index * length;
    for (int round = 0; round < 2; round++) {
        for (int64_t before = 0; before < index; before++) {
            const double *u = vectors + before * length;
            double along = dot(u, v, length);
            for (int64_t i = 0; i < length; i++)
                v[i] -= along * u[i];
        }
        double norm = sqrt(dot(v, v, length));
        for (int64_t i = 0; i < length; i++)
            v[i] /= norm;
    }
}

/* The Q of a normal matrix's QR decomposition with a positive diagonal in R is uniform over all orthogonal
 * matrices (Mezzadri, Notices of the AMS 54, 2007). The shorter side's vectors are made orthogonal. */
static bool fill_orthogonal(const matrix *m, double length, tg_rng *rng)
{
    bool wide = m->rows <= m->columns;
    int64_t count = wide ? m->rows : m->columns, size = wide ? m->columns : m->rows;
    if (count == 0)
        return true;
    double *vectors = calloc((size_t)count, (size_t)size * sizeof *vectors);
    if (!vectors)
        return false;
    for (int64_t i = 0; i < count * size; i++)
        vectors[i] = tg_rng_normal(rng);
    for (int64_t i = 0; i < count; i++)
        orthogonalize(vectors, i, size);
    for (int64_t row = 0; row < m->rows; row++)
        for (int64_t column = 0; column < m->columns; column++)
            set_element(m, row * m->columns + column,
                        length * (wide ? vectors[row * size + column] : vectors[column * size + row]));
    free(vectors);
    return true;
}

bool tg_initialize(tg_parameter *parameter, tg_init init, double gain, const tg_rng *rng)
{
    int64_t size = parameter ? tg_shape_size(&parameter->shape) : 0;
    if (!parameter || parameter->shape.rank < 2 || (size > 0 && !parameter->data))
        return false;
    if (size == 0)
        return true;
    const matrix m = {parameter, parameter->shape.dim[0], size / parameter->shape.dim[0]};
    double fan_in = (double)m.columns, fan_out = (double)(size / parameter->shape.dim[1]);
    double he = gain / sqrt(fan_in), xavier = gain * sqrt(2 / (fan_in + fan_out));
    tg_rng own = tg_rng_stream(rng, parameter->name);
    switch (init) {
    case TG_INIT_FITTED:
    case TG_INIT_HE_NORMAL:
        fill_normal(&m, he, &own);
        return true;
    case TG_INIT_HE_UNIFORM:
        fill_uniform(&m, he, &own);
        return true;
    case TG_INIT_XAVIER_NORMAL:
        fill_normal(&m, xavier, &own);
        return true;
    case TG_INIT_XAVIER_UNIFORM:
        fill_uniform(&m, xavier, &own);
        return true;
    case TG_INIT_UNIT_ROWS:
        fill_unit_rows(&m, gain, &own);
        return true;
    case TG_INIT_ORTHOGONAL:
        return fill_orthogonal(&m, gain, &own);
    }
    return false;
}
