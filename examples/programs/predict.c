/* Predicts with a model that `train` has saved: classes and probabilities, or targets in their own unit, for rows of a
 * table or images; or samples of text. */
#include "examples/programs/data/advice.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/run/constant.h"
#include "examples/programs/run/predictions.h"
#include "examples/programs/run/tally.h"
#include "examples/programs/train/inputs.h"
#include "examples/programs/train/output.h"
#include "examples/programs/data/internal.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

enum { BATCH = 256 };

typedef struct predict_settings {
    const char *model, *weights, *rename, *data, *header, *unknown, *prompt, *products;
    bool probabilities, strict;
    int length, top, samples, seed, beams;
    double temperature;
    options_given given;
} predict_settings;

static const char *const unknowns[] = {"error", "ignore", NULL};

#define AT(member) offsetof(predict_settings, member)

static const program_option options[] = {
    {"model", "FILE",
     "a model saved by train, or by compare with --keep-models: the run's folder, or its best.safetensors", OPTION_TEXT,
     AT(model)},
    {"weights", "FILE", "other weights for that model: a safetensors file, for example one written by PyTorch",
     OPTION_TEXT, AT(weights)},
    {"rename", "RULES",
     "renames tensors of --weights' file: '0.*=layers.0.*,2.*=layers.1.*' for two layers of an "
     "nn.Sequential; * matches the same text in both",
     OPTION_TEXT, AT(rename)},
    {"products", "WHOSE", "matrix products: our own or OpenBLAS's; as TG_PRODUCTS says without it", OPTION_CHOICE,
     AT(products), .choices = spec_products},
    {.type = OPTION_GROUP, .help = "Rows and images:"},
    {"data", "SPEC",
     "FILE, a table, of images or of pairs; or idx:DIR (the test images of MNIST's files); csv:- and pairs:- read "
     "standard input",
     OPTION_TEXT, AT(data), .once = OPTIONS_ONE},
    {"header", "WHETHER", "whether a CSV file's first line names the columns", OPTION_CHOICE, AT(header),
     .choices = spec_headers},
    {"unknown", "HOW",
     "a category that the model does not know is an error, or ignored: all inputs of its column are 0, as for a "
     "missing one",
     OPTION_CHOICE, AT(unknown), .choices = unknowns},
    {"strict", NULL,
     "refuse a missing value in a column that had none in training; else the mean of training stands for it, or the "
     "most frequent category",
     OPTION_FLAG, AT(strict)},
    {"probabilities", NULL, "print the probability of every class", OPTION_FLAG, AT(probabilities)},
    {.type = OPTION_GROUP, .help = "Pairs:"},
    {"beams", "N", "keep the N most probable beginnings of a target, without length normalisation; 1: greedy decoding",
     OPTION_INT, AT(beams), 1, 1000},
    {.type = OPTION_GROUP, .help = "Texts:"},
    {"prompt", "TEXT", "beginning of the text; a source, for a model of pairs", OPTION_TEXT, AT(prompt)},
    {"length", "N", "largest number of characters", OPTION_INT, AT(length), 1, 1e7},
    {"temperature", "T", "below 1, likely characters become more likely; 0: always the most likely one", OPTION_REAL,
     AT(temperature), 0, 100},
    {"top-k", "K", "draw from the K most likely characters; 0: from all", OPTION_INT, AT(top), 0, TG_CARD_MOST_LETTERS},
    {"samples", "N", "number of texts", OPTION_INT, AT(samples), 1, 1e6},
    {"seed", "N", "seed of the sampling", OPTION_INT, AT(seed), 0, 2e9},
    {0}};

static const options_program program = {
    .name = "predict",
    .about =
        "Predicts with a model that train has saved. The predictions for rows are printed as CSV, a line for each "
        "row; if the data has the class or target, a score is printed to standard error. For pairs it is one target a "
        "line.",
    .table = options,
    .given_offset = offsetof(predict_settings, given),
    .after = "Columns, their standardisation and the names of classes are in the model file. A file "
             "without a header has the columns where the training file had them.\n\n"
             "Examples:\npredict --model housing --data new.csv\n"
             "predict --model shakespeare --prompt ROMEO: --temperature 0.8\n"
             "predict --model reverse --data pairs:new.tsv --beams 4"};

