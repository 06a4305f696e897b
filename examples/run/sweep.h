/* Many runs, a few at once, shared out among all processes that run the same command in the same folder: on one
 * machine, on several that have the folder in common, in a Slurm array, or under mpirun.
 *
 *     static const program_option table[] = {SWEEP_OPTIONS(offsetof(settings, sweep)), ...};
 *     if (!sweep_prepare(&settings.sweep, &error)) ...               // --part, or what Slurm and mpirun say
 *     for (int run = 0; run < runs; run++)
 *         if (sweep_has(&settings.sweep, run) && !is_finished(run))
 *             pending[count++] = run;
 *     jobs_outcome outcome = sweep_run(&settings.sweep, &(sweep_work){.folder = "o/runs", .count = count, ...});
 *     if (sweep_shows(&settings.sweep)) ...                           // tables and pictures
 *
 * A run belongs to the process that has claimed its folder (examples/run/claim.h). A process that finds no more to do
 * waits for those that others train, and trains them where the others stop, so that all is there when it ends. One
 * process of a launcher such as mpirun does that and shows the results; the others end when nothing is left to begin.
 * With --part a process trains its part only, and does not wait.
 */
#ifndef RUN_SWEEP_H
#define RUN_SWEEP_H

#include "examples/report/files.h"
#include "examples/run/jobs.h"
#include "examples/run/options.h"

typedef struct sweep {
    int jobs;         /* at once; 0 until sweep_prepare: as many as there are processors */
    const char *part; /* "2/4"; NULL: all, or what the environment says */
    double takeover;  /* seconds */

    /* Of sweep_prepare: this process has the runs index, index + count, ...; and its place among the processes of a
     * launcher. */
    int index, count, rank;
    int at_once;
    bool waits;     /* for runs that other processes train */
    char said[200]; /* where that came from, in a sentence; empty: nowhere */
} sweep;

#define SWEEP_DEFAULTS  \
    {                   \
        .takeover = 120 \
    }

/* Options of a `sweep` that lies at this offset. */
/* clang-format off */
#define SWEEP_OPTIONS(at) \
    {"jobs", "N", "runs at the same time; 0: as many as there are processors, under mpirun or srun one", \
     OPTION_INT, (at) + offsetof(sweep, jobs), 0, 1024}, \
    {"part", "I/N", "train only every N-th run, from the I-th on; set automatically in a Slurm array. Without " \
     "it, processes that run the same command share the runs", OPTION_TEXT, (at) + offsetof(sweep, part)}, \
    {"takeover", "SECONDS", "take over a run of another machine that has reported nothing for this long", \
     OPTION_REAL, (at) + offsetof(sweep, takeover), 1, 1e6}
/* clang-format on */

/* Finds out which runs are this process's. False and one line if --part, or an environment like Slurm's, makes no
 * sense. */
bool sweep_prepare(sweep *s, tg_error *error);

/* For runs that others need: without parts, and every process waits until all exist. */
void sweep_share_all(sweep *s);

/* True if a run, counted from 0, is in this process's part. */
bool sweep_has(const sweep *s, int run);

/* True if this process shows progress and results; one process of a launcher does. */
bool sweep_shows(const sweep *s);

typedef struct sweep_work {
    const char *folder; /* parent folder of the runs; each run's is in it, and is made if missing */
    int count;
    FILE *out;        /* for progress */
    double silence;   /* as in jobs_config */
    const char *unit; /* as in progress_config, as is measured */
    const char *measured;
    void *context;                               /* for the functions */
    const char *(*name)(int job, void *context); /* of its folder */
    bool (*is_finished)(int job, void *context);
    int (*run)(int job, jobs_link *link, void *context);
    void (*on_tick)(void *context); /* may be NULL */
} sweep_work;

/* Trains them; when memory runs out, prints an error, and all have failed. */
jobs_outcome sweep_run(const sweep *s, const sweep_work *work);

#endif
