/* Operations that move elements, against index arithmetic written out. */
#include "tests/tensors.h"

Suite *shape_suite(void);

START_TEST(permute_moves_every_element_to_its_place)
{
    /* All 24 orders, sizes on both sides of a tile of the transposition, three types. */
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

Suite *shape_suite(void)
{
    Suite *suite = suite_create("shape");
    TCase *tests = tcase_create("shape");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, permute_moves_every_element_to_its_place);
    tcase_add_test(tests, transpose_swaps_two_axes_and_its_gradient_swaps_them_back);
    suite_add_tcase(suite, tests);
    return suite;
}
