/* How far apart the processors of two threads are. Threads that work on the same numbers can only be as quick as that:
 * where processors share a cache a line goes to the other one and back in about 100 ns, where they do not in 500. On a
 * virtual machine it may change from minute to minute. */
#ifndef BENCH_HANDOVER_H
#define BENCH_HANDOVER_H

/* Seconds for so many exchanges, each a number handed to another thread and handed back; negative if there is no other
 * thread. */
double handover_seconds(int exchanges);

#endif
