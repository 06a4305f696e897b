/* Words: the sentences of a result, and what the report of a failure shows: the inputs, the derivatives without the
 * random cotangents, and what the fault looks like. */
#include "autograd/gradcheck/check.h"

#include <string.h>

/* The largest number of elements shown of an input, of inputs listed, and the largest Jacobian compared, per side. */
enum { SHOWN = 8, LISTED = 12, LARGEST_SIDE = 256 };

/* ---- sentences ---- */

/* Adds words for a simple factor between found and expected, like "twice as large"; false for other factors. */
static bool add_factor(tg_text *text, const tg_check *c, const char *before, double factor)
{
    enum { SIMPLE = 1000 };
    const bool larger = fabs(factor) > 1;
    const double many = larger ? fabs(factor) : 1 / fabs(factor), whole = round(many);
    const char *sign = factor < 0 ? ", and of the opposite sign" : "";
    if (!(fabs(many - whole) < c->promise * whole) || whole > SIMPLE || (whole == 1 && factor > 0))
        return false;
    if (whole == 1)
        tg_text_add(text, "%sof the opposite sign", before);
    else if (whole == 2)
        tg_text_add(text, "%s%s as large%s", before, larger ? "twice" : "half", sign);
    else
        tg_text_add(text, larger ? "%s%g times as large%s" : "%s1/%g as large%s", before, whole, sign);
    return true;
}

static void add_factor_of(tg_text *text, const tg_check *c, const tg_gradcheck_result *v)
{
    if (v->analytic == 0)
        tg_text_add(text, "; nothing arrives at this %s", v->index >= 0 ? "element" : "input");
    else
        add_factor(text, c, "; it is ", v->analytic / v->numeric);
}

void tg_check_say_failure(const tg_check *c, tg_gradcheck_result *v, const char *how)
{
    tg_text text = {v->why, sizeof v->why, 0};
    tg_check_where(c, v);
    tg_text_add(&text, "%s, %s%s", c->name, v->where, how);
    for (int p = 0; p < c->part_count && v->index >= 0; p++)
        if (c->parts[p].input == v->input)
            tg_text_add(&text, ", where it is %.9g", c->point[c->parts[p].offset + v->index]);
    tg_text_add(&text, "%s: the derivative gives %.9g, ", c->at, isnan(v->analytic) ? NAN : v->analytic);
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
        add_factor_of(&text, c, v);
    }
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

void tg_check_say_limits(const tg_check *c, tg_gradcheck_result *v)
{
    tg_text text = {v->why, sizeof v->why, strlen(v->why)};
    int64_t open = 0;
    for (int64_t i = 0; c->hidden && i < c->variables; i++) {
        open += isinf(c->hidden[i]);
        v->hidden = isinf(c->hidden[i]) ? v->hidden : fmax(v->hidden, c->hidden[i]);
    }
    if (v->failed > 0)
        tg_text_add(&text, "; %lld of %lld evaluations failed", (long long)v->failed, (long long)v->evaluations);
    if (v->passed && c->options.directions > 0)
        tg_text_add(&text, "; one wrong element of %lld may have gone unseen if it is off by less than %.2g",
                    (long long)c->variables, v->hidden);
    if (v->ended)
        tg_text_add(&text, "; ended after %lld evaluations%s", (long long)v->evaluations, c->stage ? c->stage : "");
    if (v->ended && v->passed && open > 0)
        tg_text_add(&text, ": %lld of %lld elements were not looked at", (long long)open, (long long)c->variables);
}

/* ---- the Jacobian ---- */

/* Of element j of the derivative below (of the result, at order 1) by variable i: what the derivative gives for a
 * cotangent that is one at j and else zero, and what differences do. Below order 1, cotangents are all one. */
typedef struct jacobian {
    const tg_check *c;
    int64_t rows, columns;     /* j, i */
    double *found, *expected;  /* [rows, columns] */
    const tg_check_part *part; /* that failed */
} jacobian;

