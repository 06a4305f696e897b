/* The largest buffer is placed first, each at the lowest place that is free for as long as it lives: "greedy by size"
 * (Pisarchyk and Lee, "Efficient memory management for deep neural net inference", arXiv 2001.03288). */
#include "autograd/memory/plan.h"

#include <stdbool.h>
#include <stdlib.h>

/* By size, the largest first; then by number. */
static int compare(const void *one, const void *other)
{
    const tg_life *a = one, *b = other;
    return a->size != b->size ? (a->size < b->size) - (a->size > b->size) : (a->of > b->of) - (a->of < b->of);
}

static bool meet(const tg_life *a, const tg_life *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The lowest place where the life meets none of those that have one, which are listed by place. */
static size_t lowest_place(const tg_life *life, const tg_life *placed)
{
    size_t at = 0;
    for (; placed; placed = placed->next) {
        if (!meet(life, placed))
            continue;
        if (placed->at >= at + life->size)
            break;
        at = placed->at + placed->size > at ? placed->at + placed->size : at;
    }
    return at;
}

size_t tg_plan(tg_life *lives, size_t count)
{
    tg_life *placed = NULL;
    size_t block = 0;
    qsort(lives, count, sizeof *lives, compare);
    for (size_t i = 0; i < count; i++) {
        tg_life *life = &lives[i];
        life->at = lowest_place(life, placed);
        block = life->at + life->size > block ? life->at + life->size : block;
        tg_life **link = &placed;
        while (*link && (*link)->at < life->at)
            link = &(*link)->next;
        life->next = *link;
        *link = life;
    }
    return block;
}
