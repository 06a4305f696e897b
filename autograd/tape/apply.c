#include "autograd/apply.h"

#include "autograd/base/shape_internal.h"
#include "autograd/tape/repeat.h"
#include "autograd/tape/tape_internal.h"

#include <stdarg.h>
#include <string.h>

/* ---- helpers for shape rules ---- */

bool tg_expected(const tg_value *out, const char *format, ...)
{
    if (!out || !out->program)
        return false;
    tg_error error;
    tg_text t = {error.text, sizeof error.text, 0};
    tg_text_call(&t, out);
    tg_text_add(&t, ": ");
    va_list arguments;
    va_start(arguments, format);
    tg_text_add_arguments(&t, format, arguments);
    va_end(arguments);
    tg_text_place(&t, out);
    return tg_program_fail(out->program, "%s", error.text);
}

int tg_axis_of(tg_value *out, const tg_shape *shape, int axis)
{
    const int positive = axis < 0 ? axis + shape->rank : axis;
    if (positive >= 0 && positive < shape->rank)
        return positive;
    char dims[128];
    tg_expected(out, "there is no axis %d in %s", axis, tg_shape_text(shape, dims, sizeof dims));
    return -1;
}

bool tg_same_floating_type(tg_value *out)
{
    for (int i = 0; i < out->input_count; i++)
        if (out->inputs[i]->dtype == TG_I32 || out->inputs[i]->dtype != out->inputs[0]->dtype)
            return tg_expected(out, "expected inputs of one floating type, all f32 or all f64");
    return true;
}

/* Every input of an elementwise operation broadcasts to the result. */
static bool broadcast_shape(tg_value *out)
{
    out->shape = out->inputs[0]->shape;
    out->size = out->inputs[0]->size;
    for (int i = 1; i < out->input_count; i++) {
        if (out->shape == out->inputs[i]->shape || tg_shape_equal(out->shape, out->inputs[i]->shape))
            continue;
        if (!tg_shape_broadcast(out->shape, out->inputs[i]->shape, &out->program->shape))
            return tg_expected(out, "the shapes do not broadcast: from the last axis on, sizes must be equal or 1");
        out->shape = &out->program->shape;
        out->size = -1; /* to be counted */
    }
    return true;
}

static bool run_shape_rule(tg_value *out)
{
    tg_program *program = out->program;
    const tg_op *outer = program->context.rule; /* a derivative, say */
    if (out->shape != &program->shape) {        /* an input's, which the rule must not change */
        program->shape = *out->shape;
        out->shape = &program->shape;
    }
    program->context.rule = out->op;
    const bool fits = out->op->shape(out);
    program->context.rule = outer;
    out->size = -1; /* to be counted */
    return fits && !tg_program_failed(program);
}

/* Copies the shape that has been found, which the next operation overwrites, or takes that of an input if it is equal.
 */
static bool keep_shape(tg_value *out)
{
    const tg_shape *found = out->shape;
    if (found != &out->program->shape)
        return true;
    out->shape = NULL;
    for (int i = 0; i < out->input_count && !out->shape; i++)
        if (out->size == out->inputs[i]->size && tg_shape_equal(found, out->inputs[i]->shape))
            out->shape = out->inputs[i]->shape;
    if (!out->shape && (out->shape = tg_program_take(out->program, sizeof *found, _Alignof(tg_shape))))
        *out->shape = *found;
    return out->shape != NULL;
}

/* Gives an elementwise operation on inputs of one shape and floating type, the usual case, its shape at once. */
static bool set_common_shape(tg_value *out)
{
    const tg_value *first = out->inputs[0];
    if (first->dtype == TG_I32)
        return false;
    for (int i = 1; i < out->input_count; i++)
        if (out->inputs[i]->dtype != first->dtype ||
            (out->inputs[i]->shape != first->shape && !tg_shape_equal(out->inputs[i]->shape, first->shape)))
            return false;
    out->shape = first->shape;
    out->size = first->size;
    return true;
}

/* False if the shape that a user's rule has set would read past an input's memory. */
static bool stays_inside(const tg_value *out)
{
    const tg_op *op = out->op;
    const tg_value *in = out->input_count > 0 ? out->inputs[0] : NULL;
    if (op->flags & TG_VIEW) {
        const int64_t offset = op->view_offset ? op->view_offset(out) : 0;
        return in && in->dtype == out->dtype && offset >= 0 && offset <= in->size && out->size <= in->size - offset;
    }
    for (int i = 0; op->flags & TG_ELEMENTWISE && op->shape && i < out->input_count; i++)
        if (out->inputs[i]->dtype != out->dtype || !tg_broadcasts_to(out->inputs[i]->shape, out->shape) ||
            (op->saved && out->inputs[i]->size != out->size))
            return false;
    return true;
}

static bool set_shape(tg_value *out)
{
    const tg_op *op = out->op;
    bool fits = true;
    if (op->flags & TG_ELEMENTWISE && !op->shape && set_common_shape(out))
        return true;
    out->shape = &out->program->shape;
    out->shape->rank = 0;
    out->size = -1;
    if (op->flags & TG_ELEMENTWISE)
        fits = tg_same_floating_type(out) && broadcast_shape(out);
    if (fits && op->shape)
        fits = run_shape_rule(out);
    if (!fits)
        return tg_expected(out, "the shapes or types do not fit"); /* unless the rule has recorded an error */
    if (tg_dtype_size(out->dtype) == 0)
        return tg_expected(out, "there is no type %d", (int)out->dtype);
    if (out->size < 0)
        out->size = tg_shape_size(out->shape);
    if (out->size < 0)
        return tg_expected(out, "the result would be too large, or of a rank over %d", TG_MAX_RANK);
    if (!stays_inside(out))
        return tg_expected(out, "the shape rule wants more elements than the inputs have, or of another type");
    return keep_shape(out);
}

