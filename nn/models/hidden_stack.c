#include "nn/models/hidden_stack_internal.h"

#include "nn/config_internal.h"
#include "nn/layers/dropout.h"
#include "nn/layers/layer_internal.h"

#include <math.h>
#include <stdio.h>

int tg_hidden_count(const int64_t *widths)
{
    int count = 0;
    while (count <= TG_HIDDEN_STACK && widths[count] != 0)
        count++;
    return count;
}

const char *tg_widths_error(const int64_t *widths, int count)
{
    if (count > TG_HIDDEN_STACK)
        return "there are more than 64 hidden layers, or the list of their widths does not end with 0";
    for (int i = 0; i < count; i++)
        if (!tg_is_size(widths[i]))
            return TG_SIZE_ERROR("the width of a hidden layer");
    return NULL;
}

const char *tg_hidden_error(tg_activation activation, tg_norm norm, double dropout, tg_init init, tg_dtype dtype)
{
    if (!tg_activation_name(activation))
        return "there is no such activation";
    if (!tg_norm_name(norm))
        return "there is no such normalisation";
    if (tg_dropout_error(dropout))
        return tg_dropout_error(dropout);
    if (!tg_init_name(init))
        return "there is no such initialiser";
    return tg_dtype_error(dtype);
}

void tg_hidden_stack_add(tg_hidden_stack *stack, tg_parameters *set, const char *prefix, int64_t inputs,
                         const int64_t *widths, int count, tg_activation activation, tg_norm norm, bool bias)
{
    stack->count = count;
    int sums = 0;
    for (int i = 0; i < count; i++)
        sums += stack->residual[i];
    for (int i = 0; i < count; i++) {
        snprintf(stack->names[i], sizeof stack->names[i], "%.16s.%d", prefix, i);
        stack->hidden[i] =
            tg_hidden_layer_add(set, stack->names[i], i == 0 ? inputs : widths[i - 1], widths[i], activation, bias);
        stack->norm[i] = tg_norm_layer_add(set, tg_name_in(stack->names[i], "norm").text, norm, widths[i], 0);
        const bool gated = tg_activation_is_gated(activation);
        if (stack->residual[i])
            tg_parameter_initial(gated ? stack->hidden[i].value.weight : stack->hidden[i].linear.weight,
                                 (tg_initial){.gain = tg_activation_gain(activation), .sums = sums});
    }
}

/* For a batch or group norm the units are the channels and all the rest is the batch. */
static tg_tensor normalize(const tg_norm_layer *norm, tg_tensor x, tg_rng *training)
{
    if ((norm->kind != TG_NORM_BATCH && norm->kind != TG_NORM_GROUP) || tg_rank(x) == 2)
        return tg_norm_layer_forward(norm, x, training);
    tg_tensor rows = tg_reshape(x, TG_SHAPE(-1, tg_dim(x, -1)));
    return tg_reshape(tg_norm_layer_forward(norm, rows, training), tg_shape_of(x));
}

tg_tensor tg_hidden_stack_forward(const tg_hidden_stack *stack, tg_tensor x, double dropout, tg_rng *training,
                                  tg_tensor *preactivation)
{
    tg_tape *tape = tg_tape_of(x);
    for (int i = 0; i < stack->count; i++) {
        tg_scope_begin(tape, stack->names[i]);
        tg_tensor y = tg_hidden_layer_forward(&stack->hidden[i], x, training, preactivation ? &preactivation[i] : NULL);
        y = tg_dropout_forward(normalize(&stack->norm[i], y, training), dropout, training);
        x = stack->residual[i] ? tg_add(x, y) : y;
        tg_scope_end(tape);
    }
    return x;
}
