#include "autograd/gradcheck/check.h"
#include "autograd/gradcheck/tolerances.h"

#include <float.h>
#include <string.h>

/* ---- what is compared ---- */

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

/* Fills in a group, whose direction is 0 outside [from, to): its analytic derivative, its sizes and its steps. */
static void fill_group(const tg_check *c, const tg_check_way *way, tg_check_group *of, int64_t from, int64_t to)
{
    const double *gradient = c->level[way->level + 1].value;
    const bool single = to - from == 1;
    long double square = 0;
    for (int64_t i = from; i < to; i++) {
        double term = gradient[i] * way->direction[i];
        of->analytic += term;
        tg_check_add_square(&square, term);
        of->largest = fmax(of->largest, fabs(way->direction[i]));
    }
    of->size = tg_check_root(square);
    of->rounding = tg_check_noise(c, way->level + 1, way->direction, from, to);
    for (int k = 0; k <= way->level; k++)
        of->below[k] = size_below(c, &c->level[k], single && c->places > 0 ? from % c->places : -1);
    of->smallest = single && c->own_scale[from] < c->scale[from] ? c->own_scale[from] / c->scale[from] : 1;
    of->wanted = true;
}

/* ---- judging ---- */

/* The rounding of an analytic derivative: the measured one, limited by what the rounding of the function explains, so
 * that an error that looks like noise is not excused; plus an allowance of the usual size. */
static double explained_rounding(const tg_check *c, const tg_check_way *way, const tg_check_group *of,
                                 double unmeasured)
{
    const tg_check_difference *d = &of->difference;
    double usual = 0, change = d->length_scale;
    for (int k = way->level; k >= 0; k--) {
        usual += (k == way->level ? d->norm : of->below[k]) / change;
        change *= fmax(1, d->length_scale * of->largest);
    }
    const double of_function = d->expected_rounding +
                               fmin(c->level[way->level].rounding, d->rounding_sum) / d->length_scale +
                               d->argument_rounding;
    return c->numbers->rounding_safety *
               fmin(of->rounding, fmax(of_function, tg_check_to(c, CANCELLATION_ROUNDING) * usual)) +
           4 * d->argument_rounding + tg_check_to(c, unmeasured) * usual;
}

/* True if a difference is 0 within its error. */
static bool vanishes(const tg_check *c, const tg_check_difference *d)
{
    return fabs(d->value) <= c->numbers->safety * (d->error + d->rounding);
}

/* Where terms cancel, as where a norm removes what a bias adds, the difference is 0 and the derivative consists of the
 * terms' rounding. The terms may be as large as the derivatives by other variables. */
static double cancellation_rounding(const tg_check *c, const tg_check_way *way, const tg_check_group *of)
{
    const bool cancel = c->places == 0 && vanishes(c, &of->difference);
    return cancel ? tg_check_to(c, UNMEASURED_ROUNDING) * c->level[way->level + 1].size : 0;
}

/* The size of the derivative: the largest of what was found and expected. */
static double size_of(const tg_check_group *of)
{
    return fmax(fmax(fabs(of->analytic), of->size), fmax(fabs(of->difference.value), of->difference.size));
}

static void set_result(const tg_check *c, tg_check_group *of, double numeric, double bound, double size,
                       double rounding)
{
    tg_gradcheck_result *v = &of->result;
    v->numeric = numeric;
    v->error = fabs(of->analytic - numeric);
    v->bound = bound;
    v->relative = v->error > 0 ? v->error / fmax(size, rounding / tg_check_to(c, 1e-7)) : 0;
    v->passed = v->error <= bound;
    v->sharp = bound <= c->numbers->sharp * size;
    v->status = v->passed ? TG_GRADCHECK_PASSED : TG_GRADCHECK_WRONG;
}

/* All differences of sin(1e10 x) are noise. That noise is larger than rounding and as large as all changes of the
 * function, and the difference vanishes in it; the derivative says that the function runs through all its values in
 * steps too small for doubles. */
