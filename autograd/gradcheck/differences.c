/* Central: the steps are halved row by row, and each row is extrapolated by the ones before, which cancels the terms in
 * h^2, h^4, ... of the error:
 *
 *     h      a00
 *     h/2    a10  a11         a[i][j] = a[i][j-1] + (a[i][j-1] - a[i-1][j-1]) / (4^j - 1)
 *     h/4    a20  a21  a22
 *
 * An entry's error is taken to be the largest of its differences to the two entries it was made from and, since these can
 * vanish by chance where the error changes sign, to the entry below it. The smallest, with the rounding of its row, wins. */
#include "autograd/gradcheck/differences.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CENTRAL_ROWS = 30, CENTRAL_COLUMNS = 7, CONFIRMATIONS = 3, SIDE_ROWS = 26, SIDE_COLUMNS = 5 };
#define FIRST_STEP         0.25 /* of the direction */
#define LARGEST_FIRST_STEP 0.5  /* of a variable */

/* What small steps show to this part is not overruled by larger ones. */
#define CONVINCING 1e-6

/* A value that is smaller than this part of what is usual is small by chance: its rounding is compared to so much. */
#define TYPICAL_PART 0x1p-10

/* The extrapolation adds up the rounding of several rows: for the central differences at most
 * prod (4^j + 1) / (4^j - 1) < 2 times, for the one-sided ones prod (2^j + 1) / (2^j - 1) < 8 times. */
#define CENTRAL_AMPLIFICATION 2
#define SIDE_AMPLIFICATION    8

static bool evaluate_at(tg_check *c, int level, const double *direction, double step, double *out)
{
    for (int64_t i = 0; i < c->variables; i++)
        c->moved[i] = c->point[i] + step * direction[i];
    return tg_check_evaluate(c, level, c->moved, out);
}

bool tg_check_moves(tg_check *c, int level, const double *direction)
{
    const tg_check_level *l = &c->level[level];
    if (!evaluate_at(c, level, direction, FIRST_STEP, c->ahead) ||
        !evaluate_at(c, level, direction, -FIRST_STEP, c->behind))
        return false;
    for (int64_t i = 0; i < l->length; i++)
        c->moves[i] = !(c->ahead[i] == l->value[i] && c->behind[i] == l->value[i]);
    return true;
}

bool tg_check_plain(tg_check *c, int level, const double *direction, double step, tg_check_difference *d)
{
    const tg_check_level *l = &c->level[level];
    if (!evaluate_at(c, level, direction, step, c->ahead) ||
        !evaluate_at(c, level, direction, -step, c->behind))
        return false;
    double sum = 0, size = 0, square = 0, excuse = 0, bend = 0, denormal = 0;
    double typical = TYPICAL_PART * l->size / sqrt((double)(l->length > 0 ? l->length : 1));
    for (int64_t i = 0; i < l->length; i++) {
        if (c->moves[i] == 0)
            continue; /* of this direction it knows nothing, not even by rounding */
        double weight = fabs(l->cotangent[i]), term = l->cotangent[i] * (c->ahead[i] - c->behind[i]);
        double largest = fmax(fabs(c->ahead[i]), fabs(c->behind[i]));
        double rounding = weight * fmax(l->each[i], TG_CHECK_ROUNDING * largest);
        double relative = l->each[i] / fmax(fmax(fabs(l->value[i]), typical), DBL_MIN);
        double second = weight * (c->ahead[i] - l->value[i] + (c->behind[i] - l->value[i])) / step;
        sum += term;
        size += fabs(term);
        square += rounding * rounding;
        excuse += term * term * relative * relative;
        bend += second * second;
        denormal += weight * DBL_TRUE_MIN;
    }
    *d = (tg_check_difference){.value = sum / (2 * step),
                               .error = INFINITY,
                               .rounding = (fmax(sqrt(square), l->suspected) + denormal) / step,
                               .size = size / (2 * step),
                               .excuse = sqrt(excuse) / (2 * step),
                               .bend = TG_CHECK_ROUNDING * sqrt(bend) / step};
    return true;
}

/* ---- central ---- */

/* A row of the tableau. */
typedef struct row {
    double entry[CENTRAL_COLUMNS], error[CENTRAL_COLUMNS];
    int count;
    tg_check_difference plain;
} row;

/* The row of a plain difference, extrapolated by the row above, if there is one. */
static row extrapolate(const tg_check_difference *plain, const row *above)
{
    row r = {.count = 1, .plain = *plain};
    r.plain.rounding *= CENTRAL_AMPLIFICATION;
    r.entry[0] = plain->value;
    r.error[0] = INFINITY;
    for (int j = 1; j <= above->count && j < CENTRAL_COLUMNS; j++, r.count++) {
        r.entry[j] = r.entry[j - 1] + (r.entry[j - 1] - above->entry[j - 1]) / (ldexp(1, 2 * j) - 1);
        r.error[j] = fmax(fabs(r.entry[j] - r.entry[j - 1]), fabs(r.entry[j] - above->entry[j - 1]));
    }
    return r;
}

