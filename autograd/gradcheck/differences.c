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

#include <math.h>
#include <string.h>

enum { CENTRAL_ROWS = 30, CENTRAL_COLUMNS = 7, CONFIRMATIONS = 3, SIDE_ROWS = 26, SIDE_COLUMNS = 5 };
#define FIRST_STEP         0.25 /* of the direction */
#define LARGEST_FIRST_STEP 0.5  /* of a variable */

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

bool tg_check_plain(tg_check *c, int level, const double *direction, double step, tg_check_difference *d)
{
    const tg_check_level *l = &c->level[level];
    if (!evaluate_at(c, level, direction, step, c->ahead) ||
        !evaluate_at(c, level, direction, -step, c->behind))
        return false;
    double sum = 0, size = 0, square = 0;
    for (int64_t i = 0; i < l->length; i++) {
        double term = l->cotangent[i] * (c->ahead[i] - c->behind[i]);
        double largest = l->cotangent[i] * fmax(fabs(c->ahead[i]), fabs(c->behind[i]));
        sum += term;
        size += fabs(term);
        square += largest * largest;
    }
    double rounding = fmax(fmax(l->rounding, l->suspected), TG_CHECK_ROUNDING * sqrt(square));
    *d = (tg_check_difference){
        .value = sum / (2 * step), .error = INFINITY, .rounding = rounding / step, .size = size / (2 * step)};
    return true;
}

/* ---- central ---- */

/* A row of the tableau. */
typedef struct row {
    double entry[CENTRAL_COLUMNS], error[CENTRAL_COLUMNS];
    int count;
    double rounding, size;
} row;

/* The row of a plain difference, extrapolated by the row above, if there is one. */
static row extrapolate(const tg_check_difference *plain, const row *above)
{
    row r = {.count = 1, .rounding = CENTRAL_AMPLIFICATION * plain->rounding, .size = plain->size};
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
        if (error + r->rounding < best->error + best->rounding) {
            *best = (tg_check_difference){
                .value = r->entry[j], .error = error, .rounding = r->rounding, .size = r->size};
            improved = true;
        }
    }
    return improved;
}

/* Enough: more rows would bring more rounding than they take away error. */
static bool has_converged(const tg_check_difference *best, const row *last, int rows_since_best)
{
    if (best->error <= best->rounding || last->rounding > best->error + best->rounding)
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
static bool descend(tg_check *c, int level, const double *direction, double first_step,
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
        bool confirmed;
        if (!is_confirmed(c, level, direction, step, best, &confirmed))
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

/* Steps of at most 1 fit most functions, whatever their inputs' size, but not the square root of 1e10. Steps in proportion to the
 * input are tried second, and have to convince: they may miss what happens between them. */
bool tg_check_central(tg_check *c, int level, const double *direction, double largest,
                      tg_check_difference *best)
{
    double first_step = fmin(FIRST_STEP, LARGEST_FIRST_STEP / largest);
    if (!descend(c, level, direction, first_step, best))
        return false;
    best->natural = first_step / FIRST_STEP;
    if (first_step == FIRST_STEP || is_exact_to(1e-11, best))
        return true;
    tg_check_difference wide;
    if (!descend(c, level, direction, FIRST_STEP, &wide))
        return false;
    double error = best->error + best->rounding; /* infinite if nothing converged */
    if (is_exact_to(1e-9, &wide) && wide.error + wide.rounding < error &&
        !(fabs(wide.value - best->value) > 8 * error)) {
        *best = wide;
        best->natural = 1;
    }
    return true;
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

static double output_rounding(const tg_check_level *level, int64_t i)
{
    double sum = 0;
    for (int w = 0; w < TG_CHECK_WINDOWS; w++)
        sum += level->noise[w][i] * level->noise[w][i];
    double measured = sqrt(sum / TG_CHECK_WINDOWS), least = TG_CHECK_ROUNDING * fabs(level->value[i]);
    return fmax(level->suspected, isfinite(measured) && measured > least ? measured : least);
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

static bool descend_side(tg_check *c, int level, const double *direction, double sign, side *s)
{
    const tg_check_level *l = &c->level[level];
    for (int r = 0; r <= SIDE_ROWS; r++) {
        double step = ldexp(2 * FIRST_STEP, -r);
        if (!evaluate_at(c, level, direction, sign * step, c->ahead))
            return false;
        for (int64_t i = 0; r > 0 && i < l->length; i++) {
            double rounding = fmax(output_rounding(l, i), TG_CHECK_ROUNDING * fabs(c->ahead[i])) / step;
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

bool tg_check_both_sides(tg_check *c, int level, const double *direction, tg_check_one_sided *d)
{
    const tg_check_level *l = &c->level[level];
    tg_arena arena = {0};
    side ahead, behind;
    bool fine = make_side(c, &arena, l->length, &ahead) && make_side(c, &arena, l->length, &behind) &&
                descend_side(c, level, direction, 1, &ahead) &&
                descend_side(c, level, direction, -1, &behind);
    *d = (tg_check_one_sided){0};
    for (int64_t i = 0; fine && i < l->length; i++)
        add_output(l->cotangent[i], &ahead, &behind, i, d);
    tg_arena_free(&arena);
    return fine;
}