/* ---- rows ---- */

typedef struct pass {
    const tg_model *model;
    const tg_card *c;
    const inputs *rows;
    bool probabilities;
    size_t lost; /* rows whose outputs are not finite */
    tally sums;
    constant *baseline; /* NULL: the model's file does not say */
} pass;

static void put_batch(pass *p, size_t count, tg_tensor x, tg_tensor output)
{
    const size_t in = (size_t)p->c->spec.inputs, out = (size_t)tg_size(output) / count;
    for (size_t i = 0; i < count; i++) {
        bool finite = true;
        for (size_t k = 0; k < out; k++)
            finite = finite && isfinite(tg_f32(output)[i * out + k]);
        p->lost += !finite;
        predictions_row(p->c, tg_f32(output) + i * out, tg_f32(x) + i * in, p->probabilities, stdout);
        putchar('\n');
    }
}

static bool score_batch(pass *p, size_t first, int64_t count, tg_tensor x, tg_tensor output)
{
    tg_tape *tape = tg_tape_of(x);
    const size_t targets = p->c->targets;
    const tg_tensor wanted =
        p->c->task == TG_CARD_IMAGES ? x
        : p->rows->y ? tg_borrow(tape, TG_F32, p->rows->y + first * targets, TG_SHAPE(count, (int64_t)targets))
                     : tg_borrow(tape, TG_I32, p->rows->labels + first, TG_SHAPE(count));
    const tg_tensor weights =
        p->rows->weight ? tg_borrow(tape, TG_F32, p->rows->weight + first, TG_SHAPE(count)) : TG_NONE;
    tally_add(&p->sums, p->c, output, wanted, weights);
    if (p->baseline)
        constant_add(p->baseline, wanted, weights);
    return tg_ok(wanted);
}

/* Prints or scores all rows, batch by batch. */
static bool each_batch(pass *p, bool scores, tg_error *error)
{
    tg_tape *tape = tg_tape_new();
    const size_t width = (size_t)p->c->spec.inputs;
    bool fine = tape;
    for (size_t first = 0, count; fine && first < p->rows->count; first += count) {
        const size_t left = p->rows->count - first;
        count = left < BATCH ? left : BATCH;
        tg_tape_reset(tape);
        tg_no_grad_begin(tape);
        const tg_tensor x =
            tg_borrow(tape, TG_F32, p->rows->x + first * width, TG_SHAPE((int64_t)count, (int64_t)width));
        const tg_tensor output = tg_model_forward(p->model, x, NULL);
        fine = tg_f32(output) && (!scores || score_batch(p, first, (int64_t)count, x, output));
        if (fine && !scores)
            put_batch(p, count, x, output);
        tg_no_grad_end(tape);
    }
    if (!fine)
        tg_fail(error, "%s", tape && tg_tape_error(tape) ? tg_tape_error(tape) : "out of memory");
    tg_tape_free(tape);
    return fine;
}

static void warn(const inputs_trouble *trouble, const char *one, const char *more, const char *done)
{
    if (trouble->count)
        fprintf(stderr, "predict: warning: %zu %s %s; the first: %s\n", trouble->count,
                trouble->count == 1 ? one : more, done, plain(trouble->first.text));
}

/* One line for each column with values that were filled in. */
static void warn_of_filled(const inputs *rows, const tg_card *c)
{
    char name[PLAIN_NAME], with[PLAIN_NAME];
    for (size_t i = 0; i < rows->columns; i++) {
        const tg_card_column *column = &c->column[i];
        if (!rows->filled[i])
            continue;
        snprintf(name, sizeof name, "%d", c->input[column->first].number);
        fprintf(stderr, "predict: warning: column '%s': %zu missing value%s, and training had none; ",
                column->name ? plain_name(column->name, name) : name, rows->filled[i],
                plural((long long)rows->filled[i]));
        const char *category = tg_card_category_name(c, i, tg_card_fill(c, i));
        if (!column->categorical)
            fprintf(stderr, "its %s there stands in: %.6g\n",
                    c->input[column->first].scale.limit > 0 ? "median" : "mean", tg_card_fill(c, i));
        else
            fprintf(stderr, category ? "its most frequent category there stands in: '%s'\n" : "it gets no category%s\n",
                    category ? plain_name(category, with) : "");
    }
}

