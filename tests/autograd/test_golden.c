/* Every operation and composed function against an independent reference: values and first gradients, in double and
 * float, on all samples. The reference files come from PyTorch and mpmath: tests/golden/make_golden.py. */
#include "tests/golden/golden.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *golden_suite(void);

#define AGAIN "; `make golden` computes the reference files anew"

enum { FEWEST_CASES = 8 };

/* Operations without a reference, and why. */
static const struct {
    const char *operation, *reason;
} exceptions[] = {
    {"random_stream",
     "it moves a generator on; random_uniform, dropout and the others that use its stream have references"},
};
enum { EXCEPTIONS = sizeof exceptions / sizeof exceptions[0] };

static bool is_exception(const tg_op *op)
{
    for (int i = 0; i < EXCEPTIONS; i++)
        if (strcmp(exceptions[i].operation, op->name) == 0)
            return exceptions[i].reason != NULL;
    return false;
}

/* Operations, and functions composed of several. */
static int subject_count(void)
{
    golden_subject subject;
    int count = 0;
    while (golden_at(count, &subject))
        count++;
    return count;
}

static golden_subject subject_at(int index)
{
    golden_subject subject = {0};
    ck_assert(golden_at(index, &subject));
    return subject;
}

/* ---- comparing ---- */

typedef struct comparison {
    const tg_op *op;
    int sample;
    const char *what; /* "output", "gradient-0" */
} comparison;

/* The largest allowed error. `terms` is the size of the terms that were summed up. Numbers below the smallest normal
 * one have fewer digits. A value keeps all of these; in a gradient, a small factor may have lost some of them and a
 * large factor may have magnified the loss. */
static double allowed_error(const comparison *c, tg_dtype dtype, double expected, double terms)
{
    double size = fmax(fabs(expected), terms), units = strcmp(c->what, "output") == 0 ? 4 : 1 << 20;
    return dtype == TG_F32 ? 2e-6 * size + units * FLT_TRUE_MIN : 1e-12 * size + units * DBL_TRUE_MIN;
}

/* The expected number in this type: a number too large for a float becomes infinite. */
static double held_by(tg_dtype dtype, double number)
{
    return dtype == TG_F32 && fabs(number) > FLT_MAX ? copysign(INFINITY, number) : number;
}

static void compare_element(const comparison *c, tg_tensor got, int64_t index, double expected, double terms)
{
    const tg_dtype dtype = tg_dtype_of(got);
    const tg_shape shape = tg_shape_of(got);
    double is = tg_at(got, index), held = held_by(dtype, expected);
    if (isnan(held) || isinf(held) || dtype == TG_I32) {
        if ((isnan(held) && isnan(is)) || is == held)
            return;
    } else if (fabs(is - held) <= allowed_error(c, dtype, held, terms))
        return;
    char text[128];
    ck_abort_msg("%s, sample %d, %s, element %lld of %s%s: expected %.17g, got %.17g (apart %.3g, allowed %.3g)",
                 c->op->name, c->sample, c->what, (long long)index, tg_dtype_name(dtype),
                 tg_shape_text(&shape, text, sizeof text), expected, is, fabs(is - held),
                 allowed_error(c, dtype, held, terms));
}

static double *terms_of(const comparison *c)
{
    char what[50];
    expected_line line;
    snprintf(what, sizeof what, "%s-terms", c->what);
    return expected_find(c->op->name, c->sample, what, &line) ? expected_numbers(&line) : NULL;
}

