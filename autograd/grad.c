/* Reverse mode. One sweep walks the tape backwards from the outputs, without recursion:
 *
 *     for each value with a cotangent, latest first:  cotangents of its inputs += derivative(its cotangent)
 *
 * A derivative is made of operations, which are recorded behind the end of the tape. They are recorded first and evaluated
 * when the derivative is complete: by then the sweep knows which of them is the gradient of a parameter and lets it be computed
 * straight into the parameter's gradient block.
 */
#include "autograd/grad.h"

#include "autograd/ops.h"
#include "autograd/tape_internal.h"

#include <string.h>

typedef struct tg_hook {
    struct tg_hook *next;
    tg_hook_function function;
    void *user;
} tg_hook;

typedef struct sweep {
    tg_tape *tape;
    int64_t from, to;  /* values from down to, both included */
    int64_t recorded;  /* where the sweep's own values begin */
    uint64_t mark;     /* of values on a path to an input, mark + 1 of the inputs; 0: follow requires_grad */
    bool create_graph;
} sweep;

static bool is_wanted(const sweep *s, const tg_value *value)
{
    if (s->mark)
        return (value->mark & ~(uint64_t)1) == s->mark;
    return value->requires_grad;
}

static bool is_input(const sweep *s, const tg_value *value)
{
    return s->mark && value->mark == s->mark + 1;
}

/* Adds to the cotangent of a value. From the second contribution on the sum has a buffer of its own and grows in place,
 * unless somebody may differentiate through it later. */
static void add_cotangent(const sweep *s, tg_value *value, tg_tensor give)
{
    tg_value *so_far = tg_value_of(value->cotangent);
    if (!so_far) {
        value->cotangent = give;
        give.value->holds++;
        return;
    }
    value->cotangent = tg_add(tg_tensor_of(so_far), give);
    tg_value *sum = tg_value_of(value->cotangent);
    if (!sum)
        return;
    sum->holds++;
    so_far->holds--;
    if (s->create_graph)
        return;
    sum->accumulator_of = value;
    if (so_far->accumulator_of == value && !sum->data) {
        sum->data = so_far->data;
        sum->recyclable = so_far->recyclable;
        so_far->recyclable = false;
    }
}

/* After a derivative is computed: gives back the buffers of what was recorded on the way and is no cotangent, and of the
 * cotangent that it came from, unless that was passed on. What has a view stays. */
static void recycle(const sweep *s, int64_t start, tg_value *cotangent)
{
    tg_tape *tape = s->tape;
    for (int64_t i = start; i < tape->count; i++)
        for (tg_value *view = tg_tape_value(tape, i); view->op && view->op->flags & TG_VIEW; view = view->inputs[0])
            view->inputs[0]->recyclable = false;
    for (int64_t i = start; i < tape->count; i++) {
        tg_value *value = tg_tape_value(tape, i);
        if (value->recyclable && value->holds == 0)
            tg_value_recycle(value);
    }
    if (cotangent->recyclable && cotangent->holds == 0 && cotangent->index >= s->recorded)
        tg_value_recycle(cotangent);
}

/* Adds to the gradient of a parameter. The first contribution since the last optimiser step is written over what is there: by the
 * very operation that computes it if `fresh` says that nobody else uses its result, by a copy otherwise. */
static void give_to_parameter(tg_value *leaf, tg_tensor give, bool fresh)
{
    tg_parameter *parameter = leaf->parameter;
    tg_value *value = tg_value_of(give);
    if (!parameter->has_gradient) {
        leaf->gradient_was_fresh = true;
        bool pending = !value->data && value->op && !(value->op->flags & TG_VIEW);
        if (!fresh || !pending)
            value = tg_value_of(tg_copy(give));
    } else {
        tg_tensor so_far = leaf->gradient;
        if (!tg_ok(so_far))
            so_far = tg_borrow(leaf->tape, parameter->dtype, parameter->gradient, parameter->shape);
        value = tg_value_of(tg_add(so_far, give));
    }
    if (!value)
        return;
    value->data = parameter->gradient;
    leaf->gradient = tg_tensor_of(value);
    parameter->has_gradient = true;
}

/* Whether a derivative's result is like its input, or the core can sum it down to that. */
static bool fits(const tg_value *give, const tg_value *input)
{
    tg_shape both;
    return give->dtype == input->dtype && tg_shape_broadcast(&give->shape, &input->shape, &both) &&
           tg_shape_equal(&both, &give->shape);
}

