#include "tests/support/fit_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double fit_x[FIT_ROWS][3], fit_y[FIT_ROWS][2];
int32_t fit_label[FIT_ROWS];

tg_tensor fit_squared_error(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    tg_tensor loss = tg_mse(tg_mlp_forward_with(net, batch[0], training, NULL), batch[1]);
    if (score)
        *score = -sqrt(tg_item(loss));
    return loss;
}

static void fit_draw_data(void)
{
    tg_rng rng = tg_rng_seed(3);
    for (int r = 0; r < FIT_ROWS; r++) {
        for (int i = 0; i < 3; i++)
            fit_x[r][i] = tg_rng_normal(&rng);
        fit_y[r][0] = fit_x[r][0] * fit_x[r][1];
        fit_y[r][1] = fit_x[r][2];
        fit_label[r] = fit_x[r][0] > 0;
    }
}

void fit_begin(fit_run *r, double dropout, tg_norm norm)
{
    tg_rng rng = tg_rng_seed(7);
    const tg_schedule cosine = {.kind = TG_WARMUP_COSINE, .warmup = 3, .steps = 20};
    *r = (fit_run){.net = tg_mlp_new(&rng, &(tg_mlp_config){.init = TG_INIT_VARIANCE_PRESERVING,
                                                            .inputs = 3,
                                                            .hidden = {8},
                                                            .outputs = 2,
                                                            .dropout = dropout,
                                                            .norm = norm,
                                                            .dtype = TG_F64})};
    r->optimizer = tg_optimizer_new(tg_mlp_parameters(r->net),
                                    &(tg_optimizer_config){.lr = 0.02, .clip_norm = 1, .schedule = cosine});
    r->config =
        (tg_fit_config){.loss = fit_squared_error,
                        .model = r->net,
                        .optimizer = r->optimizer,
                        .train = {FIT_ROWS - FIT_VALID, {{fit_x, TG_F64, TG_SHAPE(3)}, {fit_y, TG_F64, TG_SHAPE(2)}}},
                        .valid = {FIT_VALID,
                                  {{fit_x[FIT_ROWS - FIT_VALID], TG_F64, TG_SHAPE(3)},
                                   {fit_y[FIT_ROWS - FIT_VALID], TG_F64, TG_SHAPE(2)}}},
                        .batch = 5,
                        .epochs = 4,
                        .seed = 11};
}

void fit_start(fit_run *r)
{
    r->fit = tg_fit_new(&r->config);
    ck_assert_msg(!tg_fit_error(r->fit), "%s", tg_fit_error(r->fit));
}

void fit_train(fit_run *r)
{
    fit_start(r);
    ck_assert_msg(tg_fit_run(r->fit), "%s", tg_fit_error(r->fit));
}

void fit_end(fit_run *r)
{
    tg_fit_free(r->fit);
    tg_optimizer_free(r->optimizer);
    tg_mlp_free(r->net);
}

void fit_assert_same_weights(const fit_run *a, const fit_run *b)
{
    const tg_parameters *p = tg_mlp_parameters(a->net), *q = tg_mlp_parameters(b->net);
    ck_assert_mem_eq(tg_parameters_values(p), tg_parameters_values(q), (size_t)tg_parameters_size(p) * sizeof(double));
}

/* Equal numbers, or both NaN. */
static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

void fit_assert_same_epochs(const fit_run *a, const fit_run *b)
{
    ck_assert_int_eq(tg_fit_epoch_count(a->fit), tg_fit_epoch_count(b->fit));
    for (int i = 0; i < tg_fit_epoch_count(a->fit); i++) {
        const tg_fit_epoch *p = tg_fit_epoch_at(a->fit, i), *q = tg_fit_epoch_at(b->fit, i);
        ck_assert(p->epoch == q->epoch && p->step == q->step && p->best == q->best && p->rate == q->rate);
        ck_assert(p->train_loss == q->train_loss && same(p->valid_loss, q->valid_loss) &&
                  same(p->valid_score, q->valid_score));
        ck_assert(p->gradient_norm == q->gradient_norm);
    }
}

char *fit_copy_of(const char *name)
{
    return strdup(temporary_text(name));
}

void fit_in_folder(fit_run *r, const char *name)
{
    static const tg_metadata line = {"activation", "gelu_exact"};
    snprintf(r->folder, sizeof r->folder, "%s", temporary_path(name));
    r->config.folder = r->folder;
    r->config.metadata = &line;
    r->config.metadata_count = 1;
}

void fit_suite_start(void)
{
    start_tape();
    temporary_folder_make();
    fit_draw_data();
}

void fit_suite_finish(void)
{
    temporary_folder_remove();
    finish_tape();
}
