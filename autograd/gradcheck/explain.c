/* What a failed check shows: its inputs, and the derivatives element by element, without the random cotangents. */
#include "autograd/gradcheck/check.h"

#include <string.h>

/* The largest number of elements shown of an input, and the largest Jacobian that is compared, per side. */
enum { SHOWN = 8, LARGEST_SIDE = 256 };

/* ---- the Jacobian ---- */

/* Of element j of the derivative below (of the result, at order 1) by variable i: what the derivative gives for a
 * cotangent that is one at j and else zero, and what differences do. Below order 1, cotangents are all one. */
typedef struct jacobian {
    const tg_check *c;
    int64_t rows, columns;     /* j, i */
    double *found, *expected;  /* [rows, columns] */
    const tg_check_part *part; /* that failed */
} jacobian;

static void fill_found(tg_check *c, int order, jacobian *j)
{
    double *one = c->level[order - 1].cotangent;
    memset(one, 0, (size_t)j->rows * sizeof *one);
    for (int64_t row = 0; row < j->rows; row++) {
        one[row] = 1;
        c->kind->evaluate(c, order, c->point, j->found + row * j->columns);
        one[row] = 0;
    }
}

/* One column: differences of every value by itself. */
static void fill_expected(tg_check *c, int order, jacobian *j)
{
    double *direction = tg_check_numbers(c, j->columns);
    for (int64_t row = 0; row < j->rows; row++)
        c->level[order - 1].cotangent[row] = 1;
    for (int64_t i = 0; i < j->columns; i++) {
        direction[i] = c->scale[i];
        tg_check_column(c, order - 1, direction, i, j->found + i, j->columns, j->expected + i);
        direction[i] = 0;
    }
}

/* The check is over, so that its cotangents are no longer needed. */
static void fill_jacobian(tg_check *c, int order, jacobian *j)
{
    j->found = tg_check_numbers(c, j->rows * j->columns);
    j->expected = tg_check_numbers(c, j->rows * j->columns);
    for (int k = 0; k < order - 1; k++)
        for (int64_t i = 0; i < c->level[k].length; i++)
            c->level[k].cotangent[i] = 1;
    fill_found(c, order, j);
    fill_expected(c, order, j);
}

/* ---- what the fault looks like ---- */

/* The largest of the derivatives by the failed part, and its entry. */
static double largest_of(const jacobian *j, const double *matrix, int64_t *entry)
{
    const tg_check_part *part = j->part;
    double largest = 0;
    *entry = part->offset;
    for (int64_t k = 0; k < j->rows * part->size; k++) {
        const int64_t at = k / part->size * j->columns + part->offset + k % part->size;
        if (fabs(matrix[at]) > largest)
            largest = fabs(matrix[ *entry = at]);
    }
    return largest;
}

/* How many elements have all derivatives as expected by another part, times a factor; with n > 1 each matrix in them is
 * transposed, n being its rows or its columns. */
static int64_t count_like(const jacobian *j, const tg_check_part *other, double factor, int64_t n)
{
    const tg_check_part *part = j->part;
    const int rank = part->shape.rank;
    const int64_t matrix = n > 1 ? part->shape.dim[rank - 2] * part->shape.dim[rank - 1] : 1;
    int64_t like = 0, entry;
    const double expected = largest_of(j, j->expected, &entry), found = largest_of(j, j->found, &entry);
    const double promise = j->c->promise, most = fmax(expected, fmin(found, promise));
    for (int64_t i = 0; other->size == part->size && i < part->size; i++) {
        const int64_t in = i % matrix, from = i - in + in / n + in % n * (matrix / n);
        bool fits = true;
        for (int64_t at = 0; at < j->rows * j->columns; at += j->columns)
            fits &= fabs(j->found[at + part->offset + i] - factor * j->expected[at + other->offset + from]) <=
                    promise * most * fmax(1, fabs(factor));
        like += fits;
    }
    return like;
}

static double factor_of(const jacobian *j)
{
    int64_t peak;
    largest_of(j, j->expected, &peak);
    return j->found[peak] / j->expected[peak];
}

