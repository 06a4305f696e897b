#include "nn/formula_internal.h"

#include "nn/config_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

static const tg_formula_function functions[] = {
#define UNARY(word, of)                        {.name = word, .kind = TG_FORMULA_UNARY, .unary = of},
#define BINARY(word, of)                       {.name = word, .kind = TG_FORMULA_BINARY, .binary = of},
#define SCALAR(word, of)                       {.name = word, .kind = TG_FORMULA_SCALAR, .scalar = of},
#define TG_UNARY(name, ...)                    UNARY(#name, tg_##name)
#define TG_UNARY_SAVED(name, ...)              UNARY(#name, tg_##name)
#define TG_UNARY_CONSTANT(name, ...)           UNARY(#name, tg_##name)
#define TG_UNARY_WRITTEN_OUT(name, ...)        UNARY(#name, tg_##name)
#define TG_QUADRATIC(name)                     TG_SMOOTH(name)
#define TG_UNARY_NUMBER(name, ...)             SCALAR(#name, tg_##name)
#define TG_UNARY_NUMBER_SAVED(name, ...)       SCALAR(#name, tg_##name)
#define TG_UNARY_NUMBER_WRITTEN_OUT(name, ...) SCALAR(#name, tg_##name)
#define TG_BINARY(name, ...)                   BINARY(#name, tg_##name)
#define TG_BINARY_CONSTANT(name, ...)          BINARY(#name, tg_##name)
#define TG_SMOOTH(name, ...) \
    UNARY(#name, tg_##name)  \
    UNARY(#name "_grad", tg_##name##_grad) UNARY(#name "_grad_grad", tg_##name##_grad_grad)
#include "autograd/elementwise.def"
    BINARY("max", tg_maximum) BINARY("min", tg_minimum)
        UNARY("neg", tg_neg){.name = "where", .kind = TG_FORMULA_TERNARY, .ternary = tg_where},
    {.name = "clamp", .kind = TG_FORMULA_LIMITS, .limits = tg_clamp}};

const tg_formula_function *tg_formula_function_at(int index)
{
    return index >= 0 && index < (int)(sizeof functions / sizeof functions[0]) ? &functions[index] : NULL;
}

const tg_formula_function *tg_formula_function_of(const char *name)
{
    const tg_formula_function *f = NULL;
    for (int i = 0; (f = tg_formula_function_at(i)) && strcmp(f->name, name) != 0;)
        i++;
    return f;
}

/* ---- the formula ---- */

tg_formula *tg_formula_new(const char *text, tg_error *error)
{
    tg_formula *formula = calloc(1, sizeof *formula);
    if (!formula)
        tg_fail(error, "out of memory");
    else if (!tg_formula_read(formula, text ? text : "", error)) {
        tg_formula_free(formula);
        formula = NULL;
    }
    return formula;
}

void tg_formula_free(tg_formula *formula)
{
    free(formula);
}

const char *tg_formula_text(const tg_formula *formula)
{
    return formula ? formula->text : NULL;
}

const char *tg_formula_name(const tg_formula *formula)
{
    return formula ? formula->name : NULL;
}

bool tg_formula_is_gated(const tg_formula *formula)
{
    return formula && formula->gated;
}

const tg_formula_number *tg_formula_number_at(const tg_formula *formula, int index)
{
    return formula && index >= 0 && index < formula->number_count ? &formula->number[index] : NULL;
}

/* ---- running it ---- */

static tg_tensor run(const tg_formula_step *s, const tg_tensor result[])
{
    const tg_formula_function *f = s->function;
    const tg_tensor a = result[s->from[0]];
    return s->kind == TG_FORMULA_UNARY     ? f->unary(a)
           : s->kind == TG_FORMULA_BINARY  ? f->binary(a, result[s->from[1]])
           : s->kind == TG_FORMULA_TERNARY ? f->ternary(a, result[s->from[1]], result[s->from[2]])
           : s->kind == TG_FORMULA_SCALAR  ? f->scalar(a, s->number[0])
                                           : f->limits(a, s->number[0], s->number[1]);
}

/* The number as a tensor of x's type. */
static tg_tensor scalar(tg_tensor x, double number)
{
    return tg_full(tg_tape_of(x), tg_dtype_of(x), TG_SCALAR, number);
}

tg_tensor tg_formula_apply(const tg_formula *formula, const tg_tensor inputs[], const tg_tensor numbers[])
{
    if (!formula || !inputs || !tg_ok(inputs[0]))
        return inputs
                   ? TG_FAIL(tg_tape_of(inputs[0]), "tg_formula_apply: there is no %s", formula ? "input" : "formula")
                   : TG_NONE;
    tg_tensor result[TG_FORMULA_STEPS];
    for (int i = 0; i < formula->step_count; i++) {
        const tg_formula_step *s = &formula->step[i];
        if (s->kind == TG_FORMULA_INPUT)
            result[i] = inputs[s->index];
        else if (s->kind == TG_FORMULA_NUMBER)
            result[i] = scalar(inputs[0], s->number[0]);
        else if (s->kind == TG_FORMULA_TRAINED)
            result[i] = numbers ? numbers[s->index] : scalar(inputs[0], formula->number[s->index].value);
        else
            result[i] = run(s, result);
    }
    return result[formula->step_count - 1];
}

double tg_formula_fold(const tg_formula *formula, const tg_formula_step *step)
{
    tg_tape *tape = tg_tape_new();
    tg_tensor result[TG_FORMULA_STEPS];
    for (int i = 0; i < 3; i++)
        result[step->from[i]] = tg_full(tape, TG_F64, TG_SCALAR, formula->step[step->from[i]].number[0]);
    const tg_tensor y = run(step, result);
    const double value = tg_ok(y) ? tg_item(y) : NAN;
    tg_tape_free(tape);
    return value;
}
