/* Claims a piece of work for one process, if processes on several machines share its folder (by NFS, for example).
 *
 *     claim c = {0};                                      // for this folder; keep it while the program runs
 *     switch (claim_take(&c, folder, 120, &error)) {     // repeat until it is ours
 *     case CLAIM_OURS: ...                                // do the work; meanwhile, about every second:
 *         if (!claim_keep(&c, folder, 120)) ...           //     another process took over: stop, write nothing more
 *         claim_release(&c, folder, true);                // true: the work is done
 *     case CLAIM_THEIRS: ...                              // c.holder names the owner
 *     case CLAIM_FAILED: ...                              // error says why
 *     }
 *
 * A claim is a file FOLDER/claim.K, K = 1, 2, 3, ..., created with O_EXCL, which succeeds for one process only. The
 * highest number counts. The file names host and process; its modification time is the sign of life. A process that
 * takes over creates the next number, so only one of several can, and the previous owner sees that it has lost. The
 * files are removed when the work is done.
 *
 * A claim can be taken over if it says so (its process gave up), if its process on this machine has ended (the kernel
 * released its lock), or if its modification time has not changed for `patience` seconds on the observer's own clock.
 * Clocks of two machines are never compared.
 */
#ifndef RUN_CLAIM_H
#define RUN_CLAIM_H

#include "examples/programs/report/files.h"

#include <time.h>

typedef struct claim {
    int number;              /* of the newest claim seen */
    struct timespec changed; /* its modification time, */
    double since;            /* unchanged since this time */
    bool held;               /* it is ours */
    int descriptor;          /* of ours */
    double kept;             /* its last sign of life */
    char holder[120];        /* "host node7, process 1234"; empty: not known */
} claim;

typedef enum claim_outcome { CLAIM_OURS, CLAIM_THEIRS, CLAIM_FAILED } claim_outcome;

/* Takes the work of an existing folder, for this process and its children. */
claim_outcome claim_take(claim *c, const char *folder, double patience, tg_error *error);

/* Gives a sign of life, no more often than necessary; false if another process has taken over. */
bool claim_keep(claim *c, const char *folder, double patience);

/* Releases a claim of ours; otherwise does nothing. */
void claim_release(claim *c, const char *folder, bool done);

#endif
