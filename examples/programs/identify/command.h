/* The commands `activations --identify` and `--identify-points`. */
#ifndef IDENTIFY_COMMAND_H
#define IDENTIFY_COMMAND_H

/* Reads pairs of numbers from a CSV file, or standard input for "-": columns x and y of a header, or the only two.
 * Prints the form that made them. Returns the exit status of the program: 0 if the form is identified, 1 if not, 2 if
 * the file has no such pairs.
 */
int identify_command(const char *path);

/* Prints inputs for the program to be identified, one per line; returns the exit status. */
int identify_points_command(void);

#endif
