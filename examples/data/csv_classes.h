/* The distinct entries of a column in ascending order: classes to predict, or categories of a feature. */
#ifndef DATA_CSV_CLASSES_H
#define DATA_CSV_CLASSES_H

#include "examples/data/csv_columns.h"
#include "examples/data/number.h"

/* Words, or numbers if most cells are numbers. */
typedef struct csv_classes {
    bool words;
    size_t count;
    struct csv_class {
        const char *word; /* NULL if they are numbers; belongs to the table */
        double number;
    } * class; /* [count] */
} csv_classes;

/* Fails at a cell of the other kind, and at a missing one unless `missing` allows cells without a class. Free with
 * csv_classes_free, also on failure. */
bool csv_classes_collect(const csv_source *source, size_t column, bool missing, csv_classes *classes);
void csv_classes_free(csv_classes *classes);

/* The number of the class in a row; -1 where that is missing. */
int32_t csv_classes_find(const csv_source *source, size_t column, const csv_classes *classes, size_t row);

/* The name of a class; a number is written to `text`. */
const char *csv_classes_name(const csv_classes *classes, size_t i, char text[NUMBER_TEXT]);

#endif
