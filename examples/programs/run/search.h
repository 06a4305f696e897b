/* --lr auto and --init-scale auto: the points of the grid that a comparison tries, found by the results of its runs.
 *
 *     search_begin(&e->search, usual_rate, usual_scale);
 *     while (... all runs of the points so far are trained ...)
 *         if (!search_grow(&e->search, best, activations))   // best[a]: where activation a has its lowest loss
 *             break;
 *
 * First a coarse grid of all values that are searched, for all activations: three rates around the model's default, a
 * factor of sqrt(10) apart, and the scales 1 and 1/4. It grows at an end at which an activation has its best, by a
 * factor of sqrt(10) or 4, to nine rates and six scales at most. Then the steps are halved, once: each best point gets
 * two neighbours along each value that is searched, a factor of 10^(1/4) or 2 away. With rates alone all activations
 * are tried there, too; with scales each activation has neighbours of its own, as many as any other.
 *
 * search_briefly is another search, of three points.
 */
#pragma once

#include "examples/programs/system/standard.h"

enum { SEARCH_RATE, SEARCH_SCALE, SEARCH_VALUES, SEARCH_MOST = 64, SEARCH_OWN = 128 };

/* A point; what is not searched is 0. */
typedef struct search_point {
    double at[SEARCH_VALUES];
} search_point;

typedef struct search {
    bool on[SEARCH_VALUES]; /* which are searched */
    bool refined;           /* the steps have been halved: the search is finished */
    bool brief;             /* that of search_briefly; then `on` is false */
    double usual[SEARCH_VALUES];
    int count[SEARCH_VALUES], coarse_count[SEARCH_VALUES]; /* of all values, and of the coarse grid */
    double values[SEARCH_VALUES][SEARCH_MOST];             /* ascending, all of them */
    double coarse[SEARCH_VALUES][SEARCH_MOST];
    int own_count;
    struct {
        int activation;
        search_point point;
    } own[SEARCH_OWN]; /* the neighbours that one activation tries */
} search;

/* The options' names: "lr", "init-scale". */
extern const char *const search_options[SEARCH_VALUES];

bool search_is_on(const search *s);

/* The short search that is a comparison's default on tables: three points on a line, for all activations alike, the
 * usual one and smaller scales with larger rates, a factor of sqrt(10) and 1/2 apart (docs/initial-weights.md). With
 * `scales` false the three rates alone. It needs no results, and does not grow. */
void search_briefly(search *s, search_point usual, bool scales);

/* Sets the first values. `on` must be set. */
void search_begin(search *s, search_point usual);

/* Adds values, given the best point of each activation; false if the search is finished. */
bool search_grow(search *s, const search_point best[], int activations);

/* True if an activation tries a point. */
bool search_tries(const search *s, int activation, search_point point);

/* The values of one as a list: "0.25,1". */
void search_list(const search *s, int which, char *text, size_t size);
