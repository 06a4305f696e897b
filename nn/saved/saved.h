/* A saved net in three lines: from the file alone, with what its card says about the data.
 *
 *     tg_error error;
 *     tg_model *m = tg_model_open("iris/best.safetensors", &error);             // or "iris", the folder of the run
 *     double row[] = {5.1, 3.5, 1.4, 0.2}, probability[3];                      // the columns as the table has them
 *     if (!m || !tg_model_predict(m, row, probability))
 *         return fprintf(stderr, "%s\n", error.text), 1;
 *     puts(tg_card_class(tg_model_card(m), probability));                       // setosa
 *     tg_model_free(m);
 *
 *     char text[401];                                                           // a model of characters
 *     tg_model_generate(gpt, &(tg_generate_options){.prompt = "ROMEO:", .length = 400, .temperature = 0.8},
 *                    &rng, text, &error);
 *
 * The program `predict` is this and the reading of files; both give the same digits. A model that was opened is only
 * read by these functions, so several threads may use one at once.
 */
#ifndef TG_SAVED_H
#define TG_SAVED_H

#include "autograd/rng.h"
#include "nn/saved/card.h"

TG_API_BEGIN

/* Makes the model of a file that `train` or `compare --keep-models` wrote, or of a run's folder as tg_card_read, with
 * its weights and card; to be freed by tg_model_free, which frees the card too. NULL, with an error that names the file
 * and the tensor, if it is no such file, or its tensors are not those of the model. */
tg_model *tg_model_open(const char *path, tg_error *error);

/* The model of a card with the weights of another file, `path`; NULL: of the card's own. `options` are those of
 * tg_weights_load. The card stays yours. */
tg_model *tg_model_of_card(const tg_card *card, const char *path, const tg_load_options *options, tg_error *error);

/* The card of a model that was opened, or was given one; NULL: it has none. */
const tg_card *tg_model_card(const tg_model *model);

/* Gives a model its card, which then belongs to it; an earlier one is freed. */
void tg_model_set_card(tg_model *model, tg_card *card);

/* Predicts one row. `row` has a number for each column of the card (card->columns), as in the table: a category by
 * tg_card_category, a missing value as NaN; or for each pixel of an image, as in the file. `out` gets tg_card_results
 * numbers: the probability of each class, each target in its own unit, or each pixel. False if the model has no card,
 * reads characters, a value is missing where training had none, or out of memory. */
bool tg_model_predict(const tg_model *model, const double *row, double *out);

/* The same for `count` rows, one after the other, with an error that names the row and the column. */
bool tg_model_predict_rows(const tg_model *model, const double *rows, int64_t count, double *out, tg_error *error);

/* ---- characters ---- */

typedef struct tg_generate_options {
    const char *prompt;                  /* the beginning of the text; NULL: a newline */
    int64_t length;                      /* maximum number of characters after it, each of up to 4 bytes in UTF-8 */
    double temperature;                  /* 0: always the most likely character */
    int top;                             /* draw from this many of the most likely characters; 0: from all */
    void (*each)(void *user, char byte); /* gets the prompt, then each character as it is drawn; NULL: none */
    void *user;
} tg_generate_options;

/* Continues a text: each character is drawn from the `top` most likely ones with probabilities softmax(logits /
 * temperature). A recurrent net keeps its state from the first character on, so each one takes the same time; a
 * transformer sees the last ones of its context. A model of lines ends at the end of the line. `text` gets the
 * characters after the prompt and a zero byte: length + 1 bytes at most, 4 * length + 1 with card->utf8; NULL: only
 * `each` gets them. Returns the number of bytes; -1, with the error, if the model does not write characters, does not
 * know one of the prompt or has logits that are NaN, or out of memory. */
int64_t tg_model_generate(const tg_model *model, const tg_generate_options *options, tg_rng *rng, char *text,
                          tg_error *error);

/* Writes the target of a source with a model of pairs (seq2seq): the most probable one that a beam search finds, which
 * keeps the `beams` most probable beginnings of each length; 1 is greedy decoding. `target` gets it, at most
 * card->spec.context characters, each of up to 4 bytes with card->utf8, and a zero byte; `log_probability` gets that of
 * the target, NULL: it is not wanted. Returns its number of bytes; -1, with the error, if the model does not read
 * pairs, does not know a character of the source, the source is too long, or out of memory. */
int64_t tg_model_translate(const tg_model *model, const char *source, int beams, char *target, double *log_probability,
                           tg_error *error);

TG_API_END
#endif
