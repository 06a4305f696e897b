#include "tests/bench/race.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_ROUNDS = 2001, WARM_UP = 3 };
static const double ROUND = 20e-3; /* minimum seconds of an entry's round; makes the clock's resolution negligible */

double race_clock(int threads)
{
    struct timespec now;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, ascending);
    return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

/* The number of steps that fill a round; 0 if the entry cannot run. */
static int calibrate(const race_entry *entry, double round)
{
    double step = 0;
    for (int i = 0; i < (round > 0 ? WARM_UP : 1); i++) /* without a budget it only shows that the entry runs */
        step = entry->run(entry->context, 1);
    if (step < 0)
        return 0;
    int steps = 1;
    while (step * steps < round && steps < 1 << 20) { /* the first steps say little about a fast entry */
        steps *= 2;
        step = entry->run(entry->context, steps) / steps;
    }
    return steps;
}

void race(race_entry *entries, int count, double budget)
{
    static double seconds[RACE_ENTRIES][MOST_ROUNDS], ratios[MOST_ROUNDS];
    int steps[RACE_ENTRIES], rounds = 0;
    for (int k = 0; k < count; k++)
        steps[k] = calibrate(&entries[k], budget > 0 ? ROUND : 0);
    const double start = race_clock(0);
    while (rounds < (budget > 0 ? RACE_ROUNDS : 1) || (rounds < MOST_ROUNDS && race_clock(0) - start < budget)) {
        for (int turn = 0; turn < count; turn++) {
            const int k = rounds % 2 ? count - 1 - turn : turn;
            if (steps[k] && entries[k].before)
                entries[k].before(entries[k].context);
            if (steps[k] > 1) /* warms the caches, which have the previous entry's data */
                entries[k].run(entries[k].context, WARM_UP);
            if (steps[k])
                seconds[k][rounds] = entries[k].run(entries[k].context, steps[k]) / steps[k];
        }
        rounds++;
    }
    for (int k = count - 1; k >= 0; k--) { /* the first entry last: computing the median sorts */
        for (int r = 0; r < rounds; r++)
            ratios[r] = seconds[k][r] / seconds[0][r];
        entries[k].ratio = steps[k] ? median(ratios, rounds) : NAN;
        entries[k].seconds = steps[k] ? median(seconds[k], rounds) : NAN;
        entries[k].fastest = steps[k] ? seconds[k][rounds / 10] : NAN; /* already sorted by the median */
    }
}
