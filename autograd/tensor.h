/* Tensors: what a number on the tape looks like from outside.
 *
 *     tg_tensor x = tg_constant(tape, TG_F32, points, TG_SHAPE(256, 2));
 *     tg_tensor y = tg_mul(x, x);
 *     printf("%g\n", tg_item(tg_mean(y)));
 *
 * A tg_tensor is a small handle, passed by value like an int. It belongs to its tape and dies at tg_tape_reset. A dead
 * handle, like the zero handle (tg_tensor){0}, is inert: every function takes it, none crashes. That holds as long as
 * the tape exists; tg_tape_free frees what handles point at, and none of them may be used afterwards, as with any
 * pointer. Contents are contiguous and row-major, of any rank up to 8; rank 0 is a scalar, and a dimension may be 0.
 */
#ifndef TG_TENSOR_H
#define TG_TENSOR_H

#include "autograd/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

TG_API_BEGIN

enum { TG_MAX_RANK = 8 };

typedef enum tg_dtype {
    TG_F32, /* float */
    TG_F64, /* double */
    TG_I32, /* int32_t: labels, indices; never differentiated */
} tg_dtype;

/* dim[0] is the slowest axis:  [2, 3]  is  a b c | d e f  in memory. */
typedef struct tg_shape {
    int rank;
    int64_t dim[TG_MAX_RANK];
} tg_shape;

/* A shape from its dimensions, TG_SHAPE(32, 784), and that of a scalar. */
#ifdef __cplusplus
#define TG_SHAPE(...) (tg_shape_from(__VA_ARGS__))
#define TG_SCALAR     (tg_shape())
#else
#define TG_SHAPE(...) \
    ((tg_shape){.rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .dim = {__VA_ARGS__}})
#define TG_SCALAR ((tg_shape){.rank = 0})
#endif

/* The handle. Copy it freely; look inside through the functions below. */
typedef struct tg_tensor {
    struct tg_value *value;
    uint64_t serial;
} tg_tensor;

/* True if the tensor is alive: made without error, on a tape that was not reset since. */
bool tg_ok(tg_tensor x);

/* Its type, shape and number of elements; of an inert tensor TG_F32, rank 0 and 0 elements. */
tg_dtype tg_dtype_of(tg_tensor x);
tg_shape tg_shape_of(tg_tensor x);
int tg_rank(tg_tensor x);
int64_t tg_size(tg_tensor x);

/* The size of one axis; negative axes count from the end. 0 where there is none. */
int64_t tg_dim(tg_tensor x, int axis);

/* The elements, valid until the tape is reset; NULL if inert or of another type. */
const void *tg_data(tg_tensor x);
const float *tg_f32(tg_tensor x);
const double *tg_f64(tg_tensor x);
const int32_t *tg_i32(tg_tensor x);

/* One element as a double: that of a tensor with a single element, or element number `index` in memory order. NaN where
 * the tensor is inert or has no such element; of a tensor with more elements or none, tg_item is an error of the tape.
 */
double tg_item(tg_tensor x);
double tg_at(tg_tensor x, int64_t index);

/* Copies the elements out, converted to the type asked for; false and nothing written if there are not `count` of them.
 */
bool tg_read(tg_tensor x, tg_dtype dtype, void *out, int64_t count);

/* ---- shapes and types on their own ---- */

/* The product of the dimensions, 1 for a scalar; -1 if a dimension is negative, the rank is out of range or the
 * product does not fit. */
int64_t tg_shape_size(const tg_shape *shape);
bool tg_shape_equal(const tg_shape *a, const tg_shape *b);

/* The shape that two broadcast to by NumPy's rule; false if they do not. */
bool tg_shape_broadcast(const tg_shape *a, const tg_shape *b, tg_shape *out);

/* "[32, 784]" into `text`, which is returned; "[rank 9]" where that is no rank. */
char *tg_shape_text(const tg_shape *shape, char *text, size_t size);

const char *tg_dtype_name(tg_dtype dtype); /* "f32", "f64", "i32"; "?" if there is no such type */
size_t tg_dtype_size(tg_dtype dtype);      /* bytes an element; 0 if there is no such type */
bool tg_dtype_is_floating(tg_dtype dtype); /* f32 or f64: what can be differentiated */

TG_API_END

#ifdef __cplusplus
#include <type_traits>

/* For TG_SHAPE and TG_AXES: takes integers of any type and enumerators, as C does, and refuses what would lose a
 * fraction. */
template <typename To, typename From>
inline To tg_integer(From number)
{
    static_assert(!std::is_floating_point<From>::value, "dimensions and axes are integers");
    return static_cast<To>(number);
}

template <typename... Dims>
inline tg_shape tg_shape_from(Dims... dims)
{
    static_assert(sizeof...(dims) <= std::size_t(TG_MAX_RANK), "a shape has at most TG_MAX_RANK dimensions");
    return tg_shape{int(sizeof...(dims)), {tg_integer<int64_t>(dims)...}};
}
#endif
#endif
