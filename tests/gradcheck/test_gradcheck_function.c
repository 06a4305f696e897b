/* Derivatives of black boxes: the checker of black boxes on C functions in three types. */
#include "tests/gradcheck/right_functions.h"
#include "tests/support/seeds.h"
#include "tests/gradcheck/taped_box.h"
#include "tests/gradcheck/wrong_ops.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *gradcheck_function_suite(void);

/* ---- numbers that are not used ---- */

static bool square_of_second(const void *const *in, void *const *out, void *user)
{
    const double *x = in[0];
    (void)user;
    *(double *)out[0] = x[1] * x[1];
    return true;
}

static bool square_of_second_vjp(const void *const *in, const void *const *v, void *const *gradients, void *user)
{
    const double *x = in[0];
    double *gradient = gradients[0];
    (void)user;
    gradient[0] = 0;
    gradient[1] = *(const double *)v[0] * 2 * x[1];
    return true;
}

/* For sanitizers: powers of two of such numbers are no integers. */
START_TEST(a_number_that_is_not_used_may_be_infinite_or_nan)
{
    static const double numbers[] = {INFINITY, -INFINITY, NAN, 0, 0x1p-1074};
    const tg_black_box box = {.value = square_of_second, .vjp = square_of_second_vjp};
    for (int i = 0; i < 5; i++) {
        const tg_gradcheck_input in = {.shape = TG_SHAPE(2), .data = (const double[]){numbers[i], 1.5}};
        const tg_gradcheck_result result = tg_gradcheck_function(&box, &in, 1, NULL);
        ck_assert_msg(result.passed, "%g: %s", numbers[i], result.why);
    }
}
END_TEST

/* ---- two matrices in, their product and a mean out ---- */

/* P = A B and m = mean(A^2) + k sum(B), of A [2, 3], B [3, 2] and an integer k. A number selects a fault of the
 * derivatives.
 */
typedef struct product {
    tg_gradcheck_type type;
    int fault;       /* of the vjp */
    int other_fault; /* faults of jvp and jacobian */
    int calls;
    double kept[6];
} product;

enum {
    RIGHT,
    SIGN,
    NINE_TENTHS,
    TERM_MISSING,
    TRANSPOSED,
    OFF_BY_ONE,
    COTANGENT_IGNORED,
    COTANGENT_ABSOLUTE,
    SMALL_CONSTANT,
    CHANGES_ITS_INPUT,
    KEEPS_THE_VALUE,
    CHANGES_FROM_CALL_TO_CALL,
    ONE_UNWRITTEN,
    INFINITE,
    FAULTS,
};

static double get(const product *p, const void *from, int i)
{
    return p->type == TG_GRADCHECK_F64 ? ((const double *)from)[i] : ((const float *)from)[i];
}

static void put(const product *p, void *to, int i, double x)
{
    if (p->type == TG_GRADCHECK_F64)
        ((double *)to)[i] = x;
    else
        ((float *)to)[i] = p->type == TG_GRADCHECK_F32 ? (float)x : tg_round(TG_BFLOAT16, (float)x);
}

/* The derivatives as a matrix: [P, m] by [A, B], so that each product with a vector is a plain loop over it. */
static void fill(const product *p, const void *const *in, double j[5][12])
{
    const double k = *(const int32_t *)in[2];
    memset(j, 0, 5 * sizeof *j);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++)
            for (int i = 0; i < 3; i++) {
                j[2 * r + c][3 * r + i] = get(p, in[1], 2 * i + c);
                j[2 * r + c][6 + 2 * i + c] = get(p, in[0], 3 * r + i);
            }
    for (int i = 0; i < 6; i++) {
        j[4][i] = get(p, in[0], i) / 3;
        j[4][6 + i] = k;
    }
}

static bool value(const void *const *in, void *const *out, void *user)
{
    product *p = user;
    double mean = 0;
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) {
            double sum = 0;
            for (int i = 0; i < 3; i++)
                sum += get(p, in[0], 3 * r + i) * get(p, in[1], 2 * i + c);
            put(p, out[0], 2 * r + c, sum);
        }
    for (int i = 0; i < 6; i++) {
        p->kept[i] = get(p, in[0], i);
        mean += p->kept[i] * p->kept[i] / 6 + *(const int32_t *)in[2] * get(p, in[1], i);
    }
    put(p, out[1], 0, mean);
    return true;
}

