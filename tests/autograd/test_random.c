/* Random operations: the masks against Philox itself, gradients against the masks, and statistics. */
#include "tests/support/tensors.h"

#include <math.h>
#include <string.h>

Suite *random_suite(void);

static tg_rng generator;

static void start(void)
{
    start_tape();
    generator = tg_rng_seed(5);
}

/* Word number i of a stream. */
static uint32_t word_of(tg_tensor stream, int64_t i)
{
    uint32_t key[4], words[4];
    memcpy(key, tg_i32(stream), sizeof key);
    const uint32_t counter[4] = {(uint32_t)(i / 4), (uint32_t)(i / 4 >> 32), key[2], key[3]};
    tg_philox(counter, key, words);
    return words[i % 4];
}

START_TEST(a_draw_takes_the_next_two_numbers_of_its_generator)
{
    tg_rng same = generator;
    for (int step = 0; step < 2; step++) {
        uint64_t numbers[2] = {tg_rng_bits(&same), tg_rng_bits(&same)};
        tg_tensor stream = tg_random_stream(tape, &generator);
        ck_assert_int_eq(tg_dtype_of(stream), TG_I32);
        assert_shape(stream, TG_SHAPE(4));
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(tg_i32(stream)[i], (int32_t)(uint32_t)(numbers[i / 2] >> 32 * (i % 2)));
    }
    ck_assert(!tg_ok(tg_random_stream(tape, NULL)));
    expect_error("random_stream(): expected a generator, not NULL");
}
END_TEST

START_TEST(dropout_keeps_what_philox_says_and_scales_it)
{
    const double drop = 0.3;
    for (int precision = 0; precision < 2; precision++) {
        const tg_dtype dtype = precision ? TG_F64 : TG_F32;
        tg_tensor stream = tg_random_stream(tape, &generator), x = drawn(dtype, TG_SHAPE(7, 41));
        tg_tensor y = tg_dropout(x, stream, drop);
        for (int64_t i = 0; i < tg_size(x); i++) {
            const bool kept = word_of(stream, i) < (1 - drop) * 0x1p32;
            assert_close(tg_at(y, i), kept ? tg_at(x, i) / (1 - drop) : 0, dtype);
        }
    }
}
END_TEST

START_TEST(dropout_and_its_gradients_use_one_mask)
{
    tg_tensor stream = tg_random_stream(tape, &generator), x = drawn(TG_F64, TG_SHAPE(301)), first, second;
    tg_tensor y = tg_dropout(tg_square(x), stream, 0.5);
    ck_assert(tg_grad(&y, 1, &x, 1, NULL, true, &first));
    ck_assert(tg_grad(&first, 1, &x, 1, NULL, false, &second));
    for (int64_t i = 0; i < 301; i++) {
        const double mask = tg_at(y, i) != 0 ? 2 : 0;
        ck_assert_double_eq(tg_at(first, i), mask * 2 * tg_at(x, i));
        ck_assert_double_eq(tg_at(second, i), mask * 2);
    }
}
END_TEST

START_TEST(dropout_of_nothing_and_of_everything)
{
    tg_tensor stream = tg_random_stream(tape, &generator), x = drawn(TG_F32, TG_SHAPE(1000));
    tg_tensor whole = tg_dropout(x, stream, 0), none = tg_dropout(x, stream, 1);
    for (int i = 0; i < 1000; i++)
        ck_assert(tg_at(whole, i) == tg_at(x, i) && tg_at(none, i) == 0);
    ck_assert_int_eq(tg_size(tg_dropout(drawn(TG_F32, TG_SHAPE(0, 3)), stream, 0.5)), 0);
    ck_assert(!tg_ok(tg_dropout(x, stream, 1.5)));
    expect_error("dropout(f32[1000], i32[4]): expected a probability from 0 to 1, not 1.5");
    ck_assert(!tg_ok(tg_dropout(x, x, 0.5)));
    expect_error("expected a stream from tg_random_stream, an i32[4]");
}
END_TEST

