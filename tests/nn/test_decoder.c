/* A model that is read token by token gives the bits that it gives for all tokens at once. */
#include "tests/support/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *decoder_suite(void);

enum { VOCABULARY = 11, CONTEXT = 40, MODELS = 10 };

static tg_model *transformer(tg_block_config block, bool rotary, bool tied, tg_dtype dtype)
{
    const tg_rng rng = tg_rng_seed(5);
    block.attention.causal = true;
    return tg_transformer_new(&rng, &(tg_transformer_config){.vocabulary = VOCABULARY,
                                                             .context = CONTEXT,
                                                             .layers = 3,
                                                             .block = block,
                                                             .rotary_base = rotary ? 10000 : 0,
                                                             .tied = tied,
                                                             .init = TG_INIT_DEFAULT,
                                                             .scale = 4,
                                                             .dtype = dtype});
}

static tg_model *recurrent(tg_cell cell, int layers, int64_t hidden, int64_t segment, tg_dtype dtype)
{
    const tg_rng rng = tg_rng_seed(6);
    return tg_char_rnn_new(&rng, &(tg_char_rnn_config){.vocabulary = VOCABULARY,
                                                       .cell = cell,
                                                       .embedding = 7,
                                                       .width = 19,
                                                       .layers = layers,
                                                       .hidden = {hidden},
                                                       .segment = segment,
                                                       .dtype = dtype});
}

static tg_model *model_number(int which)
{
    tg_block_config shared = tg_block_llama(24, 4), fused = tg_block_gpt(24, 4), again = tg_block_gpt(12, 3);
    shared.attention.key_value_heads = 2;
    fused.attention.key_value_heads = 1;
    again.recompute = true;
    switch (which) {
    case 0:
        return transformer(tg_block_gpt(36, 3), false, true, TG_F32);
    case 1:
        return transformer(shared, true, false, TG_F32);
    case 2:
        return transformer(fused, true, true, TG_F64);
    case 3:
        return transformer(tg_block_bert(16, 2), false, true, TG_F32);
    case 4:
        return transformer(tg_block_t5(16, 4), false, false, TG_F64);
    case 5:
        return transformer(again, false, false, TG_F32);
    case 6:
        return recurrent(TG_LSTM, 2, 0, 0, TG_F32);
    case 7:
        return recurrent(TG_GRU, 1, 13, 0, TG_F32);
    case 8:
        return recurrent(TG_RNN, 3, 0, 4, TG_F32);
    default:
        return recurrent(TG_LSTM, 1, 9, 3, TG_F64);
    }
}

/* The logits of the last position of all tokens together. */
static void expect_bits_of_all(const tg_model *m, const int32_t *ids, int64_t count, tg_tensor logits)
{
    tg_tape *own = tg_tape_new();
    const tg_tensor all = tg_model_forward(m, tg_borrow(own, TG_I32, ids, TG_SHAPE(1, count)), NULL);
    ck_assert_msg(tg_ok(all) && tg_ok(logits), "%s", tg_tape_error(own));
    ck_assert_int_eq(tg_dim(logits, 1), VOCABULARY);
    const size_t bytes = VOCABULARY * tg_dtype_size(tg_dtype_of(all));
    ck_assert_mem_eq(tg_data(logits), (const char *)tg_data(all) + (size_t)(count - 1) * bytes, bytes);
    tg_tape_free(own);
}

START_TEST(tokens_one_after_the_other_give_the_bits_of_all_together)
{
    tg_model *m = model_number(_i);
    ck_assert_ptr_nonnull(m);
    tg_decoder *d = tg_decoder_new(m, CONTEXT);
    ck_assert_ptr_nonnull(d);
    tg_rng rng = tg_rng_seed(7);
    int32_t ids[CONTEXT];
    for (int i = 0; i < CONTEXT; i++)
        ids[i] = (int32_t)tg_rng_below(&rng, VOCABULARY);
    for (int prompt = 1; prompt < 20; prompt += 9) {
        int64_t count = prompt;
        expect_bits_of_all(m, ids, count, tg_decoder_read(d, ids, count));
        for (; count < CONTEXT; count++)
            expect_bits_of_all(m, ids, count + 1, tg_decoder_read(d, ids + count, 1));
        ck_assert_int_eq(tg_decoder_count(d), CONTEXT);
        tg_decoder_restart(d);
    }
    tg_decoder_read(d, ids, 3); /* several after others */
    expect_bits_of_all(m, ids, 20, tg_decoder_read(d, ids + 3, 17));
    tg_decoder_free(d);
    tg_model_free(m);
}
END_TEST

