/* The axis of each value that counts the rows of a prediction, so that the graph takes any number of them. The program
 * was recorded for one row: that axis has one element, and nodes must not write its size. */
#include "autograd/export/onnx.h"

#include "autograd/ops.h"

#include <stdlib.h>

/* In place of an axis: the value is the same for all rows; it mixes rows, or its nodes write how many there are. */
enum { SAME = -1, MIXED = -2 };

/* A rule returns the axis of a value, given those of all values before: none of its inputs is MIXED, and one at least
 * has an axis. */
typedef int rule(const tg_value *value, const int *rows);

static int of_input(const tg_value *value, const int *rows, int k)
{
    return rows[value->inputs[k]->index];
}

/* Axes are counted from the last one; what is the same for all rows is repeated. */
static int broadcast(const tg_value *value, const int *rows)
{
    int found = SAME;
    for (int k = 0; k < value->input_count; k++) {
        const int axis = of_input(value, rows, k) == SAME
                             ? SAME
                             : value->shape->rank - value->inputs[k]->shape->rank + of_input(value, rows, k);
        if (axis != SAME && found != SAME && axis != found)
            return MIXED;
        found = axis != SAME ? axis : found;
    }
    return value->shape->dim[found] == 1 ? found : MIXED;
}

/* Only the first input has rows, and they are not along its last axes. */
static int before_last(const tg_value *value, const int *rows, int last)
{
    for (int k = 1; k < value->input_count; k++)
        if (of_input(value, rows, k) != SAME)
            return MIXED;
    return of_input(value, rows, 0) < value->inputs[0]->shape->rank - last ? of_input(value, rows, 0) : MIXED;
}

static int along_last(const tg_value *value, const int *rows)
{
    return before_last(value, rows, 1);
}

static int along_last_two(const tg_value *value, const int *rows)
{
    return before_last(value, rows, 2);
}

static int of_first_axis(const tg_value *value, const int *rows)
{
    return of_input(value, rows, 0) == 0 ? before_last(value, rows, 1) : MIXED;
}

static int grouped(const tg_value *value, const int *rows)
{
    return value->shape->rank == 2 ? of_first_axis(value, rows) : MIXED;
}

static int matmul(const tg_value *value, const int *rows)
{
    const int rank = value->inputs[0]->shape->rank;
    if (of_input(value, rows, 1) == SAME && of_input(value, rows, 0) == rank - 2 &&
        tg_writer_word(value, "transpose_a") == 0)
        return value->shape->rank - 2;
    for (int k = 0; k < 2; k++)
        if (of_input(value, rows, k) >= value->inputs[k]->shape->rank - 2)
            return MIXED;
    return broadcast(value, rows);
}

static int64_t elements_before(const tg_shape *shape, int axis)
{
    int64_t before = 1;
    for (int i = 0; i < axis; i++)
        before *= shape->dim[i];
    return before;
}

bool tg_onnx_rows_move(const tg_value *value, const int *rows)
{
    return rows && of_input(value, rows, 0) >= 0 &&
           elements_before(value->inputs[0]->shape, of_input(value, rows, 0)) !=
               elements_before(value->shape, rows[value->index]);
}

/* Axis number `number` of those that may count rows, of one element each: first where rows stay where they are in
 * memory, as many elements are before it. */
static int reshape(const tg_value *value, const int *rows, int number)
{
    const int64_t before = elements_before(value->inputs[0]->shape, of_input(value, rows, 0));
    for (int moves = 0; moves < 2; moves++)
        for (int axis = 0; axis < value->shape->rank; axis++)
            if (value->shape->dim[axis] == 1 && (elements_before(value->shape, axis) != before) == moves &&
                number-- == 0)
                return axis;
    return MIXED;
}

static int permute(const tg_value *value, const int *rows)
{
    const tg_shape *order = tg_writer_shape(value, "order");
    int axis = 0;
    while (order->dim[axis] != of_input(value, rows, 0))
        axis++;
    return axis;
}

static int unchanged(const tg_value *value, const int *rows)
{
    return value->shape->dim[of_input(value, rows, 0)] == 1 ? of_input(value, rows, 0) : MIXED;
}

static int slice(const tg_value *value, const int *rows)
{
    return tg_writer_shape(value, "step")->dim[of_input(value, rows, 0)] > 0 ? unchanged(value, rows) : MIXED;
}

static int concat(const tg_value *value, const int *rows)
{
    const int along = (int)tg_writer_word(value, "axis");
    int found = SAME;
    for (int k = 0; k < value->input_count; k++) {
        if (of_input(value, rows, k) != SAME && found != SAME && of_input(value, rows, k) != found)
            return MIXED;
        found = of_input(value, rows, k) != SAME ? of_input(value, rows, k) : found;
    }
    if (tg_writer_word(value, "stack") != 0)
        return found + (along <= found);
    return found == along ? MIXED : found;
}