/* Compares all elements; in a gradient, only those where `input` is not NaN, as there is no derivative at NaN. */
static void compare(const comparison *c, tg_tensor got, tg_tensor input)
{
    expected_line line;
    ck_assert_msg(expected_find(c->op->name, c->sample, c->what, &line), "%s, sample %d: the reference has no %s" AGAIN,
                  c->op->name, c->sample, c->what);
    double *expected = expected_numbers(&line), *terms = terms_of(c);
    tg_shape shape = tg_shape_of(got);
    char is[128], should_be[128];
    ck_assert_msg(expected != NULL, "%s, sample %d, %s: not as many numbers as the shape says" AGAIN, c->op->name,
                  c->sample, c->what);
    ck_assert_msg(tg_shape_equal(&shape, &line.shape), "%s, sample %d, %s: the shape is %s, expected %s", c->op->name,
                  c->sample, c->what, tg_shape_text(&shape, is, sizeof is),
                  tg_shape_text(&line.shape, should_be, sizeof should_be));
    for (int64_t i = 0; i < tg_size(got); i++)
        if (!tg_ok(input) || !isnan(tg_at(input, i)))
            compare_element(c, got, i, expected[i], terms ? terms[i] : 0);
    free(expected);
    free(terms);
}

/* ---- running ---- */

static tg_tape *tape;

static void start(void)
{
    tape = tg_tape_new();
}

static void finish(void)
{
    tg_tape_free(tape);
}

static void draw(const golden_subject *subject, int sample, tg_dtype dtype, bool variables, golden_case *c)
{
    const tg_op *op = subject->op;
    uint64_t checksum;
    tg_tape_reset(tape);
    ck_assert_msg(golden_draw(tape, subject, sample, dtype, variables, c), "%s, sample %d: %s", op->name, sample,
                  tg_tape_error(tape));
    ck_assert_msg(expected_checksum(op->name, sample, &checksum), "%s, sample %d: no reference" AGAIN, op->name,
                  sample);
    ck_assert_msg(checksum == c->checksum,
                  "%s, sample %d: the reference is for another sample, perhaps a former one" AGAIN, op->name, sample);
}

/* Checks the values twice: computed from constants, and from variables. */
static void check_outputs(golden_subject subject, tg_dtype dtype)
{
    const tg_op *op = subject.op;
    for (int sample = 0; sample < op->sample_count && expected_cases(op->name) > 0; sample++)
        for (int variables = 0; variables <= 1; variables++) {
            golden_case c;
            draw(&subject, sample, dtype, variables, &c);
            compare(&(comparison){op, sample, "output"}, c.output, TG_NONE);
        }
}

static void check_gradients(golden_subject subject, tg_dtype dtype)
{
    const tg_op *op = subject.op;
    for (int sample = 0; sample < op->sample_count && expected_cases(op->name) > 0; sample++) {
        golden_case c;
        tg_tensor gradient;
        char what[50];
        draw(&subject, sample, dtype, true, &c);
        for (int i = 0; i < c.count; i++) {
            if (!c.differentiated[i])
                continue;
            ck_assert_msg(tg_vjp(c.output, c.cotangent, &c.input[i], 1, &gradient), "%s, sample %d: %s", op->name,
                          sample, tg_tape_error(tape));
            snprintf(what, sizeof what, "gradient-%d", i);
            compare(&(comparison){op, sample, what}, gradient, c.input[i]);
        }
    }
}

/* ---- the claims ---- */

START_TEST(values_agree_in_double)
{
    check_outputs(subject_at(_i), TG_F64);
}
END_TEST

START_TEST(values_agree_in_float)
{
    check_outputs(subject_at(_i), TG_F32);
}
END_TEST

START_TEST(gradients_agree_in_double)
{
    check_gradients(subject_at(_i), TG_F64);
}
END_TEST

START_TEST(gradients_agree_in_float)
{
    check_gradients(subject_at(_i), TG_F32);
}
END_TEST

START_TEST(every_operation_has_a_reference_or_is_an_exception)
{
    const tg_op *op = subject_at(_i).op;
    int cases = expected_cases(op->name);
    if (is_exception(op)) {
        ck_assert_msg(cases == 0, "%s is an exception, yet there are references for it", op->name);
        return;
    }
    ck_assert_msg(cases > 0,
                  "%s has no reference: add it to its category in tests/golden/references, then `make golden`",
                  op->name);
    ck_assert_msg(cases == op->sample_count, "%s has %d samples, and references for %d" AGAIN, op->name,
                  op->sample_count, cases);
    ck_assert_msg(cases >= FEWEST_CASES, "%s has only %d samples; at least %d are expected", op->name, cases,
                  FEWEST_CASES);
}
END_TEST

