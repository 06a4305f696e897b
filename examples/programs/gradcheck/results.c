#include "examples/programs/gradcheck/results.h"

verdict verdict_of(const tg_gradcheck_result *result)
{
    if (result->passed)
        return VERDICT_PASSED;
    return result->status == TG_GRADCHECK_CANNOT_TELL ? VERDICT_CANNOT_TELL : VERDICT_FAILED;
}

const char *verdict_name(verdict which)
{
    static const char *const names[VERDICTS] = {"passed", "cannot tell", "FAILED"};
    return names[which];
}

void gradcheck_result_join(tg_gradcheck_result *total, const tg_gradcheck_result *next)
{
    const tg_gradcheck_result before = *total;
    const verdict now = verdict_of(next), then = verdict_of(total);
    if (now > then || (now == VERDICT_PASSED && then == VERDICT_PASSED && next->relative > total->relative))
        *total = *next;
    total->samples = before.samples;
    total->comparisons = before.comparisons + next->comparisons;
    total->along = before.along + next->along;
    total->undecided = before.undecided + next->undecided;
    total->kinks = before.kinks + next->kinks;
    total->sharp = before.sharp + next->sharp;
    total->skipped = before.skipped;
    total->evaluations = before.evaluations + next->evaluations;
    total->failed = before.failed + next->failed;
    total->ended = before.ended || next->ended;
}
