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
    int which[MOST];              /* the check's input that is the operation's input i */
    tg_tensor room[MOST];
    tg_rng rng;
} trial;

/* ---- drawing ---- */

static bool is_default_range(const tg_sample_input *in)
{
    return !in->index && in->value_count == 0 && in->low == 0 && in->high == 0;
}

static double draw(trial *t, const tg_sample_input *in, int64_t i)
{
    const bool anywhere = is_default_range(in);
    const double low = anywhere ? -3 : in->low, high = anywhere ? 3 : in->high;
    return in->value_count > 0 ? in->values[i % in->value_count] : low + (high - low) * tg_rng_uniform(&t->rng);
}

static const double *draw_numbers(trial *t, const tg_sample_input *in)
{
    const int64_t size = tg_shape_size(&in->shape);
    double *numbers = tg_check_numbers(&t->all, size > 0 ? size : 0);
    for (int64_t i = 0; i < size; i++)
        numbers[i] = draw(t, in, i);
    return numbers;
}

/* False if derivatives cannot be checked: samples with infinities or NaN are for the forward check. */
static bool draw_inputs(trial *t)
{
    bool varied = false, finite = true;
    for (int i = 0; i < t->count && t->count <= MOST; i++) {
        const tg_sample_input *in = &t->sample->input[i];
        const double *numbers = draw_numbers(t, in);
        const int64_t size = tg_shape_size(&in->shape);
        int32_t *integers = in->index ? tg_check_take(&t->all, size > 0 ? size : 0, sizeof *integers) : NULL;
        for (int64_t k = 0; k < size; k++) {
            finite &= isfinite(numbers[k]);
            if (integers)
                integers[k] = (int32_t)floor(numbers[k]);
        }
        varied |= !in->index && !in->fixed;
        t->inputs[i] = (tg_gradcheck_input){
            .shape = in->shape, .fixed = in->fixed, .integers = integers, .data = in->index ? NULL : numbers};
        t->low[i] = is_default_range(in) ? -INFINITY : in->value_count > 0 ? INFINITY : in->low;
        t->high[i] = is_default_range(in) ? INFINITY : in->high;
        t->which[i] = i;
    }
    return varied && finite;
}

/* ---- one sample ---- */

static tg_tensor apply(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    trial *t = user;
    (void)tape, (void)count;
    for (int i = 0; i < t->count; i++)
        t->room[i] = inputs[t->which[i]];
    return tg_apply(t->op, t->sample->attributes, t->count, t->room);
}

/* Checks the current inputs. False if that failed, or if there is nothing to check: a value that is not finite, as in
 * samples at the end of a range, or the mean of no elements. Briefly, in another type or shape, along one direction of
 * each input: then only a failure counts. */
static bool run(trial *t, tg_gradcheck_type type, const char *briefly, const char *note)
{
    tg_check_tensors of = {.function = apply, .user = t};
    tg_check c = {.name = t->op->name,
                  .inputs = t->inputs,
                  .count = t->count,
                  .result = tg_check_no_result(t->number),
                  .kind = &tg_check_of_tensors,
                  .source = &of,
                  .type = type,
                  .elementwise = t->op->flags & TG_ELEMENTWISE,
                  .brief = briefly,
                  .at = briefly,
                  .options = t->all.options,
                  .low = t->low,
                  .high = t->high,
                  .rng = tg_rng_stream(&t->rng, "check")};
    c.options.order = briefly ? 1 : c.options.order;
    tg_check_run(&c);
    tg_gradcheck_result *v = &c.result;
    const bool none = c.nothing || (v->status == TG_GRADCHECK_NOT_FINITE && v->order == 0);
    if (briefly && v->status == TG_GRADCHECK_WRONG)
        v->status = type == TG_GRADCHECK_F32 ? TG_GRADCHECK_SINGLE : TG_GRADCHECK_SHAPE;
    tg_text text = {v->why, sizeof v->why, strlen(v->why)};
    tg_text_add(&text, "%s", v->passed ? "" : note);
    if (briefly ? !v->passed : !none) {
        if (!v->passed)
            tg_check_explain(&c);
        tg_check_add(&t->all, v);
    }
    tg_check_close(&c);
    return v->passed;
}

/* An elementwise operation in other ranks and lengths, and broadcast; each input in turn is the smaller one. */
static void check_shapes(trial *t)
{
    static const int lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,   9,   13,  15,  16,
                                  17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 1003};
    static const tg_shape shapes[][2] = {{{0}, {0}},
                                         {{2, {3, 5}}, {2, {3, 5}}},
                                         {{3, {2, 1, 7}}, {3, {2, 1, 7}}},
                                         {{4, {2, 3, 2, 2}}, {4, {2, 3, 2, 2}}},
                                         {{6, {1, 2, 1, 2, 1, 3}}, {6, {1, 2, 1, 2, 1, 3}}},
                                         {{1, {4}}, {2, {3, 4}}},
                                         {{2, {3, 1}}, {2, {3, 4}}},
                                         {{0}, {2, {3, 4}}},
                                         {{1, {1}}, {1, {9}}},
                                         {{2, {3, 1}}, {2, {1, 4}}},
                                         {{3, {2, 1, 5}}, {2, {3, 1}}}};
    enum { LENGTHS = sizeof lengths / sizeof *lengths, SHAPES = sizeof shapes / sizeof *shapes };
    const tg_sample *own = t->sample;
    tg_sample sample = *own;
    t->sample = &sample;
    for (int i = 0; i < LENGTHS + SHAPES; i++) {
        const tg_shape line = {1, {lengths[i < LENGTHS ? i : 0]}}, *small = i < LENGTHS ? &line : shapes[i - LENGTHS],
                       *others = i < LENGTHS ? &line : small + 1;
        const int turns = tg_shape_equal(small, others) ? 1 : t->count > 1 ? t->count : 0;
        for (int which = 0; which < turns && t->all.result.passed; which++) {
            char text[2][50], at[160];
            tg_text words = {at, sizeof at, 0};
            tg_text_add(&words, " (with input %d %s beside %s)", which, tg_shape_text(small, text[0], sizeof text[0]),
                        tg_shape_text(others, text[1], sizeof text[1]));
            for (int k = 0; k < t->count; k++)
                sample.input[k].shape = k == which ? *small : *others;
            draw_inputs(t);
            run(t, TG_GRADCHECK_F64, at, "");
        }
    }
    t->sample = own;
}

