#include "examples/study/tabular.h"

#include <math.h>
#include <stdio.h>

static int table_count(const study_context *c)
{
    return c->settings->quick ? STUDY_QUICK_TABLES : STUDY_TABLES;
}

int tabular_study(const study_context *c, study_work work,
                  int (*run)(const study_context *c, study_sources *from, study_work *work))
{
    return study_on(c, work, (study_source)0, (study_source)(table_count(c) - 1), run);
}

/* About a thirtieth of the rows per step, as a power of two. */
static int batch_of(size_t rows)
{
    int batch = 16;
    while (batch < 128 && rows >= 60 * (size_t)batch)
        batch *= 2;
    return batch;
}

tabular_grids tabular_grids_of(const study_context *c, const study_sources *from, const study_grid *like)
{
    tabular_grids made = {.count = table_count(c)};
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
        snprintf(text, sizeof text, "split=redrawn hidden=64x2 batch=%d epochs=%d %s", batch, epochs,
                 like->fixed ? like->fixed : "");
        grid->fixed = net_keep_text(text);
        grid->quick = "hidden=16x2";
    }
    return made;
}

study_cell tabular_cell(const study_work *work, const study_context *c, const tabular_grids *grids, int table,
                        const char *name, int seeds)
{
    char full[STUDY_NAME];
    snprintf(full, sizeof full, "%s-%s", grids->grid[table].name, name);
    return study_cell_of(work, c, &grids->grid[table], full, seeds);
}
