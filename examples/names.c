/* A multi-layer perceptron learns to invent names, character by character (Bengio and others, JMLR 3, 2003).
 *
 *     names [WORDS [EPOCHS]]    a file with an ASCII word per line; without one, this library's functions
 *
 * A tenth of the words is held out. The CONTEXT characters before a character predict it; newlines enclose a word. */
#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

enum { LETTERS = 128, CONTEXT = 8, MOST_WORDS = 200000, LONGEST = 40, END = '\n' };

static char words[MOST_WORDS][LONGEST];
static int word_count, foreign; /* foreign: not 0 if a letter is not of ASCII */

static bool read_words(FILE *file)
{
    while (word_count < MOST_WORDS && fscanf(file, " %39[^\r\n]%*[^\r\n]", words[word_count]) != EOF)
        for (const char *letter = words[word_count++]; *letter; letter++) /* a longer line is cut */
            foreign |= *letter & 128;
    return !ferror(file);
}

/* The names between "tg_" and "(" in the public headers. */
static void read_functions(void)
{
    glob_t found = {0};
    glob("autograd/*.[hd]*", 0, NULL, &found);
    glob("[not][nr]*/*.h", GLOB_APPEND, NULL, &found);
    char line[1000], *from;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "r");
        while (file && fgets(line, sizeof line, file))
            for (from = line; (from = strstr(from, "tg_")) && word_count < MOST_WORDS; from += 3) {
                const size_t length = strspn(from, "abcdefghijklmnopqrstuvwxyz_0123456789");
                if (from[length] == '(' && length < LONGEST)
                    memcpy(words[word_count++], from, length);
            }
        if (file)
            fclose(file);
    }
    globfree(&found);
}

/* Every character of some words, the newline included, with the window before it. */
typedef struct letters {
    int64_t count;
    int32_t (*before)[CONTEXT], *next;
} letters;

static letters letters_of(int first, int last)
{
    letters l = {0};
    for (int w = first; w < last; w++)
        l.count += (int64_t)strlen(words[w]) + 1;
    l.before = malloc((size_t)l.count * sizeof *l.before + 1);
    l.next = malloc((size_t)l.count * sizeof *l.next + 1);
    for (int64_t row = 0, w = first; l.before && l.next && w < last; w++) {
        int32_t window[CONTEXT];
        for (int i = 0; i < CONTEXT; i++)
            window[i] = END;
        for (const char *letter = words[w];; letter++) {
            memcpy(l.before[row], window, sizeof window);
            l.next[row] = *letter ? *letter : END;
            memmove(window, window + 1, sizeof window - sizeof *window);
            window[CONTEXT - 1] = l.next[row++];
            if (!*letter)
                break;
        }
    }
    return l;
}

static tg_tensor loss(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    tg_tensor logits = tg_char_mlp_forward(net, batch[0], training);
    if (score)
        *score = tg_accuracy(logits, batch[1]);
    return tg_cross_entropy(logits, batch[1]);
}

static bool show(void *context, const tg_fit_epoch *now)
{
    (void)context;
    printf("epoch %2d   loss %.4f   held out %.4f nats a letter\n", (int)now->epoch, now->train_loss, now->valid_loss);
    return fflush(stdout) == 0;
}

static void invent(const tg_char_mlp *net, tg_tape *tape, tg_rng *rng)
{
    int32_t window[CONTEXT];
    for (int i = 0; i < CONTEXT; i++)
        window[i] = END;
    for (int length = 0; length < LONGEST; length++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_borrow(tape, TG_I32, window, TG_SHAPE(1, CONTEXT));
        tg_tensor p = tg_softmax(tg_char_mlp_forward(net, x, NULL), -1);
        double left = tg_rng_uniform(rng);
        int letter = 0;
        while (letter < LETTERS - 1 && (left -= tg_at(p, letter)) > 0)
            letter++;
        if (letter == END)
            break;
        putchar(isprint(letter) ? letter : '?');
        memmove(window, window + 1, sizeof window - sizeof *window);
        window[CONTEXT - 1] = letter;
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    const int epochs = argc > 2 ? atoi(argv[2]) : 10;
    const bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    FILE *file = argc > 1 && !help ? fopen(argv[1], "r") : NULL;
    if (argc > 1 && !help && (!file || !read_words(file)))
        return perror(argv[1]), 2;
    if (argc == 1)
        read_functions(); /* in tapegrad's folder */
    if (word_count < 20 || foreign || epochs < 1 || argc > 3)
        return fprintf(help ? stdout : stderr, "usage: names [WORDS [EPOCHS]], 20 words of ASCII or more, in lines\n"),
               help ? 0 : 2;
    tg_rng rng = tg_rng_seed(1);
    for (int w = word_count - 1; w > 0; w--) { /* shuffles the words; the last tenth is held out */
        const int other = (int)tg_rng_below(&rng, (uint64_t)w + 1);
        char kept[LONGEST];
        memcpy(kept, words[w], LONGEST), memcpy(words[w], words[other], LONGEST), memcpy(words[other], kept, LONGEST);
    }
    const int trained = word_count - word_count / 10;
    const letters train = letters_of(0, trained), valid = letters_of(trained, word_count);
    const tg_char_mlp_config shape = {
        .vocabulary = LETTERS, .context = CONTEXT, .embedding = 24, .hidden = {256}, .dropout = 0.1};
    tg_char_mlp *net = tg_char_mlp_new(&rng, &shape);
    tg_fit_config config = {.loss = loss,
                            .model = net,
                            .batch = 128,
                            .epochs = epochs,
                            .on_epoch = show,
                            .train = {train.count, {{train.before, TG_I32, TG_SHAPE(CONTEXT)}, {train.next, TG_I32}}},
                            .valid = {valid.count, {{valid.before, TG_I32, TG_SHAPE(CONTEXT)}, {valid.next, TG_I32}}}};
    const int64_t steps = tg_fit_steps(&config);
    const int64_t warmup = steps < 1000 ? steps / 10 : 100;
    const tg_schedule cosine = {.kind = TG_WARMUP_COSINE, .warmup = warmup, .steps = steps, .end = 0.01};
    config.optimizer = tg_optimizer_new(tg_char_mlp_parameters(net),
                                        &(tg_optimizer_config){.lr = 2e-3, .weight_decay = 0.01, .schedule = cosine});
    tg_fit *fit = tg_fit_new(&config);
    printf("%d words, %lld letters, %lld parameters\n", word_count, (long long)(train.count + valid.count),
           (long long)tg_parameters_size(tg_char_mlp_parameters(net)));
    if (!tg_fit_run(fit))
        return fprintf(stderr, "%s\n", tg_fit_error(fit)), 1;
    tg_tape *tape = tg_tape_new();
    for (int i = 0; i < 12; i++)
        invent(net, tape, &rng);
    tg_tape_free(tape), tg_fit_free(fit), tg_optimizer_free(config.optimizer), tg_char_mlp_free(net);
    free(train.before), free(train.next), free(valid.before), free(valid.next);
    return fflush(stdout) != 0 || ferror(stdout);
}
