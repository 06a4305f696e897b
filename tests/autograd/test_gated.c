/* Gated products against the same functions composed of other operations. */
#include "tests/support/tensors.h"

#include <math.h>

Suite *gated_suite(void);

static const struct {
    const char *name;
    tg_tensor (*product)(tg_tensor a, tg_tensor b), (*activation)(tg_tensor x);
    tg_tensor (*gradient)(tg_tensor g, tg_tensor a, tg_tensor b);
} products[] = {
    {"glu", tg_glu, tg_sigmoid, tg_glu_grad},
    {"reglu", tg_reglu, tg_relu, tg_reglu_grad},
    {"geglu", tg_geglu, tg_gelu_exact, tg_geglu_grad},
    {"swiglu", tg_swiglu, tg_silu, tg_swiglu_grad},
    {"geglu_tanh", tg_geglu_tanh, tg_gelu_tanh, tg_geglu_tanh_grad},
    {"reglu_squared", tg_reglu_squared, tg_relu_squared, tg_reglu_squared_grad},
};
enum { PRODUCTS = sizeof products / sizeof products[0] };

static void assert_all_close(const char *what, tg_tensor x, tg_tensor y)
{
    tg_shape shape = tg_shape_of(y);
    assert_shape(x, shape);
    for (int64_t i = 0; i < tg_size(x); i++)
        ck_assert_msg(fabs(tg_at(x, i) - tg_at(y, i)) <=
                          (tg_dtype_of(x) == TG_F32 ? 1e-5 : 1e-13) * fmax(1, fabs(tg_at(y, i))),
                      "%s: element %d is %.17g, not %.17g", what, (int)i, tg_at(x, i), tg_at(y, i));
}

/* The gradients of sum(y w), then those of the sum of their squares, and so once more. */
static void assert_same_derivatives(const char *what, tg_tensor y, tg_tensor z, const tg_tensor inputs[2], int orders)
{
    tg_tensor weight = drawn(tg_dtype_of(y), tg_shape_of(y)), dy[2], dz[2];
    y = tg_sum(tg_mul(y, weight));
    z = tg_sum(tg_mul(z, weight));
    for (int order = 1; order <= orders; order++) {
        ck_assert_msg(tg_grad(&y, 1, inputs, 2, NULL, true, dy), "%s", tg_tape_error(tape));
        ck_assert(tg_grad(&z, 1, inputs, 2, NULL, true, dz));
        for (int i = 0; i < 2; i++)
            assert_all_close(what, dy[i], dz[i]);
        y = tg_add(tg_sum(tg_square(dy[0])), tg_sum(tg_square(dy[1])));
        z = tg_add(tg_sum(tg_square(dz[0])), tg_sum(tg_square(dz[1])));
    }
}

START_TEST(a_gated_product_is_the_activation_times_the_other_to_third_order)
{
    const tg_shape shapes[] = {TG_SHAPE(5, 7), TG_SCALAR, TG_SHAPE(2, 0), TG_SHAPE(1, 2, 1, 2, 1, 2, 1, 2)};
    for (int k = 0; k < PRODUCTS; k++)
        for (int which = 0; which < 8; which++) {
            const tg_dtype dtype = which % 2 ? TG_F64 : TG_F32;
            tg_tensor a = drawn(dtype, shapes[which / 2]), b = drawn(dtype, shapes[which / 2]), inputs[] = {a, b};
            tg_tensor y = products[k].product(a, b), z = tg_mul(products[k].activation(a), b);
            assert_all_close(products[k].name, y, z);
            assert_same_derivatives(products[k].name, y, z, inputs, dtype == TG_F64 ? 3 : 1);
        }
}
END_TEST

START_TEST(one_operation_computes_both_gradients)
{
    tg_tensor a = drawn(TG_F32, TG_SHAPE(3, 4)), b = drawn(TG_F32, TG_SHAPE(3, 4)), g = drawn(TG_F32, TG_SHAPE(3, 4));
    tg_tensor packed = tg_swiglu_grad(g, a, b);
    assert_shape(packed, TG_SHAPE(2, 12));
    for (int i = 0; i < 12; i++) {
        const double x = tg_at(a, i), s = 1 / (1 + exp(-x));
        assert_close(tg_at(packed, i), tg_at(g, i) * tg_at(b, i) * (s + x * s * (1 - s)), TG_F32);
        assert_close(tg_at(packed, 12 + i), tg_at(g, i) * x * s, TG_F32);
    }
}
END_TEST

