/* How much of a function's digits, and of its derivatives', is rounding. */
#include "autograd/gradcheck_internal.h"

#include <math.h>

/* Points at uneven distances, lest they resonate with the grid of numbers that the function's values are rounded to; and for
 * each window of four the weights that cancel everything up to a parabola, with squares that add up to 1. */
static const double distance[TG_CHECK_WINDOWS + 3] = {1, 1.83, 3.19, 4.07, 5.31, 5.93, 7.38, 8.21};

static void window_weights(int window, double weights[4])
{
    double square = 0;
    for (int i = 0; i < 4; i++) {
        weights[i] = 1;
        for (int j = 0; j < 4; j++)
            if (j != i)
                weights[i] /= distance[window + i] - distance[window + j];
        square += weights[i] * weights[i];
    }
    for (int i = 0; i < 4; i++)
        weights[i] /= sqrt(square);
}

static void add_point(tg_check_level *level, const double *values, int point)
{
    for (int w = 0; w < TG_CHECK_WINDOWS; w++) {
        double weights[4];
        window_weights(w, weights);
        for (int64_t i = 0; point >= w && point < w + 4 && i < level->length; i++)
            level->noise[w][i] += weights[point - w] * (values[i] - level->value[i]);
    }
}

/* All variables move together in tiny steps. Over these the function is as good as a parabola, so that what is left in its
 * third differences is rounding, its own and its arguments'. The point itself is left out: it may be a kink. */
bool tg_check_measure(tg_check *c)
{
    double *step = tg_check_take(c, c->variables);
    for (int64_t i = 0; step && i < c->variables; i++)
        step[i] = 0x1p-26 * c->scale[i] * tg_check_weight(&c->rng);
    for (int point = 0; step && point < TG_CHECK_WINDOWS + 3; point++) {
        for (int64_t i = 0; i < c->variables; i++)
            c->moved[i] = c->point[i] + distance[point] * step[i];
        for (int k = 0; k <= c->options.order; k++) {
            if (!tg_check_evaluate(c, k, c->moved, c->ahead))
                return false;
            add_point(&c->level[k], c->ahead, point);
        }
    }
    return step != NULL;
}

double tg_check_noise(const tg_check *c, int level, const double *weights, int64_t from, int64_t to)
{
    const tg_check_level *l = &c->level[level];
    double sum = 0, square = 0;
    for (int w = 0; w < TG_CHECK_WINDOWS; w++) {
        double difference = 0;
        for (int64_t i = from; i < to; i++)
            difference += weights[i] * l->noise[w][i];
        sum += difference * difference;
    }
    for (int64_t i = from; i < to; i++)
        square += weights[i] * weights[i] * l->value[i] * l->value[i];
    double measured = sqrt(sum / TG_CHECK_WINDOWS), least = TG_CHECK_ROUNDING * sqrt(square);
    return isfinite(measured) && measured > least ? measured : least;
}
