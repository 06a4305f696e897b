/* Trains a GPT on a text, by default on the sources of this library, and writes in its style.
 *
 *     gpt [TEXT [STEPS [MODEL]]] without a text, the C files of autograd/, nn/, nn/fit/ and optim/ in the current
 *     folder
 *
 * Characters are bytes. The last tenth of the text is held out. With a third argument the weights are saved to a
 * safetensors file. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

enum { LETTERS = 256, CONTEXT = 64, BATCH = 32, LAYERS = 4, HEADS = 4, WIDTH = 64, SAMPLE = 400 };

static unsigned char *text;
static size_t size, capacity;

static bool append_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    for (int c; file && (c = fgetc(file)) != EOF; text[size++] = (unsigned char)c)
        if (size == capacity && !(text = realloc(text, capacity = 2 * capacity + 4096)))
            exit(1);
    const bool whole = file && !ferror(file);
    if (!whole)
        perror(path);
    if (file)
        fclose(file);
    return whole;
}

static void append_sources(void)
{
    glob_t found = {0};
    glob("autograd/*.c", 0, NULL, &found);
    glob("nn/*.c", GLOB_APPEND, NULL, &found);
    glob("optim/*.c", GLOB_APPEND, NULL, &found);
    glob("nn/*/*.c", GLOB_APPEND, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        append_file(found.gl_pathv[i]);
    globfree(&found);
}

/* Draws windows at random positions from `first` to `last`: the ids, and the id after each. */
static void draw_batch(tg_rng *rng, size_t first, size_t last, int32_t ids[BATCH][CONTEXT],
                       int32_t next[BATCH][CONTEXT])
{
    for (int row = 0; row < BATCH; row++) {
        const size_t from = first + tg_rng_below(rng, last - first - CONTEXT);
        for (int i = 0; i < CONTEXT; i++) {
            ids[row][i] = text[from + (size_t)i];
            next[row][i] = text[from + (size_t)i + 1];
        }
    }
}

static tg_tensor loss_of(const tg_transformer *gpt, tg_tape *tape, int32_t ids[BATCH][CONTEXT],
                         int32_t next[BATCH][CONTEXT])
{
    tg_tape_reset(tape);
    tg_tensor logits = tg_transformer_forward(gpt, tg_borrow(tape, TG_I32, ids, TG_SHAPE(BATCH, CONTEXT)), NULL);
    return tg_cross_entropy(logits, tg_borrow(tape, TG_I32, next, TG_SHAPE(BATCH, CONTEXT)));
}

/* The mean loss of twenty held-out batches, the same in each call. */
static double held_out_loss(const tg_transformer *gpt, tg_tape *tape, size_t first)
{
    static int32_t ids[BATCH][CONTEXT], next[BATCH][CONTEXT];
    tg_rng rng = tg_rng_seed(99);
    double sum = 0;
    for (int batch = 0; batch < 20; batch++) {
        draw_batch(&rng, first, size, ids, next);
        sum += tg_item(loss_of(gpt, tape, ids, next));
    }
    return sum / 20;
}

/* Draws one character from the probabilities of the logits. */
static int draw_letter(const float *logits, tg_rng *rng)
{
    double largest = logits[0], total = 0;
    for (int i = 1; i < LETTERS; i++)
        largest = fmax(largest, logits[i]);
    for (int i = 0; i < LETTERS; i++)
        total += exp(logits[i] - largest);
    double left = tg_rng_uniform(rng) * total;
    int letter = 0;
    while (letter < LETTERS - 1 && (left -= exp(logits[letter] - largest)) > 0)
        letter++;
    return letter;
}

static void write_sample(const tg_transformer *gpt, tg_tape *tape, tg_rng *rng)
{
    int32_t ids[CONTEXT + SAMPLE] = {'\n'};
    for (int count = 1; count < SAMPLE; count++) {
        const int seen = count < CONTEXT ? count : CONTEXT;
        tg_tape_reset(tape);
        tg_tensor x = tg_borrow(tape, TG_I32, ids + count - seen, TG_SHAPE(1, seen));
        const float *logits = tg_f32(tg_transformer_forward(gpt, x, NULL));
        if (!logits)
            return;
        ids[count] = draw_letter(logits + (seen - 1) * LETTERS, rng);
        putchar(ids[count]);
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    const long steps = argc > 2 ? atol(argv[2]) : 1000;
    const bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (argc > 1 && !help && !append_file(argv[1]))
        return 2;
    if (argc == 1)
        append_sources();
    const size_t held_out = size / 10 * 9;
    if (size - held_out < 2 * CONTEXT || steps < 1)
        return fputs("usage: gpt [TEXT [STEPS [MODEL]]], with a text of 2 kB or more; without one, run it in "
                     "tapegrad's folder\n",
                     help ? stdout : stderr),
               help ? 0 : 2;

    static int32_t ids[BATCH][CONTEXT], next[BATCH][CONTEXT];
    tg_rng rng = tg_rng_seed(1);
    const tg_transformer_config config = {
        .vocabulary = LETTERS, .context = CONTEXT, .layers = LAYERS, .block = tg_block_gpt(WIDTH, HEADS), .tied = true};
    tg_transformer *gpt = tg_transformer_new(&rng, &config);
    tg_parameters *weights = tg_transformer_parameters(gpt);
    const tg_schedule cosine = {.kind = TG_WARMUP_COSINE, .warmup = steps / 20, .steps = steps, .end = 0.1};
    tg_optimizer *adamw = tg_optimizer_new(
        weights, &(tg_optimizer_config){.lr = 3e-3, .weight_decay = 0.1, .clip_norm = 1, .schedule = cosine});
    tg_tape *tape = tg_tape_new();
    tg_tape_save_memory(tape, true);
    printf("%zu bytes, %lld parameters\n", size, (long long)tg_parameters_size(weights));
    for (long step = 1; step <= steps; step++) {
        draw_batch(&rng, 0, held_out, ids, next);
        tg_tensor loss = loss_of(gpt, tape, ids, next);
        const double now = tg_item(loss);
        if (!tg_backward(loss) || !tg_optimizer_step(adamw))
            return fprintf(stderr, "%s\n", tg_tape_error(tape) ? tg_tape_error(tape) : tg_optimizer_error(adamw)), 1;
        if (step % 100 == 0 || step == steps)
            printf("step %5ld   loss %.3f   held out %.3f nats a byte\n", step, now,
                   held_out_loss(gpt, tape, held_out));
        fflush(stdout);
    }
    write_sample(gpt, tape, &rng);
    tg_error error;
    if (argc > 3 && !tg_parameters_save(weights, argv[3], NULL, 0, &error))
        return fprintf(stderr, "%s\n", error.text), 1;
    tg_tape_free(tape), tg_optimizer_free(adamw), tg_transformer_free(gpt), free(text);
    return fflush(stdout) != 0 || ferror(stdout);
}
