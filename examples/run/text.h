/* Training texts: one running text (text:FILE) or a list of words, one per line (lines:FILE). Characters are bytes,
 * numbered in ascending order.
 *
 *     text_source source;
 *     if (!text_load("text:input.txt", &source, &error)) ...
 *     if (!text_split(&source, 0.1, seed, &error)) ...            // the last tenth of a text, any tenth of the lines
 *     text_rows(&source, &spec, 0, &train, &valid, &error);  // windows, or single characters, as tg_fit takes them
 *     text_free(&source);
 */
#ifndef RUN_TEXT_H
#define RUN_TEXT_H

#include "examples/run/net.h"

typedef struct text_part {
    const struct text_source *of;
    int64_t first, last; /* the bytes of a split, [first, last) */
    int context;
    bool windows, training;
} text_part;

typedef struct text_source {
    char name[64];
    bool lines;
    int64_t size;
    int32_t *read; /* [size]: as read from the file */
    int32_t *ids;  /* [size]: in the order of the split; `read` itself if that is the same */
    int vocabulary;
    unsigned char letter[256]; /* [vocabulary]: the byte of each number */
    int end;                   /* the number of a newline, 0 if there is none */
    int64_t held_out;          /* start of the validation split */
    text_part train, valid;
} text_source;

bool text_is_named(const char *spec);
bool text_load(const char *spec, text_source *out, tg_error *error);
void text_free(text_source *source);
bool text_split(text_source *source, double validation, uint64_t seed, tg_error *error);

/* The rows on which a model with this specification trains and is validated. An epoch has this many windows, at random
 * positions; 0: enough to cover the characters of the training split once. */
bool text_rows(text_source *source, const net_spec *spec, int64_t epoch_windows, tg_fit_rows *train, tg_fit_rows *valid,
               tg_error *error);

#endif
