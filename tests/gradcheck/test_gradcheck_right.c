/* The gradient checker raises no false alarm: right operations and functions pass with any seed. */
#include "tests/gradcheck/fresh.h"
#include "tests/gradcheck/right_functions.h"
#include "tests/support/seeds.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *gradcheck_right_suite(void);

/* ---- seeds, shared among as many threads as processors: checks are independent ---- */

typedef struct work {
    const char *(*check)(int seed, struct work *w, char *why); /* NULL, or what was called wrong, in `why` */
    atomic_int next;
    int end;
    atomic_int_least64_t checks, cannot_tell;
    pthread_mutex_t lock;
    char first[1400]; /* the fault found with the lowest seed */
} work;

static void *take_seeds(void *of_work)
{
    work *w = of_work;
    char why[sizeof w->first];
    for (int seed; (seed = atomic_fetch_add(&w->next, 1)) < w->end;)
        if (w->check(seed, w, why)) {
            pthread_mutex_lock(&w->lock);
            if (!w->first[0])
                memcpy(w->first, why, sizeof why);
            pthread_mutex_unlock(&w->lock);
        }
    return NULL;
}

/* Runs the seeds from the first one to the one before `end`. */
static void check_seeds(work *w, int first, int end)
{
    pthread_t threads[16];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN), count = processors < 1    ? 1
                                                                   : processors > 16 ? 16
                                                                                     : processors;
    atomic_init(&w->next, first);
    w->end = end;
    pthread_mutex_init(&w->lock, NULL);
    for (long i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_seeds, w), 0);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    ck_assert_msg(!w->first[0], "%s", w->first);
}

/* ---- functions and operations ---- */

static const char *check_functions(int seed, work *w, char *why)
{
    for (int i = 0; i < right_function_count(); i++)
        for (int order = right_function_is_noise(i) ? 3 : 1; order <= 2; order++) {
            const tg_gradcheck_options options = {.order = order, .seed = (uint64_t)seed};
            const tg_gradcheck_result result = right_function_check(i, &options);
            const bool undecided = result.status == TG_GRADCHECK_CANNOT_TELL;
            snprintf(why, sizeof w->first, "seed %d, %s: %s", seed, right_function_name(i), result.why);
            if (result.passed == undecided)
                return why;
            w->checks++;
            w->cannot_tell += undecided;
        }
    return NULL;
}

START_TEST(no_right_function_is_called_wrong)
{
    work w = {.check = check_functions};
    check_seeds(&w, 0, seeds(5, 200));
    ck_assert_msg(50 * w.cannot_tell <= w.checks, "cannot tell in %lld of %lld", (long long)w.cannot_tell,
                  (long long)w.checks);
}
END_TEST

/* One seed in a thousand finds inputs at which nearly all digits cancel; 1e-5 is the largest error that differences may
 * have. penalized_tanh needs most of the 1e-6: its second derivative vanishes beside the kink at 0, which no step may
 * cross. */
static const char *check_operations(int seed, work *w, char *why)
{
    const double most = getenv("TG_LONG") ? 1e-5 : 1e-6;
    for (int i = 0; tg_op_at(i); i++) {
        const tg_op *op = tg_op_at(i);
        if (op->flags & (TG_CONSTANT | TG_SOURCE))
            continue;
        const tg_gradcheck_result result =
            tg_gradcheck_op(op, &(tg_gradcheck_options){.order = 2, .seed = (uint64_t)seed});
        snprintf(why, sizeof w->first, "seed %d, %s: %s (error %g, %d samples)", seed, op->name, result.why,
                 result.relative, result.samples);
        if (!result.passed || !(result.relative < most) || result.samples < 1)
            return why;
        w->checks++;
    }
    return NULL;
}

