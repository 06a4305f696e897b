/* One interface to the models of `train` and `predict`: made from a specification, which the options give and a model
 * file contains.
 *
 *     net_spec spec = {.model = "mlp", .inputs = 8, .outputs = 1};
 *     net_spec_complete(&spec);
 *     tg_model *model = net_new(&spec, &rng, &error);
 *     tg_tensor y = tg_model_forward(model, x, NULL);
 *     tg_model_free(model);
 */
#ifndef RUN_NET_H
#define RUN_NET_H

#include "examples/programs/run/options.h"

#include <jansson.h>
#include <tapegrad.h>

typedef struct net_spec {
    const char *model;
    const char *hidden, *filters; /* widths: "128x4", "16,32,64" */
    const char *activation, *norm, *init;
    int code, patch, layers, heads, kv_heads, width, context, embedding;
    double dropout, init_scale;
    bool residual, rotary, post_norm;
    bool equal_width; /* gated: the configured widths, not those with as many parameters as a plain net */

    int inputs, outputs;           /* of rows: features or pixels, and classes or targets */
    int image_height, image_width; /* for images, else 0 */
    int vocabulary;                /* for text, else 0 */
} net_spec;

extern const char *const net_models[], *const net_activations[], *const net_norms[],
                                                                     *const net_inits[]; /* ended by NULL */

/* The options, ended by a line of zeros; the settings of a program that takes them begin with a net_spec. */
extern const program_option net_options[];

/* A copy of a text that lives as long as the program; equal texts share one. NULL when memory runs out. */
const char *net_keep_text(const char *text);

/* Sets the hidden widths of a gated net so that it has about as many parameters as the plain net; texts are shared with
 * the specification. False and one line if a net cannot be made. */
bool net_spec_equalize(net_spec *spec, tg_error *error);

/* Replaces options that are 0 or NULL by the model's defaults. */
void net_spec_complete(net_spec *spec);

/* As JSON and back; texts live as long as the object. False and one line if something is missing or wrong. */
json_t *net_spec_json(const net_spec *spec);
bool net_spec_read(net_spec *spec, json_t *object, tg_error *error);

/* The first option of net_options, except dropout, in which two models differ; NULL: they are the same function of
 * their weights. */
const char *net_difference(const net_spec *a, const net_spec *b);

/* Properties of a model, found by its name. */
typedef struct net_traits {
    const char *options;    /* the options of net_options that only some models have */
    bool text, images;      /* reads characters; needs images */
    bool reconstructs;      /* its outputs are its inputs */
    bool every_position;    /* predicts a character at each position of a context; contexts may be shorter */
    bool rows_alone;        /* a channel has one number per row, so batch norm needs two rows */
    int batch;              /* maximum rows of a pass, if no option says so */
    double lr, compared_lr; /* default learning rate for AdamW; compared_lr is that of a comparison, 0: lr */
    size_t gated; /* offset of the widths that are adapted if layers are gated; 0: the model adapts them itself */
} net_traits;

/* NULL if there is none of this name. */
const net_traits *net_traits_of(const char *model);

/* True if an option of net_options applies to this model. */
bool net_takes(const char *model, const char *option);

/* The minimum number of rows of a training pass: 2 for batch norm with one number per row and channel, else 1. */
int net_least_rows(const net_spec *spec);

/* A warning before training, if no initial weights of this net keep the size of its signals or gradients: deep products
 * and squares without a normalisation (docs/initial-weights.md); else NULL. */
const char *net_warning(const net_spec *spec);

/* True if a residual connection would have no effect: no two successive hidden layers have the same width. */
bool net_residual_is_idle(const net_spec *spec);

/* The model, freshly initialised, whose forward pass takes rows [batch, inputs] to [batch, outputs] (autoencoder:
 * [batch, inputs]), and characters i32 [batch, context] to [batch, context, vocabulary] (gpt) or [batch, vocabulary]
 * (charmlp). To be freed by tg_model_free. NULL and one line if the specification is wrong. `rng` is not advanced. */
tg_model *net_new(const net_spec *spec, const tg_rng *rng, tg_error *error);

/* The model as an mlp; NULL if it is another kind. */
const tg_mlp *net_mlp(const tg_model *model);

/* "784-128x4-10, gelu_exact", for messages. */
void net_describe(const net_spec *spec, char *text, size_t size);

#endif
