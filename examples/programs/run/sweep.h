/* Many runs, a few at once; all of them in one process, or one part in each of several (docs/several-processes.md).
 *
 *     static const program_option table[] = {SWEEP_OPTIONS(offsetof(settings, sweep)), ...};
 *     if (!sweep_prepare(&settings.sweep, &error)) ...                 // reads --part
 *     for (int run = 0; run < runs; run++)
 *         if (sweep_has(&settings.sweep, run) && !is_finished(run))
 *             pending[count++] = run;
 *     jobs_outcome outcome = jobs_run(&(jobs_config){.folder = "o/runs", .count = count, ...});
 *     if (sweep_is_whole(&settings.sweep)) ...                         // tables and pictures
 *
 * A process with --part trains its runs and shows no results; the same command without it does, when the parts have
 * ended, and trains what they have left.
 */
#pragma once

#include "examples/programs/run/options.h"

typedef struct sweep {
    int jobs;         /* at once; 0: one per processor */
    const char *part; /* "2/4"; NULL: all */

    /* Set by sweep_prepare: this process has the runs index, index + count, ... */
    int index, count;
    int at_once;
} sweep;

/* Options of a `sweep` that lies at this offset. */
/* clang-format off */
#define SWEEP_OPTIONS(at) \
    {"jobs", "N", "runs at the same time; 0: one per processor", OPTION_INT, (at) + offsetof(sweep, jobs), 0, 1024}, \
    {"part", "I/N", "train only every N-th run, from the I-th on, and show nothing; then the command without it makes " \
     "the tables", OPTION_TEXT, (at) + offsetof(sweep, part)}
/* clang-format on */

/* Finds the runs of this process. False and one line if --part is invalid. */
bool sweep_prepare(sweep *s, tg_error *error);

/* True if a run, counted from 0, is in the part of this process. */
bool sweep_has(const sweep *s, int run);

/* True without --part. */
bool sweep_is_whole(const sweep *s);
