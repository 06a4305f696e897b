#include "tests/gradcheck/taped_box.h"

enum { MOST = 8 };

static tg_dtype dtype_of(const taped_box *of)
{
    return of->type == TG_GRADCHECK_F64 ? TG_F64 : TG_F32;
}

/* Records the function on the inputs of the box. */
static tg_tensor record(const taped_box *of, const void *const *in, tg_tensor *tensors)
{
    tg_tape_reset(of->tape);
    for (int i = 0; i < of->count; i++) {
        const tg_gradcheck_input *input = &of->inputs[i];
        tensors[i] = input->integers ? tg_constant(of->tape, TG_I32, in[i], input->shape)
                     : input->fixed  ? tg_constant(of->tape, dtype_of(of), in[i], input->shape)
                                     : tg_variable(of->tape, dtype_of(of), in[i], input->shape);
    }
    return of->function(of->tape, tensors, of->count, of->user);
}

static bool read_into(const taped_box *of, tg_tensor from, void *out)
{
    const bool fine = tg_read(from, dtype_of(of), out, tg_size(from));
    for (int64_t i = 0; of->type == TG_GRADCHECK_BF16 && i < tg_size(from); i++)
        ((float *)out)[i] = tg_round(TG_BFLOAT16, ((float *)out)[i]);
    return fine;
}

static bool value(const void *const *in, void *const *out, void *user)
{
    const taped_box *of = user;
    tg_tensor tensors[MOST];
    return read_into(of, record(of, in, tensors), out[0]);
}

static bool vjp(const void *const *in, const void *const *cotangents, void *const *out, void *user)
{
    const taped_box *of = user;
    tg_tensor tensors[MOST], varied[MOST], gradients[MOST], result = record(of, in, tensors);
    void *to[MOST];
    int count = 0;
    for (int i = 0; i < of->count; i++)
        if (out[i]) {
            to[count] = out[i];
            varied[count++] = tensors[i];
        }
    const tg_tensor cotangent = tg_constant(of->tape, dtype_of(of), cotangents[0], of->output);
    bool fine = tg_grad(&result, 1, varied, count, &cotangent, false, gradients);
    for (int k = 0; fine && k < count; k++)
        fine = read_into(of, gradients[k], to[k]);
    return fine;
}

bool taped_box_open(taped_box *of, const tg_gradcheck_input *inputs, int count)
{
    tg_tensor tensors[MOST];
    const void *in[MOST];
    double numbers[4096] = {0};
    of->inputs = inputs;
    of->count = count;
    of->tape = tg_tape_new();
    for (int i = 0; i < count; i++)
        in[i] = inputs[i].integers ? (const void *)inputs[i].integers : numbers;
    for (int i = 0; i < count; i++)
        if (tg_shape_size(&inputs[i].shape) > 4096)
            return false;
    const tg_tensor result = record(of, in, tensors);
    of->output = tg_shape_of(result);
    of->box = (tg_black_box){
        .type = of->type, .outputs = &of->output, .output_count = 1, .value = value, .vjp = vjp, .user = of};
    return tg_ok(result) && tg_dtype_of(result) == dtype_of(of);
}

void taped_box_close(taped_box *of)
{
    tg_tape_free(of->tape);
}
