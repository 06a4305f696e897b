/* Signals that ask a program to end: Ctrl-C, SIGTERM, and the SIGHUP of a terminal that is closed.
 *
 *     signals_before before;
 *     signals_catch(&before);
 *     while (... && !signals_caught())
 *         ...
 *     signals_release(&before);
 *     write_what_there_is();
 *     return interrupted ? signals_status() : 0;
 *
 * Signals that are ignored, because of nohup or a shell's background job, stay ignored. A second signal has its
 * original effect at once, except SIGHUP, of which a closed terminal may send several.
 */
#pragma once

#include <signal.h>

#if defined _WIN32
typedef void (*signals_action)(int signal);
#else
typedef struct sigaction signals_action;
#endif

enum { SIGNALS = 3 };

typedef struct signals_before {
    signals_action of[SIGNALS];
} signals_before;

/* From here on signals are only noted. */
void signals_catch(signals_before *before);

/* Restores the handling before signals_catch; but after a SIGHUP further ones are ignored, so that results can still be
 * written. */
void signals_release(const signals_before *before);

/* The last signal since signals_catch; 0: none. */
int signals_caught(void);

/* The exit status of an interrupted program, as shells define it: 128 plus the number of the last noted signal, or of
 * SIGINT if only a child received one. */
int signals_status(void);
