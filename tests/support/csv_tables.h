/* Tables that a test writes and the reader of CSV files reads. */
#ifndef CSV_TABLES_H
#define CSV_TABLES_H

#include "examples/programs/data/dataset.h"

/* Columns id, colour, size, petals and kind, with words and missing cells. */
extern const char csv_flowers[];

/* Writes the text as a table into the temporary folder and loads it. */
bool csv_load(const char *text, dataset_options options, dataset *set, tg_error *error);

/* Makes the first row the validation part; the others are for training. */
void csv_split_off_first(dataset *set);

/* Both of these, which must succeed. */
dataset loaded(const char *text, dataset_options options);

/* Loading must fail with exactly this message after the path. */
void csv_expect_error(const char *text, dataset_options options, const char *message);

/* A feature of a row in the units of the file, without the standardisation. */
double csv_original(const dataset *set, size_t row, size_t feature);

#endif
