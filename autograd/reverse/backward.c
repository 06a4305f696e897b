/* Reverse mode. A backward pass walks the program backwards from the outputs, without recursion:
 *
 *     for each value with a cotangent, latest first:  cotangents of its inputs += derivative(its cotangent)
 *
 * A derivative is made of operations, which are appended to the program. They are computed when the pass is complete,
 * or before a hook: by then it is known which of them is the gradient of a parameter, and is computed straight into the
 * parameter's gradient block, and which reads a result for the last time, and releases its buffer.
 *
 * The whole state of a pass is in the pass, so one may run in a hook of another. What it recorded is kept as a whole:
 * when the next step asks for the same pass at the same point, it is computed without being recorded again.
 */
#include "autograd/reverse/backward.h"

#include "autograd/ops.h"
#include "autograd/base/shape_internal.h"
#include "autograd/reverse/checkpoint_internal.h"
#include "autograd/reverse/joint.h"
#include "autograd/reverse/notes.h"
#include "autograd/tape/repeat.h"

#include <stdlib.h>

/* Marks on the values that a pass visits. */
enum { WANTED = 1, INPUT = 2, RETAINED = 4, HOOKED = 8 };

/* What a derivative gets and gives (op.h), for each input of its value. */
typedef struct derivative_arguments {
    int count;
    tg_tensor *in, *gradients;
    bool *wanted;
} derivative_arguments;

/* A pass that is being recorded; the program keeps a tg_pass of it. It walks a range, of all values that the outputs
 * were computed from by operations, and before it some that lie far away, such as parameters that an earlier pass
 * placed on the tape. So it costs no more if many others lie between.
 *
 *     program            [ w  b  | ... an earlier pass ... | x  h  y  loss | ... | values of this pass, from `start` on
 *                          early                             first .. last
 *     index in the pass    0  1                              2  3  4  5            walked from 5 to 0
 */
typedef struct pass {
    tg_tape *tape;
    const tg_request *request;
    bool by_inputs;   /* for tg_grad: gradients of given inputs, not of parameters and variables */
    tg_value **early; /* in order */
    int64_t early_count;
    int64_t first, last; /* the range, both included */
    int64_t start;
    tg_context outside; /* of what is recorded before and after the pass */

    /* For each index in the pass: */
    int64_t count;         /* how many there are */
    tg_value **cotangents; /* or NULL */
    uint8_t *marks;        /* NULL: what requires a gradient is wanted, and there is nothing else to mark */
    tg_waiting *waiting;   /* uses that wait to be joined; NULL if none can be joined */

    bool joins;                     /* a value of the range has an input that can be joined */
    int most_inputs;                /* of a value of the range, or of a given input, which is visited too */
    derivative_arguments arguments; /* of the value whose derivative was recorded last; room for most_inputs */
    tg_recompute recompute;
} pass;

static int by_index(const void *a, const void *b)
{
    const int64_t one = (*(tg_value *const *)a)->index, other = (*(tg_value *const *)b)->index;
    return (one > other) - (one < other);
}

static int64_t early_index_of(const pass *p, const tg_value *value)
{
    tg_value **found =
        p->early_count ? bsearch(&value, p->early, (size_t)p->early_count, sizeof *p->early, by_index) : NULL;
    return found ? found - p->early : -1;
}

/* The index of a value in the pass; -1 if the pass does not reach it. */
static inline int64_t index_of(const pass *p, const tg_value *value)
{
    if (value->index < p->first)
        return early_index_of(p, value);
    return value->index <= p->last ? p->early_count + value->index - p->first : -1;
}

static tg_value *value_at(const pass *p, int64_t index)
{
    return index < p->early_count ? p->early[index]
                                  : tg_program_at(&p->tape->program, p->first + index - p->early_count);
}

static tg_value **cotangent_of(const pass *p, const tg_value *value)
{
    return &p->cotangents[index_of(p, value)];
}

/* Marks a tensor's value, if the pass reaches it: a hook may be on a tensor of a pass that failed. */
static void mark(const pass *p, tg_tensor x, uint8_t marks)
{
    const tg_value *value = tg_value_of(x);
    const int64_t index = value ? index_of(p, value) : -1;
    if (index >= 0)
        p->marks[index] |= marks;
}

