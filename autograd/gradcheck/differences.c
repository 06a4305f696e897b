/* Central: the steps are halved row by row, and each row is extrapolated by the ones before, which cancels the terms in
 * h^2, h^4, ... of the error:
 *
 *     h      a00
 *     h/2    a10  a11         a[i][j] = a[i][j-1] + (a[i][j-1] - a[i-1][j-1]) / (4^j - 1)
 *     h/4    a20  a21  a22
 *
 * The error of an entry is estimated as its largest difference to the two entries it was made from and to the entry
 * below it: the first two can vanish by chance where the error changes sign. The entry with the smallest sum of error
 * and rounding wins. */
#include "autograd/gradcheck/check.h"
#include "autograd/gradcheck/tolerances.h"

enum { CENTRAL_ROWS = 30, CENTRAL_COLUMNS = 7, CONFIRMATIONS = 2, CONFIRMATION_ROWS = 6 };

double tg_check_first_step(double largest)
{
    return fmin(FIRST_STEP, fmax(LARGEST_FIRST_STEP / largest, LEAST_FIRST_STEP));
}

double tg_check_typical_derivative(const tg_check *c, int order, int64_t i)
{
    double size = 0;
    for (int k = 0; k < order; k++)
        size += c->level[k].size;
    return FIRST_STEP * size / (tg_check_first_step(c->own_scale[i]) * c->own_scale[i]);
}

/* ---- plain ---- */

void tg_check_evaluate_along(tg_check *c, int level, const tg_check_way *way, double part, double *out)
{
    for (int64_t i = 0; i < c->variables; i++) {
        const tg_check_group *of = &way->group[way->of_variable ? way->of_variable[i] : 0];
        c->moved[i] = c->point[i] + part * of->first * way->direction[i];
    }
    tg_check_evaluate(c, level, c->moved, out);
}

void tg_check_moves(tg_check *c, int level, const double *direction, double *ahead)
{
    const tg_check_level *l = &c->level[level];
    tg_check_group all = {.first = FIRST_STEP};
    const tg_check_way way = {level, direction, 1, &all};
    const double *behind = ahead + l->length;
    tg_check_evaluate_along(c, level, &way, 1, ahead);
    tg_check_evaluate_along(c, level, &way, -1, ahead + l->length);
    for (int64_t i = 0; i < l->length; i++)
        c->moves[i] = !(ahead[i] == l->value[i] && behind[i] == l->value[i]);
}

/* The sums that make up a difference. */
typedef struct sums {
    double value, size, rounding_sum, weights;
    long double rounding, expected_rounding, second, norm; /* of squares */
} sums;

static void add_value(const tg_check_level *l, int64_t i, double ahead, double behind, sums *s)
{
    double weight = fabs(l->cotangent[i]), change = l->cotangent[i] * (ahead - behind);
    double up = fabs(ahead), down = fabs(behind), least = l->epsilon * (up > down ? up : down);
    double rounding = weight * (l->value_rounding[i] > least ? l->value_rounding[i] : least),
           expected_rounding = change * l->relative_rounding[i];
    double second = weight * (ahead - l->value[i] + (behind - l->value[i])), value = weight * l->value[i];
    s->value += change;
    s->size += fabs(change);
    s->rounding_sum += weight * l->value_rounding[i];
    s->weights += weight;
    tg_check_add_square(&s->rounding, rounding);
    tg_check_add_square(&s->expected_rounding, expected_rounding);
    tg_check_add_square(&s->second, second);
    tg_check_add_square(&s->norm, value);
}

double tg_check_unmoved(const tg_check_level *l, int64_t i)
{
    return UNMOVED_PART * l->cotangent[i] * l->value[i];
}

/* `argument` is the size of the element that moves, as a part of the direction; its rounding is in proportion. */
static tg_check_difference finish(const tg_check *c, const tg_check_level *l, double step, double argument,
                                  const sums *s)
{
    double rounding = fmax(tg_check_root(s->rounding), l->assumed_rounding);
    const double least = c->numbers->least, epsilon = c->numbers->epsilon;
    if (rounding < least / epsilon) /* only then: processors are slow with products this small */
        rounding += s->weights * (2 * epsilon * least);
    return (tg_check_difference){.value = s->value / (2 * step),
                                 .error = INFINITY,
                                 .rounding = rounding / step,
                                 .size = s->size / (2 * step),
                                 .expected_rounding = tg_check_root(s->expected_rounding) / (2 * step),
                                 .argument_rounding = epsilon * argument * (tg_check_root(s->second) / step) / step,
                                 .norm = tg_check_root(s->norm),
                                 .rounding_sum = s->rounding_sum};
}

