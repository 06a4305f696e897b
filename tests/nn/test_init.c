/* Initial weights: their statistics, and what they depend on. */
#include "tests/support/wrapped_memory.h"

#include <check.h>
#include <math.h>
#include <tapegrad.h>

Suite *init_suite(void);

static tg_parameters *weight_set(tg_dtype dtype, tg_shape shape, tg_init init, double gain)
{
    tg_rng rng = tg_rng_seed(3);
    tg_parameters *set = tg_parameters_new(dtype);
    ck_assert(tg_initialize(tg_parameters_add(set, "weight", shape, true), init, gain, &rng));
    return set;
}

static const double *doubles(const tg_parameters *set)
{
    return tg_parameters_values(set);
}

START_TEST(variances_are_those_of_the_formulas)
{
    enum { OUT = 300, IN = 200, N = OUT * IN };
    static const struct {
        tg_init init;
        double gain, variance, fourth; /* moment divided by the squared variance */
    } kinds[] = {
        {TG_INIT_VARIANCE_PRESERVING, 1.5, 2.25 / IN, 3},
        {TG_INIT_HE_NORMAL, 1, 1. / IN, 3},
        {TG_INIT_HE_UNIFORM, 2, 4. / IN, 1.8},
        {TG_INIT_XAVIER_NORMAL, 1, 2. / (IN + OUT), 3},
        {TG_INIT_XAVIER_UNIFORM, 0.5, 0.5 / (IN + OUT), 1.8},
        {TG_INIT_UNIT_ROWS, 1, 1. / IN, 3},
        {TG_INIT_ORTHOGONAL, 1, 1. / OUT, 3}, /* columns are unit vectors of length 300 */
        {TG_INIT_SIREN, 1, 1. / IN, 1.8},     /* for a layer that is not a model's first */
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        tg_parameters *set = weight_set(TG_F64, TG_SHAPE(OUT, IN), kinds[k].init, kinds[k].gain);
        double mean = 0, square = 0;
        for (int i = 0; i < N; i++) {
            mean += doubles(set)[i] / N;
            square += doubles(set)[i] * doubles(set)[i] / N;
        }
        ck_assert_double_le(fabs(mean), 5 * sqrt(kinds[k].variance / N));
        ck_assert_double_eq_tol(square / kinds[k].variance, 1, 5 * sqrt((kinds[k].fourth - 1) / N));
        tg_parameters_free(set);
    }
}
END_TEST

START_TEST(uniform_weights_stay_within_their_bound)
{
    tg_parameters *set = weight_set(TG_F64, TG_SHAPE(100, 60), TG_INIT_HE_UNIFORM, 1);
    double bound = sqrt(3. / 60), most = 0;
    for (int i = 0; i < 6000; i++)
        most = fmax(most, fabs(doubles(set)[i]));
    ck_assert_double_le(most, bound);
    ck_assert_double_ge(most, 0.99 * bound);
    tg_parameters_free(set);
}
END_TEST

/* The largest weight of parameter number `index` divided by the bound that it must come close to. */
static double reach(const tg_parameters *set, int index, double bound)
{
    const tg_parameter *p = tg_parameters_at(set, index);
    double most = 0;
    for (int64_t i = 0; i < tg_shape_size(&p->shape); i++)
        most = fmax(most, fabs(tg_parameter_get(p, i)));
    return most / bound;
}

/* Tests the paper's bounds, and the variances that follow from them for points in [-1, 1]^2. The phases of the first
 * layer spread over many periods: E sin^2 = (1 - (Si(30) / 30)^2) / 2. A sum z of many sines is normal, with some
 * variance v. Then E sin(z)^2 = (1 - e^(-2 v)) / 2 is half the variance after the next layer. */
