#include "autograd/reverse/notes.h"

static void forget_notes(tg_feature *feature, tg_tape *tape)
{
    tg_notes *notes = (tg_notes *)feature;
    (void)tape;
    notes->hooks = NULL;
    notes->last_hook = &notes->hooks;
    notes->retained = NULL;
    notes->retained_count = 0;
}

static const tg_feature_kind notes_kind = {.size = sizeof(tg_notes), .reset = forget_notes};

const tg_notes *tg_notes_of(const tg_tape *tape)
{
    static const tg_notes none;
    const tg_notes *notes = tg_tape_find(tape, &notes_kind);
    return notes ? notes : &none;
}

tg_tensor tg_retain_gradient(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    tg_tape *tape = value ? tg_tape_at(value) : NULL;
    const tg_retained *known = tape ? tg_notes_of(tape)->retained : NULL;
    while (known && tg_value_of(known->tensor) != value)
        known = known->next;
    if (!tape || known)
        return x;
    tg_notes *notes = tg_tape_have(tape, &notes_kind);
    tg_retained *one = notes ? tg_arena_take(&tape->step_memory, sizeof *one, _Alignof(tg_retained)) : NULL;
    if (!one) {
        tg_tape_fail(tape, "out of memory: tg_retain_gradient");
        return x;
    }
    *one = (tg_retained){notes->retained, x};
    notes->retained = one;
    notes->retained_count++;
    return x;
}

bool tg_add_hook(tg_tensor x, tg_hook_function function, void *user)
{
    tg_value *value = tg_value_of(x);
    if (!value || !function || tg_program_failed(value->program))
        return false;
    tg_tape *tape = tg_tape_at(value);
    tg_notes *notes = tg_tape_have(tape, &notes_kind);
    tg_hook *hook = notes ? tg_arena_take(&tape->step_memory, sizeof *hook, _Alignof(tg_hook)) : NULL;
    if (!hook)
        return tg_tape_fail(tape, "out of memory: tg_add_hook");
    *hook = (tg_hook){.tensor = x, .function = function, .user = user};
    *notes->last_hook = hook;
    notes->last_hook = &hook->next;
    return true;
}
