/* A new task on a frozen net: a net learns one function of two numbers, and a new head on its features another one. */
#include <math.h>
#include <stdio.h>
#include <tapegrad.h>

enum { BATCH = 256, WIDTH = 64 };

static float x[BATCH][2], y[BATCH][1];

static void draw(tg_rng *rng, bool other)
{
    for (int i = 0; i < BATCH; i++) {
        for (int k = 0; k < 2; k++)
            x[i][k] = (float)(2 * tg_rng_uniform(rng) - 1);
        const double sine = sin(3 * x[i][0]), product = x[i][0] * x[i][1];
        y[i][0] = (float)(other ? sine - product : sine + product);
    }
}

int main(void)
{
    tg_rng rng = tg_rng_seed(1);
    tg_parameters *body = tg_parameters_new(TG_F32), *heads[2] = {tg_parameters_new(TG_F32), tg_parameters_new(TG_F32)};
    const tg_linear_layer first = tg_linear_layer_add(body, "0", 2, WIDTH, true),
                          second = tg_linear_layer_add(body, "2", WIDTH, WIDTH, true),
                          head[2] = {tg_linear_layer_add(heads[0], "head", WIDTH, 1, true),
                                     tg_linear_layer_add(heads[1], "head", WIDTH, 1, true)};
    tg_parameters_initialize(body, TG_INIT_VARIANCE_PRESERVING, 1, &rng);
    tg_tape *tape = tg_tape_new();
    for (int task = 0; task < 2; task++) {
        double loss = 0;
        tg_parameters_initialize(heads[task], TG_INIT_VARIANCE_PRESERVING, 1, &rng);
        tg_optimizer *of_body = tg_optimizer_new(body, &(tg_optimizer_config){.lr = 3e-3}),
                     *of_head = tg_optimizer_new(heads[task], &(tg_optimizer_config){.lr = 3e-3});
        for (int step = 0; step < 1000; step++) {
            draw(&rng, task == 1);
            tg_tape_reset(tape);
            if (task == 1)
                tg_no_grad_begin(tape); /* the frozen part: no derivative is recorded, and none is computed */
            tg_tensor h = tg_tanh(tg_linear_layer_forward(&first, tg_borrow(tape, TG_F32, x, TG_SHAPE(BATCH, 2))));
            h = tg_tanh(tg_linear_layer_forward(&second, h));
            if (task == 1)
                tg_no_grad_end(tape);
            tg_tensor error =
                tg_mse(tg_linear_layer_forward(&head[task], h), tg_borrow(tape, TG_F32, y, TG_SHAPE(BATCH, 1)));
            if (!tg_backward(error))
                return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
            if (!tg_optimizer_step(of_head) || (task == 0 && !tg_optimizer_step(of_body)))
                return fprintf(stderr, "%s\n",
                               tg_optimizer_error(of_head) ? tg_optimizer_error(of_head) : tg_optimizer_error(of_body)),
                       1;
            loss = tg_item(error);
        }
        printf("%s: squared error %.4f\n", task ? "new head, frozen net" : "whole net", loss);
        tg_optimizer_free(of_body);
        tg_optimizer_free(of_head);
    }
    tg_parameters_free(body);
    tg_parameters_free(heads[0]);
    tg_parameters_free(heads[1]);
    tg_tape_free(tape);
    return fflush(stdout) != 0;
}
