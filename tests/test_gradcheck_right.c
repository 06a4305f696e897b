/* The gradient checker does not cry wolf: right operations and functions pass, whatever the seed. */
#include "tests/right_functions.h"
#include "tests/seeds.h"

#include <check.h>
#include <stdlib.h>

Suite *gradcheck_right_suite(void);

START_TEST(no_right_function_is_called_wrong)
{
    int64_t checks = 0, cannot_tell = 0;
    for (int seed = 0; seed < seeds(5, 200); seed++)
        for (int i = 0; i < right_function_count(); i++)
            for (int order = 1; order <= 2; order++) {
                const tg_gradcheck_options options = {.order = order, .seed = (uint64_t)seed};
                tg_gradcheck_result result = right_function_check(i, &options);
                bool undecided = result.status == TG_GRADCHECK_CANNOT_TELL;
                ck_assert_msg(result.passed || undecided, "seed %d, %s: %s", seed, right_function_name(i), result.why);
                ck_assert(!(result.passed && undecided));
                checks += !right_function_is_noise(i);
                cannot_tell += undecided && !right_function_is_noise(i);
            }
    ck_assert_msg(50 * cannot_tell <= checks, "cannot tell in %lld of %lld", (long long)cannot_tell, (long long)checks);
}
END_TEST

START_TEST(no_right_operation_is_rejected)
{
    int share = seeds(10, 1000) / 10;
    share = share > 0 ? share : 1;
    for (int seed = _i * share; seed < (_i + 1) * share; seed++)
        for (int i = 0; tg_op_at(i); i++) {
            const tg_op *op = tg_op_at(i);
            if (op->flags & (TG_CONSTANT | TG_SOURCE))
                continue;
            const tg_gradcheck_options options = {.order = 2, .seed = (uint64_t)seed};
            tg_gradcheck_result result = tg_gradcheck_op(op, &options);
            ck_assert_msg(result.passed, "seed %d: %s", seed, result.why);
            /* of a thousand seeds one finds inputs that cancel nearly everything; 1e-5 is the error that differences may have at most */
            ck_assert_msg(result.relative < (getenv("TG_LONG") ? 1e-5 : 1e-7), "seed %d: %s", seed, result.why);
            ck_assert_int_gt(result.samples, 0);
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

/* The gradient y (g - sum y g) of a softmax that has decided is a difference of numbers like 1, of which nothing but rounding is left. */
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
    assert_passes(&tg_op_cross_entropy_grad, 773); /* where the measurement sees a sixth of the rounding */
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

/* The square of 1e-220 is 0 in double, and the rounding of what is so small is not. */
START_TEST(tiny_results_have_rounding_too)
{
    static const double base[] = {1.051, 1.0525, 1.074, 1.06}, exponent[] = {-10000, -9999.25, -10000, -10011};
    const tg_gradcheck_input in[] = {{.shape = TG_SHAPE(4), .data = base}, {.shape = TG_SHAPE(4), .data = exponent}};
    assert_passes(&tg_op_pow, 448);
    assert_passes(&tg_op_pow, 557);
    for (int seed = 0; seed < seeds(50, 1000); seed++) {
        tg_gradcheck_result result = tg_gradcheck(tiny_power, NULL, in, 2, &(tg_gradcheck_options){.order = 2, .seed = (uint64_t)seed});
        ck_assert_msg(result.passed && result.relative < 1e-6, "seed %d: %s", seed, result.why);
    }
}
END_TEST

/* 0.9315^-10000 is 1.3e308, and its derivative by the base infinite in double: such a point is not for the checker to choose. */
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
    tcase_add_loop_test(tests, no_right_operation_is_rejected, 0, 10);
    tcase_add_test(tests, no_right_function_is_called_wrong);
    tcase_add_test(tests, what_rounding_leaves_of_terms_that_cancel_may_differ);
    tcase_add_test(tests, tiny_results_have_rounding_too);
    tcase_add_test(tests, a_derivative_beyond_the_largest_number_is_no_fault);
    suite_add_tcase(suite, tests);
    return suite;
}
