/* Dead units: hidden units whose activation has stopped responding.
 *
 *     tg_dead_units *dead = tg_dead_units_new(net);
 *     for each batch of the validation set:
 *         tg_mlp_trace trace;
 *         tg_mlp_forward_with(net, x, NULL, &trace);
 *         tg_dead_units_see(dead, &trace);
 *     printf("%.1f %% dead\n", 100 * tg_dead_units_fraction(dead));
 *
 * A unit is dead when the derivative of its activation (in a gated layer: of the function applied to the gate) stays
 * below 1e-3 in size on all batches. For ReLU these are the units that are zero everywhere.
 */
#ifndef TG_DEAD_UNITS_H
#define TG_DEAD_UNITS_H

#include "nn/models/mlp.h"

TG_API_BEGIN

typedef struct tg_dead_units tg_dead_units;

/* A counter for this net, before any batch. NULL if out of memory or without a net. The net may be freed first. */
tg_dead_units *tg_dead_units_new(const tg_mlp *net);
void tg_dead_units_free(tg_dead_units *units);

/* Adds one batch. The derivatives are recorded on the trace's tape. False if the trace is inert or from another net. */
bool tg_dead_units_see(tg_dead_units *units, const tg_mlp_trace *trace);

/* The dead fraction of all hidden units, 0 .. 1; 0 without batches or hidden units. */
double tg_dead_units_fraction(const tg_dead_units *units);

/* The dead fraction of one hidden layer, counted from 0; 0 if there is no such layer. */
double tg_dead_units_fraction_of(const tg_dead_units *units, int layer);

/* Discards all batches. */
void tg_dead_units_clear(tg_dead_units *units);

TG_API_END
#endif