/* The plain differences of all groups, from the values `part` of each first step ahead and behind. */
static void plain_differences(const tg_check *c, const tg_check_way *way, double part, const double *ahead,
                              const double *behind, sums *sum, tg_check_difference *d)
{
    const tg_check_level *l = &c->level[way->level];
    for (int64_t g = 0; g < way->groups; g++)
        sum[g] = (sums){.norm = way->unmoved};
    for (int64_t i = 0; i < l->length; i++) {
        const tg_check_group *of = tg_check_owner(way, i);
        if (of && c->moves[i] != 0)
            add_value(l, i, ahead[i], behind[i], &sum[of - way->group]);
        else if (of)
            tg_check_add_square(&sum[of - way->group].norm, tg_check_unmoved(l, i));
    }
    for (int64_t g = 0; g < way->groups; g++) {
        const double step = part * way->group[g].first;
        d[g] = finish(c, l, step, fmin(1, way->group[g].smallest + step), &sum[g]);
    }
}

/* ---- rows ---- */

/* A row of the tableau. */
typedef struct row {
    double entry[CENTRAL_COLUMNS], error[CENTRAL_COLUMNS];
    int count;
    tg_check_difference plain;
} row;

/* The row that starts with a plain difference, extrapolated from the row above, if there is one. */
static row extrapolate(const tg_check_difference *plain, const row *above)
{
    row r = {.count = 1, .plain = *plain};
    r.plain.rounding *= CENTRAL_AMPLIFICATION;
    r.entry[0] = plain->value;
    r.error[0] = INFINITY;
    double power = 1;
    for (int j = 1; j <= above->count && j < CENTRAL_COLUMNS; j++, r.count++) {
        power *= 4;
        r.entry[j] = r.entry[j - 1] + (r.entry[j - 1] - above->entry[j - 1]) / (power - 1);
        r.error[j] = fmax(fabs(r.entry[j] - r.entry[j - 1]), fabs(r.entry[j] - above->entry[j - 1]));
    }
    return r;
}

/* Takes the best entry of a row into `best` if it is better, once the row below is known. */
static bool improve(tg_check_difference *best, const row *r, const row *below)
{
    bool improved = false;
    for (int j = 1; j < r->count; j++) {
        double error = fmax(r->error[j], fabs(r->entry[j] - below->entry[j]));
        if (error + r->plain.rounding < best->error + best->rounding) {
            *best = r->plain;
            best->value = r->entry[j];
            best->error = error;
            improved = true;
        }
    }
    return improved;
}

/* True if more rows would add more rounding than they remove error. */
static bool has_converged(const tg_check *c, const tg_check_difference *best, const row *last, int rows_since_best)
{
    if (best->error <= best->rounding || last->plain.rounding > best->error + best->rounding)
        return true;
    return rows_since_best > 3 && best->error <= tg_check_to(c, 1e-6) * fmax(fabs(best->value), best->size);
}

/* ---- one descent ---- */

/* The tableau of one group; only its last row is kept. */
typedef struct tableau {
    row above;
    tg_check_difference best; /* its error stays infinite if nothing converges */
    int since_best;
    bool done;
} tableau;

/* One descent of all groups from their first steps. Each row is computed once, when it is first needed. */
typedef struct descent {
    const tg_check_way *way;
    tableau *tableau; /* [groups] */
    sums *sums;       /* [groups] */
    /* The plain differences of all groups at steps halved this many times. */
    tg_check_difference *rows[CENTRAL_ROWS + CONFIRMATIONS * CONFIRMATION_ROWS];
} descent;

/* Frees the memory of the last descent. */
static descent make_descent(tg_check *c, const tg_check_way *way)
{
    tg_arena_empty(&c->steps);
    descent s = {.way = way};
    s.tableau = tg_check_take_from(c, &c->steps, way->groups, sizeof *s.tableau);
    s.sums = tg_check_take_from(c, &c->steps, way->groups, sizeof *s.sums);
    for (int64_t g = 0; g < way->groups; g++)
        s.tableau[g].best = (tg_check_difference){.value = NAN, .error = INFINITY};
    return s;
}

