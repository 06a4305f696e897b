/* Second derivatives in a loss: a net y(x) solves y'' = -y, y(0) = 0, y'(0) = 1 on [0, 3], whose solution is sin x. */
#include <math.h>
#include <stdio.h>
#include <tapegrad.h>

enum { POINTS = 64, STEPS = 2000 };

int main(void)
{
    static double x[POINTS][1];
    for (int i = 0; i < POINTS; i++)
        x[i][0] = 3. * i / (POINTS - 1);
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(
        &rng, &(tg_mlp_config){.inputs = 1, .hidden = {32, 32}, .outputs = 1, .activation = TG_TANH, .dtype = TG_F64});
    tg_optimizer *adamw = tg_optimizer_new(tg_mlp_parameters(net), &(tg_optimizer_config){.lr = 3e-3});
    tg_tape *tape = tg_tape_new();
    double worst = 0;
    for (int step = 0; step < STEPS; step++) {
        tg_tape_reset(tape);
        tg_tensor points = tg_variable(tape, TG_F64, x, TG_SHAPE(POINTS, 1)), y = tg_mlp_forward(net, points),
                  sum = tg_sum(y), slope, slopes, curve;
        tg_grad(&sum, 1, &points, 1, NULL, true, &slope); /* y'; it can be differentiated again */
        slopes = tg_sum(slope);
        tg_grad(&slopes, 1, &points, 1, NULL, true, &curve); /* y'' */
        tg_tensor start = tg_narrow(y, 0, 0, 1), rise = tg_add_scalar(tg_narrow(slope, 0, 0, 1), -1),
                  loss = tg_add(tg_mean(tg_square(tg_add(curve, y))),
                                tg_add(tg_mean(tg_square(start)), tg_mean(tg_square(rise))));
        if (!tg_backward(loss) || !tg_optimizer_step(adamw))
            return fprintf(stderr, "%s\n", tg_tape_error(tape) ? tg_tape_error(tape) : tg_optimizer_error(adamw)), 1;
        for (int i = 0; step + 1 == STEPS && i < POINTS; i++)
            worst = fmax(worst, fabs(tg_at(y, i) - sin(x[i][0])));
    }
    printf("largest error %.4f\n", worst);
    tg_optimizer_free(adamw);
    tg_mlp_free(net);
    tg_tape_free(tape);
    return fflush(stdout) != 0;
}
