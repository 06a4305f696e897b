/* The numbers of a study are formulas (nn/formula.h) without x, whose names are numbers in turn; or lists,
 *
 *     ["largest", "x - gelu_exact(x)", 0, 8, 0.001]        // for x = 0, 0.001, ... 8
 *
 * and likewise "sum", and "place of largest", the x at which it is. */
#include "examples/programs/report/memory.h"
#include "examples/programs/study/study.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double over_line(study_part *p, const json_t *line);

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* "a + 2" as a formula of x, to be freed: "0 * x + a + 2, a = 1". The names that stand for numbers are its trained
 * numbers; all but x, pi, e and functions do. */
static char *with_names(const char *formula)
{
    size_t length;
    char *text = memory_text("0 * x + %s", formula);
    for (const char *at = formula; *at; at += length ? length : 1) {
        for (length = 0; is_of_word(at[length]);)
            length++;
        char *declared = memory_text(", %.*s = 1", (int)length, at);
        const bool constant = (length == 1 && strchr("xe", *at)) || (length == 2 && strncmp(at, "pi", 2) == 0);
        if (isalpha((unsigned char)*at) && at[length] != '(' && !constant && !strstr(text, declared)) {
            char *longer = memory_text("%s%s", text, declared);
            free(text);
            text = longer;
        }
        free(declared);
    }
    return text;
}

static double value_of(study_part *p, const char *name, const json_t *values)
{
    const json_t *value = json_object_get(values, name),
                 *number = value ? value : json_object_get(json_object_get(p->of->file, "numbers"), name);
    return json_is_number(number)                ? json_number_value(number)
           : json_is_string(number)              ? study_number(p, json_string_value(number), NULL)
           : json_is_array(number)               ? over_line(p, number)
           : json_is_null(number) || p->measures ? NAN
                                                 : study_refuse(p, name, "there is no value of this name");
}

/* Sets y[] to a formula at each x[]. False, and the part is broken, if it is none. */
static bool apply(study_part *p, const char *formula, const json_t *values, const double x[], int count, double y[])
{
    tg_error error;
    char *text = with_names(formula);
    tg_formula *f = tg_formula_new(text, &error);
    tg_tape *tape = tg_tape_new();
    tg_tensor numbers[TG_FORMULA_NUMBERS], in = tg_borrow(tape, TG_F64, x, TG_SHAPE(count));
    for (int i = 0; tg_formula_number_at(f, i); i++)
        numbers[i] = tg_full(tape, TG_F64, TG_SCALAR, value_of(p, tg_formula_number_at(f, i)->name, values));
    const bool fine = f && tg_read(tg_formula_apply(f, &in, numbers), TG_F64, y, count);
    if (!fine)
        study_refuse(p, text, f ? tg_tape_error(tape) : error.text);
    tg_tape_free(tape);
    tg_formula_free(f);
    free(text);
    return fine;
}

static double over_line(study_part *p, const json_t *line)
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
    const bool fine = what && formula && step > 0 && count && apply(p, formula, NULL, x, count, y);
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

double study_number(study_part *p, const char *formula, const json_t *values)
{
    double number = NAN;
    if (json_object_get(values, formula))
        return value_of(p, formula, values);
    if (++p->depth > STUDY_DEEPEST)
        study_refuse(p, formula, "a number contains itself");
    else
        apply(p, formula, values, &(double){0}, 1, &number);
    p->depth--;
    return number;
}
