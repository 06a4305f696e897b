/* Child processes: one that calls a function of this program and sends messages, and one that runs another program.
 *
 *     static int work(child_link *link, void *context)          // in the child; the result is its exit status
 *     {
 *         child_send(link, &message, sizeof message, true);
 *         return 0;
 *     }
 *     ...
 *     child c;
 *     if (!child_start(&c, "relu-seed1", work, &context)) ...    // the reason is in errno
 *     while (!child_has_ended(&c))
 *         if (child_wait((child *[]){&c}, 1, 0.1), child_receive(&c, &message, sizeof message)) ...
 *
 * POSIX forks, so the program must have no threads. Windows cannot: it starts the program again with the same command
 * line, which does the same until it comes to child_run for the name that it was started for. What it does before must
 * have no effect when it is done twice; it prints nothing.
 *
 * Children end with their parent, however it ends. Ctrl-C is for the parent, which decides when they end.
 */
#pragma once

#include <signal.h>
#include "examples/programs/system/standard.h"

#if defined _WIN32
#define SIGKILL 9
#endif

typedef struct child {
    intptr_t process; /* 0: none */
    intptr_t pipe;    /* from which its messages are read */
    bool closed;      /* it can send no more */
    int status;       /* after its end: the exit status, or minus the signal that killed it */
} child;

typedef struct child_link {
    intptr_t pipe;
} child_link;

typedef int child_function(child_link *link, void *context);

bool child_start(child *c, const char *name, child_function *run, void *context);

/* Another program, found as the shell finds it, without input if `out` is given. What it prints goes to these files;
 * NULL: where ours goes. */
bool child_start_program(child *c, char *const words[], FILE *out, FILE *err);

/* NULL, or what this process, a program that was started again, is to do; child_run does it and does not return. */
const char *child_name(void);
void child_run(child_function *run, void *context);

/* In the child: sends at most 512 bytes, as a whole. False if the parent is behind; with `wait` it waits instead. Ends
 * the child if the parent has ended. */
bool child_send(child_link *link, const void *message, size_t size, bool wait);

/* True if there was a message of this size. */
bool child_receive(child *c, void *message, size_t size);

/* Returns when one of these has a message or has closed its pipe, or after a while; NULL is passed over. */
void child_wait(child *const list[], int count, double seconds);

/* True if it has ended; then it has a status, and `process` is 0. */
bool child_has_ended(child *c);

/* "Segmentation fault". */
const char *child_signal_name(int signal);

/* Asks it to end, or ends it now. */
void child_stop(const child *c, bool now);

/* Closes our end of the pipe, also that of another child which a fork has inherited. */
void child_close(child *c);
