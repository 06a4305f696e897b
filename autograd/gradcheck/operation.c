/* Checks an operation: turns its samples into functions. */
#include "autograd/apply.h"
#include "autograd/gradcheck/check.h"

#include <stdio.h>
#include <string.h>

/* The half width of the default range, and the factor of the wider range from which every second element is redrawn, to
 * reach the tails. */
enum { RANGE = 3, WIDER = 4 };

/* ---- drawing ---- */

static bool is_default_range(const tg_sample_input *in)
{
    return !in->index && in->value_count == 0 && in->low == 0 && in->high == 0;
}

static double low_of(const tg_sample_input *in)
{
    return is_default_range(in) ? -RANGE : in->low;
}

static double high_of(const tg_sample_input *in)
{
    return is_default_range(in) ? RANGE : in->high;
}

/* ---- one sample ---- */

/* The check of an operation, sample by sample. */
typedef struct trial {
    const tg_op *op;
    tg_check all; /* the result over all samples so far, and the memory of the current one's inputs */
    const tg_sample *sample;
    int number;
    tg_gradcheck_input inputs[TG_SAMPLE_INPUTS];
    int count;
    int which[TG_SAMPLE_INPUTS];
    tg_tensor room[TG_SAMPLE_INPUTS];
    tg_check_call call;
    tg_rng rng;
} trial;

/* Ends the check of the operation; the sample is -1 if the reason is not in one. */
_Noreturn static void refuse(trial *t, int sample, const char *why)
{
    t->all.report.result = tg_check_no_result(sample);
    tg_check_stop(&t->all, TG_GRADCHECK_REFUSED, "%s", why);
}

static void *take(trial *t, int64_t count, size_t size)
{
    void *memory = tg_arena_take(&t->all.arena, (size_t)count * size, size);
    if (!memory)
        refuse(t, t->number, "out of memory");
    return memory;
}

static const int32_t *draw_integers(trial *t, const tg_sample_input *in, int64_t size)
{
    int32_t *integers = take(t, size, sizeof *integers);
    int64_t low = (int64_t)in->low, span = (int64_t)in->high - low;
    for (int64_t i = 0; i < size; i++)
        integers[i] = in->value_count > 0
                          ? (int32_t)in->values[i % in->value_count]
                          : (int32_t)(low + (int64_t)tg_rng_below(&t->rng, span > 0 ? (uint64_t)span : 1));
    return integers;
}

static const double *draw_numbers(trial *t, const tg_sample_input *in, int64_t size, double stretch)
{
    double *numbers = take(t, size, sizeof *numbers);
    double low = low_of(in), high = high_of(in);
    for (int64_t i = 0; i < size; i++) {
        numbers[i] =
            in->value_count > 0 ? in->values[i % in->value_count] : low + (high - low) * tg_rng_uniform(&t->rng);
        if (i % 2 == 1 && is_default_range(in))
            numbers[i] *= stretch;
    }
    return numbers;
}

static void start_sample(trial *t, int number)
{
    tg_rng rng = tg_rng_seed(t->all.options.seed);
    rng = tg_rng_stream(&rng, t->op->name);
    tg_arena_empty(&t->all.arena);
    t->sample = &t->op->samples[number];
    t->number = number;
    t->count = t->sample->count > 0 ? t->sample->count : t->op->arity;
    t->rng = tg_rng_split(&rng, (uint64_t)number);
}

static void draw_inputs(trial *t, double stretch)
{
    for (int i = 0; i < t->count; i++) {
        const tg_sample_input *in = &t->sample->input[i];
        int64_t size = tg_shape_size(&in->shape) > 0 ? tg_shape_size(&in->shape) : 0;
        t->inputs[i] = (tg_gradcheck_input){.shape = in->shape, .fixed = in->fixed};
        t->which[i] = i;
        if (in->index)
            t->inputs[i].integers = draw_integers(t, in, size);
        else
            t->inputs[i].data = draw_numbers(t, in, size, stretch);
    }
}

/* True if derivatives can be checked: samples with infinities or NaN are for the forward check. */
static bool is_for_derivatives(const trial *t)
{
    bool varied = false;
    for (int i = 0; i < t->count && t->count <= TG_SAMPLE_INPUTS; i++) {
        const tg_sample_input *in = &t->sample->input[i];
        varied |= !in->index && !in->fixed;
        for (int k = 0; k < in->value_count; k++)
            if (!isfinite(in->values[k]))
                return false;
    }
    return varied;
}

static bool has_values(const trial *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->sample->input[i].value_count > 0 && !t->sample->input[i].index)
            return true;
    return false;
}

