/* Errors for arguments that make no sense for a derivative, and for operations that do something the core cannot
 * repeat. */
#include "tests/support/tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *refusals_suite(void);

static tg_tensor variable(double value)
{
    return tg_variable(tape, TG_F64, &value, TG_SHAPE(1));
}

/* ---- operations that read numbers, or differentiate, where they may only record operations ---- */

/* Forbidden calls in the functions of an operation. */
enum {
    READ_ITEM,
    READ_AT,
    READ_DATA,
    READ_F64,
    READ_F32,
    READ_I32,
    READ_ALL,
    DIFFERENTIATE,
    DIFFERENTIATE_BACK,
    DIFFERENTIATE_NEW,
    MISDEEDS
};
static int misdeed;

static double commit(tg_tensor x)
{
    double number = 0;
    tg_tensor d, v;
    switch (misdeed) {
    case READ_ITEM:
        return tg_item(x);
    case READ_AT:
        return tg_at(x, 0);
    case READ_DATA:
        return tg_data(x) ? *(const double *)tg_data(x) : 0;
    case READ_F64:
        return tg_f64(x) ? *tg_f64(x) : 0;
    case READ_F32: /* the type differs, so it gives NULL, but counts as a read */
        return tg_f32(x) ? 1 : 0;
    case READ_I32:
        return tg_i32(x) ? 1 : 0;
    case READ_ALL:
        return tg_read(x, TG_F64, &number, 1) ? number : 0;
    case DIFFERENTIATE:
        return tg_grad(&x, 1, &x, 1, NULL, false, &d) ? 1 : 0;
    case DIFFERENTIATE_BACK:
        return tg_backward(tg_sum(x)) ? 1 : 0;
    default:
        v = tg_square(variable(3));
        return tg_grad(&v, 1, &v, 1, NULL, false, &d) ? 1 : 0;
    }
}

static void absolute_loop(const tg_loop *l)
{
    const double *x = l->in[0];
    double *y = l->out;
    for (size_t i = 0; i < l->n; i++)
        y[i] = fabs(x[i * (size_t)l->step[0]]);
}

static void absolute_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(d->cotangent, commit(d->in[0]) > 0 ? 1 : -1);
}

static void looks_at_result(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(d->cotangent, commit(d->out));
}

static void looks_at_cotangent(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(d->cotangent, commit(d->cotangent));
}

static void looks_at_what_it_made(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(d->cotangent, commit(tg_square(d->in[0])));
}

static const tg_sample samples[] = {{.input = {{.shape = {1, {1}}}}}};
#define ABSOLUTE(function)                                                                                      \
    {                                                                                                           \
        .name = "absolute", .arity = 1, .flags = TG_ELEMENTWISE, .loop = absolute_loop, .derivative = function, \
        TG_SAMPLES(samples)                                                                                     \
    }
static const tg_op absolutes[] = {ABSOLUTE(absolute_derivative), ABSOLUTE(looks_at_result),
                                  ABSOLUTE(looks_at_cotangent), ABSOLUTE(looks_at_what_it_made)};

/* The core calls a derivative once for many steps, so it must not depend on numbers: the first read is an error. */
START_TEST(an_item_of_several_elements_is_an_error)
{
    tg_tensor several = drawn(TG_F64, TG_SHAPE(2, 3));
    ck_assert(isnan(tg_item(several)));
    expect_error("tg_item: expected a tensor of one element, not [2, 3]");
    ck_assert(isnan(tg_item(drawn(TG_F64, TG_SHAPE(0)))));
    expect_error("tg_item: expected a tensor of one element, not [0]");
    ck_assert(isnan(tg_item((tg_tensor){0})));
    ck_assert_double_eq(tg_item(tg_sum(tg_constant(tape, TG_F64, NULL, TG_SHAPE(0)))), 0);
}
END_TEST

