/* Types of elements, and shapes.
 *
 *     tg_shape images = TG_SHAPE(32, 28, 28);
 *     tg_shape_size(&images);                                            // 25088
 */
#ifndef TG_SHAPE_H
#define TG_SHAPE_H

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

/* ---- shapes and types on their own ---- */

/* The product of the dimensions, 1 for a scalar; -1 if a dimension is negative, the rank is out of range or the
 * product does not fit. */
int64_t tg_shape_size(const tg_shape *shape);
bool tg_shape_equal(const tg_shape *a, const tg_shape *b);

/* The shape that two broadcast to by NumPy's rule; false if they do not. */
bool tg_shape_broadcast(const tg_shape *a, const tg_shape *b, tg_shape *out);

/* Writes "[32, 784]" into `text` and returns it; "[rank 9]" for an invalid rank. */
char *tg_shape_text(const tg_shape *shape, char *text, size_t size);

const char *tg_dtype_name(tg_dtype dtype); /* "f32", "f64", "i32"; "?" for an unknown type */
size_t tg_dtype_size(tg_dtype dtype);      /* bytes per element; 0 for an unknown type */
bool tg_dtype_is_floating(tg_dtype dtype); /* f32 or f64: what can be differentiated */

TG_API_END

#ifdef __cplusplus
#include <type_traits>

/* For TG_SHAPE and TG_AXES: accepts integers of any type and enumerators, as C does, and rejects numbers that may have
 * a fraction. */
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
