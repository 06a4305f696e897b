/* A check of a user's function that works on plain arrays, not on tensors. */
#include "autograd/gradcheck/calls.h"
#include "autograd/gradcheck/driver.h"
#include "autograd/gradcheck/explain.h"
#include "autograd/gradcheck/invariants.h"
#include "autograd/gradcheck/tolerances.h"
#include "autograd/numbers.h"

#include <math.h>

/* ---- invariants ---- */

/* Intermediate values of a black box are unknown. They are assumed to be as close to 1 as its inputs and outputs are,
 * with a margin, or as the squares of these. */
static void set_magnitudes(tg_check *c)
{
    const double margin = c->numbers->digits == 53 ? 0x1p300 : 0x1p20;
    tg_magnitudes m = {1, 1};
    const struct {
        const double *numbers;
        int64_t count;
    } all[] = {{c->point, c->variables},
               {c->level[0].value, c->level[0].length},
               {c->level[0].cotangent, c->level[0].length},
               {c->level[1].value, c->variables}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        for (int64_t i = 0; i < all[k].count; i++) {
            const double size = fabs(all[k].numbers[i]);
            m.largest = fmax(m.largest, size);
            m.least = size > 0 ? fmin(m.least, size) : m.least;
        }
    c->magnitudes[0] = m;
    c->magnitudes[1] = (tg_magnitudes){m.least * m.least / margin, m.largest * m.largest * margin};
}

/* The function is evaluated at another point before the gradient, so values that it caches for the gradient are wrong
 * then. */
static bool stays_undisturbed(tg_check *c)
{
    for (int64_t i = 0; i < c->variables; i++)
        c->moved[i] = tg_check_round(c, 0.75 * c->point[i] + 0.125 * c->scale[i]);
    return tg_check_evaluate(c, 0, c->point, c->ahead) && tg_check_evaluate(c, 0, c->moved, c->ahead) &&
           tg_check_evaluate(c, 1, c->point, c->ahead) &&
           tg_check_same(c, 1, c->ahead, TG_GRADCHECK_DISTURBED,
                         "the gradient changes when the function is evaluated on other numbers before");
}

/* Fails unless J u is as expected; the difference may be `bound` times the largest element, and at least `least`. */
static bool product_is(tg_check *c, const double *found, const double *expected, double bound,
                       tg_gradcheck_status status, const char *what)
{
    double largest = 0;
    for (int64_t j = 0; j < c->level[0].length; j++)
        largest = fmax(largest, fabs(expected[j]));
    for (int64_t j = 0; j < c->level[0].length; j++) {
        if (fabs(found[j] - expected[j]) <= bound * largest || (isnan(found[j]) && isnan(expected[j])))
            continue;
        tg_check_set_place(c, 1, -1, found[j], expected[j]);
        return tg_check_fail(&c->report, status,
                             "%s its jvp is %.12g, where %.12g is expected, at element %lld of the result", what,
                             found[j], expected[j], (long long)j);
    }
    return true;
}

static void draw_direction(tg_check *c, double *u)
{
    for (int64_t i = 0; i < c->variables; i++)
        u[i] = tg_check_round(c, fmin(1, c->scale[i]) * tg_check_weight(c));
}

/* J u twice; J 0; J (s u) for powers of two and signs; J (u + w). */
static bool jvp_is_linear(tg_check *c, double *u, double *w, double *of_u, double *of_w)
{
    static const double factors[] = {0, -1, 0x1p10, -0x1p-10};
    const double *const x = c->point;
    double *const found = c->behind;
    draw_direction(c, u);
    draw_direction(c, w);
    if (!tg_check_product(c, TG_CHECK_JVP, x, u, of_u) || !tg_check_product(c, TG_CHECK_JVP, x, u, found) ||
        !product_is(c, found, of_u, 0, TG_GRADCHECK_NOT_REPEATABLE, "called again,"))
        return false;
    for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
        char what[64];
        for (int64_t i = 0; i < c->variables; i++)
            c->moved[i] = factors[k] * u[i];
        for (int64_t j = 0; j < c->level[0].length; j++)
            of_w[j] = factors[k] * of_u[j];
        tg_print(what, sizeof what, "for a tangent times %g", factors[k]);
        if (!tg_check_product(c, TG_CHECK_JVP, x, c->moved, found) ||
            !product_is(c, found, of_w, 0, factors[k] == 0 ? TG_GRADCHECK_ZERO : TG_GRADCHECK_NOT_LINEAR, what))
            return false;
    }
    if (!tg_check_product(c, TG_CHECK_JVP, x, w, of_w))
        return false;
    for (int64_t i = 0; i < c->variables; i++)
        w[i] += u[i];
    for (int64_t j = 0; j < c->level[0].length; j++)
        of_w[j] += of_u[j];
    return tg_check_product(c, TG_CHECK_JVP, x, w, found) &&
           product_is(c, found, of_w, tg_check_to(c, 1e-10), TG_GRADCHECK_NOT_LINEAR, "for the sum of two tangents");
}

