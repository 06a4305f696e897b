/* Attention against its definition in loops; masks, and rows that are fully masked. */
#include "tests/support/tensors.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <pthread.h>

Suite *attention_suite(void);

enum { HEADS = 2, POSITIONS = 4, OTHERS = 5, SIZE = 3, WIDTH = 2 };

static bool sees(tg_tensor mask, bool causal, int64_t i, int64_t j)
{
    return (!tg_ok(mask) || tg_at(mask, i * OTHERS + j) != 0) && (!causal || j <= i);
}

/* Element `w` of the result at position `i` of head `h`; zero if the position sees nothing. */
static double attended(tg_tensor q, tg_tensor k, tg_tensor v, tg_tensor mask, bool causal, int64_t h, int64_t i,
                       int64_t w)
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
    /* A mask by which position 2 sees nothing. */
    const double allowed[POSITIONS * OTHERS] = {1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    for (int which = 0; which < 4; which++) {
        tg_tensor q = drawn(TG_F64, TG_SHAPE(HEADS, POSITIONS, SIZE)), k = drawn(TG_F64, TG_SHAPE(HEADS, OTHERS, SIZE));
        tg_tensor v = drawn(TG_F64, TG_SHAPE(HEADS, OTHERS, WIDTH)), mask = TG_NONE;
        if (which & 1)
            mask = tg_constant(tape, TG_F64, allowed, TG_SHAPE(POSITIONS, OTHERS));
        tg_tensor y = tg_scaled_dot_product_attention(q, k, v, mask, which & 2);
        assert_shape(y, TG_SHAPE(HEADS, POSITIONS, WIDTH));
        for (int64_t i = 0; i < tg_size(y); i++)
            assert_close(tg_at(y, i),
                         attended(q, k, v, mask, which & 2, i / (POSITIONS * WIDTH), i / WIDTH % POSITIONS, i % WIDTH),
                         TG_F64);
    }
}
END_TEST

