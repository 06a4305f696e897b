/* Operations that move elements, against index arithmetic written out. */
#include "tests/support/tensors.h"

#include <stdlib.h>

Suite *shape_suite(void);

START_TEST(permute_moves_every_element_to_its_place)
{
    /* All 24 permutations, sizes below and above a tile of the transpose, three types. */
    static const int64_t dims[][4] = {{2, 3, 4, 5}, {1, 35, 2, 37}, {40, 1, 1, 33}, {3, 1, 64, 2}};
    for (int which = 0; which < 256 * 4; which++) {
        int order[4] = {which & 3, which >> 2 & 3, which >> 4 & 3, which >> 6 & 3};
        if ((1 << order[0] | 1 << order[1] | 1 << order[2] | 1 << order[3]) != 15)
            continue;
        const int64_t *dim = dims[which >> 8];
        tg_tensor x = counted((tg_dtype)(which % 3), TG_SHAPE(dim[0], dim[1], dim[2], dim[3]));
        tg_tensor y = tg_permute(x, TG_AXES(order[0], order[1] - 4, order[2], order[3]));
        assert_shape(y, TG_SHAPE(dim[order[0]], dim[order[1]], dim[order[2]], dim[order[3]]));
        for (int64_t i = 0; i < tg_size(y); i++) {
            int64_t rest = i, index[4];
            for (int axis = 3; axis >= 0; axis--) {
                index[order[axis]] = rest % dim[order[axis]];
                rest /= dim[order[axis]];
            }
            int64_t from = ((index[0] * dim[1] + index[1]) * dim[2] + index[2]) * dim[3] + index[3];
            ck_assert_double_eq(tg_at(y, i), (double)from);
        }
    }
}
END_TEST

START_TEST(transpose_swaps_two_axes_and_its_gradient_swaps_them_back)
{
    tg_tensor x = counted(TG_F64, TG_SHAPE(2, 3, 4)), y = tg_transpose(x, -1, 0),
              g = counted(TG_F64, TG_SHAPE(4, 3, 2));
    assert_shape(y, TG_SHAPE(4, 3, 2));
    ck_assert_double_eq(tg_at(y, 1), 12); /* y[0, 0, 1] = x[1, 0, 0] */
    tg_tensor back;
    ck_assert(tg_grad(&y, 1, &x, 1, &g, false, &back));
    assert_shape(back, TG_SHAPE(2, 3, 4));
    ck_assert_double_eq(tg_at(back, 12), 1);
    tg_transpose(x, 0, 3);
    expect_error("permute(f64[2, 3, 4]): expected each of the 3 axes once, not [0, 3]");
    tg_permute(x, TG_AXES(0, 1, 1));
    expect_error("not [0, 1, 1]");
    assert_shape(tg_permute(counted(TG_F32, TG_SHAPE(0, 3)), TG_AXES(1, 0)), TG_SHAPE(3, 0));
}
END_TEST

/* The indices of Python's x[start:stop:step] by the definition: start, start + step, ... while in range. */
static int64_t places(int64_t n, int64_t start, int64_t stop, int64_t step, int64_t *place)
{
    int64_t count = 0, from = start < 0 ? start + n : start, to = stop < 0 ? stop + n : stop;
    if (step > 0)
        for (int64_t i = from < 0 ? 0 : from; i < to && i < n; i += step)
            place[count++] = i;
    else
        for (int64_t i = from >= n ? n - 1 : from; i > to && i >= 0; i += step)
            place[count++] = i;
    return count;
}

START_TEST(slices_are_those_of_python)
{
    for (int64_t n = 0; n < 5; n++)
        for (int64_t start = -7; start < 8; start++)
            for (int64_t stop = -7; stop < 8; stop++)
                for (int64_t step = -3; step < 4; step++) {
                    if (step == 0)
                        continue;
                    int64_t place[16], count = places(n, start, stop, step, place);
                    tg_tensor x = counted(TG_F32, TG_SHAPE(2, n, 3)), y = tg_slice(x, 1, start, stop, step);
                    assert_shape(y, TG_SHAPE(2, count, 3));
                    for (int64_t i = 0; i < tg_size(y); i++)
                        ck_assert_double_eq(tg_at(y, i),
                                            (double)((i / (3 * count) * n + place[i / 3 % count]) * 3 + i % 3));
                    tg_tape_reset(tape);
                }
}
END_TEST

