/* The 16-bit formats, and a tape that rounds to them. */
#include "tapegrad.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

Suite *rounding_suite(void);

typedef struct known {
    float x;
    uint16_t bits;
} known;

/* Expected bits by hand, from the formats' definitions: sign, exponent, fraction. */
static const known f16[] = {{0, 0x0000},
                            {-0.0f, 0x8000},
                            {1, 0x3c00},
                            {-2, 0xc000},
                            {0.1f, 0x2e66},
                            {1.f / 3, 0x3555},
                            {65504, 0x7bff},
                            {65519.996f, 0x7bff},
                            {65520, 0x7c00},
                            {-FLT_MAX, 0xfc00},
                            {INFINITY, 0x7c00},
                            {1 + 0x1p-11f, 0x3c00}, /* a tie: to even */
                            {1 + 0x3p-11f, 0x3c02},
                            {0x1p-14f, 0x0400},
                            {0x1.ff8p-15f, 0x03ff}, /* the largest subnormal */
                            {0x1.ffcp-15f, 0x0400},
                            {0x1p-24f, 0x0001},
                            {0x1p-25f, 0x0000},
                            {0x1.000002p-25f, 0x0001},
                            {-0x3p-25f, 0x8002},
                            {FLT_TRUE_MIN, 0x0000}};
static const known bf16[] = {{0, 0x0000},           {-0.0f, 0x8000},       {1, 0x3f80},
                             {-2, 0xc000},          {0.1f, 0x3dcd},        {3.14159274f, 0x4049},
                             {FLT_MAX, 0x7f80},     {0x1.fep127f, 0x7f7f}, {-INFINITY, 0xff80},
                             {1 + 0x1p-8f, 0x3f80}, {1 + 0x3p-8f, 0x3f82}, {1 + 0x1.0002p-8f, 0x3f81},
                             {0x1p-133f, 0x0001},   {0x1p-134f, 0x0000},   {0x3p-134f, 0x0002}};

/* A format: its bits, and the function that is tested. */
typedef struct format {
    const char *name;
    int fraction_bits, bias;
    tg_format format;
    const known *known;
    size_t count;
} format;

static const format formats[] = {{"f16", 10, 15, TG_FLOAT16, f16, sizeof f16 / sizeof *f16},
                                 {"bf16", 7, 127, TG_BFLOAT16, bf16, sizeof bf16 / sizeof *bf16}};

/* The value that the definition of a format gives to bits. */
static float defined(const format *f, unsigned bits)
{
    const int fraction_bits = f->fraction_bits;
    const int exponent = (int)(bits & 0x7fff) >> fraction_bits, fraction = (int)bits & ((1 << fraction_bits) - 1);
    const double magnitude = exponent ? ldexp((1 << fraction_bits) + fraction, exponent - f->bias - fraction_bits)
                                      : ldexp(fraction, 1 - f->bias - fraction_bits);
    const double value = exponent < (1 << (15 - fraction_bits)) - 1 ? magnitude
                         : fraction                                 ? (double)NAN
                                                                    : (double)INFINITY;
    return (float)(bits & 0x8000 ? -value : value);
}

/* The same number with the same sign. */
static void expect(const format *f, float x, unsigned bits)
{
    const float rounded = tg_round(f->format, x), expected = defined(f, bits);
    ck_assert_msg(rounded == expected && !signbit(rounded) == !signbit(expected), "%s of %a: %a, expected %a", f->name,
                  (double)x, (double)rounded, (double)expected);
}

START_TEST(known_numbers_are_rounded_to_theirs)
{
    const format *f = &formats[_i];
    for (size_t i = 0; i < f->count; i++)
        expect(f, f->known[i].x, f->known[i].bits);
    float nan; /* its only fraction bit is one that bf16 drops */
    memcpy(&nan, &(uint32_t){0x7f800001}, sizeof nan);
    ck_assert(isnan(tg_round(f->format, nan)) && isnan(tg_round(f->format, -NAN)));
}
END_TEST