static bool is_noise(const tg_check *c, const tg_check_group *of)
{
    const tg_check_difference *d = &of->difference;
    return d->rounding_sum > tg_check_to(c, NOISE) * d->norm && d->rounding_sum > 0x1p-10 * of->largest_change &&
           !(fabs(d->value) > c->numbers->safety * (d->error + d->rounding)) &&
           tg_check_to(c, BELOW_NOISE) * fabs(of->analytic) >= d->rounding_sum;
}

/* Judges a group by its central difference. */
static void judge(const tg_check *c, const tg_check_way *way, tg_check_group *of)
{
    const tg_check_difference *d = &of->difference;
    tg_gradcheck_result *v = &of->result;
    const double size = size_of(of);
    of->allowed = c->numbers->safety * d->rounding + explained_rounding(c, way, of, UNMEASURED_ROUNDING) +
                  cancellation_rounding(c, way, of) + tg_check_to(c, MEASURED_ROUNDING) * size;
    set_result(c, of, d->value, c->numbers->safety * d->error + of->allowed, size, of->allowed);
    v->sharp |= size == 0 && v->bound <= c->numbers->sharp * of->below[way->level] / d->length_scale;
    of->noise |= is_noise(c, of);
    of->converged = d->error <= tg_check_to(c, NOT_CONVERGED) * fmax(fabs(d->value), d->size) ||
                    tg_check_to(c, COARSE) * d->error <= d->rounding;
    if (v->error < 2 * c->numbers->epsilon * c->numbers->least * of->largest) {
        v->passed = true; /* no double is small enough for this derivative */
        v->status = TG_GRADCHECK_PASSED;
    }
    v->passed &= of->converged;
}

/* ---- judging by the integral ---- */

static double off_by(const tg_check_integral *in)
{
    return in->mean - in->change;
}

static double rounding_of(const tg_check *c, const tg_check_way *way, const tg_check_group *of, double of_change)
{
    return c->numbers->safety * of_change + explained_rounding(c, way, of, UNMEASURED_IN_INTEGRAL) +
           tg_check_to(c, MEASURED_ROUNDING) * size_of(of);
}

/* Chooses a stretch for each group whose comparison agrees but is not sharp, if an integral is possible there. True if
 * there is a group with one. */
static bool choose_stretches(const tg_check *c, const tg_check_way *way)
{
    bool any = false;
    for (int64_t g = 0; g < way->groups; g++) {
        tg_check_group *of = &way->group[g];
        const double half = c->numbers->stretch * tg_check_first_step(of->largest), size = size_of(of);
        const double hoped = c->numbers->epsilon * of->difference.norm / half; /* rounding */
        const bool coarse = of->wanted && of->result.passed && !of->result.sharp &&
                            size > c->numbers->least / c->numbers->epsilon &&
                            rounding_of(c, way, of, hoped) <= c->numbers->sharp * size;
        of->first = coarse ? half : 0;
        any |= coarse;
    }
    return any;
}

static void set_by_integral(const tg_check *c, const tg_check_way *way, tg_check_group *of)
{
    const tg_check_integral *in = &of->integral;
    const double rounding = rounding_of(c, way, of, in->rounding);
    set_result(c, of, of->analytic - off_by(in), in->error + rounding, size_of(of), rounding);
    of->result.integrals = 1;
}

/* Judges by the integral if that is precise enough. True if the integral finds the derivative wrong; shorter stretches
 * must confirm that. */
static bool judge_integral(const tg_check *c, const tg_check_way *way, tg_check_group *of)
{
    const double bound = of->integral.error + rounding_of(c, way, of, of->integral.rounding);
    const bool is_sharp = bound <= c->numbers->sharp * size_of(of), is_off = fabs(off_by(&of->integral)) > bound;
    if (is_sharp && !is_off)
        set_by_integral(c, way, of);
    return is_sharp && is_off;
}

