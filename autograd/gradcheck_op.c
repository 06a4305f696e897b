/* Checking an operation: its samples become functions. */
#include "autograd/gradcheck_internal.h"
#include "autograd/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How many times as wide as the default range every second element is drawn a second time, so that tails are seen. */
#define STRETCH 4

tg_tensor tg_check_apply(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    const tg_check_call *call = user;
    (void)tape;
    (void)count;
    for (int i = 0; i < call->count; i++)
        call->inputs[i] = inputs[call->which[i]];
    return tg_apply(call->op, call->attributes, call->count, call->inputs);
}

/* ---- drawing ---- */

static bool is_default_range(const tg_sample_input *in)
{
    return !in->index && in->value_count == 0 && in->low == 0 && in->high == 0;
}

static void range_of(const tg_sample_input *in, double *low, double *high)
{
    *low = is_default_range(in) ? -3 : in->low;
    *high = is_default_range(in) ? 3 : in->high;
}

static const int32_t *draw_integers(tg_arena *arena, tg_rng *rng, const tg_sample_input *in, int64_t size)
{
    int32_t *integers = tg_arena_take(arena, (size_t)size * sizeof *integers, sizeof *integers);
    int64_t low = (int64_t)in->low, span = (int64_t)in->high - low;
    for (int64_t i = 0; integers && i < size; i++)
        integers[i] = in->value_count > 0
                          ? (int32_t)in->values[i % in->value_count]
                          : (int32_t)(low + (int64_t)tg_rng_below(rng, span > 0 ? (uint64_t)span : 1));
    return integers;
}

static const double *draw_numbers(tg_arena *arena, tg_rng *rng, const tg_sample_input *in, int64_t size,
                                  double stretch)
{
    double *numbers = tg_arena_take(arena, (size_t)size * sizeof *numbers, sizeof *numbers), low, high;
    range_of(in, &low, &high);
    for (int64_t i = 0; numbers && i < size; i++) {
        numbers[i] =
            in->value_count > 0 ? in->values[i % in->value_count] : low + (high - low) * tg_rng_uniform(rng);
        if (i % 2 == 1 && is_default_range(in))
            numbers[i] *= stretch;
    }
    return numbers;
}

/* ---- one sample ---- */

/* A sample made into a check. */
typedef struct trial {
    const tg_op *op;
    const tg_sample *sample;
    int number, count;
    tg_gradcheck_input inputs[TG_SAMPLE_INPUTS];
    int which[TG_SAMPLE_INPUTS];
    tg_tensor room[TG_SAMPLE_INPUTS];
    tg_arena arena;
    tg_rng rng;
} trial;

static bool draw_inputs(trial *t, double stretch)
{
    for (int i = 0; i < t->count; i++) {
        const tg_sample_input *in = &t->sample->input[i];
        int64_t size = tg_shape_size(&in->shape);
        t->inputs[i] = (tg_gradcheck_input){.shape = in->shape, .fixed = in->fixed};
        t->which[i] = i;
        if (size <= 0)
            size = 0;
        if (in->index)
            t->inputs[i].integers = draw_integers(&t->arena, &t->rng, in, size);
        else
            t->inputs[i].data = draw_numbers(&t->arena, &t->rng, in, size, stretch);
        if (!t->inputs[i].integers && !t->inputs[i].data)
            return false;
    }
    return true;
}

/* Whether derivatives can be asked for: values with infinities or NaN are for the forward check. */
static bool is_for_derivatives(const tg_sample *sample, int count)
{
    bool varied = false;
    for (int i = 0; i < count; i++) {
        const tg_sample_input *in = &sample->input[i];
        varied |= !in->index && !in->fixed;
        for (int k = 0; k < in->value_count; k++)
            if (!isfinite(in->values[k]))
                return false;
    }
    return varied;
}

static bool has_values(const tg_sample *sample, int count)
{
    for (int i = 0; i < count; i++)
        if (sample->input[i].value_count > 0 && !sample->input[i].index)
            return true;
    return false;
}

