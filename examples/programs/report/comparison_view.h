/* A comparison while it is printed: what its parts share. Internal to comparison_view.c and those that it calls. */
#pragma once

#include "examples/programs/report/comparison.h"
#include "examples/programs/report/table.h"

/* The beginning of a name, for "%.*s". */
#define SHORT(name) plain_length(name, 64), name

typedef struct comparison_view {
    const comparison *c;
    const comparison_group *groups; /* [count] */
    int count;
    bool folds;     /* each seed has several */
    bool by_fold;   /* there is one seed, so its folds are the values */
    int decides;    /* the measure that decides which run is better: the first one that speaks; -1: none */
    int pair_count; /* of each judged measure */
    const comparison_pair *pairs; /* [pair_count], of the measure that decides */
    int least, most;              /* values of a group */
    int decimals[COMPARISON_MEASURES];
    const char *until[COMPARISON_MEASURES]; /* between the ends of an interval */
} comparison_view;

/* True if there are sentences on a measure: it is judged and shown, or judged if no such one is shown. */
bool comparison_speaks(const comparison_view *v, int measure);

/* What is known of a pair, of VERDICT_DIFFER and so on. What holds for other samples holds for these. */
int comparison_relation(const comparison_pair *p);

/* True if some pair has fewer runs than a group. */
bool comparison_lacks_runs(const comparison_view *v, const comparison_pair *pairs);

/* ---- the table (comparison_cells.c) ---- */

table *comparison_cells(const comparison_view *v);

/* ---- what its columns mean (comparison_notes.c) ---- */

void comparison_add_notes(const comparison_view *v, table *t);

/* How the intervals of a measure were computed, for the text of methods. */
void comparison_add_method(const comparison_view *v, table *t, const comparison_measure *m);

/* "seeds", or what else pairs are of; and by what rows were split. */
const char *comparison_pairs_word(const comparison_view *v);
const char *comparison_split_word(const comparison_view *v);

/* ---- what it says (comparison_words.c) ---- */

/* All groups in a sentence for each measure that speaks. */
void comparison_print_answers(const comparison_view *v, const char *format, FILE *out);

/* A sentence for each pair that is named: the first ones, comparison_named_pairs of them. */
void comparison_add_verdicts(const comparison_view *v, table *t);
int comparison_named_pairs(const comparison_view *v);

/* Which runs failed or learned nothing, and what helps. */
void comparison_add_hints(const comparison_view *v, table *t);

/* ---- what it says of the constant prediction (comparison_constant.c) ---- */

/* The group whose runs show what a constant prediction gets: the first of which all are known. NULL: none. */
const comparison_group *comparison_with_constant(const comparison *c, const comparison_group *groups, int count,
                                                 int measure);

/* "no net beats the constant prediction, 80.00 % (relu comes nearest: -0.3 points, -1.6 to 1.0)", "no net significantly
 * beats the constant prediction, 80.00 % (relu, the best: +0.3 points, -1.0 to 1.6)", or which do not; empty if all do,
 * or if that is unknown. */
void comparison_say_constant(const comparison *c, const comparison_group *groups, int count, int measure, int decimals,
                             char *text, size_t size);

/* True if a run is compared with its constant prediction in this measure: it is judged, and known of any run. */
bool comparison_is_beside_constant(const comparison *c, int measure);

/* True if a run has learned more than its constant prediction knows: its loss is lower, or it classifies more rows
 * correctly than chance explains (McNemar: two standard deviations), for a net that is right but too sure has a large
 * loss. With `surely` its loss has to be lower than chance explains, too, where that of each row is known. True if that
 * is unknown. */
bool comparison_has_learned(const comparison *c, const runlog_run *run, bool surely);

/* The number of a group's runs that predict one class for all their test rows, and its name; NULL: several, or none. */
int comparison_only_answer(const comparison *c, const comparison_group *group, const char **name);

/* ---- its picture (comparison_picture.c) ---- */

typedef struct comparison_picture {
    const comparison *c;
    const comparison_group *groups;
    const comparison_pair *pairs; /* [count] */
    int count, measure;
} comparison_picture;

/* Draws a row for each pair with its difference and 95 % interval, in percent of a loss or in points of an accuracy: in
 * characters for "table", as SVG for "html", and nothing in other formats. */
void comparison_print_picture(const comparison_picture *p, const char *format, FILE *out);
