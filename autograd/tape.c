#include "autograd/tape.h"

#include "autograd/tape_internal.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

tg_tape *tg_tape_new(void)
{
    static atomic_uint_fast64_t tapes;
    tg_tape *tape = calloc(1, sizeof *tape);
    if (tape) /* serials differ between tapes, so that a parameter knows its place on one of them from its serial alone */
        tape->next_serial = tape->first_serial = (atomic_fetch_add(&tapes, 1) + 1) << 40;
    return tape;
}

void tg_tape_free(tg_tape *tape)
{
    if (!tape)
        return;
    for (int64_t i = 0; i < tape->block_count; i++)
        free(tape->blocks[i]);
    free(tape->blocks);
    tg_arena_free(&tape->arena);
    tg_arena_free(&tape->scratch);
    free(tape);
}

void tg_tape_reset(tg_tape *tape)
{
    if (!tape)
        return;
    if (tape->failed || tape->watches) {
        tape->followed_count = 0;
        tape->follows = false;
    } else if (!tape->follows) {
        tape->followed_count = tape->count;
        tape->followed_end = tg_arena_here(&tape->arena);
        tape->follows = tape->count > 0;
    } /* otherwise this step was one that it followed, or the beginning of it, and what it followed still stands */
    tape->count = tape->evaluated = 0;
    tape->first_serial = tape->next_serial;
    tape->scope = NULL;
    tape->no_grad = tape->graphless = tape->sweeping = 0;
    tape->deferred = false;
    tape->differentiated = NULL;
    tape->replay_obstacle = NULL;
    tape->spares = NULL;
    tape->steps++;
    if (!tape->follows) {
        tape->followed_sweep = (tg_sweep_span){0};
        tg_arena_empty(&tape->arena);
    }
    tg_arena_empty(&tape->scratch);
}

tg_tape_position tg_tape_here(tg_tape *tape)
{
    tg_tape_diverge(tape);
    return (tg_tape_position){tape->count, tg_arena_here(&tape->arena)};
}

void tg_tape_rewind(tg_tape *tape, tg_tape_position position)
{
    tg_tape_diverge(tape);
    tape->count = position.count;
    if (tape->evaluated > position.count)
        tape->evaluated = position.count;
    tape->spares = NULL; /* they may lie behind this place */
    tg_arena_rewind(&tape->arena, position.arena);
}

tg_tape_counts tg_tape_count(const tg_tape *tape)
{
    if (!tape)
        return (tg_tape_counts){0};
    int64_t block_bytes = TG_BLOCK_VALUES * (int64_t)sizeof(tg_value), used = tape->arena.bytes_used;
    if (tape->follows)
        used = tape->count < tape->followed_count ? tg_tape_value(tape, tape->count)->arena_before.bytes_used
                                                  : tape->followed_end.bytes_used;
    return (tg_tape_counts){
        .values = tape->count,
        .bytes_used = used + tape->scratch.bytes_used + tape->count * (int64_t)sizeof(tg_value),
        .bytes_held = tape->arena.bytes_held + tape->scratch.bytes_held + tape->block_count * block_bytes,
        .allocations = tape->allocations + tape->arena.allocations + tape->scratch.allocations,
    };
}

/* ---- errors ---- */

void tg_tape_fail(tg_tape *tape, const char *format, ...)
{
    if (!tape || tape->failed)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tape->error, sizeof tape->error, format, arguments);
    va_end(arguments);
    tape->failed = true;
}

const char *tg_tape_error(const tg_tape *tape)
{
    if (!tape)
        return "no tape: it is NULL, perhaps because tg_tape_new was out of memory";
    return tape->failed ? tape->error : NULL;
}

void tg_tape_clear_error(tg_tape *tape)
{
    if (!tape)
        return;
    tape->failed = false;
    tape->error[0] = '\0';
}

/* ---- values and handles ---- */

static bool add_block(tg_tape *tape)
{
    if (tape->block_count == tape->block_capacity) {
        int64_t capacity = tape->block_capacity ? 2 * tape->block_capacity : 16;
        tg_value **blocks = realloc(tape->blocks, (size_t)capacity * sizeof *blocks);
        if (!blocks)
            return false;
        tape->blocks = blocks;
        tape->block_capacity = capacity;
        tape->allocations++;
    }
    tg_value *block = calloc(TG_BLOCK_VALUES, sizeof *block);
    if (!block)
        return false;
    tape->blocks[tape->block_count++] = block;
    tape->allocations++;
    return true;
}

/* Field by field, which is several times as fast as what compilers make of `*value = (tg_value){0}`. What every
 * caller writes itself is left out: dtype, shape, size, and the place on the tape. */