/* Every number, the midpoint between any two neighbours, and the floats next to it. */
START_TEST(every_number_and_every_middle_between_two_is_rounded_to_the_nearest)
{
    const format *f = &formats[_i];
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const float x = defined(f, bits), next = defined(f, bits + 1);
        if (!isfinite(x))
            continue;
        expect(f, x, bits);
        if ((bits & 0x7fff) == 0x7fff || !isfinite(next))
            continue;
        const float middle = x + (next - x) / 2;
        expect(f, middle, bits % 2 ? bits + 1 : bits);
        expect(f, nextafterf(middle, x), bits);
        expect(f, nextafterf(middle, next), bits + 1);
    }
}
END_TEST

/* ---- a tape that rounds ---- */

enum { ROWS = 5, IN = 3, OUT = 4 };

/* Parameters of one linear layer without bias, and rows: numbers that are none of the formats'. */
static tg_parameters *make_weight(float x[ROWS][IN], float wanted[ROWS][OUT])
{
    tg_rng rng = tg_rng_seed(5);
    tg_parameters *set = tg_parameters_new(TG_F32);
    tg_parameter_fill_normal(tg_parameters_add(set, "weight", TG_SHAPE(OUT, IN), true), 1, &rng);
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < IN; i++)
            x[r][i] = (float)tg_rng_normal(&rng);
        for (int o = 0; o < OUT; o++)
            wanted[r][o] = (float)tg_rng_normal(&rng);
    }
    return set;
}

/* mse(relu(x w'), wanted), times a factor, and its gradient. */
static float run_step(tg_tape *tape, tg_parameters *set, const float *x, const float *wanted, double factor, float *y)
{
    tg_tape_reset(tape);
    tg_tensor in = tg_constant(tape, TG_F32, x, TG_SHAPE(ROWS, IN)),
              weight = tg_parameter_tensor(tape, tg_parameters_at(set, 0)),
              out = tg_keep(tg_relu(tg_matmul(in, tg_transpose(weight, 0, 1)))),
              loss = tg_keep(tg_mse(out, tg_constant(tape, TG_F32, wanted, TG_SHAPE(ROWS, OUT))));
    ck_assert_msg(tg_backward(tg_mul_scalar(loss, factor)), "%s", tg_tape_error(tape));
    memcpy(y, tg_f32(out), ROWS * OUT * sizeof *y);
    return (float)tg_item(loss);
}

/* The same by loops, rounded after each operation. A sum is of so few numbers of 16 bits that doubles hold it. */
static void expect_step(const format *f, const float *weight, float x[ROWS][IN], float wanted[ROWS][OUT], double factor,
                        float y[ROWS][OUT], float gradient[OUT][IN])
{
    float slope[ROWS][OUT];
#define ROUNDED(number) tg_round(f->format, (float)(number))
    for (int r = 0; r < ROWS; r++)
        for (int o = 0; o < OUT; o++) {
            double sum = 0;
            for (int i = 0; i < IN; i++)
                sum += (double)ROUNDED(x[r][i]) * (double)ROUNDED(weight[o * IN + i]);
            y[r][o] = ROUNDED(sum) > 0 ? ROUNDED(sum) : 0;
            const float off = y[r][o] - ROUNDED(wanted[r][o]), share = (float)(factor / (ROWS * OUT)) * 2;
            slope[r][o] = y[r][o] > 0 ? ROUNDED(off * share) : 0;
        }
    for (int o = 0; o < OUT; o++)
        for (int i = 0; i < IN; i++) {
            double sum = 0;
            for (int r = 0; r < ROWS; r++)
                sum += (double)slope[r][o] * (double)ROUNDED(x[r][i]);
            gradient[o][i] = ROUNDED(sum);
        }
#undef ROUNDED
}

/* Two steps, the second with other weights; then one that is not rounded. The scaled loss is far below the least number
 * of float16, and the factor far above its largest. */