START_TEST(a_position_that_sees_nothing_gives_zeros_in_value_and_gradient)
{
    tg_tensor q = drawn(TG_F32, TG_SHAPE(3, 4)), k = drawn(TG_F32, TG_SHAPE(3, 4)), v = drawn(TG_F32, TG_SHAPE(3, 4));
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

/* More positions than are computed at once, and a last block of one. */
enum { LONG = 65, ROW = 3 * 2 * 2 };

static tg_tensor constant_of(tg_dtype dtype, const double *numbers, tg_shape shape)
{
    static float rounded[LONG * ROW];
    for (int64_t i = 0; i < shape.dim[0] * shape.dim[1]; i++)
        rounded[i] = (float)numbers[i];
    return tg_constant(tape, dtype, dtype == TG_F32 ? (const void *)rounded : numbers, shape);
}

/* y = self_attention(x) of two heads, and the gradient of x for the cotangent g. */
static void attended_and_differentiated(tg_dtype dtype, const double *x, const double *g, double *y, double *dx)
{
    tg_tensor of = constant_of(dtype, x, TG_SHAPE(LONG, ROW)),
              cotangent = constant_of(dtype, g, TG_SHAPE(LONG, ROW / 3));
    tg_tensor attended = tg_self_attention(of, 2, 2, true);
    tg_tensor gradient = tg_self_attention_grad(cotangent, of, 2, 2, true);
    for (int64_t i = 0; i < LONG * ROW; i++)
        dx[i] = tg_at(gradient, i);
    for (int64_t i = 0; i < LONG * ROW / 3; i++)
        y[i] = tg_at(attended, i);
}

/* A position is computed from itself and earlier ones; NaN and infinity in others must not reach it, neither in the
 * forward pass, from later positions, nor in the backward pass, from the cotangents of earlier ones. */
START_TEST(what_a_causal_position_does_not_see_is_not_read)
{
    static double x[LONG * ROW], g[LONG * ROW / 3], y[LONG * ROW / 3], dx[LONG * ROW], seen_y[LONG * ROW / 3],
        seen_dx[LONG * ROW];
    const double strange = _i % 2 ? NAN : INFINITY;
    const tg_dtype dtype = _i / 2 ? TG_F64 : TG_F32;
    for (int k = 0; k < LONG; k += 7) { /* the strange position */
        ck_assert(tg_read(drawn(TG_F64, TG_SHAPE(LONG * ROW)), TG_F64, x, LONG * ROW) &&
                  tg_read(drawn(TG_F64, TG_SHAPE(LONG * ROW / 3)), TG_F64, g, LONG * ROW / 3));
        attended_and_differentiated(dtype, x, g, seen_y, seen_dx);
        for (int part = 0; part < 3; part++) { /* of query, key and value */
            const int at = k * ROW + part * ROW / 3 + 1;
            const double before = x[at];
            x[at] = strange;
            attended_and_differentiated(dtype, x, g, y, dx);
            ck_assert_msg(k == 0 || memcmp(y, seen_y, (size_t)k * ROW / 3 * sizeof *y) == 0,
                          "position %d of part %d reaches an earlier one", k, part);
            x[at] = before;
        }
        g[k * ROW / 3] = strange;
        attended_and_differentiated(dtype, x, g, y, dx);
        g[k * ROW / 3] = 0;
        attended_and_differentiated(dtype, x, g, seen_y, seen_dx);
        ck_assert_msg(memcmp(dx + (k + 1) * ROW, seen_dx + (k + 1) * ROW, (size_t)(LONG - k - 1) * ROW * sizeof *dx) ==
                          0,
                      "the cotangent at %d reaches what it does not see", k);
    }
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
    tg_tensor q = drawn(TG_F32, TG_SHAPE(2, 3)), k = drawn(TG_F32, TG_SHAPE(2, 4)), v = drawn(TG_F32, TG_SHAPE(2, 4));
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

/* Attention by slices, one head after the other. */
static tg_tensor head_of(tg_tensor x, int64_t number, int64_t size)
{
    return tg_slice(x, -1, number * size, (number + 1) * size, 1);
}

static tg_tensor head_after_head(tg_tensor x, int64_t heads, int64_t shared, bool causal)
{
    tg_tensor y[8];
    const int64_t size = tg_dim(x, -1) / (heads + 2 * shared);
    for (int64_t h = 0; h < heads; h++) {
        const int64_t key = heads + h / (heads / shared);
        y[h] = tg_scaled_dot_product_attention(head_of(x, h, size), head_of(x, key, size),
                                               head_of(x, key + shared, size), TG_NONE, causal);
    }
    return tg_concat(y, (int)heads, -1);
}

/* Query counts below, at and above a block, and several blocks; sizes that fill a vector and others; scores whose
 * exponentials would overflow. */
static const struct heads {
    int64_t batch, positions, heads, shared, size;
    double spread;
} various_heads[] = {{1, 1, 1, 1, 1, 1},   {2, 5, 2, 2, 3, 1},   {3, 32, 4, 4, 16, 1},
                     {1, 33, 4, 2, 8, 1},  {2, 64, 2, 1, 16, 1}, {1, 70, 6, 3, 5, 1},
                     {1, 150, 1, 1, 7, 1}, {4, 31, 8, 1, 2, 1},  {1, 9, 2, 1, 3, 8}};
enum { VARIOUS_HEADS = sizeof various_heads / sizeof *various_heads };

START_TEST(self_attention_is_the_attention_of_each_head_with_its_gradient)
{
    const struct heads *s = &various_heads[_i];
    for (int which = 0; which < 4; which++) {
        const tg_dtype dtype = which & 1 ? TG_F64 : TG_F32;
        const bool causal = which & 2;
        const tg_shape shape = TG_SHAPE(s->batch, s->positions, (s->heads + 2 * s->shared) * s->size);
        tg_tensor x = tg_mul_scalar(drawn(dtype, shape), s->spread),
                  g = drawn(dtype, TG_SHAPE(s->batch, s->positions, s->heads * s->size));
        tg_tensor y = tg_self_attention(x, s->heads, s->shared, causal), dx;
        tg_tensor same = head_after_head(x, s->heads, s->shared, causal), same_dx;
        assert_shape(y, tg_shape_of(g));
        ck_assert_msg(tg_grad(&y, 1, &x, 1, &g, false, &dx) && tg_grad(&same, 1, &x, 1, &g, false, &same_dx), "%s",
                      tg_tape_error(tape));
        for (int64_t i = 0; i < tg_size(y); i++)
            assert_close(tg_at(y, i), tg_at(same, i), dtype);
        for (int64_t i = 0; i < tg_size(x); i++)
            assert_close(tg_at(dx, i), tg_at(same_dx, i), dtype);
    }
}
END_TEST

START_TEST(heads_are_columns_apart_and_side_by_side_again)
{
    const int64_t batch = 3, positions = 4, heads = 5, size = 2;
    const tg_tensor x = drawn(TG_F64, TG_SHAPE(batch, positions, heads * size)), apart = tg_split_heads(x, heads),
                    back = tg_merge_heads(apart);
    assert_shape(apart, TG_SHAPE(heads, batch, positions, size));
    assert_shape(back, TG_SHAPE(batch, positions, heads * size));
    for (int64_t i = 0; i < tg_size(x); i++) {
        const int64_t column = i % (heads * size), row = i / (heads * size);
        ck_assert(tg_at(apart, (column / size * batch * positions + row) * size + column % size) == tg_at(x, i));
        ck_assert(tg_at(back, i) == tg_at(x, i));
    }
    assert_shape(tg_split_heads(drawn(TG_F32, TG_SHAPE(6, 8)), 4), TG_SHAPE(4, 6, 2));
    assert_shape(tg_merge_heads(drawn(TG_F32, TG_SHAPE(4, 0, 2))), TG_SHAPE(0, 8));
}
END_TEST

START_TEST(what_are_not_heads_is_named)
{
    const tg_shape nine_axes_then = {8, {1, 1, 1, 1, 1, 1, 2, 4}};
    tg_split_heads(drawn(TG_F32, TG_SHAPE(6, 8)), 3);
    expect_error("split_heads(f32[6, 8]): expected [..., positions, 3 size]");
    tg_split_heads(drawn(TG_F32, TG_SHAPE(6, 8)), 0);
    expect_error("split_heads(f32[6, 8])");
    tg_split_heads(drawn(TG_F32, TG_SHAPE(8)), 2);
    expect_error("split_heads(f32[8])");
    tg_split_heads(drawn(TG_F32, nine_axes_then), 2);
    expect_error("at most 7 axes");
    tg_merge_heads(drawn(TG_F32, TG_SHAPE(6, 8)));
    expect_error("merge_heads(f32[6, 8]): expected [heads, ..., positions, size]");
}
END_TEST

START_TEST(self_attention_holds_no_tensor_of_scores)
{
    enum { MANY = 600 };
    tg_tensor x = drawn(TG_F32, TG_SHAPE(MANY, 6)), y = tg_sum(tg_square(tg_self_attention(x, 2, 2, true)));
    ck_assert(tg_backward(y));
    ck_assert_int_lt(tg_tape_count(tape).bytes_used, MANY * MANY * 4 / 4);
}
END_TEST

/* Two products forward, five backward; a causal one computes about half of each. */
START_TEST(the_work_of_self_attention_is_counted)
{
    enum { BATCH = 2, LENGTH = 6, NUMBER = 4, SHARED = 2, EACH = 3 };
    for (int causal = 0; causal < 2; causal++) {
        tg_tape_reset(tape);
        tg_tape_time(tape, true);
        tg_tensor x = drawn(TG_F64, TG_SHAPE(BATCH, LENGTH, (NUMBER + 2 * SHARED) * EACH));
        ck_assert(tg_backward(tg_sum(tg_self_attention(x, NUMBER, SHARED, causal))));
        const double scores = BATCH * NUMBER * LENGTH * (causal ? (LENGTH + 1) / 2. : LENGTH);
        double work[2] = {0};
        tg_operation_time time;
        for (int64_t i = 0; tg_tape_time_at(tape, i, &time); i++)
            work[time.backward] += time.flops;
        ck_assert_double_eq(work[0], 2 * 2 * EACH * scores);
        ck_assert_double_eq(work[1], 5 * 2 * EACH * scores);
    }
}
END_TEST

/* In a thread that has computed nothing yet, and so has no scratch memory. */
static void *attend_without_memory(void *x)
{
    wrapped_memory_refuse_over(1 << 20);
    const bool fine = tg_ok(tg_self_attention(*(tg_tensor *)x, 1, 1, false));
    wrapped_memory_refuse_over(SIZE_MAX);
    return fine ? x : NULL;
}

START_TEST(want_of_memory_for_the_scores_is_an_error)
{
    tg_tensor x = drawn(TG_F32, TG_SHAPE(4, 6));
    void *fine = x.value;
    pthread_t thread;
    tg_set_threads(1);
    ck_assert_int_eq(pthread_create(&thread, NULL, attend_without_memory, &x), 0);
    ck_assert_int_eq(pthread_join(thread, &fine), 0);
    ck_assert_ptr_null(fine);
    expect_error("no memory for the scores of some queries");
}
END_TEST

START_TEST(heads_that_do_not_fit_are_named)
{
    tg_tensor x = drawn(TG_F32, TG_SHAPE(2, 12));
    tg_self_attention(x, 4, 3, false);
    expect_error("self_attention(f32[2, 12]): 4 heads cannot share 3 keys and values");
    tg_self_attention(x, 0, 1, false);
    expect_error("0 heads cannot share 1 keys and values");
    tg_self_attention(x, 3, 3, false);
    expect_error("self_attention(f32[2, 12]): expected [..., positions, (3 + 2 * 3) size], size at least 1");
    tg_self_attention(drawn(TG_F32, TG_SHAPE(12)), 1, 1, false);
    expect_error("expected [..., positions, (1 + 2 * 1) size]");
    tg_self_attention_grad(drawn(TG_F32, TG_SHAPE(2, 5)), x, 1, 1, false);
    expect_error("self_attention_grad(f32[2, 5], f32[2, 12]): expected a cotangent like the result");
    tg_self_attention_grad(drawn(TG_F64, TG_SHAPE(2, 4)), x, 1, 1, false);
    expect_error("self_attention_grad");
    tg_self_attention(drawn(TG_F32, TG_SHAPE(2, 0)), 1, 1, false);
    expect_error("size at least 1");
    tg_self_attention(x, INT64_MAX, INT64_MAX, false);
    expect_error("size at least 1");
    ck_assert(!tg_ok(tg_self_attention(TG_NONE, 1, 1, false)));
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
    tcase_add_loop_test(tests, what_a_causal_position_does_not_see_is_not_read, 0, 4);
    tcase_add_test(tests, attention_can_be_differentiated_twice);
    tcase_add_test(tests, queries_and_keys_that_do_not_fit_are_named);
    tcase_add_loop_test(tests, self_attention_is_the_attention_of_each_head_with_its_gradient, 0, VARIOUS_HEADS);
    tcase_add_test(tests, heads_are_columns_apart_and_side_by_side_again);
    tcase_add_test(tests, what_are_not_heads_is_named);
    tcase_add_test(tests, self_attention_holds_no_tensor_of_scores);
    tcase_add_test(tests, the_work_of_self_attention_is_counted);
    tcase_add_test(tests, want_of_memory_for_the_scores_is_an_error);
    tcase_add_test(tests, heads_that_do_not_fit_are_named);
    suite_add_tcase(suite, tests);
    return suite;
}
