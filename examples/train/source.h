/* What `train` learns from: a table, images or a text, as the three parts that tg_fit takes.
 *
 *     train_source from;
 *     if (!source_load(&settings, &from, message)) ...       // and completes settings.net: model, inputs, outputs,
 * vocabulary
 *     ... from.train, from.valid, from.test (count 0: none) ...
 *     source_free(&from);
 */
#ifndef TRAIN_SOURCE_H
#define TRAIN_SOURCE_H

#include "examples/data/feed.h"
#include "examples/train/settings.h"
#include "examples/train/text.h"

typedef struct train_source {
    bool is_text;
    dataset data;
    text_source letters;
    dataset_feed parts[3];
    tg_fit_rows train, valid, test;
} train_source;

bool source_load(train_settings *settings, train_source *out, char message[NET_MESSAGE]);
void source_free(train_source *from);

/* What was read, in a line or two. */
void source_describe(const train_source *from, FILE *out);

#endif