static inline void clear(tg_value *value)
{
    value->op = NULL;
    value->attributes = NULL;
    value->inputs = NULL;
    value->input_count = 0;
    value->data = NULL;
    value->recyclable = false;
    value->holds = 0;
    value->requires_grad = value->retains_gradient = value->borrowed = false;
    value->is_saved = value->gradient_was_fresh = value->retained = value->reached = false;
    value->accumulator_of = NULL;
    value->mark = 0;
    value->cotangent = value->gradient = (tg_tensor){0};
    value->parameter = NULL;
    value->hooks = NULL;
    value->name = NULL;
}

tg_value *tg_tape_push(tg_tape *tape)
{
    if (!tape || tape->failed)
        return NULL;
    tg_tape_diverge(tape);
    if (tape->count == tape->block_count * TG_BLOCK_VALUES && !add_block(tape)) {
        tg_tape_fail(tape, "out of memory for tensor number %lld of the tape", (long long)tape->count);
        return NULL;
    }
    tg_value *value = tg_tape_value(tape, tape->count);
    clear(value);
    value->tape = tape;
    value->serial = tape->next_serial++;
    value->index = tape->count++;
    value->scope = tape->scope;
    value->of_sweep = tape->sweeping > 0;
    value->graphless = tape->graphless > 0;
    value->detached = tape->no_grad > tape->graphless;
    value->arena_before = tg_arena_here(&tape->arena);
    return value;
}

void *tg_tape_take(tg_tape *tape, size_t size, size_t alignment)
{
    tg_tape_diverge(tape);
    void *bytes = tg_arena_take(&tape->arena, size, alignment);
    if (!bytes)
        tg_tape_fail(tape, "out of memory: %zu bytes for operation %lld of the tape", size, (long long)tape->count);
    return bytes;
}

enum { SMALLEST_SPARE = 64, SPARES_LOOKED_AT = 8 };

static void *take_spare(tg_tape *tape, size_t size)
{
    tg_spare **link = &tape->spares;
    for (int i = 0; *link && i < SPARES_LOOKED_AT; i++, link = &(*link)->next)
        if ((*link)->size == size) {
            tg_spare *spare = *link;
            *link = spare->next;
            return spare;
        }
    return NULL;
}

void tg_value_recycle(tg_value *value)
{
    size_t size = (size_t)value->size * tg_dtype_size(value->dtype);
    value->recyclable = false;
    if (size < SMALLEST_SPARE)
        return;
#ifdef TG_DEBUG
    memset(value->data, 0xff, size); /* NaN: whoever reads on shall notice */
#endif
    tg_spare *spare = value->data;
    *spare = (tg_spare){value->tape->spares, size};
    value->tape->spares = spare;
}

bool tg_value_allocate(tg_value *value)
{
    if (value->data)
        return true;
    tg_tape *tape = value->tape;
    size_t size = (size_t)value->size * tg_dtype_size(value->dtype);
    if (tape->spares && size >= SMALLEST_SPARE)
        value->data = take_spare(tape, size);
    if (!value->data) /* aligned to a cache line, or to what a vector load wants */
        value->data = tg_tape_take(tape, size, size < SMALLEST_SPARE ? 16 : 64);
    value->recyclable = value->op != NULL;
    return value->data != NULL;
}

tg_tape *tg_tape_of(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    return value ? value->tape : NULL;
}

tg_tensor tg_named(tg_tensor x, const char *name)
{
    tg_value *value = tg_value_of(x);
    if (value)
        value->name = name;
    return x;
}

/* ---- scopes ---- */

void tg_no_grad_begin(tg_tape *tape)
{
    if (tape)
        tape->no_grad++;
}

void tg_no_grad_end(tg_tape *tape)
{
    if (tape && tape->no_grad > 0)
        tape->no_grad--;
}

int tg_no_grad_suspend(tg_tape *tape)
{
    if (!tape)
        return 0;
    const int scopes = tape->no_grad - tape->graphless;
    tape->no_grad = tape->graphless;
    return scopes;
}

void tg_no_grad_resume(tg_tape *tape, int scopes)
{
    if (tape)
        tape->no_grad += scopes;
}

void tg_scope_begin(tg_tape *tape, const char *name)
{
    if (!tape || tape->failed || tg_follow_scope(tape, name ? name : "?"))
        return;
    tg_scope *scope = tg_tape_take(tape, sizeof *scope, _Alignof(tg_scope));
    if (!scope)
        return;
    *scope = (tg_scope){.parent = tape->scope, .name = name ? name : "?"};
    tape->scope = scope;
}