static tg_check check_of(trial *t, tg_check_call *call, const tg_gradcheck_options *options)
{
    *call = (tg_check_call){t->op, t->sample->attributes, t->count, t->which, t->room};
    return (tg_check){.name = t->op->name,
                      .function = tg_check_apply,
                      .user = call,
                      .inputs = t->inputs,
                      .count = t->count,
                      .options = tg_check_options(options),
                      .rng = tg_rng_stream(&t->rng, "check"),
                      .verdict = {.sample = t->number}};
}

/* Checks the inputs as they are now and adds the outcome to the total. Values that the author chose at an edge, and ranges
 * that nobody promised, may give what is not finite, and so may the mean of nothing. False if they did, or the check failed. */
static bool run_trial(trial *t, const tg_gradcheck_options *options, bool may_be_infinite, const char *note,
                      tg_verdict *total)
{
    tg_check_call call;
    tg_check c = check_of(t, &call, options);
    tg_check_run(&c);
    tg_check_close(&c);
    tg_verdict v = c.verdict;
    if (!c.outputs_finite && (may_be_infinite || c.variables == 0))
        v = (tg_verdict){.passed = true, .operation = -1};
    v.samples = 0;
    if (!v.passed) {
        tg_text why = {v.why, sizeof v.why, strlen(v.why)};
        tg_text_add(&why, "%s", note);
    }
    tg_check_merge(total, &v);
    return c.verdict.passed;
}

/* Gives inputs i and j one tensor. Its values suit both: from both ranges, or those that one of them prescribes. */
static bool make_same(trial *t, int i, int j)
{
    const tg_sample_input *a = &t->sample->input[i], *b = &t->sample->input[j];
    if (a->index || b->index || a->fixed || b->fixed || !tg_shape_equal(&a->shape, &b->shape) ||
        (a->value_count > 0 && b->value_count > 0) || tg_shape_size(&a->shape) == 0)
        return false;
    double low_a, high_a, low_b, high_b;
    range_of(a, &low_a, &high_a);
    range_of(b, &low_b, &high_b);
    tg_sample_input both = a->value_count > 0 ? *a : *b;
    if (both.value_count == 0) {
        both.low = fmax(low_a, low_b);
        both.high = fmin(high_a, high_b);
        if (both.low >= both.high)
            return false;
    }
    t->inputs[i].data = draw_numbers(&t->arena, &t->rng, &both, tg_shape_size(&a->shape), 1);
    t->inputs[j].fixed = true; /* no longer used */
    t->which[j] = i;
    return t->inputs[i].data;
}

static bool can_stretch(const trial *t)
{
    for (int i = 0; i < t->count; i++)
        if (is_default_range(&t->sample->input[i]) && !t->sample->input[i].fixed &&
            tg_shape_size(&t->inputs[i].shape) > 1)
            return true;
    return false;
}

/* The sample as it stands, drawn wider, and with each pair of inputs of one shape the same. */
static void run_variants(trial *t, const tg_gradcheck_options *options, tg_verdict *total)
{
    if (!draw_inputs(t, 1)) {
        *total = (tg_verdict){.result = TG_GRADCHECK_REFUSED,
                              .sample = t->number,
                              .input = -1,
                              .operation = -1,
                              .why = "out of memory"};
        return;
    }
    bool edges = has_values(t->sample, t->count);
    if (!run_trial(t, options, edges, "", total)) {
        total->skipped += total->passed;
        return;
    }
    total->samples++;
    if (can_stretch(t) && draw_inputs(t, STRETCH))
        run_trial(t, options, true, " (every second element drawn from -12 to 12)", total);
    for (int i = 0; i < t->count; i++)
        for (int j = i + 1; j < t->count && total->passed; j++) {
            char note[64];
            snprintf(note, sizeof note, " (inputs %d and %d are the same tensor)", i, j);
            if (draw_inputs(t, 1) && make_same(t, i, j))
                run_trial(t, options, edges, note, total);
        }
}

