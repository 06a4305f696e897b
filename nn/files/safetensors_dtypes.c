/* The types of numbers that a safetensors file may have, and their values. */
#include "nn/files/safetensors_internal.h"

#include <math.h>
#include <string.h>

static double f32_value(const void *number)
{
    float value;
    memcpy(&value, number, sizeof value);
    return value;
}

static double f64_value(const void *number)
{
    double value;
    memcpy(&value, number, sizeof value);
    return value;
}

/* An IEEE half: 1 sign bit, 5 of the exponent, 10 of the fraction. */
static double f16_value(const void *number)
{
    uint16_t bits;
    memcpy(&bits, number, sizeof bits);
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                    : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static double bf16_value(const void *number)
{
    uint16_t bits;
    memcpy(&bits, number, sizeof bits);
    const uint32_t single = (uint32_t)bits << 16;
    return f32_value(&single);
}

static const tg_file_dtype dtypes[] = {
    {"F32", 4, f32_value}, {"F64", 8, f64_value}, {"F16", 2, f16_value}, {"BF16", 2, bf16_value}, {"I8", 1, NULL},
    {"U8", 1, NULL},       {"I16", 2, NULL},      {"U16", 2, NULL},      {"I32", 4, NULL},        {"U32", 4, NULL},
    {"I64", 8, NULL},      {"U64", 8, NULL},      {"BOOL", 1, NULL},     {"F8_E4M3", 1, NULL},    {"F8_E5M2", 1, NULL},
};

const tg_file_dtype *tg_file_dtype_of(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return &dtypes[i];
    return NULL;
}
