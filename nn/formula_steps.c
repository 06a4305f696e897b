/* Steps of a formula's program: numbers are computed, equal steps are shared, and an error has its place. */
#include "nn/formula_internal.h"

#include "autograd/base/names.h"
#include "autograd/base/numbers.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- errors ---- */

TG_FORMAT(printf, 3, 4)
int tg_formula_fail(tg_formula_reader *r, const char *at, const char *format, ...)
{
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    tg_print_arguments(what, sizeof what, format, arguments);
    va_end(arguments);
    if (*at)
        tg_fail(r->error, "column %d, at '%.30s': %s", (int)(at - r->f->text) + 1, at, what);
    else
        tg_fail(r->error, "column %d, at the end: %s", (int)(at - r->f->text) + 1, what);
    return -1;
}

int tg_formula_unknown(tg_formula_reader *r, const char *at, const char *name)
{
    const char *best = NULL;
    int least = 1 + (int)strlen(name) / 4;
    for (int i = 0; tg_formula_function_at(i); i++) {
        const char *other = tg_formula_function_at(i)->name;
        const int d = strncmp(other, name, strlen(name)) == 0 ? 0 : tg_name_distance(name, other);
        if (d < least || (d == least && !best)) {
            least = d;
            best = other;
        }
    }
    if (best && strlen(name) > 2)
        return tg_formula_fail(r, at, "there is no '%s'; '%s' is similar", name, best);
    return tg_formula_fail(
        r, at,
        "there is no '%s'; there are x, or u and v, pi, e, trained numbers (', %s = 1' at the end), and "
        "functions such as exp, tanh, sigmoid, max and where",
        name, name);
}

/* ---- steps ---- */

bool tg_formula_is_number(const tg_formula_reader *r, int step)
{
    return r->f->step[step].kind == TG_FORMULA_NUMBER;
}

double tg_formula_value(const tg_formula_reader *r, int step)
{
    return r->f->step[step].number[0];
}

int tg_formula_add(tg_formula_reader *r, tg_formula_step s)
{
    for (int i = 0; i < r->f->step_count; i++) {
        const tg_formula_step *other = &r->f->step[i];
        if (other->kind == s.kind && other->function == s.function && other->index == s.index &&
            memcmp(other->from, s.from, sizeof s.from) == 0 && memcmp(other->number, s.number, sizeof s.number) == 0)
            return i;
    }
    if (r->f->step_count == TG_FORMULA_STEPS)
        return tg_formula_fail(r, r->at, "the formula has more than %d steps", TG_FORMULA_STEPS);
    r->f->step[r->f->step_count] = s;
    return r->f->step_count++;
}

int tg_formula_add_number(tg_formula_reader *r, double number)
{
    return isfinite(number) ? tg_formula_add(r, (tg_formula_step){.kind = TG_FORMULA_NUMBER, .number = {number}})
                            : tg_formula_fail(r, r->at, "the number before it is not finite");
}

int tg_formula_add_call(tg_formula_reader *r, const char *name, const int from[3], double first, double second)
{
    const bool left = tg_formula_is_number(r, from[0]), right = tg_formula_is_number(r, from[1]);
    if (strcmp(name, "max") == 0 && left != right && tg_formula_value(r, from[left ? 0 : 1]) == 0)
        return tg_formula_add_unary(r, "relu", from[left ? 1 : 0]);
    const tg_formula_function *function = tg_formula_function_of(name);
    const tg_formula_step s = {function->kind, function, 0, {from[0], from[1], from[2]}, {first, second}};
    if (left && right && tg_formula_is_number(r, from[2]))
        return tg_formula_add_number(r, tg_formula_fold(r->f, &s));
    return tg_formula_add(r, s);
}

int tg_formula_add_unary(tg_formula_reader *r, const char *name, int a)
{
    return a < 0 ? a : tg_formula_add_call(r, name, (int[]){a, a, a}, 0, 0);
}

static int add_scalar(tg_formula_reader *r, const char *name, int a, double number)
{
    return a < 0 ? a : tg_formula_add_call(r, name, (int[]){a, a, a}, number, 0);
}

static int power(tg_formula_reader *r, int a, int b)
{
    if (tg_formula_is_number(r, a) && tg_formula_value(r, a) == TG_FORMULA_E)
        return tg_formula_add_unary(r, "exp", b);
    if (!tg_formula_is_number(r, b))
        return tg_formula_fail(r, r->at, "the exponent before it is not a number; pow(a, b) takes any");
    const double exponent = tg_formula_value(r, b);
    return exponent == 1     ? a
           : exponent == 2   ? tg_formula_add_unary(r, "square", a)
           : exponent == 0.5 ? tg_formula_add_unary(r, "sqrt", a)
                             : add_scalar(r, "power", a, exponent);
}

int tg_formula_add_operation(tg_formula_reader *r, char operation, int a, int b)
{
    static const char operations[] = "+-*/";
    static const char *const names[] = {"add", "sub", "mul", "div"};
    if (a < 0 || b < 0)
        return -1;
    if (operation == '^')
        return power(r, a, b);
    const bool left = tg_formula_is_number(r, a), right = tg_formula_is_number(r, b);
    const int tensor = left ? b : a;
    const double number = tg_formula_value(r, right ? b : a);
    if (left != right && operation == '+')
        return add_scalar(r, "add_scalar", tensor, number);
    if (left != right && operation == '*')
        return add_scalar(r, "mul_scalar", tensor, number);
    if (left && !right && operation == '-')
        return add_scalar(r, "add_scalar", tg_formula_add_unary(r, "neg", b), number);
    if (right && !left && operation == '-')
        return add_scalar(r, "add_scalar", a, -number);
    if (right && operation == '/' && !isfinite(1 / number)) /* nor by a number next to it */
        return tg_formula_fail(r, r->at, "division by 0 before it");
    if (right && !left && operation == '/')
        return add_scalar(r, "mul_scalar", a, 1 / number);
    return tg_formula_add_call(r, names[strchr(operations, operation) - operations], (int[]){a, b, b}, 0, 0);
}

/* ---- the finished program ---- */

bool tg_formula_compact(tg_formula *f, int result)
{
    bool needed[TG_FORMULA_STEPS] = {[0] = false}, trained[TG_FORMULA_NUMBERS] = {false}, all = true;
    int place[TG_FORMULA_STEPS], count = 0;
    needed[result] = true;
    for (int i = result; i >= 0; i--)
        for (int k = 0; k < 3 && needed[i] && f->step[i].function; k++)
            needed[f->step[i].from[k]] = true;
    for (int i = 0; i <= result; i++)
        if (needed[i]) {
            tg_formula_step s = f->step[i];
            for (int k = 0; k < 3 && s.function; k++)
                s.from[k] = place[s.from[k]];
            if (s.kind == TG_FORMULA_TRAINED)
                trained[s.index] = true;
            place[i] = count;
            f->step[count++] = s;
        }
    f->step_count = count;
    for (int i = 0; i < f->number_count; i++)
        all &= trained[i];
    return all;
}
