#include "tests/bench/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tape_step {
    tg_mlp *net;
    tg_optimizer *adamw;
    tg_tape *tape;
    int batch, inputs;
    double rate;
    tg_tensor loss; /* of the last step */
};

/* In a deep net of products act(gate) value, numbers explode or vanish doubly exponentially. With values around one the
 * layers behave like plain ones, and no time is spent on numbers that training would never meet. */
static void tame(tg_parameters *parameters)
{
    for (int i = 0; i < tg_parameters_count(parameters); i++) {
        const tg_parameter *p = tg_parameters_at(parameters, i);
        if (strstr(p->name, "up_proj.bias"))
            for (int64_t k = 0; k < tg_shape_size(&p->shape); k++)
                ((float *)p->data)[k] = 1;
    }
}

tape_step *tape_step_new(const bench_net *net, tg_activation activation, double rate)
{
    tape_step *step = calloc(1, sizeof *step);
    if (!step)
        return NULL;
    const tg_rng rng = tg_rng_seed(1);
    const tg_mlp_config config = bench_config_of(net, activation);
    step->batch = net->batch;
    step->inputs = net->inputs;
    step->rate = rate;
    step->net = tg_mlp_new(&rng, &config);
    tame(tg_mlp_parameters(step->net));
    step->adamw = tg_optimizer_new(tg_mlp_parameters(step->net), &(tg_optimizer_config){.kind = TG_ADAMW, .lr = rate});
    step->tape = tg_tape_new();
    tg_tape_save_memory(step->tape, true);
    if (!step->net || !step->adamw || !step->tape) {
        tape_step_free(step);
        return NULL;
    }
    return step;
}

void tape_step_free(tape_step *step)
{
    if (!step)
        return;
    tg_tape_free(step->tape);
    tg_optimizer_free(step->adamw);
    tg_mlp_free(step->net);
    free(step);
}

double tape_step_run(tape_step *step, const float *inputs, const int32_t *labels)
{
    tg_tape *tape = step->tape;
    tg_tape_reset(tape);
    tg_tensor x = tg_borrow(tape, TG_F32, inputs, TG_SHAPE(step->batch, step->inputs));
    tg_tensor y = tg_borrow(tape, TG_I32, labels, TG_SHAPE(step->batch));
    step->loss = tg_cross_entropy(tg_mlp_forward(step->net, x), y);
    if (!tg_backward(step->loss) || !tg_optimizer_step(step->adamw))
        return NAN;
    return tg_item(step->loss);
}

double tape_step_again(tape_step *step)
{
    if (!tg_replay(step->tape) || !tg_optimizer_step(step->adamw))
        return NAN;
    return tg_item(step->loss);
}

char *tape_step_emit(tape_step *step, const float *inputs, const int32_t *labels)
{
    tg_tape *tape = step->tape;
    tg_tape_reset(tape);
    tg_no_grad_begin(tape);
    const tg_tensor row = tg_borrow(tape, TG_F32, inputs, TG_SHAPE(1, step->inputs));
    const tg_tensor output = tg_mlp_forward(step->net, row);
    tg_no_grad_end(tape);
    const tg_tensor x = tg_borrow(tape, TG_F32, inputs, TG_SHAPE(step->batch, step->inputs));
    const tg_tensor y = tg_borrow(tape, TG_I32, labels, TG_SHAPE(step->batch));
    const tg_tensor loss = tg_cross_entropy(tg_mlp_forward(step->net, x), y);
    const tg_export_step how = {.input = {x},
                                .target = {y},
                                .loss = loss,
                                .rule = TG_EXPORT_ADAMW,
                                .rate = step->rate,
                                .beta1 = 0.9,
                                .beta2 = 0.999,
                                .epsilon = 1e-8};
    const tg_export_config config = {.input = {row}, .output = {output}, .step = &how};
    const size_t length = tg_backward(loss) ? tg_export(tape, &config, NULL, 0) : 0;
    char *text = length ? malloc(length + 1) : NULL;
    if (text)
        tg_export(tape, &config, text, length + 1);
    tg_parameters_clear_gradients(tg_mlp_parameters(step->net));
    return text;
}

const char *tape_step_error(const tape_step *step)
{
    const char *error = tg_tape_error(step->tape);
    return error ? error : tg_optimizer_error(step->adamw);
}

const tg_parameters *tape_step_parameters(const tape_step *step)
{
    return tg_mlp_parameters(step->net);
}

const tg_tape *tape_step_tape(const tape_step *step)
{
    return step->tape;
}