static inline bool is_marked(const pass *p, const tg_value *value, uint8_t mark)
{
    if (!p->marks)
        return mark & WANTED && value->requires_grad;
    const int64_t index = index_of(p, value);
    return index >= 0 && p->marks[index] & mark;
}

/* ---- computing what was recorded ---- */

/* The pass never releases the value's buffer. */
static void keep_buffer(tg_value *value)
{
    tg_root_of(value)->slot.never_released = true;
}

/* The pass does not release the value's buffer before another reader is recorded, as tg_note_read notes that one. */
static void hold(const pass *p, tg_value *value)
{
    tg_value *root = tg_root_of(value);
    if (root->index >= p->start)
        root->slot.until = TG_ALWAYS;
}

/* Before a hook, these are the cotangents that derivatives still read; in the end, those of given inputs. */
static void hold_cotangents(const pass *p)
{
    for (int64_t i = 0; i < p->count; i++) {
        if (p->cotangents[i])
            hold(p, p->cotangents[i]);
        for (const tg_waiting_use *use = p->waiting ? p->waiting[i].last : NULL; use; use = use->earlier)
            hold(p, use->cotangent);
    }
}

static void hold_recomputed(const pass *p)
{
    const tg_recompute *r = &p->recompute;
    for (int64_t i = 0; r->stand_in && i < r->end - r->first; i++)
        if (r->stand_in[i])
            hold(p, r->stand_in[i]);
}

/* Computes what has been recorded, without create_graph releasing each buffer after its last reader. Before a hook, the
 * pass is not complete: derivatives that follow read cotangents, and what was recomputed. */
static bool compute_recorded(const pass *p, bool complete)
{
    tg_tape *tape = p->tape;
    if (!complete || p->by_inputs)
        hold_cotangents(p);
    if (!complete)
        hold_recomputed(p);
    return tg_run_to(&tape->run, &tape->program, tape->program.count, p->request->create_graph ? TG_NO_PASS : p->start);
}

/* ---- where results of derivatives go ---- */

/* Adds to the cotangent of a value. */
static bool add_cotangent(const pass *p, const tg_value *value, tg_value *addend)
{
    tg_value **cotangent = cotangent_of(p, value);
    *cotangent = *cotangent ? tg_value_of(tg_add(tg_tensor_of(*cotangent), tg_tensor_of(addend))) : addend;
    return *cotangent != NULL;
}

/* True if the derivative that is being recorded made this gradient, for one input alone: so it is no cotangent that was
 * passed through. */
static bool is_own(const pass *p, const tg_value *gradient)
{
    const tg_value *derived_from = p->tape->program.context.derived_from; /* NULL: it is a complete cotangent */
    int inputs = 0;
    for (int i = 0; i < p->arguments.count; i++)
        inputs += p->arguments.gradients[i].value == gradient;
    return derived_from && gradient->derived_from == derived_from && inputs < 2;
}

/* Adds to a parameter's gradient: the operation that computes the addend writes into it or, where others need the
 * addend too, a copy does. The run decides between overwriting and adding (has_gradient), so the same program serves
 * both. */
static bool add_to_parameter(pass *p, tg_value *leaf, tg_value *addend)
{
    if (!is_own(p, addend) || addend->op->flags & TG_VIEW || addend->sink || tg_is_read(addend))
        addend = tg_value_of(tg_copy(tg_tensor_of(addend)));
    if (!addend)
        return false;
    addend->sink = leaf->parameter;
    addend->is_kept = true;
    addend->earlier = leaf->gradient;
    leaf->gradient = addend;
    return true;
}

/* Passes one result of a derivative on to the input it belongs to, summed where the input was broadcast. */
static bool deliver(pass *p, const tg_value *from, tg_value *input, tg_tensor gradient)
{
    if (!gradient.value)
        return true;
    tg_value *value = tg_value_of(gradient);
    if (!value || tg_tape_at(value) != p->tape)
        return tg_tape_fail(p->tape, "the derivative of %s gives %s", from->op->name,
                            tg_tape_problem(p->tape, gradient));
    const bool alike = value->shape == input->shape || tg_shape_equal(value->shape, input->shape);
    char has[128], wants[128];
    if (value->dtype != input->dtype || (!alike && !tg_broadcasts_to(input->shape, value->shape)))
        return tg_tape_fail(p->tape, "the derivative of %s gives %s%s for an input %s%s", from->op->name,
                            tg_dtype_name(value->dtype), tg_shape_text(value->shape, has, sizeof has),
                            tg_dtype_name(input->dtype), tg_shape_text(input->shape, wants, sizeof wants));
    if (!alike && !(value = tg_value_of(tg_sum_to(gradient, *input->shape))))
        return false;
    if (!p->by_inputs && input->parameter && !is_marked(p, input, HOOKED | RETAINED))
        return add_to_parameter(p, input, value);
    return add_cotangent(p, input, value);
}

