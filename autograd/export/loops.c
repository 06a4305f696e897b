/* The loops of each operation: a formula of elementwise.def inside loops, a call of calls.def, or code written here for
 * products, sums over axes and copies. */
#include "autograd/export/writer.h"

#include "autograd/ops.h"
#include "autograd/ops/reduction.h"
#include "autograd/registry.h"
#include "autograd/tape/strided.h"

#include <stdio.h>
#include <string.h>

/* ---- loops over several arrays ---- */

static const char counters[] = "ijklmpquefghnosw";

/* Opens a loop for each axis from number `first` on, outermost first; returns the indentation of the body. */
static int open_loops(tg_writer *w, const tg_strided *s, int first, int indent)
{
    for (int axis = s->rank - 1; axis >= first; axis--)
        tg_writer_say(w, indent++, "for (size_t %c = 0; %c < %lld; %c++)%s", counters[s->rank - 1 - axis],
                      counters[s->rank - 1 - axis], (long long)s->dim[axis], counters[s->rank - 1 - axis],
                      axis == first ? " {" : "");
    return indent;
}

static void close_loops(tg_writer *w, const tg_strided *s, int first, int indent)
{
    if (s->rank > first)
        tg_writer_say(w, indent + s->rank - first - 1, "}");
}

/* The index into array k in these loops: "i * 64 + j", or "0". */
static const char *index_text(const tg_strided *s, int k, int first, int64_t offset, char *text)
{
    size_t used = 0;
    text[0] = '\0';
    for (int axis = s->rank - 1; axis >= first; axis--)
        if (s->stride[k][axis] != 0)
            used += (size_t)snprintf(text + used, 200 - used, s->stride[k][axis] == 1 ? "%s%c" : "%s%c * %lld",
                                     used ? " + " : "", counters[s->rank - 1 - axis], (long long)s->stride[k][axis]);
    if (offset != 0 || used == 0)
        snprintf(text + used, 200 - used, "%s%lld", used ? " + " : "", (long long)offset);
    return text;
}

/* y[...] = input[...] over all indices of a shape. A stride may be negative: then the offset is larger, and the
 * unsigned sum wraps to the right index. */
static void copy(tg_writer *w, const tg_shape *shape, int64_t stride[2][TG_MAX_RANK], int input, int64_t from,
                 int64_t to)
{
    char a[200], b[200];
    if (tg_shape_size(shape) == 0)
        return;
    const tg_strided s = tg_strided_over(shape, 2, stride);
    const int indent = open_loops(w, &s, 0, 1);
    tg_writer_say(w, indent, "$y[%s] = $%d[%s];", index_text(&s, 1, 0, to, b), input, index_text(&s, 0, 0, from, a));
    close_loops(w, &s, 0, 1);
}

/* ---- elementwise ---- */

/* The loops of an elementwise value, with its inputs' strides and then its own. */
static tg_strided loops_of(const tg_value *value)
{
    int64_t stride[TG_STRIDED_ARRAYS][TG_MAX_RANK];
    for (int k = 0; k < value->input_count; k++)
        tg_broadcast_strides(value->inputs[k]->shape, value->shape->rank, stride[k]);
    tg_strides(value->shape, stride[value->input_count]);
    return tg_strided_over(value->shape, value->input_count + 1, stride);
}

/* The formula of an operation that is a loop around one; NULL: none. The operation of a user may have the name of one
 * of ours. */
static const tg_kernel_formula *formula_of(const tg_value *value)
{
    static const tg_kernel_formula copies = {NULL, "x"};
    if (!value->op || !(value->op->flags & TG_ELEMENTWISE) || tg_op_find(value->op->name) != value->op)
        return NULL;
    return value->op == &tg_op_copy ? &copies : tg_formula_find(value->op->name);
}

static bool may_join(const tg_writer *w, const tg_value *value)
{
    const tg_place_of *p = &w->places[value->index];
    return p->kind == TG_PLACE_MEMORY && !p->adds && value->size > 0 && formula_of(value);
}