START_TEST(siren_begins_as_published)
{
    enum { ROWS = 500, WIDTH = 200, DEPTH = 6 };
    static double x[ROWS][2];
    tg_rng rng = tg_rng_seed(5);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2,
                                                    .hidden = {WIDTH, WIDTH, WIDTH, WIDTH, WIDTH, WIDTH},
                                                    .outputs = 1,
                                                    .activation = TG_SINE,
                                                    .init = TG_INIT_SIREN,
                                                    .dtype = TG_F64});
    const tg_parameters *set = tg_mlp_parameters(net);
    for (int layer = 0; layer <= DEPTH; layer++) {
        const double share = reach(set, 2 * layer, layer == 0 ? 30. / 2 : sqrt(6. / WIDTH));
        ck_assert_double_le(share, 1);
        ck_assert_double_ge(share, 0.97);
    }
    tg_tape *tape = tg_tape_new();
    for (int i = 0; i < 2 * ROWS; i++)
        x[i / 2][i % 2] = 2 * tg_rng_uniform(&rng) - 1;
    tg_mlp_trace trace;
    tg_mlp_forward_with(net, tg_constant(tape, TG_F64, x, TG_SHAPE(ROWS, 2)), NULL, &trace);
    double expected = 1 - pow(1.5667565 / 30, 2);
    for (int layer = 1; layer < DEPTH; layer++) {
        const double square = tg_item(tg_mean(tg_square(trace.preactivation[layer])));
        const double fourth = tg_item(tg_mean(tg_power(trace.preactivation[layer], 4)));
        ck_assert_double_eq_tol(square, expected, 0.05);
        ck_assert_double_eq_tol(fourth / (square * square), 3, 0.3);
        expected = 1 - exp(-2 * expected);
    }
    tg_mlp_free(net);
    tg_tape_free(tape);
}
END_TEST

START_TEST(unit_rows_have_unit_length)
{
    tg_parameters *set = weight_set(TG_F64, TG_SHAPE(128, 784), TG_INIT_UNIT_ROWS, 1);
    for (int row = 0; row < 128; row++) {
        double squares = 0;
        for (int column = 0; column < 784; column++)
            squares += pow(doubles(set)[row * 784 + column], 2);
        ck_assert_double_eq_tol(squares, 1, 1e-13);
    }
    tg_parameters_free(set);
}
END_TEST

/* The inner products of all pairs of rows, or of columns if these are fewer: gain^2 times the identity matrix. */
static void assert_orthogonal(int rows, int columns, double gain)
{
    tg_parameters *set = weight_set(TG_F64, TG_SHAPE(rows, columns), TG_INIT_ORTHOGONAL, gain);
    bool wide = rows <= columns;
    int count = wide ? rows : columns, size = wide ? columns : rows;
    int next = wide ? 1 : columns, step = wide ? columns : 1; /* from element to element, from vector to vector */
    for (int a = 0; a < count; a++)
        for (int b = 0; b <= a; b++) {
            double product = 0;
            for (int i = 0; i < size; i++)
                product += doubles(set)[a * step + i * next] * doubles(set)[b * step + i * next];
            ck_assert_double_eq_tol(product, a == b ? gain * gain : 0, 1e-12);
        }
    tg_parameters_free(set);
}

START_TEST(orthogonal_matrices_are_orthogonal_to_rounding)
{
    assert_orthogonal(64, 64, 1);
    assert_orthogonal(40, 130, 1);
    assert_orthogonal(130, 40, 1.5);
    assert_orthogonal(1, 1, 1);
    assert_orthogonal(1, 5, 1);
    assert_orthogonal(200, 199, 1);
}
END_TEST

START_TEST(fans_of_a_convolution_count_its_window)
{
    enum { N = 64 * 32 * 9 };
    tg_parameters *set = weight_set(TG_F64, TG_SHAPE(64, 32, 3, 3), TG_INIT_XAVIER_NORMAL, 1);
    double square = 0, variance = 2. / (32 * 9 + 64 * 9);
    for (int i = 0; i < N; i++)
        square += doubles(set)[i] * doubles(set)[i] / N;
    ck_assert_double_eq_tol(square / variance, 1, 5 * sqrt(2. / N));
    tg_parameters_free(set);
}
END_TEST