static bool vjp(const void *const *in, const void *const *v, void *const *gradients, void *user)
{
    product *p = user;
    double j[5][12], g[12] = {0};
    fill(p, in, j);
    for (int row = 0; row < 5; row++) {
        double cotangent = row < 4 ? get(p, v[0], row) : get(p, v[1], 0);
        if (p->fault == COTANGENT_IGNORED && row == 4)
            cotangent = 1;
        if (p->fault == COTANGENT_ABSOLUTE && row == 4)
            cotangent = fabs(cotangent);
        if (p->fault == TERM_MISSING && row == 4)
            continue;
        for (int i = 0; i < 12; i++)
            g[i] += cotangent * (p->fault == TRANSPOSED && row < 4 ? j[row % 2 * 2 + row / 2][i] : j[row][i]);
    }
    p->calls++;
    for (int i = 0; i < 12; i++) {
        double x = g[i];
        if (p->fault == SIGN && i >= 6)
            x = -x;
        if (p->fault == NINE_TENTHS)
            x *= 0.9;
        if (p->fault == OFF_BY_ONE && i < 6)
            x = g[(i + 1) % 6];
        if (p->fault == SMALL_CONSTANT)
            x += 0.01;
        if (p->fault == KEEPS_THE_VALUE && i < 6)
            x += get(p, v[1], 0) * (p->kept[i] - get(p, in[0], i)) / 3;
        if (p->fault == CHANGES_FROM_CALL_TO_CALL)
            x *= 1 + 1e-2 * p->calls;
        if (p->fault == INFINITE && i == 3)
            x = INFINITY;
        if (p->fault != ONE_UNWRITTEN || i != 3)
            put(p, gradients[i / 6], i % 6, x);
    }
    if (p->fault == CHANGES_ITS_INPUT)
        put(p, (void *)(uintptr_t)in[1], 5, 7);
    ck_assert_ptr_null(gradients[2]);
    return true;
}

/* The Jacobian-vector product, with faults that the other derivatives do not have. */
static bool jvp(const void *const *in, const void *const *u, void *const *products, void *user)
{
    const product *p = user;
    double j[5][12];
    fill(p, in, j);
    for (int row = 0; row < 5; row++) {
        double sum = 0;
        for (int i = 0; i < 12; i++) {
            const double tangent = get(p, u[i / 6], i % 6);
            sum += j[row][i] * (p->other_fault == COTANGENT_ABSOLUTE ? fabs(tangent) : tangent);
        }
        if (p->other_fault == NINE_TENTHS && row == 2)
            sum *= 0.9;
        if (p->other_fault == SMALL_CONSTANT)
            sum += 0.01;
        put(p, products[row == 4], row % 4, sum);
    }
    return true;
}

static bool jacobian(const void *const *in, void *to, void *user)
{
    const product *p = user;
    double j[5][12];
    fill(p, in, j);
    for (int i = 0; i < 60; i++)
        put(p, to, i, j[i / 12][i % 12] * (p->other_fault == NINE_TENTHS && i == 13 ? 0.9 : 1));
    return true;
}

static const double a[] = {0.3, -1.2, 0.7, 2.1, -0.4, 1.6}, b[] = {-0.8, 0.5, 1.9, -0.1, 0.6, -2.2};
static const int32_t three = 3;
static const tg_gradcheck_input matrices[] = {{.name = "A", .shape = {2, {2, 3}}, .data = a},
                                              {.name = "B", .shape = {2, {3, 2}}, .data = b},
                                              {.name = "k", .integers = &three}};
static const tg_shape shapes[] = {{2, {2, 2}}, {0}};

static tg_gradcheck_result check_product(tg_black_box box, product *p, uint64_t seed)
{
    box.type = p->type;
    box.outputs = shapes;
    box.output_count = 2;
    box.value = value;
    box.user = p;
    const tg_gradcheck_result v = tg_gradcheck_function(&box, matrices, 3, &(tg_gradcheck_options){.seed = seed});
    return v;
}

START_TEST(a_right_black_box_passes_in_every_type_by_every_product)
{
    static const tg_black_box ways[] = {
        {.vjp = vjp},
        {.jvp = jvp},
        {.jacobian = jacobian},
        {.vjp = vjp, .jvp = jvp, .jacobian = jacobian},
    };
    for (int type = TG_GRADCHECK_F64; type <= TG_GRADCHECK_BF16; type++)
        for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++)
            for (int seed = 0; seed < seeds(5, 200); seed++) {
                product p = {.type = (tg_gradcheck_type)type};
                const tg_gradcheck_result v = check_product(ways[way], &p, (uint64_t)seed);
                ck_assert_msg(v.passed, "type %d, way %d, seed %d: %s", type, (int)way, seed, v.why);
                ck_assert_int_ge(v.comparisons, 12);
                ck_assert_msg(type != TG_GRADCHECK_F64 || v.sharp >= 12, "type %d: %s", type, v.why);
            }
}
END_TEST

