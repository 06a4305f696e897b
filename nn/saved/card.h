/* A model's card: what its file says about the data. The conversion of columns to inputs, the meaning of outputs, the
 * characters of a text. It is in the metadata of files that the programs write, as two lines of JSON, "tapegrad.model"
 * and "tapegrad.data".
 *
 *     tg_model *m = tg_model_open("housing/best.safetensors", &error);
 *     const tg_card *card = tg_model_card(m);
 *     for (size_t i = 0; i < card->columns; i++)
 *         puts(card->column[i].name);                        // what a row for tg_model_predict consists of
 *     row[3] = tg_card_category(card, 3, "near ocean");      // a category is a number in it
 */
#ifndef TG_CARD_H
#define TG_CARD_H

#include "nn/files/safetensors.h"
#include "nn/saved/spec.h"

TG_API_BEGIN

typedef enum tg_card_task {
    TG_CARD_CLASSES, /* rows of a table or images -> a class */
    TG_CARD_TARGETS, /* rows of a table -> numbers */
    TG_CARD_IMAGES,  /* images -> the same images */
    TG_CARD_LETTERS, /* characters -> the next one */
} tg_card_task;

/* value in the source = value in the model * scale + mean. A constant column has scale 0, and the model gets 0. With a
 * limit above 0 the model gets z / sqrt(1 + (z / limit)^2), of z = (value in the source - mean) / scale. */
typedef struct tg_card_scale {
    double mean, scale, limit;
} tg_card_scale;

/* An input from a table: the number in a column; or 1 if the cell has this category, else 0; or 1 if it is missing,
 * else 0. Or a column with the class or a target. */
typedef struct tg_card_input {
    const char *name;     /* NULL if the file had none; of a target, empty */
    int number;           /* of the column in the training file */
    const char *category; /* NULL: the number itself */
    bool other;           /* the category is any that is not among the others of the column */
    bool missing;
    bool frequent; /* the category is the most frequent one of its column in training; older files do not say */
    tg_card_scale scale;
} tg_card_input;

/* A column of a row: the inputs first .. last - 1 come from it. */
typedef struct tg_card_column {
    const char *name; /* NULL if the training file named none */
    size_t first, last;
    bool categorical, may_miss;
} tg_card_column;

typedef struct tg_card {
    tg_model_spec spec;
    tg_card_task task;
    size_t inputs;
    tg_card_input *input; /* [inputs] of a table; none for images */
    size_t columns;
    tg_card_column *column; /* [columns] */
    size_t answers;         /* columns of a table with the class or the targets; 0 if the file does not say */
    tg_card_input *answer;
    size_t weights; /* columns with the weights of rows: 0 or 1 */
    tg_card_input *weight;
    size_t classes, targets;
    const char **class_names;
    float *class_weight; /* [classes]: in the loss; NULL: all are 1 */
    double *constant;    /* what answers of training rows are without inputs: [classes], the share of each class, or
                            [targets], means as the model has them; NULL: the file does not say */
    tg_card_input *target;
    double pixel_scale; /* 255 for images; 1 if the card has none */
    bool lines;         /* the text is a list of words, one per line */
    int vocabulary;
    int32_t *letter;              /* [vocabulary]: the character of each number: a byte, or with utf8 a code point */
    bool utf8;                    /* the text is UTF-8 */
    char *model_text, *data_text; /* the two lines of metadata */
    char *path;                   /* of the file that was read; NULL: none */
    char *texts[2];               /* hold the names and words */
} tg_card;

/* Reads the card of a model file, or of the one in a run's folder: refit.safetensors, if there is one, else
 * best.safetensors. NULL, with an error of one line, if it is not a model file, or if its metadata is invalid. */
tg_card *tg_card_read(const char *path, tg_error *error);

/* A card from its two lines, which are copied. NULL, with the error, if they are invalid. */
tg_card *tg_card_parse(const char *model_text, const char *data_text, tg_error *error);
void tg_card_free(tg_card *card);

/* The lines for tg_fit_config.metadata or tg_parameters_save; they live as long as the card. NULL has values of
 * NULL. */
enum { TG_CARD_LINES = 4 };
void tg_card_metadata(const tg_card *card, tg_metadata lines[TG_CARD_LINES]);

/* ---- rows ---- */

/* The number that stands for this category in a row; for one that the model does not know, the number of its input for
 * other categories, if it has one, else -1, for which all inputs of the column are 0. */
double tg_card_category(const tg_card *card, size_t column, const char *category);

/* The category of a number in a row; NULL if it is none or stands for other ones. */
const char *tg_card_category_name(const tg_card *card, size_t column, double number);

/* What may stand for a missing value in a row where training had none: the number whose input is 0: the mean of
 * training, the median if there is a limit, or 0 in a column of 0 and 1; of categories the most frequent one in
 * training, -1 if the file does not say. */
double tg_card_fill(const tg_card *card, size_t column);

/* Sets the inputs that come from a column. `value` is the number of the table or a category's number; NaN: missing.
 * Returns NULL, or what is wrong: missing where training had none, no category, or no such column. */
const char *tg_card_encode(const tg_card *card, size_t column, double value, float *inputs);

/* A number as the model reads it, 0 if it is missing (NaN). */
double tg_card_standardise(tg_card_scale scale, double value);

/* A pixel of an image as the model reads it. */
float tg_card_pixel(const tg_card *card, double value);

/* From the outputs of the model for a row: the probability of each class, targets in their own unit, or pixels. */
void tg_card_decode(const tg_card *card, const float *output, double *result);

/* The name of the most likely class; NULL if the model predicts none. */
const char *tg_card_class(const tg_card *card, const double *probability);

/* ---- characters ---- */

enum { TG_CARD_MOST_LETTERS = 4096 };

/* The number of the character at *text, which is then the next one; -1 if the model does not know it. */
int tg_card_number(const tg_card *card, const char **text);

/* Writes the bytes of a character, and returns how many there are; 0 if there is no character with this number. */
int tg_card_letter(const tg_card *card, int number, char bytes[4]);

/* ---- results ---- */

/* The number of results for a row. */
size_t tg_card_results(const tg_card *card);

TG_API_END
#endif
