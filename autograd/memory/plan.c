/* Few buffers are placed by size, many in the order of time. By time alone the step of a GPT takes as much memory, that
 * of a GRU or LSTM up to 28 % more.
 *
 * By size: the largest is placed first, each at the lowest offset that is free for as long as it lives: "greedy by
 * size" (Pisarchyk and Lee, "Efficient memory management for deep neural net inference", arXiv 2001.03288). Time grows
 * with the square of the number.
 *
 * By time: as an allocator would place them that gets each request and each release in order, n log n. The block is a
 * list of spans, by address; a free one is also in the list of its size class.
 *
 *     [life 3     |free   |life 7 |life 2         |free          |      a release joins neighbours that are free
 *     0          256     320     384             640            896
 */
#include "autograd/memory/plan.h"

#include <stdbool.h>
#include <stdlib.h>

/* ---- by size ---- */

/* By size, the largest first; then by number. */
static int by_size(const void *one, const void *other)
{
    const tg_life *a = one, *b = other;
    return a->size != b->size ? (a->size < b->size) - (a->size > b->size) : (a->of > b->of) - (a->of < b->of);
}

static bool meet(const tg_life *a, const tg_life *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The lowest offset at which the life meets none of those that have one, which are listed by offset. */
static size_t lowest_offset(const tg_life *life, const tg_life *placed)
{
    size_t at = 0;
    for (; placed; placed = placed->next) {
        if (!meet(life, placed))
            continue;
        if (placed->offset >= at + life->size)
            break;
        at = placed->offset + placed->size > at ? placed->offset + placed->size : at;
    }
    return at;
}

static size_t plan_by_size(tg_life *lives, size_t count)
{
    tg_life *placed = NULL;
    size_t block = 0;
    qsort(lives, count, sizeof *lives, by_size);
    for (size_t i = 0; i < count; i++) {
        tg_life *life = &lives[i];
        life->offset = lowest_offset(life, placed);
        block = life->offset + life->size > block ? life->offset + life->size : block;
        tg_life **link = &placed;
        while (*link && (*link)->offset < life->offset)
            link = &(*link)->next;
        life->next = *link;
        *link = life;
    }
    return block;
}

/* ---- by time ---- */

enum { UNIT = 64, FINE = 8, CLASSES = 512, LOOKED_AT = 16 };

typedef struct span {
    size_t offset, size;
    struct span *before, *after;  /* neighbours */
    struct span *previous, *next; /* in the list of its class, or of spans that are not in use */
    bool is_free;
} span;

typedef struct spans {
    span *unused, *last;
    span *of_class[CLASSES];
    size_t block; /* the end of the last span, at its highest */
} spans;

/* Sizes of a class differ by an eighth at most; up to 15 units each size has its own. */
static int class_of(size_t size)
{
    size_t units = size / UNIT;
    int shift = 0;
    while (units >> shift >= 2 * FINE)
        shift++;
    return shift * FINE + (int)(units >> shift);
}

static void list(spans *all, span *s)
{
    span **head = &all->of_class[class_of(s->size)];
    s->is_free = true;
    s->previous = NULL;
    s->next = *head;
    if (*head)
        (*head)->previous = s;
    *head = s;
}

static void unlist(spans *all, span *s)
{
    s->is_free = false;
    if (s->next)
        s->next->previous = s->previous;
    if (s->previous)
        s->previous->next = s->next;
    else
        all->of_class[class_of(s->size)] = s->next;
}

/* Inserts a span after another one, or at the start. */
static span *insert(spans *all, span *before, size_t offset, size_t size)
{
    span *s = all->unused;
    all->unused = s->next;
    *s = (span){.offset = offset, .size = size, .before = before, .after = before ? before->after : NULL};
    if (s->after)
        s->after->before = s;
    else
        all->last = s;
    if (before)
        before->after = s;
    return s;
}

/* Joins a span with the one after it, which is taken out. */
static void join(spans *all, span *s)
{
    span *gone = s->after;
    s->size += gone->size;
    s->after = gone->after;
    if (s->after)
        s->after->before = s;
    else
        all->last = s;
    gone->next = all->unused;
    all->unused = gone;
}

/* The smallest of the first free spans of its class that is large enough, or one of the next class that has any. */
static span *find(const spans *all, size_t size)
{
    int class = class_of(size), looked_at = 0;
    span *best = NULL;
    for (span *s = all->of_class[class]; s && looked_at < LOOKED_AT; s = s->next, looked_at++)
        if (s->size >= size && (!best || s->size < best->size))
            best = s;
    while (!best && ++class < CLASSES)
        best = all->of_class[class];
    return best;
}

/* A span at the end of the block: the free one there grows. */
static span *extend(spans *all, size_t size)
{
    span *last = all->last;
    if (!last || !last->is_free)
        return insert(all, last, last ? last->offset + last->size : 0, size);
    unlist(all, last);
    last->size = size;
    return last;
}

static span *take(spans *all, size_t size)
{
    span *s = find(all, size);
    if (!s)
        s = extend(all, size);
    else {
        unlist(all, s);
        if (s->size > size) {
            list(all, insert(all, s, s->offset + size, s->size - size));
            s->size = size;
        }
    }
    all->block = s->offset + s->size > all->block ? s->offset + s->size : all->block;
    return s;
}

static void release(spans *all, span *s)
{
    if (s->after && s->after->is_free) {
        unlist(all, s->after);
        join(all, s);
    }
    if (s->before && s->before->is_free) {
        s = s->before;
        unlist(all, s);
        join(all, s);
    }
    list(all, s);
}

/* By time, then the largest first. */
static int by_first(const void *one, const void *other)
{
    const tg_life *a = one, *b = other;
    return a->first != b->first ? (a->first > b->first) - (a->first < b->first) : by_size(one, other);
}

static int by_last(const void *one, const void *other)
{
    const tg_life *a = *(tg_life *const *)one, *b = *(tg_life *const *)other;
    return a->last != b->last ? (a->last > b->last) - (a->last < b->last) : (a->of > b->of) - (a->of < b->of);
}

/* Room for all: each life takes a span, and leaves one at most. */
typedef struct room {
    tg_life **ends; /* the lives, by their end */
    span **taken;   /* of each life */
    span *spans;
} room;

static size_t place_all(tg_life *lives, size_t count, const room *r)
{
    spans all = {0};
    for (size_t i = 0; i < 2 * count; i++) {
        r->spans[i].next = all.unused;
        all.unused = &r->spans[i];
    }
    qsort(lives, count, sizeof *lives, by_first);
    for (size_t i = 0; i < count; i++)
        r->ends[i] = &lives[i];
    qsort(r->ends, count, sizeof *r->ends, by_last);
    for (size_t i = 0, ended = 0; i < count; i++) {
        for (; r->ends[ended]->last < lives[i].first; ended++)
            if (r->ends[ended]->size > 0)
                release(&all, r->taken[r->ends[ended] - lives]);
        lives[i].offset = 0;
        if (lives[i].size > 0) {
            r->taken[i] = take(&all, lives[i].size);
            lives[i].offset = r->taken[i]->offset;
        }
    }
    return all.block;
}

size_t tg_plan(tg_life *lives, size_t count)
{
    enum { FEW = 4096 };
    if (count <= FEW)
        return plan_by_size(lives, count);
    const room r = {malloc(count * sizeof *r.ends), malloc(count * sizeof *r.taken),
                    malloc(2 * count * sizeof *r.spans)};
    const size_t block = r.ends && r.taken && r.spans ? place_all(lives, count, &r) : TG_NO_PLAN;
    free(r.ends);
    free(r.taken);
    free(r.spans);
    return block;
}
