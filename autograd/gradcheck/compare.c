#include "autograd/gradcheck/check.h"
#include "autograd/gradcheck/tolerances.h"

#include <float.h>
#include <string.h>

/* ---- what is compared ---- */

/* A group: its analytic derivative along a direction that is 0 outside [from, to), and what its finite difference
 * showed. */
typedef struct group {
    double analytic, size;
    double rounding; /* as measured */
    /* The size of each lower level; of a single element of an elementwise function, its place alone counts. */
    double below[TG_GRADCHECK_MAX_ORDER];
    double allowed; /* rounding allowed in the comparison with a difference */
    bool converged, noise;
} group;

/* Comparisons along one direction, one for each group. All arrays are [groups]. */
typedef struct comparison {
    int order;
    tg_check_way way; /* a group is no longer wanted once it is decided */
    group *group;
    tg_check_difference *difference;
    tg_check_integral *integral;
    double *half; /* half the stretch of each integral */
    tg_check_one_sided *one_sided;
    tg_gradcheck_result *v;
} comparison;

/* The size of a level, or of one place of it. */
static double size_below(const tg_check *c, const tg_check_level *level, int64_t place)
{
    long double square = 0;
    if (place < 0)
        return level->size;
    for (int64_t i = place; i < level->length; i += c->places)
        tg_check_add_square(&square, level->cotangent[i] * level->value[i]);
    return tg_check_root(square);
}

/* Fills in a group: its analytic derivative, its sizes and its steps. */
static void fill_group(const tg_check *c, comparison *p, int64_t g, int64_t from, int64_t to)
{
    const double *gradient = c->level[p->order].value, *direction = p->way.direction;
    const bool single = to - from == 1;
    group *of = &p->group[g];
    tg_check_steps *steps = &p->way.steps[g];
    long double square = 0;
    for (int64_t i = from; i < to; i++) {
        double term = gradient[i] * direction[i];
        of->analytic += term;
        tg_check_add_square(&square, term);
        steps->largest = fmax(steps->largest, fabs(direction[i]));
    }
    of->size = tg_check_root(square);
    of->rounding = tg_check_noise(c, p->order, direction, from, to);
    for (int k = 0; k < p->order; k++)
        of->below[k] = size_below(c, &c->level[k], single && c->places > 0 ? from % c->places : -1);
    steps->smallest = single && c->own_scale[from] < c->scale[from] ? c->own_scale[from] / c->scale[from] : 1;
    steps->wanted = true;
}

static comparison make_comparison(tg_check *c, int order, const double *direction, int64_t groups)
{
    comparison p = {.order = order, .way = {.direction = direction, .groups = groups}};
    p.way.steps = tg_check_take_from(c, &c->arena, groups, sizeof *p.way.steps);
    p.group = tg_check_take_from(c, &c->arena, groups, sizeof *p.group);
    p.difference = tg_check_take_from(c, &c->arena, groups, sizeof *p.difference);
    p.integral = tg_check_take_from(c, &c->arena, groups, sizeof *p.integral);
    p.half = tg_check_take(c, groups);
    p.one_sided = tg_check_take_from(c, &c->arena, groups, sizeof *p.one_sided);
    p.v = tg_check_take_from(c, &c->arena, groups, sizeof *p.v);
    return p;
}

/* ---- judging ---- */

/* The rounding of an analytic derivative: the measured one, limited by what the rounding of the function explains, so
 * that an error that looks like noise is not excused; plus an allowance of the usual size. */
static double explained_rounding(const tg_check *c, const comparison *p, int64_t g, double unmeasured)
{
    const group *of = &p->group[g];
    const tg_check_difference *d = &p->difference[g];
    double usual = 0, change = d->length_scale;
    for (int k = p->order - 1; k >= 0; k--) {
        usual += (k == p->order - 1 ? d->norm : of->below[k]) / change;
        change *= fmax(1, d->length_scale * p->way.steps[g].largest);
    }
    const double of_function = d->expected_rounding +
                               fmin(c->level[p->order - 1].rounding, d->rounding_sum) / d->length_scale +
                               d->argument_rounding;
    return c->numbers->rounding_safety *
               fmin(of->rounding, fmax(of_function, tg_check_to(c, CANCELLATION_ROUNDING) * usual)) +
           4 * d->argument_rounding + tg_check_to(c, unmeasured) * usual;
}

/* Where terms cancel, as where a norm removes what a bias adds, the difference is 0 and the derivative consists of the
 * terms' rounding. The terms may be as large as the derivatives by other variables. */
