/* Arrays from and to NumPy. */
#include "tests/support/temporary_files.h"
#include "tests/support/wrapped_memory.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <tapegrad.h>

Suite *npy_suite(void);

static tg_error error;

START_TEST(what_is_written_is_read)
{
    static const tg_shape shapes[] = {{0, {0}}, {1, {6}}, {2, {2, 3}}, {3, {0, 4, 2}}, {8, {1, 2, 1, 3, 1, 1, 1, 1}}};
    const float single[] = {1, -2.5F, 3e-30F, 4, 5, 6};
    const double twice[] = {1, -2.5, 3e-300, 4, 5, 6};
    const int32_t whole[] = {1, -2, INT32_MAX, 4, 5, INT32_MIN};
    const void *data[] = {[TG_F32] = single, [TG_F64] = twice, [TG_I32] = whole};
    for (int dtype = TG_F32; dtype <= TG_I32; dtype++)
        for (int i = 0; i < 5; i++) {
            tg_npy array;
            ck_assert_msg(tg_npy_write(temporary_path("a"), (tg_dtype)dtype, shapes[i], data[dtype], &error), "%s",
                          error.text);
            ck_assert_msg(tg_npy_read(temporary_path("a"), &array, &error), "%s", error.text);
            ck_assert_int_eq(array.dtype, dtype);
            ck_assert(tg_shape_equal(&array.shape, &shapes[i]));
            ck_assert_int_eq(
                memcmp(array.data, data[dtype], (size_t)tg_shape_size(&shapes[i]) * tg_dtype_size((tg_dtype)dtype)), 0);
            tg_npy_free(&array);
            ck_assert_ptr_null(array.data);
        }
}
END_TEST

/* numpy.save of numpy.array([[1.5, -2], [3, 4]], "<f4") and of numpy.array([7, -8]), NumPy 1.24. */
static const char floats[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
                             "                                                          \n"
                             "\0\0\xc0\x3f\0\0\0\xc0\0\0\x40\x40\0\0\x80\x40";
static const char longs[] = "\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }"
                            "                                                            \n"
                            "\7\0\0\0\0\0\0\0\xf8\xff\xff\xff\xff\xff\xff\xff";

START_TEST(files_of_numpy_are_read)
{
    tg_npy array;
    temporary_write("a", floats, sizeof floats - 1);
    ck_assert_msg(tg_npy_read(temporary_path("a"), &array, &error), "%s", error.text);
    ck_assert(array.dtype == TG_F32 && array.shape.rank == 2 && array.shape.dim[1] == 2);
    ck_assert_float_eq(((float *)array.data)[0], 1.5F);
    ck_assert_float_eq(((float *)array.data)[3], 4);
    tg_npy_free(&array);
    temporary_write("a", longs, sizeof longs - 1);
    ck_assert_msg(tg_npy_read(temporary_path("a"), &array, &error), "%s", error.text);
    ck_assert(array.dtype == TG_I32 && array.shape.rank == 1 && array.shape.dim[0] == 2);
    ck_assert_int_eq(((int32_t *)array.data)[0], 7);
    ck_assert_int_eq(((int32_t *)array.data)[1], -8);
    tg_npy_free(&array);
}
END_TEST

static const struct {
    const char *header, *message;
} malformed[] = {
    {"", "not a dictionary"},
    {"{}", "lacks type, order or shape"},
    {"{'descr': '<f4', 'fortran_order': False, }", "lacks type, order or shape"},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "little-endian"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "little-endian"},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "row-major"},
    {"{'descr': '<f4', 'descr': '<f4', }", "cannot be read"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "its shape cannot be read"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "its shape cannot be read"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", "its shape cannot be read"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,4), }", "lacks type, order or shape"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (576460752303423488,), }", "not that of its shape"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "not that of its shape"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "its shape cannot be read"},
    {"{'descr': '<f4'", "cannot be read"},
};

START_TEST(a_malformed_file_is_refused_in_one_line)
{
    unsigned char bytes[400] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    const size_t size = strlen(malformed[_i].header);
    bytes[8] = (unsigned char)size;
    memcpy(bytes + 10, malformed[_i].header, size);
    temporary_write("bad", bytes, 10 + size + 4); /* and one number */
    tg_npy array;
    ck_assert(!tg_npy_read(temporary_path("bad"), &array, &error));
    ck_assert_msg(strstr(error.text, malformed[_i].message) && !strchr(error.text, '\n'), "%s", error.text);
    ck_assert_ptr_null(array.data);
}
END_TEST

START_TEST(no_damage_to_a_file_does_damage_to_its_reader)
{
    char bytes[sizeof floats];
    tg_npy array;
    for (size_t cut = 0; cut < sizeof floats - 1; cut++) {
        temporary_write("cut", floats, cut);
        ck_assert(!tg_npy_read(temporary_path("cut"), &array, &error));
    }
    for (size_t at = 0; at < 128; at++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(bytes, floats, sizeof bytes);
            bytes[at] ^= (char)(1 << bit);
            temporary_write("changed", bytes, sizeof bytes - 1);
            if (tg_npy_read(temporary_path("changed"), &array, &error))
                ck_assert_int_le(tg_shape_size(&array.shape), 4);
            tg_npy_free(&array);
        }
    const int64_t large = (int64_t)INT32_MAX + 1;
    memcpy(bytes, longs, sizeof longs);
    memcpy(bytes + 128, &large, 8);
    temporary_write("large", bytes, sizeof longs - 1);
    ck_assert(!tg_npy_read(temporary_path("large"), &array, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "does not fit into 32 bits"));
}
END_TEST

START_TEST(too_little_memory_and_null_are_survived)
{
    const float x = 1;
    tg_npy array;
    char path[400];
    snprintf(path, sizeof path, "%s", temporary_path("a"));
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        const bool fine = tg_npy_write(path, TG_F32, TG_SHAPE(1), &x, &error) && tg_npy_read(path, &array, &error);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(fine, !reached);
        ck_assert_int_lt(nth, 20);
    }
    tg_npy_free(&array);
    tg_npy_free(NULL);
    ck_assert(!tg_npy_read(NULL, &array, &error) && !tg_npy_read(path, NULL, &error));
    ck_assert(!tg_npy_read(temporary_path("not there"), &array, &error));
    ck_assert(!tg_npy_write(NULL, TG_F32, TG_SHAPE(1), &x, &error));
    ck_assert(!tg_npy_write(path, TG_F32, TG_SHAPE(1), NULL, &error));
    ck_assert(!tg_npy_write(path, (tg_dtype)9, TG_SHAPE(1), &x, &error));
}
END_TEST

Suite *npy_suite(void)
{
    Suite *suite = suite_create("npy");
    TCase *tests = tcase_create("npy");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, what_is_written_is_read);
    tcase_add_test(tests, files_of_numpy_are_read);
    tcase_add_loop_test(tests, a_malformed_file_is_refused_in_one_line, 0, sizeof malformed / sizeof malformed[0]);
    tcase_add_test(tests, no_damage_to_a_file_does_damage_to_its_reader);
    tcase_add_test(tests, too_little_memory_and_null_are_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