static bool predict_rows(const tg_model *model, const tg_card *c, inputs *rows, bool probabilities, tg_error *error)
{
    pass p = {.model = model,
              .c = c,
              .rows = rows,
              .probabilities = probabilities,
              .sums = {.by_class = c->task == TG_CARD_CLASSES}};
    char name[40];
    predictions_header(c, probabilities, stdout);
    putchar('\n');
    if (!each_batch(&p, false, error))
        return false;
    fflush(stdout);
    if (p.lost)
        fprintf(stderr, "predict: warning: %zu of %zu rows have an output that is not finite, which predicts nothing\n",
                p.lost, rows->count);
    warn_of_filled(rows, c);
    warn(&rows->unknown, "unknown category", "unknown categories", "ignored");
    warn(&rows->unscored, "answer", "answers", "left out of the score");
    inputs_keep_answered(rows, c);
    if (rows->count == 0)
        return true;
    p.sums.confusion = c->task == TG_CARD_CLASSES ? calloc(c->classes * c->classes, sizeof *p.sums.confusion) : NULL;
    constant baseline;
    const bool compared = c->task != TG_CARD_IMAGES && constant_begin(&baseline, c, NULL, NULL);
    p.baseline = compared ? &baseline : NULL;
    const bool fine = each_batch(&p, true, error);
    const runlog_measures of_constant = compared ? constant_end(&baseline) : runlog_no_measures;
    if (fine && !(p.sums.weight > 0))
        fputs("predict: warning: the weights of the rows add up to 0: no score\n", stderr);
    else if (fine) {
        const runlog_measures m = tally_measures(&p.sums, c);
        snprintf(name, sizeof name, "%zu %ssample%s", rows->count, rows->weight ? "weighted " : "",
                 plural((long long)rows->count));
        if (c->weights && !rows->weight)
            fputs("predict: warning: the data has no column of weights, so each row counts once in the measures\n",
                  stderr);
        tally_print(c, name, &m, stderr);
        if (compared)
            tally_print(c, "constant prediction", &of_constant, stderr);
        if (p.sums.confusion)
            tally_print_confusion(c, p.sums.confusion, stderr);
    }
    free(p.sums.confusion);
    return fine;
}

/* ---- the program ---- */

static bool write_texts(const tg_model *model, const predict_settings *s, tg_error *error)
{
    tg_rng rng = tg_rng_seed((uint64_t)s->seed);
    const tg_generate_options how = {
        .prompt = s->prompt, .length = s->length, .temperature = s->temperature, .top = s->top};
    bool fine = true;
    for (int i = 0; fine && i < s->samples; i++)
        fine = sample_write(model, &how, &rng, stdout, error);
    return fine;
}

static bool reads_pairs(const tg_card *c)
{
    return c->task == TG_CARD_LETTERS && tg_model_traits_of(c->spec.model)->pairs;
}

