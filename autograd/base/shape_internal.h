/* Elements of any type, as doubles, and a question on shapes. Internal.
 *
 *     double x = tg_element(TG_F32, data, 7);
 */
#ifndef TG_SHAPE_INTERNAL_H
#define TG_SHAPE_INTERNAL_H

#include "autograd/shape.h"

double tg_element(tg_dtype dtype, const void *data, int64_t index);
void tg_set_element(tg_dtype dtype, void *data, int64_t index, double number);

/* Copies elements from an array to another one, or to itself, converted to the type of that. */
void tg_copy_elements(tg_dtype to_type, void *to, tg_dtype from_type, const void *from, int64_t count);

/* True if a tensor of the one shape broadcasts to the other. */
bool tg_broadcasts_to(const tg_shape *from, const tg_shape *to);

#endif
