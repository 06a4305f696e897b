/* A net of 2 inputs, 3 hidden units and 1 output, and its training step, as C: docs/export.md. */
#include <stdio.h>
#include <stdlib.h>
#include <tapegrad.h>

int main(void)
{
    static const float zeros[8]; /* the shapes count, not the numbers */
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .hidden = {3}, .outputs = 1, .activation = TG_RELU});
    tg_tape *tape = tg_tape_new();

    tg_tensor x = tg_named(tg_constant(tape, TG_F32, zeros, TG_SHAPE(1, 2)), "x"); /* a prediction of one row */
    tg_tensor y = tg_mlp_forward(net, x);
    tg_tensor rows = tg_named(tg_constant(tape, TG_F32, zeros, TG_SHAPE(4, 2)), "x"); /* a step of four */
    tg_tensor target = tg_named(tg_constant(tape, TG_F32, zeros, TG_SHAPE(4, 1)), "y");
    tg_tensor loss = tg_mse(tg_mlp_forward(net, rows), target);
    if (!tg_backward(loss))
        return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;

    const tg_export_step step = {
        .input = {rows}, .target = {target}, .loss = loss, .rule = TG_EXPORT_SGD, .rate = 0.125};
    const tg_export_config config = {.name = "tiny", .input = {x}, .output = {y}, .step = &step};
    const size_t length = tg_export(tape, &config, NULL, 0);
    char *text = malloc(length + 1);
    if (length == 0 || !text)
        return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
    tg_export(tape, &config, text, length + 1);
    fputs(text, stdout);

    free(text);
    tg_tape_free(tape);
    tg_mlp_free(net);
    return 0;
}
