/* One-sided differences, output by output: for kinks. */
#include "autograd/gradcheck/one_sided.h"
#include "autograd/gradcheck/differences.h"
#include "autograd/gradcheck/tolerances.h"

#include <math.h>
#include <string.h>

enum { SIDE_ROWS = 26, SIDE_COLUMNS = 5 };

/* The derivatives of all outputs on one side, extrapolated in h, h^2, ... They are differences between x + h and x +
 * 2h, which neither a jump at x nor a kink very near x can spoil. */
typedef struct side {
    double *last;                  /* the function at x + 2h */
    double *tableau[SIDE_COLUMNS]; /* the last row */
    double *rows;                  /* number of valid rows */
    double *value, *error;         /* the best so far that smaller steps do not contradict */
    double *rounding;              /* rounding of the last row's plain difference */
} side;

static bool make_side(tg_check *c, tg_arena *arena, int64_t outputs, side *s)
{
    _Static_assert(SIDE_COLUMNS == 5, "one array for each");
    if (!TG_CHECK_TAKE(c, arena, outputs, &s->last, &s->rows, &s->value, &s->error, &s->rounding, &s->tableau[0],
                       &s->tableau[1], &s->tableau[2], &s->tableau[3], &s->tableau[4]))
        return false;
    for (int64_t i = 0; i < outputs; i++)
        s->error[i] = INFINITY;
    return true;
}

/* Adds a row, which begins with `plain`, to the tableau of output i. If it contradicts the best entry, that belonged to
 * another piece of the function, which only larger steps reach. */
static void add_row(side *s, int64_t i, double plain, double rounding)
{
    if (!isfinite(plain)) {
        s->rows[i] = 0;
        return;
    }
    s->rounding[i] = SIDE_AMPLIFICATION * rounding;
    double above = s->tableau[0][i], entry = plain, best = NAN, least = INFINITY, amplification = 1;
    s->tableau[0][i] = plain;
    for (int j = 1; j <= s->rows[i] && j < SIDE_COLUMNS; j++) {
        double better = entry + (entry - above) / (ldexp(1, j) - 1);
        amplification *= (ldexp(1, j) + 1) / (ldexp(1, j) - 1);
        double error = fmax(fabs(better - entry), fabs(better - above)) + amplification * rounding;
        if (error < least) {
            best = better;
            least = error;
        }
        above = s->tableau[j][i];
        s->tableau[j][i] = entry = better;
    }
    s->rows[i]++;
    if (least < s->error[i] || fabs(best - s->value[i]) > CONTRADICTS * (least + s->error[i])) {
        s->value[i] = best;
        s->error[i] = least;
    }
}

/* Adds a row for each value of a group. */
static void add_rows(const tg_check *c, int level, const tg_check_way *way, int64_t group, double step, double sign,
                     side *s)
{
    const tg_check_level *l = &c->level[level];
    const int64_t end = tg_check_begin(way, group + 1, l->length);
    for (int64_t k = tg_check_begin(way, group, l->length); k < end; k++) {
        const int64_t i = tg_check_value(way, k);
        const double rounding =
            fmax(fmax(l->value_rounding[i], l->assumed_rounding), l->epsilon * fabs(c->ahead[i])) / step;
        add_row(s, i, sign * (s->last[i] - c->ahead[i]) / step, 2 * rounding);
    }
}

static bool descend_side(tg_check *c, int level, const tg_check_way *way, const double *first, double sign, side *s)
{
    for (int r = 0; r <= SIDE_ROWS; r++) {
        if (!tg_check_evaluate_along(c, level, way, first, sign * ldexp(1, -r), c->ahead))
            return false;
        for (int64_t g = 0; r > 0 && g < way->groups; g++)
            if (first[g] > 0)
                add_rows(c, level, way, g, ldexp(first[g], -r), sign, s);
        memcpy(s->last, c->ahead, (size_t)c->level[level].length * sizeof(double));
    }
    return true;
}

/* The error of a side. If the function ends or has a pole closer than the smallest steps, rows of large steps may agree
 * by chance, but the plain difference of the smallest step is far from them. */
static double error_of(const tg_check *c, const side *s, int64_t i)
{
    const double last = s->tableau[0][i], value = s->value[i], apart = fabs(last - value);
    return apart > c->numbers->safety * (s->error[i] + s->rounding[i]) +
                       tg_check_to(c, FAR) * fmax(fabs(last), fabs(value))
               ? INFINITY
               : s->error[i];
}

/* Adds the derivatives of one output. A side that does not converge, as where the function ends or jumps nearby, counts
 * only if neither side converges. */
static void add_output(const tg_check *c, double weight, const side *ahead, const side *behind, int64_t i,
                       tg_check_one_sided *sum)
{
    const double error_ahead = error_of(c, ahead, i), error_behind = error_of(c, behind, i);
    double right = ahead->value[i], left = behind->value[i], error = error_ahead + error_behind;
    if (error_ahead > 1e4 * error_behind && error_ahead > tg_check_to(c, 1e-6) * fabs(right)) {
        right = left;
        error = error_behind;
    } else if (error_behind > 1e4 * error_ahead && error_behind > tg_check_to(c, 1e-6) * fabs(left)) {
        left = right;
        error = error_ahead;
    }
    sum->low += fmin(weight * right, weight * left);
    sum->high += fmax(weight * right, weight * left);
    sum->size += fabs(weight) * fmax(fabs(right), fabs(left));
    sum->error += fabs(weight) * error;
    sum->jumps |= fabs(ahead->last[i] - behind->last[i]) >
                  tg_check_to(c, JUMP) * fmax(fabs(ahead->last[i]), fabs(behind->last[i]));
}

/* Differences on both sides for every output along a direction. */
static bool take_sides(tg_check *c, int level, const tg_check_way *way, tg_arena *arena, side *ahead, side *behind)
{
    const int64_t length = c->level[level].length;
    double *first = tg_check_take_from(c, arena, way->groups, sizeof(double));
    for (int64_t g = 0; first && g < way->groups; g++)
        first[g] = way->steps[g].wanted ? 2 * tg_check_first_step(way->steps[g].largest) : 0;
    return first && make_side(c, arena, length, ahead) && make_side(c, arena, length, behind) &&
           descend_side(c, level, way, first, 1, ahead) && descend_side(c, level, way, first, -1, behind);
}

bool tg_check_both_sides(tg_check *c, int level, const tg_check_way *way, tg_check_one_sided *d)
{
    const tg_check_level *l = &c->level[level];
    tg_arena arena = {0};
    side ahead, behind;
    bool fine = take_sides(c, level, way, &arena, &ahead, &behind);
    for (int64_t g = 0; fine && g < way->groups; g++) {
        const int64_t end = tg_check_begin(way, g + 1, l->length);
        d[g] = (tg_check_one_sided){0};
        for (int64_t k = tg_check_begin(way, g, l->length); k < end; k++)
            add_output(c, l->cotangent[tg_check_value(way, k)], &ahead, &behind, tg_check_value(way, k), &d[g]);
    }
    tg_arena_free(&arena);
    return fine;
}

bool tg_check_each_side(tg_check *c, int level, const tg_check_way *way, double *values)
{
    tg_arena arena = {0};
    side ahead, behind;
    bool fine = take_sides(c, level, way, &arena, &ahead, &behind);
    for (int64_t i = 0; fine && i < c->level[level].length; i++) {
        tg_check_one_sided d = {0};
        add_output(c, 1, &ahead, &behind, i, &d);
        values[i] = 0.5 * (d.low + d.high);
    }
    tg_arena_free(&arena);
    return fine;
}
