/* PyTorch's results, from tests/golden/layers.safetensors (made by make_layers.py): weights, input, output, cotangent
 * and all gradients of a layer or model.
 *
 *     pytorch p = pytorch_open("linear_1", TG_F64);
 *     tg_tensor x = pytorch_tensor(&p, "input"), y = ...;
 *     pytorch_compare(&p, x, y, set);
 *     pytorch_close(&p);
 */
#ifndef TESTS_PYTORCH_H
#define TESTS_PYTORCH_H

#include "tests/support/tensors.h"

typedef struct pytorch {
    tg_safetensors *file;
    tg_dtype dtype; /* the type of the test's tensors */
    const char *path;
    double within; /* relative error allowed in double */
    char name[64]; /* of the layer or model */
} pytorch;

pytorch pytorch_open(const char *name, tg_dtype dtype);

/* The same from another file, to 1e-12 in double. */
pytorch pytorch_open_file(const char *path, const char *name, tg_dtype dtype);
void pytorch_close(pytorch *p);

/* NULL, or false, if it has none of that name. */
const tg_file_tensor *pytorch_find(const pytorch *p, const char *name);
bool pytorch_has(const pytorch *p, const char *name);
int64_t pytorch_dim(const pytorch *p, const char *name, int axis);

/* Loads the weights into a set whose names are `to` with PyTorch's for the *: "*", or ".*" of a layer without a name.
 * `all`: each parameter has its numbers there. */
void pytorch_load(const pytorch *p, tg_parameters *set, const char *to, bool all);

/* A tensor of the file as a variable on the tape, in the type of the test; "input" as whole numbers where it has no
 * gradient. */
tg_tensor pytorch_tensor(const pytorch *p, const char *name);

/* Asserts equality to 1e-10 in double (see `within`) and 2e-5 in float, relative to the largest number of the tensor,
 * or to 0.1 if all are smaller: the gradient of the keys' bias is rounding error only. */
void pytorch_assert(const pytorch *p, const char *name, const void *numbers, int64_t size);

/* Asserts that y equals the file's output, and that the gradients of x and of the parameters, from the cotangent, equal
 * the file's. */
void pytorch_compare(const pytorch *p, tg_tensor x, tg_tensor y, tg_parameters *set);

#endif
