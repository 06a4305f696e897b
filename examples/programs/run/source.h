/* The data of `train`: a table, images or a text, as the three splits that tg_fit takes.
 *
 *     run_source from;
 *     if (!source_open(&spec, &from, &error)) ... // reads the data, and completes spec.net: model, inputs, outputs
 *     if (!source_split(&spec, &from, &error)) ...         // by spec.seed and spec.fold; may be called again
 *     ... from.train, from.valid, from.test (count 0: none) ...
 *     source_free(&from);
 */
#pragma once

#include "examples/programs/data/dataset.h"
#include "examples/programs/report/runlog.h"
#include "examples/programs/run/spec.h"

/* ---- a text (text.c) ----
 *
 * A running text (text:FILE), a list of words, one per line (lines:FILE), or lines of a source, a tab and a target
 * (pairs:FILE). Characters are numbered in ascending order. In UTF-8 they are code points, in ASCII too; in other
 * texts, and where more than TG_CARD_MOST_LETTERS differ, they are bytes. A byte order mark is left out. */

typedef struct text_part {
    const struct text_source *of;
    int64_t first, last; /* the characters of a split, [first, last) */
    int context;
    bool windows, training;
    int64_t first_line; /* of pairs */
} text_part;

typedef struct text_source {
    char name[64];
    bool lines, pairs; /* pairs are lines too */
    int64_t size;
    int32_t *read; /* [size]: as read from the file */
    int32_t *ids;  /* [size]: in the order of the split; `read` itself if that is the same */
    int vocabulary;
    int32_t letter[TG_CARD_MOST_LETTERS]; /* [vocabulary]: the code point or byte of each number */
    bool utf8;                            /* characters are code points, some of several bytes */
    const char *unit;                     /* "character", or "byte" where these are no characters */
    int end;                              /* the number of a newline, 0 if there is none */
    int64_t held_out, tested; /* starts of the validation split, and of the test split: `size` if there is none */
    text_part train, valid, test;
    int64_t longest;      /* of pairs: characters of the longest source or target, */
    int64_t longest_line; /* and its line, from 1 */
    int64_t *line;        /* of pairs: where each begins in `ids` */
} text_source;

bool text_is_named(const char *spec);
bool text_load(const char *spec, text_source *out, tg_error *error);
void text_free(text_source *source);

/* The characters of a split, to be freed; NULL if out of memory. */
char *text_letters(const text_part *part);

/* Holds these fractions out, the test split last: the end of a running text, or any lines. */
bool text_split(text_source *source, double validation, double test, uint64_t seed, tg_error *error);

/* The rows on which a model with this specification trains, is validated and is tested (count 0: not). An epoch has
 * this many windows, at random positions; 0: enough to cover the characters of the training split once. */
bool text_rows(text_source *source, const net_spec *spec, int64_t epoch_windows, tg_fit_rows *train, tg_fit_rows *valid,
               tg_fit_rows *test, tg_error *error);

/* ---- pairs (pairs.c) ---- */

/* False and one line if a line is not a source, a tab and a target; else finds the longest one. t->utf8 is set. */
bool pairs_check(const char *path, const unsigned char *bytes, int64_t size, text_source *t, tg_error *error);

/* The rows of the three splits: ids [2 context] as tg_seq2seq reads them, and labels [context], 0 behind the target. */
bool pairs_rows(text_source *t, int context, tg_fit_rows *const rows[3], tg_error *error);

/* The characters of all targets of a split, with their newlines. */
int64_t pairs_characters(const text_part *part);

/* ---- any data ---- */

typedef struct run_source {
    bool is_text;
    dataset data;
    /* With --class-weights, [classes]: those of the file, 1 for a class without a line, or NULL if they are balanced;
     * and the weights of the classes in the loss, whose mean over the training rows is 1. */
    double *class_given;
    float *class_weight;
    text_source letters;
    dataset_feed parts[3];
    tg_fit_rows train, valid, test;
} run_source;

/* The data as an option names it: the path of a file or a folder is completed to csv:FILE or idx:DIR, with `images` to
 * idx:FILE. */
const char *source_named(const char *data, bool images);

/* The path in such a name, "iris.csv" of "csv:iris.csv"; NULL: it is synthetic data. */
const char *source_path(const char *data);

bool source_open(run_spec *s, run_source *out, tg_error *error);
bool source_split(run_spec *s, run_source *from, tg_error *error);

/* Scales a table as a model that was trained before has it, whose columns are the same: its weights are for those
 * scales. Columns that were constant then keep their own. Does nothing to other data. */
void source_scale_as(const tg_card *model, run_source *from);

/* The part of source_open after reading, for rows that were read in another way: from->data is set. */
bool source_complete(run_spec *s, const run_source *from, tg_error *error);

/* The factor that makes the mean weight of training rows 1: of these of a data set; 1 if they have no weights. A pair
 * weighs as many as its target has characters. */
double source_weight_scale(const run_source *from, const dataset_part *part);

/* The same for the weights of classes, which have a mean of 1 over the training rows: of other rows. 1 without any. */
double source_class_scale(const run_source *from, const dataset_part *part);

/* True if any of these rows weighs something in the loss. */
bool source_weighs(const run_source *from, const dataset_part *part);

/* True if the targets are the inputs. */
bool source_reconstructs(const run_spec *s);

/* True if the model predicts a class or a character. */
bool source_classifies(const run_spec *s, const run_source *from);

/* What the data decides of a run log: its kind, measures and classes. */
runlog_about source_about(const run_spec *s, const run_source *from);

/* Checksums of the data, to detect other data under the same name: of all that was read, and of features and targets
 * alone, which two runs share that treat the other columns differently. And puts them into a config.json. */
typedef struct source_sums {
    unsigned long all, rows;
} source_sums;
source_sums source_checksums(const run_source *from);
void source_put_checksums(const source_sums *sums, json_t *config);
void source_free(run_source *from);

/* Describes the data in a line or two; `split` is a sentence about the split of the rows, or NULL. */
void source_describe(const run_spec *s, const run_source *from, const char *split, FILE *out);
