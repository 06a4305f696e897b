#include "autograd/gradcheck/together.h"

#include "autograd/gradcheck/differences.h"

/* With more pairs of a variable and a value than this, each variable moves alone. */
enum { MOST_PAIRS = 1 << 22 };

/* Allocates a set of this many variables and values. */
static bool make_set(tg_check *c, int64_t variables, int64_t values, tg_check_set *set, int64_t **member,
                     int64_t **first, int64_t **value)
{
    if (!(*member = tg_check_take_from(c, &c->arena, variables, sizeof **member)) ||
        !(*first = tg_check_take_from(c, &c->arena, variables + 1, sizeof **first)) ||
        !(*value = tg_check_take_from(c, &c->arena, values, sizeof **value)))
        return false;
    *set = (tg_check_set){variables, *member, *first, *value};
    return true;
}

/* The set of an elementwise function: all variables, each with the values of its place. */
static bool all_places(tg_check *c, int64_t length, const tg_check_part *part, tg_check_set *set)
{
    int64_t *member, *first, *values, taken = 0;
    if (!make_set(c, part->size, length, set, &member, &first, &values))
        return false;
    for (int64_t i = 0; i < part->size; i++) {
        member[i] = i;
        first[i] = taken;
        for (int64_t k = i; k < length; k += part->size)
            values[taken++] = k;
    }
    first[part->size] = taken;
    return true;
}

bool tg_check_by_place(tg_check *c, int level, const tg_check_part *part, bool *by_place)
{
    const int64_t size = part->size;
    double *direction = tg_check_take(c, c->variables), *ahead = tg_check_take(c, 2 * c->level[level].length);
    if (!direction || !ahead)
        return false;
    *by_place = size > 1 && c->level[level].length == size;
    for (int64_t bit = 1; *by_place && bit < size; bit *= 2)
        for (int64_t half = 0; *by_place && half <= bit; half += bit) {
            for (int64_t i = 0; i < size; i++)
                direction[part->offset + i] = (i & bit) == half ? c->scale[part->offset + i] : 0;
            if (!tg_check_moves(c, level, direction, ahead))
                return false;
            for (int64_t k = 0; k < size; k++)
                *by_place &= !c->moves[k] || (k & bit) == half;
        }
    return true;
}

/* The values that each variable moves: [size of the part, length]; NULL, with the result written, on failure. */
static const bool *try_each(tg_check *c, int level, const tg_check_part *part)
{
    const int64_t length = c->level[level].length;
    double *direction = tg_check_take(c, c->variables), *ahead = tg_check_take(c, 2 * length);
    bool *moves = tg_check_take_from(c, &c->arena, part->size * length, sizeof *moves);
    if (!direction || !ahead || !moves)
        return NULL;
    for (int64_t i = 0; i < part->size; i++) {
        direction[part->offset + i] = c->scale[part->offset + i];
        if (!tg_check_moves(c, level, direction, ahead))
            return NULL;
        direction[part->offset + i] = 0;
        for (int64_t k = 0; k < length; k++)
            moves[i * length + k] = c->moves[k] != 0;
    }
    return moves;
}

static bool overlap(const bool *a, const bool *b, int64_t length)
{
    for (int64_t k = 0; k < length; k++)
        if (a[k] && b[k])
            return true;
    return false;
}

/* Puts each variable into the first set whose values it does not move: [size] the number of its set. Returns the number
 * of sets. */
static int64_t colour(const bool *moves, int64_t size, int64_t length, bool *moved, int64_t *number)
{
    int64_t sets = 0;
    for (int64_t i = 0; i < size; i++) {
        const bool *own = moves + i * length;
        int64_t s = 0;
        while (s < sets && overlap(own, moved + s * length, length))
            s++;
        if (s == sets)
            for (int64_t k = 0; k < length; k++)
                moved[s * length + k] = false;
        sets = s == sets ? sets + 1 : sets;
        number[i] = s;
        for (int64_t k = 0; k < length; k++)
            moved[s * length + k] |= own[k];
    }
    return sets;
}

/* Fills in set `s`. */
static bool gather(tg_check *c, const bool *moves, int64_t size, int64_t length, const int64_t *number, int64_t s,
                   tg_check_set *set)
{
    int64_t *member, *first, *values, count = 0, taken = 0;
    for (int64_t i = 0; i < size; i++)
        count += number[i] == s;
    if (!make_set(c, count, length, set, &member, &first, &values))
        return false;
    count = 0;
    for (int64_t i = 0; i < size; i++) {
        if (number[i] != s)
            continue;
        member[count] = i;
        first[count++] = taken;
        for (int64_t k = 0; k < length; k++)
            if (moves[i * length + k])
                values[taken++] = k;
    }
    first[count] = taken;
    return true;
}

/* Sets of one variable each, with all values. */
static bool alone(tg_check *c, int64_t size, tg_check_sets *sets)
{
    int64_t *member = tg_check_take_from(c, &c->arena, size, sizeof *member);
    for (int64_t i = 0; member && i < size; i++) {
        member[i] = i;
        sets->set[i] = (tg_check_set){.count = 1, .member = &member[i]};
    }
    sets->count = size;
    return member;
}

bool tg_check_find_sets(tg_check *c, int level, const tg_check_part *part, tg_check_sets *sets)
{
    const int64_t length = c->level[level].length, size = part->size;
    *sets = (tg_check_sets){0, tg_check_take_from(c, &c->arena, size, sizeof *sets->set)};
    if (!sets->set)
        return false;
    bool by_place = c->places > 0;
    if (!by_place && !tg_check_by_place(c, level, part, &by_place))
        return false;
    if (by_place) {
        sets->count = 1;
        return all_places(c, length, part, sets->set);
    }
    if (size < 2 || length < 2 || size > MOST_PAIRS / length)
        return alone(c, size, sets);
    const bool *moves = try_each(c, level, part);
    bool *moved = tg_check_take_from(c, &c->arena, size * length, sizeof *moved);
    int64_t *number = tg_check_take_from(c, &c->arena, size, sizeof *number);
    if (!moves || !moved || !number)
        return false;
    sets->count = colour(moves, size, length, moved, number);
    if (sets->count == size)
        return alone(c, size, sets);
    for (int64_t s = 0; s < sets->count; s++)
        if (!gather(c, moves, size, length, number, s, &sets->set[s]))
            return false;
    return true;
}
