/* The planner of a tape's memory. Internal. */
#ifndef TG_PLANNER_H
#define TG_PLANNER_H

#include "autograd/tape/tape_internal.h"

typedef struct tg_planner {
    tg_feature feature;
    int64_t planned;  /* program.recorded when the memory was planned last, */
    int64_t recorded; /* and when this step began: a step that repeats the one before does not change it */
    int repeats;      /* how many steps in a row have repeated the one before */
    int patience;     /* the memory is planned once 2^patience of them have */
} tg_planner;

/* The planner of a tape, which each tape has. */
tg_planner *tg_planner_of(const tg_tape *tape);

#endif