START_TEST(a_tape_rounds_what_operations_read_and_make)
{
    const format *f = &formats[_i];
    float x[ROWS][IN], wanted[ROWS][OUT], y[ROWS][OUT], expected[ROWS][OUT], gradient[OUT][IN];
    tg_parameters *set = make_weight(x, wanted);
    tg_parameter *weight = tg_parameters_at(set, 0);
    tg_tape *tape = tg_tape_new();
    tg_tape_save_memory(tape, true);
    tg_tape_round(tape, f->format);
    for (int step = 0; step < 4; step++) {
        const double factor = step % 2 ? 0x1p20 : 1;
        float before[OUT * IN];
        memcpy(before, weight->data, sizeof before);
        run_step(tape, set, x[0], wanted[0], factor, y[0]);
        ck_assert_mem_eq(before, weight->data, sizeof before);
        expect_step(f, before, x, wanted, factor, expected, gradient);
        ck_assert_mem_eq(y, expected, sizeof y);
        ck_assert_mem_eq(weight->gradient, gradient, sizeof gradient);
        for (int i = 0; i < OUT * IN; i++)
            tg_parameter_put(weight, i, 0.7 * tg_parameter_get(weight, i));
        tg_parameter_changed(weight);
        tg_parameters_clear_gradients(set);
    }
    const float loss = run_step(tape, set, x[0], wanted[0], 1, y[0]);
    tg_tape_round(tape, TG_FLOAT32);
    tg_parameters_clear_gradients(set);
    ck_assert(run_step(tape, set, x[0], wanted[0], 1, y[0]) != loss);
    tg_tape_free(tape);
    tg_parameters_free(set);
    tg_tape_round(NULL, TG_BFLOAT16);
}
END_TEST

/* Of the same number, 0, as no set has them. */
START_TEST(a_parameter_in_the_place_of_another_one_is_rounded_anew)
{
    tg_tape *tape = tg_tape_new();
    tg_tape_round(tape, formats[_i].format);
    float numbers[2];
    for (int step = 1; step <= 4; step++) {
        tg_tape_reset(tape);
        tg_parameter p = {.name = "p", .dtype = TG_F32, .shape = TG_SHAPE(2), .data = numbers};
        numbers[0] = numbers[1] = (float)step;
        ck_assert_double_eq(tg_item(tg_sum(tg_parameter_tensor(tape, &p))), 2 * step);
    }
    tg_tape_free(tape);
}
END_TEST

/* A reshaped tensor reads the rounded copy of the input; that must neither go nor change. */
START_TEST(a_view_keeps_its_format_where_the_format_changes_within_a_step)
{
    const double in_bfloat16 = 1.234375, in_float16 = 1.234375 + 0x1p-10;
    const float numbers[2] = {1.2356f, 1};
    tg_tape *tape = tg_tape_new();
    for (int step = 0; step < 3; step++) {
        tg_tape_reset(tape);
        tg_tape_round(tape, TG_BFLOAT16);
        tg_tensor x = tg_borrow(tape, TG_F32, numbers, TG_SHAPE(2)), view = tg_reshape(x, TG_SHAPE(2, 1));
        tg_tape_round(tape, TG_FLOAT16);
        ck_assert_double_eq(tg_at(tg_mul_scalar(x, 1), 0), in_float16);
        ck_assert_double_eq(tg_at(view, 0), in_bfloat16);
        tg_tape_round(tape, TG_FLOAT32);
        ck_assert_double_eq(tg_at(tg_mul_scalar(view, 1), 0), in_bfloat16);
        ck_assert_double_eq(tg_at(tg_mul_scalar(x, 1), 0), (double)numbers[0]);
    }
    tg_tape_free(tape);
}
END_TEST

Suite *rounding_suite(void)
{
    Suite *suite = suite_create("rounding");
    TCase *tests = tcase_create("rounding");
    tcase_add_loop_test(tests, known_numbers_are_rounded_to_theirs, 0, 2);
    tcase_add_loop_test(tests, every_number_and_every_middle_between_two_is_rounded_to_the_nearest, 0, 2);
    tcase_add_loop_test(tests, a_tape_rounds_what_operations_read_and_make, 0, 2);
    tcase_add_loop_test(tests, a_parameter_in_the_place_of_another_one_is_rounded_anew, 0, 2);
    tcase_add_test(tests, a_view_keeps_its_format_where_the_format_changes_within_a_step);
    suite_add_tcase(suite, tests);
    return suite;
}