/* ---- one value ---- */

/* Appends the derivative of a value and passes its results on. */
static bool append_derivative(pass *p, tg_value *value, tg_value *cotangent)
{
    const derivative_arguments *a = &p->arguments;
    tg_context *context = &p->tape->program.context;
    tg_value *stand_in = tg_stand_in(&p->recompute, value);
    for (int i = 0; i < a->count; i++) {
        a->in[i] = tg_tensor_of(tg_stand_in(&p->recompute, value->inputs[i]));
        a->gradients[i] = (tg_tensor){0};
    }
    const tg_derive d = {.out = tg_tensor_of(stand_in),
                         .cotangent = tg_tensor_of(cotangent),
                         .saved = tg_tensor_of(tg_saved_of(stand_in)),
                         .in = a->in,
                         .count = a->count,
                         .attributes = value->attributes,
                         .wanted = a->wanted,
                         .gradient = a->gradients};
    const tg_context of_pass = *context;
    context->scope = value->scope;
    context->derived_from = value;
    context->rule = value->op;
    value->op->derivative(&d);
    context->rule = NULL;
    bool fine = !tg_program_failed(&p->tape->program);
    for (int i = 0; fine && i < a->count; i++)
        if (a->wanted[i])
            fine = deliver(p, value, value->inputs[i], a->gradients[i]);
    *context = of_pass;
    return fine;
}

/* Lets the uses wait whose derivatives are joined: these inputs are not wanted now. Sets `any` if another one is. */
static bool defer_uses(pass *p, tg_value *value, tg_value *cotangent, bool *any)
{
    *any = false;
    for (int i = 0; i < value->input_count; i++) {
        if (p->arguments.wanted[i] && tg_may_join(value, i)) {
            tg_waiting *waiting = &p->waiting[index_of(p, value->inputs[i])];
            tg_waiting_use *use = tg_tape_scratch(p->tape, 1, sizeof *use);
            if (!use)
                return false;
            *use = (tg_waiting_use){.earlier = waiting->last, .value = value, .cotangent = cotangent, .input = i};
            waiting->last = use;
            waiting->count++;
            p->arguments.wanted[i] = false;
        }
        *any |= p->arguments.wanted[i];
    }
    return true;
}

/* Records the joint derivatives of the uses of a value. */
static bool join_uses(pass *p, tg_value *value)
{
    if (!p->waiting)
        return true;
    tg_program *program = &p->tape->program;
    tg_waiting *waiting = &p->waiting[index_of(p, value)];
    bool fine = true;
    const tg_context of_pass = program->context;
    while (fine && waiting->last) {
        const tg_value *of = waiting->last->value;
        program->context.scope = of->scope;
        program->context.derived_from = of;
        program->context.rule = of->op;
        const tg_tensor gradient = tg_join_uses(p->tape, waiting);
        program->context.rule = NULL;
        fine = !tg_program_failed(program) && deliver(p, of, value, gradient);
    }
    program->context = of_pass;
    return fine;
}

/* Passes the cotangent of a value on to those of its inputs that want a gradient, at once or joined with others. */
static bool derive(pass *p, tg_value *value, tg_value *cotangent)
{
    derivative_arguments *a = &p->arguments;
    bool any = false;
    if (!value->op->derivative || value->mode & TG_MODE_DETACHED)
        return true;
    a->count = value->input_count;
    for (int i = 0; i < a->count; i++)
        any |= a->wanted[i] = value->inputs[i]->dtype != TG_I32 && is_marked(p, value->inputs[i], WANTED);
    if (!any)
        return true;
    if (value->mode & TG_MODE_WITHOUT_GRAPH)
        return tg_tape_fail(
            p->tape,
            "%s: tensor %lld (%s) is part of a gradient that was computed without create_graph, so it cannot "
            "be differentiated",
            p->request->function, (long long)value->index, value->op->name);
    if (p->waiting && value->op->joint && !defer_uses(p, value, cotangent, &any))
        return false;
    if (!any)
        return true;
    return (!value->region || tg_recompute_for(&p->recompute, value)) && append_derivative(p, value, cotangent);
}