START_TEST(the_gradient_of_a_slice_is_placed_among_zeros)
{
    tg_tensor x = counted(TG_F64, TG_SHAPE(7)), y = tg_slice(x, 0, -1, INT64_MIN, -3), g = counted(TG_F64, TG_SHAPE(3)),
              back;
    ck_assert(tg_grad(&y, 1, &x, 1, &g, false, &back));
    const double expected[7] = {2, 0, 0, 1, 0, 0, 0};
    for (int i = 0; i < 7; i++)
        ck_assert_double_eq(tg_at(back, i), expected[i]);
}
END_TEST

START_TEST(leading_parts_share_memory_and_others_are_copied)
{
    tg_tensor x = counted(TG_F32, TG_SHAPE(4, 3)), rows = tg_slice(x, 0, 1, 3, 1), columns = tg_slice(x, 1, 1, 3, 1);
    ck_assert_ptr_eq(tg_f32(rows), tg_f32(x) + 3);
    ck_assert(tg_f32(columns) < tg_f32(x) || tg_f32(columns) >= tg_f32(x) + 12);
    ck_assert_ptr_eq(tg_f32(tg_narrow(x, -2, 3, 1)), tg_f32(x) + 9);
    tg_narrow(x, 1, 0, 2);
    expect_error("narrow(f32[4, 3]): expected a slice in one piece of memory");
    tg_narrow(x, 0, 2, 3);
    expect_error("3 elements from 2 by steps of 1 leave axis 0 of size 4");
    tg_slice(x, 0, 0, 2, 0);
    expect_error("slice(f32[4, 3]): expected a step other than 0");
    tg_slice(x, 2, 0, 2, 1);
    expect_error("slice(f32[4, 3]): there is no axis 2");
    tg_scatter_slice(x, TG_SHAPE(0, 0), TG_SHAPE(1, 1), TG_SHAPE(4, 2), 0);
    expect_error("3 elements from 0 by steps of 1 leave axis 1 of size 2");
}
END_TEST

START_TEST(flipped_twice_is_what_it_was)
{
    tg_tensor x = counted(TG_I32, TG_SHAPE(2, 3, 4)), y = tg_flip(x, TG_AXES(0, -1)), same = tg_flip(y, TG_AXES(2, 0));
    for (int64_t i = 0; i < 24; i++) {
        ck_assert_double_eq(tg_at(y, i), (double)(((1 - i / 12) * 3 + i / 4 % 3) * 4 + 3 - i % 4));
        ck_assert_double_eq(tg_at(same, i), (double)i);
    }
    ck_assert_double_eq(tg_at(tg_flip(x, TG_ALL_AXES), 0), 23);
    assert_shape(tg_flip(drawn(TG_F32, TG_SHAPE(0, 2)), TG_ALL_AXES), TG_SHAPE(0, 2));
    tg_flip(x, TG_AXES(3));
    expect_error("flip(i32[2, 3, 4]): there is no axis 3");
}
END_TEST

/* Parts that lie side by side, leave gaps, overlap, are equal, along several axes, with steps, backwards: the gradient
 * of sum_i w_i sum(part_i^2) by index arithmetic. */
