/* The number of optimisers, as the bound of loops over tg_optimizer_kind. */
#ifndef TESTS_OPTIMIZERS_H
#define TESTS_OPTIMIZERS_H

#include <tapegrad.h>

static inline int optimizers(void)
{
    int count = 0;
    while (tg_optimizer_name((tg_optimizer_kind)count))
        count++;
    return count;
}

#endif
