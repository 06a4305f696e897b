/* Two inputs, and a loss and a layer of one's own: a net that reads a signal of 16 numbers and, apart from it, 2 more,
 * and learns the 0.9 quantile of its target by the pinball loss. */
#include <math.h>
#include <stdio.h>
#include <tapegrad.h>

enum { BATCH = 256, SIGNAL = 16, EXTRA = 2, WIDTH = 32, STEPS = 2000 };

/* The layer: y = exp(scale) x for each unit, with a learned scale. */
typedef struct gain_layer {
    tg_parameter *scale;
} gain_layer;

static gain_layer gain_layer_add(tg_parameters *set, const char *name, int64_t size)
{
    return (gain_layer){tg_parameters_add(set, tg_name_in(name, "scale").text, TG_SHAPE(size), false)};
}

static tg_tensor gain_layer_forward(const gain_layer *layer, tg_tensor x)
{
    return tg_mul(x, tg_exp(tg_parameter_tensor(tg_tape_of(x), layer->scale)));
}

/* The loss: (q - 1) e for e < 0, else q e, of e = target - y. */
static tg_tensor pinball(tg_tensor y, tg_tensor target, double quantile)
{
    tg_tensor e = tg_sub(target, y);
    return tg_mean(tg_maximum(tg_mul_scalar(e, quantile), tg_mul_scalar(e, quantile - 1)));
}

int main(void)
{
    static float signal[BATCH][SIGNAL], extra[BATCH][EXTRA], target[BATCH][1];
    tg_rng rng = tg_rng_seed(1);
    tg_parameters *set = tg_parameters_new(TG_F32);
    const tg_linear_layer of_signal = tg_linear_layer_add(set, "signal", SIGNAL, WIDTH, true),
                          of_extra = tg_linear_layer_add(set, "extra", EXTRA, WIDTH, true),
                          output = tg_linear_layer_add(set, "output", 2 * WIDTH, 1, true);
    const gain_layer gain = gain_layer_add(set, "gain", 2 * WIDTH);
    tg_parameters_initialize(set, TG_INIT_VARIANCE_PRESERVING, 1, &rng);
    tg_optimizer *adamw = tg_optimizer_new(set, &(tg_optimizer_config){.lr = 3e-3});
    tg_tape *tape = tg_tape_new();
    double below = 0;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BATCH; i++) { /* the target is normal around the first numbers of both inputs */
            for (int k = 0; k < SIGNAL; k++)
                signal[i][k] = (float)tg_rng_normal(&rng);
            for (int k = 0; k < EXTRA; k++)
                extra[i][k] = (float)tg_rng_normal(&rng);
            target[i][0] = signal[i][0] + extra[i][0] + (float)tg_rng_normal(&rng);
        }
        tg_tape_reset(tape);
        const tg_tensor parts[] = {
            tg_linear_layer_forward(&of_signal, tg_borrow(tape, TG_F32, signal, TG_SHAPE(BATCH, SIGNAL))),
            tg_linear_layer_forward(&of_extra, tg_borrow(tape, TG_F32, extra, TG_SHAPE(BATCH, EXTRA)))};
        tg_tensor h = gain_layer_forward(&gain, tg_gelu_exact(tg_concat(parts, 2, 1))),
                  y = tg_linear_layer_forward(&output, h),
                  loss = pinball(y, tg_borrow(tape, TG_F32, target, TG_SHAPE(BATCH, 1)), 0.9);
        if (!tg_backward(loss) || !tg_optimizer_step(adamw))
            return fprintf(stderr, "%s\n", tg_tape_error(tape) ? tg_tape_error(tape) : tg_optimizer_error(adamw)), 1;
        for (int i = 0; step >= STEPS - 40 && i < BATCH; i++)
            below += (target[i][0] < tg_at(y, i)) / (40. * BATCH);
    }
    printf("%.3f of the targets are below the net's output\n", below);
    tg_optimizer_free(adamw);
    tg_parameters_free(set);
    tg_tape_free(tape);
    return fflush(stdout) != 0;
}
