/* The commands `activations --identify` and `--identify-points`. */
#ifndef IDENTIFY_COMMAND_H
#define IDENTIFY_COMMAND_H

/* Reads pairs of numbers from a CSV file, or standard input for "-": columns x and y of a header, or the only two.
 * Prints which form made them. The exit status of the program: 0 if it can tell, 1 if not, 2 if the file is none such.
 */
int identify_command(const char *path);

/* Prints numbers to give to the program in question, one per line; returns the exit status. */
int identify_points_command(void);

#endif