/* Passes the complete cotangent of a value through its hooks, which run as if outside the pass. */
static tg_value *call_hooks(pass *p, const tg_value *value, tg_value *cotangent)
{
    tg_tape *tape = p->tape;
    if (!compute_recorded(p, false))
        return NULL;
    for (const tg_hook *hook = tg_notes_of(tape)->hooks; hook && cotangent; hook = hook->next) {
        if (tg_value_of(hook->tensor) != value)
            continue;
        keep_buffer(cotangent); /* the hook may keep it */
        cotangent->is_kept = true;
        const tg_context of_pass = tape->program.context;
        tape->program.context.mode = p->outside.mode;
        tape->program.context.pass_start = TG_NO_PASS;
        const tg_tensor returned = hook->function(tg_tensor_of(cotangent), hook->user);
        tape->program.context = of_pass;
        tg_value *after = tg_value_of(returned);
        const char *problem = tg_tape_problem(tape, returned);
        if (!problem && (after->dtype != value->dtype || !tg_shape_equal(after->shape, value->shape)))
            problem = "a tensor of another shape or type";
        if (problem)
            return tg_tape_fail(tape, "a hook on tensor %lld (%s) returned %s", (long long)value->index,
                                value->op                                    ? value->op->name
                                : value->parameter && value->parameter->name ? value->parameter->name
                                                                             : "a leaf",
                                problem),
                   NULL;
        keep_buffer(after);
        cotangent = after;
    }
    return tg_program_failed(&tape->program) ? NULL : cotangent;
}

/* Keeps the complete cotangent, for tg_gradient, of a variable, a retained tensor, or a parameter that is retained or
 * has a hook. Other parameters have got each addend by itself, and no cotangent: see deliver. */
static bool keep_gradient(pass *p, tg_value *value, tg_value *cotangent)
{
    if (value->parameter)
        return add_to_parameter(p, value, cotangent);
    if (!tg_is_variable(value) && !is_marked(p, value, RETAINED))
        return true;
    tg_value *gradient = cotangent;
    if (value->gradient)
        gradient = tg_value_of(tg_add(tg_tensor_of(value->gradient), tg_tensor_of(cotangent)));
    else if (cotangent->index < p->start)
        gradient = tg_value_of(tg_copy(tg_tensor_of(cotangent)));
    if (!gradient)
        return false;
    if (value->gradient)
        gradient->earlier = value->gradient;
    keep_buffer(gradient);
    gradient->is_kept = true;
    value->gradient = gradient;
    return true;
}

/* Completes the cotangent of a value, to which all later values have added, and passes it on. */
static bool visit(pass *p, tg_value *value)
{
    if (!join_uses(p, value))
        return false;
    tg_value *cotangent = *cotangent_of(p, value);
    if (!cotangent)
        return true;
    if (is_marked(p, value, HOOKED) && !(cotangent = call_hooks(p, value, cotangent)))
        return false;
    *cotangent_of(p, value) = is_marked(p, value, INPUT) ? cotangent : NULL; /* a result of the pass; or used up now */
    if (!p->by_inputs && !keep_gradient(p, value, cotangent))
        return false;
    return !value->op || derive(p, value, cotangent);
}

/* ---- a pass ---- */

/* Marks the inputs and every value computed from them or, if the gradients of all parameters and variables are wanted,
 * the values that require one. */
static void mark_paths(pass *p)
{
    const tg_request *r = p->request;
    if (!p->marks)
        return;
    for (int j = 0; j < r->input_count; j++)
        mark(p, r->inputs[j], WANTED | INPUT);
    for (int64_t index = 0; index < p->count; index++) {
        const tg_value *value = value_at(p, index);
        bool wanted = !p->by_inputs && value->requires_grad;
        if (p->by_inputs && value->op && !(value->op->flags & TG_CONSTANT) && !(value->mode & TG_MODE_DETACHED))
            for (int i = 0; i < value->input_count && !wanted; i++)
                wanted = is_marked(p, value->inputs[i], WANTED);
        p->marks[index] |= wanted ? WANTED : 0;
    }
    const tg_notes *notes = tg_notes_of(p->tape);
    for (const tg_retained *one = notes->retained; one && !p->by_inputs; one = one->next)
        mark(p, one->tensor, RETAINED);
    for (const tg_hook *hook = notes->hooks; hook; hook = hook->next)
        mark(p, hook->tensor, HOOKED);
}