START_TEST(equal_names_get_equal_numbers_in_float_and_double_and_up_to_the_gain)
{
    for (int init = 0; tg_init_name((tg_init)init); init++) {
        tg_parameters *twice = weight_set(TG_F64, TG_SHAPE(6, 9), (tg_init)init, 1);
        tg_parameters *single = weight_set(TG_F32, TG_SHAPE(6, 9), (tg_init)init, 1);
        tg_parameters *larger = weight_set(TG_F64, TG_SHAPE(6, 9), (tg_init)init, 2);
        tg_rng rng = tg_rng_seed(3);
        tg_parameters *other = tg_parameters_new(TG_F64);
        ck_assert(tg_initialize(tg_parameters_add(other, "another", TG_SHAPE(6, 9), true), (tg_init)init, 1, &rng));
        for (int i = 0; i < 54; i++) {
            ck_assert_float_eq(((const float *)tg_parameters_values(single))[i], (float)doubles(twice)[i]);
            ck_assert_double_eq_tol(doubles(larger)[i], 2 * doubles(twice)[i], 1e-15);
            ck_assert_double_ne(doubles(other)[i], doubles(twice)[i]);
        }
        tg_parameters_free(twice);
        tg_parameters_free(single);
        tg_parameters_free(larger);
        tg_parameters_free(other);
    }
}
END_TEST

START_TEST(initialisers_have_names_and_gains)
{
    int count = 0;
    for (; tg_init_name((tg_init)count); count++) {
        tg_init found = (tg_init)-1;
        ck_assert(tg_init_from_name(tg_init_name((tg_init)count), &found));
        ck_assert_int_eq((int)found, count);
    }
    ck_assert_int_eq(count, TG_INIT_SIREN + 1);
    tg_init kept = TG_INIT_UNIT_ROWS;
    ck_assert_ptr_null(tg_init_name((tg_init)-1));
    ck_assert(!tg_init_from_name("kaiming", &kept) && !tg_init_from_name(NULL, &kept) && kept == TG_INIT_UNIT_ROWS);
    ck_assert_double_eq(tg_init_gain(TG_INIT_VARIANCE_PRESERVING, TG_SILU), tg_activation_gain(TG_SILU));
    ck_assert_double_eq(tg_init_gain(TG_INIT_HE_UNIFORM, TG_SILU), sqrt(2));
    ck_assert_double_eq(tg_init_gain(TG_INIT_XAVIER_NORMAL, TG_SILU), 1);
    ck_assert_double_eq(tg_init_gain(TG_INIT_UNIT_ROWS, TG_SILU), 1);
}
END_TEST

/* Root mean square of the output of a net of three hidden layers with default initial weights, for 64 rows of normal
 * numbers. */
static double first_output(tg_activation activation, int outputs, bool regression)
{
    enum { ROWS = 64, IN = 10 };
    double x[ROWS][IN], squares = 0;
    tg_rng rng = tg_rng_seed(5);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = IN,
                                                    .hidden = {64, 64, 64},
                                                    .outputs = outputs,
                                                    .activation = activation,
                                                    .dtype = TG_F64,
                                                    .regression = regression});
    tg_tape *tape = tg_tape_new();
    for (int i = 0; i < ROWS * IN; i++)
        x[i / IN][i % IN] = tg_rng_normal(&rng);
    const double *y = tg_f64(tg_mlp_forward(net, tg_constant(tape, TG_F64, x, TG_SHAPE(ROWS, IN))));
    for (int i = 0; i < ROWS * outputs; i++)
        squares += y[i] * y[i];
    tg_mlp_free(net);
    tg_tape_free(tape);
    return sqrt(squares / (ROWS * outputs));
}

/* The output layer keeps the second moment for classes, and has 0.3 of that gain for numbers and two classes. */
START_TEST(by_default_outputs_begin_near_one_or_a_third)
{
    const double classes = first_output((tg_activation)_i, 8, false);
    ck_assert_double_eq_tol(classes, 1, 0.45);
    ck_assert_double_eq_tol(first_output((tg_activation)_i, 8, true), 0.3 * classes, 1e-6);
    ck_assert_double_eq_tol(first_output((tg_activation)_i, 2, false), 0.3, 0.2);
}
END_TEST

/* Three parameters with their own initialisers: with a gain, scaled for four residual terms, and with a fixed
 * deviation. */