/* Looks for a better entry in a row, once the one below is known. */
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

/* Enough: more rows would bring more rounding than they take away error. */
static bool has_converged(const tg_check_difference *best, const row *last, int rows_since_best)
{
    if (best->error <= best->rounding || last->plain.rounding > best->error + best->rounding)
        return true;
    return rows_since_best > 3 && best->error <= 1e-6 * fmax(fabs(best->value), best->size);
}

/* A function with a feature narrower than the steps, like a softmax of large numbers, can converge to what it is around the
 * feature. Much smaller steps, though drowned in rounding, would see that. */
static bool is_confirmed(tg_check *c, int level, const double *direction, double step,
                         const tg_check_difference *best, bool *confirmed)
{
    *confirmed = true;
    for (int finer = 0; finer < CONFIRMATIONS && *confirmed; finer++) {
        tg_check_difference plain;
        step = ldexp(step, -4);
        if (!tg_check_plain(c, level, direction, step, &plain))
            return false;
        *confirmed = fabs(plain.value - best->value) <= 8 * (best->error + best->rounding + plain.rounding) +
                                                            1e-3 * fmax(best->size, plain.size);
    }
    return true;
}

/* One descent from a first step; the best error stays infinite if nothing converges. */
static bool descend(tg_check *c, int level, const double *direction, double first_step, bool confirm,
                    tg_check_difference *best)
{
    row above = {.count = 0};
    int since_best = 0;
    *best = (tg_check_difference){.value = NAN, .error = INFINITY};
    for (int i = 0; i < CENTRAL_ROWS; i++) {
        tg_check_difference plain;
        double step = ldexp(first_step, -i);
        if (!tg_check_plain(c, level, direction, step, &plain))
            return false;
        if (!isfinite(plain.value)) { /* outside the function's domain: start again closer */
            above.count = 0;
            continue;
        }
        row now = extrapolate(&plain, &above);
        since_best = improve(best, &above, &now) ? 0 : since_best + 1;
        above = now;
        if (now.count < 3 || !has_converged(best, &now, since_best))
            continue;
        bool confirmed = true;
        if (confirm && !is_confirmed(c, level, direction, step, best, &confirmed))
            return false;
        if (confirmed)
            return true;
        best->error = INFINITY;
        above.count = 0;
    }
    return true;
}

static bool is_exact_to(double relative, const tg_check_difference *d)
{
    return d->error + d->rounding <= relative * fmax(d->size, fabs(d->value));
}

/* Steps of at most 1 fit most functions, whatever their inputs' size, but not the logarithm at 1e-12 beside 0.5, nor the square
 * root of 1e10. So there are up to three descents, from steps that fit the smallest element, of at most 1, and in proportion to the input.
 * Larger ones have to convince: they may miss what happens between them. */
bool tg_check_central(tg_check *c, int level, const double *direction, double largest, double smallest,
                      tg_check_difference *best)
{
    const double at_most_one = fmin(FIRST_STEP, LARGEST_FIRST_STEP / largest);
    const double first[] = {FIRST_STEP * smallest, at_most_one, FIRST_STEP};
    *best = (tg_check_difference){.value = NAN, .error = INFINITY};
    if (!tg_check_moves(c, level, direction))
        return false;
    for (int i = first[0] < at_most_one && smallest < 1 ? 0 : 1; i < 3; i++) {
        tg_check_difference d;
        if (i == 2 && (at_most_one == FIRST_STEP || is_exact_to(1e-11, best)))
            break;
        if (!descend(c, level, direction, first[i], true, &d))
            return false;
        double error = best->error + best->rounding; /* infinite if nothing converged */
        bool convinces = i == 1 || is_exact_to(1e-9, &d);
        bool agrees = !(fabs(d.value - best->value) > 8 * error) || !is_exact_to(CONVINCING, best);
        if (isinf(error) && i < 2)
            *best = d;
        else if (convinces && d.error + d.rounding < error && agrees)
            *best = d;
        else
            continue;
        best->natural = i == 0 ? 1 : first[i] / FIRST_STEP;
    }
    return true;
}

/* A pole or a feature that is much closer than the steps shows only in far smaller ones. These count where they contradict. Their rounding
 * is judged by their own scatter, for such a place is too near for the measurement. */
