/* Formulas in place of an activation's name in the programs: compared, trained, kept and used in another process. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *formulas_suite(void);

#define SMALL "--data moons --rows 120 --hidden 8x2 --epochs 2 --batch 16 --no-plots "

START_TEST(a_formula_is_compared_as_its_built_in_twin)
{
    expect_fine(train_run("compare",
                          SMALL "--seeds 2 --out c --activations 'relu,mine: max(0, x),where(x > 0, x, b x), b = "
                                "0.1,u * silu(v),silu'"));
    for (int seed = 1; seed <= 2; seed++) {
        char row[3][40];
        snprintf(row[0], sizeof row[0], "relu,%d", seed);
        snprintf(row[1], sizeof row[1], "mine,%d", seed);
        snprintf(row[2], sizeof row[2], "where_x_0_x_b_x_b_0.1,%d", seed);
        const double loss = csv_cell("c/runs.csv", row[0], "test_loss");
        ck_assert(isfinite(loss) && csv_cell("c/runs.csv", row[1], "test_loss") == loss);
        ck_assert(csv_cell("c/runs.csv", row[2], "parameters") == csv_cell("c/runs.csv", row[0], "parameters") + 2);
    }
    ck_assert(isfinite(csv_cell("c/runs.csv", "u_silu_v,1", "test_loss")));
}
END_TEST

START_TEST(another_formula_of_the_same_name_is_trained_anew)
{
    static const char *const formulas[] = {"x sigmoid(1.5 x)", "sin(x)"};
    double loss[2];
    for (int i = 0; i < 2; i++) {
        expect_fine(train_run("compare", SMALL "--seeds 1 --out again --activations 'relu,mine: %s'", formulas[i]));
        loss[i] = csv_cell("again/runs.csv", "mine,1", "test_loss");
    }
    ck_assert(isfinite(loss[0]) && loss[0] != loss[1]);
}
END_TEST

START_TEST(a_model_with_trained_numbers_is_kept_and_used)
{
    expect_fine(train_run("train",
                          "--data csv:train.csv --hidden 8 --epochs 2 --no-plots --out kept --activation 'mine: x "
                          "sigmoid(b x) + c, b = 1.5 per unit, c = 0.1'"));
    expect_fine(train_run("predict", "--model kept --data train.csv"));
    expect_fine(train_run("emit", "--model kept --out net.c"));
    expect_fine(train_run("emit", "--model kept --onnx net.onnx"));
}
END_TEST

START_TEST(wrong_formulas_are_refused_with_their_place)
{
    expect_refused(train_run("train", SMALL "--out t --activation 'x sigmoyd(x)'"),
                   "column 3, at 'sigmoyd(x)': there is no 'sigmoyd'; 'sigmoid' is similar");
    expect_refused(train_run("compare", SMALL "--out t --activations 'relu,constant: tanh(x)'"),
                   "'constant' is the constant prediction's row in results");
    expect_refused(train_run("compare", SMALL "--out t --activations 'relu,x +'"),
                   "--activations: 'x +': column 4, at the end: expected a number, a name or '('");
    expect_refused(train_run("compare", SMALL "--out t --activations 'x + 1,x * 1'"),
                   "'x + 1' and 'x * 1' are both x_1 in results: put a name in front, 'NAME: ...'");
    expect_refused(train_run("compare", SMALL "--out t --activations 'relu,,silu'"), "'': not an activation");
    expect_refused(train_run("compare", SMALL "--out t --activations 'relu: x'"), "'relu' is the name of another");
}
END_TEST

/* Such nets diverge at any rate, so no rate is blamed. */
START_TEST(a_formula_that_is_not_finite_is_blamed_itself)
{
    expect_refused(train_run("compare", SMALL "--out t --activations 'relu,bad: log(-1 - x^2)'"),
                   "--activations: 'bad: log(-1 - x^2)': infinite or not a number at all inputs between -4 and 4");
    expect_refused(train_run("compare", SMALL "--out t --activations 'relu,u log(-1 - v^2)'"), "at all inputs");
    expect_fine(train_run("compare", SMALL "--seeds 1 --out t --activations 'relu,half: log(x)'"));
    ck_assert_msg(strstr(train_output, "Warning: half is infinite or not a number at inputs between -4 and 4"), "%s",
                  train_output);
    ck_assert_msg(strstr(train_output, "Hint: half diverged, as its formula is not finite everywhere, in 1 of 1 run."),
                  "%s", train_output);
    ck_assert_int_ne(train_run("train", SMALL "--out u --activation 'half: log(x)'"), 0);
    ck_assert_msg(strstr(train_output, "log(x) is infinite or not a number at inputs"), "%s", train_output);
    expect_fine(train_run("compare", SMALL "--seeds 1 --out v --activations 'relu , swish: x sigmoid(x) ,1/x'"));
    ck_assert_msg(!strstr(train_output, "is infinite or not"), "%s", train_output);
}
END_TEST

