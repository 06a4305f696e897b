/* One element of any type, as a double. Internal.
 *
 *     double x = tg_element(TG_F32, data, 7);
 */
#ifndef TG_SHAPE_INTERNAL_H
#define TG_SHAPE_INTERNAL_H

#include "autograd/shape.h"

double tg_element(tg_dtype dtype, const void *data, int64_t index);
void tg_set_element(tg_dtype dtype, void *data, int64_t index, double number);

#endif
