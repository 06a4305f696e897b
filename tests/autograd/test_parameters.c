/* Parameter sets: their two memory blocks, names, valid and outdated gradients, copies. */
#include "tests/support/wrapped_memory.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tapegrad.h>
#include <unistd.h>

Suite *parameters_suite(void);

/* weight [2, 3] and bias [3], without a gap between them. */
static tg_parameters *small_set(tg_dtype dtype)
{
    tg_parameters *set = tg_parameters_new(dtype);
    tg_parameters_add(set, "weight", TG_SHAPE(2, 3), true);
    tg_parameters_add(set, "bias", TG_SHAPE(3), false);
    return set;
}

START_TEST(values_and_gradients_lie_in_one_block_each_without_gaps)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    int64_t sizes[] = {7, 0, 1, 300, 5000}, offset = 0; /* more than the first block can store, and more again */
    const char *names[] = {"a", "b", "c", "d", "e"};
    tg_parameter *added[5];
    for (int i = 0; i < 5; i++) {
        added[i] = tg_parameters_add(set, names[i], TG_SHAPE(sizes[i]), true);
        for (int64_t k = 0; k < sizes[i]; k++)
            ((double *)added[i]->data)[k] = (double)(offset + k);
        offset += sizes[i];
    }
    const double *values = tg_parameters_values(set), *gradients = tg_parameters_gradients(set);
    ck_assert_int_eq(tg_parameters_size(set), offset);
    ck_assert_uint_eq((uintptr_t)values % 64, 0);
    offset = 0;
    for (int i = 0; i < 5; i++) {
        ck_assert_ptr_eq(tg_parameters_at(set, i), added[i]); /* the pointers stayed */
        ck_assert_ptr_eq(added[i]->data, values + offset);
        ck_assert_ptr_eq(added[i]->gradient, gradients + offset);
        offset += sizes[i];
    }
    for (int64_t k = 0; k < offset; k++) {
        ck_assert_double_eq(values[k], (double)k); /* and the values moved with the block */
        ck_assert_double_eq(gradients[k], 0);
    }
    tg_parameters_free(set);
}
END_TEST

/* Backward passes run between the additions; the second addition needs larger blocks. */
START_TEST(gradients_move_along_when_a_set_grows)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameter *p = tg_parameters_add(set, "p", TG_SHAPE(3), true);
    tg_tape *tape = tg_tape_new();
    ck_assert(tg_backward(tg_sum(tg_mul_scalar(tg_parameter_tensor(tape, p), 5))));
    tg_parameter *more = tg_parameters_add(set, "more", TG_SHAPE(100000), true);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq(((double *)p->gradient)[i], 5);
    ck_assert_double_eq(((double *)more->gradient)[0], 0);
    tg_tape_free(tape);
    tg_parameters_free(set);
}
END_TEST

static void descend(const tg_update *u)
{
    double *p = u->parameter;
    const double *g = u->gradient;
    for (size_t i = 0; i < u->n; i++)
        p[i] -= u->rate * u->gradient_scale * g[i] + u->decay;
}

START_TEST(a_loop_of_ones_own_goes_over_all_parameters_with_their_factors)
{
    static const tg_update_factor factors[] = {{1, 0}, {2, 0.5}};
    tg_parameters *set = small_set(TG_F64);
    double *gradients = tg_parameters_gradients(set);
    for (int i = 0; i < 9; i++)
        gradients[i] = i;
    tg_parameters_update(set, descend, &(tg_update){.rate = 0.25, .gradient_scale = 2}, factors);
    for (int i = 0; i < 9; i++)
        ck_assert_double_eq(((double *)tg_parameters_values(set))[i], i < 6 ? -0.5 * i : -1. * i - 0.5);
    const tg_update step = {.rate = 1, .gradient_scale = 1}; /* and these change nothing */
    tg_parameters_update(NULL, descend, &step, factors);
    tg_parameters_update(set, NULL, &step, factors);
    tg_parameters_update(set, descend, NULL, factors);
    for (int i = 0; i < 9; i++)
        ck_assert_double_eq(((double *)tg_parameters_values(set))[i], i < 6 ? -0.5 * i : -1. * i - 0.5);
    tg_parameters_free(set);
}
END_TEST