START_TEST(gradients_of_parts_are_joined_whatever_their_order)
{
    enum { N = 6, M = 5 };
    tg_rng rng = tg_rng_seed(7);
    for (int round = 0; round < 300; round++) {
        double expected[N * M] = {0}, numbers[N * M];
        for (int i = 0; i < N * M; i++)
            numbers[i] = i - 10;
        tg_tensor x = tg_variable(tape, TG_F64, numbers, TG_SHAPE(N, M)), loss = TG_NONE;
        const int parts = 1 + (int)tg_rng_below(&rng, 7);
        for (int k = 0; k < parts; k++) {
            static const int64_t steps[] = {1, 1, 1, 1, 2, -1};
            const int axis = (int)tg_rng_below(&rng, 2);
            const int64_t step = steps[tg_rng_below(&rng, 6)], size = axis ? M : N,
                          start = (int64_t)tg_rng_below(&rng, (uint32_t)size),
                          stop = step < 0 ? -size - 1 : start + (int64_t)tg_rng_below(&rng, (uint32_t)size + 1);
            tg_tensor part = tg_slice(x, axis, start, stop, step),
                      addend = tg_mul_scalar(tg_sum(tg_square(part)), k + 1);
            loss = loss.value ? tg_add(loss, addend) : addend;
            int64_t place[N];
            const int64_t count = places(size, start, stop, step, place);
            for (int64_t i = 0; i < count; i++)
                for (int64_t j = 0; j < (axis ? N : M); j++) {
                    const int64_t at = axis ? j * M + place[i] : place[i] * M + j;
                    expected[at] += 2 * (k + 1) * ((double)at - 10);
                }
        }
        ck_assert(tg_backward(loss));
        for (int i = 0; i < N * M; i++)
            ck_assert_double_eq(tg_at(tg_gradient(x), i), expected[i]);
        tg_tape_reset(tape);
    }
}
END_TEST

/* A part costs the same number of operations in the backward pass however many there are, and one that is read n times
 * adds n cotangents. */
START_TEST(the_gradient_of_a_thousand_parts_is_one_concatenation)
{
    int64_t recorded[3];
    for (int way = 0; way < 3; way++) {
        const int parts = way == 1 ? 2000 : 1000;
        static const float zeros[3 * 2000];
        tg_tensor x = tg_variable(tape, TG_F32, zeros, TG_SHAPE(parts, 3)),
                  *part = malloc((size_t)parts * sizeof *part);
        for (int i = 0; i < parts; i++)
            part[i] = tg_sum(tg_square(tg_narrow(x, 0, way == 2 ? 0 : i, 1)));
        const int64_t before = tg_tape_count(tape).values;
        ck_assert(tg_backward(tg_sum(tg_stack(part, parts, 0))));
        recorded[way] = tg_tape_count(tape).values - before;
        free(part);
        tg_tape_reset(tape);
    }
    ck_assert_int_le(recorded[1], 2 * recorded[0]);
    ck_assert_int_le(recorded[2], recorded[0] + 1000);
}
END_TEST

/* Of three numbers that a sum rounds differently in another order, one is from a part. */
START_TEST(a_part_that_leads_nowhere_changes_no_bit_of_a_gradient)
{
    float gradient[2][2];
    for (int other = 0; other < 2; other++) {
        tg_tensor x = tg_variable(tape, TG_F32, ((float[]){0.3f, 0.7f}), TG_SHAPE(2));
        tg_tensor first = tg_sum(tg_mul_scalar(x, 4e-8)), part = tg_sum(tg_mul_scalar(tg_narrow(x, 0, 0, 1), 1)),
                  last = tg_sum(tg_mul_scalar(x, 4e-8));
        if (other)
            tg_narrow(x, 0, 1, 1);
        ck_assert(tg_backward(tg_add(tg_add(first, part), last)));
        memcpy(gradient[other], tg_f32(tg_gradient(x)), sizeof gradient[other]);
        tg_tape_reset(tape);
    }
    ck_assert_mem_eq(gradient[0], gradient[1], sizeof gradient[0]);
}
END_TEST

