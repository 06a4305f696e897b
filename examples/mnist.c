/* A digit classifier, with the training loop written out:
 *
 *     mnist FOLDER [EPOCHS]        the four files of MNIST as they ship (train-images-idx3-ubyte.gz, ...)
 *
 * examples/fit.c leaves the loop to tg_fit; this is what happens there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

#include "examples/programs/data/dataset.h"

enum { BATCH = 128 };

static double test_accuracy(const tg_mlp *net, tg_tape *tape, const dataset *digits)
{
    double right = 0;
    for (size_t first = digits->rows - digits->test_rows, next; first < digits->rows; first = next) {
        next = first + 500 < digits->rows ? first + 500 : digits->rows;
        const int64_t rows = (int64_t)(next - first), pixels = (int64_t)digits->features;
        tg_tape_reset(tape);
        tg_tensor logits =
            tg_mlp_forward(net, tg_borrow(tape, TG_F32, digits->x + first * digits->features, TG_SHAPE(rows, pixels)));
        right += (double)rows * tg_accuracy(logits, tg_borrow(tape, TG_I32, digits->labels + first, TG_SHAPE(rows)));
    }
    return right / (double)digits->test_rows;
}

int main(int argc, char **argv)
{
    const int epochs = argc > 2 ? atoi(argv[2]) : 10;
    const bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (argc < 2 || epochs < 1 || help)
        return fputs("usage: mnist FOLDER [EPOCHS], with the four files of MNIST in the folder\n",
                     help ? stdout : stderr),
               help ? 0 : 2;
    char source[1000];
    tg_error error;
    dataset digits;
    snprintf(source, sizeof source, "idx:%s", argv[1]);
    if (!dataset_load(source, NULL, &digits, &error))
        return fprintf(stderr, "mnist: %s\n", error.text), 2;
    const int train = (int)(digits.rows - digits.test_rows), batches = train / BATCH;
    if (batches == 0 || digits.test_rows == 0)
        return fprintf(stderr, "mnist: %s has fewer than %d training images, or none to test\n", argv[1], BATCH), 2;
    const size_t pixels = digits.features;
    float *x = malloc(BATCH * pixels * sizeof *x);
    int32_t label[BATCH], *order = malloc((size_t)train * sizeof *order);
    if (!x || !order)
        return fputs("mnist: out of memory\n", stderr), 2;

    tg_rng rng = tg_rng_seed(1), dropout = tg_rng_stream(&rng, "dropout"), shuffle = tg_rng_stream(&rng, "shuffle");
    tg_mlp *net = tg_mlp_new(
        &rng, &(tg_mlp_config){
                  .inputs = (int64_t)pixels, .hidden = {256, 256}, .outputs = (int64_t)digits.classes, .dropout = 0.2});
    const tg_schedule cosine = {.kind = TG_WARMUP_COSINE, .warmup = 100, .steps = epochs * batches};
    tg_optimizer *adamw = tg_optimizer_new(
        tg_mlp_parameters(net), &(tg_optimizer_config){.lr = 2e-3, .weight_decay = 0.01, .schedule = cosine});
    tg_tape *tape = tg_tape_new();
    for (int i = 0; i < train; i++)
        order[i] = i;

    for (int epoch = 1; epoch <= epochs; epoch++) {
        double sum = 0;
        tg_rng_shuffle(&shuffle, train, order);
        for (int batch = 0; batch < batches; batch++) {
            for (int i = 0; i < BATCH; i++) {
                const int row = order[batch * BATCH + i];
                memcpy(x + (size_t)i * pixels, digits.x + (size_t)row * pixels, pixels * sizeof *x);
                label[i] = digits.labels[row];
            }
            tg_tape_reset(tape);
            tg_tensor logits =
                tg_mlp_forward_with(net, tg_borrow(tape, TG_F32, x, TG_SHAPE(BATCH, (int64_t)pixels)), &dropout, NULL);
            tg_tensor loss = tg_cross_entropy(logits, tg_borrow(tape, TG_I32, label, TG_SHAPE(BATCH)));
            sum += tg_item(loss);
            if (!tg_backward(loss) || !tg_optimizer_step(adamw))
                return fprintf(stderr, "%s\n", tg_tape_error(tape) ? tg_tape_error(tape) : tg_optimizer_error(adamw)),
                       1;
        }
        printf("epoch %2d   loss %.4f   test accuracy %.2f %%\n", epoch, sum / batches,
               100 * test_accuracy(net, tape, &digits));
        fflush(stdout);
    }
    tg_tape_free(tape), tg_optimizer_free(adamw), tg_mlp_free(net), dataset_free(&digits), free(x), free(order);
    return fflush(stdout) != 0 || ferror(stdout);
}
