/* Properties of a stream: a terminal that understands cursor movement, or a file, pipe or plain terminal.
 *
 *     terminal screen = terminal_of(stderr);
 *     printf(screen.utf8 ? "0.97 ± 0.01\n" : "0.97 +/- 0.01\n");
 *
 * Read from the environment each time, so it follows a window that is resized. Needs no setlocale in the program.
 */
#pragma once

#include "examples/programs/system/standard.h"

typedef struct {
    bool live;   /* understands cursor movement: a terminal, and TERM is neither unset nor "dumb" */
    bool utf8;   /* a terminal whose locale is UTF-8: may be sent more than ASCII */
    bool colour; /* live, and NO_COLOR is unset or empty */
    int columns; /* 80 where unknown */
    int rows;    /* 24 where unknown */
} terminal;

terminal terminal_of(FILE *stream);

/* The number of columns of a UTF-8 text up to the end of its line: one for each code point, which is right for all texts
 * of these programs. */
int terminal_width(const char *text);

/* Prints a text and a newline. On a terminal, lines are wrapped to its width; elsewhere only the text's own newlines
 * break lines. `put` prints a word; NULL: unchanged. */
void terminal_wrap(FILE *out, const char *text, void (*put)(FILE *out, const char *word));

/* The same for the output of `write`. */
void terminal_wrap_output(FILE *out, void (*write)(const void *context, FILE *to), const void *context);

/* Prints an error on standard error, in a line: "compare: --config: ..."; `about` may be NULL. Control characters in
 * the message, from files or arguments, become '?'. */
void terminal_say(const char *program, const char *about, const char *message);
