/* What a user knows of a function: accuracy, bounds, a projection, how dear it is, and where it fails. */
#include "tests/support/seeds.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tapegrad.h>

Suite *gradcheck_known_suite(void);

enum { MANY = 10000 };

/* sum_i sin(x_i) x_{i+1}, whose element `wrong` is off by a part of itself, and which fails in every so many calls. */
typedef struct chain {
    int n, wrong, fails;
    double part;
    int calls;
    double least, largest, farthest; /* of all inputs, and from `x` */
    const double *x;
} chain;

static bool chain_value(const void *const *in, void *const *out, void *user)
{
    chain *c = user;
    const double *x = in[0];
    double sum = 0;
    for (int i = 0; i < c->n; i++) {
        sum += sin(x[i]) * x[(i + 1) % c->n];
        c->least = fmin(c->least, x[i]);
        c->largest = fmax(c->largest, x[i]);
        c->farthest = fmax(c->farthest, fabs(x[i] - c->x[i]));
    }
    *(double *)out[0] = sum;
    return ++c->calls == 1 || c->fails == 0 || c->calls % c->fails != 0;
}

static bool chain_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    chain *c = user;
    const double *x = in[0], v = *(const double *)cotangents[0];
    double *g = gradients[0];
    for (int i = 0; i < c->n; i++)
        g[i] = v * (cos(x[i]) * x[(i + 1) % c->n] + sin(x[(i + c->n - 1) % c->n]));
    g[c->wrong] *= 1 + c->part;
    c->calls++;
    return true;
}

static double many[MANY];

static tg_gradcheck_result check_chain(chain *c, double low, double high, tg_gradcheck_options options)
{
    for (int i = 0; i < c->n; i++)
        many[i] = fmin(fmax(sin(0.7 * i) + 0.1, low == 0 ? -INFINITY : low), high == 0 ? INFINITY : high);
    const tg_gradcheck_input in = {.name = "x", .shape = TG_SHAPE(c->n), .data = many, .low = low, .high = high};
    const tg_black_box box = {.name = "chain", .value = chain_value, .vjp = chain_vjp, .user = c};
    c->x = many;
    return tg_gradcheck_function(&box, &in, 1, &options);
}

START_TEST(ten_thousand_inputs_take_forty_evaluations)
{
    const tg_gradcheck_options options = {.directions = 5, .evaluations = 40};
    chain c = {.n = MANY};
    tg_gradcheck_result result = check_chain(&c, 0, 0, options);
    ck_assert_msg(result.passed && result.ended, "%s", result.why);
    ck_assert_int_le(c.calls, 40);
    ck_assert_int_eq(result.evaluations, c.calls);
    ck_assert_ptr_nonnull(
        strstr(result.why, "; one wrong element of 10000 may have gone unseen if it is off by less than "));
    ck_assert_ptr_nonnull(strstr(result.why, "; ended after 40 evaluations, before all other points were tried"));
    const double hidden = result.hidden;
    for (int seed = 0; seed < 20; seed++) { /* what is larger than it is said to hide shows */
        chain wrong = {.n = MANY, .wrong = 777 * seed % MANY, .part = 1};
        result = check_chain(&wrong, 0, 0,
                             (tg_gradcheck_options){.directions = 5, .evaluations = 40, .seed = (uint64_t)seed});
        const int i = wrong.wrong;
        const double error = fabs(cos(many[i]) * many[(i + 1) % MANY] + sin(many[(i + MANY - 1) % MANY])) / 2;
        ck_assert_msg(result.status == TG_GRADCHECK_WRONG || error < hidden, "seed %d: %s", seed, result.why);
        ck_assert_int_le(wrong.calls, 40);
    }
}
END_TEST

START_TEST(a_wrong_element_is_found_where_evaluations_last)
{
    chain c = {.n = MANY, .wrong = 777, .part = 0.3};
    const tg_gradcheck_result result =
        check_chain(&c, 0, 0, (tg_gradcheck_options){.directions = 2, .evaluations = 200});
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    ck_assert_str_eq(result.where, "x at [777], order 1");
}
END_TEST

