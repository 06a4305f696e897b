/* What tg_model_predict keeps from call to call: a tape, whose step repeats, and room for inputs. A call takes one and
 * gives it back, so calls of several threads have one each. Internal to nn/saved.
 *
 *     tg_predictor *p = tg_predictor_take(model->predictors, card, error);
 *     bool fine = p && tg_predictor_run(p, model, rows, 0, count, out, error);       // 256 rows at most
 *     tg_predictor_give(model->predictors, p, fine);
 */
#ifndef TG_PREDICTOR_H
#define TG_PREDICTOR_H

#include "nn/models/model.h"
#include "nn/saved/card.h"

enum { TG_PREDICTOR_ROWS = 256 };

typedef struct tg_predictor tg_predictor;

/* For the predictors of a model, with what its card says about columns of numbers. NULL if out of memory. */
void *tg_predictors_new(const tg_card *card);
void tg_predictors_free(void *predictors);

/* One that is idle, or a new one. NULL, with the error, if out of memory. */
tg_predictor *tg_predictor_take(void *predictors, const tg_card *card, tg_error *error);

/* Keeps it for later calls, or frees it if it has failed or enough are kept. NULL: does nothing. */
void tg_predictor_give(void *predictors, tg_predictor *predictor, bool fine);

/* Predicts some rows; `first` is the number of the first one, for errors. */
bool tg_predictor_run(tg_predictor *predictor, const tg_model *model, const double *rows, int64_t first, int64_t count,
                      double *out, tg_error *error);

#endif
