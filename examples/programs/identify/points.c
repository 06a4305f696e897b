/* Points that distinguish the forms. */
#include "examples/programs/identify/identify.h"

#include <math.h>
#include <stdlib.h>

/* Every 64th to +-4 and every 16th to +-12: eight binary digits, which f32, f16 and bf16 all have. */
enum { FINE = 64, COARSE = 16, MIDDLE = 4, END = 12, GRID = 2 * (MIDDLE * FINE + (END - MIDDLE) * COARSE) + 1 };
enum { EACH = 16 /* number of points for any two forms */ };
static const double least = 0.2; /* of a distance: see below */

static double grid_at(int i)
{
    const int from_zero = i - GRID / 2, distance = abs(from_zero), fine = MIDDLE * FINE;
    const double x = distance <= fine ? (double)distance / FINE : MIDDLE + (double)(distance - fine) / COARSE;
    return from_zero < 0 ? -x : x;
}

/* The distance of two forms, in widths of their intervals. From 0.5 on the intervals are disjoint; below that, many
 * points together still distinguish the forms. */
static double distance(identify_interval a, identify_interval b)
{
    return fabs(a.value - b.value) / (a.high - a.low + b.high - b.low);
}

/* Selects the additional points that two forms need: those where they are furthest apart. */
static void choose(const identify_interval *a, const identify_interval *b, bool chosen[GRID])
{
    int taken = 0;
    for (int i = 0; i < GRID; i++)
        taken += chosen[i] && distance(a[i], b[i]) > least;
    for (; taken < EACH; taken++) {
        int best = -1;
        for (int i = 0; i < GRID; i++)
            if (!chosen[i] && distance(a[i], b[i]) > (best < 0 ? least : distance(a[best], b[best])))
                best = i;
        if (best < 0)
            return;
        chosen[best] = true;
    }
}

size_t identify_points(double x[IDENTIFY_MOST])
{
    static const int formats[] = {IDENTIFY_F32, IDENTIFY_F16, IDENTIFY_BF16};
    const int forms = identify_form_count();
    double grid[GRID];
    identify_interval *allowed = calloc((size_t)forms * GRID, sizeof *allowed);
    tg_tape *tape = tg_tape_new();
    bool chosen[GRID] = {false}, fine = allowed && tape;
    for (int i = 0; i < GRID; i++)
        grid[i] = grid_at(i);
    for (int kind = IDENTIFY_ARITHMETICS - 1; kind >= 0; kind--) /* the harder one first */
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            for (int i = 0; i < forms && fine; i++)
                fine = identify_intervals(identify_form_at(i), &identify_formats[formats[f]], kind, tape, GRID, grid,
                                          allowed + i * GRID);
            for (int i = 0; i < forms && fine; i++)
                for (int j = 0; j < i; j++)
                    choose(allowed + i * GRID, allowed + j * GRID, chosen);
        }
    size_t count = 0;
    for (int i = 0; i < GRID && fine; i++)
        if (chosen[i])
            x[count++] = grid[i];
    tg_tape_free(tape);
    free(allowed);
    return count;
}
