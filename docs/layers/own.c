/* Checks the net's gradient, then trains it to distinguish vertical from horizontal stripes. */
#include "separable_net.h"
#include <math.h>

enum { BATCH = 32, SIDE = 8, STEPS = 150 };

/* Images of noisy stripes with random phase; the label is 1 for horizontal ones. */
static void draw(float *images, int32_t *labels, tg_rng *rng)
{
    for (int n = 0; n < BATCH; n++) {
        const double phase = 6.28 * tg_rng_uniform(rng);
        labels[n] = tg_rng_uniform(rng) < 0.5;
        for (int i = 0; i < SIDE * SIDE; i++) {
            const int place = labels[n] ? i / SIDE : i % SIDE;
            images[n * SIDE * SIDE + i] = (float)(sin(1.3 * place + phase) + 0.5 * tg_rng_normal(rng));
        }
    }
}

static tg_tensor outputs(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape, (void)count;
    tg_rng rng = tg_rng_seed(1);
    return tg_model_forward(user, inputs[0], &rng);
}

/* All derivatives to second order against finite differences, in double. */
static bool check(const tg_rng *rng)
{
    double x[2 * 5 * 4];
    for (int i = 0; i < 2 * 5 * 4; i++)
        x[i] = sin(i);
    tg_model *net = tg_model_new(&separable_net_kind, rng, &(separable_net_config){3, 2, TG_F64});
    const tg_gradcheck_input in = {.name = "x", .shape = TG_SHAPE(2, 1, 5, 4), .data = x};
    const tg_gradcheck_result result =
        tg_gradcheck_parameters(outputs, net, &in, 1, net->parameters, &(tg_gradcheck_options){.order = 2});
    printf("gradients: %s\n", result.passed ? "right" : result.why);
    tg_model_free(net);
    return result.passed;
}

int main(void)
{
    static float images[BATCH * SIDE * SIDE];
    int32_t labels[BATCH];
    char text[2000];
    tg_error error;
    tg_rng rng = tg_rng_seed(1), data = tg_rng_stream(&rng, "data"), training = tg_rng_stream(&rng, "training");
    if (!check(&rng))
        return 1;
    tg_model *net = tg_model_new(&separable_net_kind, &rng, &(separable_net_config){.channels = 16, .classes = 2});
    tg_optimizer *adamw = tg_optimizer_new(net->parameters, &(tg_optimizer_config){.lr = 3e-3});
    tg_tape *tape = tg_tape_new();
    int right = 0;
    for (int step = 0; step < STEPS + 10; step++) {
        const bool trains = step < STEPS; /* the last ten are the test */
        draw(images, labels, &data);
        tg_tape_reset(tape);
        tg_tensor x = tg_borrow(tape, TG_F32, images, TG_SHAPE(BATCH, 1, SIDE, SIDE));
        tg_tensor logits = tg_model_forward(net, x, trains ? &training : NULL);
        if (step == 0 && tg_tape_summary(tape, text, sizeof text) < sizeof text)
            fputs(text, stdout);
        if (trains && (!tg_backward(tg_cross_entropy(logits, tg_constant(tape, TG_I32, labels, TG_SHAPE(BATCH)))) ||
                       !tg_optimizer_step(adamw)))
            break;
        for (int n = 0; !trains && n < BATCH; n++)
            right += (tg_at(logits, 2 * n + 1) > tg_at(logits, 2 * n)) == labels[n];
    }
    if (tg_tape_error(tape) || tg_optimizer_error(adamw))
        return fprintf(stderr, "%s\n", tg_tape_error(tape) ? tg_tape_error(tape) : tg_optimizer_error(adamw)), 1;
    printf("right: %d of %d\n", right, 10 * BATCH);
    if (!tg_weights_save(net->parameters, "stripes.safetensors", TG_GELU_EXACT, NULL, &error))
        return fprintf(stderr, "%s\n", error.text), 1;
    tg_tape_free(tape);
    tg_optimizer_free(adamw);
    tg_model_free(net);
    return 0;
}
