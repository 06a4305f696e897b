/* What is built from tg_grad: products with the Jacobian and the Hessian, and both written out. */
#include "autograd/grad.h"

#include "autograd/ops.h"
#include "autograd/tape_internal.h"

#include <string.h>

bool tg_vjp(tg_tensor y, tg_tensor cotangent, const tg_tensor *inputs, int count, tg_tensor *results)
{
    return tg_grad(&y, 1, inputs, count, &cotangent, false, results);
}

tg_tensor tg_jvp(tg_tensor y, const tg_tensor *inputs, const tg_tensor *tangents, int count)
{
    tg_tape *tape = tg_tape_of(y);
    if (!tape || !inputs || !tangents || count < 1)
        return (tg_tensor){0};
    tg_tensor *products = tg_tape_take(tape, (size_t)count * sizeof *products, sizeof(void *));
    tg_tensor cotangent = tg_full(tape, tg_dtype_of(y), tg_shape_of(y), 0), result;
    if (!products || !tg_grad(&y, 1, inputs, count, &cotangent, true, products))
        return (tg_tensor){0};
    return tg_grad(products, count, &cotangent, 1, tangents, false, &result) ? result : (tg_tensor){0};
}

bool tg_hvp(tg_tensor loss, const tg_tensor *inputs, const tg_tensor *vectors, int count, tg_tensor *results)
{
    tg_tape *tape = tg_tape_of(loss);
    if (!tape || !inputs || !vectors || !results || count < 1)
        return false;
    tg_tensor *gradients = tg_tape_take(tape, (size_t)count * sizeof *gradients, sizeof(void *));
    return gradients && tg_grad(&loss, 1, inputs, count, NULL, true, gradients) &&
           tg_grad(gradients, count, inputs, count, vectors, false, results);
}

/* A constant of zeros that the caller may write into before anyone reads it. */
static tg_tensor zeros(tg_tape *tape, tg_dtype dtype, tg_shape shape, char **data)
{
    tg_tensor x = tg_full(tape, dtype, shape, 0);
    *data = tg_ok(x) ? x.value->data : NULL;
    return x;
}

static void set_one(char *data, tg_dtype dtype, int64_t index, double value)
{
    if (dtype == TG_F32)
        ((float *)(void *)data)[index] = (float)value;
    else
        ((double *)(void *)data)[index] = value;
}

tg_tensor tg_jacobian(tg_tensor y, tg_tensor x)
{
    tg_tape *tape = tg_tape_of(y);
    if (!tape || !tg_ok(x))
        return (tg_tensor){0};
    const tg_dtype dtype = tg_dtype_of(y);
    const int64_t rows = tg_size(y), columns = tg_size(x);
    const size_t row_bytes = (size_t)columns * tg_dtype_size(dtype);
    char *matrix, *unit;
    tg_tensor jacobian = zeros(tape, dtype, TG_SHAPE(rows, columns), &matrix), row;
    tg_tensor cotangent = zeros(tape, dtype, tg_shape_of(y), &unit);
    for (int64_t i = 0; i < rows && matrix && unit; i++) {
        set_one(unit, dtype, i, 1);
        if (!tg_grad(&y, 1, &x, 1, &cotangent, false, &row))
            return (tg_tensor){0};
        memcpy(matrix + (size_t)i * row_bytes, tg_data(row), row_bytes); /* row may be the unit vector itself */
        set_one(unit, dtype, i, 0);
    }
    return jacobian;
}

tg_tensor tg_hessian(tg_tensor loss, tg_tensor x)
{
    tg_tensor gradient;
    if (tg_size(loss) != 1 || !tg_grad(&loss, 1, &x, 1, NULL, true, &gradient))
        return (tg_tensor){0};
    return tg_jacobian(gradient, x);
}