START_TEST(a_set_begins_as_its_parameters_say)
{
    enum { OUT = 200, IN = 300, N = OUT * IN };
    const tg_rng rng = tg_rng_seed(8);
    const tg_initial initial[] = {{.gain = 3}, {.gain = 3, .sums = 4}, {.deviation = 0.2}, {0}};
    const double variance[] = {9. / IN, 9. / IN / 4, 0.04, 0};
    tg_parameters *set = tg_parameters_new(TG_F64);
    for (int i = 0; i < 4; i++) {
        char name[2] = {(char)('a' + i)};
        tg_parameter_initial(tg_parameters_add(set, name, TG_SHAPE(OUT, IN), true), initial[i]);
    }
    ck_assert(tg_parameters_initialize(set, TG_INIT_VARIANCE_PRESERVING, 0, &rng));
    for (int i = 0; i < 4; i++) {
        double squares = 0;
        for (int k = 0; k < N; k++)
            squares += tg_parameter_get(tg_parameters_at(set, i), k) * tg_parameter_get(tg_parameters_at(set, i), k);
        ck_assert_double_le(fabs(squares / N - variance[i]), 5 * sqrt(2. / N) * variance[i]);
    }
    static const double wrong[] = {NAN, INFINITY, -1};
    tg_parameters *others = tg_parameters_new(TG_F64); /* of which the scale concerns none */
    tg_parameter_initial(tg_parameters_add(others, "a", TG_SHAPE(2), true), initial[2]);
    for (int i = 0; i < 3; i++)
        ck_assert(!tg_parameters_initialize(set, TG_INIT_HE_NORMAL, wrong[i], &rng) &&
                  !tg_parameters_initialize(others, TG_INIT_HE_NORMAL, wrong[i], &rng));
    ck_assert(tg_parameters_initialize(others, TG_INIT_HE_NORMAL, 2, &rng));
    tg_parameters_free(others);
    tg_parameters_free(set);
}
END_TEST

START_TEST(what_cannot_be_initialised_is_refused)
{
    tg_parameters *set = tg_parameters_new(TG_F32);
    tg_parameter *vector = tg_parameters_add(set, "vector", TG_SHAPE(3), true);
    tg_parameter *empty = tg_parameters_add(set, "empty", TG_SHAPE(0, 3), true);
    tg_parameter *matrix = tg_parameters_add(set, "matrix", TG_SHAPE(4, 3), true);
    ck_assert(!tg_initialize(NULL, TG_INIT_HE_NORMAL, 1, NULL));
    ck_assert(!tg_initialize(vector, TG_INIT_HE_NORMAL, 1, NULL));
    ck_assert(!tg_initialize(matrix, (tg_init)99, 1, NULL));
    for (int i = 0; i < 4; i++) { /* weights of 0, or an empty tensor */
        static const double gains[] = {0, -1, INFINITY, NAN};
        tg_parameter_fill(matrix, 0.5);
        ck_assert(!tg_initialize(matrix, TG_INIT_HE_NORMAL, gains[i], NULL));
        ck_assert_double_eq(tg_parameter_get(matrix, 11), 0.5);
    }
    ck_assert(tg_initialize(empty, TG_INIT_ORTHOGONAL, 1, NULL));
    ck_assert(tg_initialize(matrix, TG_INIT_HE_NORMAL, 1, NULL));
    wrapped_memory_fail_after(0);
    bool fine = tg_initialize(matrix, TG_INIT_ORTHOGONAL, 1, NULL);
    ck_assert(wrapped_memory_stop());
    ck_assert(!fine);
    tg_parameters_free(set);
}
END_TEST

Suite *init_suite(void)
{
    Suite *suite = suite_create("init");
    TCase *tests = tcase_create("init");
    tcase_add_test(tests, variances_are_those_of_the_formulas);
    tcase_add_test(tests, uniform_weights_stay_within_their_bound);
    tcase_add_test(tests, siren_begins_as_published);
    tcase_add_test(tests, unit_rows_have_unit_length);
    tcase_add_test(tests, orthogonal_matrices_are_orthogonal_to_rounding);
    tcase_add_test(tests, fans_of_a_convolution_count_its_window);
    tcase_add_test(tests, equal_names_get_equal_numbers_in_float_and_double_and_up_to_the_gain);
    tcase_add_test(tests, initialisers_have_names_and_gains);
    tcase_add_loop_test(tests, by_default_outputs_begin_near_one_or_a_third, 0, TG_REGLU_SQUARED + 1);
    tcase_add_test(tests, a_set_begins_as_its_parameters_say);
    tcase_add_test(tests, what_cannot_be_initialised_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