START_TEST(a_derivative_that_reads_numbers_or_differentiates_is_an_error_at_once)
{
    for (misdeed = 0; misdeed < MISDEEDS; misdeed++)
        for (size_t o = 0; o < sizeof absolutes / sizeof *absolutes; o++)
            for (int grad = 0; grad < 3; grad++) {
                tg_tape_reset(tape);
                tg_tensor x = variable(3), y = tg_sum(tg_apply(&absolutes[o], NULL, 1, &x)), d;
                ck_assert_double_eq(tg_item(y), 3);
                const bool fine = grad == 0 ? tg_backward(y) : tg_grad(&y, 1, &x, 1, NULL, grad == 2, &d);
                ck_assert_msg(!fine, "misdeed %d of derivative %zu goes through", misdeed, o);
                expect_error("absolute");
            }
    tg_tape_reset(tape); /* and the tape works again */
    tg_tensor x = variable(3);
    ck_assert(tg_backward(tg_sum(tg_square(x))));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 6);
}
END_TEST

static tg_tensor given; /* what the derivative below gives */

static void gives_what_is_given(const tg_derive *d)
{
    d->gradient[0] = given;
}

START_TEST(a_derivative_that_gives_a_tensor_of_another_step_or_tape_is_an_error)
{
    static const tg_op op = ABSOLUTE(gives_what_is_given);
    static const char *const says[] = {
        "the derivative of absolute gives a tensor of a step that ended with tg_tape_reset",
        "the derivative of absolute gives a tensor of another tape"};
    const tg_tensor dead = variable(1);
    tg_tape *other = tg_tape_new();
    for (int i = 0; i < 2; i++) {
        tg_tape_reset(tape);
        given = i == 0 ? dead : tg_full(other, TG_F64, TG_SHAPE(1), 1);
        tg_tensor x = variable(3), y = tg_apply(&op, NULL, 1, &x), d;
        ck_assert(!tg_grad(&y, 1, &x, 1, NULL, false, &d) && !tg_ok(d));
        expect_error(says[i]);
        ck_assert(!tg_ok(tg_jacobian(y, x)));
        expect_error(says[i]);
    }
    ck_assert_ptr_null(tg_tape_error(other));
    tg_tape_free(other);
}
END_TEST

static tg_tensor length; /* the tensor that the shape rule below reads */

static bool as_long_as_it_says(tg_value *out)
{
    const double n = commit(length);
    tg_value_set(out, TG_F64, TG_SHAPE(n >= 0 && n < 100 ? (int64_t)n : 1));
    return true;
}

static void fill_with_ones(const tg_call *call)
{
    for (int64_t i = 0; i < tg_value_size(call->value); i++)
        ((double *)call->out)[i] = 1;
}

static const tg_op growing = {.name = "growing",
                              .arity = 1,
                              .flags = TG_CONSTANT,
                              .shape = as_long_as_it_says,
                              .forward = fill_with_ones,
                              TG_SAMPLES(samples)};

START_TEST(a_shape_rule_that_reads_numbers_is_an_error_at_once)
{
    for (misdeed = 0; misdeed <= READ_ALL; misdeed++) {
        tg_tape_reset(tape);
        tg_tensor x = variable(2);
        length = variable(5);
        ck_assert(!tg_ok(tg_apply(&growing, NULL, 1, &x)));
        expect_error("growing");
    }
}
END_TEST

/* A shape rule that reads operation, inputs and attributes: the length is the number of inputs plus the attribute. */
static bool as_long_as_its_inputs(tg_value *out)
{
    ck_assert_str_eq(tg_value_op(out)->name, "counting");
    ck_assert_ptr_null(tg_value_op(tg_value_input(out, 0)));
    tg_value_set(out, TG_F64, TG_SHAPE(tg_value_input_count(out) + *(const int *)tg_value_attributes(out)));
    return true;
}