START_TEST(parameters_are_found_by_name_and_by_number)
{
    tg_parameters *set = small_set(TG_F32);
    char name[] = "weight";
    ck_assert_ptr_eq(tg_parameters_find(set, name), tg_parameters_at(set, 0));
    ck_assert_ptr_ne(tg_parameters_at(set, 0)->name, name); /* the set has its own copy */
    ck_assert_int_eq(tg_parameters_count(set), 2);
    ck_assert_ptr_null(tg_parameters_find(set, "weigh"));
    ck_assert_ptr_null(tg_parameters_at(set, 2));
    ck_assert_ptr_null(tg_parameters_at(set, -1));
    tg_parameters_free(set);
}
END_TEST

START_TEST(the_first_mistake_in_building_is_remembered_in_words)
{
    static const struct {
        const char *name, *message;
        tg_shape shape;
    } mistakes[] = {
        {"weight", "there is a parameter named weight already", {1, {4}}},
        {"new", "parameter new: [-1] is no shape", {1, {-1}}},
        {"", "a parameter needs a name", {1, {4}}},
        {NULL, "a parameter needs a name", {1, {4}}},
        {"deep", "parameter deep: a shape has 0 to 8 axes, not 9", {9, {1, 1, 1, 1, 1, 1, 1, 1}}},
        {"negative", "parameter negative: a shape has 0 to 8 axes, not -1", {-1, {1}}},
        {"large", "out of memory for parameter large [1125899906842624]", {1, {(int64_t)1 << 50}}},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        tg_parameters *set = small_set(TG_F32);
        ck_assert_ptr_null(tg_parameters_error(set));
        ck_assert_ptr_null(tg_parameters_add(set, mistakes[i].name, mistakes[i].shape, true));
        ck_assert_ptr_null(tg_parameters_add(set, "fine", TG_SHAPE(2), true));
        ck_assert_str_eq(tg_parameters_error(set), mistakes[i].message);
        ck_assert_int_eq(tg_parameters_count(set), 2);
        tg_parameters_free(set);
    }
    tg_parameters *integers = tg_parameters_new(TG_I32);
    ck_assert_str_eq(tg_parameters_error(integers), "parameters are f32 or f64, not i32");
    tg_parameters_free(integers);
}
END_TEST

/* So many parameters that a set with a quadratic algorithm (comparing each name with all others, copying all values for
 * each addition) would exceed the test's time limit. */
START_TEST(a_set_of_many_parameters_is_built_in_no_time)
{
    enum { MANY = 400000 };
    tg_parameters *set = tg_parameters_new(TG_F32);
    char name[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "layers.%d.weight", i);
        ck_assert_ptr_nonnull(tg_parameters_add(set, name, TG_SHAPE(2), true));
    }
    for (int i = 0; i < MANY; i += 7) {
        snprintf(name, sizeof name, "layers.%d.weight", i);
        ck_assert_ptr_eq(tg_parameters_find(set, name), tg_parameters_at(set, i));
    }
    ck_assert_ptr_null(tg_parameters_add(set, "layers.399999.weight", TG_SHAPE(2), true));
    ck_assert_str_eq(tg_parameters_error(set), "there is a parameter named layers.399999.weight already");
    tg_parameters_free(set);
}
END_TEST

START_TEST(a_set_that_grows_during_a_step_leaves_its_tensors_as_they_are)
{
    tg_parameters *set = small_set(TG_F32);
    tg_tape *tape = tg_tape_new();
    tg_tensor before = tg_parameter_tensor(tape, tg_parameters_at(set, 0));
    const float first = tg_f32(before)[0];
    ck_assert_ptr_nonnull(tg_parameters_add(set, "late", TG_SHAPE(1000, 1000), true));
    ck_assert_float_eq(tg_f32(before)[0], first);
    ck_assert(tg_backward(tg_sum(before)));
    ck_assert_float_eq(((const float *)tg_parameters_at(set, 0)->gradient)[0], 1);
    tg_tape_reset(tape);
    ck_assert_ptr_eq(tg_f32(tg_parameter_tensor(tape, tg_parameters_at(set, 0))), tg_parameters_at(set, 0)->data);
    tg_tape_free(tape);
    tg_parameters_free(set);
}
END_TEST

/* d (factor sum(weight^2)) / d weight = 2 factor weight, added to the gradients; the bias is not reached. */
static void backward(tg_tape *tape, tg_parameters *set, double factor)
{
    tg_tape_reset(tape);
    tg_tensor weight = tg_parameter_tensor(tape, tg_parameters_find(set, "weight"));
    ck_assert(tg_backward(tg_mul_scalar(tg_sum(tg_mul(weight, weight)), factor)));
}

