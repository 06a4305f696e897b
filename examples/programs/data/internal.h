/* Shared by the readers and generators of data sets; programs include dataset.h.
 *
 * A reader sets task, rows, features, classes or targets, lets dataset_allocate make the blocks, and fills them. What
 * a set points to is in set->memory, whose failure dataset_load reports if the reader has not done so.
 */
#pragma once

#include "examples/programs/data/dataset.h"

/* count * width items of `size` bytes, all zero; NULL if memory runs out or the product is too large, but not if it is
 * 0. Free with free(). */
void *dataset_array(size_t count, size_t width, size_t size);

/* The same, and a copy of a text, as part of `memory`, which also remembers that it ran out. */
void *dataset_new(dataset_memory *memory, size_t count, size_t width, size_t size);
char *dataset_text(dataset_memory *memory, const char *text);
void dataset_free_memory(dataset_memory *memory);

/* Moves all blocks of one memory to another. */
void dataset_take(dataset_memory *to, dataset_memory *from);

/* The path of a file as messages name it: "-" is standard input. */
static inline const char *dataset_path_name(const char *path)
{
    return path[0] == '-' && !path[1] ? "standard input" : path;
}

/* A whole file, or standard input for "-", unpacked if it is gzip. */
typedef struct dataset_bytes {
    unsigned char *bytes; /* a zero byte follows the last; free with free() */
    size_t size;
} dataset_bytes;

bool dataset_read_file(const char *path, dataset_bytes *contents, tg_error *error);

/* Allocates the blocks when task, rows, features, classes or targets are set; means are 0 and scales 1. */
bool dataset_allocate(dataset *set, tg_error *error);

/* Sets means, scales and rows of a table anew, by the training split; no feature is softened. False without memory. */
bool dataset_standardise(dataset *set);

/* Names the classes first, first + 1, ...; set->classes is set. */
void dataset_number_classes(dataset *set, int first);

/* Draws one row of synthetic data; returns its target, which is the label in a classification. */
typedef double dataset_draw(int label, double noise, tg_rng *rng, float *features);

/* A kind of data set, in the table of kinds.c. `load` gets `set` with name and kind only, and may leave it partly
 * filled on failure. */
struct dataset_kind {
    const char *name;
    const char *path;              /* "FILE" or "DIR" for names like NAME:FILE; NULL for synthetic data */
    const char *validation, *test; /* defaults; test NULL: the source defines the rows */
    bool (*load)(const char *path, const dataset_options *options, dataset *set, tg_error *error);
    bool columns; /* it has columns, some of them targets */

    /* The parameters of dataset_generate. */
    dataset_draw *draw;
    size_t features, classes, side; /* classes 0: a regression; side 0: not images */
    size_t rows;
    double noise;
};
const dataset_kind *dataset_kind_at(size_t i); /* NULL past the end */

bool dataset_load_idx(const char *folder, const dataset_options *options, dataset *set, tg_error *error);
bool dataset_load_csv(const char *path, const dataset_options *options, dataset *set, tg_error *error);
bool dataset_generate(const char *path, const dataset_options *options, dataset *set, tg_error *error);
dataset_draw dataset_draw_spirals, dataset_draw_moons, dataset_draw_circles, dataset_draw_sine, dataset_draw_hills,
    dataset_draw_glyphs;

enum { GLYPH_SIDE = 28 }; /* pixels of a digit, grey from 0 to 1, light on dark */