/* Explanations: each adds its words if it fits, and returns whether it does. */

static bool is_small_or_in_the_cotangent(tg_text *text, const jacobian *j)
{
    const double off = j->c->result.error / fabs(j->c->result.numeric);
    if (count_like(j, j->part, 1, 1) < j->part->size)
        return false;
    if (off < 10 * j->c->promise)
        tg_text_add(text, "off by %.2g of what is expected, too little to be seen here", off);
    else
        tg_text_add(text,
                    "for a cotangent of one at one element it is right: the fault is in what it does with others");
    return true;
}

static bool is_missing(tg_text *text, const jacobian *j)
{
    if (!(fabs(factor_of(j)) < j->c->promise) || count_like(j, j->part, 0, 1) < j->part->size)
        return false;
    tg_text_add(text, "nothing arrives at this input");
    return true;
}

static bool is_a_factor(tg_text *text, const jacobian *j)
{
    char words[80];
    const double factor = factor_of(j);
    if (!isfinite(factor) || count_like(j, j->part, factor, 1) < j->part->size)
        return false;
    const char *simple = tg_check_factor(j->c, factor, words, sizeof words);
    const int64_t count = (int64_t)round(fmin(fmax(fabs(factor), 1 / fabs(factor)), 1e9));
    if (!simple)
        tg_text_add(text, "all derivatives by this input are %.*g times as large",
                    j->c->type == TG_GRADCHECK_F64 ? 9 : 3, factor);
    else
        tg_text_add(text, "all derivatives by this input are %s%s", simple,
                    count < 3                ? ""
                    : count == j->part->size ? "; the input has that many elements"
                    : count == j->rows       ? "; the result has that many elements"
                                             : "");
    return true;
}

static bool is_transposed(tg_text *text, const jacobian *j)
{
    const tg_shape *shape = &j->part->shape;
    bool transposed = false;
    for (int axis = shape->rank - 2; axis >= 0 && axis < shape->rank; axis++)
        transposed |= count_like(j, j->part, 1, shape->dim[axis]) == j->part->size;
    if (transposed)
        tg_text_add(text, "the last two indices of this input's derivative are transposed");
    return transposed;
}

static bool is_of_another_input(tg_text *text, const jacobian *j)
{
    for (int q = 0; q < j->c->part_count; q++)
        if (&j->c->parts[q] != j->part && count_like(j, &j->c->parts[q], 1, 1) == j->part->size) {
            tg_text_add(text, "it is the derivative by ");
            tg_check_add_element(text, j->c, j->c->parts[q].input, -1);
            return true;
        }
    return false;
}

static bool is_in_some_elements(tg_text *text, const jacobian *j)
{
    tg_text_add(text, "wrong by %lld of the input's %lld elements",
                (long long)(j->part->size - count_like(j, j->part, 1, 1)), (long long)j->part->size);
    return true;
}

/* Tried in order; the last one always fits. */
static bool (*const explanations[])(tg_text *text, const jacobian *j) = {
    is_small_or_in_the_cotangent, is_missing, is_a_factor, is_transposed, is_of_another_input, is_in_some_elements};

/* ---- the report ---- */

static void add_inputs(tg_text *text, const tg_check *c)
{
    for (int i = 0; i < c->count; i++) {
        const tg_gradcheck_input *in = &c->inputs[i];
        const double *data = tg_check_data_of(c, i);
        const int64_t size = tg_shape_size(tg_check_shape_of(in));
        char words[128];
        tg_text_add(text, "  %-12s", i == 0 ? "inputs" : "");
        tg_check_add_element(text, c, i, -1);
        tg_text_add(text, " %s:", tg_shape_text(tg_check_shape_of(in), words, sizeof words));
        for (int64_t k = 0; k < size && k < SHOWN; k++)
            if (in->integers)
                tg_text_add(text, " %d", in->integers[k]);
            else
                tg_text_add(text, " %.9g", data[k]);
        tg_text_add(text, size > SHOWN ? " ...\n" : "\n");
    }
}

