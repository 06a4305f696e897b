#include "nn/saved/saved.h"

#include "autograd/grad.h"
#include "nn/files/weights.h"
#include "nn/models/model_internal.h"
#include "nn/saved/predictor.h"

/* ---- models from files ---- */

static void free_card(void *card)
{
    tg_card_free(card);
}

tg_model *tg_model_of_card(const tg_card *card, const char *path, const tg_load_options *load, tg_error *error)
{
    if (!card) {
        tg_fail(error, "tg_model_of_card: there is no card");
        return NULL;
    }
    tg_activation activation;
    tg_weights_load_options options = {.load = load ? *load : (tg_load_options){0}};
    options.load.allow_unknown = true; /* the moments of a training state */
    tg_model *model = tg_model_of_spec(&card->spec, &tg_undrawn, error);
    if (model && tg_activation_from_name(card->spec.activation, &activation) &&
        tg_weights_load(tg_model_parameters(model), path ? path : card->path, activation, &options, error))
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
    if (!model) {
        tg_card_free(card);
        return;
    }
    if (model->free_card)
        model->free_card(model->card);
    model->card = card;
    model->free_card = free_card;
    if (model->free_predictors)
        model->free_predictors(model->predictors);
    model->predictors = tg_predictors_new(card); /* NULL, if out of memory: then nothing is kept */
    model->free_predictors = tg_predictors_free;
}

const tg_card *tg_model_card(const tg_model *model)
{
    return model && model->free_card == free_card ? model->card : NULL;
}

/* ---- predictions ---- */

bool tg_model_predict_rows(const tg_model *model, const double *rows, int64_t count, double *out, tg_error *error)
{
    const tg_card *c = tg_model_card(model);
    if (!c || c->task == TG_CARD_LETTERS || count < 0 || (count && (!rows || !out)))
        return tg_fail(error, "tg_model_predict: %s",
                       !c                           ? "the model was not opened from a file"
                       : c->task == TG_CARD_LETTERS ? "the model reads characters; see tg_model_generate"
                                                    : "there are no rows, or no room for results");
    const size_t width = c->columns ? c->columns : (size_t)c->spec.inputs, results = tg_card_results(c);
    tg_predictor *p = tg_predictor_take(model->predictors, c, error);
    bool fine = p != NULL;
    for (int64_t first = 0; fine && first < count; first += TG_PREDICTOR_ROWS) {
        const int64_t left = count - first, some = left < TG_PREDICTOR_ROWS ? left : TG_PREDICTOR_ROWS;
        fine =
            tg_predictor_run(p, model, rows + (size_t)first * width, first, some, out + (size_t)first * results, error);
    }
    tg_predictor_give(model->predictors, p, fine);
    return fine;
}

bool tg_model_predict(const tg_model *model, const double *row, double *out)
{
    return tg_model_predict_rows(model, row, 1, out, NULL);
}
