#include "nn/saved/saved.h"

#include "autograd/grad.h"
#include "nn/models/char_rnn.h"
#include "nn/models/decoder.h"
#include "nn/models/seq2seq.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of the newline; -1 if the text had none. */
static int newline_of(const tg_card *c)
{
    const char *newline = "\n";
    return tg_card_number(c, &newline);
}

/* Fails at a character of a prompt or source that the model does not know. */
static bool fail_at(const tg_card *c, const char *from, const char *end, const char *of, tg_error *error)
{
    if (c->utf8)
        return tg_fail(error, "the model does not know the character '%.*s' of the %s", (int)(end - from), from, of);
    return tg_fail(error, "the model does not know the character '%c' (byte %d) of the %s", *from, (unsigned char)*from,
                   of);
}

/* True if none is NaN, as they are where training diverged or a file holds NaN. */
static bool are_numbers(const float *logits, int64_t count)
{
    int64_t i = 0;
    while (i < count && !isnan(logits[i]))
        i++;
    return i == count;
}

static const char no_numbers[] = "the model's logits are not numbers";

static int larger_first(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* The smallest logit among the `top` largest. */
static double threshold(const float *logits, int count, int top)
{
    float sorted[TG_CARD_MOST_LETTERS];
    if (top <= 0 || top > count)
        return -INFINITY;
    memcpy(sorted, logits, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, larger_first);
    return sorted[top - 1];
}

static int draw(const float *logits, int count, const tg_generate_options *options, tg_rng *rng)
{
    int best = 0;
    double total = 0;
    for (int i = 1; i < count; i++)
        best = logits[i] > logits[best] ? i : best;
    if (options->temperature <= 0)
        return best;
    const double limit = threshold(logits, count, options->top), largest = logits[best];
    for (int i = 0; i < count; i++)
        total += logits[i] >= limit ? exp((logits[i] - largest) / options->temperature) : 0;
    double left = tg_rng_uniform(rng) * total;
    for (int i = 0; i < count; i++)
        if (logits[i] >= limit && (left -= exp((logits[i] - largest) / options->temperature)) < 0)
            return i;
    return best;
}

/* What reads the text so far. */
typedef struct reader {
    const tg_model *model;
    const tg_card *card;
    tg_decoder *decoder; /* NULL: the model reads windows of the size of its context */
    int64_t most;        /* characters that the decoder reads before it begins anew */
    tg_tape *tape;       /* for these */
    int32_t *window;     /* [context] */
} reader;

/* A recurrent net carries its state on beyond the context that it was trained with. */
static bool open_reader(reader *r, const tg_model *model, const tg_card *c, tg_error *error)
{
    const int64_t most = model->kind == &tg_char_rnn_kind ? INT64_MAX : c->spec.context;
    const bool steps = tg_model_traits_of(c->spec.model)->every_position && !c->spec.last && tg_decoder_reads(model);
    *r = (reader){.model = model, .card = c, .most = most};
    r->decoder = steps ? tg_decoder_new(model, most) : NULL;
    r->tape = steps ? NULL : tg_tape_new();
    r->window = steps ? NULL : malloc((size_t)c->spec.context * sizeof *r->window);
    return r->decoder || (r->tape && r->window) || tg_fail(error, "out of memory");
}

static void close_reader(const reader *r)
{
    tg_decoder_free(r->decoder);
    tg_tape_free(r->tape);
    free(r->window);
}

/* The logits of the next character after ids[0 .. count - 1]; inert if there is an error. A text that is longer than
 * a transformer's context is read anew from a later character on, at each character: it has no other positions. */
static tg_tensor logits_after(const reader *r, const int32_t *ids, int64_t count)
{
    const int64_t context = r->decoder ? r->most : r->card->spec.context, seen = count < context ? count : context,
                  known = count <= context ? tg_decoder_count(r->decoder) : 0;
    const int end = newline_of(r->card);
    if (r->decoder && count > context)
        tg_decoder_restart(r->decoder);
    if (r->decoder)
        return tg_decoder_read(r->decoder, ids + count - seen + known, seen - known);
    for (int64_t i = 0; i < context; i++)
        r->window[i] = i < context - seen ? (end < 0 ? 0 : end) : ids[count - context + i];
    tg_tape_reset(r->tape);
    tg_no_grad_begin(r->tape);
    const tg_tensor logits =
        tg_model_forward(r->model, tg_borrow(r->tape, TG_I32, r->window, TG_SHAPE(1, context)), NULL);
    tg_no_grad_end(r->tape);
    return logits;
}

static const char *problem_of(const reader *r)
{
    const char *problem = r->decoder ? tg_decoder_error(r->decoder) : tg_tape_error(r->tape);
    return problem ? problem : "no logits";
}

int64_t tg_model_generate(const tg_model *model, const tg_generate_options *options, tg_rng *rng, char *text,
                          tg_error *error)
{
    const tg_card *c = tg_model_card(model);
    if (!c || c->task != TG_CARD_LETTERS)
        return tg_fail(error, "tg_model_generate: %s",
                       c ? "the model reads rows" : "the model was not opened from a file"),
               -1;
    if (tg_model_traits_of(c->spec.model)->pairs)
        return tg_fail(error, "tg_model_generate: the model reads pairs; see tg_model_translate"), -1;
    if (!options || options->length < 0)
        return tg_fail(error, "tg_model_generate: there are no options, or a negative length"), -1;
    const char *prompt = options->prompt ? options->prompt : "";
    const size_t given = strlen(prompt);
    const int end = newline_of(c);
    int32_t *ids = calloc(given + (size_t)options->length + 1, sizeof *ids);
    reader r;
    bool fine = open_reader(&r, model, c, error) && (ids || tg_fail(error, "out of memory"));
    int64_t count = 0, written = 0;
    if (fine)
        ids[count++] = end < 0 ? 0 : end;
    for (const char *next = prompt, *at = next; fine && *next; at = next) {
        ids[count] = tg_card_number(c, &next);
        fine = ids[count++] >= 0 || fail_at(c, at, next, "prompt", error);
    }
    const int64_t last = count + options->length;
    for (const char *byte = prompt; fine && options->each && *byte; byte++)
        options->each(options->user, *byte);
    const int64_t first = c->lines || !given ? 0 : 1; /* a prompt replaces the newline at the beginning */
    while (fine && count < last) {
        const float *logits = tg_f32(logits_after(&r, ids + first, count - first));
        fine = logits || tg_fail(error, "%s", problem_of(&r));
        fine = fine && (are_numbers(logits, c->vocabulary) || tg_fail(error, "%s", no_numbers));
        ids[count] = fine ? draw(logits, c->vocabulary, options, rng) : end;
        if (!fine || (c->lines && ids[count] == end))
            break;
        char bytes[4];
        const int length = tg_card_letter(c, ids[count++], bytes);
        for (int i = 0; i < length; i++, written++) {
            if (options->each)
                options->each(options->user, bytes[i]);
            if (text)
                text[written] = bytes[i];
        }
    }
    if (text)
        text[written] = '\0';
    free(ids);
    close_reader(&r);
    return fine ? written : -1;
}

/* ---- pairs ---- */

/* A target, or its beginning, and how probable it is. */
typedef struct beam {
    double score;  /* the logarithm of its probability */
    int parent;    /* the beam that it extends, */
    int32_t token; /* by this */
    bool done;
} beam;

typedef struct search {
    const tg_model *model;
    const tg_card *card;
    tg_tape *tape;
    int most, count; /* beams */
    beam *beams, *next;
    int32_t *ids, *extended; /* [most, context + 1]: a newline and the target so far */
    int64_t stride;
    int32_t end;
    int64_t positions;    /* of the source with its newline */
    float *memory, *mask; /* [most, positions, width] and [most, positions]: what the encoder has made of it */
    int64_t width;
} search;

/* Keeps a beam among the next ones if it is one of the most probable. */
static void consider(search *s, int *count, beam candidate)
{
    int at = *count < s->most ? (*count)++ : s->most;
    for (; at > 0 && s->next[at - 1].score < candidate.score; at--)
        if (at < s->most)
            s->next[at] = s->next[at - 1];
    if (at < s->most)
        s->next[at] = candidate;
}

/* Extends all beams to targets of `length` tokens with the newline; false if there is an error. */
static bool extend(search *s, int64_t length)
{
    const int64_t classes = s->card->vocabulary;
    int count = 0;
    tg_tape_reset(s->tape);
    int32_t *rows = s->extended; /* used as room */
    for (int b = 0; b < s->count; b++)
        memcpy(rows + b * length, s->ids + b * s->stride, (size_t)length * sizeof *rows);
    tg_no_grad_begin(s->tape);
    const tg_tensor x = tg_constant(s->tape, TG_I32, rows, TG_SHAPE(s->count, length)),
                    memory = tg_borrow(s->tape, TG_F32, s->memory, TG_SHAPE(s->count, s->positions, s->width)),
                    mask = tg_borrow(s->tape, TG_F32, s->mask, TG_SHAPE(s->count, s->positions));
    const float *logits = tg_f32(tg_seq2seq_next(s->model, x, memory, mask));
    tg_no_grad_end(s->tape);
    if (logits && !are_numbers(logits, s->count * classes))
        return tg_tape_fail(s->tape, "%s", no_numbers);
    for (int b = 0; logits && b < s->count; b++) {
        const float *row = logits + b * classes;
        double sum = 0, largest = -INFINITY;
        if (s->beams[b].done) {
            consider(s, &count, (beam){s->beams[b].score, b, TG_SEQ2SEQ_PADDING, true});
            continue;
        }
        for (int64_t i = 1; i < classes; i++)
            largest = fmax(largest, row[i]);
        for (int64_t i = 1; i < classes; i++) /* number 0 is padding */
            sum += exp(row[i] - largest);
        for (int32_t i = 1; i < classes; i++)
            consider(s, &count, (beam){s->beams[b].score + row[i] - largest - log(sum), b, i, i == s->end});
    }
    for (int b = 0; b < count; b++) {
        int32_t *to = s->extended + b * s->stride;
        memcpy(to, s->ids + s->next[b].parent * s->stride, (size_t)s->stride * sizeof *to);
        to[length] = s->next[b].token;
    }
    int32_t *ids = s->ids;
    beam *beams = s->beams;
    s->ids = s->extended, s->extended = ids;
    s->beams = s->next, s->next = beams;
    s->count = count;
    return logits;
}

/* Encodes the source once, for all beams. */
static bool encode(search *s, const int32_t *ids)
{
    const int64_t positions = s->positions;
    tg_tensor mask;
    tg_tape_reset(s->tape);
    tg_no_grad_begin(s->tape);
    const tg_tensor memory =
        tg_seq2seq_encode(s->model, tg_borrow(s->tape, TG_I32, ids, TG_SHAPE(1, positions)), &mask);
    tg_no_grad_end(s->tape);
    const float *of_memory = tg_f32(memory), *of_mask = tg_f32(mask);
    if (!of_memory || !of_mask)
        return false;
    s->width = tg_dim(memory, 2);
    const size_t row = (size_t)(positions * s->width);
    s->memory = malloc((size_t)s->most * row * sizeof *s->memory);
    s->mask = malloc((size_t)(s->most * positions) * sizeof *s->mask);
    for (int b = 0; s->memory && s->mask && b < s->most; b++) {
        memcpy(s->memory + (size_t)b * row, of_memory, row * sizeof *s->memory);
        memcpy(s->mask + b * positions, of_mask, (size_t)positions * sizeof *s->mask);
    }
    return s->memory && s->mask;
}

/* Reads the source and its newline into room for the context; false if it does not fit or has unknown characters. */
static bool take_source(search *s, const char *source, int32_t *ids, tg_error *error)
{
    const int64_t context = s->card->spec.context;
    int64_t length = 0;
    for (const char *next = source; *next; length++)
        tg_card_number(s->card, &next);
    if (length >= context)
        return tg_fail(error, "the source has %lld characters, and the model reads %lld at most", (long long)length,
                       (long long)context - 1);
    const char *next = source;
    for (int64_t i = 0; i < length; i++) {
        const char *at = next;
        ids[i] = tg_card_number(s->card, &next);
        if (ids[i] <= TG_SEQ2SEQ_PADDING || ids[i] == s->end)
            return fail_at(s->card, at, next, "source", error);
    }
    ids[length] = s->ids[0] = s->end;
    s->positions = length + 1;
    return true;
}

static bool fail_search(const search *s, tg_error *error)
{
    return tg_fail(error, "%s", tg_tape_error(s->tape) ? tg_tape_error(s->tape) : "out of memory");
}

int64_t tg_model_translate(const tg_model *model, const char *source, int beams, char *target, double *log_probability,
                           tg_error *error)
{
    const tg_card *c = tg_model_card(model);
    if (!c || c->task != TG_CARD_LETTERS || !tg_model_traits_of(c->spec.model)->pairs || !source || !target)
        return tg_fail(error, "tg_model_translate: %s",
                       !c                   ? "the model was not opened from a file"
                       : !source || !target ? "there is no source, or no room for the target"
                                            : "the model does not read pairs"),
               -1;
    const int most = beams < 1 ? 1 : beams;
    const int64_t context = c->spec.context;
    search s = {.model = model,
                .card = c,
                .tape = tg_tape_new(),
                .most = most,
                .count = 1,
                .stride = context + 1,
                .end = newline_of(c)};
    s.beams = calloc((size_t)most, sizeof *s.beams);
    s.next = calloc((size_t)most, sizeof *s.next);
    s.ids = calloc((size_t)(most * s.stride), sizeof *s.ids);
    s.extended = calloc((size_t)(most * s.stride), sizeof *s.extended);
    int32_t *ids = calloc((size_t)context, sizeof *ids);
    bool fine = (s.tape && s.beams && s.next && s.ids && s.extended && ids) || tg_fail(error, "out of memory");
    fine = fine && take_source(&s, source, ids, error) && (encode(&s, ids) || fail_search(&s, error));
    for (int64_t length = 1; fine && length <= context && !s.beams[0].done; length++)
        fine = extend(&s, length) || fail_search(&s, error);
    int64_t written = 0;
    for (int64_t i = 1; fine && i < s.stride && s.ids[i] != s.end; i++)
        written += tg_card_letter(c, s.ids[i], target + written);
    target[written] = '\0';
    if (fine && log_probability)
        *log_probability = s.beams[0].score;
    tg_tape_free(s.tape);
    free(s.beams);
    free(s.next);
    free(s.ids);
    free(s.extended);
    free(s.memory);
    free(s.mask);
    free(ids);
    return fine ? written : -1;
}