START_TEST(a_formula_is_shown_beside_its_built_in_twin)
{
    expect_fine(train_run("activations", "--no-plots --out shown --formula 'mine: max(0, x)^2'"));
    const char *twin = strstr(train_output, "\nrelu_squared     0.50000   1.25000  0.81650  2.00000  50.00 %  none\n"),
               *mine = strstr(train_output, "\nmine             0.50000   1.25000  0.81650  2.00000  50.00 %  none\n");
    ck_assert_msg(twin && mine, "%s", train_output);
    ck_assert_ptr_nonnull(strstr(train_output, "\nmine              mine: max(0, x)^2\n"));
    ck_assert_ptr_nonnull(strstr(temporary_text("shown/activations.csv"), "\nformula mine,4,16,8\n"));
    expect_refused(train_run("activations", "--formula 'x +'"),
                   "--formula: 'x +': column 4, at the end: expected a number");
    expect_fine(train_run("activations", "--no-plots --out shown --formula 'one: b x, b = 2, two: x tanh(x)'"));
    ck_assert(strstr(temporary_text("shown/activations.csv"), "\nformula one,4,8,2\n") &&
              strstr(temporary_text("shown/activations.csv"), "\nformula two,4,"));
    expect_refused(train_run("activations", "--formula x^2 --formula x^3"),
                   "--formula is given twice: it takes one list, with commas between");
    expect_refused(train_run("activations", "--moments 8 --points 5"), "--points is not for --moments");
}
END_TEST

/* Sums near a pole are numbers of any size, and a root has no value at negative numbers. */
START_TEST(moments_that_do_not_exist_are_not_shown)
{
    expect_fine(train_run("activations", "--no-plots --out shown --formula 'p: 1/x'"));
    ck_assert_msg(strstr(train_output, "\np                0.00000  none      1.00000  none      0.00 %  none\n"),
                  "%.3000s", train_output);
    ck_assert_ptr_nonnull(strstr(train_output, "; none: infinite or undefined"));
    expect_fine(train_run("activations", "--no-plots --out shown --formula 'p: sqrt(x)'"));
    ck_assert_msg(strstr(train_output, "\np                none     none      1.00000  none      0.00 %  none\n"),
                  "%.3000s", train_output);
    ck_assert_msg(!strstr(train_output, "-nan") && !strstr(train_output, "-0.0000000 "), "%.3000s", train_output);
    ck_assert_ptr_nonnull(strstr(temporary_text("shown/activations.csv"), "\nformula p,-4,nan,nan\n"));
    /* nor a minimum where there is a pole, or no value */
    expect_fine(train_run("activations", "--no-plots --out shown --formula 'p: -1/x^2'"));
    ck_assert_msg(strstr(train_output, "\np               -1.0000000  -1.0000000           -           -\n"), "%.3000s",
                  train_output);
    expect_fine(train_run("activations", "--no-plots --out shown --formula 'p: where(x > 0, log(x - 3), 0 - 1e-9 x)'"));
    ck_assert_msg(strstr(train_output, "\np                0.0000000        nan           -           -\n"), "%.3000s",
                  train_output);
}
END_TEST

START_TEST(a_formula_is_drawn_among_the_others)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        return;
    expect_fine(train_run("activations", "--points 41 --out drawn --formula 'own_curve: 3 sin(x)'"));
    ck_assert_ptr_nonnull(strstr(temporary_text("drawn/activations.svg"), ">own_curve<"));
    expect_fine(train_run("activations", "--points 41 --out drawn --formula 'own_pole: 1 / x + log(x)'"));
    ck_assert_ptr_nonnull(strstr(temporary_text("drawn/activations.svg"), ">own_pole<"));
    expect_fine(train_run("activations", "--points 41 --out drawn"));
    ck_assert_ptr_null(strstr(temporary_text("drawn/activations.svg"), ">own_"));
}
END_TEST