const tg_value *tg_writer_joined(const tg_writer *w, const tg_value *value)
{
    int64_t i = value->index + 1;
    while (i < w->program->count && w->places[i].kind == TG_PLACE_NONE)
        i++;
    const tg_value *next = i < w->program->count ? tg_program_at(w->program, i) : NULL;
    if (!next || !may_join(w, value) || !may_join(w, next) || !tg_shape_equal(value->shape, next->shape))
        return NULL;
    const tg_strided a = loops_of(value), b = loops_of(next);
    return a.rank == b.rank && memcmp(a.dim, b.dim, (size_t)a.rank * sizeof a.dim[0]) == 0 ? next : NULL;
}

/* The first value of those whose loops are joined up to this one. */
static const tg_value *first_joined(const tg_writer *w, const tg_value *value)
{
    for (int64_t i = value->index - 1; i >= 0; i--)
        if (tg_writer_joined(w, tg_program_at(w->program, i)) == value)
            value = tg_program_at(w->program, i);
        else if (w->places[i].kind != TG_PLACE_NONE)
            break;
    return value;
}

/* The body of the loops of the writer's value. */
static void formula_body(tg_writer *w, int indent)
{
    char at[200], number[40];
    const tg_value *value = w->value;
    const tg_strided s = loops_of(value);
    const tg_kernel_formula *f = formula_of(value);
    for (int k = 0; k < value->input_count; k++)
        tg_writer_say(w, indent, "const tg_real %c = $%d[%s];", value->input_count == 1 ? 'x' : "ab"[k], k,
                      index_text(&s, k, 0, 0, at));
    if (f->number)
        tg_writer_say(w, indent, "const tg_real %s = (tg_real)%s;", f->number,
                      tg_writer_number(tg_field_number(value->op->fields, value->attributes), number));
    tg_writer_say(w, indent, "$y[%s] = %s;", index_text(&s, value->input_count, 0, 0, at), f->value);
}

/* The loops of a value and of those that are joined to it; each has its own a and b. */
static void formula_loop(tg_writer *w, const tg_value *value)
{
    if (tg_writer_joined(w, value))
        return;
    const tg_strided s = loops_of(value);
    const tg_value *first = first_joined(w, value);
    const int indent = open_loops(w, &s, 0, 1);
    for (w->value = first; w->value; w->value = tg_writer_joined(w, w->value)) {
        const bool block = first != value || s.rank == 0;
        if (block)
            tg_writer_say(w, indent, "{");
        formula_body(w, indent + block);
        if (block)
            tg_writer_say(w, indent, "}");
    }
    w->value = value;
    close_loops(w, &s, 0, 1);
}

/* Calls a kernel that is written out for each run: n, its inputs, with steps if there are several, its numbers, the
 * result. */
static void kernel_loop(tg_writer *w, const tg_value *value, const char *kernel)
{
    char at[200], number[40], arguments[800] = "";
    tg_text to = {arguments, sizeof arguments, 0};
    const tg_strided s = loops_of(value);
    const bool runs = s.rank > 0;
    for (int k = 0; k < value->input_count; k++) {
        tg_text_add(&to, "$%d + %s, ", k, index_text(&s, k, runs, 0, at));
        if (value->input_count > 1)
            tg_text_add(&to, "%d, ", runs && s.stride[k][0] != 0);
    }
    for (const tg_field *field = value->op->fields; field && field->name; field++)
        tg_text_add(&to, "%s, ", tg_writer_number(tg_field_number(field, value->attributes), number));
    tg_writer_say(w, open_loops(w, &s, runs, 1), "%s(%lld, %s$y + %s);", kernel, runs ? (long long)s.dim[0] : 1LL,
                  arguments, index_text(&s, value->input_count, runs, 0, at));
    close_loops(w, &s, runs, 1);
}

