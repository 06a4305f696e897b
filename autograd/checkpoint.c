/* Recomputation in place of stored results.
 *
 *     forward    run the function, keep its result, forget what it recorded:
 *                    tape [... inputs | intermediate results, result ]   ->   [... inputs | leaves, checkpoint ]
 *     backward   run it again behind the end of the tape, differentiate that part alone, forget it again
 *
 * The checkpoint is one operation on the tape. Its inputs are those given, and whatever else the function turned out to
 * use: earlier tensors that require a gradient, and parameters.
 */
#include "autograd/grad.h"
#include "autograd/ops.h"
#include "autograd/rng.h"
#include "autograd/tape_internal.h"

#include <string.h>

/* A generator that the function drew from, where it stood before, and how far it went. */
typedef struct draw {
    tg_rng *rng;
    uint64_t position, drawn;
} draw;

typedef struct checkpoint_attributes {
    tg_function function;
    void *user;
    int given; /* inputs passed to the function; the others are reached by it on its own */
    const void *result;
    tg_dtype dtype;
    tg_shape shape;
    draw *draws;
    int draw_count;
} checkpoint_attributes;

static bool checkpoint_shape(tg_value *out)
{
    const checkpoint_attributes *a = out->attributes;
    out->dtype = a->dtype;
    out->shape = a->shape;
    return true;
}

static void checkpoint_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const checkpoint_attributes *a = out->attributes;
    memcpy(call->out, a->result, (size_t)out->size * tg_dtype_size(out->dtype));
    out->tape->replay_obstacle = "tg_checkpoint forgets what it would have to run again";
}

/* Exchanges the generators' positions with the remembered ones: back before the recomputation, and forth after it. */
static void swap_draws(const checkpoint_attributes *a)
{
    for (int i = 0; i < a->draw_count; i++) {
        uint64_t now = a->draws[i].rng->position;
        a->draws[i].rng->position = a->draws[i].position;
        a->draws[i].position = now;
    }
}

/* The gradients as constants at the place where the tape was rewound to. */
static void keep_only(tg_tape *tape, tg_tape_position position, int count, tg_tensor *gradients)
{
    tg_arena_position scratch = tg_arena_here(&tape->scratch);
    for (int i = 0; i < count; i++) {
        const tg_value *value = tg_value_of(gradients[i]);
        if (!value || value->index < position.count)
            continue;
        size_t bytes = (size_t)value->size * tg_dtype_size(value->dtype);
        tg_value *copy = tg_arena_take(&tape->scratch, sizeof *copy, _Alignof(tg_value));
        void *data = tg_arena_take(&tape->scratch, bytes, 64);
        if (!copy || !data) {
            tg_tape_fail(tape, "out of memory: a gradient of tg_checkpoint");
            return;
        }
        *copy = *value;
        copy->data = memcpy(data, value->data, bytes);
        gradients[i] = (tg_tensor){copy, 0}; /* for the loop below only */
    }
    tg_tape_rewind(tape, position);
    for (int i = 0; i < count; i++) {
        const tg_value *copy = gradients[i].value;
        if (copy && gradients[i].serial == 0)
            gradients[i] = tg_constant(tape, copy->dtype, copy->data, copy->shape);
    }
    tg_arena_rewind(&tape->scratch, scratch);
}

static void checkpoint_derivative(const tg_derive *d)
{
    const checkpoint_attributes *a = d->attributes;
    tg_tape *tape = d->out.value->tape;
    const int no_grad = tape->no_grad, graphless = tape->graphless;
    const bool create_graph = no_grad == 0;
    tape->deferred = false; /* the function may look at its numbers */
    tg_tape_position position = tg_tape_here(tape);
    swap_draws(a);
    tape->no_grad = tape->graphless = 0; /* what it records is about to be differentiated */
    tg_tensor again = a->function(tape, d->in, a->given, a->user);
    tape->no_grad = no_grad;
    tape->graphless = graphless;
    swap_draws(a);
    if (tg_ok(again) &&
        tg_grad_since(position.count, again, d->cotangent, d->in, d->count, create_graph, d->gradient) && !create_graph)
        keep_only(tape, position, d->count, d->gradient);
    tape->deferred = true;
}

static const tg_op checkpoint = {.name = "checkpoint", .arity = TG_VARIADIC,
                                 .attributes_size = sizeof(checkpoint_attributes), .shape = checkpoint_shape,
                                 .forward = checkpoint_forward, .derivative = checkpoint_derivative};

/* What the function used beside its inputs, gathered in scratch memory. */
typedef struct uses {
    tg_tensor *inputs;
    tg_parameter **parameters;
    draw *draws;
    int input_count, parameter_count, draw_count;
} uses;

static void note_draw(uses *u, tg_rng *rng, uint64_t numbers)
{
    int i = 0;
    while (i < u->draw_count && u->draws[i].rng != rng)
        i++;
    if (i == u->draw_count)
        u->draws[u->draw_count++] = (draw){.rng = rng, .position = rng->position};
    u->draws[i].drawn += numbers;
    u->draws[i].position -= numbers;
}