START_TEST(gradients_add_up_until_cleared_and_count_as_zero_where_no_pass_came)
{
    tg_parameters *set = small_set(TG_F64);
    tg_tape *tape = tg_tape_new();
    double *values = tg_parameters_values(set), *bias_gradient = tg_parameters_at(set, 1)->gradient;
    for (int k = 0; k < 6; k++)
        values[k] = k + 1;  /* the sum of squares is 91 */
    bias_gradient[0] = 1e9; /* left over from some earlier step */
    ck_assert(!tg_parameters_have_gradient(set));
    backward(tape, set, 1);
    backward(tape, set, 0.5);
    ck_assert(tg_parameters_have_gradient(set));
    ck_assert_double_eq_tol(tg_parameters_gradient_norm(set), 3 * sqrt(91), 1e-13);
    const double *gradients = tg_parameters_gradients(set);
    for (int k = 0; k < 9; k++)
        ck_assert_double_eq(gradients[k], k < 6 ? 3. * (k + 1) : 0);
    tg_parameters_clear_gradients(set);
    ck_assert(!tg_parameters_have_gradient(set));
    ck_assert_double_eq(tg_parameters_gradient_norm(set), 0);
    backward(tape, set, 1);
    ck_assert_double_eq(((const double *)tg_parameters_gradients(set))[2], 6);
    tg_tape_free(tape);
    tg_parameters_free(set);
}
END_TEST

START_TEST(the_norm_of_many_tiny_or_ordinary_gradients_is_exact)
{
    const float sizes[] = {1e-30F, 0.75F, 3e25F, 2};     /* squares of the smaller ones are 0 in single precision */
    const int counts[] = {10007, 10007, 10007, 2500003}; /* the last one in pieces of its own size */
    for (int k = 0; k < 4; k++) {
        tg_parameters *set = tg_parameters_new(TG_F32);
        tg_parameters_add(set, "a", TG_SHAPE(counts[k] - 1000), true);
        tg_parameters_add(set, "b", TG_SHAPE(1000), false);
        float *gradients = tg_parameters_gradients(set);
        double squares = 0;
        for (int i = 0; i < counts[k]; i++) {
            gradients[i] = sizes[k] * (float)(1 + i % 7);
            squares += (double)gradients[i] * (double)gradients[i];
        }
        ck_assert_double_eq_tol(tg_parameters_gradient_norm(set) / sqrt(squares), 1, 1e-6);
        tg_parameters_free(set);
    }
}
END_TEST

START_TEST(sets_are_copied_by_name_and_shape_across_types)
{
    tg_parameters *from = small_set(TG_F64), *to = tg_parameters_new(TG_F32);
    tg_parameters_add(to, "bias", TG_SHAPE(3), false);
    tg_parameters_add(to, "weight", TG_SHAPE(3, 2), true); /* another shape: stays */
    tg_parameters_add(to, "only here", TG_SHAPE(1), true);
    for (int k = 0; k < 9; k++)
        ((double *)tg_parameters_values(from))[k] = k + 0.5;
    ck_assert_int_eq(tg_parameters_copy(to, from), 1);
    for (int k = 0; k < 10; k++)
        ck_assert_float_eq(((float *)tg_parameters_values(to))[k], k < 3 ? (float)k + 6.5F : 0);
    ck_assert_int_eq(tg_parameters_copy(from, to), 1);
    ck_assert_int_eq(tg_parameters_copy(from, from), 2);
    tg_parameters_free(from);
    tg_parameters_free(to);
}
END_TEST

START_TEST(values_change_places_with_a_block)
{
    enum { SIZE = 5000 }; /* more than one piece of an exchange */
    static double other[SIZE];
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameter *p = tg_parameters_add(set, "p", TG_SHAPE(SIZE), true);
    for (int i = 0; i < SIZE; i++) {
        tg_parameter_put(p, i, i + 0.5);
        other[i] = -i;
    }
    tg_parameters_swap(set, other);
    for (int i = 0; i < SIZE; i++)
        ck_assert(tg_parameter_get(p, i) == -i && other[i] == i + 0.5);
    tg_parameters_swap(set, NULL);
    tg_parameters_swap(NULL, other);
    ck_assert(tg_parameter_get(p, 1) == -1 && other[1] == 1.5);
    tg_parameters_free(set);
}
END_TEST