static void fill_row(tg_check *c, descent *s, int number, const double *ahead, const double *behind)
{
    s->rows[number] = tg_check_take_from(c, &c->steps, s->way->groups, sizeof *s->rows[number]);
    plain_differences(c, s->way, ldexp(1, -number), ahead, behind, s->sums, s->rows[number]);
}

/* The difference of a group in row `number` of its tableau. */
static tg_check_difference difference_in_row(tg_check *c, descent *s, int number, int64_t group)
{
    const double part = ldexp(1, -number);
    if (!s->rows[number]) {
        tg_check_evaluate_along(c, s->way->level, s->way, part, c->ahead);
        tg_check_evaluate_along(c, s->way->level, s->way, -part, c->behind);
        fill_row(c, s, number, c->ahead, c->behind);
    }
    return s->rows[number][group];
}

/* Where a function has a feature narrower than the steps, like a softmax of large numbers, differences can converge to
 * the slope around the feature. Much smaller steps, though full of rounding, would show it. */
static bool is_confirmed(tg_check *c, descent *s, int number, int64_t group)
{
    const tg_check_difference *best = &s->tableau[group].best;
    for (int finer = 1; finer <= CONFIRMATIONS; finer++) {
        const tg_check_difference plain = difference_in_row(c, s, number + finer * CONFIRMATION_ROWS, group);
        if (plain.size == 0 && best->size > 0)
            s->way->group[group].in_larger_steps = best->value;
        if (!(fabs(plain.value - best->value) <= c->numbers->safety * (best->error + best->rounding + plain.rounding) +
                                                     tg_check_to(c, COARSE) * fmax(best->size, plain.size)))
            return false;
    }
    return true;
}

/* Adds one row to the tableau of a group. */
static void descend_group(tg_check *c, descent *s, int number, int64_t group, bool confirm)
{
    tableau *t = &s->tableau[group];
    const tg_check_difference plain = difference_in_row(c, s, number, group);
    if (!isfinite(plain.value)) { /* outside the function's domain: start again closer */
        t->above.count = 0;
        return;
    }
    row now = extrapolate(&plain, &t->above);
    t->since_best = improve(&t->best, &t->above, &now) ? 0 : t->since_best + 1;
    t->above = now;
    if (now.count < 3 || !has_converged(c, &t->best, &now, t->since_best))
        return;
    t->done = !confirm || is_confirmed(c, s, number, group);
    if (!t->done) {
        t->best.error = INFINITY;
        t->above.count = 0;
    }
}

static void descend(tg_check *c, descent *s, bool confirm)
{
    int64_t left = 0;
    for (int64_t g = 0; g < s->way->groups; g++)
        left += !(s->tableau[g].done = s->way->group[g].first == 0);
    for (int i = 0; i < CENTRAL_ROWS && left > 0; i++)
        for (int64_t g = 0; g < s->way->groups; g++)
            if (!s->tableau[g].done) {
                descend_group(c, s, i, g, confirm);
                left -= s->tableau[g].done;
            }
}

/* ---- the best of several ---- */

static bool is_exact_to(const tg_check *c, double relative, const tg_check_difference *d)
{
    return d->error + d->rounding <= tg_check_to(c, relative) * fmax(d->size, fabs(d->value));
}

/* The first step of one descent; 0 if it is not needed. Steps of at most 1 suit most functions, whatever the inputs'
 * size, but not the logarithm at 1e-12 beside 0.5, nor the square root of 1e10. So there are up to three: steps that
 * suit the smallest element, steps of at most 1, and steps in proportion to the input. */
enum { SMALLEST, AT_MOST_ONE, IN_PROPORTION, DESCENTS };

static double first_step_of(const tg_check *c, int which, const tg_check_group *of)
{
    const double at_most_one = tg_check_first_step(of->largest);
    if (which == AT_MOST_ONE)
        return at_most_one;
    if (which == SMALLEST)
        return of->smallest < 1 && FIRST_STEP * of->smallest < at_most_one ? FIRST_STEP * of->smallest : 0;
    return at_most_one == FIRST_STEP || is_exact_to(c, 1e-11, &of->difference) ? 0 : FIRST_STEP;
}