static bool elementwise(tg_writer *w, const tg_value *value)
{
    char vector[80];
    if (!(value->op->flags & TG_ELEMENTWISE) || tg_op_find(value->op->name) != value->op) /* a user's operation */
        return false;
    snprintf(vector, sizeof vector, "vector_%s", value->op->name);
    const char *kernel = tg_pieces_have(vector) ? vector : value->op->name;
    if (formula_of(value))
        formula_loop(w, value);
    else if (tg_pieces_have(kernel))
        kernel_loop(w, value, kernel);
    else
        return false;
    return true;
}

/* ---- products: calls of multiply() in operations.inc ---- */

enum { INDEX = 200, VECTOR = 16 /* floats of the longest vector */, FEW_ROWS = 4 };

/* An operand: its elements name[index + r row + t step + c column]. */
typedef struct operand {
    const char *name;
    char index[INDEX]; /* offset of its first element: " + i * 64", or empty */
    long long row, step, column;
} operand;

typedef struct product {
    long long m, n, k;
    operand a, b, out;
    const char *bias; /* NULL: none; its index is that of the columns of out */
    bool adds;        /* to a gradient that is there */
    bool grows;       /* k is the number of tokens so far, at most the k above */
} product;

/* If the product has few columns and its rows are adjacent in `a`, swaps the operands, so that the rows are the
 * innermost loop. The factors of a fused multiply-add commute. */
static product along_rows(const product *p)
{
    if (p->bias || p->n >= VECTOR || p->m <= p->n || p->a.row != 1)
        return *p;
    product turned = {
        .m = p->n, .n = p->m, .k = p->k, .a = p->b, .b = p->a, .out = p->out, .adds = p->adds, .grows = p->grows};
    turned.a.row = p->b.column;
    turned.b.column = p->a.row;
    turned.a.column = turned.b.row = 0;
    turned.out.row = p->out.column;
    turned.out.column = p->out.row;
    return turned;
}

/* The columns of a panel of a copy of B, which has adjacent columns and fills vectors; 0: B is used in place, where the
 * last columns may be computed twice. */
static long long panel_width(const product *p)
{
    const bool few = p->n < VECTOR && p->m >= FEW_ROWS, once = p->adds && p->n % VECTOR;
    if (p->n == 1 || (p->b.column == 1 && !few && !once))
        return 0;
    return p->n <= VECTOR / 4 ? VECTOR / 4 : p->n <= VECTOR / 2 ? VECTOR / 2 : VECTOR;
}

static void multiply(tg_writer *w, int indent, const product *given)
{
    const product p = along_rows(given);
    const long long width = panel_width(&p);
    char b[INDEX + 40], bias[INDEX + 40], steps[40];
    snprintf(b, sizeof b, "%s%s", p.b.name, p.b.index);
    snprintf(bias, sizeof bias, "%s%s", p.bias ? p.bias : "NULL", p.bias ? p.out.index : "");
    if (width > 0)
        tg_writer_say(w, indent, "pack(%lld, %lld, %s, %lld, %lld, %lld, $scratch);", p.k, p.n, b, p.b.step, p.b.column,
                      width);
    snprintf(steps, sizeof steps, p.grows ? "$positions" : "%lld", p.k);
    tg_writer_say(w, indent, "multiply(%lld, %lld, %s, %s%s, %lld, %lld, %s, %lld, %lld, %s, %d, $y%s, %lld, %lld);",
                  p.m, p.n, steps, p.a.name, p.a.index, p.a.row, p.a.step, width ? "$scratch" : b,
                  width ? width : p.b.step, width * p.k, bias, p.adds, p.out.index, p.out.row, p.out.column);
}

static bool is_linear(const tg_value *value)
{
    return value->op == &tg_op_linear || value->op == &tg_op_grouped_linear;
}

