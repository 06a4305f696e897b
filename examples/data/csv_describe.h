/* Describes each column of a CSV file as it was read, so that the user can find mistakes: a date that became 84
 * categories, a row number that is used as a feature.
 *
 *     if (!csv_describe_columns(&source, set))        // source and set are complete
 *         return false;
 *     ... set->column[0].kind, set->column[0].doubt ...
 */
#ifndef DATA_CSV_DESCRIBE_H
#define DATA_CSV_DESCRIBE_H

#include "examples/data/csv_classes.h"

/* Fills set->columns and set->column. False with one line when memory runs out. */
bool csv_describe_columns(const csv_source *source, dataset *set);

#endif
