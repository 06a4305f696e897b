/* Fused kernels against the plain formulas in double precision. */
#include "autograd/kernels/kernels.h"
#include "autograd/rng.h"

#include <check.h>
#include <math.h>
#include <string.h>

Suite *kernels_fused_suite(void);

/* Runs the statement for each set of kernels that runs on this processor, as `set`. */
#define FOR_EACH_SET(set)                                                          \
    for (int number = 0; tg_kernel_set_at(number); number++)                       \
        for (const tg_kernel_set *set = tg_kernel_set_at(number); set; set = NULL) \
            if (tg_kernel_set_runs(set))

static void close_to(const char *what, double found, double expected, double tolerance)
{
    if (found == expected || (isnan(found) && isnan(expected)))
        return;
    ck_assert_msg(fabs(found - expected) <= tolerance * (1 + fabs(expected)), "%s: %.9g, not %.9g", what, found,
                  expected);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double density(double x)
{
    return 0.3989422804014327 * exp(-x * x / 2);
}

static double phi(double x)
{
    return erfc(-x * 0.7071067811865476) / 2;
}

/* ---- gated products ---- */

enum { MANY = 203 };

typedef struct product {
    const char *name;
    double (*value)(double), (*slope)(double);
    void (*forward)(size_t, const void *, const void *, void *);
    void (*gradients)(size_t, const void *, const void *, const void *, void *, void *);
} product;

static double sigmoid_slope(double x)
{
    return sigmoid(x) * sigmoid(-x);
}

static double relu(double x)
{
    return x > 0 ? x : 0;
}

static double step(double x)
{
    return x > 0;
}

static double gelu(double x)
{
    return x * phi(x);
}

static double gelu_slope(double x)
{
    return phi(x) + x * density(x);
}

static double silu(double x)
{
    return x * sigmoid(x);
}

static double silu_slope(double x)
{
    return sigmoid(x) * (1 + x * sigmoid(-x));
}

START_TEST(gated_products_and_their_gradients_follow_the_formula)
{
    tg_rng rng = tg_rng_seed(5);
    float a[MANY], b[MANY], g[MANY], y[MANY], da[MANY], db[MANY];
    for (int i = 0; i < MANY; i++) {
        a[i] = (float)(3 * tg_rng_normal(&rng));
        b[i] = (float)tg_rng_normal(&rng);
        g[i] = (float)tg_rng_normal(&rng);
    }
    FOR_EACH_SET(set)
    {
        const tg_kernel_table *k = set->of[TG_F32];
        const product products[] = {
            {"glu", sigmoid, sigmoid_slope, k->glu, k->glu_grad},
            {"reglu", relu, step, k->reglu, k->reglu_grad},
            {"geglu", gelu, gelu_slope, k->geglu, k->geglu_grad},
            {"swiglu", silu, silu_slope, k->swiglu, k->swiglu_grad},
        };
        for (int p = 0; p < 4; p++) {
            products[p].forward(MANY, a, b, y);
            products[p].gradients(MANY, a, b, g, da, db);
            for (int i = 0; i < MANY; i++) {
                double u = (double)a[i], v = (double)b[i], cotangent = (double)g[i];
                close_to(products[p].name, (double)y[i], products[p].value(u) * v, 1e-6);
                close_to(products[p].name, (double)da[i], cotangent * v * products[p].slope(u), 1e-6);
                close_to(products[p].name, (double)db[i], cotangent * products[p].value(u), 1e-6);
            }
        }
    }
}
END_TEST

/* ---- rows ---- */

enum { ROWS = 7, COLUMNS = 19, CELLS = ROWS * COLUMNS };

/* Ordinary rows, a row of large numbers, a row with masked entries, and a fully masked row. */
static void fill_rows(float x[CELLS])
{
    tg_rng rng = tg_rng_seed(8);
    for (int i = 0; i < CELLS; i++) {
        int row = i / COLUMNS;
        x[i] = (float)(2 * tg_rng_normal(&rng)) + (row == 2 ? 3e4f : 0);
        if (row == 6 || (row == 4 && i % 3 == 0))
            x[i] = -INFINITY;
    }
}

static double row_sum_of_exponentials(const float *row, double *top)
{
    double sum = 0;
    *top = -INFINITY;
    for (int j = 0; j < COLUMNS; j++)
        *top = fmax(*top, (double)row[j]);
    for (int j = 0; j<COLUMNS && * top> - INFINITY; j++)
        sum += exp((double)row[j] - *top);
    return sum;
}

START_TEST(softmax_and_its_logarithm_survive_masks_and_large_numbers)
{
    float x[CELLS], y[CELLS], logs[CELLS], sums[ROWS];
    fill_rows(x);
    FOR_EACH_SET(set)
    {
        set->of[TG_F32]->softmax_rows(ROWS, COLUMNS, x, y);
        set->of[TG_F32]->log_softmax_rows(ROWS, COLUMNS, x, logs);
        set->of[TG_F32]->logsumexp_rows(ROWS, COLUMNS, x, sums);
        for (int row = 0; row < ROWS; row++) {
            double top, total = row_sum_of_exponentials(x + row * COLUMNS, &top);
            close_to("logsumexp", (double)sums[row], top + log(total), 1e-6);
            for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; i++) {
                double share = total > 0 ? exp((double)x[i] - top) / total : 0;
                close_to("softmax", (double)y[i], share, 3e-7);
                close_to("log softmax", (double)logs[i], total > 0 ? (double)x[i] - top - log(total) : -INFINITY, 1e-6);
            }
        }
        set->of[TG_F32]->softmax_rows(ROWS, COLUMNS, y, y); /* in place */
        close_to("a row of zeros", (double)y[CELLS - 1], 1. / COLUMNS, 1e-6);
    }
}
END_TEST

