#define _POSIX_C_SOURCE 200809L
#include "autograd/leaf.h"

#include "autograd/tape/changes.h"
#include "autograd/tape/repeat.h"
#include "autograd/tape/tape_internal.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static tg_value *append(tg_tape *tape, const tg_new_leaf *l)
{
    const int64_t size = tg_shape_size(l->shape);
    char text[128];
    if (tg_dtype_size(l->dtype) == 0)
        tg_program_fail(&tape->program, "%s: there is no type %d", l->what, (int)l->dtype);
    else if (size < 0)
        tg_program_fail(&tape->program,
                        "%s: %s is no shape: a dimension is negative, the rank over %d or the size too large", l->what,
                        tg_shape_text(l->shape, text, sizeof text), TG_MAX_RANK);
    tg_value *value = tg_program_append(&tape->program);
    if (!value)
        return NULL;
    value->slot.arena_position = tg_arena_here(&tape->run.arena);
    value->dtype = l->dtype;
    value->shape = tg_program_take(&tape->program, sizeof *value->shape, _Alignof(tg_shape));
    if (value->shape)
        *value->shape = *l->shape;
    value->size = size;
    value->parameter = l->parameter;
    value->is_borrowed = l->data != NULL;
    value->requires_grad = tg_leaf_requires_grad(l);
    value->slot.data = l->data;
    if (value->shape && (l->data || tg_run_allocate(&tape->run, value)))
        return value;
    tg_program_remove(&tape->program, value->index);
    return NULL;
}

/* The leaf that the step before had here, or a new one. */
static tg_value *push(tg_tape *tape, const tg_new_leaf *l)
{
    if (!tape || tg_program_failed(&tape->program))
        return NULL;
    tg_value *value = tg_repeat_leaf(&tape->program, l);
    return value ? value : append(tape, l);
}

static tg_tensor push_copy(tg_tape *tape, const tg_new_leaf *l, const void *data)
{
    if (l->is_variable && l->dtype == TG_I32)
        tg_tape_fail(tape, "%s: integers have no gradient; use tg_constant", l->what);
    else if (!data && tg_shape_size(l->shape) > 0)
        tg_tape_fail(tape, "%s: the data is NULL", l->what);
    tg_value *value = push(tape, l);
    if (value && value->size > 0)
        memcpy(value->slot.data, data, tg_bytes_of(value));
    return tg_tensor_of(value);
}

tg_tensor tg_constant(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape)
{
    return push_copy(tape, &(tg_new_leaf){.what = "tg_constant", .dtype = dtype, .shape = &shape}, data);
}

tg_tensor tg_borrow(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape)
{
    if (!data)
        return tg_constant(tape, dtype, data, shape);
    /* The core writes only into buffers that it owns, so casting the const away is safe. */
    const tg_new_leaf l = {.what = "tg_borrow", .dtype = dtype, .shape = &shape, .data = (void *)(uintptr_t)data};
    return tg_tensor_of(push(tape, &l));
}

tg_tensor tg_variable(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape)
{
    const tg_new_leaf l = {.what = "tg_variable", .dtype = dtype, .shape = &shape, .is_variable = true};
    return push_copy(tape, &l, data);
}

/* ---- parameters ---- */

enum { MOST_LEAVES = 16 };

/* Where the leaves of a parameter have been on this tape, the latest first: several if it was frozen in between, its
 * set grew, or steps differ. The parameter itself knows no tape: many tapes may evaluate one model at once. */
typedef struct leaves {
    const tg_parameter *parameter;
    int64_t index[MOST_LEAVES];
    int count;
} leaves;

/* All of them: a feature of the tape. */
typedef struct all_leaves {
    tg_feature feature;
    void *tree; /* of <search.h>, ordered by the parameter's address */
} all_leaves;

static int compare_parameters(const void *a, const void *b)
{
    const uintptr_t one = (uintptr_t)((const leaves *)a)->parameter, other = (uintptr_t)((const leaves *)b)->parameter;
    return (one > other) - (one < other);
}

static void free_leaves(tg_feature *feature)
{
    all_leaves *all = (all_leaves *)feature;
    while (all->tree) {
        leaves *root = *(leaves **)all->tree;
        tdelete(root, &all->tree, compare_parameters);
        free(root);
    }
}

