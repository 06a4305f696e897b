/* A digit classifier, with the training loop written out:
 *
 *     mnist FOLDER [EPOCHS]        the four files of MNIST as they ship (train-images-idx3-ubyte.gz, ...)
 *
 * examples/fit.c leaves the loop to tg_fit; this is what happens there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>
#include <zlib.h>

enum { TRAIN = 60000, TEST = 10000, PIXELS = 784, CLASSES = 10, BATCH = 128 };

static float train_x[TRAIN][PIXELS], test_x[TEST][PIXELS], x[BATCH][PIXELS];
static int32_t train_label[TRAIN], test_label[TEST], label[BATCH], order[TRAIN];

/* The bytes behind the head of an IDX file, plain or packed; NULL if it does not have as many. */
static unsigned char *read_bytes(const char *folder, const char *name, size_t head, size_t size)
{
    char path[1000], packed[1010];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(packed, sizeof packed, "%s.gz", path);
    gzFile file = gzopen(packed, "rb");
    file = file ? file : gzopen(path, "rb");
    unsigned char *bytes = malloc(size);
    const bool fine = file && bytes && gzread(file, bytes, (unsigned)head) == (int)head &&
                      gzread(file, bytes, (unsigned)size) == (int)size;
    if (file)
        gzclose(file);
    if (fine)
        return bytes;
    fprintf(stderr, "mnist: cannot read %zu bytes from %s\n", head + size, path);
    free(bytes);
    return NULL;
}

static bool read_digits(const char *folder, const char *part, size_t rows, float (*to)[PIXELS], int32_t *labels)
{
    char images[100], classes[100];
    snprintf(images, sizeof images, "%s-images-idx3-ubyte", part);
    snprintf(classes, sizeof classes, "%s-labels-idx1-ubyte", part);
    unsigned char *grey = read_bytes(folder, images, 16, rows * PIXELS), *digit = read_bytes(folder, classes, 8, rows);
    for (size_t i = 0; grey && digit && i < rows * PIXELS; i++)
        to[i / PIXELS][i % PIXELS] = grey[i] / 255.f;
    for (size_t i = 0; grey && digit && i < rows; i++)
        labels[i] = digit[i] % CLASSES;
    free(grey), free(digit);
    return grey && digit;
}

static double test_accuracy(const tg_mlp *net, tg_tape *tape)
{
    double right = 0;
    for (int first = 0; first < TEST; first += 500) {
        tg_tape_reset(tape);
        tg_tensor logits = tg_mlp_forward(net, tg_borrow(tape, TG_F32, test_x[first], TG_SHAPE(500, PIXELS)));
        right += 500 * tg_accuracy(logits, tg_borrow(tape, TG_I32, test_label + first, TG_SHAPE(500)));
    }
    return right / TEST;
}

int main(int argc, char **argv)
{
    const int epochs = argc > 2 ? atoi(argv[2]) : 10;
    const bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (argc < 2 || epochs < 1 || help)
        return fputs("usage: mnist FOLDER [EPOCHS], with the four files of MNIST in the folder\n",
                     help ? stdout : stderr),
               help ? 0 : 2;
    if (!read_digits(argv[1], "train", TRAIN, train_x, train_label) ||
        !read_digits(argv[1], "t10k", TEST, test_x, test_label))
        return 2;

    tg_rng rng = tg_rng_seed(1), dropout = tg_rng_stream(&rng, "dropout"), shuffle = tg_rng_stream(&rng, "shuffle");
    tg_mlp *net =
        tg_mlp_new(&rng, &(tg_mlp_config){.inputs = PIXELS, .hidden = {256, 256}, .outputs = CLASSES, .dropout = 0.2});
    const tg_schedule cosine = {.kind = TG_WARMUP_COSINE, .warmup = 100, .steps = epochs * (TRAIN / BATCH)};
    tg_optimizer *adamw = tg_optimizer_new(
        tg_mlp_parameters(net), &(tg_optimizer_config){.lr = 2e-3, .weight_decay = 0.01, .schedule = cosine});
    tg_tape *tape = tg_tape_new();
    for (int i = 0; i < TRAIN; i++)
        order[i] = i;

    for (int epoch = 1; epoch <= epochs; epoch++) {
        double sum = 0;
        tg_rng_shuffle(&shuffle, TRAIN, order);
        for (int batch = 0; batch < TRAIN / BATCH; batch++) {
            for (int i = 0; i < BATCH; i++) {
                const int row = order[batch * BATCH + i];
                for (int pixel = 0; pixel < PIXELS; pixel++)
                    x[i][pixel] = train_x[row][pixel];
                label[i] = train_label[row];
            }
            tg_tape_reset(tape);
            tg_tensor logits =
                tg_mlp_forward_with(net, tg_borrow(tape, TG_F32, x, TG_SHAPE(BATCH, PIXELS)), &dropout, NULL);
            tg_tensor loss = tg_cross_entropy(logits, tg_borrow(tape, TG_I32, label, TG_SHAPE(BATCH)));
            sum += tg_item(loss);
            if (!tg_backward(loss) || !tg_optimizer_step(adamw))
                return fprintf(stderr, "%s\n", tg_tape_error(tape) ? tg_tape_error(tape) : tg_optimizer_error(adamw)),
                       1;
        }
        printf("epoch %2d   loss %.4f   test accuracy %.2f %%\n", epoch, sum / (TRAIN / BATCH),
               100 * test_accuracy(net, tape));
        fflush(stdout);
    }
    tg_tape_free(tape), tg_optimizer_free(adamw), tg_mlp_free(net);
    return fflush(stdout) != 0 || ferror(stdout);
}
