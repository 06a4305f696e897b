/* Finds the values that a function needs, and places them in memory. */
#include "autograd/export/writer.h"
#include "autograd/ops.h"

#include <stdlib.h>

static tg_place_of *place_of(const tg_writer *w, const tg_value *value)
{
    return &w->places[value->index];
}

static bool is_view(const tg_value *value)
{
    return value->op && value->op->flags & TG_VIEW;
}

static bool is_needed(const tg_writer *w, int64_t index)
{
    return w->places[index].kind != TG_PLACE_NONE;
}

/* The argument of the function that a value is; -1: none. */
static int argument_of(const tg_exported *f, const tg_value *value)
{
    return value == f->argument[0] ? 0 : value == f->argument[1] ? 1 : -1;
}

/* ---- states ---- */

/* A multiple of the elements of the longest vector: loads and stores of vectors shall not cross lines of the cache. */
static int64_t aligned(int64_t elements)
{
    enum { LINE = 16 };
    return (elements + LINE - 1) / LINE * LINE;
}

void tg_places_states(tg_writer *w, const tg_exported *f)
{
    const tg_export_next *next = w->config->next;
    w->places = f->places;
    for (int i = 0; i < next->states; i++) {
        const tg_value *before = tg_value_of(next->state[i].before);
        tg_place_of *p = place_of(w, before);
        p->state = true;
        p->grows = next->state[i].grows;
        p->offset = w->sizes.states;
        w->sizes.states += aligned(before->size);
        place_of(w, tg_value_of(next->state[i].after))->kind = TG_PLACE_MEMORY; /* a result, too */
    }
}

/* A softmax, and the sums of a product, are of the tokens so far. All other operations compute the rows of later tokens,
 * too, which nothing reads. */
static int grown_axis(const tg_value *value, const int *axes)
{
    const int first = value->input_count ? axes[value->inputs[0]->index] : TG_AXIS_NONE,
              rank = value->input_count ? value->inputs[0]->shape->rank : 0;
    if (value->op == &tg_op_softmax && first == rank - 1)
        return first;
    if (value->op == &tg_op_self_attention_last)
        return first == rank - 2 || first == TG_AXIS_NONE ? TG_AXIS_NONE : TG_AXIS_MIXED;
    if (value->op == &tg_op_matmul && tg_writer_word(value, "transpose_a") == 0) {
        const int second = axes[value->inputs[1]->index], steps = value->inputs[1]->shape->rank - 2;
        const bool transposed = tg_writer_word(value, "transpose_b") != 0;
        if (second == steps && transposed && first == TG_AXIS_NONE)
            return value->shape->rank - 1;
        if (second == steps && !transposed && first == rank - 1)
            return TG_AXIS_NONE;
    }
    return tg_axis_after(value, axes, 0);
}

bool tg_places_grow(tg_writer *w, const tg_exported *f)
{
    int *axes = malloc((size_t)w->program->count * sizeof *axes + 1);
    bool fine = axes || tg_program_fail(w->program, "export: out of memory");
    for (int64_t i = 0; fine && i < w->program->count; i++) {
        const tg_value *value = tg_program_at(w->program, i);
        tg_place_of *p = &f->places[i];
        axes[i] = p->kind == TG_PLACE_NONE ? TG_AXIS_NONE
                  : p->grows               ? 1
                  : value->op              ? grown_axis(value, axes)
                                           : TG_AXIS_NONE;
        p->grown = axes[i] + 1;
        fine = (axes[i] != TG_AXIS_MIXED && (value != f->result || p->grown == 0)) ||
               tg_program_fail(w->program, "export: the operation %s reads a state that grows", value->op->name);
    }
    free(axes);
    return fine;
}

/* ---- needed ---- */

/* Gradients of parameters are results too: the first gradient of a parameter is computed in its place, and others are
 * added to it, by their operation if it can. */
static void mark_gradients(tg_writer *w)
{
    for (int64_t i = 0; i < w->program->count; i++) {
        const tg_value *value = tg_program_at(w->program, i);
        w->places[i].kind = value->sink ? TG_PLACE_GRADIENTS : TG_PLACE_NONE;
        for (int64_t k = 0; k < i && value->sink && !w->places[i].adds; k++)
            w->places[i].adds = tg_program_at(w->program, k)->sink == value->sink;
        if (w->places[i].adds && !value->op->add)
            w->places[i].kind = TG_PLACE_MEMORY;
    }
}

void tg_places_mark(tg_writer *w, const tg_exported *f)
{
    w->places = f->places;
    if (f->trains)
        mark_gradients(w);
    place_of(w, f->result)->kind = TG_PLACE_MEMORY;
    for (int64_t i = w->program->count - 1; i >= 0; i--) {
        const tg_value *value = tg_program_at(w->program, i);
        const int argument = argument_of(f, value);
        if (!is_needed(w, i))
            continue;
        if (argument >= 0) {
            w->places[i].kind = f->port[argument]->scale ? TG_PLACE_MEMORY : TG_PLACE_ARGUMENT;
            w->places[i].argument = f->name[argument];
        } else if (w->places[i].state)
            w->places[i].kind = TG_PLACE_STATE;
        else if (w->places[i].kind != TG_PLACE_GRADIENTS)
            w->places[i].kind = is_view(value) ? TG_PLACE_VIEW : value->op ? TG_PLACE_MEMORY : TG_PLACE_WEIGHTS;
        for (int k = 0; k < value->input_count && value->size > 0 && argument < 0; k++)
            if (!is_needed(w, value->inputs[k]->index))
                place_of(w, value->inputs[k])->kind = TG_PLACE_MEMORY;
    }
}

