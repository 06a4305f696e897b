#include "autograd/value.h"

const tg_op *tg_value_op(const tg_value *value)
{
    return value ? value->op : NULL;
}

const void *tg_value_attributes(const tg_value *value)
{
    return value ? value->attributes : NULL;
}

int tg_value_input_count(const tg_value *value)
{
    return value ? value->input_count : 0;
}

const tg_value *tg_value_input(const tg_value *value, int index)
{
    return value && index >= 0 && index < value->input_count ? value->inputs[index] : NULL;
}

tg_dtype tg_value_dtype(const tg_value *value)
{
    return value ? value->dtype : TG_F32;
}

const tg_shape *tg_value_shape(const tg_value *value)
{
    static const tg_shape none = {0};
    return value ? &value->shape : &none;
}

int64_t tg_value_size(const tg_value *value)
{
    return value ? value->size : 0;
}

void tg_value_set(tg_value *out, tg_dtype dtype, tg_shape shape)
{
    if (!out)
        return;
    out->dtype = dtype;
    out->shape = shape;
}
