/* What a paper needs, in OUT/paper: pictures as PDF with embedded fonts, a table for LaTeX, a text of methods.
 *
 *     const paper p = {.out = "results/iris", .title = "iris: 4-128x2-3, adamw", .of = &c, .put = put_part, ...};
 *     if (!paper_write(&p, &error)) ...                 // table.tex, methods.txt, and loss.pdf, intervals.pdf, ...
 *
 *     \usepackage{booktabs,graphicx}                    % in the paper
 *     \input{paper/table}  \includegraphics{paper/loss} */
#pragma once

#include "plots/plots.h"

/* A tabular in LaTeX, with sentences as comments; what its columns and marks mean, in LaTeX; and the text of methods. */
typedef enum paper_part { PAPER_TABLE, PAPER_NOTES, PAPER_METHODS } paper_part;

typedef struct paper {
    const char *out, *title;
    const void *of;
    void (*put)(const void *of, paper_part part, FILE *to);
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
