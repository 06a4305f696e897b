#include "autograd/tape/program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

bool tg_program_fail(tg_program *program, const char *format, ...)
{
    if (!program || tg_program_failed(program))
        return false;
    va_list arguments;
    va_start(arguments, format);
    tg_fail_arguments(&program->error, format, arguments);
    va_end(arguments);
    if (!tg_program_failed(program))
        strcpy(program->error.text, "an error without a text");
    return false;
}

/* ---- steps ---- */

void tg_program_reset(tg_program *program)
{
    program->serial = tg_step_serial(program) + TG_SERIALS;
    program->count = 0;
    program->passes.next = program->regions.next = 0;
    program->names = NULL;
    program->context = (tg_context){.pass_start = TG_NO_PASS};
}

void tg_program_free(tg_program *program)
{
    for (int i = 0; i < program->pages.count; i++)
        free(program->pages.items[i]);
    free(program->pages.items);
    free(program->passes.items);
    free(program->regions.items);
    tg_arena_free(&program->arena);
    tg_arena_free(&program->scopes);
}

/* ---- values ---- */

static bool add_page(tg_program *program)
{
    tg_value *page = malloc(TG_PAGE_VALUES * sizeof *page); /* written value by value, as they are appended */
    if (!page || !tg_program_list(program, &program->pages, page)) {
        free(page);
        return false;
    }
    program->allocations++;
    return true;
}

tg_value *tg_program_append(tg_program *program)
{
    if (tg_program_failed(program))
        return NULL;
    if (program->count < program->known)
        tg_program_cut(program, program->count);
    if ((uint8_t)program->serial == TG_MOST_REMOVALS) {
        tg_program_fail(
            program,
            "%d times in this step, an operation or a pass failed after it had begun; tg_tape_reset ends the step",
            TG_MOST_REMOVALS);
        return NULL;
    }
    if (program->count >= TG_MOST_VALUES ||
        (program->count == (int64_t)program->pages.count * TG_PAGE_VALUES && !add_page(program))) {
        tg_program_fail(program, "out of memory for tensor number %lld of the tape", (long long)program->count);
        return NULL;
    }
    tg_value *value = tg_program_at(program, program->count);
    const int32_t index = (int32_t)program->count++;
    program->known = program->count;
    program->recorded++;
    /* In parts: for a longer one compilers choose an instruction that is slow to start. */
    memset(value, 0, offsetof(tg_value, program));
    memset(&value->program, 0, offsetof(tg_value, arena_position) - offsetof(tg_value, program));
    memset(&value->arena_position, 0, offsetof(tg_value, few_inputs) - offsetof(tg_value, arena_position));
    value->program = program;
    value->index = index;
    value->scope = program->context.scope;
    value->region = program->context.region;
    value->derived_from = program->context.derived_from;
    value->mode = program->context.mode;
    value->removals = (uint8_t)program->serial;
    value->arena_position = tg_arena_here(&program->arena);
    value->slot.until = index; /* if nothing reads it, a pass releases it as soon as it is computed */
    return value;
}

void *tg_program_take_slowly(tg_program *program, size_t size, size_t alignment)
{
    if (program->count < program->known)
        tg_program_cut(program, program->count);
    void *bytes = tg_arena_take(&program->arena, size, alignment);
    if (!bytes)
        tg_program_fail(program, "out of memory: %zu bytes for operation %lld of the tape", size,
                        (long long)program->count);
    return bytes;
}

tg_value *tg_saved_of(const tg_value *value)
{
    const tg_program *program = value->program;
    if (!value->op || !value->op->saved || value->index + 1 >= program->known)
        return NULL;
    tg_value *next = tg_program_at(program, value->index + 1);
    return next->is_saved ? next : NULL;
}

bool tg_is_read(const tg_value *value)
{
    for (int64_t i = value->index + 1; i < value->program->count; i++) {
        const tg_value *later = tg_program_at(value->program, i);
        for (int k = 0; k < later->input_count; k++)
            if (later->inputs[k] == value)
                return true;
    }
    return false;
}

/* ---- scopes ---- */

/* The scope of this name in the current one; NULL if there has been none. In a step that repeats the last one, that is
 * where the next value is, so all scopes are searched only in other steps. */
static const tg_scope *find_scope(const tg_program *program, const char *name)
{
    const tg_scope *outer = program->context.scope;
    const tg_scope *scope = program->count < program->known ? tg_program_at(program, program->count)->scope : NULL;
    while (scope && scope->parent != outer)
        scope = scope->parent;
    if (scope && strcmp(scope->name, name) == 0)
        return scope;
    scope = program->last_scope;
    while (scope && (scope->parent != outer || strcmp(scope->name, name) != 0))
        scope = scope->next;
    return scope;
}

void tg_program_enter_scope(tg_program *program, const char *name)
{
    const tg_scope *scope = find_scope(program, name);
    tg_scope *made =
        scope ? NULL : tg_arena_take(&program->scopes, sizeof *made + strlen(name) + 1, _Alignof(tg_scope));
    if (made) {
        made->parent = program->context.scope;
        made->next = program->last_scope;
        strcpy(made->name, name);
        scope = program->last_scope = made;
    }
    if (scope)
        program->context.scope = scope;
    else
        tg_program_fail(program, "out of memory for scope %s", name);
}

/* ---- lists ---- */

bool tg_program_list(tg_program *program, tg_list *list, void *item)
{
    if (list->next == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 4;
        void **items = realloc(list->items, (size_t)capacity * sizeof *items);
        if (!items)
            return tg_program_fail(program, "out of memory for a list of the tape");
        list->items = items;
        list->capacity = capacity;
        program->allocations++;
    }
    list->items[list->next++] = item;
    list->count = list->next;
    return true;
}