/* Sets the cotangent of an output, where the pass starts; an inert one means ones. */
static bool seed(pass *p, tg_value *output, tg_tensor cotangent)
{
    tg_tape *tape = p->tape;
    const bool is_ours = !cotangent.value;
    if (is_ours)
        cotangent = tg_full(tape, output->dtype, *output->shape, 1);
    tg_value *value = tg_value_of(cotangent);
    if (is_ours && value)
        value->shape = output->shape; /* so that those of derivatives are the same one, which saves comparisons */
    const char *function = p->request->function, *name = p->request->cotangent_name;
    const char *problem = tg_tape_problem(tape, cotangent);
    char has[128], wants[128];
    if (problem)
        tg_tape_fail(tape, "%s: the %s is %s", function, name, problem);
    else if (value->dtype != output->dtype || !tg_shape_equal(value->shape, output->shape))
        tg_tape_fail(tape, "%s: the %s is %s%s, but what it belongs to is %s%s", function, name,
                     tg_dtype_name(value->dtype), tg_shape_text(value->shape, has, sizeof has),
                     tg_dtype_name(output->dtype), tg_shape_text(output->shape, wants, sizeof wants));
    else
        return add_cotangent(p, output, value);
    return false;
}

static bool walk(pass *p)
{
    const tg_request *r = p->request;
    tg_program *program = &p->tape->program;
    for (int i = 0; i < r->output_count; i++)
        if (is_marked(p, tg_value_of(r->outputs[i]), WANTED) &&
            !seed(p, tg_value_of(r->outputs[i]), r->cotangents ? r->cotangents[i] : (tg_tensor){0}))
            return false;
    for (int64_t index = p->count - 1; index >= 0; index--)
        if (!visit(p, value_at(p, index)) || tg_program_failed(program))
            return false;
    for (int j = 0; j < r->input_count; j++) {
        tg_value *input = tg_value_of(r->inputs[j]), **cotangent = cotangent_of(p, input);
        *cotangent = *cotangent ? *cotangent : tg_value_of(tg_full(p->tape, input->dtype, *input->shape, 0));
        r->gradients[j] = tg_tensor_of(*cotangent);
    }
    return compute_recorded(p, true);
}

/* Extends the range down to the first value that may have to pass a gradient on to its inputs: not one that requires
 * none, nor the first of the given inputs or a value before it. Checkpoints are included as a whole, as they are
 * recomputed. Finds `joins` and `most_inputs` on the way. */
static void extend_range(pass *p)
{
    int64_t first_input = p->last;
    for (int j = 0; j < p->request->input_count; j++) {
        const tg_value *input = tg_value_of(p->request->inputs[j]);
        first_input = input->index < first_input ? input->index : first_input;
        p->most_inputs = input->input_count > p->most_inputs ? input->input_count : p->most_inputs;
    }
    for (int64_t index = p->last; index >= p->first; index--) {
        const tg_value *value = tg_program_at(&p->tape->program, index);
        p->most_inputs = value->input_count > p->most_inputs ? value->input_count : p->most_inputs;
        p->joins |= tg_may_join_any(value);
        for (const tg_region *region = value->region; region; region = region->parent)
            p->first = region->start < p->first ? region->start : p->first;
        for (int i = 0; i < value->input_count; i++) {
            const tg_value *input = value->inputs[i];
            if (input->index < p->first && input->input_count > 0 &&
                (p->by_inputs ? input->index > first_input : input->requires_grad))
                p->first = input->index;
        }
    }
}

