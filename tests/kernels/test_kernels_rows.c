/* Kernels over the rows of a matrix, of every length that is handled in a different way, against loops in double
 * precision. */
#include "autograd/kernels/kernels.h"
#include "autograd/rng.h"
#include "tests/support/guarded_memory.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *kernels_rows_suite(void);

/* Less than a vector, vectors and a remainder, the narrow and the wide case of cross-entropy, sizes around that of the
 * scratch memory, and more. */
static const struct shape {
    size_t rows, columns;
} shapes[] = {{1, 1},  {3, 2},  {70, 10},  {7, 16},  {65, 19}, {5, 32},  {9, 33},
              {4, 64}, {6, 77}, {130, 96}, {3, 511}, {2, 512}, {2, 513}, {2, 1301}};
enum { SHAPES = sizeof shapes / sizeof shapes[0], MOST = 130 * 96 };

static float x[MOST], g[MOST], y[MOST], of_row[MOST];
static const double epsilon = 1e-5;

static void fill(size_t cells)
{
    tg_rng rng = tg_rng_seed(cells);
    for (size_t i = 0; i < cells; i++) {
        x[i] = (float)(3 * tg_rng_normal(&rng));
        g[i] = (float)tg_rng_normal(&rng);
    }
}

static void close_to(const char *what, const struct shape *s, double found, double expected)
{
    ck_assert_msg(fabs(found - expected) <= 1e-6 * (1 + fabs(expected)), "%s of %zu x %zu: %.9g, not %.9g", what,
                  s->rows, s->columns, found, expected);
}

/* The logarithm of the sum of the exponentials of a row. */
static double log_total(const float *row, size_t columns)
{
    double sum = 0;
    for (size_t j = 0; j < columns; j++)
        sum += exp((double)row[j]);
    return log(sum);
}

static double sum_of_products(const float *a, const float *b, size_t columns)
{
    double sum = 0;
    for (size_t j = 0; j < columns; j++)
        sum += (double)a[j] * (b ? (double)b[j] : 1);
    return sum;
}

/* Runs the statement for each set of kernels that runs here, as `k`, and each shape, as `s`. */
#define FOR_EACH_CASE(k, s)                                                                    \
    for (int number = 0; tg_kernel_set_at(number); number++)                                   \
        if (tg_kernel_set_runs(tg_kernel_set_at(number)))                                      \
            for (const tg_kernel_table *k = tg_kernel_set_at(number)->of[TG_F32]; k; k = NULL) \
                for (const struct shape *s = shapes; s < shapes + SHAPES; s++)

START_TEST(softmax_and_its_kin)
{
    FOR_EACH_CASE(k, s)
    {
        const size_t n = s->columns;
        fill(s->rows * n);
        k->softmax_rows(s->rows, n, x, y);
        for (size_t i = 0; i < s->rows * n; i++)
            close_to("softmax", s, (double)y[i], exp((double)x[i] - log_total(x + i / n * n, n)));
        k->logsumexp_rows(s->rows, n, x, of_row);
        for (size_t row = 0; row < s->rows; row++)
            close_to("logsumexp", s, (double)of_row[row], log_total(x + row * n, n));
        k->softmax_grad_rows(s->rows, n, g, x, y);
        for (size_t i = 0; i < s->rows * n; i++)
            close_to("softmax gradient", s, (double)y[i],
                     (double)x[i] * ((double)g[i] - sum_of_products(g + i / n * n, x + i / n * n, n)));
        memcpy(y, x, sizeof y); /* in place */
        k->log_softmax_rows(s->rows, n, y, y);
        for (size_t i = 0; i < s->rows * n; i++)
            close_to("log_softmax", s, (double)y[i], (double)x[i] - log_total(x + i / n * n, n));
        k->log_softmax_grad_rows(s->rows, n, g, x, y);
        for (size_t i = 0; i < s->rows * n; i++)
            close_to("log_softmax gradient", s, (double)y[i],
                     (double)g[i] - exp((double)x[i]) * sum_of_products(g + i / n * n, NULL, n));
    }
}
END_TEST