/* An error of the derivative is the same on every stretch. The effect of a jump of the function doubles on half a
 * stretch; the effect of rounding that was measured too small differs from stretch to stretch. So shorter stretches
 * must show the same error as the whole one. */
static bool agrees(const tg_check *c, const tg_check_way *way, const tg_check_group *of, const tg_check_integral *whole)
{
    const double off = off_by(whole), allowed = of->integral.error + rounding_of(c, way, of, of->integral.rounding);
    return fabs(off_by(&of->integral) - off) <= fmin(allowed, 0.5 * fabs(off));
}

/* Judges the groups whose first step is not 0 by shorter stretches. */
static void judge_again(tg_check *c, const tg_check_way *way)
{
    static const double parts[] = {0.5, 0.875, 0.625, 0.75};
    double *half = tg_check_take(c, way->groups);
    tg_check_integral *whole = tg_check_take_from(c, &c->arena, way->groups, sizeof *whole);
    for (int64_t g = 0; g < way->groups; g++) {
        half[g] = way->group[g].first;
        whole[g] = way->group[g].integral;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        for (int64_t g = 0; g < way->groups; g++)
            way->group[g].first = parts[i] * half[g];
        tg_check_integrals(c, way);
        bool any = false;
        for (int64_t g = 0; g < way->groups; g++) {
            if (half[g] > 0 && !agrees(c, way, &way->group[g], &whole[g]))
                half[g] = 0;
            any |= half[g] > 0;
        }
        if (!any)
            return;
    }
    for (int64_t g = 0; g < way->groups; g++)
        if (half[g] > 0) {
            way->group[g].integral = whole[g];
            set_by_integral(c, way, &way->group[g]);
        }
}

static void judge_integrals(tg_check *c, const tg_check_way *way)
{
    bool any_off = false;
    if (!choose_stretches(c, way))
        return;
    tg_check_integrals(c, way);
    for (int64_t g = 0; g < way->groups; g++) {
        tg_check_group *of = &way->group[g];
        if (of->first > 0 && !judge_integral(c, way, of))
            of->first = 0;
        any_off |= of->first > 0;
    }
    if (any_off)
        judge_again(c, way);
}

/* ---- judging where the central difference disagrees ---- */

/* Judges by far smaller steps where these contradict. They are coarse: their agreement counts only if they distinguish
 * the derivative from the value that the usual steps gave. */
static void judge_small_steps(const tg_check *c, const tg_check_way *way, tg_check_group *of)
{
    tg_gradcheck_result *v = &of->result, usual = *v;
    double allowed = of->allowed;
    judge(c, way, of);
    if (v->passed && v->bound <= tg_check_to(c, COARSE) * fmax(fabs(of->analytic), of->size) &&
        !(v->bound > usual.error))
        return;
    *v = usual;
    of->allowed = allowed;
}

/* Judges by one-sided differences when the central difference does not confirm the derivative. */
static void judge_one_sided(const tg_check *c, tg_check_group *of)
{
    const tg_check_one_sided *d = &of->one_sided;
    tg_gradcheck_result *v = &of->result;
    const bool converged = of->converged && !of->difference.contradicts;
    double size = fmax(fabs(of->analytic), d->size);
    const bool kink = d->high - d->low > fmax(v->bound, c->numbers->safety * d->error);
    const bool precise = d->error <= tg_check_to(c, NOT_CONVERGED) * size;
    const bool usable = precise || d->error <= v->bound ||
                        (kink && c->numbers->digits < FLT_MANT_DIG); /* bfloat16 has no sharper ones */
    if (!usable || (converged && !kink)) {
        v->passed = false;
        v->status = converged ? TG_GRADCHECK_WRONG : TG_GRADCHECK_CANNOT_TELL;
    } else {
        set_result(c, of, fmin(fmax(of->analytic, d->low), d->high), c->numbers->safety * d->error + of->allowed, size,
                   of->allowed);
        v->kinks = 1;
        if (!v->passed && !converged && d->jumps && precise) {
            v->passed = true; /* the derivative below jumps here, as that of |x|, so the next one does not exist */
            v->status = TG_GRADCHECK_PASSED;
            v->relative = 0;
        }
        if (!v->passed && !precise)
            v->status = TG_GRADCHECK_CANNOT_TELL;
    }
    if (!v->passed && (of->difference.contradicts || of->noise))
        v->status = TG_GRADCHECK_CANNOT_TELL;
}

