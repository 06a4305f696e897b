/* The point at which a function is checked: the caller's, and others of the checker's own; and what the caller knows:
 * bounds, a projection, the most evaluations, when to stop. All evaluations pass through here. */
#include "autograd/gradcheck/check.h"

#include <float.h>
#include <string.h>

/* ---- evaluations ---- */

static bool allows(const tg_gradcheck_input *in, double x)
{
    return (in->low == 0 && in->high == 0) || (x >= in->low && x <= in->high);
}

bool tg_check_is_within(const tg_check *c, const double *x)
{
    for (const tg_check_part *p = c->parts; p < c->parts + c->part_count; p++)
        for (int64_t i = p->offset; i < p->offset + p->size; i++)
            if (!allows(&c->inputs[p->input], x[i]) || (c->options.project && !isfinite(x[i])))
                return false;
    return true;
}

static const double *project(tg_check *c, const double *x)
{
    if (!c->options.project)
        return x;
    memcpy(c->projected, x, (size_t)c->variables * sizeof *x);
    c->options.project(c->projected_inputs, c->options.user);
    return c->projected;
}

bool tg_check_evaluate(tg_check *c, int level, const double *x, double *out)
{
    const tg_gradcheck_options *o = &c->options;
    int64_t *evaluations = &c->result.evaluations;
    const int64_t failed = c->result.failed;
    x = project(c, x);
    const bool within = tg_check_is_within(c, x);
    if (within && !c->over)
        c->over = (o->evaluations > 0 && *evaluations >= o->evaluations) ||
                  (o->progress && !o->progress(*evaluations, o->user));
    if (within && !c->over) {
        ++*evaluations;
        c->kind->evaluate(c, level, x, out);
    } else
        for (int64_t k = 0; k < c->level[level].length; k++)
            out[k] = NAN;
    return c->result.failed == failed;
}

/* By differences: exact to far more than what is promised, as a projection costs little. */
double *tg_check_find_tangent(tg_check *c, const tg_check_line *line)
{
    double *tangent = tg_check_numbers(c, c->variables);
    for (int k = 0; k < 2; k++) {
        const double t = c->first / (k + 1), weight = k == 0 ? -1. / 3 : 4. / 3;
        for (int sign = 1; sign > -2; sign -= 2) {
            memcpy(c->moved, c->point, (size_t)c->variables * sizeof(double));
            for (int64_t i = line->from; i < line->to; i++)
                c->moved[i] += sign * t * line->direction[i];
            const double *at = project(c, c->moved);
            for (int64_t i = 0; i < c->variables; i++)
                tangent[i] += sign * weight * at[i] / (2 * t);
        }
    }
    return tangent;
}

/* ---- set up ---- */

static void set_type(tg_check *c)
{
    static const double epsilon[] = {DBL_EPSILON / 2, FLT_EPSILON / 2, 0x1p-8},
                        promise[] = {TG_PROMISE_F64, TG_PROMISE_F32, TG_PROMISE_BF16},
                        least[] = {0x1p-1074, 0x1p-149, 0x1p-133};
    c->epsilon = epsilon[c->type];
    c->promise = promise[c->type];
    c->least = least[c->type];
    c->terms = fmin(TG_TERMS, TG_TOLERANCE * c->promise / c->epsilon);
    c->coarse = fmax(TG_COARSE, c->promise);
    c->first = TG_FIRST_STEP(c->epsilon);
    c->near = c->first * c->first;
    c->near_step = c->near * c->first;
}

/* Adds a part after those before it, which have *all elements. */
static void add_part(tg_check_part *part, int number, const tg_shape *shape, int64_t *all)
{
    *part = (tg_check_part){number, *all, tg_shape_size(shape), *shape, false};
    *all += part->size;
}

void tg_check_set_outputs(tg_check *c, const tg_shape *shapes, int count)
{
    c->outputs = tg_check_take(c, count, sizeof *c->outputs);
    for (; c->output_count < count; c->output_count++)
        add_part(&c->outputs[c->output_count], c->output_count, &shapes[c->output_count], &c->level[0].length);
}