/* An empty part has a place, too: gradients of parts are joined in the order of their places. */
START_TEST(an_empty_part_lies_within_the_tensor)
{
    tg_tensor x = counted(TG_F64, TG_SHAPE(5)), two = tg_narrow(x, 0, 0, 2);
    for (int64_t start = 0; start <= 5; start++) {
        ck_assert(tg_backward(tg_add(tg_sum(tg_square(two)), tg_sum(tg_narrow(x, 0, start, 0)))));
        assert_shape(tg_gradient(x), TG_SHAPE(5));
    }
    static const int64_t outside[] = {-1, 6, 100, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 5; i++) {
        ck_assert(!tg_ok(tg_narrow(x, 0, outside[i], 0)));
        expect_error("0 elements from ");
        ck_assert(!tg_ok(tg_scatter_slice(tg_narrow(x, 0, 0, 0), TG_SHAPE(outside[i]), TG_SHAPE(1), TG_SHAPE(5), 0)));
        expect_error("leave axis 0 of size 5");
    }
}
END_TEST

START_TEST(padding_surrounds_and_its_gradient_is_cut_out)
{
    tg_tensor x = counted(TG_F64, TG_SHAPE(2, 2)), y = tg_pad(x, TG_SHAPE(1, 0), TG_SHAPE(0, 2), -7), g;
    const double expected[12] = {-7, -7, -7, -7, 0, 1, -7, -7, 2, 3, -7, -7};
    assert_shape(y, TG_SHAPE(3, 4));
    for (int i = 0; i < 12; i++)
        ck_assert_double_eq(tg_at(y, i), expected[i]);
    tg_tensor numbers = counted(TG_F64, TG_SHAPE(3, 4));
    ck_assert(tg_grad(&y, 1, &x, 1, &numbers, false, &g));
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(tg_at(g, i), 4 + i / 2 * 4 + i % 2);
    assert_shape(tg_pad(drawn(TG_F32, TG_SHAPE(0)), TG_SHAPE(2), TG_SHAPE(1), 1), TG_SHAPE(3));
    tg_pad(x, TG_SHAPE(1), TG_SHAPE(0, 2), 0);
    expect_error("pad(f64[2, 2]): expected the padding before and after each of 2 axes, not of 1 and 2");
    tg_pad(x, TG_SHAPE(1, -1), TG_SHAPE(0, 2), 0);
    expect_error("the padding of axis 1 is negative");
}
END_TEST

START_TEST(what_was_split_is_joined_again)
{
    for (int axis = 0; axis < 3; axis++) {
        tg_tensor x = counted(TG_F32, TG_SHAPE(6, 6, 6)), parts[3];
        ck_assert(tg_split(x, axis, 3, parts));
        ck_assert_int_eq(tg_dim(parts[2], axis), 2);
        tg_tensor same = tg_concat(parts, 3, axis - 3);
        assert_shape(same, TG_SHAPE(6, 6, 6));
        for (int64_t i = 0; i < 216; i++)
            ck_assert_double_eq(tg_at(same, i), (double)i);
    }
    tg_tensor unequal[3] = {counted(TG_F32, TG_SHAPE(2, 1)), counted(TG_F32, TG_SHAPE(2, 0)),
                            counted(TG_F32, TG_SHAPE(2, 3))};
    tg_tensor joined = tg_concat(unequal, 3, 1);
    const double expected[8] = {0, 0, 1, 2, 1, 3, 4, 5};
    assert_shape(joined, TG_SHAPE(2, 4));
    for (int i = 0; i < 8; i++)
        ck_assert_double_eq(tg_at(joined, i), expected[i]);
}
END_TEST

START_TEST(stacking_makes_an_axis_anywhere)
{
    tg_tensor x[2] = {counted(TG_F64, TG_SHAPE(2, 3)), tg_add_scalar(counted(TG_F64, TG_SHAPE(2, 3)), 10)};
    for (int axis = -3; axis < 3; axis++) {
        tg_tensor y = tg_stack(x, 2, axis);
        int at = axis < 0 ? axis + 3 : axis;
        ck_assert_int_eq(tg_dim(y, at), 2);
        for (int which = 0; which < 2; which++) {
            tg_tensor one = tg_reshape(tg_slice(y, at, which, which + 1, 1), TG_SHAPE(2, 3));
            for (int64_t i = 0; i < 6; i++)
                ck_assert_double_eq(tg_at(one, i), (double)(10 * which + i));
        }
    }
    tg_tensor scalars[3] = {drawn(TG_F32, TG_SCALAR), drawn(TG_F32, TG_SCALAR), drawn(TG_F32, TG_SCALAR)};
    assert_shape(tg_stack(scalars, 3, 0), TG_SHAPE(3));
}
END_TEST