static int64_t groups_of(const tg_value *value)
{
    return value->op == &tg_op_grouped_linear ? (int64_t)tg_writer_word(value, "groups") : 1;
}

/* The product of the first group; inputs and outputs of all groups lie in one row. */
static product linear_product(const tg_writer *w, const tg_value *value)
{
    const tg_value *weight = value->inputs[1];
    const int64_t in = weight->shape->dim[1], out = weight->shape->dim[0], groups = groups_of(value);
    const bool transposed = w->places[weight->index].transposed;
    return (product){.m = out ? value->size / out : 0,
                     .n = out / groups,
                     .k = in,
                     .a = {"$0", "", groups * in, 1, 0},
                     .b = {"$1", "", 0, transposed ? out : 1, transposed || in == 1 ? 1 : in},
                     .out = {"$y", "", out, 0, 1},
                     .bias = value->input_count > 2 ? "$2" : NULL};
}

/* The product of the last two axes. */
static product matrices_product(const tg_writer *w, const tg_value *value)
{
    const bool ta = tg_writer_word(value, "transpose_a") != 0, tb = tg_writer_word(value, "transpose_b") != 0;
    const tg_shape *a = value->inputs[0]->shape, *out = value->shape;
    const int64_t m = out->dim[out->rank - 2], n = out->dim[out->rank - 1], k = a->dim[a->rank - (ta ? 2 : 1)];
    return (product){.m = m,
                     .n = n,
                     .k = k,
                     .a = {"$0", "", ta ? 1 : k, ta ? m : 1, 0},
                     .b = {"$1", "", 0, tb ? 1 : n, tb ? k : 1},
                     .out = {"$y", "", n, 0, 1},
                     .adds = w->places[value->index].adds,
                     .grows = !ta && w->places[value->inputs[0]->index].grown == a->rank};
}

int64_t tg_writer_scratch(const tg_writer *w, const tg_value *value)
{
    const bool forward = value->op == &tg_op_self_attention || value->op == &tg_op_self_attention_last;
    if (forward || value->op == &tg_op_self_attention_grad) {
        const tg_shape *x = value->inputs[value->input_count - 1]->shape;
        return x->dim[x->rank - 2] * (forward ? 1 : 2);
    }
    if (!is_linear(value) && value->op != &tg_op_matmul)
        return 0;
    const product given = is_linear(value) ? linear_product(w, value) : matrices_product(w, value);
    const product p = along_rows(&given);
    const int64_t width = panel_width(&p);
    return width ? (p.n + width - 1) / width * width * p.k : 0;
}

static void linear(tg_writer *w, const tg_value *value)
{
    const int64_t groups = groups_of(value);
    product p = linear_product(w, value);
    if (groups > 1) {
        const bool transposed = w->places[value->inputs[1]->index].transposed;
        tg_writer_say(w, 1, "for (size_t i = 0; i < %lld; i++) {", (long long)groups);
        snprintf(p.a.index, INDEX, " + i * %lld", p.k);
        snprintf(p.b.index, INDEX, " + i * %lld", transposed ? p.n : p.n * p.k);
        snprintf(p.out.index, INDEX, " + i * %lld", p.n);
    }
    multiply(w, groups > 1 ? 2 : 1, &p);
    if (groups > 1)
        tg_writer_say(w, 1, "}");
}

/* In loops over the other axes. */
static void matmul(tg_writer *w, const tg_value *value)
{
    int64_t stride[3][TG_MAX_RANK];
    char index[200];
    product p = matrices_product(w, value);
    tg_shape batch = *value->shape;
    batch.rank -= 2;
    for (int k = 0; k < 3; k++) {
        tg_shape matrices = *(k < 2 ? value->inputs[k] : value)->shape;
        const int64_t size = matrices.dim[matrices.rank - 1] * matrices.dim[matrices.rank - 2];
        matrices.rank -= 2;
        tg_broadcast_strides(&matrices, batch.rank, stride[k]);
        for (int axis = 0; axis < batch.rank; axis++)
            stride[k][axis] *= size;
    }
    const tg_strided s = tg_strided_over(&batch, 3, stride);
    operand *const operands[3] = {&p.a, &p.b, &p.out};
    for (int i = 0; i < 3 && s.rank > 0; i++)
        snprintf(operands[i]->index, INDEX, " + %s", index_text(&s, i, 0, 0, index));
    multiply(w, open_loops(w, &s, 0, 1), &p);
    close_loops(w, &s, 0, 1);
}