/* <v, J u> against <J^T v, u> for several u. */
static bool is_adjoint(tg_check *c, int which, double *u)
{
    enum { DIRECTIONS = 3 };
    for (int k = 0; k < DIRECTIONS; k++) {
        draw_direction(c, u);
        if (!tg_check_product(c, which, c->point, u, c->behind) ||
            !tg_check_is_adjoint(c, u, c->behind, which == TG_CHECK_JVP ? "by its jvp" : "by its jacobian"))
            return false;
    }
    return true;
}

static bool box_holds(tg_check *c)
{
    double *u, *w, *of_u, *of_w;
    if (!TG_CHECK_TAKE(c, &c->arena, c->variables, &u, &w) ||
        !TG_CHECK_TAKE(c, &c->arena, c->level[0].length, &of_u, &of_w) || !stays_undisturbed(c))
        return false;
    if (c->box->jvp && (!jvp_is_linear(c, u, w, of_u, of_w) || !is_adjoint(c, TG_CHECK_JVP, u)))
        return false;
    return !c->box->jacobian || tg_check_source_of_gradients(c) == TG_CHECK_JACOBIAN ||
           is_adjoint(c, TG_CHECK_JACOBIAN, u);
}

/* ---- the check ---- */

/* The error in its description, or NULL if it is valid. */
static const char *misuse(const tg_black_box *box, const tg_gradcheck_input *inputs, int count)
{
    if (!box || !box->value)
        return "expected a function with a value";
    if (!box->vjp && !box->jvp && !box->jacobian)
        return "expected a vjp, a jvp or a jacobian";
    if (box->type > TG_GRADCHECK_BF16)
        return "expected a type";
    if (!inputs || count < 1)
        return "expected at least one input";
    for (int i = 0; i < count; i++)
        if (inputs[i].parameter)
            return "a black box has no parameters: give their numbers as data";
    if (box->output_count < 0 || (box->output_count > 0 && !box->outputs))
        return "expected the shapes of its outputs";
    for (int i = 0; i < box->output_count; i++)
        if (tg_shape_size(&box->outputs[i]) < 0)
            return "the shape of an output is none";
    return NULL;
}

static const tg_check_kind kind = {tg_check_measure_box, tg_check_call_box, box_holds, set_magnitudes};

tg_gradcheck_result tg_gradcheck_function(const tg_black_box *box, const tg_gradcheck_input *inputs, int count,
                                          const tg_gradcheck_options *options)
{
    tg_check c = {
        .report = {box && box->name ? box->name : "the function", inputs, count, .result = tg_check_no_result(-1)},
        .kind = &kind,
        .box = box,
        .options = tg_check_options(options)};
    const char *wrong = misuse(box, inputs, count);
    c.options.order = 1;
    c.rng = tg_rng_seed(c.options.seed);
    tg_check_no_report(&c.options);
    if (wrong)
        return tg_check_fail(&c.report, TG_GRADCHECK_REFUSED, "%s", wrong), c.report.result;
    tg_check_run(&c);
    if (c.report.result.passed)
        tg_check_explain_success(c.report.name, c.numbers->sharp, &c.report.result);
    else if (c.point)
        tg_check_explain(&c, "");
    tg_check_close(&c);
    return c.report.result;
}