START_TEST(every_reference_and_every_exception_has_its_operation)
{
    int known = 0;
    for (int i = 0; i < subject_count(); i++)
        known += expected_cases(subject_at(i).op->name);
    ck_assert_msg(expected_cases(NULL) > 0,
                  "tests/golden holds no reference files, or this is not the project's folder");
    ck_assert_msg(known == expected_cases(NULL), "%d cases belong to operations that are no longer there" AGAIN,
                  expected_cases(NULL) - known);
    for (int i = 0; i < EXCEPTIONS; i++)
        ck_assert_msg(tg_op_find(exceptions[i].operation), "%s, an exception, is no longer there",
                      exceptions[i].operation);
}
END_TEST

/* ---- attributes ---- */

/* The first field that begins where the previous ones ended; NULL if there is none. */
static const tg_field *field_at(const tg_op *op, size_t offset)
{
    for (const tg_field *field = op->fields; field && field->name; field++)
        if (field->offset == offset)
            return field;
    return NULL;
}

START_TEST(the_fields_of_an_operation_cover_its_attributes_without_a_gap)
{
    const tg_op *op = tg_op_at(_i);
    size_t end = 0, fields = 0, covered = 0;
    for (const tg_field *field = op->fields; field && field->name; field++)
        fields++;
    for (const tg_field *field; (field = field_at(op, end)) && field->size > 0; covered++)
        end += field->size;
    ck_assert_msg(end == op->attributes_size, "%s: bytes %zu to %zu of the attributes are in no field", op->name, end,
                  op->attributes_size);
    ck_assert_msg(covered == fields, "%s: %zu of %zu fields overlap others", op->name, fields - covered, fields);
}
END_TEST

START_TEST(a_field_gives_its_number_whatever_its_type)
{
    typedef struct mixed {
        double real;
        int64_t large;
        float single;
        int number;
        bool yes;
    } mixed;
    static const tg_field fields[] = {
        TG_FIELD(mixed, real, TG_FIELD_REAL),   TG_FIELD(mixed, large, TG_FIELD_INT),
        TG_FIELD(mixed, single, TG_FIELD_REAL), TG_FIELD(mixed, number, TG_FIELD_INT),
        TG_FIELD(mixed, yes, TG_FIELD_BOOL),
    };
    const mixed attributes = {0.1, -(INT64_C(1) << 40), 2.5f, -7, true};
    const double expected[] = {0.1, -1099511627776., 2.5, -7, 1};
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq(tg_field_number(&fields[i], &attributes), expected[i]);
}
END_TEST

static int operation_count(void)
{
    int count = 0;
    while (tg_op_at(count))
        count++;
    return count;
}

static void load(void)
{
    expected_load("tests/golden/expected.txt");
}

Suite *golden_suite(void)
{
    Suite *suite = suite_create("golden");
    TCase *tests = tcase_create("golden");
    tcase_add_unchecked_fixture(tests, load, expected_free);
    tcase_add_checked_fixture(tests, start, finish);
    tcase_add_test(tests, every_reference_and_every_exception_has_its_operation);
    tcase_add_loop_test(tests, every_operation_has_a_reference_or_is_an_exception, 0, subject_count());
    tcase_add_loop_test(tests, values_agree_in_double, 0, subject_count());
    tcase_add_loop_test(tests, values_agree_in_float, 0, subject_count());
    tcase_add_loop_test(tests, gradients_agree_in_double, 0, subject_count());
    tcase_add_loop_test(tests, gradients_agree_in_float, 0, subject_count());
    tcase_add_loop_test(tests, the_fields_of_an_operation_cover_its_attributes_without_a_gap, 0, operation_count());
    tcase_add_test(tests, a_field_gives_its_number_whatever_its_type);
    suite_add_tcase(suite, tests);
    return suite;
}
