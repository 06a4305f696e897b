/* tg_fit learns a chessboard of four fields, keeps the best epoch and writes its curves. */
#include <stdio.h>
#include <string.h>
#include <tapegrad.h>

static float points[2000][2];
static int32_t colours[2000];

static tg_tensor loss(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    tg_tensor logits = tg_mlp_forward_with(net, batch[0], training, NULL);
    if (score) /* of an evaluation */
        *score = tg_accuracy(logits, batch[1]);
    return tg_cross_entropy(logits, batch[1]);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        const bool help = strcmp(argv[1], "--help") == 0;
        return fputs("usage: fit, which writes curves.csv and curves.gp\n", help ? stdout : stderr), help ? 0 : 2;
    }
    tg_rng rng = tg_rng_seed(1);
    for (int i = 0; i < 2000; i++) {
        points[i][0] = (float)tg_rng_normal(&rng);
        points[i][1] = (float)tg_rng_normal(&rng);
        colours[i] = points[i][0] * points[i][1] > 0;
    }

    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .hidden = {32, 32}, .outputs = 2, .dropout = 0.1});
    tg_optimizer *adamw = tg_optimizer_new(tg_mlp_parameters(net), &(tg_optimizer_config){.lr = 1e-2, .clip_norm = 1});
    tg_fit *fit =
        tg_fit_new(&(tg_fit_config){.loss = loss,
                                    .model = net,
                                    .optimizer = adamw,
                                    .batch = 50,
                                    .epochs = 40,
                                    .patience = 8,
                                    .train = {1500, {{points, TG_F32, TG_SHAPE(2)}, {colours, TG_I32}}},
                                    .valid = {500, {{points[1500], TG_F32, TG_SHAPE(2)}, {colours + 1500, TG_I32}}}});
    if (!tg_fit_run(fit) || !tg_fit_write_curves(fit, "curves"))
        return fprintf(stderr, "%s\n", tg_fit_error(fit)), 1;
    const tg_fit_epoch *best = tg_fit_best(fit);
    printf("epoch %d is the best: accuracy %.1f %%, loss %.4f\n", (int)best->epoch, 100 * best->valid_score,
           best->valid_loss);

    tg_fit_free(fit);
    tg_optimizer_free(adamw);
    tg_mlp_free(net);
    return fflush(stdout) != 0; /* a full disk is a failure */
}