static bool is_weight(const tg_writer *w, int64_t index)
{
    for (int k = 0; k < TG_FUNCTIONS; k++)
        if (w->function[k].places[index].kind == TG_PLACE_WEIGHTS)
            return true;
    return false;
}

/* In all functions. */
static void set_transposed(tg_writer *w, const tg_value *weight, bool transposed)
{
    for (int k = 0; k < TG_FUNCTIONS; k++)
        w->function[k].places[weight->index].transposed = transposed;
}

void tg_places_transpose(tg_writer *w)
{
    for (int64_t i = 0; i < w->program->count; i++)
        if (is_weight(w, i) && tg_program_at(w->program, i)->shape->rank == 2)
            set_transposed(w, tg_program_at(w->program, i), true);
    for (const tg_exported *f = w->function; f < w->function + TG_FUNCTIONS; f++) {
        w->places = f->places;
        for (int64_t i = 0; i < w->program->count; i++) {
            const tg_value *value = tg_program_at(w->program, i);
            for (int k = 0; k < value->input_count && is_needed(w, i); k++)
                if (k != 1 || (value->op != &tg_op_linear && value->op != &tg_op_grouped_linear))
                    set_transposed(w, value->inputs[k], false);
        }
        if (f->result)
            set_transposed(w, f->result, false);
    }
}

/* ---- weights, and the gradients of those that are parameters ---- */

void tg_writer_weights(tg_writer *w, bool integers, void (*put)(tg_writer *w, const tg_value *leaf))
{
    for (int of_parameters = 1; of_parameters >= 0; of_parameters--)
        for (int64_t i = 0; i < w->program->count; i++) {
            const tg_value *value = tg_program_at(w->program, i);
            if (is_weight(w, i) && (value->dtype == TG_I32) == integers && (value->parameter != NULL) == of_parameters)
                put(w, value);
        }
}

static void place_weight(tg_writer *w, const tg_value *leaf)
{
    int64_t *used = leaf->dtype == TG_I32 ? &w->sizes.constants : &w->sizes.weights;
    for (int k = 0; k < TG_FUNCTIONS; k++)
        w->function[k].places[leaf->index].offset = *used;
    *used += leaf->size;
    w->sizes.parameters += leaf->parameter ? leaf->size : 0;
}

void tg_places_weights(tg_writer *w)
{
    tg_writer_weights(w, true, place_weight);
    tg_writer_weights(w, false, place_weight);
}

const tg_value *tg_places_leaf(const tg_writer *w, const tg_parameter *parameter)
{
    for (int64_t i = 0; i < w->program->count; i++)
        if (tg_program_at(w->program, i)->parameter == parameter)
            return tg_program_at(w->program, i);
    return NULL;
}

/* ---- values ---- */

/* The first place for `size` elements that overlaps no value still needed when value number `now` is computed. */
static int64_t free_place(const tg_writer *w, int64_t now, int64_t size)
{
    const bool integer = tg_program_at(w->program, now)->dtype == TG_I32;
    int64_t at = 0;
    for (int64_t i = 0; i < now; i++) {
        const tg_place_of *p = &w->places[i];
        const int64_t taken = p->kind == TG_PLACE_MEMORY ? tg_program_at(w->program, i)->size : 0;
        if (taken > 0 && p->last >= now && (tg_program_at(w->program, i)->dtype == TG_I32) == integer &&
            p->offset < at + size && at < p->offset + taken) {
            at = aligned(p->offset + taken);
            i = -1; /* it may now overlap an earlier one */
        }
    }
    return at;
}

void tg_places_values(tg_writer *w, const tg_exported *f)
{
    w->places = f->places;
    for (int64_t i = 0; i < w->program->count; i++) {
        const tg_value *value = tg_program_at(w->program, i), *end = value, *next = value;
        for (; is_needed(w, i) && next; next = tg_writer_joined(w, next))
            end = next;
        for (int k = 0; k < value->input_count && is_needed(w, i) && argument_of(f, value) < 0; k++)
            if (place_of(w, tg_root_of(value->inputs[k]))->last < end->index)
                place_of(w, tg_root_of(value->inputs[k]))->last = end->index;
    }
    place_of(w, tg_root_of(f->result))->last = w->program->count;
    for (int i = 0; f == &w->function[TG_NEXT] && i < w->config->next->states; i++)
        place_of(w, tg_root_of(tg_value_of(w->config->next->state[i].after)))->last = w->program->count;
    for (int64_t i = 0; i < w->program->count; i++) {
        const tg_value *value = tg_program_at(w->program, i);
        tg_place_of *p = &w->places[i];
        int64_t *used = value->dtype == TG_I32 ? &w->sizes.integers : &w->sizes.memory;
        if (p->kind == TG_PLACE_GRADIENTS)
            p->offset = place_of(w, tg_places_leaf(w, value->sink))->offset;
        if (p->kind == TG_PLACE_VIEW)
            p->offset = value->op->view_offset ? value->op->view_offset(value) : 0;
        p->scratch = value->op && is_needed(w, i) ? tg_writer_scratch(w, value) : 0;
        const int64_t own = p->kind == TG_PLACE_MEMORY ? aligned(value->size) : 0, all = own + p->scratch;
        const int64_t at = free_place(w, i, all);
        if (own > 0)
            p->offset = at;
        p->scratch_offset = at + own;
        if (all > 0 && at + all > *used)
            *used = at + all;
    }
}