bool tg_check_closer(tg_check *c, int level, const double *direction, double largest,
                     tg_check_difference *best, bool *contradicts)
{
    tg_check_level *l = &c->level[level];
    double *each = l->each, *none = tg_check_take(c, l->length);
    bool fine = none;
    *contradicts = false;
    for (int k = 8; fine && k <= 44; k += 6) {
        tg_check_difference d;
        l->each = none;
        fine = descend(c, level, direction, ldexp(fmin(FIRST_STEP, LARGEST_FIRST_STEP / largest), -k), false,
                       &d);
        l->each = each;
        double differs = fabs(d.value - best->value),
               errors = d.error + d.rounding + best->error + best->rounding;
        if (!fine || !is_exact_to(1e-2, &d) || (differs <= 8 * errors && isfinite(best->error)))
            continue;
        d.natural = ldexp(1, -k);
        *best = d;
        *contradicts = true;
    }
    return fine;
}

/* ---- one-sided ---- */

/* The derivatives of all outputs on one side, extrapolated in h, h^2, ... They are taken between x + h and x + 2h, so that neither
 * a jump at x nor a kink so near that x is on its wrong side can spoil them. */
typedef struct side {
    double *last;                  /* the function at x + 2h */
    double *tableau[SIDE_COLUMNS]; /* the last row */
    double *rows;                  /* how many are good */
    double *value, *error;         /* the best so far */
} side;

static bool make_side(tg_check *c, tg_arena *arena, int64_t outputs, side *s)
{
    double **arrays[] = {&s->last, &s->rows, &s->value, &s->error};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = tg_check_take_from(c, arena, outputs)))
            return false;
    for (int j = 0; j < SIDE_COLUMNS; j++)
        if (!(s->tableau[j] = tg_check_take_from(c, arena, outputs)))
            return false;
    for (int64_t i = 0; i < outputs; i++)
        s->error[i] = INFINITY;
    return true;
}

/* One more row of output i, of which the plain difference is given. */
static void add_row(side *s, int64_t i, double plain, double rounding)
{
    if (!isfinite(plain)) {
        s->rows[i] = 0;
        return;
    }
    double above = s->tableau[0][i], entry = plain;
    s->tableau[0][i] = plain;
    for (int j = 1; j <= s->rows[i] && j < SIDE_COLUMNS; j++) {
        double better = entry + (entry - above) / (ldexp(1, j) - 1);
        double error = fmax(fabs(better - entry), fabs(better - above)) + rounding;
        if (error < s->error[i]) {
            s->value[i] = better;
            s->error[i] = error;
        }
        above = s->tableau[j][i];
        s->tableau[j][i] = entry = better;
    }
    s->rows[i]++;
}

static bool descend_side(tg_check *c, int level, const double *direction, double first_step, double sign,
                         side *s)
{
    const tg_check_level *l = &c->level[level];
    for (int r = 0; r <= SIDE_ROWS; r++) {
        double step = ldexp(first_step, -r);
        if (!evaluate_at(c, level, direction, sign * step, c->ahead))
            return false;
        for (int64_t i = 0; r > 0 && i < l->length; i++) {
            double rounding =
                fmax(fmax(l->each[i], l->suspected), TG_CHECK_ROUNDING * fabs(c->ahead[i])) / step;
            add_row(s, i, sign * (s->last[i] - c->ahead[i]) / step, 2 * SIDE_AMPLIFICATION * rounding);
        }
        memcpy(s->last, c->ahead, (size_t)l->length * sizeof(double));
    }
    return true;
}

/* Adds one output's. A side that does not converge, as where the function ends or jumps close by, counts only if
 * both are so. */
static void add_output(double weight, const side *ahead, const side *behind, int64_t i,
                       tg_check_one_sided *sum)
{
    double right = ahead->value[i], left = behind->value[i], error = ahead->error[i] + behind->error[i];
    if (ahead->error[i] > 1e4 * behind->error[i] && ahead->error[i] > 1e-6 * fabs(right)) {
        right = left;
        error = behind->error[i];
    } else if (behind->error[i] > 1e4 * ahead->error[i] && behind->error[i] > 1e-6 * fabs(left)) {
        left = right;
        error = ahead->error[i];
    }
    sum->low += fmin(weight * right, weight * left);
    sum->high += fmax(weight * right, weight * left);
    sum->size += fabs(weight) * fmax(fabs(right), fabs(left));
    sum->error += fabs(weight) * error;
}

bool tg_check_both_sides(tg_check *c, int level, const double *direction, double largest,
                         tg_check_one_sided *d)
{
    const double first_step = 2 * fmin(FIRST_STEP, LARGEST_FIRST_STEP / largest);
    const tg_check_level *l = &c->level[level];
    tg_arena arena = {0};
    side ahead, behind;
    bool fine = make_side(c, &arena, l->length, &ahead) && make_side(c, &arena, l->length, &behind) &&
                descend_side(c, level, direction, first_step, 1, &ahead) &&
                descend_side(c, level, direction, first_step, -1, &behind);
    *d = (tg_check_one_sided){0};
    for (int64_t i = 0; fine && i < l->length; i++)
        add_output(l->cotangent[i], &ahead, &behind, i, d);
    tg_arena_free(&arena);
    return fine;
}