START_TEST(what_is_not_looked_at_is_said)
{
    chain c = {.n = 5};
    tg_gradcheck_result result = check_chain(&c, 0, 0, (tg_gradcheck_options){.evaluations = 12});
    ck_assert_msg(result.passed, "%s", result.why);
    ck_assert_ptr_nonnull(strstr(result.why, "; ended after 12 evaluations: 3 of 5 elements were not looked at"));
    result = check_chain(&c, 0, 0, (tg_gradcheck_options){.evaluations = 3});
    ck_assert_int_eq(result.status, TG_GRADCHECK_REFUSED);
    c.calls = 0;
    result = check_chain(&c, 0, 0, (tg_gradcheck_options){.here_only = true});
    ck_assert(result.passed && c.farthest < 0.5 && c.calls == result.evaluations);
}
END_TEST

static bool until_thirty(int64_t evaluations, void *user)
{
    ck_assert_int_eq(evaluations, *(int64_t *)user);
    ++*(int64_t *)user;
    return evaluations < 30;
}

static bool until(int64_t evaluations, void *user)
{
    return evaluations < *(const int64_t *)user;
}

START_TEST(progress_may_end_a_check)
{
    int64_t next = 0;
    chain c = {.n = 20};
    const tg_gradcheck_result result =
        check_chain(&c, 0, 0, (tg_gradcheck_options){.progress = until_thirty, .user = &next});
    ck_assert_msg(result.passed && result.ended, "%s", result.why);
    ck_assert_int_eq(result.evaluations, 30);
    for (int64_t last = 0; last < 4; last++) { /* the given point takes two, a comparison two to four */
        const tg_gradcheck_result early =
            check_chain(&c, 0, 0, (tg_gradcheck_options){.progress = until, .user = &last});
        ck_assert_msg(early.status == TG_GRADCHECK_REFUSED && strstr(early.why, "chain: nothing was compared"), "%s",
                      early.why);
    }
}
END_TEST

START_TEST(failed_evaluations_are_counted_beside_the_verdict)
{
    chain c = {.n = 5, .fails = 7};
    tg_gradcheck_result result = check_chain(&c, 0, 0, (tg_gradcheck_options){0});
    char words[100];
    ck_assert_msg(result.passed && result.failed > 0, "%s", result.why);
    snprintf(words, sizeof words, "; %d of %d evaluations failed", (int)result.failed, (int)result.evaluations);
    ck_assert_ptr_nonnull(strstr(result.why, words));
    c = (chain){.n = 5, .fails = 7, .wrong = 2, .part = 0.1};
    result = check_chain(&c, 0, 0, (tg_gradcheck_options){0});
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    ck_assert_str_eq(result.where, "x at [2], order 1");
    ck_assert_int_gt(result.failed, 0);
}
END_TEST

START_TEST(bounds_are_never_left)
{
    chain c = {.n = 6};
    tg_gradcheck_result result = check_chain(&c, -0.5, 0.6, (tg_gradcheck_options){0}); /* some elements are at these */
    ck_assert_msg(result.passed, "%s", result.why);
    ck_assert_msg(c.least >= -0.5 && c.largest <= 0.6, "%g to %g", c.least, c.largest);
    ck_assert(many[1] == 0.6 && many[5] < -0.2);
    c = (chain){.n = 6, .wrong = 1, .part = 1e-4};
    result = check_chain(&c, -0.5, 0.6, (tg_gradcheck_options){0});
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    const tg_gradcheck_input in = {.shape = TG_SHAPE(6), .data = many, .low = 0.2, .high = 1};
    const tg_black_box box = {.value = chain_value, .vjp = chain_vjp, .user = &c};
    result = tg_gradcheck_function(&box, &in, 1, NULL);
    ck_assert_str_eq(result.why, "the function: the given point is outside of its bounds");
}
END_TEST

START_TEST(no_step_passes_the_largest)
{
    chain c = {.n = 5};
    const tg_gradcheck_result result =
        check_chain(&c, 0, 0, (tg_gradcheck_options){.here_only = true, .largest_step = 1e-5});
    ck_assert_msg(result.passed, "%s", result.why);
    ck_assert_msg(c.farthest <= 0.3, "%g", c.farthest); /* of the point that disturbs */
}
END_TEST

START_TEST(wanted_accuracy_decides)
{
    chain c = {.n = 5, .wrong = 2, .part = 0.01};
    ck_assert(check_chain(&c, 0, 0, (tg_gradcheck_options){.rtol = 0.02}).passed);
    ck_assert_int_eq(check_chain(&c, 0, 0, (tg_gradcheck_options){.rtol = 0.005}).status, TG_GRADCHECK_WRONG);
    ck_assert(check_chain(&c, 0, 0, (tg_gradcheck_options){.atol = 0.02, .here_only = true}).passed);
    ck_assert_int_eq(check_chain(&c, 0, 0, (tg_gradcheck_options){.atol = 0.005, .here_only = true}).status,
                     TG_GRADCHECK_WRONG);
}
END_TEST