static int reduced(const tg_value *value, const int *rows)
{
    const int axes = (int)tg_writer_word(value, "axes");
    int axis = of_input(value, rows, 0);
    for (int k = 0; k < of_input(value, rows, 0) && tg_writer_word(value, "keep") == 0; k++)
        axis -= axes >> k & 1;
    return axes >> of_input(value, rows, 0) & 1 ? MIXED : axis;
}

static int index_select(const tg_value *value, const int *rows)
{
    const int along = (int)tg_writer_word(value, "axis"), of_index = value->inputs[1]->shape->rank;
    if (of_input(value, rows, 0) == SAME)
        return along + of_input(value, rows, 1);
    return of_input(value, rows, 1) != SAME || of_input(value, rows, 0) == along ? MIXED
           : of_input(value, rows, 0) < along                                    ? of_input(value, rows, 0)
                                              : of_input(value, rows, 0) - 1 + of_index;
}

/* Of inputs [rows, ...]; the state may be the same for all. The result has h and c along the first axis. */
static int lstm_cell(const tg_value *value, const int *rows)
{
    for (int k = 0; k < value->input_count; k++)
        if (of_input(value, rows, k) > 0)
            return MIXED;
    return 1;
}

static rule *rule_of(const tg_op *op)
{
    static const struct {
        const tg_op *op;
        rule *of;
    } rules[] = {{&tg_op_linear, along_last},
                 {&tg_op_grouped_linear, grouped},
                 {&tg_op_matmul, matmul},
                 {&tg_op_conv2d, of_first_axis},
                 {&tg_op_max_pool2d, of_first_axis},
                 {&tg_op_normalize, along_last},
                 {&tg_op_softmax, along_last},
                 {&tg_op_log_softmax, along_last},
                 {&tg_op_causal_softmax, along_last_two},
                 {&tg_op_self_attention, along_last_two},
                 {&tg_op_lstm_cell, lstm_cell},
                 {&tg_op_index_select, index_select},
                 {&tg_op_one_hot, unchanged},
                 {&tg_op_permute, permute},
                 {&tg_op_expand, broadcast},
                 {&tg_op_slice, slice},
                 {&tg_op_narrow, slice},
                 {&tg_op_concat, concat},
                 {&tg_op_stop_gradient, unchanged},
                 {&tg_op_sum_over, reduced},
                 {&tg_op_max_over, reduced},
                 {&tg_op_min_over, reduced}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].op == op)
            return rules[i].of;
    return op->flags & TG_ELEMENTWISE ? broadcast : NULL;
}

static int rows_of(const tg_writer *w, const tg_value *value, const int *rows, const int *tried)
{
    int found = SAME;
    if (w->places[value->index].kind == TG_PLACE_NONE)
        return SAME;
    if (value == w->function[TG_PREDICT].argument[0])
        return value->shape->rank > 1 && value->shape->dim[0] == 1 && value->size > 0 ? 0 : MIXED;
    for (int k = 0; k < value->input_count && value->op; k++)
        found = of_input(value, rows, k) != SAME ? of_input(value, rows, k) : found;
    if (found == SAME)
        return SAME;
    if (value->op == &tg_op_reshape)
        return reshape(value, rows, tried[value->index]);
    rule *const of = rule_of(value->op);
    return of && value->size > 0 ? of(value, rows) : MIXED;
}

/* The last input of a value that is a reshape for which another axis may count rows; -1: none. */
static int64_t undecided_input(const tg_value *value, const int *rows, const int *tried)
{
    int64_t found = -1;
    for (int k = 0; k < value->input_count; k++) {
        const tg_value *in = value->inputs[k];
        const bool may =
            in->op == &tg_op_reshape && rows[in->index] != SAME && reshape(in, rows, tried[in->index] + 1) != MIXED;
        found = may && in->index > found ? in->index : found;
    }
    return found;
}

/* False if some value mixes rows. A reshape may have several axes of one element: where the value that reads it does not
 * fit the first of them, the search goes back to it and takes the next one. */
static bool find(const tg_writer *w, int *rows, int *tried)
{
    for (int64_t i = 0; i < w->program->count; i++) {
        const tg_value *value = tg_program_at(w->program, i);
        rows[i] = rows_of(w, value, rows, tried);
        if (rows[i] != MIXED)
            continue;
        const int64_t back = undecided_input(value, rows, tried);
        if (back < 0)
            return false;
        tried[back]++;
        for (int64_t k = back + 1; k <= i; k++)
            tried[k] = 0;
        i = back - 1;
    }
    return rows[w->function[TG_PREDICT].result->index] == 0;
}

bool tg_onnx_find_rows(tg_onnx *o)
{
    tg_writer *w = o->w;
    const size_t count = (size_t)w->program->count;
    int *rows = calloc(2 * count + 1, sizeof *rows);
    if (!rows)
        return tg_program_fail(w->program, "export: out of memory");
    w->places = w->function[TG_PREDICT].places;
    w->rows = find(w, rows, rows + count) ? rows : NULL;
    if (!w->rows)
        free(rows);
    return true;
}