/* Where all digits cancel, as in tanh(x + 1e-4) - tanh x at 15, the function is 0 and does not show its rounding, which
 * is that of the largest intermediate value. A difference cannot see a derivative whose effect is smaller than this. */
static bool is_below_rounding(const tg_check *c, const tg_check_way *way, const tg_check_group *of)
{
    const tg_check_level *l = &c->level[way->level];
    const double largest = fmax(c->magnitudes[0].largest, way->level > 0 ? c->magnitudes[1].largest : 0);
    double weight = 0;
    for (int64_t i = 0; i < l->length; i++)
        weight = fmax(weight, fabs(l->cotangent[i]));
    return (fabs(of->analytic) + fabs(of->difference.value)) * tg_check_first_step(of->largest) <=
           4 * c->numbers->epsilon * largest * weight;
}

/* Where terms of the derivative cancel, as in a normalisation of nearly equal numbers, its own rounding may exceed any
 * value that the difference can show. */
static bool is_own_rounding(const tg_check *c, const tg_check_group *of)
{
    return vanishes(c, &of->difference) && of->result.error <= c->numbers->rounding_safety * of->rounding;
}

/* In steps of the usual size the function changes as the derivative says, but in far smaller ones not at all, as (x +
 * 1e16) - 1e16. */
static bool is_staircase(const tg_check *c, const tg_check_group *of)
{
    return fabs(of->in_larger_steps - of->analytic) <= tg_check_to(c, COARSE) * fabs(of->analytic);
}

/* ---- comparing ---- */

/* Keeps only those groups wanted that have failed. True if there are any. */
static bool keep_failing(const tg_check_way *way)
{
    bool any = false;
    for (int64_t g = 0; g < way->groups; g++)
        any |= way->group[g].wanted &= !way->group[g].result.passed;
    return any;
}

static void begin(tg_check *c, const tg_check_way *way, tg_check_group *of)
{
    of->noise = false;
    of->result = tg_check_no_result(-1);
    of->result.order = way->level + 1;
    of->result.analytic = of->analytic;
    of->result.comparisons = 1;
    judge(c, way, of);
}

/* A group that one-sided differences do not confirm keeps its result. */
static void look_for_kink(tg_check *c, const tg_check_way *way, tg_check_group *of)
{
    const tg_gradcheck_result before = of->result;
    (void)way;
    judge_one_sided(c, of);
    if (!of->result.passed)
        of->result = before;
}

static void look_closer(tg_check *c, const tg_check_way *way, tg_check_group *of)
{
    if (of->difference.contradicts)
        judge_small_steps(c, way, of);
}

static void give_up(tg_check *c, const tg_check_way *way, tg_check_group *of)
{
    judge_one_sided(c, of);
    if (!of->result.passed && (is_below_rounding(c, way, of) || is_own_rounding(c, of) || is_staircase(c, of)))
        of->result.status = TG_GRADCHECK_CANNOT_TELL;
}

static void for_each(tg_check *c, const tg_check_way *way,
                     void (*judge_it)(tg_check *c, const tg_check_way *way, tg_check_group *of))
{
    for (int64_t g = 0; g < way->groups; g++)
        if (way->group[g].wanted)
            judge_it(c, way, &way->group[g]);
}

/* Compares with differences in steps of the usual size. Groups that fail are judged by one-sided differences, then by
 * far smaller steps, then once more by one-sided differences. */
