/* One-sided differences, output by output: for kinks. */
#include "autograd/gradcheck/check.h"
#include "autograd/gradcheck/tolerances.h"

enum { SIDE_ROWS = 26, SIDE_COLUMNS = 5 };

/* The derivative of one output on one side, extrapolated in h, h^2, ... Differences are between x + h and x + 2h, which
 * neither a jump at x nor a kink very near x can spoil. */
typedef struct side {
    double last;                  /* the function at x + 2h */
    double tableau[SIDE_COLUMNS]; /* the last row */
    int rows;                     /* number of valid rows */
    double value, error;          /* the best so far that smaller steps do not contradict */
    double rounding;              /* rounding of the last row's plain difference */
} side;

/* Adds a row, which begins with `plain`, to a tableau. If it contradicts the best entry, that belonged to another piece
 * of the function, which only larger steps reach. */
static void add_row(side *s, double plain, double rounding)
{
    if (!isfinite(plain)) {
        s->rows = 0;
        return;
    }
    s->rounding = SIDE_AMPLIFICATION * rounding;
    double above = s->tableau[0], entry = plain, best = NAN, least = INFINITY, amplification = 1;
    s->tableau[0] = plain;
    for (int j = 1; j <= s->rows && j < SIDE_COLUMNS; j++) {
        double better = entry + (entry - above) / (ldexp(1, j) - 1);
        amplification *= (ldexp(1, j) + 1) / (ldexp(1, j) - 1);
        double error = fmax(fabs(better - entry), fabs(better - above)) + amplification * rounding;
        if (error < least) {
            best = better;
            least = error;
        }
        above = s->tableau[j];
        s->tableau[j] = entry = better;
    }
    s->rows++;
    if (least < s->error || fabs(best - s->value) > CONTRADICTS * (least + s->error)) {
        s->value = best;
        s->error = least;
    }
}

/* The derivatives in one direction, of all values whose group has a first step. */
static side *descend_side(tg_check *c, const tg_check_way *way, double sign)
{
    const tg_check_level *l = &c->level[way->level];
    side *sides = tg_check_take_from(c, &c->arena, l->length, sizeof *sides);
    for (int r = 0; r <= SIDE_ROWS; r++) {
        tg_check_evaluate_along(c, way->level, way, sign * ldexp(1, -r), c->ahead);
        for (int64_t i = 0; i < l->length; i++) {
            const tg_check_group *of = tg_check_owner(way, i);
            side *s = &sides[i];
            if (r == 0)
                s->error = INFINITY;
            else if (of && of->first > 0) {
                const double step = ldexp(of->first, -r);
                const double rounding =
                    fmax(fmax(l->value_rounding[i], l->assumed_rounding), l->epsilon * fabs(c->ahead[i])) / step;
                add_row(s, sign * (s->last - c->ahead[i]) / step, 2 * rounding);
            }
            s->last = c->ahead[i];
        }
    }
    return sides;
}

/* The error of a side. If the function ends or has a pole closer than the smallest steps, rows of large steps may agree
 * by chance, but the plain difference of the smallest step is far from them. */
static double error_of(const tg_check *c, const side *s)
{
    const double last = s->tableau[0], apart = fabs(last - s->value);
    return apart > c->numbers->safety * (s->error + s->rounding) +
                       tg_check_to(c, FAR) * fmax(fabs(last), fabs(s->value))
               ? INFINITY
               : s->error;
}

/* Adds the derivatives of one output. A side that does not converge, as where the function ends or jumps nearby, counts
 * only if neither side converges. */
static void add_output(const tg_check *c, double weight, const side *ahead, const side *behind, tg_check_one_sided *sum)
{
    const double error_ahead = error_of(c, ahead), error_behind = error_of(c, behind);
    double right = ahead->value, left = behind->value, error = error_ahead + error_behind;
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
    sum->jumps |= fabs(ahead->last - behind->last) > tg_check_to(c, JUMP) * fmax(fabs(ahead->last), fabs(behind->last));
}

/* Differences on both sides for every output along a direction. */
static void take_sides(tg_check *c, const tg_check_way *way, side **ahead, side **behind)
{
    for (int64_t g = 0; g < way->groups; g++)
        way->group[g].first = way->group[g].wanted ? 2 * tg_check_first_step(way->group[g].largest) : 0;
    *ahead = descend_side(c, way, 1);
    *behind = descend_side(c, way, -1);
}

void tg_check_both_sides(tg_check *c, const tg_check_way *way)
{
    const tg_check_level *l = &c->level[way->level];
    side *ahead, *behind;
    take_sides(c, way, &ahead, &behind);
    for (int64_t g = 0; g < way->groups; g++)
        way->group[g].one_sided = (tg_check_one_sided){0};
    for (int64_t i = 0; i < l->length; i++)
        if (tg_check_owner(way, i))
            add_output(c, l->cotangent[i], &ahead[i], &behind[i], &tg_check_owner(way, i)->one_sided);
}

void tg_check_each_side(tg_check *c, const tg_check_way *way, double *values)
{
    side *ahead, *behind;
    take_sides(c, way, &ahead, &behind);
    for (int64_t i = 0; i < c->level[way->level].length; i++) {
        tg_check_one_sided d = {0};
        add_output(c, 1, &ahead[i], &behind[i], &d);
        values[i] = 0.5 * (d.low + d.high);
    }
}
