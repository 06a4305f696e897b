/* The order of a check: set up, the caller's point, what holds exactly, other points. */
#include "autograd/gradcheck/check.h"

#include <float.h>
#include <string.h>

tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options)
{
    tg_gradcheck_options filled = options ? *options : (tg_gradcheck_options){0};
    if (filled.report_size == 0)
        filled.report = NULL;
    if (filled.report)
        filled.report[0] = '\0';
    filled.order = filled.order < 1 ? 1 : filled.order > TG_GRADCHECK_MAX_ORDER ? TG_GRADCHECK_MAX_ORDER : filled.order;
    if (filled.elements < 1)
        filled.elements = 16;
    if (filled.directions < 1)
        filled.directions = 3;
    return filled;
}

tg_gradcheck_result tg_check_no_result(int sample)
{
    return (tg_gradcheck_result){.sample = sample, .input = -1, .index = -1};
}

/* ---- failures ---- */

/* `outer` and the arguments do not change between setjmp and longjmp, so they are valid after the jump. */
bool tg_check_try(tg_check *c, void (*part)(tg_check *c, void *of), void *of)
{
    jmp_buf stop, *const outer = c->stop;
    c->stop = &stop;
    const bool fine = setjmp(stop) == 0;
    if (fine)
        part(c, of);
    c->stop = outer;
    return fine;
}

void tg_check_stop(tg_check *c, tg_gradcheck_status status, const char *format, ...)
{
    tg_gradcheck_result *v = &c->result;
    tg_text text = {v->why, sizeof v->why, 0};
    va_list arguments;
    v->passed = false;
    v->status = status;
    tg_check_where(c, v);
    tg_text_add(&text, "%s%s%s%s: ", c->name, v->where[0] ? ", " : "", v->where, c->at ? c->at : "");
    va_start(arguments, format);
    tg_text_add_arguments(&text, format, arguments);
    va_end(arguments);
    longjmp(*c->stop, 1);
}

void *tg_check_take(tg_check *c, int64_t count, size_t size)
{
    void *memory = NULL;
    if ((uint64_t)count <= SIZE_MAX / size)
        memory = tg_arena_take(&c->arena, (size_t)count * size, _Alignof(long double));
    if (!memory)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
    return memset(memory, 0, (size_t)count * size);
}

/* ---- numbers ---- */

double tg_check_round(const tg_check *c, double x)
{
    if (c->type == TG_GRADCHECK_F64)
        return x;
    float rounded = (float)x;
    if (c->type == TG_GRADCHECK_BF16 && isfinite(rounded)) { /* to the nearest, ties to even */
        uint32_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
        memcpy(&rounded, &bits, sizeof bits);
    }
    return rounded;
}

double tg_check_weight(tg_check *c)
{
    const double size = 0.5 + tg_rng_uniform(&c->rng);
    return tg_check_round(c, tg_rng_below(&c->rng, 2) ? size : -size);
}

double tg_check_power_below(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - 1);
}

static void set_type(tg_check *c)
{
    static const double epsilon[] = {DBL_EPSILON / 2, FLT_EPSILON / 2, 0x1p-8},
                        promise[] = {TG_PROMISE_F64, TG_PROMISE_F32, TG_PROMISE_BF16};
    c->type = c->box ? c->box->type : TG_GRADCHECK_F64;
    c->epsilon = epsilon[c->type];
    c->promise = promise[c->type];
    c->terms = fmin(TG_TERMS, TG_TOLERANCE * c->promise / c->epsilon);
    c->first = tg_check_first_step(c->epsilon);
    c->first_of_table = fmax(0x1p-3, c->first);
    c->near = pow(c->epsilon, 3. / 8);
    c->far = fmin(0x1p-3, c->near * 0x1p8);
    c->near_step = pow(c->epsilon, 9. / 16);
    c->coarse = fmax(TG_COARSE, c->promise);
    c->least = c->type == TG_GRADCHECK_F64 ? 0x1p-1074 : 0x1p-149;
}

/* ---- set up ---- */

