#include "nn/ema.h"

#include "autograd/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tg_ema {
    tg_parameters *model, *average;
    tg_ema_config config;
    int64_t updates;
    bool swapped;
    tg_error error; /* of the last update or exchange; "" if it succeeded */
};

/* Copies names and shapes, without gradients. */
static bool copy_set(tg_parameters *average, const tg_parameters *model)
{
    for (int i = 0; i < tg_parameters_count(model); i++) {
        const tg_parameter *p = tg_parameters_at(model, i);
        tg_parameter *q = tg_parameters_add(average, p->name, p->shape, p->decay);
        if (!q)
            return false;
        q->gradient = NULL;
    }
    tg_parameters_copy(average, model);
    return true;
}

tg_ema *tg_ema_new(tg_parameters *set, const tg_ema_config *config)
{
    static const tg_ema_config none = {0};
    const double decay = config && config->decay != 0 ? config->decay : 0.999;
    if (tg_parameters_error(set) || !(decay > 0 && decay < 1))
        return NULL;
    tg_ema *ema = calloc(1, sizeof *ema);
    if (!ema)
        return NULL;
    ema->config = config ? *config : none;
    ema->config.decay = decay;
    ema->model = set;
    ema->average = tg_parameters_new(tg_parameters_dtype(set));
    if (ema->average && copy_set(ema->average, set))
        return ema;
    tg_ema_free(ema);
    return NULL;
}

void tg_ema_free(tg_ema *ema)
{
    if (!ema)
        return;
    if (ema->swapped)
        tg_ema_swap(ema);
    tg_parameters_free(ema->average);
    free(ema);
}

/* average += rate (weight - average) */
static void average_f32(float *average, const float *weight, int64_t n, double rate)
{
    const float r = (float)rate;
    for (int64_t i = 0; i < n; i++)
        average[i] += r * (weight[i] - average[i]);
}

static void average_f64(double *average, const double *weight, int64_t n, double rate)
{
    for (int64_t i = 0; i < n; i++)
        average[i] += rate * (weight[i] - average[i]);
}

static bool has_grown(const tg_ema *ema)
{
    return tg_parameters_count(ema->model) != tg_parameters_count(ema->average);
}

bool tg_ema_update(tg_ema *ema)
{
    if (!ema)
        return false;
    if (has_grown(ema))
        return tg_fail(&ema->error, "tg_ema_update: the parameter set has grown since the average was made");
    if (ema->swapped)
        return tg_fail(&ema->error, "tg_ema_update: the averages stand in the place of the weights");
    ema->error.text[0] = '\0';
    const double t = (double)ema->updates, early = (1 + t) / (10 + t);
    const double decay = ema->config.warmup ? fmin(ema->config.decay, early) : ema->config.decay;
    for (int i = 0; i < tg_parameters_count(ema->model); i++) {
        const tg_parameter *p = tg_parameters_at(ema->model, i), *q = tg_parameters_at(ema->average, i);
        const int64_t size = tg_shape_size(&p->shape);
        if (ema->updates == 0 || !p->gradient)
            memcpy(q->data, p->data, (size_t)size * tg_dtype_size(p->dtype));
        else if (p->dtype == TG_F32)
            average_f32(q->data, p->data, size, 1 - decay);
        else
            average_f64(q->data, p->data, size, 1 - decay);
    }
    tg_parameters_changed(ema->average);
    ema->updates++;
    return true;
}

bool tg_ema_swap(tg_ema *ema)
{
    if (!ema)
        return false;
    if (has_grown(ema) && !ema->swapped)
        return tg_fail(&ema->error, "tg_ema_swap: the parameter set has grown since the average was made");
    tg_parameters_swap(ema->average,
                       tg_parameters_values(ema->model)); /* parameters added since are at the end and stay */
    tg_parameters_changed(ema->model);
    ema->swapped = !ema->swapped;
    ema->error.text[0] = '\0';
    return true;
}

bool tg_ema_is_swapped(const tg_ema *ema)
{
    return ema && ema->swapped;
}

const char *tg_ema_error(const tg_ema *ema)
{
    if (!ema)
        return "the average is NULL: out of memory, or an error in its set or decay";
    return ema->error.text[0] ? ema->error.text : NULL;
}

tg_parameters *tg_ema_parameters(const tg_ema *ema)
{
    return ema ? ema->average : NULL;
}

int64_t tg_ema_updates(const tg_ema *ema)
{
    return ema ? ema->updates : 0;
}

bool tg_ema_restore(tg_ema *ema, int64_t updates)
{
    if (!ema || updates < 0)
        return false;
    ema->updates = updates;
    return true;
}
