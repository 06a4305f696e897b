/* The hidden layers of perceptrons, shared by several models. Internal to nn. */
#ifndef TG_HIDDEN_LAYERS_H
#define TG_HIDDEN_LAYERS_H

#include "nn/models/model_internal.h"

enum { TG_HIDDEN_MOST = 64 }; /* layers at most */

/* The number of widths before the 0 that ends them; most + 1 if that is missing. */
int tg_hidden_count(const int64_t *widths, int most);

/* NULL, or the error in the configuration of hidden layers. */
const char *tg_hidden_error(const int64_t *widths, int most, tg_activation activation, tg_norm norm, double dropout,
                            tg_init init, tg_dtype dtype);

/* Hidden layers one after the other, each with a normalisation and dropout. */
typedef struct tg_hidden_layers {
    int64_t inputs;
    const int64_t *widths; /* [count] */
    int count;
    const bool *residual; /* [count]: which have a residual connection; NULL: none */
    tg_activation activation;
    tg_norm norm;
    double dropout;
    bool no_bias;
} tg_hidden_layers;

/* Adds PREFIX.N.* and PREFIX.N.norm.*, N from 0 on. Initial weights of residual layers are divided by the square root
 * of their number. */
void tg_model_add_hidden(tg_model *model, const char *prefix, const tg_hidden_layers *hidden);

/* Adds the linear layer NAME at the end, initialised as if this activation followed. */
void tg_model_add_output(tg_model *model, const char *name, int64_t inputs, int64_t outputs, tg_activation activation,
                         bool bias);

#endif
