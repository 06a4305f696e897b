/* Many runs, a few at once, divided among all processes that run the same command in the same folder: on one machine,
 * on several that share the folder, in a Slurm array, or under mpirun.
 *
 *     static const program_option table[] = {SWEEP_OPTIONS(offsetof(settings, sweep)), ...};
 *     if (!sweep_prepare(&settings.sweep, &error)) ... // reads --part, or the variables of Slurm and mpirun
 *     for (int run = 0; run < runs; run++)
 *         if (sweep_has(&settings.sweep, run) && !is_finished(run))
 *             pending[count++] = run;
 *     jobs_outcome outcome = jobs_run(&(jobs_config){.folder = "o/runs", .count = count, .waits = sweep.waits, ...});
 *     if (sweep_shows(&settings.sweep)) ...                           // tables and pictures
 *
 * A run belongs to the process that has claimed its folder (examples/programs/run/jobs.h). When no run is left, a
 * process waits for the runs of others, and takes over those whose process stops; so all runs are finished when it
 * ends. Under a launcher such as mpirun only one process waits and shows the results; the others end when no run is
 * left. With --part a process trains only its part, and does not wait.
 */
#ifndef RUN_SWEEP_H
#define RUN_SWEEP_H

#include "examples/programs/run/options.h"

typedef struct sweep {
    int jobs;         /* at once; 0: sweep_prepare sets the number of processors */
    const char *part; /* "2/4"; NULL: all, or as the environment says */
    double takeover;  /* seconds */

    /* Set by sweep_prepare: this process has the runs index, index + count, ...; rank is its number under a
     * launcher. */
    int index, count, rank;
    int at_once;
    bool waits;     /* for runs that other processes train */
    char said[200]; /* a sentence on where the part came from; empty: there is none */
} sweep;

#define SWEEP_DEFAULTS  \
    {                   \
        .takeover = 120 \
    }

/* Options of a `sweep` that lies at this offset. */
/* clang-format off */
#define SWEEP_OPTIONS(at) \
    {"jobs", "N", "runs at the same time; 0: one per processor, or one under mpirun or srun", \
     OPTION_INT, (at) + offsetof(sweep, jobs), 0, 1024}, \
    {"part", "I/N", "train only every N-th run, from the I-th on; set automatically in a Slurm array. Without " \
     "it, processes that run the same command share the runs", OPTION_TEXT, (at) + offsetof(sweep, part)}, \
    {"takeover", "SECONDS", "take over a run of another machine that has reported nothing for this long", \
     OPTION_REAL, (at) + offsetof(sweep, takeover), 1, 1e6}
/* clang-format on */

/* Finds the runs of this process. False and one line if --part, or an environment like Slurm's, is invalid. */
bool sweep_prepare(sweep *s, tg_error *error);

/* For runs that later ones need: ignores parts, and every process waits until all are finished. */
void sweep_share_all(sweep *s);

/* True if a run, counted from 0, is in the part of this process. */
bool sweep_has(const sweep *s, int run);

/* True if this process shows progress and results; one process of a launcher does. */
bool sweep_shows(const sweep *s);

#endif
