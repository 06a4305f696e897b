/* The 16-bit formats. */
#include "examples/programs/data/half.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

Suite *half_suite(void);

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
    float (*round)(float x);
    const known *known;
    size_t count;
} format;

static const format formats[] = {{"f16", 10, 15, half_f16_round, f16, sizeof f16 / sizeof *f16},
                                 {"bf16", 7, 127, half_bf16_round, bf16, sizeof bf16 / sizeof *bf16}};

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
    const float rounded = f->round(x), expected = defined(f, bits);
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
    ck_assert(isnan(f->round(nan)) && isnan(f->round(-NAN)));
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

Suite *half_suite(void)
{
    Suite *suite = suite_create("half");
    TCase *tests = tcase_create("half");
    tcase_add_loop_test(tests, known_numbers_are_rounded_to_theirs, 0, 2);
    tcase_add_loop_test(tests, every_number_and_every_middle_between_two_is_rounded_to_the_nearest, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
