/* Attention against its definition in loops; masks, and rows that see nothing. */
#include "tests/tensors.h"

#include <math.h>

Suite *attention_suite(void);

enum { HEADS = 2, POSITIONS = 4, OTHERS = 5, SIZE = 3, WIDTH = 2 };

static bool sees(tg_tensor mask, bool causal, int64_t i, int64_t j)
{
    return (!tg_ok(mask) || tg_at(mask, i * OTHERS + j) != 0) && (!causal || j <= i);
}

/* Element `w` of what position `i` of head `h` gets; zero if it sees nothing. */
static double attended(tg_tensor q, tg_tensor k, tg_tensor v, tg_tensor mask, bool causal, int64_t h,
                       int64_t i, int64_t w)
{
    double total = 0, sum = 0;
    for (int64_t j = 0; j < OTHERS; j++) {
        if (!sees(mask, causal, i, j))
            continue;
        double score = 0;
        for (int64_t s = 0; s < SIZE; s++)
            score += tg_at(q, (h * POSITIONS + i) * SIZE + s) * tg_at(k, (h * OTHERS + j) * SIZE + s);
        const double e = exp(score / sqrt(SIZE));
        total += e;
        sum += e * tg_at(v, (h * OTHERS + j) * WIDTH + w);
    }
    return total > 0 ? sum / total : 0;
}

