/* Signals that ask a program to end: Ctrl-C, SIGTERM, and the SIGHUP of a terminal that is closed.
 *
 *     signals_before before;
 *     signals_catch(&before, NULL);
 *     while (... && !signals_caught())
 *         ...
 *     signals_release(&before);
 *     write_what_there_is();
 *     return interrupted ? signals_status() : 0;
 *
 * Those that are ignored, by nohup or a shell's background job, stay ignored. A second one has its original effect at
 * once, except SIGHUP, of which a closed terminal may send several.
 */
#ifndef RUN_SIGNALS_H
#define RUN_SIGNALS_H

#include <signal.h>

enum { SIGNALS = 3 };

typedef struct signals_before {
    struct sigaction of[SIGNALS];
} signals_before;

/* From here on the signals are noted. Where there is a `handler` it is called for each of them, and a second one ends
 * nothing, either. */
void signals_catch(signals_before *before, void (*handler)(int signal));

/* As before the call of signals_catch; but a SIGHUP that has come is ignored from now on: what is finished is still to
 * be written. */
void signals_release(const signals_before *before);

/* The last of them since signals_catch; 0: none. */
int signals_caught(void);

/* The exit status of a program that was interrupted, as a shell has it for one that a signal ends: 128 and the number
 * of the last signal that was noted; of SIGINT where a child alone has met it. */
int signals_status(void);

#endif
