/* What a layer is: a plain struct with its parameters, and one constant struct that says how it is run and tested. Your
 * own layers are written like the library's. Each takes one file, and in the library a line in layers.def:
 *
 *     typedef struct scale {
 *         tg_parameter *weight; // [size]
 *     } scale;
 *
 *     static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)            // y = w x
 *     {
 *         const scale *layer = self->layer;
 *         return tg_mul(x, tg_parameter_tensor(tg_tape_of(x), layer->weight));
 *     }
 *
 *     static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
 *     {
 *         scale *s = layer;
 *         s->weight = tg_parameters_add(set, tg_name_in(name, "weight").text, TG_SHAPE(x->dim[x->rank - 1]), false);
 *         return (tg_layer){.kind = &tg_scale_kind, .layer = s};
 *     }
 *
 *     static const tg_shape shapes[] = {{2, {3, 4}}, {1, {5}}, {0}};
 *     static const tg_layer_sample samples[] = {{"", "w x", .shapes = shapes}, {0}};
 *     const tg_layer_kind tg_scale_kind = {"scale", "layer", sizeof(scale), forward, add, samples};
 *
 * With its line in layers.def, gradcheck checks the layer's derivatives, and tests/nn/test_cross_models.c combines it
 * in random models with all other layers, checkpoints, threads, replays and files.
 *
 *     layers.def -> tg_layer_kind <- tg_layer (a layer of a model) <- tg_sequential, tg_model
 */
#ifndef TG_LAYER_H
#define TG_LAYER_H

#include "autograd/ops.h"
#include "nn/init.h"

TG_API_BEGIN

typedef struct tg_layer tg_layer;
typedef struct tg_past tg_past;

/* Angles of rotary positions (nn/layers/rotary.h), until the tape is reset. */
typedef struct tg_rotary {
    tg_tensor cosine, sine; /* [positions, size / 2] */
} tg_rotary;

/* Optional arguments of attention; zeros: none. */
typedef struct tg_attention_context {
    tg_tensor padding;        /* [batch, positions], same type as x: 0 = masked */
    const tg_rotary *rotary;  /* rotates queries and keys of one sequence; NULL: no rotation */
    tg_tensor bias;           /* [heads, 1, positions, others]: added to the scores (nn/layers/relative.h); TG_NONE */
    tg_tensor memory;         /* [batch, others, width]: keys and values are of this sequence; TG_NONE: of x */
    tg_tensor memory_padding; /* [batch, others], same type: 0 = masked; with a memory, in place of `padding` */
    tg_past *past;            /* of a decoder (nn/models/decoder.h): x continues a sequence; NULL: it is one */
} tg_attention_context;

/* Data of one pass, handed from layer to layer. Zeros: a pass in evaluation. */
typedef struct tg_layer_pass {
    tg_rng *training;         /* the generator of a training pass; NULL: evaluation */
    tg_tensor padding;        /* for attention: [batch, positions], 0 = masked; TG_NONE: nothing is masked */
    tg_rotary rotary;         /* for attention: the angles of rotary positions; zeros: none */
    tg_tensor bias;           /* for attention of a sequence to itself: added to its scores; TG_NONE: nothing is */
    tg_tensor memory;         /* for cross-attention: what an encoder has made of the source, [batch, others, width] */
    tg_tensor memory_padding; /* [batch, others], 0 = masked; TG_NONE: nothing is masked */
    tg_tensor target;         /* i32 [batch, positions]: the tokens that a decoder will read; TG_NONE: none */
    tg_past *past;            /* of a decoder (nn/models/decoder.h): x continues a sequence; NULL: it is one */
    tg_tensor *preactivation; /* where the next hidden layer writes the input of its activation; NULL: nowhere */
} tg_layer_pass;

/* A test sample of a layer: LAYER.NAME, or LAYER if there is only one. */
typedef struct tg_layer_sample {
    const char *name, *about;
    const tg_shape *shapes; /* shapes of x; ended by a rank of 0 */
    int64_t ids;            /* x is i32, below this; 0: x is floating */
    bool training;          /* a pass in training, */
    bool padded;            /* with the last position of the first sequence masked, */
    int rotary;             /* with rotary positions for heads of this size; 0: none */
} tg_layer_sample;

/* The constant data of all layers of one kind. */
typedef struct tg_layer_kind {
    const char *name;
    const char *category; /* "layer", or "block" if it is made of several */
    size_t size;          /* size of the struct that tg_layer.layer points to; 0: none */
    tg_tensor (*forward)(const tg_layer *self, tg_tensor x, tg_layer_pass *pass);

    /* Makes sample number `sample` in `size` bytes of memory, for inputs shaped like x, with parameters under this
     * name. NULL: no samples. */
    tg_layer (*add)(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample);
    const tg_layer_sample *samples; /* one without `about` ends them */
} tg_layer_kind;

/* A layer at its place in a model. */
struct tg_layer {
    const tg_layer_kind *kind;
    const void *layer;        /* borrowed */
    const char *name;         /* for errors and listings; NULL: its number, "0" at first; "": none */
    bool residual;            /* x + forward(x), which must have x's shape */
    bool recompute;           /* checkpoint: nothing inside is stored; a backward pass recomputes it */
    tg_activation activation; /* for layers without parameters: */
    double rate;
    int kernel[2];
    tg_window window;
    int count;
};

/* The library's kinds, tg_linear_kind and so on; and all of them by index, NULL past the end. */
#define TG_LAYER(name) extern const tg_layer_kind tg_##name##_kind;
#include "nn/layers/layers.def"
const tg_layer_kind *tg_layer_kind_at(int index);

/* ---- for authors of layers ---- */

/* Joins two names: "layers.0.weight", "layers.0.norm1". The text is valid within the expression that calls the
 * function. If it is too long, adding the parameter fails, and the set reports it. */
typedef struct tg_name {
    char text[TG_NAME_SIZE + 1];
} tg_name;

tg_name tg_name_in(const char *name, const char *part);

TG_API_END
#endif