START_TEST(attention_is_its_definition)
{
    /* Position 2 sees nothing. */
    const double allowed[POSITIONS * OTHERS] = {1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    for (int which = 0; which < 4; which++) {
        tg_tensor q = drawn(TG_F64, TG_SHAPE(HEADS, POSITIONS, SIZE)),
                  k = drawn(TG_F64, TG_SHAPE(HEADS, OTHERS, SIZE));
        tg_tensor v = drawn(TG_F64, TG_SHAPE(HEADS, OTHERS, WIDTH)), mask = TG_NONE;
        if (which & 1)
            mask = tg_constant(tape, TG_F64, allowed, TG_SHAPE(POSITIONS, OTHERS));
        tg_tensor y = tg_scaled_dot_product_attention(q, k, v, mask, which & 2);
        assert_shape(y, TG_SHAPE(HEADS, POSITIONS, WIDTH));
        for (int64_t i = 0; i < tg_size(y); i++)
            assert_close(
                tg_at(y, i),
                attended(q, k, v, mask, which & 2, i / (POSITIONS * WIDTH), i / WIDTH % POSITIONS, i % WIDTH),
                TG_F64);
    }
}
END_TEST

START_TEST(a_position_that_sees_nothing_gives_zeros_in_value_and_gradient)
{
    tg_tensor q = drawn(TG_F32, TG_SHAPE(3, 4)), k = drawn(TG_F32, TG_SHAPE(3, 4)),
              v = drawn(TG_F32, TG_SHAPE(3, 4));
    tg_tensor none = tg_full(tape, TG_F32, TG_SHAPE(3, 3), 0), g[3];
    for (int causal = 0; causal < 2; causal++) {
        tg_tensor y = tg_scaled_dot_product_attention(q, k, v, none, causal);
        ck_assert(tg_grad(&y, 1, (tg_tensor[]){q, k, v}, 3, NULL, false, g));
        for (int i = 0; i < 12; i++) {
            ck_assert_double_eq(tg_at(y, i), 0);
            for (int input = 0; input < 3; input++)
                ck_assert_double_eq(tg_at(g[input], i), 0);
        }
    }
}
END_TEST

START_TEST(causal_attention_does_not_look_ahead)
{
    tg_tensor q = drawn(TG_F64, TG_SHAPE(4, 4, 3)), k = drawn(TG_F64, TG_SHAPE(4, 4, 3)),
              v = drawn(TG_F64, TG_SHAPE(4, 4, 3));
    tg_tensor y = tg_scaled_dot_product_attention(q, k, v, TG_NONE, true), early = tg_slice(y, 1, 0, 2, 1), g;
    ck_assert(tg_grad(&early, 1, &v, 1, NULL, false, &g));
    for (int64_t i = 0; i < 48; i++)
        ck_assert_int_eq(tg_at(g, i) == 0, i / 3 % 4 >= 2);
    tg_tensor mask = tg_tril(tg_full(tape, TG_F64, TG_SHAPE(4, 4), 1), 0);
    tg_tensor same = tg_scaled_dot_product_attention(q, k, v, mask, false);
    for (int64_t i = 0; i < 48; i++)
        assert_close(tg_at(y, i), tg_at(same, i), TG_F64);
}
END_TEST

static tg_tensor attend(tg_tape *on, const tg_tensor *in, int count, void *user)
{
    (void)on, (void)count, (void)user;
    return tg_scaled_dot_product_attention(in[0], in[1], in[2], in[3], true);
}

START_TEST(attention_can_be_differentiated_twice)
{
    double q[24], k[12], v[12];
    const double mask[16] = {0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1};
    ck_assert(tg_read(drawn(TG_F64, TG_SHAPE(24)), TG_F64, q, 24) &&
              tg_read(drawn(TG_F64, TG_SHAPE(12)), TG_F64, k, 12) &&
              tg_read(drawn(TG_F64, TG_SHAPE(12)), TG_F64, v, 12));
    const tg_gradcheck_input in[] = {{.name = "query", .shape = TG_SHAPE(2, 4, 3), .data = q},
                                     {.name = "key", .shape = TG_SHAPE(4, 3), .data = k},
                                     {.name = "value", .shape = TG_SHAPE(1, 4, 3), .data = v},
                                     {.name = "mask", .shape = TG_SHAPE(4, 4), .data = mask, .fixed = true}};
    tg_gradcheck_result result = tg_gradcheck(attend, NULL, in, 4, &(tg_gradcheck_options){.order = 2});
    ck_assert_msg(result.passed, "%s", result.why);
}
END_TEST

START_TEST(queries_and_keys_that_do_not_fit_are_named)
{
    tg_tensor q = drawn(TG_F32, TG_SHAPE(2, 3)), k = drawn(TG_F32, TG_SHAPE(2, 4)),
              v = drawn(TG_F32, TG_SHAPE(2, 4));
    tg_scaled_dot_product_attention(q, k, v, TG_NONE, false);
    expect_error("matmul(f32[2, 3], f32[2, 4]): the inner sizes differ: 3 columns against 4 rows");
    tg_scaled_dot_product_attention(drawn(TG_F32, TG_SHAPE(3)), k, v, TG_NONE, false);
    expect_error("scaled_dot_product_attention(f32[3]): expected a query");
    tg_causal_softmax(drawn(TG_F32, TG_SHAPE(3)));
    expect_error("causal_softmax(f32[3]): expected matrices in the last two axes");
    ck_assert(!tg_ok(tg_scaled_dot_product_attention(TG_NONE, TG_NONE, TG_NONE, TG_NONE, true)));
    tg_tensor nobody = drawn(TG_F32, TG_SHAPE(0, 4));
    tg_tensor y = tg_scaled_dot_product_attention(v, nobody, nobody, TG_NONE, false);
    assert_shape(y, TG_SHAPE(2, 4));
    ck_assert_double_eq(tg_at(y, 5), 0);
}
END_TEST

Suite *attention_suite(void)
{
    Suite *suite = suite_create("attention");
    TCase *tests = tcase_create("attention");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, attention_is_its_definition);
    tcase_add_test(tests, a_position_that_sees_nothing_gives_zeros_in_value_and_gradient);
    tcase_add_test(tests, causal_attention_does_not_look_ahead);
    tcase_add_test(tests, attention_can_be_differentiated_twice);
    tcase_add_test(tests, queries_and_keys_that_do_not_fit_are_named);
    suite_add_tcase(suite, tests);
    return suite;
}