START_TEST(what_cannot_be_read_is_refused_and_a_restart_forgets_it)
{
    tg_model *m = model_number(0);
    tg_decoder *d = tg_decoder_new(m, 1000);
    const int32_t ids[CONTEXT + 1] = {1, 2, 3}, wrong[] = {VOCABULARY};
    ck_assert(!tg_ok(tg_decoder_read(d, ids, CONTEXT + 1)));
    ck_assert_str_eq(tg_decoder_error(d), "tg_decoder_read: expected 1 to 40 more tokens, got 41");
    ck_assert(!tg_ok(tg_decoder_read(d, ids, 1)));
    tg_decoder_restart(d);
    ck_assert(!tg_ok(tg_decoder_read(d, wrong, 1)));
    ck_assert_int_eq(tg_decoder_count(d), 0);
    tg_decoder_restart(d);
    ck_assert(tg_ok(tg_decoder_read(d, ids, 3)) && !tg_ok(tg_decoder_read(d, wrong, 1)));
    ck_assert_int_eq(tg_decoder_count(d), 3);
    tg_decoder_restart(d);
    ck_assert(!tg_ok(tg_decoder_read(d, NULL, 1)));
    tg_decoder_restart(d);
    expect_bits_of_all(m, ids, 3, tg_decoder_read(d, ids, 3));
    ck_assert_ptr_null(tg_decoder_error(d));
    for (int64_t count = 3; count < CONTEXT; count++)
        tg_decoder_read(d, ids, 1);
    ck_assert(!tg_ok(tg_decoder_read(d, ids, 1)));
    ck_assert_str_eq(tg_decoder_error(d),
                     "tg_decoder_read: it has read 40 tokens, the most that it can; call tg_decoder_restart");
    ck_assert_ptr_null(tg_decoder_new(m, 0));
    tg_decoder_free(d);
    tg_model_free(m);
    m = transformer(tg_block_bert(8, 2), false, true, TG_F32);
    ((tg_transformer_config *)m->config)->block.attention.causal = false;
    ck_assert(!tg_decoder_reads(m) && !tg_decoder_new(m, 4));
    tg_model_free(m);
    ck_assert(!tg_decoder_reads(NULL) && !tg_decoder_new(NULL, 4));
    ck_assert(!tg_ok(tg_decoder_read(NULL, ids, 1)) && !tg_decoder_error(NULL) && tg_decoder_count(NULL) == 0);
    tg_decoder_restart(NULL);
    tg_decoder_free(NULL);
}
END_TEST

/* Keys, values and states are those of the weights with which they were computed. */
START_TEST(a_model_that_changes_between_tokens_is_refused_until_a_restart)
{
    tg_model *m = model_number(_i);
    tg_decoder *d = tg_decoder_new(m, CONTEXT);
    const int32_t ids[] = {1, 2, 3, 4};
    expect_bits_of_all(m, ids, 2, tg_decoder_read(d, ids, 2));
    tg_parameter *p = tg_parameters_at(tg_model_parameters(m), 1);
    tg_parameter_fill(p, 0.5);
    ck_assert(!tg_ok(tg_decoder_read(d, ids + 2, 1)));
    char text[200];
    snprintf(text, sizeof text, "tg_decoder_read: %s has changed since the first token; call tg_decoder_restart",
             p->name);
    ck_assert_str_eq(tg_decoder_error(d), text);
    tg_decoder_restart(d);
    expect_bits_of_all(m, ids, 2, tg_decoder_read(d, ids, 2));
    expect_bits_of_all(m, ids, 3, tg_decoder_read(d, ids + 2, 1));
    tg_decoder_free(d);
    tg_model_free(m);
}
END_TEST

