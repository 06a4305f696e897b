#include "nn/saved/saved.h"

#include "autograd/grad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int number_of(const tg_card *c, unsigned char byte)
{
    for (int i = 0; i < c->vocabulary; i++)
        if (c->letter[i] == byte)
            return i;
    return -1;
}

static int larger_first(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* The smallest logit among the `top` largest. */
static double threshold(const float *logits, int count, int top)
{
    float sorted[256];
    if (top <= 0 || top > count)
        return -INFINITY;
    memcpy(sorted, logits, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, larger_first);
    return sorted[top - 1];
}

static int draw(const float *logits, int count, const tg_write_options *options, tg_rng *rng)
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

/* The logits of the next character after ids[0 .. count - 1]; NULL if there is an error. */
static const float *logits_after(const tg_model *model, const tg_card *c, tg_tape *tape, const int32_t *ids,
                                 int64_t count, int32_t *window)
{
    const int64_t context = c->spec.context, seen = count < context ? count : context;
    const int end = number_of(c, '\n');
    tg_tape_reset(tape);
    if (tg_model_traits_of(c->spec.model)->every_position && !c->spec.last) {
        const tg_tensor x = tg_borrow(tape, TG_I32, ids + count - seen, TG_SHAPE(1, seen));
        const float *logits = tg_f32(tg_model_forward(model, x, NULL));
        return logits ? logits + (seen - 1) * c->vocabulary : NULL;
    }
    for (int64_t i = 0; i < context; i++)
        window[i] = i < context - seen ? (end < 0 ? 0 : end) : ids[count - context + i];
    return tg_f32(tg_model_forward(model, tg_borrow(tape, TG_I32, window, TG_SHAPE(1, context)), NULL));
}

int64_t tg_model_write(const tg_model *model, const tg_write_options *options, tg_rng *rng, char *text, tg_error *error)
{
    const tg_card *c = tg_model_card(model);
    if (!c || c->task != TG_CARD_LETTERS)
        return tg_fail(error, "tg_model_write: %s",
                       c ? "the model reads rows" : "the model was not opened from a file"),
               -1;
    const char *prompt = options->prompt ? options->prompt : "";
    const int64_t given = (int64_t)strlen(prompt), most = given + options->length + 1;
    const int end = number_of(c, '\n');
    int32_t *ids = malloc((size_t)most * sizeof *ids), *window = malloc((size_t)c->spec.context * sizeof *window);
    tg_tape *tape = tg_tape_new();
    bool fine = (ids && window && tape) || tg_fail(error, "out of memory");
    int64_t count = 0, written = 0;
    if (fine)
        ids[count++] = end < 0 ? 0 : end;
    for (const char *byte = prompt; fine && *byte; byte++) {
        ids[count++] = number_of(c, (unsigned char)*byte);
        fine =
            ids[count - 1] >= 0 || tg_fail(error, "the model does not know the character '%c' (byte %d) of the prompt",
                                           *byte, (unsigned char)*byte);
    }
    for (const char *byte = prompt; fine && options->each && *byte; byte++)
        options->each(options->user, *byte);
    const int64_t first = c->lines || !given ? 0 : 1; /* a prompt replaces the newline at the beginning */
    while (fine && count < most) {
        const float *logits = logits_after(model, c, tape, ids + first, count - first, window);
        fine = logits || tg_fail(error, "%s", tg_tape_error(tape) ? tg_tape_error(tape) : "no logits");
        ids[count] = fine ? draw(logits, c->vocabulary, options, rng) : end;
        if (!fine || (c->lines && ids[count] == end))
            break;
        const char letter = (char)c->letter[ids[count++]];
        if (options->each)
            options->each(options->user, letter);
        if (text)
            text[written] = letter;
        written++;
    }
    if (text)
        text[written] = '\0';
    free(ids);
    free(window);
    tg_tape_free(tape);
    return fine ? written : -1;
}
