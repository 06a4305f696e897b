#include "autograd/gradcheck/check.h"

/* With more pairs of a variable and a value than this, each variable moves alone. */
enum { MOST_PAIRS = 1 << 22 };

bool tg_check_by_place(tg_check *c, int level, const tg_check_part *part)
{
    const int64_t size = part->size;
    double *direction = tg_check_take(c, c->variables), *ahead = tg_check_take(c, 2 * c->level[level].length);
    bool by_place = size > 1 && c->level[level].length == size;
    for (int64_t bit = 1; by_place && bit < size; bit *= 2)
        for (int64_t half = 0; by_place && half <= bit; half += bit) {
            for (int64_t i = 0; i < size; i++)
                direction[part->offset + i] = (i & bit) == half ? c->scale[part->offset + i] : 0;
            tg_check_moves(c, level, direction, ahead);
            for (int64_t k = 0; k < size; k++)
                by_place &= !c->moves[k] || (k & bit) == half;
        }
    return by_place;
}

/* The values that each variable moves: [size of the part, length]. */
static bool *try_each(tg_check *c, int level, const tg_check_part *part)
{
    const int64_t length = c->level[level].length;
    double *direction = tg_check_take(c, c->variables), *ahead = tg_check_take(c, 2 * length);
    bool *moves = tg_check_take_from(c, &c->arena, part->size * length, sizeof *moves);
    for (int64_t i = 0; i < part->size; i++) {
        direction[part->offset + i] = c->scale[part->offset + i];
        tg_check_moves(c, level, direction, ahead);
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

/* Puts each variable into the first set whose values it does not move. Returns the number of sets. */
static int64_t colour(tg_check *c, const bool *moves, int64_t size, int64_t length, int64_t *set_of)
{
    bool *moved = tg_check_take_from(c, &c->arena, size * length, sizeof *moved); /* by the variables of each set */
    int64_t sets = 0;
    for (int64_t i = 0; i < size; i++) {
        const bool *own = moves + i * length;
        int64_t s = 0;
        while (s < sets && overlap(own, moved + s * length, length))
            s++;
        sets += s == sets;
        set_of[i] = s;
        for (int64_t k = 0; k < length; k++)
            moved[s * length + k] |= own[k];
    }
    return sets;
}

tg_check_sets tg_check_find_sets(tg_check *c, int level, const tg_check_part *part)
{
    const int64_t length = c->level[level].length, size = part->size;
    int64_t *set_of = tg_check_take_from(c, &c->arena, size, sizeof *set_of);
    tg_check_sets sets = {.count = 1, .set_of = set_of};
    sets.by_place = c->places > 0 || tg_check_by_place(c, level, part);
    if (sets.by_place)
        return sets;
    if (size > 1 && length > 1 && size <= MOST_PAIRS / length) {
        sets.moves = try_each(c, level, part);
        sets.count = colour(c, sets.moves, size, length, set_of);
        if (sets.count < size)
            return sets;
    }
    for (int64_t i = 0; i < size; i++)
        set_of[i] = i;
    return (tg_check_sets){.count = size, .set_of = set_of};
}
