/* Another program, to which lines are written and of which lines are read, each within a time limit.
 *
 *     tg_error error;
 *     command_pipe *c = command_start("python3 mine.py", 60, &error);
 *     if (!c || !command_write(c, "{\"ask\": \"value\"}\n", 17) || !(line = command_read(c, 1 << 20)))
 *         fprintf(stderr, "gradcheck: --command: %s\n", c ? command_message(c) : error.text);
 *     command_stop(c);
 *
 * It runs in a shell, in a process group of its own, which ends with command_stop or with this program, whatever it
 * does. Its standard error is ours. Ctrl-C ends waiting (run/signals.h).
 */
#ifndef GRADCHECK_COMMAND_H
#define GRADCHECK_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <tapegrad.h>

typedef struct command_pipe command_pipe;

/* Runs a line of the shell. `limit` is in seconds, for each line that is read or written. NULL, with a message, if that
 * cannot be. */
command_pipe *command_start(const char *line, double limit, tg_error *error);

/* Writes all of it. False if that fails: the message says why, and nothing can be written or read any more. */
bool command_write(command_pipe *c, const char *text, size_t length);

/* The next line, without its end, valid until the next call; NULL at the end, or on failure. A line of more than `most`
 * bytes is a failure. */
char *command_read(command_pipe *c, size_t most, size_t *length);

/* Call it after the last line: true if the program ended well. `early`, in the middle of a check, is never well. */
bool command_has_ended(command_pipe *c, bool early);

/* The reason for the failure in one line; "" if there is none. */
const char *command_message(const command_pipe *c);

/* Records an error in the program's output. Returns false. */
#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
bool command_fail(command_pipe *c, const char *format, ...);

/* Ends the program and all that it started; it has a second to end by itself. NULL is allowed. */
void command_stop(command_pipe *c);

#endif
