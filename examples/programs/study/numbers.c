/* The numbers of a study are formulas (nn/formula.h) without x, whose names are numbers in turn. */
#include "examples/programs/report/memory.h"
#include "examples/programs/study/study.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double study_refuse(study_part *p, const char *what, const char *why)
{
    p->broken = p->broken || !tg_fail(&p->error, "%s: '%.300s': %s", p->of->name, what, why);
    return NAN;
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* "a + 2" as a formula of x, to be freed: "0 * x + a + 2, a = 1". The names that stand for numbers are its trained
 * numbers; all but x, pi, e and functions do. */
static char *with_names(const char *formula)
{
    size_t length;
    char declared[48], *text = memory_text("0 * x + %s", formula);
    for (const char *at = formula; *at; at += length ? length : 1) {
        for (length = 0; is_of_word(at[length]);)
            length++;
        snprintf(declared, sizeof declared, ", %.*s = 1", (int)length, at);
        if (!isalpha((unsigned char)*at) || at[length] == '(' || strncmp(at, "pi", length) == 0 ||
            strstr(text, declared) || (length == 1 && strchr("xe", *at)))
            continue;
        char *longer = memory_text("%s%s", text, declared);
        free(text);
        text = longer;
    }
    return text;
}

/* Sets y[] to a formula at each x[]. False, and the part is broken, if it is none. */
static bool apply(study_part *p, const char *formula, study_called *called, const void *context, const double x[],
                  int count, double y[])
{
    tg_error error;
    char *text = with_names(formula);
    tg_formula *f = tg_formula_new(text, &error);
    tg_tape *tape = tg_tape_new();
    tg_tensor numbers[TG_FORMULA_NUMBERS], in = tg_borrow(tape, TG_F64, x, TG_SHAPE(count));
    for (int i = 0; tg_formula_number_at(f, i); i++)
        numbers[i] = tg_full(tape, TG_F64, TG_SCALAR, called(context, tg_formula_number_at(f, i)->name));
    const bool fine = f && tg_read(tg_formula_apply(f, &in, numbers), TG_F64, y, count);
    if (!fine)
        study_refuse(p, text, f ? tg_tape_error(tape) : error.text);
    tg_tape_free(tape);
    tg_formula_free(f);
    free(text);
    return fine;
}

double study_evaluate(study_part *p, const char *formula, study_called *called, const void *context)
{
    double y;
    return apply(p, formula, called, context, &(double){0}, 1, &y) ? y : NAN;
}

double study_over_line(study_part *p, const json_t *line, study_called *called, const void *context)
{
    enum { MOST = 1 << 20 };
    const char *what = json_string_value(json_array_get(line, 0)),
               *formula = json_string_value(json_array_get(line, 1));
    const double from = json_number_value(json_array_get(line, 2)), to = json_number_value(json_array_get(line, 3)),
                 step = json_number_value(json_array_get(line, 4));
    double *x = memory_checked(calloc(2 * MOST, sizeof *x)), *y = x + MOST, sum = 0;
    int count = 0, most = 0;
    for (; count < MOST && from + count * step <= to; count++)
        x[count] = from + count * step;
    const bool fine = what && formula && step > 0 && count && apply(p, formula, called, context, x, count, y);
    for (int i = 0; fine && i < count; i++) {
        sum += y[i];
        most = y[i] <= y[most] ? most : i; /* NaN is taken too, so that it is noticed */
    }
    const double number = !fine                          ? NAN
                          : strcmp(what, "sum") == 0     ? sum
                          : strcmp(what, "largest") == 0 ? y[most]
                                                         : x[most];
    free(x);
    return fine ? number : study_refuse(p, formula ? formula : "", "expected [\"largest\", formula, from, to, step]");
}