START_TEST(a_shape_rule_knows_operation_attributes_and_inputs)
{
    static const tg_field more[] = {{"more", TG_FIELD_INT, 0}, {0}};
    static const tg_op counting = {.name = "counting",
                                   .arity = TG_VARIADIC,
                                   .flags = TG_CONSTANT,
                                   .attributes_size = sizeof(int),
                                   .fields = more,
                                   .shape = as_long_as_its_inputs,
                                   .forward = fill_with_ones,
                                   TG_SAMPLES(samples)};
    const tg_tensor x[] = {variable(1), variable(2), variable(3)}, y = tg_apply(&counting, &(int){4}, 3, x);
    ck_assert_msg(tg_ok(y), "%s", tg_tape_error(tape));
    ck_assert_int_eq(tg_size(y), 7);
    ck_assert_ptr_null(tg_value_op(NULL));
    ck_assert_ptr_null(tg_value_attributes(NULL));
    ck_assert_int_eq(tg_value_input_count(NULL), 0);
}
END_TEST

/* ---- attributes ---- */

typedef struct scaled_attributes {
    int listed;
    float factor;
    int listed_too;
} scaled_attributes;

static const tg_field all[] = {TG_FIELD(scaled_attributes, listed, TG_FIELD_INT),
                               TG_FIELD(scaled_attributes, factor, TG_FIELD_REAL),
                               TG_FIELD(scaled_attributes, listed_too, TG_FIELD_INT),
                               {0}};
static const tg_field all_but_the_factor[] = {
    TG_FIELD(scaled_attributes, listed, TG_FIELD_INT), TG_FIELD(scaled_attributes, listed_too, TG_FIELD_INT), {0}};
static const tg_field first_alone[] = {TG_FIELD(scaled_attributes, listed, TG_FIELD_INT), {0}};
static const tg_field no_fields[] = {{0}};

static void scaled_loop(const tg_loop *l)
{
    const double *x = l->in[0], factor = (double)((const scaled_attributes *)l->attributes)->factor;
    for (size_t i = 0; i < l->n; i++)
        ((double *)l->out)[i] = factor * x[i * (size_t)l->step[0]];
}

static void scaled_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(d->cotangent, (double)((const scaled_attributes *)d->attributes)->factor);
}

#define SCALED(list)                                                                                         \
    {                                                                                                        \
        .name = "scaled", .arity = 1, .flags = TG_ELEMENTWISE, .attributes_size = sizeof(scaled_attributes), \
        .fields = list, .loop = scaled_loop, .derivative = scaled_derivative, TG_SAMPLES(samples)            \
    }
static const tg_op scaled[] = {SCALED(all), SCALED(all_but_the_factor), SCALED(first_alone), SCALED(no_fields),
                               SCALED(NULL)};

/* Attributes that differ only in bytes that no field lists are distinguished, or the operation is refused at once. */
START_TEST(attributes_are_never_taken_for_others)
{
    for (size_t o = 0; o < sizeof scaled / sizeof *scaled; o++)
        for (int step = 0; step < 4; step++) {
            tg_tape_reset(tape);
            tg_tensor x = variable(3), y = tg_apply(&scaled[o], &(scaled_attributes){1, 2 + (float)step, 1}, 1, &x);
            if (o > 0 && step == 0 && !tg_ok(y)) {
                expect_error("scaled");
                break;
            }
            ck_assert_double_eq(tg_item(y), 3 * (2 + step));
            ck_assert(tg_backward(tg_sum(y)));
            ck_assert_double_eq(tg_item(tg_gradient(x)), 2 + step);
        }
}
END_TEST

/* ---- arguments ---- */

START_TEST(second_derivatives_of_many_numbers_are_refused)
{
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){1, 2}, TG_SHAPE(2)), y = tg_square(x), v = tg_square(x), d;
    ck_assert(!tg_ok(tg_hessian(y, x)));
    expect_error("tg_hessian");
    ck_assert(!tg_hvp(y, &x, &v, 1, &d));
    expect_error("tg_hvp");
    ck_assert(tg_hvp(tg_sum(y), &x, &v, 1, &d));
    ck_assert_double_eq(tg_at(d, 1), 8);
}
END_TEST

