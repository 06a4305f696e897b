/* Small networks on the tables of uci/ and optdigits/, which several studies train. */
#ifndef STUDY_TABULAR_H
#define STUDY_TABULAR_H

#include "examples/study/study.h"

enum { TABULAR_RATES = 5 };

/* Shared by each table's grid: two hidden layers of 64, splits redrawn for each seed, about 3,000 steps. */
typedef struct tabular_grids {
    int count; /* of tables: all, or the first in the quick version */
    study_grid grid[STUDY_TABLES];
} tabular_grids;

/* The grid for each table; its name is that of the table, with the suffix of `like.name` if there is one. */
tabular_grids tabular_grids_of(const study_context *c, const study_sources *from, const study_grid *like);

/* The cell of a table: TABLE-NAME. */
study_cell tabular_cell(const study_work *work, const tabular_grids *grids, int table, const char *name, int seeds);

/* How the test loss differs between two things that were trained on the same tables and seeds. */
typedef struct tabular_change {
    statistics_estimate ratio; /* logarithm of the ratio of the losses, over the tables */
    int lower, higher; /* tables with a significant difference: t tests, paired by seed, corrected by Holm's method */
} tabular_change;

/* From the logarithms of the losses: [tables][seeds]. */
tabular_change tabular_change_of(const double to[][STUDY_SEEDS], const double from[][STUDY_SEEDS], int tables,
                                 int seeds);

/* TABULAR_RATES of them, for a grid's rates. */
#define TABULAR_RATE_LIST 3e-4, 1e-3, 3e-3, 1e-2, 3e-2

#endif
