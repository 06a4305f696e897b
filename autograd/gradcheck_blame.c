/* Which operation of a wrong function is wrong by itself: each one recorded is checked with the inputs it had. */
#include "autograd/gradcheck_internal.h"

#include "autograd/tape_internal.h"
#include "autograd/text.h"

#include <string.h>

/* A recorded operation as a function of its different inputs: x * x has one. */
typedef struct recorded {
    const tg_value *value;
    tg_gradcheck_input *inputs; /* [count of the operation], of which `count` are used */
    int count;
    int *which;
    tg_tensor *room;
} recorded;

static bool make_recorded(tg_arena *arena, const tg_value *value, const bool *depends, recorded *r)
{
    size_t count = (size_t)value->input_count;
    *r = (recorded){.value = value,
                    .inputs = tg_arena_take(arena, count * sizeof *r->inputs, sizeof(int64_t)),
                    .which = tg_arena_take(arena, count * sizeof *r->which, sizeof(int)),
                    .room = tg_arena_take(arena, count * sizeof *r->room, sizeof(void *))};
    if (!r->inputs || !r->which || !r->room)
        return false;
    for (size_t i = 0; i < count; i++) {
        const tg_value *input = value->inputs[i];
        size_t same = 0;
        while (value->inputs[same] != input)
            same++;
        if (same < i) {
            r->which[i] = r->which[same];
            continue;
        }
        r->which[i] = r->count;
        r->inputs[r->count++] = (tg_gradcheck_input){.shape = input->shape,
                                                     .name = input->name,
                                                     .data = input->dtype == TG_F64 ? input->data : NULL,
                                                     .integers = input->dtype == TG_I32 ? input->data : NULL,
                                                     .fixed = !depends[input->index]};
    }
    return true;
}

static tg_verdict check_recorded(const tg_check *c, const recorded *r)
{
    tg_check_call call = {r->value->op, r->value->attributes, r->value->input_count, r->which, r->room};
    tg_check local = {.name = r->value->op->name,
                      .function = tg_check_apply,
                      .user = &call,
                      .inputs = r->inputs,
                      .count = r->count,
                      .options = c->options,
                      .rng = c->rng,
                      .verdict = {.sample = -1}};
    if (local.options.order < c->verdict.order)
        local.options.order = c->verdict.order;
    tg_check_run(&local);
    tg_check_close(&local);
    return local.verdict;
}

static bool is_checkable(const tg_value *value, const bool *depends)
{
    if (!value->op || !value->op->derivative || value->op->flags & TG_CONSTANT || value->dtype != TG_F64)
        return false;
    bool any = false;
    for (int i = 0; i < value->input_count; i++)
        any |= depends[value->inputs[i]->index] && value->inputs[i]->dtype == TG_F64;
    return any;
}

static void add_blame(tg_text *why, const tg_value *value, const tg_verdict *local)
{
    tg_text_add(why, ". The first operation on its tape that is wrong by itself is ");
    tg_text_call(why, value);
    tg_text_place(why, value);
    tg_text_add(why, ": %s", local->why);
}

/* Which values of the tape depend on an input that varies. */
static bool *find_dependents(tg_check *c, tg_arena *arena)
{
    bool *depends = tg_arena_take(arena, (size_t)c->tape->count, 1);
    for (int64_t index = 0; depends && index < c->tape->count; index++) {
        const tg_value *value = tg_tape_value(c->tape, index);
        depends[index] = false;
        for (int p = 0; p < c->part_count; p++)
            depends[index] |= c->varied[p].value == value;
        for (int i = 0; i < value->input_count && !(value->op->flags & TG_CONSTANT); i++)
            depends[index] |= depends[value->inputs[i]->index];
    }
    return depends;
}

/* The number on the tape of the first wrong operation, and its verdict; -1 if each is right. */
static int64_t first_wrong(tg_check *c, tg_arena *arena, const bool *depends, tg_verdict *local)
{
    for (int64_t index = 0; index < c->tape->count; index++) {
        const tg_value *value = tg_tape_value(c->tape, index);
        recorded r;
        if (!is_checkable(value, depends) || !make_recorded(arena, value, depends, &r))
            continue;
        *local = check_recorded(c, &r);
        if (!local->passed && local->result != TG_GRADCHECK_REFUSED)
            return index;
    }
    return -1;
}

void tg_check_blame(tg_check *c)
{
    if (!c->point || c->verdict.result == TG_GRADCHECK_REFUSED)
        return;
    tg_verdict verdict = c->verdict, local;
    tg_arena arena = {0};
    tg_tensor result;
    const bool *depends = tg_check_record(c, c->point, &result) ? find_dependents(c, &arena) : NULL;
    tg_text why = {verdict.why, sizeof verdict.why, strlen(verdict.why)};
    if (depends) {
        verdict.operation = first_wrong(c, &arena, depends, &local);
        if (verdict.operation < 0)
            tg_text_add(&why, ". Every operation on its tape is right by itself, so a value must reach the "
                              "result past the tape");
        else
            add_blame(&why, tg_tape_value(c->tape, verdict.operation), &local);
    }
    c->verdict = verdict;
    tg_arena_free(&arena);
}