static const tg_feature_kind leaves_kind = {.size = sizeof(all_leaves), .free = free_leaves};

/* The entry of a parameter; NULL, with the error recorded, if out of memory. */
static leaves *leaves_of(tg_tape *tape, const tg_parameter *parameter)
{
    all_leaves *all = tg_tape_have(tape, &leaves_kind);
    const leaves key = {.parameter = parameter};
    leaves **found = all ? tfind(&key, &all->tree, compare_parameters) : NULL, *made;
    if (found)
        return *found;
    made = all ? malloc(sizeof *made) : NULL;
    if (made) {
        made->parameter = parameter;
        made->count = 0;
        found = tsearch(made, &all->tree, compare_parameters);
        tape->program.allocations += 2;
    }
    if (!found) {
        free(made);
        tg_program_fail(&tape->program, "out of memory for the leaves of a parameter");
    }
    return found ? made : NULL;
}

/* The leaf that this step has for the parameter. */
static tg_value *known_leaf(const leaves *here, const tg_program *program, const tg_new_leaf *l)
{
    for (int i = 0; i < here->count; i++) {
        tg_value *leaf = here->index[i] < program->count ? tg_program_at(program, here->index[i]) : NULL;
        if (leaf && tg_is_like(leaf, l) && leaf->slot.data == l->data)
            return leaf;
    }
    return NULL;
}

/* Notes where a leaf is; the last of those before it makes room if need be. */
static void note_leaf(leaves *here, int64_t index)
{
    int i = 0;
    while (i < here->count && here->index[i] != index)
        i++;
    if (i == here->count && here->count < MOST_LEAVES)
        here->count++;
    for (i = i < MOST_LEAVES ? i : MOST_LEAVES - 1; i > 0; i--)
        here->index[i] = here->index[i - 1];
    here->index[0] = index;
}

tg_tensor tg_parameter_tensor(tg_tape *tape, tg_parameter *parameter)
{
    if (!parameter || !tape || tg_program_failed(&tape->program))
        return (tg_tensor){0};
    const tg_new_leaf l = {.what = "tg_parameter_tensor",
                           .dtype = parameter->dtype,
                           .shape = &parameter->shape,
                           .data = parameter->data,
                           .parameter = parameter};
    tg_program *program = &tape->program;
    if (!parameter->data && tg_shape_size(&parameter->shape) > 0) {
        tg_program_fail(program, "parameter %s has no data", parameter->name ? parameter->name : "without a name");
        return (tg_tensor){0};
    }
    tg_value *value = tg_repeat_leaf(program, &l); /* the last step read it here for the first time: so does this one */
    if (!value) {
        leaves *here = leaves_of(tape, parameter);
        tg_value *leaf = here ? known_leaf(here, program, &l) : NULL;
        if (leaf)
            return tg_is_unchanged(leaf, tape->run.began) ? tg_tensor_of(leaf) : (tg_tensor){0};
        value = here ? append(tape, &l) : NULL;
        if (!value)
            return (tg_tensor){0};
        note_leaf(here, value->index);
    }
    value->change = tg_latest_change();
    return tg_tensor_of(value);
}

/* ---- new numbers ---- */

bool tg_set(tg_tensor x, tg_dtype dtype, const void *data, tg_shape shape)
{
    tg_value *value = tg_value_of(x);
    if (!value || tg_program_failed(value->program))
        return false;
    tg_tape *tape = tg_tape_at(value);
    char has[128], wants[128];
    if (value->op || value->parameter || value->is_borrowed)
        return tg_tape_fail(tape, "tg_set: tensor %lld is not one made by tg_constant or tg_variable",
                            (long long)value->index);
    if (dtype != value->dtype || !tg_shape_equal(&shape, value->shape))
        return tg_tape_fail(tape, "tg_set: %s%s does not fit into %s%s; record the step again for new shapes",
                            tg_dtype_name(dtype), tg_shape_text(&shape, has, sizeof has), tg_dtype_name(value->dtype),
                            tg_shape_text(value->shape, wants, sizeof wants));
    if (!data && value->size > 0)
        return tg_tape_fail(tape, "tg_set: the data is NULL");
    if (value->size > 0)
        memcpy(value->slot.data, data, tg_bytes_of(value));
    if (tg_is_read(value))
        value->change = tg_next_change();
    return true;
}
