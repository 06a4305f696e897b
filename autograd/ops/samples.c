/* Sample inputs that several categories share. */
#include "autograd/ops/category.h"

#include <math.h>

const double tg_edges[9] = {0, -0.0, 1e-30, -1e30, 1e30, INFINITY, -INFINITY, NAN, -5.5};
