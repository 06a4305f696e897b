/* The axis of each value that counts the rows of a prediction, so that the graph takes any number of them. The program
 * was recorded for one row: that axis has one element, and nodes must not write its size. */
#include "autograd/export/onnx.h"

#include "autograd/ops.h"

#include <stdlib.h>

static int rows_of(const tg_writer *w, const tg_value *value, const int *rows, const int *tried)
{
    if (w->places[value->index].kind == TG_PLACE_NONE)
        return TG_AXIS_NONE;
    if (value == w->function[TG_PREDICT].argument[0])
        return value->shape->rank > 1 && value->shape->dim[0] == 1 && value->size > 0 ? 0 : TG_AXIS_MIXED;
    return tg_axis_after(value, rows, tried[value->index]);
}

/* The last input of a value that is a reshape for which another axis may count rows; -1: none. */
static int64_t undecided_input(const tg_value *value, const int *rows, const int *tried)
{
    int64_t found = -1;
    for (int k = 0; k < value->input_count; k++) {
        const tg_value *in = value->inputs[k];
        const bool may = in->op == &tg_op_reshape && rows[in->index] != TG_AXIS_NONE &&
                         tg_axis_after(in, rows, tried[in->index] + 1) != TG_AXIS_MIXED;
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
        if (rows[i] != TG_AXIS_MIXED)
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