/* Larger steps need more evidence: they may miss features between their points. */
static void choose(const tg_check *c, int which, double first, const tg_check_difference *d, tg_check_difference *best)
{
    double error = best->error + best->rounding; /* infinite if nothing converged */
    bool convinces = which == AT_MOST_ONE || is_exact_to(c, 1e-9, d);
    bool agrees = !(fabs(d->value - best->value) > c->numbers->safety * error) || !is_exact_to(c, CONVINCING, best);
    if ((isinf(error) && which != IN_PROPORTION) || (convinces && d->error + d->rounding < error && agrees)) {
        *best = *d;
        best->length_scale = which == SMALLEST ? 1 : first / FIRST_STEP;
    }
}

/* Prepares each group: its change over the largest step, and no difference yet. */
static void begin_groups(const tg_check *c, const tg_check_way *way, const double *ahead)
{
    const tg_check_level *l = &c->level[way->level];
    const double *behind = ahead + l->length;
    for (int64_t g = 0; g < way->groups; g++) {
        tg_check_group *of = &way->group[g];
        of->difference = (tg_check_difference){
            .value = NAN, .error = INFINITY, .length_scale = tg_check_first_step(of->largest) / FIRST_STEP};
        of->in_larger_steps = NAN;
        of->largest_change = 0;
    }
    for (int64_t i = 0; i < l->length; i++)
        if (tg_check_owner(way, i))
            tg_check_owner(way, i)->largest_change +=
                fabs(l->cotangent[i]) * fmax(fabs(ahead[i] - l->value[i]), fabs(behind[i] - l->value[i]));
}

void tg_check_central(tg_check *c, const tg_check_way *way)
{
    const int64_t length = c->level[way->level].length;
    double *ahead = tg_check_take(c, 2 * length);
    tg_check_moves(c, way->level, way->direction, ahead);
    begin_groups(c, way, ahead);
    for (int which = 0; which < DESCENTS; which++) {
        descent s = make_descent(c, way);
        bool is_known = which == AT_MOST_ONE; /* the first row has been evaluated by tg_check_moves */
        for (int64_t g = 0; g < way->groups; g++) {
            tg_check_group *of = &way->group[g];
            of->first = of->wanted ? first_step_of(c, which, of) : 0;
            is_known &= !of->wanted || of->first == FIRST_STEP;
        }
        if (is_known)
            fill_row(c, &s, 0, ahead, ahead + length);
        descend(c, &s, true);
        for (int64_t g = 0; g < way->groups; g++)
            if (way->group[g].first > 0)
                choose(c, which, way->group[g].first, &s.tableau[g].best, &way->group[g].difference);
    }
}

/* True if a difference in far smaller steps is precise enough to overrule the usual one, and contradicts it. */
static bool does_contradict(const tg_check *c, const tg_check_difference *closer, const tg_check_difference *usual)
{
    double differs = fabs(closer->value - usual->value);
    double errors = CONTRADICTS * (closer->error + closer->rounding + usual->error + usual->rounding);
    double least = fmax(errors, tg_check_to(c, LEAST_CONTRADICTION) * fmax(usual->size, closer->size));
    return is_exact_to(c, 1e-2, closer) && !(differs <= least && isfinite(usual->error));
}

/* A pole or feature much closer than the steps shows only in far smaller steps. These count if they contradict. Their
 * rounding is estimated from their own scatter, as the measured rounding is not valid so near such a place. */
void tg_check_small_steps(tg_check *c, const tg_check_way *way)
{
    tg_check_level *l = &c->level[way->level];
    double *each = l->value_rounding, *none = tg_check_take(c, l->length);
    for (int k = 8; k <= c->numbers->digits - 9; k += 6) {
        descent s = make_descent(c, way);
        for (int64_t g = 0; g < way->groups; g++)
            way->group[g].first = way->group[g].wanted ? ldexp(tg_check_first_step(way->group[g].largest), -k) : 0;
        l->value_rounding = none;
        descend(c, &s, false);
        l->value_rounding = each;
        for (int64_t g = 0; g < way->groups; g++) {
            tg_check_group *of = &way->group[g];
            if (!of->wanted || !does_contradict(c, &s.tableau[g].best, &of->difference))
                continue;
            of->difference = s.tableau[g].best;
            of->difference.length_scale = ldexp(1, -k);
            of->difference.contradicts = true;
        }
    }
}
