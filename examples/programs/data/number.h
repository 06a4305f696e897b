/* Numbers as text: for a machine the shortest decimal that reads back as the same double. */
#pragma once

#include "examples/programs/system/standard.h"

/* NaN and zero without a sign, which means nothing. */
static inline double number_unsigned(double value)
{
    return isnan(value) || value == 0 ? fabs(value) : value;
}

/*     fputs(number_text(0.1, (char[NUMBER_TEXT]){0}), stdout);       // 0.1
 *
 * Whole numbers have no exponent: 1234567891, not 1.234567891e+09. -0 is 0. */
enum { NUMBER_TEXT = 32 };
static inline const char *number_text(double value, char text[NUMBER_TEXT])
{
    value = number_unsigned(value);
    if (value == floor(value) && fabs(value) < 1e17) {
        snprintf(text, NUMBER_TEXT, "%.0f", value);
        return text;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

/* The same for people: six digits, but all of a whole number. */
static inline const char *number_shown(double value, char text[NUMBER_TEXT])
{
    if (value != floor(value) && isfinite(value)) {
        snprintf(text, NUMBER_TEXT, "%.5e", value);
        value = strtod(text, NULL);
    }
    return number_text(value, text);
}

/* The same in a table or sentence: with as many decimals as its neighbours, or with three digits where those would show
 * none of it (NUMBER_TINY), or the number is huge; with a sign also before positive ones. What is shown as zero has no
 * sign: +0.000 (-0.1 %) would have two. */
enum { NUMBER_TINY = -1 };
static inline const char *number_placed(double value, int decimals, bool sign, char text[NUMBER_TEXT])
{
    const bool huge = fabs(value) >= (decimals > 1 ? 1e5 : 1e7);
    value = decimals != NUMBER_TINY && fabs(value) < pow(10, -decimals) / 2 ? 0 : number_unsigned(value);
    sign = sign && value != 0;
    snprintf(text, NUMBER_TEXT,
             decimals == NUMBER_TINY || huge ? (sign ? "%+.*g" : "%.*g")
             : sign                          ? "%+.*f"
                                             : "%.*f",
             decimals == NUMBER_TINY || huge ? 3 : decimals, value);
    return text;
}
