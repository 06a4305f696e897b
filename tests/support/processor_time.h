/* Processor time, for tests with a limit of it.
 *
 *     const double began = processor_time();
 *     work();
 *     ck_assert_double_lt(processor_time() - began, in_seconds(1));
 */
#ifndef TESTS_PROCESSOR_TIME_H
#define TESTS_PROCESSOR_TIME_H

#include <stdlib.h>
#include <time.h>

/* Of this process. clock() counts the time of other processes too on Windows. */
static inline double processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* As many seconds as a limit of this many takes here: an emulated processor is slower. */
static inline double in_seconds(double limit)
{
    const char *slower = getenv("CK_TIMEOUT_MULTIPLIER");
    return slower ? limit * atof(slower) : limit;
}

#endif