START_TEST(a_concatenation_of_a_thousand_gives_each_its_gradient)
{
    enum { MANY = 1000 };
    tg_tensor x[MANY], g[MANY];
    for (int i = 0; i < MANY; i++)
        x[i] = drawn(TG_F32, TG_SHAPE(2, 1));
    tg_tensor y = tg_concat(x, MANY, 1), numbers = counted(TG_F32, TG_SHAPE(2, MANY));
    ck_assert(tg_grad(&y, 1, x, MANY, &numbers, false, g));
    for (int i = 0; i < MANY; i++) {
        ck_assert_double_eq(tg_at(y, MANY + i), tg_at(x[i], 1));
        ck_assert_double_eq(tg_at(g[i], 1), MANY + i);
    }
}
END_TEST

START_TEST(joins_that_do_not_fit_are_named)
{
    tg_tensor x[2] = {drawn(TG_F32, TG_SHAPE(2, 3)), drawn(TG_F32, TG_SHAPE(3, 3))};
    tg_concat(x, 2, 1);
    expect_error("concat(f32[2, 3], f32[3, 3]): input 1 is [3, 3], which does not fit [2, 3] but for the axis");
    tg_stack(x, 2, 0);
    expect_error("input 1 is [3, 3], which does not fit [2, 3]");
    tg_concat(x, 2, 2);
    expect_error("there is no axis 2");
    tg_tensor mixed[2] = {x[0], drawn(TG_F64, TG_SHAPE(2, 3))}, scalar = drawn(TG_F32, TG_SCALAR), parts[4];
    tg_concat(mixed, 2, 0);
    expect_error("input 1 is of another type than the first");
    tg_concat(&scalar, 1, 0);
    expect_error("tg_stack makes one");
    ck_assert(!tg_split(x[0], 1, 2, parts));
    expect_error("split(f32[2, 3]): axis 1 does not divide into 2 equal parts");
    ck_assert(!tg_ok(parts[1]));
    ck_assert(!tg_ok(tg_concat(NULL, 0, 0)));
}
END_TEST

START_TEST(repeat_doubles_elements_and_tile_the_whole)
{
    tg_tensor x = counted(TG_I32, TG_SHAPE(2, 3)), each = tg_repeat(x, 1, 2), rows = tg_repeat(x, 0, 3);
    tg_tensor all = tg_tile(x, TG_SHAPE(2, 1, 2)), last = tg_tile(x, TG_SHAPE(3)), none = tg_tile(x, TG_SHAPE(0, 1));
    assert_shape(each, TG_SHAPE(2, 6));
    assert_shape(rows, TG_SHAPE(6, 3));
    assert_shape(all, TG_SHAPE(2, 2, 6));
    assert_shape(last, TG_SHAPE(2, 9));
    assert_shape(none, TG_SHAPE(0, 3));
    for (int64_t i = 0; i < 12; i++)
        ck_assert_double_eq(tg_at(each, i), (double)(i / 2));
    for (int64_t i = 0; i < 18; i++) {
        ck_assert_double_eq(tg_at(rows, i), (double)(i / 9 * 3 + i % 3));
        ck_assert_double_eq(tg_at(last, i), (double)(i / 9 * 3 + i % 3));
    }
    for (int64_t i = 0; i < 24; i++)
        ck_assert_double_eq(tg_at(all, i), (double)(i / 6 % 2 * 3 + i % 3));
    tg_tensor nothing = tg_tile(x, TG_SHAPE(1LL << 40, 1, 0)); /* repeats nothing on the way */
    assert_shape(nothing, TG_SHAPE(1LL << 40, 2, 0));
    ck_assert_ptr_null(tg_tape_error(tape));
    tg_tensor v = drawn(TG_F64, TG_SHAPE(2, 3)), y = tg_tile(v, TG_SHAPE(4, 5)), g;
    ck_assert(tg_grad(&y, 1, &v, 1, NULL, false, &g));
    ck_assert_double_eq(tg_at(g, 3), 20);
    tg_repeat(x, 0, -1);
    expect_error("-1 times is less than 0");
    tg_tile(x, TG_SHAPE(-1));
    expect_error("tile(i32[2, 3])");
}
END_TEST

