/* The data of `train`: a table, images or a text, as the three splits that tg_fit takes.
 *
 *     run_source from;
 *     if (!source_open(&spec, &from, &error)) ... // reads the data, and completes spec.net: model, inputs, outputs
 *     if (!source_split(&spec, &from, &error)) ...         // by spec.seed and spec.fold; may be called again
 *     ... from.train, from.valid, from.test (count 0: none) ...
 *     source_free(&from);
 */
#ifndef RUN_SOURCE_H
#define RUN_SOURCE_H

#include "examples/data/feed.h"
#include "examples/run/spec.h"
#include "examples/run/text.h"

typedef struct run_source {
    bool is_text;
    dataset data;
    text_source letters;
    dataset_feed parts[3];
    tg_fit_rows train, valid, test;
} run_source;

bool source_open(run_spec *s, run_source *out, tg_error *error);
bool source_split(run_spec *s, run_source *from, tg_error *error);

/* The part of source_open after reading, for rows that were read in another way: from->data is set. */
bool source_complete(run_spec *s, const run_source *from, tg_error *error);

/* True if the targets are the inputs. */
bool source_reconstructs(const run_spec *s);

/* True if the model predicts a class or a character. */
bool source_classifies(const run_spec *s, const run_source *from);

/* A checksum of the data, to detect other data under the same name. */
unsigned long source_checksum(const run_source *from);
void source_free(run_source *from);

/* Describes the data in a line or two; `split` is a sentence about the split of the rows, or NULL. */
void source_describe(const run_spec *s, const run_source *from, const char *split, FILE *out);

#endif