static void refuse_unusable(tg_check *c, int i)
{
    const tg_gradcheck_input *input = &c->inputs[i];
    const int64_t size = tg_shape_size(tg_check_shape_of(input));
    const int sources = !!input->data + !!input->integers + !!input->parameter;
    const char *wrong = NULL;
    if (size < 0)
        wrong = "its shape is none";
    else if (sources > 1 || (sources == 0 && size > 0))
        wrong = "expected one of data, integers and parameter";
    else if (input->parameter && (input->parameter->dtype != TG_F64 || (!input->parameter->data && size > 0)))
        wrong = "expected a parameter with data of type f64";
    if (!wrong)
        return;
    c->result.input = i;
    tg_check_stop(c, TG_GRADCHECK_REFUSED, "%s", wrong);
}

static void make_parts(tg_check *c)
{
    c->parts = tg_check_take(c, c->count, sizeof *c->parts);
    for (int i = 0; i < c->count; i++) {
        refuse_unusable(c, i);
        if (!tg_check_is_varied(&c->inputs[i]))
            continue;
        const tg_shape shape = *tg_check_shape_of(&c->inputs[i]);
        c->parts[c->part_count++] = (tg_check_part){i, c->variables, tg_shape_size(&shape), shape, false};
        c->variables += tg_shape_size(&shape);
    }
    if (c->part_count == 0)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "there is no input to differentiate");
}

const double *tg_check_data_of(const tg_check *c, int input)
{
    const tg_gradcheck_input *in = &c->inputs[input];
    for (int p = 0; p < c->part_count && c->point; p++)
        if (c->parts[p].input == input)
            return c->point + c->parts[p].offset;
    return in->parameter ? in->parameter->data : in->data;
}

static void make_point(tg_check *c)
{
    double **numbers[] = {&c->caller, &c->moved, &c->scale, &c->own_scale};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = tg_check_numbers(c, c->variables);
    for (int p = 0; p < c->part_count; p++) {
        const double *data = tg_check_data_of(c, c->parts[p].input);
        for (int64_t i = 0; i < c->parts[p].size; i++)
            c->caller[c->parts[p].offset + i] = tg_check_round(c, data[i]);
    }
    c->point = tg_check_numbers(c, c->variables);
    memcpy(c->point, c->caller, (size_t)c->variables * sizeof(double));
}

void tg_check_open(tg_check *c)
{
    int64_t longest = 0;
    c->at = "";
    set_type(c);
    make_parts(c);
    make_point(c);
    c->kind->measure(c);
    for (int k = 0; k <= c->options.order; k++) {
        tg_check_level *level = &c->level[k];
        level->length = k == 0 ? level->length : c->variables;
        level->value = tg_check_numbers(c, level->length);
        level->noise = tg_check_numbers(c, level->length);
        level->cotangent = tg_check_numbers(c, level->length);
        for (int64_t i = 0; i < level->length; i++)
            level->cotangent[i] = tg_check_weight(c);
        longest = longest > level->length ? longest : level->length;
    }
    c->ahead = tg_check_numbers(c, longest);
    c->behind = tg_check_numbers(c, longest);
    c->changed = tg_check_take(c, longest, sizeof *c->changed);
    tg_check_at_point(c, c->options.order);
}

/* Rounding shows in third differences over steps so small that the function has only its slope there (More and Wild
 * 2011): of rounding errors that are independent, a third difference is sqrt(1 + 9 + 9 + 1) times as large. The smaller
 * of what both sides show, as the function may jump at the point. */
void tg_check_measure_noise(tg_check *c, int number)
{
    enum { POINTS = 6 };
    tg_check_level *level = &c->level[number];
    const int64_t here = tg_arena_here(&c->arena);
    if (level->measured)
        return;
    level->measured = true;
    const int64_t n = level->length;
    const double step = c->epsilon / (c->first * c->first); /* 2^-31, 2^-14, 2^-4 */
    double *at = tg_check_numbers(c, POINTS * n), *smaller = tg_check_numbers(c, n),
           *unit = tg_check_numbers(c, c->variables);
    for (int64_t i = 0; i < c->variables; i++)
        unit[i] = c->point[i] == 0 ? 0 : step * c->own_scale[i] * (tg_rng_below(&c->rng, 2) ? 1 : -1);
    for (int side = 0; side < 2; side++) {
        for (int p = 0; p < POINTS; p++) {
            for (int64_t i = 0; i < c->variables; i++)
                c->moved[i] = tg_check_round(c, c->point[i] + (side ? p + 1 : -p - 1) * unit[i]);
            c->kind->evaluate(c, number, c->moved, at + p * n);
        }
        for (int64_t k = 0; k < n; k++) {
            double largest = 0;
            for (const double *f = at + k; f < at + k + (POINTS - 3) * n; f += n)
                largest = fmax(largest, fabs(f[3 * n] - f[0] - 3 * (f[2 * n] - f[n])) / sqrt(20));
            smaller[k] = side == 0 || !(largest > smaller[k]) ? largest : smaller[k];
        }
    }
    for (int64_t k = 0; k < n; k++)
        level->noise[k] = isfinite(smaller[k]) ? fmax(level->noise[k], smaller[k]) : level->noise[k];
    memcpy(c->moved, c->point, (size_t)c->variables * sizeof(double));
    tg_arena_rewind(&c->arena, here);
}

