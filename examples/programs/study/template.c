/* Templates: the texts of a study's file with numbers in them. */
#include "examples/programs/data/expression.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- templates ---- */

static double refuse(study_part *p, const char *what, const char *why)
{
    p->broken = p->broken || !tg_fail(&p->error, "%s: '%.200s': %s", p->of->name, what, why);
    return NAN;
}

double study_evaluate(study_part *p, const char *expression, double (*called)(const void *context, const char *name),
                      const void *context)
{
    const char *wrong;
    const double number = expression_value(expression, called, context, &wrong);
    return wrong ? refuse(p, expression, wrong) : number;
}

/* The number of a value, or of an expression in "numbers". */
typedef struct named {
    study_part *p;
    const study_value *values;
} named;

static double number_called(const void *context, const char *name)
{
    const named *in = context;
    for (const study_value *v = in->values; v && v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v->number;
    const char *expression = study_text(json_object_get(in->p->of->file, "numbers"), name);
    return expression ? study_number(in->p, expression, NULL) : refuse(in->p, name, "there is no value of this name");
}

double study_number(study_part *p, const char *expression, const study_value values[])
{
    return study_evaluate(p, expression, number_called, &(named){p, values});
}

/* {name} or {name:.3f}, or an expression in place of the name. */
static void say_one(study_part *p, FILE *to, const char *name, const char *format, const study_value values[])
{
    const json_t *const words[] = {p->part, p->of->file, p->report};
    char number[16] = "%g";
    const size_t length = strspn(format, "+.0123456789");
    if (*format && length < 8 && strchr("gef", format[length]) && !format[length + 1])
        snprintf(number, sizeof number, "%%%s", format);
    for (const study_value *v = values; v && v->name; v++)
        if (strcmp(v->name, name) == 0) {
            char *text = v->text && *v->text == '{' ? study_say(p, v->text, values) : NULL;
            if (v->text)
                fputs(text ? text : v->text, to);
            else
                fprintf(to, number, v->number);
            free(text);
            return;
        }
    for (size_t i = 0; i <= sizeof words / sizeof *words; i++) {
        const char *template =
            i < 3 ? study_text(json_object_get(words[i], "words"), name) : study_text(p->of->file, name);
        if (template) {
            char *text = study_say(p, template, values);
            fputs(text, to);
            free(text);
            return;
        }
    }
    fprintf(to, number, study_number(p, name, values));
}

enum { DEEPEST = 20 }; /* words in words */

char *study_say(study_part *p, const char *template, const study_value values[])
{
    char *text, name[200], *format;
    size_t size;
    FILE *to = memory_checked(open_memstream(&text, &size));
    if (++p->depth > DEEPEST)
        refuse(p, template, "a word contains itself");
    for (const char *at = template && p->depth <= DEEPEST ? template : ""; *at; at++) {
        const size_t length = strcspn(at, "}");
        if (*at != '{' || length >= sizeof name) {
            fputc(*at, to);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)length - 1, at + 1);
        format = strchr(name, ':');
        if (format)
            *format++ = '\0';
        say_one(p, to, name, format ? format : "", values);
        at += length - (at[length] == '\0');
    }
    p->depth--;
    return memory_checked(files_close_memory(to, &text) ? text : NULL);
}

void study_put(study_part *p, const char *name, const study_value values[])
{
    const char *template = study_text(p->part, name);
    char *text = template ? study_say(p, template, values) : NULL;
    if (!text)
        return;
    if (p->file)
        fprintf(p->file, "%s\n", text);
    else if (strcmp(name, "row") == 0 || strcmp(name, "one") == 0)
        sheet_row(p->to, "%s", text);
    else if (strcmp(name, "text") == 0 || strcmp(name, "count") == 0)
        sheet_text(p->to, "%s", text);
    else
        sheet_verdict(p->to, "%s", text);
    free(text);
}
