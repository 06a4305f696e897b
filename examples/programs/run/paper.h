/* What a paper needs, in OUT/paper: pictures as PDF with embedded fonts, a table for LaTeX, a text of methods.
 *
 *     const paper p = {.out = "results/iris", .title = "iris: 4-128x2-3, adamw", .of = &c, .results = put_results, ...};
 *     if (!paper_write(&p, &error)) ...                 // table.tex, methods.txt, and loss.pdf, intervals.pdf, ...
 *
 *     \usepackage{booktabs,graphicx}                    % in the paper
 *     \input{paper/table}  \includegraphics{paper/loss}
 *
 * Each sentence of the methods is made from the options of the runs. */
#ifndef RUN_PAPER_H
#define RUN_PAPER_H

#include "examples/programs/run/experiment.h"
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

/* The methods of a comparison but for its tests: data and split, nets and training, the choice of the epoch and of
 * learning rate and scale, version, seeds and command. */
void paper_methods(const experiment *e, const char *command, FILE *to);

/* "Software. tapegrad 0.9.0; the command: compare ..." */
void paper_software(const char *command, FILE *to);

#endif
