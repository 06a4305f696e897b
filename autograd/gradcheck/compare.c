/* Compares the derivative of every order by every input: element by element where these are few, else along random
 * directions. */
#include "autograd/gradcheck/check.h"

#include <string.h>

/* The results of a direction, per unit of it. */
static tg_gradcheck_result compare_range(tg_check *c, int order, const double *direction, int64_t from, int64_t to)
{
    tg_gradcheck_result v;
    tg_check_compare(
        c, &(tg_check_way){.level = order - 1, .direction = direction, .groups = 1, .from = from, .to = to}, &v);
    return v;
}

static bool fails(const tg_gradcheck_result *v)
{
    return !v->passed && !v->undecided;
}

/* Adds a comparison to the total. At another point than the caller's, what cannot be judged does not count. */
static void count_in(tg_check *c, tg_gradcheck_result *v, tg_check_part *part, const char *how)
{
    v->input = part->input;
    v->along = v->index < 0;
    if (v->undecided && c->at[0])
        return;
    part->wrong |= fails(v);
    if (!v->passed)
        tg_check_say_failure(c, v, v->index < 0 ? how : "");
    tg_check_add(&c->result, &c->undecided, v);
}

/* ---- elements ---- */

static void divide(tg_gradcheck_result *v, double unit)
{
    v->analytic /= unit;
    v->numeric /= unit;
    v->error /= unit;
    v->bound /= unit;
}

static tg_gradcheck_result compare_element(tg_check *c, int order, const tg_check_part *part, int64_t index,
                                           double *direction)
{
    const int64_t i = part->offset + index;
    direction[i] = c->scale[i];
    tg_gradcheck_result v = compare_range(c, order, direction, i, i + 1);
    direction[i] = 0;
    divide(&v, c->scale[i]);
    v.index = index;
    return v;
}

/* All elements of an input of an elementwise function at once. A failure must show again where the element moves
 * alone. */
static void compare_places(tg_check *c, int order, tg_check_part *part, double *direction)
{
    const int64_t from = part->offset, to = from + part->size;
    tg_gradcheck_result *v = tg_check_take(c, part->size, sizeof *v);
    memcpy(direction + from, c->scale + from, (size_t)part->size * sizeof(double));
    tg_check_compare(c, &(tg_check_way){order - 1, direction, part->size, from, to, NULL}, v);
    memset(direction + from, 0, (size_t)part->size * sizeof(double));
    for (int64_t i = 0; i < part->size; i++) {
        divide(&v[i], c->scale[from + i]);
        v[i].index = i;
        if (fails(&v[i]) && c->result.passed)
            v[i] = compare_element(c, order, part, i, direction);
        count_in(c, &v[i], part, "");
    }
}

static void compare_elements(tg_check *c, int order, tg_check_part *part, double *direction)
{
    for (int64_t i = 0; i < part->size; i++) {
        tg_gradcheck_result v = compare_element(c, order, part, i, direction);
        count_in(c, &v, part, "");
    }
}

/* ---- directions ---- */

/* Halves the range of a direction that fails as long as one half fails; names the element if that fails alone. */
static bool find_element(tg_check *c, int order, const tg_check_part *part, const double *direction,
                         tg_gradcheck_result *failed)
{
    int64_t from = part->offset, to = from + part->size;
    while (to - from > 1) {
        const int64_t middle = from + (to - from) / 2;
        const tg_gradcheck_result first = compare_range(c, order, direction, from, middle),
                                  second = fails(&first) ? first : compare_range(c, order, direction, middle, to);
        if (!fails(&first) && !fails(&second))
            return false;
        *(fails(&first) ? &to : &from) = middle;
    }
    const tg_gradcheck_result v =
        compare_element(c, order, part, from - part->offset, tg_check_numbers(c, c->variables));
    if (fails(&v))
        *failed = v;
    return fails(&v);
}

