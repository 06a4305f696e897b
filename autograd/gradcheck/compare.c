/* Compares the derivative of every order by every input: element by element where these are few, else along random
 * directions. */
#include "autograd/gradcheck/check.h"

/* ---- adding up ---- */

static void add_counts(tg_gradcheck_result *v, const tg_gradcheck_result *before, const tg_gradcheck_result *part)
{
    v->samples = before->samples;
    v->skipped = before->skipped;
    v->comparisons = before->comparisons + part->comparisons;
    v->along = before->along + part->along;
    v->kinks = before->kinks + part->kinks;
    v->sharp = before->sharp + part->sharp;
    v->evaluations = before->evaluations;
    v->failed = before->failed;
    v->undecided = before->undecided + part->undecided;
}

void tg_check_add(tg_check *c, const tg_gradcheck_result *part)
{
    const tg_gradcheck_result before = c->result;
    const bool open = part->status == TG_GRADCHECK_CANNOT_TELL, first = before.comparisons == before.undecided;
    if (open && before.undecided == 0)
        c->undecided = *part;
    if (!open && before.passed && (!part->passed || first || part->relative > before.relative))
        c->result = *part;
    add_counts(&c->result, &before, part);
}

/* What is undecided becomes the result if all else passes. */
void tg_check_end(tg_check *c)
{
    const tg_gradcheck_result before = c->result, none = {0};
    if (before.passed && before.undecided > 0) {
        c->result = c->undecided;
        add_counts(&c->result, &before, &none);
    }
}

static bool fails(const tg_gradcheck_result *v)
{
    return !v->passed && !v->undecided;
}

/* Adds a comparison to the total. At another point than the caller's, what cannot be judged does not count. */
static void count_in(tg_check *c, tg_gradcheck_result *v, tg_check_part *part, const char *how)
{
    if (part->input < 0 && v->index >= 0) { /* an element of all variables */
        part->wrong |= fails(v);
        part = tg_check_part_of(c, v->index);
        v->index -= part->offset;
    }
    v->input = part->input;
    v->along = v->index < 0;
    if (v->comparisons == 0 || (v->undecided && c->at[0]))
        return;
    part->wrong |= fails(v);
    if (!v->passed)
        tg_check_say_failure(c, v, v->index < 0 ? how : "");
    tg_check_add(c, v);
}

/* ---- elements ---- */

static tg_gradcheck_result compare_range(tg_check *c, int order, int64_t from, int64_t to)
{
    const int64_t stride = c->elementwise && to - from == 1 ? c->level[0].length : 1;
    return tg_check_compare(c, &(tg_check_line){order - 1, c->direction, from, to, from % stride, stride, 1});
}

static tg_gradcheck_result compare_element(tg_check *c, int order, const tg_check_part *part, int64_t index)
{
    const int64_t i = part->offset + index;
    c->direction[i] = c->scale[i];
    tg_gradcheck_result v = compare_range(c, order, i, i + 1);
    double *numbers[] = {&v.analytic, &v.numeric, &v.error, &v.bound};
    for (int k = 0; k < 4; k++)
        *numbers[k] /= c->scale[i];
    v.index = index;
    return v;
}

static void compare_elements(tg_check *c, int order, tg_check_part *part)
{
    for (int64_t i = 0; i < part->size && !c->over; i++) {
        tg_gradcheck_result v = compare_element(c, order, part, i);
        count_in(c, &v, part, "");
        c->hidden[part->offset + i] = v.passed && !c->at[0] ? 0 : c->hidden[part->offset + i];
    }
}

/* ---- directions ---- */

/* Steps are powers of two, so that they are exact in every type; of both signs and several sizes. */
static tg_gradcheck_result compare_direction(tg_check *c, int order, const tg_check_part *part)
{
    for (int64_t i = part->offset; i < part->offset + part->size; i++)
        c->direction[i] = fmin(c->scale[i], c->own_scale[i]) *
                          ldexp(tg_rng_below(&c->rng, 2) ? 1 : -1, -(int)tg_rng_below(&c->rng, 3));
    return compare_range(c, order, part->offset, part->offset + part->size);
}