/* Hands one result of a derivative on to the input it belongs to. */
static void deliver(const sweep *s, const tg_value *from, tg_value *input, tg_tensor give, bool fresh)
{
    const tg_value *value = tg_value_of(give);
    if (!value)
        return;
    if (!fits(value, input)) {
        char has[128], wants[128];
        tg_tape_fail(s->tape, "the derivative of %s gives %s%s for an input %s%s", from->op->name,
                     tg_dtype_name(value->dtype), tg_shape_text(&value->shape, has, sizeof has),
                     tg_dtype_name(input->dtype), tg_shape_text(&input->shape, wants, sizeof wants));
        return;
    }
    if (!tg_shape_equal(&value->shape, &input->shape)) {
        give = tg_sum_to(give, input->shape);
        fresh = true;
        if (!tg_ok(give))
            return;
    }
    if (!s->mark && input->parameter && !input->hooks && !input->retains_gradient)
        give_to_parameter(input, give, fresh);
    else
        add_cotangent(s, input, give);
}

/* Larger than any arity of ours; concatenation of more than these takes memory from the arena. */
enum { FEW_INPUTS = 8 };

static bool derive(const sweep *s, tg_value *value, tg_tensor cotangent)
{
    tg_tape *tape = s->tape;
    int count = value->input_count;
    tg_tensor few_in[FEW_INPUTS], few_give[FEW_INPUTS], *in = few_in, *give = few_give;
    bool few_wanted[FEW_INPUTS], *wanted = few_wanted;
    if (count > FEW_INPUTS) {
        in = tg_tape_take(tape, 2 * (size_t)count * sizeof *in, sizeof(void *));
        wanted = tg_tape_take(tape, (size_t)count, 1);
        if (!in || !wanted)
            return false;
        give = in + count;
    }
    bool any = false;
    for (int i = 0; i < count; i++) {
        in[i] = tg_tensor_of(value->inputs[i]);
        give[i] = (tg_tensor){0};
        wanted[i] = value->inputs[i]->dtype != TG_I32 && is_wanted(s, value->inputs[i]);
        any |= wanted[i];
    }
    if (!any || !value->op->derivative || value->detached)
        return true;
    if (value->graphless) {
        tg_tape_fail(tape, "tensor %lld (%s) is part of a gradient that was computed without create_graph, so it cannot be "
                           "differentiated", (long long)value->index, value->op->name);
        return false;
    }

    const int64_t start = tape->count;
    const tg_scope *scope = tape->scope;
    tape->scope = value->scope;
    tape->differentiated = value;
    tape->deferred = true;
    const tg_derive d = {.out = tg_tensor_of(value), .cotangent = cotangent,
                         .saved = tg_tensor_of(tg_saved_of(value)), .in = in, .count = count,
                         .attributes = value->attributes, .wanted = wanted, .gradient = give};
    value->op->derivative(&d);
    for (int i = 0; i < count; i++) {
        bool fresh = give[i].value != cotangent.value;
        for (int other = 0; fresh && other < count; other++)
            fresh = other == i || give[other].value != give[i].value;
        if (wanted[i])
            deliver(s, value, value->inputs[i], give[i], fresh);
    }
    tape->deferred = false;
    bool evaluated = tg_tape_evaluate(tape);
    tape->scope = scope;
    tape->differentiated = NULL;
    if (evaluated && !s->create_graph)
        recycle(s, start, cotangent.value);
    return evaluated;
}

/* Keeps what tg_gradient will be asked for, once a cotangent is complete. */
static void keep_gradient(tg_value *value, tg_tensor cotangent)
{
    if (value->parameter)
        give_to_parameter(value, cotangent, false);
    else if (value->retains_gradient) {
        value->gradient = tg_ok(value->gradient) ? tg_add(value->gradient, cotangent) : cotangent;
        cotangent.value->recyclable = false;
    }
}

