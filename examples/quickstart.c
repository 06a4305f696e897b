/* A network learns to separate two spirals. */
#include <math.h>
#include <stdio.h>
#include <tapegrad.h>

enum { POINTS = 1000, STEPS = 1000 };

static float points[POINTS][2];
static int32_t labels[POINTS];

/* Two arms that wind around each other twice, with a little noise. */
static void draw_spirals(tg_rng *rng)
{
    for (int i = 0; i < POINTS; i++) {
        labels[i] = i % 2;
        double radius = sqrt(tg_rng_uniform(rng)), angle = acos(-1) * (4 * radius + labels[i]);
        points[i][0] = (float)(radius * cos(angle) + 0.02 * tg_rng_normal(rng));
        points[i][1] = (float)(radius * sin(angle) + 0.02 * tg_rng_normal(rng));
    }
}

static double accuracy(tg_tensor logits) /* [POINTS, 2] */
{
    int right = 0;
    for (int i = 0; i < POINTS; i++)
        right += (tg_at(logits, 2 * i + 1) > tg_at(logits, 2 * i)) == labels[i];
    return 100. * right / POINTS;
}

int main(void)
{
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *net =
        tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .hidden = {32, 32}, .outputs = 2, .activation = TG_GELU_EXACT});
    tg_optimizer *adamw = tg_optimizer_new(tg_mlp_parameters(net), &(tg_optimizer_config){.lr = 1e-2});
    tg_tape *tape = tg_tape_new();

    draw_spirals(&rng);
    for (int step = 1; step <= STEPS; step++) {
        tg_tape_reset(tape); /* last step's tensors end here */
        tg_tensor logits = tg_mlp_forward(net, tg_borrow(tape, TG_F32, points, TG_SHAPE(POINTS, 2)));
        tg_tensor loss = tg_cross_entropy(logits, tg_borrow(tape, TG_I32, labels, TG_SHAPE(POINTS)));
        if (!tg_backward(loss))
            return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
        if (!tg_optimizer_step(adamw))
            return fprintf(stderr, "%s\n", tg_optimizer_error(adamw)), 1;
        if (step == 1 || step % 100 == 0)
            printf("step %4d   loss %.4f   accuracy %5.1f %%\n", step, tg_item(loss), accuracy(logits));
    }

    draw_spirals(&rng); /* points it has never seen */
    tg_tape_reset(tape);
    tg_tensor logits = tg_mlp_forward(net, tg_borrow(tape, TG_F32, points, TG_SHAPE(POINTS, 2)));
    printf("on new points              accuracy %5.1f %%\n", accuracy(logits));
    tg_optimizer_free(adamw);
    tg_mlp_free(net);
    tg_tape_free(tape);
    return fflush(stdout) != 0; /* a full disk is a failure */
}
