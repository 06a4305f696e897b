/* Draws the curves of a folder that runlog.h has written, with gnuplot and the scripts in plots/.
 *
 *     char message[PLOTS_MESSAGE];
 *     plots_show("results", stdout);                              // in letters, on the terminal
 *     if (!plots_draw("results", "MNIST, 784-128x8-10", message)) // loss.png, loss.svg, accuracy.png, accuracy.svg
 *         fprintf(stderr, "compare: %s\n", message);              // a pity, not a failure
 *
 * The scripts are looked for in a folder plots beside or above the program (build/bin/compare finds plots/), in
 * share/tapegrad/plots there (an installed one), and in plots under the current folder.
 */
#ifndef PLOTS_H
#define PLOTS_H

#include <stdbool.h>
#include <stdio.h>

enum { PLOTS_MESSAGE = 512 }; /* bytes of a message, which is one line */

/* Draws the pictures into the folder; those of the accuracy only if there is one, else old ones are removed. `title` may be
 * NULL. A picture takes its name when it is complete. On failure, such as gnuplot missing, false and a message. */
bool plots_draw(const char *directory, const char *title, char message[PLOTS_MESSAGE]);

/* Runs another script of plots/ on a folder: it is told `dir`, and draws its pictures there. */
bool plots_run(const char *script, const char *directory, char message[PLOTS_MESSAGE]);

/* Prints the curves of validation loss and accuracy in letters, as wide as the terminal, or 80 columns elsewhere. False
 * if nothing could be drawn; a call of plots_draw tells why. */
bool plots_show(const char *directory, FILE *out);

#endif