/* Makes one tensor serve for the inputs in a bitmask. Its values lie in the ranges of all of them, or are those that
 * one of them prescribes. False if that is impossible. */
static bool make_same(trial *t, unsigned group)
{
    const int first = __builtin_ctz(group);
    tg_sample_input all = t->sample->input[first];
    draw_inputs(t);
    for (int i = first; i < t->count; i++) {
        const tg_sample_input *in = &t->sample->input[i];
        if (!(group >> i & 1))
            continue;
        if (in->index || in->fixed || !tg_shape_equal(&in->shape, &all.shape) ||
            (i > first && in->value_count > 0 && all.value_count > 0))
            return false;
        if (in->value_count > 0 || is_default_range(&all))
            all = *in;
        else if (all.value_count == 0 && !is_default_range(in)) {
            all.low = fmax(all.low, in->low);
            all.high = fmin(all.high, in->high);
        }
        t->low[first] = fmax(t->low[first], t->low[i]);
        t->high[first] = fmin(t->high[first], t->high[i]);
        t->inputs[i].fixed = i > first; /* no longer used */
        t->which[i] = first;
    }
    t->inputs[first].data = draw_numbers(t, &all);
    return tg_shape_size(&all.shape) > 0 && (all.value_count > 0 || is_default_range(&all) || all.low < all.high);
}

/* ---- points of an elementwise operation ---- */

/* Zeros, halves, whole numbers, tiny and large ones within the sample's ranges, and random ones, each of one input
 * beside each of the others somewhere; without places where the value is not finite. False if none is left, or an input
 * is an index. */
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
    for (int i = 0; i < t->count; i++)
        if (t->sample->input[i].index)
            return false;
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
    const bool short_of_memory = !tape || (tg_tape_error(tape) && strstr(tg_tape_error(tape), "out of memory"));
    for (int k = 0; value && k < POINTS; k++)
        if (fabs(value[k]) < 0x1p900) { /* the derivative may be larger */
            for (int i = 0; i < t->count; i++)
                points[i][left] = points[i][k];
            left++;
        }
    tg_tape_free(tape);
    if (short_of_memory)
        tg_check_stop(&t->all, TG_GRADCHECK_REFUSED, "out of memory");
    for (int i = 0; i < t->count; i++)
        t->inputs[i] =
            (tg_gradcheck_input){.shape = TG_SHAPE(left), .data = points[i], .fixed = t->sample->input[i].fixed};
    return left > 0;
}

/* Checks the sample as it is, with inputs of one shape as one tensor, and at special points. */
static void run_sample(trial *t)
{
    tg_gradcheck_result *total = &t->all.result;
    if (!draw_inputs(t) || !run(t, TG_GRADCHECK_F64, NULL, "")) {
        total->skipped += total->passed;
        return;
    }
    total->samples++;
    if (total->passed && !t->all.options.double_only)
        run(t, TG_GRADCHECK_F32, " (in float)", "");
    if (t->number == 0 && t->op->flags & TG_ELEMENTWISE && !t->op->shape) /* a shape rule may refuse other shapes */
        check_shapes(t);
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
        run(t, TG_GRADCHECK_F64, NULL, note);
    }
    draw_inputs(t);
    if (total->passed && t->op->flags & TG_ELEMENTWISE && choose_points(t))
        run(t, TG_GRADCHECK_F64, NULL, " (at points of the checker's own)");
}

/* ---- the operation ---- */

static void run_samples(tg_check *all, void *of)
{
    trial *t = of;
    tg_gradcheck_result *total = &all->result;
    const char *missing = tg_op_missing(t->op);
    if (missing)
        tg_check_stop(all, TG_GRADCHECK_REFUSED, "it lacks %s", missing);
    if (!t->op->derivative || t->op->flags & (TG_CONSTANT | TG_SOURCE))
        tg_check_stop(all, TG_GRADCHECK_REFUSED, "the operation has no derivative by nature");
    total->passed = true;
    for (int number = 0; number < t->op->sample_count && total->passed; number++) {
        tg_rng rng = tg_rng_seed(all->options.seed);
        rng = tg_rng_stream(&rng, t->op->name);
        tg_arena_rewind(&all->arena, 0);
        t->sample = &t->op->samples[number];
        t->number = number;
        t->count = t->sample->count > 0 ? t->sample->count : t->op->arity;
        t->rng = tg_rng_split(&rng, (uint64_t)number);
        run_sample(t);
    }
    if (total->passed && total->comparisons == 0 && total->undecided == 0) {
        *total = tg_check_no_result(-1);
        tg_check_stop(all, TG_GRADCHECK_REFUSED, "it has no sample with inputs that can be differentiated");
    }
    tg_check_end(all);
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
