/* The time of each operation: a feature of the tape while it is measured, and for as long as it can be read. */
#include "autograd/base/platform.h"
#include "autograd/listing.h"
#include "autograd/tape/tape_internal.h"

#include <stdlib.h>
#include <string.h>

/* Of one value: its total time, and how often it was computed in that time. */
typedef struct total {
    double seconds;
    int64_t runs;
} total;

typedef struct times {
    tg_feature feature;
    total *totals; /* of the first `count` values */
    int64_t count;
} times;

static void forget(tg_feature *feature, int64_t count)
{
    times *t = (times *)feature;
    if (count < t->count)
        memset(t->totals + count, 0, (size_t)(t->count - count) * sizeof *t->totals);
}

static bool reserve(times *t, tg_program *program)
{
    if (t->count >= program->known)
        return true;
    total *totals = realloc(t->totals, (size_t)program->known * sizeof *totals);
    if (!totals)
        return tg_program_fail(program, "out of memory for the times of %lld operations", (long long)program->known);
    const int64_t before = t->count;
    t->totals = totals;
    t->count = program->known;
    forget(&t->feature, before);
    return true;
}

static bool compute(tg_feature *feature, tg_run *run, tg_value *value)
{
    times *t = (times *)feature;
    if (!reserve(t, value->program))
        return false;
    const double begin = tg_seconds();
    const bool fine = tg_run_compute(run, feature->next, value);
    t->totals[value->index].seconds += tg_seconds() - begin;
    t->totals[value->index].runs++;
    return fine;
}

static void release(tg_feature *feature)
{
    free(((times *)feature)->totals);
}

static const tg_feature_kind kind = {
    .level = TG_LEVEL_TIME, .size = sizeof(times), .cut = forget, .compute = compute, .free = release};

void tg_tape_time(tg_tape *tape, bool on)
{
    times *t = !tape ? NULL : on ? tg_tape_have(tape, &kind) : tg_tape_find(tape, &kind);
    if (!t && on)
        tg_tape_fail(tape, "out of memory: tg_tape_time");
    if (!t)
        return;
    if (on)
        forget(&t->feature, 0);
    t->feature.computes = on;
}

bool tg_tape_time_at(const tg_tape *tape, int64_t index, tg_operation_time *time)
{
    if (!tape || !time || index < 0 || index >= tape->program.count)
        return false;
    const tg_value *value = tg_program_at(&tape->program, index), *of = value;
    while (of->derived_from)
        of = of->derived_from;
    const times *t = tg_tape_find(tape, &kind);
    const total sum = t && index < t->count ? t->totals[index] : (total){0};
    *time = (tg_operation_time){
        .operation = tg_kind_of(value), .backward = of != value, .runs = sum.runs, .seconds = sum.seconds};
    tg_text_scope(&(tg_text){time->scope, sizeof time->scope, 0}, of);
    if (value->op && value->op->work)
        time->flops = value->op->work(value);
    return true;
}
