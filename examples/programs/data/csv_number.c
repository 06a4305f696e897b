#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

/* ---- decimal numbers ---- */

enum { MOST_DIGITS = 19, MOST_POWER = 27 }; /* of an integer below 2^64; 5^27 < 2^64 */

#if LDBL_MANT_DIG == 64
/* A quotient or product of two exact numbers, rounded to 64 bits, and then to 53. The second rounding goes wrong only
 * where the first one has ended halfway between two doubles; then strtod decides. */
static bool scale(uint64_t digits, int power, double *value)
{
    static const long double tens[MOST_POWER + 1] = {
        1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
        1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    const long double exact = (long double)digits, rounded = power < 0 ? exact / tens[-power] : exact * tens[power];
    uint64_t bits;
    memcpy(&bits, &rounded, sizeof bits); /* x87: the 64 bits of the significand come first */
    *value = (double)rounded;
    return (bits & 0x7ff) != 0x400;
}
#else
/* Both numbers are doubles, so that their quotient or product is rounded once. */
static bool scale(uint64_t digits, int power, double *value)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (digits > (uint64_t)1 << 53 || power < -22 || power > 22)
        return false;
    *value = power < 0 ? (double)digits / tens[-power] : (double)digits * tens[power];
    return true;
}
#endif

/* The number by strtod; the programs set no locale, so a decimal point is a point. */
static double slowly(const unsigned char *from, const unsigned char *end)
{
    char few[128], *text = few;
    const size_t length = (size_t)(end - from);
    if (length >= sizeof few && !(text = malloc(length + 1)))
        return NAN;
    memcpy(text, from, length);
    text[length] = '\0';
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    const double value = strtod(text, NULL);
    if (text != few)
        free(text);
    return value;
}

/* Appends the digits here to a number; the result is their end. */
static inline const unsigned char *take_digits(const unsigned char *at, uint64_t *number)
{
    for (unsigned digit; (digit = (unsigned)*at - '0') < 10; at++)
        *number = *number * 10 + digit;
    return at;
}

/* The digits that count, between two places. */
static ptrdiff_t significant(const unsigned char *from, const unsigned char *end)
{
    while (from < end && (*from == '0' || *from == '.' || *from == ','))
        from++;
    return end - from;
}

const unsigned char *csv_number(const unsigned char *text, bool decimal_comma, double *value)
{
    const bool negative = *text == '-';
    const unsigned char *const first = text + (negative || *text == '+');
    uint64_t number = 0;
    const unsigned char *at = take_digits(first, &number), *end = at;
    ptrdiff_t count = at - first, power = 0;
    if (*at == '.' || (decimal_comma && *at == ',')) {
        end = take_digits(at + 1, &number);
        power = at + 1 - end;
        count -= power;
    }
    if (count == 0)
        return NULL;
    const bool fits = count <= MOST_DIGITS || significant(first, end) <= MOST_DIGITS;
    at = end;
    if (*at == 'e' || *at == 'E') {
        const bool down = at[1] == '-';
        ptrdiff_t exponent = 0;
        at += 1 + (down || at[1] == '+');
        if (!isdigit(*at))
            return NULL;
        for (; isdigit(*at); at++)
            exponent = exponent < 100000 ? exponent * 10 + (*at - '0') : exponent;
        power += down ? -exponent : exponent;
    }
    if (!fits || power < -MOST_POWER || power > MOST_POWER || !scale(number, (int)power, value))
        *value = slowly(text, at);
    else if (negative)
        *value = -*value;
    return at;
}

/* ---- words ---- */

static const char digits[] = "0123456789";

/* The end of a number with or without marks between its digits: 1.234,56, 1,234.56, 1'234'567, 3,5; NULL if there is
 * none. */
static const char *after_number(const char *text, bool *marks)
{
    const size_t first = strspn(text, digits);
    const char mark = text[first];
    if (first == 0)
        return NULL;
    text += first;
    *marks = false;
    if (mark && strchr(",.' ", mark) && (first <= 3 || mark == '\'')) {
        for (; *text == mark && strspn(text + 1, digits) == 3; text += 4)
            *marks = true;
        if (*marks && *text == mark)
            return NULL;
    }
    if ((*text == '.' || *text == ',') && isdigit((unsigned char)text[1])) {
        *marks |= *text == ',';
        text++;
        text += strspn(text, digits);
    }
    return text;
}

/* The end of a sign of a currency, or the text itself. */
static const char *after_currency(const char *text)
{
    static const char *const signs[] = {"$", "\u20ac", "\u00a3", "\u00a5", NULL};
    for (int i = 0; signs[i]; i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return text + strlen(signs[i]);
    return text;
}

static bool is_formatted(const char *text)
{
    bool marks;
    const size_t minus =
        strncmp(text, CSV_UNICODE_MINUS, strlen(CSV_UNICODE_MINUS)) == 0 ? strlen(CSV_UNICODE_MINUS) : 0;
    text += minus ? minus : *text == '+' || *text == '-';
    const char *number = after_currency(text);
    bool sign = minus || number != text;
    number += strspn(number, " ");
    number += sign && *number == '-';
    const char *end = after_number(number, &marks);
    if (!end)
        return false;
    const char *unit = end + strspn(end, " "), *last = *unit == '%' ? unit + 1 : after_currency(unit);
    sign |= last != unit;
    return !*last && (sign || (marks && last == end));
}

bool csv_word_is_huge(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    return end != text && !*end && !(fabs(value) <= (double)FLT_MAX);
}

csv_kind csv_kind_of_word(const char *word)
{
    static const char *const missing[] = {"",     "?",       "NA",     "N/A",    "nan",   "null",  "\\N",     "#N/A",
                                          "<NA>", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", NULL};
    static const char *const maybe[] = {"None", "-", ".", NULL};
    if (word_is_among(word, missing))
        return CSV_MISSING;
    if (word_is_among(word, maybe))
        return CSV_MAYBE_MISSING;
    if (csv_word_is_huge(word))
        return CSV_HUGE;
    return is_formatted(word) ? CSV_FORMATTED : CSV_WORD;
}