/* Differences of every value by variable i, extrapolated once. */
static void fill_column(tg_check *c, int order, int64_t i, jacobian *j)
{
    double *values[4], steps[4];
    memcpy(c->moved, c->point, (size_t)c->variables * sizeof(double));
    for (int k = 0; k < 4; k++) {
        values[k] = tg_check_numbers(c, j->rows);
        c->moved[i] = tg_check_round(c, c->point[i] + c->first * c->scale[i] * (k % 2 ? -1 : 1) / (k < 2 ? 1 : 2));
        steps[k] = c->moved[i] - c->point[i];
        tg_check_evaluate(c, order - 1, c->moved, values[k]);
    }
    for (int64_t row = 0; row < j->rows; row++) {
        const double longer = (values[0][row] - values[1][row]) / (steps[0] - steps[1]),
                     shorter = (values[2][row] - values[3][row]) / (steps[2] - steps[3]);
        j->expected[row * j->columns + i] = shorter + (shorter - longer) / 3;
    }
}

/* The check is over, so that its cotangents are no longer needed. */
static void fill_jacobian(tg_check *c, int order, jacobian *j)
{
    double *one = c->level[order - 1].cotangent;
    j->found = tg_check_numbers(c, j->rows * j->columns);
    j->expected = tg_check_numbers(c, j->rows * j->columns);
    for (int k = 0; k < order - 1; k++)
        for (int64_t i = 0; i < c->level[k].length; i++)
            c->level[k].cotangent[i] = 1;
    memset(one, 0, (size_t)j->rows * sizeof *one);
    for (int64_t row = 0; row < j->rows; row++) {
        one[row] = 1;
        tg_check_evaluate(c, order, c->point, j->found + row * j->columns);
        one[row] = 0;
    }
    for (int64_t i = 0; i < j->columns; i++)
        fill_column(c, order, i, j);
}

/* The entry of the largest number of a matrix, less the other one if there is one, from variable `from` to the one
 * before `to`. */
static int64_t largest_of(const jacobian *j, const double *matrix, const double *less, int64_t from, int64_t to)
{
    int64_t entry = from;
    double largest = -1;
    for (int64_t row = 0; row < j->rows; row++)
        for (int64_t at = row * j->columns + from; at < row * j->columns + to; at++) {
            const double size = fabs(matrix[at] - (less ? less[at] : 0));
            entry = size > largest ? at : entry;
            largest = fmax(largest, size);
        }
    return entry;
}

/* ---- what the fault looks like ---- */

/* How many elements have not all derivatives as expected by another part, times a factor; with n > 1 each matrix in them
 * is transposed, n being its rows or its columns. */
static int64_t count_unlike(const jacobian *j, const tg_check_part *other, double factor, int64_t n)
{
    const tg_check_part *part = j->part;
    const int64_t from = part->offset, to = from + part->size, rank = part->shape.rank,
                  matrix = n > 1 ? part->shape.dim[rank - 2] * part->shape.dim[rank - 1] : 1;
    const double expected = fabs(j->expected[largest_of(j, j->expected, NULL, from, to)]),
                 found = fabs(j->found[largest_of(j, j->found, NULL, from, to)]), promise = j->c->promise,
                 most = promise * fmax(expected, fmin(found, promise)) * fmax(1, fabs(factor));
    int64_t unlike = other->size == part->size ? 0 : part->size;
    for (int64_t i = 0; other->size == part->size && i < part->size; i++) {
        const int64_t in = i % matrix, source = other->offset + i - in + in / n + in % n * (matrix / n);
        bool fits = true;
        for (int64_t at = 0; at < j->rows * j->columns; at += j->columns)
            fits &= fabs(j->found[at + from + i] - factor * j->expected[at + source]) <= most;
        unlike += !fits;
    }
    return unlike;
}

