/* Checks an operation: turns its samples into functions. */
#include "autograd/gradcheck/check.h"

#include "autograd/apply.h"

#include <string.h>

enum { MOST = TG_SAMPLE_INPUTS };

/* The check of an operation, sample by sample. */
typedef struct trial {
    const tg_op *op;
    tg_check all; /* the result over all samples so far, and the memory of the current one's inputs */
    const tg_sample *sample;
    int number, count;
    tg_gradcheck_input inputs[MOST];
    double low[MOST], high[MOST]; /* of special points */
    int which[MOST];
    tg_tensor room[MOST];
    tg_check_call call;
    tg_rng rng;
} trial;

_Noreturn static void refuse(trial *t, const char *why)
{
    t->all.result = tg_check_no_result(-1);
    tg_check_stop(&t->all, TG_GRADCHECK_REFUSED, "%s", why);
}

/* ---- drawing ---- */

static bool is_default_range(const tg_sample_input *in)
{
    return !in->index && in->value_count == 0 && in->low == 0 && in->high == 0;
}

static double lowest(const tg_sample_input *in)
{
    return is_default_range(in) ? -3 : in->low;
}

static double highest(const tg_sample_input *in)
{
    return is_default_range(in) ? 3 : in->high;
}

static double draw(trial *t, const tg_sample_input *in, int64_t i)
{
    return in->value_count > 0 ? in->values[i % in->value_count]
                               : lowest(in) + (highest(in) - lowest(in)) * tg_rng_uniform(&t->rng);
}

static const double *draw_numbers(trial *t, const tg_sample_input *in, int64_t size)
{
    double *numbers = tg_check_numbers(&t->all, size);
    for (int64_t i = 0; i < size; i++)
        numbers[i] = draw(t, in, i);
    return numbers;
}