/* -1 to 1, without any order. */
static double noise_at(const double *x)
{
    uint64_t bits[2];
    memcpy(bits, x, sizeof bits);
    const uint64_t mixed = (bits[0] ^ bits[1] >> 21) * 0x9e3779b97f4a7c15u;
    return (double)((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u >> 11) * 0x1p-52 - 1;
}

/* A million times x0 x1, exactly, and the sine of x0, to four digits; the derivative of the first is off by a part. */
static bool large_and_rough(const void *const *in, void *const *out, void *user)
{
    const double *x = in[0];
    (void)user;
    *(double *)out[0] = 1e6 * x[0] * x[1];
    *(double *)out[1] = sin(x[0]) * (1 + 1e-4 * noise_at(x));
    return true;
}

static bool large_and_rough_vjp(const void *const *in, const void *const *cotangents, void *const *gradients,
                                void *user)
{
    const double *x = in[0], v = *(const double *)cotangents[0], w = *(const double *)cotangents[1];
    double *g = gradients[0];
    g[0] = 1e6 * x[1] * v * (1 + *(const double *)user) + cos(x[0]) * w;
    g[1] = 1e6 * x[0] * v;
    return true;
}

START_TEST(accuracy_is_promised_by_output)
{
    const double x[2] = {0.7, -1.3}, by_output[2] = {0, 1e-4};
    const tg_gradcheck_input in = {.name = "x", .shape = TG_SHAPE(2), .data = x};
    const tg_shape scalars[2] = {{0}, {0}};
    for (int wrong = 0; wrong < 2; wrong++) {
        double part = wrong ? 1e-5 : 0;
        tg_black_box box = {.outputs = scalars,
                            .output_count = 2,
                            .value = large_and_rough,
                            .vjp = large_and_rough_vjp,
                            .user = &part,
                            .value_rtol = by_output};
        tg_gradcheck_result result = tg_gradcheck_function(&box, &in, 1, NULL);
        ck_assert_msg(result.status == (wrong ? TG_GRADCHECK_WRONG : TG_GRADCHECK_PASSED), "%s", result.why);
        box.value_rtol = NULL; /* for all, it hides the error */
        result = tg_gradcheck_function(&box, &in, 1, &(tg_gradcheck_options){.value_rtol = 1e-4, .here_only = true});
        ck_assert_msg(result.passed, "%s", result.why);
        box.value_atol = by_output;
        result = tg_gradcheck_function(&box, &in, 1, NULL);
        ck_assert_msg(result.status == (wrong ? TG_GRADCHECK_WRONG : TG_GRADCHECK_PASSED), "%s", result.why);
    }
}
END_TEST

/* sin x, with noise that is another in each call, as of sums whose order many threads decide. */
static bool shaky(const void *const *in, void *const *out, void *user)
{
    double *calls = user;
    *(double *)out[0] = sin(*(const double *)in[0]) * (1 + 1e-10 * noise_at((const double[]){++*calls, 0.5}));
    return true;
}

static bool shaky_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    (void)user;
    *(double *)gradients[0] = cos(*(const double *)in[0]) * *(const double *)cotangents[0];
    return true;
}

START_TEST(what_differs_within_its_accuracy_is_the_same)
{
    double x = 0.7, calls = 0;
    const tg_black_box box = {.value = shaky, .vjp = shaky_vjp, .user = &calls};
    const tg_gradcheck_input in = {.data = &x};
    tg_gradcheck_result result = tg_gradcheck_function(&box, &in, 1, &(tg_gradcheck_options){.value_rtol = 1e-10});
    ck_assert_msg(result.passed, "%s", result.why);
    result = tg_gradcheck_function(&box, &in, 1, &(tg_gradcheck_options){.value_rtol = 1e-13});
    ck_assert_msg(!result.passed && result.status != TG_GRADCHECK_WRONG, "%s", result.why);
}
END_TEST

/* max(x, 0), whose derivative at 0, where the checker puts elements, is 0. */
static bool ramp(const void *const *in, void *const *out, void *user)
{
    (void)user;
    for (int i = 0; i < 5; i++)
        ((double *)out[0])[i] = fmax(0, ((const double *)in[0])[i]);
    return true;
}