/* The draws behind one value: a stream, or those inside another checkpoint. */
static void note_draws(uses *u, const tg_value *value)
{
    const unsigned random_source = TG_SOURCE | TG_RANDOM;
    if (value->op == &checkpoint) {
        const checkpoint_attributes *a = value->attributes;
        for (int i = 0; i < a->draw_count; i++)
            note_draw(u, a->draws[i].rng, a->draws[i].drawn);
    } else if (value->op && (value->op->flags & random_source) == random_source)
        note_draw(u, *(tg_rng *const *)value->attributes, TG_STREAM_NUMBERS);
}

/* Looks through what was recorded since `start`. */
static bool gather(tg_tape *tape, int64_t start, int given, const tg_tensor *inputs, uses *u)
{
    int64_t links = 0, values = tape->count - start, draws = values;
    for (int64_t i = start; i < tape->count; i++) {
        const tg_value *value = tg_tape_value(tape, i);
        links += value->input_count;
        if (value->op == &checkpoint)
            draws += ((const checkpoint_attributes *)value->attributes)->draw_count;
    }
    *u = (uses){.inputs = tg_arena_take(&tape->scratch, (size_t)(links + given) * sizeof(tg_tensor), sizeof(void *)),
                .parameters = tg_arena_take(&tape->scratch, (size_t)values * sizeof(tg_parameter *), sizeof(void *)),
                .draws = tg_arena_take(&tape->scratch, (size_t)draws * sizeof(draw), sizeof(void *))};
    if (!u->inputs || !u->parameters || !u->draws) {
        tg_tape_fail(tape, "out of memory: tg_checkpoint");
        return false;
    }
    tape->sweep += 2; /* marks what is on the list already */
    for (int j = 0; j < given; j++) {
        u->inputs[u->input_count++] = inputs[j];
        inputs[j].value->mark = tape->sweep;
    }
    for (int64_t i = start; i < tape->count; i++) {
        tg_value *value = tg_tape_value(tape, i);
        if (value->parameter)
            u->parameters[u->parameter_count++] = value->parameter;
        note_draws(u, value);
        for (int k = 0; k < value->input_count; k++) {
            tg_value *input = value->inputs[k];
            if (input->index < start && input->requires_grad && input->mark != tape->sweep) {
                input->mark = tape->sweep;
                u->inputs[u->input_count++] = tg_tensor_of(input);
            }
        }
    }
    return true;
}

/* Replaces what the function recorded by one operation with its result. */
static tg_tensor replace(tg_tape *tape, tg_tape_position position, tg_function function, int given, void *user, uses *u,
                         const tg_value *result)
{
    size_t bytes = (size_t)result->size * tg_dtype_size(result->dtype);
    checkpoint_attributes a = {.function = function, .user = user, .given = given, .dtype = result->dtype,
                               .shape = result->shape, .draw_count = u->draw_count};
    void *copy = tg_arena_take(&tape->scratch, bytes, 64);
    if (!copy) {
        tg_tape_fail(tape, "out of memory: the result of tg_checkpoint");
        return (tg_tensor){0};
    }
    a.result = memcpy(copy, result->data, bytes);
    tg_tape_rewind(tape, position);
    int count = u->input_count + u->parameter_count;
    tg_tensor *inputs = tg_tape_take(tape, (size_t)count * sizeof *inputs, sizeof(void *));
    a.draws = tg_tape_take(tape, (size_t)u->draw_count * sizeof *a.draws, sizeof(void *));
    if (!inputs || !a.draws)
        return (tg_tensor){0};
    memcpy(a.draws, u->draws, (size_t)u->draw_count * sizeof *a.draws);
    memcpy(inputs, u->inputs, (size_t)u->input_count * sizeof *inputs);
    for (int i = 0; i < u->parameter_count; i++)
        inputs[u->input_count + i] = tg_parameter_tensor(tape, u->parameters[i]);
    return tg_apply(&checkpoint, &a, count, inputs);
}

tg_tensor tg_checkpoint(tg_function function, const tg_tensor *inputs, int count, void *user)
{
    if (!function || !inputs || count < 1)
        return (tg_tensor){0};
    tg_tape *tape = tg_tape_of(inputs[0]);
    for (int i = 0; i < count; i++)
        if (!tg_ok(inputs[i]) || tg_tape_of(inputs[i]) != tape) {
            tg_tape_fail(tape, "tg_checkpoint: input %d is inert or on another tape than input 0", i);
            return (tg_tensor){0};
        }
    const tg_tape_position position = tg_tape_here(tape);
    const tg_arena_position scratch = tg_arena_here(&tape->scratch);
    tg_tensor result = function(tape, inputs, count, user), replaced = result;
    const tg_value *value = tg_value_of(result);
    if (!value || value->index < position.count || tape->no_grad)
        return result; /* failed, or nothing to save */
    uses u;
    if (gather(tape, position.count, count, inputs, &u))
        replaced = replace(tape, position, function, count, user, &u, value);
    tg_arena_rewind(&tape->scratch, scratch);
    return tape->failed ? (tg_tensor){0} : replaced;
}
