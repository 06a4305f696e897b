/* Running a recorded step again. */
#include "autograd/grad.h"
#include "autograd/tape_internal.h"

#include <string.h>

/* Whether the gradient of every parameter stands as it did when the backward pass was recorded. */
static bool gradients_stand_alike(tg_tape *tape)
{
    for (int64_t i = 0; i < tape->count; i++) {
        const tg_value *value = tg_tape_value(tape, i);
        if (!value->parameter || !tg_value_of(value->gradient) || value->parameter->has_gradient != value->gradient_was_fresh)
            continue;
        tg_tape_fail(tape, "tg_replay: the gradient of %s %s, unlike when the step was recorded; record it again",
                     value->name ? value->name : "a parameter",
                     value->parameter->has_gradient ? "was not used by an optimiser's step" : "starts afresh");
        return false;
    }
    return true;
}

bool tg_replay(tg_tape *tape)
{
    if (!tape || tape->failed)
        return false;
    if (tape->replay_obstacle || tape->count == 0) {
        tg_tape_fail(tape, "tg_replay: %s", tape->count ? tape->replay_obstacle : "nothing is recorded on the tape");
        return false;
    }
    if (!gradients_stand_alike(tape))
        return false;
    for (int64_t i = 0; i < tape->count; i++) {
        tg_value *value = tg_tape_value(tape, i);
        if (value->parameter && tg_value_of(value->gradient))
            value->parameter->has_gradient = true;
        if (value->op && !tg_value_compute(value))
            return false;
        if (tape->watches && !tg_anomaly_check(value))
            return false;
    }
    return true;
}

bool tg_set(tg_tensor x, tg_dtype dtype, const void *data, tg_shape shape)
{
    tg_value *value = tg_value_of(x);
    if (!value || value->tape->failed)
        return false;
    char has[128], wants[128];
    if (value->op || value->parameter || value->borrowed)
        tg_tape_fail(value->tape, "tg_set: tensor %lld is not one made by tg_constant or tg_variable", (long long)value->index);
    else if (dtype != value->dtype || !tg_shape_equal(&shape, &value->shape))
        tg_tape_fail(value->tape, "tg_set: %s%s does not fit into %s%s; record the step again for new shapes",
                     tg_dtype_name(dtype), tg_shape_text(&shape, has, sizeof has), tg_dtype_name(value->dtype),
                     tg_shape_text(&value->shape, wants, sizeof wants));
    else if (!data && value->size > 0)
        tg_tape_fail(value->tape, "tg_set: the data is NULL");
    else if (value->size > 0)
        memcpy(value->data, data, (size_t)value->size * tg_dtype_size(dtype));
    return !value->tape->failed;
}
