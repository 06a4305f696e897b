#include "autograd/gradcheck/one_sided.h"
#include "autograd/gradcheck/jacobian.h"

#include "autograd/gradcheck/differences.h"

#include <math.h>
#include <string.h>

/* Largest Jacobian that is compared, per side. */
enum { LARGEST_SIDE = 256 };

static bool fill_found(tg_check *c, int order, tg_check_jacobian *j)
{
    tg_check_level *below = &c->level[order - 1];
    double *cotangent = below->cotangent, *one = tg_check_take(c, j->rows);
    bool fine = one;
    below->cotangent = one;
    for (int64_t row = 0; fine && row < j->rows; row++) {
        one[row] = 1;
        fine = tg_check_evaluate(c, order, c->point, j->found + row * j->columns);
        one[row] = 0;
    }
    below->cotangent = cotangent;
    return fine;
}

static bool fill_expected(tg_check *c, int order, tg_check_jacobian *j)
{
    double *direction = tg_check_take(c, j->columns), *column = tg_check_take(c, j->rows);
    bool fine = direction && column;
    for (int64_t i = 0; fine && i < j->columns; i++) {
        tg_check_steps steps = {.largest = c->own_scale[i], .smallest = 1, .wanted = true};
        tg_check_way way = {.direction = direction, .groups = 1, .steps = &steps};
        direction[i] = c->own_scale[i];
        fine = tg_check_each_side(c, order - 1, &way, column);
        direction[i] = 0;
        for (int64_t row = 0; fine && row < j->rows; row++)
            j->expected[row * j->columns + i] = column[row] / c->own_scale[i];
    }
    return fine;
}

bool tg_check_jacobian_of(tg_check *c, int order, tg_check_jacobian *j)
{
    *j = (tg_check_jacobian){.rows = c->level[order - 1].length, .columns = c->variables};
    if (j->rows > LARGEST_SIDE || j->columns > LARGEST_SIDE || j->rows < 1 || j->columns < 1)
        return false;
    double *kept[TG_GRADCHECK_MAX_ORDER];
    bool fine =
        (j->found = tg_check_take(c, j->rows * j->columns)) && (j->expected = tg_check_take(c, j->rows * j->columns));
    for (int k = 0; k < order - 1; k++) {
        double *ones = tg_check_take(c, c->level[k].length);
        for (int64_t i = 0; ones && i < c->level[k].length; i++)
            ones[i] = 1;
        kept[k] = c->level[k].cotangent;
        c->level[k].cotangent = ones ? ones : kept[k];
        fine &= ones != NULL;
    }
    fine = fine && fill_found(c, order, j) && fill_expected(c, order, j);
    for (int k = 0; k < order - 1; k++)
        c->level[k].cotangent = kept[k];
    return fine;
}
