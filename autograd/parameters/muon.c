/* Muon: momentum, orthogonalised. */
#include "autograd/update.h"

#include "autograd/kernels/product.h"

#include <math.h>

enum { ITERATIONS = 5 };

static int64_t rows_of(const tg_shape *shape)
{
    return shape && shape->rank > 0 ? shape->dim[0] : 1;
}

static int64_t columns_of(const tg_shape *shape)
{
    return rows_of(shape) > 0 ? tg_shape_size(shape) / rows_of(shape) : 0;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t tg_update_muon_scratch(const tg_shape *shape)
{
    const int64_t side = smaller(rows_of(shape), columns_of(shape));
    return side < 2 ? 0 : 2 * tg_shape_size(shape) + 2 * side * side;
}

/* The matrix and the memory of one step: x and its copy of rows * columns numbers, gram and its square of side * side,
 * one after the other. */
typedef struct matrix {
    tg_dtype dtype;
    int64_t rows, columns, side;
    void *x, *y, *gram, *square;
} matrix;

static matrix matrix_in(const tg_update *u)
{
    matrix m = {
        .dtype = u->dtype, .rows = rows_of(&u->whole->shape), .columns = columns_of(&u->whole->shape), .x = u->scratch};
    const size_t element = tg_dtype_size(u->dtype);
    m.side = smaller(m.rows, m.columns);
    m.y = (char *)m.x + u->n * element;
    m.gram = (char *)m.y + u->n * element;
    m.square = (char *)m.gram + (size_t)(m.side * m.side) * element;
    return m;
}

/* a = by_a a + by_b b */
#define COMBINE(real)                                     \
    {                                                     \
        real *x = a;                                      \
        const real *y = b;                                \
        for (int64_t i = 0; i < n; i++)                   \
            x[i] = (real)by_a * x[i] + (real)by_b * y[i]; \
    }

static void combine(tg_dtype dtype, int64_t n, double by_a, void *a, double by_b, const void *b)
{
    if (dtype == TG_F32)
        COMBINE(float)
    else
        COMBINE(double)
}

/* m = beta m + (1 - beta) g, and Nesterov's step x = beta m + (1 - beta) g, of length 1. The sum of the squares is one
 * of doubles, from the first to the last. */
#define MOMENTUM(real)                                                                                  \
    {                                                                                                   \
        const real scale = (real)u->gradient_scale, beta = (real)momentum, rest = (real)(1 - momentum); \
        const real *gradient = u->gradient;                                                             \
        real *m = u->state[0], *x = u->scratch;                                                         \
        double sum = 0;                                                                                 \
        for (size_t i = 0; i < u->n; i++) {                                                             \
            const real g = scale * gradient[i];                                                         \
            m[i] = beta * m[i] + rest * g;                                                              \
            x[i] = beta * m[i] + rest * g;                                                              \
            sum += (double)x[i] * (double)x[i];                                                         \
        }                                                                                               \
        const double length = fmax(sqrt(sum), 1e-7);                                                    \
        for (size_t i = 0; i < u->n; i++)                                                               \
            x[i] = (real)((double)x[i] / length);                                                       \
    }

static void begin_with_momentum(const tg_update *u, double momentum)
{
    if (u->dtype == TG_F32)
        MOMENTUM(float)
    else
        MOMENTUM(double)
}

/* x = 3.4445 x - 4.7750 (x x^T) x + 2.0315 (x x^T)^2 x: moves every singular value towards 1. Where columns are fewer,
 * the same with x^T x on the other side. */
static void newton_schulz(const matrix *m)
{
    const bool tall = m->rows > m->columns;
    const int64_t length = tall ? m->rows : m->columns, side = m->side;
    tg_multiply(m->dtype, &(tg_product){.transpose_a = tall, .transpose_b = !tall, .m = side, .n = side, .k = length},
                m->x, m->x, NULL, m->gram);
    tg_multiply(m->dtype, &(tg_product){.m = side, .n = side, .k = side}, m->gram, m->gram, NULL, m->square);
    combine(m->dtype, side * side, -4.7750, m->gram, 2.0315, m->square);
    tg_multiply(m->dtype, &(tg_product){.m = m->rows, .n = m->columns, .k = side}, tall ? m->x : m->gram,
                tall ? m->gram : m->x, NULL, m->y);
    combine(m->dtype, m->rows * m->columns, 3.4445, m->x, 1, m->y);
}

void tg_update_muon(const tg_update *u)
{
    const tg_muon_settings *s = u->settings;
    const matrix m = matrix_in(u);
    begin_with_momentum(u, s->momentum);
    for (int i = 0; i < ITERATIONS; i++)
        newton_schulz(&m);
    const double longer = (double)(m.rows > m.columns ? m.rows : m.columns);
    combine(u->dtype, (int64_t)u->n, 1 - u->rate * u->decay, u->parameter, -u->rate * 0.2 * sqrt(longer), m.x);
}