START_TEST(what_is_missing_or_dead_is_an_error_of_every_derivative)
{
    tg_tensor dead = variable(1), none = {0}, d = variable(7), tangent;
    tg_tape_reset(tape);
    tg_tensor x = variable(2), y = tg_square(x);
    ck_assert(!tg_grad(&y, 1, NULL, 1, NULL, false, &d));
    expect_error("tg_grad");
    ck_assert(!tg_grad(&y, 1, &x, 0, NULL, false, &d));
    expect_error("tg_grad");
    ck_assert(!tg_grad(&y, 1, &x, 1, NULL, false, NULL));
    expect_error("tg_grad");
    ck_assert(!tg_grad(&y, 1, &dead, 1, NULL, false, &d) && !tg_ok(d));
    expect_error("tg_grad");
    ck_assert(!tg_grad(&y, 1, &none, 1, NULL, false, &d));
    expect_error("tg_grad");
    ck_assert(!tg_grad(&dead, 1, &x, 1, NULL, false, &d));
    expect_error("tg_grad");
    ck_assert(!tg_grad(&y, 1, &x, 1, &dead, false, &d));
    expect_error("tg_grad");
    ck_assert(!tg_backward(dead));
    expect_error("tg_backward");
    ck_assert(!tg_backward_from(y, dead));
    expect_error("tg_backward_from");
    ck_assert(!tg_vjp(y, dead, &x, 1, &d));
    expect_error("tg_vjp");
    ck_assert(!tg_hvp(y, &x, &dead, 1, &d));
    expect_error("tg_hvp");
    ck_assert(!tg_ok(tg_jacobian(y, dead)));
    expect_error("tg_jacobian");
    ck_assert(!tg_ok(tg_hessian(y, dead)));
    expect_error("tg_hessian");
    tangent = dead;
    ck_assert(!tg_ok(tg_jvp(y, &x, &tangent, 1)));
    expect_error("tg_jvp");
    ck_assert(!tg_ok(tg_jvp(y, &x, NULL, 1)));
    expect_error("tg_jvp");
    tg_add(x, dead); /* after an error every derivative is inert, and the first error stays */
    ck_assert(!tg_ok(tg_jacobian(y, x)) && !tg_ok(tg_hessian(y, x)));
    expect_error("add");
}
END_TEST

START_TEST(the_messages_of_tg_jvp_speak_of_tangents)
{
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){1, 2}, TG_SHAPE(2)), y = tg_square(x);
    const tg_tensor wrong[] = {
        {0}, variable(1), tg_full(tape, TG_F32, TG_SHAPE(2), 1), tg_full(tape, TG_F64, TG_SHAPE(2, 1), 1)};
    for (int i = 0; i < 4; i++) {
        ck_assert(!tg_ok(tg_jvp(y, &x, &wrong[i], 1)));
        ck_assert_ptr_nonnull(tg_tape_error(tape));
        ck_assert_msg(strstr(tg_tape_error(tape), "tg_jvp") && strstr(tg_tape_error(tape), "tangent") &&
                          !strstr(tg_tape_error(tape), "cotangent"),
                      "tangent %d: %s", i, tg_tape_error(tape));
        tg_tape_clear_error(tape);
    }
    tg_tensor unit = tg_full(tape, TG_F64, TG_SHAPE(2), 1);
    ck_assert_double_eq(tg_at(tg_jvp(y, &x, &unit, 1), 1), 4);
}
END_TEST