static bool visit(const sweep *s, tg_value *value)
{
    tg_tensor cotangent = value->cotangent;
    if (!cotangent.value)
        return true;
    cotangent.value->holds -= !is_input(s, value);
    for (tg_hook *hook = value->hooks; hook; hook = hook->next) {
        cotangent.value->recyclable = false; /* the hook may keep it */
        cotangent = hook->function(cotangent, hook->user);
    }
    const tg_value *after = tg_value_of(cotangent);
    if (!after || after->dtype != value->dtype || !tg_shape_equal(&after->shape, &value->shape)) {
        tg_tape_fail(s->tape, "a hook on tensor %lld (%s) returned %s", (long long)value->index,
                     value->op ? value->op->name : value->name ? value->name : "a leaf",
                     after ? "a tensor of another shape or type" : "an inert tensor");
        return false;
    }
    value->cotangent = is_input(s, value) ? cotangent : (tg_tensor){0};
    if (!s->mark) {
        s->tape->deferred = value->parameter != NULL; /* a parameter's gradient has its place already */
        keep_gradient(value, cotangent);
        s->tape->deferred = false;
        if (!tg_tape_evaluate(s->tape))
            return false;
    }
    return !value->op || derive(s, value, cotangent);
}

static bool run(const sweep *s)
{
    tg_tape *tape = s->tape;
    tape->no_grad += !s->create_graph;
    tape->graphless += !s->create_graph;
    bool fine = !tape->failed;
    for (int64_t index = s->from; fine && index >= s->to; index--)
        fine = visit(s, tg_tape_value(tape, index)) && !tape->failed;
    tape->no_grad -= !s->create_graph;
    tape->graphless -= !s->create_graph;
    return fine;
}

/* Leaves no cotangent behind for the next sweep. */
static void clear_cotangents(const sweep *s)
{
    for (int64_t index = s->to; index <= s->from && index < s->tape->count; index++)
        tg_tape_value(s->tape, index)->cotangent = (tg_tensor){0};
}

/* Puts the cotangent of an output where the sweep starts; an inert one means ones. */
static void seed(const sweep *s, tg_value *output, tg_tensor cotangent)
{
    tg_tape *tape = s->tape;
    if (!cotangent.value)
        cotangent = tg_full(tape, output->dtype, output->shape, 1);
    const tg_value *value = tg_value_of(cotangent);
    if (!value || value->tape != tape)
        tg_tape_fail(tape, "the cotangent is not a tensor of this tape and step");
    else if (value->dtype != output->dtype || !tg_shape_equal(&value->shape, &output->shape)) {
        char has[128], wants[128];
        tg_tape_fail(tape, "the cotangent is %s%s, but its output is %s%s", tg_dtype_name(value->dtype),
                     tg_shape_text(&value->shape, has, sizeof has), tg_dtype_name(output->dtype),
                     tg_shape_text(&output->shape, wants, sizeof wants));
    } else
        add_cotangent(s, output, cotangent);
}

bool tg_backward_from(tg_tensor output, tg_tensor cotangent)
{
    tg_value *value = tg_value_of(output);
    if (!value || value->tape->failed)
        return false;
    if (!value->requires_grad) {
        tg_tape_fail(value->tape, "tg_backward: the tensor depends on no parameter and no variable (or was made inside "
                                  "tg_no_grad_begin), so there is nothing to differentiate");
        return false;
    }
    tg_tape *tape = value->tape;
    if (tg_follow_sweep(tape, value, cotangent.value))
        return !tape->failed;
    tg_tape_diverge(tape);
    sweep s = {.tape = tape, .from = value->index, .recorded = tape->count};
    tape->sweeping++;
    seed(&s, value, cotangent);
    bool fine = run(&s);
    tape->sweeping--;
    if (fine)
        tg_follow_remember_sweep(tape, value, cotangent.value, s.recorded);
    else
        clear_cotangents(&s);
    return fine;
}

bool tg_backward(tg_tensor loss)
{
    const tg_value *value = tg_value_of(loss);
    if (value && value->size != 1) {
        char shape[128];
        tg_tape_fail(value->tape, "tg_backward: expected a loss of one element, not %s; reduce it, or give a cotangent to "
                                  "tg_backward_from", tg_shape_text(&value->shape, shape, sizeof shape));
    }
    return tg_backward_from(loss, (tg_tensor){0});
}

tg_tensor tg_gradient(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    return value ? value->gradient : (tg_tensor){0};
}

tg_tensor tg_retain_gradient(tg_tensor x)
{
    tg_value *value = tg_value_of(x);
    if (value)
        value->retains_gradient = true;
    return x;
}