/* Five products for <v, J u> are nearly all that it needs more than a vjp; not one Jacobian for each of the 12 inputs. */
START_TEST(a_jacobian_is_computed_once_for_each_gradient)
{
    product p = {.type = TG_GRADCHECK_F64};
    const tg_gradcheck_result by_vjp = check_product((tg_black_box){.vjp = vjp}, &p, 0),
                              by_jacobian = check_product((tg_black_box){.jacobian = jacobian}, &p, 0);
    ck_assert(by_vjp.passed && by_jacobian.passed);
    ck_assert_int_le(by_jacobian.evaluations, by_vjp.evaluations * 3 / 2);
}
END_TEST

START_TEST(each_fault_of_a_vjp_is_caught_in_double_and_float)
{
    static const tg_gradcheck_status status[FAULTS] = {
        [KEEPS_THE_VALUE] = TG_GRADCHECK_DISTURBED,
        [CHANGES_ITS_INPUT] = TG_GRADCHECK_DISTURBED,
        [ONE_UNWRITTEN] = TG_GRADCHECK_NOT_FINITE,
        [INFINITE] = TG_GRADCHECK_NOT_FINITE,
    };
    for (int type = TG_GRADCHECK_F64; type <= TG_GRADCHECK_F32; type++)
        for (int seed = 0; seed < seeds(5, 200); seed++) {
            product p = {.type = (tg_gradcheck_type)type, .fault = _i};
            const tg_gradcheck_result v = check_product((tg_black_box){.vjp = vjp}, &p, (uint64_t)seed);
            ck_assert_msg(!v.passed && v.status != TG_GRADCHECK_CANNOT_TELL && v.status != TG_GRADCHECK_REFUSED,
                          "type %d, fault %d, seed %d: %s", type, _i, seed, v.why);
            ck_assert_msg(!status[_i] || v.status == status[_i], "fault %d: %s", _i, v.why);
        }
}
END_TEST

/* The cotangents may be so close to each other that exchanging them is an error too small for bfloat16. */
START_TEST(coarse_faults_hardly_ever_pass_in_bfloat16)
{
    static const int coarse[] = {SIGN, TRANSPOSED, OFF_BY_ONE, COTANGENT_ABSOLUTE, CHANGES_ITS_INPUT, ONE_UNWRITTEN};
    for (size_t i = 0; i < sizeof coarse / sizeof coarse[0]; i++) {
        const int most = seeds(10, 200);
        int passed = 0;
        for (int seed = 0; seed < most; seed++) {
            product p = {.type = TG_GRADCHECK_BF16, .fault = coarse[i]};
            passed += check_product((tg_black_box){.vjp = vjp}, &p, (uint64_t)seed).passed;
        }
        ck_assert_msg(passed <= most / 2, "fault %d: %d of %d pass", coarse[i], passed, most);
    }
}
END_TEST

START_TEST(a_product_that_contradicts_the_others_is_caught)
{
    static const struct {
        tg_black_box box;
        int other_fault;
        tg_gradcheck_status status;
    } rows[] = {
        {{.vjp = vjp, .jvp = jvp}, NINE_TENTHS, TG_GRADCHECK_ADJOINT},
        {{.vjp = vjp, .jacobian = jacobian}, NINE_TENTHS, TG_GRADCHECK_ADJOINT},
        {{.vjp = vjp, .jvp = jvp}, COTANGENT_ABSOLUTE, TG_GRADCHECK_ADJOINT},
        {{.vjp = vjp, .jvp = jvp}, SMALL_CONSTANT, TG_GRADCHECK_ADJOINT},
        {{.jvp = jvp}, NINE_TENTHS, TG_GRADCHECK_WRONG},
        {{.jacobian = jacobian}, NINE_TENTHS, TG_GRADCHECK_WRONG},
    };
    for (int type = TG_GRADCHECK_F64; type <= TG_GRADCHECK_F32; type++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            product p = {.type = (tg_gradcheck_type)type, .other_fault = rows[i].other_fault};
            const tg_gradcheck_result v = check_product(rows[i].box, &p, 1);
            ck_assert_msg(v.status == rows[i].status, "type %d, row %d: %s", type, (int)i, v.why);
        }
}
END_TEST

