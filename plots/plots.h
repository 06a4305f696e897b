/* Draws the curves of a folder that runlog.h has written, with gnuplot and the scripts in plots/.
 *
 *     tg_error error;
 *     plots_show("results", stdout);                              // as text, on the terminal
 *     if (plots_draw("results", &(plots_look){.title = "MNIST, 784-128x8-10"}, &error) == PLOTS_FAILED)
 *         fprintf(stderr, "compare: %s\n", error.text);
 *
 * A script gets the variables `dir` (the folder to read from), `out` (a new folder inside it to draw into) and `title`.
 * The new pictures replace the old ones only after gnuplot has succeeded and every picture is complete. SIGINT, SIGTERM
 * and SIGHUP end gnuplot, not the program; a second one has its original effect.
 *
 * The scripts are looked for where the programs were built (plots beside the folder of the program) or installed
 * (share/tapegrad/plots beside it; for one that was moved, tapegrad/plots under XDG_DATA_HOME, ~/.local/share and
 * XDG_DATA_DIRS), and nowhere else.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <tapegrad.h>

typedef enum plots_outcome {
    PLOTS_DRAWN,
    PLOTS_NOTHING,     /* no gnuplot, or nothing to draw: not a failure */
    PLOTS_FAILED,      /* gnuplot failed, or a picture could not be written */
    PLOTS_INTERRUPTED, /* by a signal: the exit status is signals_status() of system/signals.h */
} plots_outcome;

/* How pictures look; a zero member takes the default. */
typedef struct plots_look {
    const char *title;
    const char *averaged;       /* what the means are of: "folds"; NULL: "seeds" */
    const char *searched;       /* axis of a search: "lr"; NULL: there was no search */
    const char *searched_words; /* its values if they are words: "none rms"; NULL or empty: numbers */
    const char *searched_rates; /* its values, each with the learning rate that goes with it: "1 0.001 0.5 0.003" */
    char *const *class_names;   /* [classes] */
    size_t classes;
    char *const *feature_names; /* [2], the axes of boundary.png; NULL: they have no names */
} plots_look;

/* Draws loss, steps, accuracy, noise, boundary and search, each as .png and .svg, if the folder holds the data for it
 * (search: if `searched` is set). Removes old pictures that it does not draw, and all of them if the folder has no
 * epoch. Sets `error` unless it returns PLOTS_DRAWN. */
plots_outcome plots_draw(const char *directory, const plots_look *look, tg_error *error);

/* Removes all of these pictures. */
void plots_remove(const char *directory);

/* Finds a file with the name of one of these pictures; false if there is none. */
enum { PLOTS_NAME = 64 };
bool plots_find(const char *directory, char name[PLOTS_NAME]);

/* Prints the pictures that are in the folder: "loss, accuracy, as .png and .svg". */
void plots_list(const char *directory, FILE *out);

/* Runs another script of plots/ on a folder; keeps the pictures that it draws. */
plots_outcome plots_run(const char *script, const char *directory, tg_error *error);

/* Runs a script, and those of plots_draw that there is data for, but as PDF with embedded fonts, into another folder
 * that exists. */
plots_outcome plots_paper(const char *script, const char *directory, const char *into, const plots_look *look,
                          tg_error *error);

/* Prints the curves of validation loss and accuracy as text, as wide as the terminal, or 80 columns elsewhere. Returns
 * false if nothing could be drawn; plots_draw then says why. */
bool plots_show(const char *directory, FILE *out);
