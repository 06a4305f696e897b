/* Decides which process does a piece of work if processes on several machines share its folder (by NFS, for example).
 *
 *     claim c = {0};                                      // of this folder, as long as the program looks at it
 *     switch (claim_take(&c, folder, 120, &error)) {     // now and then, until it is ours
 *     case CLAIM_OURS: ...                                // do it; meanwhile, every second or so:
 *         if (!claim_keep(&c, folder, 120)) ...           //     another process took over: stop, write nothing more
 *         claim_release(&c, folder, true);                // true: it is done
 *     case CLAIM_THEIRS: ...                              // c.holder says whose it is
 *     case CLAIM_FAILED: ...                              // error says why
 *     }
 *
 * A claim is a file FOLDER/claim.K, K = 1, 2, 3, ..., made with O_EXCL: one process alone can make it. The highest
 * number counts. It says host and process, and its time of change is the sign of life. Who takes over makes the next
 * number; so two that want to take over cannot both succeed, and the process before finds that it has lost. The files
 * go when the work is done.
 *
 * A claim is free for others when it says so (its process gave up), when its process on this machine has ended (the
 * kernel released its lock), or when its time of change has been the same for `patience` seconds of the looking
 * process's own clock: clocks of two machines are never compared.
 */
#ifndef RUN_CLAIM_H
#define RUN_CLAIM_H

#include "examples/report/files.h"

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