/* ---- sums over axes, in the order of ops/reduce.c ---- */

/* One sum at a time: of runs, or of a column whose neighbours are sums of their own. */
static void general_sum(tg_writer *w, const tg_sum_plan *p)
{
    const long long run = (long long)p->run;
    const bool several = !p->run_summed && p->summed.rank > 0;
    char kept[200], summed[200] = "";
    tg_text to = {summed, sizeof summed, 0};
    tg_writer_say(w, 1, "{");
    tg_writer_say(w, 2, "tg_real *to = $y;");
    int indent = open_loops(w, &p->kept, 0, 2);
    index_text(&p->kept, 0, 0, 0, kept);
    if (!p->run_summed)
        tg_writer_say(w, indent++, "for (size_t c = 0; c < %lld; c++) {", run);
    tg_writer_say(w, indent, "double total = 0;");
    for (int axis = p->summed.rank - 1; axis >= several; axis--) {
        const char c = counters[p->summed.rank - 1 - axis];
        tg_writer_say(w, indent, "for (size_t %c_ = 0; %c_ < %lld; %c_++)", c, c, (long long)p->summed.dim[axis], c);
        tg_text_add(&to, " + %c_ * %lld", c, (long long)p->summed.stride[0][axis]);
    }
    if (p->run_summed)
        tg_writer_say(w, indent + 1, "sum_run(%lld, $0 + %s%s, &total);", run, kept, summed);
    else
        tg_writer_say(w, indent + 1, "sum_columns(%lld, 1, %lld, $0 + %s%s + c, &total);",
                      several ? (long long)p->summed.dim[0] : 1LL, several ? (long long)p->summed.stride[0][0] : run,
                      kept, summed);
    tg_writer_say(w, indent, "*to++ = (tg_real)total;");
    if (!p->run_summed)
        tg_writer_say(w, --indent, "}");
    close_loops(w, &p->kept, 0, 2);
    tg_writer_say(w, 1, "}");
}

static void sum_over(tg_writer *w, const tg_value *value)
{
    const tg_value *in = value->inputs[0];
    const int axes = (int)tg_writer_word(value, "axes");
    const tg_sum_plan p = tg_plan_sum(in->shape, axes);
    if (in->size == 0)
        tg_writer_say(w, 1, "memset($y, 0, $count * sizeof *$y);");
    else if (in->shape->rank == 2 && axes == 1)
        tg_writer_say(w, 1, "sum_matrix($0.0, $0.1, 0, $0.1, $0, $y);");
    else if (p.run_summed && p.summed.rank == 0 && p.kept.rank <= 1)
        tg_writer_say(w, 1, "sum_rows($count, %lld, $0, $y);", (long long)(in->size / value->size));
    else
        general_sum(w, &p);
}

/* ---- copies ---- */

static void permute(tg_writer *w, const tg_value *value)
{
    const tg_shape *order = tg_writer_shape(value, "order");
    int64_t in[TG_MAX_RANK], stride[2][TG_MAX_RANK];
    tg_strides(value->inputs[0]->shape, in);
    tg_strides(value->shape, stride[1]);
    for (int axis = 0; axis < value->shape->rank; axis++)
        stride[0][axis] = in[order->dim[axis]];
    copy(w, value->shape, stride, 0, 0, 0);
}