static tg_check check_of(trial *t)
{
    t->call = (tg_check_call){t->op, t->sample->attributes, t->count, t->which, t->room};
    return tg_check_of_call(&t->call, t->inputs, t->count, t->number, &t->all.options, tg_rng_stream(&t->rng, "check"));
}

static void check_in_float(tg_check *c, void *none)
{
    (void)none;
    tg_check_single(c);
}

static void check_in_shapes(tg_check *c, void *trial_of)
{
    const trial *t = trial_of;
    tg_check_shapes(c, !t->op->shape); /* a shape rule may reject them */
}

/* Checks the current inputs and adds the outcome to the total. Values at the edge of a range, wider ranges and the mean
 * of no elements may give infinities or NaN. False in these cases, or if the check failed. */
static bool run_variant(trial *t, bool may_be_infinite, bool in_shapes, const char *note)
{
    tg_check c = check_of(t);
    tg_check_run(&c);
    tg_gradcheck_result *v = &c.report.result;
    if (v->passed && !t->all.options.double_only)
        tg_check_try(&c, check_in_float, NULL);
    if (v->passed && in_shapes)
        tg_check_try(&c, check_in_shapes, t);
    bool passed = v->passed || c.nothing_compared;
    if ((!c.outputs_finite && (may_be_infinite || c.variables == 0)) || c.nothing_compared)
        *v = (tg_gradcheck_result){.passed = true, .operation = -1};
    if (!v->passed) {
        size_t length = strlen(v->why);
        snprintf(v->why + length, sizeof v->why - length, "%s", note);
        tg_check_explain(&c, "");
    }
    tg_check_add_part(&t->all.report, v);
    tg_check_close(&c);
    return passed;
}

/* Makes one tensor serve for several inputs (a bitmask). Its values lie in the ranges of all of them, or are those that
 * one of them prescribes. False if that is impossible. */
static bool make_same(trial *t, unsigned group)
{
    const tg_sample_input *first = NULL, *prescribes = NULL;
    double low = -INFINITY, high = INFINITY;
    int at = 0;
    for (int i = t->count - 1; i >= 0; i--) {
        const tg_sample_input *in = &t->sample->input[i];
        if (!(group >> i & 1))
            continue;
        if (in->index || in->fixed || (first && !tg_shape_equal(&in->shape, &first->shape)) ||
            (in->value_count > 0 && prescribes))
            return false;
        first = in;
        at = i;
        if (in->value_count > 0)
            prescribes = in;
        low = fmax(low, low_of(in));
        high = fmin(high, high_of(in));
    }
    if (tg_shape_size(&first->shape) <= 0 || (!prescribes && low >= high))
        return false;
    draw_inputs(t, 1);
    tg_sample_input all = prescribes ? *prescribes : (tg_sample_input){.low = low, .high = high};
    t->inputs[at].data = draw_numbers(t, &all, tg_shape_size(&first->shape), 1);
    for (int i = at + 1; i < t->count; i++)
        if (group >> i & 1) {
            t->inputs[i].fixed = true; /* no longer used */
            t->which[i] = at;
        }
    return true;
}

/* ---- points of the checker's own ---- */

enum { POINTS = 32 };

/* Points for an elementwise operation: zeros, halves, whole numbers, tiny and large ones within the sample's ranges,
 * and random ones. Each input takes them in a different order. */
static double draw_point(trial *t, const tg_sample_input *in, int k)
{
    static const double special[] = {0,    -0.0,  1,  -1,  0.5,  -0.5,  2,    -2,    3,     -3,  1.5,  -1.5, 4,
                                     12.5, -12.5, 20, -20, 1e-3, -1e-3, 1e-8, -1e-8, 1e-30, 100, -100, 1e4,  -1e4};
    const bool anywhere = is_default_range(in);
    if (in->value_count > 0)
        return in->values[k % in->value_count];
    double x = k < (int)(sizeof special / sizeof special[0]) ? special[k] : NAN;
    if (isnan(x) || (!anywhere && !(x >= in->low && x <= in->high)))
        x = low_of(in) + (high_of(in) - low_of(in)) * tg_rng_uniform(&t->rng);
    return x;
}

/* Where values are this close to the largest number, right derivatives may overflow. */
#define NEARLY_INFINITE 0x1p900

