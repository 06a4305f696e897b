#include "autograd/gradcheck/report.h"

#include "autograd/base/numbers.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

void tg_check_add_element(tg_text *text, const tg_check_report *r, int input, int64_t index)
{
    const tg_gradcheck_input *in = &r->inputs[input];
    const char *name = in->name ? in->name : in->parameter ? in->parameter->name : NULL;
    if (name)
        tg_text_add(text, "%s", name);
    else
        tg_text_add(text, "input %d", input);
    const tg_shape *shape = tg_check_shape_of(in);
    if (index < 0)
        return;
    tg_text_add(text, shape->rank > 0 ? " at " : "");
    tg_check_add_index(text, shape, index);
}

void tg_check_add_index(tg_text *text, const tg_shape *shape, int64_t index)
{
    int64_t at[TG_MAX_RANK];
    if (shape->rank == 0)
        return;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        at[axis] = index % shape->dim[axis];
        index /= shape->dim[axis];
    }
    tg_text_add(text, "[");
    for (int axis = 0; axis < shape->rank; axis++)
        tg_text_add(text, "%s%lld", axis ? ", " : "", (long long)at[axis]);
    tg_text_add(text, "]");
}

void tg_check_add_part(tg_check_report *r, const tg_gradcheck_result *part)
{
    tg_gradcheck_result *total = &r->result, before = *total;
    const bool undecided = part->status == TG_GRADCHECK_CANNOT_TELL, first = before.comparisons == before.undecided;
    if (undecided && before.undecided == 0)
        r->undecided = *part;
    const bool failed = before.status != TG_GRADCHECK_PASSED && before.status != TG_GRADCHECK_CANNOT_TELL;
    if (!undecided && !failed && (!part->passed || first || part->relative > before.relative))
        *total = *part;
    total->samples = before.samples;
    total->skipped = before.skipped;
    total->comparisons = before.comparisons + part->comparisons;
    total->kinks = before.kinks + part->kinks;
    total->integrals = before.integrals + part->integrals;
    total->sharp = before.sharp + part->sharp;
    total->undecided = before.undecided + part->undecided;
}

void tg_check_end_parts(tg_check_report *r)
{
    if (!r->result.passed || r->result.undecided == 0)
        return;
    r->undecided.samples = r->result.samples;
    r->undecided.comparisons = r->result.comparisons;
    r->undecided.undecided = r->result.undecided;
    r->result = r->undecided;
}

void tg_check_where(const tg_check_report *r, tg_gradcheck_result *v)
{
    tg_text text = {v->where, sizeof v->where, 0};
    v->where[0] = '\0';
    if (v->sample >= 0)
        tg_text_add(&text, "sample %d", v->sample);
    if (v->input >= 0 && v->input < r->count) {
        tg_text_add(&text, text.used ? ", " : "");
        tg_check_add_element(&text, r, v->input, v->index);
    }
    if (v->order > 0)
        tg_text_add(&text, "%sorder %d", text.used ? ", " : "", v->order);
}

void tg_check_fail(tg_check_report *r, tg_gradcheck_status status, const char *format, va_list arguments)
{
    tg_gradcheck_result *v = &r->result;
    v->passed = false;
    v->status = status;
    tg_check_where(r, v);
    tg_text text = {v->why, sizeof v->why, 0};
    tg_text_add(&text, "%s%s%s: ", r->name, v->where[0] ? ", " : "", v->where);
    tg_text_add_arguments(&text, format, arguments);
}

/* The largest n for which the factors n and 1/n count as simple. */
enum { SIMPLE = 1000 };

const char *tg_check_factor(double factor, double like, char *text, size_t size)
{
    const double whole = round(fabs(factor)), part = round(1 / fabs(factor));
    const char *sign = factor < 0 ? ", and of the opposite sign" : "";
    text[0] = '\0';
    if (fabs(factor + 1) < like)
        snprintf(text, size, "of the opposite sign");
    else if (whole > 1 && whole <= SIMPLE && fabs(fabs(factor) - whole) < like * whole)
        whole == 2 ? snprintf(text, size, "twice as large%s", sign)
                   : tg_print(text, size, "%g times as large%s", whole, sign);
    else if (part > 1 && part <= SIMPLE && fabs(1 / fabs(factor) - part) < like * part)
        part == 2 ? snprintf(text, size, "half as large%s", sign) : tg_print(text, size, "1/%g as large%s", part, sign);
    return text[0] ? text : NULL;
}

/* Compares the two numbers in words. */
static void add_suspicion(tg_text *text, const tg_check_report *r, double analytic, double numeric)
{
    char words[80];
    const char *factor = tg_check_factor(analytic / numeric, r->like, words, sizeof words);
    if (analytic == 0)
        tg_text_add(text, "; nothing arrives at this input");
    else if (fabs(analytic / numeric - 1) < FLT_EPSILON * 8 && r->like < 1e-5)
        tg_text_add(text, "; it is as good as single precision would make it");
    else if (factor)
        tg_text_add(text, "; it is %s", factor);
}

/* The value of the element. */
static void add_value(tg_text *text, const tg_check_report *r, const tg_gradcheck_result *v)
{
    const double *data = v->input >= 0 ? tg_check_data_of(&r->inputs[v->input]) : NULL;
    if (data && v->index >= 0)
        tg_text_add(text, ", where it is %.9g", data[v->index]);
}

void tg_check_explain_failure(const tg_check_report *r, tg_gradcheck_result *v, const char *how)
{
    tg_check_where(r, v);
    tg_text text = {v->why, sizeof v->why, 0};
    tg_text_add(&text, "%s, %s%s", r->name, v->where, how);
    add_value(&text, r, v);
    tg_text_add(&text, ": ");
    if (v->status == TG_GRADCHECK_CANNOT_TELL)
        tg_text_add(&text,
                    "the derivative gives %.9g, but finite differences converge neither around the point (%.9g) nor "
                    "on one of its sides, so that they cannot tell whether it is right",
                    v->analytic, v->numeric);
    else {
        tg_text_add(&text,
                    "the derivative gives %.9g, %s %.9g: off by %.3g, where %.3g is the largest error that "
                    "differences and rounding explain",
                    v->analytic,
                    v->kinks       ? "the nearest of the one-sided derivatives is"
                    : v->integrals ? "its integral, which is the function's change, asks for"
                                   : "finite differences give",
                    v->numeric, v->error, v->bound);
        add_suspicion(&text, r, v->analytic, v->numeric);
    }
}

void tg_check_explain_success(const char *name, double sharp, tg_gradcheck_result *v)
{
    tg_text text = {v->why, sizeof v->why, 0};
    tg_text_add(&text, "%s: %lld derivatives agree", name, (long long)v->comparisons);
    if (v->samples > 1)
        tg_text_add(&text, " on %d samples", v->samples);
    if (v->comparisons > 0)
        tg_text_add(&text, ", the worst to %.2g (%s); %.0f %% are known to %.0e", v->relative, v->where,
                    floor(100 * (double)v->sharp / (double)v->comparisons), sharp);
    if (v->integrals > 0)
        tg_text_add(&text, " (%lld by the derivative's integral)", (long long)v->integrals);
    if (v->kinks > 0)
        tg_text_add(&text, ", %lld only by one-sided differences", (long long)v->kinks);
}