static double cancellation_rounding(const tg_check *c, const comparison *p, int64_t g)
{
    const tg_check_difference *d = &p->difference[g];
    const bool cancel = c->places == 0 && fabs(d->value) <= c->numbers->safety * (d->error + d->rounding);
    return cancel ? tg_check_to(c, UNMEASURED_ROUNDING) * c->level[p->order].size : 0;
}

/* The size of the derivative: the largest of what was found and expected. */
static double size_of(const comparison *p, int64_t g)
{
    const group *of = &p->group[g];
    const tg_check_difference *d = &p->difference[g];
    return fmax(fmax(fabs(of->analytic), of->size), fmax(fabs(d->value), d->size));
}

static void set_result(const tg_check *c, tg_gradcheck_result *v, double numeric, double bound, double size,
                       double rounding)
{
    v->numeric = numeric;
    v->error = fabs(v->analytic - numeric);
    v->bound = bound;
    v->relative = v->error > 0 ? v->error / fmax(size, rounding / tg_check_to(c, 1e-7)) : 0;
    v->passed = v->error <= bound;
    v->sharp = bound <= c->numbers->sharp * size;
    v->status = v->passed ? TG_GRADCHECK_PASSED : TG_GRADCHECK_WRONG;
}

/* All differences of sin(1e10 x) are noise. That noise is larger than rounding and as large as all changes of the
 * function, and the difference vanishes in it; the derivative says that the function runs through all its values in
 * steps too small for doubles. */
static bool is_noise(const tg_check *c, const group *of, const tg_check_difference *d, double largest_change)
{
    return d->rounding_sum > tg_check_to(c, NOISE) * d->norm && d->rounding_sum > 0x1p-10 * largest_change &&
           !(fabs(d->value) > c->numbers->safety * (d->error + d->rounding)) &&
           tg_check_to(c, BELOW_NOISE) * fabs(of->analytic) >= d->rounding_sum;
}

/* Judges a group by its central difference. */
static void judge(const tg_check *c, comparison *p, int64_t g)
{
    group *of = &p->group[g];
    const tg_check_difference *d = &p->difference[g];
    tg_gradcheck_result *v = &p->v[g];
    const double size = size_of(p, g);
    double rounding = c->numbers->safety * d->rounding + explained_rounding(c, p, g, UNMEASURED_ROUNDING) +
                      cancellation_rounding(c, p, g) + tg_check_to(c, MEASURED_ROUNDING) * size;
    set_result(c, v, d->value, c->numbers->safety * d->error + rounding, size, rounding);
    v->sharp |= size == 0 && v->bound <= c->numbers->sharp * of->below[p->order - 1] / d->length_scale;
    of->allowed = rounding;
    of->noise |= is_noise(c, of, d, p->way.steps[g].largest_change);
    of->converged = d->error <= tg_check_to(c, NOT_CONVERGED) * fmax(fabs(d->value), d->size) ||
                    tg_check_to(c, COARSE) * d->error <= d->rounding;
    if (v->error < 2 * c->numbers->epsilon * c->numbers->least *
                       p->way.steps[g].largest) { /* no double is small enough for this derivative */
        v->passed = true;
        v->status = TG_GRADCHECK_PASSED;
    }
    v->passed &= of->converged;
}

/* ---- judging by the integral ---- */

static double off_by(const tg_check_integral *in)
{
    return in->mean - in->change;
}

static double rounding_of(const tg_check *c, const comparison *p, int64_t g, const tg_check_integral *in)
{
    return c->numbers->safety * in->rounding + explained_rounding(c, p, g, UNMEASURED_IN_INTEGRAL) +
           tg_check_to(c, MEASURED_ROUNDING) * size_of(p, g);
}

/* Chooses a stretch for each group whose comparison agrees but is not sharp, if an integral is possible there. True if
 * there is a group with one. */
static bool choose_stretches(const tg_check *c, comparison *p)
{
    bool any = false;
    for (int64_t g = 0; g < p->way.groups; g++) {
        const double half = c->numbers->stretch * tg_check_first_step(p->way.steps[g].largest), size = size_of(p, g);
        const tg_check_integral hoped = {.rounding = c->numbers->epsilon * p->difference[g].norm / half};
        const bool coarse = p->way.steps[g].wanted && p->v[g].passed && !p->v[g].sharp &&
                            size > c->numbers->least / c->numbers->epsilon &&
                            rounding_of(c, p, g, &hoped) <= c->numbers->sharp * size;
        p->half[g] = coarse ? half : 0;
        any |= coarse;
    }
    return any;
}