static void expand(tg_writer *w, const tg_value *value)
{
    int64_t stride[2][TG_MAX_RANK];
    tg_broadcast_strides(value->inputs[0]->shape, value->shape->rank, stride[0]);
    tg_strides(value->shape, stride[1]);
    copy(w, value->shape, stride, 0, 0, 0);
}

/* Copies between a whole tensor and the slice of it that the attributes name. */
static void slice(tg_writer *w, const tg_value *value)
{
    const bool scatters = value->op == &tg_op_scatter_slice;
    const tg_value *in = value->inputs[0];
    const tg_shape *whole = scatters ? value->shape : in->shape, *part = scatters ? in->shape : value->shape;
    const tg_shape *start = tg_writer_shape(value, "start"), *step = tg_writer_shape(value, "step");
    int64_t stride[2][TG_MAX_RANK], offset = 0;
    int64_t *const of_whole = stride[scatters];
    tg_strides(whole, of_whole);
    tg_strides(part, stride[!scatters]);
    for (int axis = 0; axis < whole->rank; axis++) {
        offset += of_whole[axis] * start->dim[axis];
        of_whole[axis] *= part->dim[axis] > 1 ? step->dim[axis] : 1;
    }
    if (scatters)
        tg_writer_say(w, 1, "fill($count, $fill, $y);");
    copy(w, part, stride, 0, scatters ? 0 : offset, scatters ? offset : 0);
}

static void concat(tg_writer *w, const tg_value *value)
{
    int64_t outer = 1, begin = 0;
    for (int axis = 0; axis < (int)tg_writer_word(value, "axis"); axis++)
        outer *= value->shape->dim[axis];
    for (int i = 0; i < value->input_count; i++) {
        const int64_t row = value->inputs[i]->size / outer;
        const tg_shape rows = TG_SHAPE(outer, row);
        int64_t stride[2][TG_MAX_RANK] = {{row, 1}, {value->size / outer, 1}};
        copy(w, &rows, stride, i, 0, begin);
        begin += row;
    }
}

/* ---- all ---- */

/* Of the tokens so far, where rows have room for all. */
static void growing_softmax(tg_writer *w)
{
    tg_writer_say(w, 1,
                  "for (size_t r = 0; r < $rows; r++)\n"
                  "    softmax_rows(1, $positions, $0 + r * $columns, $y + r * $columns);");
}

bool tg_writer_loops(tg_writer *w)
{
    static const struct {
        const tg_op *op;
        const char *text; /* NULL: */
        void (*write)(tg_writer *w, const tg_value *value);
    } forms[] = {
#define TG_EXPORT_CALL(name, text) {&tg_op_##name, text, NULL},
#include "autograd/export/calls.def"
        {&tg_op_linear, NULL, linear},   {&tg_op_grouped_linear, NULL, linear}, {&tg_op_matmul, NULL, matmul},
        {&tg_op_permute, NULL, permute}, {&tg_op_expand, NULL, expand},         {&tg_op_slice, NULL, slice},
        {&tg_op_concat, NULL, concat},   {&tg_op_scatter_slice, NULL, slice},   {&tg_op_sum_over, NULL, sum_over},
    };
    const tg_value *value = w->value, *gradient = tg_writer_gradient(w, value);
    if (value->size == 0)
        return true;
    if (gradient)
        return tg_writer_say(w, 1, "/* together with its gradient, v%lld */", (long long)gradient->index), true;
    if (value->op == &tg_op_softmax && w->places[value->inputs[0]->index].grown == value->shape->rank)
        return growing_softmax(w), true;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (forms[i].op == value->op) {
            if (forms[i].text)
                tg_writer_say(w, 1, "%s", forms[i].text);
            else
                forms[i].write(w, value);
            return true;
        }
    return elementwise(w, value) ||
           tg_program_fail(w->program, "export: the operation %s cannot be written as C%s", value->op->name,
                           value->op == &tg_op_random_stream ? "; a net without dropout has none" : "");
}