static bool ramp_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    (void)user;
    for (int i = 0; i < 5; i++)
        ((double *)gradients[0])[i] = ((const double *)in[0])[i] > 0 ? ((const double *)cotangents[0])[i] : 0;
    return true;
}

START_TEST(promised_accuracy_leaves_kinks_what_they_are)
{
    static const double accuracies[] = {0, 1e-12, 1e-9, 1e-6, 1e-3};
    const tg_shape five = TG_SHAPE(5);
    double x[5];
    const tg_black_box box = {.outputs = &five, .output_count = 1, .value = ramp, .vjp = ramp_vjp};
    const tg_gradcheck_input in = {.shape = TG_SHAPE(5), .data = x};
    for (int seed = 0; seed < seeds(20, 200); seed++)
        for (size_t k = 0; k < sizeof accuracies / sizeof accuracies[0]; k++) {
            for (int i = 0; i < 5; i++)
                x[i] = 2 * sin(5 * seed + i);
            const tg_gradcheck_result result = tg_gradcheck_function(
                &box, &in, 1, &(tg_gradcheck_options){.seed = (uint64_t)seed, .value_rtol = accuracies[k]});
            ck_assert_msg(result.passed, "seed %d, %g: %s", seed, accuracies[k], result.why);
        }
}
END_TEST

/* tanh(1e6 W x) in float, at an x of about 1e-6: where the usual steps are far too long, extrapolations of these agree
 * by chance. */
enum { ROWS = 3, COLUMNS = 4 };

static double layer(const float *x, int row, double *slopes)
{
    double sum = 0;
    for (int i = 0; i < COLUMNS; i++)
        sum += sin(1 + 3 * i + 7 * row) * 1e6 * x[i];
    for (int i = 0; i < COLUMNS; i++)
        slopes[i] = (1 - tanh(sum) * tanh(sum)) * sin(1 + 3 * i + 7 * row) * 1e6;
    return tanh(sum);
}

static bool small_layer(const void *const *in, void *const *out, void *user)
{
    double slopes[COLUMNS];
    (void)user;
    for (int row = 0; row < ROWS; row++)
        ((float *)out[0])[row] = (float)layer(in[0], row, slopes);
    return true;
}

static bool small_layer_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    double g[COLUMNS] = {0}, slopes[COLUMNS];
    (void)user;
    for (int row = 0; row < ROWS; row++) {
        layer(in[0], row, slopes);
        for (int i = 0; i < COLUMNS; i++)
            g[i] += slopes[i] * ((const float *)cotangents[0])[row];
    }
    for (int i = 0; i < COLUMNS; i++)
        ((float *)gradients[0])[i] = (float)g[i];
    return true;
}

START_TEST(promised_accuracy_makes_no_long_step_right)
{
    const tg_shape rows = TG_SHAPE(ROWS);
    const tg_black_box box = {
        .type = TG_GRADCHECK_F32, .outputs = &rows, .output_count = 1, .value = small_layer, .vjp = small_layer_vjp};
    for (int seed = 0; seed < 40; seed++) {
        double x[COLUMNS];
        for (int i = 0; i < COLUMNS; i++)
            x[i] = sin(seed * 5 + i + .3) * 1e-6;
        const tg_gradcheck_input in = {.shape = TG_SHAPE(COLUMNS), .data = x};
        const tg_gradcheck_result result =
            tg_gradcheck_function(&box, &in, 1, &(tg_gradcheck_options){.seed = (uint64_t)seed, .value_rtol = 1e-5});
        ck_assert_msg(result.passed || result.status == TG_GRADCHECK_CANNOT_TELL, "seed %d: %s", seed, result.why);
    }
}
END_TEST

/* Of an x of 1e-8, 1e16 x^2 and exp(1e9 x), which change by many times themselves in the usual steps; *user times their
 * derivative. */
static bool steep(const void *const *in, void *const *out, void *user)
{
    const double x = *(const double *)in[0];
    (void)user;
    ((double *)out[0])[0] = 1e16 * x * x;
    ((double *)out[0])[1] = exp(1e9 * x);
    return true;
}

static bool steep_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    const double x = *(const double *)in[0], *v = cotangents[0], *factors = user;
    *(double *)gradients[0] = factors[0] * 2e16 * x * v[0] + factors[1] * 1e9 * exp(1e9 * x) * v[1];
    return true;
}

