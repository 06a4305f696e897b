/* The program gradcheck must check every layer, block and model in nn/. */
#include "examples/programs/gradcheck/layer_checks.h"
#include "nn/layers/norm.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *gradcheck_layers_suite(void);

START_TEST(every_layer_is_right_to_second_order)
{
    const layer_check *layer = layer_check_at(_i);
    for (uint64_t seed = 0; seed < (getenv("TG_LONG") ? 100 : 2); seed++) {
        tg_gradcheck_result result = layer_check_run(layer, &(tg_gradcheck_options){.order = 2, .seed = seed});
        ck_assert_msg(result.passed, "%s", result.why);
        ck_assert_msg(result.relative <= 1e-6, "%s: %g", layer->name, result.relative);
        ck_assert_int_gt(result.comparisons, 0);
    }
}
END_TEST

/* A layer norm removes what a bias before it adds: the differences are 0, and the derivative is only rounding. */
START_TEST(what_rounding_leaves_of_a_derivative_that_is_zero_may_differ)
{
    int i = 0;
    while (strcmp(layer_check_at(i)->name, "sequential") != 0)
        i++;
    static const uint64_t seeds[] = {13, 31};
    for (size_t s = 0; s < sizeof seeds / sizeof seeds[0]; s++) {
        tg_gradcheck_result result =
            layer_check_run(layer_check_at(i), &(tg_gradcheck_options){.order = 2, .seed = seeds[s]});
        ck_assert_msg(result.passed, "%s", result.why);
    }
}
END_TEST

START_TEST(every_norm_has_a_check)
{
    char name[100];
    for (int n = TG_NORM_NONE + 1; tg_norm_name((tg_norm)n); n++) {
        bool checked = false;
        snprintf(name, sizeof name, "norm_layer.%s", tg_norm_name((tg_norm)n));
        for (int i = 0; layer_check_at(i); i++)
            checked |= strcmp(layer_check_at(i)->name, name) == 0;
        ck_assert_msg(checked, "%s has no sample", name);
    }
}
END_TEST

/* A header of nn/ with a forward function belongs to a layer, and the name of a check begins with the layer's name. */
START_TEST(every_header_with_a_forward_function_has_a_check)
{
    char name[200];
    FILE *list = popen("grep -l '_forward(const\\|tg_rotary_turn\\|tg_dropout_forward' $(ls nn/layers/*.h "
                       "nn/models/*.h | grep -v '_internal\\|/model.h')",
                       "r");
    int count = 0;
    ck_assert_ptr_nonnull(list);
    for (; fscanf(list, "nn/%*[a-z]/%199[a-z_].h ", name) == 1; count++) {
        bool checked = false;
        for (int i = 0; layer_check_at(i); i++)
            checked |= strncmp(layer_check_at(i)->name, name, strlen(name)) == 0;
        ck_assert_msg(checked, "there is no check of %s.h", name);
    }
    pclose(list);
    ck_assert_int_ge(count, 17);
}
END_TEST

/* A kind that a file defines but no table lists would never be checked. */
START_TEST(every_layer_and_model_is_in_its_table)
{
    char name[100];
    FILE *list =
        popen("sed -n 's/^const tg_[a-z]*_kind tg_\\([a-z_]*\\)_kind.*/\\1/p' nn/*/*.c nn/*/*/*.c | sort -u", "r");
    FILE *tables =
        popen("sed -n 's/^TG_[A-Z_]*(\\([a-z_]*\\)[,)].*/\\1/p' nn/layers/layers.def nn/models/models.def | sort", "r");
    char listed[100];
    int kinds = 0;
    ck_assert(list && tables);
    for (; fscanf(list, "%99s", name) == 1; kinds++) {
        ck_assert_int_eq(fscanf(tables, "%99s", listed), 1);
        ck_assert_str_eq(name, listed);
    }
    ck_assert_int_ne(fscanf(tables, "%99s", listed), 1);
    ck_assert_int_ge(kinds, 20);
    pclose(list);
    pclose(tables);
}
END_TEST

Suite *gradcheck_layers_suite(void)
{
    Suite *suite = suite_create("gradcheck_layers");
    TCase *tests = tcase_create("gradcheck_layers");
    int layers = 0;
    while (layer_check_at(layers))
        layers++;
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, every_layer_is_right_to_second_order, 0, layers);
    tcase_add_test(tests, what_rounding_leaves_of_a_derivative_that_is_zero_may_differ);
    tcase_add_test(tests, every_norm_has_a_check);
    tcase_add_test(tests, every_layer_and_model_is_in_its_table);
    tcase_add_test(tests, every_header_with_a_forward_function_has_a_check);
    suite_add_tcase(suite, tests);
    return suite;
}
