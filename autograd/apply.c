/* Recording an operation and running it. */
#include "autograd/ops.h"
#include "autograd/tape_internal.h"
#include "autograd/text.h"

#include <stdarg.h>
#include <string.h>

/* ---- error messages ---- */

bool tg_expected(const tg_value *out, const char *format, ...)
{
    if (!out || !out->tape)
        return false;
    char message[400];
    tg_text t = {message, sizeof message, 0};
    tg_text_call(&t, out);
    tg_text_add(&t, ": ");
    va_list arguments;
    va_start(arguments, format);
    tg_text_add_arguments(&t, format, arguments);
    va_end(arguments);
    tg_text_place(&t, out);
    tg_tape_fail(out->tape, "%s", message);
    return false;
}

int tg_axis_of(tg_value *out, const tg_shape *shape, int axis)
{
    int positive = axis < 0 ? axis + shape->rank : axis;
    if (positive >= 0 && positive < shape->rank)
        return positive;
    char dims[128];
    tg_expected(out, "there is no axis %d in %s", axis, tg_shape_text(shape, dims, sizeof dims));
    return -1;
}

/* ---- recording ---- */

/* The tape on which an operation on these inputs is recorded; NULL if they give none. Two tapes, or a dead tensor beside
 * a live one, are errors on the first live one's tape. */
static tg_tape *common_tape(const tg_op *op, int count, const tg_tensor *inputs)
{
    tg_tape *tape = NULL;
    for (int i = 0; i < count && !tape; i++)
        tape = tg_tape_of(inputs[i]);
    for (int i = 0; tape && i < count; i++) {
        const tg_value *value = tg_value_of(inputs[i]);
        if (!value)
            tg_tape_fail(tape, "%s: input %d is %s", op->name, i,
                         inputs[i].value ? "a tensor of a step that ended with tg_tape_reset" : "the zero tensor");
        else if (value->tape != tape)
            tg_tape_fail(tape, "%s: input %d is on another tape than input 0", op->name, i);
    }
    /* All dead: the tapes they were on still know, and one of them should tell. */
    for (int i = 0; !tape && i < count; i++)
        if (inputs[i].value)
            tg_tape_fail(inputs[i].value->tape, "%s: input %d is a tensor of a step that ended with tg_tape_reset",
                         op->name, i);
    return tape && !tape->failed ? tape : NULL;
}

/* Every input of an elementwise operation broadcasts to the result. */
static bool broadcast_shape(tg_value *out)
{
    out->shape = out->inputs[0]->shape;
    out->size = out->inputs[0]->size;
    for (int i = 1; i < out->input_count; i++) {
        if (tg_shape_equal(&out->shape, &out->inputs[i]->shape))
            continue;
        if (!tg_shape_broadcast(&out->shape, &out->inputs[i]->shape, &out->shape))
            return tg_expected(out, "the shapes do not broadcast: from the last axis on, sizes must be equal or 1");
        out->size = -1; /* to be counted */
    }
    return true;
}

bool tg_same_floating_type(tg_value *out)
{
    for (int i = 0; i < out->input_count; i++)
        if (out->inputs[i]->dtype == TG_I32 || out->inputs[i]->dtype != out->inputs[0]->dtype)
            return tg_expected(out, "expected inputs of one floating type, all f32 or all f64");
    return true;
}

static bool set_inputs(tg_value *out, int count, const tg_tensor *inputs)
{
    out->inputs = tg_tape_take(out->tape, (size_t)count * sizeof *out->inputs, sizeof(void *));
    if (!out->inputs)
        return false;
    out->input_count = count;
    for (int i = 0; i < count; i++) {
        out->inputs[i] = inputs[i].value;
        out->requires_grad |= inputs[i].value->requires_grad;
    }
    if (out->tape->no_grad || (out->op->flags & TG_CONSTANT))
        out->requires_grad = false;
    return true;
}

static bool set_attributes(tg_value *out, const void *attributes)
{
    if (out->op->attributes_size == 0)
        return true;
    if (!attributes)
        return tg_expected(out, "the operation has attributes, and none were given");
    void *copy = tg_tape_take(out->tape, out->op->attributes_size, _Alignof(max_align_t));
    if (!copy)
        return false;
    out->attributes = memcpy(copy, attributes, out->op->attributes_size);
    return true;
}

static bool set_shape(tg_value *out)
{
    const tg_op *op = out->op;
    bool fits = true;
    out->size = -1;
    if (op->flags & TG_ELEMENTWISE)
        fits = tg_same_floating_type(out) && broadcast_shape(out);
    if (fits && op->shape)
        fits = op->shape(out);
    if (!fits) {
        tg_expected(out, "the shapes or types do not fit"); /* unless the rule has said more */
        return false;
    }
    if (tg_dtype_size(out->dtype) == 0)
        return tg_expected(out, "there is no type %d", (int)out->dtype);
    if (out->size < 0)
        out->size = tg_shape_size(&out->shape);
    return out->size >= 0 || tg_expected(out, "the result would be too large, or of a rank over %d", TG_MAX_RANK);
}