/* Lists what the range reads before it, and the given inputs there; list == NULL: only counts. */
static int64_t list_early(const pass *p, tg_value **list)
{
    int64_t count = 0;
    for (int j = 0; j < p->request->input_count; j++)
        if (tg_value_of(p->request->inputs[j])->index < p->first && ++count && list)
            list[count - 1] = tg_value_of(p->request->inputs[j]);
    for (int64_t index = p->first; index <= p->last; index++) {
        const tg_value *value = tg_program_at(&p->tape->program, index);
        for (int i = 0; i < value->input_count; i++)
            if (value->inputs[i]->index < p->first && ++count && list)
                list[count - 1] = value->inputs[i];
    }
    return count;
}

/* Sets the early values: those listed, each once. */
static bool find_early(pass *p)
{
    const int64_t count = p->first > 0 ? list_early(p, NULL) : 0;
    if (count == 0)
        return true;
    p->early = tg_tape_scratch(p->tape, (size_t)count, sizeof *p->early);
    if (!p->early)
        return false;
    list_early(p, p->early);
    qsort(p->early, (size_t)count, sizeof *p->early, by_index);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || p->early[i] != p->early[p->early_count - 1])
            p->early[p->early_count++] = p->early[i];
    return true;
}

/* Finds the values that a pass must walk. */
static bool find_values(pass *p)
{
    const tg_request *r = p->request;
    p->first = INT64_MAX;
    for (int i = 0; i < r->output_count; i++) {
        const int64_t index = tg_value_of(r->outputs[i])->index;
        p->last = index > p->last ? index : p->last;
        p->first = index < p->first ? index : p->first;
    }
    extend_range(p);
    if (2 * p->first <= p->last) /* the rest costs hardly more, and then there are no early values */
        p->first = 0;
    for (int j = 0; j < r->input_count; j++) {
        const int64_t index = tg_value_of(r->inputs[j])->index;
        p->last = index > p->last ? index : p->last;
    }
    return find_early(p);
}

/* Makes room for what the pass knows of these values. */
static bool make_room(pass *p)
{
    const size_t most = (size_t)p->most_inputs;
    p->count = p->early_count + p->last - p->first + 1;
    p->recompute = (tg_recompute){.tape = p->tape, .first = p->first, .end = p->start};
    p->cotangents = tg_tape_scratch(p->tape, (size_t)p->count, sizeof *p->cotangents);
    const tg_notes *notes = tg_notes_of(p->tape);
    const bool marks = p->by_inputs || p->joins || notes->retained || notes->hooks;
    p->marks = marks ? tg_tape_scratch(p->tape, (size_t)p->count, sizeof *p->marks) : NULL;
    p->waiting = p->joins ? tg_tape_scratch(p->tape, (size_t)p->count, sizeof *p->waiting) : NULL;
    p->arguments.in = tg_tape_scratch(p->tape, most, sizeof(tg_tensor));
    p->arguments.gradients = tg_tape_scratch(p->tape, most, sizeof(tg_tensor));
    p->arguments.wanted = tg_tape_scratch(p->tape, most, sizeof(bool));
    return !tg_program_failed(&p->tape->program);
}

bool tg_record_pass(tg_tape *tape, const tg_request *r)
{
    enum { DEEPEST = 64 };
    if (tape->passes == DEEPEST)
        return tg_tape_fail(
            tape,
            "%s: %d backward passes, each in a hook of another: does a hook differentiate a result of its own tensor?",
            r->function, DEEPEST);
    tg_program *program = &tape->program;
    pass p = {.tape = tape,
              .request = r,
              .by_inputs = r->input_count > 0,
              .start = program->count,
              .outside = program->context};
    const int64_t scratch = tg_arena_here(&tape->scratch);
    tg_program_cut(program, program->count);
    for (int i = 0; i < r->output_count; i++) /* hooks may read it, and the caller afterwards */
        tg_value_of(r->outputs[i])->is_kept = true;
    bool fine = find_values(&p) && make_room(&p);
    if (fine) {
        mark_paths(&p);
        program->context.mode |= (uint8_t)(TG_MODE_OF_PASS | (r->create_graph ? 0 : TG_MODE_WITHOUT_GRAPH));
        program->context.derived_from = NULL;
        program->context.pass_start = p.start;
        tape->passes++;
        fine = walk(&p);
        tape->passes--;
        program->context = p.outside;
    }
    if (!fine) /* what is left of it must not be computed later */
        tg_program_remove(program, p.start);
    tg_arena_rewind(&tape->scratch, scratch);
    return fine;
}
