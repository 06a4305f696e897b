/* An autoencoder compresses images to a few numbers and back; a picture shows originals above reconstructions.
 *
 *     autoencoder [IMAGES [EPOCHS]]        an IDX file of images, like MNIST's train-images-idx3-ubyte(.gz);
 *                                          without one, drawn rings and bars
 *
 * The last hundredth of the images is held out: it selects the best weights and makes the picture, autoencoder.png. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>
#include <zlib.h>

#include "examples/programs/data/dataset.h"

enum { SHOWN = 20, CODE = 30, DRAWN = 12000, SIDE = 28 };

static int64_t count, height, width;
static float *images; /* [count, height, width], 0 to 1 */

static bool read_images(const char *path)
{
    size_t sizes[3] = {0};
    tg_error error;
    images = dataset_read_images(path, sizes, &error);
    count = (int64_t)sizes[0], height = (int64_t)sizes[1], width = (int64_t)sizes[2];
    return images || (fprintf(stderr, "%s\n", error.text), false);
}

/* Draws rings and bars of random size at random places, with soft edges. */
static bool draw_images(tg_rng *rng)
{
    count = DRAWN, height = width = SIDE;
    images = malloc(DRAWN * SIDE * SIDE * sizeof *images);
    for (int i = 0; images && i < DRAWN; i++) {
        const double x = 8 + 12 * tg_rng_uniform(rng), y = 8 + 12 * tg_rng_uniform(rng),
                     size = 3 + 5 * tg_rng_uniform(rng);
        const double angle = 3.1416 * tg_rng_uniform(rng), thick = 1 + tg_rng_uniform(rng);
        for (int p = 0; p < SIDE * SIDE; p++) {
            const double dx = p % SIDE - x, dy = p / SIDE - y, along = dx * cos(angle) + dy * sin(angle),
                         across = dy * cos(angle) - dx * sin(angle);
            const double ring = fabs(hypot(dx, dy) - size), bar = fmax(fabs(across), fabs(along) - size);
            images[i * SIDE * SIDE + p] = (float)fmin(fmax(thick + 0.5 - (i % 2 ? ring : bar), 0), 1);
        }
    }
    return images;
}

/* ---- a picture ---- */

static void put_big_endian(unsigned long number, unsigned char *to)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(number >> (24 - 8 * i));
}

static void write_chunk(FILE *to, const char *kind, const unsigned char *bytes, unsigned long size)
{
    unsigned char number[4];
    put_big_endian(size, number);
    fwrite(number, 1, 4, to), fwrite(kind, 1, 4, to), fwrite(bytes, 1, size, to);
    put_big_endian(crc32(crc32(0, (const unsigned char *)kind, 4), bytes, (unsigned)size), number);
    fwrite(number, 1, 4, to);
}

/* Writes a grey PNG of SHOWN images above SHOWN others. */
static bool write_picture(const char *path, const float *above, const float *below)
{
    const size_t row = (size_t)(SHOWN * width) + 1, rows = 2 * (size_t)height;
    unsigned char head[13] = {[8] = 8}, *grey = calloc(rows, row);
    uLongf size = compressBound(rows * row);
    unsigned char *packed = malloc(size);
    for (size_t i = 0; grey && i < rows; i++)
        for (int64_t j = 0; j < SHOWN * width; j++) {
            const float *image = i < (size_t)height ? above : below;
            const float value = image[(j / width * height + (int64_t)i % height) * width + j % width];
            grey[i * row + 1 + (size_t)j] = (unsigned char)(255 * fmin(fmax(value, 0), 1) + 0.5);
        }
    FILE *file = grey && packed && compress(packed, &size, grey, rows * row) == Z_OK ? fopen(path, "wb") : NULL;
    if (file) {
        put_big_endian(row - 1, head), put_big_endian(rows, head + 4);
        fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
        write_chunk(file, "IHDR", head, 13), write_chunk(file, "IDAT", packed, size),
            write_chunk(file, "IEND", head, 0);
    }
    free(grey), free(packed);
    const bool whole = file && !ferror(file);
    return file && fclose(file) == 0 && whole;
}

/* ---- training ---- */

static tg_tensor loss(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)score;
    return tg_mse(tg_autoencoder_forward(net, batch[0], training), batch[0]);
}

static bool show(void *context, const tg_fit_epoch *now)
{
    (void)context;
    printf("epoch %2d   squared error a pixel %.5f   held out %.5f\n", (int)now->epoch, now->train_loss,
           now->valid_loss);
    fflush(stdout);
    return true;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return printf("usage: autoencoder [IMAGES [EPOCHS]], with an IDX file of %d images or more; without one, it "
                      "draws images itself\n",
                      100 * SHOWN),
               0;
    tg_rng rng = tg_rng_seed(1);
    const int epochs = argc > 2 ? atoi(argv[2]) : 20;
    if (argc > 1 && !read_images(argv[1]))
        return 2;
    if ((argc == 1 && !draw_images(&rng)) || epochs < 1 || count < 100 * SHOWN)
        return fprintf(stderr, "usage: autoencoder [IMAGES [EPOCHS]], with %d images or more\n", 100 * SHOWN), 2;
    const int64_t pixels = height * width, held_out = count / 100, trained = count - held_out;
    tg_autoencoder *net =
        tg_autoencoder_new(&rng, &(tg_autoencoder_config){.inputs = pixels, .hidden = {256, 128}, .code = CODE});
    tg_fit_config config = {.loss = loss,
                            .model = net,
                            .batch = 64,
                            .epochs = epochs,
                            .on_epoch = show,
                            .train = {trained, {{images, TG_F32, TG_SHAPE(pixels)}}},
                            .valid = {held_out, {{images + trained * pixels, TG_F32, TG_SHAPE(pixels)}}}};
    const int64_t steps = tg_fit_steps(&config);
    const tg_schedule cosine = {.kind = TG_WARMUP_COSINE, .warmup = steps < 1000 ? steps / 10 : 100, .steps = steps};
    config.optimizer =
        tg_optimizer_new(tg_autoencoder_parameters(net), &(tg_optimizer_config){.lr = 2e-3, .schedule = cosine});
    tg_fit *fit = tg_fit_new(&config);
    tg_tape *tape = tg_tape_new();
    const float *shown = images + trained * pixels;
    bool fine = tg_fit_run(fit);
    const float *back =
        tg_f32(tg_autoencoder_forward(net, tg_borrow(tape, TG_F32, shown, TG_SHAPE(SHOWN, pixels)), NULL));
    if (!fine || !back || !(fine = write_picture("autoencoder.png", shown, back)))
        fprintf(stderr, "autoencoder: %s\n",
                !fine && tg_fit_error(fit) ? tg_fit_error(fit) : "autoencoder.png cannot be written");
    else
        printf("autoencoder.png: %d images that were held out, and below them what comes back from %d numbers each\n",
               SHOWN, CODE);
    tg_tape_free(tape), tg_fit_free(fit), tg_optimizer_free(config.optimizer), tg_autoencoder_free(net), free(images);
    return !fine || fflush(stdout) != 0 || ferror(stdout);
}
