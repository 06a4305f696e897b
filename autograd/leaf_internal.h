/* The leaves of a tape. Internal. */
#ifndef TG_LEAF_INTERNAL_H
#define TG_LEAF_INTERNAL_H

#include "autograd/leaf.h"

/* Forgets the leaves of all parameters. */
void tg_tape_free_leaves(tg_tape *tape);

#endif
