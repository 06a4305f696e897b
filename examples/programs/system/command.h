/* Exchanges lines with another program over pipes, each within a time limit.
 *
 *     tg_error error;
 *     command_pipe *c = command_start("python3 mine.py", 60, &error);
 *     if (!c || !command_write(c, "{\"ask\": \"value\"}\n", 17) || !(line = command_read(c, 1 << 20)))
 *         fprintf(stderr, "gradcheck: --command: %s\n", c ? command_message(c) : error.text);
 *     command_stop(c);
 *
 * It runs in a shell, in its own process group, which is killed by command_stop or when this program ends. Its standard
 * error is ours. Ctrl-C ends the waiting (system/signals.h).
 */
#pragma once

#include "examples/programs/system/standard.h"

typedef struct command_pipe command_pipe;

/* Runs a line of the shell. `limit` is in seconds, for each line that is read or written. NULL, with a message, on
 * failure. */
command_pipe *command_start(const char *line, double limit, tg_error *error);

/* Writes the whole text. False, with a message, on failure; then nothing more can be written or read. */
bool command_write(command_pipe *c, const char *text, size_t length);

/* The next line, without its end, valid until the next call; NULL at the end, or on failure. A line of more than `most`
 * bytes is a failure. */
char *command_read(command_pipe *c, size_t most, size_t *length);

/* Call it after the last line: true if the program ended without error. Ending `early`, in the middle of a check, is
 * always an error. */
bool command_has_ended(command_pipe *c, bool early);

/* The reason for the failure in one line; "" if there is none. */
const char *command_message(const command_pipe *c);

/* Records an error in the program's output. Returns false. */
#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
bool command_fail(command_pipe *c, const char *format, ...);

/* Waits up to a second for the program to end, then kills it and all that it started. NULL is allowed. */
void command_stop(command_pipe *c);
