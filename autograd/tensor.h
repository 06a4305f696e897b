/* Tensors: handles of the values on a tape.
 *
 *     tg_tensor x = tg_constant(tape, TG_F32, points, TG_SHAPE(256, 2));
 *     tg_tensor y = tg_mul(x, x);
 *     printf("%g\n", tg_item(tg_mean(y)));
 *
 * A tg_tensor is a small handle, passed by value like an int. It belongs to its tape and dies at tg_tape_reset. A dead
 * handle, like the zero handle (tg_tensor){0}, is inert: every function accepts it, none crashes. After tg_tape_free no
 * handle of that tape may be used: it points to freed memory. Contents are contiguous and row-major, of any rank up to
 * 8; rank 0 is a scalar, and a dimension may be 0.
 */
#ifndef TG_TENSOR_H
#define TG_TENSOR_H

#include "autograd/shape.h"

TG_API_BEGIN

/* The handle. Copy it freely; read it through the functions below. */
typedef struct tg_tensor {
    struct tg_value *value;
    uint64_t serial;
} tg_tensor;

/* True if the tensor is alive: made without error, on a tape that was not reset since. */
bool tg_ok(tg_tensor x);

/* Type, shape and number of elements; for an inert tensor TG_F32, rank 0 and 0 elements. */
tg_dtype tg_dtype_of(tg_tensor x);
tg_shape tg_shape_of(tg_tensor x);
int tg_rank(tg_tensor x);
int64_t tg_size(tg_tensor x);

/* The size of one axis; negative axes count from the end. 0 if there is no such axis. */
int64_t tg_dim(tg_tensor x, int axis);

/* The elements, valid until the tape is reset; NULL if inert or of another type. */
const void *tg_data(tg_tensor x);
const float *tg_f32(tg_tensor x);
const double *tg_f64(tg_tensor x);
const int32_t *tg_i32(tg_tensor x);

/* One element as a double: that of a tensor with a single element, or element number `index` in memory order. NaN if
 * the tensor is inert or has no such element. tg_item of a tensor with more elements, or none, is an error of the tape;
 * so is reading any tensor of a step that tg_tape_reset has ended. */
double tg_item(tg_tensor x);
double tg_at(tg_tensor x, int64_t index);

/* Copies all elements to `out`, converted to `dtype`; false, with nothing written, unless there are exactly `count`. */
bool tg_read(tg_tensor x, tg_dtype dtype, void *out, int64_t count);

TG_API_END

#endif
