/* REINFORCE (Williams, 1992) balances a pole on a cart (Barto, Sutton and Anderson, 1983; the constants are Gym's). */
#include <math.h>
#include <stdio.h>
#include <tapegrad.h>

enum { MOST = 200, EPISODES = 400, TOGETHER = 8 };

/* Moves the cart to the left (0) or right (1) for 0.02 seconds; false if the pole has fallen or the cart has left. */
static bool move(double s[4], int right)
{
    const double force = right ? 10 : -10, sine = sin(s[2]), cosine = cos(s[2]);
    const double push = (force + 0.05 * s[3] * s[3] * sine) / 1.1;
    const double turn = (9.8 * sine - cosine * push) / (0.5 * (4. / 3 - 0.1 * cosine * cosine / 1.1));
    const double pull = push - 0.05 * turn * cosine / 1.1;
    s[0] += 0.02 * s[1];
    s[1] += 0.02 * pull;
    s[2] += 0.02 * s[3];
    s[3] += 0.02 * turn;
    return fabs(s[0]) <= 2.4 && fabs(s[2]) <= 0.2095;
}

int main(void)
{
    static float state[TOGETHER * MOST][4], gain[TOGETHER * MOST];
    static int32_t action[TOGETHER * MOST];
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *policy = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 4, .hidden = {32}, .outputs = 2});
    tg_optimizer *adamw = tg_optimizer_new(tg_mlp_parameters(policy), &(tg_optimizer_config){.lr = 1e-2});
    tg_tape *tape = tg_tape_new(), *acting = tg_tape_new();
    double last = 0;
    for (int episode = 0; episode < EPISODES; episode += TOGETHER) {
        int count = 0;
        double mean = 0, square = 0;
        for (int i = 0; i < TOGETHER; i++) {
            const int first = count;
            double s[4];
            for (int k = 0; k < 4; k++)
                s[k] = 0.1 * tg_rng_uniform(&rng) - 0.05;
            for (bool stands = true; stands && count - first < MOST; count++) {
                for (int k = 0; k < 4; k++)
                    state[count][k] = (float)s[k];
                tg_tape_reset(acting);
                tg_tensor p =
                    tg_softmax(tg_mlp_forward(policy, tg_borrow(acting, TG_F32, state[count], TG_SHAPE(1, 4))), -1);
                action[count] = tg_rng_uniform(&rng) < tg_at(p, 1);
                stands = move(s, action[count]);
            }
            for (int t = count - 1; t >= first; t--) /* the discounted sum of rewards, 1 for each step, from there on */
                gain[t] = 1 + (t + 1 < count ? 0.99f * gain[t + 1] : 0);
            last = i == 0 ? 0 : last;
            last += (double)(count - first) / TOGETHER;
        }
        for (int t = 0; t < count; t++) {
            mean += gain[t] / count;
            square += gain[t] * gain[t] / count;
        }
        for (int t = 0; t < count; t++) /* a baseline, and a scale */
            gain[t] = (float)((gain[t] - mean) / sqrt(square - mean * mean + 1e-8));
        tg_tape_reset(tape);
        tg_tensor logits = tg_mlp_forward(policy, tg_borrow(tape, TG_F32, state, TG_SHAPE(count, 4))),
                  taken = tg_one_hot(tg_borrow(tape, TG_I32, action, TG_SHAPE(count)), 2, TG_F32),
                  weighted = tg_mul(taken, tg_borrow(tape, TG_F32, gain, TG_SHAPE(count, 1)));
        if (!tg_backward(tg_cross_entropy_to(logits, weighted)) || !tg_optimizer_step(adamw))
            return fprintf(stderr, "%s\n", tg_tape_error(tape) ? tg_tape_error(tape) : tg_optimizer_error(adamw)), 1;
    }
    printf("the pole stands for %.0f of %d steps\n", last, MOST);
    tg_optimizer_free(adamw);
    tg_mlp_free(policy);
    tg_tape_free(tape);
    tg_tape_free(acting);
    return fflush(stdout) != 0;
}