START_TEST(what_an_operation_lacks_is_named)
{
    const int32_t three[1] = {3};
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3)), two[2] = {x, x};
    const tg_tensor index = tg_constant(tape, TG_I32, three, TG_SHAPE(1));
    ck_assert(!tg_ok(tg_apply(&tg_op_linear, NULL, 1, &x)));
    expect_error("expected x, a weight and perhaps a bias");
    ck_assert(!tg_ok(tg_apply(&tg_op_gelu_exact, NULL, 2, two)));
    expect_error("expected 1 inputs, not 2");
    ck_assert(!tg_ok(tg_apply(&tg_op_mul_scalar, NULL, 1, &x)));
    expect_error("the operation has attributes, and none were given");
    ck_assert(!tg_ok(tg_variable(tape, TG_I32, three, TG_SHAPE(1))));
    expect_error("tg_variable: integers have no gradient");
    ck_assert(!tg_set(tg_constant(tape, TG_F64, (double[]){1}, TG_SHAPE(1)), TG_F64, NULL, TG_SHAPE(1)));
    expect_error("tg_set: the data is NULL");
    ck_assert(!tg_ok(tg_gather(x, 2, index)));
    expect_error("there is no axis 2");
    ck_assert(!tg_ok(tg_index_select(x, 2, index)));
    expect_error("there is no axis 2");
    ck_assert(!tg_ok(tg_parameter_tensor(tape, &(tg_parameter){.name = "w", .dtype = TG_F64, .shape = {1, {3}}})));
    expect_error("parameter w has no data");
    ck_assert(!tg_ok(tg_parameter_tensor(tape, &(tg_parameter){.dtype = TG_F64, .shape = {1, {3}}})));
    expect_error("parameter without a name has no data");
    enum { PARTS = 17 };
    tg_tensor parts[PARTS];
    for (int i = 0; i < PARTS; i++)
        parts[i] = tg_constant(tape, TG_F64, NULL, TG_SHAPE((int64_t)1 << 59, 0));
    ck_assert(!tg_ok(tg_concat(parts, PARTS, 0)));
    expect_error("the result would be too large");
}
END_TEST

START_TEST(an_element_that_is_not_there_is_nan_and_writing_it_changes_nothing)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameter *p = tg_parameters_add(set, "p", TG_SHAPE(2), false);
    tg_parameter_fill(p, 5);
    const int64_t wrong[] = {-1, 2, INT64_MAX};
    for (int i = 0; i < 3; i++) {
        tg_parameter_put(p, wrong[i], 7);
        ck_assert(isnan(tg_parameter_get(p, wrong[i])));
    }
    ck_assert(isnan(tg_parameter_get(NULL, 0)));
    ck_assert_double_eq(tg_parameter_get(p, 0) + tg_parameter_get(p, 1), 10);
    tg_parameters_free(set);
}
END_TEST

START_TEST(the_jacobian_of_nothing_has_no_rows)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(3)), d = tg_jacobian(drawn(TG_F64, TG_SHAPE(0)), x);
    ck_assert_msg(tg_ok(d), "%s", tg_tape_error(tape));
    ck_assert_int_eq(tg_dim(d, 0), 0);
    ck_assert_int_eq(tg_dim(d, 1), 3);
}
END_TEST

static tg_tensor elsewhere(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)t, (void)in, (void)count;
    return *(tg_tensor *)user;
}

START_TEST(a_checkpoint_of_another_tapes_tensor_or_of_a_dead_one_is_an_error)
{
    tg_tensor dead = variable(1);
    tg_tape_reset(tape);
    tg_tape *other = tg_tape_new();
    tg_tensor x = variable(2), foreign = tg_full(other, TG_F64, TG_SHAPE(1), 1);
    ck_assert(!tg_ok(tg_checkpoint(elsewhere, &x, 1, &foreign)));
    expect_error("tg_checkpoint");
    ck_assert(!tg_ok(tg_checkpoint(elsewhere, &x, 1, &dead)));
    expect_error("tg_checkpoint");
    ck_assert(!tg_ok(tg_checkpoint(elsewhere, &x, 1, &(tg_tensor){0})));
    expect_error("tg_checkpoint");
    ck_assert(!tg_ok(tg_checkpoint(elsewhere, (tg_tensor[]){x, foreign}, 2, &x)));
    expect_error("tg_checkpoint: input 1 is a tensor of another tape");
    ck_assert(!tg_ok(tg_checkpoint(elsewhere, (tg_tensor[]){x, dead}, 2, &x)));
    expect_error("tg_checkpoint: input 1 is a tensor of a step that ended with tg_tape_reset");
    ck_assert_ptr_null(tg_tape_error(other));
    ck_assert_double_eq(tg_item(foreign), 1);
    tg_tape_free(other);
}
END_TEST

