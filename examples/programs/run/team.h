/* The processes that mpirun started together, in a build by `make MPI=1`; in any other build this process is alone.
 *
 *     mpirun -n 4 build/mpi/bin/train --data idx:mnist --shards 8
 *
 *     team_begin();
 *     bool ready = !team_follows() && prepare(&error);   // process 0 makes the folder
 *     ready = team_agree(ready);                          // the others wait for its answer
 *     ... tg_fit_config.communicator = team_communicator() ...
 *     return team_end(status);
 */
#pragma once

#include "examples/programs/system/standard.h"

void team_begin(void);

/* NULL if this process is alone. */
const tg_communicator *team_communicator(void);

/* True if another process writes files and progress. */
bool team_follows(void);

/* Waits for process 0, and returns its argument in all processes. */
bool team_agree(bool what);

/* Returns when all processes have called it; sleeps meanwhile, so that the processors are free for the others. */
void team_meet(void);

/* True if this build has MPI. */
bool team_is_possible(void);

/* The exit status. After a failure the other processes are ended. */
int team_end(int status);