/* Removes points whose value is not finite, or nearly infinite. False if none is left. */
static bool keep_finite(trial *t, double *points[])
{
    tg_tape *tape = tg_tape_new();
    tg_tensor in[TG_SAMPLE_INPUTS];
    int64_t count = 0;
    for (int i = 0; i < t->count; i++)
        in[i] = tg_constant(tape, TG_F64, points[i], TG_SHAPE(POINTS));
    const double *value = tg_f64(tg_apply(t->op, t->sample->attributes, t->count, in));
    for (int64_t k = 0; value && k < POINTS; k++) {
        if (!(fabs(value[k]) < NEARLY_INFINITE))
            continue;
        for (int i = 0; i < t->count; i++)
            points[i][count] = points[i][k];
        count++;
    }
    for (int i = 0; i < t->count; i++)
        t->inputs[i].shape = TG_SHAPE(count);
    char why[sizeof t->all.report.result.why];
    snprintf(why, sizeof why, "the tape says: %s", !tape ? "out of memory" : value ? "" : tg_tape_error(tape));
    tg_tape_free(tape);
    if (!value)
        refuse(t, t->number, why);
    return count > 0;
}

static bool has_same_ranges(const tg_sample *a, const tg_sample *b, int count)
{
    for (int i = 0; i < count; i++) {
        const tg_sample_input *x = &a->input[i], *y = &b->input[i];
        if (x->low != y->low || x->high != y->high || x->values != y->values || x->value_count != y->value_count ||
            x->fixed != y->fixed || x->index != y->index)
            return false;
    }
    return a->attributes == b->attributes && a->count == b->count;
}

/* True if an earlier sample has had the same points: these depend on its ranges, not on its shapes. */
static bool had_these_points(const trial *t)
{
    for (int k = 0; k < t->number; k++)
        if (has_same_ranges(&t->op->samples[k], t->sample, t->count))
            return true;
    return false;
}

static bool choose_points(trial *t)
{
    static const int stride[TG_SAMPLE_INPUTS] = {1, 11, 7, 13, 5, 3};
    double *points[TG_SAMPLE_INPUTS], drawn[POINTS];
    for (int i = 0; i < t->count; i++) {
        const tg_sample_input *in = &t->sample->input[i];
        if (in->index)
            return false;
        points[i] = take(t, POINTS, sizeof *points[i]);
        for (int k = 0; k < POINTS; k++)
            drawn[k] = draw_point(t, in, k);
        for (int k = 0; k < POINTS; k++)
            points[i][k] = drawn[k * stride[i] % POINTS];
        t->inputs[i] = (tg_gradcheck_input){.data = points[i], .fixed = in->fixed};
        t->which[i] = i;
    }
    return keep_finite(t, points);
}

static bool can_stretch(const trial *t)
{
    for (int i = 0; i < t->count; i++)
        if (is_default_range(&t->sample->input[i]) && !t->sample->input[i].fixed &&
            tg_shape_size(&t->inputs[i].shape) > 1)
            return true;
    return false;
}

/* Checks the sample as it is, with wider ranges, and with each pair of inputs of one shape as one tensor. */
static void run_variants(trial *t)
{
    tg_gradcheck_result *total = &t->all.report.result;
    char note[80];
    bool edges = has_values(t);
    draw_inputs(t, 1);
    if (!run_variant(t, edges, false, "") && total->undecided == 0) {
        total->skipped += total->passed;
        return;
    }
    total->samples++;
    snprintf(note, sizeof note, " (every second element drawn from %d to %d)", -WIDER * RANGE, WIDER * RANGE);
    if (can_stretch(t)) {
        draw_inputs(t, WIDER);
        run_variant(t, true, false, note);
    }
    for (unsigned group = 3; group < 1u << t->count && total->passed; group++) {
        bool pair = __builtin_popcount(group) == 2, all = group == (1u << t->count) - 1;
        if ((!pair && !all) || !make_same(t, group))
            continue;
        strcpy(note, " (inputs");
        for (int i = 0; i < t->count; i++)
            if (group >> i & 1)
                snprintf(note + strlen(note), sizeof note - strlen(note), " %d", i);
        strcat(note, " are the same tensor)");
        run_variant(t, edges, false, note);
    }
    if (total->passed && t->op->flags & TG_ELEMENTWISE && !had_these_points(t) && choose_points(t))
        run_variant(t, false, true, " (at points of the checker's own)");
}

/* ---- the operation ---- */

static void run_samples(tg_check *all, void *of)
{
    trial *t = of;
    const char *missing = tg_op_missing(t->op);
    tg_gradcheck_result *total = &all->report.result;
    if (missing)
        refuse(t, -1, missing);
    if (!t->op->derivative || t->op->flags & (TG_CONSTANT | TG_SOURCE))
        refuse(t, -1, "the operation has no derivative by nature");
    total->passed = true;
    for (int number = 0; number < t->op->sample_count && total->passed; number++) {
        start_sample(t, number);
        if (is_for_derivatives(t))
            run_variants(t);
        else
            total->skipped++;
    }
    if (total->passed && total->comparisons == 0 && total->undecided == 0)
        refuse(t, -1, "it has no sample with inputs that can be differentiated");
    tg_check_end_parts(&all->report);
    if (total->passed)
        tg_check_explain_success(t->op->name, tg_check_numbers_of[TG_GRADCHECK_F64].sharp, total);
}

