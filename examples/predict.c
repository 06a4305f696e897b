/* Uses a model that `train` has kept: classes and probabilities, or targets in their own unit, for rows of a table or
 * images; or texts. */
#include "examples/report/terminal.h"
#include "examples/train/inputs.h"
#include "examples/train/sample.h"
#include "examples/data/number.h"
#include "examples/data/words.h"

#include <math.h>
#include <stdlib.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { BATCH = 256 };

typedef struct predict_settings {
    const char *model, *data, *header, *prompt;
    bool probabilities;
    int length, top, samples, seed;
    double temperature;
    int file_limit;
} predict_settings;

#define AT(member) offsetof(predict_settings, member)

static const program_option table[] = {
    {"model", "FILE", "what train has kept, or compare with --keep-models: the run's folder, or its best.safetensors",
     OPTION_TEXT, AT(model)},
    {.type = OPTION_GROUP, .help = "Rows and images:"},
    {"data", "SPEC", "csv:FILE, idx:FILE (images), or idx:DIR (MNIST's files, of which the test images)", OPTION_TEXT,
     AT(data)},
    {"header", "WHETHER", "whether a CSV file's first line names the columns", OPTION_CHOICE, AT(header),
     .choices = spec_headers},
    {"file-limit", "MB", "megabytes that the file may have, unpacked", OPTION_INT, AT(file_limit), 1, 1e7},
    {"probabilities", NULL, "print the probability of every class", OPTION_FLAG, AT(probabilities)},
    {.type = OPTION_GROUP, .help = "Texts:"},
    {"prompt", "TEXT", "what the text begins with", OPTION_TEXT, AT(prompt)},
    {"length", "N", "letters at most", OPTION_INT, AT(length), 1, 1e7},
    {"temperature", "T", "below 1 more of what is likely; 0: the most likely letter each time", OPTION_REAL,
     AT(temperature), 0, 100},
    {"top-k", "K", "draw from the K most likely letters; 0: from all", OPTION_INT, AT(top), 0, 256},
    {"samples", "N", "so many texts", OPTION_INT, AT(samples), 1, 1e6},
    {"seed", "N", "of what is drawn", OPTION_INT, AT(seed), 0, 2e9},
    {0}};

static const options_program program = {
    .name = "predict",
    .about = "Uses a model that train has kept. Rows go to standard output as CSV, a line for each.",
    .table = table,
    .after = "Columns, their standardisation and the names of classes are in the model file. A file "
             "without a header has the columns where the training file had them.\n\n"
             "Examples:\npredict --model housing/best.safetensors --data csv:new.csv\n"
             "predict --model shakespeare/best.safetensors --prompt ROMEO: --temperature 0.8"};

/* ---- rows ---- */

/* A word of a CSV line, in quotes where it needs them. */
static void put_word(const char *word)
{
    if (!strpbrk(word, ",\"\n\r")) {
        fputs(word, stdout);
        return;
    }
    putchar('"');
    for (; *word; word++)
        fputs(*word == '"' ? "\"\"" : (char[]){*word, '\0'}, stdout);
    putchar('"');
}

static void put_number(double number)
{
    fputs(number_text(number, (char[NUMBER_TEXT]){0}), stdout);
}

static void put_header(const card *c, bool probabilities)
{
    if (c->task == CARD_CLASSES)
        fputs("class,probability", stdout);
    for (size_t i = 0; c->task == CARD_CLASSES && probabilities && i < c->classes; i++) {
        putchar(',');
        put_word(c->class_names[i]);
    }
    for (size_t i = 0; c->task == CARD_TARGETS && i < c->targets; i++) {
        fputs(i ? "," : "", stdout);
        if (*c->target_names[i])
            put_word(c->target_names[i]);
        else
            printf("target_%zu", i);
    }
    puts(c->task == CARD_IMAGES ? "squared_error" : "");
}

static int64_t put_classes(const card *c, const float *logits, bool all)
{
    size_t best = 0;
    double sum = 0;
    for (size_t i = 1; i < c->classes; i++)
        best = logits[i] > logits[best] ? i : best;
    for (size_t i = 0; i < c->classes; i++)
        sum += exp((double)logits[i] - logits[best]);
    put_word(c->class_names[best]);
    putchar(',');
    put_number(1 / sum);
    for (size_t i = 0; all && i < c->classes; i++) {
        putchar(',');
        put_number(exp((double)logits[i] - logits[best]) / sum);
    }
    return (int64_t)best;
}

/* A line for one row; whether its label was met. */
static bool put_row(const card *c, const float *output, const float *x, const int32_t *label, bool all)
{
    bool right = false;
    if (c->task == CARD_CLASSES) {
        const int64_t class = put_classes(c, output, all);
        right = label && class == *label;
    }
    for (size_t i = 0; c->task == CARD_TARGETS && i < c->targets; i++) {
        fputs(i ? "," : "", stdout);
        put_number(output[i] * c->target[i].scale + c->target[i].mean);
    }
    if (c->task == CARD_IMAGES) {
        double sum = 0;
        for (int i = 0; i < c->spec.inputs; i++)
            sum += pow((double)output[i] - x[i], 2) / c->spec.inputs;
        put_number(sum);
    }
    putchar('\n');
    return right;
}