void tg_scope_end(tg_tape *tape)
{
    if (tape && tape->scope)
        tape->scope = tape->scope->parent;
}

/* ---- leaves ---- */

/* What all leaves are made of. */
typedef struct leaf {
    const char *what; /* the function that was called */
    tg_dtype dtype;
    const tg_shape *shape;
    void *data; /* NULL: the buffer comes from the arena */
    tg_parameter *parameter;
    bool is_variable;
} leaf;

/* A value without an operation. */
static tg_value *push_leaf(tg_tape *tape, const leaf *l)
{
    if (!tape || tape->failed)
        return NULL;
    tg_value *followed = tg_follow_leaf(tape, l->dtype, l->shape, l->data, l->parameter, l->is_variable);
    if (followed)
        return followed;
    const tg_shape *shape = l->shape;
    int64_t size = tg_shape_size(shape);
    if (tg_dtype_size(l->dtype) == 0) {
        tg_tape_fail(tape, "%s: there is no type %d", l->what, (int)l->dtype);
        return NULL;
    }
    if (size < 0) {
        char text[128];
        tg_tape_fail(tape, "%s: %s is no shape: a dimension is negative, the rank over %d or the size too large", l->what,
                     tg_shape_text(shape, text, sizeof text), TG_MAX_RANK);
        return NULL;
    }
    tg_value *value = tg_tape_push(tape);
    if (!value)
        return NULL;
    value->dtype = l->dtype;
    value->shape = *shape;
    value->size = size;
    value->data = l->data;
    value->borrowed = l->data != NULL;
    value->parameter = l->parameter;
    value->requires_grad = l->is_variable || (l->parameter && l->parameter->gradient && l->dtype != TG_I32);
    value->retains_gradient = l->is_variable;
    if (!tape->deferred)
        tape->evaluated = tape->count;
    return tg_value_allocate(value) ? value : NULL;
}

static tg_value *push_copy(tg_tape *tape, const leaf *l, const void *data)
{
    if (!data && tg_shape_size(l->shape) > 0) {
        tg_tape_fail(tape, "%s: the data is NULL", l->what);
        return NULL;
    }
    tg_value *value = push_leaf(tape, l);
    if (value && value->size > 0)
        memcpy(value->data, data, (size_t)value->size * tg_dtype_size(l->dtype));
    return value;
}

tg_tensor tg_constant(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape)
{
    return tg_tensor_of(push_copy(tape, &(leaf){.what = "tg_constant", .dtype = dtype, .shape = &shape}, data));
}

tg_tensor tg_borrow(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape)
{
    if (!data)
        return tg_constant(tape, dtype, data, shape);
    /* The core writes into buffers it owns only, so the const survives the detour. */
    const leaf l = {.what = "tg_borrow", .dtype = dtype, .shape = &shape, .data = (void *)(uintptr_t)data};
    return tg_tensor_of(push_leaf(tape, &l));
}

tg_tensor tg_variable(tg_tape *tape, tg_dtype dtype, const void *data, tg_shape shape)
{
    if (dtype == TG_I32) {
        tg_tape_fail(tape, "tg_variable: integers have no gradient; use tg_constant");
        return (tg_tensor){0};
    }
    const leaf l = {.what = "tg_variable", .dtype = dtype, .shape = &shape, .is_variable = true};
    return tg_tensor_of(push_copy(tape, &l, data));
}

tg_tensor tg_parameter_tensor(tg_tape *tape, tg_parameter *parameter)
{
    if (!parameter || !tape)
        return (tg_tensor){0};
    if (parameter->leaf_serial >= tape->first_serial && parameter->leaf_index < tape->count) {
        tg_value *known = tg_tape_value(tape, parameter->leaf_index);
        if (known->serial == parameter->leaf_serial)
            return tg_tensor_of(known);
    }
    if (!parameter->data && tg_shape_size(&parameter->shape) > 0) {
        tg_tape_fail(tape, "parameter %s has no data", parameter->name ? parameter->name : "without a name");
        return (tg_tensor){0};
    }
    tg_value *value = push_leaf(tape, &(leaf){.what = "tg_parameter_tensor", .dtype = parameter->dtype, .shape = &parameter->shape,
                                              .data = parameter->data, .parameter = parameter});
    if (!value)
        return (tg_tensor){0};
    value->name = parameter->name;
    if (parameter->used)
        __atomic_store_n(parameter->used, 1, __ATOMIC_RELAXED);
    parameter->leaf_index = value->index;
    parameter->leaf_serial = value->serial;
    return tg_tensor_of(value);
}