START_TEST(no_right_operation_is_rejected)
{
    const int fifth = seeds(5, 1000) / 5, share = fifth > 0 ? fifth : 1;
    work w = {.check = check_operations};
    check_seeds(&w, _i * share, (_i + 1) * share);
    ck_assert_int_gt((int)w.checks, 100);
}
END_TEST

/* ---- lists written down before the checker ---- */

/* What the first run on the last forty did not tell apart, kept as it was: docs/gradcheck.md says why. */
static bool is_known(const fresh_box *box)
{
    return strcmp(box->name, "when_descending") == 0;
}

START_TEST(what_was_written_down_before_is_told_apart)
{
    for (int seed = 0; seed < seeds(2, 50); seed++) {
        const tg_gradcheck_options options = {.seed = (uint64_t)seed};
        for (int i = 0; i < fresh_wrong_count; i++) {
            const tg_gradcheck_result result = fresh_check(&fresh_wrong[i], &options);
            ck_assert_msg((!result.passed && result.status != TG_GRADCHECK_CANNOT_TELL) || is_known(&fresh_wrong[i]),
                          "seed %d, %s: %s", seed, fresh_wrong[i].what, result.why);
        }
        for (int i = 0; i < fresh_right_count; i++) {
            const tg_gradcheck_result result = fresh_check(&fresh_right[i], &options);
            ck_assert_msg(result.passed, "seed %d, %s: %s", seed, fresh_right[i].what, result.why);
        }
    }
}
END_TEST

/* At equal elements each point has one random direction: of this seed, all three are (1, -1), where the derivatives of
 * a divided difference cancel, also if they are twice as large. */
START_TEST(a_direction_along_which_derivatives_cancel_shows_nothing)
{
    for (int i = 0; i < fresh_wrong_count; i++)
        if (strcmp(fresh_wrong[i].name, "quotient_limit") == 0) {
            const tg_gradcheck_result result = fresh_check(&fresh_wrong[i], &(tg_gradcheck_options){.seed = 52});
            ck_assert_msg(result.status == TG_GRADCHECK_WRONG, "%s", result.why);
        }
}
END_TEST

/* ---- lists at the edge of rounding ---- */

/* Counts those that cannot tell although noise does not hide an error of the promise. */
static const char *check_edge(int seed, work *w, char *why)
{
    const tg_gradcheck_options options = {.seed = (uint64_t)seed};
    for (int i = 0; i < edge_right_count; i++) {
        const tg_gradcheck_result result = fresh_check(&edge_right[i], &options);
        const bool undecided = result.status == TG_GRADCHECK_CANNOT_TELL;
        snprintf(why, sizeof w->first, "seed %d, %s: %s", seed, edge_right[i].what, result.why);
        if (result.passed == undecided)
            return why;
        w->checks += !edge_right[i].hard;
        w->cannot_tell += undecided && !edge_right[i].hard;
    }
    return NULL;
}

START_TEST(no_right_function_at_the_edge_of_rounding_is_called_wrong)
{
    work w = {.check = check_edge};
    ck_assert_int_eq(edge_right_count, 60);
    check_seeds(&w, 0, seeds(5, 1000));
    ck_assert_msg(20 * w.cannot_tell <= w.checks, "cannot tell in %lld of %lld", (long long)w.cannot_tell,
                  (long long)w.checks);
}
END_TEST

static bool is_called_wrong(const fresh_box *box, uint64_t seed, tg_gradcheck_result *result)
{
    *result = fresh_check(box, &(tg_gradcheck_options){.seed = seed});
    return !result->passed && result->status != TG_GRADCHECK_CANNOT_TELL;
}

START_TEST(every_wrong_function_is_caught_with_noise_and_without)
{
    tg_gradcheck_result result;
    ck_assert_int_eq(edge_wrong_count, 60);
    for (int seed = 0; seed < seeds(2, 200); seed++)
        for (int i = 0; i < edge_wrong_count; i++) {
            fresh_box box = edge_wrong[i];
            ck_assert_msg(is_called_wrong(&box, (uint64_t)seed, &result), "seed %d, %s: %s", seed, box.what,
                          result.why);
            box.noise = 1e-6;
            ck_assert_msg(box.hard || is_called_wrong(&box, (uint64_t)seed, &result), "noise, seed %d, %s: %s", seed,
                          box.what, result.why);
        }
}
END_TEST

