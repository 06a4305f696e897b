/* What the readers and generators of data sets share; programs include dataset.h.
 *
 * A reader learns how many rows there are, lets dataset_split_rows say where each goes, sets the sizes, lets
 * dataset_allocate make the blocks, and writes row `place[i]` of the block for row i of its source.
 */
#ifndef DATA_INTERNAL_H
#define DATA_INTERNAL_H

#include "examples/data/dataset.h"

typedef struct dataset_error {
    char *text;
    size_t size;
} dataset_error;

/* Writes one line (control characters become '?') and returns false. */
__attribute__((format(printf, 2, 3))) bool dataset_fail(const dataset_error *error, const char *format, ...);

/* count * width items of `size` bytes, all zero; NULL when memory is out or the product is too large, never because
 * it is 0. Free with free(). */
void *dataset_array(size_t count, size_t width, size_t size);

/* A whole file, unpacked if it is gzip. */
typedef struct dataset_bytes {
    unsigned char *bytes; /* free with free() */
    size_t size;
} dataset_bytes;

bool dataset_read_file(const char *path, dataset_bytes *contents, const dataset_error *error);

/* Where rows go: the training rows first, then the validation rows, each in the order of the source. */
typedef struct dataset_split {
    size_t train, validation;
    int32_t *place; /* [train + validation]; free with free() */
} dataset_split;

/* Splits as options->validation says, or `standard` where that is NULL; "test" is for the caller to handle. `source`
 * begins the error message. */
bool dataset_split_rows(const char *source, size_t rows, const dataset_options *options, const char *standard,
                        dataset_split *split, const dataset_error *error);

/* Makes the blocks of both parts once task, features, classes or targets are set, and means 0 and scales 1. */
bool dataset_allocate(dataset *set, const dataset_split *split, const dataset_error *error);

/* Names the classes 0, 1, 2, ...; set->classes is set. */
bool dataset_number_classes(dataset *set, const dataset_error *error);

/* Readers and generators, one for each kind of spec. `set` comes empty but for its name, and may be left half filled
 * on failure. */
bool dataset_load_idx(const char *folder, const dataset_options *options, dataset *set,
                      const dataset_error *error);
bool dataset_load_csv(const char *path, const dataset_options *options, dataset *set,
                      const dataset_error *error);
bool dataset_generate(const char *kind, const dataset_options *options, dataset *set,
                      const dataset_error *error);

/* Draws one digit 0..9 in grey 0..1 on 28x28 pixels of light ink on dark; everything random comes from `rng`. */
struct tg_rng;
enum { GLYPH_SIDE = 28 };
void dataset_draw_glyph(int digit, double noise, struct tg_rng *rng, float *pixels /* [28, 28] */);

#endif
