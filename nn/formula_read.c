/* Formulas as text: recursive descent, one function for each level of precedence, which returns the number of the step
 * that has the value; -1 after an error. */
#include "nn/formula_internal.h"

#include "autograd/base/numbers.h"

#include <math.h>
#include <string.h>

static int comparison(tg_formula_reader *r);

/* ---- words ---- */

static void skip_blanks(tg_formula_reader *r)
{
    while (r->at < r->end && *r->at == ' ')
        r->at++;
}

/* Passes this text; false if there is another. */
static bool take(tg_formula_reader *r, const char *text)
{
    const size_t length = strlen(text);
    skip_blanks(r);
    const bool found = (size_t)(r->end - r->at) >= length && memcmp(r->at, text, length) == 0;
    r->at += found ? length : 0;
    return found;
}

static int expect(tg_formula_reader *r, const char *text, int value)
{
    return value < 0 || take(r, text) ? value : tg_formula_fail(r, r->at, "expected '%s'", text);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* A name of up to 31 letters, digits and underscores; empty if there is none. */
static void take_name(tg_formula_reader *r, char name[32])
{
    int length = 0;
    skip_blanks(r);
    while (r->at < r->end && length < 31 && (is_letter(*r->at) || (length > 0 && *r->at >= '0' && *r->at <= '9')))
        name[length++] = *r->at++;
    name[length] = '\0';
}

/* A number without a sign; false if there is none. The e of an exponent is followed by a digit: 2 e is a product. */
static bool take_number(tg_formula_reader *r, double *number)
{
    static const char digits[] = "0123456789";
    char text[64] = "";
    int read = 0;
    skip_blanks(r);
    size_t length = strspn(r->at, "0123456789.");
    if (length > 0 && (r->at[length] == 'e' || r->at[length] == 'E')) {
        const char *power = r->at + length + 1;
        power += *power == '-' || *power == '+';
        length = strspn(power, digits) ? (size_t)(power - r->at) + strspn(power, digits) : length;
    }
    if (length == 0 || length >= sizeof text)
        return false;
    memcpy(text, r->at, length);
    if (tg_scan(text, "%lf%n", number, &read) != 1 || (size_t)read != length || !isfinite(*number))
        return false;
    r->at += length;
    return true;
}

/* ---- the grammar ---- */

/* The arguments of a function behind its name. */
static int arguments(tg_formula_reader *r, const char *at, const tg_formula_function *f)
{
    static const int counts[] = {[TG_FORMULA_UNARY] = 1,
                                 [TG_FORMULA_BINARY] = 2,
                                 [TG_FORMULA_TERNARY] = 3,
                                 [TG_FORMULA_SCALAR] = 2,
                                 [TG_FORMULA_LIMITS] = 3};
    const int count = counts[f->kind], tensors = f->kind < TG_FORMULA_SCALAR ? count : 1;
    int from[3] = {0};
    double number[2] = {0};
    if (!take(r, "("))
        return tg_formula_fail(r, r->at, "expected '(' after %s", f->name);
    for (int i = 0; i < count; i++) {
        skip_blanks(r);
        const char *argument = r->at;
        const int value = comparison(r);
        if (value < 0)
            return -1;
        for (int k = i; i < tensors && k < 3; k++)
            from[k] = value;
        if (i >= tensors && !tg_formula_is_number(r, value))
            return tg_formula_fail(r, argument, "expected a number, not a function of x");
        if (i >= tensors)
            number[i - tensors] = tg_formula_value(r, value);
        if (i + 1 < count && !take(r, ","))
            return tg_formula_fail(r, r->at, "expected ',': %s takes %d arguments", f->name, count);
    }
    if (f->kind == TG_FORMULA_LIMITS && number[0] > number[1])
        return tg_formula_fail(r, at, "the lower limit is above the upper one");
    return expect(r, ")", tg_formula_add_call(r, f->name, from, number[0], number[1]));
}

static int named(tg_formula_reader *r)
{
    static const char *const inputs[] = {"x", "u", "v"};
    char name[32];
    const char *at = r->at;
    take_name(r, name);
    for (int i = 0; i < 3; i++)
        if (strcmp(name, inputs[i]) == 0) {
            r->variables |= 1 << i;
            if (r->variables & 1 && r->variables != 1)
                return tg_formula_fail(r, at, "expected x alone, or u and v alone");
            return tg_formula_add(r, (tg_formula_step){.kind = TG_FORMULA_INPUT, .index = i == 2});
        }
    for (int i = 0; i < r->f->number_count; i++)
        if (strcmp(name, r->f->number[i].name) == 0)
            return tg_formula_add(r, (tg_formula_step){.kind = TG_FORMULA_TRAINED, .index = i});
    if (strcmp(name, "pi") == 0 || strcmp(name, "e") == 0)
        return tg_formula_add_number(r, *name == 'p' ? TG_FORMULA_PI : TG_FORMULA_E);
    const tg_formula_function *function = tg_formula_function_of(name);
    return function ? arguments(r, at, function) : tg_formula_unknown(r, at, name);
}

static int primary(tg_formula_reader *r)
{
    double number;
    skip_blanks(r);
    if (take(r, "("))
        return expect(r, ")", comparison(r));
    if (take_number(r, &number))
        return tg_formula_add_number(r, number);
    return r->at < r->end && is_letter(*r->at) ? named(r)
                                               : tg_formula_fail(r, r->at, "expected a number, a name or '('");
}

/* -a, and a ^ b, which binds closer: -x ^ 2 is -(x ^ 2). */
static int factor(tg_formula_reader *r)
{
    int value = -1;
    if (r->depth == TG_FORMULA_DEPTH)
        return tg_formula_fail(r, r->at, "the formula is nested more than %d deep", TG_FORMULA_DEPTH);
    r->depth++;
    if (take(r, "-"))
        value = tg_formula_add_unary(r, "neg", factor(r));
    else if ((value = primary(r)) >= 0 && take(r, "^"))
        value = tg_formula_add_operation(r, '^', value, factor(r));
    r->depth--;
    return value;
}

/* True if a factor follows that needs no sign: x sigmoid(x), 2 (x + 1). */
static bool is_beside(tg_formula_reader *r)
{
    skip_blanks(r);
    return r->at < r->end && (is_letter(*r->at) || *r->at == '(');
}

static int product(tg_formula_reader *r)
{
    int value = factor(r);
    while (value >= 0) {
        const bool divided = take(r, "/");
        if (!divided && !take(r, "*") && !is_beside(r))
            break;
        value = tg_formula_add_operation(r, divided ? '/' : '*', value, factor(r));
        if (value >= 0 && divided && is_beside(r))
            return tg_formula_fail(r, r->at, "a / b c can be read in two ways: write (a / b) c or a / (b c)");
    }
    return value;
}

static int sum(tg_formula_reader *r)
{
    int value = product(r);
    while (value >= 0) {
        const bool added = take(r, "+");
        if (!added && !take(r, "-"))
            break;
        value = tg_formula_add_operation(r, added ? '+' : '-', value, product(r));
    }
    return value;
}

static int comparison(tg_formula_reader *r)
{
    static const char *const signs[][2] = {{"<=", "less_equal"}, {">=", "greater_equal"}, {"==", "equal"},
                                           {"!=", "not_equal"},  {"<", "less"},           {">", "greater"}};
    const int left = sum(r);
    for (int i = 0; i < 6 && left >= 0; i++)
        if (take(r, signs[i][0])) {
            const int right = sum(r);
            return right < 0 ? right : tg_formula_add_call(r, signs[i][1], (int[]){left, right, right}, 0, 0);
        }
    return left;
}

/* ---- around the formula ---- */

/* Copies the text with single blanks, and the name in front of it; where the formula begins, or NULL. */
static const char *take_text(tg_formula_reader *r, const char *text)
{
    tg_formula *f = r->f;
    size_t length = 0;
    for (const char *c = text; *c && length < TG_FORMULA_LENGTH; c++) {
        const bool blank = strchr(" \t\r\n", *c);
        if (!blank || (length > 0 && f->text[length - 1] != ' '))
            f->text[length++] = blank ? ' ' : *c;
    }
    length -= length > 0 && f->text[length - 1] == ' ';
    f->text[length] = '\0';
    if (strlen(text) >= TG_FORMULA_LENGTH) {
        tg_formula_fail(r, f->text, "the formula has more than %d characters", TG_FORMULA_LENGTH - 1);
        return NULL;
    }
    const size_t named = strspn(f->text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    const char *colon = strchr(f->text, ':'); /* no formula has one */
    if (!colon) {
        memcpy(f->name, f->text, length + 1);
        return f->text;
    }
    if (named == 0 || named > TG_FORMULA_NAME || f->text + named + (f->text[named] == ' ') != colon) {
        tg_formula_fail(r, f->text, "a name before ':' is of up to %d letters, digits, '_', '-' and '.'",
                        TG_FORMULA_NAME);
        return NULL;
    }
    memcpy(f->name, f->text, named);
    return colon + 1;
}

/* The first comma outside of parentheses, or the end. */
static const char *end_of_part(const char *at)
{
    int depth = 0;
    for (; *at && (*at != ',' || depth > 0); at++)
        depth += *at == '(' ? 1 : *at == ')' && depth > 0 ? -1 : 0;
    return at;
}

/* NAME = VALUE [per unit] */
static bool take_trained(tg_formula_reader *r)
{
    tg_formula *f = r->f;
    tg_formula_number *n = &f->number[f->number_count];
    skip_blanks(r);
    const char *at = r->at;
    if (f->number_count == TG_FORMULA_NUMBERS)
        return tg_formula_fail(r, at, "more than %d trained numbers", TG_FORMULA_NUMBERS) >= 0;
    take_name(r, n->name);
    if (!*n->name || !take(r, "="))
        return tg_formula_fail(r, r->at, *n->name ? "expected '='" : "expected a trained number, as in ', b = 1'") >= 0;
    bool taken =
        tg_formula_function_of(n->name) || strcmp(n->name, "pi") == 0 || (!n->name[1] && strchr("xuve", *n->name));
    for (int i = 0; i < f->number_count; i++)
        taken |= strcmp(f->number[i].name, n->name) == 0;
    if (taken)
        return tg_formula_fail(r, at, "the name '%s' has a meaning already", n->name) >= 0;
    const bool negative = take(r, "-");
    if (!take_number(r, &n->value))
        return tg_formula_fail(r, r->at, "expected a number") >= 0;
    n->value = negative ? -n->value : n->value;
    n->per_unit = take(r, "per unit");
    skip_blanks(r);
    f->number_count++;
    return r->at == r->end || tg_formula_fail(r, r->at, "expected ',' or 'per unit'") >= 0;
}

bool tg_formula_read(tg_formula *formula, const char *text, tg_error *error)
{
    tg_formula_reader r = {.f = formula, .error = error};
    const char *from = take_text(&r, text);
    if (!from)
        return false;
    const char *formula_end = end_of_part(from);
    for (const char *part = formula_end; *part; part = r.end) {
        r.at = part + 1;
        r.end = end_of_part(part + 1);
        if (!take_trained(&r))
            return false;
    }
    r.at = from;
    r.end = formula_end;
    const int result = comparison(&r);
    skip_blanks(&r);
    if (result < 0)
        return false;
    if (r.at < r.end)
        return tg_formula_fail(&r, r.at, "expected an operator or the end") >= 0;
    if (r.variables != 1 && r.variables != 6)
        return tg_formula_fail(&r, r.end,
                               r.variables ? "a gate needs both u and v; a function of one number is one of x"
                                           : "the formula does not depend on x, or on u and v") >= 0;
    formula->gated = r.variables == 6;
    return tg_formula_compact(formula, result) ||
           tg_formula_fail(&r, formula_end, "a trained number is not used in the formula") >= 0;
}