static bool predict_rows(const net *model, const card *c, const inputs *rows, bool probabilities,
                         char message[NET_MESSAGE])
{
    tg_tape *tape = tg_tape_new();
    const size_t width = (size_t)c->spec.inputs;
    size_t right = 0;
    const float *output = NULL;
    put_header(c, probabilities);
    for (size_t first = 0; first < rows->count; first += BATCH) {
        const size_t left = rows->count - first, count = left < BATCH ? left : BATCH;
        tg_tape_reset(tape);
        tg_tensor x = tg_borrow(tape, TG_F32, rows->x + first * width, TG_SHAPE((int64_t)count, (int64_t)width)),
                  y = net_forward(model, x, NULL);
        output = tg_f32(y);
        const size_t outputs = output ? (size_t)tg_size(y) / count : 0;
        for (size_t i = 0; output && i < count; i++)
            right += put_row(c, output + i * outputs, rows->x + (first + i) * width,
                             rows->labels ? &rows->labels[first + i] : NULL, probabilities);
        if (!output)
            break;
    }
    if (!output)
        snprintf(message, NET_MESSAGE, "%.*s", NET_MESSAGE - 1,
                 tape && tg_tape_error(tape) ? tg_tape_error(tape) : "out of memory");
    else if (rows->labels && c->task == CARD_CLASSES)
        fprintf(stderr, "%zu of %zu label%s met: %.2f %%\n", right, rows->count, plural((long long)rows->count),
                100. * (double)right / (double)rows->count);
    tg_tape_free(tape);
    return output != NULL;
}

/* ---- the whole ---- */

static bool write_texts(const net *model, const card *c, const predict_settings *s, char message[NET_MESSAGE])
{
    tg_rng rng = tg_rng_seed((uint64_t)s->seed);
    const sample_options how = {.prompt = s->prompt, .length = s->length, .temperature = s->temperature, .top = s->top};
    bool fine = true;
    for (int i = 0; fine && i < s->samples; i++)
        fine = sample_write(model, c, &how, &rng, stdout, message);
    return fine;
}

/* Options that have no use with this model. */
static const char *conflict(const card *c, const predict_settings *s)
{
    static const char *const of_text[] = {"prompt", "length", "temperature", "top-k", "samples", "seed"};
    const bool text = c->task == CARD_LETTERS;
    for (int i = 0; i < 6 && !text; i++)
        if (options_given(&program, of_text[i]))
            return "the model reads rows, and --prompt, --length, --temperature, --top-k, --samples and --seed are for "
                   "texts";
    if (s->probabilities && c->task != CARD_CLASSES)
        return "--probabilities is for models of classes";
    if (text && options_given(&program, "header"))
        return "the model writes texts, and --header is for rows";
    if (s->temperature == 0 && options_given(&program, "top-k"))
        return "--top-k: with --temperature 0 nothing is drawn";
    if (s->temperature == 0 && options_given(&program, "seed"))
        return "--seed: with --temperature 0 nothing is drawn";
    if (text && s->data)
        return "the model writes texts, and --data is for rows and images; see --prompt";
    return text || s->data ? NULL : "the model wants --data";
}

static bool work(const predict_settings *s, const card *c, const net *model, char message[NET_MESSAGE])
{
    char problem[TG_FILE_MESSAGE];
    inputs rows = {0};
    if (!tg_parameters_load(net_parameters(model), s->model, &(tg_load_options){.allow_unknown = true}, problem))
        return snprintf(message, NET_MESSAGE, "%.*s", NET_MESSAGE - 1, problem), false;
    if (c->task == CARD_LETTERS)
        return write_texts(model, c, s, message);
    const bool fine =
        inputs_load(s->data, s->header, c, &rows, message) && predict_rows(model, c, &rows, s->probabilities, message);
    inputs_free(&rows);
    return fine;
}

int main(int argc, char **argv)
{
    predict_settings s = {
        .header = "auto", .length = 400, .temperature = 1, .samples = 1, .seed = 1, .file_limit = DATASET_FILE_LIMIT};
    char message[NET_MESSAGE];
    const tg_rng rng = tg_rng_seed(1);
    card c = {0};
    net *model = NULL;
    options_parse(&program, argc, argv, &s);
    dataset_limit_files(s.file_limit);
    bool fine = s.model || (snprintf(message, sizeof message, "--model FILE is missing; see --help"), false);
    char file[PATH_MAX];
    struct stat status;
    if (fine && stat(s.model, &status) == 0 && S_ISDIR(status.st_mode)) { /* the folder of a run */
        snprintf(file, sizeof file, "%s/best.safetensors", s.model);
        s.model = file;
    }
    fine = fine && card_read(&c, s.model, message);
    if (fine && conflict(&c, &s))
        fine = (snprintf(message, sizeof message, "%s", conflict(&c, &s)), false);
    fine = fine && (model = net_new(&c.spec, &rng, message)) && work(&s, &c, model, message);
    if (!fine)
        terminal_say("predict", NULL, message);
    net_free(model);
    card_free(&c);
    return fine ? 0 : 2;
}
