/* The reference files of this folder, CATEGORY.txt, read into memory: the expected results of operations.
 *
 *     if (!expected_load("tests/golden"))
 *         ...
 *     expected_line line;
 *     if (expected_find("mul", 3, "gradient-1", &line)) {
 *         double *numbers = expected_numbers(&line);
 *         ...
 *         free(numbers);
 *     }
 */
#ifndef TESTS_GOLDEN_EXPECTED_H
#define TESTS_GOLDEN_EXPECTED_H

#include <tapegrad.h>

typedef struct expected_line {
    tg_dtype dtype;
    tg_shape shape;
    const char *text; /* what follows */
} expected_line;

/* Reads all files of the folder; false if there are none or memory runs out. */
bool expected_load(const char *folder);
void expected_free(void);

/* Finds the line `what` of a sample: "output", "output-terms", "gradient-0", ... False if there is none. */
bool expected_find(const char *operation, int sample, const char *what, expected_line *line);

/* The numbers of a line, for the caller to free; NULL if their count differs from the shape. */
double *expected_numbers(const expected_line *line);

/* The checksum of the sample when the reference was computed; false if there is none. */
bool expected_checksum(const char *operation, int sample, uint64_t *checksum);

/* The number of cases of an operation, or of all with NULL. */
int expected_cases(const char *operation);

#endif
