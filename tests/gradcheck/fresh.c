#include "tests/gradcheck/fresh.h"

#include <math.h>
#include <string.h>

#define EACH(count, ...)                \
    for (int i = 0; i < (count); i++) { \
        __VA_ARGS__;                    \
    }

/* ---- what the lists use ---- */

/* Noise in -1 to 1 that depends on every bit of the numbers. */
static double noise_of(const double *x, int n)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return ldexp((double)(hash >> 11), -52) - 1;
}

static double shake(const double *x, int n, double part)
{
    return 1 + part * noise_of(x, n);
}

static void log_softmax(const double *x, int n, double *out)
{
    double most = x[0], sum = 0;
    for (int i = 1; i < n; i++)
        most = fmax(most, x[i]);
    for (int i = 0; i < n; i++)
        sum += exp(x[i] - most);
    for (int i = 0; i < n; i++)
        out[i] = x[i] - most - log(sum);
}

/* z^3 + z = x. */
static double bisect(double x, double tolerance)
{
    double low = -fabs(x) - 1, high = fabs(x) + 1;
    while (high - low > tolerance) {
        const double z = (low + high) / 2;
        *(z * z * z + z < x ? &low : &high) = z;
    }
    return (low + high) / 2;
}

/* e = x + 0.6 sin e. */
static double iterate(double x, double tolerance)
{
    double e = x, before = INFINITY;
    while (fabs(e - before) > tolerance) {
        before = e;
        e = x + 0.6 * sin(e);
    }
    return e;
}

static double normal_cdf(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* ---- the lists ---- */

#define BOX(name, what, n, m, point, ...)                                                            \
    static void name##_body(const double *x, double *y, const double *v, double *g, const bool back) \
    {                                                                                                \
        (void)back, (void)x;                                                                         \
        __VA_ARGS__                                                                                  \
    }
#define NOISY                   BOX
#define SMALL                   BOX
#define ACCURATE(accuracy, ...) BOX(__VA_ARGS__)
#include "tests/gradcheck/edge_right.def"
#include "tests/gradcheck/edge_wrong.def"
#include "tests/gradcheck/fresh_right.def"
#include "tests/gradcheck/fresh_wrong.def"
#undef BOX
#undef NOISY
#undef SMALL
#undef ACCURATE

#define UNPACK(...) __VA_ARGS__
#define ENTRY(accuracy, hard, name, what, n, m, point, ...) \
    {#name, what, n, m, {UNPACK point}, name##_body, accuracy, hard, 0},
#define BOX(...)                ENTRY(0, false, __VA_ARGS__)
#define NOISY(...)              ENTRY(0, true, __VA_ARGS__)
#define SMALL                   NOISY
#define ACCURATE(accuracy, ...) ENTRY(accuracy, false, __VA_ARGS__)

const fresh_box fresh_wrong[] = {
#include "tests/gradcheck/fresh_wrong.def"
};
const fresh_box fresh_right[] = {
#include "tests/gradcheck/fresh_right.def"
};
const fresh_box edge_wrong[] = {
#include "tests/gradcheck/edge_wrong.def"
};
const fresh_box edge_right[] = {
#include "tests/gradcheck/edge_right.def"
};
const int edge_wrong_count = (int)(sizeof edge_wrong / sizeof edge_wrong[0]);
const int edge_right_count = (int)(sizeof edge_right / sizeof edge_right[0]);
const int fresh_wrong_count = (int)(sizeof fresh_wrong / sizeof fresh_wrong[0]);
const int fresh_right_count = (int)(sizeof fresh_right / sizeof fresh_right[0]);

static bool value(const void *const *in, void *const *out, void *user)
{
    const fresh_box *box = user;
    const double v[FRESH_MOST] = {1};
    double g[FRESH_MOST] = {0};
    double *y = out[0];
    box->body(in[0], y, v, g, false);
    for (int i = 0; box->noise > 0 && i < box->m; i++)
        y[i] *= shake(in[0], box->n, box->noise * (i % 2 ? -1 : 1));
    return true;
}

static bool vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    const fresh_box *box = user;
    double y[FRESH_MOST] = {0};
    box->body(in[0], y, cotangents[0], gradients[0], true);
    return true;
}

tg_gradcheck_result fresh_check(const fresh_box *box, const tg_gradcheck_options *options)
{
    double x[FRESH_MOST];
    int given = FRESH_MOST;
    while (given > 1 && box->point[given - 1] == 0)
        given--;
    for (int i = 0; i < box->n; i++)
        x[i] = box->n > 9 ? box->point[i % given] : box->point[i];
    const tg_black_box of = {.name = box->name,
                             .outputs = &TG_SHAPE(box->m),
                             .output_count = 1,
                             .value = value,
                             .vjp = vjp,
                             .user = (void *)(uintptr_t)box};
    tg_gradcheck_options how = options ? *options : (tg_gradcheck_options){0};
    how.value_rtol = box->accuracy;
    return tg_gradcheck_function(&of, &(tg_gradcheck_input){.name = "x", .shape = TG_SHAPE(box->n), .data = x}, 1,
                                 &how);
}