/* Keeps and names a tensor that is recorded while the pass is, and makes the pass fail. */
static tg_tensor keep_and_fail(tg_tensor cotangent, void *user)
{
    tg_tensor *kept = user;
    *kept = tg_named(tg_mul_scalar(cotangent, 3), "lost");
    return (tg_tensor){0};
}

START_TEST(a_tensor_of_a_pass_that_failed_is_never_another_one)
{
    tg_tensor x = variable(2), y = tg_exp(x), kept;
    ck_assert(tg_add_hook(y, keep_and_fail, &kept));
    for (int time = 0; time < 3; time++) {
        ck_assert(!tg_backward(tg_sum(y)));
        ck_assert_msg(strstr(tg_tape_error(tape), "hook") != NULL, "%s", tg_tape_error(tape));
        tg_tape_clear_error(tape);
        ck_assert(!tg_ok(kept) && !tg_ok(tg_add(x, kept)));
        ck_assert_msg(strstr(tg_tape_error(tape), "input 1 is a tensor of a pass or an operation that failed") != NULL,
                      "%s", tg_tape_error(tape));
        tg_tape_clear_error(tape);
        for (int i = 0; i < 8; i++) {
            char text[8192];
            ck_assert(tg_ok(tg_add_scalar(x, i)));
            tg_tape_table(tape, text, sizeof text);
            ck_assert_msg(!strstr(text, "lost"), "%s", text);
            ck_assert_msg(!tg_ok(kept), "it is now %g", tg_item(kept));
        }
        ck_assert_double_eq(tg_item(y), exp(2));
    }
}
END_TEST

static tg_tensor hook_kept_and_fail(tg_tensor cotangent, void *user)
{
    tg_tensor kept = tg_square(cotangent);
    tg_retain_gradient(kept);
    tg_add_hook(kept, keep_and_fail, user);
    return (tg_tensor){0};
}

START_TEST(a_hook_on_a_tensor_of_a_pass_that_failed_is_never_called)
{
    tg_tensor x = variable(2), y = tg_exp(x), z = tg_square(x), kept = {0};
    tg_add_hook(y, hook_kept_and_fail, &kept);
    ck_assert(!tg_backward(tg_sum(y)));
    tg_tape_clear_error(tape);
    ck_assert(tg_backward(tg_sum(z)));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 4);
    ck_assert_ptr_null(kept.value);
}
END_TEST

static tg_tensor squared(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)t, (void)count, (void)user;
    return tg_tanh(tg_square(in[0]));
}

static tg_tensor checkpoint_and_fail(tg_tensor cotangent, void *user)
{
    (void)user;
    tg_checkpoint(squared, &cotangent, 1, NULL);
    return (tg_tensor){0};
}

/* Where its checkpoint was in the tape's memory, the products have their inputs, and the last cut may not write there. */
START_TEST(a_checkpoint_of_a_pass_that_failed_is_forgotten)
{
    tg_tensor x = variable(1), y = tg_square(x), product = tg_square(x);
    tg_add_hook(y, checkpoint_and_fail, NULL);
    ck_assert(!tg_backward(y));
    tg_tape_clear_error(tape);
    for (int i = 0; i < 60; i++)
        product = tg_mul(product, x);
    ck_assert(!tg_ok(tg_reshape(product, TG_SHAPE(2))));
    tg_tape_clear_error(tape);
    ck_assert(tg_backward(product));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 62);
}
END_TEST