/* Rounding of numbers of about 1 is no error where evaluations are counted and it is not measured. What stops at a
 * tolerance without a promise looks wrong in so few. */
START_TEST(few_evaluations_call_no_rounding_wrong)
{
    for (int seed = 0; seed < seeds(2, 100); seed++)
        for (int i = 0; i < edge_right_count; i++) {
            const tg_gradcheck_options options = {.seed = (uint64_t)seed, .evaluations = 40 + 37 * (seed % 5)};
            const tg_gradcheck_result v = fresh_check(&edge_right[i], &options);
            ck_assert_msg(v.status != TG_GRADCHECK_WRONG || strncmp(edge_right[i].name, "bisected", 8) == 0 ||
                              strncmp(edge_right[i].name, "fixed", 5) == 0,
                          "seed %d: %s", seed, v.why);
        }
}
END_TEST

/* 1 + 1e-6 sin(1e10 x), a wave that is shorter than nearly all steps. */
static bool wave(const void *const *in, void *const *out, void *user)
{
    (void)user;
    *(double *)out[0] = 1 + 1e-6 * sin(1e10 * *(const double *)in[0]);
    return true;
}

static bool wave_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    (void)user;
    *(double *)gradients[0] = *(const double *)cotangents[0] * 1e4 * cos(1e10 * *(const double *)in[0]);
    return true;
}

START_TEST(a_wave_between_the_steps_is_no_noise)
{
    const tg_black_box box = {.value = wave, .vjp = wave_vjp};
    for (int k = 1; k <= 30; k += seeds(2, 1))
        for (int seed = 0; seed < seeds(8, 30); seed++) {
            const double x = -3 + 0.2137 * k;
            const tg_gradcheck_input in = {.data = &x};
            const tg_gradcheck_result v =
                tg_gradcheck_function(&box, &in, 1, &(tg_gradcheck_options){.seed = (uint64_t)seed});
            ck_assert_msg(v.passed || v.status == TG_GRADCHECK_CANNOT_TELL, "seed %d, x %g: %s", seed, x, v.why);
        }
}
END_TEST

/* ---- roots from a bracket that begins at 0 ---- */

enum { EQUATIONS = 3, BRACKETS = 4, ROOTS = 3 };

typedef struct bisection {
    int equation, bracket;
    double tolerance, factor; /* of the derivative that is given */
} bisection;

static double root_of(const bisection *b, double x)
{
    const double y = fabs(x), ends[BRACKETS] = {fmax(y, 1), y + 1, 2 * y, 1000};
    double low = 0, high = ends[b->bracket];
    while (high - low > b->tolerance) {
        const double z = (low + high) / 2, values[EQUATIONS] = {z * z * z + z, 2 * z + z * z, sinh(z)};
        *(values[b->equation] < y ? &low : &high) = z;
    }
    return copysign((low + high) / 2, x);
}

static bool find_roots(const void *const *in, void *const *out, void *user)
{
    for (int i = 0; i < ROOTS; i++)
        ((double *)out[0])[i] = root_of(user, ((const double *)in[0])[i]);
    return true;
}

static bool roots_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    const bisection *b = user;
    for (int i = 0; i < ROOTS; i++) {
        const double z = fabs(root_of(b, ((const double *)in[0])[i])),
                     slopes[EQUATIONS] = {3 * z * z + 1, 2 + 2 * z, cosh(z)};
        ((double *)gradients[0])[i] = ((const double *)cotangents[0])[i] * b->factor / slopes[b->equation];
    }
    return true;
}