/* Batches of sources with padding, to the context and to the longest, and targets of each length; positions by bias and
 * by embedding. */
START_TEST(a_source_that_is_encoded_once_gives_the_bits_of_both_together)
{
    enum { BATCH = 3, MOST = 9, LONGEST = 7 };
    const tg_rng rng = tg_rng_seed(8);
    tg_seq2seq *net = tg_seq2seq_new(&rng, &(tg_seq2seq_config){.vocabulary = VOCABULARY,
                                                                .context = MOST,
                                                                .layers = 2,
                                                                .block = _i ? tg_block_t5(8, 2) : tg_block_gpt(8, 2),
                                                                .relative = _i,
                                                                .tied = !_i,
                                                                .scale = 3});
    ck_assert_ptr_nonnull(net);
    int32_t both[BATCH * 2 * MOST], source[BATCH * MOST], shorter[BATCH * LONGEST], target[BATCH * MOST];
    tg_tape *once = tg_tape_new(), *together = tg_tape_new();
    for (int64_t tokens = 1; tokens <= MOST; tokens++) {
        for (int b = 0; b < BATCH; b++)
            for (int i = 0; i < MOST + tokens; i++) {
                const int32_t id = i < MOST && i > 4 + b ? TG_SEQ2SEQ_PADDING : 1 + (i * i + 3 * b) % (VOCABULARY - 1);
                both[b * (MOST + tokens) + i] = id;
                *(i < MOST ? &source[b * MOST + i] : &target[b * tokens + i - MOST]) = id;
            }
        tg_tape_reset(once), tg_tape_reset(together);
        tg_tensor mask, memory = tg_seq2seq_encode(net, tg_borrow(once, TG_I32, source, TG_SHAPE(BATCH, MOST)), &mask);
        const tg_tensor logits =
            tg_seq2seq_next(net, tg_borrow(once, TG_I32, target, TG_SHAPE(BATCH, tokens)), memory, mask);
        const float *all =
            tg_f32(tg_seq2seq_forward(net, tg_borrow(together, TG_I32, both, TG_SHAPE(BATCH, MOST + tokens)), NULL));
        for (int i = 0; i < BATCH * LONGEST; i++)
            shorter[i] = source[i / LONGEST * MOST + i % LONGEST];
        tg_tensor its_mask,
            its = tg_seq2seq_encode(net, tg_borrow(once, TG_I32, shorter, TG_SHAPE(BATCH, LONGEST)), &its_mask);
        const tg_tensor same =
            tg_seq2seq_next(net, tg_borrow(once, TG_I32, target, TG_SHAPE(BATCH, tokens)), its, its_mask);
        ck_assert_msg(all && tg_ok(logits) && tg_ok(same), "%s", tg_tape_error(once));
        for (int i = 0; i < BATCH * VOCABULARY; i++)
            ck_assert_double_eq_tol(tg_at(same, i), tg_at(logits, i), 2e-5);
        for (int b = 0; b < BATCH; b++)
            ck_assert_mem_eq(tg_f32(logits) + b * VOCABULARY, all + ((b + 1) * tokens - 1) * VOCABULARY,
                             VOCABULARY * sizeof *all);
    }
    const tg_tensor whole = tg_constant(once, TG_I32, source, TG_SHAPE(1, 3));
    ck_assert(tg_ok(tg_seq2seq_next(net, whole, tg_seq2seq_encode(net, whole, NULL), TG_NONE)));
    tg_tape_free(once), tg_tape_free(together);
    tg_seq2seq_free(net);
}
END_TEST

Suite *decoder_suite(void)
{
    Suite *suite = suite_create("decoder");
    TCase *tests = tcase_create("decoder");
    tcase_add_loop_test(tests, tokens_one_after_the_other_give_the_bits_of_all_together, 0, MODELS);
    tcase_add_test(tests, what_cannot_be_read_is_refused_and_a_restart_forgets_it);
    tcase_add_loop_test(tests, a_model_that_changes_between_tokens_is_refused_until_a_restart, 0, MODELS);
    tcase_add_loop_test(tests, a_source_that_is_encoded_once_gives_the_bits_of_both_together, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