static void make_parts(tg_check *c)
{
    c->parts = tg_check_take(c, c->count, sizeof *c->parts);
    for (int i = 0; i < c->count; i++) {
        const tg_gradcheck_input *in = &c->inputs[i];
        const tg_parameter *parameter = in->parameter;
        const int64_t size = tg_shape_size(tg_check_shape_of(in));
        const int sources = !!in->data + !!in->integers + !!parameter;
        c->result.input = i;
        char shape[128];
        if (size < 0)
            tg_check_stop(c, TG_GRADCHECK_REFUSED, "%s is no shape",
                          tg_shape_text(tg_check_shape_of(in), shape, sizeof shape));
        if (sources > 1 || (sources == 0 && size > 0))
            tg_check_stop(c, TG_GRADCHECK_REFUSED, "expected one of data, integers and parameter");
        if (parameter && (parameter->dtype != TG_F64 || (!parameter->data && size > 0)))
            tg_check_stop(c, TG_GRADCHECK_REFUSED, "expected a parameter with data of type f64");
        if (tg_check_is_varied(in))
            add_part(&c->parts[c->part_count++], i, tg_check_shape_of(in), &c->variables);
    }
    c->result.input = -1;
    if (c->part_count == 0)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "there is no input to differentiate");
}

static void make_projection(tg_check *c)
{
    c->projected = tg_check_numbers(c, c->variables);
    c->projected_inputs = tg_check_take(c, c->count, sizeof *c->projected_inputs);
    for (int i = 0; i < c->count; i++)
        c->projected_inputs[i] = tg_check_data_of(&c->inputs[i]); /* of those that are fixed */
    for (int p = 0; p < c->part_count; p++)
        c->projected_inputs[c->parts[p].input] = c->projected + c->parts[p].offset;
    memcpy(c->caller, project(c, c->caller), (size_t)c->variables * sizeof(double));
    memcpy(c->point, c->caller, (size_t)c->variables * sizeof(double));
}

static void make_point(tg_check *c)
{
    double **numbers[] = {&c->caller, &c->point, &c->moved, &c->scale, &c->own_scale, &c->direction, &c->hidden};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = tg_check_numbers(c, c->variables);
    for (const tg_check_part *p = c->parts; p < c->parts + c->part_count; p++) {
        const double *data = tg_check_data_of(&c->inputs[p->input]);
        for (int64_t i = 0; i < p->size; i++)
            c->caller[p->offset + i] = c->point[p->offset + i] = tg_check_round(c, data[i]);
    }
}

void tg_check_open(tg_check *c)
{
    int64_t longest = 0;
    c->at = c->at ? c->at : "";
    set_type(c);
    make_parts(c);
    make_point(c);
    if (c->options.project)
        make_projection(c);
    if (!tg_check_is_within(c, c->point))
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "the given point is outside of its bounds");
    c->kind->open(c);
    for (int p = 0; p < c->part_count; p++) /* one that is larger or smaller broadcasts */
        c->elementwise &= c->parts[p].size == c->level[0].length;
    for (int k = 0; k <= c->options.order; k++) {
        tg_check_level *level = &c->level[k];
        level->length = k == 0 ? level->length : c->variables;
        double **numbers[] = {&level->value, &level->noise, &level->rounding, &level->cotangent};
        for (int i = 0; i < 4; i++)
            *numbers[i] = tg_check_numbers(c, level->length);
        for (int64_t i = 0; i < level->length; i++)
            level->cotangent[i] = tg_check_weight(c);
        longest = longest > level->length ? longest : level->length;
    }
    double **numbers[] = {&c->ahead, &c->behind, &c->further, &c->promised};
    for (int i = 0; i < 4; i++)
        *numbers[i] = tg_check_numbers(c, longest);
    for (int64_t i = 0; i < c->variables; i++)
        c->hidden[i] = INFINITY;
    c->changed = tg_check_take(c, longest, sizeof *c->changed);
    tg_check_at_point(c, c->options.order);
    c->opened = true;
}

/* ---- at a point ---- */

static double power_below(double x) /* of two */
{
    return ldexp(1, ilogb(x));
}

/* Zero has no scale of its own: it takes the least one of the input, if that may matter. The longest step of a scale is
 * 1 / TG_SAFETY of it. */