/* ---- sentences ---- */

START_TEST(a_failure_names_input_element_and_fault)
{
    char report[4000];
    product p = {.fault = OFF_BY_ONE};
    tg_black_box box = {
        .name = "product", .outputs = shapes, .output_count = 2, .value = value, .vjp = vjp, .user = &p};
    tg_gradcheck_options options = {.report = report, .report_size = sizeof report};
    tg_gradcheck_result v = tg_gradcheck_function(&box, matrices, 3, &options);
    ck_assert_msg(strstr(v.why, "product, A at [0, 0], order 1, where it is 0.3: the derivative gives ") == v.why, "%s",
                  v.why);
    ck_assert_msg(strstr(report, "  inputs      A [2, 3]: 0.3 -1.2 0.7 2.1 -0.4 1.6\n") != NULL, "%s", report);
    ck_assert_msg(strstr(report, "  derivative  of output 0 at [") != NULL, "%s", report);
    p.fault = NINE_TENTHS;
    v = tg_gradcheck_function(&box, matrices, 3, &options);
    ck_assert_msg(strstr(report, "all derivatives by this input are 0.9 times as large\n") != NULL, "%s", report);
    p.fault = RIGHT;
    v = tg_gradcheck_function(&box, matrices, 3, &options);
    ck_assert_msg(strstr(v.why, " derivatives agree, the worst to ") != NULL, "%s", v.why);
    ck_assert_str_eq(report, "");
}
END_TEST

/* ---- refusals ---- */

static bool cannot(const void *const *in, void *const *out, void *user)
{
    (void)in, (void)out, (void)user;
    return false;
}

START_TEST(what_cannot_be_checked_is_refused_with_the_reason)
{
    product p = {0};
    tg_parameter parameter = {.name = "w", .dtype = TG_F64, .shape = {1, {1}}, .data = (double[]){1}};
    const tg_gradcheck_input of_parameter = {.parameter = &parameter}, without = {.shape = {1, {2}}};
    const tg_shape none[] = {{1, {-2}}};
    const struct {
        tg_black_box box;
        const tg_gradcheck_input *inputs;
        int count;
        const char *why;
    } rows[] = {
        {{.vjp = vjp}, matrices, 3, "the function: expected a function with a value"},
        {{.value = value}, matrices, 3, "the function: expected a vjp, a jvp or a jacobian"},
        {{.value = value, .vjp = vjp}, NULL, 3, "the function: expected at least one input"},
        {{.value = value, .vjp = vjp}, matrices, 0, "the function: expected at least one input"},
        {{.value = value, .vjp = vjp, .type = 9}, matrices, 3, "the function: expected a type"},
        {{.value = value, .vjp = vjp, .output_count = 1},
         matrices,
         3,
         "the function: expected the shapes of its outputs"},
        {{.value = value, .vjp = vjp, .output_count = 1, .outputs = none},
         matrices,
         3,
         "the function: the shape of an output is none"},
        {{.value = value, .vjp = vjp},
         &of_parameter,
         1,
         "the function: a black box has no parameters: give their numbers as data"},
        {{.value = value, .vjp = vjp},
         &without,
         1,
         "the function, input 0: expected one of data, integers and parameter"},
        {{.value = value, .vjp = vjp}, &matrices[2], 1, "the function: there is no input to differentiate"},
        {{.value = cannot, .vjp = vjp, .name = "f"}, matrices, 3, "f: its value returned false"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tg_black_box box = rows[i].box;
        box.user = &p;
        const tg_gradcheck_result v = tg_gradcheck_function(&box, rows[i].inputs, rows[i].count, NULL);
        ck_assert_int_eq(v.status, TG_GRADCHECK_REFUSED);
        ck_assert_str_eq(v.why, rows[i].why);
    }
    ck_assert_int_eq(tg_gradcheck_function(NULL, NULL, 0, NULL).status, TG_GRADCHECK_REFUSED);
    const tg_gradcheck_options negative[] = {{.rtol = -1}, {.atol = NAN}, {.value_rtol = NAN}, {.value_atol = -1e-3}};
    for (size_t i = 0; i < sizeof negative / sizeof negative[0]; i++)
        ck_assert_str_eq(
            tg_gradcheck_function(&(tg_black_box){.value = value, .vjp = vjp, .user = &p}, matrices, 3, &negative[i])
                .why,
            "the function: expected rtol, atol, value_rtol and value_atol of 0 or more");
}
END_TEST

/* ---- second derivatives ---- */

/* y = sum(x^3) / 3; its vjp v x^2 as a function of x and v; and the vjp of that. */
static bool squares(const void *const *in, void *const *out, void *user)
{
    const double *x = in[0], *v = in[1];
    (void)user;
    for (int i = 0; i < 3; i++)
        ((double *)out[0])[i] = v[0] * x[i] * x[i];
    return true;
}

static bool squares_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    const double *x = in[0], *v = in[1], *w = cotangents[0];
    double *by_v = gradients[1];
    by_v[0] = 0;
    for (int i = 0; i < 3; i++) {
        ((double *)gradients[0])[i] = w[i] * v[0] * x[i] * *(const double *)user;
        by_v[0] += w[i] * x[i] * x[i];
    }
    return true;
}