/* The entry of the part's derivatives with the largest error; at the failing element, if that is known. */
static int64_t worst_entry(const jacobian *j, int64_t index)
{
    const int64_t from = j->part->offset + (index < 0 ? 0 : index), to = index < 0 ? from + j->part->size : from + 1;
    int64_t worst = from;
    double error = -1;
    for (int64_t row = 0; row < j->rows; row++)
        for (int64_t i = from; i < to; i++) {
            const int64_t entry = row * j->columns + i;
            if (fabs(j->found[entry] - j->expected[entry]) > error)
                error = fabs(j->found[worst = entry] - j->expected[entry]);
        }
    return worst;
}

/* "the result at [0, 2]"; at order 2 "the derivative by input 1 at [2]" */
static void add_output(tg_text *text, const tg_check *c, int order, int64_t row)
{
    if (order == 1) {
        tg_shape shape = c->output_shape;
        int output = 0;
        for (; c->box && c->box->output_count > 0; output++) {
            shape = c->box->outputs[output];
            if (row < tg_shape_size(&shape))
                break;
            row -= tg_shape_size(&shape);
        }
        tg_text_add(text, c->box && c->box->output_count > 1 ? "output %d" : "the result", output);
        tg_text_add(text, shape.rank > 0 ? " at " : "");
        tg_check_add_index(text, &shape, row);
        return;
    }
    int p = c->part_count - 1;
    while (row < c->parts[p].offset)
        p--;
    if (order == 2)
        tg_text_add(text, "the derivative by ");
    else
        tg_text_add(text, "derivative %d by ", order - 1);
    tg_check_add_element(text, c, c->parts[p].input, row - c->parts[p].offset);
}

/* A short row of the derivatives in full. */
static void add_row(tg_text *text, const jacobian *j, const char *what, const double *matrix, int64_t row)
{
    tg_text_add(text, "  %-12s", what);
    for (int64_t i = 0; i < j->part->size; i++)
        tg_text_add(text, " %.6g", matrix[row * j->columns + j->part->offset + i]);
    tg_text_add(text, "\n");
}

static void add_derivatives(tg_check *c, void *to)
{
    tg_text *text = to;
    const tg_gradcheck_result v = c->result;
    jacobian j = {.c = c, .rows = v.order > 0 ? c->level[v.order - 1].length : 0, .columns = c->variables};
    if (v.status != TG_GRADCHECK_WRONG || j.rows < 1 || j.rows > LARGEST_SIDE || j.columns > LARGEST_SIDE)
        return;
    for (int p = 0; p < c->part_count; p++)
        if (c->parts[p].input == v.input)
            j.part = &c->parts[p];
    fill_jacobian(c, v.order, &j);
    const int64_t entry = worst_entry(&j, v.index), row = entry / j.columns, variable = entry % j.columns;
    tg_text_add(text, "  %-12sof ", "derivative");
    add_output(text, c, v.order, row);
    tg_text_add(text, " by ");
    tg_check_add_element(text, c, v.input, variable - j.part->offset);
    tg_text_add(text, ", which is %.9g\n  %-12s%.9g\n  %-12s%.9g\n", c->point[variable], "expected", j.expected[entry],
                "found", j.found[entry]);
    if (j.part->size > 1 && j.part->size <= SHOWN) {
        add_row(text, &j, "all expected", j.expected, row);
        add_row(text, &j, "all found", j.found, row);
    }
    tg_text_add(text, "  %-12s", "seems");
    for (size_t i = 0; i < sizeof explanations / sizeof explanations[0]; i++)
        if (explanations[i](text, &j))
            break;
    tg_text_add(text, "\n");
}

void tg_check_explain(tg_check *c)
{
    if (!c->options.report || c->result.status == TG_GRADCHECK_REFUSED)
        return;
    tg_text text = {c->options.report, c->options.report_size, 0};
    const tg_gradcheck_result result = c->result;
    tg_text_add(&text, "%s\n\n", result.why);
    add_inputs(&text, c);
    tg_check_try(c, add_derivatives, &text);
    tg_check_say_inputs(c, &text);
    c->result = result;
    tg_check_put_back(c);
}