bool tg_add_hook(tg_tensor x, tg_hook_function function, void *user)
{
    tg_value *value = tg_value_of(x);
    if (!value || !function || value->tape->failed)
        return false;
    tg_hook *hook = tg_tape_take(value->tape, sizeof *hook, _Alignof(tg_hook));
    if (!hook)
        return false;
    tg_follow_no_sweep(value->tape);
    *hook = (tg_hook){.function = function, .user = user};
    tg_hook **end = &value->hooks;
    while (*end)
        end = &(*end)->next;
    *end = hook;
    return true;
}

/* Marks the inputs and every value computed from them. */
static void mark_paths(sweep *s, const tg_tensor *inputs, int input_count)
{
    s->mark = s->tape->sweep += 2;
    for (int j = 0; j < input_count; j++)
        inputs[j].value->mark = s->mark + 1;
    for (int64_t index = s->to; index <= s->from; index++) {
        tg_value *value = tg_tape_value(s->tape, index);
        for (int i = 0; i < value->input_count && value->mark < s->mark; i++)
            if (is_wanted(s, value->inputs[i]) && !(value->op->flags & TG_CONSTANT) && !value->detached)
                value->mark = s->mark;
    }
}

/* All of one tape and step; the range that the sweep has to walk. */
static bool find_range(sweep *s, const char *what, const tg_tensor *tensors, int count)
{
    for (int i = 0; i < count; i++) {
        const tg_value *value = tg_value_of(tensors[i]);
        if (!s->tape && value)
            *s = (sweep){.tape = value->tape, .from = value->index, .to = value->index, .create_graph = s->create_graph};
        if (!value || value->tape != s->tape || value->dtype == TG_I32) {
            tg_tape_fail(s->tape, "tg_grad: %s %d is %s", what, i,
                         !value ? "inert" : value->dtype == TG_I32 ? "an integer tensor" : "on another tape");
            return false;
        }
        s->from = value->index > s->from ? value->index : s->from;
        s->to = value->index < s->to ? value->index : s->to;
    }
    return s->tape && !s->tape->failed;
}

bool tg_grad(const tg_tensor *outputs, int output_count, const tg_tensor *inputs, int input_count,
             const tg_tensor *cotangents, bool create_graph, tg_tensor *gradients)
{
    for (int j = 0; gradients && j < input_count; j++)
        gradients[j] = (tg_tensor){0};
    sweep s = {.create_graph = create_graph};
    if (!outputs || !inputs || !gradients || output_count < 1 || input_count < 1 ||
        !find_range(&s, "output", outputs, output_count) || !find_range(&s, "input", inputs, input_count))
        return false;
    s.recorded = s.tape->count;
    mark_paths(&s, inputs, input_count);
    s.tape->sweeping++;
    for (int i = 0; i < output_count; i++)
        if (is_wanted(&s, outputs[i].value))
            seed(&s, outputs[i].value, cotangents ? cotangents[i] : (tg_tensor){0});
    bool fine = run(&s);
    s.tape->sweeping--;
    for (int j = 0; fine && j < input_count; j++) {
        const tg_value *input = inputs[j].value;
        gradients[j] = input->cotangent.value ? input->cotangent
                                              : tg_full(s.tape, input->dtype, input->shape, 0);
        fine = tg_ok(gradients[j]);
    }
    clear_cotangents(&s);
    return fine;
}

bool tg_grad_since(int64_t start, tg_tensor output, tg_tensor cotangent, const tg_tensor *inputs, int input_count,
                   bool create_graph, tg_tensor *gradients)
{
    tg_tape *tape = output.value->tape;
    sweep s = {.tape = tape, .from = output.value->index, .to = start, .recorded = tape->count, .create_graph = create_graph};
    tg_tensor *outer = tg_tape_take(tape, (size_t)input_count * sizeof *outer, sizeof(void *));
    if (!outer)
        return false;
    for (int j = 0; j < input_count; j++) /* a sweep around this one may have left its sums here */
        outer[j] = inputs[j].value->cotangent;
    for (int j = 0; j < input_count; j++)
        inputs[j].value->cotangent = (tg_tensor){0};
    mark_paths(&s, inputs, input_count);
    tape->sweeping++;
    seed(&s, output.value, cotangent);
    bool fine = run(&s);
    tape->sweeping--;
    for (int j = 0; j < input_count; j++) {
        gradients[j] = inputs[j].value->cotangent;
        inputs[j].value->cotangent = (tg_tensor){0};
    }
    for (int j = 0; j < input_count; j++)
        inputs[j].value->cotangent = outer[j];
    clear_cotangents(&s);
    return fine;
}