START_TEST(a_second_derivative_is_the_first_of_a_vjp)
{
    const double x[] = {0.5, -1.5, 2}, v = 0.7;
    const tg_shape three_numbers = {1, {3}};
    const tg_gradcheck_input in[] = {{.name = "x", .shape = {1, {3}}, .data = x}, {.name = "v", .data = &v}};
    for (double factor = 1; factor <= 2; factor++) {
        const tg_black_box box = {
            .outputs = &three_numbers, .output_count = 1, .value = squares, .vjp = squares_vjp, .user = &factor};
        const tg_gradcheck_result result = tg_gradcheck_function(&box, in, 2, NULL);
        ck_assert_msg(result.passed == (factor == 2), "factor %g: %s", factor, result.why);
    }
}
END_TEST

/* ---- the test functions of the checker of tensors ---- */

static bool has(const char *name, const char *const *parts)
{
    while (*parts && !strstr(name, *parts))
        parts++;
    return *parts;
}

/* ---- many elements ---- */

enum { MANY = 100 };

static bool many_squares(const void *const *in, void *const *out, void *user)
{
    (void)user;
    for (int i = 0; i < MANY; i++)
        ((double *)out[0])[i] = ((const double *)in[0])[i] * ((const double *)in[0])[i];
    return true;
}

/* With relative errors of up to half of *user. */
static bool noisy_slope(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    for (int i = 0; i < MANY; i++) {
        const double x = ((const double *)in[0])[i], noise = fmod(fabs(2 * x) * 1e9 + 0.123, 1) - 0.5;
        ((double *)gradients[0])[i] = ((const double *)cotangents[0])[i] * 2 * x * (1 + *(const double *)user * noise);
    }
    return true;
}

START_TEST(small_errors_in_many_elements_do_not_cancel)
{
    double x[MANY], noise;
    const tg_shape shape = TG_SHAPE(MANY);
    const tg_gradcheck_input input = {.shape = TG_SHAPE(MANY), .data = x};
    const tg_black_box box = {
        .outputs = &shape, .output_count = 1, .value = many_squares, .vjp = noisy_slope, .user = &noise};
    tg_rng rng = tg_rng_seed(1);
    for (int i = 0; i < MANY; i++)
        x[i] = 6 * tg_rng_uniform(&rng) - 3;
    for (int seed = 0; seed < seeds(40, 400); seed++) {
        const tg_gradcheck_options options = {.seed = (uint64_t)seed};
        noise = 0;
        ck_assert(tg_gradcheck_function(&box, &input, 1, &options).passed);
        noise = 1e-4;
        const tg_gradcheck_result v = tg_gradcheck_function(&box, &input, 1, &options);
        ck_assert_msg(v.status == TG_GRADCHECK_WRONG, "seed %d: %s", seed, v.why);
    }
}
END_TEST

/* Functions whose intermediate results are rounded so strongly in this type that they become another function, or leave
 * its range. */
static bool is_another(int index, tg_gradcheck_type type)
{
    static const char *const in_double[] = {"beside_1e16", NULL};
    static const char *const in_float[] = {"steep_tanh",
                                           "beside_1e16",
                                           "cancelling at",
                                           "up_and_down",
                                           "difference_of_s",
                                           "tanh_difference",
                                           "complement_difference",
                                           "at 1e-6 apart",
                                           "at an ill-conditioned",
                                           "at a nearly",
                                           "near the ends",
                                           "1e6 from 0",
                                           NULL};
    static const char *const in_bfloat16[] = {"fast_sine", "steps_of_tanh", NULL};
    const char *name = right_function_name(index);
    tg_gradcheck_input in;
    right_function_at(index, &in);
    if (type == TG_GRADCHECK_F64)
        return has(name, in_double);
    for (int64_t i = 0; i < tg_shape_size(&in.shape); i++)
        if (in.data[i] != 0 && !(fabs(in.data[i]) > 1e-13 && fabs(in.data[i]) < 1e16))
            return true;
    return strstr(name, "at 10,000") || has(name, in_float) || (type == TG_GRADCHECK_BF16 && has(name, in_bfloat16));
}