/* As of relu(a) b composed of two operations, and in PyTorch. */
START_TEST(nothing_passes_a_closed_gate_however_large)
{
    static const double closed[4] = {-1, -2, 0, -1e-3}, large[4] = {1e300, -1e200, 1e308, INFINITY};
    for (int k = 0; k < PRODUCTS; k++) {
        if (products[k].activation != tg_relu && products[k].activation != tg_relu_squared)
            continue;
        for (int dtype = TG_F32; dtype <= TG_F64; dtype++) {
            const tg_tensor g = tg_full(tape, dtype, TG_SHAPE(37), dtype == TG_F32 ? 1e30 : 1e300);
            for (int i = 0; i < 4; i++) {
                const tg_tensor a = tg_full(tape, dtype, TG_SHAPE(37), closed[i]),
                                b = tg_full(tape, dtype, TG_SHAPE(37), large[i]),
                                packed = products[k].gradient(g, a, b);
                for (int j = 0; j < 37; j++)
                    ck_assert_double_eq(tg_at(packed, j), 0);
            }
        }
    }
}
END_TEST

/* Against the gradients of the same function composed of other operations. */
START_TEST(every_product_has_an_operation_for_both_gradients)
{
    const tg_shape shape = TG_SHAPE(5, 7);
    for (int k = 0; k < PRODUCTS; k++) {
        tg_tensor inputs[] = {drawn(TG_F64, shape), drawn(TG_F64, shape)}, g = drawn(TG_F64, shape), d[2];
        const tg_tensor y = tg_mul(products[k].activation(inputs[0]), inputs[1]);
        ck_assert(tg_grad(&y, 1, inputs, 2, &g, false, d));
        const tg_tensor packed = products[k].gradient(g, inputs[0], inputs[1]);
        for (int i = 0; i < 2; i++)
            assert_all_close(products[k].name, tg_reshape(tg_narrow(packed, 0, i, 1), shape), d[i]);
    }
}
END_TEST

START_TEST(both_gradients_are_right_when_only_one_is_asked_for)
{
    const double numbers[] = {-1, 0.5, 2};
    for (int k = 0; k < PRODUCTS; k++)
        for (int wanted = 0; wanted < 2; wanted++) {
            tg_tensor x = tg_variable(tape, TG_F64, numbers, TG_SHAPE(3));
            tg_tensor c = tg_constant(tape, TG_F64, (double[]){3, -2, 0.25}, TG_SHAPE(3)), dy, dz;
            tg_tensor y = wanted ? products[k].product(c, x) : products[k].product(x, c);
            tg_tensor z = wanted ? tg_mul(products[k].activation(c), x) : tg_mul(products[k].activation(x), c);
            ck_assert(tg_grad(&y, 1, &x, 1, NULL, false, &dy) && tg_grad(&z, 1, &x, 1, NULL, false, &dz));
            assert_all_close(products[k].name, dy, dz);
        }
}
END_TEST

START_TEST(a_closed_gate_stays_closed)
{
    static const double numbers[] = {-INFINITY, -1e300, -800};
    for (int k = 0; k < PRODUCTS; k++) {
        tg_tensor a = tg_variable(tape, TG_F64, numbers, TG_SHAPE(3)), b = drawn(TG_F64, TG_SHAPE(3)),
                  inputs[] = {a, b};
        tg_tensor y = products[k].product(a, b), gradients[2];
        ck_assert(tg_grad(&y, 1, inputs, 2, NULL, false, gradients));
        for (int i = 0; i < 3; i++)
            ck_assert_msg(tg_at(y, i) == 0 && tg_at(gradients[0], i) == 0 && tg_at(gradients[1], i) == 0, "%s at %g",
                          products[k].name, numbers[i]);
    }
}
END_TEST

START_TEST(operands_of_a_gated_product_have_one_shape)
{
    tg_tensor a = drawn(TG_F32, TG_SHAPE(3, 4)), b = drawn(TG_F32, TG_SHAPE(4)), c = drawn(TG_F64, TG_SHAPE(3, 4));
    ck_assert(!tg_ok(tg_geglu(a, b)));
    expect_error("geglu(f32[3, 4], f32[4]): expected tensors of one floating type and shape");
    ck_assert(!tg_ok(tg_geglu(a, c)));
    expect_error("expected inputs of one floating type");
}
END_TEST

Suite *gated_suite(void)
{
    Suite *suite = suite_create("gated");
    TCase *tests = tcase_create("gated");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, a_gated_product_is_the_activation_times_the_other_to_third_order);
    tcase_add_test(tests, one_operation_computes_both_gradients);
    tcase_add_test(tests, nothing_passes_a_closed_gate_however_large);
    tcase_add_test(tests, every_product_has_an_operation_for_both_gradients);
    tcase_add_test(tests, both_gradients_are_right_when_only_one_is_asked_for);
    tcase_add_test(tests, a_closed_gate_stays_closed);
    tcase_add_test(tests, operands_of_a_gated_product_have_one_shape);
    suite_add_tcase(suite, tests);
    return suite;
}