static void check_bisection(bisection *b, int seed, double promised)
{
    static const double points[][ROOTS] = {{1.3, 0.4, -2.2}, {1, 0, 5}, {1e-3, 0.2, 0.5}};
    const tg_shape shape = TG_SHAPE(ROOTS);
    const tg_black_box box = {.outputs = &shape, .output_count = 1, .value = find_roots, .vjp = roots_vjp, .user = b};
    const tg_gradcheck_input in = {.shape = shape, .data = points[seed % 3]};
    const tg_gradcheck_options options = {.seed = (uint64_t)seed, .value_atol = promised};
    const tg_gradcheck_result v = tg_gradcheck_function(&box, &in, 1, &options);
    ck_assert_msg(b->factor == 1 ? v.passed || v.status == TG_GRADCHECK_CANNOT_TELL : !v.passed,
                  "equation %d, bracket %d, tolerance %g, seed %d, factor %g: %s", b->equation, b->bracket,
                  b->tolerance, seed, b->factor, v.why);
}

/* Within a tolerance such a root is a staircase of steps or of straight lines through 0, with a kink at 0. */
START_TEST(a_bisected_root_is_not_called_wrong_and_passes_with_no_wrong_derivative)
{
    for (int k = 0; k < EQUATIONS * BRACKETS; k++)
        for (double tolerance = 1e-4; tolerance > 0.5e-12; tolerance /= sqrt(10))
            for (int seed = k; seed < k + seeds(1, 30); seed++) {
                check_bisection(&(bisection){k / BRACKETS, k % BRACKETS, tolerance, 1}, seed, 0);
                check_bisection(&(bisection){k / BRACKETS, k % BRACKETS, tolerance, 1.03}, seed, 0);
            }
}
END_TEST

/* Steps may be so wide that the root does not change at all over those of a difference. */
START_TEST(a_root_that_is_promised_to_within_its_steps_is_not_called_wrong)
{
    for (int k = 0; k < EQUATIONS * BRACKETS; k++)
        for (double tolerance = 1e-2; tolerance > 0.5e-5; tolerance /= 10)
            for (int seed = 0; seed < seeds(3, 30); seed++)
                check_bisection(&(bisection){k / BRACKETS, k % BRACKETS, tolerance, 1}, seed, tolerance);
}
END_TEST

/* ---- random formulas ---- */

/* A value and its derivatives by three inputs, through nine random steps of `r`, each of two earlier numbers. */
enum { INPUTS = 3, STEPS = 9 };

typedef struct dual {
    double v, d[INPUTS];
} dual;

typedef struct formula {
    struct {
        int kind, a, b;
        double c;
    } steps[STEPS];
    double factors[INPUTS]; /* of the derivatives that are given */
} formula;

static dual take_step(int kind, const dual *x, const dual *y, double c)
{
    const double a = x->v, b = y->v, q = 1 + b * b;
    double v = 0, by_a = 0, by_b = 0;
    switch (kind) {
    case 0:
        v = a + b, by_a = by_b = 1;
        break;
    case 1:
        v = a - b, by_a = 1, by_b = -1;
        break;
    case 2:
        v = a * b, by_a = b, by_b = a;
        break;
    case 3:
        v = a / q, by_a = 1 / q, by_b = -2 * b * a / q / q;
        break;
    case 4:
        v = tanh(a), by_a = 1 - v * v;
        break;
    case 5:
        v = sin(a), by_a = cos(a);
        break;
    case 6:
        v = log1p(a * a), by_a = 2 * a / (1 + a * a);
        break;
    case 7:
        v = exp(-fabs(a)), by_a = a > 0 ? -v : a < 0 ? v : 0;
        break;
    case 8:
        v = fmax(a, b), by_a = a >= b, by_b = !(a >= b);
        break;
    case 9:
        v = sqrt(1e-3 + a * a), by_a = a / v;
        break;
    case 10:
        v = a * c, by_a = c;
        break;
    default:
        v = a * a, by_a = 2 * a;
    }
    dual result = {.v = v};
    for (int k = 0; k < INPUTS; k++)
        result.d[k] = by_a * x->d[k] + by_b * y->d[k];
    return result;
}

