#include "autograd/ops/category.h"

#if defined TG_FIRST_ORDER
tg_tensor tg_first_order_only(tg_tensor cotangent)
{
    tg_tape_fail(tg_tape_of(cotangent), "this part of the library has derivatives of first order only");
    return TG_NONE;
}
#endif

bool tg_is_floating(const tg_value *out)
{
    return tg_dtype_is_floating(out->inputs[0]->dtype) || tg_expected(out, "expected f32 or f64");
}

bool tg_inputs_alike(const tg_value *out, int count)
{
    const tg_value *first = out->inputs[0];
    bool fits = tg_dtype_is_floating(first->dtype);
    for (int i = 1; i < count; i++)
        fits &= out->inputs[i]->dtype == first->dtype && tg_shape_equal(out->inputs[i]->shape, first->shape);
    return fits || tg_expected(out, "expected tensors of one floating type and shape");
}

bool tg_shape_same(tg_value *out)
{
    *out->shape = *out->inputs[0]->shape;
    return true;
}

bool tg_shape_same_floating(tg_value *out)
{
    return tg_shape_same(out) && tg_is_floating(out);
}

bool tg_shape_alike(tg_value *out)
{
    return tg_shape_same(out) && tg_inputs_alike(out, out->input_count);
}

bool tg_number_fits(tg_value *out, tg_dtype dtype, double value)
{
    return dtype != TG_I32 || (value > INT32_MIN - 1.0 && value < INT32_MAX + 1.0) ||
           tg_expected(out, "expected a value that i32 can hold, not %g", value);
}

void tg_fill(tg_dtype dtype, int64_t count, double value, void *to)
{
    if (dtype != TG_I32)
        TG_KERNEL_CALL(dtype, fill, (size_t)count, value, to);
    else
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)to)[i] = (int32_t)value;
}