/* A handle has one byte for how often values were removed before it. */
START_TEST(a_tensor_that_failed_stays_so_however_often_others_fail)
{
    tg_tensor x = variable(2), y = tg_exp(x), loss = tg_sum(y), first, kept;
    tg_add_hook(y, keep_and_fail, &kept);
    ck_assert(!tg_backward(loss));
    tg_tape_clear_error(tape);
    first = kept;
    for (int time = 0; time < 255; time++) {
        ck_assert(!tg_backward(loss));
        tg_tape_clear_error(tape);
    }
    for (int i = 0; i < 8; i++) {
        ck_assert(!tg_ok(tg_add_scalar(x, i)));
        expect_error("255 times in this step");
        ck_assert_msg(!tg_ok(first), "it is now %g", tg_item(first));
    }
    ck_assert_double_eq(tg_item(y), exp(2));
    tg_tape_reset(tape);
    ck_assert_double_eq(tg_item(tg_exp(variable(2))), exp(2));
    ck_assert(!tg_ok(first));
    tg_tape_clear_error(tape);
}
END_TEST

START_TEST(a_scope_that_begins_after_an_error_ends)
{
    char text[4096];
    const tg_tensor x = variable(2);
    tg_scope_begin(tape, "outer");
    tg_tape_fail(tape, "one");
    tg_scope_begin(tape, "inner");
    tg_scope_end(tape);
    tg_tape_clear_error(tape);
    ck_assert(tg_ok(tg_exp(x)));
    ck_assert_uint_lt(tg_tape_summary(tape, text, sizeof text), sizeof text);
    ck_assert_msg(strstr(text, "outer") != NULL, "%s", text);
    tg_scope_end(tape);
}
END_TEST

START_TEST(names_in_a_drawing_are_escaped)
{
    tg_named(variable(1), "a \"quoted\" \\ name");
    char text[4096];
    ck_assert_uint_lt(tg_tape_dot(tape, text, sizeof text), sizeof text);
    ck_assert_msg(strstr(text, "a \\\"quoted\\\" \\\\ name") != NULL, "%s", text);
}
END_TEST

Suite *refusals_suite(void)
{
    Suite *suite = suite_create("refusals");
    TCase *tests = tcase_create("refusals");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, a_derivative_that_reads_numbers_or_differentiates_is_an_error_at_once);
    tcase_add_test(tests, a_derivative_that_gives_a_tensor_of_another_step_or_tape_is_an_error);
    tcase_add_test(tests, an_item_of_several_elements_is_an_error);
    tcase_add_test(tests, a_shape_rule_that_reads_numbers_is_an_error_at_once);
    tcase_add_test(tests, a_shape_rule_knows_operation_attributes_and_inputs);
    tcase_add_test(tests, attributes_are_never_taken_for_others);
    tcase_add_test(tests, second_derivatives_of_many_numbers_are_refused);
    tcase_add_test(tests, what_is_missing_or_dead_is_an_error_of_every_derivative);
    tcase_add_test(tests, the_messages_of_tg_jvp_speak_of_tangents);
    tcase_add_test(tests, a_checkpoint_of_another_tapes_tensor_or_of_a_dead_one_is_an_error);
    tcase_add_test(tests, what_an_operation_lacks_is_named);
    tcase_add_test(tests, an_element_that_is_not_there_is_nan_and_writing_it_changes_nothing);
    tcase_add_test(tests, the_jacobian_of_nothing_has_no_rows);
    tcase_add_test(tests, a_tensor_of_a_pass_that_failed_is_never_another_one);
    tcase_add_test(tests, a_hook_on_a_tensor_of_a_pass_that_failed_is_never_called);
    tcase_add_test(tests, a_checkpoint_of_a_pass_that_failed_is_forgotten);
    tcase_add_test(tests, a_tensor_that_failed_stays_so_however_often_others_fail);
    tcase_add_test(tests, a_scope_that_begins_after_an_error_ends);
    tcase_add_test(tests, names_in_a_drawing_are_escaped);
    suite_add_tcase(suite, tests);
    return suite;
}