/* Resident memory of this process in bytes; -1 if it cannot be read. */
static long resident(void)
{
    long pages = -1, page = 0;
#if defined __linux__
    page = sysconf(_SC_PAGESIZE);
#endif
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = -1;
    if (file)
        fclose(file);
    return pages < 0 ? -1 : pages * page;
}

/* Blocks have room for more parameters; that room, and gradients before the first pass, take no memory. */
START_TEST(what_nothing_has_written_takes_no_memory)
{
    enum { NUMBERS = 3 << 20, BYTES = 4 * NUMBERS };
    const long before = resident();
    tg_parameters *set = tg_parameters_new(TG_F32);
    tg_parameter *first = tg_parameters_add(set, "first", TG_SHAPE(NUMBERS), true);
    tg_parameter_fill(first, 1);
    tg_parameters_add(set, "second", TG_SHAPE(NUMBERS), true);
    ck_assert_ptr_null(tg_parameters_error(set));
    const long added = resident() - before;
    ck_assert_msg(before < 0 || added < 3L * BYTES, "%ld MB", added >> 20); /* first's values, in two blocks */
    tg_parameters_free(set);
}
END_TEST

START_TEST(no_allocation_that_fails_is_fatal)
{
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        tg_parameters *set = tg_parameters_new(TG_F32);
        tg_parameters_add(set, "weight", TG_SHAPE(2, 3), true);
        tg_parameters_add(set, "large", TG_SHAPE(1000), true);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(reached, tg_parameters_error(set) != NULL);
        tg_parameters_free(set);
        ck_assert_int_lt(nth, 20);
    }
}
END_TEST

START_TEST(null_is_survived)
{
    tg_parameters_free(NULL);
    ck_assert_ptr_null(tg_parameters_add(NULL, "a", TG_SCALAR, true));
    ck_assert_ptr_nonnull(tg_parameters_error(NULL));
    ck_assert_int_eq(tg_parameters_count(NULL), 0);
    ck_assert_ptr_null(tg_parameters_at(NULL, 0));
    ck_assert_ptr_null(tg_parameters_find(NULL, "a"));
    ck_assert_int_eq(tg_parameters_dtype(NULL), TG_F32);
    ck_assert_int_eq(tg_parameters_size(NULL), 0);
    ck_assert_ptr_null(tg_parameters_values(NULL));
    ck_assert_ptr_null(tg_parameters_gradients(NULL));
    ck_assert(!tg_parameters_have_gradient(NULL));
    ck_assert_double_eq(tg_parameters_gradient_norm(NULL), 0);
    tg_parameters_clear_gradients(NULL);
    ck_assert_int_eq(tg_parameters_copy(NULL, NULL), 0);
    int64_t begin, end;
    tg_parameter_part(NULL, 0, TG_PARTS, &begin, &end);
    ck_assert_int_eq(begin, end);
    ck_assert_int_eq(tg_update_muon_scratch(NULL), 0);
    tg_parameters *set = small_set(TG_F32);
    ck_assert_ptr_null(tg_parameters_find(set, NULL));
    ck_assert_int_eq(tg_parameters_copy(set, NULL), 0);
    tg_parameters_free(set);
}
END_TEST

Suite *parameters_suite(void)
{
    Suite *suite = suite_create("parameters");
    TCase *tests = tcase_create("parameters");
    tcase_add_test(tests, the_norm_of_many_tiny_or_ordinary_gradients_is_exact);
    tcase_add_test(tests, values_and_gradients_lie_in_one_block_each_without_gaps);
    tcase_add_test(tests, gradients_move_along_when_a_set_grows);
    tcase_add_test(tests, a_loop_of_ones_own_goes_over_all_parameters_with_their_factors);
    tcase_add_test(tests, parameters_are_found_by_name_and_by_number);
    tcase_add_test(tests, the_first_mistake_in_building_is_remembered_in_words);
    tcase_add_test(tests, a_set_of_many_parameters_is_built_in_no_time);
    tcase_add_test(tests, a_set_that_grows_during_a_step_leaves_its_tensors_as_they_are);
    tcase_add_test(tests, gradients_add_up_until_cleared_and_count_as_zero_where_no_pass_came);
    tcase_add_test(tests, sets_are_copied_by_name_and_shape_across_types);
    tcase_add_test(tests, values_change_places_with_a_block);
    tcase_add_test(tests, what_nothing_has_written_takes_no_memory);
    tcase_add_test(tests, no_allocation_that_fails_is_fatal);
    tcase_add_test(tests, null_is_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
