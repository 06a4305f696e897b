/* Elements picked by integer tensors, against loops; and indices out of range. */
#include "tests/support/tensors.h"

Suite *index_suite(void);

/* Indices in [0, bound), the same in every run. */
static tg_tensor indices(tg_shape shape, int32_t bound)
{
    int32_t index[256];
    for (int64_t i = 0; i < tg_shape_size(&shape); i++)
        index[i] = (int32_t)((i * i * 7 + i * 3 + 1) % bound);
    return tg_constant(tape, TG_I32, index, shape);
}

START_TEST(gather_and_scatter_add_follow_their_index)
{
    for (int which = 0; which < 3; which++) {
        const tg_dtype dtype = (tg_dtype)which;
        tg_tensor x = counted(dtype, TG_SHAPE(2, 5, 3)), index = indices(TG_SHAPE(2, 4, 3), 5),
                  y = tg_gather(x, 1, index);
        assert_shape(y, TG_SHAPE(2, 4, 3));
        for (int64_t i = 0; i < 24; i++)
            ck_assert_double_eq(tg_at(y, i), tg_at(x, (i / 12 * 5 + (int64_t)tg_at(index, i)) * 3 + i % 3));
        if (dtype == TG_I32)
            continue;
        double sum[42] = {0};
        tg_tensor back = tg_scatter_add(y, -2, index, 7);
        assert_shape(back, TG_SHAPE(2, 7, 3));
        for (int64_t i = 0; i < 24; i++)
            sum[(i / 12 * 7 + (int64_t)tg_at(index, i)) * 3 + i % 3] += tg_at(y, i);
        for (int64_t i = 0; i < 42; i++)
            ck_assert_double_eq(tg_at(back, i), sum[i]);
    }
}
END_TEST

START_TEST(selected_slices_take_the_place_of_the_axis)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 5, 3)), index = indices(TG_SHAPE(2, 2), 5),
              y = tg_index_select(x, 1, index);
    assert_shape(y, TG_SHAPE(2, 2, 2, 3));
    for (int64_t i = 0; i < 24; i++)
        ck_assert_double_eq(tg_at(y, i), tg_at(x, (i / 12 * 5 + (int64_t)tg_at(index, i / 3 % 4)) * 3 + i % 3));
    assert_shape(tg_index_select(x, -1, indices(TG_SCALAR, 3)), TG_SHAPE(2, 5));
    assert_shape(tg_index_select(x, 0, indices(TG_SHAPE(0), 2)), TG_SHAPE(0, 5, 3));
}
END_TEST

START_TEST(rows_of_a_table_that_are_used_twice_get_both_gradients)
{
    const int32_t words[] = {3, 0, 3, 3, 1, 0};
    tg_tensor table = drawn(TG_F32, TG_SHAPE(5, 20)), index = tg_constant(tape, TG_I32, words, TG_SHAPE(2, 3));
    tg_tensor y = tg_embedding(table, index);
    assert_shape(y, TG_SHAPE(2, 3, 20));
    for (int64_t i = 0; i < 120; i++)
        ck_assert_double_eq(tg_at(y, i), tg_at(table, words[i / 20] * 20 + i % 20));
    ck_assert(tg_backward(tg_sum(y)));
    const double uses[] = {2, 1, 0, 3, 0};
    for (int64_t i = 0; i < 100; i++)
        ck_assert_double_eq(tg_at(tg_gradient(table), i), uses[i / 20]);
}
END_TEST

START_TEST(one_hot_has_a_one_at_the_index)
{
    tg_tensor index = indices(TG_SHAPE(2, 3), 4), y = tg_one_hot(index, 4, TG_F64);
    assert_shape(y, TG_SHAPE(2, 3, 4));
    for (int64_t i = 0; i < 24; i++)
        ck_assert_double_eq(tg_at(y, i), tg_at(index, i / 4) == i % 4);
    ck_assert_int_eq(tg_dtype_of(tg_one_hot(index, 4, TG_F32)), TG_F32);
    assert_shape(tg_one_hot(indices(TG_SCALAR, 1), 3, TG_F32), TG_SHAPE(3));
}
END_TEST

START_TEST(an_index_out_of_range_is_named_with_its_place_and_the_bound)
{
    const int32_t index[] = {0, 1, 2, 1, 5, 0}, negative = -1;
    tg_tensor x = drawn(TG_F32, TG_SHAPE(2, 3)), i = tg_constant(tape, TG_I32, index, TG_SHAPE(2, 3));
    tg_gather(x, 1, i);
    expect_error("gather(f32[2, 3], i32[2, 3]): index 5 at [1, 1] is out of range: expected 0 to below 3");
    tg_scatter_add(x, 1, i, 4);
    expect_error("scatter_add(f32[2, 3], i32[2, 3]): index 5 at [1, 1] is out of range: expected 0 to below 4");
    tg_embedding(x, i);
    expect_error("index_select(f32[2, 3], i32[2, 3]): index 2 at [0, 2] is out of range: expected 0 to below 2");
    tg_index_add(drawn(TG_F32, TG_SHAPE(2, 3, 2)), 0, i, 2);
    expect_error("index_add(f32[2, 3, 2], i32[2, 3]): index 2 at [0, 2] is out of range: expected 0 to below 2");
    tg_one_hot(i, 5, TG_F32);
    expect_error("one_hot(i32[2, 3]): index 5 at [1, 1] is out of range: expected 0 to below 5");
    tg_embedding(x, tg_constant(tape, TG_I32, &negative, TG_SCALAR));
    expect_error("index -1 at [] is out of range: expected 0 to below 2");
    ck_assert_double_eq(tg_item(tg_sum(tg_one_hot(i, 6, TG_F32))), 6); /* and the tape works again */
}
END_TEST

START_TEST(indices_of_the_wrong_shape_or_type_are_named)
{
    tg_tensor x = drawn(TG_F32, TG_SHAPE(2, 3)), i = indices(TG_SHAPE(3, 3), 2);
    tg_gather(x, 1, i);
    expect_error("gather(f32[2, 3], i32[3, 3]): expected an index of the shape of the first input but for axis 1");
    tg_gather(x, 1, x);
    expect_error("gather(f32[2, 3], f32[2, 3]): expected an index of type i32");
    tg_gather(x, 2, i);
    expect_error("gather(f32[2, 3]): there is no axis 2");
    tg_scatter_add(x, 0, i, 4);
    expect_error("expected an index for each element");
    tg_scatter_add(x, 0, i, INT64_MAX);
    expect_error("expected a size from 0 to 2147483647");
    tg_index_add(x, 1, i, 2);
    expect_error("expected the axes of the index in the first input, from axis 1 on");
    tg_one_hot(x, 3, TG_F32);
    expect_error("one_hot(f32[2, 3]): expected an index of type i32");
    ck_assert(!tg_ok(tg_embedding(TG_NONE, TG_NONE)));
}
END_TEST

Suite *index_suite(void)
{
    Suite *suite = suite_create("index");
    TCase *tests = tcase_create("index");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, gather_and_scatter_add_follow_their_index);
    tcase_add_test(tests, selected_slices_take_the_place_of_the_axis);
    tcase_add_test(tests, rows_of_a_table_that_are_used_twice_get_both_gradients);
    tcase_add_test(tests, one_hot_has_a_one_at_the_index);
    tcase_add_test(tests, an_index_out_of_range_is_named_with_its_place_and_the_bound);
    tcase_add_test(tests, indices_of_the_wrong_shape_or_type_are_named);
    suite_add_tcase(suite, tests);
    return suite;
}
