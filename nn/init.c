#include "nn/init.h"

#include "autograd/base/names.h"

#include <math.h>
#include <stdlib.h>

/* A weight as a matrix with one row per output. */
typedef struct matrix {
    tg_parameter *parameter;
    int64_t rows, columns;
    bool first; /* the first of its set: it reads the model's input */
} matrix;

/* ---- deviation or length of a weight ---- */

static double as_given(const matrix *m, double gain)
{
    (void)m;
    return gain;
}

static double by_fan_in(const matrix *m, double gain)
{
    return gain / sqrt((double)m->columns);
}

/* Scaled by (fan_in + fan_out) / 2. */
static double by_fan_average(const matrix *m, double gain)
{
    const double fan_in = (double)m->columns, fan_out = (double)m->rows * fan_in / (double)m->parameter->shape.dim[1];
    return gain / sqrt((fan_in + fan_out) / 2);
}

/* With the gain sqrt(2) that is U(-30 / fan_in, 30 / fan_in) in the first layer, so that sin(W x) spans several periods
 * over [-1, 1], and U(-sqrt(6 / fan_in), sqrt(6 / fan_in)) in later ones, which keeps the variance near 1. */
static double by_siren(const matrix *m, double gain)
{
    return m->first ? gain * 30 / (sqrt(6) * (double)m->columns) : by_fan_in(m, gain);
}

/* ---- drawing ---- */

static bool normal(const matrix *m, double deviation, tg_rng *rng)
{
    tg_parameter_fill_normal(m->parameter, deviation, rng);
    return true;
}

static bool uniform(const matrix *m, double deviation, tg_rng *rng)
{
    const double bound = sqrt(3) * deviation;
    for (int64_t i = 0; i < m->rows * m->columns; i++)
        tg_parameter_put(m->parameter, i, bound * (2 * tg_rng_uniform(rng) - 1));
    return true;
}

/* Draws every row twice: once for its length, once to write it. */
static bool unit_rows(const matrix *m, double length, tg_rng *rng)
{
    for (int64_t row = 0; row < m->rows; row++) {
        tg_rng again = *rng;
        double squares = 0;
        for (int64_t column = 0; column < m->columns; column++) {
            double z = tg_rng_normal(rng);
            squares += z * z;
        }
        for (int64_t column = 0; column < m->columns; column++)
            tg_parameter_put(m->parameter, row * m->columns + column, length / sqrt(squares) * tg_rng_normal(&again));
    }
    return true;
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
static bool orthogonal(const matrix *m, double length, tg_rng *rng)
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
            tg_parameter_put(m->parameter, row * m->columns + column,
                             length * (wide ? vectors[row * size + column] : vectors[column * size + row]));
    free(vectors);
    return true;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    double gain; /* 0: the gain of the activation */
    bool (*draw)(const matrix *m, double deviation, tg_rng *rng);
    double (*deviation)(const matrix *m, double gain);
} table[] = {
#define TG_INITIALIZER(constant, name, gain, draw, deviation, distribution) [constant] = {#name, gain, draw, deviation},
#include "nn/initializers.def"
#undef TG_INITIALIZER
};
enum { KINDS = sizeof table / sizeof table[0] };

TG_NAMES(init, tg_init, KINDS, table[i].name)

double tg_init_gain(tg_init init, tg_activation activation)
{
    if ((unsigned)init >= KINDS)
        return 1;
    return table[init].gain != 0 ? table[init].gain : tg_activation_gain(activation);
}

static bool fill(tg_parameter *parameter, bool first, tg_init init, double gain, const tg_rng *rng)
{
    const int64_t size = parameter ? tg_shape_size(&parameter->shape) : 0;
    if (!parameter || parameter->shape.rank < 2 || (size > 0 && !parameter->data))
        return false;
    if ((unsigned)init >= KINDS || !(gain > 0 && isfinite(gain)))
        return false;
    if (size == 0)
        return true;
    const matrix m = {parameter, parameter->shape.dim[0], size / parameter->shape.dim[0], first};
    tg_rng own = tg_rng_stream(rng, parameter->name);
    return table[init].draw(&m, table[init].deviation(&m, gain), &own);
}

bool tg_initialize(tg_parameter *parameter, tg_init init, double gain, const tg_rng *rng)
{
    return fill(parameter, false, init, gain, rng);
}

/* ---- of a set ---- */

void tg_parameter_initial(tg_parameter *parameter, tg_initial initial)
{
    if (parameter)
        parameter->initial = initial;
}

/* `first`: no earlier parameter is drawn by the rule; updated by the call. */
static bool begin(tg_parameter *p, bool *first, tg_init init, double scale, const tg_rng *rng)
{
    const double divisor = (p->initial.sums ? sqrt(p->initial.sums) : 1) / (p->initial.scale ? p->initial.scale : 1);
    if (p->initial.deviation != 0) {
        tg_rng own = tg_rng_stream(rng, p->name);
        tg_parameter_fill_normal(p, p->initial.deviation / divisor, &own);
        return true;
    }
    if (p->shape.rank < 2 && p->initial.own != 0)
        tg_parameter_fill(p, init == TG_INIT_DEFAULT ? p->initial.own : 0);
    if (p->initial.gain == 0)
        return true;
    const double own = init == TG_INIT_DEFAULT && p->initial.own != 0 ? p->initial.own : p->initial.gain,
                 gain = table[init].gain != 0 ? table[init].gain : own;
    const bool is_first = *first;
    *first = false;
    return fill(p, is_first, init, scale * gain / divisor, rng);
}

bool tg_parameters_initialize(tg_parameters *set, tg_init init, double scale, const tg_rng *rng)
{
    bool first = true, fine = !tg_parameters_error(set) && (unsigned)init < KINDS && scale >= 0 && isfinite(scale);
    for (int i = 0; fine && i < tg_parameters_count(set); i++)
        fine = begin(tg_parameters_at(set, i), &first, init, scale == 0 ? 1 : scale, rng);
    return fine;
}
