/* The description of a net that a model file contains, from which the model is made again: its name and its settings,
 * as words and numbers.
 *
 *     tg_model_spec spec = {.model = "mlp", .inputs = 8, .outputs = 1, .hidden = "64x2", .activation = "relu"};
 *     tg_model_spec_complete(&spec);                                       // defaults for all that is 0 or NULL
 *     tg_model *net = tg_model_of_spec(&spec, &rng, &error);
 *     tg_tensor y = tg_model_forward(net, x, NULL);
 *     tg_model_free(net);
 *
 * tg_model_open (nn/saved/saved.h) does this for a file.
 */
#ifndef TG_SPEC_H
#define TG_SPEC_H

#include "autograd/error.h"
#include "nn/models/model.h"

TG_API_BEGIN

/* Texts are not copied. */
typedef struct tg_model_spec {
    const char *model;            /* "mlp", "gpt", ...: nn/saved/nets.def */
    const char *hidden, *filters; /* widths: "128x4", "16,32,64"; "none" */
    const char *activation, *norm, *init;
    int code, patch, layers, heads, kv_heads, width, context, embedding;
    double dropout, init_scale, ffn_init_scale;
    bool residual, rotary, relative, post_norm;
    int groups;       /* mlp: of the hidden layers after the first (nn/models/mlp.h); 0: 1 */
    bool equal_width; /* gated: the configured widths, not those with as many parameters as a plain net */
    bool last;        /* of a model that may predict at every position: it predicts at the last one only */

    int inputs, outputs;           /* of rows: features or pixels, and classes or targets */
    int image_height, image_width; /* for images, else 0 */
    int vocabulary;                /* for text, else 0 */
    bool regression;               /* mlp: as in tg_mlp_config; only for initial weights, so not in files */
    int longest; /* for pairs: the context that the longest one needs, which is the default; not in files */
} tg_model_spec;

/* Properties of a model, found by its name. */
typedef struct tg_model_traits {
    const char *options;    /* the options of nn/saved/options.def that only some models have */
    bool text, images;      /* reads characters; needs images */
    bool pairs;             /* reads a source and writes a target */
    bool reconstructs;      /* its outputs are its inputs */
    bool every_position;    /* predicts a character at each position of a context; contexts may be shorter */
    bool lines;             /* may predict at the last position alone, for lists of lines */
    bool rows_alone;        /* a channel has one number per row, so batch norm needs two rows */
    int batch;              /* maximum rows of a training pass, if no option says so */
    double lr, compared_lr; /* default learning rate for AdamW; compared_lr is that of a comparison, 0: lr */
    size_t gated; /* offset of the widths that are adapted if layers are gated; 0: the model adapts them itself */
} tg_model_traits;

/* NULL if there is no model of this name. */
const tg_model_traits *tg_model_traits_of(const char *name);

/* Replaces settings that are 0 or NULL by the model's defaults; the model's name must be known. */
void tg_model_spec_complete(tg_model_spec *spec);

/* The model, freshly initialised, whose forward pass takes rows [batch, inputs] to [batch, outputs] (autoencoder:
 * [batch, inputs]), and characters i32 [batch, context] to [batch, context, vocabulary] (gpt, rnn, gru, lstm) or
 * [batch, vocabulary] (charmlp); seq2seq reads i32 [batch, context + targets]. To be freed by tg_model_free. NULL, with
 * the error, if the description is wrong or out of memory. `rng` is not advanced. */
tg_model *tg_model_of_spec(const tg_model_spec *spec, const tg_rng *rng, tg_error *error);

/* "mlp 784-128x4-10, gelu_exact", for messages; cut to `size` bytes. */
void tg_model_spec_describe(const tg_model_spec *spec, char *text, size_t size);

/* Reads widths of layers, "128x8" or "512,256x2", into widths[most + 1], ended by 0; none for NULL, "" and "none".
 * False, with an error that begins with the name, if the text is invalid, or has more than `most` widths. */
bool tg_widths_read(const char *name, const char *text, int64_t widths[], int most, tg_error *error);

TG_API_END
#endif