START_TEST(triangles_keep_one_side_of_a_diagonal)
{
    for (int diagonal = -5; diagonal < 6; diagonal++) {
        tg_tensor x = tg_add_scalar(drawn(TG_F32, TG_SHAPE(2, 3, 4)), 100);
        tg_tensor low = tg_tril(x, diagonal), high = tg_triu(x, diagonal);
        for (int64_t i = 0; i < 24; i++) {
            int64_t row = i / 4 % 3, column = i % 4;
            ck_assert_double_eq(tg_at(low, i), column - row <= diagonal ? tg_at(x, i) : 0);
            ck_assert_double_eq(tg_at(high, i), column - row >= diagonal ? tg_at(x, i) : 0);
        }
    }
    tg_tril(drawn(TG_F32, TG_SHAPE(3)), 0);
    expect_error("tril(f32[3]): expected matrices in the last two axes");
}
END_TEST

START_TEST(expansion_repeats_along_every_set_of_axes)
{
    for (int bits = 0; bits < 16; bits++) {
        const int64_t dim[4] = {2, 3, 4, 5};
        tg_shape from = TG_SHAPE(2, 3, 4, 5);
        for (int axis = 0; axis < 4; axis++)
            if (bits >> axis & 1)
                from.dim[axis] = 1;
        tg_tensor x = counted((tg_dtype)(bits % 3), from), y = tg_expand(x, TG_SHAPE(2, 3, 4, 5));
        for (int64_t i = 0; i < 120; i++) {
            int64_t rest = i, place = 0, stride = 1;
            for (int axis = 3; axis >= 0; axis--) {
                place += (from.dim[axis] == 1 ? 0 : rest % dim[axis]) * stride;
                stride *= from.dim[axis];
                rest /= dim[axis];
            }
            ck_assert_double_eq(tg_at(y, i), (double)place);
        }
    }
}
END_TEST

Suite *shape_suite(void)
{
    Suite *suite = suite_create("shape");
    TCase *tests = tcase_create("shape");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, permute_moves_every_element_to_its_place);
    tcase_add_test(tests, transpose_swaps_two_axes_and_its_gradient_swaps_them_back);
    tcase_add_test(tests, slices_are_those_of_python);
    tcase_add_test(tests, the_gradient_of_a_slice_is_placed_among_zeros);
    tcase_add_test(tests, leading_parts_share_memory_and_others_are_copied);
    tcase_add_test(tests, flipped_twice_is_what_it_was);
    tcase_add_test(tests, gradients_of_parts_are_joined_whatever_their_order);
    tcase_add_test(tests, the_gradient_of_a_thousand_parts_is_one_concatenation);
    tcase_add_test(tests, a_part_that_leads_nowhere_changes_no_bit_of_a_gradient);
    tcase_add_test(tests, an_empty_part_lies_within_the_tensor);
    tcase_add_test(tests, padding_surrounds_and_its_gradient_is_cut_out);
    tcase_add_test(tests, what_was_split_is_joined_again);
    tcase_add_test(tests, stacking_makes_an_axis_anywhere);
    tcase_add_test(tests, a_concatenation_of_a_thousand_gives_each_its_gradient);
    tcase_add_test(tests, joins_that_do_not_fit_are_named);
    tcase_add_test(tests, repeat_doubles_elements_and_tile_the_whole);
    tcase_add_test(tests, triangles_keep_one_side_of_a_diagonal);
    tcase_add_test(tests, expansion_repeats_along_every_set_of_axes);
    suite_add_tcase(suite, tests);
    return suite;
}