START_TEST(dropout_leaves_the_mean_alone)
{
    enum { N = 200000 };
    tg_tensor ones = tg_full(tape, TG_F32, TG_SHAPE(N), 1);
    for (int tenth = 1; tenth < 10; tenth++) {
        const double drop = tenth / 10.;
        const double mean = tg_item(tg_mean(tg_dropout(ones, tg_random_stream(tape, &generator), drop)));
        ck_assert_double_le(fabs(mean - 1), 5 * sqrt(drop / (1 - drop) / N)); /* five standard errors */
    }
}
END_TEST

START_TEST(the_mean_of_the_stochastic_gelu_is_the_gelu)
{
    enum { POINTS = 5, N = 40000 };
    const double points[POINTS] = {-2, -0.5, 0.3, 1, 2.5};
    tg_tensor x = tg_expand(tg_variable(tape, TG_F64, points, TG_SHAPE(POINTS)), TG_SHAPE(N, POINTS));
    tg_tensor y = tg_stochastic_gelu(x, tg_random_stream(tape, &generator)), slope;
    ck_assert(tg_grad(&y, 1, &x, 1, NULL, false, &slope));
    for (int p = 0; p < POINTS; p++) {
        const double phi = 0.5 * erfc(-points[p] / sqrt(2)), error = sqrt(phi * (1 - phi) / N);
        double mean = 0, mean_slope = 0;
        for (int64_t i = p; i < N * POINTS; i += POINTS) {
            ck_assert(tg_at(y, i) == 0 || tg_at(y, i) == points[p]);
            ck_assert_double_eq(tg_at(slope, i), tg_at(y, i) != 0); /* the derivative is the mask */
            mean += tg_at(y, i) / N;
            mean_slope += tg_at(slope, i) / N;
        }
        ck_assert_double_le(fabs(mean - points[p] * phi), 5 * error * fabs(points[p]));
        ck_assert_double_le(fabs(mean_slope - phi), 5 * error);
    }
}
END_TEST

START_TEST(the_stochastic_gelu_has_limits)
{
    static const float numbers[] = {INFINITY, -INFINITY, -40, 40, 0};
    tg_tensor x = tg_variable(tape, TG_F32, numbers, TG_SHAPE(5));
    tg_tensor y = tg_stochastic_gelu(x, tg_random_stream(tape, &generator));
    ck_assert(tg_at(y, 0) == INFINITY && tg_at(y, 1) == 0 && tg_at(y, 2) == 0 && tg_at(y, 3) == 40 && tg_at(y, 4) == 0);
}
END_TEST

START_TEST(uniform_and_normal_numbers_have_their_moments)
{
    enum { N = 200000 };
    for (int precision = 0; precision < 2; precision++) {
        const tg_dtype dtype = precision ? TG_F64 : TG_F32;
        tg_tensor uniform = tg_random_uniform(tg_random_stream(tape, &generator), dtype, TG_SHAPE(N), -1, 3);
        tg_tensor normal = tg_random_normal(tg_random_stream(tape, &generator), dtype, TG_SHAPE(N), 2, 3);
        double sum = 0, squares = 0, fourth = 0;
        for (int i = 0; i < N; i++) {
            const double u = tg_at(uniform, i), z = (tg_at(normal, i) - 2) / 3;
            ck_assert(u >= -1 && u < 3);
            sum += z;
            squares += z * z;
            fourth += z * z * z * z;
        }
        /* Five standard errors: 4/sqrt(12 N), 1/sqrt(N), sqrt(2/N), sqrt(96/N). */
        ck_assert_double_le(fabs(tg_item(tg_mean(uniform)) - 1), 5 * 4 / sqrt(12. * N));
        ck_assert_double_le(fabs(sum / N), 5 / sqrt(N));
        ck_assert_double_le(fabs(squares / N - 1), 5 * sqrt(2. / N));
        ck_assert_double_le(fabs(fourth / N - 3), 5 * sqrt(96. / N));
    }
    ck_assert(!tg_ok(tg_random_normal(tg_random_stream(tape, &generator), TG_I32, TG_SHAPE(3), 0, 1)));
    expect_error("expected to make f32 or f64");
}
END_TEST

