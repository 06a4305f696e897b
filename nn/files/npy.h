/* Reads and writes single arrays for NumPy: the .npy format, versions 1 to 3.
 *
 *     tg_npy array;
 *     if (!tg_npy_read("x.npy", &array, &error)) ...                       // numpy.save("x.npy", x)
 *     tg_tensor x = tg_borrow(tape, array.dtype, array.data, array.shape);
 *     ...
 *     tg_npy_free(&array);
 *     tg_npy_write("y.npy", tg_dtype_of(y), tg_shape_of(y), tg_data(y), &error);      // numpy.load("y.npy")
 *
 * Little-endian and row-major; float32, float64 and int32; int64 is read as int32 if all numbers fit. For several
 * arrays in one file use safetensors, which Python reads with safetensors.numpy. There is no .npz: it is a zip archive,
 * for which the library would need zlib. Messages are one line with the file's name.
 */
#ifndef TG_NPY_H
#define TG_NPY_H

#include "nn/files/safetensors.h"

TG_API_BEGIN

typedef struct tg_npy {
    tg_dtype dtype;
    tg_shape shape;
    void *data; /* tg_shape_size(&shape) elements */
} tg_npy;

/* Reads a file into new memory. False, with the error and an empty array, if it is not an .npy file, has another type
 * or order, or a size that contradicts its header. */
bool tg_npy_read(const char *path, tg_npy *array, tg_error *error);
void tg_npy_free(tg_npy *array);

/* Writes version 1.0, completely or not at all, as tg_parameters_save does. */
bool tg_npy_write(const char *path, tg_dtype dtype, tg_shape shape, const void *data, tg_error *error);

TG_API_END
#endif