static void set_by_integral(const tg_check *c, comparison *p, int64_t g)
{
    const tg_check_integral *in = &p->integral[g];
    const double rounding = rounding_of(c, p, g, in);
    set_result(c, &p->v[g], p->v[g].analytic - off_by(in), in->error + rounding, size_of(p, g), rounding);
    p->v[g].integrals = 1;
}

/* Judges by the integral if that is precise enough. True if the integral finds the derivative wrong; shorter stretches
 * must confirm that. */
static bool judge_integral(const tg_check *c, comparison *p, int64_t g)
{
    const tg_check_integral *in = &p->integral[g];
    const double bound = in->error + rounding_of(c, p, g, in);
    const bool is_sharp = bound <= c->numbers->sharp * size_of(p, g), is_off = is_sharp && fabs(off_by(in)) > bound;
    if (is_sharp && !is_off)
        set_by_integral(c, p, g);
    if (!is_off)
        p->half[g] = 0;
    return is_off;
}

/* An error of the derivative is the same on every stretch. The effect of a jump of the function doubles on half a
 * stretch; the effect of rounding that was measured too small differs from stretch to stretch. So shorter stretches
 * must show the same error as the whole one. */
static const double agreeing[] = {0.5, 0.875, 0.625, 0.75};

static bool agrees(const tg_check *c, const comparison *p, int64_t g, const tg_check_integral *shorter)
{
    const double off = off_by(&p->integral[g]), allowed = shorter->error + rounding_of(c, p, g, shorter);
    return fabs(off_by(shorter) - off) <= fmin(allowed, 0.5 * fabs(off));
}

/* Drops the groups whose shorter stretches disagree with the whole one. True if any is left. */
static bool keep_agreeing(const tg_check *c, comparison *p, const tg_check_integral *shorter, double *half)
{
    bool any = false;
    for (int64_t g = 0; g < p->way.groups; g++) {
        if (half[g] > 0 && !agrees(c, p, g, &shorter[g]))
            p->half[g] = 0;
        any |= p->half[g] > 0;
    }
    return any;
}

static void judge_again(tg_check *c, comparison *p)
{
    double *half = tg_check_take(c, p->way.groups);
    tg_check_integral *shorter = tg_check_take_from(c, &c->arena, p->way.groups, sizeof *shorter);
    for (size_t i = 0; i < sizeof agreeing / sizeof agreeing[0]; i++) {
        for (int64_t g = 0; g < p->way.groups; g++)
            half[g] = agreeing[i] * p->half[g];
        tg_check_integrals(c, p->order, &p->way, half, shorter);
        if (!keep_agreeing(c, p, shorter, half))
            return;
    }
    for (int64_t g = 0; g < p->way.groups; g++)
        if (p->half[g] > 0)
            set_by_integral(c, p, g);
}

static void judge_integrals(tg_check *c, comparison *p)
{
    bool any_off = false;
    if (!choose_stretches(c, p))
        return;
    tg_check_integrals(c, p->order, &p->way, p->half, p->integral);
    for (int64_t g = 0; g < p->way.groups; g++)
        if (p->half[g] > 0)
            any_off |= judge_integral(c, p, g);
    if (any_off)
        judge_again(c, p);
}

/* Judges by far smaller steps where these contradict. They are coarse: their agreement counts only if they distinguish
 * the derivative from the value that the usual steps gave. */
static void judge_small_steps(const tg_check *c, comparison *p, int64_t g)
{
    group *of = &p->group[g];
    tg_gradcheck_result *v = &p->v[g], usual = *v;
    double allowed = of->allowed;
    judge(c, p, g);
    if (v->passed && v->bound <= tg_check_to(c, COARSE) * fmax(fabs(of->analytic), of->size) &&
        !(v->bound > usual.error))
        return;
    *v = usual;
    of->allowed = allowed;
}