static const int32_t *draw_integers(trial *t, const tg_sample_input *in, int64_t size)
{
    int32_t *integers = tg_check_take(&t->all, size, sizeof *integers);
    const double span = fmax(1, in->high - in->low);
    for (int64_t i = 0; i < size; i++)
        integers[i] = in->value_count > 0 ? (int32_t)in->values[i % in->value_count]
                                          : (int32_t)in->low + (int32_t)tg_rng_below(&t->rng, (uint64_t)span);
    return integers;
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

static void draw_inputs(trial *t)
{
    for (int i = 0; i < t->count; i++) {
        const tg_sample_input *in = &t->sample->input[i];
        const int64_t size = tg_shape_size(&in->shape) > 0 ? tg_shape_size(&in->shape) : 0;
        t->inputs[i] = (tg_gradcheck_input){.shape = in->shape, .fixed = in->fixed};
        t->low[i] = is_default_range(in) ? -INFINITY : in->value_count > 0 ? INFINITY : in->low;
        t->high[i] = is_default_range(in) ? INFINITY : in->high;
        t->which[i] = i;
        if (in->index)
            t->inputs[i].integers = draw_integers(t, in, size);
        else
            t->inputs[i].data = draw_numbers(t, in, size);
    }
}

/* True if derivatives can be checked: samples with infinities or NaN are for the forward check. */
static bool is_for_derivatives(const trial *t)
{
    bool varied = false;
    for (int i = 0; i < t->count && t->count <= MOST; i++) {
        const tg_sample_input *in = &t->sample->input[i];
        varied |= !in->index && !in->fixed;
        for (int k = 0; k < in->value_count; k++)
            if (!isfinite(in->values[k]))
                return false;
    }
    return varied;
}

/* ---- one sample ---- */

static tg_check check_of(trial *t)
{
    t->call = (tg_check_call){t->op, t->sample->attributes, t->count, t->which, t->room};
    tg_check c =
        tg_check_of_call(&t->call, t->inputs, t->count, t->number, &t->all.options, tg_rng_stream(&t->rng, "check"));
    c.low = t->low;
    c.high = t->high;
    return c;
}

static void check_forms(tg_check *c, void *of)
{
    tg_check_forms(c, ((const trial *)of)->op);
}

/* Checks the current inputs and adds the outcome to the total. False if it failed, or if there is nothing to check: a
 * value that is not finite, as in samples at the end of a range, or the mean of no elements. */
static bool run_variant(trial *t, const char *note)
{
    tg_check c = check_of(t);
    tg_check_run(&c);
    tg_gradcheck_result *v = &c.result;
    if (v->passed && !note[0])
        tg_check_try(&c, check_forms, t);
    const bool passed = v->passed, nothing = (v->status == TG_GRADCHECK_NOT_FINITE && v->order == 0) || c.nothing;
    if (!passed && !nothing) {
        tg_text text = {v->why, sizeof v->why, strlen(v->why)};
        tg_text_add(&text, "%s", note);
        tg_check_explain(&c);
    }
    if (!nothing)
        tg_check_add(&t->all.result, &t->all.undecided, v);
    tg_check_close(&c);
    return passed;
}

/* Makes one tensor serve for the inputs in a bitmask. Its values lie in the ranges of all of them, or are those that
 * one of them prescribes. False if that is impossible. */
static bool make_same(trial *t, unsigned group)
{
    const int first = __builtin_ctz(group);
    const tg_sample_input *prescribes = NULL;
    tg_sample_input all = {.shape = t->sample->input[first].shape, .low = -INFINITY, .high = INFINITY};
    draw_inputs(t);
    for (int i = first; i < t->count; i++) {
        const tg_sample_input *in = &t->sample->input[i];
        if (!(group >> i & 1))
            continue;
        if (in->index || in->fixed || !tg_shape_equal(&in->shape, &all.shape) || (in->value_count > 0 && prescribes))
            return false;
        prescribes = in->value_count > 0 ? in : prescribes;
        all.low = fmax(all.low, lowest(in));
        all.high = fmin(all.high, highest(in));
        t->low[first] = fmax(t->low[first], t->low[i]);
        t->high[first] = fmin(t->high[first], t->high[i]);
        t->inputs[i].fixed = i > first; /* no longer used */
        t->which[i] = first;
    }
    if (tg_shape_size(&all.shape) <= 0 || (!prescribes && all.low >= all.high))
        return false;
    t->inputs[first].data = draw_numbers(t, prescribes ? prescribes : &all, tg_shape_size(&all.shape));
    return true;
}

/* ---- points of an elementwise operation ---- */

/* Zeros, halves, whole numbers, tiny and large ones within the sample's ranges, and random ones, each of one input
 * beside each of the others somewhere; without places where the value is not finite. False if none is left. */
static bool choose_points(trial *t)
{
    enum { POINTS = 32, SPECIAL = 26 };
    static const double special[SPECIAL] = {0,     -0.0, 1,     -1,    0.5,  -0.5,  2,   -2,  3,
                                            -3,    1.5,  -1.5,  4,     12.5, -12.5, 20,  -20, 1e-3,
                                            -1e-3, 1e-8, -1e-8, 1e-30, 100,  -100,  1e4, -1e4};
    static const int stride[MOST] = {1, 11, 7, 13, 5, 3};
    double *points[MOST];
    tg_tensor in[MOST];
    int64_t left = 0;
    tg_tape *tape = tg_tape_new();
    for (int i = 0; i < t->count; i++) {
        points[i] = tg_check_numbers(&t->all, POINTS);
        for (int k = 0; k < POINTS; k++) {
            const int at = k * stride[i] % POINTS;
            const bool fits = at < SPECIAL && special[at] >= t->low[i] && special[at] <= t->high[i];
            points[i][k] = fits ? special[at] : draw(t, &t->sample->input[i], at);
        }
        in[i] = tg_constant(tape, TG_F64, points[i], TG_SHAPE(POINTS));
    }
    const double *value = tg_f64(tg_apply(t->op, t->sample->attributes, t->count, in));
    for (int k = 0; value && k < POINTS; k++)
        if (fabs(value[k]) < 0x1p900) { /* the derivative may be larger */
            for (int i = 0; i < t->count; i++)
                points[i][left] = points[i][k];
            left++;
        }
    tg_tape_free(tape);
    for (int i = 0; i < t->count; i++)
        t->inputs[i] =
            (tg_gradcheck_input){.shape = TG_SHAPE(left), .data = points[i], .fixed = t->sample->input[i].fixed};
    return left > 0;
}

/* Points depend on the ranges of a sample, not on its shapes: of samples with the same ranges as the first, that one
 * has them. */
static bool has_points(const trial *t)
{
    const tg_sample *first = &t->op->samples[0];
    bool same = t->number > 0 && t->sample->attributes == first->attributes && t->sample->count == first->count;
    for (int i = 0; i < t->count; i++) {
        const tg_sample_input *x = &t->sample->input[i], *y = &first->input[i];
        if (x->index)
            return false;
        same &= x->low == y->low && x->high == y->high && x->values == y->values && x->fixed == y->fixed;
    }
    return t->op->flags & TG_ELEMENTWISE && !same;
}

/* Checks the sample as it is, with inputs of one shape as one tensor, and at special points. */
static void run_sample(trial *t)
{
    tg_gradcheck_result *total = &t->all.result;
    draw_inputs(t);
    if (!run_variant(t, "")) {
        total->skipped += total->passed;
        return;
    }
    total->samples++;
    for (unsigned group = 3; group < 1u << t->count && total->passed; group++) {
        char note[80];
        tg_text text = {note, sizeof note, 0};
        const bool pair = __builtin_popcount(group) == 2, all = group == (1u << t->count) - 1;
        if ((!pair && !all) || !make_same(t, group))
            continue;
        tg_text_add(&text, " (inputs");
        for (int i = 0; i < t->count; i++)
            if (group >> i & 1)
                tg_text_add(&text, " %d", i);
        tg_text_add(&text, " are the same tensor)");
        run_variant(t, note);
    }
    draw_inputs(t);
    if (total->passed && has_points(t) && choose_points(t))
        run_variant(t, " (at points of the checker's own)");
}

/* ---- the operation ---- */

static void run_samples(tg_check *all, void *of)
{
    trial *t = of;
    tg_gradcheck_result *total = &all->result;
    const char *missing = tg_op_missing(t->op);
    if (missing)
        refuse(t, missing);
    if (!t->op->derivative || t->op->flags & (TG_CONSTANT | TG_SOURCE))
        refuse(t, "the operation has no derivative by nature");
    total->passed = true;
    for (int number = 0; number < t->op->sample_count && total->passed; number++) {
        start_sample(t, number);
        if (is_for_derivatives(t))
            run_sample(t);
        else
            total->skipped++;
    }
    if (total->passed && total->comparisons == 0 && total->undecided == 0)
        refuse(t, "it has no sample with inputs that can be differentiated");
    tg_check_end(total, &all->undecided);
    if (total->passed)
        tg_check_say_success(t->op->name, TG_PROMISE_F64, total);
}

tg_gradcheck_result tg_gradcheck_op(const tg_op *op, const tg_gradcheck_options *options)
{
    trial t = {.op = op, .all.options = tg_check_options(options), .all.result = tg_check_no_result(-1)};
    t.all.name = op && op->name ? op->name : "an operation without a name";
    tg_check_try(&t.all, run_samples, &t);
    tg_check_close(&t.all);
    return t.all.result;
}

/* ---- error against step ---- */

typedef struct curve {
    trial t;
    tg_gradcheck_place place;
    tg_gradcheck_step *steps;
    int count, filled;
} curve;

/* The variable at the place, or the one of what the place leaves open whose derivative is largest; -1 if there is none.
 */
static int64_t choose_element(const tg_check *c, tg_gradcheck_place *place)
{
    const tg_gradcheck_place given = *place;
    int64_t chosen = -1;
    double largest = -1;
    for (int p = 0; p < c->part_count; p++)
        for (int64_t k = 0; k < c->parts[p].size; k++) {
            const int64_t i = c->parts[p].offset + k;
            const double size = fabs(c->level[1].value[i]) * c->scale[i];
            if ((given.input >= 0 && given.input != c->parts[p].input) || (given.index >= 0 && given.index != k) ||
                !(size > largest))
                continue;
            largest = size;
            chosen = i;
            *place = (tg_gradcheck_place){place->sample, c->parts[p].input, k, c->point[i], c->level[1].value[i]};
        }
    return chosen;
}

static double difference(tg_check *c, int64_t i, double step)
{
    double change = 0;
    for (int side = 1; side >= -1; side -= 2) {
        c->moved[i] = c->point[i] + side * step;
        c->kind->evaluate(c, 0, c->moved, c->ahead);
        for (int64_t k = 0; k < c->level[0].length; k++)
            change += side * c->level[0].cotangent[k] * c->ahead[k];
    }
    c->moved[i] = c->point[i];
    return change / (2 * step);
}

static void fill_steps(tg_check *c, void *of)
{
    curve *v = of;
    tg_check_open(c);
    const int64_t i = choose_element(c, &v->place);
    const double analytic = v->place.derivative, unit = analytic == 0 ? 1 : fabs(analytic);
    double above[2] = {NAN, NAN};
    for (; i >= 0 && v->filled < v->count; v->filled++) {
        const double step = ldexp(0.5, -v->filled), plain = difference(c, i, step * c->scale[i]),
                     once = plain + (plain - above[0]) / 3, twice = once + (once - above[1]) / 15;
        v->steps[v->filled] = (tg_gradcheck_step){step, fabs(plain - analytic) / unit, fabs(once - analytic) / unit,
                                                  fabs(twice - analytic) / unit};
        above[0] = plain;
        above[1] = once;
    }
}

static void draw_curve(tg_check *all, void *of)
{
    curve *v = of;
    (void)all;
    draw_inputs(&v->t);
    tg_check c = check_of(&v->t);
    tg_check_try(&c, fill_steps, v);
    tg_check_close(&c);
}

int tg_gradcheck_steps(const tg_op *op, tg_gradcheck_place *place, uint64_t seed, tg_gradcheck_step *steps, int count)
{
    if (tg_op_missing(op) || !op->derivative || !place || !steps)
        return 0;
    curve v = {.t = {.op = op, .all.options = tg_check_options(&(tg_gradcheck_options){.seed = seed})},
               .steps = steps,
               .count = count};
    for (int sample = 0; sample < op->sample_count && v.filled == 0; sample++) {
        if (place->sample >= 0 && place->sample != sample)
            continue;
        v.place = *place;
        v.place.sample = sample;
        start_sample(&v.t, sample);
        if (is_for_derivatives(&v.t))
            tg_check_try(&v.t.all, draw_curve, &v);
    }
    if (v.filled > 0)
        *place = v.place;
    tg_check_close(&v.t.all);
    return v.filled;
}