tg_value *tg_saved_of(const tg_value *value)
{
    const tg_tape *tape = value->tape;
    if (!value->op || !value->op->saved || value->index + 1 >= tape->count)
        return NULL;
    tg_value *next = tg_tape_value(tape, value->index + 1);
    return next->is_saved ? next : NULL;
}

bool tg_value_compute(tg_value *value)
{
    const tg_op *op = value->op;
    if (op->flags & TG_VIEW) {
        const tg_value *base = value->inputs[0];
        int64_t offset = op->view_offset ? op->view_offset(value) : 0;
        value->data = (char *)base->data + offset * (int64_t)tg_dtype_size(value->dtype);
        return true;
    }
    if (value->is_saved)
        return true;
    tg_value *saved = op->saved ? tg_saved_of(value) : NULL;
    if ((!value->data && !tg_value_allocate(value)) || (saved && !saved->data && !tg_value_allocate(saved)))
        return false;
    enum { FEW = 8 };
    const void *few[FEW], **in = few;
    const tg_arena_position scratch = tg_arena_here(&value->tape->scratch);
    if (value->input_count > FEW) /* gone again below */
        in = tg_arena_take(&value->tape->scratch, (size_t)value->input_count * sizeof *in, sizeof(void *));
    if (!in) {
        tg_tape_fail(value->tape, "out of memory: %s of %d inputs", op->name, value->input_count);
        return false;
    }
    for (int i = 0; i < value->input_count; i++)
        in[i] = value->inputs[i]->data;
    const tg_call call = {value, in, value->data, saved ? saved->data : NULL};
    if (op->flags & TG_ELEMENTWISE)
        tg_elementwise_forward(&call);
    else
        op->forward(&call);
    tg_arena_rewind(&value->tape->scratch, scratch);
    return !value->tape->failed;
}

bool tg_tape_evaluate(tg_tape *tape)
{
    while (tape->evaluated < tape->count && !tape->failed) {
        tg_value *value = tg_tape_value(tape, tape->evaluated);
        if (value->op && !tg_value_compute(value))
            return false;
        tape->evaluated++;
        if (tape->watches && !tg_anomaly_check(value))
            return false;
    }
    return !tape->failed;
}

static tg_value *push(tg_tape *tape, const tg_op *op, const void *attributes, int count, const tg_tensor *inputs)
{
    tg_value *out = tg_tape_push(tape);
    if (!out)
        return NULL;
    out->op = op;
    if (!set_inputs(out, count, inputs))
        return NULL;
    out->dtype = count > 0 ? out->inputs[0]->dtype : TG_F32;
    return set_attributes(out, attributes) && set_shape(out) ? out : NULL;
}

/* The usual case without looking further: nothing that tg_op_missing would find. */
static bool looks_complete(const tg_op *op)
{
    return op->name && (op->loop || (op->shape && op->forward)) && op->derivative && op->arity > 0 && op->arity <= 4 &&
           !op->saved;
}

/* Why the operation cannot be recorded with this many inputs: an error on the tape, and false. */
static bool admit(tg_tape *tape, const tg_op *op, int count)
{
    const char *missing = looks_complete(op) ? NULL : tg_op_missing(op);
    if (missing)
        tg_tape_fail(tape, "operation %s is refused: it lacks %s", op->name ? op->name : "without a name", missing);
    else if (op->arity != TG_VARIADIC && op->arity != count)
        tg_tape_fail(tape, "%s: expected %d inputs, not %d", op->name, op->arity, count);
    else
        return true;
    return false;
}

static tg_tensor record(tg_tape *tape, const tg_op *op, const void *attributes, int count, const tg_tensor *inputs)
{
    tg_value *followed = tg_follow_operation(tape, op, attributes, count, inputs);
    if (followed)
        return tg_tensor_of(followed);
    if (!admit(tape, op, count))
        return (tg_tensor){0};
    const int64_t before = tape->count;
    tg_value *out = push(tape, op, attributes, count, inputs), *saved = NULL;
    bool fine = out != NULL;
    if (fine && op->saved && out->requires_grad) {
        saved = push(tape, op->saved, attributes, count, inputs);
        fine = saved != NULL;
        if (fine)
            saved->is_saved = true;
    }
    if (fine && (tape->deferred || tg_tape_evaluate(tape)))
        return tg_tensor_of(out);
    tape->count = before; /* what failed is not on the tape */
    if (tape->evaluated > tape->count)
        tape->evaluated = tape->count;
    return (tg_tensor){0};
}

tg_tensor tg_apply(const tg_op *op, const void *attributes, int count, const tg_tensor *inputs)
{
    if (!op || count < 1 || !inputs)
        return (tg_tensor){0};
    tg_tape *tape = common_tape(op, count, inputs);
    return tape ? record(tape, op, attributes, count, inputs) : (tg_tensor){0};
}

tg_tensor tg_apply_on(tg_tape *tape, const tg_op *op, const void *attributes)
{
    if (!tape || !op || tape->failed)
        return (tg_tensor){0};
    return record(tape, op, attributes, 0, NULL);
}
