#include "examples/study/tabular.h"

#include <math.h>
#include <stdio.h>

/* A thirtieth of the rows or so a step, as a power of two. */
static int batch_of(size_t rows)
{
    int batch = 16;
    while (batch < 128 && rows >= 60 * (size_t)batch)
        batch *= 2;
    return batch;
}

tabular_grids tabular_grids_of(const study_context *c, const study_sources *from, const study_grid *like)
{
    tabular_grids made = {.count = c->settings->quick ? STUDY_QUICK_TABLES : STUDY_TABLES};
    for (int i = 0; i < made.count; i++) {
        const size_t rows = from->rows[i].rows;
        const int batch = batch_of(rows), steps = c->settings->quick ? 30 : 3000;
        const int epochs = (int)ceil(steps / (0.6 * (double)rows / batch)); /* 0.6 of the rows are for training */
        char text[200];
        study_grid *grid = &made.grid[i];
        *grid = *like;
        grid->data = (study_source)i;
        snprintf(text, sizeof text, "%s%s", from->name[i], like->name ? like->name : "");
        grid->name = net_keep_text(text);
        snprintf(text, sizeof text, "split=redrawn hidden=64x2 batch=%d epochs=%d", batch, epochs);
        grid->fixed = net_keep_text(text);
        grid->quick = "hidden=16x2";
    }
    return made;
}

study_cell tabular_cell(const study_work *work, const tabular_grids *grids, int table, const char *name, int seeds)
{
    char full[STUDY_NAME];
    snprintf(full, sizeof full, "%s-%s", grids->grid[table].name, name);
    return study_cell_of(work, &grids->grid[table], full, seeds);
}

tabular_change tabular_change_of(const double to[][STUDY_SEEDS], const double from[][STUDY_SEEDS], int tables,
                                 int seeds)
{
    double logs[STUDY_TABLES], p[STUDY_TABLES];
    for (int i = 0; i < tables; i++) {
        logs[i] = statistics_paired(to[i], from[i], (size_t)seeds).mean;
        p[i] = statistics_compare(to[i], from[i], (size_t)seeds).p;
    }
    statistics_holm(p, (size_t)tables);
    tabular_change change = {.ratio = statistics_of(logs, (size_t)tables)};
    for (int i = 0; i < tables; i++) {
        change.lower += p[i] < 0.05 && logs[i] < 0;
        change.higher += p[i] < 0.05 && logs[i] > 0;
    }
    return change;
}