/* ---- checking ---- */

typedef struct new_operation {
    tg_tape *tape;
    const tg_op *op;
    const void *attributes;
    int count;
    const tg_tensor *inputs;
} new_operation;

/* Two tapes, a tensor of a past step, or a result that is forgotten are errors on the tape of the first valid input. */
static bool check_inputs(const new_operation *o)
{
    for (int i = 0; i < o->count; i++) {
        const tg_value *value = tg_value_of(o->inputs[i]);
        if (!value || tg_tape_at(value) != o->tape)
            tg_tape_fail(o->tape, "%s: input %d is %s", o->op->name, i, tg_tape_problem(o->tape, o->inputs[i]));
        else if (!tg_run_surely_holds(&o->tape->run, value))
            tg_tape_make_readable(o->tape, o->op, i, value);
    }
    return !tg_program_failed(&o->tape->program);
}

/* True if the operation is complete and takes this many inputs; otherwise the error is recorded. */
static bool is_complete(const new_operation *o)
{
    const char *missing = o->op->complete == o->op ? NULL : tg_op_missing(o->op);
    if (missing)
        return tg_tape_fail(o->tape, "operation %s is refused: it lacks %s",
                            o->op->name ? o->op->name : "without a name", missing);
    if (o->op->arity != TG_VARIADIC && o->op->arity != o->count)
        return tg_tape_fail(o->tape, "%s: expected %d inputs, not %d", o->op->name, o->op->arity, o->count);
    return true;
}

/* ---- recording ---- */

static bool set_inputs(tg_value *out, const new_operation *o)
{
    if (!tg_program_take_inputs(out, o->count))
        return false;
    bool requires_grad = false;
    for (int i = 0; i < o->count; i++) {
        tg_value *input = o->inputs[i].value; /* check_inputs has found it alive */
        out->inputs[i] = input;
        requires_grad |= input->requires_grad;
        tg_note_read(input, out->index);
    }
    out->requires_grad = requires_grad && !(out->mode & TG_MODE_DETACHED || out->op->flags & TG_CONSTANT);
    return true;
}

static bool set_attributes(tg_value *out, const void *attributes)
{
    if (out->op->attributes_size == 0)
        return true;
    if (!attributes)
        return tg_expected(out, "the operation has attributes, and none were given");
    void *copy = tg_program_take(out->program, out->op->attributes_size, _Alignof(max_align_t));
    if (!copy)
        return false;
    out->attributes = memcpy(copy, attributes, out->op->attributes_size);
    return true;
}

static tg_value *append(const new_operation *o, const tg_op *op)
{
    tg_value *out = tg_program_append(&o->tape->program);
    if (!out)
        return NULL;
    out->slot.arena_position = tg_arena_here(&o->tape->run.arena);
    out->op = op;
    if (!set_inputs(out, o))
        return NULL;
    out->dtype = o->count > 0 ? out->inputs[0]->dtype : TG_F32;
    return set_attributes(out, o->attributes) && set_shape(out) ? out : NULL;
}

/* The value, followed by its saved derivative if a gradient may be needed. */
static tg_value *append_all(const new_operation *o)
{
    tg_value *out = append(o, o->op);
    if (!out || !o->op->saved || !out->requires_grad || out->mode & TG_MODE_WITHOUT_GRAPH)
        return out;
    tg_value *saved = append(o, o->op->saved);
    if (!saved)
        return NULL;
    saved->is_saved = true;
    return out;
}

/* Computes a value that was matched or appended. If that fails, or if there is none, the program ends again before
 * number `before`. */
static tg_tensor finish(tg_tape *tape, tg_value *out, int64_t before)
{
    if (out && tg_tape_compute(tape))
        return tg_tensor_of(out);
    tg_program_remove(&tape->program, before);
    return (tg_tensor){0};
}

static tg_tensor apply(tg_tape *tape, const tg_op *op, const void *attributes, int count, const tg_tensor *inputs)
{
    if (!tape || tg_program_failed(&tape->program))
        return (tg_tensor){0};
    const int64_t before = tape->program.count;
    tg_value *out =
        before < tape->program.known ? tg_repeat_operation(&tape->program, op, attributes, count, inputs) : NULL;
    if (out)
        return finish(tape, out, before);
    const new_operation o = {tape, op, attributes, count, inputs};
    if (!check_inputs(&o))
        return (tg_tensor){0};
    return finish(tape, is_complete(&o) ? append_all(&o) : NULL, before);
}

tg_tensor tg_apply(const tg_op *op, const void *attributes, int count, const tg_tensor *inputs)
{
    if (!op || count < 1 || !inputs)
        return (tg_tensor){0};
    const tg_value *first = tg_value_of(inputs[0]);
    tg_tape *tape = first ? tg_tape_at(first) : tg_tape_of_any(inputs, count);
    return apply(tape, op, attributes, count, inputs);
}

tg_tensor tg_apply_on(tg_tape *tape, const tg_op *op, const void *attributes)
{
    return op ? apply(tape, op, attributes, 0, NULL) : (tg_tensor){0};
}
