#define _POSIX_C_SOURCE 200809L
#include "autograd/leaf.h"

#include "autograd/tape/tape_internal.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The fields common to all leaves. */
typedef struct new_leaf {
    const char *what; /* the function that was called */
    tg_dtype dtype;
    const tg_shape *shape;
    void *data; /* NULL: the run allocates the buffer */
    tg_parameter *parameter;
    bool is_variable;
} new_leaf;

static bool requires_grad(const new_leaf *l)
{
    return l->is_variable || (l->parameter && l->parameter->gradient && l->dtype != TG_I32);
}

/* True if type, shape and kind match; the data may differ. */
static bool is_like(const tg_value *value, const new_leaf *l)
{
    return !value->op && value->dtype == l->dtype && value->parameter == l->parameter &&
           value->is_borrowed == (l->data != NULL) && value->is_variable == l->is_variable &&
           value->requires_grad == requires_grad(l) && tg_shape_equal(&value->shape, l->shape);
}

/* The leaf that the previous step had here. */
static tg_value *match(tg_program *program, const new_leaf *l)
{
    tg_value *value = tg_program_next(program);
    if (!value || !is_like(value, l))
        return NULL;
    program->count++;
    if (l->data)
        value->slot.data = l->data;
    return value;
}

static tg_value *append(tg_tape *tape, const new_leaf *l)
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
    value->slot.at = tg_arena_here(&tape->run.arena);
    value->dtype = l->dtype;
    value->shape = *l->shape;
    value->size = size;
    value->parameter = l->parameter;
    value->is_variable = l->is_variable;
    value->is_borrowed = l->data != NULL;
    value->requires_grad = requires_grad(l);
    value->slot.data = l->data;
    return l->data || tg_run_allocate(&tape->run, value) ? value : NULL;
}

static tg_value *push(tg_tape *tape, const new_leaf *l)
{
    if (!tape || tape->program.failed)
        return NULL;
    tg_value *value = match(&tape->program, l);
    return value ? value : append(tape, l);
}

static tg_value *push_copy(tg_tape *tape, const new_leaf *l, const void *data)
{
    if (!tape)
        return NULL;
    if (!data && tg_shape_size(l->shape) > 0) {
        tg_program_fail(&tape->program, "%s: the data is NULL", l->what);
        return NULL;
    }
    tg_value *value = push(tape, l);
    if (value && value->size > 0)
        memcpy(value->slot.data, data, (size_t)value->size * tg_dtype_size(l->dtype));
    return value;
}

tg_tensor tg_constant(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape)
{
    return tg_tensor_of(push_copy(tape, &(new_leaf){.what = "tg_constant", .dtype = dtype, .shape = &shape}, data));
}

tg_tensor tg_borrow(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape)
{
    if (!data)
        return tg_constant(tape, dtype, data, shape);
    /* The core writes only into buffers that it owns, so casting the const away is safe. */
    const new_leaf l = {.what = "tg_borrow", .dtype = dtype, .shape = &shape, .data = (void *)(uintptr_t)data};
    return tg_tensor_of(push(tape, &l));
}

tg_tensor tg_variable(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape)
{
    if (!tape)
        return (tg_tensor){0};
    if (dtype == TG_I32) {
        tg_program_fail(&tape->program, "tg_variable: integers have no gradient; use tg_constant");
        return (tg_tensor){0};
    }
    const new_leaf l = {.what = "tg_variable", .dtype = dtype, .shape = &shape, .is_variable = true};
    return tg_tensor_of(push_copy(tape, &l, data));
}

/* ---- parameters ---- */

/* The leaf of a parameter on this tape. The parameter itself knows no tape: many tapes may evaluate one model at
 * once. */
typedef struct tg_place {
    const tg_parameter *parameter;
    tg_value *leaf; /* the latest leaf: a parameter that was frozen in between has several */
} place;

static int compare_places(const void *a, const void *b)
{
    const uintptr_t one = (uintptr_t)((const place *)a)->parameter, other = (uintptr_t)((const place *)b)->parameter;
    return (one > other) - (one < other);
}

/* The entry of a parameter; NULL, with the error recorded, if out of memory. */
static place *place_of(tg_tape *tape, const tg_parameter *parameter)
{
    const place key = {.parameter = parameter};
    place **found = tfind(&key, &tape->leaves, compare_places), *made;
    if (found)
        return *found;
    made = malloc(sizeof *made);
    if (made) {
        *made = key;
        found = tsearch(made, &tape->leaves, compare_places);
        tape->program.allocations += 2;
    }
    if (!found) {
        free(made);
        tg_program_fail(&tape->program, "out of memory for the place of a parameter");
    }
    return found ? made : NULL;
}

void tg_tape_free_leaves(tg_tape *tape)
{
    while (tape->leaves) {
        place *root = *(place **)tape->leaves;
        tdelete(root, &tape->leaves, compare_places);
        free(root);
    }
}

tg_tensor tg_parameter_tensor(tg_tape *tape, tg_parameter *parameter)
{
    if (!parameter || !tape || tape->program.failed)
        return (tg_tensor){0};
    const new_leaf l = {.what = "tg_parameter_tensor",
                        .dtype = parameter->dtype,
                        .shape = &parameter->shape,
                        .data = parameter->data,
                        .parameter = parameter};
    tg_program *program = &tape->program;
    tg_value *value = parameter->data ? match(program, &l)
                                      : NULL; /* the previous step read it here for the first time: so does this one */
    if (!value) {
        place *here = place_of(tape, parameter);
        if (!here)
            return (tg_tensor){0};
        /* Another parameter may have been at this address when the entry was written. */
        if (here->leaf && here->leaf->index < program->count && is_like(here->leaf, &l) &&
            here->leaf->slot.data == parameter->data)
            return tg_tensor_of(here->leaf);
        if (!parameter->data && tg_shape_size(&parameter->shape) > 0) {
            tg_program_fail(&tape->program, "parameter %s has no data",
                            parameter->name ? parameter->name : "without a name");
            return (tg_tensor){0};
        }
        value = append(tape, &l);
        if (!value)
            return (tg_tensor){0};
        value->place = here;
    }
    value->place->leaf = value;
    value->name = parameter->name;
    value->named_in = program->steps;
    return tg_tensor_of(value);
}

/* ---- new numbers ---- */

bool tg_set(tg_tensor x, tg_dtype dtype, const void *data, tg_shape shape)
{
    tg_value *value = tg_value_of(x);
    if (!value || value->program->failed)
        return false;
    tg_tape *tape = tg_tape_at(value);
    char has[128], wants[128];
    if (value->op || value->parameter || value->is_borrowed)
        tg_program_fail(&tape->program, "tg_set: tensor %lld is not one made by tg_constant or tg_variable",
                        (long long)value->index);
    else if (dtype != value->dtype || !tg_shape_equal(&shape, &value->shape))
        tg_program_fail(&tape->program, "tg_set: %s%s does not fit into %s%s; record the step again for new shapes",
                        tg_dtype_name(dtype), tg_shape_text(&shape, has, sizeof has), tg_dtype_name(value->dtype),
                        tg_shape_text(&value->shape, wants, sizeof wants));
    else if (!data && value->size > 0)
        tg_program_fail(&tape->program, "tg_set: the data is NULL");
    else if (value->size > 0)
        memcpy(value->slot.data, data, (size_t)value->size * tg_dtype_size(dtype));
    return !value->program->failed;
}