START_TEST(cross_entropy_and_its_gradient_follow_the_formula)
{
    const int32_t labels[ROWS] = {0, 3, 18, -1, 5, 7, 2};
    const double weight = -0.25;
    float x[CELLS], gradient[CELLS];
    FOR_EACH_SET(set)
    for (int smoothed = 0; smoothed < 2; smoothed++) {
        const double smoothing = smoothed ? 0.1 : 0;
        fill_rows(x);
        for (int i = 4 * COLUMNS; smoothed && i < CELLS; i++) /* a masked logit has an infinite smoothed loss */
            x[i] = (float)(i % 5);
        double sum;
        set->of[TG_F32]->cross_entropy_sum(ROWS, COLUMNS, x, labels, smoothing, -1, weight, &sum, gradient);
        for (int row = 0; row < 6; row++) {
            double top, total = row_sum_of_exponentials(x + row * COLUMNS, &top), loss = 0;
            for (int j = 0; j < COLUMNS; j++) {
                const double logit = (double)x[row * COLUMNS + j] - top, share = exp(logit) / total;
                const double target = smoothing / COLUMNS + (j == labels[row] ? 1 - smoothing : 0);
                if (target > 0)
                    loss -= target * (logit - log(total));
                close_to("gradient", (double)gradient[row * COLUMNS + j],
                         labels[row] < 0 ? 0 : weight * (share - target), 1e-6);
            }
            set->of[TG_F32]->cross_entropy_sum(1, COLUMNS, x + row * COLUMNS, labels + row, smoothing, -1, 0, &sum,
                                               NULL);
            close_to("loss", sum, labels[row] < 0 ? 0 : loss, 1e-6);
        }
    }
}
END_TEST

START_TEST(normalised_rows_have_mean_zero_and_deviation_one)
{
    float x[CELLS], y[CELLS];
    tg_rng rng = tg_rng_seed(9);
    for (int i = 0; i < CELLS; i++) /* the third row's mean is a million times its deviation */
        x[i] = (float)(tg_rng_normal(&rng) + (i / COLUMNS == 2 ? 1e6 : 3));
    for (int i = 3 * COLUMNS; i < 4 * COLUMNS; i++)
        x[i] = 42; /* a deviation of zero */
    FOR_EACH_SET(set)
    {
        set->of[TG_F32]->normalize_rows(ROWS, COLUMNS, x, true, 1e-5, y);
        for (int row = 0; row < ROWS; row++) {
            double sum = 0, squares = 0;
            for (int j = 0; j < COLUMNS; j++)
                sum += (double)x[row * COLUMNS + j];
            for (int j = 0; j < COLUMNS; j++)
                squares += pow((double)x[row * COLUMNS + j] - sum / COLUMNS, 2);
            const double deviation = sqrt(squares / COLUMNS + 1e-5);
            for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; i++)
                close_to("layer norm", (double)y[i], ((double)x[i] - sum / COLUMNS) / deviation, 1e-6);
        }
        set->of[TG_F32]->normalize_rows(ROWS, COLUMNS, x, false, 1e-6, y);
        for (int row = 0; row < ROWS; row++) {
            double squares = 0;
            for (int j = 0; j < COLUMNS; j++)
                squares += (double)x[row * COLUMNS + j] * (double)x[row * COLUMNS + j];
            const double root = sqrt(squares / COLUMNS + 1e-6);
            for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; i++)
                close_to("rms norm", (double)y[i], (double)x[i] / root, 1e-6);
        }
    }
}
END_TEST

