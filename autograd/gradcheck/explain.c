/* What a failed check shows: its inputs, and the derivatives element by element, without the random cotangents. */
#include "autograd/gradcheck/check.h"

/* The largest number of elements shown of an input, and the largest Jacobian that is compared, per side. */
enum { SHOWN = 8, LARGEST_SIDE = 256 };

/* ---- the Jacobian ---- */

/* Of element j of the derivative below (of the result, at order 1) by variable i: what the derivative gives for a
 * cotangent that is one at j and else zero, and what one-sided differences do. Below order 1, cotangents are all one.
 */
typedef struct jacobian {
    int64_t rows, columns;    /* j, i */
    double *found, *expected; /* [rows, columns] */
} jacobian;

static void fill_found(tg_check *c, int order, jacobian *j)
{
    double *one = c->level[order - 1].cotangent = tg_check_take(c, j->rows);
    for (int64_t row = 0; row < j->rows; row++) {
        one[row] = 1;
        tg_check_evaluate(c, order, c->point, j->found + row * j->columns);
        one[row] = 0;
    }
}

static void fill_expected(tg_check *c, int order, jacobian *j)
{
    double *direction = tg_check_take(c, j->columns), *column = tg_check_take(c, j->rows);
    for (int64_t i = 0; i < j->columns; i++) {
        const tg_arena_position here = tg_arena_here(&c->arena);
        tg_check_group group = {.largest = c->own_scale[i], .smallest = 1, .wanted = true};
        const tg_check_way way = {order - 1, direction, 1, &group};
        direction[i] = c->own_scale[i];
        tg_check_each_side(c, &way, column);
        direction[i] = 0;
        for (int64_t row = 0; row < j->rows; row++)
            j->expected[row * j->columns + i] = column[row] / c->own_scale[i];
        tg_arena_rewind(&c->arena, here);
    }
}

/* The check is over, so that its cotangents are no longer needed. */
static void fill_jacobian(tg_check *c, int order, jacobian *j)
{
    j->found = tg_check_take(c, j->rows * j->columns);
    j->expected = tg_check_take(c, j->rows * j->columns);
    for (int k = 0; k < order - 1; k++)
        for (int64_t i = 0; i < c->level[k].length; i++)
            c->level[k].cotangent[i] = 1;
    fill_found(c, order, j);
    fill_expected(c, order, j);
}

/* ---- what the fault looks like ---- */

/* The largest of the derivatives by a part, and its entry. */
static double largest_of(const jacobian *j, const double *matrix, const tg_check_part *part, int64_t *entry)
{
    double largest = 0;
    *entry = part->offset;
    for (int64_t k = 0; k < j->rows * part->size; k++) {
        const int64_t at = k / part->size * j->columns + part->offset + k % part->size;
        if (fabs(matrix[at]) > largest)
            largest = fabs(matrix[ *entry = at]);
    }
    return largest;
}

/* How many elements of a part have all derivatives as expected by another part, times a factor; with n > 1 each matrix
 * in them is transposed, n being its rows or its columns. */
static int64_t count_like(const tg_check *c, const jacobian *j, const tg_check_part *part, const tg_check_part *other,
                          double factor, int64_t n)
{
    const int rank = part->shape.rank;
    const int64_t matrix = n > 1 ? part->shape.dim[rank - 2] * part->shape.dim[rank - 1] : 1;
    int64_t like = 0, entry;
    const double expected = largest_of(j, j->expected, part, &entry), found = largest_of(j, j->found, part, &entry);
    const double tolerance = c->report.like * fmax(expected, fmin(found, c->report.like)) * fmax(1, fabs(factor));
    for (int64_t i = 0; other->size == part->size && i < part->size; i++) {
        const int64_t in = i % matrix, from = i - in + in / n + in % n * (matrix / n);
        bool fits = true;
        for (int64_t at = 0; at < j->rows * j->columns; at += j->columns)
            fits &=
                fabs(j->found[at + part->offset + i] - factor * j->expected[at + other->offset + from]) <= tolerance;
        like += fits;
    }
    return like;
}

static void add_factor(tg_text *text, const tg_check *c, const jacobian *j, const tg_check_part *part, double factor)
{
    char words[80];
    const char *simple = tg_check_factor(factor, c->report.like, words, sizeof words);
    const int64_t count = (int64_t)round(fmin(fmax(fabs(factor), 1 / fabs(factor)), 1e9));
    if (fabs(factor) < c->report.like)
        tg_text_add(text, "nothing arrives at this input");
    else if (!simple)
        tg_text_add(text, "all derivatives by this input are %.*g times as large", c->numbers->digits < 53 ? 3 : 9,
                    factor);
    else
        tg_text_add(text, "all derivatives by this input are %s%s", simple,
                    count < 3             ? ""
                    : count == part->size ? "; the input has that many elements"
                    : count == j->rows    ? "; the result has that many elements"
                                          : "");
}