/* In [3, 4) the last float is 4 - 2^-22, and one word in 8.6 million was rounded to 4; in narrower intervals every
 * second number is affected. */
START_TEST(uniform_numbers_never_reach_the_end)
{
    enum { N = 20000 };
    static const struct {
        tg_dtype dtype;
        double low, high, last;
    } intervals[] = {
        {TG_F32, 1, 1 + 0x1p-22, 1 + 0x1p-23},
        {TG_F32, -2, -1, -1 - 0x1p-23},
        {TG_F32, 0, 0x1p-149, 0},
        {TG_F32, 5, 5, 5},
        {TG_F64, 1, 1 + 0x1p-51, 1 + 0x1p-52},
        {TG_F64, -1, 0, -0x1p-32},
        {TG_F32, 0.1, 0.7, 0x1.666664p-1},
    };
    for (size_t k = 0; k < sizeof intervals / sizeof *intervals; k++) {
        tg_tensor x = tg_random_uniform(tg_random_stream(tape, &generator), intervals[k].dtype, TG_SHAPE(N),
                                        intervals[k].low, intervals[k].high);
        const double first = intervals[k].dtype == TG_F32 ? (double)(float)intervals[k].low : intervals[k].low;
        double largest = -INFINITY;
        int outside = 0;
        for (int i = 0; i < N; i++) {
            const double u = tg_at(x, i);
            outside += u < first || u > intervals[k].last;
            largest = u > largest ? u : largest;
        }
        ck_assert_msg(outside == 0, "interval %zu: %d outside", k, outside);
        if (k == 0 || k == 4) /* for a quarter of all numbers: the tail is not cut off too early */
            ck_assert_double_eq(largest, intervals[k].last);
    }
    tg_tensor x = tg_random_uniform(tg_random_stream(tape, &generator), TG_F32, TG_SHAPE(1 << 24), 3, 4);
    const float *u = tg_f32(x);
    int reached = 0;
    for (int i = 0; i < 1 << 24; i++)
        reached += u[i] >= 4;
    ck_assert_int_eq(reached, 0);
}
END_TEST

START_TEST(one_stream_gives_one_set_of_numbers)
{
    tg_tensor stream = tg_random_stream(tape, &generator), other = tg_random_stream(tape, &generator);
    tg_tensor a = tg_random_normal(stream, TG_F64, TG_SHAPE(37), 0, 1),
              b = tg_random_normal(stream, TG_F64, TG_SHAPE(50), 0, 1),
              c = tg_random_normal(other, TG_F64, TG_SHAPE(37), 0, 1);
    int equal = 0;
    for (int i = 0; i < 37; i++) {
        ck_assert_double_eq(tg_at(a, i), tg_at(b, i));
        equal += tg_at(a, i) == tg_at(c, i);
    }
    ck_assert_int_eq(equal, 0);
}
END_TEST

Suite *random_suite(void)
{
    Suite *suite = suite_create("random");
    TCase *tests = tcase_create("random");
    tcase_add_checked_fixture(tests, start, finish_tape);
    tcase_add_test(tests, a_draw_takes_the_next_two_numbers_of_its_generator);
    tcase_add_test(tests, dropout_keeps_what_philox_says_and_scales_it);
    tcase_add_test(tests, dropout_and_its_gradients_use_one_mask);
    tcase_add_test(tests, dropout_of_nothing_and_of_everything);
    tcase_add_test(tests, dropout_leaves_the_mean_alone);
    tcase_add_test(tests, the_mean_of_the_stochastic_gelu_is_the_gelu);
    tcase_add_test(tests, the_stochastic_gelu_has_limits);
    tcase_add_test(tests, uniform_and_normal_numbers_have_their_moments);
    tcase_add_test(tests, uniform_numbers_never_reach_the_end);
    tcase_add_test(tests, one_stream_gives_one_set_of_numbers);
    suite_add_tcase(suite, tests);
    return suite;
}