/* Judges by one-sided differences when the central difference does not confirm the derivative. */
static void judge_one_sided(const tg_check *c, comparison *p, int64_t g)
{
    const group *of = &p->group[g];
    const tg_check_one_sided *d = &p->one_sided[g];
    tg_gradcheck_result *v = &p->v[g];
    const bool converged = of->converged && !p->difference[g].contradicts;
    double size = fmax(fabs(v->analytic), d->size);
    const bool kink = d->high - d->low > fmax(v->bound, c->numbers->safety * d->error);
    const bool usable = d->error <= tg_check_to(c, NOT_CONVERGED) * size || d->error <= v->bound ||
                        (kink && c->numbers->digits < FLT_MANT_DIG); /* bfloat16 has no sharper ones */
    if (!usable || (converged && !kink)) {
        v->passed = false;
        v->status = converged ? TG_GRADCHECK_WRONG : TG_GRADCHECK_CANNOT_TELL;
    } else {
        set_result(c, v, fmin(fmax(v->analytic, d->low), d->high), c->numbers->safety * d->error + of->allowed, size,
                   of->allowed);
        v->kinks = 1;
        if (!v->passed && !converged && d->jumps && d->error <= tg_check_to(c, NOT_CONVERGED) * size) {
            v->passed = true; /* the derivative below jumps here, as that of |x|, so the next one does not exist */
            v->status = TG_GRADCHECK_PASSED;
            v->relative = 0;
        }
        if (!v->passed && d->error > tg_check_to(c, NOT_CONVERGED) * size)
            v->status = TG_GRADCHECK_CANNOT_TELL;
    }
    if (!v->passed && (p->difference[g].contradicts || of->noise))
        v->status = TG_GRADCHECK_CANNOT_TELL;
}

/* Where all digits cancel, as in tanh(x + 1e-4) - tanh x at 15, the function is 0 and does not show its rounding, which
 * is that of the largest intermediate value. A difference cannot see a derivative whose effect is smaller than this. */
static bool is_below_rounding(const tg_check *c, const comparison *p, int64_t g)
{
    const double largest = fmax(c->magnitudes[0].largest, p->order > 1 ? c->magnitudes[1].largest : 0);
    double weight = 0;
    for (int64_t i = 0; i < c->level[p->order - 1].length; i++)
        weight = fmax(weight, fabs(c->level[p->order - 1].cotangent[i]));
    return (fabs(p->v[g].analytic) + fabs(p->difference[g].value)) * tg_check_first_step(p->way.steps[g].largest) <=
           4 * c->numbers->epsilon * largest * weight;
}

/* Where terms of the derivative cancel, as in a normalisation of nearly equal numbers, its own rounding may exceed any
 * value that the difference can show. */
static bool is_own_rounding(const tg_check *c, const comparison *p, int64_t g)
{
    const tg_check_difference *d = &p->difference[g];
    return fabs(d->value) <= c->numbers->safety * (d->error + d->rounding) &&
           p->v[g].error <= c->numbers->rounding_safety * p->group[g].rounding;
}

/* In steps of the usual size the function changes as the derivative says, but in far smaller ones not at all, as (x +
 * 1e16) - 1e16. */
static bool is_staircase(const tg_check *c, const comparison *p, int64_t g)
{
    return fabs(p->way.steps[g].in_larger_steps - p->v[g].analytic) <= tg_check_to(c, COARSE) * fabs(p->v[g].analytic);
}

/* ---- comparing ---- */

/* Keeps only those groups wanted that have failed. True if there are any. */
static bool keep_failing(comparison *p)
{
    bool any = false;
    for (int64_t g = 0; g < p->way.groups; g++)
        any |= p->way.steps[g].wanted &= !p->v[g].passed;
    return any;
}

/* Judges the remaining groups by one-sided differences; a group that these do not confirm keeps its result. */
static void look_for_kinks(const tg_check *c, comparison *p)
{
    for (int64_t g = 0; g < p->way.groups; g++) {
        const tg_gradcheck_result before = p->v[g];
        if (!p->way.steps[g].wanted)
            continue;
        judge_one_sided(c, p, g);
        if (!p->v[g].passed)
            p->v[g] = before;
    }
}

/* Compares with differences in steps of the usual size. Groups that fail are judged by one-sided differences, then by
 * far smaller steps, then once more by one-sided differences. */
static void compare_once(tg_check *c, comparison *p)
{
    const int below = p->order - 1;
    tg_check_central(c, below, &p->way, p->difference);
    for (int64_t g = 0; g < p->way.groups; g++) {
        if (!p->way.steps[g].wanted)
            continue;
        p->group[g].noise = false;
        p->v[g] = tg_check_no_result(-1);
        p->v[g].order = p->order;
        p->v[g].analytic = p->group[g].analytic;
        p->v[g].comparisons = 1;
        judge(c, p, g);
    }
    judge_integrals(c, p);
    if (!keep_failing(p))
        return;
    tg_check_both_sides(c, below, &p->way, p->one_sided);
    look_for_kinks(c, p);
    if (!keep_failing(p))
        return;
    tg_check_small_steps(c, below, &p->way, p->difference);
    for (int64_t g = 0; g < p->way.groups; g++)
        if (p->difference[g].contradicts)
            judge_small_steps(c, p, g);
    if (!keep_failing(p))
        return;
    for (int64_t g = 0; g < p->way.groups; g++) {
        if (!p->way.steps[g].wanted)
            continue;
        judge_one_sided(c, p, g);
        if (!p->v[g].passed && (is_below_rounding(c, p, g) || is_own_rounding(c, p, g) || is_staircase(c, p, g)))
            p->v[g].status = TG_GRADCHECK_CANNOT_TELL;
    }
}

