/* How much of an exhaustive test runs: few seeds in a check, fewer under slow sanitizers, many in the long check. And
 * which: a check takes others each day, the long check takes all.
 *
 *     for (int i = 0, first = today(20); i < seeds(1, 20); i++)      // one of 0 to 19
 *         check(first + i);
 *     for (int i = today(3); i < count; i += every(3))               // every third case
 *         check_case(i);
 */
#ifndef TESTS_SEEDS_H
#define TESTS_SEEDS_H

#include <stdlib.h>
#include <time.h>

static inline int seeds(int few, int many)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    few = (few + 4) / 5;
#endif
    return getenv("TG_LONG") ? many : few;
}

static inline int today(int of)
{
    return getenv("TG_LONG") ? 0 : (int)(time(NULL) / (24 * 60 * 60) % of);
}

static inline int every(int nth)
{
    return getenv("TG_LONG") ? 1 : nth;
}

#endif