static void set_scales(tg_check *c, const tg_check_part *part)
{
    const double step = c->options.largest_step, most = step > 0 ? power_below(TG_SAFETY * step) : DBL_MAX;
    double least = TG_LEAST_SCALE;
    for (int64_t i = part->offset; !c->elementwise && i < part->offset + part->size; i++)
        least = fabs(c->point[i]) > DBL_MIN ? fmin(least, power_below(fabs(c->point[i]))) : least;
    for (int64_t i = part->offset; i < part->offset + part->size; i++) {
        const double size = fabs(c->point[i]);
        c->own_scale[i] = fmin(size > DBL_MIN ? power_below(fmin(size, DBL_MAX)) : least, most);
        c->scale[i] = fmax(fmin(power_below(fmin(fmax(size, TG_LEAST_SCALE), TG_MOST_SCALE)), most),
                           c->first * c->own_scale[i]); /* the first step is one in x */
    }
}

static void set_promised(tg_check *c)
{
    for (const tg_check_part *p = c->outputs; p < c->outputs + c->output_count; p++) {
        const double relative = c->value_rtol ? c->value_rtol[p->input] : c->options.value_rtol,
                     absolute = c->value_atol ? c->value_atol[p->input] : c->options.value_atol;
        for (int64_t k = p->offset; k < p->offset + p->size; k++) {
            const double value = c->level[0].value[k];
            c->promised[k] = isfinite(value) ? relative * fabs(value) + absolute : 0;
        }
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
        level->rounding[k] = 0;
        if (number == 0)
            level->noise[k] = fmax(level->noise[k], c->promised[k]);
    }
    level->measured = level->jumps = false;
}

void tg_check_at_point(tg_check *c, int last)
{
    for (int p = 0; p < c->part_count; p++)
        set_scales(c, &c->parts[p]);
    for (int k = 0; k <= last; k++) {
        tg_check_evaluate(c, k, c->point, c->level[k].value);
        if (k == 0)
            set_promised(c);
        set_usual_noise(c, k);
    }
}

/* ---- points of the checker's own ---- */

/* What is put where, as derivatives are most often wrong at zeros, ones, ties and in the tails: at elements first,
 * first + every, ... of every input; number j of them gets values[j % count], or, without values, its own value times
 * `factor`, or that of the first element. */
typedef struct placement {
    const char *at;
    int first, every;
    double factor;
    int count;
    double values[12];
} placement;

#define MIXED " (with halves, whole numbers, small and large ones put in)"
static const placement placements[] = {
    {" (at a point near the given one)", 0, 1, 1},
    {" (with zeros put in)", 0, 2, 0, 2, {0, -0.0}},
    {" (with zeros put in)", 1, 2, 0, 2, {-0.0, 0}},
    {" (with zeros only)", 0, 1, 0, 1, {0}},
    {" (with negative zeros only)", 0, 1, 0, 1, {-0.0}},
    {" (with ones put in)", 0, 2, 0, 3, {1, -1, 1}},
    {" (with ones put in)", 1, 2, 0, 3, {1, 1, -1}},
    {" (with equal elements)", 0, 1, 0},
    {" (at a point 8 times as far from 0)", 0, 1, 8},
    {MIXED, 0, 2, 0, 12, {0.5, -2, 3, -3, 1e-3, -0.5, 12.5, -20, 1e-8, 100, -12.5, 2}},
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

/* With the caller's numbers where the input's range excludes others. A function of several operations, each of which
 * has these points itself, has the first two. An elementwise operation has a sample of its own with special points
 * (operation.c). In bfloat16 kinks cannot be judged. */
const char *tg_check_next_point(tg_check *c, int number)
{
    const int count = c->elementwise || c->type == TG_GRADCHECK_BF16 ? 1
                      : c->composed                                  ? 2
                                                                     : (int)(sizeof placements / sizeof placements[0]);
    if (number >= count || c->variables == 0 || c->options.here_only)
        return NULL;
    for (const tg_check_part *p = c->parts; p < c->parts + c->part_count; p++)
        for (int64_t i = 0; i < p->size; i++) {
            const double x = placed(c, &placements[number], p, i);
            const bool fits =
                (!c->low || (x >= c->low[p->input] && x <= c->high[p->input])) && allows(&c->inputs[p->input], x);
            c->point[p->offset + i] = fits ? tg_check_round(c, x) : c->caller[p->offset + i];
        }
    memcpy(c->point, project(c, c->point), (size_t)c->variables * sizeof(double));
    return placements[number].at;
}
