#include "tests/gradcheck/fresh.h"

#include <math.h>
#include <string.h>

#define EACH(count, ...)                \
    for (int i = 0; i < (count); i++) { \
        __VA_ARGS__;                    \
    }

#define BOX(name, what, n, m, point, ...)                                                            \
    static void name##_body(const double *x, double *y, const double *v, double *g, const bool back) \
    {                                                                                                \
        (void)back, (void)x;                                                                         \
        __VA_ARGS__                                                                                  \
    }
#include "tests/gradcheck/fresh_right.def"
#include "tests/gradcheck/fresh_wrong.def"
#undef BOX

#define UNPACK(...)                       __VA_ARGS__
#define BOX(name, what, n, m, point, ...) {#name, what, n, m, {UNPACK point}, name##_body},

const fresh_box fresh_wrong[] = {
#include "tests/gradcheck/fresh_wrong.def"
};
const fresh_box fresh_right[] = {
#include "tests/gradcheck/fresh_right.def"
};
const int fresh_wrong_count = (int)(sizeof fresh_wrong / sizeof fresh_wrong[0]);
const int fresh_right_count = (int)(sizeof fresh_right / sizeof fresh_right[0]);

static bool value(const void *const *in, void *const *out, void *user)
{
    const fresh_box *box = user;
    const double v[FRESH_MOST] = {1};
    double g[FRESH_MOST] = {0};
    box->body(in[0], out[0], v, g, false);
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
    return tg_gradcheck_function(&of, &(tg_gradcheck_input){.name = "x", .shape = TG_SHAPE(box->n), .data = x}, 1,
                                 options);
}
