/* Decides when a tape's memory is planned: once steps repeat, and less eagerly after plans that did not last. */
#include "autograd/memory/planner.h"

#include "autograd/memory/lifetimes.h"
#include "autograd/products.h"

#include <stdlib.h>

/* Moves the buffers of a step that is over and was computed as a whole. Without memory for that, all stays as it is. */
static void plan(tg_run *run, const tg_program *program, bool saves_memory)
{
    size_t size;
    tg_use *uses = calloc((size_t)program->known, sizeof *uses);
    char *block = NULL;
    if (uses && tg_lifetimes_of(program, saves_memory, uses, &size)) {
        size = size > 0 ? size : TG_BUFFER_ALIGNMENT;
        block = aligned_alloc(TG_BUFFER_ALIGNMENT, size);
    }
    for (int64_t i = 0; block && i < program->known; i++) {
        tg_value *value = tg_program_at(program, i);
        value->slot.at = 0;
        value->slot.until = uses[i].until;
        if (tg_has_buffer(value))
            value->slot.data = block + uses[uses[i].buffer].at;
    }
    free(uses);
    if (block)
        tg_run_move(run, block, size);
}

static void plan_if_due(tg_feature *feature, tg_tape *tape)
{
    enum { MOST_PATIENT = 3 };
    tg_planner *planner = (tg_planner *)feature;
    if (tape->repeats >> planner->patience == 0 || planner->planned == tape->program.recorded)
        return;
    plan(&tape->run, &tape->program, tape->saves_memory);
    planner->planned = tape->program.recorded;
    planner->patience += planner->patience < MOST_PATIENT; /* the next plan may be as short-lived as this one was */
}

static const tg_feature_kind kind = {.size = sizeof(tg_planner), .reset = plan_if_due};

tg_planner *tg_planner_of(const tg_tape *tape)
{
    return tg_tape_find(tape, &kind);
}

tg_tape *tg_tape_new(void)
{
    tg_tape *tape = tg_tape_make();
    if (tape && !tg_tape_have(tape, &kind)) {
        tg_tape_free(tape);
        return NULL;
    }
    if (tape && tg_products_error())
        tg_tape_fail(tape, "%s", tg_products_error());
    return tape;
}

void tg_tape_save_memory(tg_tape *tape, bool on)
{
    if (!tape || tape->saves_memory == on)
        return;
    if (tape->program.count > 0) {
        tg_tape_fail(tape, "tg_tape_save_memory: a step has begun; call it right after tg_tape_new or tg_tape_reset");
        return;
    }
    tg_program_cut(&tape->program, 0); /* its memory was planned for the other way */
    tape->saves_memory = on;
    tg_planner_of(tape)->patience = 0;
}
