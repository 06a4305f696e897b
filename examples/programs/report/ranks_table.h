/* What comparisons on several data sets say together: a table with sentences, files, and a picture.
 *
 *     ranks_answer *a = ranks_answer_new(&(ranks_question){.measure = "test_loss", .sets = 20, .forms = 8, ...});
 *     ranks_print(a, "table", stdout);
 *     ranks_write(a, "results/twenty", &error);      // ranks.csv and rank_pairs.csv
 *     ranks_answer_free(a);
 */
#pragma once

#include "examples/programs/report/direction.h"

typedef struct ranks_question {
    const char *measure;
    direction direction;
    size_t sets, forms;
    const char *const *set, *const *form; /* names */
    const double *value;                  /* [sets, forms]: means over the seeds; NaN: diverged */
    double margin;                        /* a difference that matters: a share of the measure, where it can be one */
} ranks_question;

typedef struct ranks_answer ranks_answer;

/* The answer refers to the question's arrays, until ranks_answer_free. */
ranks_answer *ranks_answer_new(const ranks_question *question);
void ranks_answer_free(ranks_answer *a);

/* The forms by mean rank, and what the tests say of all and of each pair. Formats: those of table_print. */
void ranks_print(const ranks_answer *a, const char *format, FILE *out);

/* For LaTeX: each form beside the one with the best mean rank, * where they can be told apart. And how they were
 * judged, in a format for notes. */
void ranks_print_paper(const ranks_answer *a, FILE *out);
void ranks_print_definitions(const ranks_answer *a, const char *format, FILE *out);

/* Writes ranks.csv and rank_pairs.csv. False and one line on failure. */
bool ranks_write(const ranks_answer *a, const char *folder, tg_error *error);
