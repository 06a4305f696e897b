/* Times several ways to do the same work in turn, so that other work on the machine slows all of them alike.
 *
 *     race_entry entries[] = {{.run = by_hand, .context = floor}, {.run = by_tape, .context = step}};
 *     race(entries, 2, 1.0);
 *     printf("%g us, %g times the first\n", 1e6 * entries[1].seconds, entries[1].ratio);
 */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

typedef struct race_entry {
    double (*run)(void *context,
                  int steps);      /* runs this many steps; returns the seconds they took, negative if it cannot */
    void (*before)(void *context); /* before every round, untimed; may be NULL */
    void *context;
    double seconds; /* seconds per step: the median over the rounds; NaN if it could not run */
    double fastest; /* the same for the 10th percentile of the rounds: other work on the machine only slows down */
    double ratio;   /* ratio to the first entry: the median of the ratios within a round */
} race_entry;

enum { RACE_ENTRIES = 8 };

/* Warms up, then runs rounds until `budget` seconds are spent, at least RACE_ROUNDS of them. In a round every entry
 * runs some steps, one entry after the other; every second round goes in reverse order. With a budget of 0 an entry
 * runs one step in one round, only to test that everything runs. */
enum { RACE_ROUNDS = 9 };
void race(race_entry *entries, int count, double budget);

/* The clock for work on this many threads, in seconds. With one thread it is processor time, so that other work on the
 * machine hardly matters; with more it is wall-clock time. */
double race_clock(int threads);

#endif