/* A failed comparison is repeated with more rounding assumed in the derivative below. Differences that are equal at all
 * small steps, as those of a saturated softmax, look exact but are not. */
static void compare_again(tg_check *c, comparison *p)
{
    tg_gradcheck_result *first = p->v, *second = tg_check_take_from(c, &c->arena, p->way.groups, sizeof *second);
    tg_check_level *level = &c->level[p->order - 1];
    memcpy(second, first, (size_t)p->way.groups * sizeof *second);
    for (int k = 0; k < p->order - 1; k++)
        level->assumed_rounding += 4 * c->numbers->epsilon * c->level[k].size;
    p->v = second;
    compare_once(c, p);
    level->assumed_rounding = 0;
    for (int64_t g = 0; g < p->way.groups; g++)
        if (second[g].passed)
            first[g] = second[g];
    p->v = first;
}

static void compare(tg_check *c, comparison *p)
{
    compare_once(c, p);
    if (p->order > 1 && keep_failing(p))
        compare_again(c, p);
}

tg_gradcheck_result tg_check_compare(tg_check *c, int order, const double *direction, int64_t from, int64_t to)
{
    const tg_arena_position here = tg_arena_here(&c->arena);
    comparison p = make_comparison(c, order, direction, 1);
    fill_group(c, &p, 0, from, to);
    compare(c, &p);
    const tg_gradcheck_result v = *p.v;
    tg_arena_rewind(&c->arena, here);
    return v;
}

/* Sets which variables and values belong to the groups, and the share in the usual size of values that belong to
 * none. */
static void set_groups(tg_check *c, const tg_check_part *part, const tg_check_sets *sets, const int64_t *member,
                       comparison *p)
{
    const tg_check_level *below = &c->level[p->order - 1];
    int64_t *group_of = tg_check_take_from(c, &c->arena, c->variables, sizeof *group_of),
            *owner = tg_check_take_from(c, &c->arena, below->length, sizeof *owner);
    for (int64_t i = 0; i < below->length; i++) {
        owner[i] = sets->by_place ? i % part->size : -1;
        if (c->places == 0)
            tg_check_add_square(&p->way.unmoved, tg_check_unmoved(below, i));
    }
    for (int64_t g = 0; g < p->way.groups; g++) {
        group_of[part->offset + member[g]] = g;
        for (int64_t i = 0; sets->moves && i < below->length; i++)
            if (sets->moves[member[g] * below->length + i])
                owner[i] = g;
    }
    p->way.group = group_of;
    p->way.owner = owner;
}

void tg_check_compare_set(tg_check *c, int order, const tg_check_part *part, const tg_check_sets *sets, int64_t set,
                          tg_gradcheck_result *v)
{
    const tg_arena_position here = tg_arena_here(&c->arena);
    double *direction = tg_check_take(c, c->variables);
    int64_t *member = tg_check_take_from(c, &c->arena, part->size, sizeof *member), count = 0;
    for (int64_t i = 0; i < part->size; i++)
        if (sets->set_of[i] == set)
            member[count++] = i;
    comparison p = make_comparison(c, order, direction, count);
    for (int64_t g = 0; g < count; g++) {
        const int64_t at = part->offset + member[g];
        direction[at] = c->scale[at];
        fill_group(c, &p, g, at, at + 1);
    }
    if (sets->by_place || sets->moves)
        set_groups(c, part, sets, member, &p);
    compare(c, &p);
    for (int64_t g = 0; g < count; g++) {
        v[member[g]] = p.v[g];
        v[member[g]].index = member[g];
        tg_check_divide(&v[member[g]], c->scale[part->offset + member[g]]);
    }
    tg_arena_rewind(&c->arena, here);
}

void tg_check_divide(tg_gradcheck_result *v, double unit)
{
    v->analytic /= unit;
    v->numeric /= unit;
    v->error /= unit;
    v->bound /= unit;
}
