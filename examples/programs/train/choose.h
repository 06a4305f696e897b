/* train --lr auto and --init-scale auto: the search of `compare` (search.h) for one net, before it is trained.
 *
 *     choice c = {.searched = {[SEARCH_RATE] = true}, .spec = &complete, .from = &from, .folder = "m/search"};
 *     if (!choose(&c, &error))                                // trains what is missing in the folder
 *         return c.interrupted ? signals_status() : fail(error.text);
 *     spec.lr = c.chosen.at[SEARCH_RATE];
 */
#pragma once

#include "examples/programs/run/search.h"
#include "examples/programs/run/source.h"

typedef struct choice {
    bool searched[SEARCH_VALUES];
    const run_spec *spec; /* complete, but for what is searched; one fold, if there are folds */
    run_source *from;     /* opened; a text may be split anew */
    const char *folder;   /* of the search's runs, which stay there; runs of other options are replaced */
    int at_once;          /* runs at the same time; 0: one per processor */

    search_point chosen; /* 0 where nothing was searched */
    int runs;
    bool interrupted;
} choice;

/* Finds the point with the lowest validation loss, that of the net before a refit. False with one line on failure, and
 * if a signal stopped it; then the same call continues. */
bool choose(choice *c, tg_error *error);
