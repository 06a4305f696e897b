/* Draws the curves of a folder that runlog.h has written, with gnuplot and the scripts in plots/.
 *
 *     char message[PLOTS_MESSAGE];
 *     plots_show("results", stdout);                              // in letters, on the terminal
 *     if (plots_draw("results", "MNIST, 784-128x8-10", NULL, message) == PLOTS_FAILED)
 *         fprintf(stderr, "compare: %s\n", message);
 *
 * A script is told `dir`, the folder to read from, `out`, a new folder in it to draw into, and `title`. When gnuplot has ended well and each
 * picture is whole, they take their names in the folder; old ones stand until then, and stay where drawing fails or a signal ends
 * it. SIGINT, SIGTERM and SIGHUP end gnuplot, not the program.
 *
 * The scripts are looked for in a folder plots beside or above the program (build/bin/compare finds plots/), in
 * share/tapegrad/plots there (an installed one), and in plots under the current folder.
 */
#ifndef PLOTS_H
#define PLOTS_H

#include <stdbool.h>
#include <stdio.h>

enum { PLOTS_MESSAGE = 512 }; /* bytes of a message, which is one line */

typedef enum plots_outcome {
    PLOTS_DRAWN,
    PLOTS_NOTHING,     /* no gnuplot, or nothing to draw: a pity, not a failure */
    PLOTS_FAILED,      /* gnuplot failed, or a picture could not be written */
    PLOTS_INTERRUPTED, /* by a signal */
} plots_outcome;

/* Draws loss.png, loss.svg, accuracy.png and accuracy.svg; those of the accuracy only if there is one, else old ones are removed; and, where
 * something is `searched` ("lr"), search.png and search.svg. `title` and `searched` may be NULL. Unless they are drawn, a message. */
plots_outcome plots_draw(const char *directory, const char *title, const char *searched, char message[PLOTS_MESSAGE]);

/* Runs another script of plots/ on a folder; keeps the pictures that it draws. */
plots_outcome plots_run(const char *script, const char *directory, char message[PLOTS_MESSAGE]);

/* Prints the curves of validation loss and accuracy in letters, as wide as the terminal, or 80 columns elsewhere. False
 * if nothing could be drawn; a call of plots_draw says why. */
bool plots_show(const char *directory, FILE *out);

#endif