static void add_common_factor(tg_text *text, const jacobian *j, double factor)
{
    const int64_t count = (int64_t)round(fmin(fmax(fabs(factor), 1 / fabs(factor)), 1e9));
    if (fabs(factor) < j->c->promise)
        tg_text_add(text, "nothing arrives at this input");
    else if (!add_factor(text, j->c, "all derivatives by this input are ", factor))
        tg_text_add(text, "all derivatives by this input are %.*g times as large",
                    j->c->type == TG_GRADCHECK_F64 ? 9 : 3, factor);
    else if (count >= 3 && (count == j->part->size || count == j->rows))
        tg_text_add(text, "; the %s has that many elements", count == j->part->size ? "input" : "result");
}

static void add_explanation(tg_text *text, const jacobian *j)
{
    const tg_check_part *part = j->part, *other = j->c->parts, *const end = other + j->c->part_count;
    const int64_t peak = largest_of(j, j->expected, NULL, part->offset, part->offset + part->size);
    const double off = j->c->result.error / fabs(j->c->result.numeric), factor = j->found[peak] / j->expected[peak];
    const int64_t wrong = count_unlike(j, part, 1, 1), *dim = part->shape.dim;
    const int rank = part->shape.rank;
    while (other < end && (other == part || count_unlike(j, other, 1, 1)))
        other++;
    if (!wrong && off < 10 * j->c->promise)
        tg_text_add(text, "off by %.2g of what is expected, too little to be seen here", off);
    else if (!wrong)
        tg_text_add(text,
                    "for a cotangent of one at one element it is right: the fault is in what it does with others");
    else if (isfinite(factor) && !count_unlike(j, part, factor, 1))
        add_common_factor(text, j, factor);
    else if (rank >= 2 && (!count_unlike(j, part, 1, dim[rank - 2]) || !count_unlike(j, part, 1, dim[rank - 1])))
        tg_text_add(text, "the last two indices of this input's derivative are transposed");
    else if (other < end) {
        tg_text_add(text, "it is the derivative by ");
        tg_check_add_element(text, j->c, other->input, -1);
    } else
        tg_text_add(text, "wrong by %lld of the input's %lld elements", (long long)wrong, (long long)part->size);
}

/* ---- the report ---- */

static void add_row(tg_text *text, const char *what, const double *row, int64_t count)
{
    tg_text_add(text, "  %-12s", what);
    for (int64_t i = 0; i < count; i++)
        tg_text_add(text, " %.6g", row[i]);
    tg_text_add(text, "\n");
}

static void add_inputs(tg_text *text, const tg_check *c)
{
    for (int i = 0, p = 0; i < c->count; i++) {
        const tg_gradcheck_input *in = &c->inputs[i];
        const double *data = tg_check_is_varied(in) ? c->point + c->parts[p++].offset : tg_check_data_of(in);
        const int64_t size = tg_shape_size(tg_check_shape_of(in));
        char words[128];
        tg_text_add(text, "  %-12s", i == 0 ? "inputs" : "");
        tg_check_add_element(text, c, i, -1);
        tg_text_add(text, " %s:", tg_shape_text(tg_check_shape_of(in), words, sizeof words));
        for (int64_t k = 0; k < size && k < SHOWN; k++)
            tg_text_add(text, " %.9g", in->integers ? in->integers[k] : data[k]);
        tg_text_add(text, size > SHOWN ? " ...\n" : "\n");
    }
}

/* "the result at [0, 2]"; at order 2 "the derivative by input 1 at [2]" */
static void add_output(tg_text *text, const tg_check *c, int order, int64_t row)
{
    const tg_check_part *part = order == 1 ? c->outputs : c->parts;
    while (row >= part->offset + part->size)
        part++;
    if (order == 1) {
        tg_text_add(text, c->output_count > 1 ? "output %d" : "the result", part->input);
        tg_check_add_index(text, &part->shape, row - part->offset);
        return;
    }
    tg_text_add(text, order == 2 ? "the derivative by " : "derivative %d by ", order - 1);
    tg_check_add_element(text, c, part->input, row - part->offset);
}