tg_gradcheck_result tg_gradcheck_op(const tg_op *op, const tg_gradcheck_options *options)
{
    trial t = {.op = op, .all.options = tg_check_options(options), .all.report.result = tg_check_no_result(-1)};
    t.all.report.name = op && op->name ? op->name : "an operation without a name";
    tg_check_try(&t.all, run_samples, &t);
    tg_check_close(&t.all);
    return t.all.report.result;
}

/* ---- error against step ---- */

/* The number of a place among the variables; fills in what the place leaves open. -1 if there is no such place. */
static int64_t choose_element(const tg_check *c, tg_gradcheck_place *place)
{
    const tg_check_level *gradient = &c->level[1];
    int64_t chosen = -1;
    for (int p = 0; p < c->part_count; p++) {
        const tg_check_part *part = &c->parts[p];
        for (int64_t index = 0; index < part->size; index++) {
            const int64_t i = part->offset + index;
            if ((place->input >= 0 && place->input != part->input) || (place->index >= 0 && place->index != index))
                continue;
            if (chosen < 0 || fabs(gradient->value[i]) * c->scale[i] > fabs(gradient->value[chosen]) * c->scale[chosen])
                chosen = i;
        }
    }
    if (chosen >= 0) {
        const tg_check_part *part = tg_check_part_at(c, chosen);
        place->input = part->input;
        place->index = chosen - part->offset;
        place->value = c->point[chosen];
        place->derivative = gradient->value[chosen];
    }
    return chosen;
}

static double error_of(double numeric, double analytic)
{
    return analytic != 0 ? fabs(numeric / analytic - 1) : fabs(numeric);
}

static double plain_difference(tg_check *c, const double *direction, double step)
{
    tg_check_group all = {.first = step};
    const tg_check_way way = {0, direction, 1, &all};
    double change = 0;
    tg_check_evaluate_along(c, 0, &way, 1, c->ahead);
    tg_check_evaluate_along(c, 0, &way, -1, c->behind);
    for (int64_t i = 0; i < c->level[0].length; i++)
        change += c->level[0].cotangent[i] * (c->ahead[i] - c->behind[i]);
    return change / (2 * step);
}

/* The curve of one sample. */
typedef struct curve {
    tg_gradcheck_place *place;
    tg_gradcheck_step *steps;
    int count, filled;
} curve;

static void fill_steps(tg_check *c, void *of)
{
    curve *v = of;
    tg_check_open(c);
    const int64_t element = choose_element(c, v->place);
    if (element < 0)
        return;
    double *direction = tg_check_take(c, c->variables), above[2] = {NAN, NAN};
    const double analytic = v->place->derivative * c->scale[element];
    direction[element] = c->scale[element];
    for (; v->filled < v->count; v->filled++) {
        tg_gradcheck_step *step = &v->steps[v->filled];
        step->step = ldexp(0.5, -v->filled);
        const double plain = plain_difference(c, direction, step->step);
        const double once = plain + (plain - above[0]) / 3, twice = once + (once - above[1]) / 15;
        step->central = error_of(plain, analytic);
        step->once = error_of(once, analytic);
        step->twice = error_of(twice, analytic);
        above[0] = plain;
        above[1] = once;
    }
}

static void draw_curve(tg_check *all, void *of)
{
    trial *t = of;
    (void)all;
    draw_inputs(t, 1);
}

int tg_gradcheck_steps(const tg_op *op, tg_gradcheck_place *place, uint64_t seed, tg_gradcheck_step *steps, int count)
{
    if (tg_op_missing(op) || !op->derivative || !place || !steps)
        return 0;
    trial t = {.op = op, .all.options = tg_check_options(&(tg_gradcheck_options){.seed = seed})};
    curve v = {NULL, steps, count, 0};
    for (int sample = 0; sample < op->sample_count && v.filled == 0; sample++) {
        tg_gradcheck_place here = *place;
        here.sample = sample;
        v.place = &here;
        if (place->sample >= 0 && place->sample != sample)
            continue;
        start_sample(&t, sample);
        if (!is_for_derivatives(&t) || !tg_check_try(&t.all, draw_curve, &t))
            continue;
        tg_check c = check_of(&t);
        tg_check_try(&c, fill_steps, &v);
        tg_check_close(&c);
        if (v.filled > 0)
            *place = here;
    }
    tg_check_close(&t.all);
    return v.filled;
}
