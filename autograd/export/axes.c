/* Follows an axis of an input through the operations: the rows of a prediction, for ONNX, or the tokens so far of a
 * state that grows. */
#include "autograd/export/writer.h"

#include "autograd/ops.h"

enum { SAME = TG_AXIS_NONE, MIXED = TG_AXIS_MIXED };

/* A rule returns the axis of a value, given those of all values before: none of its inputs is MIXED, and one at least
 * has an axis. */
typedef int rule(const tg_value *value, const int *rows);

static int of_input(const tg_value *value, const int *rows, int k)
{
    return rows[value->inputs[k]->index];
}

/* The axis of input k, as an axis of the result. */
static int aligned(const tg_value *value, const int *rows, int k)
{
    const int axis = of_input(value, rows, k);
    return axis == SAME ? SAME : value->shape->rank - value->inputs[k]->shape->rank + axis;
}

/* Axes are counted from the last one. What has no such axis is repeated along it. */
static int broadcast(const tg_value *value, const int *rows)
{
    int found = SAME;
    for (int k = 0; k < value->input_count; k++) {
        const int axis = aligned(value, rows, k);
        if (axis != SAME && ((found != SAME && axis != found) ||
                             value->shape->dim[axis] != value->inputs[k]->shape->dim[of_input(value, rows, k)]))
            return MIXED;
        found = axis != SAME ? axis : found;
    }
    for (int k = 0; k < value->input_count; k++) {
        const int axis = found - (value->shape->rank - value->inputs[k]->shape->rank);
        if (of_input(value, rows, k) == SAME && axis >= 0 && value->inputs[k]->shape->dim[axis] != 1)
            return MIXED;
    }
    return found;
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

bool tg_axes_move(const tg_value *value, const int *axes)
{
    return axes && of_input(value, axes, 0) >= 0 &&
           elements_before(value->inputs[0]->shape, of_input(value, axes, 0)) !=
               elements_before(value->shape, axes[value->index]);
}

/* Axis number `number` of those of the same size: first where elements stay where they are in memory, as many are before
 * it; then, of one element, elsewhere. */
static int reshape(const tg_value *value, const int *rows, int number)
{
    const tg_value *in = value->inputs[0];
    const int64_t size = in->shape->dim[of_input(value, rows, 0)],
                  before = elements_before(in->shape, of_input(value, rows, 0));
    for (int moves = 0; moves < (size == 1 ? 2 : 1); moves++)
        for (int axis = 0; axis < value->shape->rank; axis++)
            if (value->shape->dim[axis] == size && (elements_before(value->shape, axis) != before) == moves &&
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
    const int axis = of_input(value, rows, 0);
    return value->shape->dim[axis] == value->inputs[0]->shape->dim[axis] ? axis : MIXED;
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

int tg_axis_after(const tg_value *value, const int *axes, int number)
{
    int found = SAME;
    for (int k = 0; k < value->input_count; k++) {
        if (of_input(value, axes, k) == MIXED)
            return MIXED;
        found = of_input(value, axes, k) != SAME ? of_input(value, axes, k) : found;
    }
    if (found == SAME)
        return SAME;
    if (value->op == &tg_op_reshape)
        return reshape(value, axes, number);
    rule *const of = rule_of(value->op);
    return of && value->size > 0 ? of(value, axes) : MIXED;
}
