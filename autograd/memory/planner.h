/* The planner of a tape's memory. Internal. */
#ifndef TG_PLANNER_H
#define TG_PLANNER_H

#include "autograd/tape/tape_internal.h"

typedef struct tg_planner {
    tg_feature feature;
    int64_t planned;  /* values recorded when the memory was planned, */
    int64_t recorded; /* and before this step */
    int repeats;      /* how many steps in a row have repeated the one before */
    int patience;     /* it is planned once 2^patience steps have repeated the one before */
} tg_planner;

/* The planner of a tape, which each tape has. */
tg_planner *tg_planner_of(const tg_tape *tape);

#endif
