/* Anomaly mode: finds the operation that made the first NaN or infinity. */

#include "autograd/base/shape_internal.h"
#include "autograd/tape/tape_internal.h"

#include <math.h>

typedef struct range {
    double low, high; /* of the finite elements */
    bool nan, infinite;
    int64_t first; /* the first element that is not finite; -1 if all are */
} range;

static range range_of(const tg_value *value)
{
    range r = {.low = INFINITY, .high = -INFINITY, .first = -1};
    if (value->dtype == TG_I32)
        return r;
    for (int64_t i = 0; i < value->size; i++) {
        const double x = tg_element(value->dtype, value->slot.data, i);
        if (isfinite(x)) {
            r.low = x < r.low ? x : r.low;
            r.high = x > r.high ? x : r.high;
            continue;
        }
        r.nan |= isnan(x);
        r.infinite |= isinf(x);
        r.first = r.first < 0 ? i : r.first;
    }
    return r;
}

static void add_range(tg_text *text, const tg_value *value)
{
    range r = range_of(value);
    if (value->dtype == TG_I32 || value->size == 0)
        tg_text_add(text, "%s", value->size ? "integers" : "empty");
    else if (r.low > r.high)
        tg_text_add(text, "nothing finite");
    else
        tg_text_add(text, "from %.4g to %.4g", r.low, r.high);
    if (r.nan || r.infinite)
        tg_text_add(text, " and %s", r.nan ? "NaN" : "infinities");
}

typedef struct anomalies {
    bool nan, infinite;
} anomalies;

static anomalies anomalies_of_inputs(const tg_value *value)
{
    anomalies found = {0};
    for (int i = 0; i < value->input_count; i++) {
        const range in = range_of(value->inputs[i]);
        found.nan |= in.nan;
        found.infinite |= in.infinite;
    }
    return found;
}

/* Perhaps by the value whose saved derivative this is, as both are computed together. */
static bool is_overwritten(const tg_value *input, const tg_value *by)
{
    const tg_value *with = by->is_saved ? tg_program_at(by->program, by->index - 1) : by;
    return input->size > 0 && (input->slot.data == by->slot.data || input->slot.data == with->slot.data) &&
           !(by->op->flags & TG_VIEW);
}

/* The number of resets so far. */
static long long step_of(const tg_program *program)
{
    return (long long)(program->serial % TG_TAPE_SERIALS / TG_SERIALS);
}

/* Records that a NaN of the result comes from a tensor that no operation made: data, or a parameter. */
static bool blame_leaf(const tg_value *value, const tg_value *leaf, int input)
{
    tg_error error;
    tg_text t = {error.text, sizeof error.text, 0};
    const char *name = tg_name_of(leaf);
    const range r = range_of(leaf);
    int64_t element = r.first;
    while (!isnan(tg_element(leaf->dtype, leaf->slot.data, element)))
        element++;
    tg_text_add(&t, "%s %s, element %lld, is NaN; ", leaf->parameter ? "parameter" : "input",
                name ? name : "without a name", (long long)element);
    tg_text_add(&t, "it is input %d of ", input);
    tg_text_call(&t, value);
    tg_text_add(&t, " in step %lld", step_of(value->program));
    tg_text_place(&t, value);
    return tg_program_fail(value->program, "%s", error.text);
}

/* False, with the error recorded, if the value has a NaN or an infinity that its inputs do not explain. */
static bool check(const tg_value *value, anomalies of_inputs)
{
    if (!value->slot.data)
        return true;
    range out = range_of(value);
    if (!out.nan && !out.infinite)
        return true;
    for (int i = 0; out.nan && of_inputs.nan && i < value->input_count; i++)
        if (!value->inputs[i]->op && range_of(value->inputs[i]).nan)
            return blame_leaf(value, value->inputs[i], i);
    /* A NaN in an input explains NaN and infinities in the result; an infinity explains infinities. */
    if (of_inputs.nan || (!out.nan && of_inputs.infinite) || value->input_count == 0)
        return true;

    tg_error error;
    tg_text t = {error.text, sizeof error.text, 0};
    const tg_program *program = value->program;
    tg_text_add(&t, "%s at element %lld of ", out.nan ? "NaN" : "infinity", (long long)out.first);
    tg_text_call(&t, value);
    tg_text_add(&t, " in step %lld", step_of(program));
    if (value->derived_from) {
        tg_text_add(&t, ", in the backward pass of ");
        tg_text_call(&t, value->derived_from);
        tg_text_place(&t, value->derived_from);
    } else
        tg_text_place(&t, value);
    for (int i = 0; i < value->input_count; i++) {
        tg_text_add(&t, "; input %d: ", i);
        if (is_overwritten(value->inputs[i], value))
            tg_text_add(&t, "overwritten by the result");
        else
            add_range(&t, value->inputs[i]);
    }
    tg_program_fail(value->program, "%s", error.text);
    return false;
}

typedef struct watch {
    tg_feature feature;
    anomalies of_inputs; /* found before the value was computed, as that may overwrite an input */
} watch;

static bool compute(tg_feature *feature, tg_run *run, tg_value *value)
{
    watch *w = (watch *)feature;
    if (!value->is_saved) /* which has the inputs of the value before, overwritten perhaps */
        w->of_inputs = anomalies_of_inputs(value);
    return tg_run_compute(run, feature->next, value) && check(value, w->of_inputs);
}

static const tg_feature_kind kind = {.level = TG_LEVEL_WATCH, .size = sizeof(watch), .compute = compute};

void tg_tape_watch(tg_tape *tape, bool on)
{
    watch *w = !tape ? NULL : on ? tg_tape_have(tape, &kind) : tg_tape_find(tape, &kind);
    if (!w && on)
        tg_tape_fail(tape, "out of memory: tg_tape_watch");
    else if (w)
        w->feature.computes = on;
}