static trial trial_of(const tg_op *op, int number, uint64_t seed)
{
    const tg_sample *sample = &op->samples[number];
    trial t = {.op = op, .sample = sample, .number = number};
    t.count = sample->count > 0 ? sample->count : op->arity;
    tg_rng rng = tg_rng_seed(seed);
    rng = tg_rng_stream(&rng, op->name);
    t.rng = tg_rng_split(&rng, (uint64_t)number);
    return t;
}

static bool is_for_derivatives_of(const tg_op *op, int number)
{
    trial t = trial_of(op, number, 0);
    return t.count >= 1 && t.count <= TG_SAMPLE_INPUTS && is_for_derivatives(t.sample, t.count);
}

/* ---- the operation ---- */

static tg_verdict refuse(const tg_op *op, const char *why)
{
    tg_verdict v = {.result = TG_GRADCHECK_REFUSED, .sample = -1, .input = -1, .index = -1, .operation = -1};
    snprintf(v.why, sizeof v.why, "%s: %s", op && op->name ? op->name : "an operation without a name", why);
    return v;
}

tg_verdict tg_gradcheck_op(const tg_op *op, const tg_gradcheck_options *options)
{
    const char *missing = tg_op_missing(op);
    if (missing)
        return refuse(op, missing);
    if (!op->derivative || op->flags & (TG_CONSTANT | TG_SOURCE))
        return refuse(op, "the operation has no derivative by nature");
    const tg_gradcheck_options filled = tg_check_options(options);
    tg_verdict total = {.passed = true, .sample = -1, .input = -1, .index = -1, .operation = -1};
    for (int number = 0; number < op->sample_count && total.passed; number++) {
        if (!is_for_derivatives_of(op, number)) {
            total.skipped++;
            continue;
        }
        trial t = trial_of(op, number, filled.seed);
        run_variants(&t, &filled, &total);
        tg_arena_free(&t.arena);
    }
    if (total.passed && total.samples == 0)
        return refuse(op, "it has no sample with inputs that can be differentiated");
    if (total.passed)
        tg_check_explain_success(op->name, &total);
    return total;
}

/* ---- error against step ---- */

static int fill_steps(tg_check *c, tg_gradcheck_step *steps, int count)
{
    const tg_check_level *gradient = &c->level[1];
    int64_t largest = 0;
    for (int64_t i = 1; i < c->variables; i++)
        if (fabs(gradient->value[i]) * c->scale[i] > fabs(gradient->value[largest]) * c->scale[largest])
            largest = i;
    double *direction = tg_check_take(c, c->variables);
    if (!direction || c->variables == 0)
        return 0;
    direction[largest] = c->scale[largest];
    double analytic = gradient->value[largest] * c->scale[largest], above[2] = {NAN, NAN};
    for (int k = 0; k < count; k++) {
        tg_check_slope slope;
        steps[k].step = ldexp(0.5, -k);
        if (!tg_check_difference(c, 0, direction, steps[k].step, &slope))
            return k;
        double once = slope.value + (slope.value - above[0]) / 3, twice = once + (once - above[1]) / 15;
        steps[k].central = fabs(slope.value / analytic - 1);
        steps[k].once = fabs(once / analytic - 1);
        steps[k].twice = fabs(twice / analytic - 1);
        above[0] = slope.value;
        above[1] = once;
    }
    return count;
}

int tg_gradcheck_steps(const tg_op *op, int sample, uint64_t seed, tg_gradcheck_step *steps, int count)
{
    if (tg_op_missing(op) || !op->derivative || !steps || sample < 0 || sample >= op->sample_count ||
        !is_for_derivatives_of(op, sample))
        return 0;
    trial t = trial_of(op, sample, seed);
    tg_check_call call;
    int filled = 0;
    if (draw_inputs(&t, 1)) {
        tg_check c = check_of(&t, &call, NULL);
        if (tg_check_open(&c))
            filled = fill_steps(&c, steps, count);
        tg_check_close(&c);
    }
    tg_arena_free(&t.arena);
    return filled;
}