START_TEST(what_a_steep_function_does_far_away_hides_no_error)
{
    static const double points[] = {1e-8, -6.4e-10};
    for (int wrong = 0; wrong < 2; wrong++)
        for (int which = 0; which < 2; which++)
            for (int seed = 0; seed < seeds(5, 100); seed++) {
                double factors[] = {which == 0 && wrong ? 1.03 : 1, which == 1 && wrong ? 1.03 : 1};
                const tg_black_box box = {
                    .outputs = &TG_SHAPE(2), .output_count = 1, .value = steep, .vjp = steep_vjp, .user = factors};
                const tg_gradcheck_input in = {.data = &points[which]};
                const tg_gradcheck_result result = tg_gradcheck_function(
                    &box, &in, 1, &(tg_gradcheck_options){.seed = (uint64_t)seed, .here_only = true});
                ck_assert_msg(result.status == (wrong ? TG_GRADCHECK_WRONG : TG_GRADCHECK_PASSED), "seed %d: %s", seed,
                              result.why);
            }
}
END_TEST

/* Two entries of the rotation matrix of a unit quaternion, which fails for others; to the gradient, anything may be
 * added along the quaternion. */
static bool rotate(const void *const *in, void *const *out, void *user)
{
    const double *q = in[0];
    double *y = out[0], size = 0;
    (void)user;
    for (int i = 0; i < 4; i++)
        size += q[i] * q[i];
    y[0] = 1 - 2 * (q[2] * q[2] + q[3] * q[3]);
    y[1] = 2 * (q[1] * q[2] + q[0] * q[3]);
    return fabs(size - 1) < 1e-9;
}

static bool rotate_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    const double *q = in[0], *v = cotangents[0];
    double *g = gradients[0];
    g[0] = 2 * q[3] * v[1];
    g[1] = 2 * q[2] * v[1];
    g[2] = -4 * q[2] * v[0] + 2 * q[1] * v[1];
    g[3] = -4 * q[3] * v[0] + 2 * q[0] * v[1] * *(const double *)user;
    for (int i = 0; i < 4; i++)
        g[i] += 3 * v[0] * q[i];
    return true;
}

static void make_unit(double *const *inputs, void *user)
{
    double size = 0;
    (void)user;
    for (int i = 0; i < 4; i++)
        size += inputs[0][i] * inputs[0][i];
    for (int i = 0; i < 4; i++)
        inputs[0][i] /= sqrt(size);
}

START_TEST(a_projection_leaves_the_directions_that_are_allowed)
{
    const double q[] = {0.5, -0.5, 0.7, 0.1};
    for (int wrong = 0; wrong < 2; wrong++) {
        double factor = wrong ? 1.001 : 1;
        const tg_black_box box = {
            .value = rotate, .vjp = rotate_vjp, .outputs = &TG_SHAPE(2), .output_count = 1, .user = &factor};
        const tg_gradcheck_input in = {.name = "q", .shape = TG_SHAPE(4), .data = q};
        const tg_gradcheck_result result =
            tg_gradcheck_function(&box, &in, 1, &(tg_gradcheck_options){.project = make_unit});
        ck_assert_msg(wrong ? result.status == TG_GRADCHECK_WRONG : result.passed && result.failed == 0, "%s",
                      result.why);
    }
}
END_TEST

Suite *gradcheck_known_suite(void)
{
    Suite *suite = suite_create("gradcheck_known");
    TCase *all = tcase_create("all");
    tcase_add_test(all, ten_thousand_inputs_take_forty_evaluations);
    tcase_add_test(all, a_wrong_element_is_found_where_evaluations_last);
    tcase_add_test(all, what_is_not_looked_at_is_said);
    tcase_add_test(all, progress_may_end_a_check);
    tcase_add_test(all, failed_evaluations_are_counted_beside_the_verdict);
    tcase_add_test(all, bounds_are_never_left);
    tcase_add_test(all, no_step_passes_the_largest);
    tcase_add_test(all, wanted_accuracy_decides);
    tcase_add_test(all, accuracy_is_promised_by_output);
    tcase_add_test(all, what_differs_within_its_accuracy_is_the_same);
    tcase_add_test(all, promised_accuracy_leaves_kinks_what_they_are);
    tcase_add_test(all, promised_accuracy_makes_no_long_step_right);
    tcase_add_test(all, what_a_steep_function_does_far_away_hides_no_error);
    tcase_add_test(all, a_projection_leaves_the_directions_that_are_allowed);
    suite_add_tcase(suite, all);
    return suite;
}
