/* Results: adding them up, and their sentences. */
#include "autograd/gradcheck/check.h"

#include "autograd/base/numbers.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* ---- adding up ---- */

static void add_counts(tg_gradcheck_result *v, const tg_gradcheck_result *before, const tg_gradcheck_result *part)
{
    v->samples = before->samples;
    v->skipped = before->skipped;
    v->comparisons = before->comparisons + part->comparisons;
    v->along = before->along + part->along;
    v->kinks = before->kinks + part->kinks;
    v->sharp = before->sharp + part->sharp;
    v->undecided = before->undecided + part->undecided;
}

void tg_check_add(tg_gradcheck_result *total, tg_gradcheck_result *undecided, const tg_gradcheck_result *part)
{
    const tg_gradcheck_result before = *total;
    const bool open = part->status == TG_GRADCHECK_CANNOT_TELL, first = before.comparisons == before.undecided;
    const bool failed = before.status != TG_GRADCHECK_PASSED && before.status != TG_GRADCHECK_CANNOT_TELL;
    if (open && before.undecided == 0)
        *undecided = *part;
    if (!open && !failed && (!part->passed || first || part->relative > before.relative))
        *total = *part;
    add_counts(total, &before, part);
}

/* What is undecided becomes the result if all else passes. */
void tg_check_end(tg_gradcheck_result *total, const tg_gradcheck_result *undecided)
{
    const tg_gradcheck_result before = *total, none = {0};
    if (!before.passed || before.undecided == 0)
        return;
    *total = *undecided;
    add_counts(total, &before, &none);
}

/* ---- places ---- */

void tg_check_add_element(tg_text *text, const tg_check *c, int input, int64_t index)
{
    const tg_gradcheck_input *in = &c->inputs[input];
    const char *name = in->name ? in->name : in->parameter ? in->parameter->name : NULL;
    if (name)
        tg_text_add(text, "%s", name);
    else
        tg_text_add(text, "input %d", input);
    if (index < 0)
        return;
    tg_text_add(text, tg_check_shape_of(in)->rank > 0 ? " at " : "");
    tg_check_add_index(text, tg_check_shape_of(in), index);
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
    for (int axis = 0; axis < shape->rank; axis++)
        tg_text_add(text, "%s%lld", axis ? ", " : "[", (long long)at[axis]);
    tg_text_add(text, "]");
}

void tg_check_where(const tg_check *c, tg_gradcheck_result *v)
{
    tg_text text = {v->where, sizeof v->where, 0};
    v->where[0] = '\0';
    if (v->sample >= 0)
        tg_text_add(&text, "sample %d", v->sample);
    if (v->input >= 0 && v->input < c->count) {
        tg_text_add(&text, text.used ? ", " : "");
        tg_check_add_element(&text, c, v->input, v->index);
    }
    if (v->order > 0)
        tg_text_add(&text, "%sorder %d", text.used ? ", " : "", v->order);
}

/* ---- sentences ---- */

/* Words for a simple factor between found and expected, like "twice as large"; NULL for other factors. */
const char *tg_check_factor(const tg_check *c, double factor, char *text, size_t size)
{
    enum { SIMPLE = 1000 };
    const double whole = round(fabs(factor)), part = round(1 / fabs(factor)), like = c->promise;
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
static void add_suspicion(tg_text *text, const tg_check *c, double analytic, double numeric)
{
    char words[80];
    const char *factor = tg_check_factor(c, analytic / numeric, words, sizeof words);
    if (analytic == 0)
        tg_text_add(text, "; nothing arrives at this input");
    else if (factor)
        tg_text_add(text, "; it is %s", factor);
}

/* How many decimal digits the values keep, by their measured rounding: few where a function subtracts what is nearly
 * equal. */
static void add_digits(tg_text *text, const tg_check *c, int level)
{
    const tg_check_level *of = &c->level[level];
    double noise = 0, size = 0;
    for (int64_t k = 0; k < of->length; k++) {
        noise += fabs(of->cotangent[k]) * of->noise[k];
        size += fabs(of->cotangent[k] * of->value[k]);
    }
    const double lost = noise / (c->epsilon * size);
    if (size > 0 && lost > 1 / TG_COARSE)
        tg_text_add(text, "; the values have rounding errors %.0e times as large as usual: digits cancel in them",
                    lost);
}

void tg_check_say_failure(tg_check *c, tg_gradcheck_result *v, const char *how)
{
    tg_text text = {v->why, sizeof v->why, 0};
    tg_check_put_back(c);
    tg_check_where(c, v);
    tg_text_add(&text, "%s, %s%s", c->name, v->where, how);
    for (int p = 0; p < c->part_count && v->index >= 0; p++)
        if (c->parts[p].input == v->input)
            tg_text_add(&text, ", where it is %.9g%s", c->point[c->parts[p].offset + v->index], c->at);
    if (v->index < 0)
        tg_text_add(&text, "%s", c->at);
    tg_text_add(&text, ": the derivative gives %.9g, ", v->analytic);
    if (v->status == TG_GRADCHECK_CANNOT_TELL)
        tg_text_add(&text,
                    "but finite differences converge neither at the point (%.9g) nor around it, so that they cannot "
                    "tell whether it is right",
                    v->numeric);
    else if (v->status == TG_GRADCHECK_NOT_FINITE)
        tg_text_add(&text, "finite differences %.9g", v->numeric);
    else {
        tg_text_add(&text,
                    "%s %.9g: off by %.3g, where %.3g is the largest error that differences and rounding explain",
                    v->kinks ? "the nearest of the slopes around it is" : "finite differences give", v->numeric,
                    v->error, v->bound);
        add_suspicion(&text, c, v->analytic, v->numeric);
    }
    add_digits(&text, c, v->order - 1);
}

void tg_check_say_success(const char *name, double promise, tg_gradcheck_result *v)
{
    tg_text text = {v->why, sizeof v->why, 0};
    tg_text_add(&text, "%s: %lld derivatives agree", name, (long long)v->comparisons);
    if (v->samples > 1)
        tg_text_add(&text, " on %d samples", v->samples);
    if (v->comparisons > 0)
        tg_text_add(&text, ", the worst to %.2g (%s); %.0f %% are known to %.0e", v->relative, v->where,
                    floor(100 * (double)v->sharp / (double)v->comparisons), promise);
    if (v->along > 0)
        tg_text_add(&text, "; %lld are along directions, the others by single elements", (long long)v->along);
    if (v->kinks > 0)
        tg_text_add(&text, "; %lld are at kinks", (long long)v->kinks);
}

void tg_check_say_inputs(tg_check *c, tg_text *text)
{
    int wrong = 0, named = 0;
    enum { MOST_NAMED = 12 };
    for (int p = 0; p < c->part_count; p++)
        wrong += c->parts[p].wrong;
    if (c->part_count < 2 || wrong == 0)
        return;
    tg_text_add(text, "  %-12s", "in all");
    for (int p = 0; p < c->part_count && named < MOST_NAMED; p++) {
        if (!c->parts[p].wrong && c->part_count > MOST_NAMED)
            continue;
        tg_text_add(text, named++ ? ", " : "");
        tg_check_add_element(text, c, c->parts[p].input, -1);
        tg_text_add(text, c->parts[p].wrong ? " wrong" : " right");
    }
    if (c->part_count > MOST_NAMED)
        tg_text_add(text, "; %d of %d inputs are wrong", wrong, c->part_count);
    tg_text_add(text, "\n");
}