/* The first guess that fits all derivatives by a part; else the number of elements that are wrong. */
static void add_guess(tg_text *text, const tg_check *c, const jacobian *j, const tg_check_part *part)
{
    const tg_shape *shape = &part->shape;
    const double off = c->report.result.error / fabs(c->report.result.numeric);
    const int64_t size = part->size, right = count_like(c, j, part, part, 1, 1);
    int64_t peak;
    largest_of(j, j->expected, part, &peak);
    const double factor = j->found[peak] / j->expected[peak];
    bool transposed = false;
    for (int axis = shape->rank - 2; axis >= 0 && axis < shape->rank; axis++)
        transposed |= count_like(c, j, part, part, 1, shape->dim[axis]) == size;
    if (right == size && off < 10 * c->report.like)
        tg_text_add(text, "off by %.2g of what is expected, too little to be seen here", off);
    else if (right == size)
        tg_text_add(text,
                    "for a cotangent of one at one element it is right: the fault is in what it does with others");
    else if (isfinite(factor) && count_like(c, j, part, part, factor, 1) == size)
        add_factor(text, c, j, part, factor);
    else if (transposed)
        tg_text_add(text, "the last two indices of this input's derivative are transposed");
    else {
        for (int q = 0; q < c->part_count; q++)
            if (&c->parts[q] != part && count_like(c, j, part, &c->parts[q], 1, 1) == size) {
                tg_text_add(text, "it is the derivative by ");
                tg_check_add_element(text, &c->report, c->parts[q].input, -1);
                return;
            }
        tg_text_add(text, "wrong by %lld of the input's %lld elements", (long long)(size - right), (long long)size);
    }
}

/* ---- the report ---- */

static void add_inputs(tg_text *text, const tg_check *c)
{
    for (int i = 0; i < c->report.count; i++) {
        const tg_gradcheck_input *in = &c->report.inputs[i];
        const tg_shape *shape = tg_check_shape_of(in);
        const double *data = tg_check_data_of(in);
        const int64_t size = tg_shape_size(shape);
        char words[128];
        tg_text_add(text, "  %-12s", i == 0 ? "inputs" : "");
        tg_check_add_element(text, &c->report, i, -1);
        tg_text_add(text, " %s:", tg_shape_text(shape, words, sizeof words));
        for (int64_t k = 0; k < size && k < SHOWN; k++)
            if (in->integers)
                tg_text_add(text, " %d", in->integers[k]);
            else
                tg_text_add(text, " %.9g", data[k]);
        tg_text_add(text, size > SHOWN ? " ...\n" : "\n");
    }
}

/* The entry of an input's derivatives with the largest error; at the failing element, if that is known. */
static int64_t worst_entry(const jacobian *j, const tg_check_part *part, int64_t index)
{
    const int64_t from = part->offset + (index < 0 ? 0 : index), to = index < 0 ? from + part->size : from + 1;
    int64_t worst = from;
    double error = -1;
    for (int64_t row = 0; row < j->rows; row++)
        for (int64_t i = from; i < to; i++) {
            const int64_t entry = row * j->columns + i;
            if (fabs(j->found[entry] - j->expected[entry]) > error) {
                error = fabs(j->found[entry] - j->expected[entry]);
                worst = entry;
            }
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
    const tg_check_part *part = tg_check_part_at(c, row);
    if (order == 2)
        tg_text_add(text, "the derivative by ");
    else
        tg_text_add(text, "derivative %d by ", order - 1);
    tg_check_add_element(text, &c->report, part->input, row - part->offset);
}

static void add_derivatives(tg_check *c, void *to)
{
    tg_text *text = to;
    const tg_gradcheck_result v = c->report.result;
    const tg_check_part *part = c->parts;
    jacobian j = {.rows = v.order > 0 ? c->level[v.order - 1].length : 0, .columns = c->variables};
    if (v.status != TG_GRADCHECK_WRONG || j.rows < 1 || j.rows > LARGEST_SIDE || j.columns > LARGEST_SIDE)
        return;
    while (part->input != v.input)
        part++;
    fill_jacobian(c, v.order, &j);
    const int64_t entry = worst_entry(&j, part, v.index), row = entry / j.columns, variable = entry % j.columns;
    tg_text_add(text, "  %-12sof ", "derivative");
    add_output(text, c, v.order, row);
    tg_text_add(text, " by ");
    tg_check_add_element(text, &c->report, v.input, variable - part->offset);
    tg_text_add(text, ", which is %.9g\n  %-12s%.9g\n  %-12s%.9g\n  %-12s", c->point[variable], "expected",
                j.expected[entry], "found", j.found[entry], "seems");
    add_guess(text, c, &j, part);
    tg_text_add(text, "\n");
}

void tg_check_explain(tg_check *c, const char *heading)
{
    if (!c->options.report || c->report.result.status == TG_GRADCHECK_REFUSED)
        return;
    tg_text text = {c->options.report, c->options.report_size, 0};
    const tg_gradcheck_result result = c->report.result;
    tg_text_add(&text, "%s%s\n\n", heading, result.why);
    add_inputs(&text, c);
    tg_check_try(c, add_derivatives, &text);
    c->report.result = result;
    tg_check_put_back(c);
}