START_TEST(a_nan_makes_nan_of_its_row_alone)
{
    FOR_EACH_CASE(k, s)
    {
        const size_t n = s->columns;
        fill(s->rows * n);
        x[n / 2] = NAN;
        k->softmax_rows(s->rows, n, x, y);
        k->logsumexp_rows(s->rows, n, x, of_row);
        for (size_t i = 0; i < s->rows * n; i++)
            ck_assert_msg(isnan(y[i]) == (i < n), "softmax of %zu x %zu at %zu", s->rows, n, i);
        k->log_softmax_rows(s->rows, n, x, y);
        for (size_t i = 0; i < s->rows * n; i++)
            ck_assert_msg(isnan(y[i]) == (i < n), "log_softmax of %zu x %zu at %zu", s->rows, n, i);
        for (size_t row = 0; row < s->rows; row++)
            ck_assert(isnan(of_row[row]) == (row == 0));
    }
}
END_TEST

START_TEST(cross_entropy_with_its_gradient)
{
    enum { IGNORED = 7 };
    const double smoothing = 0.1, weight = 0.5;
    static int32_t labels[MOST];
    FOR_EACH_CASE(k, s)
    {
        const size_t n = s->columns;
        fill(s->rows * n);
        for (size_t row = 0; row < s->rows; row++)
            labels[row] = row % 5 == 4 ? IGNORED : (int32_t)(row * 31 % n);
        double all, without_gradient, alone, sum = 0;
        k->cross_entropy_sum(s->rows, n, x, labels, smoothing, IGNORED, 0, &without_gradient, NULL);
        k->cross_entropy_sum(s->rows, n, x, labels, smoothing, IGNORED, weight, &all, y);
        for (size_t row = 0; row < s->rows; row++) {
            const float *logits = x + row * n;
            double total = log_total(logits, n), loss = 0;
            for (size_t j = 0; j < n; j++) {
                const double log_share = (double)logits[j] - total;
                const double target = smoothing / (double)n + ((int32_t)j == labels[row] ? 1 - smoothing : 0);
                loss -= target * log_share;
                close_to("gradient of cross-entropy", s, (double)y[row * n + j],
                         labels[row] == IGNORED ? 0 : weight * (exp(log_share) - target));
            }
            k->cross_entropy_sum(1, n, logits, labels + row, smoothing, IGNORED, 0, &alone, NULL);
            close_to("cross-entropy", s, alone, labels[row] == IGNORED ? 0 : loss);
            sum += alone;
        }
        close_to("sum of cross-entropies", s, all, sum);
        ck_assert_double_eq(all, without_gradient);
    }
}
END_TEST

START_TEST(norms_with_their_gradient)
{
    FOR_EACH_CASE(k, s)
    for (int centred = 0; centred < 2; centred++) {
        const size_t n = s->columns;
        static float slope[MOST];
        fill(s->rows * n);
        for (size_t i = 0; i < s->rows * n; i++)
            x[i] += 100; /* far more than the deviations */
        k->normalize_rows(s->rows, n, x, centred, epsilon, y);
        k->normalize_grad_rows(s->rows, n, g, x, centred, epsilon, slope);
        for (size_t row = 0; row < s->rows; row++) {
            const float *u = x + row * n, *v = g + row * n;
            const double mean = centred ? sum_of_products(u, NULL, n) / (double)n : 0;
            const double mean_g = centred ? sum_of_products(v, NULL, n) / (double)n : 0;
            double squares = 0, product = 0;
            for (size_t j = 0; j < n; j++) {
                squares += ((double)u[j] - mean) * ((double)u[j] - mean);
                product += ((double)v[j] - mean_g) * ((double)u[j] - mean);
            }
            const double inverse = 1 / sqrt(squares / (double)n + epsilon);
            for (size_t j = 0; j < n; j++) {
                const double deviation = (double)u[j] - mean, change = (double)v[j] - mean_g;
                close_to("normalised", s, (double)y[row * n + j], deviation * inverse);
                close_to("gradient of the norm", s, (double)slope[row * n + j],
                         inverse * (change - deviation * inverse * inverse * product / (double)n));
            }
        }
    }
}
END_TEST

