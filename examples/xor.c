/* A network learns exclusive or: the smallest training loop. */
#include <stdio.h>
#include <tapegrad.h>

int main(void)
{
    static const float x[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    static const int32_t y[4] = {0, 1, 1, 0};
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .hidden = {16}, .outputs = 2});
    tg_optimizer *adamw = tg_optimizer_new(tg_mlp_parameters(net), &(tg_optimizer_config){.lr = 1e-2});
    tg_tape *tape = tg_tape_new();
    for (int step = 1; step <= 200; step++) {
        tg_tape_reset(tape); /* last step's tensors end here */
        tg_tensor logits = tg_mlp_forward(net, tg_borrow(tape, TG_F32, x, TG_SHAPE(4, 2)));
        tg_tensor loss = tg_cross_entropy(logits, tg_borrow(tape, TG_I32, y, TG_SHAPE(4)));
        if (!tg_backward(loss))
            return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
        if (!tg_optimizer_step(adamw))
            return fprintf(stderr, "%s\n", tg_optimizer_error(adamw)), 1;
        if (step % 50 == 0)
            printf("step %3d   loss %.4f   accuracy %3.0f %%\n", step, tg_item(loss),
                   100 * tg_accuracy(logits, tg_borrow(tape, TG_I32, y, TG_SHAPE(4))));
    }
    tg_optimizer_free(adamw);
    tg_mlp_free(net);
    tg_tape_free(tape);
    return fflush(stdout) != 0; /* a full disk is a failure */
}