/* Zero has no scale of its own: it takes the least one of the input, if that may matter. */
static void set_scales(tg_check *c, const tg_check_part *part)
{
    double least = TG_LEAST_SCALE;
    for (int64_t i = part->offset; !c->elementwise && i < part->offset + part->size; i++)
        least = fabs(c->point[i]) > DBL_MIN ? fmin(least, tg_check_power_below(fabs(c->point[i]))) : least;
    for (int64_t i = part->offset; i < part->offset + part->size; i++) {
        const double size = fabs(c->point[i]);
        c->own_scale[i] = size > DBL_MIN ? tg_check_power_below(size) : least;
        c->scale[i] = fmax(tg_check_power_below(fmin(fmax(size, TG_LEAST_SCALE), TG_MOST_SCALE)),
                           c->first * c->own_scale[i]); /* the first step is one in x */
        c->moved[i] = c->point[i];
    }
}

/* A rounding of each value. A gradient is computed from numbers of the size of the function, of which it may be the
 * small difference. */
static void set_usual_noise(tg_check *c, int number)
{
    tg_check_level *level = &c->level[number];
    const tg_check_level *below = level - 1;
    double all = 0;
    for (int64_t k = 0; number > 0 && k < below->length; k++)
        all += fabs(below->cotangent[k] * below->value[k]);
    for (int64_t k = 0; k < level->length; k++) {
        const int64_t place = number > 0 && below->length > 0 ? k % below->length : 0;
        const double size = number == 0      ? 0
                            : c->elementwise ? fabs(below->cotangent[place] * below->value[place])
                                             : all;
        level->noise[k] = c->epsilon * (fabs(level->value[k]) + (isfinite(size) ? size : 0)) + c->least;
    }
    level->measured = false;
}

void tg_check_at_point(tg_check *c, int last)
{
    for (int p = 0; p < c->part_count; p++)
        set_scales(c, &c->parts[p]);
    for (int k = 0; k <= last; k++) {
        c->kind->evaluate(c, k, c->point, c->level[k].value);
        set_usual_noise(c, k);
    }
}

void tg_check_close(tg_check *c)
{
    tg_tape_free(c->tape);
    tg_tape_free(c->other_tape);
    tg_arena_free(&c->arena);
    c->tape = c->other_tape = NULL;
}

/* ---- points of the checker's own ---- */

/* What is put where, as derivatives are most often wrong at zeros, ones, ties and in the tails: at elements first,
 * first + every, ... of every input; number j of them gets values[j % count], or, without values, its own value times
 * `factor`, or that of the first element. */
typedef struct placement {
    const char *at;
    int first, every, count;
    double values[16];
    double factor;
} placement;

static const placement placements[] = {
    {" (at a point near the given one)", 0, 1, 0, {0}, 1},
    {" (with zeros put in)", 0, 2, 2, {0, -0.0}, 0},
    {" (with zeros put in)", 1, 2, 2, {-0.0, 0}, 0},
    {" (with zeros only)", 0, 1, 1, {0}, 0},
    {" (with negative zeros only)", 0, 1, 1, {-0.0}, 0},
    {" (with ones put in)", 0, 2, 3, {1, -1, 1}, 0},
    {" (with ones put in)", 1, 2, 3, {1, 1, -1}, 0},
    {" (with equal elements)", 0, 1, 0, {0}, 0},
    {" (at a point 8 times as far from 0)", 0, 1, 0, {0}, 8},
    {" (with halves, whole numbers, small and large ones put in)",
     0,
     2,
     12,
     {0.5, -2, 3, -3, 1e-3, -0.5, 12.5, -20, 1e-8, 100, -12.5, 2},
     0},
};