/* The nets that were trained with it have the same loss; the others another one. */
START_TEST(nets_are_tested_with_a_formula_in_place_of_their_activation)
{
    expect_fine(train_run("compare", SMALL "--seeds 1 --out as --activations 'relu,mine: x sigmoid(1.5 x)' --test-as "
                                           "'mine,max(0, x),where(x > 0, x, b x), b = 0,bfloat16'"));
    const double test = csv_cell("as/runs.csv", "relu,1", "test_loss");
    const char *text = temporary_text("as/runs/relu-seed1/result.json");
    double twin = 0, with_number = 0, mine = 0, rounded = 0;
    const struct {
        const char *name;
        double *to;
    } all[] = {{"\"loss_as_max_0_x\":", &twin},
               {"\"loss_as_where_x_0_x_b_x_b_0\":", &with_number},
               {"\"loss_as_mine\":", &mine},
               {"\"loss_as_bfloat16\":", &rounded}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *at = strstr(text, all[i].name);
        ck_assert_msg(at && sscanf(at + strlen(all[i].name), "%lf", all[i].to) == 1, "%s: %s", all[i].name, text);
    }
    ck_assert_double_eq(csv_cell("as/runs.csv", "relu,1", "test_loss_as_mine"), mine);
    ck_assert_double_eq(csv_cell("as/runs.csv", "relu,1", "test_loss_as_max_0_x"), test);
    ck_assert(csv_cell("as/runs.csv", "mine,1", "test_loss_as_bfloat16") != rounded);
    ck_assert(twin == test && with_number == test && mine != test && rounded != test);
    /* a gate has weights that a net without one does not have */
    expect_fine(train_run("compare", SMALL "--seeds 1 --out gates --activations relu,swiglu --test-as silu,'u v'"));
    ck_assert(isnan(csv_cell("gates/runs.csv", "relu,1", "test_loss_as_u_v")));
    ck_assert(isnan(csv_cell("gates/runs.csv", "swiglu,1", "test_loss_as_silu")));
    ck_assert(!isnan(csv_cell("gates/runs.csv", "relu,1", "test_loss_as_silu")));
    ck_assert(!isnan(csv_cell("gates/runs.csv", "swiglu,1", "test_loss_as_u_v")));
    expect_refused(train_run("compare", SMALL "--out t --refit yes --test-as relu"), "--test-as is for the net of the");
    expect_refused(train_run("compare", SMALL "--out t --test none --test-as relu"), "--test-as needs test rows");
    expect_refused(train_run("compare", SMALL "--out t --test-as 'x +'"), "--test-as: 'x +': column 4, at the end");
    expect_refused(train_run("compare", SMALL "--out t --test-as relu,relu"), "--test-as: 'relu' is listed twice");
    expect_refused(train_run("compare", SMALL "--out t --test-as nothing"), "--test-as: 'nothing': not an activation");
}
END_TEST

/* A number of another formula is another one, also if both are called b. */
START_TEST(trained_numbers_belong_to_their_formula)
{
    static const char onward[] = "--data moons --rows 80 --start own-m --activation-from model --lr 1e-12 --epochs 1 "
                                 "--no-plots --keep-predictions";
    expect_fine(train_run("compare",
                          "--data moons --rows 80 --hidden 4 --epochs 20 --lr 0.05 --seeds 1 --no-plots --out own-c "
                          "--activations 'mine: x sigmoid(b x), b = 1' --test-as 'mine,clash: x sigmoid(x) + "
                          "b, b = 0,many: x sigmoid(b x), b = 1 per unit,swish: x sigmoid(x)'"));
    const double swish = csv_cell("own-c/runs.csv", "mine", "test_loss_as_swish");
    ck_assert_double_eq(csv_cell("own-c/runs.csv", "mine", "test_loss_as_mine"),
                        csv_cell("own-c/runs.csv", "mine", "test_loss"));
    ck_assert_double_ne(csv_cell("own-c/runs.csv", "mine", "test_loss"), swish);
    ck_assert_double_eq(csv_cell("own-c/runs.csv", "mine", "test_loss_as_clash"), swish);
    ck_assert_double_eq_tol(csv_cell("own-c/runs.csv", "mine", "test_loss_as_many"), swish, 1e-6);
    expect_fine(train_run("train", "--data moons --rows 80 --hidden 4 --epochs 20 --lr 0.05 --no-plots --out own-m "
                                   "--activation 'mine: x sigmoid(b x), b = 1'"));
    static const char *const others[] = {"x sigmoid(x)", "x sigmoid(x) + b, b = 0", "x sigmoid(c x), c = 1 per unit"};
    double loss[3];
    for (int i = 0; i < 3; i++) {
        expect_fine(train_run("train", "%s --activation '%s' --out own-%d", onward, others[i], i));
        const char *said = strstr(train_output, "test: loss ");
        loss[i] = said ? atof(said + strlen("test: loss ")) : NAN;
    }
    ck_assert(loss[1] == loss[0] && loss[2] == loss[0]);
}
END_TEST

Suite *formulas_suite(void)
{
    Suite *suite = suite_create("formulas");
    TCase *tests = tcase_create("all");
    tcase_add_unchecked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_formula_is_compared_as_its_built_in_twin);
    tcase_add_test(tests, another_formula_of_the_same_name_is_trained_anew);
    tcase_add_test(tests, a_model_with_trained_numbers_is_kept_and_used);
    tcase_add_test(tests, wrong_formulas_are_refused_with_their_place);
    tcase_add_test(tests, a_formula_that_is_not_finite_is_blamed_itself);
    tcase_add_test(tests, a_formula_is_shown_beside_its_built_in_twin);
    tcase_add_test(tests, moments_that_do_not_exist_are_not_shown);
    tcase_add_test(tests, a_formula_is_drawn_among_the_others);
    tcase_add_test(tests, nets_are_tested_with_a_formula_in_place_of_their_activation);
    tcase_add_test(tests, trained_numbers_belong_to_their_formula);
    suite_add_tcase(suite, tests);
    return suite;
}