static dual run_formula(const formula *f, const double *x)
{
    dual numbers[INPUTS + STEPS] = {0};
    for (int i = 0; i < INPUTS; i++) {
        numbers[i].v = x[i];
        numbers[i].d[i] = 1;
    }
    for (int p = 0; p < STEPS; p++)
        numbers[INPUTS + p] =
            take_step(f->steps[p].kind, &numbers[f->steps[p].a], &numbers[f->steps[p].b], f->steps[p].c);
    return numbers[INPUTS + STEPS - 1];
}

static bool formula_value(const void *const *in, void *const *out, void *user)
{
    *(double *)out[0] = run_formula(user, in[0]).v;
    return true;
}

static bool formula_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    const formula *f = user;
    const dual result = run_formula(f, in[0]);
    for (int i = 0; i < INPUTS; i++)
        ((double *)gradients[0])[i] = *(const double *)cotangents[0] * result.d[i] * f->factors[i];
    return true;
}

START_TEST(random_formulas_are_right_and_with_a_factor_of_a_derivative_wrong)
{
    for (int seed = 0; seed < seeds(300, 4000); seed++) {
        formula f = {.factors = {1, 1, 1}};
        double x[INPUTS];
        tg_rng rng = tg_rng_seed((uint64_t)seed);
        for (int p = 0; p < STEPS; p++) {
            f.steps[p].kind = (int)tg_rng_below(&rng, 12);
            f.steps[p].a = p > 0 && tg_rng_below(&rng, 2) ? INPUTS + p - 1 : (int)tg_rng_below(&rng, INPUTS + p);
            f.steps[p].b = (int)tg_rng_below(&rng, INPUTS + p);
            f.steps[p].c = ldexp(1 + tg_rng_uniform(&rng), (int)tg_rng_below(&rng, 12) - 6);
        }
        for (int i = 0; i < INPUTS; i++)
            x[i] = 4 * tg_rng_uniform(&rng) - 2;
        const tg_gradcheck_input in = {.shape = TG_SHAPE(INPUTS), .data = x};
        const tg_black_box box = {.value = formula_value, .vjp = formula_vjp, .user = &f};
        const tg_gradcheck_options options = {.seed = (uint64_t)seed, .here_only = seed % 2};
        tg_gradcheck_result result = tg_gradcheck_function(&box, &in, 1, &options);
        ck_assert_msg(result.passed || result.status == TG_GRADCHECK_CANNOT_TELL, "seed %d: %s", seed, result.why);
        const dual at = run_formula(&f, x);
        const int wrong = seed % INPUTS;
        if (fabs(at.d[wrong] * x[wrong]) <= 1e-5 * fabs(at.v))
            continue; /* below the promise */
        f.factors[wrong] = 1.03;
        result = tg_gradcheck_function(&box, &in, 1, &options);
        ck_assert_msg(!result.passed, "seed %d, x %d: %s", seed, wrong, result.why);
    }
}
END_TEST

/* ---- rounding ---- */

static void assert_passes(const tg_op *op, uint64_t seed)
{
    tg_gradcheck_result result = tg_gradcheck_op(op, &(tg_gradcheck_options){.order = 2, .seed = seed});
    ck_assert_msg(result.passed, "seed %d: %s", (int)seed, result.why);
    ck_assert_msg(result.relative < 1e-6, "seed %d: %s", (int)seed, result.why);
}

/* The gradient y (g - sum y g) of a decided softmax is a difference of numbers near 1, of which only rounding
 * remains. */
static tg_tensor decided_softmax(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_softmax(in[0], -1);
}