/* Writes a target for each line of a file, or for --prompt. */
static bool write_targets(const tg_model *model, const predict_settings *s, tg_error *error)
{
    dataset_bytes file = {0};
    sample_score score;
    const char *path = s->data && strncmp(s->data, "pairs:", 6) == 0 ? s->data + 6 : s->data;
    char *given = s->prompt ? strdup(s->prompt) : NULL;
    bool fine = s->prompt ? given || tg_fail(error, "out of memory") : dataset_read_file(path, &file, error);
    char *text = given ? given : (char *)file.bytes;
    if (fine && !given && memchr(text, '\0', file.size))
        fine = tg_fail(error, "%s: a byte of it is 0, expected a text", dataset_path_name(path));
    if (fine && strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        text += 3;
    fine = fine && sample_pairs(model, path ? dataset_path_name(path) : "--prompt", text, s->beams, false, 0, stdout,
                                &score, error);
    fflush(stdout);
    if (fine && score.pairs)
        fprintf(stderr, "%ld pair%s: exact %.2f %%\n", score.pairs, plural(score.pairs),
                100. * (double)score.exact / (double)score.pairs);
    free(given);
    free(file.bytes);
    return fine;
}

/* Options that have no effect with this model. */
static const char *conflict(const tg_card *c, const predict_settings *s)
{
    static const char *const of_samples[] = {"length", "temperature", "top-k", "samples", "seed", NULL};
    if (!reads_pairs(c) && options_has(&s->given, "beams"))
        return "--beams is for models of pairs";
    if (reads_pairs(c) && options_first(&s->given, of_samples))
        return "the model writes a target for each source, and --length, --temperature, --top-k, --samples and --seed "
               "are for texts";
    if (reads_pairs(c) && !options_has(&s->given, "header") && !options_has(&s->given, "unknown") && !s->rename &&
        !s->probabilities && !s->strict)
        return !s->data == !s->prompt ? "the model reads sources: either --data pairs:FILE or --prompt SOURCE" : NULL;
    static const char *const of_text[] = {"prompt", "length", "temperature", "top-k", "samples", "seed", NULL};
    const bool text = c->task == TG_CARD_LETTERS;
    if (!text && options_first(&s->given, of_text))
        return "the model reads rows, and --prompt, --length, --temperature, --top-k, --samples and --seed are for "
               "texts";
    if (s->rename && !s->weights)
        return "--rename is for --weights only";
    if (s->probabilities && c->task != TG_CARD_CLASSES)
        return "--probabilities is for models of classes";
    if (text && options_has(&s->given, "header"))
        return "the model writes texts, and --header is for rows";
    if ((s->strict || options_has(&s->given, "unknown")) && (text || c->spec.image_width))
        return s->strict ? "--strict is for tables" : "--unknown is for tables";
    if (s->temperature == 0 && options_has(&s->given, "top-k"))
        return "--top-k: with --temperature 0 nothing is drawn";
    if (s->temperature == 0 && options_has(&s->given, "seed"))
        return "--seed: with --temperature 0 nothing is drawn";
    if (text && s->data)
        return "the model writes texts, and --data is for rows and images; see --prompt";
    return text || s->data ? NULL : "the model needs --data";
}

static bool work(const predict_settings *s, const tg_card *c, const tg_model *model, tg_error *error)
{
    inputs rows = {0};
    const inputs_options how = {
        .header = s->header, .strict = s->strict, .ignore_unknown = strcmp(s->unknown, "ignore") == 0};
    if (reads_pairs(c))
        return write_targets(model, s, error);
    if (c->task == TG_CARD_LETTERS)
        return write_texts(model, s, error);
    const bool fine = inputs_load(source_named(s->data, c->spec.image_width > 0), &how, c, &rows, error) &&
                      predict_rows(model, c, &rows, s->probabilities, error);
    inputs_free(&rows);
    return fine;
}

int main(int argc, char **argv)
{
    predict_settings s = {
        .header = "auto", .unknown = "error", .length = 400, .temperature = 1, .samples = 1, .seed = 1, .beams = 1};
    tg_error error;
    tg_card *c = NULL;
    tg_model *model = NULL;
    options_parse(&program, argc, argv, &s);
    bool fine = s.model || tg_fail(&error, "--model FILE is missing; see --help");
    fine = fine && spec_take_products(s.products, &error);
    fine = fine && (c = card_read(s.model, &error));
    if (fine && conflict(c, &s))
        fine = tg_fail(&error, "%s", conflict(c, &s));
    fine = fine && (model = card_model(c, s.weights, s.rename, &error));
    if (fine) {
        tg_model_set_card(model, c);
        fine = work(&s, c, model, &error);
    } else {
        tg_card_free(c);
    }
    if (!fine)
        terminal_say("predict", NULL, error.text);
    tg_model_free(model);
    return fine ? 0 : 2;
}