/* Steps are powers of two, so that they are exact in every type; of both signs and several sizes. */
static void draw_direction(tg_check *c, const tg_check_part *part, double *direction)
{
    for (int64_t i = part->offset; i < part->offset + part->size; i++)
        direction[i] = fmin(c->scale[i], c->own_scale[i]) *
                       ldexp(tg_rng_below(&c->rng, 2) ? 1 : -1, -(int)tg_rng_below(&c->rng, 3));
}

/* At another point than the caller's many elements may have a kink at once, where a direction proves nothing: there, an
 * element must fail. */
static void compare_direction(tg_check *c, int order, tg_check_part *part, const double *direction, const char *how)
{
    tg_gradcheck_result v = compare_range(c, order, direction, part->offset, part->offset + part->size);
    if (!fails(&v) || find_element(c, order, part, direction, &v) || !c->at[0])
        count_in(c, &v, part, how);
}

/* At a tie a maximum has a kink in each element, which may get any share of the cotangent: only elements that move
 * together show whether the shares add up to one. Elements of very different sizes are no tie. */
static void compare_together(tg_check *c, int order, tg_check_part *part, double *direction)
{
    double step = INFINITY, least = INFINITY, largest = 0;
    for (int64_t i = part->offset; i < part->offset + part->size; i++) {
        step = fmin(step, c->scale[i]);
        least = fmin(least, c->own_scale[i]);
        largest = fmax(largest, c->own_scale[i]);
    }
    for (int64_t i = part->offset; i < part->offset + part->size; i++)
        direction[i] = step;
    if (least < c->first * largest)
        return;
    tg_gradcheck_result v = compare_range(c, order, direction, part->offset, part->offset + part->size);
    if (!v.undecided)
        count_in(c, &v, part, " (all elements moved together)");
}

/* ---- all ---- */

/* Of an elementwise function, unless it is large or has inputs that broadcast. */
static bool has_places(const tg_check *c)
{
    enum { MOST_PLACES = 256 };
    bool all = c->elementwise && c->level[0].length <= MOST_PLACES;
    for (int p = 0; p < c->part_count; p++)
        all &= c->parts[p].size == c->level[0].length;
    return all;
}

/* True if a random direction agrees, and no slope jumps along it. */
static bool is_smooth(tg_check *c, int order, tg_check_part *part, double *direction)
{
    draw_direction(c, part, direction);
    tg_gradcheck_result v = compare_range(c, order, direction, part->offset, part->offset + part->size);
    memset(direction + part->offset, 0, (size_t)part->size * sizeof *direction);
    const bool smooth = v.passed && v.sharp && !v.kinks;
    if (smooth)
        count_in(c, &v, part, "");
    return smooth;
}

/* At the caller's point, every element of a small input. At another point first all of them along one direction, which
 * shows that all is well where the slopes do not jump. */
static void compare_part(tg_check *c, int order, tg_check_part *part, double *direction)
{
    const bool few = !c->along && part->size <= c->options.elements;
    const int64_t kinks = c->result.kinks;
    if (has_places(c))
        compare_places(c, order, part, direction);
    else if (few && (!c->at[0] || !is_smooth(c, order, part, direction)))
        compare_elements(c, order, part, direction);
    for (int k = 0; !few && !has_places(c) && k < (c->at[0] || c->along ? 1 : c->options.directions) && !part->wrong;
         k++) {
        draw_direction(c, part, direction);
        compare_direction(c, order, part, direction, " (along a random direction)");
    }
    if (order == 1 && c->result.kinks > kinks && part->size > 1 && !has_places(c) && !(c->composed && c->at[0]))
        compare_together(c, order, part, direction);
    memset(direction + part->offset, 0, (size_t)part->size * sizeof *direction);
}

void tg_check_compare_all(tg_check *c, int orders)
{
    double *direction = tg_check_numbers(c, c->variables);
    for (int order = 1; order <= orders && c->result.passed; order++)
        for (int p = 0; p < c->part_count; p++) {
            const int64_t here = tg_arena_here(&c->arena);
            if (c->parts[p].size > 0)
                compare_part(c, order, &c->parts[p], direction);
            tg_arena_rewind(&c->arena, here);
        }
}