/* Keys and queries, and the position of the first query among the keys. */
static const struct scores {
    size_t keys, queries, first;
} scores[] = {{1, 1, 0}, {7, 5, 2}, {7, 5, 7}, {32, 32, 0}, {70, 32, 38}, {70, 32, 70}, {19, 17, 2}, {40, 31, 40}};

START_TEST(attention_with_its_gradient)
{
    const double scale = 0.25;
    for (int number = 0; tg_kernel_set_at(number); number++) {
        if (!tg_kernel_set_runs(tg_kernel_set_at(number)))
            continue;
        const tg_kernel_table *k = tg_kernel_set_at(number)->of[TG_F32];
        for (const struct scores *c = scores; c < scores + sizeof scores / sizeof *scores; c++) {
            const struct shape s = {c->keys, c->queries};
            const size_t n = c->queries;
            fill(c->keys * n);
            memcpy(y, x, sizeof y);
            k->attention_weights(c->keys, n, c->first, scale, y);
            memcpy(of_row, g, sizeof of_row);
            k->attention_weights_grad(c->keys, n, y, scale, of_row);
            for (size_t i = 0; i < n; i++) {
                const size_t seen = c->first + i + 1 < c->keys ? c->first + i + 1 : c->keys;
                double total = 0, mean = 0;
                for (size_t j = 0; j < seen; j++)
                    total += exp(scale * (double)x[j * n + i]);
                for (size_t j = 0; j < seen; j++)
                    mean += exp(scale * (double)x[j * n + i]) / total * (double)g[j * n + i];
                for (size_t j = 0; j < c->keys; j++) {
                    const double weight = j < seen ? exp(scale * (double)x[j * n + i]) / total : 0;
                    close_to("a weight", &s, (double)y[j * n + i], weight);
                    close_to("the gradient of a score", &s, (double)of_row[j * n + i],
                             scale * weight * ((double)g[j * n + i] - mean));
                }
            }
        }
    }
}
END_TEST

/* ---- windows ---- */

/* Where in the image the largest element of a window is that begins at `start`: the first of equal ones, the first NaN.
 */
static size_t largest_place(const tg_image_windows *c, const double *image, size_t start)
{
    size_t best = start;
    for (size_t i = 0; i < c->rows; i++)
        for (size_t j = 0; j < c->columns; j++) {
            const size_t at = start + i * c->row_step + j * c->column_step;
            if (image[at] > image[best] || (isnan(image[at]) && !isnan(image[best])))
                best = at;
        }
    return best;
}

enum { MOST_RESULTS = 200 };