static double placed(tg_check *c, const placement *p, const tg_check_part *part, int64_t index)
{
    const double own = c->caller[part->offset + index];
    if (index < p->first || (index - p->first) % p->every != 0)
        return own;
    if (p->count > 0)
        return p->values[(index - p->first) / p->every % p->count];
    if (p->factor == 1) /* a random part of it more or less, in which every digit differs */
        return own * (1 + (tg_rng_uniform(&c->rng) - 0.5) / 2) + (own == 0 ? tg_check_weight(c) / 8 : 0);
    return p->factor == 0 ? c->caller[part->offset] : p->factor * own;
}

/* Makes c->point the next one, with the caller's numbers where the input's range excludes others; NULL after the last.
 * A function of several operations, each of which has these points itself, has the first two. An elementwise operation
 * has a sample of its own with special points (operation.c). In bfloat16 kinks cannot be judged. */
static const char *next_point(tg_check *c, int number)
{
    const int count = c->elementwise || c->type == TG_GRADCHECK_BF16 ? 1
                      : c->composed                                  ? 2
                                                                     : (int)(sizeof placements / sizeof placements[0]);
    if (number >= count || c->variables == 0)
        return NULL;
    for (int p = 0; p < c->part_count; p++)
        for (int64_t i = 0; i < c->parts[p].size; i++) {
            const int64_t at = c->parts[p].offset + i;
            const int input = c->parts[p].input;
            const double x = placed(c, &placements[number], &c->parts[p], i);
            const bool fits = !c->low || (x >= c->low[input] && x <= c->high[input]);
            c->point[at] = fits ? tg_check_round(c, x) : c->caller[at];
        }
    return placements[number].at;
}

/* ---- the check ---- */

static bool all_finite(const double *numbers, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

static void expect_finite(tg_check *c)
{
    const tg_check_level *level = &c->level[0];
    for (int64_t k = 0; k < level->length; k++)
        if (!isfinite(level->value[k]))
            tg_check_stop(c, TG_GRADCHECK_NOT_FINITE, "the result is %g at element %lld", level->value[k],
                          (long long)k);
}

/* The first order alone, except of elementwise operations. */
static void check_point(tg_check *c, void *none)
{
    const int orders = c->elementwise ? c->options.order : 1;
    (void)none;
    c->kind->evaluate(c, 0, c->point, c->level[0].value);
    if (!all_finite(c->level[0].value, c->level[0].length))
        return;
    tg_check_at_point(c, orders);
    tg_check_compare_all(c, orders);
}

/* At a point of the checker's own a function may have no value, or refuse it; only a comparison can fail there. */
static void check_other_points(tg_check *c)
{
    for (int number = 0; c->result.passed && (c->at = next_point(c, number)); number++) {
        const tg_gradcheck_result before = c->result;
        if (!tg_check_try(c, check_point, NULL) && !strstr(c->result.why, "out of memory")) {
            c->result = before;
            if (c->tape)
                tg_tape_clear_error(c->tape);
        }
    }
    if (!c->at)
        c->at = "";
}

static void check_everything(tg_check *c, void *none)
{
    (void)none;
    tg_check_open(c);
    expect_finite(c);
    c->result.passed = true;
    tg_check_compare_all(c, c->options.order);
    if (!c->result.passed)
        return;
    tg_check_invariants(c);
    c->nothing = c->result.comparisons == 0;
    if (c->nothing)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "there is nothing to compare: all inputs are empty");
    check_other_points(c);
    tg_check_end(&c->result, &c->undecided);
}

void tg_check_run(tg_check *c)
{
    c->result = tg_check_no_result(c->result.sample);
    tg_check_try(c, check_everything, NULL);
    c->result.samples = 1;
    tg_check_put_back(c);
    tg_check_where(c, &c->result);
}

static void refuse(tg_check *c, void *why)
{
    tg_check_stop(c, TG_GRADCHECK_REFUSED, "%s", *(const char **)why);
}

tg_gradcheck_result tg_check_answer(tg_check *c, const char *misuse)
{
    c->rng = tg_rng_seed(c->options.seed);
    if (misuse)
        tg_check_try(c, refuse, &misuse);
    else
        tg_check_run(c);
    if (c->result.passed)
        tg_check_say_success(c->name, c->promise, &c->result);
    else if (c->point)
        tg_check_explain(c);
    tg_check_put_back(c);
    const tg_gradcheck_result result = c->result;
    tg_check_close(c);
    return result;
}
