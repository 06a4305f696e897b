#include "nn/saved/saved.h"

#include "autograd/grad.h"
#include "nn/files/model_file.h"
#include "nn/models/model_internal.h"

#include <stdlib.h>

enum { BATCH = 256 };

/* ---- models from files ---- */

static void free_card(void *card)
{
    tg_card_free(card);
}

tg_model *tg_model_of_card(const tg_card *card, const char *path, const tg_load_options *load, tg_error *error)
{
    tg_activation activation;
    tg_model_load_options options = {.load = load ? *load : (tg_load_options){0}};
    options.load.allow_unknown = true; /* the moments of a training state */
    tg_model *model = tg_model_of_spec(&card->spec, &tg_undrawn, error);
    if (model && tg_activation_from_name(card->spec.activation, &activation) &&
        tg_model_load(tg_model_parameters(model), path ? path : card->path, activation, &options, error))
        return model;
    tg_model_free(model);
    return NULL;
}

tg_model *tg_model_open(const char *path, tg_error *error)
{
    tg_card *card = tg_card_read(path, error);
    tg_model *model = card ? tg_model_of_card(card, NULL, NULL, error) : NULL;
    if (!model) {
        tg_card_free(card);
        return NULL;
    }
    tg_model_set_card(model, card);
    return model;
}

void tg_model_set_card(tg_model *model, tg_card *card)
{
    if (model->free_card)
        model->free_card(model->card);
    model->card = card;
    model->free_card = free_card;
}

const tg_card *tg_model_card(const tg_model *model)
{
    return model && model->free_card == free_card ? model->card : NULL;
}

/* ---- predictions ---- */

/* Converts row number `row` to inputs. */
static bool encode(const tg_card *c, const double *from, int64_t row, float *to, tg_error *error)
{
    for (size_t i = 0; i < c->columns; i++) {
        const char *wrong = tg_card_encode(c, i, from[i], to);
        if (wrong)
            return tg_fail(error, "row %lld, column %d%s%.60s: %s", (long long)row, (int)i,
                           c->column[i].name ? ", " : "", c->column[i].name ? c->column[i].name : "", wrong);
    }
    for (int i = 0; !c->columns && i < c->spec.inputs; i++)
        to[i] = tg_card_pixel(c, from[i]);
    return true;
}

static bool predict_batch(const tg_model *model, tg_tape *tape, const float *x, int64_t count, double *out)
{
    const tg_card *c = tg_model_card(model);
    tg_tape_reset(tape);
    tg_no_grad_begin(tape);
    const tg_tensor y =
        tg_model_forward(model, tg_borrow(tape, TG_F32, (void *)x, TG_SHAPE(count, c->spec.inputs)), NULL);
    const float *outputs = tg_f32(y);
    for (int64_t i = 0; outputs && i < count; i++)
        tg_card_decode(c, outputs + (size_t)i * tg_card_results(c), out + (size_t)i * tg_card_results(c));
    tg_no_grad_end(tape);
    return outputs;
}

bool tg_model_predict_rows(const tg_model *model, const double *rows, int64_t count, double *out, tg_error *error)
{
    const tg_card *c = tg_model_card(model);
    if (!c || c->task == TG_CARD_LETTERS || count < 0 || (count && (!rows || !out)))
        return tg_fail(error, "tg_model_predict: %s",
                       !c                           ? "the model was not opened from a file"
                       : c->task == TG_CARD_LETTERS ? "the model reads characters; see tg_model_write"
                                                    : "there are no rows, or no room for results");
    const size_t inputs = (size_t)c->spec.inputs, width = c->columns ? c->columns : inputs;
    const int64_t most = count < BATCH ? count : BATCH;
    float *x = calloc((size_t)most * inputs + 1, sizeof *x);
    tg_tape *tape = tg_tape_new();
    bool fine = (x && tape) || tg_fail(error, "out of memory");
    for (int64_t first = 0; fine && first < count; first += most) {
        const int64_t some = count - first < most ? count - first : most;
        for (int64_t i = 0; fine && i < some; i++)
            fine = encode(c, rows + (size_t)(first + i) * width, first + i, x + (size_t)i * inputs, error);
        if (fine && !predict_batch(model, tape, x, some, out + (size_t)first * tg_card_results(c)))
            fine = tg_fail(error, "%s", tg_tape_error(tape) ? tg_tape_error(tape) : "out of memory");
    }
    free(x);
    tg_tape_free(tape);
    return fine;
}

bool tg_model_predict(const tg_model *model, const double *row, double *out)
{
    return tg_model_predict_rows(model, row, 1, out, NULL);
}