static void compare_once(tg_check *c, const tg_check_way *way)
{
    tg_check_central(c, way);
    for_each(c, way, begin);
    judge_integrals(c, way);
    if (!keep_failing(way))
        return;
    tg_check_both_sides(c, way);
    for_each(c, way, look_for_kink);
    if (!keep_failing(way))
        return;
    tg_check_small_steps(c, way);
    for_each(c, way, look_closer);
    if (keep_failing(way))
        for_each(c, way, give_up);
}

/* A failed comparison is repeated with more rounding assumed in the derivative below. Differences that are equal at all
 * small steps, as those of a saturated softmax, look exact but are not. */
static void compare_again(tg_check *c, const tg_check_way *way)
{
    tg_check_level *level = &c->level[way->level];
    tg_gradcheck_result *first = tg_check_take_from(c, &c->arena, way->groups, sizeof *first);
    for (int64_t g = 0; g < way->groups; g++)
        first[g] = way->group[g].result;
    for (int k = 0; k < way->level; k++)
        level->assumed_rounding += 4 * c->numbers->epsilon * c->level[k].size;
    compare_once(c, way);
    level->assumed_rounding = 0;
    for (int64_t g = 0; g < way->groups; g++)
        if (!way->group[g].result.passed)
            way->group[g].result = first[g];
}

static void compare(tg_check *c, const tg_check_way *way)
{
    compare_once(c, way);
    if (way->level > 0 && keep_failing(way))
        compare_again(c, way);
}

tg_gradcheck_result tg_check_compare(tg_check *c, int order, const double *direction, int64_t from, int64_t to)
{
    tg_check_group all = {0};
    const tg_check_way way = {order - 1, direction, 1, &all};
    const tg_arena_position here = tg_arena_here(&c->arena);
    fill_group(c, &way, &all, from, to);
    compare(c, &way);
    tg_arena_rewind(&c->arena, here);
    return all.result;
}

/* Sets which variables and values belong to the groups, and the share in the usual size of values that belong to
 * none. */
static void set_groups(tg_check *c, const tg_check_part *part, const tg_check_sets *sets, const int64_t *member,
                       tg_check_way *way)
{
    const tg_check_level *below = &c->level[way->level];
    int64_t *of_variable = tg_check_take_from(c, &c->arena, c->variables, sizeof *of_variable),
            *of_value = tg_check_take_from(c, &c->arena, below->length, sizeof *of_value);
    for (int64_t i = 0; i < below->length; i++) {
        of_value[i] = sets->by_place ? i % part->size : -1;
        if (c->places == 0)
            tg_check_add_square(&way->unmoved, tg_check_unmoved(below, i));
    }
    for (int64_t g = 0; g < way->groups; g++) {
        of_variable[part->offset + member[g]] = g;
        for (int64_t i = 0; sets->moves && i < below->length; i++)
            if (sets->moves[member[g] * below->length + i])
                of_value[i] = g;
    }
    way->of_variable = of_variable;
    way->of_value = of_value;
}

void tg_check_compare_set(tg_check *c, int order, const tg_check_part *part, const tg_check_sets *sets, int64_t set,
                          tg_gradcheck_result *v)
{
    const tg_arena_position here = tg_arena_here(&c->arena);
    double *direction = tg_check_take(c, c->variables);
    int64_t *member = tg_check_take_from(c, &c->arena, part->size, sizeof *member);
    tg_check_way way = {.level = order - 1, .direction = direction};
    for (int64_t i = 0; i < part->size; i++)
        if (sets->set_of[i] == set)
            member[way.groups++] = i;
    way.group = tg_check_take_from(c, &c->arena, way.groups, sizeof *way.group);
    for (int64_t g = 0; g < way.groups; g++) {
        const int64_t at = part->offset + member[g];
        direction[at] = c->scale[at];
        fill_group(c, &way, &way.group[g], at, at + 1);
    }
    if (sets->by_place || sets->moves)
        set_groups(c, part, sets, member, &way);
    compare(c, &way);
    for (int64_t g = 0; g < way.groups; g++) {
        v[member[g]] = way.group[g].result;
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