/* Image and results end where no more memory may be touched; in a gap between lines of results nothing is written. */
static void assert_windows(const tg_image_windows *c, const tg_kernel_set *set, tg_dtype dtype,
                           guarded_memory memory[3], tg_rng *rng)
{
    static const double values[] = {0, -0.0, 1, 1, 2, -3, -INFINITY, -INFINITY, INFINITY, NAN};
    static double exact[4000], unset[MOST_RESULTS];
    static float narrow[4000];
    const size_t size = dtype == TG_F32 ? sizeof(float) : sizeof(double),
                 kinds = 2 + tg_rng_below(rng, sizeof values / sizeof *values - 1),
                 results = (c->down - 1) * c->line + c->across;
    ck_assert(c->size <= sizeof exact / sizeof *exact && results <= MOST_RESULTS);
    for (size_t i = 0; i < c->size; i++)
        narrow[i] = (float)(exact[i] = values[tg_rng_below(rng, kinds)]);
    memset(unset, 0x55, sizeof unset);
    const void *image =
        guarded_memory_put(&memory[0], dtype == TG_F32 ? (void *)narrow : exact, c->size * size, GUARDED_BEHIND);
    void *const result = guarded_memory_put(&memory[1], unset, results * size, GUARDED_BEHIND);
    int32_t *const places = guarded_memory_put(&memory[2], unset, results * sizeof *places, GUARDED_BEHIND);
    const bool no_values = tg_rng_below(rng, 4) == 0, no_places = !no_values && tg_rng_below(rng, 4) == 0;
    set->of[dtype]->max_windows(c, image, no_values ? NULL : result, no_places ? NULL : places);
    for (size_t i = 0; i < results; i++) {
        const size_t down = i / c->line, across = i % c->line;
        const char *number = (const char *)result + i * size;
        if (across >= c->across || no_values)
            ck_assert_mem_eq(number, unset, size);
        if (across >= c->across || no_places)
            ck_assert_mem_eq(places + i, unset, sizeof *places);
        if (across >= c->across)
            continue;
        const size_t place = largest_place(c, exact, c->first + down * c->down_step + across * c->across_step);
        const double found =
            dtype == TG_F32 ? (double)*(const float *)(const void *)number : *(const double *)(const void *)number;
        if (!no_places)
            ck_assert_uint_eq((size_t)places[i], place);
        if (!no_values)
            ck_assert_msg(isnan(exact[place]) ? isnan(found)
                                              : found == exact[place] && !signbit(found) == !signbit(exact[place]),
                          "window %zu of %zu, %s: %g, not %g", across, c->across, set->isa, found, exact[place]);
    }
}

/* Every number of windows up to 40, in one to four lines. */
START_TEST(the_largest_of_windows)
{
    static const struct {
        size_t step, rows, row_step, columns, column_step;
    } kinds[] = {{2, 2, 90, 2, 1},  {2, 1, 1, 2, 1}, {2, 3, 90, 3, 1}, {1, 3, 50, 3, 1},
                 {3, 2, 150, 2, 2}, {1, 1, 1, 1, 1}, {2, 2, 90, 2, 3}, {5, 3, 200, 4, 1}};
    tg_rng rng = tg_rng_seed(3);
    guarded_memory memory[3];
    for (int i = 0; i < 3; i++)
        guarded_memory_open(&memory[i], 4000 * sizeof(double));
    for (int number = 0; tg_kernel_set_at(number); number++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds && tg_kernel_set_runs(tg_kernel_set_at(number));
             kind++)
            for (size_t windows = 1; windows <= 40; windows++)
                for (int draw = 0; draw < 8; draw++) {
                    tg_image_windows c = {.down = 1 + tg_rng_below(&rng, 4),
                                          .across = windows,
                                          .rows = kinds[kind].rows,
                                          .columns = kinds[kind].columns,
                                          .first = tg_rng_below(&rng, 3),
                                          .down_step = tg_rng_below(&rng, 2) ? 400 : 1 + tg_rng_below(&rng, 30),
                                          .across_step = kinds[kind].step,
                                          .row_step = kinds[kind].row_step,
                                          .column_step = kinds[kind].column_step,
                                          .line = windows + tg_rng_below(&rng, 2) * tg_rng_below(&rng, 9)};
                    c.size = c.first + (c.down - 1) * c.down_step + (c.across - 1) * c.across_step +
                             (c.rows - 1) * c.row_step + (c.columns - 1) * c.column_step + 1;
                    assert_windows(&c, tg_kernel_set_at(number), draw % 2 ? TG_F64 : TG_F32, memory, &rng);
                }
    for (int i = 0; i < 3; i++)
        guarded_memory_close(&memory[i]);
}
END_TEST

Suite *kernels_rows_suite(void)
{
    Suite *suite = suite_create("kernels_rows");
    TCase *tests = tcase_create("kernels_rows");
    tcase_add_test(tests, softmax_and_its_kin);
    tcase_add_test(tests, a_nan_makes_nan_of_its_row_alone);
    tcase_add_test(tests, cross_entropy_with_its_gradient);
    tcase_add_test(tests, norms_with_their_gradient);
    tcase_add_test(tests, attention_with_its_gradient);
    tcase_add_test(tests, the_largest_of_windows);
    suite_add_tcase(suite, tests);
    return suite;
}
