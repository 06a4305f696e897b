/* The gradient checker moves elements that share no value together, and so needs fewer calls of the function. */
#include "autograd/gradcheck.h"
#include "autograd/ops.h"

#include <check.h>

Suite *gradcheck_together_suite(void);

/* A function of independent rows; counts its calls. */
static tg_tensor counted_softmax(tg_tape *own, const tg_tensor *in, int count, void *calls)
{
    (void)own, (void)count;
    ++*(int *)calls;
    return tg_softmax(tg_mul(in[0], in[0]), -1);
}

/* Each row depends on itself and on its mirror image from the other end. */
static tg_tensor counted_pairs(tg_tape *own, const tg_tensor *in, int count, void *calls)
{
    (void)own, (void)count;
    ++*(int *)calls;
    return tg_mul(in[0], tg_tanh(tg_flip(in[0], TG_AXES(0))));
}

START_TEST(elements_that_no_result_shares_are_compared_at_once)
{
    static const double x[] = {0.3, -1.2, 0.8, 1.9, -0.4, 0.7, 0.1, -2.1, 1.3, 0.5, -0.9, 1.1, -0.2, 0.6, 1.7, -1.5};
    const tg_function functions[] = {counted_softmax, counted_pairs};
    for (int f = 0; f < 2; f++) {
        int calls[2] = {0, 0};
        for (int many = 0; many < 2; many++) {
            const tg_gradcheck_input in = {.data = x, .shape = many ? TG_SHAPE(8, 2) : TG_SHAPE(1, 2)};
            const tg_gradcheck_options options = {.order = 2};
            const tg_gradcheck_result result = tg_gradcheck(functions[f], &calls[many], &in, 1, &options);
            ck_assert_msg(result.passed, "%s", result.why);
            ck_assert_int_eq((int)result.comparisons, many ? 32 : 4);
        }
        ck_assert_msg(calls[1] < 3 * calls[0], "%d calls for 16 elements, %d for two", calls[1], calls[0]);
    }
}
END_TEST

/* x^2 element by element, not declared elementwise; but the gradient of the fifth element is 7 instead of 2 x. */
static void wrong_fifth_derivative(const tg_derive *d)
{
    static const double fifth[] = {0, 0, 0, 0, 1, 0};
    tg_tape *tape = tg_tape_of(d->cotangent);
    const tg_tensor here = tg_constant(tape, TG_F64, fifth, TG_SHAPE(2, 3)),
                    seven = tg_full(tape, TG_F64, TG_SCALAR, 7);
    d->gradient[0] = tg_mul(d->cotangent, tg_where(here, seven, tg_mul_scalar(d->in[0], 2)));
}

static tg_tensor square_but_one(tg_tape *own, const tg_tensor *in, int count, void *op)
{
    (void)own, (void)count;
    return tg_apply(op, NULL, 1, in);
}

START_TEST(what_is_wrong_in_company_is_found_and_what_is_right_there_is_not_blamed)
{
    static const double x[] = {0.3, -1.2, 0.8, 1.9, -0.4, 0.7};
    tg_op op = tg_op_square;
    op.derivative = wrong_fifth_derivative;
    const tg_gradcheck_input in = {.data = x, .shape = TG_SHAPE(2, 3)};
    const tg_gradcheck_result result = tg_gradcheck(square_but_one, &op, &in, 1, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    ck_assert_int_eq((int)result.index, 4);
    ck_assert_double_eq_tol(result.analytic / result.numeric, 7 / (2 * x[4]), 1e-9);
    ck_assert_int_eq((int)result.comparisons, 5);
}
END_TEST

Suite *gradcheck_together_suite(void)
{
    Suite *suite = suite_create("gradcheck_together");
    TCase *tests = tcase_create("gradcheck_together");
    tcase_add_test(tests, elements_that_no_result_shares_are_compared_at_once);
    tcase_add_test(tests, what_is_wrong_in_company_is_found_and_what_is_right_there_is_not_blamed);
    suite_add_tcase(suite, tests);
    return suite;
}