START_TEST(what_rounding_leaves_of_terms_that_cancel_may_differ)
{
    static const double far_apart[] = {800, 763.5, -790, 600};
    const tg_gradcheck_input in = {.shape = TG_SHAPE(4), .data = far_apart};
    assert_passes(&tg_op_causal_softmax, 185);
    assert_passes(&tg_op_softmax, 349);
    assert_passes(&tg_op_softmax, 658);
    assert_passes(&tg_op_cross_entropy_grad, 481);
    assert_passes(&tg_op_cross_entropy_grad, 773); /* where the measurement finds only a sixth of the rounding */
    for (int seed = 0; seed < seeds(200, 5000); seed++) {
        tg_gradcheck_result result =
            tg_gradcheck(decided_softmax, NULL, &in, 1, &(tg_gradcheck_options){.order = 2, .seed = (uint64_t)seed});
        ck_assert_msg(result.passed, "seed %d: %s", seed, result.why);
    }
}
END_TEST

static tg_tensor tiny_power(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_pow(in[0], in[1]);
}

/* The square of 1e-220 is 0 in double, but the rounding of such a small number is not. */
START_TEST(tiny_results_have_rounding_too)
{
    static const double base[] = {1.051, 1.0525, 1.074, 1.06}, exponent[] = {-10000, -9999.25, -10000, -10011};
    const tg_gradcheck_input in[] = {{.shape = TG_SHAPE(4), .data = base}, {.shape = TG_SHAPE(4), .data = exponent}};
    assert_passes(&tg_op_pow, 448);
    assert_passes(&tg_op_pow, 557);
    for (int seed = 0; seed < seeds(50, 1000); seed++) {
        tg_gradcheck_result result =
            tg_gradcheck(tiny_power, NULL, in, 2, &(tg_gradcheck_options){.order = 2, .seed = (uint64_t)seed});
        ck_assert_msg(result.passed && result.relative < 1e-6, "seed %d: %s", seed, result.why);
    }
}
END_TEST

/* 0.9315^-10000 is 1.3e308, and its derivative by the base is infinite in double: the checker must not choose such a
 * point. */
START_TEST(a_derivative_beyond_the_largest_number_is_no_fault)
{
    assert_passes(&tg_op_pow, 595);
}
END_TEST

Suite *gradcheck_right_suite(void)
{
    Suite *suite = suite_create("gradcheck_right");
    TCase *tests = tcase_create("gradcheck_right");
    tcase_set_timeout(tests, 300);
    const int first = today(5); /* of five seeds one a day */
    tcase_add_loop_test(tests, no_right_operation_is_rejected, first, first + 5 / every(5));
    tcase_add_test(tests, no_right_function_is_called_wrong);
    tcase_add_test(tests, what_was_written_down_before_is_told_apart);
    tcase_add_test(tests, a_direction_along_which_derivatives_cancel_shows_nothing);
    tcase_add_test(tests, no_right_function_at_the_edge_of_rounding_is_called_wrong);
    tcase_add_test(tests, every_wrong_function_is_caught_with_noise_and_without);
    tcase_add_test(tests, few_evaluations_call_no_rounding_wrong);
    tcase_add_test(tests, a_wave_between_the_steps_is_no_noise);
    tcase_add_test(tests, a_root_that_is_promised_to_within_its_steps_is_not_called_wrong);
    tcase_add_test(tests, a_bisected_root_is_not_called_wrong_and_passes_with_no_wrong_derivative);
    tcase_add_test(tests, random_formulas_are_right_and_with_a_factor_of_a_derivative_wrong);
    tcase_add_test(tests, what_rounding_leaves_of_terms_that_cancel_may_differ);
    tcase_add_test(tests, tiny_results_have_rounding_too);
    tcase_add_test(tests, a_derivative_beyond_the_largest_number_is_no_fault);
    suite_add_tcase(suite, tests);
    return suite;
}
