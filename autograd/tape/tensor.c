#include "autograd/tensor.h"

#include "autograd/base/shape_internal.h"
#include "autograd/tape/tape_internal.h"

#include <math.h>

bool tg_ok(tg_tensor x)
{
    return tg_value_of(x) != NULL;
}

tg_dtype tg_dtype_of(tg_tensor x)
{
    return tg_value_dtype(tg_value_of(x));
}

tg_shape tg_shape_of(tg_tensor x)
{
    return *tg_value_shape(tg_value_of(x));
}

int tg_rank(tg_tensor x)
{
    return tg_value_shape(tg_value_of(x))->rank;
}

int64_t tg_size(tg_tensor x)
{
    return tg_value_size(tg_value_of(x));
}

int64_t tg_dim(tg_tensor x, int axis)
{
    const tg_shape *shape = tg_value_shape(tg_value_of(x));
    if (axis < 0)
        axis += shape->rank;
    return axis >= 0 && axis < shape->rank ? shape->dim[axis] : 0;
}

/* ---- elements ---- */

/* The value of a tensor; NULL if its elements cannot be read now. */
static const tg_value *readable(tg_tensor x, const char *function)
{
    const tg_value *value = tg_value_of(x);
    tg_tape *tape = x.value ? tg_tape_at(x.value) : NULL;
    if (tg_step_ended(x))
        tg_tape_fail(tape, "%s: it cannot read %s", function, tg_tape_problem(tape, x));
    if (!value || !tg_tape_allows(tape, function) || !value->slot.data || tg_run_released(value) ||
        (value->op && value->index >= tape->run.computed))
        return NULL;
    if (!tg_tape_may_forget(value) && !tg_run_overwritten(&tape->run, value))
        return value;
    tg_tape_fail(
        tape,
        "%s: tensor %lld (%s) may be forgotten, as an operation has used it and the tape saves memory: read it "
        "before, or call tg_keep on it first",
        function, (long long)value->index, value->op->name);
    return NULL;
}

static const void *data_as(tg_tensor x, tg_dtype dtype, const char *function)
{
    const tg_value *value = readable(x, function);
    return value && value->dtype == dtype ? value->slot.data : NULL;
}

const void *tg_data(tg_tensor x)
{
    const tg_value *value = readable(x, "tg_data");
    return value ? value->slot.data : NULL;
}

const float *tg_f32(tg_tensor x)
{
    return data_as(x, TG_F32, "tg_f32");
}

const double *tg_f64(tg_tensor x)
{
    return data_as(x, TG_F64, "tg_f64");
}

const int32_t *tg_i32(tg_tensor x)
{
    return data_as(x, TG_I32, "tg_i32");
}

double tg_at(tg_tensor x, int64_t index)
{
    const tg_value *value = readable(x, "tg_at");
    return value && index >= 0 && index < value->size ? tg_element(value->dtype, value->slot.data, index) : NAN;
}

double tg_item(tg_tensor x)
{
    const tg_value *value = readable(x, "tg_item");
    if (!value)
        return NAN;
    if (value->size != 1) {
        char shape[128];
        tg_tape_fail(tg_tape_at(value), "tg_item: expected a tensor of one element, not %s",
                     tg_shape_text(value->shape, shape, sizeof shape));
        return NAN;
    }
    return tg_element(value->dtype, value->slot.data, 0);
}

bool tg_read(tg_tensor x, tg_dtype dtype, void *out, int64_t count)
{
    const tg_value *value = readable(x, "tg_read");
    if (!value || value->size != count || (count > 0 && !out) || !tg_dtype_size(dtype))
        return false;
    tg_copy_elements(dtype, out, value->dtype, value->slot.data, count);
    return true;
}
