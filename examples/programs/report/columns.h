/* The columns of a CSV file as a table, with a warning for each that is probably not a feature.
 *
 *     columns_print(&set, stderr);
 *
 *     column              kind        values  example     missing
 *     day          categorical  84 different  2024-05-31
 *     temperature       number    -3.5 to 31  12.5              2
 *     sold              target      0 to 960  112
 *
 *     Warning: column 'day' looks like a date; --ignore 'day' leaves it out.
 */
#pragma once

#include "examples/programs/data/dataset.h"

/* Prints nothing for data without columns. For very wide files only the first columns are shown, but all warnings. */
void columns_print(const dataset *set, FILE *out);