/* True if the derivatives can be shown one by one. */
static bool has_derivatives(const tg_check *c)
{
    const tg_gradcheck_result *v = &c->result;
    const int64_t rows = v->order > 0 ? c->level[v->order - 1].length : 0;
    return v->status == TG_GRADCHECK_WRONG && v->input >= 0 && rows >= 1 && rows <= LARGEST_SIDE &&
           c->variables <= LARGEST_SIDE;
}

/* The failure in a line. Where the derivative of a single element follows, its two numbers are not here: those of the
 * check are products with a random cotangent. */
static void add_failure(tg_text *text, const tg_check *c)
{
    const tg_gradcheck_result *v = &c->result;
    const double size = fmax(fabs(v->numeric), fabs(v->analytic));
    if (!has_derivatives(c) || v->index < 0 || !(size > 0))
        tg_text_add(text, "%s", v->why);
    else {
        tg_text_add(text, "%s, %s: off by %.3g of its size, where differences and rounding explain %.3g", c->name,
                    v->where, v->error / size, v->bound / size);
        add_factor_of(text, c, v);
    }
    tg_text_add(text, "\n\n");
}

/* The entry with the largest error, at the failing element if that is known; and the explanation. */
static void add_derivatives(tg_check *c, void *to)
{
    tg_text *text = to;
    const tg_gradcheck_result v = c->result;
    jacobian j = {.c = c, .rows = v.order > 0 ? c->level[v.order - 1].length : 0, .columns = c->variables};
    if (!has_derivatives(c))
        return;
    for (j.part = c->parts; j.part->input != v.input; j.part++)
        ;
    fill_jacobian(c, v.order, &j);
    const int64_t from = j.part->offset + (v.index < 0 ? 0 : v.index),
                  entry = largest_of(&j, j.found, j.expected, from, v.index < 0 ? from + j.part->size : from + 1),
                  row = entry / j.columns, variable = entry % j.columns, start = entry - variable + j.part->offset;
    tg_text_add(text, "  %-12sof ", "derivative");
    add_output(text, c, v.order, row);
    tg_text_add(text, " by ");
    tg_check_add_element(text, c, v.input, variable - j.part->offset);
    tg_text_add(text, ", which is %.9g\n  %-12s%.9g\n  %-12s%.9g\n", c->point[variable], "expected", j.expected[entry],
                "found", j.found[entry]);
    if (j.part->size > 1 && j.part->size <= SHOWN) {
        add_row(text, "all expected", j.expected + start, j.part->size);
        add_row(text, "all found", j.found + start, j.part->size);
    }
    tg_text_add(text, "  %-12s", "seems");
    add_explanation(text, &j);
    tg_text_add(text, "\n");
}

/* Which inputs are right and which wrong; of many, those that are wrong. */
static void add_verdicts(tg_text *text, const tg_check *c)
{
    int wrong = 0, named = 0;
    for (int p = 0; p < c->part_count; p++)
        wrong += c->parts[p].wrong;
    if (c->part_count < 2 || wrong == 0)
        return;
    tg_text_add(text, "  %-12s", "in all");
    for (const tg_check_part *p = c->parts; p < c->parts + c->part_count && named < LISTED; p++) {
        if (!p->wrong && c->part_count > LISTED)
            continue;
        tg_text_add(text, named++ ? ", " : "");
        tg_check_add_element(text, c, p->input, -1);
        tg_text_add(text, p->wrong ? " wrong" : " right");
    }
    if (c->part_count > LISTED)
        tg_text_add(text, "; %d of %d inputs are wrong", wrong, c->part_count);
    tg_text_add(text, "\n");
}

void tg_check_explain(tg_check *c)
{
    if (!c->options.report || c->result.status == TG_GRADCHECK_REFUSED)
        return;
    tg_text text = {c->options.report, c->options.report_size, 0};
    const tg_gradcheck_result result = c->result;
    add_failure(&text, c);
    add_inputs(&text, c);
    tg_check_try(c, add_derivatives, &text);
    add_verdicts(&text, c);
    c->result = result;
}
