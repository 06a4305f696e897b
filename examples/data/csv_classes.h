/* The different entries of a column in ascending order: classes to predict, or categories of a feature. */
#ifndef DATA_CSV_CLASSES_H
#define DATA_CSV_CLASSES_H

#include "examples/data/csv_columns.h"

/* Words or numbers, as most cells are. */
typedef struct csv_classes {
    bool words;
    size_t count;
    const char **names; /* [count] if words; they belong to the table */
    double *numbers;    /* [count] if not */
} csv_classes;

/* Fails at a cell of the other sort, and at a missing one unless `missing` lets it be in none of them. Free with
 * csv_classes_free, on failure too. */
bool csv_classes_collect(const csv_source *source, size_t column, bool missing, csv_classes *classes);
void csv_classes_free(csv_classes *classes);

/* The number of the class in a row; -1 where that is missing. */
int32_t csv_classes_find(const csv_source *source, size_t column, const csv_classes *classes, size_t row);

#endif
