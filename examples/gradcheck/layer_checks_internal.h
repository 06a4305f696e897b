/* What layers of one kind have in common: how one is made and run, and what it is tried with. Internal to the checks of
 * layers; the kinds are in layer_kinds.c.
 *
 * To check a model of a new kind: MODEL, FORWARD and KIND with its name in layer_kinds.c, and a line into
 * layer_checks.c.
 */
#ifndef GRADCHECK_LAYER_CHECKS_INTERNAL_H
#define GRADCHECK_LAYER_CHECKS_INTERNAL_H

#include "examples/gradcheck/layer_checks.h"
#include "nn/layers/sequential.h"

enum { LAYER_SHAPES = 5, LAYER_ELEMENTS = 128 /* of x, at most */ };

/* A layer that is being checked. */
typedef struct layer {
    const layer_check *check;
    uint64_t seed;      /* of what is random in training */
    tg_parameters *set; /* belongs to the model, if there is one */
    union {
        tg_linear_layer linear;
        tg_hidden_layer hidden;
        tg_feed_forward feed_forward;
        tg_norm_layer norm;
        tg_attention attention;
        tg_block block;
        tg_convolution convolution;
        tg_embedding_layer embedding;
        tg_conv_block conv_block;
        struct {
            tg_convolution conv;
            tg_norm_layer norm;
            tg_linear_layer inner, last;
        } sequence;
        void *model;
    };
} layer;

/* What layers of one kind have in common. */
struct layer_kind {
    const char *category;
    void (*add)(layer *l, tg_shape x); /* to l->set; a model brings its own instead */
    tg_tensor (*forward)(const layer *l, tg_tensor x, tg_rng *training);
    void (*discard)(layer *l);     /* of a model, its parameters included; NULL: the set is all there is */
    tg_shape shapes[LAYER_SHAPES]; /* of x; a rank of 0 ends them */
    int64_t ids;                   /* x is i32 below this; 0: it is f64 */
};

extern const layer_kind kind_linear, kind_hidden, kind_dropout, kind_norm, kind_images, kind_sequences, kind_conv_block,
    kind_embedding, kind_rotary, kind_attention, kind_feed_forward, kind_block, kind_sequential, kind_mlp,
    kind_autoencoder, kind_char_mlp, kind_convnet, kind_vit, kind_transformer;

#endif
