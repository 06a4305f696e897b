/* Decides when a tape's memory is planned: once steps repeat, and less eagerly after plans that did not last. */
#include "autograd/memory/planner.h"

#include "autograd/base/platform.h"
#include "autograd/memory/lifetimes.h"
#include "autograd/products.h"
#include "autograd/tape/repeat.h"

#include <limits.h>
#include <stdlib.h>

/* Moves the buffers of a step that is over and was computed as a whole. Without memory for that, all stays as it is. */
static void plan(tg_tape *tape)
{
    size_t size = 0;
    tg_program *program = &tape->program;
    tg_use *uses = tg_find_offsets(program, tape->saves_memory, &size);
    tg_run_block *block = uses ? tg_run_block_new(size) : NULL;
    if (block) {
        tg_set_buffers(program, uses, block->data);
        tg_run_move(&tape->run, block);
        program->allocations++;
    }
    free(uses);
}

/* Called at the end of each step. */
static void plan_if_steps_repeat(tg_feature *feature, tg_tape *tape)
{
    enum { MOST_PATIENT = 3 };
    tg_planner *planner = (tg_planner *)feature;
    const tg_program *program = &tape->program;
    const bool repeats = !tg_program_failed(program) && program->known > 0 && program->count == program->known &&
                         program->recorded == planner->recorded;
    planner->recorded = program->recorded;
    planner->repeats = repeats ? planner->repeats + (planner->repeats < INT_MAX) : 0;
    if (planner->repeats >> planner->patience == 0 || planner->planned == program->recorded)
        return;
    plan(tape);
    planner->planned = program->recorded;
    planner->patience += planner->patience < MOST_PATIENT; /* the next plan may be as short-lived as this one was */
}

static const tg_feature_kind kind = {.size = sizeof(tg_planner), .reset = plan_if_steps_repeat};

tg_planner *tg_planner_of(const tg_tape *tape)
{
    return tg_tape_find(tape, &kind);
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
