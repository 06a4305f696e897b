/* The number of seeds for a test of the gradient checker: few in a check, fewer under slow sanitizers, many in the long
 * check. */
#ifndef TESTS_SEEDS_H
#define TESTS_SEEDS_H

#include <stdlib.h>

static inline int seeds(int few, int many)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    few = (few + 4) / 5;
#endif
    return getenv("TG_LONG") ? many : few;
}

#endif
