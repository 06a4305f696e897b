#include "nn/models/char_rnn.h"

#include "nn/layers/embedding.h"
#include "nn/layers/sequences/recurrent_internal.h"
#include "nn/models/model_internal.h"

#include <stdio.h>

static const char *config_error(const void *config)
{
    const tg_char_rnn_config *c = config;
    if (!tg_is_size(c->vocabulary))
        return TG_SIZE_ERROR("the vocabulary");
    if (c->embedding < 1 || c->embedding > 1 << 15 || c->width < 1 || c->width > 1 << 15)
        return "the embeddings' size and the width must be positive, 2^15 at most";
    if (!tg_cell_name(c->cell))
        return "there is no such cell";
    if (c->layers < 0 || c->layers > TG_CHAR_RNN_LAYERS)
        return "the number of recurrent layers must be 0 (1) to 16";
    if (tg_init_error(c->init, c->scale))
        return tg_init_error(c->init, c->scale);
    return tg_hidden_error(c->hidden, TG_CHAR_RNN_HIDDEN, c->activation, c->norm, c->dropout, c->dtype);
}

static tg_tensor last(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    (void)self, (void)pass;
    return tg_reshape(tg_slice(x, 1, -1, tg_dim(x, 1), 1), TG_SHAPE(tg_dim(x, 0), tg_dim(x, 2)));
}

static const tg_layer_kind last_position = {.name = "last_position", .forward = last};

/* The embedding and the first recurrent layer. */
typedef struct reader {
    tg_embedding_layer embedding;
    tg_recurrent recurrent;
} reader;

/* In the scopes of the two layers. With at least twice as many positions as letters W x is computed once for each
 * letter. */
static tg_tensor read_ids(const tg_layer *self, tg_tensor ids, tg_layer_pass *pass)
{
    const reader *r = self->layer;
    const tg_layer recurrent = tg_sequential_recurrent(&r->recurrent);
    tg_tape *tape = tg_tape_of(ids);
    const bool by_letter = !pass->past && tg_size(ids) >= 2 * r->embedding.weight->shape.dim[0];
    tg_scope_begin(tape, "embedding");
    const tg_tensor x =
        by_letter ? tg_parameter_tensor(tape, r->embedding.weight) : tg_embedding_layer_forward(&r->embedding, ids);
    tg_scope_end(tape);
    tg_scope_begin(tape, "rnn.0");
    const tg_tensor y =
        by_letter ? tg_recurrent_forward_ids(&r->recurrent, x, ids) : recurrent.kind->forward(&recurrent, x, pass);
    tg_scope_end(tape);
    return y;
}

static const tg_layer_kind reader_kind = {.name = "reader", .size = sizeof(reader), .forward = read_ids};

static void build(tg_model *model, void *config)
{
    const tg_char_rnn_config *c = config;
    const int count = tg_hidden_count(c->hidden, TG_CHAR_RNN_HIDDEN);
    tg_parameters *set = model->parameters = tg_parameters_new(c->dtype);
    const tg_embedding_layer embedding = tg_embedding_layer_add(set, "embedding", c->vocabulary, c->embedding);
    model->init = c->init;
    model->scale = c->scale;
    if (c->dropout > 0)
        tg_model_add(model, "embedding", tg_sequential_embedding(&embedding));
    for (int i = 0; i < (c->layers ? c->layers : 1); i++) {
        const tg_recurrent layer = tg_recurrent_add(
            set, "rnn", i,
            &(tg_recurrent_config){
                .cell = c->cell, .inputs = i ? c->width : c->embedding, .hidden = c->width, .segment = c->segment});
        char name[24];
        snprintf(name, sizeof name, "rnn.%d", i);
        if (c->dropout > 0)
            tg_model_add(model, "", tg_sequential_dropout(c->dropout));
        if (i > 0 || c->dropout > 0)
            tg_model_add(model, name, tg_sequential_recurrent(&layer));
        else
            tg_model_add(model, "", (tg_layer){.kind = &reader_kind, .layer = &(reader){embedding, layer}});
    }
    if (c->last)
        tg_model_add(model, "", (tg_layer){.kind = &last_position});
    const tg_hidden_layers hidden = {.inputs = c->width,
                                     .widths = c->hidden,
                                     .count = count,
                                     .activation = c->activation,
                                     .norm = c->norm,
                                     .dropout = c->dropout,
                                     .depth = count};
    tg_model_add_hidden(model, "layers", &hidden);
    tg_model_add_output(model, "output", count ? c->hidden[count - 1] : c->width, c->vocabulary, c->activation,
                        0.1 * tg_hidden_gain(&hidden), true);
}

static tg_tensor sequences(const tg_model *model, tg_tensor ids)
{
    (void)model;
    if (tg_rank(ids) == 2 && tg_dim(ids, 1) > 0)
        return ids;
    return TG_FAIL(tg_tape_of(ids), "tg_char_rnn_forward: expected ids [batch, positions], one position at least");
}

static void configure(void *config, const tg_shape *x, int sample)
{
    (void)x;
    *(tg_char_rnn_config *)config = (tg_char_rnn_config){.vocabulary = 5,
                                                         .cell = (tg_cell)(sample % 3),
                                                         .embedding = 2,
                                                         .width = 3,
                                                         .layers = sample == 1 ? 2 : 1,
                                                         .hidden = {sample == 2 ? 4 : 0},
                                                         .activation = TG_GELU_TANH,
                                                         .dropout = sample == 3 ? 0.3 : 0,
                                                         .last = sample == 2,
                                                         .segment = sample == 1 ? 2 : 0,
                                                         .dtype = TG_F64};
}

static const tg_shape shapes[] = {{2, {2, 3}}, {2, {1, 4}}, {2, {3, 4}}, {0}};
static const tg_layer_sample samples[] = {
    {"rnn", "an RNN with tanh", shapes, .ids = 5},
    {"gru", "two layers of GRUs, two positions stored at a time", shapes, .ids = 5},
    {"lstm", "an LSTM and a hidden layer, at the last position", shapes, .ids = 5},
    {"training", "an RNN with dropout", shapes, .ids = 5, .training = true},
    {0}};

const tg_model_kind tg_char_rnn_kind = {
    "char_rnn", sizeof(tg_char_rnn_config), config_error, build, sequences, configure, samples};

tg_tensor tg_char_rnn_forward(const tg_char_rnn *net, tg_tensor ids, tg_rng *training)
{
    return tg_model_run(&tg_char_rnn_kind, net, ids, &(tg_layer_pass){training}, 0, 0);
}
