/* Two losses and two optimisers: a GAN (Goodfellow and others, arXiv 1406.2661) learns points on a ring of radius 1. */
#include <math.h>
#include <stdio.h>
#include <tapegrad.h>

enum { BATCH = 128, NOISE = 4, STEPS = 1500 };

static tg_tensor mean_softplus(tg_tensor x, double sign)
{
    return tg_mean(tg_softplus(tg_mul_scalar(x, sign)));
}

int main(void)
{
    static float ring[BATCH][2], noise[BATCH][NOISE];
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *maker = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = NOISE, .hidden = {64, 64}, .outputs = 2}),
           *judge = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .hidden = {64, 64}, .outputs = 1});
    const tg_optimizer_config adam = {.lr = 1e-3, .beta1 = 0.5, .weight_decay = 0};
    tg_optimizer *of_maker = tg_optimizer_new(tg_mlp_parameters(maker), &adam),
                 *of_judge = tg_optimizer_new(tg_mlp_parameters(judge), &adam);
    tg_tape *tapes[2] = {tg_tape_new(), tg_tape_new()}; /* one for each loss: a tape repeats what it did last */
    double radius = 0, spread = 0;
    for (int step = 0; step < 2 * STEPS; step++) {
        for (int i = 0; i < BATCH; i++) {
            const double angle = 6.283185307179586 * tg_rng_uniform(&rng);
            ring[i][0] = (float)cos(angle);
            ring[i][1] = (float)sin(angle);
            for (int k = 0; k < NOISE; k++)
                noise[i][k] = (float)tg_rng_normal(&rng);
        }
        const bool judges = step % 2 == 0; /* the two losses in turn */
        tg_tape *tape = tapes[judges];
        tg_tape_reset(tape);
        tg_tensor made = tg_mlp_forward(maker, tg_borrow(tape, TG_F32, noise, TG_SHAPE(BATCH, NOISE))),
                  real = tg_borrow(tape, TG_F32, ring, TG_SHAPE(BATCH, 2)),
                  of_made = tg_mlp_forward(judge, judges ? tg_stop_gradient(made) : made),
                  loss = judges ? tg_add(mean_softplus(of_made, 1), mean_softplus(tg_mlp_forward(judge, real), -1))
                                : mean_softplus(of_made, -1);
        tg_optimizer *adamw = judges ? of_judge : of_maker;
        if (!tg_backward(loss) || !tg_optimizer_step(adamw))
            return fprintf(stderr, "%s\n", tg_tape_error(tape) ? tg_tape_error(tape) : tg_optimizer_error(adamw)), 1;
        tg_parameters_clear_gradients(tg_mlp_parameters(judge)); /* the maker's loss reaches the judge too */
        if (step + 1 == 2 * STEPS) {
            for (int i = 0; i < BATCH; i++) {
                const double r = hypot(tg_at(made, 2 * i), tg_at(made, 2 * i + 1));
                radius += r / BATCH;
                spread += r * r / BATCH;
            }
        }
    }
    printf("mean radius %.2f, deviation %.2f\n", radius, sqrt(spread - radius * radius));
    tg_optimizer_free(of_maker);
    tg_optimizer_free(of_judge);
    tg_mlp_free(maker);
    tg_mlp_free(judge);
    tg_tape_free(tapes[0]);
    tg_tape_free(tapes[1]);
    return fflush(stdout) != 0;
}
