#include "nn/models/decoder.h"

#include "autograd/grad.h"
#include "nn/layers/past_internal.h"
#include "nn/models/char_rnn.h"
#include "nn/models/model_internal.h"
#include "nn/models/transformer.h"

#include <stdlib.h>

struct tg_decoder {
    const tg_model *model;
    tg_tape *tape;
    tg_past past;
    int64_t version; /* of the latest change of a parameter before the first token */
};

bool tg_decoder_reads(const tg_model *model)
{
    if (model && model->kind == &tg_transformer_kind) {
        const tg_transformer_config *c = model->config;
        return c->block.attention.causal && !c->no_head;
    }
    return model && model->kind == &tg_char_rnn_kind && !((const tg_char_rnn_config *)model->config)->last;
}

/* The most tokens that the model has positions for. */
static int64_t context_of(const tg_model *model)
{
    return model->kind == &tg_transformer_kind ? ((const tg_transformer_config *)model->config)->context : INT64_MAX;
}

tg_decoder *tg_decoder_new(const tg_model *model, int64_t most)
{
    if (!tg_decoder_reads(model) || most < 1)
        return NULL;
    const int64_t context = context_of(model);
    tg_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d = (tg_decoder){.model = model, .tape = tg_tape_new(), .past = {.most = most < context ? most : context}};
    if (d->tape)
        return d;
    tg_decoder_free(d);
    return NULL;
}

/* The logits after these tokens, [1, vocabulary]. The last layer sees the last position only. */
static tg_tensor logits_after(const tg_model *model, tg_tensor tokens, tg_past *past)
{
    tg_layer_pass pass = {.past = past};
    const int64_t count = tg_dim(tokens, 1);
    tg_tensor x = tg_model_run(NULL, model, tokens, &pass, 0, model->count - 1);
    if (tg_ok(x) && count > 1)
        x = tg_narrow(x, 1, count - 1, 1);
    x = tg_model_run(NULL, model, x, &pass, model->count - 1, 0);
    return tg_reshape(x, TG_SHAPE(1, tg_dim(x, -1)));
}

static tg_tensor pass_of(tg_decoder *d, const int32_t *tokens, int64_t count)
{
    tg_tape_reset(d->tape);
    tg_no_grad_begin(d->tape);
    const tg_tensor x = logits_after(d->model, tg_borrow(d->tape, TG_I32, tokens, TG_SHAPE(1, count)), &d->past);
    tg_no_grad_end(d->tape);
    tg_past_advance(&d->past, tg_ok(x) ? count : 0);
    return x;
}

static const tg_parameter *changed_last(const tg_model *model)
{
    const tg_parameter *last = tg_parameters_at(model->parameters, 0), *p;
    for (int i = 1; (p = tg_parameters_at(model->parameters, i)); i++)
        last = p->version > last->version ? p : last;
    return last;
}

tg_tensor tg_decoder_read(tg_decoder *d, const int32_t *tokens, int64_t count)
{
    if (!d || tg_tape_error(d->tape))
        return TG_NONE;
    const int64_t left = d->past.most - d->past.seen;
    if (left == 0)
        return TG_FAIL(d->tape,
                       "tg_decoder_read: it has read %lld tokens, the most that it can; call tg_decoder_restart",
                       (long long)d->past.seen);
    if (!tokens || count < 1 || count > left)
        return TG_FAIL(d->tape, "tg_decoder_read: expected 1 to %lld more tokens, got %lld", (long long)left,
                       (long long)count);
    const tg_parameter *changed = changed_last(d->model);
    if (d->past.seen == 0) {
        d->version = changed->version;
        return pass_of(d, tokens, count);
    }
    if (changed->version > d->version) /* keys, values and states are those of the weights before */
        return TG_FAIL(d->tape, "tg_decoder_read: %s has changed since the first token; call tg_decoder_restart",
                       changed->name);
    tg_tensor logits = TG_NONE; /* what is attended to from several positions differs */
    for (int64_t i = 0; i < count && !tg_tape_error(d->tape); i++)
        logits = pass_of(d, tokens + i, 1);
    return logits;
}

int64_t tg_decoder_count(const tg_decoder *d)
{
    return d ? d->past.seen : 0;
}

void tg_decoder_restart(tg_decoder *d)
{
    if (!d)
        return;
    const int64_t most = d->past.most;
    tg_past_free(&d->past);
    d->past = (tg_past){.most = most};
    tg_tape_reset(d->tape);
    tg_tape_clear_error(d->tape);
}

const char *tg_decoder_error(const tg_decoder *d)
{
    return d ? tg_tape_error(d->tape) : NULL;
}

void tg_decoder_free(tg_decoder *d)
{
    if (!d)
        return;
    tg_past_free(&d->past);
    tg_tape_free(d->tape);
    free(d);
}

/* ---- for export ---- */

bool tg_decoder_record(const tg_model *model, tg_tape *tape, tg_export_next *next)
{
    static const int32_t zero[1];
    if (!tape || !next || !tg_decoder_reads(model))
        return false;
    const bool grows = model->kind == &tg_transformer_kind;
    tg_past past = {.most = grows ? context_of(model) : 1, .copies = true};
    past.seen = past.most - 1;
    *next = (tg_export_next){.most = grows ? past.most : 0};
    tg_no_grad_begin(tape);
    next->token = tg_named(tg_constant(tape, TG_I32, zero, TG_SHAPE(1, 1)), "token");
    next->logits = logits_after(model, next->token, &past);
    tg_no_grad_end(tape);
    next->position = past.positions;
    next->states = past.count;
    bool fine = tg_ok(next->logits) && past.count <= TG_EXPORT_STATES;
    for (int i = 0; fine && i < past.count; i++)
        next->state[i] = (tg_export_state){past.rooms[i].before, past.rooms[i].after, past.rooms[i].grows};
    tg_past_free(&past);
    return fine;
}
