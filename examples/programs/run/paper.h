/* What a paper needs, in OUT/paper: pictures as PDF with embedded fonts, a table for LaTeX, a text of methods.
 *
 *     const paper p = {.out = "results/iris", .title = "iris: 4-128x2-3, adamw", .of = &c, .results = put_results, ...};
 *     if (!paper_write(&p, &error)) ...                 // table.tex, methods.txt, and loss.pdf, intervals.pdf, ...
 *
 *     \usepackage{booktabs,graphicx}                    % in the paper
 *     \input{paper/table}  \includegraphics{paper/loss} */
#pragma once

#include "plots/plots.h"

typedef struct paper {
    const char *out, *title;
    const void *of;
    void (*results)(const void *of, FILE *to);     /* a tabular in LaTeX, with sentences as comments */
    void (*definitions)(const void *of, FILE *to); /* what its columns and marks mean, in LaTeX */
    void (*methods)(const void *of, FILE *to);
    const char *script; /* of its own picture; plots_paper */
    plots_look look;
    bool draws;
} paper;

/* Writes the files into OUT/paper. False and one line on failure; without gnuplot there are no pictures. */
bool paper_write(const paper *p, tg_error *error);

/* Removes the files of an earlier call, which results without --paper would leave with other numbers than theirs. Other
 * files in OUT/paper stay. */
void paper_remove(const char *out);

/* True if the path is that of such a file. */
bool paper_has(const char *out, const char *path);
