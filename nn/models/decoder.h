/* Reads a sequence with a model, a few tokens at a time, for the logits of the next one: recurrent layers keep their
 * state, attention its keys and values, so what was read is not computed again.
 *
 *     tg_decoder *d = tg_decoder_new(gpt, 256);                    // 256 tokens at most
 *     tg_tensor logits = tg_decoder_read(d, prompt, length);       // [1, vocabulary]
 *     while (tg_ok(logits) && length++ < 256) {
 *         int32_t next = draw(tg_f32(logits));
 *         logits = tg_decoder_read(d, &next, 1);
 *     }
 *     if (!tg_ok(logits))
 *         fprintf(stderr, "%s\n", tg_decoder_error(d));
 *     tg_decoder_free(d);
 *
 * The logits have the same bits as those of tg_model_forward at the last position of all tokens together.
 */
#ifndef TG_DECODER_H
#define TG_DECODER_H

#include "autograd/export.h"
#include "nn/models/model.h"

TG_API_BEGIN

typedef struct tg_decoder tg_decoder;

/* True if the model's positions depend on those before them only, so that it can be read token by token: a transformer
 * with causal attention and a head, or a recurrent net with logits at each position. */
bool tg_decoder_reads(const tg_model *model);

/* For at most `most` tokens; of a transformer at most its context. The model is only read, and must live as long. NULL
 * if it cannot be read so, or out of memory. */
tg_decoder *tg_decoder_new(const tg_model *model, int64_t most);

/* Reads `count` more tokens, at least 1: the logits of the one after them, [1, vocabulary], until the next call. Inert
 * if there are more than `most` tokens in all, a token is not of the vocabulary, the model's weights have changed since
 * the first token, or out of memory: then the decoder must be restarted. */
tg_tensor tg_decoder_read(tg_decoder *decoder, const int32_t *tokens, int64_t count);

/* How many tokens were read since the beginning or the last restart. */
int64_t tg_decoder_count(const tg_decoder *decoder);

/* Forgets the tokens and the error. */
void tg_decoder_restart(tg_decoder *decoder);

/* The error of the last tg_decoder_read; NULL: none. */
const char *tg_decoder_error(const tg_decoder *decoder);

void tg_decoder_free(tg_decoder *decoder);

/* Records what a decoder computes for one token, the last that it has room for, on a tape: for the function NAME_next of
 * exported C (tg_export_config.next). The tensors are of the tape. False, with an error on the tape if there is one, if
 * the model cannot be read token by token. */
bool tg_decoder_record(const tg_model *model, tg_tape *tape, tg_export_next *next);

TG_API_END
#endif