/* ---- random numbers ---- */

static const uint32_t stream[4] = {0x12345678, 0x9abcdef0, 3, 0xffffffff};

static uint32_t word_of(size_t i)
{
    const uint64_t block = i / 4;
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), stream[2], stream[3]};
    uint32_t words[4];
    tg_philox(counter, stream, words);
    return words[i % 4];
}

START_TEST(random_kernels_take_word_i_for_element_i)
{
    enum { N = 1003 };
    static float x[N], p[N], y[N], gate[N], uniform[N];
    static double wide[N], wide_y[N], wide_uniform[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i + 1;
        wide[i] = i + 1;
        p[i] = (float)(i % 11) / 10;
    }
    FOR_EACH_SET(set)
    {
        set->of[TG_F32]->dropout(N, x, stream, 0.8, y);
        set->of[TG_F64]->dropout(N, wide, stream, 0.8, wide_y);
        set->of[TG_F32]->stochastic_gate(N, x, p, stream, gate);
        set->of[TG_F32]->uniform_fill(0, N, stream, -1, 3, uniform);
        set->of[TG_F64]->uniform_fill(0, N, stream, -1, 3, wide_uniform);
        for (size_t i = 0; i < N; i++) {
            const double u = word_of(i) * 0x1p-32;
            ck_assert_float_eq(y[i], u < 0.8 ? x[i] * (float)(1 / 0.8) : 0);
            ck_assert_double_eq(wide_y[i], u < 0.8 ? wide[i] * (1 / 0.8) : 0);
            ck_assert_float_eq(gate[i], floor(u * 0x1p24) * 0x1p-24 < (double)p[i] ? x[i] : 0);
            ck_assert_double_eq(wide_uniform[i], -1 + u * 4);
            ck_assert_float_eq(uniform[i], (float)(-1 + u * 4));
        }
        set->of[TG_F64]->uniform_fill(128, N - 128, stream, -1, 3, wide_y); /* from another element on */
        ck_assert_mem_eq(wide_y, wide_uniform + 128, (N - 128) * sizeof *wide_y);
        set->of[TG_F64]->normal_fill(0, N, stream, 0, 1, wide);
        set->of[TG_F64]->normal_fill(128, N - 128, stream, 0, 1, wide_y);
        ck_assert_mem_eq(wide_y, wide + 128, (N - 128) * sizeof *wide_y);
        for (int i = 0; i < N; i++)
            wide[i] = i + 1;
    }
}
END_TEST

START_TEST(dropout_keeps_all_or_nothing_at_the_ends)
{
    enum { N = 300 };
    float x[N], y[N], kept[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)i - 7;
    FOR_EACH_SET(set)
    {
        set->of[TG_F32]->dropout(N, x, stream, 1, kept);
        set->of[TG_F32]->dropout(N, x, stream, 0, y);
        ck_assert_mem_eq(kept, x, sizeof x);
        for (int i = 0; i < N; i++)
            ck_assert_float_eq(y[i], 0);
    }
}
END_TEST

START_TEST(normal_numbers_are_normal_and_the_same_for_every_instruction_set)
{
    enum { N = 200001 };
    static double first[N], y[N];
    static float narrow[N];
    tg_kernel_set_at(0)->of[TG_F64]->normal_fill(0, N, stream, 1, 2, first);
    for (size_t i = 0; i < 1000; i += 2) { /* Box and Muller's formula with the C library's functions */
        const double radius = sqrt(-2 * log((word_of(i) + 1.) * 0x1p-32));
        const double angle = 6.283185307179586 * 0x1p-32 * word_of(i + 1);
        close_to("cosine", first[i], 1 + 2 * radius * cos(angle), 1e-14);
        close_to("sine", first[i + 1], 1 + 2 * radius * sin(angle), 1e-14);
    }
    double moments[5] = {0};
    for (int i = 0; i < N; i++)
        for (int power = 1; power <= 4; power++)
            moments[power] += pow((first[i] - 1) / 2, power) / N;
    /* Five standard errors each. */
    close_to("mean", moments[1], 0, 5 * sqrt(1. / N));
    close_to("variance", moments[2] - 1, 0, 5 * sqrt(2. / N));
    close_to("third moment", moments[3], 0, 5 * sqrt(15. / N));
    close_to("fourth moment", moments[4] - 3, 0, 5 * sqrt(96. / N));
    FOR_EACH_SET(set)
    {
        set->of[TG_F64]->normal_fill(0, N, stream, 1, 2, y);
        ck_assert_mem_eq(y, first, sizeof y);
        set->of[TG_F32]->normal_fill(0, N, stream, 1, 2, narrow);
        for (int i = 0; i < N; i++)
            ck_assert_float_eq(narrow[i], (float)first[i]);
    }
}
END_TEST

