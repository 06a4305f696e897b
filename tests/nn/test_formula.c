/* Formulas as activations: what a text means, what is wrong with it, and that it is as good as a built-in
 * activation. */
#include "nn/formula.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *formula_suite(void);

/* f(x), or f(u, v) with u = x and v = 0.5; NaN, with the error in `wrong`, if it is none. */
static double value_of(const char *text, double x, tg_error *wrong)
{
    tg_formula *formula = tg_formula_new(text, wrong);
    tg_tape *tape = tg_tape_new();
    const double half = 0.5;
    const tg_tensor in[2] = {tg_constant(tape, TG_F64, &x, TG_SCALAR), tg_constant(tape, TG_F64, &half, TG_SCALAR)};
    const double y = formula ? tg_item(tg_formula_apply(formula, in, NULL)) : NAN;
    tg_tape_free(tape);
    tg_formula_free(formula);
    return y;
}

START_TEST(a_text_means_what_mathematics_means)
{
    static const struct {
        const char *text;
        double x, y;
    } cases[] = {{"x", 3, 3},
                 {"2 x + 1", 3, 7},
                 {"1 + 2 x", 3, 7},
                 {"2x", 3, 6},
                 {"x (x + 1)", 3, 12},
                 {"(x + 1)(x - 1)", 3, 8},
                 {"-x^2", 3, -9},
                 {"(-x)^2", 3, 9},
                 {"x^-2", 2, 0.25},
                 {"x^2^3", 2, 256},
                 {"2^3 x", 2, 16},
                 {"x^3", -2, -8},
                 {"x^0.5", 9, 3},
                 {"1 - 2 - x", 3, -4},
                 {"12 / x / 2", 3, 2},
                 {"x / 2 * 3", 4, 6},
                 {"1 / x", 4, 0.25},
                 {"1 - x", 4, -3},
                 {"x - 1 - -1", 4, 4},
                 {"e^-x", 1, 0.36787944117144233},
                 {"e x", 1, 2.718281828459045},
                 {"2 e x", 1, 5.43656365691809},
                 {"2e1 x", 1, 20},
                 {"2.5e-1x", 1, 0.25},
                 {"pi x", 1, 3.141592653589793},
                 {"sqrt(2 / pi) x", 1, 0.7978845608028654},
                 {"sigmoid (x)", 0, 0.5},
                 {"where(x > 0, 2 x, x / 2)", -3, -1.5},
                 {"where(x <= 0, 1, x)", 0, 1},
                 {"(x == 3) + (x != 3) * 10", 3, 1},
                 {"max(x, 2 x, )", 1, NAN},
                 {"max(0, x)", -1, 0},
                 {"min(x, 2)", 3, 2},
                 {"clamp(x, -1, 1)", 3, 1},
                 {"leaky_relu(x, 0.25)", -2, -0.5},
                 {"pow(2, x)", 3, 8},
                 {"u * relu(v)", 3, 1.5},
                 {"u - v", 3, 2.5},
                 {"mine: b x + c, b = 2, c = -1 per unit", 3, 5},
                 {"  mine  :  x\t+\n1  ", 3, 4},
                 {"x / 0.0001", 1, 10000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_error error;
        const double y = value_of(cases[i].text, cases[i].x, &error);
        ck_assert_msg(isnan(cases[i].y) ? isnan(y) : fabs(y - cases[i].y) <= 1e-15 * fabs(cases[i].y), "%s: %.17g",
                      cases[i].text, y);
    }
}
END_TEST

START_TEST(an_error_has_its_place_and_what_is_similar)
{
    static const char *const cases[][2] = {
        {"x sigmoyd(x)", "column 3, at 'sigmoyd(x)': there is no 'sigmoyd'; 'sigmoid' is similar"},
        {"x gelu(x)", "column 3, at 'gelu(x)': there is no 'gelu'; 'gelu_exact' is similar"},
        {"x +", "column 4, at the end: expected a number, a name or '('"},
        {"", "column 1, at the end: expected a number, a name or '('"},
        {"sin x", "column 5, at 'x': expected '(' after sin"},
        {"(x", "column 3, at the end: expected ')'"},
        {"x)", "column 2, at ')': expected an operator or the end"},
        {"max(x)", "column 6, at ')': expected ',': max takes 2 arguments"},
        {"1 / 2 x", "column 7, at 'x': a / b c can be read in two ways: write (a / b) c or a / (b c)"},
        {"2^x", "column 4, at the end: the exponent before it is not a number; pow(a, b) takes any"},
        {"elu(x, x)", "column 8, at 'x)': expected a number, not a function of x"},
        {"clamp(x, 2, 1)", "column 1, at 'clamp(x, 2, 1)': the lower limit is above the upper one"},
        {"x u", "column 3, at 'u': expected x alone, or u and v alone"},
        {"v^2", "column 4, at the end: a gate needs both u and v; a function of one number is one of x"},
        {"2", "column 2, at the end: the formula does not depend on x, or on u and v"},
        {"log(0) x", "column 6, at ') x': the number before it is not finite"},
        {"x / (1 - 1)", "column 12, at the end: division by 0 before it"},
        {"x / 1e-310", "column 11, at the end: division by 0 before it"}, /* 0 times its inverse is NaN */
        {"my act: x", "column 1, at 'my act: x': a name before ':' is of up to 40 letters, digits, '_', '-' and '.'"},
        {": x", "column 1, at ': x': a name before ':' is of up to 40 letters, digits, '_', '-' and '.'"},
        {"1e999 x", "column 1, at '1e999 x': expected a number, a name or '('"},
        {"b x, c = 1",
         "column 1, at 'b x, c = 1': there is no 'b'; there are x, or u and v, pi, e, trained numbers (', b "
         "= 1' at the end), and functions such as exp, tanh, sigmoid, max and where"},
        {"x, b = 1", "column 2, at ', b = 1': a trained number is not used in the formula"},
        {"b x, b = 1, b = 2", "column 13, at 'b = 2': the name 'b' has a meaning already"},
        {"e x, e = 1", "column 6, at 'e = 1': the name 'e' has a meaning already"},
        {"b x, b = x", "column 10, at 'x': expected a number"},
        {"b x, b = 1 per row", "column 12, at 'per row': expected ',' or 'per unit'"},
        {"b x, b", "column 7, at the end: expected '='"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_error error = {""};
        ck_assert_msg(isnan(value_of(cases[i][0], 1, &error)), "%s is accepted", cases[i][0]);
        ck_assert_str_eq(error.text, cases[i][1]);
    }
    ck_assert_ptr_null(tg_formula_new(NULL, NULL));
}
END_TEST

/* `count` times the text, between two others. */
static char *repeated(const char *before, const char *text, int count, const char *after)
{
    char *all = calloc(1, strlen(before) + (size_t)count * strlen(text) + strlen(after) + 1);
    strcpy(all, before);
    for (int i = 0; i < count; i++)
        strcat(all, text);
    return strcat(all, after);
}

START_TEST(length_and_depth_are_limited)
{
    static const struct {
        const char *text;
        int count;
        const char *after, *wrong;
    } cases[] = {{"(", 39, "x)))))))))))))))))))))))))))))))))))))))", NULL},
                 {"(", 40, "x", "nested more than 40 deep"},
                 {"-", 400, "x", "nested more than 40 deep"},
                 {"2^", 200, "x", "nested more than 40 deep"},
                 {"exp(", 100, "x", "nested more than 40 deep"},
                 {" ", 100000, "x", "more than 499 characters"},
                 {"x", 500, "", "more than 499 characters"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = repeated("", cases[i].text, cases[i].count, cases[i].after);
        tg_error error = {""};
        const double y = value_of(text, 1, &error);
        ck_assert_msg(cases[i].wrong ? isnan(y) && strstr(error.text, cases[i].wrong) : y == 1, "%s", error.text);
        free(text);
    }
}
END_TEST

/* ---- as activations ---- */

static const struct {
    const char *name, *text;
} twins[] = {{"silu", "x sigmoid(x)"},
             {"gelu_exact", "0.5 x erfc(-x / sqrt(2))"},
             {"gelu_quick", "x sigmoid(1.702 x)"},
             {"hardswish", "x clamp(x + 3, 0, 6) / 6"},
             {"relu_squared", "max(0, x)^2"},
             {"xielu", "where(x > 0, 0.8 x^2 + 0.5 x, 0.8 (e^x - 1 - x) + 0.5 x)"},
             {"swiglu", "u * silu(v)"},
             {"glu", "u / (1 + e^-v)"}};

static tg_activation activation_of(const char *name)
{
    tg_activation activation = TG_RELU;
    tg_error error;
    ck_assert_msg(tg_activation_read(name, &activation, &error), "%s", error.text);
    return activation;
}

static tg_mlp *net_of(const char *name, tg_rng *rng)
{
    *rng = tg_rng_seed(7);
    return tg_mlp_new(
        rng, &(tg_mlp_config){.inputs = 5, .hidden = {24, 24, 16}, .outputs = 3, .activation = activation_of(name)});
}

START_TEST(initial_weights_are_those_of_the_built_in_twin)
{
    tg_rng rng;
    tg_mlp *a = net_of(twins[_i].name, &rng), *b = net_of(twins[_i].text, &rng);
    const tg_parameters *first = tg_mlp_parameters(a), *second = tg_mlp_parameters(b);
    ck_assert_int_eq(tg_parameters_count(first), tg_parameters_count(second));
    for (int i = 0; i < tg_parameters_count(first); i++) {
        const tg_parameter *p = tg_parameters_at(first, i), *q = tg_parameters_at(second, i);
        ck_assert_str_eq(p->name, q->name);
        ck_assert_mem_eq(p->data, q->data, (size_t)tg_shape_size(&p->shape) * sizeof(float));
    }
    tg_mlp_free(a);
    tg_mlp_free(b);
}
END_TEST

START_TEST(moments_are_those_of_closed_forms)
{
    tg_moments m;
    ck_assert(tg_activation_measure(TG_RELU, &m));
    ck_assert_double_eq_tol(m.mean, 0.3989422804014327, 1e-15); /* 1 / sqrt(2 pi) */
    ck_assert_double_eq_tol(m.square, 0.5, 1e-15);
    ck_assert_double_eq_tol(m.dead, 0.5, 1e-15);
    ck_assert(m.largest_derivative == 1);
    ck_assert(tg_activation_measure(activation_of("max(x - 0.123, 0)"), &m)); /* a kink anywhere: phi and Phi of it */
    ck_assert_double_eq_tol(m.dead, 0.5489464510164368, 1e-14);
    ck_assert_double_eq_tol(m.mean, 0.34045628033994046, 1e-14);
    ck_assert(tg_activation_measure(activation_of("x^3"), &m));
    ck_assert_double_eq_tol(m.square, 15, 1e-12);
    ck_assert_double_eq_tol(m.derivative_square, 27, 1e-11);
    ck_assert(isinf(m.largest_derivative));
    ck_assert(tg_activation_measure(TG_SWIGLU, &m));
    ck_assert(!tg_activation_measure((tg_activation)-1, &m) && !tg_activation_measure(TG_RELU, NULL));
    ck_assert(!tg_moments_measure(NULL, NULL, &m));
}
END_TEST

START_TEST(a_formula_is_one_activation_in_the_whole_process)
{
    tg_error error;
    const tg_activation a = activation_of("mine: x  sigmoid(1.5 x)"), b = activation_of("mine: x sigmoid(1.5 x)");
    ck_assert_int_eq(a, b);
    ck_assert_int_ne(a, activation_of("mine: x sigmoid(1.6 x)"));
    ck_assert_str_eq(tg_activation_name(a), "mine: x sigmoid(1.5 x)");
    ck_assert_str_eq(tg_activation_label(a), "mine");
    ck_assert_str_eq(tg_activation_label(TG_RELU), "relu");
    ck_assert(!tg_activation_is_gated(a) && tg_activation_is_gated(activation_of("u v")));
    ck_assert(!tg_activation_read("relu: x", NULL, &error));
    ck_assert_str_eq(error.text, "'relu' is the name of another activation");
    ck_assert(!tg_activation_read("swish", NULL, &error) && strstr(error.text, "not an activation; there are"));
    ck_assert(!tg_activation_read("LeakyReLU", NULL, &error));
    ck_assert_str_eq(error.text, "not an activation; 'leaky_relu' is similar");
    ck_assert(!tg_activation_read("GELU", NULL, &error) && strstr(error.text, "there is no plain gelu"));
    ck_assert(!tg_activation_read("x +", NULL, &error) && strstr(error.text, "column 4"));
}
END_TEST

START_TEST(trained_numbers_are_parameters_of_the_layer)
{
    tg_rng rng;
    tg_mlp *net = net_of("x sigmoid(b x) + c, b = 1.5 per unit, c = -0.25", &rng);
    tg_parameters *set = tg_mlp_parameters(net);
    const tg_parameter *b = tg_parameters_find(set, "layers.1.activation.b"),
                       *c = tg_parameters_find(set, "layers.2.activation.c");
    ck_assert(b && c);
    ck_assert_int_eq(tg_shape_size(&b->shape), 24);
    ck_assert_int_eq(tg_shape_size(&c->shape), 1);
    ck_assert_float_eq(((float *)b->data)[23], 1.5f);
    ck_assert_float_eq(((float *)c->data)[0], -0.25f);
    ck_assert(!b->decay);
    const tg_mlp_config config = {
        .inputs = 5, .hidden = {24, 24, 16}, .outputs = 3, .activation = tg_mlp_activation(net)};
    int64_t size = 0;
    for (int i = 0; i < tg_parameters_count(set); i++)
        size += tg_shape_size(&tg_parameters_at(set, i)->shape);
    ck_assert_int_eq(tg_mlp_size(&config, NULL), size);
    tg_tape *tape = tg_tape_new();
    const float x[2][5] = {{1, -2, 0.5f, 3, 0}, {0, 1, -1, 2, 1}};
    ck_assert(tg_backward(tg_sum(tg_mlp_forward(net, tg_constant(tape, TG_F32, x, TG_SHAPE(2, 5))))));
    for (int i = 0; i < 24; i++)
        ck_assert(fabsf(((float *)b->gradient)[i]) > 0);
    tg_tape_free(tape);
    tg_mlp_free(net);
}
END_TEST

Suite *formula_suite(void)
{
    Suite *suite = suite_create("formula");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_text_means_what_mathematics_means);
    tcase_add_test(all, an_error_has_its_place_and_what_is_similar);
    tcase_add_test(all, length_and_depth_are_limited);
    tcase_add_loop_test(all, initial_weights_are_those_of_the_built_in_twin, 0, sizeof twins / sizeof *twins);
    tcase_add_test(all, moments_are_those_of_closed_forms);
    tcase_add_test(all, a_formula_is_one_activation_in_the_whole_process);
    tcase_add_test(all, trained_numbers_are_parameters_of_the_layer);
    suite_add_tcase(suite, all);
    return suite;
}