/* Halves the range of a direction that fails as long as one half fails; names the element if that fails alone. */
static bool find_element(tg_check *c, int order, const tg_check_part *part, tg_gradcheck_result *failed)
{
    int64_t from = part->offset, to = from + part->size;
    while (to - from > 1) {
        const int64_t middle = from + (to - from) / 2;
        tg_gradcheck_result half = compare_range(c, order, from, middle);
        const bool first = fails(&half);
        if (!first)
            half = compare_range(c, order, middle, to);
        if (!fails(&half))
            return false;
        *(first ? &to : &from) = middle;
    }
    *failed = compare_element(c, order, part, from - part->offset);
    return fails(failed);
}

/* At another point than the caller's many elements may have a kink at once, where a direction proves nothing: there, an
 * element must fail. It is searched for as far as evaluations last, so the direction counts before. An error of one
 * element is hidden if it is less than the bound in each direction. */
static void compare_directions(tg_check *c, int order, tg_check_part *part)
{
    enum { DIRECTIONS = 3 };
    const bool jointly = part->input < 0;
    const tg_gradcheck_result before = c->result;
    const int all = jointly ? c->options.directions : c->along ? 1 : DIRECTIONS;
    for (int k = c->at[0] ? 1 : all; k > 0 && !part->wrong && !c->over; k--) {
        tg_gradcheck_result v = compare_direction(c, order, part), element;
        const bool wrong = fails(&v);
        if (!wrong || !c->at[0])
            count_in(c, &v, part,
                     jointly ? " (along a random direction of all inputs)" : " (along a random direction)");
        for (int64_t i = part->offset; order == 1 && v.passed && !c->at[0] && i < part->offset + part->size; i++)
            c->hidden[i] = fmin(c->hidden[i], v.bound / fabs(c->direction[i]));
        if (wrong && find_element(c, order, part, &element)) {
            c->result.passed |= !c->at[0] && before.passed; /* the same fault, by its element */
            count_in(c, &element, part, "");
        }
    }
}

/* At a tie a maximum has a kink in each element, which may get any share of the cotangent: only elements that move
 * together show whether the shares add up to one. Elements of very different sizes are no tie. */
static void compare_together(tg_check *c, int order, tg_check_part *part)
{
    double step = INFINITY, least = INFINITY, largest = 0;
    for (int64_t i = part->offset; i < part->offset + part->size; i++) {
        step = fmin(step, fmin(c->scale[i], c->own_scale[i]));
        least = fmin(least, c->own_scale[i]);
        largest = fmax(largest, c->own_scale[i]);
    }
    for (int64_t i = part->offset; i < part->offset + part->size; i++)
        c->direction[i] = step;
    if (least < c->first * largest)
        return;
    tg_gradcheck_result v = compare_range(c, order, part->offset, part->offset + part->size);
    if (!v.undecided)
        count_in(c, &v, part, " (all elements moved together)");
}

/* ---- all ---- */

/* True if a random direction agrees, and no slope jumps along it. Where derivatives cancel, it shows nothing. */
static bool is_smooth(tg_check *c, int order, tg_check_part *part)
{
    tg_gradcheck_result v = compare_direction(c, order, part);
    const bool smooth = v.passed && v.sharp && !v.kinks && v.analytic != 0;
    if (smooth)
        count_in(c, &v, part, "");
    return smooth;
}

/* At the caller's point, every element of a small input. At another point first all of them along one direction, which
 * shows that all is well where the slopes do not jump. Of an elementwise function an element hides no other. */
static void compare_part(tg_check *c, int order, tg_check_part *part)
{
    enum { MOST_PLACES = 256 };
    const int64_t kinks = c->result.kinks;
    if (c->along || part->size > (c->elementwise ? MOST_PLACES : c->options.elements))
        compare_directions(c, order, part);
    else if (!c->at[0] || (c->elementwise && !c->brief) || !is_smooth(c, order, part))
        compare_elements(c, order, part);
    if (order == 1 && c->result.kinks > kinks && part->size > 1 && !c->elementwise && !c->brief &&
        !(c->composed && c->at[0]))
        compare_together(c, order, part);
}

void tg_check_compare_all(tg_check *c, int orders)
{
    tg_check_part all = {.input = -1, .size = c->variables};
    const bool jointly = c->options.directions > 0;
    if (jointly)
        compare_directions(c, 1, &all);
    for (int order = jointly ? 2 : 1; order <= orders && c->result.passed; order++)
        for (int p = 0; p < c->part_count && !c->over; p++)
            if (c->parts[p].size > 0)
                compare_part(c, order, &c->parts[p]);
}
