#include "nn/models/dead_units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_DERIVATIVE = 1e-3;

struct tg_dead_units {
    tg_activation activation;
    int layers;
    int64_t widths[TG_MLP_HIDDEN];
    int64_t alive_in[TG_MLP_HIDDEN]; /* number of units in a layer that have responded so far */
    int64_t count;
    bool seen;
    bool alive[]; /* unit by unit, layer after layer */
};

tg_dead_units *tg_dead_units_new(const tg_mlp *net)
{
    if (!net)
        return NULL;
    int64_t count = 0;
    for (int i = 0; i < tg_mlp_hidden_count(net); i++)
        count += tg_mlp_width(net, i);
    tg_dead_units *units = calloc(1, sizeof *units + (size_t)count);
    if (!units)
        return NULL;
    units->activation = tg_mlp_activation(net);
    units->layers = tg_mlp_hidden_count(net);
    units->count = count;
    for (int i = 0; i < units->layers; i++)
        units->widths[i] = tg_mlp_width(net, i);
    return units;
}

void tg_dead_units_free(tg_dead_units *units)
{
    free(units);
}

void tg_dead_units_clear(tg_dead_units *units)
{
    if (!units)
        return;
    units->seen = false;
    memset(units->alive_in, 0, sizeof units->alive_in);
    memset(units->alive, 0, (size_t)units->count);
}

/* Marks the units that respond in some row of derivatives [rows, width]. Returns the number of live units. */
static int64_t mark(bool *alive, int64_t width, tg_tensor derivative)
{
    const float *single = tg_f32(derivative);
    const double *twice = tg_f64(derivative);
    for (int64_t i = 0, unit = 0; i < tg_size(derivative); i++) {
        alive[unit] |= fabs(single ? (double)single[i] : twice[i]) >= LEAST_DERIVATIVE;
        unit = unit + 1 < width ? unit + 1 : 0;
    }
    int64_t count = 0;
    for (int64_t unit = 0; unit < width; unit++)
        count += alive[unit];
    return count;
}

bool tg_dead_units_see(tg_dead_units *units, const tg_mlp_trace *trace)
{
    if (!units || !trace || trace->count != units->layers)
        return false;
    bool *alive = units->alive;
    for (int i = 0; i < units->layers; i++) {
        tg_tensor x = trace->preactivation[i];
        if (!tg_ok(x) || tg_dim(x, -1) != units->widths[i])
            return false;
        if (units->alive_in[i] < units->widths[i]) {
            tg_tensor derivative = tg_activation_derivative(units->activation, x);
            if (!tg_ok(derivative))
                return false;
            units->alive_in[i] = mark(alive, units->widths[i], derivative);
        }
        alive += units->widths[i];
    }
    units->seen = true;
    return true;
}

double tg_dead_units_fraction(const tg_dead_units *units)
{
    if (!units || !units->seen || units->count == 0)
        return 0;
    int64_t alive = 0;
    for (int i = 0; i < units->layers; i++)
        alive += units->alive_in[i];
    return (double)(units->count - alive) / (double)units->count;
}

double tg_dead_units_fraction_of(const tg_dead_units *units, int layer)
{
    if (!units || !units->seen || layer < 0 || layer >= units->layers || units->widths[layer] == 0)
        return 0;
    return (double)(units->widths[layer] - units->alive_in[layer]) / (double)units->widths[layer];
}
