/* The 16-bit formats. */
#include "examples/data/half.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

Suite *half_suite(void);

typedef struct {
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

START_TEST(known_numbers_have_their_bits)
{
    for (size_t i = 0; i < sizeof f16 / sizeof *f16; i++)
        ck_assert_msg(half_f16_bits(f16[i].x) == f16[i].bits, "f16 of %a: %04x, expected %04x", (double)f16[i].x,
                      half_f16_bits(f16[i].x), f16[i].bits);
    for (size_t i = 0; i < sizeof bf16 / sizeof *bf16; i++)
        ck_assert_msg(half_bf16_bits(bf16[i].x) == bf16[i].bits, "bf16 of %a: %04x, expected %04x", (double)bf16[i].x,
                      half_bf16_bits(bf16[i].x), bf16[i].bits);
    float nan; /* its only fraction bit is one that bf16 drops */
    memcpy(&nan, &(uint32_t){0x7f800001}, sizeof nan);
    ck_assert(isnan(half_bf16_round(nan)) && isnan(half_f16_round(nan)) && isnan(half_f16_round(-NAN)));
}
END_TEST

/* The value that the definition of a format gives to bits; NaN where the exponent is all ones. */
static double defined(uint16_t bits, int fraction_bits, int bias)
{
    const int exponent = (bits & 0x7fff) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    const double magnitude = exponent ? ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)
                                      : ldexp(fraction, 1 - bias - fraction_bits);
    return exponent == (1 << (15 - fraction_bits)) - 1 ? NAN : bits & 0x8000 ? -magnitude : magnitude;
}

/* Every number, the midpoint between any two neighbours, and the floats next to it. */
static void check_all(int fraction_bits, int bias, uint16_t (*bits_of)(float), float (*value_of)(uint16_t))
{
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const float x = value_of((uint16_t)bits);
        const double expected = defined((uint16_t)bits, fraction_bits, bias);
        if (isnan(expected)) {
            ck_assert(!isfinite(x));
            continue;
        }
        ck_assert_double_eq((double)x, expected);
        ck_assert_uint_eq(bits_of(x), bits);
        const float next = value_of((uint16_t)(bits + 1));
        if ((bits & 0x7fff) == 0x7fff || !isfinite(next))
            continue;
        const float middle = x + (next - x) / 2;
        ck_assert_uint_eq(bits_of(middle), bits % 2 ? bits + 1 : bits);
        ck_assert_uint_eq(bits_of(nextafterf(middle, x)), bits);
        ck_assert_uint_eq(bits_of(nextafterf(middle, next)), bits + 1);
    }
}

START_TEST(every_number_and_every_middle_between_two_is_rounded_to_the_nearest)
{
    check_all(10, 15, half_f16_bits, half_f16_value);
    check_all(7, 127, half_bf16_bits, half_bf16_value);
}
END_TEST

Suite *half_suite(void)
{
    Suite *suite = suite_create("half");
    TCase *tests = tcase_create("half");
    tcase_add_test(tests, known_numbers_have_their_bits);
    tcase_add_test(tests, every_number_and_every_middle_between_two_is_rounded_to_the_nearest);
    suite_add_tcase(suite, tests);
    return suite;
}