/* ---- optimisers ---- */

START_TEST(adamw_and_momentum_take_the_step_of_their_papers)
{
    float p[MANY], g[MANY], m[MANY], v[MANY];
    FOR_EACH_SET(set)
    {
        tg_rng rng = tg_rng_seed(10);
        double expected_p[MANY], expected_m[MANY], expected_v[MANY];
        for (int i = 0; i < MANY; i++) {
            p[i] = (float)tg_rng_normal(&rng);
            expected_p[i] = (double)p[i];
            m[i] = v[i] = 0;
            expected_m[i] = expected_v[i] = 0;
        }
        for (int t = 1; t <= 5; t++) {
            for (int i = 0; i < MANY; i++) {
                g[i] = (float)tg_rng_normal(&rng);
                const double gradient = 0.5 * (double)g[i];
                expected_m[i] = 0.9 * expected_m[i] + 0.1 * gradient;
                expected_v[i] = 0.99 * expected_v[i] + 0.01 * gradient * gradient;
                const double root = sqrt(expected_v[i] / (1 - pow(0.99, t)));
                expected_p[i] -= 0.01 * 0.1 * expected_p[i] + 0.01 * expected_m[i] / (1 - pow(0.9, t)) / (root + 1e-8);
            }
            set->of[TG_F32]->adamw(MANY, p, g, m, v, 0.5, 0.01, 0.9, 0.99, 1e-8, 0.1, 1 - pow(0.9, t),
                                   1 - pow(0.99, t));
        }
        for (int i = 0; i < MANY; i++)
            close_to("adamw", (double)p[i], expected_p[i], 1e-6);
        for (int nesterov = 0; nesterov < 2; nesterov++) {
            const double before = (double)p[7], speed = (double)m[7], gradient = 2 * (double)g[7] + 0.1 * before;
            const double after = 0.9 * speed + gradient;
            set->of[TG_F32]->sgd_momentum(MANY, p, g, m, 2, 0.01, 0.9, nesterov, 0.1);
            close_to("velocity", (double)m[7], after, 1e-6);
            close_to("momentum", (double)p[7], before - 0.01 * (nesterov ? gradient + 0.9 * after : after), 1e-6);
        }
    }
}
END_TEST

START_TEST(sums_of_squares_agree_to_the_bit)
{
    enum { N = 1003 };
    static double x[N];
    tg_rng rng = tg_rng_seed(12);
    long double exact = 0;
    for (int i = 0; i < N; i++) {
        x[i] = tg_rng_normal(&rng);
        exact += (long double)x[i] * (long double)x[i];
    }
    double first = 0, sum = 0;
    tg_kernel_set_at(0)->of[TG_F64]->sum_of_squares(N, x, &first);
    close_to("sum of squares", first, (double)exact, 1e-15);
    FOR_EACH_SET(set)
    {
        set->of[TG_F64]->sum_of_squares(N, x, &sum);
        ck_assert_double_eq(sum, first);
        set->of[TG_F64]->sum_of_squares(0, x, &sum);
        ck_assert_double_eq(sum, 0);
    }
}
END_TEST

Suite *kernels_fused_suite(void)
{
    Suite *suite = suite_create("kernels_fused");
    TCase *tests = tcase_create("kernels_fused");
    tcase_add_test(tests, gated_products_and_their_gradients_follow_the_formula);
    tcase_add_test(tests, softmax_and_its_logarithm_survive_masks_and_large_numbers);
    tcase_add_test(tests, cross_entropy_and_its_gradient_follow_the_formula);
    tcase_add_test(tests, normalised_rows_have_mean_zero_and_deviation_one);
    tcase_add_test(tests, random_kernels_take_word_i_for_element_i);
    tcase_add_test(tests, dropout_keeps_all_or_nothing_at_the_ends);
    tcase_add_test(tests, normal_numbers_are_normal_and_the_same_for_every_instruction_set);
    tcase_add_test(tests, adamw_and_momentum_take_the_step_of_their_papers);
    tcase_add_test(tests, sums_of_squares_agree_to_the_bit);
    suite_add_tcase(suite, tests);
    return suite;
}