static tg_gradcheck_result check_right_function(int index, tg_gradcheck_type type, int seed)
{
    tg_gradcheck_input in;
    taped_box of = {.function = right_function_at(index, &in), .type = type};
    ck_assert(taped_box_open(&of, &in, 1));
    const tg_gradcheck_result v =
        tg_gradcheck_function(&of.box, &in, 1, &(tg_gradcheck_options){.seed = (uint64_t)seed});
    taped_box_close(&of);
    const bool fine = v.passed || v.status == TG_GRADCHECK_CANNOT_TELL || v.status == TG_GRADCHECK_NOT_FINITE;
    ck_assert_msg(fine, "type %d, seed %d, %s: %s", type, seed, right_function_name(index), v.why);
    return v;
}

/* A softmax of 1e17 decides within one step of the type, and a quotient within the usual scale: the derivatives by
 * single elements are small there because cotangents happen to cancel. */
START_TEST(what_happens_within_the_smallest_step_is_not_called_wrong)
{
    static const struct {
        const char *name;
        tg_gradcheck_type type;
        int seed;
    } rows[] = {{"softmax_of at huge numbers", TG_GRADCHECK_F64, 12},
                {"reciprocal at 1e-9 to 1", TG_GRADCHECK_F32, 5},
                {"normalised_by_sum at 1e-9 to 1", TG_GRADCHECK_F32, 12},
                {"normalised_by_sum at 1e-9 to 1", TG_GRADCHECK_F32, 15},
                {"layer_norm_of at a usual row", TG_GRADCHECK_F32, 13},
                {"layer_norm_of at a usual row", TG_GRADCHECK_F32, 94}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        int i = 0;
        while (strcmp(right_function_name(i), rows[row].name) != 0)
            ck_assert_int_lt(++i, right_function_count());
        check_right_function(i, rows[row].type, rows[row].seed);
    }
}
END_TEST

START_TEST(no_right_function_is_called_wrong_in_any_type)
{
    const tg_gradcheck_type type = (tg_gradcheck_type)_i;
    int checked = 0, passed = 0;
    for (int i = 0; i < right_function_count(); i++)
        for (int seed = 0; !right_function_is_noise(i) && !is_another(i, type) && seed < seeds(1, 100); seed++) {
            const tg_gradcheck_result v = check_right_function(i, type, seed);
            checked += v.status != TG_GRADCHECK_NOT_FINITE;
            passed += v.passed;
        }
    ck_assert_int_gt(checked, 150);
    const int least = type == TG_GRADCHECK_BF16 ? 90 : 95; /* a logarithm of 1e-12 hides its derivative in rounding */
    ck_assert_msg(100 * passed >= least * checked, "type %d: %d of %d pass", type, passed, checked);
}
END_TEST

Suite *gradcheck_function_suite(void)
{
    Suite *suite = suite_create("gradcheck_function");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600);
    tcase_add_test(all, a_right_black_box_passes_in_every_type_by_every_product);
    tcase_add_test(all, a_jacobian_is_computed_once_for_each_gradient);
    tcase_add_loop_test(all, each_fault_of_a_vjp_is_caught_in_double_and_float, RIGHT + 1, FAULTS);
    tcase_add_test(all, coarse_faults_hardly_ever_pass_in_bfloat16);
    tcase_add_test(all, a_product_that_contradicts_the_others_is_caught);
    tcase_add_test(all, a_failure_names_input_element_and_fault);
    tcase_add_test(all, what_cannot_be_checked_is_refused_with_the_reason);
    tcase_add_test(all, a_second_derivative_is_the_first_of_a_vjp);
    tcase_add_test(all, small_errors_in_many_elements_do_not_cancel);
    tcase_add_test(all, a_number_that_is_not_used_may_be_infinite_or_nan);
    tcase_add_test(all, what_happens_within_the_smallest_step_is_not_called_wrong);
    tcase_add_loop_test(all, no_right_function_is_called_wrong_in_any_type, TG_GRADCHECK_F64, TG_GRADCHECK_BF16 + 1);
    suite_add_tcase(suite, all);
    return suite;
}
