/* The integral of the derivative over a stretch around the point is the function's change over it:
 *
 *     sum_j w_j F'(x + t_j h) / 2 = (F(x + h) - F(x - h)) / 2h,      t_j and w_j the 15 nodes and weights of Kronrod,
 * t_0 = 0
 *
 * Differences divide the rounding of F by smaller and smaller steps; the integral divides it by the whole stretch. 7 of
 * the nodes are those of Gauss. If the derivative varies between nodes, or is wrong at x alone, the sums of Gauss and
 * Kronrod differ (R. Piessens et al., QUADPACK, Springer 1983, for both rules). */
#include "autograd/gradcheck/check.h"
#include "autograd/gradcheck/tolerances.h"

enum { NODES = 7 }; /* on each side */

static const struct {
    double at, kronrod, gauss;
} node[NODES + 1] = {{0, 0.20948214108472783, 0.41795918367346939},
                     {0.20778495500789847, 0.20443294007529889, 0},
                     {0.40584515137739717, 0.19035057806478541, 0.38183005050511894},
                     {0.58608723546769113, 0.16900472663926790, 0},
                     {0.74153118559939444, 0.14065325971552592, 0.27970539148927667},
                     {0.86486442335976907, 0.10479001032225018, 0},
                     {0.94910791234275852, 0.063092092629978553, 0.12948496616886969},
                     {0.99145537112081264, 0.022935322010529225, 0}};

static void add_node(const tg_check *c, const tg_check_way *way, const double *derivative, int j)
{
    for (int64_t i = 0; i < c->variables; i++) {
        tg_check_integral *sum = &way->group[way->of_variable ? way->of_variable[i] : 0].integral;
        const double term = derivative[i] * way->direction[i];
        sum->mean += 0.5 * node[j].kronrod * term;
        sum->error += 0.5 * (node[j].kronrod - node[j].gauss) * term;
    }
}

/* Adds the function's change that each group causes; values that do not change along the direction are left out. */
static void add_changes(const tg_check *c, const tg_check_level *l, const tg_check_way *way)
{
    for (int64_t i = 0; i < l->length; i++) {
        tg_check_group *of = tg_check_owner(way, i);
        if (!of || of->first == 0 || (c->moves[i] == 0 && c->ahead[i] == c->behind[i]))
            continue;
        const double least = l->epsilon * fmax(fabs(c->ahead[i]), fabs(c->behind[i]));
        const double rounding = l->cotangent[i] * fmax(l->value_rounding[i], least) / of->first;
        of->integral.change += l->cotangent[i] * (c->ahead[i] - c->behind[i]) / (2 * of->first);
        of->integral.rounding = hypot(of->integral.rounding, rounding / sqrt(2));
    }
}

void tg_check_integrals(tg_check *c, const tg_check_way *way)
{
    const int order = way->level + 1;
    const tg_check_level *below = &c->level[way->level];
    for (int64_t g = 0; g < way->groups; g++)
        way->group[g].integral = (tg_check_integral){0};
    add_node(c, way, c->level[order].value, 0);
    for (int j = 1; j <= NODES; j++)
        for (int side = -1; side <= 1; side += 2) {
            tg_check_evaluate_along(c, order, way, side * node[j].at, c->ahead);
            add_node(c, way, c->ahead, j);
        }
    tg_check_evaluate_along(c, way->level, way, 1, c->ahead);
    tg_check_evaluate_along(c, way->level, way, -1, c->behind);
    add_changes(c, below, way);
    for (int64_t g = 0; g < way->groups; g++) {
        tg_check_group *of = &way->group[g];
        of->integral.error = GAUSS_TO_ERROR * fabs(of->integral.error);
        if (of->first > 0)
            of->integral.rounding = fmax(of->integral.rounding, below->assumed_rounding / of->first);
    }
}
