/* What tests see of a parameter set besides. Internal to the library. */
#ifndef TG_PARAMETERS_INTERNAL_H
#define TG_PARAMETERS_INTERNAL_H

#include "autograd/parameters.h"

/* How many parameters were looked at so far to build the set: compared by name, or moved with their blocks. */
int64_t tg_parameters_lookups(const tg_parameters *set);

#endif
